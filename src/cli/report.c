/*
 * report.c - prints a result. Field names, their order and the statuses are a contract with
 * scripts.
 */
#include "cli/report.h"

#include "cli/cli.h"
#include "cli/denial.h"
#include "front/jansson.h"
#include "front/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* 126 and 127 as in a shell: found but not executable, and not found. */
int ck_report_refusal_status(enum choke_outcome outcome, const struct choke_error *error)
{
    if (outcome == CHOKE_TOOL_MISSING)
        return CK_EXIT_NOT_INSTALLED;
    if (outcome == CHOKE_SPAWN_FAILED && (error->errnum == EACCES || error->errnum == ENOEXEC))
        return CK_EXIT_NOT_EXECUTABLE;
    return CK_EXIT_REFUSED;
}

/*
 * A cancelled run has the status of the signal that cancelled it, as if the signal had ended the
 * command.
 */
static int exit_status(const struct choke_result *result, int signal)
{
    if (result->outcome == CHOKE_EXITED)
        return result->exit_code;
    if (result->outcome == CHOKE_SIGNALED)
        return CK_EXIT_SIGNAL + result->signal;
    if (result->outcome == CHOKE_TIMEOUT)
        return CK_EXIT_TIMEOUT;
    if (result->outcome == CHOKE_CANCELLED && signal != 0)
        return CK_EXIT_SIGNAL + signal;
    /* Its errno is about the log, not the tool. */
    if (result->rule && strcmp(result->rule, "audit") == 0)
        return CK_EXIT_REFUSED;
    return ck_report_refusal_status(result->outcome, &result->error);
}

void ck_report_message(struct ck_session *session, const struct choke_error *error)
{
    ck_outlet_print(&session->notes, "chokepoint: %s\n",
                    error->message[0] != '\0' ? error->message : choke_outcome_name(error->outcome));
}

/* The first error of standard output, or else of standard error. The notes do not count. */
static int write_error(const struct ck_session *session)
{
    return session->out.error != 0 ? session->out.error : session->err.error;
}

/* "run ... | head": the other commands of a pipeline end by SIGPIPE, and say nothing. */
static bool is_reader_gone(const struct ck_session *session)
{
    return write_error(session) == EPIPE && !session->pipe_ignored;
}

/*
 * A script must not take a truncated report for a complete one, so a failed write changes the
 * status.
 */
int ck_report_written(struct ck_session *session, int status)
{
    int error = write_error(session);

    if (error == 0)
        return status;
    ck_outlet_print(&session->notes, "chokepoint: cannot write to standard %s: %s\n",
                    session->out.error != 0 ? "output" : "error", strerror(error));
    return CK_EXIT_REFUSED;
}

/* The same for the output of a tool. */
static int passed_on(struct ck_session *session, int status)
{
    return is_reader_gone(session) ? CK_EXIT_SIGNAL + SIGPIPE : ck_report_written(session, status);
}

/*
 * "bytes" is what the tool wrote; the text may be less ("truncated"). After JSON lines there is no
 * text.
 */
static json_t *capture_object(const struct choke_capture *capture, bool with_text)
{
    json_t *object = json_object();
    int bad = 0;

    if (with_text)
        bad |= ck_jansson_set_data(object, capture->data, capture->length);
    bad |= json_object_set_new(object, "bytes", json_integer((json_int_t)capture->total_bytes));
    bad |= json_object_set_new(object, "truncated", json_boolean(capture->truncated));
    if (!bad)
        return object;
    json_decref(object);
    return NULL;
}

/* With a fraction: the clock has microseconds. */
static json_t *milliseconds(uint64_t us)
{
    return json_real((double)us / 1000.0);
}

/* Sets "outcome", "exit_code" and so on, up to the streams. */
static int set_ending(json_t *object, const struct choke_result *result, bool with_text)
{
    int bad = 0;

    bad |= json_object_set_new(object, "outcome", ck_jansson_text(choke_outcome_name(result->outcome)));
    /* Null unless the tool exited by itself: -1 or 0 could be mistaken for a status. */
    bad |= json_object_set_new(object, "exit_code",
                               result->outcome == CHOKE_EXITED ? json_integer(result->exit_code) : json_null());
    bad |= json_object_set_new(object, "signal", result->signal != 0 ? json_integer(result->signal) : json_null());
    bad |= json_object_set_new(object, "stdout", capture_object(&result->out, with_text));
    bad |= json_object_set_new(object, "stderr", capture_object(&result->err, with_text));
    bad |= json_object_set_new(object, "output_incomplete", json_boolean(result->output_incomplete));
    return bad;
}

