/*
 * completion_bash.c - the completion script for bash.
 *
 * The script walks over the words before the cursor once. It finds the command, whether an option
 * still expects its value, and whether the operand is complete. After the operand it offers
 * nothing, and bash falls back to file names. bash splits a word at "=", so "--cwd=x" arrives as
 * three words. After the first word of a group the command is that word, until the second word is
 * known.
 */
#include "cli/cli.h"

#include <string.h>

/* The pattern of each case is COMMAND:ENDED:WORD. ended is "yes" after "--". */
static const char head[] = "# bash completion for chokepoint, printed by 'chokepoint completion bash'\n"
                           "_chokepoint()\n"
                           "{\n"
                           "    local cur=${COMP_WORDS[COMP_CWORD]} command='' expects='' ended='' offer='' word i\n"
                           "    COMPREPLY=()\n"
                           "    [ \"$cur\" = '=' ] && cur=''\n"
                           "    for ((i = 1; i < COMP_CWORD; i++)); do\n"
                           "        word=${COMP_WORDS[i]}\n"
                           "        if [ -n \"$expects\" ]; then\n"
                           "            [ \"$word\" = '=' ] || expects=''\n"
                           "            continue\n"
                           "        fi\n"
                           "        case $command:$ended:$word in\n";

/* Any other option has no value; any other word is the operand, after which nothing is offered. */
static const char middle[] = "        *::--) ended=yes ;;\n"
                             "        *::-*) ;;\n"
                             "        *) return ;;\n"
                             "        esac\n"
                             "    done\n"
                             "    case $command:$ended:$expects in\n";

static const char tail[] = "    esac\n"
                           "    mapfile -t COMPREPLY < <(compgen -W \"$offer\" -- \"$cur\")\n"
                           "}\n"
                           "complete -o default -F _chokepoint chokepoint\n";

/* A free value offers nothing, not even file names: "+o default" turns that fallback off. */
static void print_value_offer(FILE *out, const struct ck_command *command, const struct ck_option *option)
{
    (void)fprintf(out, "    '%s'::%s) ", command->name, option->name);
    if (option->kind == CK_OPTION_CHOICE) {
        (void)fputs("offer='", out);
        for (const struct ck_choice *choice = option->choices; choice->token; choice++)
            (void)fprintf(out, "%s%s", choice == option->choices ? "" : " ", choice->token);
        (void)fputs("' ;;\n", out);
    } else if (option->offer == CK_OFFER_DIRECTORIES) {
        (void)fputs("compopt -o filenames; mapfile -t COMPREPLY < <(compgen -d -- \"$cur\"); return ;;\n", out);
    } else if (option->offer == CK_OFFER_FILES) {
        (void)fputs("return ;;\n", out);
    } else {
        (void)fputs("compopt +o default; return ;;\n", out);
    }
}

/*
 * Twice: before "--" options and operands, after it operands only. For files the script returns,
 * and bash offers names.
 */
static void print_argument_offers(FILE *out, const struct ck_command *command, const struct ck_string_list *tools)
{
    bool files = command->operand == CK_OPERAND_FILE;

    (void)fprintf(out, "    '%s'::) %soffer='", command->name, files ? "[ \"${cur:0:1}\" = - ] || return; " : "");
    for (const struct ck_option *option = command->options; option->name; option++)
        (void)fprintf(out, "%s ", option->name);
    ck_cli_completion_operands(out, command, tools);
    (void)fprintf(out, "' ;;\n    '%s':yes:) %soffer='", command->name, files ? "return; " : "");
    ck_cli_completion_operands(out, command, tools);
    (void)fputs("' ;;\n", out);
}

/* Prints which words select which command. */
static void print_names(FILE *out, const struct ck_command *const *command)
{
    const char *second = ck_cli_subcommand(*command);

    if (ck_cli_starts_group(command))
        (void)fprintf(out, "        ::%.*s) command=$word ;;\n", ck_cli_group_length(*command), (*command)->name);
    if (second)
        (void)fprintf(out, "        %.*s::%s) command='%s' ;;\n", ck_cli_group_length(*command), (*command)->name,
                      second, (*command)->name);
}

/* Prints what is offered after the name of a group. The commands of a group are adjacent. */
static void print_group_offer(FILE *out, const struct ck_command *const *command)
{
    const char *name = (*command)->name;
    int length = ck_cli_group_length(*command);

    (void)fprintf(out, "    %.*s::) offer='--help", length, name);
    for (; *command && strncmp((*command)->name, name, (size_t)length + 1) == 0; command++)
        (void)fprintf(out, " %s", ck_cli_subcommand(*command));
    (void)fputs("' ;;\n", out);
}

/*
 * The first case follows the words before the cursor, the second one chooses what to offer. The
 * patterns of a command come before the general ones: the first match counts.
 */
void ck_completion_bash(FILE *out, const struct ck_string_list *tools)
{
    (void)fputs(head, out);
    for (const struct ck_command *const *command = ck_commands; *command; command++) {
        print_names(out, command);
        for (const struct ck_option *option = (*command)->options; option->name; option++)
            /* Only options with a value. */
            if (option->metavar)
                (void)fprintf(out, "        '%s'::%s) expects=$word ;;\n", (*command)->name, option->name);
    }
    (void)fputs(middle, out);
    for (const struct ck_command *const *command = ck_commands; *command; command++) {
        for (const struct ck_option *option = (*command)->options; option->name; option++)
            if (option->metavar)
                print_value_offer(out, *command, option);
        print_argument_offers(out, *command, tools);
        if (ck_cli_subcommand(*command) && ck_cli_starts_group(command))
            print_group_offer(out, command);
    }
    /* No command yet: the options of the program, and each group or command once. */
    (void)fputs("    ::) offer='", out);
    for (const struct ck_option *option = ck_main_options; option->name; option++)
        (void)fprintf(out, "%s ", option->name);
    for (const struct ck_command *const *command = ck_commands; *command; command++)
        if (ck_cli_starts_group(command))
            (void)fprintf(out, " %.*s", ck_cli_group_length(*command), (*command)->name);
    (void)fputs("' ;;\n", out);
    (void)fputs(tail, out);
}
