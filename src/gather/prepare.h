/*
 * prepare.h - what a probe needs that data cannot say: a file of ours beside the repository, a word that an earlier call
 * of the probe has told. A probe names it (`prepare: trace`), so that a person who reads the probes sees that there is
 * more to it.
 *
 *   1. begin   once, before the first call. May look at files; must not wait, and starts nothing.
 *   2. turn    before each call, with the answers so far: looks at what will be called, and may put other words, another
 *              root or a stdin in its place. What it puts there is its own, and lives until end.
 *   3. end     once, however the probe ended; with it everything that was made is gone.
 *
 * A negative result ends the probe as failed, with the words; as tool_missing where error->outcome is CHOKE_TOOL_MISSING.
 */
#ifndef CK_GATHER_PREPARE_H
#define CK_GATHER_PREPARE_H

#include "gather/evidence/evidence.h"
#include "gather/probes.h"

struct ck_call_setup {
    const struct ck_probe_call *call;
    const char *const *argv; /* NULL-terminated; words that the coordinator knows are filled in already */
    const char *const
        *document_argv; /* argv for the document, where that must not differ from run to run; NULL: argv itself */
    const char *root;   /* of the request */
    int stdin_fd;       /* -1: what the call says */
    bool skip;          /* the call is left out; its answer is empty, and good */
};

struct ck_preparation {
    const char *name;
    int (*begin)(struct choke_context *context, void **ret_state, struct choke_error *error);
    int (*setup)(void *state, const struct ck_answer *answers, size_t count, struct ck_call_setup *setup,
                 struct choke_error *error);
    void (*end)(void *state); /* NULL is fine */
};

/* NULL where there is none of that name. */
const struct ck_preparation *ck_gather_find_preparation(const char *name);

#endif
