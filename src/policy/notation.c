/*
 * notation.c - parses one option of the notation. See rules.h.
 *
 * Any byte that is not understood is an error: a reviewer and the code that reads arguments must
 * see the same.
 */
#include "policy/rules.h"

#include <errno.h>
#include <string.h>

#define ALNUM "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

/* As a policy writes them. "none" is for operands only: parse_type begins after it. */
static const char *const type_names[] = {
    [CK_TYPE_NONE] = "none",         [CK_TYPE_ANY] = "any",     [CK_TYPE_INSIDE] = "inside",
    [CK_TYPE_EXISTING] = "existing", [CK_TYPE_MOUNT] = "mount", [CK_TYPE_NUMBER] = "number",
    [CK_TYPE_NAME] = "name",
};

/* NULL: not a type. */
const char *ck_notation_type_name(enum ck_type type)
{
    return (size_t)type < sizeof(type_names) / sizeof(type_names[0]) ? type_names[type] : NULL;
}

/* The caller adds the option and the position to the message. */
static int fail(const char **ret_why, const char *why)
{
    *ret_why = why;
    return -EINVAL;
}

/* The length of "--name", "-x", or "-name" (for tools without bundles); 0: not a name. */
static size_t name_length(const char *text)
{
    size_t dashes = strspn(text, "-");
    size_t length = strspn(text + dashes, ALNUM "._-");
    bool good = (dashes == 1 || dashes == 2) && length >= 1 && strchr(ALNUM, text[dashes]);
    return good ? dashes + length : 0;
}

/* "<name>"; false if there is no such type. */
static bool parse_type(const char *text, size_t length, enum ck_type *ret_type)
{
    for (size_t i = CK_TYPE_ANY; i < sizeof(type_names) / sizeof(type_names[0]); i++) {
        size_t expected = strlen(type_names[i]);
        if (length == expected + 2 && text[0] == '<' && text[length - 1] == '>' &&
            memcmp(text + 1, type_names[i], expected) == 0) {
            *ret_type = (enum ck_type)i;
            return true;
        }
    }
    return false;
}

/* A word, a type, or a word that ends in a type. */
static int parse_pattern(struct ck_arena *arena, const char *text, size_t length, struct ck_pattern *ret_pattern,
                         const char **ret_why)
{
    /* What comes before the type is literal text, as in "format:<any>". */
    const char *open = memchr(text, '<', length);
    size_t literal = open ? (size_t)(open - text) : length;
    if (length == 0)
        return fail(ret_why, "an alternative is empty");
    if (memchr(text, '>', literal) || memchr(text, '[', literal) || memchr(text, ']', literal))
        return fail(ret_why, "'>', '[' or ']' is not allowed where a word is expected");
    *ret_pattern = (struct ck_pattern){.type = CK_TYPE_NONE};
    if (open && !parse_type(open, length - literal, &ret_pattern->type))
        return fail(ret_why,
                    "the text in '<>' is not a type; the types are any, inside, existing, mount, number, name, "
                    "and nothing may follow");
    ret_pattern->text = ck_arena_memdup(arena, text, literal);
    return !ret_pattern->text ? -ENOMEM : 0;
}

/* One more than there are separators, so an empty part is counted and refused. */
static size_t count_parts(const char *text, size_t length, char separator)
{
    size_t count = 1;
    for (size_t i = 0; i < length; i++)
        count += text[i] == separator;
    return count;
}

/* Alternatives (separator '|') or separate arguments (separator ' '). */
static int parse_patterns(struct ck_arena *arena, const char *text, size_t length, char separator,
                          struct ck_arg_option *option, const char **ret_why)
{
    size_t count = count_parts(text, length, separator);
    option->patterns = ck_arena_array(arena, count, sizeof(*option->patterns));
    if (!option->patterns)
        return -ENOMEM;
    int r = 0;
    for (const char *at = text, *end = text + length; r == 0 && option->patterns_count < count;) {
        const char *stop = memchr(at, separator, (size_t)(end - at));
        size_t part = stop ? (size_t)(stop - at) : (size_t)(end - at);
        r = parse_pattern(arena, at, part, &option->patterns[option->patterns_count++], ret_why);
        at += part + 1; /* past the separator */
    }
    return r;
}

/* Types only: else "a|b" would be one word with a bar in it, and "any" the word "any". */
static int parse_arguments(struct ck_arena *arena, const char *text, size_t length, struct ck_arg_option *option,
                           const char **ret_why)
{
    int r = parse_patterns(arena, text, length, ' ', option, ret_why);
    for (uint32_t i = 0; r == 0 && i < option->patterns_count; i++)
        if (option->patterns[i].type == CK_TYPE_NONE || option->patterns[i].text[0] != '\0')
            r = fail(ret_why, "separate arguments are written as types, as in '--x <any> <any>'");
    return r;
}

/* Parses what follows the name. */
static int parse_value(struct ck_arena *arena, const char *rest, struct ck_arg_option *option, const char **ret_why)
{
    static const char any[] = "<any>";
    size_t length = strlen(rest);
    if (length == 0) {
        option->form = CK_FORM_FLAG;
        return 0;
    }
    if (rest[0] == ' ') {
        option->form = CK_FORM_ARGUMENTS;
        return parse_arguments(arena, rest + 1, length - 1, option, ret_why);
    }
    bool optional = rest[0] == '[';
    if (optional && (length < 3 || rest[1] != '=' || rest[length - 1] != ']'))
        return fail(ret_why, "an optional value is written '[=]' or '[=...]'");
    if (!optional && rest[0] != '=')
        return fail(ret_why, "a name is followed by nothing, '=', '[=]' or a blank and types");
    option->form = optional ? CK_FORM_OPTIONAL : CK_FORM_VALUE;
    const char *values = rest + (optional ? 2 : 1);
    size_t values_length = length - (optional ? 3 : 1);
    /* "--x=" and "--x[=]" are short for any value. */
    if (values_length == 0)
        return parse_patterns(arena, any, sizeof(any) - 1, '|', option, ret_why);
    return parse_patterns(arena, values, values_length, '|', option, ret_why);
}

int ck_notation_parse(struct ck_arena *arena, const char *text, struct ck_arg_option *ret_option, const char **ret_why)
{
    struct ck_arg_option option = {0};
    bool number = strcmp(text, "-<number>") == 0;
    /* "-<number>" has the name "-", which no other option can have. */
    size_t length = number ? 1 : name_length(text);
    if (length == 0)
        return fail(ret_why, "an option begins with '-' or '--' and a letter or digit");
    option.text = ck_arena_strdup(arena, text);
    option.name = ck_arena_memdup(arena, text, length);
    option.name_length = (uint32_t)length;
    if (!option.text || !option.name)
        return -ENOMEM;
    int r = 0;
    if (number)
        option.form = CK_FORM_NUMBER;
    else
        r = parse_value(arena, text + length, &option, ret_why);
    if (r == 0)
        *ret_option = option;
    return r;
}
