/*
 * suggest.h - "(did you mean 'X'?)" for a refusal: the nearest name that the policy allows.
 *
 * Only names that would pass are offered, and only if they are near (base/nearest.h): a refusal
 * must not lead from a harmful option to one that looks similar by accident. The result is escaped,
 * begins with a space, and is empty if nothing is near.
 */
#ifndef CK_POLICY_SUGGEST_H
#define CK_POLICY_SUGGEST_H

#include "policy/model.h"

#define CK_SUGGEST_MAX 128

/* Each buffer lives to the end of the enclosing block. */
#define CK_SUGGEST_TOOL(policy, name) ck_suggest_tool((char[CK_SUGGEST_MAX]){0}, (policy), (name))
#define CK_SUGGEST_OPTION(rules, argument) ck_suggest_option((char[CK_SUGGEST_MAX]){0}, (rules), (argument))
#define CK_SUGGEST_SUBCOMMAND(args, argv) ck_suggest_subcommand((char[CK_SUGGEST_MAX]){0}, (args), (argv))

/* A tool that callers may run. */
const char *ck_suggest_tool(char buffer[CK_SUGGEST_MAX], const struct ck_policy *policy, const char *name);

/* argument as the caller gave it: a value after '=' does not count. */
const char *ck_suggest_option(char buffer[CK_SUGGEST_MAX], const struct ck_rules *rules, const char *argument);

/* argv from the argument that should be a subcommand; a subcommand may have several words. */
const char *ck_suggest_subcommand(char buffer[CK_SUGGEST_MAX], const struct ck_args *args, const char *const *argv);

#endif
