/*
 * gitlink.h - the git directory of a linked worktree or submodule, if it is proven to belong to the
 * root (R88).
 *
 * The root's file .git names the directory, but that file is text of the repository: it may name
 * any directory of the host. So the directory itself must name the root. docs/adr/0056 has the
 * rules. Every file is reached by a descriptor, and what is compared is what was opened.
 */
#ifndef CK_SYS_GITLINK_H
#define CK_SYS_GITLINK_H

#include "sys/trust.h"

struct ck_gitlink {
    /* the directory to show: the common directory of a worktree, or the directory of a module */
    struct ck_trusted place;
    char path[PATH_MAX];             /* of it, without symlinks */
    char message[CHOKE_MESSAGE_MAX]; /* of -EPERM: why it is not proven, and the right --root */
};

/*
 * Returns 1 if a directory is proven; 0 if the root has no link to one, or to one inside itself;
 * -EPERM with a message if it is not proven; another negative errno for a lack of resources. Call
 * ck_gitlink_done on ret in any case.
 */
int ck_gitlink_find(int root_fd, struct ck_gitlink *ret);
void ck_gitlink_done(struct ck_gitlink *gitlink);

/*
 * Pure: the value of core.worktree in the text of a git config. 1 and the value; 0 if it is not
 * set; -EINVAL if it is set twice, or the text has what this reader does not know.
 */
int ck_gitlink_worktree_key(const char *text, size_t length, char ret_value[PATH_MAX]);

#endif
