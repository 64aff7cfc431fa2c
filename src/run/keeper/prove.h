/* prove.h - tries to get through each layer of a jail, from inside. */
#ifndef CK_RUN_KEEPER_PROVE_H
#define CK_RUN_KEEPER_PROVE_H

#include "jail/native_ops.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * Sees the result of each system call of a file that tries layers: CK_RAW_ANSWER of sys/raw.h.
 * Returns result.
 */
long ck_prove_note(long r);

/* The errno of a call of a proof that failed for lack of resources, or 0. */
int32_t ck_prove_shortage(void);

/*
 * Runs in place of a tool: tries every layer, and sets in a struct ck_init_status (the argument)
 * the bits of those that hold. A namespace holds if its number differs from the one outside, which
 * ck_prove_outside was given.
 */
__attribute__((noreturn)) void ck_prove_layers(void *argument);
void ck_prove_outside(uint32_t jail_layer, uint64_t number);

/* What the jail has: a gate, Landlock rules for its port, a filter that reports attempts. */
void ck_prove_inside(const struct ck_native_program *program);

/* Only in a jail with libraries: prove_libraries.c. It executes programs in children. */
bool ck_prove_libraries(const struct ck_native_program *program);

/* Each tries one layer. prove_no_userns.c uses them too. */
bool ck_prove_execs(void);
bool ck_prove_seccomp(void);
bool ck_prove_no_new_privs(void);

struct ck_prove_start {
    int socket_fd;
    int program_fd;
};

/* argument is a struct ck_prove_start. */
__attribute__((noreturn)) void ck_prove_main(void *argument);

#endif
