/*
 * tooldigest.h - the SHA-256 of the file that is about to be executed, for the audit log.
 *
 * If the policy pins the file, the digest is known. Any other is remembered by device, inode, size,
 * mtime and ctime: in the context, and in tools.json, which doctor uses too. So a command that
 * makes one run need not read the whole tool.
 */
#ifndef CK_API_TOOLDIGEST_H
#define CK_API_TOOLDIGEST_H

#include "run/plan.h"
#include "sys/digest.h"
#include "sys/version.h"

#define CK_TOOLDIGESTS 32

/* A file in the state that version describes has this digest. */
struct ck_tooldigest {
    struct ck_version version;
    char sha256[CK_DIGEST_SIZE];
};

/* Zero-filled is empty. */
struct ck_tooldigests {
    struct ck_tooldigest items[CK_TOOLDIGESTS];
    size_t count;
    size_t next;      /* index to replace when the table is full */
    const char *home; /* where the cache is; NULL: the environment says it */
};

/*
 * The digest of the tool that the plan holds open; NULL if it may be executed but not read. policy
 * is the digest of the policy.
 */
const char *ck_tooldigest_find(struct ck_tooldigests *digests, const struct ck_plan *plan, const char *policy,
                               char buffer[CK_DIGEST_SIZE]);

/*
 * Adds a digest that was computed elsewhere. A file that changed a moment ago is not remembered.
 */
void ck_tooldigest_remember(struct ck_tooldigests *digests, const struct ck_version *version,
                            const char sha256[CK_DIGEST_SIZE]);

#endif
