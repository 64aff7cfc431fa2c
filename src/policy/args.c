/*
 * args.c - parses the arguments of a call by the rules of its entry. See args.h.
 *
 * One reader goes over the caller's vector once and writes the tool's vector as it goes. Its rules
 * change at a subcommand, its tool at a command in the command. The first operand of rules with
 * `first` is checked at the end, because a later option may change its type.
 */
#include "policy/args.h"

#include "base/quote.h"
#include "policy/rules.h"
#include "policy/secret.h"
#include "policy/suggest.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define DIGITS "0123456789"
#define ALNUM "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ" DIGITS
#define INJECTED_MAX ((size_t)2 * CK_INJECT_MAX) /* per tool: its own and its subcommand's */
#define LIST_BYTES 320                           /* for a list in a message */

struct args_reader {
    const struct ck_policy *policy;
    const char *const *argv; /* the caller's */
    size_t at;               /* index of the next one */
    struct ck_arena *arena;
    struct ck_parsed_args *parsed;
    size_t paths_capacity; /* entries that parsed->paths has room for */

    const struct ck_tool *tool;             /* the one with the arguments that are read now */
    const struct ck_subcommand *subcommand; /* NULL before the subcommand */
    const struct ck_rules *rules;           /* the tool's, or the subcommand's */
    size_t operands;                        /* of this tool or subcommand so far */
    size_t held;                            /* position of an unchecked first operand; 0: none */
    bool first_is_common;                   /* an option of first_unless was given */
    uint64_t satisfied;                     /* one bit for each entry of rules->require */
    /* the same for the rules of the tool itself, before the subcommand */
    uint64_t tool_satisfied;
};

/* The result of every step. A negative errno is a failure: no memory. */
enum { PASSED = 0, REFUSED = 1 };

/* ---- refusals ---------------------------------------------------------------------------- */

void ck_args_rule(char rule[CK_RULE_MAX], const struct ck_tool *tool, const struct ck_subcommand *subcommand,
                  const char *key)
{
    (void)snprintf(rule, CK_RULE_MAX, "tools.%s.args%s%s.%s", tool->name, subcommand ? ".subcommands." : "",
                   subcommand ? subcommand->name : "", key);
}

unsigned ck_args_line(const struct ck_tool *tool, const struct ck_subcommand *subcommand)
{
    return subcommand ? subcommand->line : tool->line;
}

/* key is the name of the rule: "options", "operands". */
__attribute__((format(printf, 3, 4))) static int refuse(struct args_reader *reader, const char *key, const char *format,
                                                        ...)
{
    struct ck_parsed_args *parsed = reader->parsed;
    /* Leaves room for the line and the file, which follow. */
    char message[CHOKE_MESSAGE_MAX - 128];
    va_list list;
    va_start(list, format);
    (void)vsnprintf(message, sizeof(message), format, list);
    va_end(list);
    parsed->refused = true;
    parsed->tool = reader->tool;
    parsed->line = ck_args_line(reader->tool, reader->subcommand);
    ck_args_rule(parsed->rule, reader->tool, reader->subcommand, key);
    const char *file = ck_policy_tool_file(reader->policy, reader->tool);
    (void)snprintf(parsed->message, sizeof(parsed->message), "%s (line %u of %s)", message, parsed->line,
                   ck_quote((char[96]){0}, 96, file, strlen(file)));
    return REFUSED;
}

/* From here on refusals name a rule of the tool; these also apply to its subcommands. */
static void use_tool_rule(struct args_reader *reader)
{
    reader->subcommand = NULL;
}

/* "git log" or "rg": the command with the arguments that are parsed. */
#define COMMAND_LABEL(reader) command_label((char[192]){0}, (reader))

static const char *command_label(char *buffer, const struct args_reader *reader)
{
    bool sub = !!reader->subcommand;
    (void)snprintf(buffer, 192, "%s%s%s", reader->tool->name, sub ? " " : "", sub ? reader->subcommand->name : "");
    return buffer;
}

/*
 * "a, b, c". If the word does not fit, "..." is added and the result is false; room for that is
 * always kept.
 */
static bool append(char *buffer, size_t size, const char *word)
{
    size_t at = strlen(buffer);
    bool fits = at + strlen(word) + sizeof(", ...") < size;
    (void)snprintf(buffer + at, size - at, "%s%s", at == 0 ? "" : ", ", fits ? word : "...");
    return fits;
}

