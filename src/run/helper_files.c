/*
 * helper_files.c - finds and opens the helpers of a tool. See helper_files.h.
 *
 * A pattern of a set is expanded one component after another. What is found that way is only a
 * path: it is opened through the same checks as a path in `execs`, so a planted directory refuses
 * the run and adds nothing.
 */
#include "run/helper_files.h"

#include "base/errkind.h"
#include "base/error.h"
#include "base/fd.h"
#include "base/heap.h"
#include "base/quote.h"
#include "policy/helper_sets.h"

#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define ENTRIES_MAX 4096 /* of one directory that is searched */

struct finder {
    struct ck_binary_search *search;
    struct ck_identity root;
    struct ck_helper_files *files;
    struct choke_error *error;
    bool directory; /* a pattern stands for directories */
};

void ck_helper_files_done(struct ck_helper_files *files)
{
    for (size_t i = 0; i < files->count; i++) {
        free(files->items[i].path);
        ck_fd_close(&files->items[i].fd);
    }
    files->count = 0;
}

/* Takes over the descriptor, also on failure. The same path twice is one helper. */
static int add(const struct finder *finder, int owned_fd, const char *path, bool directory)
{
    CK_FD fd = owned_fd;
    struct ck_helper_files *files = finder->files;
    for (size_t i = 0; i < files->count; i++)
        if (strcmp(files->items[i].path, path) == 0)
            return 0;
    if (files->count == CK_HELPER_FILES_MAX)
        return ck_error_set(finder->error, CHOKE_DISALLOWED, E2BIG,
                            "the helpers of the run are more than %d files; list fewer in 'execs' or 'uses'",
                            CK_HELPER_FILES_MAX);
    char *copy = strdup(path);
    if (!copy)
        return -ENOMEM;
    files->items[files->count++] = (struct ck_helper_file){.fd = ck_fd_take(&fd), .path = copy, .directory = directory};
    return 0;
}

/* A name in the search path, or a file at an absolute path. */
static int open_file(const struct finder *finder, const char *text)
{
    const struct ck_binary_wanted wanted = {.name = text, .path = text[0] == '/' ? text : NULL};
    struct ck_binary binary;
    int r = ck_binary_find(finder->search, &wanted, finder->root, &binary, NULL, finder->error);
    if (r < 0 && finder->error->outcome == CHOKE_TOOL_MISSING) {
        *finder->error = (struct choke_error){0};
        return 0;
    }
    return r < 0 ? r : add(finder, binary.fd, binary.path, false);
}

/* ---- directories ---- */

/*
 * A regular file that may be executed and is not a shared library, which some systems mark as
 * executable. Anything that this takes for a program still has to pass the checks of open_file.
 */
static bool is_program(const char *path, const char *name)
{
    struct stat status;
    size_t length = strlen(name);
    bool library = strstr(name, ".so.") || (length > 3 && strcmp(name + length - 3, ".so") == 0);
    return !library && stat(path, &status) == 0 && S_ISREG(status.st_mode) &&
           (status.st_mode & (S_IXUSR | S_IXGRP | S_IXOTH)) != 0;
}

static void free_names(struct dirent **names, int count)
{
    for (int i = 0; i < count; i++)
        free(names[i]);
    free((void *)names);
}

/* Sorted, so that two runs find the same files in the same order. A missing directory is empty. */
static int list_directory(const char *path, struct dirent ***ret_names)
{
    int count = scandir(path, ret_names, NULL, alphasort);
    if (count < 0)
        return ck_errkind_is_shortage(errno) ? -errno : 0;
    if (count <= ENTRIES_MAX)
        return count;
    free_names(*ret_names, count);
    return -E2BIG;
}

static bool join(char path[PATH_MAX], const char *directory, const char *name)
{
    int length = snprintf(path, PATH_MAX, "%s/%s", directory, name);
    return length > 0 && length < PATH_MAX;
}

/* fd is of the directory, which is trusted: nobody else can add a file to it. */
static int open_directory(const struct finder *finder, int fd, const char *directory)
{
    struct dirent **names;
    CK_HEAP char *path = ck_heap_own(malloc(PATH_MAX));
    int r = add(finder, fd, directory, true);
    if (r < 0 || !path)
        return r < 0 ? r : -ENOMEM;
    int count = list_directory(directory, &names);
    if (count < 0)
        return count;
    for (int i = 0; i < count && r == 0; i++)
        if (join(path, directory, names[i]->d_name) && is_program(path, names[i]->d_name))
            r = open_file(finder, path);
    if (count > 0)
        free_names(names, count);
    return r;
}

/* An absolute path, of a file or a directory, or a name. */
static int open_helper(const struct finder *finder, const char *text)
{
    int fd = -1;
    int r = ck_binary_directory(text, finder->root, &fd, finder->error);
    if (r == 0)
        return open_directory(finder, fd, text);
    return r == -ENOTDIR ? open_file(finder, text) : r;
}

/* ---- patterns ---- */

/* What a pattern led to. A set says which kind it means; another kind is not a member. */
static int open_match(const struct finder *finder, const char *path)
{
    struct stat status;
    if (stat(path, &status) < 0)
        return ck_errkind_is_shortage(errno) ? -errno : 0;
    if (finder->directory != !!S_ISDIR(status.st_mode))
        return 0;
    return open_helper(finder, path);
}

static int expand(const struct finder *finder, const char *base, const char *rest);

/* The entries of base that the component, which has length bytes, matches. */
static int expand_component(const struct finder *finder, const char *base, const char *component, size_t length)
{
    char pattern[NAME_MAX + 1];
    struct dirent **names;
    CK_HEAP char *path = ck_heap_own(malloc(PATH_MAX));
    if (!path)
        return -ENOMEM;
    (void)snprintf(pattern, sizeof(pattern), "%.*s", (int)length, component);
    int count = list_directory(base[0] != '\0' ? base : "/", &names);
    if (count < 0)
        return count;
    int r = 0;
    for (int i = 0; i < count && r == 0; i++)
        if (fnmatch(pattern, names[i]->d_name, FNM_PERIOD) == 0 && join(path, base, names[i]->d_name))
            r = expand(finder, path, component + length);
    if (count > 0)
        free_names(names, count);
    return r;
}

/* base has no pattern in it; rest is empty, or begins with '/'. */
static int expand(const struct finder *finder, const char *base, const char *rest)
{
    while (*rest == '/')
        rest++;
    if (*rest == '\0')
        return open_match(finder, base);
    size_t length = strcspn(rest, "/");
    if (memchr(rest, '*', length))
        return expand_component(finder, base, rest, length);
    CK_HEAP char *path = ck_heap_own(malloc(PATH_MAX));
    if (!path)
        return -ENOMEM;
    int written = snprintf(path, PATH_MAX, "%s/%.*s", base, (int)length, rest);
    return written > 0 && written < PATH_MAX ? expand(finder, path, rest + length) : 0;
}

int ck_helper_files_open(struct ck_binary_search *search, const struct ck_tool *tool, struct ck_identity root,
                         struct ck_helper_files *files, struct choke_error *error)
{
    struct finder finder = {.search = search, .root = root, .files = files, .error = error};
    struct ck_helper helper;
    int r = 0;
    for (uint32_t i = 0; r == 0 && ck_helper_sets_at(tool, i, &helper); i++) {
        if (!helper.set || helper.text[0] != '/') {
            r = open_helper(&finder, helper.text);
            continue;
        }
        finder.directory = helper.text[strlen(helper.text) - 1] == '/';
        r = expand(&finder, "", helper.text);
    }
    return r;
}
