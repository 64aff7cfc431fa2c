/*
 * diff_args.c - compares the arguments of a tool in two policies. See diff.h.
 *
 * Most rules of a grammar depend on others. A rule that changes how others are read (order,
 * bundles, command, and a subcommand with a name that begins with another's) cannot be proven to
 * narrow. So it widens, whichever way it changes. Injected arguments are not checked against the
 * list of options, so adding one may do as much as removing one.
 */
#include "policy/args.h"
#include "policy/change_list.h"
#include "policy/rules.h"

#include <string.h>

/*
 * "-1" was a number. Without numbers it is an option, which may satisfy `require` or
 * `first_unless`.
 */
static const char *why_number_widens(const struct ck_arg_option *gone, const struct ck_rules *after)
{
    for (uint32_t i = 0; gone->form == CK_FORM_NUMBER && i < after->table_count; i++)
        if (strchr("0123456789", after->table[i].name[1]))
            return "an argument such as '-1' is read as another option";
    return NULL;
}

/*
 * Both tables are sorted and complete, with sets expanded; so what is compared is what is allowed.
 */
static void diff_options(struct ck_policy_changes *changes, const struct ck_rules *before, const struct ck_rules *after)
{
    for (uint32_t i = 0; i < before->table_count; i++) {
        const struct ck_arg_option *was = &before->table[i];
        const struct ck_arg_option *is = ck_rules_find(after, was->name, was->name_length);
        if (!is)
            ck_change_proof(changes, "options", was->text, NULL, why_number_widens(was, after));
        else
            ck_change_width(changes, ck_width_of_options(was, is), "options", was->text, is->text);
    }
    for (uint32_t i = 0; i < after->table_count; i++)
        if (!ck_rules_find(before, after->table[i].name, after->table[i].name_length))
            ck_change_add(changes, CHOKE_CHANGE_WIDENS, "options", NULL, after->table[i].text);
}

/* The type of the first operand if no option of first_unless is given. */
static enum ck_type first_of(const struct ck_rules *rules)
{
    return rules->has_first ? rules->first : rules->operands;
}

/*
 * One more option in first_unless lets the first operand have the type of the others instead of
 * first's. The types of both policies are compared, so that a change of types at the same time
 * cannot hide it.
 */
static void diff_first_unless(struct ck_policy_changes *changes, const struct ck_rules *before,
                              const struct ck_rules *after)
{
    enum ck_width was = ck_width_of_types(first_of(before), before->operands);
    enum ck_width is = ck_width_of_types(first_of(after), after->operands);
    bool narrower = was == CK_WIDTH_NARROWER && is == CK_WIDTH_NARROWER;
    bool wider = was == CK_WIDTH_WIDER && is == CK_WIDTH_WIDER;
    ck_change_lists(changes, "first_unless", &before->first_unless, &after->first_unless,
                    narrower ? CHOKE_CHANGE_NARROWS : CHOKE_CHANGE_WIDENS,
                    wider ? CHOKE_CHANGE_NARROWS : CHOKE_CHANGE_WIDENS);
}

static void diff_operands(struct ck_policy_changes *changes, const struct ck_rules *before,
                          const struct ck_rules *after)
{
    ck_change_width(changes, ck_width_of_types(before->operands, after->operands), "operands",
                    ck_notation_type_name(before->operands), ck_notation_type_name(after->operands));
    if (before->has_first || after->has_first)
        ck_change_width(changes, ck_width_of_types(first_of(before), first_of(after)), "first",
                        before->has_first ? ck_notation_type_name(before->first) : NULL,
                        after->has_first ? ck_notation_type_name(after->first) : NULL);
    diff_first_unless(changes, before, after);
    ck_change_lists(changes, "schemes", &before->schemes, &after->schemes, CHOKE_CHANGE_WIDENS, CHOKE_CHANGE_NARROWS);
}

/* As the policy writes it. */
static const char *order_name(const struct ck_rules *rules)
{
    return rules->options_first ? "options_first" : "mixed";
}

/*
 * The rules of a tool or of one subcommand. inject and order can change what any argument does, so
 * they widen both ways.
 */
static void diff_rules(struct ck_policy_changes *changes, const struct ck_rules *before, const struct ck_rules *after)
{
    diff_options(changes, before, after);
    ck_change_whole_list(changes, "inject", &before->inject, &after->inject, CHOKE_CHANGE_WIDENS);
    ck_change_lists(changes, "require", &before->require, &after->require, CHOKE_CHANGE_NARROWS, CHOKE_CHANGE_WIDENS);
    ck_change_lists(changes, "deny", &before->deny, &after->deny, CHOKE_CHANGE_NARROWS, CHOKE_CHANGE_WIDENS);
    diff_operands(changes, before, after);
    ck_change_text(changes, "order", order_name(before), order_name(after), CHOKE_CHANGE_WIDENS);
}

/* ---- subcommands ------------------------------------------------------------------------- */

/* By the exact name; NULL: not found. */
static const struct ck_subcommand *find_subcommand(const struct ck_args *args, const char *name)
{
    for (uint32_t i = 0; i < args->subcommands_count; i++)
        if (strcmp(args->subcommands[i].name, name) == 0)
            return &args->subcommands[i];
    return NULL;
}

