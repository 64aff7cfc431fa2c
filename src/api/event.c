/*
 * event.c - reports to the caller what happens. The callback gets escaped text.
 */
#include "api/context.h"

#include "base/quote.h"
#include "policy/secret.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

/*
 * A skipped jail is reported once per process. The other state that outlives a context is the count
 * of threads in sys/caller.c and the mark of a thread in base/fd.c.
 */
static struct {
    const char *jail;
    atomic_flag reported;
} skips[] = {{"native", ATOMIC_FLAG_INIT}, {"bwrap", ATOMIC_FLAG_INIT}};

#define FIELDS_MAX 16 /* the largest event has 15: ck_event_egress */

static bool is_wanted(const struct choke_context *context, enum choke_level level)
{
    return context->on_event && level >= context->least_level;
}

/* Every event goes through here, so that no field shows a credential (R15). */
static void emit(const struct choke_context *context, struct choke_event event)
{
    const struct choke_field *fields = event.fields;
    struct choke_field safe[FIELDS_MAX];
    char shown[FIELDS_MAX][CK_SECRET_SHOWN_MAX];
    if (!is_wanted(context, event.level))
        return;
    /* The count is known when this file is compiled, so a caller cannot reach this. */
    assert(event.field_count <= FIELDS_MAX);
    for (size_t i = 0; i < event.field_count; i++) {
        const char *value = fields[i].value;
        const char *kind = value ? ck_secret_kind(value) : NULL;
        safe[i] = (struct choke_field){.key = fields[i].key, .value = ck_secret_show(shown[i], value, kind)};
    }
    event.fields = safe;
    context->on_event(context->event_data, &event);
}

/* The list of fields is written twice, because sizeof needs it too; sizeof does not evaluate it. */
#define EVENT(event_job, event_level, event_name, ...) \
    ((struct choke_event){.level = (event_level), \
                          .name = (event_name), \
                          .fields = (const struct choke_field[]){__VA_ARGS__}, \
                          .field_count = \
                              sizeof((const struct choke_field[]){__VA_ARGS__}) / sizeof(struct choke_field), \
                          .job = (event_job)})

/* The caller may change the job that it gets; the functions here do not. owner is the job itself. */
#define EMIT(job, level, name, ...) emit((job)->context, EVENT((job)->run.owner, level, name, __VA_ARGS__))
#define EMIT_CONTEXT(context, level, name, ...) emit(context, EVENT(NULL, level, name, __VA_ARGS__))

/* A refused call may have no tool and no rule. Callbacks never get NULL for these. */
static const char *text_of(const char *text)
{
    return text ? text : "";
}

void ck_event_refused(const struct choke_job *job)
{
    const struct choke_result *result = job->result;
    EMIT(job, CHOKE_WARNING, "subproc.refused", {"tool", text_of(result->tool_name)},
         {"outcome", choke_outcome_name(result->outcome)}, {"rule", text_of(result->rule)},
         {"message", result->error.message}, {"probe_name", job->probe});
}

/*
 * "a,b,c"; what does not fit is cut, and the text then ends with "...". snprintf returns the length
 * that it would need, so at may exceed size; then the loop ends.
 */
static void join(const char *const *items, char *text, size_t size)
{
    size_t at = 0;
    text[0] = '\0';
    for (size_t i = 0; items && items[i] && at < size; i++)
        at += (size_t)snprintf(text + at, size - at, "%s%s", i > 0 ? "," : "", CK_QUOTE(items[i]));
    if (at >= size)
        memcpy(text + size - sizeof("..."), "...", sizeof("..."));
}

/* One event for each jail that was not reported before in this process. */
static void emit_skipped(const struct choke_job *job, const struct ck_jail_choice *choice)
{
    char name[64], layers[256];
    if (choice->skip_count > 0)
        join(job->result->layers, layers, sizeof(layers));
    for (size_t i = 0; i < choice->skip_count; i++)
        for (size_t k = 0; k < sizeof(skips) / sizeof(skips[0]); k++) {
            if (strcmp(skips[k].jail, choice->skips[i].jail) != 0 || atomic_flag_test_and_set(&skips[k].reported))
                continue;
            (void)snprintf(name, sizeof(name), "subproc.%s.skipped", skips[k].jail);
            EMIT(job, CHOKE_WARNING, name, {"reason", choice->skips[i].reason}, {"jail", choice->jail->name},
                 {"layers", layers}, {"probe_name", job->probe});
        }
}

