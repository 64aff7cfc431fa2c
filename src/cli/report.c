/*
 * report.c - prints a result. The statuses are a contract with scripts.
 */
#include "cli/report.h"

#include "cli/cli.h"
#include "cli/denial.h"
#include "front/jansson.h"
#include "front/result_json.h"
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

/* After JSON lines there is no text. */
static void write_json(struct ck_session *session, const struct choke_result *result, bool with_text)
{
    json_t *object = ck_result_json_make(result, ck_result_json_stream(&result->out, with_text),
                                         ck_result_json_stream(&result->err, with_text));

    if (object)
        ck_jansson_write(&session->out, object);
    else
        session->out.error = ENOMEM;
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
