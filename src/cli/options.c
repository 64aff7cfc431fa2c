/*
 * options.c - the parser. A table has one small function per kind of option; the loop knows no
 * option by name.
 */
#include "cli/options.h"

#include "base/nearest.h"
#include "front/text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Less than CHOKE_TIMEOUT_FROM_POLICY, far more than the library accepts: the library makes the
 * error message.
 */
#define SECONDS_MAX (UINT64_MAX / 4000)

int ck_options_add_word(struct ck_string_list *args, const char *token, struct choke_error *error)
{
    /* Two more: the new item, and the NULL that ends the list. */
    const char **grown = reallocarray(args->items, args->count + 2, sizeof(*grown));
    if (!grown)
        return ck_text_error(error, CHOKE_NONE, ENOMEM, "out of memory");
    grown[args->count++] = token;
    grown[args->count] = NULL;
    args->items = grown;
    return 0;
}

void ck_options_free_words(struct ck_string_list *args)
{
    free(args->items);
    *args = (struct ck_string_list){0};
}

/* The value is escaped, and ck_text_error hides one that looks like a credential. */
static int bad_value(const struct ck_option *option, const char *value, const char *expected, struct choke_error *error)
{
    return ck_text_error(error, CHOKE_INVALID, EINVAL, "%s does not take '%s'; give %s", option->name,
                         CK_TEXT_SAFE(value), expected);
}

/*
 * Giving a flag twice is harmless, so it is allowed. The parameters are those of all store
 * functions.
 */
static int store_flag(const struct ck_option *option, const char *value, void *field, struct choke_error *error)
{
    (void)option;
    (void)value;
    (void)error;
    *(bool *)field = true;
    return 0;
}

static int store_string(const struct ck_option *option, const char *value, void *field, struct choke_error *error)
{
    if (value[0] == '\0')
        return bad_value(option, value, "a value that is not empty", error);
    *(const char **)field = value;
    return 0;
}

static int store_strings(const struct ck_option *option, const char *value, void *field, struct choke_error *error)
{
    (void)option;
    return ck_options_add_word(field, value, error);
}

/* Whole words only; metavar lists them for the message. */
static int store_choice(const struct ck_option *option, const char *value, void *field, struct choke_error *error)
{
    for (const struct ck_choice *choice = option->choices; choice->token; choice++)
        if (strcmp(choice->token, value) == 0) {
            *(int *)field = choice->value;
            return 0;
        }
    return bad_value(option, value, option->metavar, error);
}

/* Reads the digits at *at; false if there are none or the number is greater than max. */
static bool read_digits(const char **at, uint64_t max, uint64_t *ret_number)
{
    const char *start = *at;
    uint64_t number = 0;

    for (; **at >= '0' && **at <= '9'; (*at)++) {
        uint64_t digit = (uint64_t)(**at - '0');
        /* number * 10 + digit would be greater than max. */
        if (number > (max - digit) / 10)
            return false;
        number = number * 10 + digit;
    }
    *ret_number = number;
    return *at != start;
}

/* The digits after the point as milliseconds, rounded up: a short timeout must not become 0. */
static bool read_fraction(const char **at, uint64_t *ret_ms)
{
    const char *start = *at;
    uint64_t ms = 0;
    bool more = false;

    for (; **at >= '0' && **at <= '9'; (*at)++) {
        /* Three digits are milliseconds; any later digit but 0 rounds up. */
        if (*at - start < 3)
            ms = ms * 10 + (uint64_t)(**at - '0');
        else if (**at != '0')
            more = true;
    }
    for (ptrdiff_t digits = *at - start; digits < 3; digits++)
        ms *= 10;
    *ret_ms = ms + more;
    return *at != start;
}

/* No sign, no exponent, no unit; ".5" is not accepted either. */
static int store_seconds(const struct ck_option *option, const char *value, void *field, struct choke_error *error)
{
    const char *at = value;
    uint64_t seconds, ms = 0;

    bool good = read_digits(&at, SECONDS_MAX, &seconds);
    if (good && *at == '.') {
        at++;
        good = read_fraction(&at, &ms);
    }
    if (!good || *at != '\0')
        return bad_value(option, value, "seconds, such as 5 or 0.5", error);
    *(uint64_t *)field = seconds * 1000 + ms;
    return 0;
}

static int store_bytes(const struct ck_option *option, const char *value, void *field, struct choke_error *error)
{
    const char *at = value;
    uint64_t bytes;

    if (!read_digits(&at, SIZE_MAX / 2, &bytes) || *at != '\0')
        return bad_value(option, value, "a number of bytes, such as 1048576", error);
    *(size_t *)field = (size_t)bytes;
    return 0;
}

