/*
 * tools_beneath.c - opens a tool that is a file beneath the root. See tools_beneath.h.
 *
 * The file belongs to the repository, so neither its owner nor its mode says anything about it: the
 * entry allows the repository's code, and the jail confines it. What counts is that no name of the
 * repository leads to another file of the host.
 */
#include "run/tools_beneath.h"

#include "base/errkind.h"
#include "base/error.h"
#include "base/fd.h"
#include "base/file.h"
#include "base/quote.h"
#include "jail/native.h"
#include "sys/beneath.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define BENEATH (RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS)

static int refuse_link(struct ck_plan *plan, const struct ck_tool *tool, const char *why)
{
    return ck_error_set(&plan->verdict.error, CHOKE_DISALLOWED, EXDEV,
                        "'%s' of '%s' leads out of the root, and not to a program in /usr or another system tree: %s",
                        CK_QUOTE(tool->path), tool->name, why);
}

static int fail_open(struct ck_plan *plan, const struct ck_tool *tool, int errnum)
{
    bool absent = errnum == ENOENT || errnum == ENOTDIR;
    return ck_error_set(&plan->verdict.error, absent ? CHOKE_TOOL_MISSING : CHOKE_SPAWN_FAILED, errnum,
                        absent ? "'%s' is allowed, but its file '%s' does not exist beneath the root"
                               : "'%s' cannot be opened: '%s' beneath the root: %s",
                        tool->name, CK_QUOTE(tool->path), ck_error_text(errnum));
}

/*
 * Where the link leads is only a text here. The file is then found by that text as every tool is,
 * with each directory on the way checked, and must be the one that the link led to.
 */
static int find_linked(const struct ck_plan_sources *sources, struct ck_plan *plan, const struct ck_tool *tool,
                       struct ck_binary *binary)
{
    char target[PATH_MAX];
    struct stat linked, found;
    CK_FD fd = ck_file_resolve(plan->root_fd, tool->path + 2, O_PATH | O_CLOEXEC, RESOLVE_NO_MAGICLINKS);
    int r = fd < 0 ? fd : ck_beneath_path(fd, target, sizeof(target));
    if (r < 0)
        return ck_errkind_is_shortage(-r) ? fail_open(plan, tool, -r)
                                          : refuse_link(plan, tool, ck_beneath_strerror(-r));
    if (!ck_native_is_system(target))
        return refuse_link(plan, tool, CK_QUOTE(target));
    const struct ck_binary_wanted wanted = {.name = tool->name, .path = target};
    r = ck_binary_find(sources->search, &wanted, plan->root, binary, NULL, &plan->verdict.error);
    if (r < 0)
        return r;
    if (fstat(fd, &linked) < 0 || fstat(binary->fd, &found) < 0) {
        r = -errno;
        ck_fd_close(&binary->fd);
        return fail_open(plan, tool, -r);
    }
    bool same = linked.st_dev == found.st_dev && linked.st_ino == found.st_ino;
    /* In the jail it would gain nothing; but sudo is not for a repository to choose. */
    if (same && (found.st_mode & (S_ISUID | S_ISGID)) == 0)
        return 0;
    ck_fd_close(&binary->fd);
    if (!same)
        return refuse_link(plan, tool, "it was replaced during the look-up");
    return ck_error_set(&plan->verdict.error, CHOKE_DISALLOWED, EPERM,
                        "'%s' of '%s' leads to '%s', which is set-user-ID or set-group-ID", CK_QUOTE(tool->path),
                        tool->name, CK_QUOTE(target));
}

/* An executable file that cannot be read is refused: whether it is a script cannot be seen. */
static int find_inside(struct ck_plan *plan, const struct ck_tool *tool, struct ck_binary *binary)
{
    struct stat status;
    char magic[2] = {0};
    CK_FD fd = ck_file_resolve(plan->root_fd, tool->path + 2, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, BENEATH);
    if (fd < 0)
        return fd == -EXDEV ? fd : fail_open(plan, tool, -fd);
    if (fstat(fd, &status) < 0)
        return fail_open(plan, tool, errno);
    if (!S_ISREG(status.st_mode) || (status.st_mode & (S_IXUSR | S_IXGRP | S_IXOTH)) == 0)
        return ck_error_set(&plan->verdict.error, CHOKE_SPAWN_FAILED, EACCES, "'%s' of '%s' is not an executable file",
                            CK_QUOTE(tool->path), tool->name);
    binary->script = pread(fd, magic, sizeof(magic), 0) == 2 && memcmp(magic, "#!", 2) == 0;
    binary->readable = true;
    binary->version = ck_version_of(&status);
    binary->fd = ck_fd_take(&fd);
    return 0;
}

int ck_tools_beneath_find(const struct ck_plan_sources *sources, struct ck_plan *plan, const struct ck_tool *tool,
                          struct ck_binary *ret_binary)
{
    char root[PATH_MAX];
    ret_binary->fd = -1;
    ret_binary->script = ret_binary->copied = ret_binary->readable = false;
    int r = find_inside(plan, tool, ret_binary);
    plan->tool_in_workspace = r == 0;
    if (r == -EXDEV) {
        r = find_linked(sources, plan, tool, ret_binary);
        if (r < 0)
            return r;
        /* The repository may change the link, so nothing reads it again to decide what is code. */
        plan->workspace_link = ck_arena_strdup(&plan->arena, ret_binary->path);
        if (!plan->workspace_link) {
            ck_fd_close(&ret_binary->fd);
            return -ENOMEM;
        }
    }
    if (r < 0)
        return r;
    plan->workspace_tool = tool->path + 2;
    r = ck_beneath_path(plan->root_fd, root, sizeof(root));
    int length = r < 0 ? 0 : snprintf(ret_binary->path, sizeof(ret_binary->path), "%s/%s", root, tool->path + 2);
    if (r == 0 && length >= (int)sizeof(ret_binary->path))
        r = -ENAMETOOLONG;
    if (r == 0)
        return 0;
    ck_fd_close(&ret_binary->fd);
    return fail_open(plan, tool, -r);
}
