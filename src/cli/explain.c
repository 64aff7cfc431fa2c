/*
 * explain.c - prints a decision as JSON, or as lines that a person can check and paste into a
 * shell.
 */
#include "cli/explain.h"

#include "front/decision_json.h"
#include "front/jansson.h"
#include "front/text.h"

#include <errno.h>
#include <stdlib.h>

#define LINE_MAX_BYTES 16384 /* two paths */

/* The session's outlet, not stdio: it notices a slow or closed reader. */
static void write_json(struct ck_session *session, const struct choke_decision *decision)
{
    json_t *object = ck_decision_json_make(decision);

    if (object)
        ck_jansson_write(&session->out, object);
    else
        session->out.error = ENOMEM;
    json_decref(object);
}

/* An empty list has no line. */
static void print_list(FILE *out, const char *label, const char *const *items)
{
    if (!items || !*items)
        return;
    /* 9 columns: the longest label, "decision", and a space. */
    (void)fprintf(out, "%-9s", label);
    for (size_t i = 0; items[i]; i++) {
        if (i > 0)
            (void)fputc(' ', out);
        /* Quoted for bash, so that the line can be pasted; control characters are escaped. */
        ck_text_print_quoted(out, items[i]);
    }
    (void)fputc('\n', out);
}

/* A NULL value gives an empty list, so it has no line either. */
static void print_value(FILE *out, const char *label, const char *value)
{
    print_list(out, label, (const char *const[]){value, NULL});
}

/* For a whole line. The library wrote it; only the names in it are untrusted. */
static void print_line(FILE *out, const char *label, const char *line)
{
    char safe[LINE_MAX_BYTES];

    (void)fprintf(out, "%-9s%s\n", label, ck_text_safe(safe, sizeof(safe), line));
}

/*
 * "decision" is printed first and in one fixed form, so that it can be found with grep. The
 * environment comes last, because it is long.
 */
static void print_decision(FILE *out, const struct choke_decision *decision)
{
    if (decision->outcome == CHOKE_NONE)
        (void)fputs("decision allowed\n", out);
    else
        (void)fprintf(out, "decision refused (%s)\n", choke_outcome_name(decision->outcome));
    print_value(out, "rule", decision->rule);
    print_value(out, "tool", decision->tool_name);
    print_value(out, "path", decision->tool_path);
    print_list(out, "argv", decision->argv);
    print_value(out, "root", decision->root);
    print_value(out, "cwd", decision->cwd);
    if (decision->timeout_ms != 0)
        (void)fprintf(out, "timeout  %llu ms\n", (unsigned long long)decision->timeout_ms);
    print_value(out, "jail", decision->jail);
    print_list(out, "layers", decision->layers);
    for (const char *const *mount = decision->mounts; mount && *mount; mount++)
        print_line(out, "mount", *mount);
    if (decision->workspace_code)
        print_line(out, "code", "every file beneath the root can be executed");
    if (decision->loopback)
        print_line(out, "loopback", "its own 127.0.0.1 and ::1");
    print_list(out, "egress", decision->egress);
    print_value(out, "via", decision->via);
    print_list(out, "command", decision->jail_argv);
    for (const char *const *variable = decision->env; variable && *variable; variable++)
        print_value(out, "env", *variable);
}

/* stdio into memory, then to the outlet: stdio cannot write to an outlet itself. */
static void write_text(struct ck_session *session, const struct choke_decision *decision)
{
    char *text = NULL;
    size_t length = 0;

    FILE *out = open_memstream(&text, &length);
    if (!out) {
        session->out.error = ENOMEM;
        return;
    }
    print_decision(out, decision);
    if (fclose(out) == 0)
        ck_outlet_write(&session->out, text, length);
    else
        session->out.error = ENOMEM;
    free(text);
    if (decision->outcome != CHOKE_NONE)
        /* The reason goes to standard error, as with "run". */
        ck_report_message(session, &decision->error);
}

/*
 * A negative return means that there is no decision, for example out of memory. A refusal is a
 * decision.
 */
int ck_explain_request(struct ck_session *session, enum ck_report_form form, struct choke_context *context,
                       const struct choke_request *request)
{
    struct choke_decision *decision = NULL;
    struct choke_error error = {0};

    if (choke_explain(context, request, &decision, &error) < 0)
        return ck_report_failure(session, form, &error);
    if (form == CK_REPORT_JSON)
        write_json(session, decision);
    else
        write_text(session, decision);
    int status = decision->outcome == CHOKE_NONE ? 0 : ck_report_refusal_status(decision->outcome, &decision->error);
    choke_decision_free(decision);
    return ck_report_written(session, status);
}
