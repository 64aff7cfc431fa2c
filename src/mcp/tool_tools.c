/* tool_tools.c - the tool `tools`: what may be run, and the grammar of each tool. */
#include "base/nearest.h"
#include "base/quote.h"
#include "front/text.h"
#include "mcp/grammar.h"
#include "mcp/tool.h"
#include "mcp/words.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VERSION_ARGS_MAX 8

/* Is the tool found where the policy looks for it? null: a refusal came before that. */
static json_t *is_installed(struct ck_mcp_server *server, const json_t *tool)
{
    const json_t *version = json_object_get(tool, "version_args");
    const char *argv[VERSION_ARGS_MAX + 2] = {json_string_value(json_object_get(tool, "name"))};
    struct choke_decision *decision = NULL;
    struct choke_error error;
    json_t *found = json_null();

    for (size_t i = 0; i < json_array_size(version) && i < VERSION_ARGS_MAX; i++)
        argv[i + 1] = json_string_value(json_array_get(version, i));
    const struct choke_request request = {.argv = argv,
                                          .root = server->root.path,
                                          .cwd = ".",
                                          .timeout_ms = CHOKE_TIMEOUT_FROM_POLICY,
                                          .stdin_fd = -1,
                                          .jail = server->options->jail,
                                          .require_jail = server->options->require_jail};
    if (choke_explain(server->context, &request, &decision, &error) == 0) {
        if (decision->outcome == CHOKE_TOOL_MISSING)
            found = json_false();
        else if (decision->tool_path)
            found = json_true();
    }
    choke_decision_free(decision);
    return found;
}

static json_t *tool_object(struct ck_mcp_server *server, const json_t *tool, bool whole)
{
    const json_t *limits = json_object_get(tool, "limits");
    json_t *object = json_pack("{s:O, s:O, s:O, s:o, s:O, s:O, s:O, s:O, s:o}", "name", json_object_get(tool, "name"),
                               "why", json_object_get(tool, "why"), "route", json_object_get(tool, "route"),
                               "installed", is_installed(server, tool), "workspace", json_object_get(tool, "workspace"),
                               "egress", json_object_get(tool, "egress"), "env", json_object_get(tool, "env"),
                               "timeout_s", json_object_get(limits, "timeout_s"), "calls", ck_mcp_grammar_calls(tool));

    if (whole)
        (void)json_object_set_new(object, "grammar", ck_mcp_grammar_rules(tool));
    return object;
}

/* ---- the text ---- */

static void print_list(FILE *out, const char *label, const json_t *list)
{
    size_t index;
    json_t *item;

    if (json_array_size(list) == 0)
        return;
    (void)fprintf(out, "    %s:", label);
    json_array_foreach(list, index, item)
    {
        (void)fprintf(out, " %s", json_string_value(item) ? json_string_value(item) : "");
    }
    (void)fputc('\n', out);
}

static void print_tool(FILE *out, const json_t *tool)
{
    const char *state = json_is_false(json_object_get(tool, "installed")) ? ", not installed" : "";
    size_t index;
    json_t *item;

    (void)fprintf(out, "%s (%s, workspace %s%s): %s\n", json_string_value(json_object_get(tool, "name")),
                  json_string_value(json_object_get(tool, "route")),
                  json_string_value(json_object_get(tool, "workspace")), state,
                  json_string_value(json_object_get(tool, "why")));
    print_list(out, "hosts that egress may name", json_object_get(tool, "egress"));
    print_list(out, "variables that env may set", json_object_get(tool, "env"));
    json_array_foreach(json_object_get(tool, "calls"), index, item)
    {
        (void)fprintf(out, "  %s\n", json_string_value(item));
    }
    json_array_foreach(json_object_get(tool, "grammar"), index, item)
    {
        (void)fprintf(out, "  %s: operands %s\n", json_string_value(json_object_get(item, "call")),
                      json_is_string(json_object_get(item, "operands"))
                          ? json_string_value(json_object_get(item, "operands"))
                          : "as listed");
        print_list(out, "options", json_object_get(item, "options"));
        print_list(out, "required", json_object_get(item, "required"));
        print_list(out, "refused", json_object_get(item, "refused"));
    }
}

static json_t *content_of(const json_t *tools, bool whole)
{
    struct ck_mcp_words words;
    size_t index;
    json_t *tool;

    if (!ck_mcp_words_begin(&words))
        return NULL;
    (void)fprintf(words.out, "%s\n\n",
                  whole ? ck_mcp_grammar_legend
                        : "These tools may be run. For the options of one, call 'tools' with its name.");
    json_array_foreach(tools, index, tool)
    {
        print_tool(words.out, tool);
    }
    return json_pack("[o]", ck_mcp_words_block(ck_mcp_words_end(&words)));
}

/* ---- the answer ---- */

static json_t *unknown_tool(const struct ck_mcp_server *server, const char *name)
{
    struct ck_nearest nearest;
    struct choke_error error = {0};
    size_t index;
    json_t *tool;

    ck_nearest_begin(&nearest, name, strlen(name));
    json_array_foreach(json_object_get(server->policy_json, "tools"), index, tool)
    {
        if (ck_mcp_grammar_is_callable(tool))
            ck_nearest_offer(&nearest, json_string_value(json_object_get(tool, "name")));
    }
    (void)ck_text_error(&error, CHOKE_DISALLOWED, ENOENT,
                        "the policy has no tool '%s'%s%s%s; call 'tools' without a "
                        "name to see all",
                        CK_QUOTE(name), nearest.best ? " (did you mean '" : "", nearest.best ? nearest.best : "",
                        nearest.best ? "'?)" : "");
    return ck_mcp_tool_refusal(&error, json_pack("{s:[]}", "tools"));
}

json_t *ck_mcp_tools_answer(struct ck_mcp_server *server, const char *name)
{
    json_t *tools = json_array();
    size_t index;
    json_t *tool;

    json_array_foreach(json_object_get(server->policy_json, "tools"), index, tool)
    {
        const char *own = json_string_value(json_object_get(tool, "name"));
        if (ck_mcp_grammar_is_callable(tool) && (!name || strcmp(own, name) == 0))
            (void)json_array_append_new(tools, tool_object(server, tool, name));
    }
    if (name && json_array_size(tools) == 0) {
        json_decref(tools);
        return unknown_tool(server, name);
    }
    json_t *content = content_of(tools, name);
    return ck_mcp_words_result(content, json_pack("{s:o, s:n}", "tools", tools, "error"), false);
}

static json_t *answer(struct ck_mcp_call *call)
{
    return ck_mcp_tools_answer(call->server, json_string_value(json_object_get(call->arguments, "name")));
}

static json_t *refuse(struct ck_mcp_call *call, const struct choke_error *error)
{
    (void)call;
    return ck_mcp_tool_refusal(error, json_pack("{s:[]}", "tools"));
}

const struct ck_mcp_tool ck_mcp_tool_tools = {.name = "tools", .answer = answer, .refuse = refuse};
