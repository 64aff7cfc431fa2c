/*
 * denied_add.c - the line of a policy that would allow what a jail refused. See denied_add.h.
 *
 * The path comes from the tool. Must not suggest anything that the reader of the line should refuse
 * without a thought: a program that gives privileges, a file that the tool may have written, text
 * that means something else in YAML.
 */
#include "api/denied_add.h"

#include "base/fd.h"
#include "base/heap.h"
#include "jail/native.h"
#include "policy/helper_sets.h"

#include <fnmatch.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/xattr.h>

/* A list in one line, in YAML without quotes. */
#define PLAIN "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._+-"

/* Their purpose is to run something as another user. Most systems have them set-user-ID, too. */
static bool changes_user(const char *name)
{
    static const char *const names[] = {"su", "sudo", "sudoedit", "doas", "pkexec", "runuser", "setpriv"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

/* The mode or the capabilities of the file give a process privileges. */
static bool gives_privileges(int fd, const char *real)
{
    struct stat status;
    return fstat(fd, &status) < 0 || !S_ISREG(status.st_mode) || (status.st_mode & (S_ISUID | S_ISGID)) != 0 ||
           getxattr(real, "security.capability", NULL, 0) >= 0;
}

/* The real path of a file, to be freed, and whether it gives privileges; or NULL. */
static char *find_file(struct ck_binary_search *search, struct ck_identity root, const struct ck_binary_wanted *wanted,
                       bool *ret_privileged)
{
    CK_HEAP struct ck_binary *binary = ck_heap_own(malloc(sizeof(*binary)));
    struct choke_error error = {0};
    if (!binary || ck_binary_find(search, wanted, root, binary, NULL, &error) < 0)
        return NULL;
    char *real = realpath(binary->path, NULL);
    *ret_privileged = real && (changes_user(strrchr(real, '/') + 1) || gives_privileges(binary->fd, real));
    ck_fd_close(&binary->fd);
    return real;
}

/* Finds the file as a helper of an entry would be found. Its real path, to be freed; or NULL. */
static char *find_helper(struct ck_binary_search *search, struct ck_identity root, const char *name, const char *path)
{
    const struct ck_binary_wanted wanted = {.name = name, .path = path};
    bool privileged = false;
    char *real = find_file(search, root, &wanted, &privileged);
    if (real && (!ck_native_is_system(real) || privileged)) {
        free(real);
        real = NULL;
    }
    return real;
}

bool ck_denied_add_is_privileged(struct ck_binary_search *search, struct ck_identity root, const char *name)
{
    const struct ck_binary_wanted wanted = {.name = name};
    bool privileged = false;
    CK_HEAP char *real = ck_heap_own(find_file(search, root, &wanted, &privileged));
    return real && privileged;
}

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* ---- sets ---- */

/* A file of the run, by both of its names: links are resolved in real. */
struct refused_file {
    const char *path;
    const char *real;
};

/* pattern: of a file; or of a directory, with '/' at its end: then a program directly in it. */
static bool matches(const char *pattern, const char *path)
{
    char start[PATH_MAX];
    size_t length = strlen(pattern);
    const char *compared = path;
    if (pattern[length - 1] == '/') {
        size_t directory = (size_t)(last_part(path) - path);
        if (directory >= sizeof(start))
            return false;
        memcpy(start, path, directory);
        start[directory] = '\0';
        compared = start;
    }
    return fnmatch(pattern, compared, FNM_PATHNAME | FNM_PERIOD | FNM_NOESCAPE) == 0;
}

/*
 * A name of a set leads to a file by the search path, possibly through links: as, for example, to
 * x86_64-linux-gnu-as. Only names that are a part of the file's are looked for, because a look
 * opens files.
 */
static bool is_helper(struct ck_binary_search *search, struct ck_identity root, const char *text,
                      const struct refused_file *file)
{
    if (text[0] == '/')
        return matches(text, file->path) || matches(text, file->real);
    if (strcmp(text, last_part(file->path)) != 0 && !strstr(last_part(file->real), text))
        return false;
    CK_HEAP char *found = ck_heap_own(find_helper(search, root, text, NULL));
    return found && strcmp(found, file->real) == 0;
}

static bool has_file(struct ck_binary_search *search, struct ck_identity root, const struct ck_helper_set *set,
                     const struct refused_file *file)
{
    for (uint32_t i = 0; i < set->helpers.count; i++)
        if (is_helper(search, root, set->helpers.items[i], file))
            return true;
    return false;
}

static bool has_name(const struct ck_helper_set *set, const char *name)
{
    for (uint32_t i = 0; i < set->helpers.count; i++)
        if (strcmp(set->helpers.items[i], name) == 0)
            return true;
    return false;
}

/*
 * Of several sets with the file: the one that the program which tried it is a member of, else the
 * one for scripts, else the first.
 */
static const struct ck_helper_set *find_set(struct ck_binary_search *search, struct ck_identity root,
                                            const struct refused_file *file, const char *by)
{
    const struct ck_helper_set *best = NULL;
    for (uint32_t i = 0; i < ck_helper_sets_count; i++) {
        const struct ck_helper_set *set = &ck_helper_sets[i];
        if (!has_file(search, root, set, file))
            continue;
        if (has_name(set, by))
            return set;
        if (!best || strcmp(set->name, "shell") == 0)
            best = set;
    }
    return best;
}

bool ck_denied_add_choose(struct ck_binary_search *search, struct ck_identity root, const char *path, const char *by,
                          struct ck_denied_add_choice *ret)
{
    const char *name = last_part(path);
    if (path[0] != '/' || path[strspn(path, PLAIN)] != '\0' || name[0] == '\0' || changes_user(name))
        return false;
    CK_HEAP char *real = ck_heap_own(find_helper(search, root, name, path));
    if (!real)
        return false;
    const struct refused_file file = {.path = path, .real = real};
    /* The name alone, where the search path leads to the same file. */
    CK_HEAP char *by_name = ck_heap_own(find_helper(search, root, name, NULL));
    bool same = by_name && strcmp(by_name, real) == 0;
    *ret = (struct ck_denied_add_choice){
        .set = find_set(search, root, &file, by), .file = same ? name : path, .by_name = same};
    return true;
}

const char *ck_denied_add_exec(struct ck_binary_search *search, struct ck_identity root, const char *path,
                               const char *by, struct ck_arena *arena)
{
    struct ck_denied_add_choice choice;
    if (!ck_denied_add_choose(search, root, path, by, &choice))
        return NULL;
    return choice.set ? ck_arena_printf(arena, "uses: [%s]", choice.set->name)
                      : ck_arena_printf(arena, "execs: [%s]", choice.file);
}