/* In this order: what was skipped, what is used instead, and that the tool runs. */
void ck_event_started(const struct choke_job *job, const char *const *egress, const struct ck_plan *plan)
{
    const struct choke_result *result = job->result;
    const struct ck_jail_choice *jail = &plan->jail;
    char name[64];
    /* Before a flag is set: an event that no one receives must not use it up. */
    if (!is_wanted(job->context, CHOKE_WARNING))
        return;
    emit_skipped(job, jail);
    if (plan->git_message && !job->context->git_reported) {
        job->context->git_reported = true;
        EMIT(job, CHOKE_WARNING, "subproc.git.hidden", {"tool", result->tool_name}, {"message", plan->git_message},
             {"probe_name", job->probe});
    }
    /* From here on the formatting is what costs, and emit would not call anything. */
    if (jail->jail != &ck_jail_none && is_wanted(job->context, CHOKE_DEBUG)) {
        char hosts[1024];
        join(egress, hosts, sizeof(hosts));
        (void)snprintf(name, sizeof(name), "subproc.%s.wrapped", jail->jail->name);
        EMIT(job, CHOKE_DEBUG, name, {"probe_name", job->probe}, {"egress", hosts});
    }
    if (!is_wanted(job->context, CHOKE_INFO))
        return;
    EMIT(job, CHOKE_INFO, "subproc.started", {"tool", result->tool_name}, {"path", CK_QUOTE(result->tool_path)},
         {"jail", jail->jail->name}, {"probe_name", job->probe},
         {"workspace_code", result->workspace_code ? "true" : ""}, {"loopback", result->loopback ? "true" : ""});
}

void ck_event_noexec(const struct choke_job *job, const char *mount)
{
    EMIT(job, CHOKE_WARNING, "subproc.workspace.noexec", {"tool", text_of(job->result->tool_name)},
         {"mount", CK_QUOTE(mount)}, {"probe_name", job->probe});
}

/* The event's name says stdout for both streams; the field says which one it is. */
static void emit_truncated(const struct choke_job *job, const struct choke_capture *capture, const char *stream)
{
    char bytes[32];
    if (!capture->truncated)
        return;
    (void)snprintf(bytes, sizeof(bytes), "%" PRIu64, capture->total_bytes);
    EMIT(job, CHOKE_WARNING, "subproc.stdout.truncated", {"probe_name", job->probe}, {"stream", stream},
         {"bytes", bytes});
}

static void emit_denied(const struct choke_job *job)
{
    const struct choke_result *result = job->result;
    char number[32];
    for (size_t i = 0; i < result->denied_count; i++) {
        const struct choke_denial *denial = &result->denied[i];
        (void)snprintf(number, sizeof(number), "%d", denial->errnum);
        EMIT(job, CHOKE_WARNING, "subproc.denied", {"tool", result->tool_name}, {"kind", denial->kind},
             {"path", denial->path}, {"by", denial->by}, {"errno", number}, {"add", text_of(denial->add)},
             {"probe_name", job->probe});
    }
    (void)snprintf(number, sizeof(number), "%" PRIu64, result->denied_more);
    if (result->denied_more > 0)
        EMIT(job, CHOKE_WARNING, "subproc.denied", {"tool", result->tool_name}, {"more", number},
             {"probe_name", job->probe});
}

/* code is the exit status, or the signal for every other outcome. */
void ck_event_ended(const struct choke_job *job)
{
    const struct choke_result *result = job->result;
    char code[16], duration[32], timeout[32];
    /* Here and below this saves the formatting; emit would not call anything either. */
    if (!is_wanted(job->context, CHOKE_WARNING))
        return;
    emit_truncated(job, &result->out, "stdout");
    emit_truncated(job, &result->err, "stderr");
    emit_denied(job);
    if (result->outcome == CHOKE_TIMEOUT) {
        (void)snprintf(timeout, sizeof(timeout), "%" PRIu64, job->timeout_ms);
        EMIT(job, CHOKE_WARNING, "subproc.timeout", {"tool", result->tool_name}, {"timeout_ms", timeout},
             {"probe_name", job->probe});
    }
    if (!is_wanted(job->context, CHOKE_INFO))
        return;
    (void)snprintf(code, sizeof(code), "%d", result->outcome == CHOKE_EXITED ? result->exit_code : result->signal);
    (void)snprintf(duration, sizeof(duration), "%" PRIu64, result->duration_us / 1000);
    EMIT(job, CHOKE_INFO, "subproc.exited", {"tool", result->tool_name},
         {"outcome", choke_outcome_name(result->outcome)}, {"code", code}, {"duration_ms", duration},
         {"probe_name", job->probe});
}