/* ---- writing ----------------------------------------------------------------------------- */

/* There is room: ck_args_parse reserved it for all arguments and all that can be injected. */
static void put(struct args_reader *reader, const char *argument)
{
    reader->parsed->argv[reader->parsed->argc++] = argument;
}

/* Injected arguments are not checked: the policy itself gives them. */
static void put_list(struct args_reader *reader, const struct ck_list *list)
{
    for (uint32_t i = 0; i < list->count; i++)
        put(reader, list->items[i]);
}

static int add_path(struct args_reader *reader, const struct ck_path_use *use)
{
    struct ck_parsed_args *parsed = reader->parsed;
    if (parsed->paths_count == reader->paths_capacity) {
        /* An arena cannot grow an array. The old one stays in it until the end. */
        size_t capacity = reader->paths_capacity == 0 ? 8 : 2 * reader->paths_capacity;
        struct ck_path_use *larger = ck_arena_array(reader->arena, capacity, sizeof(*larger));
        if (!larger)
            return -ENOMEM;
        if (parsed->paths_count > 0)
            memcpy(larger, parsed->paths, parsed->paths_count * sizeof(*larger));
        parsed->paths = larger;
        reader->paths_capacity = capacity;
    }
    parsed->paths[parsed->paths_count++] = *use;
    return PASSED;
}

/* ---- types ------------------------------------------------------------------------------- */

/*
 * No '-' first, so it is never read as an option; no "..", so it never climbs out of a directory.
 */
static bool is_name(const char *text)
{
    return text[0] != '\0' && strchr(ALNUM "_", text[0]) && strspn(text, ALNUM "_./:@+,%-") == strlen(text) &&
           !strstr(text, "..");
}

/* "SOURCE:TARGET[:OPTIONS]": the length of SOURCE, 0 if the text does not have this form. */
static size_t mount_source(const char *text)
{
    size_t source = strcspn(text, ":");
    /* Any other SOURCE would be the name of a volume for docker, not a path. TARGET is absolute. */
    if ((text[0] != '/' && text[0] != '.') || text[source] != ':' || text[source + 1] != '/')
        return 0;
    const char *target = text + source + 1;
    size_t length = strcspn(target, ":");
    const char *options = target[length] == ':' ? target + length + 1 : "ro";
    return options[0] != '\0' && strspn(options, "abcdefghijklmnopqrstuvwxyzZ,") == strlen(options) ? source : 0;
}

/*
 * "dir:/etc" is the name of a directory to the kernel, and /etc to a tool that knows schemes; and a
 * repository may have a directory "dir:". Written as "./dir:/etc" it is a name to both.
 */
static bool has_scheme(const char *text)
{
    return text[strspn(text, ALNUM "+._-")] == ':';
}

/* Can the text be of the type? For a path, the plan checks that it really stays inside. */
static bool is_of_type(const char *text, enum ck_type type)
{
    switch (type) {
    case CK_TYPE_NONE:
        return text[0] == '\0';
    case CK_TYPE_ANY:
        return true;
    case CK_TYPE_INSIDE:
        return text[0] != '\0' && !strstr(text, "://");
    case CK_TYPE_EXISTING:
        return text[0] != '\0' && !strstr(text, "://") && !has_scheme(text);
    case CK_TYPE_MOUNT:
        return mount_source(text) > 0;
    case CK_TYPE_NUMBER:
        return text[0] != '\0' && strspn(text, DIGITS) == strlen(text);
    case CK_TYPE_NAME:
        return is_name(text);
    }
    return false;
}

/*
 * Lists a path for the plan, which checks that it stays beneath the root. Other types name no file.
 */
static int note_path(struct args_reader *reader, const char *text, enum ck_type type, size_t position, bool operand)
{
    bool mount = type == CK_TYPE_MOUNT;
    if (!mount && type != CK_TYPE_INSIDE && type != CK_TYPE_EXISTING)
        return PASSED;
    struct ck_path_use use = {
        .path = text,
        /* Of a mount only SOURCE is a path of this machine. */
        .length = mount ? mount_source(text) : strlen(text),
        .argument = position,
        .type = type,
        .tool = reader->tool,
        .subcommand = reader->subcommand,
        .operand = operand,
    };
    return add_path(reader, &use);
}

/* ---- values of options ------------------------------------------------------------------- */

