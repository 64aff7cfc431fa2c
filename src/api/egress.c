/*
 * egress.c - the egress of a run, from the plan to the result (docs/adr/0031).
 *
 * The listener is created inside the jail and sent to us before the tool exists. From then on the
 * proxy, in the context's event loop, decides about every connection. At the end of the run the
 * gate is closed, with all its connections.
 */
#include "api/guard.h"

#include "base/error.h"
#include "base/fd.h"
#include "policy/secret.h"
#include "run/upstream_plan.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define BYTES_PER_MIB_BITS 20 /* 1 MiB is 1 << 20 bytes */
#define HINTED_SIZE 1200      /* a message of the proxy, and a hint */

/*
 * Connections are descriptors of the caller. Tools that open as many as they can must leave some to
 * the caller and to the other runs.
 */
static void bound_proxy(struct ck_proxy *proxy)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0)
        ck_proxy_set_fd_limit(proxy, limit.rlim_cur);
}

static uint32_t at_most(uint32_t ms, uint64_t most_ms)
{
    return most_ms < ms ? (uint32_t)most_ms : ms;
}

/*
 * A proxy that hangs must be reported before the run is at its timeout: the tool, which waits for
 * it, says nothing.
 */
static int take_upstream(struct choke_job *job, const struct ck_upstream *upstream)
{
    struct ck_egress *egress = &job->egress;
    egress->upstream = malloc(sizeof(*upstream));
    if (!egress->upstream)
        return -ENOMEM;
    *egress->upstream = *upstream;
    egress->budget.dial_ms = at_most(egress->budget.dial_ms, job->timeout_ms / 2);
    egress->budget.idle_ms = at_most(egress->budget.idle_ms, job->timeout_ms / 2);
    return 0;
}

/*
 * Copied, because the plan is gone when the listener arrives. Limits of the policy replace those of
 * the proxy; a run without egress needs nothing.
 */
int ck_egress_prepare(struct choke_job *job, const struct ck_plan *plan)
{
    const struct ck_verdict *verdict = &plan->verdict;
    struct ck_egress *egress = &job->egress;
    if (verdict->egress_count == 0)
        return 0;
    egress->rules = calloc(verdict->egress_count, sizeof(*egress->rules));
    if (!egress->rules)
        return -ENOMEM;
    memcpy(egress->rules, verdict->egress, verdict->egress_count * sizeof(*egress->rules));
    egress->rules_count = verdict->egress_count;
    egress->reports_attempts = plan->jail.reports_attempts;
    egress->budget = CK_GATE_BUDGET_DEFAULT;
    if (verdict->limits.egress_mib != 0)
        egress->budget.up_bytes = egress->budget.down_bytes = (uint64_t)verdict->limits.egress_mib
                                                              << BYTES_PER_MIB_BITS;
    if (verdict->limits.egress_connections != 0)
        egress->budget.connections_total = verdict->limits.egress_connections;
    return plan->upstream ? take_upstream(job, plan->upstream) : 0;
}

/* For the watch: the proxy has its own epoll, and this runs what is ready there. */
static void dispatch(void *data)
{
    struct choke_context *context = data;
    (void)ck_proxy_dispatch(&context->proxy);
}

/*
 * Host names are lower-cased before, and some credentials are all capitals. So both cases are
 * checked.
 */
static const char *secret_in(const char *text)
{
    /*
     * A host name has at most 253 bytes; of a longer message the rest is not checked in capitals.
     */
    char capitals[1024];
    size_t length = strnlen(text, sizeof(capitals) - 1);
    for (size_t i = 0; i < length; i++)
        capitals[i] = (char)(text[i] >= 'a' && text[i] <= 'z' ? text[i] - 'a' + 'A' : text[i]);
    capitals[length] = '\0';
    const char *kind = ck_secret_kind(text);
    return kind ? kind : ck_secret_kind(capitals);
}

/* A listed host that could not be looked up or connected to: on some machines only their proxy can. */
static bool is_unreached(const struct ck_gate_event *event)
{
    static const char *const reasons[] = {"lookup", "connect", "timeout"};
    bool found = false;
    for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++)
        found = found || strcmp(event->reason, reasons[i]) == 0;
    return found && event->verdict == CK_GATE_FAILED;
}

/* Names the variable, and never what is in it. */
static const char *add_hint(const char *message, char buffer[HINTED_SIZE])
{
    const char *name = ck_upstream_plan_unused();
    if (!name)
        return message;
    (void)snprintf(buffer, HINTED_SIZE,
                   "%s; %s is set, but a proxy is used only if the policy says so: add 'upstream: environment' to it",
                   message, name);
    return buffer;
}

/*
 * Every decision of the proxy about the run comes through here, once. A host name is text of the
 * tool. It may carry a credential, which must not be in a record or an event (R15). A message
 * quotes such text too: a TLS name, a Host.
 */
