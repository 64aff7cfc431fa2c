/*
 * rules.h - compiles the argument rules of a policy from their notation into tables that args.c
 * reads.
 *
 * Refused here, each with line and column: an option that cannot be parsed, is listed twice or is
 * denied; a set that does not exist; a required option that is not listed, or with a value that
 * another allowed value could undo; an order or a first operand that makes no sense.
 */
#ifndef CK_POLICY_RULES_H
#define CK_POLICY_RULES_H

#include "policy/model.h"
#include "policy/yaml_tree.h"

/*
 * One option of the notation: "--x", "-x", "--x=", "--x=<type>", "--x=word|other|prefix<type>",
 * "--x[=...]", "--x <type> <type>", "-<number>". 0; -EINVAL with *ret_why, which says what is
 * wrong; -ENOMEM.
 */
int ck_notation_parse(struct ck_arena *arena, const char *text, struct ck_arg_option *ret_option, const char **ret_why);

/* "any", "inside", ...; NULL for a number that is not a type. */
const char *ck_notation_type_name(enum ck_type type);

/* Compiles the rules of every tool into the policy's arena. 0, or a negative errno and *error. */
int ck_rules_compile(struct ck_policy *policy, const struct ck_yaml_tree *tree, struct choke_error *error);

/* Options that a policy with `extends` grants to an entry of the default policy. */
struct ck_rules_grant {
    struct ck_args *args;            /* of the tool, a copy in the policy's arena */
    struct ck_rules *rules;          /* of args, or of one of its subcommands */
    const struct ck_list *options;   /* not empty */
    const struct ck_yaml_node *node; /* the same list in the tree */
    const char *where;               /* for messages: "subcommand 'ci' in tool 'npm'" */
};

/*
 * Adds them to rules that are compiled. Refused: what could not stand in one list with the options
 * that are there, and a set. 0, or a negative errno and *error.
 */
int ck_rules_add(struct ck_policy *policy, const struct ck_yaml_tree *tree, const struct ck_rules_grant *grant,
                 struct choke_error *error);

/* The option with this name in a compiled table, or NULL. */
const struct ck_arg_option *ck_rules_find(const struct ck_rules *rules, const char *name, size_t length);

#endif
