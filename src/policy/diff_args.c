/*
 * diff_args.c - the arguments of a tool in two policies. See diff.h.
 *
 * Most rules of a grammar do not stand alone. Those that change how others are read (order, bundles, command, and a
 * subcommand whose name begins with another's) cannot be said to narrow, so they widen, whichever way they change.
 * Injected arguments are not judged by the list of options, so a new one may do as much as a lost one.
 */
#include "policy/changes.h"
#include "policy/rules.h"

#include <string.h>

static void diff_options(struct ck_changes *changes, const struct ck_rules *before, const struct ck_rules *after)
{
    for (uint32_t i = 0; i < before->table_count; i++) {
        const struct ck_arg_option *was = &before->table[i];
        const struct ck_arg_option *is = ck_rules_find(after, was->name, was->name_length);
        if (is == NULL)
            ck_change_add(changes, CHOKE_CHANGE_NARROWS, "options", was->text, NULL);
        else
            ck_change_width(changes, ck_width_of_options(was, is), "options", was->text, is->text);
    }
    for (uint32_t i = 0; i < after->table_count; i++)
        if (ck_rules_find(before, after->table[i].name, after->table[i].name_length) == NULL)
            ck_change_add(changes, CHOKE_CHANGE_WIDENS, "options", NULL, after->table[i].text);
}

/* What the first operand may be, where none of first_unless is given. */
static enum ck_type first_of(const struct ck_rules *rules)
{
    return rules->has_first ? rules->first : rules->operands;
}

/*
 * One more option in first_unless lets the first operand be what the others are, instead of what first says. Both
 * policies are asked, so that a change of the types at the same time cannot hide it.
 */
static void diff_first_unless(struct ck_changes *changes, const struct ck_rules *before, const struct ck_rules *after)
{
    enum ck_width was = ck_width_of_types(first_of(before), before->operands);
    enum ck_width is = ck_width_of_types(first_of(after), after->operands);
    bool narrower = was == CK_WIDTH_NARROWER && is == CK_WIDTH_NARROWER;
    bool wider = was == CK_WIDTH_WIDER && is == CK_WIDTH_WIDER;
    ck_change_lists(changes, "first_unless", &before->first_unless, &after->first_unless,
                    narrower ? CHOKE_CHANGE_NARROWS : CHOKE_CHANGE_WIDENS,
                    wider ? CHOKE_CHANGE_NARROWS : CHOKE_CHANGE_WIDENS);
}

static void diff_operands(struct ck_changes *changes, const struct ck_rules *before, const struct ck_rules *after)
{
    ck_change_width(changes, ck_width_of_types(before->operands, after->operands), "operands",
                    ck_type_name(before->operands), ck_type_name(after->operands));
    if (before->has_first || after->has_first)
        ck_change_width(changes, ck_width_of_types(first_of(before), first_of(after)), "first",
                        before->has_first ? ck_type_name(before->first) : NULL,
                        after->has_first ? ck_type_name(after->first) : NULL);
    diff_first_unless(changes, before, after);
}

static const char *order_name(const struct ck_rules *rules)
{
    return rules->options_first ? "options_first" : "mixed";
}

static void diff_rules(struct ck_changes *changes, const struct ck_rules *before, const struct ck_rules *after)
{
    diff_options(changes, before, after);
    ck_change_words(changes, "inject", &before->inject, &after->inject, CHOKE_CHANGE_WIDENS);
    ck_change_lists(changes, "require", &before->require, &after->require, CHOKE_CHANGE_NARROWS, CHOKE_CHANGE_WIDENS);
    ck_change_lists(changes, "deny", &before->deny, &after->deny, CHOKE_CHANGE_NARROWS, CHOKE_CHANGE_WIDENS);
    diff_operands(changes, before, after);
    ck_change_text(changes, "order", order_name(before), order_name(after), CHOKE_CHANGE_WIDENS);
}

/* ---- subcommands ------------------------------------------------------------------------- */

static const struct ck_subcommand *find_subcommand(const struct ck_args *args, const char *name)
{
    for (uint32_t i = 0; i < args->subcommands_count; i++)
        if (strcmp(args->subcommands[i].name, name) == 0)
            return &args->subcommands[i];
    return NULL;
}

/* Is there a subcommand that takes over when this one is gone: "image" for "image inspect"? */
static bool has_stem(const struct ck_args *args, const char *name)
{
    for (uint32_t i = 0; i < args->subcommands_count; i++) {
        size_t length = strlen(args->subcommands[i].name);
        if (strncmp(args->subcommands[i].name, name, length) == 0 && name[length] == ' ')
            return true;
    }
    return false;
}

/* They stand in the place of the tool's own, which may be more or less: to come or to go widens. */
static void diff_subcommand_execs(struct ck_changes *changes, const struct ck_subcommand *before,
                                  const struct ck_subcommand *after)
{
    static const char *const words[] = {"as the tool's", "a list of its own"};
    if (before->has_execs && after->has_execs)
        ck_change_lists(changes, "execs", &before->execs, &after->execs, CHOKE_CHANGE_WIDENS, CHOKE_CHANGE_NARROWS);
    else
        ck_change_text(changes, "execs", words[before->has_execs], words[after->has_execs], CHOKE_CHANGE_WIDENS);
}

static void diff_subcommand(struct ck_changes *changes, const struct ck_subcommand *before,
                            const struct ck_subcommand *after)
{
    const char *outer = changes->prefix;
    const char *prefix = ck_arena_printf(changes->arena, "%ssubcommands.%s.", outer, before->name);
    if (prefix == NULL) {
        changes->failed = true;
        return;
    }
    changes->prefix = prefix;
    diff_rules(changes, &before->rules, &after->rules);
    diff_subcommand_execs(changes, before, after);
    changes->prefix = outer;
}

