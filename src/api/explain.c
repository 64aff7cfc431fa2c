/*
 * explain.c - shows what a plan would do, and does not carry it out.
 *
 * The plan is the one that a run would use, so what is shown is what would happen. Credentials are
 * hidden in every text.
 */
#include "api/context.h"
#include "api/redact.h"
#include "api/versioned.h"

#include "base/error.h"
#include "jail/mounts.h"
#include "run/locked.h"
#include "sys/beneath.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

/* The public struct is first: freeing the decision frees the box. */
struct decision_box {
    struct choke_decision decision;
    struct ck_arena text;                  /* all copies */
    const char *layers[CK_LAYERS_MAX + 1]; /* NULL-terminated; the names are constants */
};

/*
 * Without credentials, in the memory of the decision. NULL for NULL, and when out of memory: see
 * complete.
 */
static const char *copy(struct decision_box *box, const char *text)
{
    return ck_redact_copy(&box->text, text);
}

/* The resolved path: what the kernel has for the open directory, not what the request says. */
static const char *fd_path(struct decision_box *box, int fd)
{
    char path[PATH_MAX];
    return fd >= 0 && ck_beneath_path(fd, path, sizeof(path)) == 0 ? copy(box, path) : NULL;
}

/* The mounts of the native jail, as text. Without namespaces: what is allowed on which path. */
static const char *const *list_mounts(struct decision_box *box, const struct ck_plan *plan)
{
    /* The image of the native jail has its mount operations. It is read here, not executed. */
    struct stat status;
    if (plan->no_userns.grants && plan->verdict.outcome == CHOKE_NONE)
        return ck_redact_list(&box->text, plan->no_userns.grants);
    if (plan->native_jail.fd < 0 || plan->verdict.outcome != CHOKE_NONE || fstat(plan->native_jail.fd, &status) < 0)
        return NULL;
    size_t size = (size_t)status.st_size;
    void *program = mmap(NULL, size, PROT_READ, MAP_PRIVATE, plan->native_jail.fd, 0);
    if (program == MAP_FAILED)
        return NULL;
    const char **lines = ck_mounts_list(program, plan->host_root, plan->workspace, &box->text);
    (void)munmap(program, size);
    return ck_redact_list(&box->text, lines);
}

/* In the canonical form, which may differ from the request's. */
static const char *const *list_egress(struct decision_box *box, const struct ck_verdict *verdict)
{
    if (verdict->egress_count == 0)
        return NULL;
    const char **rules = ck_arena_array(&box->text, verdict->egress_count + 1, sizeof(*rules));
    for (size_t i = 0; rules && i < verdict->egress_count; i++) {
        char text[CK_DESTINATION_TEXT_SIZE];
        rules[i] = ck_arena_strdup(&box->text, ck_destination_text(&verdict->egress[i], text));
        if (!rules[i])
            return NULL;
    }
    return rules;
}

/* Copies everything: the plan ends before the decision is returned. */
static void describe(struct decision_box *box, const struct ck_plan *plan, const struct choke_request *request)
{
    struct choke_decision *decision = &box->decision;
    bool allowed = plan->verdict.outcome == CHOKE_NONE;
    memcpy(box->layers, plan->layers, sizeof(box->layers));
    *decision = (struct choke_decision){
        .outcome = plan->verdict.outcome,
        .rule = copy(box, plan->verdict.rule),
        .tool_name = copy(box, plan->tool_name),
        .tool_path = copy(box, plan->tool_path),
        .argv = ck_redact_list(&box->text, plan->argv),
        .env = ck_redact_list(&box->text, plan->env),
        .root = fd_path(box, plan->root_fd),
        .cwd = fd_path(box, plan->cwd_fd),
        .timeout_ms = plan->verdict.timeout_ms,
        .jail = plan->jail.jail ? plan->jail.jail->name : NULL,
        .layers = box->layers,
        .mounts = list_mounts(box, plan),
        .jail_argv = ck_redact_list(&box->text, plan->bwrap.argv),
        .egress = list_egress(box, &plan->verdict),
        .via = copy(box, plan->upstream ? plan->upstream->text : NULL),
        .workspace_code = allowed && plan->workspace_code,
        .loopback = allowed && plan->loopback,
    };
    /* An allowed plan has outcome CHOKE_NONE, for which ck_redact_error does nothing. */
    if (!allowed)
        decision->error = plan->verdict.error;
    ck_redact_error(&decision->error, request);
}

/* False if a copy is NULL although there was something to copy: out of memory. */
static bool complete(const struct choke_decision *decision, const struct ck_plan *plan)
{
    return decision->rule && (!plan->tool_name || decision->tool_name) && (!plan->tool_path || decision->tool_path) &&
           (!plan->argv || decision->argv) && (!plan->env || decision->env) &&
           (plan->verdict.egress_count == 0 || decision->egress) && (!plan->upstream || decision->via) &&
           (!plan->bwrap.argv || decision->jail_argv) &&
           ((plan->native_jail.fd < 0 && !plan->no_userns.grants) || decision->outcome != CHOKE_NONE ||
            decision->mounts);
}

/* A refusal is a decision: only a failure to plan, or no memory, is an error. */
int choke_explain(struct choke_context *context, const struct choke_request *request,
                  struct choke_decision **ret_decision, struct choke_error *error)
{
    int r = ck_context_renew(context, error);
    if (r < 0)
        return r;
    if (!request || !ret_decision)
        return ck_error_set(error, CHOKE_INVALID, EINVAL, "a request and a pointer for the decision are required");
    struct choke_request known;
    r = ck_versioned_read(CK_VERSIONED(choke_request), request, request->struct_size, &known, error);
    if (r < 0)
        return r;
    struct ck_plan_sources sources = ck_context_sources(context);
    /* What may not run may be explained: another policy by its own rules, and any log. */
    struct ck_locked locked = context->machine.rules;
    locked.refusal.outcome = CHOKE_NONE;
    sources.locked = sources.locked && context->machine.in_use ? &locked : NULL;
    struct ck_plan plan;
    struct decision_box *box = NULL;
    r = ck_plan_make(&sources, &known, &plan);
    if (r == 0)
        box = calloc(1, sizeof(*box));
    if (box)
        describe(box, &plan, &known);
    /* Before ck_plan_done: complete compares with the plan. */
    bool whole = box && complete(&box->decision, &plan);
    ck_plan_done(&plan);
    if (!whole) {
        if (box)
            choke_decision_free(&box->decision);
        return ck_context_plan_failed(r, error);
    }
    *ret_decision = &box->decision;
    return 0;
}

void choke_decision_free(struct choke_decision *decision)
{
    if (!decision)
        return;
    struct decision_box *box = (struct decision_box *)decision;
    ck_arena_done(&box->text);
    free(box);
}