/* Is there a subcommand that matches when this one is removed: "image" for "image inspect"? */
static bool has_stem(const struct ck_args *args, const char *name)
{
    for (uint32_t i = 0; i < args->subcommands_count; i++) {
        size_t length = strlen(args->subcommands[i].name);
        if (strncmp(args->subcommands[i].name, name, length) == 0 && name[length] == ' ')
            return true;
    }
    return false;
}

static void diff_subcommand(const struct ck_diff_pair *pair, const struct ck_subcommand *before,
                            const struct ck_subcommand *after)
{
    struct ck_policy_changes *changes = pair->changes;
    /* Changes inside are named "args.subcommands.NAME.KEY"; the prefix is put back at the end. */
    const char *outer = changes->prefix;
    const char *prefix = ck_arena_printf(changes->arena, "%ssubcommands.%s.", outer, before->name);
    if (!prefix) {
        changes->failed = true;
        return;
    }
    changes->prefix = prefix;
    diff_rules(changes, &before->rules, &after->rules);
    ck_diff_subcommand_keys(pair, before, after);
    changes->prefix = outer;
}

/* Removing one narrows, unless a shorter name now matches the same call. Adding one widens. */
static void diff_subcommands(const struct ck_diff_pair *pair)
{
    struct ck_policy_changes *changes = pair->changes;
    const struct ck_args *before = pair->before->args;
    const struct ck_args *after = pair->after->args;
    for (uint32_t i = 0; i < before->subcommands_count; i++) {
        const struct ck_subcommand *was = &before->subcommands[i];
        const struct ck_subcommand *is = find_subcommand(after, was->name);
        if (is)
            diff_subcommand(pair, was, is);
        else
            ck_change_proof(changes, "subcommands", was->name, NULL,
                            has_stem(after, was->name) ? "the rules of a shorter name apply to it" : NULL);
    }
    for (uint32_t i = 0; i < after->subcommands_count; i++)
        if (!find_subcommand(before, after->subcommands[i].name))
            ck_change_add(changes, CHOKE_CHANGE_WIDENS, "subcommands", NULL, after->subcommands[i].name);
    /* Without any, the arguments are read by the rules of the tool alone. */
    if (before->subcommands_count > 0 && after->subcommands_count == 0)
        ck_change_add(changes, CHOKE_CHANGE_WIDENS, "subcommands", "one must be given", "none is needed");
    if (before->subcommands_count == 0 && after->subcommands_count > 0)
        ck_change_add(changes, CHOKE_CHANGE_NARROWS, "subcommands", "none is needed", "one must be given");
}

/* ---- the rest ---------------------------------------------------------------------------- */

/* Is the vector in the list, in the same order? */
static bool has_vector(const struct ck_args *args, const struct ck_list *vector)
{
    for (uint32_t i = 0; i < args->exact_count; i++)
        if (ck_policy_list_same(&args->exact[i], vector))
            return true;
    return false;
}

/* An empty vector is a call without arguments, which must be visible in the report. */
static const char *vector_text(struct ck_policy_changes *changes, const struct ck_list *vector)
{
    return vector->count > 0 ? ck_change_join(changes, vector) : "(no argument)";
}

/* The vector as a caller would give it. NULL: no memory. */
static const char **make_argv(struct ck_policy_changes *changes, const char *name, const struct ck_list *vector)
{
    const char **argv = ck_arena_array(changes->arena, (size_t)vector->count + 2, sizeof(*argv));
    if (!argv)
        return NULL;
    argv[0] = name;
    for (uint32_t i = 0; i < vector->count; i++)
        argv[i + 1] = vector->items[i];
    return argv;
}

/* Both must end at the same place: a[i] and b[i] are then NULL. */
static bool is_same(const char *const *a, const char *const *b)
{
    size_t i = 0;
    while (a[i] && b[i] && strcmp(a[i], b[i]) == 0)
        i++;
    return a[i] == b[i];
}

/*
 * A vector that the rules allow is run with what they inject; a command in it is checked for the
 * other platform too.
 */
const char *ck_diff_vector(const struct ck_diff_pair *pair, const struct ck_list *vector)
{
    struct ck_policy_changes *changes = pair->changes;
    struct ck_parsed_args parsed;
    /* Any argument is allowed, and passed on as it is. */
    if (!pair->after->args)
        return NULL;
    if (pair->after->args->command)
        return "it can be read as a command of another tool";
    const char **argv = make_argv(changes, pair->after->name, vector);
    if (!argv || ck_args_parse(pair->new_policy, pair->after, argv, changes->arena, &parsed) < 0) {
        changes->failed = true;
        return NULL;
    }
    /* It is not allowed any more, so the change narrows. */
    if (parsed.refused)
        return NULL;
    if (!is_same(argv, parsed.argv))
        return "the rules still allow it, and inject other arguments";
    return parsed.subcommand && ck_diff_subcommand_widens(pair, parsed.subcommand)
               ? "it is read as a subcommand, which is granted more"
               : NULL;
}

