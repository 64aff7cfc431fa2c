/* prompt.c - the two prompts, and the completion of their arguments. */
#include "base/quote.h"
#include "front/text.h"
#include "mcp/grammar.h"
#include "mcp/tool.h"

#include <string.h>

#define COMPLETIONS_MAX 100 /* of the protocol */

/* The text of an answer as one message of the user. Takes answer. */
static json_t *as_prompt(const char *description, const char *question, json_t *answer)
{
    const char *text =
        json_string_value(json_object_get(json_array_get(json_object_get(answer, "content"), 0), "text"));
    json_t *prompt = json_pack("{s:s, s:[{s:s, s:{s:s, s:o}}]}", "description", description, "messages", "role", "user",
                               "content", "type", "text", "text", json_sprintf("%s\n\n%s", question, text ? text : ""));

    json_decref(answer);
    return prompt;
}

/* A JSON array, or words. NULL: neither. */
static json_t *parse_argv(const char *text)
{
    json_t *argv = text[0] == '[' ? json_loads(text, 0, NULL) : json_array();
    size_t index;
    json_t *item;

    for (const char *at = text; text[0] != '[' && *(at += strspn(at, " \t\n")) != '\0'; at += strcspn(at, " \t\n"))
        (void)json_array_append_new(argv, json_stringn(at, strcspn(at, " \t\n")));
    bool valid = json_array_size(argv) > 0;
    json_array_foreach(argv, index, item)
    {
        valid = valid && json_is_string(item) && strlen(json_string_value(item)) == json_string_length(item);
    }
    if (valid)
        return argv;
    json_decref(argv);
    return NULL;
}

static json_t *why_refused(struct ck_mcp_server *server, const char *text, struct ck_mcp_fault *fault)
{
    json_t *argv = text ? parse_argv(text) : NULL;
    struct ck_mcp_area area = {.fd = -1};
    struct choke_error error = {0};

    if (!argv) {
        (void)ck_mcp_fault_set(fault, CK_MCP_INVALID_PARAMS,
                               "'argv' is required: a JSON array of strings, or words with blanks between them");
        return NULL;
    }
    json_t *arguments = json_pack("{s:o}", "argv", argv);
    json_t *prompt = NULL;
    if (ck_mcp_area_choose(&server->areas, &server->root, NULL, &area, &error) < 0)
        (void)ck_mcp_fault_set(fault, CK_MCP_INVALID_PARAMS, "%s", error.message);
    else
        prompt = as_prompt("The decision about one call.",
                           "Why is this call allowed or refused, and what should be called instead?",
                           ck_mcp_explain_answer(server, &area, arguments));
    ck_mcp_area_done(&area);
    json_decref(arguments);
    return prompt;
}

json_t *ck_mcp_prompt_get(struct ck_mcp_server *server, const struct ck_mcp_message *message,
                          struct ck_mcp_fault *fault)
{
    const char *name = ck_mcp_message_text(message, "name");
    const json_t *arguments = json_object_get(message->params, "arguments");

    if (name && strcmp(name, "what-may-i-run") == 0)
        return as_prompt("The tools that may be run.", "What may I run here, and how?",
                         ck_mcp_tools_answer(server, json_string_value(json_object_get(arguments, "tool"))));
    if (name && strcmp(name, "why-was-this-refused") == 0)
        return why_refused(server, json_string_value(json_object_get(arguments, "argv")), fault);
    (void)ck_mcp_fault_set(fault, CK_MCP_INVALID_PARAMS,
                           "unknown prompt '%s'; the prompts are what-may-i-run and why-was-this-refused",
                           name ? CK_QUOTE(name) : "");
    return NULL;
}

/* Names of tools complete every argument: the tool of a prompt, the first word of a call, a URI. */
json_t *ck_mcp_prompt_complete(struct ck_mcp_server *server, const struct ck_mcp_message *message,
                               struct ck_mcp_fault *fault)
{
    const json_t *argument = json_object_get(message->params, "argument");
    const char *value = json_string_value(json_object_get(argument, "value"));
    json_t *completions = json_array();
    size_t index;
    json_t *tool;

    if (!value || !json_is_object(json_object_get(message->params, "ref"))) {
        json_decref(completions);
        (void)ck_mcp_fault_set(fault, CK_MCP_INVALID_PARAMS, "'ref' and 'argument' are required");
        return NULL;
    }
    json_array_foreach(json_object_get(server->policy_json, "tools"), index, tool)
    {
        json_t *offered = json_object_get(tool, "name");
        if (ck_mcp_grammar_is_callable(tool) && json_array_size(completions) < COMPLETIONS_MAX &&
            strncmp(json_string_value(offered), value, strlen(value)) == 0)
            (void)json_array_append(completions, offered);
    }
    return json_pack("{s:{s:o, s:b}}", "completion", "values", completions, "hasMore", false);
}
