/*
 * completion_zsh.c - the completion script for zsh: one _arguments call for the program and one per
 * command.
 *
 * -A "-*" ends the options at the first operand, -S at "--", as the parser does.
 */
#include "cli/cli.h"

#include <string.h>

/* For single quotes inside _arguments, which interprets brackets, colons and backslashes. */
static void print_escaped(FILE *out, const char *text)
{
    for (; *text != '\0'; text++) {
        if (*text == '\'')
            /* Ends the quotes, adds an escaped quote, and begins them again. */
            (void)fputs("'\\''", out);
        else if (strchr("[]:\\", *text))
            (void)fprintf(out, "\\%c", *text);
        else
            (void)fputc(*text, out);
    }
}

/*
 * '*' allows to repeat the option; "=" after the name accepts both forms of the value. The parts
 * are [help]:metavar:action.
 */
static void print_option(FILE *out, const struct ck_option *option)
{
    (void)fprintf(out, "            '%s%s%s[", option->kind == CK_OPTION_STRINGS ? "*" : "", option->name,
                  option->metavar ? "=" : "");
    print_escaped(out, option->help);
    (void)fputc(']', out);
    if (option->metavar) {
        (void)fputc(':', out);
        print_escaped(out, option->metavar);
        (void)fputc(':', out);
    }
    if (option->kind == CK_OPTION_CHOICE) {
        for (const struct ck_choice *choice = option->choices; choice->token; choice++)
            (void)fprintf(out, "%s%s", choice == option->choices ? "(" : " ", choice->token);
        (void)fputc(')', out);
    } else if (option->offer == CK_OFFER_DIRECTORIES) {
        (void)fputs("_files -/", out);
    } else if (option->offer == CK_OFFER_FILES) {
        (void)fputs("_files", out);
    }
    (void)fputs("' \\\n", out);
}

/* Only the command line of a tool has files after the first operand. */
static void print_command(FILE *out, const struct ck_command *command, const struct ck_string_list *tools)
{
    const char *second = ck_cli_subcommand(command);

    (void)fprintf(out, "    %s)\n        _arguments -S -A '-*' \\\n", second ? second : command->name);
    for (const struct ck_option *option = command->options; option->name; option++)
        print_option(out, option);
    if (command->operand == CK_OPERAND_FILE) {
        (void)fputs("            '*:file:_files' ;;\n", out);
        return;
    }
    (void)fputs("            '1:", out);
    print_escaped(out, command->operands);
    (void)fputs(":(", out);
    ck_cli_completion_operands(out, command, tools);
    (void)fprintf(out, ")'%s ;;\n", command->operand == CK_OPERAND_TOOL ? " '*:argument:_files'" : "");
}

/* "name\:"summary"": the colon is escaped, because it separates the parts of the argument. */
static void print_choice(FILE *out, const char *name, int length, const char *summary)
{
    (void)fprintf(out, " %.*s\\:\"", length, name);
    print_escaped(out, summary);
    (void)fputc('"', out);
}

/* The commands of a group, beginning with its first one: a second case without the group's name. */
static void print_group(FILE *out, const struct ck_command *const *command, const struct ck_string_list *tools)
{
    const char *name = (*command)->name;
    size_t length = (size_t)ck_cli_group_length(*command) + 1;

    (void)fprintf(out, "    %.*s)\n        state=\n        _arguments -C -A '-*' '1:command:((", (int)length - 1, name);
    for (const struct ck_command *const *at = command; *at && strncmp((*at)->name, name, length) == 0; at++)
        print_choice(out, ck_cli_subcommand(*at), (int)strlen(ck_cli_subcommand(*at)), (*at)->summary);
    (void)fputs("))' '*::argument:->argument' && return\n    [ \"$state\" = argument ] || return\n"
                "    case $words[1] in\n",
                out);
    for (const struct ck_command *const *at = command; *at && strncmp((*at)->name, name, length) == 0; at++)
        print_command(out, *at, tools);
    (void)fputs("    esac ;;\n", out);
}

/* A group is printed once, at its first command. */
static void print_commands(FILE *out, const struct ck_string_list *tools)
{
    for (const struct ck_command *const *command = ck_commands; *command; command++) {
        if (!ck_cli_subcommand(*command))
            print_command(out, *command, tools);
        else if (ck_cli_starts_group(command))
            print_group(out, command, tools);
    }
}

void ck_completion_zsh(FILE *out, const struct ck_string_list *tools)
{
    (void)fputs("#compdef chokepoint\n"
                "# zsh completion for chokepoint, printed by 'chokepoint completion zsh'\n"
                "_chokepoint()\n{\n"
                "    local curcontext=$curcontext context state state_descr line\n"
                "    typeset -A opt_args\n"
                "    _arguments -C -A '-*' \\\n",
                out);
    for (const struct ck_option *option = ck_main_options; option->name; option++)
        print_option(out, option);
    /* The first operand is a command; the rest is completed by the case below. */
    (void)fputs("            '1:command:((", out);
    for (const struct ck_command *const *command = ck_commands; *command; command++)
        if (ck_cli_starts_group(command))
            print_choice(out, (*command)->name, ck_cli_group_length(*command), (*command)->summary);
    (void)fputs("))' '*::argument:->argument' && return\n    [ \"$state\" = argument ] || return\n"
                "    case $words[1] in\n",
                out);
    print_commands(out, tools);
    /*
     * Loaded by autoload, the file is the body of the function. When sourced, it must call compdef
     * itself.
     */
    (void)fputs(
        "    esac\n}\n"
        "if [ \"$funcstack[1]\" = _chokepoint ]; then _chokepoint \"$@\"; else compdef _chokepoint chokepoint; fi\n",
        out);
}