static int set_cost(json_t *object, const struct choke_result *result)
{
    int bad = 0;

    bad |= json_object_set_new(object, "duration_ms", milliseconds(result->duration_us));
    bad |= json_object_set_new(object, "user_ms", milliseconds(result->user_us));
    bad |= json_object_set_new(object, "system_ms", milliseconds(result->system_us));
    bad |= json_object_set_new(object, "max_rss_kib", json_integer((json_int_t)result->max_rss_kib));
    return bad;
}

/* The limits that the policy set, except the time, and the mechanism that enforced each. */
static json_t *limits_array(const struct choke_result *result)
{
    json_t *array = json_array();
    int bad = 0;

    for (size_t i = 0; i < result->limit_count; i++) {
        const struct choke_limit *limit = &result->limits[i];
        json_t *object = json_object();
        bad |= json_object_set_new(object, "name", ck_jansson_text(limit->name));
        bad |= json_object_set_new(object, "value", json_integer((json_int_t)limit->value));
        bad |= json_object_set_new(object, "mechanism", ck_jansson_text(limit->mechanism));
        bad |= json_array_append_new(array, object);
    }
    if (!bad)
        return array;
    json_decref(array);
    return NULL;
}

/* limit_hit: the limit that the run reached; null for none, or none that can be detected. */
static int set_limits(json_t *object, const struct choke_result *result)
{
    int bad = 0;

    bad |= json_object_set_new(object, "limits", limits_array(result));
    bad |= json_object_set_new(object, "limit_hit", ck_jansson_text(result->limit_hit));
    return bad;
}

/* Null: the changes are not known. An empty array: nothing was changed. */
static json_t *changes_array(const struct choke_result *result)
{
    if (!result->changes)
        return json_null();
    json_t *array = json_array();
    int bad = 0;

    for (size_t i = 0; i < result->change_count; i++) {
        const struct choke_file_change *change = &result->changes[i];
        json_t *object = json_object();
        bad |= json_object_set_new(object, "path", ck_jansson_bytes(change->path));
        bad |= json_object_set_new(object, "kind", ck_jansson_text(change->kind));
        bad |= json_object_set_new(object, "type", ck_jansson_text(change->type));
        bad |= json_object_set_new(object, "runs_later", ck_jansson_text(change->runs_later));
        bad |= json_array_append_new(array, object);
    }
    if (!bad)
        return array;
    json_decref(array);
    return NULL;
}

/*
 * The two flags say that a list or a copy is not complete, so that an absent file proves nothing.
 */
static int set_changes(json_t *object, const struct choke_result *result)
{
    int bad = 0;

    bad |= json_object_set_new(object, "changes", changes_array(result));
    bad |= json_object_set_new(object, "changes_incomplete", json_boolean(result->changes_incomplete));
    bad |= json_object_set_new(object, "kept_incomplete", json_boolean(result->kept_incomplete));
    return bad;
}

/* Null: the request had no egress, or nothing ran. */
static json_t *egress_object(const struct choke_egress *egress)
{
    if (!egress)
        return json_null();
    json_t *object = json_object();
    int bad = 0;

    bad |= json_object_set_new(object, "rules", ck_jansson_list(egress->rules));
    bad |= json_object_set_new(object, "allowed", json_integer((json_int_t)egress->allowed));
    bad |= json_object_set_new(object, "refused", json_integer((json_int_t)egress->refused));
    bad |= json_object_set_new(object, "failed", json_integer((json_int_t)egress->failed));
    bad |= json_object_set_new(object, "sent_bytes", json_integer((json_int_t)egress->sent_bytes));
    bad |= json_object_set_new(object, "received_bytes", json_integer((json_int_t)egress->received_bytes));
    if (!bad)
        return object;
    json_decref(object);
    return NULL;
}

/* rule is what decided, also for a request that was allowed: "tools.git", "request.cwd". */
static int set_decision(json_t *object, const struct choke_result *result)
{
    int bad = 0;

    bad |= json_object_set_new(object, "jail", ck_jansson_text(result->jail));
    bad |= json_object_set_new(object, "layers", ck_jansson_list(result->layers));
    bad |= json_object_set_new(object, "kill", ck_jansson_text(result->kill));
    bad |= json_object_set_new(object, "tool", ck_jansson_tool(result->tool_name, result->tool_path));
    bad |= json_object_set_new(object, "rule", ck_jansson_text(result->rule));
    bad |= json_object_set_new(object, "error", ck_jansson_error(&result->error));
    return bad;
}

