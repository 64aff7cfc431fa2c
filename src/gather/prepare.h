/*
 * prepare.h - what a probe needs that data cannot express: a file beside the repository, or an
 * argument from the output of an earlier call. A probe names it (`prepare: trace`), so that a
 * person who reads the probes sees it.
 *
 *   1. begin   once, before the first call. May read files; must not wait, and starts nothing.
 *   2. setup   before each call, with the answers so far. It may replace the arguments, the root or
 *              the stdin of the call. What it puts there belongs to it and lives until end.
 *   3. end     once, however the probe ended; removes everything that was made.
 *
 * A negative result ends the probe as failed with the message of error; as tool_missing if
 * error->outcome is CHOKE_TOOL_MISSING.
 */
#ifndef CK_GATHER_PREPARE_H
#define CK_GATHER_PREPARE_H

#include "gather/evidence/evidence.h"
#include "gather/probes.h"

struct ck_call_setup {
    const struct ck_probe_call *call;
    /* NULL-terminated; the coordinator has replaced its placeholders. */
    const char *const *argv;
    /* argv for the document, if that would differ from run to run; NULL: argv. */
    const char *const *document_argv;
    const char *root; /* of the request */
    int stdin_fd;     /* -1: the stdin of the call */
    bool skip;        /* the call is left out; its answer is empty, with status 0 */
    size_t left_out;  /* files that the preparation took out of the arguments: ck_answer.left_out */
};

struct ck_preparation {
    const char *name;
    int (*begin)(struct choke_context *context, void **ret_state, struct choke_error *error);
    int (*setup)(void *state, const struct ck_answer *answers, size_t count, struct ck_call_setup *setup,
                 struct choke_error *error);
    void (*end)(void *state); /* NULL is fine */
};

extern const struct ck_preparation ck_preparation_grammars; /* grammars.c */
extern const struct ck_preparation ck_preparation_trace;    /* trace/trace.c */

/* NULL if the name is unknown. */
const struct ck_preparation *ck_gather_find_preparation(const char *name);

#endif
