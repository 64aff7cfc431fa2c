/*
 * audit.h - the audit log of a context: when a record is written, and what is in it.
 *
 * A call that would run is recorded as an intent before the process exists, and as an outcome when
 * it has ended. A refused call is recorded as refused. With CHOKE_AUDIT_SYNC_EVERY a job waits
 * twice for the next round of events: before it is launched, and before choke_next returns it. One
 * sync serves all jobs that wait.
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
    const char *path;                    /* absolute; NULL: no audit */
    struct ck_audit_directory directory; /* of path */
    bool open;                           /* the log is initialised */
    struct ck_log log;                   /* opened by the first record */
    enum choke_audit_sync sync;          /* when records must be on the disk */
    uint64_t max_bytes;                  /* of one file, then the log is rotated; 0: never */
    struct ck_record record;             /* the buffer for the record that is being written */
    char id[CK_AUDIT_LOG_HEX + 1];       /* random name of the context */
    char policy_sha256[CK_DIGEST_SIZE];  /* "": not yet computed */
    /* as records name it; its json is made by the first record */
    struct ck_audit_policy policy;
    char policy_shown[CK_SECRET_SHOWN_MAX]; /* its path, if that has a credential */
    char empty_hash[CK_AUDIT_HASH_HEX + 1]; /* the hash of an empty stream */
    struct ck_tooldigests digests;          /* so that a tool is not hashed for every run */
    char *root; /* the last root that a request named by its real path, see find_root; NULL: none */
    struct ck_identity root_identity; /* of that root */
    uint64_t guard;                   /* seq of the guard_begin; 0: none. Every call of the context belongs to it */
    struct choke_job *waiting;        /* for a sync, then to be launched; the newest is first */
    struct choke_job *ended;          /* the same, then returned by choke_next; the same order */
    size_t waiting_count;             /* of both lists */
};

/* Once per context. 0, or a negative errno with a message. */
int ck_audit_init(struct choke_context *context, const struct choke_options *options, struct choke_error *error);
/* owner: false in a fork, where the log is only closed. */
void ck_audit_done(struct choke_context *context, bool owner);

/* Must jobs of the context wait for the disk? */
bool ck_audit_waits(const struct choke_context *context);

/*
 * The program of a guard is a job whose member `guard` is set: its intent is a guard_begin, and its
 * outcome a guard_end with the executions that the member has by then. In between every other call
 * of the context belongs to the guard.
 *
 * Called before the process exists. On a negative errno (with a message) the process must not be
 * created. Such a refusal can be recorded as any other, unless result->unrecorded is already set.
 */
int ck_audit_intent(struct choke_job *job, const struct choke_request *request, struct ck_plan *plan,
                    struct choke_error *error);

/* If the record cannot be written, an event and the result say so. */
void ck_audit_refused(struct choke_job *job, const struct choke_request *request, struct ck_plan *plan);
void ck_audit_outcome(struct choke_job *job);

/* A decision of the proxy about a connection of the job. */
void ck_audit_egress(struct choke_job *job, const struct ck_gate_event *event);

/* Makes all records durable. A negative errno with a message on failure. */
int ck_audit_sync(struct choke_context *context, struct choke_error *error);

/* The outcome of a job could not be recorded, or made durable. */
void ck_audit_unrecorded(struct choke_job *job, const struct choke_error *error);

/* ---- audit_call.c ---- */

/* Starts the record and writes the body. 0 or -ENOMEM. */
int ck_audit_write_call(struct choke_job *job, const struct choke_request *request, struct ck_plan *plan,
                        const char *kind);
/* Adds how the call ended to the record that is begun: for a refused call. */
void ck_audit_write_end(struct choke_job *job);
/* These two are records that refer to the intent by its seq. 0 or -ENOMEM. */
int ck_audit_write_outcome(struct choke_job *job);
int ck_audit_write_egress(struct choke_job *job, const struct ck_gate_event *event);

/* Puts the hashing of output before the caller's callback. */
void ck_audit_hook_output(struct choke_job *job);

#endif