/* The order of the calls is the order of the members: jansson keeps it. */
static void write_json(struct ck_session *session, const struct choke_result *result, bool with_text)
{
    json_t *object = json_object();

    if (set_ending(object, result, with_text) || set_cost(object, result) || set_decision(object, result) ||
        set_limits(object, result) || set_changes(object, result) ||
        json_object_set_new(object, "egress", egress_object(result->egress)) ||
        json_object_set_new(object, "unrecorded", json_boolean(result->unrecorded)) ||
        json_object_set_new(object, "workspace_code", json_boolean(result->workspace_code)) ||
        json_object_set_new(object, "loopback", json_boolean(result->loopback)) ||
        json_object_set_new(object, "denied", ck_denial_array(result)) ||
        json_object_set_new(object, "denied_more", json_integer((json_int_t)result->denied_more)) ||
        json_object_set_new(object, "egress_offer",
                            result->egress_offer ? ck_jansson_list(result->egress_offer) : json_null()))
        session->out.error = ENOMEM;
    else
        ck_jansson_write(&session->out, object);
    json_decref(object);
}

/* The streams are separate: their order relative to each other was not recorded. */
static void write_text(struct ck_session *session, const struct choke_result *result)
{
    ck_outlet_write(&session->out, result->out.data, result->out.length);
    ck_outlet_write(&session->err, result->err.data, result->err.length);
}

/*
 * The outlet drops everything after a line for which the reader was too slow. The result is tried
 * once more: the pipe may have room again, and the last line tells the reader that some were lost.
 */
static int report_json(struct ck_session *session, enum ck_report_form form, const struct choke_result *result)
{
    int status = exit_status(result, session->signal);

    session->out.cut = false;
    write_json(session, result, form == CK_REPORT_JSON);
    if (status == 0 && session->out.cut)
        status = CK_EXIT_REFUSED;
    return passed_on(session, status);
}

static void write_denials(struct ck_session *session, const struct choke_result *result, bool why)
{
    char *text = ck_denial_text(result, why);

    if (text)
        ck_outlet_write(&session->notes, text, strlen(text));
    else
        session->notes.error = ENOMEM;
    free(text);
}

/* A tool that fails for lack of a network says so in its own words, and does not know what to add. */
static void write_offer(struct ck_session *session, const struct choke_result *result)
{
    char *text = NULL;
    size_t length = 0;

    if (!result->egress_offer || (result->outcome == CHOKE_EXITED && result->exit_code == 0))
        return;
    FILE *line = open_memstream(&text, &length);
    if (!line) {
        session->notes.error = ENOMEM;
        return;
    }
    (void)fprintf(line, "chokepoint: '%s' had no network; if it needs one, add", result->tool_name);
    for (const char *const *rule = result->egress_offer; *rule; rule++) {
        (void)fputs(" --egress ", line);
        ck_text_print_quoted(line, *rule);
    }
    (void)fputc('\n', line);
    if (fclose(line) == 0)
        ck_outlet_write(&session->notes, text, length);
    else
        session->notes.error = ENOMEM;
    free(text);
}

int ck_report_result(struct ck_session *session, enum ck_report_form form, const struct choke_result *result, bool why)
{
    int status = exit_status(result, session->signal);

    if (ck_report_is_json(form))
        return report_json(session, form, result);
    if (form == CK_REPORT_TEXT)
        write_text(session, result);
    if (session->out.cut || session->err.cut) {
        ck_outlet_print(&session->notes, "chokepoint: output was cut: its reader was too slow\n");
        status = status == 0 ? CK_EXIT_REFUSED : status;
    }
    if (result->kept_incomplete)
        ck_outlet_print(&session->notes, "chokepoint: not all changes could be kept\n");
    /* If the reader is gone, the command itself cancelled the tool. */
    bool expected = is_reader_gone(session) && result->outcome == CHOKE_CANCELLED;
    if (result->error.outcome != CHOKE_NONE && !expected)
        ck_report_message(session, &result->error);
    if (!expected) {
        write_denials(session, result, why);
        write_offer(session, result);
    }
    return passed_on(session, status);
}

int ck_report_failure(struct ck_session *session, enum ck_report_form form, const struct choke_error *error)
{
    struct choke_result result = {.outcome = error->outcome, .exit_code = -1, .error = *error};

    /* The error may quote a file or an argument. */
    ck_text_redact(&result.error);
    result.out.data = result.err.data = "";
    /*
     * An error of the command itself, such as out of memory, has no outcome; the report needs one.
     */
    if (result.outcome == CHOKE_NONE)
        result.outcome = result.error.outcome = CHOKE_SPAWN_FAILED;
    (void)ck_report_result(session, form, &result, false);
    return CK_EXIT_REFUSED;
}