/* A vector that is removed narrows only if the rules do not allow it in another way. */
static void diff_exact(const struct ck_diff_pair *pair)
{
    struct ck_policy_changes *changes = pair->changes;
    const struct ck_args *before = pair->before->args;
    const struct ck_args *after = pair->after->args;
    for (uint32_t i = 0; i < before->exact_count; i++)
        if (!has_vector(after, &before->exact[i]))
            ck_change_proof(changes, "exact", vector_text(changes, &before->exact[i]), NULL,
                            ck_diff_vector(pair, &before->exact[i]));
    for (uint32_t i = 0; i < after->exact_count; i++)
        if (!has_vector(before, &after->exact[i]))
            ck_change_add(changes, CHOKE_CHANGE_WIDENS, "exact", NULL, vector_text(changes, &after->exact[i]));
    static const char *const only[] = {"other arguments by the rules", "nothing else"};
    ck_change_text(changes, "exact", only[before->only_exact], only[after->only_exact],
                   after->only_exact ? CHOKE_CHANGE_NARROWS : CHOKE_CHANGE_WIDENS);
}

/* By its name; NULL: not found. */
static const struct ck_option_set *find_set(const struct ck_args *args, const char *name)
{
    for (uint32_t i = 0; i < args->sets_count; i++)
        if (strcmp(args->sets[i].name, name) == 0)
            return &args->sets[i];
    return NULL;
}

/* A set allows nothing by itself: its options have been compared where it is used. */
static void diff_sets(struct ck_policy_changes *changes, const struct ck_args *before, const struct ck_args *after)
{
    static const struct ck_list none;
    for (uint32_t i = 0; i < before->sets_count; i++) {
        const struct ck_option_set *is = find_set(after, before->sets[i].name);
        ck_change_text(changes, "sets", before->sets[i].name, is ? is->name : NULL, CHOKE_CHANGE_NEUTRAL);
        ck_change_lists(changes, "sets", &before->sets[i].options, is ? &is->options : &none, CHOKE_CHANGE_NEUTRAL,
                        CHOKE_CHANGE_NEUTRAL);
    }
    for (uint32_t i = 0; i < after->sets_count; i++)
        if (!find_set(before, after->sets[i].name)) {
            ck_change_add(changes, CHOKE_CHANGE_NEUTRAL, "sets", NULL, after->sets[i].name);
            ck_change_lists(changes, "sets", &none, &after->sets[i].options, CHOKE_CHANGE_NEUTRAL,
                            CHOKE_CHANGE_NEUTRAL);
        }
}

/* With subcommands or a command the order is fixed, not a choice of the policy. */
static bool has_own_order(const struct ck_args *args)
{
    return args->subcommands_count == 0 && !args->command;
}

/* Both policies have args. */
static void diff_present(const struct ck_diff_pair *pair)
{
    static const char *const bundles[] = {"true", "false"};
    struct ck_policy_changes *changes = pair->changes;
    const struct ck_args *before = pair->before->args;
    const struct ck_args *after = pair->after->args;
    struct ck_rules was = before->rules;
    struct ck_rules is = after->rules;
    /* In copies, so that diff_rules does not report an order that no one wrote. */
    if (!has_own_order(before) || !has_own_order(after))
        was.options_first = is.options_first;
    diff_rules(changes, &was, &is);
    ck_change_text(changes, "bundles", bundles[before->no_bundles], bundles[after->no_bundles], CHOKE_CHANGE_WIDENS);
    ck_change_text(changes, "command", before->command ? "after_options" : NULL,
                   after->command ? "after_options" : NULL, CHOKE_CHANGE_WIDENS);
    diff_exact(pair);
    diff_subcommands(pair);
    diff_sets(changes, before, after);
}

/*
 * Without args every vector is allowed as it is. A closed list is less, unless it does more than
 * close: it injects arguments, grants a subcommand more, or runs other tools, which in a jail may
 * then be traced.
 */
static const char *why_list_widens(const struct ck_diff_pair *pair)
{
    const struct ck_args *args = pair->after->args;
    bool injects = args->rules.inject.count > 0;
    bool widens = false;
    if (args->command)
        return "it runs other tools of the policy, and in a jail it may trace them";
    for (uint32_t i = 0; i < args->subcommands_count; i++) {
        injects = injects || args->subcommands[i].rules.inject.count > 0;
        widens = widens || ck_diff_subcommand_widens(pair, &args->subcommands[i]);
    }
    return injects ? "other arguments are injected" : widens ? "a subcommand is granted more" : NULL;
}

/* args that appears or disappears is one change. Otherwise key by key. */
void ck_diff_args(const struct ck_diff_pair *pair)
{
    static const char *const labels[] = {"any arguments", "a closed list"};
    struct ck_policy_changes *changes = pair->changes;
    bool was = !!pair->before->args;
    bool is = !!pair->after->args;
    if (was && is) {
        changes->prefix = "args.";
        diff_present(pair);
        changes->prefix = "";
        return;
    }
    if (was != is)
        ck_change_proof(changes, "args", labels[was], labels[is],
                        is ? why_list_widens(pair) : "any arguments are allowed");
}
