/*
 * seatbelt.h - the jail of macOS (R34): the profile and the command line of sandbox-exec. Pure, so
 * tests compare both exactly on any system.
 */
#ifndef CK_JAIL_SEATBELT_H
#define CK_JAIL_SEATBELT_H

#include "base/arena.h"

#include <stdbool.h>

struct ck_seatbelt_wanted {
    const char *root; /* absolute, without symlinks, as every path here: the kernel compares resolved paths */
    bool writable;    /* the root */
    const char *scratch;
    const char *tool;
    const char *const *execs; /* NULL-terminated: other files that may be executed */
    const char *const *argv;  /* of the tool, with its name */
};

/*
 * The profile. NULL: no memory (errno ENOMEM), or a path cannot be written in a profile because it
 * is relative or has a control byte in it (EINVAL).
 */
const char *ck_seatbelt_profile(const struct ck_seatbelt_wanted *wanted, struct ck_arena *arena);

/* sandbox-exec, the profile, "--", and the tool by its path. NULL: no memory. */
const char **ck_seatbelt_argv(const struct ck_seatbelt_wanted *wanted, const char *profile, struct ck_arena *arena);

#endif
