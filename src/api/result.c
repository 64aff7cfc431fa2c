/*
 * result.c - makes the public result from a plan and an ended run.
 *
 * It is filled in three steps: names when the job is created, jail and limits when the tool starts,
 * the rest from the warden's report at the end. If the report names a stage, the tool did not
 * start, and what the second step wrote is taken back.
 */
#include "api/context.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/fd.h"
#include "base/quote.h"
#include "jail/bwrap.h"
#include "overlay/changes.h"
#include "run/shortage.h"
#include "sys/depend.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EGRESS_LIMITS 2    /* enforced by the proxy */
#define FIRST_LINE_MAX 256 /* the kernel reads this much of a script to find its interpreter */

/* The public part is first. Its strings belong to the box and survive the context. */
struct result_box {
    struct choke_result result;
    struct ck_arena text;                 /* the copied names, and the rules of egress */
    struct ck_capture_output captures[2]; /* the streams, after the end of the run */
    const char *layers[CK_LAYERS_MAX + 1];
    struct ck_changes changes; /* filled by the slices after the run */
    struct choke_limit limits[CK_LIMITS + EGRESS_LIMITS];
    struct choke_egress egress; /* result.egress points here if the run had egress */
};

static const char *const no_layers[] = {NULL};

const char *choke_outcome_name(enum choke_outcome outcome)
{
    static const char *const names[] = {
        [CHOKE_NONE] = "none",
        [CHOKE_EXITED] = "exited",
        [CHOKE_SIGNALED] = "signaled",
        [CHOKE_TIMEOUT] = "timeout",
        [CHOKE_CANCELLED] = "cancelled",
        [CHOKE_DISALLOWED] = "disallowed",
        [CHOKE_TOOL_MISSING] = "tool_missing",
        [CHOKE_INVALID] = "invalid",
        [CHOKE_CWD] = "cwd",
        [CHOKE_ENV_FORBIDDEN] = "env_forbidden",
        [CHOKE_JAIL_UNAVAILABLE] = "jail_unavailable",
        [CHOKE_POLICY] = "policy",
        [CHOKE_SPAWN_FAILED] = "spawn_failed",
    };
    return (size_t)outcome < sizeof(names) / sizeof(names[0]) ? names[outcome] : "none";
}

/*
 * NULL for NULL. *ok becomes false when out of memory, so that a caller copies several and asks
 * once.
 */
static const char *copy(struct result_box *box, const char *text, bool *ok)
{
    const char *copied = text ? ck_arena_strdup(&box->text, text) : NULL;
    *ok = *ok && (!text || copied);
    return copied;
}

struct choke_result *ck_result_new(const struct ck_plan *plan)
{
    struct result_box *box = calloc(1, sizeof(*box));
    if (!box)
        return NULL;
    bool ok = true;
    box->result = (struct choke_result){
        .exit_code = -1,     /* no tool has exited yet */
        .layers = no_layers, /* never NULL */
        .out = {.data = ""},
        .err = {.data = ""},
        .tool_name = copy(box, plan->tool_name, &ok),
        .tool_path = copy(box, plan->tool_path, &ok),
        .rule = copy(box, plan->verdict.rule, &ok),
        .timeout_ms = plan->verdict.outcome == CHOKE_NONE ? plan->verdict.timeout_ms : 0,
    };
    if (ok)
        return &box->result;
    choke_result_free(&box->result);
    return NULL;
}

/* The keys of enum ck_limit. */
static const char *const limit_names[CK_LIMITS] = {
    [CK_LIMIT_MEMORY] = "memory_mib",       [CK_LIMIT_PROCESSES] = "processes",   [CK_LIMIT_CPU] = "cpu_s",
    [CK_LIMIT_FILE_SIZE] = "file_size_mib", [CK_LIMIT_OPEN_FILES] = "open_files",
};