static void diff_subcommands(struct ck_changes *changes, const struct ck_args *before, const struct ck_args *after)
{
    for (uint32_t i = 0; i < before->subcommands_count; i++) {
        const struct ck_subcommand *was = &before->subcommands[i];
        const struct ck_subcommand *is = find_subcommand(after, was->name);
        if (is != NULL)
            diff_subcommand(changes, was, is);
        else
            ck_change_add(changes, has_stem(after, was->name) ? CHOKE_CHANGE_WIDENS : CHOKE_CHANGE_NARROWS,
                          "subcommands", was->name, NULL);
    }
    for (uint32_t i = 0; i < after->subcommands_count; i++)
        if (find_subcommand(before, after->subcommands[i].name) == NULL)
            ck_change_add(changes, CHOKE_CHANGE_WIDENS, "subcommands", NULL, after->subcommands[i].name);
    if (before->subcommands_count > 0 && after->subcommands_count == 0)
        ck_change_add(changes, CHOKE_CHANGE_WIDENS, "subcommands", "one must be given", "none is needed");
    if (before->subcommands_count == 0 && after->subcommands_count > 0)
        ck_change_add(changes, CHOKE_CHANGE_NARROWS, "subcommands", "none is needed", "one must be given");
}

/* ---- the rest ---------------------------------------------------------------------------- */

static bool has_vector(const struct ck_args *args, const struct ck_list *vector)
{
    for (uint32_t i = 0; i < args->exact_count; i++)
        if (ck_list_same(&args->exact[i], vector))
            return true;
    return false;
}

static const char *vector_text(struct ck_changes *changes, const struct ck_list *vector)
{
    return vector->count > 0 ? ck_change_join(changes, vector) : "(no argument)";
}

static void diff_exact(struct ck_changes *changes, const struct ck_args *before, const struct ck_args *after)
{
    for (uint32_t i = 0; i < before->exact_count; i++)
        if (!has_vector(after, &before->exact[i]))
            ck_change_add(changes, CHOKE_CHANGE_NARROWS, "exact", vector_text(changes, &before->exact[i]), NULL);
    for (uint32_t i = 0; i < after->exact_count; i++)
        if (!has_vector(before, &after->exact[i]))
            ck_change_add(changes, CHOKE_CHANGE_WIDENS, "exact", NULL, vector_text(changes, &after->exact[i]));
    static const char *const only[] = {"other arguments by the rules", "nothing else"};
    ck_change_text(changes, "exact", only[before->only_exact], only[after->only_exact],
                   after->only_exact ? CHOKE_CHANGE_NARROWS : CHOKE_CHANGE_WIDENS);
}

static const struct ck_option_set *find_set(const struct ck_args *args, const char *name)
{
    for (uint32_t i = 0; i < args->sets_count; i++)
        if (strcmp(args->sets[i].name, name) == 0)
            return &args->sets[i];
    return NULL;
}

/* A set allows nothing by itself: what it means has been compared where it is used. */
static void diff_sets(struct ck_changes *changes, const struct ck_args *before, const struct ck_args *after)
{
    static const struct ck_list none;
    for (uint32_t i = 0; i < before->sets_count; i++) {
        const struct ck_option_set *is = find_set(after, before->sets[i].name);
        ck_change_text(changes, "sets", before->sets[i].name, is != NULL ? is->name : NULL, CHOKE_CHANGE_NEUTRAL);
        ck_change_lists(changes, "sets", &before->sets[i].options, is != NULL ? &is->options : &none,
                        CHOKE_CHANGE_NEUTRAL, CHOKE_CHANGE_NEUTRAL);
    }
    for (uint32_t i = 0; i < after->sets_count; i++)
        if (find_set(before, after->sets[i].name) == NULL) {
            ck_change_add(changes, CHOKE_CHANGE_NEUTRAL, "sets", NULL, after->sets[i].name);
            ck_change_lists(changes, "sets", &none, &after->sets[i].options, CHOKE_CHANGE_NEUTRAL,
                            CHOKE_CHANGE_NEUTRAL);
        }
}

/* With subcommands or a command the order is what they need, and no choice of the policy's. */
static bool has_own_order(const struct ck_args *args)
{
    return args->subcommands_count == 0 && !args->command;
}

static void diff_present(struct ck_changes *changes, const struct ck_args *before, const struct ck_args *after)
{
    static const char *const bundles[] = {"true", "false"};
    struct ck_rules was = before->rules;
    struct ck_rules is = after->rules;
    if (!has_own_order(before) || !has_own_order(after))
        was.options_first = is.options_first;
    diff_rules(changes, &was, &is);
    ck_change_text(changes, "bundles", bundles[before->no_bundles], bundles[after->no_bundles], CHOKE_CHANGE_WIDENS);
    ck_change_text(changes, "command", before->command ? "after_options" : NULL,
                   after->command ? "after_options" : NULL, CHOKE_CHANGE_WIDENS);
    diff_exact(changes, before, after);
    diff_subcommands(changes, before, after);
    diff_sets(changes, before, after);
}

void ck_diff_args(struct ck_changes *changes, const struct ck_args *before, const struct ck_args *after)
{
    static const char *const words[] = {"anything goes", "a closed list"};
    if (before != NULL && after != NULL) {
        changes->prefix = "args.";
        diff_present(changes, before, after);
        changes->prefix = "";
        return;
    }
    ck_change_text(changes, "args", words[before != NULL], words[after != NULL],
                   after != NULL ? CHOKE_CHANGE_NARROWS : CHOKE_CHANGE_WIDENS);
}
