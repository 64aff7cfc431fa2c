/*
 * noexec.h - finds mounts of the host at and beneath the root on which nothing can be executed.
 *
 * A jail does not change them. So a run that may execute files of the repository says which mount
 * forbids it.
 */
#ifndef CK_SYS_NOEXEC_H
#define CK_SYS_NOEXEC_H

#include "base/arena.h"

#include <stdbool.h>

/*
 * *ret_root: the root itself is on such a mount. *ret_mount: the path of that mount, or else of the
 * first such mount beneath the root, in the arena; NULL: no such mount, or the list of mounts
 * cannot be read and the root is on no such mount. Returns 0 or a negative errno.
 */
int ck_noexec_find(int root_fd, struct ck_arena *arena, bool *ret_root, const char **ret_mount);

/*
 * The same from the text of a mountinfo file, for a root at top. Pure, except that it
 * changes the text.
 */
const char *ck_noexec_search(char *mountinfo, const char *top, bool at_top);

#endif