/* The first alternative that fits decides: the literal text, and then a text of its type. */
static const struct ck_pattern *find_pattern(const struct ck_pattern *patterns, uint32_t count, const char *value)
{
    for (uint32_t i = 0; i < count; i++) {
        size_t length = strlen(patterns[i].text);
        if (strncmp(value, patterns[i].text, length) == 0 && is_of_type(value + length, patterns[i].type))
            return &patterns[i];
    }
    return NULL;
}

/* The message shows the option as the policy spells it, so the caller sees what is allowed. */
static int refuse_value(struct args_reader *reader, const struct ck_arg_option *option, const char *value,
                        size_t position)
{
    return refuse(reader, "options",
                  "argument %zu '%s': the value '%s' is not allowed by '%s' for '%s'; it is listed as '%s'", position,
                  CK_SECRET_QUOTE(reader->argv[position]), CK_SECRET_QUOTE(value), COMMAND_LABEL(reader), option->name,
                  option->text);
}

/* Checks one value against the alternatives; position is its argument's. */
static int check_value(struct args_reader *reader, const struct ck_arg_option *option,
                       const struct ck_pattern *patterns, uint32_t count, const char *value, size_t position)
{
    const struct ck_pattern *pattern = find_pattern(patterns, count, value);
    if (!pattern)
        return refuse_value(reader, option, value, position);
    return note_path(reader, value + strlen(pattern->text), pattern->type, position, false);
}

/*
 * "--x" in require is satisfied by the option alone, "--x=v" by this value only. The loader limits
 * require to 64 entries: one bit each.
 */
static void note_required(const struct ck_list *require, const char *name, size_t length, const char *value,
                          uint64_t *satisfied)
{
    for (uint32_t i = 0; i < require->count; i++) {
        const char *wanted = require->items[i];
        bool named = strncmp(wanted, name, length) == 0 && (wanted[length] == '\0' || wanted[length] == '=');
        if (named && (wanted[length] == '\0' || (value && strcmp(wanted + length + 1, value) == 0)))
            *satisfied |= UINT64_C(1) << i;
    }
}

/* The option was given and is allowed. value is NULL for a flag. */
static void note_option(struct args_reader *reader, const struct ck_arg_option *option, const char *value)
{
    const struct ck_rules *rules = reader->rules;
    bool sub = !!reader->subcommand;
    /* An option before the subcommand satisfies the tool's rules only. */
    note_required(&rules->require, option->name, option->name_length, value,
                  sub ? &reader->satisfied : &reader->tool_satisfied);
    for (uint32_t i = 0; i < rules->first_unless.count; i++)
        if (strcmp(rules->first_unless.items[i], option->name) == 0)
            reader->first_is_common = true;
}

/*
 * A value in the same argument. After a short option, getopt keeps the '=' of "=v" and others
 * remove it.
 */
static int take_attached(struct args_reader *reader, const struct ck_arg_option *option, const char *value,
                         bool short_form)
{
    int r = check_value(reader, option, option->patterns, option->patterns_count, value, reader->at);
    if (r == PASSED && short_form && value[0] == '=')
        r = check_value(reader, option, option->patterns, option->patterns_count, value + 1, reader->at);
    if (r == PASSED)
        note_option(reader, option, value);
    return r;
}

/* A value in the next argument. */
static int take_separate(struct args_reader *reader, const struct ck_arg_option *option)
{
    const char *value = reader->argv[reader->at + 1];
    if (!value)
        return refuse(reader, "options", "argument %zu: '%s' of '%s' needs a value", reader->at, option->name,
                      COMMAND_LABEL(reader));
    /* "-" alone is a value: many tools read standard input for it. */
    if (value[0] == '-' && value[1] != '\0')
        return refuse(
            reader, "options",
            "argument %zu: '%s' begins with '-', and some tools would read an option where '%s' wants a value; "
            "write both as one argument",
            reader->at + 1, CK_SECRET_QUOTE(value), option->name);
    reader->at++;
    /* Before the check: a refused call has no use for the vector. */
    put(reader, value);
    int r = check_value(reader, option, option->patterns, option->patterns_count, value, reader->at);
    if (r == PASSED)
        note_option(reader, option, value);
    return r;
}

