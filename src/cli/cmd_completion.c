/*
 * cmd_completion.c - prints a completion script. The scripts are made from the command tables and
 * from the default policy: its tools are offered after "run".
 */
#include "cli/cli.h"
#include "front/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct completion_options {
    bool help;
};

static const struct ck_option completion_options[] = {
    {.name = "--help", .help = "show this help", .offset = offsetof(struct completion_options, help)},
    {.name = NULL},
};

/* A new shell needs a row here and a function that prints its script. */
static const struct shell {
    const char *name;
    void (*print)(FILE *out, const struct ck_string_list *tools);
} shells[] = {{"bash", ck_completion_bash}, {"zsh", ck_completion_zsh}, {NULL, NULL}};

/* Of a group only its name is offered as an operand of help. */
void ck_cli_completion_operands(FILE *out, const struct ck_command *command, const struct ck_string_list *tools)
{
    if (command->operand == CK_OPERAND_TOOL)
        for (size_t i = 0; i < tools->count; i++)
            (void)fprintf(out, " %s", tools->items[i]);
    if (command->operand == CK_OPERAND_COMMAND)
        for (const struct ck_command *const *other = ck_commands; *other; other++)
            if (ck_cli_starts_group(other))
                (void)fprintf(out, " %.*s", ck_cli_group_length(*other), (*other)->name);
    if (command->operand == CK_OPERAND_SHELL)
        for (const struct shell *shell = shells; shell->name; shell++)
            (void)fprintf(out, " %s", shell->name);
}

/* The tools that a caller may name. A tool with route "jail" is for the library only. */
static int list_tools(const struct choke_context *context, struct ck_string_list *ret_tools, struct choke_error *error)
{
    struct choke_tool_info info;
    size_t count = 0;

    /* Counted first: there is no call for the number of tools. */
    while (choke_tool(context, count, &info))
        count++;
    const char **items = calloc(count + 1, sizeof(*items));
    if (!items)
        return ck_text_error(error, CHOKE_NONE, ENOMEM, "out of memory");
    *ret_tools = (struct ck_string_list){.items = items};
    for (size_t i = 0; choke_tool(context, i, &info); i++)
        if (strcmp(info.route, "jail") != 0)
            /* The names belong to the context, so the script is printed before that is freed. */
            items[ret_tools->count++] = info.name;
    return 0;
}

/* A script completes the tools of the default policy, whatever policy is used later. */
static int print_script(const struct shell *shell)
{
    struct choke_context *context = NULL;
    struct choke_error error = {0};
    struct ck_string_list tools = {0};

    /* NULL: default options: the machine's policy, or the embedded one. */
    int r = choke_context_new(NULL, &context, &error);
    if (r >= 0)
        r = list_tools(context, &tools, &error);
    if (r >= 0)
        shell->print(stdout, &tools);
    else
        (void)fprintf(stderr, "chokepoint: %s\n", error.message);
    free(tools.items);
    choke_context_free(context);
    return r < 0 ? CK_EXIT_REFUSED : ck_cli_flush_stdout();
}

static int run_completion(char *const *args)
{
    struct completion_options given = {0};
    struct choke_error error;

    int count = ck_options_parse(completion_options, args, &given, &error);
    if (count < 0)
        return ck_cli_usage_error(&ck_command_completion, &error);
    if (given.help)
        return ck_cmd_help_show(&ck_command_completion);
    /* Later operands are ignored. */
    for (const struct shell *shell = shells; args[count] && shell->name; shell++)
        if (strcmp(shell->name, args[count]) == 0)
            return print_script(shell);
    (void)ck_text_error(&error, CHOKE_INVALID, EINVAL, "name a shell: bash or zsh");
    return ck_cli_usage_error(&ck_command_completion, &error);
}

const struct ck_command ck_command_completion = {
    .name = "completion",
    .operands = "bash|zsh",
    .summary = "print a completion script for a shell",
    .details = "For bash:  chokepoint completion bash > /etc/bash_completion.d/chokepoint\n"
               "For zsh:   chokepoint completion zsh > /usr/local/share/zsh/site-functions/_chokepoint\n",
    .operand = CK_OPERAND_SHELL,
    .options = completion_options,
    .run = run_completion,
};