static int store_count(const struct ck_option *option, const char *value, void *field, struct choke_error *error)
{
    const char *at = value;
    uint64_t count;

    if (!read_digits(&at, UINT32_MAX, &count) || *at != '\0' || count == 0)
        return bad_value(option, value, "a number of 1 or more", error);
    *(unsigned *)field = (unsigned)count;
    return 0;
}

/* One function per kind. A new kind of option needs a function here and a name in the enum. */
static int (*const store[])(const struct ck_option *, const char *, void *, struct choke_error *) = {
    [CK_OPTION_FLAG] = store_flag,     [CK_OPTION_STRING] = store_string,   [CK_OPTION_STRINGS] = store_strings,
    [CK_OPTION_CHOICE] = store_choice, [CK_OPTION_SECONDS] = store_seconds, [CK_OPTION_BYTES] = store_bytes,
    [CK_OPTION_COUNT] = store_count,
};

/* No abbreviations: a new option must not change what an old command line means. */
static const struct ck_option *find(const struct ck_option *options, const char *token, size_t length)
{
    for (; options->name; options++)
        if (strlen(options->name) == length && memcmp(options->name, token, length) == 0)
            return options;
    return NULL;
}

/* The message repeats only the name of "--token=...": the value may be a secret. */
static int unknown(const struct ck_option *options, const char *token, size_t length, struct choke_error *error)
{
    char name[CK_TEXT_SAFE_MAX];
    /* A longer name is cut. */
    (void)snprintf(name, sizeof(name), "%.*s", length < sizeof(name) ? (int)length : (int)sizeof(name), token);
    struct ck_nearest nearest;
    ck_nearest_begin(&nearest, name, strlen(name));
    for (; options->name; options++)
        ck_nearest_offer(&nearest, options->name);
    if (nearest.best)
        return ck_text_error(error, CHOKE_INVALID, EINVAL, "unknown option '%s'; did you mean '%s'?",
                             CK_TEXT_SAFE(name), nearest.best);
    return ck_text_error(error, CHOKE_INVALID, EINVAL, "unknown option '%s'", CK_TEXT_SAFE(name));
}

/* Parses one option at *at and moves *at to its last argument. */
static int parse_one(const struct ck_option *options, char *const **at, uint64_t *seen, void *target,
                     struct choke_error *error)
{
    const char *token = **at;
    /*
     * "--name=VALUE" has its value here; otherwise it is the next argument, even if that begins
     * with a dash.
     */
    const char *value = strchr(token, '=');
    size_t length = value ? (size_t)(value - token) : strlen(token);

    const struct ck_option *option = find(options, token, length);
    if (!option)
        return unknown(options, token, length, error);

    uint64_t bit = UINT64_C(1) << (option - options); /* no table has nearly 64 rows */
    if ((*seen & bit) && option->kind != CK_OPTION_STRINGS && option->kind != CK_OPTION_FLAG)
        return ck_text_error(error, CHOKE_INVALID, EINVAL, "%s is given twice", option->name);
    *seen |= bit;

    if (value) {
        value++;
        if (option->kind == CK_OPTION_FLAG)
            return ck_text_error(error, CHOKE_INVALID, EINVAL, "%s takes no value", option->name);
    } else if (option->kind != CK_OPTION_FLAG) {
        value = (*at)[1];
        if (!value)
            return ck_text_error(error, CHOKE_INVALID, EINVAL, "%s needs a value: %s", option->name, option->metavar);
        (*at)++;
    }
    /* The offset is that of a member of the type for this kind (options.h). */
    return store[option->kind](option, value, (char *)target + option->offset, error);
}

int ck_options_parse(const struct ck_option *options, char *const *args, void *target, struct choke_error *error)
{
    uint64_t seen = 0;
    return ck_options_parse_more(options, args, &seen, target, error);
}

int ck_options_parse_more(const struct ck_option *options, char *const *args, uint64_t *seen, void *target,
                          struct choke_error *error)
{
    char *const *at = args;
    int first = 0;

    /*
     * After an error the rest is still parsed, so that a later --json determines the form of the
     * report. The first error is reported.
     */
    for (; *at && (*at)[0] == '-' && (*at)[1] != '\0'; at++) {
        if (strcmp(*at, "--") == 0) {
            at++;
            break;
        }
        /* With error NULL the message of a later error is not stored: the first one stays. */
        int r = parse_one(options, &at, seen, target, first < 0 ? NULL : error);
        if (first == 0)
            first = r;
    }
    return first < 0 ? first : (int)(at - args);
}

/* Only lists own memory; the other values point into argv. */
void ck_options_done(const struct ck_option *options, void *target)
{
    for (; options->name; options++)
        if (options->kind == CK_OPTION_STRINGS)
            ck_options_free_words((struct ck_string_list *)(void *)((char *)target + options->offset));
}
