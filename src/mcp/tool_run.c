/*
 * tool_run.c - the tool `run`: one job of the library, and its result for a model and for a
 * program.
 */
#include "base/quote.h"
#include "front/jansson.h"
#include "front/result_json.h"
#include "front/text.h"
#include "mcp/nearest_call.h"
#include "mcp/request.h"
#include "mcp/tool.h"
#include "mcp/words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MARK "...[TRUNCATED]..."
#define CHANGES_MAX 1000

/* ---- the streams ---- */

/* Where the beginning ends and the end begins, in what was captured. */
struct parts {
    size_t head_length;
    const char *tail;
    size_t tail_length;
};

/*
 * The library's mark is where the request placed it, whatever the tool printed. If memory ran out in
 * the library, the beginning may be missing; then all is the end.
 */
static struct parts split(const struct choke_capture *capture)
{
    if (!capture->truncated)
        return (struct parts){capture->length, "", 0};
    size_t head = ck_mcp_request_head_bytes(capture->length);
    const char *mark = capture->data + head;
    if (capture->length < CHOKE_MIN_OUTPUT_BYTES || memcmp(mark, MARK, strlen(MARK)) != 0)
        return (struct parts){0, capture->data, capture->length};
    return (struct parts){head, mark + strlen(MARK), capture->length - head - strlen(MARK)};
}

static json_t *stream_object(const struct choke_capture *capture)
{
    struct parts parts = split(capture);

    return json_pack("{s:o, s:o, s:I, s:b}", "head", ck_mcp_words_escape(capture->data, parts.head_length), "tail",
                     ck_mcp_words_escape(parts.tail, parts.tail_length), "bytes", (json_int_t)capture->total_bytes,
                     "truncated", capture->truncated);
}

/* Nothing for a stream without output. */
static void add_stream(json_t *content, const char *name, const struct choke_capture *capture)
{
    struct parts parts = split(capture);
    char what[128];

    if (capture->length == 0)
        return;
    if (!capture->truncated) {
        (void)snprintf(what, sizeof(what), "%s of the tool", name);
        (void)json_array_append_new(content, ck_mcp_words_untrusted(what, capture->data, capture->length));
        return;
    }
    (void)snprintf(what, sizeof(what), "the first bytes of %s of the tool", name);
    (void)json_array_append_new(content, ck_mcp_words_untrusted(what, capture->data, parts.head_length));
    (void)snprintf(what, sizeof(what), "the last bytes of %s of the tool", name);
    (void)json_array_append_new(content, ck_mcp_words_untrusted(what, parts.tail, parts.tail_length));
}

/* ---- the words of the server ---- */

static const char *tool_of(const struct choke_result *result)
{
    return result->tool_name ? result->tool_name : "the tool";
}

static void print_ending(FILE *out, const struct choke_result *result)
{
    double ms = (double)result->duration_us / 1000.0;

    if (result->outcome == CHOKE_EXITED)
        (void)fprintf(out, "%s exited with status %d after %.1f ms, in jail '%s'.\n", tool_of(result),
                      result->exit_code, ms, result->jail ? result->jail : "none");
    else if (result->outcome == CHOKE_SIGNALED)
        (void)fprintf(out, "%s was ended by signal %d after %.1f ms.\n", tool_of(result), result->signal, ms);
    else if (result->jail)
        (void)fprintf(out, "%s did not end by itself (%s): %s\n", tool_of(result), choke_outcome_name(result->outcome),
                      result->error.message);
    else
        (void)fprintf(out, "Refused (%s) by rule '%s': %s\nNothing was run.\n", choke_outcome_name(result->outcome),
                      result->rule ? result->rule : "request", result->error.message);
}

static void print_streams(FILE *out, const struct choke_result *result)
{
    const struct choke_capture *streams[] = {&result->out, &result->err};
    static const char *const names[] = {"stdout", "stderr"};

    for (size_t i = 0; i < 2; i++)
        (void)fprintf(out, "%s: %llu bytes%s.%s", names[i], (unsigned long long)streams[i]->total_bytes,
                      streams[i]->truncated ? ", of which the beginning and the end follow" : "", i == 0 ? " " : "\n");
    if (result->output_incomplete)
        (void)fputs("The output is not complete.\n", out);
    if (result->limit_hit)
        (void)fprintf(out, "The run reached a limit: %s.\n", result->limit_hit);
    if (result->change_count > 0)
        (void)fprintf(out, "The tool changed %zu files in an overlay; the repository is not changed.\n",
                      result->change_count);
    if (result->denied_count > 0)
        (void)fprintf(out, "The jail refused %zu attempts of the tool, which are listed below.\n",
                      result->denied_count);
}

static void print_nearest(FILE *out, const json_t *nearest)
{
    char *text = json_is_object(nearest) ? json_dumps(nearest, JSON_COMPACT) : NULL;

    if (text)
        (void)fprintf(out, "Nearest allowed call of 'run': %s\n", text);
    else
        (void)fputs("No similar call is allowed; the tool 'tools' lists what is.\n", out);
    free(text);
}

/* Names that the tool chose, one a line. */
static void print_denied(FILE *out, const struct choke_result *result)
{
    for (size_t i = 0; i < result->denied_count; i++)
        (void)fprintf(out, "%s %s by %s: %s%s\n", result->denied[i].kind, result->denied[i].path, result->denied[i].by,
                      result->denied[i].add ? "the policy would need " : "ask the owner of the policy",
                      result->denied[i].add ? result->denied[i].add : "");
}

