/*
 * sandbox.h - a private directory tree for a unit test: made in setup, removed with everything in it in teardown.
 */
#ifndef TEST_SANDBOX_H
#define TEST_SANDBOX_H

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct sandbox {
    char path[64];
};

static inline int sandbox_new(void **state)
{
    struct sandbox *sandbox = calloc(1, sizeof(*sandbox));
    if (!sandbox)
        return -1;
    (void)snprintf(sandbox->path, sizeof(sandbox->path), "/tmp/choke-unit-XXXXXX");
    if (!mkdtemp(sandbox->path))
        return -1;
    *state = sandbox;
    return 0;
}

static inline int sandbox_remove_one(const char *path, const struct stat *status, int type, struct FTW *where)
{
    (void)status;
    (void)type;
    (void)where;
    return remove(path);
}

static inline int sandbox_free(void **state)
{
    struct sandbox *sandbox = *state;
    (void)nftw(sandbox->path, sandbox_remove_one, 16, FTW_DEPTH | FTW_PHYS);
    free(sandbox);
    return 0;
}

/* The sandbox's path with name appended; the text is valid for the next seven calls. */
static inline const char *in(const struct sandbox *sandbox, const char *name)
{
    static char paths[8][PATH_MAX];
    static unsigned next;
    char *path = paths[next++ % 8];
    (void)snprintf(path, PATH_MAX, "%s/%s", sandbox->path, name);
    return path;
}

/* An empty name gives the sandbox itself. */
static inline void make_directory(const struct sandbox *sandbox, const char *name, mode_t mode)
{
    const char *path = in(sandbox, name);
    if ((mkdir(path, 0700) < 0 && errno != EEXIST) || chmod(path, mode) < 0)
        abort();
}

static inline void make_file(const struct sandbox *sandbox, const char *name, mode_t mode, const char *text)
{
    const char *path = in(sandbox, name);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text) || fchmod(fd, mode) < 0 || close(fd) < 0)
        abort();
}

static inline void make_link(const struct sandbox *sandbox, const char *name, const char *target)
{
    if (symlink(target, in(sandbox, name)) < 0)
        abort();
}

#endif
