/*
 * tooldigest.h - the SHA-256 of what is about to be executed, for the audit log.
 *
 * Of a file that the policy pins it is known. Of any other it is remembered by device, inode, size, mtime and ctime: in
 * the context, and in tools.json, which doctor uses too, so that a command that makes one run need not read the tool.
 */
#ifndef CK_API_TOOLDIGEST_H
#define CK_API_TOOLDIGEST_H

#include "run/plan.h"
#include "sys/digest.h"
#include "sys/version.h"

#define CK_TOOLDIGESTS 32

struct ck_tooldigest {
    struct ck_version version;
    char sha256[CK_DIGEST_SIZE];
};

/* Zero-filled is empty. */
struct ck_tooldigests {
    struct ck_tooldigest items[CK_TOOLDIGESTS];
    size_t count;
    size_t next; /* the one to be replaced when there is no room */
};

/* Of the tool that the plan holds open; NULL where it may be executed and not read. policy is the policy's own digest. */
const char *ck_tooldigest_find(struct ck_tooldigests *digests, const struct ck_plan *plan, const char *policy,
                               char buffer[CK_DIGEST_SIZE]);

/* What was hashed elsewhere need not be read again. A file that changed a moment ago is not remembered. */
void ck_tooldigest_remember(struct ck_tooldigests *digests, const struct ck_version *version,
                            const char sha256[CK_DIGEST_SIZE]);

#endif
