/* setup.c - see setup.h. */
#include "fleet/setup.h"

#include "fleet/clone.h"
#include "front/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- the probes ---- */

static int compare_names(const void *left, const void *right)
{
    return strcmp(*(const char *const *)left, *(const char *const *)right);
}

static bool is_probe(const struct ck_probes *probes, const char *name)
{
    for (size_t i = 0; i < probes->count; i++)
        if (strcmp(probes->items[i].name, name) == 0)
            return true;
    return false;
}

/* All names in one text, each ended by a NUL; *ret_bytes: its length. */
static char *join(const char *const *given, size_t *ret_bytes)
{
    size_t bytes = 1, at = 0;

    for (size_t i = 0; given[i]; i++)
        bytes += strlen(given[i]) + 1;
    char *text = calloc(bytes, 1);
    for (size_t i = 0; text && given[i]; i++) {
        memcpy(text + at, given[i], strlen(given[i]));
        at += strlen(given[i]) + 1;
    }
    for (size_t i = 0; i < at; i++)
        if (text[i] == ',')
            text[i] = '\0';
    *ret_bytes = at;
    return text;
}

int ck_fleet_only_make(const char *const *given, const struct ck_probes *probes, struct ck_fleet_only *ret_only,
                       struct choke_error *error)
{
    size_t bytes = 0, count = 0, kept = 0;

    *ret_only = (struct ck_fleet_only){0};
    if (!given || !given[0])
        return 0;
    ret_only->text = join(given, &bytes);
    ret_only->names = calloc(bytes + 1, sizeof(*ret_only->names));
    if (!ret_only->text || !ret_only->names)
        return ck_text_error(error, CHOKE_NONE, ENOMEM, "out of memory");
    for (size_t at = 0; at < bytes; at += strlen(ret_only->text + at) + 1) {
        const char *name = ret_only->text + at;
        if (!is_probe(probes, name))
            return ck_text_error(error, CHOKE_INVALID, EINVAL,
                                 "unknown probe '%s'; 'chokepoint help gather' says where the probes are",
                                 CK_TEXT_SAFE(name));
        ret_only->names[count++] = name;
    }
    qsort(ret_only->names, count, sizeof(*ret_only->names), compare_names);
    for (size_t i = 0; i < count; i++)
        if (kept == 0 || strcmp(ret_only->names[kept - 1], ret_only->names[i]) != 0)
            ret_only->names[kept++] = ret_only->names[i];
    ret_only->names[kept] = NULL;
    return 0;
}

void ck_fleet_only_done(struct ck_fleet_only *only)
{
    free(only->names);
    free(only->text);
    *only = (struct ck_fleet_only){0};
}

/* ---- the policy ---- */

static bool has_url(const struct ck_fleet_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->items[i].is_url)
            return true;
    return false;
}

int ck_fleet_setup_check_policy(const struct choke_options *options, const struct ck_fleet_list *list,
                                struct choke_error *error)
{
    struct choke_context *context = NULL;
    int r = choke_context_new(options, &context, error);

    if (r == 0 && has_url(list))
        r = ck_clone_check(context, list, error);
    choke_context_free(context);
    return r;
}

int ck_fleet_setup_check(const struct ck_fleet_task *task, struct choke_error *error)
{
    struct choke_context *context = NULL;
    int r = choke_context_new(&task->context, &context, error);

    /* A locked policy of the machine refuses another one, and places for files. */
    if (r == 0)
        r = choke_locked(context, task->own_probes ? "another probes file" : NULL, error);
    if (r == 0)
        r = choke_locked_directory(context, task->area->fd, error);
    choke_context_free(context);
    return r;
}

/* ---- what is left ---- */

const struct ck_fleet_entry **ck_fleet_setup_pending(const struct ck_fleet_task *task, const struct ck_fleet_list *list,
                                                     struct ck_fleet_summary *counts, size_t *ret_count)
{
    const struct ck_fleet_entry **pending = calloc(list->count + 1, sizeof(*pending));
    size_t count = 0;

    *counts = (struct ck_fleet_summary){.total = list->count, .repeated = list->repeated};
    for (size_t i = 0; pending && i < list->count; i++) {
        const struct ck_fleet_entry *entry = &list->items[i];
        bool done = ck_fleet_area_has_document(task->area, entry->name);
        bool failed = !done && ck_fleet_area_has_failed(task->area, entry->name);
        counts->done += done;
        counts->failed += failed && !task->retry;
        if (!done && (!failed || task->retry))
            pending[count++] = entry;
    }
    *ret_count = count;
    return pending;
}

/* ---- scripts ---- */

void ck_fleet_print_word(FILE *out, const char *before, const char *word)
{
    (void)fprintf(out, "%s'", before);
    for (; *word != '\0'; word++)
        if (*word == '\'')
            (void)fputs("'\\''", out);
        else
            (void)fputc(*word, out);
    (void)fputc('\'', out);
}
