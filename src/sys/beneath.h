/*
 * beneath.h - directories that cannot be left (R16).
 *
 * The root and the working directory are held as descriptors from the moment they are resolved. The kernel resolves
 * the second beneath the first (openat2, RESOLVE_BENEATH), so neither "..", nor a link, nor a rename during the
 * look-up leads out.
 */
#ifndef CK_SYS_BENEATH_H
#define CK_SYS_BENEATH_H

#include "chokepoint.h"

/* Failures have outcome CHOKE_CWD; CHOKE_SPAWN_FAILED where the process has no descriptor or memory left. */
int ck_beneath_root(const char *path, int *ret_fd, struct choke_error *error);

/* A relative path is taken from the root. An absolute one may come by links, as long as it ends beneath the root. */
int ck_beneath_directory(int root_fd, const char *path, int *ret_fd, struct choke_error *error);

/* Where a directory stands now, into buffer; 0 or a negative errno. */
int ck_beneath_path(int fd, char *buffer, size_t size);

#endif
