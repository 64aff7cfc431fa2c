/*
 * completion_zsh.c - the script for zsh: one _arguments call for the command's name and one for each command.
 *
 * -A "-*" ends the options at the first operand, -S at "--", as the parser does.
 */
#include "cli/cli.h"

#include <string.h>

/* Inside single quotes, where _arguments gives brackets, colons and backslashes a meaning of their own. */
static void print_escaped(FILE *out, const char *text)
{
    for (; *text != '\0'; text++) {
        if (*text == '\'')
            (void)fputs("'\\''", out);
        else if (strchr("[]:\\", *text))
            (void)fprintf(out, "\\%c", *text);
        else
            (void)fputc(*text, out);
    }
}

static void print_option(FILE *out, const struct ck_option *option)
{
    (void)fprintf(out, "            '%s%s%s[", option->kind == CK_OPTION_WORDS ? "*" : "", option->name,
                  option->metavar ? "=" : "");
    print_escaped(out, option->help);
    (void)fputc(']', out);
    if (option->metavar) {
        (void)fputc(':', out);
        print_escaped(out, option->metavar);
        (void)fputc(':', out);
    }
    if (option->kind == CK_OPTION_CHOICE) {
        for (const struct ck_choice *choice = option->choices; choice->word; choice++)
            (void)fprintf(out, "%s%s", choice == option->choices ? "(" : " ", choice->word);
        (void)fputc(')', out);
    } else if (option->offer == CK_OFFER_DIRECTORIES) {
        (void)fputs("_files -/", out);
    } else if (option->offer == CK_OFFER_FILES) {
        (void)fputs("_files", out);
    }
    (void)fputs("' \\\n", out);
}

static void print_command(FILE *out, const struct ck_command *command, const struct ck_words *tools)
{
    (void)fprintf(out, "    %s)\n        _arguments -S -A '-*' \\\n", command->name);
    for (const struct ck_option *option = command->options; option->name; option++)
        print_option(out, option);
    (void)fputs("            '1:", out);
    print_escaped(out, command->operands);
    (void)fputs(":(", out);
    ck_completion_operands(out, command, tools);
    (void)fprintf(out, ")'%s ;;\n", command->operand == CK_OPERAND_TOOL ? " '*:argument:_files'" : "");
}

void ck_completion_zsh(FILE *out, const struct ck_words *tools)
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
    (void)fputs("            '1:command:((", out);
    for (const struct ck_command *const *command = ck_commands; *command; command++) {
        (void)fprintf(out, " %s\\:\"", (*command)->name);
        print_escaped(out, (*command)->summary);
        (void)fputc('"', out);
    }
    (void)fputs("))' '*::argument:->argument' && return\n    [ \"$state\" = argument ] || return\n"
                "    case $words[1] in\n",
                out);
    for (const struct ck_command *const *command = ck_commands; *command; command++)
        print_command(out, *command, tools);
    /* Found by autoload the file is the function's body; sourced, it has to say what it is for. */
    (void)fputs(
        "    esac\n}\n"
        "if [ \"$funcstack[1]\" = _chokepoint ]; then _chokepoint \"$@\"; else compdef _chokepoint chokepoint; fi\n",
        out);
}
