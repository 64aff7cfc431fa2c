/*
 * rules.c - compiles the argument rules of the policy into tables. See rules.h.
 *
 * Options become a table sorted by name, with sets expanded, so that an argument costs a few
 * comparisons. Rules that contradict each other are refused here, where the line is known, and not
 * when a request comes: a denied option that is listed, a required value that another allowed value
 * could undo, an option that is listed twice.
 */
#include "policy/rules.h"

#include "base/error.h"
#include "base/quote.h"
#include "policy/schema.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SCHEME_CHARACTERS "abcdefghijklmnopqrstuvwxyz0123456789-"
#define ALNUM "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
#define TABLE_MAX 4096 /* rows of one table, after sets are expanded */

struct compiler {
    struct ck_policy *policy; /* its arena gets the tables */
    const struct ck_yaml_tree *tree;
    struct choke_error *error;
    struct ck_args *args;                 /* of the tool that is being compiled */
    const struct ck_yaml_node *args_node; /* the same in the tree, for positions */
    char where[224];                      /* "subcommand 'log' in tool 'git'" */
};

#define REFUSE(compiler, node, ...) ck_yaml_tree_error((compiler)->tree, (node), (compiler)->error, __VA_ARGS__)

/* ---- names ------------------------------------------------------------------------------- */

/* By bytes, the shorter first: the order of the table, in which ck_rules_find searches. */
static int compare_names(const char *a, size_t a_length, const char *b, size_t b_length)
{
    int order = memcmp(a, b, a_length < b_length ? a_length : b_length);
    return order != 0 ? order : (a_length > b_length) - (a_length < b_length);
}

static int compare_options(const void *left, const void *right)
{
    const struct ck_arg_option *a = left;
    const struct ck_arg_option *b = right;
    return compare_names(a->name, a->name_length, b->name, b->name_length);
}

/* By exact name, without its value. NULL: not listed. */
const struct ck_arg_option *ck_rules_find(const struct ck_rules *rules, const char *name, size_t length)
{
    uint32_t low = 0;
    uint32_t high = rules->table_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const struct ck_arg_option *option = &rules->table[middle];
        int order = compare_names(name, length, option->name, option->name_length);
        if (order == 0)
            return option;
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return NULL;
}

/* Is the text in the list, compared exactly? */
static bool lists(const struct ck_list *list, const char *text)
{
    for (uint32_t i = 0; i < list->count; i++)
        if (strcmp(list->items[i], text) == 0)
            return true;
    return false;
}

/* ---- the table --------------------------------------------------------------------------- */

/* Is it a short option with a longer name, "-json"? Only a tool without bundles can have that. */
static bool is_long_short(const struct ck_arg_option *option)
{
    return option->name[0] == '-' && option->name[1] != '-' && option->name_length > 2;
}

/* Parses one option into the next row of the table. build_table has counted the rows. */
static int add_option(struct compiler *compiler, struct ck_rules *rules, const char *text,
                      const struct ck_yaml_node *node)
{
    const char *why = NULL;
    struct ck_arg_option option;
    int r = ck_notation_parse(&compiler->policy->arena, text, &option, &why);
    if (r == -ENOMEM)
        return ck_error_oom(compiler->error);
    if (r < 0)
        return REFUSE(compiler, node, "option '%s' in %s: %s", CK_QUOTE(text), compiler->where, why);
    if (is_long_short(&option) && !compiler->args->no_bundles)
        return REFUSE(
            compiler, node,
            "option '%s' in %s: one '-' and several letters are a bundle; write '--', or set 'bundles: false'",
            CK_QUOTE(text), compiler->where);
    /* A subcommand's options are denied by its own list and by the tool's. */
    if (lists(&rules->deny, option.name) || lists(&compiler->args->rules.deny, option.name))
        return REFUSE(compiler, node, "option '%s' in %s is in 'deny', so it cannot be listed", CK_QUOTE(option.name),
                      compiler->where);
    rules->table[rules->table_count++] = option;
    return 0;
}

