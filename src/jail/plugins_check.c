/* plugins_check.c - checks a plug-in or library. See plugins_check.h. */
#include "jail/plugins_check.h"

#include "base/errkind.h"
#include "base/fd.h"
#include "base/file.h"
#include "base/heap.h"
#include "jail/native.h"
#include "sys/trust.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The answer for one directory is valid for all its files: a walk for each would cost more than the rest. */
struct ck_plugins_checked_directory {
    struct ck_plugins_checked_directory *next;
    const char *path;
    bool trusted;
};

static bool only_trusted_can_change(const struct stat *status)
{
    return (status->st_uid == 0 || status->st_uid == geteuid()) && (status->st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

/* 1, 0, or a negative errno: as ck_plugins_check_directory. */
static int walk(const char *path)
{
    CK_HEAP struct ck_trusted *trusted = ck_heap_own(malloc(sizeof(*trusted)));
    struct choke_error error = {0};
    if (!trusted)
        return -ENOMEM;
    int r = ck_trust_walk(path, trusted, &error);
    bool good = r == 0 && S_ISDIR(trusted->status.st_mode) && only_trusted_can_change(&trusted->status);
    ck_trust_done(trusted);
    if (r < 0)
        return ck_errkind_is_shortage(-r) ? r : 0;
    CK_HEAP char *real = ck_heap_own(!good ? NULL : realpath(path, NULL));
    if (good && !real)
        return ck_errkind_is_shortage(errno) ? -errno : 0;
    return good && strcmp(real, path) == 0;
}

/*
 * In a directory that was found good only the last step is left: its path has no symlink, and nobody
 * else can change what is in it. A search goes down from directory to directory, so it walks few paths.
 */
static int check_below(const struct ck_plugins_check *check, const char *path)
{
    struct stat status;
    const char *name = strrchr(path, '/') + 1;
    size_t length = (size_t)(name - 1 - path);
    if (name[0] == '\0' || strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
        return 0; /* the text of the path counts, too: which directory of the table holds it */
    const struct ck_plugins_checked_directory *above = check->directories;
    while (above && !(above->trusted && strncmp(above->path, path, length) == 0 && above->path[length] == '\0'))
        above = above->next;
    if (!above)
        return walk(path);
    if (lstat(path, &status) < 0)
        return ck_errkind_is_shortage(errno) ? -errno : 0;
    return S_ISDIR(status.st_mode) && only_trusted_can_change(&status);
}

int ck_plugins_check_directory(struct ck_plugins_check *check, const char *path)
{
    for (const struct ck_plugins_checked_directory *known = check->directories; known; known = known->next)
        if (strcmp(known->path, path) == 0)
            return known->trusted;
    int r = check_below(check, path);
    if (r < 0)
        return r;
    struct ck_plugins_checked_directory *directory = ck_arena_alloc(check->arena, sizeof(*directory));
    const char *copy = ck_arena_strdup(check->arena, path);
    if (!directory || !copy)
        return -ENOMEM;
    *directory = (struct ck_plugins_checked_directory){.next = check->directories, .path = copy, .trusted = r == 1};
    check->directories = directory;
    return r;
}

/* The directory of the file, checked. */
static int check_parent(struct ck_plugins_check *check, const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *parent = !slash || slash == path ? NULL : ck_arena_memdup(check->arena, path, (size_t)(slash - path));
    if (!parent)
        return !slash || slash == path ? 0 : -ENOMEM;
    return ck_plugins_check_directory(check, parent);
}

/* A positive number: the verdict is about the file, not about this machine's state. */
static int verdict_of(int r, enum ck_plugins_verdict otherwise)
{
    return ck_errkind_is_shortage(-r) ? r : (int)otherwise;
}

int ck_plugins_check_interpreter(struct ck_plugins_check *check)
{
    struct ck_elf elf = {0};
    struct stat status;
    int r = check_parent(check, check->interpreter->path);
    if (r <= 0)
        return r;
    CK_FD fd = ck_file_open(AT_FDCWD, check->interpreter->path, O_NOFOLLOW, &status);
    if (fd < 0)
        return verdict_of(fd, CK_PLUGINS_OTHER);
    r = ck_elf_read(fd, check->arena, &elf);
    if (r < 0)
        return verdict_of(r, CK_PLUGINS_OTHER);
    check->bits = elf.bits;
    check->machine = elf.machine;
    return only_trusted_can_change(&status);
}

/* A plug-in has no loader, whatever its name is. Only a library may: see ck_elf_is_library. */
static bool is_code(const struct ck_plugins_check *check, const char *path, const struct ck_elf *elf)
{
    return ck_native_is_system(path) && ck_plugins_layout_is_object(strrchr(path, '/') + 1) && ck_elf_is_library(elf) &&
           !(elf->interpreter && ck_plugins_layout_holds(check->interpreter, path));
}

int ck_plugins_check_file(struct ck_plugins_check *check, const char *path, struct ck_elf *ret_elf,
                          struct ck_version *ret_version)
{
    struct stat status;
    CK_FD fd = ck_file_open(AT_FDCWD, path, O_NOFOLLOW, &status);
    if (fd < 0)
        return verdict_of(fd, CK_PLUGINS_OTHER);
    int r = ck_elf_read(fd, check->arena, ret_elf);
    if (r < 0)
        return verdict_of(r, CK_PLUGINS_OTHER);
    if (ret_elf->bits != check->bits || ret_elf->machine != check->machine)
        return CK_PLUGINS_OTHER;
    if (!is_code(check, path, ret_elf) || !only_trusted_can_change(&status))
        return CK_PLUGINS_REFUSED;
    r = check_parent(check, path);
    if (r <= 0)
        return verdict_of(r, CK_PLUGINS_REFUSED);
    *ret_version = ck_version_of(&status);
    return CK_PLUGINS_ACCEPTED;
}