/* One argument for each pattern of the option, whatever it looks like: the tool takes them so. */
static int take_arguments(struct args_reader *reader, const struct ck_arg_option *option)
{
    for (uint32_t i = 0; i < option->patterns_count; i++) {
        const char *word = reader->argv[reader->at + 1];
        if (!word)
            return refuse(reader, "options", "argument %zu: '%s' of '%s' needs %u arguments after it", reader->at,
                          option->name, COMMAND_LABEL(reader), option->patterns_count);
        reader->at++;
        put(reader, word);
        /* Exactly this pattern: here they are a sequence, not alternatives. */
        int r = check_value(reader, option, &option->patterns[i], 1, word, reader->at);
        if (r != PASSED)
            return r;
    }
    note_option(reader, option, NULL);
    return PASSED;
}

/* ---- options ----------------------------------------------------------------------------- */

/* deny has bare names, so the length must match too. */
static bool is_denied(const struct ck_list *deny, const char *name, size_t length)
{
    for (uint32_t i = 0; i < deny->count; i++)
        if (strncmp(deny->items[i], name, length) == 0 && deny->items[i][length] == '\0')
            return true;
    return false;
}

/* deny of the tool applies to its subcommands as well. shown is the name. PASSED: it is not denied. */
static int refuse_denied(struct args_reader *reader, const char *name, size_t length, const char *shown)
{
    bool everywhere = is_denied(&reader->tool->args->rules.deny, name, length);
    if (everywhere)
        use_tool_rule(reader);
    if (!everywhere && !is_denied(&reader->rules->deny, name, length))
        return PASSED;
    return refuse(reader, "deny", "argument %zu '%s': '%s' is denied to '%s'", reader->at,
                  CK_SECRET_QUOTE(reader->argv[reader->at]), CK_SECRET_QUOTE(shown), COMMAND_LABEL(reader));
}

/*
 * The listed option of this name. A denied option has its own rule; any other is not in the list.
 */
static int find_option(struct args_reader *reader, const char *name, size_t length,
                       const struct ck_arg_option **ret_option)
{
    char shown[CK_QUOTE_MAX];
    *ret_option = ck_rules_find(reader->rules, name, length);
    if (*ret_option)
        return PASSED;
    /* name is not terminated at length: it is the beginning of an argument. */
    (void)snprintf(shown, sizeof(shown), "%.*s", (int)(length < 128 ? length : 128), name);
    if (refuse_denied(reader, name, length, shown) != PASSED)
        return REFUSED;
    return refuse(reader, "options",
                  "argument %zu '%s': '%s' is not an option that '%s' may be given%s; the policy lists every "
                  "allowed option by its full name",
                  reader->at, CK_SECRET_QUOTE(reader->argv[reader->at]), CK_SECRET_QUOTE(shown), COMMAND_LABEL(reader),
                  CK_SUGGEST_OPTION(reader->rules, reader->argv[reader->at]));
}

/* "--name", "--name=value"; also "-name" if the tool has no bundles. */
static int read_long(struct args_reader *reader, const char *argument)
{
    const struct ck_arg_option *option;
    size_t length = strcspn(argument, "=");
    bool attached = argument[length] == '=';
    int r = find_option(reader, argument, length, &option);
    if (r != PASSED)
        return r;
    if (attached && (option->form == CK_FORM_FLAG || option->form == CK_FORM_ARGUMENTS))
        return refuse(reader, "options", "argument %zu: '%s' of '%s' takes no value after '='", reader->at,
                      option->name, COMMAND_LABEL(reader));
    if (attached)
        return take_attached(reader, option, argument + length + 1, false);
    /* An optional value must be attached, so only a mandatory one takes the next argument. */
    if (option->form == CK_FORM_VALUE)
        return take_separate(reader, option);
    if (option->form == CK_FORM_ARGUMENTS)
        return take_arguments(reader, option);
    note_option(reader, option, NULL);
    return PASSED;
}