/* The values are the policy's; what enforced each is known at the end of the run. */
static void list_limits(struct result_box *box, const struct ck_plan *plan)
{
    struct choke_result *result = &box->result;
    for (size_t i = 0; i < CK_LIMITS; i++) {
        bool bytes = i == CK_LIMIT_MEMORY || i == CK_LIMIT_FILE_SIZE;
        if (plan->limits[i] != 0)
            /* The plan has bytes, the policy and the result MiB. */
            box->limits[result->limit_count++] = (struct choke_limit){
                .name = limit_names[i], .value = plan->limits[i] >> (bytes ? 20 : 0), .mechanism = "none"};
    }
    const struct ck_limits *limits = &plan->verdict.limits;
    const struct choke_limit egress[EGRESS_LIMITS] = {{"egress_mib", limits->egress_mib, "proxy"},
                                                      {"egress_connections", limits->egress_connections, "proxy"}};
    /* Without egress these limits have nothing to limit. */
    for (size_t i = 0; i < EGRESS_LIMITS && plan->verdict.egress_count > 0; i++)
        if (egress[i].value != 0)
            box->limits[result->limit_count++] = egress[i];
    result->limits = box->limits;
}

/*
 * Without memory for the texts the list is cut; the caller still has the request. A NULL ends the
 * list, and the array is zero-filled.
 */
static void list_rules(struct result_box *box, const struct ck_verdict *verdict)
{
    static const char *const none[] = {NULL};
    const char **rules = ck_arena_array(&box->text, verdict->egress_count + 1, sizeof(*rules));
    for (size_t i = 0; rules && i < verdict->egress_count; i++) {
        char text[CK_DESTINATION_TEXT_SIZE];
        rules[i] = ck_arena_strdup(&box->text, ck_destination_text(&verdict->egress[i], text));
    }
    box->egress.rules = rules ? rules : none;
}

/* result->jail is NULL if nothing ran; then the result has no egress either. */
void ck_result_egress(struct choke_result *result, const struct ck_proxy_gate_totals *totals, bool spent)
{
    struct result_box *box = (struct result_box *)result;
    if (!result->jail)
        return;
    box->egress.allowed = totals->opened;
    box->egress.refused = totals->refused;
    box->egress.failed = totals->failed;
    box->egress.sent_bytes = totals->up_bytes;
    box->egress.received_bytes = totals->down_bytes;
    result->egress = &box->egress;
    /* A limit that the warden reported takes precedence. */
    if (spent && !result->limit_hit)
        result->limit_hit = "egress";
}

/*
 * With a tool that runs another one, both must grant a host: the refusal says so if the caller asks.
 * Without memory there is no offer.
 */
static void list_offer(struct result_box *box, const struct ck_plan *plan)
{
    const struct ck_list *granted = &plan->verdict.tool->egress;
    if (granted->count == 0 || plan->verdict.parsed.nested_count > 0 || plan->jail.jail == &ck_jail_none)
        return;
    const char **offer = ck_arena_array(&box->text, (size_t)granted->count + 1, sizeof(*offer));
    bool good = !!offer;
    for (uint32_t i = 0; good && i < granted->count; i++) {
        offer[i] = ck_arena_strdup(&box->text, granted->items[i]);
        good = !!offer[i];
    }
    box->result.egress_offer = good ? offer : NULL;
}

void ck_result_started(struct choke_result *result, const struct ck_plan *plan)
{
    struct result_box *box = (struct result_box *)result;
    if (plan->verdict.egress_count > 0)
        list_rules(box, &plan->verdict);
    else
        list_offer(box, plan);
    memcpy(box->layers, plan->layers, sizeof(box->layers));
    /* Names of layers are constants; only the array is copied. */
    result->layers = box->layers;
    result->jail = plan->jail.jail->name;
    result->workspace_code = plan->workspace_code;
    result->loopback = plan->loopback;
    list_limits(box, plan);
}

/* The report has one entry for each enum ck_limit; the list has only those that the policy sets. */
static void set_mechanisms(struct choke_result *result, const struct ck_wire_report *report)
{
    struct result_box *box = (struct result_box *)result;
    /* Both are in the order of the enum; the limits of egress follow, and keep their mechanism. */
    for (size_t i = 0, at = 0; i < CK_LIMITS && at < result->limit_count; i++)
        if (strcmp(box->limits[at].name, limit_names[i]) == 0)
            box->limits[at++].mechanism = ck_wire_held_name(report->limit_held[i]);
    result->limit_hit = ck_wire_hit_name(report->limit_hit);
}