/* The first set of the name; check_sets relies on that to find a second one. */
static const struct ck_option_set *find_set(const struct ck_args *args, const char *name)
{
    for (uint32_t i = 0; i < args->sets_count; i++)
        if (strcmp(args->sets[i].name, name) == 0)
            return &args->sets[i];
    return NULL;
}

/* Positions in messages are those inside the set, not of the "@name" that uses it. */
static int add_set(struct compiler *compiler, struct ck_rules *rules, const char *name, const struct ck_yaml_node *node)
{
    const struct ck_option_set *set = find_set(compiler->args, name);
    if (!set)
        return REFUSE(compiler, node, "'@%s' in %s is not a set; define it in 'sets' in 'args'", CK_QUOTE(name),
                      compiler->where);
    const struct ck_yaml_node *sets = ck_yaml_node_value(compiler->args_node, "sets");
    const struct ck_yaml_node *options =
        ck_yaml_node_value(ck_yaml_node_entry(sets, (uint32_t)(set - compiler->args->sets)), "options");
    int r = 0;
    for (uint32_t i = 0; r == 0 && i < set->options.count; i++)
        r = add_option(compiler, rules, set->options.items[i], ck_yaml_node_entry(options, i));
    return r;
}

/*
 * The number of rows, or -1 for too many. An unknown set counts as empty: it is refused a moment
 * later.
 */
static long count_rows(const struct ck_args *args, const struct ck_list *options)
{
    size_t count = 0;
    for (uint32_t i = 0; i < options->count; i++) {
        const struct ck_option_set *set = options->items[i][0] == '@' ? find_set(args, options->items[i] + 1) : NULL;
        count += set ? set->options.count : 1;
    }
    return count <= TABLE_MAX ? (long)count : -1;
}

/* In the sorted table equal names are neighbours. Two sets may bring the same option. */
static int refuse_duplicates(struct compiler *compiler, const struct ck_rules *rules, const struct ck_yaml_node *list)
{
    for (uint32_t i = 1; i < rules->table_count; i++)
        if (compare_options(&rules->table[i - 1], &rules->table[i]) == 0)
            return REFUSE(compiler, list, "option '%s' is listed twice in %s", CK_QUOTE(rules->table[i].name),
                          compiler->where);
    return 0;
}

/* Counted before it is allocated: an arena cannot grow an array. */
static int build_table(struct compiler *compiler, struct ck_rules *rules, const struct ck_yaml_node *node)
{
    const struct ck_yaml_node *list = ck_yaml_node_value(node, "options");
    long rows = count_rows(compiler->args, &rules->options);
    if (rows < 0)
        return REFUSE(compiler, list, "more than %d options in %s", TABLE_MAX, compiler->where);
    rules->table = ck_arena_array(&compiler->policy->arena, (size_t)rows, sizeof(*rules->table));
    if (!rules->table)
        return ck_error_oom(compiler->error);
    int r = 0;
    for (uint32_t i = 0; ck_yaml_tree_continues(compiler->tree, r) && i < rules->options.count; i++) {
        const char *text = rules->options.items[i];
        const struct ck_yaml_node *entry = ck_yaml_node_entry(list, i);
        r = ck_yaml_tree_both(r, text[0] == '@' ? add_set(compiler, rules, text + 1, entry)
                                                : add_option(compiler, rules, text, entry));
    }
    if (r < 0 || rules->table_count == 0)
        return r;
    qsort(rules->table, rules->table_count, sizeof(*rules->table), compare_options);
    return refuse_duplicates(compiler, rules, list);
}

/* ---- what goes with the table ------------------------------------------------------------ */

