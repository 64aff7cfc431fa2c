/*
 * cli.h - what the commands share: the table of commands and the exit statuses.
 *
 * The command is a user of the library: it includes chokepoint.h, src/base, src/front and the front
 * ends that it starts (gather, mcp, report), nothing else of the project.
 */
#ifndef CK_CLI_CLI_H
#define CK_CLI_CLI_H

#include "cli/options.h"

#include <stdio.h>

/* Any other status is the tool's own. These are chokepoint's. */
enum ck_exit {
    CK_EXIT_TIMEOUT = 124,
    CK_EXIT_REFUSED = 125, /* refused, or chokepoint's own failure */
    CK_EXIT_NOT_EXECUTABLE = 126,
    CK_EXIT_NOT_INSTALLED = 127,
    CK_EXIT_SIGNAL = 128 /* plus the number of the signal */
};

/* What the shell completes as the first operand; files are also offered for all later operands. */
enum ck_operand { CK_OPERAND_NONE = 0, CK_OPERAND_TOOL, CK_OPERAND_COMMAND, CK_OPERAND_SHELL, CK_OPERAND_FILE };

struct ck_command {
    const char *name;     /* "run"; or a group and a subcommand: "policy check" */
    const char *operands; /* as shown in the usage line; "" for none */
    const char *summary;  /* one line, lower case */
    const char *details;  /* shown below the options, or NULL */
    enum ck_operand operand;
    const struct ck_option *options;
    /* Gets the arguments after the command's name; returns the exit status. */
    int (*run)(char *const *args);
};

extern const struct ck_command ck_command_run;
extern const struct ck_command ck_command_policy_check;
extern const struct ck_command ck_command_policy_init;
extern const struct ck_command ck_command_policy_learn;
extern const struct ck_command ck_command_policy_show;
extern const struct ck_command ck_command_policy_diff;
extern const struct ck_command ck_command_policy_explain;
extern const struct ck_command ck_command_doctor;
extern const struct ck_command ck_command_lock;
extern const struct ck_command ck_command_audit_verify;
extern const struct ck_command ck_command_audit_show;
extern const struct ck_command ck_command_audit_head;
extern const struct ck_command ck_command_audit_keygen;
extern const struct ck_command ck_command_audit_report;
extern const struct ck_command ck_command_lint;
extern const struct ck_command ck_command_gather;
extern const struct ck_command ck_command_guard;
extern const struct ck_command ck_command_mcp;
extern const struct ck_command ck_command_fleet_run;
extern const struct ck_command ck_command_fleet_status;
extern const struct ck_command ck_command_fleet_cancel;
extern const struct ck_command ck_command_fleet_collect;
extern const struct ck_command ck_command_fleet_query;
extern const struct ck_command ck_command_fleet_work;
extern const struct ck_command ck_command_report;
extern const struct ck_command ck_command_help;
extern const struct ck_command ck_command_completion;

/* In main.c. Both tables end with a NULL name; the commands of a group are adjacent. */
extern const struct ck_command *const ck_commands[];
extern const struct ck_option ck_main_options[];

/*
 * The command that the first arguments name, and how many arguments form its name. NULL: unknown
 * command.
 */
const struct ck_command *ck_cli_find_command(char *const *args, int *ret_count);

/* Is token the name of a group, such as "policy"? */
bool ck_cli_is_group(const char *token);

/*
 * The length of the first word of the command's name; and its second word, or NULL if it has one
 * word.
 */
int ck_cli_group_length(const struct ck_command *command);
const char *ck_cli_subcommand(const struct ck_command *command);

/* Is it the first command of its group in the table? */
bool ck_cli_starts_group(const struct ck_command *const *command);

/* In cmd_help.c. */
void ck_cli_help_overview(FILE *out);
void ck_cli_help_group(FILE *out, const char *group);
void ck_cli_help_command(FILE *out, const struct ck_command *command);
/* On standard output; returns the exit status. */
int ck_cmd_help_show(const struct ck_command *command);

/* In completion_bash.c and completion_zsh.c. tools are the tools that a caller may run. */
void ck_completion_bash(FILE *out, const struct ck_string_list *tools);
void ck_completion_zsh(FILE *out, const struct ck_string_list *tools);

/* Prints the possible values of the command's first operand, each after a space. */
void ck_cli_completion_operands(FILE *out, const struct ck_command *command, const struct ck_string_list *tools);

/*
 * Flushes standard output. Returns 0, or prints the reason on stderr and returns CK_EXIT_REFUSED.
 */
int ck_cli_flush_stdout(void);

/*
 * Prints one line on stderr that also names the help; command may be NULL. Returns CK_EXIT_REFUSED.
 */
int ck_cli_usage_error(const struct ck_command *command, const struct choke_error *error);

/* The same for arguments that do not name a command. */
int ck_cli_unknown_command(char *const *args);

#endif
