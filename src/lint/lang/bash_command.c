/*
 * bash_command.c - what a command finally runs. See bash.h.
 *
 * Many commands run another one that is named in their arguments: sudo, env, timeout, xargs. A
 * table says which arguments each takes first. The next word is the next command, and so on.
 */
#include "lint/lang/bash.h"

#include <string.h>

#define PREFIXES_MAX 16 /* of one command */

struct prefix {
    const char *name;
    const char *short_options; /* letters that take the next word */
    const char *long_options;  /* long names that take the next word, between spaces */
    uint32_t operands;         /* words before the command */
    bool assignments;          /* A=1 may come before the command */
    bool many;                 /* runs the command once for each item */
};

/*
 * From the manuals of these programs. An option that is missing here takes no word: its argument
 * would be taken for the command.
 */
static const struct prefix prefixes[] = {
    {.name = "builtin"},
    {.name = "busybox"},
    {.name = "chroot", .operands = 1},
    {.name = "chrt", .operands = 1},
    {.name = "command"},
    {.name = "coproc"},
    {.name = "doas", .short_options = "uC"},
    {.name = "env", .short_options = "uC", .long_options = " unset chdir ", .assignments = true},
    {.name = "exec", .short_options = "a"},
    {.name = "flock", .short_options = "wE", .long_options = " wait timeout ", .operands = 1},
    {.name = "ionice", .short_options = "cnpPu", .long_options = " class classdata "},
    {.name = "ltrace", .short_options = "aAeFlLnopsuwxX"},
    {.name = "nice", .short_options = "n", .long_options = " adjustment "},
    {.name = "nohup"},
    {.name = "nsenter", .short_options = "tSG", .long_options = " target "},
    {.name = "parallel", .short_options = "jNnLlIaPS", .long_options = " jobs arg-file colsep ", .many = true},
    {.name = "prlimit"},
    {.name = "runuser", .short_options = "ugGsw", .long_options = " user group shell "},
    {.name = "setarch"},
    {.name = "setpriv"},
    {.name = "setsid"},
    {.name = "stdbuf", .short_options = "ioe", .long_options = " input output error "},
    {.name = "strace", .short_options = "abeEIoOpPsSuUX"},
    {.name = "sudo",
     .short_options = "ughpCrtDRTU",
     .long_options = " user group host prompt chdir chroot ",
     .assignments = true},
    {.name = "systemd-run", .short_options = "puMHEt", .long_options = " property unit uid gid ", .operands = 0},
    {.name = "taskset", .operands = 1},
    {.name = "time", .short_options = "fo", .long_options = " format output "},
    {.name = "timeout", .short_options = "ks", .long_options = " kill-after signal ", .operands = 1},
    {.name = "toybox"},
    {.name = "unbuffer"},
    {.name = "unshare", .short_options = "SGRw"},
    {.name = "xargs",
     .short_options = "aIdELnPs",
     .long_options = " arg-file delimiter max-lines max-args max-procs max-chars ",
     .many = true},
    {.name = "xvfb-run", .short_options = "nslfpew"},
};

/* list ends with NULL. */
static bool is_among(const char *text, const char *const *list)
{
    while (*list && strcmp(*list, text) != 0)
        list++;
    return !!*list;
}

bool ck_bash_is_shell(const char *name)
{
    static const char *const shells[] = {"sh",    "bash", "dash", "ash", "zsh",  "ksh",  "ksh93", "mksh",
                                         "rbash", "yash", "fish", "csh", "tcsh", "posh", NULL};
    return is_among(name, shells);
}

bool ck_bash_is_like_su(const char *name)
{
    static const char *const names[] = {"su", "runuser", "script", "flock", "sg", NULL};
    return is_among(name, names);
}

const char *ck_bash_base(const char *value)
{
    const char *slash = strrchr(value, '/');
    return slash ? slash + 1 : value;
}

bool ck_bash_is_descriptor(const char *value)
{
    return strcmp(value, "/dev/stdin") == 0 || strncmp(value, "/dev/fd/", 8) == 0 ||
           strncmp(value, "/proc/self/fd/", 14) == 0;
}

/* ---- the words --------------------------------------------------------------------------- */

