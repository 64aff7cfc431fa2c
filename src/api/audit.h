/*
 * audit.h - the record of a context's calls: when it is written, and what is in it.
 *
 * A call that would be run is recorded as an intent before the process exists, and as an outcome when it has ended; one
 * that is refused, as refused. With CHOKE_AUDIT_SYNC_EVERY a job waits twice for the next round of events, where one
 * sync serves all that wait: before it is launched, and before it is handed out.
 */
#ifndef CK_API_AUDIT_H
#define CK_API_AUDIT_H

#include "api/tooldigest.h"
#include "audit/body_write.h"
#include "audit/log.h"
#include "policy/secret.h"

struct choke_context;
struct choke_job;
struct ck_gate_event;
struct ck_stream_hashes;

struct ck_audit {
    const char *path; /* absolute; NULL: no audit */
    struct ck_audit_directory directory;
    bool open; /* log has its name */
    struct ck_log log;
    enum choke_audit_sync sync;
    uint64_t max_bytes;
    struct ck_record record;
    char id[CK_AUDIT_LOG_HEX + 1];      /* of the context */
    char policy_sha256[CK_DIGEST_SIZE]; /* "": not yet computed */
    struct ck_audit_policy policy;
    char policy_shown[CK_SECRET_SHOWN_MAX]; /* its path, where that has a credential */
    char empty_hash[CK_AUDIT_HASH_HEX + 1]; /* the hash of a stream without a byte */
    struct ck_tooldigests digests;
    char *root; /* the last root that was asked for by its own path, and which directory it was; NULL: none */
    struct ck_identity root_identity;
    struct choke_job *waiting; /* for a sync, to be launched; the one that came last is first */
    struct choke_job *ended;   /* for a sync, to be handed out; the same */
    size_t waiting_count;      /* of both */
};

/* Once for a context. 0, or a negative errno with words. */
int ck_audit_init(struct choke_context *context, const struct choke_options *options, struct choke_error *error);
void ck_audit_done(struct choke_context *context, bool owner);

/* Must a job wait for the disk? */
bool ck_audit_waits(const struct choke_context *context);

/*
 * Before the process exists. A negative errno with words: it must not. A refusal of this kind can be recorded as any
 * other can, unless the result is unrecorded already.
 */
int ck_audit_intent(struct choke_job *job, const struct choke_request *request, struct ck_plan *plan,
                    struct choke_error *error);

/* What cannot be recorded is told by an event, and by the result. */
void ck_audit_refused(struct choke_job *job, const struct choke_request *request, struct ck_plan *plan);
void ck_audit_outcome(struct choke_job *job);

/* A decision of the proxy about a connection of the job's. */
void ck_audit_egress(struct choke_job *job, const struct ck_gate_event *event);

/* All that was recorded is durable; a negative errno with words. */
int ck_audit_sync(struct choke_context *context, struct choke_error *error);

/* The outcome of a job could not be recorded, or made durable. */
void ck_audit_unrecorded(struct choke_job *job, const struct choke_error *error);

/* ---- audit_call.c ---- */

/* Starts the record and writes the body. 0 or -ENOMEM. */
int ck_audit_write_call(struct choke_job *job, const struct choke_request *request, struct ck_plan *plan,
                        const char *kind);
/* How the call ended, into the record that is begun: for a call that was refused. */
void ck_audit_write_end(struct choke_job *job);
int ck_audit_write_outcome(struct choke_job *job);
int ck_audit_write_egress(struct choke_job *job, const struct ck_gate_event *event);

/* Takes its place in front of the caller's callback. */
void ck_audit_hook_output(struct choke_job *job);

#endif
