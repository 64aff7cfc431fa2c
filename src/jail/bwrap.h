/*
 * bwrap.h - the command line of bubblewrap, which makes the bwrap jail (R30). Pure: it reads no
 * files, so a test compares the result exactly.
 *
 * The jail has the content of the native jail's program (native_ops.h), as options of bwrap. bwrap
 * executes the program `bwrap_init` (run/keeper/bwrap_init.c) from a descriptor, and that executes
 * the tool.
 */
#ifndef CK_JAIL_BWRAP_H
#define CK_JAIL_BWRAP_H

#include "base/arena.h"
#include "jail/native_ops.h"

#include <stdbool.h>

/* bwrap refuses more arguments than this. */
#define CK_BWRAP_ARGS_MAX 9000

/* What is executed: an open file, a script by its path, or a script that is a sealed copy. */
enum ck_bwrap_form { CK_BWRAP_FILE, CK_BWRAP_PATH, CK_BWRAP_COPY };

struct ck_bwrap_wanted {
    const struct ck_native_program *program;
    const char *root;    /* root of the request, path on the host */
    const char *scratch; /* a directory of the host; NULL: it is made inside */
    const char *cwd;     /* path inside */
    enum ck_workspace workspace;
    enum ck_bwrap_form form;
    const char *tool;        /* path inside */
    const char *const *argv; /* of the tool */
    bool pwd;                /* the environment of the tool has a PWD */
};

/* NULL: no memory. Strings that are not copied belong to wanted. */
const char **ck_bwrap_argv(const struct ck_bwrap_wanted *wanted, struct ck_arena *arena);

/*
 * The same with a proof of the layers in place of the tool. outside: numbers of the namespaces
 * outside, by enum ck_jail_layer.
 */
const char **ck_bwrap_proof(const struct ck_bwrap_wanted *wanted, const uint64_t outside[CK_JAIL_LAYER_NAMESPACES],
                            struct ck_arena *arena);

/*
 * What a message of bwrap says about the machine: EPERM, ENOSYS or ENOSPC; 0 if it says nothing
 * about it, or is not known. bwrap reports errors only as text.
 */
int ck_bwrap_cause(const char *complaint);

#endif
