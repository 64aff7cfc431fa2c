/* call_report.c - the arguments and the result of a call; see call_report.h. */
#include "gather/call_report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- lists of strings ---- */

void ck_call_report_free_argv(char **list)
{
    for (char **item = list; item && *item; item++)
        free(*item);
    free(list);
}

/* NULL gives an empty list; a NULL result means out of memory. */
static char **copy_list(const char *const *from)
{
    size_t count = 0;
    while (from && from[count])
        count++;
    /* Zero-filled, so that a list with a failed copy can be freed at any point. */
    char **list = calloc(count + 1, sizeof(*list));
    for (size_t i = 0; list && i < count; i++) {
        list[i] = strdup(from[i]);
        if (!list[i]) {
            ck_call_report_free_argv(list);
            return NULL;
        }
    }
    return list;
}

/* ---- arguments ---- */

/* A path that begins with a dash would be read as an option. */
static char *as_operand(const char *path)
{
    char *arg = NULL;

    if (path[0] != '-')
        return strdup(path);
    return asprintf(&arg, "./%s", path) < 0 ? NULL : arg;
}

/* The number of arguments that replace one argument of the call. */
static size_t arg_count(const char *arg, const struct ck_matches *matches)
{
    if (strcmp(arg, CK_PROBE_FILES) == 0)
        return matches->count;
    /* {file} without a match becomes no argument. */
    return strcmp(arg, CK_PROBE_FILE) == 0 && matches->count == 0 ? 0 : 1;
}

/* Only a whole argument is a placeholder: braces inside another argument are literal. */
static char *expand(const char *arg, const struct ck_matches *matches, size_t at)
{
    bool files = strcmp(arg, CK_PROBE_FILES) == 0 || strcmp(arg, CK_PROBE_FILE) == 0;
    return files ? as_operand(matches->paths[at]) : strdup(arg);
}

/* Two passes: the first counts, because {files} may become a thousand arguments. */
char **ck_call_report_argv(const struct ck_probe_call *call, const struct ck_matches *matches)
{
    size_t count = 0, used = 0;

    for (const char *const *arg = call->argv; *arg; arg++)
        count += arg_count(*arg, matches);
    char **argv = calloc(count + 1, sizeof(*argv));
    for (const char *const *arg = call->argv; argv && *arg; arg++)
        for (size_t i = 0; i < arg_count(*arg, matches); i++) {
            argv[used] = expand(*arg, matches, i);
            if (!argv[used++]) {
                ck_call_report_free_argv(argv);
                return NULL;
            }
        }
    return argv;
}

/* ---- calls ---- */

/*
 * Added before the call starts, so that the document also lists a call that could not be started.
 */
int ck_call_report_add(struct ck_probe_report *report, const struct ck_probe_call *call, const char *const *argv,
                       struct choke_error *error)
{
    struct ck_call_report *grown = reallocarray(report->calls, report->call_count + 1, sizeof(*grown));
    char **copy = copy_list(argv);

    /* Stored even if the copy failed: the old array no longer exists. */
    if (grown)
        report->calls = grown;
    if (!grown || !copy) {
        ck_call_report_free_argv(copy);
        return ck_text_error(error, CHOKE_NONE, ENOMEM, "out of memory");
    }
    /* exit_code -1 and the outcome "none" until the result is known. */
    grown[report->call_count++] = (struct ck_call_report){
        .id = call->id, .argv = copy, .outcome = choke_outcome_name(CHOKE_NONE), .exit_code = -1};
    return 0;
}

/* If memory runs out, the member is null in the document, as if it were not known. */
static char *copy_text(const char *text)
{
    return text ? strdup(text) : NULL;
}

/* Copies: the result belongs to the job, which may be freed long before the document is made. */
void ck_call_report_set_result(struct ck_call_report *call, const struct choke_result *result)
{
    call->outcome = choke_outcome_name(result->outcome);
    call->exit_code = result->exit_code;
    call->rule = copy_text(result->rule);
    call->jail = copy_text(result->jail);
    call->layers = result->layers ? copy_list(result->layers) : NULL;
    call->duration_us = result->duration_us;
    call->user_us = result->user_us;
    call->system_us = result->system_us;
    call->max_rss_kib = result->max_rss_kib;
    call->out_bytes = result->out.total_bytes;
    call->err_bytes = result->err.total_bytes;
    call->truncated = result->out.truncated || result->err.truncated;
}

/* ---- the end ---- */

/* id, outcome and the probe itself are not owned. */
static void done_report(struct ck_probe_report *report)
{
    for (size_t i = 0; i < report->call_count; i++) {
        ck_call_report_free_argv(report->calls[i].argv);
        ck_call_report_free_argv(report->calls[i].layers);
        free(report->calls[i].rule);
        free(report->calls[i].jail);
    }
    free(report->calls);
    free(report->reason);
    free(report->install);
    ck_evidence_done(&report->evidence);
}

void ck_gather_done(struct ck_gathering *gathering)
{
    for (size_t i = 0; i < gathering->count; i++)
        done_report(&gathering->reports[i]);
    for (size_t i = 0; i < gathering->tool_count; i++) {
        free(gathering->tools[i].path);
        free(gathering->tools[i].version);
        free(gathering->tools[i].sha256);
    }
    json_decref(gathering->findings);
    free(gathering->reports);
    free(gathering->tools);
    *gathering = (struct ck_gathering){0};
}
