/*
 * seatbelt.h - the jail of macOS (R34): the profile and the command line of sandbox-exec. Pure, so that both can be
 * compared to the letter on any system.
 */
#ifndef CK_JAIL_SEATBELT_H
#define CK_JAIL_SEATBELT_H

#include "base/arena.h"

#include <stdbool.h>

struct ck_seatbelt_wanted {
    const char *root; /* absolute, without links, as every path here: the kernel compares what it has resolved */
    bool writable;    /* the root */
    const char *scratch;
    const char *tool;
    const char *const *execs; /* NULL-terminated: what else may be executed */
    const char *const *argv;  /* of the tool, its name included */
};

/*
 * The profile. NULL: no memory (errno is ENOMEM), or a path that cannot be written in a profile because it is not
 * absolute or has a control byte in it (EINVAL).
 */
const char *ck_seatbelt_profile(const struct ck_seatbelt_wanted *wanted, struct ck_arena *arena);

/* sandbox-exec, the profile, and the tool by its path behind "--". NULL: no memory. */
const char **ck_seatbelt_argv(const struct ck_seatbelt_wanted *wanted, const char *profile, struct ck_arena *arena);

#endif
