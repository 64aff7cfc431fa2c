/*
 * bwrap.h - the jail that bubblewrap makes (R30): its command line. Pure: looks at nothing, so that what it makes can be
 * compared to the letter in a test.
 *
 * What is in the jail is the native jail's program (native_ops.h), in bwrap's words. bwrap executes the program `bwrap_init`
 * (run/keeper/bwrap_init.c) from a descriptor, and that the tool.
 */
#ifndef CK_JAIL_BWRAP_H
#define CK_JAIL_BWRAP_H

#include "base/arena.h"
#include "jail/native_ops.h"

#include <stdbool.h>

/* bwrap refuses a longer command line. */
#define CK_BWRAP_ARGS_MAX 9000

/* What is executed: an open file, a script by its path, a script that is a sealed copy. */
enum ck_bwrap_form { CK_BWRAP_FILE, CK_BWRAP_PATH, CK_BWRAP_COPY };

struct ck_bwrap_wanted {
    const struct ck_native_program *program;
    const char *root;    /* of the request, on the host */
    const char *scratch; /* a directory of the host's; NULL: one that is made inside */
    const char *cwd;     /* inside */
    enum ck_workspace workspace;
    enum ck_bwrap_form form;
    const char *tool;        /* inside */
    const char *const *argv; /* of the tool */
    bool pwd;                /* the tool's environment has a PWD */
};

/* NULL: no memory. The words that are not copied are wanted's. */
const char **ck_bwrap_argv(const struct ck_bwrap_wanted *wanted, struct ck_arena *arena);

/* The same with a trial of the walls in the place of the tool; numbers of the namespaces outside, by enum ck_jail_layer. */
const char **ck_bwrap_proof(const struct ck_bwrap_wanted *wanted, const uint64_t outside[CK_JAIL_LAYER_NAMESPACES],
                            struct ck_arena *arena);

/*
 * What a complaint of bwrap's says about the machine: EPERM, ENOSYS or ENOSPC; 0 where it is no answer, or none that is
 * known. bwrap has only text for it.
 */
int ck_bwrap_cause(const char *complaint);

#endif
