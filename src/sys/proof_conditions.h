/*
 * proof_conditions.h - everything that the proof of a jail depends on, as one digest (docs/adr/0070).
 *
 * A proof holds for the kernel, the caller and the settings that it was made with. Two processes with
 * the same digest would prove the same.
 */
#ifndef CK_SYS_PROOF_CONDITIONS_H
#define CK_SYS_PROOF_CONDITIONS_H

#include "sys/digest.h"

#include <stdbool.h>
#include <stdio.h>

/* What the caller adds: parts of this build. */
struct ck_proof_conditions {
    const char *keeper_sha256;
    const char *const *search; /* directories of the policy, which a proof mounts */
    size_t search_count;
    const char *const *files; /* a program and loaders that a proof tries; they may be missing */
    size_t files_count;
    bool libraries_fit; /* ck_libraries_fit */
};

/*
 * The conditions as text, one to a line, for the digest and for tests. 0; -ENOTSUP if they cannot be
 * told, so a proof must not be remembered: without /proc, or inside a seccomp filter; or another
 * negative errno for lack of resources.
 */
int ck_proof_conditions_write(const struct ck_proof_conditions *conditions, FILE *out);

/* The digest of that text. Returns as ck_proof_conditions_write. */
int ck_proof_conditions_digest(const struct ck_proof_conditions *conditions, char ret_hex[CK_DIGEST_SIZE]);

#endif