static void on_decision(void *data, const struct ck_gate_event *decision)
{
    struct choke_job *job = data;
    struct ck_gate_event redacted = *decision;
    const struct ck_gate_event *event = &redacted;
    const char *kind = secret_in(decision->host);
    char shown[128];
    if (kind) {
        (void)snprintf(shown, sizeof(shown), "[redacted: %s]", kind);
        redacted.host = shown;
    }
    if (kind || secret_in(decision->message))
        redacted.message = "a requested name looks like a credential and is not shown";
    char hinted[HINTED_SIZE];
    if (!kind && !job->egress.upstream && is_unreached(event))
        redacted.message = add_hint(event->message, hinted);
    /* The proxy's reasons for a limit of the budget, in bytes or connections. */
    bool bounded = strcmp(event->reason, "bytes") == 0 || strcmp(event->reason, "connections") == 0;
    job->egress.spent = job->egress.spent || (event->verdict == CK_GATE_REFUSED && bounded);
    ck_audit_egress(job, event);
    ck_event_egress(job, event);
}

static int open_gate(struct choke_job *job, int listen_fd, int direct_attempts_fd)
{
    CK_FD direct_attempts = direct_attempts_fd;
    CK_FD listener = listen_fd;
    struct choke_context *context = job->context;
    struct ck_egress *egress = &job->egress;
    /* The descriptor was sent, but this process had no free number for it. */
    if (listener < 0 || (egress->reports_attempts && direct_attempts < 0))
        return -EMFILE;
    const struct ck_gate_options options = {
        .rules = egress->rules,
        .rules_count = egress->rules_count,
        .budget = egress->budget,
        .upstream = egress->upstream,
        /* For the program in the cage, and for no tool that it calls. */
        .secrets = job->cage ? job->cage->secrets : NULL,
        .on_event = on_decision,
        .data = job,
    };
    bound_proxy(&context->proxy);
    int r = ck_proxy_open(&context->proxy, ck_fd_take(&listener), &options, &egress->gate);
    if (r == 0 && direct_attempts >= 0)
        r = ck_direct_attempts_watch(egress->gate, ck_fd_take(&direct_attempts));
    /* The proxy has one descriptor for all gates; it is in the watch from the first one on. */
    if (r < 0 || context->proxy_watched)
        return r;
    context->event_source = (struct ck_event_source){.dispatch = dispatch, .data = context};
    r = ck_watch_add_event_source(&context->watch, &context->event_source, ck_proxy_fd(&context->proxy));
    context->proxy_watched = r == 0;
    return r;
}

/*
 * A run that needs egress and cannot have it is ended: otherwise the tool would notice only by its
 * own timeouts.
 */
void ck_egress_open(void *data, struct ck_run *run, int listen_fd, int direct_attempts_fd)
{
    struct choke_job *job = run->owner;
    (void)data;
    /* A second listener, or one for a run without egress, is not used. */
    if (job->egress.gate || job->egress.rules_count == 0) {
        ck_fd_close(&listen_fd);
        ck_fd_close(&direct_attempts_fd);
        return;
    }
    int r = open_gate(job, listen_fd, direct_attempts_fd);
    if (r == 0)
        return;
    /*
     * Reported as any other failed connection, but without a host: every member is text, never
     * NULL.
     */
    const struct ck_gate_event event = {.verdict = CK_GATE_FAILED,
                                        .protocol = "",
                                        .host = "",
                                        .rule = "",
                                        .address = "",
                                        .via = "",
                                        .secret = "",
                                        .reason = "no_proxy",
                                        .message = strerror(-r)};
    on_decision(job, &event);
    job->egress.error = -r;
    ck_watch_cancel(&job->context->watch, run);
}

void ck_egress_end(struct choke_job *job)
{
    struct ck_egress *egress = &job->egress;
    struct ck_proxy_gate_totals totals = {0};
    struct ck_gate *gate = egress->gate;
    /*
     * ck_egress_done must not close it again. Closing reports the connections that are still open.
     */
    egress->gate = NULL;
    if (gate) {
        ck_proxy_gate_totals(gate, &totals);
        ck_proxy_close_gate(gate);
    }
    if (egress->rules_count > 0)
        ck_result_egress(job->result, &totals, egress->spent);
    if (egress->error != 0 && job->result->outcome == CHOKE_CANCELLED)
        (void)ck_error_set(&job->result->error, CHOKE_CANCELLED, egress->error,
                           "'%s' was ended because its egress could not be opened: %s", job->result->tool_name,
                           strerror(egress->error));
}

void ck_egress_done(struct choke_job *job)
{
    struct ck_egress *egress = &job->egress;
    if (egress->gate && job->context->owner == getpid())
        ck_proxy_close_gate(egress->gate);
    free(egress->rules);
    if (egress->upstream)
        explicit_bzero(egress->upstream, sizeof(*egress->upstream));
    free(egress->upstream);
    *egress = (struct ck_egress){0};
}