/* A name without a value: no form of a denied option is allowed. "--" is the end of options. */
static int check_deny(struct compiler *compiler, const struct ck_rules *rules, const struct ck_yaml_node *node)
{
    const struct ck_yaml_node *list = ck_yaml_node_value(node, "deny");
    for (uint32_t i = 0; i < rules->deny.count; i++) {
        const char *text = rules->deny.items[i];
        size_t dashes = strspn(text, "-");
        if (strcmp(text, "--") == 0)
            continue;
        if (dashes < 1 || dashes > 2 || text[dashes] == '\0' || strcspn(text, "=[< ") != strlen(text))
            return REFUSE(compiler, ck_yaml_node_entry(list, i),
                          "'%s' in 'deny' in %s is not the bare name of an option", CK_QUOTE(text), compiler->where);
    }
    return 0;
}

/* Is "NAME=VALUE" in the list? The option's name and the value are compared exactly. */
static bool requires(const struct ck_list *require, const struct ck_arg_option *option, const char *value)
{
    for (uint32_t i = 0; i < require->count; i++) {
        const char *text = require->items[i];
        if (strncmp(text, option->name, option->name_length) == 0 && text[option->name_length] == '=' &&
            strcmp(text + option->name_length + 1, value) == 0)
            return true;
    }
    return false;
}

/*
 * Are all values of the option required ones, this one among them? If it is given twice, the last
 * one often counts.
 */
static bool is_fixed(const struct ck_list *require, const struct ck_arg_option *option, const char *value)
{
    bool found = false;
    for (uint32_t i = 0; i < option->patterns_count; i++) {
        const struct ck_pattern *pattern = &option->patterns[i];
        /* A pattern with a type allows many values, so it cannot be fixed. */
        if (pattern->type != CK_TYPE_NONE || !requires(require, option, pattern->text))
            return false;
        found = found || strcmp(pattern->text, value) == 0;
    }
    return found;
}

/* A required option must be allowed, or no call could ever pass. */
static int check_require(struct compiler *compiler, const struct ck_rules *rules, const struct ck_yaml_node *node)
{
    const struct ck_yaml_node *list = ck_yaml_node_value(node, "require");
    for (uint32_t i = 0; i < rules->require.count; i++) {
        const char *text = rules->require.items[i];
        size_t length = strcspn(text, "=");
        const struct ck_arg_option *option = ck_rules_find(rules, text, length);
        const struct ck_yaml_node *entry = ck_yaml_node_entry(list, i);
        if (!option)
            return REFUSE(compiler, entry, "'%s' is required in %s but not listed in its 'options'", CK_QUOTE(text),
                          compiler->where);
        bool value = text[length] == '=';
        if (value && (option->form != CK_FORM_VALUE || !is_fixed(&rules->require, option, text + length + 1)))
            return REFUSE(
                compiler, entry,
                "'%s' is required in %s, so 'options' must list '%s' with that value and no other: another one "
                "could undo it",
                CK_QUOTE(text), compiler->where, option->name);
        if (!value && option->form != CK_FORM_FLAG)
            return REFUSE(compiler, entry, "'%s' is required in %s without its value", CK_QUOTE(text), compiler->where);
    }
    return 0;
}

static int check_line_breaks(struct compiler *compiler, const struct ck_list *parts, const struct ck_yaml_node *list,
                             const char *key)
{
    for (uint32_t i = 0; i < parts->count; i++)
        if (strchr(parts->items[i], '\n'))
            return REFUSE(compiler, ck_yaml_node_entry(list, i), "an entry of '%s' in %s has a line break", key,
                          compiler->where);
    return 0;
}

/* 'none' would forbid the operand that 'first' describes. */
static int check_first(struct compiler *compiler, const struct ck_rules *rules, const struct ck_yaml_node *node)
{
    const struct ck_yaml_node *list = ck_yaml_node_value(node, "first_unless");
    if (rules->has_first && rules->first == CK_TYPE_NONE)
        return REFUSE(compiler, ck_yaml_node_value(node, "first"), "'first' in %s cannot be 'none'", compiler->where);
    if (list && !rules->has_first)
        return REFUSE(compiler, list, "'first_unless' in %s needs 'first'", compiler->where);
    for (uint32_t i = 0; i < rules->first_unless.count; i++)
        if (!ck_rules_find(rules, rules->first_unless.items[i], strlen(rules->first_unless.items[i])))
            return REFUSE(compiler, ck_yaml_node_entry(list, i),
                          "'%s' in 'first_unless' in %s is not one of its options",
                          CK_QUOTE(rules->first_unless.items[i]), compiler->where);
    return 0;
}

