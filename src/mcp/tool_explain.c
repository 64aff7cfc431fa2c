/* tool_explain.c - the tool `explain`: what run would do. Nothing is run. */
#include "front/decision_json.h"
#include "front/text.h"
#include "mcp/nearest_call.h"
#include "mcp/request.h"
#include "mcp/tool.h"
#include "mcp/words.h"

#include <stdio.h>
#include <stdlib.h>

/* "Refused ... Nearest ..."; or "Allowed ...". */
static void print_decision(FILE *out, const struct choke_decision *decision, const json_t *nearest)
{
    char *call = json_is_object(nearest) ? json_dumps(nearest, JSON_COMPACT) : NULL;

    if (decision->outcome == CHOKE_NONE)
        (void)fprintf(out, "Allowed by rule '%s', in jail '%s', for at most %llu ms. Nothing was run.\n",
                      decision->rule ? decision->rule : "", decision->jail ? decision->jail : "none",
                      (unsigned long long)decision->timeout_ms);
    else
        (void)fprintf(out, "Refused (%s) by rule '%s': %s\n%s%s%s\n", choke_outcome_name(decision->outcome),
                      decision->rule ? decision->rule : "request", decision->error.message,
                      call ? "Nearest allowed call of 'run': "
                           : "No similar call is allowed; the tool 'tools' lists what is.",
                      call ? call : "", "");
    free(call);
}

/* The whole decision is also in the text, as JSON: a client may show only that. */
static json_t *answer_of(const struct choke_decision *decision, json_t *nearest)
{
    struct ck_mcp_words words;
    json_t *structured = ck_decision_json_make(decision);

    ck_mcp_words_clean(structured);
    (void)json_object_set_new(structured, "nearest", nearest);
    char *text = json_dumps(structured, JSON_COMPACT);
    if (!text || !ck_mcp_words_begin(&words)) {
        json_decref(structured);
        free(text);
        return NULL;
    }
    print_decision(words.out, decision, nearest);
    (void)fprintf(words.out, "The decision: %s\n", text);
    free(text);
    json_t *content = json_pack("[o]", ck_mcp_words_block(ck_mcp_words_end(&words)));
    return ck_mcp_words_result(content, structured, false);
}

static json_t *refuse_by(const char *rule, const struct choke_error *error, json_t *nearest)
{
    struct choke_decision decision = {.outcome = error->outcome, .rule = rule, .error = *error};

    if (decision.outcome == CHOKE_NONE)
        decision.outcome = decision.error.outcome = CHOKE_SPAWN_FAILED;
    ck_text_redact(&decision.error);
    return answer_of(&decision, nearest);
}

json_t *ck_mcp_explain_answer(struct ck_mcp_server *server, const struct ck_mcp_area *area, const json_t *arguments)
{
    struct ck_mcp_request request;
    struct choke_decision *decision = NULL;
    struct choke_error error = {0};
    json_t *answer;

    if (ck_mcp_request_build(&request, server, area, arguments, &error) == 0)
        (void)choke_explain(server->context, &request.request, &decision, &error);
    enum choke_outcome outcome = decision ? decision->outcome : error.outcome;
    json_t *nearest = ck_mcp_nearest_call(server, area, arguments, outcome);
    if (!decision)
        answer = refuse_by(request.rule ? request.rule : "request.arguments", &error, nearest);
    else
        answer = answer_of(decision, nearest);
    choke_decision_free(decision);
    ck_mcp_request_done(&request);
    return answer;
}

static json_t *answer(struct ck_mcp_call *call)
{
    return ck_mcp_explain_answer(call->server, &call->area, call->arguments);
}

/* isError: the question itself is wrong. A refusal is an answer to the question. */
static json_t *refuse(struct ck_mcp_call *call, const struct choke_error *error)
{
    const char *rule = error->outcome == CHOKE_CWD ? "server.roots" : "request.arguments";
    json_t *nearest = ck_mcp_nearest_call(call->server, &call->area, call->arguments, error->outcome);
    json_t *refusal = refuse_by(rule, error, nearest);

    (void)json_object_set_new(refusal, "isError", json_true());
    return refusal;
}

const struct ck_mcp_tool ck_mcp_tool_explain = {
    .name = "explain", .is_rooted = true, .answer = answer, .refuse = refuse};
