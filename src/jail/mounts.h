/* mounts.h - the content of the native jail as text, for people and reviewers. Pure. */
#ifndef CK_JAIL_MOUNTS_H
#define CK_JAIL_MOUNTS_H

#include "base/arena.h"
#include "jail/native_ops.h"

/*
 * One line per item, NULL-terminated: "ro /usr" (read-only, nothing executable), "code /usr/bin/rg"
 * (may be mapped as code), "device /dev/null", "link /bin -> usr/bin", "copy /etc/passwd", "tmpfs
 * /tmp", "proc /proc", and last "ro /work <- ROOT" or "rw /work <- ROOT", or "ro ROOT". If the path inside
 * differs from the path on the host, "<-" and the path on the host follow. NULL: no memory.
 */
const char **ck_mounts_list(const struct ck_native_program *program, const char *root, enum ck_workspace workspace,
                            struct ck_arena *arena);

#endif
