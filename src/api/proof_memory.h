/*
 * proof_memory.h - proofs of jails that succeeded, remembered for later processes (docs/adr/0070).
 *
 *   1. ck_proof_memory_recall   before a proof: is there one for exactly these conditions?
 *   2. ck_proof_memory_record   after a proof that succeeded.
 *   3. ck_proof_memory_check    for each run: the tool must not be able to write the directory.
 *
 * Nothing here fails a run except the last: without a memory a jail is proven in each process.
 */
#ifndef CK_API_PROOF_MEMORY_H
#define CK_API_PROOF_MEMORY_H

#include "jail/jail.h"
#include "sys/digest.h"
#include "sys/trust.h"

#include <stdbool.h>

/* Must be set up with ck_proof_memory_init: zero-filled is not valid. */
struct ck_proof_memory {
    bool off;                        /* nothing is recalled or recorded */
    bool opened;                     /* the fields below are valid */
    int fd;                          /* the directory; -1: there is none */
    int place_fd;                    /* the same, or the directory above it; -1: there is none */
    char conditions[CK_DIGEST_SIZE]; /* "": they cannot be told */
    bool checked;                    /* the next one was checked */
    struct ck_identity checked_root;
};

struct choke_context;
struct ck_plan;

void ck_proof_memory_init(struct ck_proof_memory *memory);
void ck_proof_memory_done(struct ck_proof_memory *memory);

/* True: *state is what a proof found. */
bool ck_proof_memory_recall(struct choke_context *context, const struct ck_jail *jail, struct ck_jail_form form,
                            struct ck_jail_state *state);
void ck_proof_memory_record(struct choke_context *context, const struct ck_jail *jail, struct ck_jail_form form,
                            const struct ck_jail_state *state);

/* From now on every jail is proven by this context itself, also those that were recalled. */
void ck_proof_memory_stop(struct choke_context *context);

/* A jail could not be built: its records are removed, and it is proven again. */
void ck_proof_memory_forget(struct choke_context *context);

/* CHOKE_SPAWN_FAILED if the tool of the plan could write records. */
int ck_proof_memory_check(struct choke_context *context, const struct ck_plan *plan, struct choke_error *error);

#endif