/* Names the limit that nothing enforces: the first without a mechanism. */
static void refuse_limit(struct choke_result *result, const struct ck_wire_report *report)
{
    struct result_box *box = (struct result_box *)result;
    size_t at = 0;
    while (at < result->limit_count && strcmp(box->limits[at].mechanism, "none") != 0)
        at++;
    const char *name = at < result->limit_count ? box->limits[at].name : "limits";
    const char *rule = ck_arena_printf(&box->text, "tools.%s.limits.%s", result->tool_name, name);
    if (rule)
        result->rule = rule;
    (void)ck_error_set(&result->error, result->outcome, report->error,
                       "the limit '%s' of '%s' cannot be enforced here: %s", name, result->tool_name,
                       report->error == EPERM
                           ? "no cgroup can be created, and the kernel does not count the processes of root"
                           : strerror(report->error));
    if (ck_error_is_transient(report->error))
        ck_shortage_explain(&result->error, report->error);
}

void ck_result_fail(struct choke_result *result, const struct choke_error *error)
{
    result->outcome = error->outcome;
    result->error = *error;
    if (error->outcome == CHOKE_SPAWN_FAILED && ck_error_is_transient(error->errnum))
        ck_shortage_explain(&result->error, error->errnum);
}

/*
 * A lost warden has no report. Then the time decides: after the deadline it is a timeout, before it
 * the run counts as cancelled.
 */
static void set_ending(struct choke_result *result, const struct ck_run *run)
{
    const struct ck_wire_report *report = &run->report;
    bool late = run->lost && run->ended_ns >= run->deadline_ns;
    /*
     * Stages of a protection. A shortage may pass, so it says nothing about the jail. A stage means
     * that the tool was not started, so it comes before every ending of a tool.
     */
    if (report->stage == CK_STAGE_CWD)
        result->outcome = CHOKE_CWD;
    else if (report->stage == CK_STAGE_EXECS || report->stage == CK_STAGE_WORKSPACE ||
             report->stage == CK_STAGE_LIMITS || report->stage == CK_STAGE_EGRESS)
        result->outcome = ck_error_is_transient(report->error) ? CHOKE_SPAWN_FAILED : CHOKE_JAIL_UNAVAILABLE;
    else if (report->stage != CK_STAGE_NONE)
        result->outcome = CHOKE_SPAWN_FAILED;
    else if ((report->ending & CK_ENDING_CANCELLED) || (run->lost && (run->cancelled || !late)))
        result->outcome = CHOKE_CANCELLED;
    else if ((report->ending & CK_ENDING_TIMED_OUT) || late)
        result->outcome = CHOKE_TIMEOUT;
    else
        result->outcome = report->code == CLD_EXITED ? CHOKE_EXITED : CHOKE_SIGNALED;
    if (result->outcome == CHOKE_EXITED)
        result->exit_code = report->status;
    /* Also for a timeout or a cancelled run: the signal that ended the tool. */
    else if (report->code == CLD_KILLED || report->code == CLD_DUMPED)
        result->signal = report->status;
}

/* The first line of a file, without its end; "" if it cannot be read. */
static void read_first_line(const char *path, char line[FIRST_LINE_MAX])
{
    CK_FD fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    ssize_t length = fd < 0 ? 0 : pread(fd, line, FIRST_LINE_MAX - 1, 0);
    line[length > 0 ? length : 0] = '\0';
    line[strcspn(line, "\n")] = '\0';
}

/*
 * The kernel says ENOENT of a script whose interpreter is missing. In a jail that is one in a
 * directory that is not shown.
 */
static const char *missing_interpreter(const struct choke_result *result, const struct ck_wire_report *report,
                                       char line[FIRST_LINE_MAX])
{
    const char *interpreter = NULL, *argument;
    if (report->stage != CK_STAGE_EXECUTE || report->error != ENOENT || !result->tool_path)
        return NULL;
    read_first_line(result->tool_path, line);
    return ck_depend_shebang_split(line, &interpreter, &argument) ? interpreter : NULL;
}

/* A step before the tool's start failed. */
static void refuse_stage(struct choke_result *result, const struct ck_wire_report *report)
{
    char line[FIRST_LINE_MAX];
    const char *why = report->message[0] != '\0' ? CK_QUOTE(report->message) : strerror(report->error);
    const char *interpreter = missing_interpreter(result, report, line);
    (void)ck_error_set(&result->error, result->outcome, report->error, "cannot %s '%s' ('%s'): %s%s%s%s",
                       ck_wire_stage_text(report->stage), result->tool_name, CK_QUOTE(result->tool_path), why,
                       interpreter ? "; its interpreter '" : "", interpreter ? CK_QUOTE(interpreter) : "",
                       interpreter ? "' is not installed, or the jail does not show its directory: name that in 'reads'"
                                   : "");
    /* A failure inside bwrap is known only by bwrap's message. */
    int cause = report->message[0] != '\0' ? ck_bwrap_cause(report->message) : report->error;
    if (cause == 0 || ck_error_is_transient(cause))
        ck_shortage_explain(&result->error, cause);
}