static void print_changes(FILE *out, const struct choke_result *result)
{
    for (size_t i = 0; i < result->change_count; i++)
        (void)fprintf(out, "%s %s '%s'%s%s\n", result->changes[i].kind, result->changes[i].type,
                      CK_QUOTE(result->changes[i].path), result->changes[i].runs_later ? " runs later: " : "",
                      result->changes[i].runs_later ? result->changes[i].runs_later : "");
}

static void add_list(json_t *content, const char *what, const struct choke_result *result,
                     void (*print)(FILE *out, const struct choke_result *result))
{
    struct ck_mcp_words words;

    if (!ck_mcp_words_begin(&words))
        return;
    print(words.out, result);
    json_t *text = ck_mcp_words_end(&words);
    if (json_string_length(text) > 0)
        (void)json_array_append_new(content,
                                    ck_mcp_words_untrusted(what, json_string_value(text), json_string_length(text)));
    json_decref(text);
}

/* The first block has the words of the server alone. */
static json_t *content_of(const struct choke_result *result, const json_t *nearest)
{
    struct ck_mcp_words words;
    bool refused = !result->jail && result->outcome != CHOKE_EXITED && result->outcome != CHOKE_SIGNALED;

    if (!ck_mcp_words_begin(&words))
        return NULL;
    print_ending(words.out, result);
    if (refused)
        print_nearest(words.out, nearest);
    else
        print_streams(words.out, result);
    json_t *content = json_pack("[o]", ck_mcp_words_block(ck_mcp_words_end(&words)));
    add_stream(content, "stdout", &result->out);
    add_stream(content, "stderr", &result->err);
    add_list(content, "what the jail refused", result, print_denied);
    add_list(content, "what the tool changed", result, print_changes);
    return content;
}

/* ---- the answer ---- */

/* Changes are many at most, and of any length in sum; an answer has the first of them. */
static json_t *answer_of(struct ck_mcp_call *call, const struct choke_result *full)
{
    struct choke_result result = *full;

    if (result.change_count > CHANGES_MAX) {
        result.change_count = CHANGES_MAX;
        result.changes_incomplete = true;
    }
    ck_text_redact(&result.error);
    json_t *nearest = ck_mcp_nearest_call(call->server, &call->area, call->arguments, result.outcome);
    json_t *out = stream_object(&result.out), *err = stream_object(&result.err);
    json_t *structured = ck_result_json_make(&result, json_null(), json_null());
    ck_mcp_words_clean(structured);
    /* After the cleaning, which would escape newlines. */
    (void)json_object_set_new(structured, "stdout", out);
    (void)json_object_set_new(structured, "stderr", err);
    (void)json_object_set(structured, "nearest", nearest);
    json_t *content = content_of(&result, nearest);
    json_decref(nearest);
    return ck_mcp_words_result(content, structured, result.outcome != CHOKE_EXITED);
}

static json_t *refuse_by(struct ck_mcp_call *call, const char *rule, const struct choke_error *error)
{
    struct choke_result result = {.outcome = error->outcome, .exit_code = -1, .rule = rule, .error = *error};

    result.out.data = result.err.data = "";
    if (result.outcome == CHOKE_NONE)
        result.outcome = result.error.outcome = CHOKE_SPAWN_FAILED;
    return answer_of(call, &result);
}

static json_t *refuse(struct ck_mcp_call *call, const struct choke_error *error)
{
    return refuse_by(call, error->outcome == CHOKE_CWD ? "server.roots" : "request.arguments", error);
}

static json_t *summary_of(const struct choke_result *result)
{
    return json_pack("{s:s, s:s, s:o, s:o}", "event", "run", "outcome", choke_outcome_name(result->outcome), "tool",
                     ck_jansson_text(result->tool_name), "rule", ck_jansson_text(result->rule));
}

void ck_mcp_run_ended(struct ck_mcp_call *call, const struct choke_result *result)
{
    ck_mcp_log_call(call, result->outcome == CHOKE_EXITED ? "info" : "warning", summary_of(result));
    ck_mcp_call_end(call, call->cancelled ? NULL : answer_of(call, result));
}

/* Called while the tool runs: only counts, for the progress. */
static void count_output(void *data, enum choke_stream stream, const void *bytes, size_t length)
{
    struct ck_mcp_call *call = data;

    (void)stream;
    (void)bytes;
    call->output_bytes += length;
}

static void start(struct ck_mcp_call *call)
{
    struct ck_mcp_request request;
    struct choke_error error = {0};

    int r = ck_mcp_request_build(&request, call->server, &call->area, call->arguments, &error);
    request.request.on_output = call->token ? count_output : NULL;
    request.request.output_data = call;
    if (r == 0)
        r = choke_start(call->server->context, &request.request, &call->job, &error);
    if (r < 0)
        ck_mcp_call_end(call, refuse_by(call, request.rule ? request.rule : "request.arguments", &error));
    else
        choke_job_set_data(call->job, call);
    ck_mcp_request_done(&request);
}

const struct ck_mcp_tool ck_mcp_tool_run = {.name = "run", .is_rooted = true, .start = start, .refuse = refuse};