/* Before a type that is no path a scheme would have no meaning; 'inside' takes any name with a colon. */
static int check_schemes(struct compiler *compiler, const struct ck_rules *rules, const struct ck_yaml_node *node)
{
    const struct ck_yaml_node *list = ck_yaml_node_value(node, "schemes");
    if (list && rules->operands != CK_TYPE_EXISTING)
        return REFUSE(compiler, list, "'schemes' in %s needs 'operands: existing'", compiler->where);
    for (uint32_t i = 0; i < rules->schemes.count; i++) {
        const char *scheme = rules->schemes.items[i];
        if (scheme[0] == '\0' || scheme[0] == '-' || scheme[strspn(scheme, SCHEME_CHARACTERS)] != '\0')
            return REFUSE(
                compiler, ck_yaml_node_entry(list, i),
                "'%s' in 'schemes' in %s is not a scheme: lower-case letters, digits and '-'; the colon is not "
                "part of it",
                CK_QUOTE(scheme), compiler->where);
    }
    return 0;
}

/* deny before the table: its entries are compared with it. */
static int compile_rules(struct compiler *compiler, struct ck_rules *rules, const struct ck_yaml_node *node)
{
    int r = check_deny(compiler, rules, node);
    if (r == 0)
        r = build_table(compiler, rules, node);
    if (r == 0)
        r = check_require(compiler, rules, node);
    if (r == 0)
        r = check_line_breaks(compiler, &rules->inject, ck_yaml_node_value(node, "inject"), "inject");
    if (r == 0)
        r = check_schemes(compiler, rules, node);
    return r < 0 ? r : check_first(compiler, rules, node);
}

/* ---- subcommands and sets ---------------------------------------------------------------- */

/* Words of letters, digits and "._:-", one blank between them. */
static bool is_subcommand(const char *name)
{
    const char *at = name;
    /* At most four words. Each begins with a letter or digit, so none looks like an option. */
    for (int parts = 0; parts < 4; parts++) {
        size_t length = strspn(at, ALNUM "._:-");
        if (length == 0 || !strchr(ALNUM, at[0]))
            return false;
        at += length;
        if (*at == '\0')
            return true;
        if (*at++ != ' ')
            return false;
    }
    return false;
}

static int check_subcommand_name(struct compiler *compiler, uint32_t index, const struct ck_yaml_node *node)
{
    const struct ck_subcommand *all = compiler->args->subcommands;
    const struct ck_yaml_node *name = ck_yaml_node_value(node, "name");
    if (!is_subcommand(all[index].name))
        return REFUSE(compiler, name,
                      "'%s' is not a valid subcommand name: up to four words of letters, digits and '._:-'",
                      CK_QUOTE(all[index].name));
    /* Quadratic, but the schema bounds the number of subcommands. */
    for (uint32_t i = 0; i < index; i++)
        if (strcmp(all[i].name, all[index].name) == 0)
            return REFUSE(compiler, name, "%s is listed twice; the first is on line %u", compiler->where, all[i].line);
    return 0;
}

/* where is changed for each one; nothing after this needs the tool's. */
static int compile_subcommands(struct compiler *compiler, const char *tool_label)
{
    const struct ck_yaml_node *list = ck_yaml_node_value(compiler->args_node, "subcommands");
    if (!list)
        return 0;
    const struct ck_yaml_node *node = list + 1;
    int r = 0;
    for (uint32_t i = 0; ck_yaml_tree_continues(compiler->tree, r) && i < compiler->args->subcommands_count;
         i++, node += node->span) {
        struct ck_subcommand *subcommand = &compiler->args->subcommands[i];
        (void)snprintf(compiler->where, sizeof(compiler->where), "subcommand '%s' in %s",
                       ck_quote((char[80]){0}, 80, subcommand->name, strlen(subcommand->name)), tool_label);
        int next = check_subcommand_name(compiler, i, node);
        r = ck_yaml_tree_both(r, next < 0 ? next : compile_rules(compiler, &subcommand->rules, node));
    }
    return r;
}

