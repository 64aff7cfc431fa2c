/*
 * git_root.c - finds out whether a directory is a complete git repository; see git_root.h.
 *
 * git would search for its directory upwards, and at the path that a file .git names. In a jail
 * neither exists. So a git directory outside the root is reported as such, and not as a failure of
 * git.
 */
#include "gather/git_root.h"

#include "base/fd.h"
#include "base/file.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>

#define LINK_MAX_BYTES 4096 /* a path and its prefix; longer files are not read */

/* RESOLVE_BENEATH: a path that leaves the root counts as absent. */
static bool is_directory(int root_fd, const char *path)
{
    CK_FD fd = ck_file_resolve(root_fd, path, O_PATH | O_DIRECTORY, RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS);
    return fd >= 0;
}

/* The three names that git requires in a git directory. */
static bool is_bare(int root_fd)
{
    struct stat head;
    return is_directory(root_fd, "objects") && is_directory(root_fd, "refs") &&
           fstatat(root_fd, "HEAD", &head, AT_SYMLINK_NOFOLLOW) == 0;
}

/* A file with "gitdir: PATH" is that of a linked work tree or of a submodule. */
static bool gitdir_is_inside(int root_fd)
{
    static const char prefix[] = "gitdir: ";
    char text[LINK_MAX_BYTES];
    long length = ck_file_read_into(root_fd, ".git", O_NOFOLLOW, text, sizeof(text));

    if (length <= (long)strlen(prefix) || memcmp(text, prefix, strlen(prefix)) != 0)
        return false;
    /* The path ends with the line. */
    text[strcspn(text, "\r\n")] = '\0';
    return is_directory(root_fd, text + strlen(prefix));
}

const char *ck_git_root_problem(int root_fd)
{
    struct stat status;

    /* Without .git the directory itself may be a bare repository. */
    if (fstatat(root_fd, ".git", &status, AT_SYMLINK_NOFOLLOW) < 0)
        return is_bare(root_fd) ? NULL : "not a git repository";
    if (S_ISDIR(status.st_mode))
        return NULL;
    if (S_ISLNK(status.st_mode))
        return "its .git is a symlink, which is not followed";
    if (!S_ISREG(status.st_mode))
        return "its .git is neither a directory nor a file";
    if (gitdir_is_inside(root_fd))
        return NULL;
    return "its git directory is outside of it (a linked work tree, or a submodule)";
}
