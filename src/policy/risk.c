/* risk.c - compares an entry with the table of known risks. See risk.h. */
#include "policy/risk.h"

#include "policy/rules.h"

#include <string.h>

/* ---- one row ----------------------------------------------------------------------------- */

/* Bytes before a version: 6 of "python3.11", 3 of "gcc-12". */
static size_t stem_length(const char *name)
{
    size_t length = strlen(name);
    while (length > 1 && strchr("0123456789.-", name[length - 1]))
        length--;
    return length;
}

static bool is_same_tool(const char *name, const char *known)
{
    size_t length = stem_length(name);
    return length == stem_length(known) && memcmp(name, known, length) == 0;
}

static bool has_text(const char *const *list, const char *text)
{
    for (; *list; list++)
        if (strcmp(*list, text) == 0)
            return true;
    return false;
}

/* By its name, or by that of the file that `path` names. */
static bool concerns(const struct ck_risk *risk, const struct ck_tool *tool)
{
    const char *slash = tool->path ? strrchr(tool->path, '/') : NULL;
    for (const char *const *known = risk->tools; *known; known++)
        if (is_same_tool(tool->name, *known) || (slash && is_same_tool(slash + 1, *known)))
            return true;
    return false;
}

/* Is a guard given with every call? */
static bool is_guarded(const struct ck_risk *risk, const struct ck_rules *rules)
{
    for (uint32_t i = 0; i < rules->inject.count; i++)
        if (has_text(risk->guards, rules->inject.items[i]))
            return true;
    for (uint32_t i = 0; i < rules->require.count; i++)
        if (has_text(risk->guards, rules->require.items[i]))
            return true;
    return false;
}

static bool is_excepted(const struct ck_risk *risk, const struct ck_tool *tool)
{
    return (risk->unless == CK_RISK_COMMAND && tool->args && tool->args->command) ||
           (risk->unless == CK_RISK_WORKSPACE_CODE && tool->workspace_code);
}

bool ck_risk_runs_text(const char *name)
{
    const char *slash = strrchr(name, '/');
    const struct ck_tool tool = {.name = slash ? slash + 1 : name};
    for (uint32_t i = 0; i < ck_risks_count; i++) {
        const struct ck_risk *risk = &ck_risks[i];
        if (!risk->options[0] && risk->effect == CK_RISK_RUNS && risk->unless != CK_RISK_COMMAND &&
            concerns(risk, &tool))
            return true;
    }
    return false;
}

/* ---- operands and values ----------------------------------------------------------------- */

/* Does a file of this type stay beneath the root, or is there none? */
static bool is_beneath(enum ck_type type)
{
    return type == CK_TYPE_NONE || type == CK_TYPE_INSIDE || type == CK_TYPE_EXISTING || type == CK_TYPE_NUMBER;
}

/* A value that the policy fixes is its own choice; a path beneath the root may be written. */
static bool is_harmless(const struct ck_risk *risk, const struct ck_rules *rules, const struct ck_arg_option *option)
{
    bool writes = risk->effect == CK_RISK_WRITES;
    if (option->form == CK_FORM_FLAG || option->form == CK_FORM_NUMBER || option->patterns_count == 0)
        return writes && option->form == CK_FORM_FLAG && is_beneath(rules->operands) &&
               (!rules->has_first || is_beneath(rules->first));
    for (uint32_t i = 0; i < option->patterns_count; i++) {
        enum ck_type type = option->patterns[i].type;
        if (type != CK_TYPE_NONE && !(writes && is_beneath(type)))
            return false;
    }
    return true;
}

/* Can a caller give it a program? Not by exact vectors, nor without operands. */
static bool takes_a_program(const struct ck_args *args)
{
    if (!args)
        return true;
    enum ck_type first = args->rules.has_first ? args->rules.first : args->rules.operands;
    return args->subcommands_count == 0 &&
           ((first != CK_TYPE_NONE && first != CK_TYPE_NUMBER) || args->rules.operands == CK_TYPE_ANY || args->command);
}

/* ---- a whole entry ----------------------------------------------------------------------- */

struct risk_search {
    const struct ck_tool *tool;
    const struct ck_risk *risk;
    void (*found)(void *data, const struct ck_risk_use *use);
    void *data;
};

/* Of a tool with `args`. subcommand NULL: the rules of the tool itself. */
static void search_rules(const struct risk_search *search, const struct ck_subcommand *subcommand)
{
    const struct ck_rules *rules = subcommand ? &subcommand->rules : &search->tool->args->rules;
    const struct ck_risk *risk = search->risk;
    if (is_guarded(risk, rules) ||
        (risk->subcommands[0] && !has_text(risk->subcommands, subcommand ? subcommand->name : ".")))
        return;
    for (uint32_t i = 0; i < rules->table_count; i++)
        if (has_text(risk->options, rules->table[i].name) && !is_harmless(risk, rules, &rules->table[i])) {
            const struct ck_risk_use use = {risk, subcommand, rules->table[i].name};
            search->found(search->data, &use);
        }
}

static void search_entry(const struct risk_search *search)
{
    const struct ck_args *args = search->tool->args;
    if (is_excepted(search->risk, search->tool))
        return;
    if (!search->risk->options[0]) {
        const struct ck_risk_use use = {search->risk, NULL, NULL};
        if (takes_a_program(args) && !(args && is_guarded(search->risk, &args->rules)))
            search->found(search->data, &use);
        return;
    }
    if (!args)
        return;
    search_rules(search, NULL);
    for (uint32_t i = 0; i < args->subcommands_count; i++)
        search_rules(search, &args->subcommands[i]);
}

void ck_risk_each(const struct ck_tool *tool, void (*found)(void *data, const struct ck_risk_use *use), void *data)
{
    for (uint32_t i = 0; i < ck_risks_count; i++) {
        const struct risk_search search = {tool, &ck_risks[i], found, data};
        if (concerns(&ck_risks[i], tool))
            search_entry(&search);
    }
}
