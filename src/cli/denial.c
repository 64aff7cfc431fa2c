/* denial.c - shows what the jail of a run refused, as text. See denial.h. */
#include "cli/denial.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a kind of denial is called, and why it is one. */
static void print_attempt(FILE *text, const struct choke_denial *denial)
{
    static const struct {
        const char *kind, *attempt;
        int errnum; /* 0: any other */
        const char *reason;
    } table[] = {
        {"exec", "tried to execute", 0, "not in execs"},
        {"map", "tried to map as code", 0, "not code in the jail"},
        {"open", "tried to open", ENOENT, "not shown in the jail"},
        {"write", "tried to write", ENOENT, "not shown in the jail"},
        {"write", "tried to write", EROFS, "read-only in the jail"},
        {"connect", "tried to use the network:", EAFNOSUPPORT, "not in the jail"},
        {"connect", "tried to connect to", 0, "not by the proxy of --egress"},
        {"open", "tried to open", 0, NULL},
        {"write", "tried to write", 0, NULL},
    };
    const char *path = denial->path[0] != '\0' ? denial->path : "a file whose name could not be read";

    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        if (strcmp(table[i].kind, denial->kind) != 0 || (table[i].errnum != 0 && table[i].errnum != denial->errnum))
            continue;
        (void)fprintf(text, "denied: %s %s %s (%s); ", denial->by, table[i].attempt, path,
                      table[i].reason ? table[i].reason : strerror(denial->errnum));
        return;
    }
}

static void print_line(FILE *text, const struct choke_denial *denial)
{
    print_attempt(text, denial);
    if (denial->add)
        (void)fprintf(text, "add  %s\n", denial->add);
    else
        (void)fputs("ask the owner of the policy\n", text);
}

/* The last line offers --why, and counts those that are not shown. */
static void print_some(FILE *text, const struct choke_result *result)
{
    uint64_t all = result->denied_count + result->denied_more;
    size_t shown = result->denied_count < CK_DENIAL_LINES - 1 ? result->denied_count : CK_DENIAL_LINES - 1;

    for (size_t i = 0; i < shown; i++)
        print_line(text, &result->denied[i]);
    if (all > shown)
        (void)fprintf(text, "denied: %" PRIu64 " more; run with --why to see everything that was refused\n",
                      all - shown);
    else if (all > 0)
        (void)fputs("denied: run with --why to see everything that was refused\n", text);
}

static void print_all(FILE *text, const struct choke_result *result)
{
    for (size_t i = 0; i < result->denied_count; i++)
        print_line(text, &result->denied[i]);
    if (result->denied_more > 0)
        (void)fprintf(text, "denied: %" PRIu64 " more, which are not listed\n", result->denied_more);
    if (result->denied_count + result->denied_more == 0)
        (void)fputs("denied: nothing\n", text);
}

char *ck_denial_text(const struct choke_result *result, bool why)
{
    char *text = NULL;
    size_t length = 0;

    if (!result->denied || (!why && result->outcome == CHOKE_EXITED && result->exit_code == 0))
        return strdup("");
    FILE *lines = open_memstream(&text, &length);
    if (!lines)
        return NULL;
    if (why)
        print_all(lines, result);
    else
        print_some(lines, result);
    if (fclose(lines) == 0)
        return text;
    free(text);
    return NULL;
}