/* The name and the arguments. Redirections and assignments before the command are other fields. */
static void collect_words(struct ck_scopes *scopes, TSNode node, struct ck_bash_command *command)
{
    TSTreeCursor cursor = ts_tree_cursor_new(node);
    bool more = ts_tree_cursor_goto_first_child(&cursor);
    for (; more; more = ts_tree_cursor_goto_next_sibling(&cursor)) {
        TSNode child = ts_tree_cursor_current_node(&cursor);
        const char *field = ts_tree_cursor_current_field_name(&cursor);
        command->herestring |= ck_scopes_kind(scopes, child) == CK_BASH_HERESTRING;
        if (!field || (strcmp(field, "name") != 0 && strcmp(field, "argument") != 0))
            continue;
        if (command->count == CK_BASH_WORDS_MAX) {
            command->cut = true;
            break;
        }
        command->words[command->count++] = child;
    }
    ts_tree_cursor_delete(&cursor);
}

/* NULL if the command does not run another. */
static const struct prefix *find_prefix(const char *name)
{
    for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
        if (strcmp(prefixes[i].name, name) == 0)
            return &prefixes[i];
    return NULL;
}

/*
 * How many words an option takes: 2 if its argument is the next word. -k1 and --signal=KILL contain
 * theirs.
 */
static uint32_t option_words(const struct prefix *prefix, const char *option)
{
    size_t length = strlen(option);
    if (length > 2 && option[0] == '-' && option[1] == '-') {
        const char *found = !prefix->long_options ? NULL : strstr(prefix->long_options, option + 2);
        return found && found > prefix->long_options && found[-1] == ' ' && found[length - 2] == ' ' ? 2 : 1;
    }
    /*
     * In a group of letters the first that takes an argument takes the rest of the group, or the
     * next word if it is the last letter.
     */
    for (size_t i = 1; i < length; i++)
        if (prefix->short_options && strchr(prefix->short_options, option[i]))
            return i + 1 == length ? 2 : 1;
    return 1;
}

/* command -v only looks a command up, and runs nothing. */
static bool only_asks(const struct prefix *prefix, const char *option)
{
    return strcmp(prefix->name, "command") == 0 && strpbrk(option, "vV");
}

/* A=1, and also A="$x", of which the value is not known. */
static bool is_assignment(struct ck_scopes *scopes, TSNode word, const char *value)
{
    return value ? !!strchr(value, '=') : ck_scopes_kind(scopes, word) == CK_BASH_CONCATENATION;
}

/* The index of the command after the prefix and its arguments; the count if there is none. */
static uint32_t skip_prefix(struct ck_scopes *scopes, const struct ck_bash_command *command,
                            const struct prefix *prefix, uint32_t at)
{
    uint32_t operands = prefix->operands;
    bool options = true;
    while (at < command->count) {
        const char *value = ck_bash_value(scopes, command->words[at]);
        uint32_t words = 1;
        /* A word that is not known counts as an operand: most options are constants. */
        if (options && value && value[0] == '-' && value[1] != '\0') {
            if (only_asks(prefix, value))
                return command->count;
            options = strcmp(value, "--") != 0;
            words = option_words(prefix, value);
        } else if (!prefix->assignments || !is_assignment(scopes, command->words[at], value)) {
            if (operands == 0)
                break;
            operands--;
        }
        at += words;
    }
    return at < command->count ? at : command->count;
}

/* The first shell in the arguments of find; otherwise the first command that it runs. */
static uint32_t skip_find(struct ck_scopes *scopes, const struct ck_bash_command *command, uint32_t at)
{
    static const char *const actions[] = {"-exec", "-execdir", "-ok", "-okdir", NULL};
    uint32_t first = command->count;
    for (; at + 1 < command->count; at++) {
        const char *value = ck_bash_value(scopes, command->words[at]);
        if (!value || !is_among(value, actions))
            continue;
        const char *runs = ck_bash_value(scopes, command->words[at + 1]);
        if (runs && ck_bash_is_shell(ck_bash_base(runs)))
            return at + 1;
        first = first < at + 1 ? first : at + 1;
    }
    return first;
}

/*
 * runuser and flock run a command, or with -c a line for a shell. Only options before a shell or
 * "--" are theirs.
 */
static bool takes_line(struct ck_scopes *scopes, const struct ck_bash_command *command)
{
    for (uint32_t i = command->first + 1; i < command->count; i++) {
        const char *value = ck_bash_value(scopes, command->words[i]);
        if (value && (strcmp(value, "--") == 0 || ck_bash_is_shell(ck_bash_base(value))))
            return false;
        if (value && (strcmp(value, "-c") == 0 || strncmp(value, "--command", 9) == 0))
            return true;
    }
    return false;
}

