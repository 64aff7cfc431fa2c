/*
 * audited.c - the cost of the record: the same run without a log, and with a log of each
 * durability.
 *
 * Each side has its own context and log, which live as long as the worker. The log is in the
 * directory of the bench, so the cost of a sync depends on the file system there.
 */
#include "worker.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const trivial_argv[] = {"true", NULL};

struct side {
    const char *name;
    bool audit;
    enum choke_audit_sync sync;
    struct choke_context *context; /* NULL until it is first asked for */
};

static struct side sides[] = {
    {.name = "off"},
    {.name = "none", .audit = true, .sync = CHOKE_AUDIT_SYNC_NONE},
    {.name = "batched", .audit = true, .sync = CHOKE_AUDIT_SYNC_BATCHED},
    {.name = "every", .audit = true, .sync = CHOKE_AUDIT_SYNC_EVERY},
};

static struct choke_context *context_of(const struct worker *worker, struct side *side)
{
    char path[4096];
    struct choke_error error = {0};
    (void)snprintf(path, sizeof(path), "%s/../audit-%s.jsonl", worker->root, side->name);
    const struct choke_options options = {
        .policy_path = worker->policy_path, .audit_path = side->audit ? path : NULL, .audit_sync = side->sync};
    if (!side->context && choke_context_new(&options, &side->context, &error) < 0) {
        fail("choke_context_new", error.message);
    }
    return side->context;
}

static struct side *side_named(const char *name)
{
    for (size_t i = 0; i < sizeof(sides) / sizeof(sides[0]); i++) {
        if (strcmp(name, sides[i].name) == 0) {
            return &sides[i];
        }
    }
    fail("no such side", name);
}

static void check(const struct choke_result *result, struct tally *tally)
{
    if (result->unrecorded) {
        fail("a run is not in the log", choke_outcome_name(result->outcome));
    }
    add_result(tally, result);
}

void command_audited(struct worker *worker, const char *const *args)
{
    struct choke_context *context = context_of(worker, side_named(args[1]));
    struct choke_request request = request_for(worker, trivial_argv);
    size_t runs = number(args[2]);
    struct tally tally = {0};
    uint64_t start = now_ns();
    for (size_t i = 0; i < runs; i++) {
        struct choke_result *result = NULL;
        struct choke_error error = {0};
        if (choke_run(context, &request, &result, &error) < 0) {
            fail("choke_run", error.message);
        }
        check(result, &tally);
        choke_result_free(result);
    }
    tally.wall_ns = now_ns() - start;
    reply_tally(&tally);
}

void command_audited_together(struct worker *worker, const char *const *args)
{
    struct choke_context *context = context_of(worker, side_named(args[1]));
    struct choke_request request = request_for(worker, trivial_argv);
    size_t runs = number(args[2]);
    struct tally tally = {0};
    struct choke_error error = {0};
    uint64_t start = now_ns();
    for (size_t i = 0; i < runs; i++) {
        struct choke_job *job = NULL;
        if (choke_start(context, &request, &job, &error) < 0) {
            fail("choke_start", error.message);
        }
    }
    while (tally.runs < runs) {
        if (choke_wait(context, -1, &error) < 0) {
            fail("choke_wait", error.message);
        }
        for (struct choke_job *job = choke_next(context); job; job = choke_next(context)) {
            check(choke_job_result(job), &tally);
            choke_job_free(job);
        }
    }
    tally.wall_ns = now_ns() - start;
    reply_tally(&tally);
}
