/* grammar.c - see grammar.h. */
#include "mcp/grammar.h"

#include "mcp/words.h"

#include <string.h>

const char ck_mcp_grammar_legend[] =
    "Options: '--x' has no value; '--x=' needs one, '--x[=]' may have one; '=<number>', '=<name>' and '=<inside>' say "
    "which kind, 'a|b' lists all values. Operands: 'none'; 'any'; 'inside' and 'existing' are paths beneath the root; "
    "'name' is a plain name. What is not listed is refused; there are no abbreviations.";

static const char *text_of(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

bool ck_mcp_grammar_is_callable(const json_t *tool)
{
    const char *route = text_of(tool, "route");
    return strcmp(route, "direct") == 0 || strcmp(route, "external") == 0;
}

/* " [PATH]..." for the operands of a rule. */
static void print_operands(FILE *out, const json_t *rule)
{
    static const struct {
        const char *kind, *shown;
    } kinds[] = {{"none", ""}, {"any", "ARGUMENT"}, {"inside", "PATH"}, {"existing", "PATH"}, {"name", "NAME"}};
    const char *operands = text_of(rule, "operands");
    const char *first = text_of(rule, "first");
    const char *shown = operands ? operands : "";

    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (operands && strcmp(kinds[i].kind, operands) == 0)
            shown = kinds[i].shown;
    if (first)
        (void)fprintf(out, " <first: %s>", first);
    if (shown[0] != '\0')
        (void)fprintf(out, " [%s]...", shown);
}

/* "git", or "git log" if subcommand is not NULL. */
static void put_name(FILE *out, const json_t *tool, const json_t *subcommand)
{
    (void)fputs(text_of(tool, "name"), out);
    if (subcommand)
        (void)fprintf(out, " %s", text_of(subcommand, "name"));
}

static json_t *call_text(const json_t *tool, const json_t *subcommand)
{
    const json_t *rule = subcommand ? subcommand : json_object_get(tool, "args");
    struct ck_mcp_words words;

    if (!ck_mcp_words_begin(&words))
        return NULL;
    put_name(words.out, tool, subcommand);
    if (json_array_size(json_object_get(rule, "options")) > 0 || !json_is_object(rule))
        (void)fputs(" [OPTION]...", words.out);
    if (!json_is_object(rule))
        (void)fputs(" [ARGUMENT]...", words.out);
    print_operands(words.out, rule);
    if (text_of(rule, "command"))
        (void)fputs(" COMMAND, which must be an allowed call itself", words.out);
    return ck_mcp_words_end(&words);
}

static json_t *exact_text(const json_t *tool, const json_t *arguments)
{
    struct ck_mcp_words words;
    size_t index;
    json_t *argument;

    if (!ck_mcp_words_begin(&words))
        return NULL;
    (void)fputs(text_of(tool, "name"), words.out);
    json_array_foreach(arguments, index, argument)
    {
        (void)fprintf(words.out, " %s", json_string_value(argument));
    }
    return ck_mcp_words_end(&words);
}

/* Does the entry allow calls beside the exact ones and the subcommands? */
static bool has_plain_form(const json_t *args)
{
    return !json_is_object(args) || (json_array_size(json_object_get(args, "exact")) == 0 &&
                                     json_array_size(json_object_get(args, "subcommands")) == 0);
}

json_t *ck_mcp_grammar_calls(const json_t *tool)
{
    const json_t *args = json_object_get(tool, "args");
    json_t *calls = json_array();
    size_t index;
    json_t *item;
    int bad = 0;

    json_array_foreach(json_object_get(args, "exact"), index, item)
    {
        bad |= json_array_append_new(calls, exact_text(tool, item));
    }
    json_array_foreach(json_object_get(args, "subcommands"), index, item)
    {
        bad |= json_array_append_new(calls, call_text(tool, item));
    }
    if (has_plain_form(args))
        bad |= json_array_append_new(calls, call_text(tool, NULL));
    if (!bad)
        return calls;
    json_decref(calls);
    return NULL;
}

static json_t *list_or_empty(const json_t *rule, const char *key)
{
    json_t *list = json_object_get(rule, key);
    return json_is_array(list) ? json_incref(list) : json_array();
}

static json_t *text_or_null(const json_t *rule, const char *key)
{
    json_t *text = json_object_get(rule, key);
    return json_is_string(text) ? json_incref(text) : json_null();
}

static json_t *rule_object(const json_t *tool, const json_t *subcommand)
{
    const json_t *rule = subcommand ? subcommand : json_object_get(tool, "args");
    struct ck_mcp_words words;

    if (!ck_mcp_words_begin(&words))
        return NULL;
    put_name(words.out, tool, subcommand);
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "call", ck_mcp_words_end(&words), "options",
                     list_or_empty(rule, "options"), "required", list_or_empty(rule, "require"), "refused",
                     list_or_empty(rule, "deny"), "operands", text_or_null(rule, "operands"), "first",
                     text_or_null(rule, "first"));
}

/* With subcommands the first rule has the options before them, if there are any. */
json_t *ck_mcp_grammar_rules(const json_t *tool)
{
    const json_t *args = json_object_get(tool, "args");
    json_t *rules = json_array();
    size_t index;
    json_t *item;
    int bad = 0;

    if (has_plain_form(args) || json_array_size(json_object_get(args, "options")) > 0)
        bad |= json_array_append_new(rules, rule_object(tool, NULL));
    json_array_foreach(json_object_get(args, "subcommands"), index, item)
    {
        bad |= json_array_append_new(rules, rule_object(tool, item));
    }
    if (!bad)
        return rules;
    json_decref(rules);
    return NULL;
}
