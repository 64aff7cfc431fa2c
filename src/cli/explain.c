/*
 * explain.c - prints a decision as JSON, or as lines that a person can check and paste into a
 * shell.
 */
#include "cli/explain.h"

#include "front/jansson.h"
#include "front/text.h"

#include <errno.h>
#include <stdlib.h>

#define LINE_MAX_BYTES 16384 /* two paths */

/* 0: the decision has no timeout, for example because the request was refused. */
static json_t *timeout_or_null(const struct choke_decision *decision)
{
    return decision->timeout_ms != 0 ? json_integer((json_int_t)decision->timeout_ms) : json_null();
}

/*
 * All members are always present, so that a script needs no test for a missing one. A refused
 * request has null or an empty list for what was not decided.
 */
static int set_decision(json_t *object, const struct choke_decision *decision)
{
    /* CHOKE_NONE as the outcome of a decision: nothing speaks against the run. */
    bool allowed = decision->outcome == CHOKE_NONE;
    int bad = 0;

    bad |= json_object_set_new(object, "decision", ck_jansson_text(allowed ? "allowed" : "refused"));
    bad |= json_object_set_new(object, "outcome",
                               allowed ? json_null() : ck_jansson_text(choke_outcome_name(decision->outcome)));
    bad |= json_object_set_new(object, "rule", ck_jansson_text(decision->rule));
    bad |= json_object_set_new(object, "tool", ck_jansson_tool(decision->tool_name, decision->tool_path));
    bad |= json_object_set_new(object, "argv", ck_jansson_list(decision->argv));
    bad |= json_object_set_new(object, "env", ck_jansson_list(decision->env));
    bad |= json_object_set_new(object, "root", ck_jansson_bytes(decision->root));
    bad |= json_object_set_new(object, "cwd", ck_jansson_bytes(decision->cwd));
    bad |= json_object_set_new(object, "timeout_ms", timeout_or_null(decision));
    bad |= json_object_set_new(object, "jail", ck_jansson_text(decision->jail));
    bad |= json_object_set_new(object, "layers", ck_jansson_list(decision->layers));
    bad |= json_object_set_new(object, "mounts", ck_jansson_list(decision->mounts));
    bad |= json_object_set_new(object, "jail_argv", ck_jansson_list(decision->jail_argv));
    bad |= json_object_set_new(object, "egress", ck_jansson_list(decision->egress));
    bad |= json_object_set_new(object, "error", ck_jansson_error(&decision->error));
    bad |= json_object_set_new(object, "workspace_code", json_boolean(decision->workspace_code));
    bad |= json_object_set_new(object, "loopback", json_boolean(decision->loopback));
    bad |= json_object_set_new(object, "via", ck_jansson_text(decision->via));
    return bad;
}

/* The session's outlet, not stdio: it notices a slow or closed reader. */
static void write_json(struct ck_session *session, const struct choke_decision *decision)
{
    json_t *object = json_object();

    if (set_decision(object, decision))
        session->out.error = ENOMEM;
    else
        ck_jansson_write(&session->out, object);
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
