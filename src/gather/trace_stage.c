/* trace_stage.c - see trace_stage.h. */
#include "gather/trace_stage.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define STAGE_PLACE "/tmp" /* the daemon has to find it by its name */
#define STAGE_PREFIX "chokepoint-trace-"
#define STAGE_PATTERN STAGE_PLACE "/" STAGE_PREFIX "XXXXXX"
#define SWEPT_MAX 20000 /* entries of the directory that are looked at */
#define SETTLED_S 60    /* a younger one may not have its lock yet */
#define FILE_MAX ((off_t)256 << 20)
#define COPIED_MAX ((size_t)1 << 20)

extern const unsigned char ck_witness_image_text[];
extern const size_t ck_witness_image_length;

static void close_fd(const int *fd)
{
    if (*fd >= 0)
        (void)close(*fd);
}
#define CLEANUP_FD __attribute__((cleanup(close_fd)))

static int fail(struct choke_error *error, const char *what, const char *subject)
{
    int errnum = errno;
    *error = (struct choke_error){.outcome = CHOKE_SPAWN_FAILED, .errnum = errnum};
    (void)snprintf(error->message, sizeof error->message, "cannot %s '%.200s': %s", what, subject, strerror(errnum));
    return -errnum;
}

/* The mode is set apart: the caller's mask is not what a container's user needs. */
static int make_file(int directory_fd, const char *name, int *ret_fd)
{
    int fd = openat(directory_fd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0700);
    if (fd < 0)
        return -1;
    if (fchmod(fd, 0555) < 0) {
        (void)close(fd);
        return -1;
    }
    *ret_fd = fd;
    return 0;
}

static int copy_bytes(int from_fd, int to_fd, off_t length)
{
    while (length > 0) {
        ssize_t copied = sendfile(to_fd, from_fd, NULL, COPIED_MAX);
        if (copied < 0 && errno != EINTR)
            return -1;
        if (copied == 0)
            break;
        length -= copied > 0 ? copied : 0;
    }
    return 0;
}

static int copy_file(const char *path, int directory_fd, const char *name, struct choke_error *error)
{
    CLEANUP_FD int from_fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    CLEANUP_FD int to_fd = -1;
    struct stat status;
    if (from_fd < 0 || fstat(from_fd, &status) < 0)
        return fail(error, "read", path);
    errno = EINVAL;
    if (!S_ISREG(status.st_mode) || status.st_size > FILE_MAX)
        return fail(error, "copy", path);
    if (make_file(directory_fd, name, &to_fd) < 0 || copy_bytes(from_fd, to_fd, status.st_size) < 0)
        return fail(error, "copy", path);
    return 0;
}

static int write_witness(int directory_fd, struct choke_error *error)
{
    CLEANUP_FD int fd = -1;
    if (make_file(directory_fd, "witness", &fd) < 0)
        return fail(error, "make", "witness");
    for (size_t at = 0; at < ck_witness_image_length;) {
        ssize_t wrote = write(fd, ck_witness_image_text + at, ck_witness_image_length - at);
        if (wrote < 0 && errno != EINTR)
            return fail(error, "write", "witness");
        at += wrote > 0 ? (size_t)wrote : 0;
    }
    return 0;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

/* A library for one kind of processor stands beside the one for all: the latter does. */
static bool is_special(const char *path)
{
    return strstr(path, "/glibc-hwcaps/") != NULL;
}

static int copy_part(const struct choke_tool_part *part, int stage_fd, int lib_fd, struct choke_error *error)
{
    if (part->path == NULL) {
        errno = ENOENT;
        return fail(error, "find", part->name);
    }
    if (strcmp(part->role, "tool") == 0)
        return copy_file(part->path, stage_fd, "strace", error);
    if (strcmp(part->role, "interpreter") == 0)
        return copy_file(part->path, stage_fd, "loader", error);
    if (is_special(part->path))
        return 0;
    int result = copy_file(part->path, lib_fd, base_name(part->name), error);
    return result == -EEXIST ? 0 : result; /* asked for by its name and by its path */
}

/* It is closed to others until it has its lock, so that nobody else can be in the way of that. */
static int fill(const struct choke_tool_parts *parts, int stage_fd, const char *path, struct choke_error *error)
{
    if (stage_fd < 0 || flock(stage_fd, LOCK_EX) < 0 || mkdirat(stage_fd, "lib", 0700) < 0)
        return fail(error, "make", path);
    CLEANUP_FD int lib_fd = openat(stage_fd, "lib", O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (lib_fd < 0 || fchmod(lib_fd, 0755) < 0 || fchmod(stage_fd, 0755) < 0)
        return fail(error, "make", path);
    int result = write_witness(stage_fd, error);
    for (size_t i = 0; result == 0 && i < parts->count; i++)
        result = copy_part(&parts->items[i], stage_fd, lib_fd, error);
    return result;
}

/* Removes what lies in a directory that holds files only; it is ours. */
static void empty(int directory_fd)
{
    DIR *directory = directory_fd >= 0 ? fdopendir(directory_fd) : NULL;
    if (directory == NULL) {
        close_fd(&directory_fd);
        return;
    }
    for (const struct dirent *entry; (entry = readdir(directory)) != NULL;)
        (void)unlinkat(dirfd(directory), entry->d_name, 0);
    (void)closedir(directory);
}

static void remove_stage(const char *path, int fd)
{
    empty(openat(fd, "lib", O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
    (void)unlinkat(fd, "lib", AT_REMOVEDIR);
    empty(openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    (void)rmdir(path);
}

void ck_stage_done(struct ck_stage *stage)
{
    if (stage->path[0] == '\0')
        return;
    remove_stage(stage->path, stage->lock_fd);
    close_fd(&stage->lock_fd);
    *stage = (struct ck_stage){0};
}

/* ---- what others left ---- */

static void sweep_one(int place_fd, const char *name)
{
    char path[CK_STAGE_PATH_MAX];
    struct stat status;
    CLEANUP_FD int fd = openat(place_fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    int length = snprintf(path, sizeof path, STAGE_PLACE "/%s", name);
    if (fd < 0 || length >= (int)sizeof path || fstat(fd, &status) < 0 || status.st_uid != geteuid() ||
        time(NULL) - status.st_mtime < SETTLED_S || flock(fd, LOCK_EX | LOCK_NB) < 0)
        return;
    remove_stage(path, fd);
}

static void sweep(void)
{
    DIR *place = opendir(STAGE_PLACE);
    const struct dirent *entry;
    for (size_t i = 0; place != NULL && i < SWEPT_MAX && (entry = readdir(place)) != NULL; i++)
        if (strncmp(entry->d_name, STAGE_PREFIX, strlen(STAGE_PREFIX)) == 0)
            sweep_one(dirfd(place), entry->d_name);
    if (place != NULL)
        (void)closedir(place);
}

int ck_stage_make(struct choke_context *context, struct ck_stage *ret_stage, struct choke_error *error)
{
    struct choke_tool_parts *parts = NULL;
    struct ck_stage stage = {.path = STAGE_PATTERN, .lock_fd = -1};
    sweep();
    int result = choke_tool_parts(context, "strace", &parts, error);
    if (result < 0)
        return result;
    if (mkdtemp(stage.path) == NULL) {
        result = fail(error, "make", stage.path);
    } else {
        stage.lock_fd = open(stage.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
        result = fill(parts, stage.lock_fd, stage.path, error);
        if (result == 0)
            *ret_stage = stage;
        else
            ck_stage_done(&stage);
    }
    choke_tool_parts_free(parts);
    return result;
}