static void set_error(struct choke_result *result, const struct ck_run *run)
{
    struct choke_error *error = &result->error;
    const struct ck_wire_report *report = &run->report;
    const char *tool = result->tool_name;
    /* What the run really had: the request may have left it to the policy. */
    uint64_t timeout_ms = (run->deadline_ns - run->started_ns) / CK_NS_PER_MS;
    switch (result->outcome) {
    case CHOKE_CWD:
    case CHOKE_JAIL_UNAVAILABLE:
    case CHOKE_SPAWN_FAILED:
        if (report->stage == CK_STAGE_LIMITS)
            refuse_limit(result, report);
        else
            refuse_stage(result, report);
        break;
    case CHOKE_TIMEOUT:
        (void)ck_error_set(error, CHOKE_TIMEOUT, ETIMEDOUT, "'%s' was ended at its timeout of %llu.%03llu s", tool,
                           (unsigned long long)(timeout_ms / 1000), (unsigned long long)(timeout_ms % 1000));
        break;
    case CHOKE_CANCELLED:
        (void)ck_error_set(error, CHOKE_CANCELLED, ECANCELED,
                           run->cancelled ? "'%s' was cancelled"
                           : (report->ending & CK_ENDING_STDIN_CUT) != 0
                               ? "'%s' was ended because its stdin was cut"
                               : "'%s' was ended because its warden was killed",
                           tool);
        break;
    case CHOKE_SIGNALED:
        (void)ck_error_set(error, CHOKE_SIGNALED, 0, "'%s' was ended by signal %d (%s)%s%s", tool, result->signal,
                           strsignal(result->signal), result->limit_hit ? "; it reached a limit: " : "",
                           result->limit_hit ? result->limit_hit : "");
        break;
    /* CHOKE_EXITED, with any status: no error. */
    default:
        break;
    }
}

struct ck_arena *ck_result_arena(struct choke_result *result)
{
    return &((struct result_box *)result)->text;
}

struct ck_changes *ck_result_changes(struct choke_result *result)
{
    return &((struct result_box *)result)->changes;
}

/* Never NULL after this: NULL means a workspace without a list of changes. */
void ck_result_collected(struct choke_result *result, bool is_kept)
{
    static const struct choke_file_change none[1];
    const struct ck_changes *changes = ck_result_changes(result);
    result->changes = changes->items ? changes->items : none;
    result->change_count = changes->count;
    result->changes_incomplete = changes->incomplete;
    result->kept_incomplete = is_kept && (changes->incomplete || changes->keep_error != 0);
}

/* The order matters: refuse_limit needs the mechanisms, and set_error the outcome. */
void ck_result_end(struct choke_result *result, struct ck_run *run)
{
    const struct ck_wire_report *report = &run->report;
    set_mechanisms(result, report);
    set_ending(result, run);
    set_error(result, run);
    result->duration_us = (run->ended_ns - run->started_ns) / 1000;
    result->user_us = report->user_us;
    result->system_us = report->system_us;
    result->max_rss_kib = report->max_rss_kib;
    if (report->stage != CK_STAGE_NONE) { /* nothing ran, so no mechanism was used */
        result->jail = NULL;
        result->layers = no_layers;
        result->workspace_code = result->loopback = false;
        result->limit_count = 0;
    } else {
        result->kill = ck_wire_kill_name(report->kill);
    }
    struct result_box *box = (struct result_box *)result;
    /* The output moves to the result; the run keeps nothing. */
    ck_capture_take(&run->out.capture, &box->captures[0]);
    ck_capture_take(&run->err.capture, &box->captures[1]);
    result->out = box->captures[0].view;
    result->err = box->captures[1].view;
    result->output_incomplete = run->incomplete || box->captures[0].short_of_memory || box->captures[1].short_of_memory;
}

void choke_result_free(struct choke_result *result)
{
    if (!result)
        return;
    struct result_box *box = (struct result_box *)result;
    ck_changes_done(&box->changes);
    ck_capture_output_done(&box->captures[0]);
    ck_capture_output_done(&box->captures[1]);
    ck_arena_done(&box->text);
    free(box);
}