/* "-abc": letter by letter, until one takes the rest as its value. */
static int read_short(struct args_reader *reader, const char *argument)
{
    for (const char *letter = argument + 1; *letter != '\0'; letter++) {
        /* In the table as "-x", two bytes. */
        const char name[] = {'-', *letter, '\0'};
        const struct ck_arg_option *option;
        int r = find_option(reader, name, 2, &option);
        if (r != PASSED)
            return r;
        bool last = letter[1] == '\0';
        if (option->form == CK_FORM_ARGUMENTS && !last)
            return refuse(reader, "options", "argument %zu: '%s' of '%s' must be last in its argument", reader->at,
                          option->name, COMMAND_LABEL(reader));
        if (option->form == CK_FORM_ARGUMENTS)
            return take_arguments(reader, option);
        if (option->form == CK_FORM_VALUE)
            return last ? take_separate(reader, option) : take_attached(reader, option, letter + 1, true);
        /*
         * getopt takes the rest as the value: "-abc" with an optional value of -a is -a with "bc".
         */
        if (option->form == CK_FORM_OPTIONAL && !last)
            return take_attached(reader, option, letter + 1, true);
        note_option(reader, option, NULL);
    }
    return PASSED;
}

/* "-1" is in the table as "-": the loader stores the form "-<number>" under this name. */
static bool is_number_option(const struct args_reader *reader, const char *argument)
{
    return strspn(argument + 1, DIGITS) == strlen(argument + 1) && ck_rules_find(reader->rules, "-", 1);
}

/* Without bundles "-name" is one option, so it is read as a long one. */
static int read_option(struct args_reader *reader, const char *argument)
{
    put(reader, argument);
    if (is_number_option(reader, argument))
        return PASSED;
    if (argument[1] == '-' || reader->tool->args->no_bundles)
        return read_long(reader, argument);
    return read_short(reader, argument);
}

/* ---- operands ---------------------------------------------------------------------------- */

/* What is after one of the listed schemes and its colon; the operand itself if there is none. */
static const char *after_scheme(const struct ck_rules *rules, const char *operand)
{
    size_t length = strcspn(operand, ":");
    for (uint32_t i = 0; operand[length] == ':' && i < rules->schemes.count; i++)
        if (strlen(rules->schemes.items[i]) == length && memcmp(rules->schemes.items[i], operand, length) == 0)
            return operand + length + 1;
    return operand;
}

static int check_operand(struct args_reader *reader, size_t position, enum ck_type type)
{
    const char *operand = reader->argv[position];
    if (type == CK_TYPE_NONE)
        return refuse(reader, "operands", "argument %zu: '%s' takes no operand here, but '%s' is one", position,
                      COMMAND_LABEL(reader), CK_SECRET_QUOTE(operand));
    const char *text = type == CK_TYPE_EXISTING ? after_scheme(reader->rules, operand) : operand;
    if (!is_of_type(text, type))
        return refuse(reader, "operands", "argument %zu: '%s' is not what '%s' takes as an operand: %s", position,
                      CK_SECRET_QUOTE(operand), COMMAND_LABEL(reader), ck_notation_type_name(type));
    return note_path(reader, text, type, position, true);
}

/* The type of the first operand may depend on a later option, so it is checked at the end. */
static int read_operand(struct args_reader *reader)
{
    put(reader, reader->argv[reader->at]);
    /* argv[0] is the tool's name, so position 0 can mean: nothing is held. */
    if (reader->operands++ == 0 && reader->rules->has_first) {
        reader->held = reader->at;
        return PASSED;
    }
    return check_operand(reader, reader->at, reader->rules->operands);
}

/* A tool with subcommands needs one before any operand, and before "--". */
static bool wants_subcommand(const struct args_reader *reader)
{
    return !reader->subcommand && reader->tool->args->subcommands_count > 0;
}

static int refuse_subcommand(struct args_reader *reader)
{
    const struct ck_args *args = reader->tool->args;
    char list[LIST_BYTES] = "";
    for (uint32_t i = 0; i < args->subcommands_count; i++)
        if (!append(list, sizeof(list), args->subcommands[i].name))
            break;
    if (!reader->argv[reader->at])
        return refuse(reader, "subcommands", "'%s' needs a subcommand, one of: %s", reader->tool->name, list);
    return refuse(reader, "subcommands",
                  "argument %zu: '%s' is not a subcommand that '%s' may be given%s; allowed are: %s", reader->at,
                  CK_SECRET_QUOTE(reader->argv[reader->at]), reader->tool->name,
                  CK_SUGGEST_SUBCOMMAND(args, reader->argv + reader->at), list);
}

