/*
 * cmd_help.c - "chokepoint help", made from the command tables.
 */
#include "cli/cli.h"
#include "front/text.h"

#include <errno.h>
#include <string.h>

#define LINE_COLUMNS 80 /* where the usage is wrapped */
#define HELP_COLUMN 24  /* where the help of an option begins */

struct help_options {
    bool help;
};

static const struct ck_option help_options[] = {
    {.name = "--help", .help = "show this help", .offset = offsetof(struct help_options, help)},
    {.name = NULL},
};

/*
 * Prints "[--env NAME=VALUE]...", or "--out FILE" if it is required, and returns its length. With
 * out NULL it only measures.
 */
static int print_usage_item(FILE *out, const struct ck_option *option)
{
    char item[128];
    int length = snprintf(item, sizeof(item), "%s%s%s%s%s%s", option->required ? "" : "[", option->name,
                          option->metavar ? " " : "", option->metavar ? option->metavar : "",
                          option->required ? "" : "]", option->kind == CK_OPTION_STRINGS ? "..." : "");
    if (out)
        (void)fputs(item, out);
    return length;
}

/* Wraps before an option that would cross the last column; "[--name VALUE]" is never split. */
static void print_usage(FILE *out, const struct ck_command *command)
{
    int indent = fprintf(out, "Usage: chokepoint %s", command->name);
    int column = indent;

    for (const struct ck_option *option = command->options; option->name; option++) {
        if (column + 1 + print_usage_item(NULL, option) > LINE_COLUMNS) {
            (void)fprintf(out, "\n%*s", indent, "");
            column = indent;
        }
        (void)fputc(' ', out);
        column += 1 + print_usage_item(out, option);
    }
    /* Operands that do not fit begin on a new line, at a fixed indent. */
    if (command->operands[0] != '\0')
        (void)fprintf(out, "%s%s", column + 1 + (int)strlen(command->operands) > LINE_COLUMNS ? "\n           " : " ",
                      command->operands);
    (void)fputc('\n', out);
}

/* If an option is too wide for its column, its help begins on the next line. */
static void print_options(FILE *out, const struct ck_option *options)
{
    (void)fputs("\nOptions:\n", out);
    for (; options->name; options++) {
        int column = fprintf(out, "  %s%s%s", options->name, options->metavar ? " " : "",
                             options->metavar ? options->metavar : "");
        if (column > HELP_COLUMN - 2) {
            (void)fputc('\n', out);
            column = 0;
        }
        /* column is how much of the line is used; at least two spaces stay free. */
        (void)fprintf(out, "%*s%s\n", HELP_COLUMN - column, "", options->help);
    }
}

/* The same text for "help COMMAND" and "COMMAND --help". */
void ck_cli_help_command(FILE *out, const struct ck_command *command)
{
    print_usage(out, command);
    (void)fprintf(out, "\n%s\n", command->summary);
    print_options(out, command->options);
    if (command->details)
        (void)fprintf(out, "\n%s", command->details);
}

int ck_cmd_help_show(const struct ck_command *command)
{
    ck_cli_help_command(stdout, command);
    return ck_cli_flush_stdout();
}

/* A command with one word that is named like the group would match too; the table has none. */
void ck_cli_help_group(FILE *out, const char *group)
{
    (void)fprintf(out, "Usage: chokepoint %s COMMAND ...\n\nCommands:\n", group);
    for (const struct ck_command *const *command = ck_commands; *command; command++)
        if ((size_t)ck_cli_group_length(*command) == strlen(group) &&
            strncmp((*command)->name, group, strlen(group)) == 0)
            (void)fprintf(out, "  %-22s%s\n", (*command)->name, (*command)->summary);
    (void)fprintf(out, "\n'chokepoint help %s COMMAND' shows the options of a command.\n", group);
}

void ck_cli_help_overview(FILE *out)
{
    (void)fputs("Usage: chokepoint [--help] [--version] COMMAND ...\n\n"
                "run tools in jails, under a policy that lists what is allowed\n\nCommands:\n",
                out);
    for (const struct ck_command *const *command = ck_commands; *command; command++)
        (void)fprintf(out, "  %-22s%s\n", (*command)->name, (*command)->summary);
    print_options(out, ck_main_options);
    (void)fputs("\n'chokepoint help COMMAND' shows the options of a command.\n", out);
}

/* "help GROUP" lists the commands of the group. */
static int run_help(char *const *args)
{
    struct help_options given = {0};
    struct choke_error error;

    /* count is used again below, for the number of words of the name. */
    int count = ck_options_parse(help_options, args, &given, &error);
    if (count < 0)
        return ck_cli_usage_error(&ck_command_help, &error);

    char *const *named = args + count;
    const struct ck_command *command = given.help ? &ck_command_help : NULL;
    if (!command && named[0])
        command = ck_cli_find_command(named, &count);
    if (command)
        ck_cli_help_command(stdout, command);
    else if (!named[0])
        ck_cli_help_overview(stdout);
    else if (ck_cli_is_group(named[0]) && !named[1])
        ck_cli_help_group(stdout, named[0]);
    else
        return ck_cli_unknown_command(named);
    return ck_cli_flush_stdout();
}

const struct ck_command ck_command_help = {
    .name = "help",
    .operands = "[COMMAND]",
    .summary = "show what a command does and its options",
    .operand = CK_OPERAND_COMMAND,
    .options = help_options,
    .run = run_help,
};
