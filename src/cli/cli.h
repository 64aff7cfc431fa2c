/*
 * cli.h - what the commands share: the table of them, and the exit statuses.
 *
 * The command is a customer of the library: it includes chokepoint.h and what stands in this directory, nothing else of
 * the project.
 */
#ifndef CK_CLI_CLI_H
#define CK_CLI_CLI_H

#include "cli/options.h"

#include <stdio.h>

/* The tool's own status is passed on; these are chokepoint's. */
enum ck_exit {
    CK_EXIT_TIMEOUT = 124,
    CK_EXIT_REFUSED = 125, /* refused, or chokepoint's own failure */
    CK_EXIT_NOT_EXECUTABLE = 126,
    CK_EXIT_NOT_INSTALLED = 127,
    CK_EXIT_SIGNAL = 128 /* plus the number of the signal */
};

/* What a shell offers as the first operand. */
enum ck_operand { CK_OPERAND_NONE = 0, CK_OPERAND_TOOL, CK_OPERAND_COMMAND, CK_OPERAND_SHELL };

struct ck_command {
    const char *name;
    const char *operands; /* as shown in the usage line; "" for none */
    const char *summary;  /* one line, lower case */
    const char *details;  /* shown below the options, or NULL */
    enum ck_operand operand;
    const struct ck_option *options;
    int (*run)(char *const *words); /* the words behind the command's name; returns the exit status */
};

extern const struct ck_command ck_command_run;
extern const struct ck_command ck_command_help;
extern const struct ck_command ck_command_completion;

/* In main.c. Both end where a name would be NULL. */
extern const struct ck_command *const ck_commands[];
extern const struct ck_option ck_main_options[];

const struct ck_command *ck_command_find(const char *name); /* NULL where there is none */

/* In cmd_help.c. */
void ck_help_overview(FILE *out);
void ck_help_command(FILE *out, const struct ck_command *command);

/* In completion_bash.c and completion_zsh.c; tools are the names that a caller may run. */
void ck_completion_bash(FILE *out, const struct ck_words *tools);
void ck_completion_zsh(FILE *out, const struct ck_words *tools);

/* The names of what the command's first operand can be, each with a blank before it. */
void ck_completion_operands(FILE *out, const struct ck_command *command, const struct ck_words *tools);

/* Flushes standard output. Returns 0, or says on stderr why not and returns CK_EXIT_REFUSED. */
int ck_finish_stdout(void);

/* One line on stderr that also says where the help is; command may be NULL. Returns CK_EXIT_REFUSED. */
int ck_usage_error(const struct ck_command *command, const struct choke_error *error);

#endif