/* Reads to the end, or to the first operand of this level; then *ret_operand is true. */
static int read_level(struct args_reader *reader, bool *ret_operand)
{
    bool options = true;
    *ret_operand = false;
    for (; reader->argv[reader->at]; reader->at++) {
        const char *argument = reader->argv[reader->at];
        int r = PASSED;
        if (options && strcmp(argument, "--") == 0) {
            if (wants_subcommand(reader))
                return refuse_subcommand(reader);
            put(reader, argument);
            options = false;
            /* For tools like find, to which what follows is not an operand. */
            r = refuse_denied(reader, argument, 2, argument);
        } else if (options && argument[0] == '-' && argument[1] != '\0') {
            r = read_option(reader, argument);
        } else if (reader->tool->args->command || wants_subcommand(reader)) {
            /* at still points to it: the caller reads it as a subcommand or a command. */
            *ret_operand = true;
            return PASSED;
        } else {
            r = read_operand(reader);
            /* order: options_first ends the options here, as the tool does. */
            options = options && !reader->rules->options_first;
        }
        if (r != PASSED)
            return r;
    }
    if (reader->held == 0)
        return PASSED;
    return check_operand(reader, reader->held,
                         reader->first_is_common ? reader->rules->operands : reader->rules->first);
}

/* ---- subcommands ------------------------------------------------------------------------- */

/*
 * The number of arguments that the name matches here: one for each of its words, 0 if it does not
 * match.
 */
static size_t match_subcommand(const struct args_reader *reader, const char *name)
{
    size_t parts = 0;
    for (const char *at = name;; parts++) {
        const char *argument = reader->argv[reader->at + parts];
        size_t length = strcspn(at, " ");
        if (!argument || strncmp(argument, at, length) != 0 || argument[length] != '\0')
            return 0;
        if (at[length] == '\0')
            return parts + 1;
        at += length + 1;
    }
}

/* The longest name that matches: "image inspect" before "image". */
static int enter_subcommand(struct args_reader *reader)
{
    const struct ck_args *args = reader->tool->args;
    const struct ck_subcommand *found = NULL;
    size_t most = 0;
    for (uint32_t i = 0; i < args->subcommands_count; i++) {
        size_t parts = match_subcommand(reader, args->subcommands[i].name);
        if (parts > most) {
            most = parts;
            found = &args->subcommands[i];
        }
    }
    if (!found)
        return refuse_subcommand(reader);
    for (; most > 0; most--)
        put(reader, reader->argv[reader->at++]);
    /* Right after the name of the subcommand, before what the caller gives. */
    put_list(reader, &found->rules.inject);
    /* The subcommand belongs to the called tool, or to the innermost command. */
    if (reader->parsed->nested_count == 0)
        reader->parsed->subcommand = found;
    else
        reader->parsed->nested[reader->parsed->nested_count - 1].subcommand = found;
    reader->subcommand = found;
    reader->rules = &found->rules;
    return PASSED;
}

/* ---- tools ------------------------------------------------------------------------------- */

/*
 * The first entry that was not given. Injected options do not count: only the caller's are noted.
 */
static int check_required(struct args_reader *reader, const struct ck_list *require, uint64_t satisfied)
{
    for (uint32_t i = 0; i < require->count; i++)
        if ((satisfied >> i & 1) == 0)
            return refuse(reader, "require", "'%s' may run only with '%s', which is not among the arguments",
                          COMMAND_LABEL(reader), require->items[i]);
    return PASSED;
}

/* Both must end at the same place. */
static bool is_vector(const char *const *argv, const struct ck_list *vector)
{
    uint32_t i = 0;
    while (i < vector->count && argv[i] && strcmp(argv[i], vector->items[i]) == 0)
        i++;
    return i == vector->count && !argv[i];
}

/* Are the remaining arguments one of the vectors that are allowed exactly? */
static bool is_exact(const struct args_reader *reader)
{
    const struct ck_args *args = reader->tool->args;
    const char *const *left = reader->argv + reader->at;
    /* version_args are always allowed: doctor runs the tool with them. */
    bool found = reader->tool->version_args.count > 0 && is_vector(left, &reader->tool->version_args);
    for (uint32_t i = 0; !found && i < args->exact_count; i++)
        found = is_vector(left, &args->exact[i]);
    return found;
}

