/*
 * args.h - arguments are a closed list (R4): parses them as the tool would, and refuses what the
 * entry does not list.
 *
 * Pure. If this code and the tool parse an argument differently, that is a hole. So where tools
 * differ, parsing is strict:
 *   - a name is compared exactly; no abbreviation, no "--no-" that is not listed;
 *   - a separate value that begins with '-' is refused: some tools would read an option ("--x=-v"
 *     is unambiguous);
 *   - "-x=v" must be allowed with and without the '=': getopt keeps it, others remove it;
 *   - an argument that begins with '-' is an option, until "--" or (order: options_first) the first
 *     operand;
 *   - "-" alone is an operand.
 * Paths are not resolved here. They are listed for the plan, which has the root open
 * (ck_paths_check).
 */
#ifndef CK_POLICY_ARGS_H
#define CK_POLICY_ARGS_H

#include "chokepoint.h"
#include "policy/model.h"

#define CK_RULE_MAX 160
#define CK_COMMAND_DEPTH_MAX 4 /* commands in commands: strace git */

/* A part of an argument that must stay beneath the root. */
struct ck_path_use {
    const char *path;
    size_t length;
    size_t argument; /* its position in the caller's argv, from 1 */
    enum ck_type type;
    const struct ck_tool *tool;
    const struct ck_subcommand *subcommand; /* or NULL */
    bool operand;                           /* false: an option's value */
};

/* A tool that a command runs for the caller, such as git in "strace git log". */
struct ck_nested {
    const struct ck_tool *tool;             /* in a verdict with the keys of the subcommand in place */
    const struct ck_subcommand *subcommand; /* or NULL */
    size_t position;                        /* of its name in argv */
};

struct ck_parsed_args {
    const char **argv; /* with the arguments that the entry injects, NULL-terminated */
    size_t argc;
    const struct ck_subcommand *subcommand; /* in the tool's arguments, or NULL */
    struct ck_path_use *paths;
    size_t paths_count;
    struct ck_nested nested[CK_COMMAND_DEPTH_MAX];
    size_t nested_count;
    /* of a refusal: */
    bool refused;
    const struct ck_tool *tool; /* the tool with the rule */
    unsigned line;              /* of the tool's or subcommand's entry in the policy */
    char rule[CK_RULE_MAX];     /* "tools.git.args.subcommands.log.options" */
    char message[CHOKE_MESSAGE_MAX];
};

/* The name of a rule, such as "tools.git.args.subcommands.log.operands"; subcommand may be NULL. */
void ck_args_rule(char rule[CK_RULE_MAX], const struct ck_tool *tool, const struct ck_subcommand *subcommand,
                  const char *key);

/* The line of the entry that the rule is in. */
unsigned ck_args_line(const struct ck_tool *tool, const struct ck_subcommand *subcommand);

/* argv[0] is the tool's name. 0, also for a refusal; -ENOMEM. All memory is in the arena. */
int ck_args_parse(const struct ck_policy *policy, const struct ck_tool *tool, const char *const *argv,
                  struct ck_arena *arena, struct ck_parsed_args *ret_parsed);

#endif