/* Is "@set" in the list? */
static bool uses(const struct ck_list *options, const char *set)
{
    for (uint32_t i = 0; i < options->count; i++)
        if (options->items[i][0] == '@' && strcmp(options->items[i] + 1, set) == 0)
            return true;
    return false;
}

static bool is_used(const struct ck_args *args, const char *set)
{
    bool used = uses(&args->rules.options, set);
    for (uint32_t i = 0; !used && i < args->subcommands_count; i++)
        used = uses(&args->subcommands[i].rules.options, set);
    return used;
}

/* The options of a set are parsed where it is used. So in an unused set no one has checked them. */
static int check_sets(struct compiler *compiler)
{
    const struct ck_args *args = compiler->args;
    const struct ck_yaml_node *list = ck_yaml_node_value(compiler->args_node, "sets");
    for (uint32_t i = 0; i < args->sets_count; i++) {
        const char *name = args->sets[i].name;
        const struct ck_yaml_node *node = ck_yaml_node_value(ck_yaml_node_entry(list, i), "name");
        if (strspn(name, ALNUM "_-") != strlen(name))
            return REFUSE(compiler, node, "'%s' is not a valid set name: letters, digits, '_' and '-'", CK_QUOTE(name));
        /* find_set returns the first of the name. */
        if (find_set(args, name) != &args->sets[i])
            return REFUSE(compiler, node, "set '%s' is defined twice", name);
        if (!is_used(args, name))
            return REFUSE(compiler, node, "set '%s' is not used; write '@%s' in a list of options, or remove it", name,
                          name);
    }
    return 0;
}

/* ---- whole tools ------------------------------------------------------------------------- */

/* Checks which keys of args exclude each other. */
static int check_shape(struct compiler *compiler)
{
    const struct ck_args *args = compiler->args;
    const struct ck_yaml_node *node = compiler->args_node;
    bool operands = ck_yaml_node_value(node, "operands") || args->rules.has_first;
    if (args->command && args->subcommands_count > 0)
        return REFUSE(compiler, ck_yaml_node_value(node, "command"),
                      "'command' and 'subcommands' exclude each other in %s", compiler->where);
    if (operands && (args->command || args->subcommands_count > 0))
        return REFUSE(compiler, node, "'operands' and 'first' have no meaning with '%s' in %s",
                      args->command ? "command" : "subcommands", compiler->where);
    return 0;
}

/* Vectors are listed and nothing else is: then a refusal names these vectors. */
static bool has_only_exact(const struct ck_args *args)
{
    return args->exact_count > 0 && args->rules.table_count == 0 && args->subcommands_count == 0 &&
           args->rules.operands == CK_TYPE_NONE && !args->rules.has_first && !args->command;
}

static int compile_tool(struct compiler *compiler, struct ck_tool *tool, const struct ck_yaml_node *node,
                        uint32_t index)
{
    char label[128];
    (void)ck_schema_tool_label(node, index, label, sizeof(label));
    compiler->args = tool->args;
    compiler->args_node = ck_yaml_node_value(node, "args");
    (void)snprintf(compiler->where, sizeof(compiler->where), "%s", label);
    struct ck_args *args = tool->args;
    int r = check_shape(compiler);
    if (ck_yaml_tree_continues(compiler->tree, r))
        r = ck_yaml_tree_both(r, check_sets(compiler));
    if (ck_yaml_tree_continues(compiler->tree, r))
        r = ck_yaml_tree_both(r, compile_rules(compiler, &args->rules, compiler->args_node));
    if (ck_yaml_tree_continues(compiler->tree, r))
        r = ck_yaml_tree_both(r, compile_subcommands(compiler, label));
    /* Before a subcommand or a command, the first operand ends the options of the tool itself. */
    args->rules.options_first = args->rules.options_first || args->command || args->subcommands_count > 0;
    args->only_exact = has_only_exact(args);
    return r;
}

