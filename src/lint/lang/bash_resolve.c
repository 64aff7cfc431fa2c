/*
 * bash_resolve.c - the resolver for Bash: what a command in a script is. bash.h explains the names.
 *
 * A query captures the whole command, both as @name and as @arguments.
 */
#include "lint/lang/bash.h"

#include <string.h>

/* These exist only in the shell: a path such as ./eval is another program. */
static bool is_builtin(const char *name)
{
    return strcmp(name, "eval") == 0 || strcmp(name, "source") == 0 || strcmp(name, ".") == 0;
}

/*
 * Does a function of the script have this name? ck_scopes_find goes on to the scope of the
 * variables, so the scope of the slot is compared.
 */
static bool is_hidden(const struct ck_scopes *scopes, const struct ck_bash_command *command, const char *name)
{
    struct ck_lint_word word = {name, (uint32_t)strlen(name)};
    struct ck_slot *slot = ck_scopes_find(scopes, CK_BASH_FUNCTIONS, word);
    return slot && slot->scope == CK_BASH_FUNCTIONS && !command->past_functions;
}

/*
 * A shell runs what it reads: "sh.stdin" if it has input and no other script. A process in place of
 * a file, bash <(curl x), is input too.
 */
static void add_shell(struct ck_scopes *scopes, TSNode node, const struct ck_bash_command *command,
                      struct ck_lint_names *names)
{
    const struct ck_fact *facts;
    TSNode text;
    bool fed = command->herestring || ck_scopes_facts(scopes, ts_node_start_byte(node), &facts) > 0;
    enum ck_bash_script script = ck_bash_script(scopes, command, &text);
    bool process = ck_scopes_kind(scopes, text) == CK_BASH_PROCESS;
    ck_lint_names_add(names, command->many ? "xargs.sh" : "sh");
    if ((fed && (script == CK_BASH_SCRIPT_NONE || script == CK_BASH_SCRIPT_STDIN)) ||
        (script == CK_BASH_SCRIPT_STDIN && process))
        ck_lint_names_add(names, "sh.stdin");
}

/* The names of one value of the command word. Only the part after the last slash must be known. */
static void add_command(struct ck_scopes *scopes, TSNode node, const struct ck_bash_command *command, const char *value,
                        struct ck_lint_names *names)
{
    const char *base = ck_bash_base(value);
    if (is_hidden(scopes, command, value) || strchr(base, CK_BASH_UNKNOWN) || (base != value && is_builtin(base)))
        names->open = true;
    else if (ck_bash_is_shell(base))
        add_shell(scopes, node, command, names);
    else if (ck_bash_is_like_su(base))
        ck_lint_names_add(names, "su");
    else
        ck_lint_names_add(names, strcmp(base, ".") == 0 ? "source" : base);
}

/* $(curl ...) as a command: it runs downloaded text. */
static bool is_download(struct ck_scopes *scopes, TSNode word)
{
    static const char *const loaders[] = {"curl", "wget", "fetch", "aria2c", "http", "https", NULL};
    TSNode substitution = ck_scopes_kind(scopes, word) == CK_BASH_COMMAND_NAME ? ck_lint_node_nth(word, 0) : word;
    if (ck_scopes_kind(scopes, substitution) != CK_BASH_SUBSTITUTION)
        return false;
    const char *name = ck_bash_value(scopes, ck_lint_node_field(ck_lint_node_nth(substitution, 0), "name"));
    for (const char *const *one = loaders; name && *one; one++)
        if (strcmp(ck_bash_base(name), *one) == 0)
            return true;
    return false;
}

/* All that the command may finally run. No names if it runs nothing (command -v). */
static void bash_names(struct ck_lint_source *source, TSNode node, struct ck_lint_names *ret_names)
{
    struct ck_scopes *scopes = source->scopes;
    struct ck_bash_command command;
    struct ck_lint_names values = {.count = 0};
    *ret_names = (struct ck_lint_names){.count = 0};
    ck_scopes_refuel(scopes);
    ck_bash_command(scopes, node, &command);
    if (!command.found)
        return;
    ck_bash_values(scopes, command.words[command.first], 0, &values);
    for (uint32_t i = 0; i < values.count; i++)
        add_command(scopes, node, &command, values.items[i], ret_names);
    if (is_download(scopes, command.words[command.first]))
        ck_lint_names_add(ret_names, "sh.fetched");
    ret_names->open |= values.open;
}

/* The only keyword is -c. Positions count from the word after the command that finally runs. */
static enum ck_argument bash_argument(struct ck_lint_source *source, TSNode arguments, const char *keyword,
                                      int32_t position, TSNode *ret_value)
{
    struct ck_scopes *scopes = source->scopes;
    struct ck_bash_command command;
    TSNode text;
    ck_scopes_refuel(scopes);
    ck_bash_command(scopes, arguments, &command);
    if (!command.found)
        return CK_ARGUMENT_ABSENT;
    if (keyword && strcmp(keyword, "-c") == 0 && ck_bash_script(scopes, &command, &text) == CK_BASH_SCRIPT_TEXT) {
        *ret_value = text;
        return CK_ARGUMENT_PRESENT;
    }
    /* The words after the command; first is at most count - 1 where found is set. */
    if (position < 0 || (uint32_t)position >= command.count - command.first - 1)
        return CK_ARGUMENT_ABSENT;
    *ret_value = command.words[command.first + 1 + (uint32_t)position];
    return CK_ARGUMENT_PRESENT;
}

/* /dev/stdin is a constant text, but says nothing about what is read from it. */
static void bash_constant(struct ck_lint_source *source, TSNode node, struct ck_constant *ret_constant)
{
    struct ck_scopes *scopes = source->scopes;
    ck_scopes_refuel(scopes);
    const char *value = ck_bash_value(scopes, node);
    *ret_constant = (struct ck_constant){.kind = CK_CONSTANT_NOT};
    if (value && !ck_bash_is_descriptor(value))
        *ret_constant = (struct ck_constant){CK_CONSTANT_TEXT, value, (uint32_t)strlen(value)};
}

const struct ck_lint_resolver ck_bash_resolver = {
    .begin = ck_bash_bind,
    .names = bash_names,
    .argument = bash_argument,
    .constant = bash_constant,
};