void ck_bash_command(struct ck_scopes *scopes, TSNode node, struct ck_bash_command *ret_command)
{
    struct ck_bash_command *command = ret_command;
    command->count = command->first = 0;
    command->many = command->past_functions = command->herestring = command->cut = false;
    collect_words(scopes, node, command);
    /* One prefix after the other: sudo env A=1 nice bash. */
    for (uint32_t i = 0; command->first < command->count; i++) {
        const char *value = ck_bash_value(scopes, command->words[command->first]);
        const char *name = !value ? "" : ck_bash_base(value);
        const struct prefix *prefix = find_prefix(name);
        bool find = strcmp(name, "find") == 0;
        if ((!prefix && !find) || (ck_bash_is_like_su(name) && takes_line(scopes, command)))
            break;
        /* A hostile script; the file is reported as not scanned in full. */
        if (i == PREFIXES_MAX) {
            scopes->source->exhausted = true;
            break;
        }
        command->first = find ? skip_find(scopes, command, command->first + 1)
                              : skip_prefix(scopes, command, prefix, command->first + 1);
        command->many |= find || prefix->many;
        command->past_functions = true;
    }
    command->found = command->first < command->count;
    /* The command may be among the words that were not collected. */
    scopes->source->exhausted |= command->cut && !command->found;
}

/* ---- the script of a shell --------------------------------------------------------------- */

/* -o and -O take the next word, and so do two long options of bash. */
static bool takes_next(const char *option)
{
    static const char *const long_options[] = {"--rcfile", "--init-file", NULL};
    size_t length = strlen(option);
    return is_among(option, long_options) || (option[1] != '-' && (option[length - 1] | 0x20) == 'o');
}

/* In a group of short options: -ec has the letter c. */
static bool has_letter(const char *option, char letter)
{
    return option[0] == '-' && option[1] != '-' && strchr(option, letter);
}

/* The first operand of a shell is its script: a file, or something that stands for input. */
static enum ck_bash_script kind_of_operand(struct ck_scopes *scopes, TSNode word, const char *value)
{
    if (ck_scopes_kind(scopes, word) == CK_BASH_PROCESS)
        return CK_BASH_SCRIPT_STDIN;
    return value && (strcmp(value, "-") == 0 || ck_bash_is_descriptor(value)) ? CK_BASH_SCRIPT_STDIN
                                                                              : CK_BASH_SCRIPT_FILE;
}

/*
 * -c takes the first word after all options, not the next word: sh -c -e 'text'. For su the user
 * may come before the options, so operands are passed over there.
 */
enum ck_bash_script ck_bash_script(struct ck_scopes *scopes, const struct ck_bash_command *command, TSNode *ret_text)
{
    const char *name = ck_bash_value(scopes, command->words[command->first]);
    bool like_su = name && ck_bash_is_like_su(ck_bash_base(name));
    bool text = false, standard_input = false;
    *ret_text = command->words[command->first];
    for (uint32_t i = command->first + 1; i < command->count; i++) {
        const char *value = ck_bash_value(scopes, command->words[i]);
        /*
         * +x turns an option off. strchr also finds the NUL of an empty word, and "-" alone is an
         * operand.
         */
        bool option = value && strchr("-+", value[0]) && value[0] != '\0' && value[1] != '\0';
        if (option && strcmp(value, "--") != 0) {
            text |= has_letter(value, 'c') || (like_su && strncmp(value, "--command", 9) == 0);
            standard_input |= has_letter(value, 's');
            i += takes_next(value);
        } else if (text) {
            *ret_text = command->words[i];
            return CK_BASH_SCRIPT_TEXT;
        } else if (!like_su) {
            i += option && i + 1 < command->count; /* skip "--" */
            *ret_text = command->words[i];
            return standard_input
                       ? CK_BASH_SCRIPT_STDIN
                       : kind_of_operand(scopes, command->words[i], ck_bash_value(scopes, command->words[i]));
        }
    }
    if (text)
        return CK_BASH_SCRIPT_TEXT;
    return standard_input ? CK_BASH_SCRIPT_STDIN : CK_BASH_SCRIPT_NONE;
}