/* ---- options that are added to a compiled entry ------------------------------------------- */

/*
 * One option of a grant. A set is refused: what it contains can change with the next release, and
 * the grant would follow unseen.
 */
static int grant_option(struct compiler *compiler, struct ck_rules *rules, const char *text,
                        const struct ck_yaml_node *node)
{
    if (text[0] == '@')
        return REFUSE(compiler, node, "'%s' in %s is a set; a grant lists the options themselves", CK_QUOTE(text),
                      compiler->where);
    uint32_t before = rules->table_count;
    int r = add_option(compiler, rules, text, node);
    for (uint32_t i = 0; r == 0 && i < before; i++)
        if (compare_options(&rules->table[i], &rules->table[before]) == 0)
            r = REFUSE(compiler, node, "option '%s' is already listed in %s", CK_QUOTE(rules->table[before].name),
                       compiler->where);
    return r;
}

/* The list as it was written, with the new options at its end. */
static int lengthen_options(struct compiler *compiler, struct ck_rules *rules, const struct ck_rules_grant *grant)
{
    const struct ck_list *more = grant->options;
    if (rules->options.count + more->count > CK_POLICY_MAX_OPTIONS || rules->table_count + more->count > TABLE_MAX)
        return REFUSE(compiler, grant->node, "with this grant there are more than %d options in %s",
                      CK_POLICY_MAX_OPTIONS, compiler->where);
    struct ck_list all = {.count = rules->options.count + more->count};
    struct ck_arg_option *table =
        ck_arena_array(&compiler->policy->arena, (size_t)rules->table_count + more->count, sizeof(*table));
    all.items = ck_arena_array(&compiler->policy->arena, (size_t)all.count + 1, sizeof(*all.items));
    if (!table || !all.items)
        return ck_error_oom(compiler->error);
    for (uint32_t i = 0; i < all.count; i++)
        all.items[i] = i < rules->options.count ? rules->options.items[i] : more->items[i - rules->options.count];
    for (uint32_t i = 0; i < rules->table_count; i++)
        table[i] = rules->table[i];
    rules->options = all;
    rules->table = table;
    return 0;
}

int ck_rules_add(struct ck_policy *policy, const struct ck_yaml_tree *tree, const struct ck_rules_grant *grant,
                 struct choke_error *error)
{
    struct compiler compiler = {.policy = policy, .tree = tree, .error = error, .args = grant->args};
    struct ck_rules *rules = grant->rules;
    (void)snprintf(compiler.where, sizeof(compiler.where), "%s", grant->where);
    int r = lengthen_options(&compiler, rules, grant);
    for (uint32_t i = 0; r == 0 && i < grant->options->count; i++)
        r = grant_option(&compiler, rules, grant->options->items[i], ck_yaml_node_entry(grant->node, i));
    if (r < 0)
        return r;
    qsort(rules->table, rules->table_count, sizeof(*rules->table), compare_options);
    grant->args->only_exact = has_only_exact(grant->args);
    return 0;
}

int ck_rules_compile(struct ck_policy *policy, const struct ck_yaml_tree *tree, struct choke_error *error)
{
    struct compiler compiler = {.policy = policy, .tree = tree, .error = error};
    const struct ck_yaml_node *list = ck_yaml_node_value(&tree->nodes[0], "tools");
    const struct ck_yaml_node *node = list ? list + 1 : NULL;
    int r = 0;
    for (uint32_t i = 0; ck_yaml_tree_continues(tree, r) && node && i < policy->tools_count; i++, node += node->span)
        if (policy->tools[i].args)
            r = ck_yaml_tree_both(r, compile_tool(&compiler, &policy->tools[i], node, i));
    return r;
}
