/*
 * body_write.h - the bodies of the records about calls (docs/audit.schema.json).
 *
 * The caller fills plain structs. It also hides credentials before it does: nothing here knows what
 * a credential looks like. Each list and each text has a budget, so that a record always fits into
 * its line. What does not fit is counted, or its length and hash are written in its place.
 */
#ifndef CK_AUDIT_BODY_WRITE_H
#define CK_AUDIT_BODY_WRITE_H

#include "audit/record.h"
#include "chokepoint.h"
#include "sys/trust.h"

/* Who makes the call; the same members are in all records of a call. */
struct ck_audit_caller {
    const char *context; /* the random name of the context */
    uint64_t pid;        /* of the calling process */
    const char *probe;   /* NULL: not a probe's call */
};

/*
 * The policy is the same in all records of a context: its JSON is written once, and copied from
 * then on.
 */
struct ck_audit_policy {
    const char *path; /* NULL: the embedded policy */
    const char *sha256;
    char *json; /* NULL before the first record; freed by the owner */
    size_t json_length;
};

/* A limit of the call, by its name in the record. */
struct ck_audit_limit {
    const char *key;
    uint64_t value;
};

/* Every execution in the tree of a guard's program, by its result (R92). */
struct ck_audit_executions {
    uint64_t attempts; /* that the kernel notified */
    /* together they are the attempts */
    uint64_t door, carrier, workspace, refused, not_found, failed;
    uint64_t connections; /* of doors to the guard; as many as door */
    uint64_t calls;       /* of these, that the guard gave a record: intent or refused */
};

/* What the program of a guard has, besides what every call has. */
struct ck_audit_guard {
    const char *profile;         /* NULL: none */
    const char *const *carriers; /* their names */
    const char *const *state;    /* paths of the directories that it keeps; NULL: none */
    const char *const *secrets;  /* "HOST:PORT,HEADER", never a value; NULL: none */
    /* directories that it may write, besides the root: the log may not be in one of them */
    const struct ck_identity *writable;
    size_t writable_count;
    struct ck_audit_executions executions; /* for its end */
};

/*
 * An intent, or a call that is refused. What a refusal did not reach is NULL, and null in the
 * record.
 */
struct ck_audit_call {
    struct ck_audit_caller caller;
    const char *tool_name, *tool_path, *tool_sha256;
    const char *const *argv;
    const char *const *env; /* NAME=VALUE; only the names are written */
    const char *root, *cwd;
    struct ck_audit_policy *policy;
    /* the policy's rule that decided */
    const char *rule;
    const char *jail;
    const char *const *layers; /* never NULL */
    const struct ck_audit_limit *limits;
    size_t limits_count;
    uint64_t timeout_ms; /* 0: null */
    bool sandbox;
    const char *workspace;
    /* arguments that the tool gets in another spelling: as they were asked for, and where in argv */
    const char *const *asked; /* NULL: none */
    const size_t *asked_at;
    const char *root_at;      /* path of the root in the jail, if that is not /work; or NULL */
    const char *const *shown; /* directories that the jail shows too; NULL: none */
    const char *const *egress;
    bool workspace_code, loopback;
    bool learn;                          /* a run of `policy learn` */
    uint64_t guard;                      /* seq of the guard_begin that it belongs to; 0: none */
    const struct ck_audit_guard *begins; /* it is the program of this guard; NULL: a tool */
};

/* A decision of the proxy about one connection, or the end of the connection. */
struct ck_audit_connection {
    uint64_t intent;
    struct ck_audit_caller caller;
    const char *tool_name;
    const char *verdict;
    uint64_t connection;
    const char *protocol, *host, *rule, *reason;
    const char *address; /* NULL: the proxy of the site has dialled it */
    const char *via;     /* that proxy; NULL: none */
    const char *secret;  /* names of the headers that the proxy adds; NULL: none */
    uint64_t requests;   /* that got them */
    uint16_t port;
    uint64_t sent_bytes, received_bytes;
};

/* How a call ended, by the names of outcomes. */
struct ck_audit_end {
    const char *outcome;
    const char *code; /* of the error; NULL: there is none */
    const char *message;
};

struct ck_audit_outcome {
    uint64_t intent;
    struct ck_audit_caller caller;
    const struct choke_result *result;
    const char *out_hash, *err_hash;   /* NULL: could not be computed */
    bool passed_on;                    /* the caller got all output as it arrived */
    bool handed_over;                  /* the tool wrote to the caller's descriptors: nobody saw what */
    const struct ck_audit_guard *ends; /* intent is the guard_begin of this guard; NULL: a tool */
    struct ck_audit_end end;
};

/* Starts a record of that kind and writes its body. 0 or -ENOMEM. An outcome that ends a guard is a guard_end. */
int ck_body_write_call(struct ck_record *record, const char *kind, const struct ck_audit_call *call);
int ck_body_write_outcome(struct ck_record *record, const struct ck_audit_outcome *outcome);
int ck_body_write_egress(struct ck_record *record, const struct ck_audit_connection *connection);

/*
 * Adds how the call ended to the record that ck_body_write_call began: for a call that is refused.
 */
void ck_body_write_end(struct ck_record *record, const struct ck_audit_end *end);

#endif