/* Lists all vectors, as far as they fit. */
static int refuse_exact(struct args_reader *reader)
{
    const struct ck_args *args = reader->tool->args;
    char list[LIST_BYTES] = "";
    for (uint32_t i = 0; i < args->exact_count; i++) {
        char vector_text[LIST_BYTES / 2] = "";
        for (uint32_t k = 0; k < args->exact[i].count; k++)
            (void)append(vector_text, sizeof(vector_text), args->exact[i].items[k]);
        (void)append(list, sizeof(list), vector_text[0] != '\0' ? vector_text : "(nothing)");
    }
    if (!reader->argv[reader->at])
        return refuse(reader, "exact", "'%s' may be run only with exactly these arguments: %s", reader->tool->name,
                      list);
    return refuse(reader, "exact", "argument %zu '%s': '%s' may be run only with exactly these arguments: %s",
                  reader->at, CK_SECRET_QUOTE(reader->argv[reader->at]), reader->tool->name, list);
}

static int read_tool(struct args_reader *reader);

/* The operand is a command, checked by its own entry. */
static int read_command(struct args_reader *reader)
{
    struct ck_parsed_args *parsed = reader->parsed;
    const char *name = reader->argv[reader->at];
    const struct ck_tool *tool = ck_policy_find(reader->policy, name);
    /*
     * A command in a command has the same rules as a call: no path, no helper of a jail, this
     * platform.
     */
    if (!tool || !ck_policy_tool_is_callable(tool))
        return refuse(reader, "command",
                      "argument %zu: '%s' is not a tool that callers may run, so '%s' may not run it%s", reader->at,
                      CK_SECRET_QUOTE(name), reader->tool->name, CK_SUGGEST_TOOL(reader->policy, name));
    if (parsed->nested_count == CK_COMMAND_DEPTH_MAX)
        return refuse(reader, "command", "argument %zu: commands are nested more than %d deep", reader->at,
                      CK_COMMAND_DEPTH_MAX);
    parsed->nested[parsed->nested_count++] = (struct ck_nested){.tool = tool, .position = parsed->argc};
    /* The state of the level begins anew; at, argv and parsed go on. */
    reader->tool = tool;
    reader->subcommand = NULL;
    reader->operands = 0;
    reader->held = 0;
    reader->first_is_common = false;
    reader->satisfied = 0;
    reader->tool_satisfied = 0;
    return read_tool(reader);
}

/* A tool that runs commands needs one; a tool with subcommands needs a subcommand. */
static int read_rest(struct args_reader *reader)
{
    const struct ck_args *args = reader->tool->args;
    bool operand;
    int r = read_level(reader, &operand);
    if (r == PASSED && args->subcommands_count > 0) {
        r = operand ? enter_subcommand(reader) : refuse_subcommand(reader);
        if (r == PASSED)
            r = read_level(reader, &operand);
        if (r == PASSED)
            r = check_required(reader, &reader->rules->require, reader->satisfied);
    }
    if (r == PASSED) {
        use_tool_rule(reader);
        r = check_required(reader, &args->rules.require, reader->tool_satisfied);
    }
    if (r != PASSED || !args->command)
        return r;
    if (!operand)
        return refuse(reader, "command", "'%s' needs a command to run, one of the tools of the policy",
                      reader->tool->name);
    return read_command(reader);
}

static int read_tool(struct args_reader *reader)
{
    const struct ck_args *args = reader->tool->args;
    put(reader, reader->argv[reader->at++]);
    /* Passed on unchanged: nothing is injected, and no path in it is checked. */
    if (!args || is_exact(reader)) {
        while (reader->argv[reader->at])
            put(reader, reader->argv[reader->at++]);
        return PASSED;
    }
    if (args->only_exact)
        return refuse_exact(reader);
    put_list(reader, &args->rules.inject);
    reader->rules = &args->rules;
    return read_rest(reader);
}

int ck_args_parse(const struct ck_policy *policy, const struct ck_tool *tool, const char *const *argv,
                  struct ck_arena *arena, struct ck_parsed_args *ret_parsed)
{
    *ret_parsed = (struct ck_parsed_args){0};
    size_t argc = 0;
    while (argv[argc])
        argc++;
    /*
     * The most that put can write: all arguments, and all injections of every nested tool. The last
     * entry stays NULL.
     */
    ret_parsed->argv = ck_arena_array(arena, argc + (CK_COMMAND_DEPTH_MAX + 1) * INJECTED_MAX + 1, sizeof(*argv));
    if (!ret_parsed->argv)
        return -ENOMEM;
    struct args_reader reader = {.policy = policy, .argv = argv, .arena = arena, .parsed = ret_parsed, .tool = tool};
    int r = read_tool(&reader);
    return r < 0 ? r : 0;
}
