/* tree.h - signals to all descendants of the calling process. */
#ifndef CK_RUN_KEEPER_TREE_H
#define CK_RUN_KEEPER_TREE_H

#include <stddef.h>
#include <stdint.h>

/*
 * Sends sig to every descendant of the calling process except the given direct children and their
 * descendants. Returns how many were found, or a negative errno if the tree cannot be read.
 */
long ck_tree_signal(int proc_fd, int sig, const int32_t *except, size_t except_count);

/*
 * A signal for the tool of guard; pid is its init, a direct child, which is left out: it would be
 * stopped, too. Signals that a terminal would send to a job, and that stop or continue it, go to all
 * descendants of the init; any other to its own children, as kill would. The tool has its own session,
 * where the other stop signals are ignored, so SIGSTOP is sent in their place. How many processes were
 * found, or a negative errno.
 */
long ck_tree_pass_signal(int proc_fd, uint32_t sig, int32_t pid);

#endif
