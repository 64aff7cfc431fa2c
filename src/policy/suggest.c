/*
 * suggest.c - see suggest.h.
 */
#include "policy/suggest.h"

#include "base/nearest.h"
#include "base/quote.h"

#include <stdio.h>
#include <string.h>

static const char *write_suggestion(char *buffer, const struct ck_nearest *nearest)
{
    buffer[0] = '\0';
    if (nearest->best)
        (void)snprintf(buffer, CK_SUGGEST_MAX, " (did you mean '%s'?)",
                       ck_quote((char[96]){0}, 96, nearest->best, strlen(nearest->best)));
    return buffer;
}

const char *ck_suggest_tool(char buffer[CK_SUGGEST_MAX], const struct ck_policy *policy, const char *name)
{
    struct ck_nearest nearest;
    ck_nearest_begin(&nearest, name, strlen(name));
    for (uint32_t i = 0; i < policy->tools_count; i++)
        if (ck_policy_tool_is_callable(&policy->tools[i]))
            ck_nearest_offer(&nearest, policy->tools[i].name);
    return write_suggestion(buffer, &nearest);
}

const char *ck_suggest_option(char buffer[CK_SUGGEST_MAX], const struct ck_rules *rules, const char *argument)
{
    struct ck_nearest nearest;
    ck_nearest_begin(&nearest, argument, strcspn(argument, "="));
    for (uint32_t i = 0; i < rules->table_count; i++)
        ck_nearest_offer(&nearest, rules->table[i].name);
    return write_suggestion(buffer, &nearest);
}

/*
 * The first arguments with spaces between them, one for each word of name. False: they are too long
 * or too few.
 */
static bool join_words(char *buffer, size_t size, const char *name, const char *const *argv)
{
    size_t used = 0;
    for (const char *at = name; at; at = strchr(at, ' '), argv++) {
        at += *at == ' ';
        if (!*argv)
            return false;
        int n = snprintf(buffer + used, size - used, "%s%s", used > 0 ? " " : "", *argv);
        if (n < 0 || (size_t)n >= size - used)
            return false;
        used += (size_t)n;
    }
    return true;
}

const char *ck_suggest_subcommand(char buffer[CK_SUGGEST_MAX], const struct ck_args *args, const char *const *argv)
{
    struct ck_nearest best = {0};
    for (uint32_t i = 0; i < args->subcommands_count; i++) {
        char given[CK_NEAREST_MAX + 1];
        struct ck_nearest nearest;
        if (!join_words(given, sizeof(given), args->subcommands[i].name, argv))
            continue;
        /* Each candidate with as many words as it has itself. */
        ck_nearest_begin(&nearest, given, strlen(given));
        ck_nearest_offer(&nearest, args->subcommands[i].name);
        if (nearest.best && (!best.best || nearest.distance < best.distance))
            best = (struct ck_nearest){.best = nearest.best, .distance = nearest.distance};
    }
    return write_suggestion(buffer, &best);
}