/*
 * The list of changes, or the copy, is incomplete: the time was over, or the caller does not wait
 * any more.
 */
void ck_event_cut(const struct choke_job *job)
{
    const struct choke_result *result = job->result;
    char count[32];
    (void)snprintf(count, sizeof(count), "%zu", result->change_count);
    EMIT(job, CHOKE_WARNING, "subproc.changes.cut", {"tool", text_of(result->tool_name)},
         {"reason", job->collect.error == ETIMEDOUT ? "timeout" : "cancelled"}, {"changes", count},
         {"kept", result->kept_incomplete ? "incomplete" : ""}, {"probe_name", job->probe});
}

/* The proxy passes printable text: what the tool requested is already escaped in it. */
void ck_event_egress(const struct choke_job *job, const struct ck_gate_event *event)
{
    static const struct {
        enum choke_level level;
        const char *name;
    } kinds[] = {
        [CK_GATE_OPENED] = {CHOKE_INFO, "subproc.egress.allowed"},
        [CK_GATE_REFUSED] = {CHOKE_WARNING, "subproc.egress.refused"},
        [CK_GATE_FAILED] = {CHOKE_WARNING, "subproc.egress.failed"},
        [CK_GATE_CLOSED] = {CHOKE_INFO, "subproc.egress.closed"},
    };
    /* The proxy of the site has dialled, and which address is not known. */
    bool proxied = event->via[0] != '\0';
    /* Byte counts are "" before the end of a connection. */
    char port[16], connection[32], sent[32] = "", received[32] = "", requests[32] = "";
    (void)snprintf(port, sizeof(port), "%u", event->port);
    (void)snprintf(connection, sizeof(connection), "%" PRIu64, event->connection);
    if (event->verdict == CK_GATE_CLOSED) {
        (void)snprintf(sent, sizeof(sent), "%" PRIu64, event->up_bytes);
        (void)snprintf(received, sizeof(received), "%" PRIu64, event->down_bytes);
        if (event->secret[0] != '\0')
            (void)snprintf(requests, sizeof(requests), "%" PRIu64, event->requests);
    }
    EMIT(job, kinds[event->verdict].level, kinds[event->verdict].name, {"tool", text_of(job->result->tool_name)},
         {"host", event->host}, {"port", port}, {"rule", event->rule}, {"address", proxied ? NULL : event->address},
         {"via", event->via}, {"protocol", event->protocol}, {"connection", connection}, {"reason", event->reason},
         {"message", event->message}, {"sent_bytes", sent}, {"received_bytes", received}, {"secret", event->secret},
         {"requests", requests}, {"probe_name", job->probe});
}

/* install is NULL if the entry does not say how. */
void ck_event_missing(const struct choke_context *context, const struct ck_tool *tool, const char *install)
{
    EMIT_CONTEXT(context, CHOKE_WARNING, "tool.missing", {"tool", tool->name},
                 {"required", tool->required ? "true" : ""}, {"install", text_of(install)});
}

/* ---- the audit log ---- */

/* The writer found a torn line at the end of the log and recorded its repair. */
void ck_event_repaired(const struct choke_context *context, uint64_t bytes)
{
    char count[32];
    (void)snprintf(count, sizeof(count), "%" PRIu64, bytes);
    EMIT_CONTEXT(context, CHOKE_WARNING, "audit.repaired", {"path", CK_QUOTE(context->audit.path)}, {"bytes", count});
}

/* The log has reached its size, but no new file could be begun. Records go on in the old one. */
void ck_event_unrotated(const struct choke_context *context, const char *message)
{
    EMIT_CONTEXT(context, CHOKE_WARNING, "audit.unrotated", {"path", CK_QUOTE(context->audit.path)},
                 {"message", message});
}

/* A call, its outcome or a connection is missing in the log. */
void ck_event_unrecorded(const struct choke_job *job, const char *message)
{
    const struct choke_result *result = job->result;
    EMIT(job, CHOKE_WARNING, "audit.unrecorded", {"path", CK_QUOTE(job->context->audit.path)},
         {"tool", text_of(result->tool_name)}, {"outcome", choke_outcome_name(result->outcome)}, {"message", message},
         {"probe_name", job->probe});
}
