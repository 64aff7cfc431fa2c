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

#endif
