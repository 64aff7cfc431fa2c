/* gaps.c - see gaps.h. */
#include "report/gaps.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static struct ck_gap *add(struct ck_gaps *gaps, enum ck_gap_kind kind, uint32_t what)
{
    /* Each loss is one of its own, and there may be many. */
    for (size_t i = kind == CK_GAP_LOST ? gaps->count : 0; i < gaps->count; i++)
        if (gaps->items[i].kind == kind && gaps->items[i].what == what) {
            gaps->items[i].repositories++;
            return &gaps->items[i];
        }
    struct ck_gap *grown = reallocarray(gaps->items, gaps->count + 1, sizeof(*grown));
    if (!grown)
        return NULL;
    gaps->items = grown;
    grown[gaps->count] = (struct ck_gap){.kind = kind, .what = what, .repositories = 1};
    return &grown[gaps->count++];
}

static bool add_counted(struct ck_gaps *gaps, enum ck_gap_kind kind, uint32_t what, uint64_t done, uint64_t all)
{
    struct ck_gap *gap = add(gaps, kind, what);

    if (!gap)
        return false;
    gap->done += done;
    gap->all += all;
    return true;
}

/* A probe that is ok may still have left something out. */
static bool add_partial(struct ck_gaps *gaps, const struct ck_look_probe *probe)
{
    bool ok = true;

    if (probe->searched < probe->files)
        ok = add_counted(gaps, CK_GAP_FILES, probe->name, probe->searched, probe->files);
    else if (probe->files_cut)
        ok = add_counted(gaps, CK_GAP_FILES, probe->name, 0, 0);
    if (ok && probe->output_cut)
        ok = add_counted(gaps, CK_GAP_OUTPUT, probe->name, 0, 0);
    if (ok && probe->listed < probe->total)
        ok = add_counted(gaps, CK_GAP_LIST, probe->name, probe->listed, probe->total);
    return ok;
}

static enum ck_gap_kind kind_of(const struct ck_look_probe *probe, const struct ck_strings *strings)
{
    const char *state = ck_strings_text(strings, probe->state);

    if (probe->nothing)
        return CK_GAP_NOTHING;
    if (strcmp(state, "tool_missing") == 0)
        return CK_GAP_MISSING;
    return strcmp(state, "skipped") == 0 ? CK_GAP_SKIPPED : CK_GAP_FAILED;
}

static bool add_probe(struct ck_gaps *gaps, const struct ck_look_probe *probe, const struct ck_strings *strings)
{
    gaps->probes++;
    if (probe->ok) {
        gaps->probes_done++;
        return add_partial(gaps, probe);
    }
    enum ck_gap_kind kind = kind_of(probe, strings);
    struct ck_gap *gap = add(gaps, kind, probe->name);
    if (gap && gap->repositories == 1) {
        gap->state = probe->state;
        gap->reason = probe->reason;
        gap->install = probe->install;
    }
    if (kind == CK_GAP_NOTHING)
        gaps->probes--;
    return gap;
}

static bool add_look(struct ck_gaps *gaps, const struct ck_look *look, const struct ck_strings *strings)
{
    bool ok = !look->cancelled || add(gaps, CK_GAP_CANCELLED, 0);

    if (ok && look->files_incomplete)
        ok = add_counted(gaps, CK_GAP_FILES, 0, 0, 0);
    for (size_t i = 0; ok && i < look->probes.count; i++)
        ok = add_probe(gaps, &look->probes.items[i], strings);
    return ok;
}

static int compare_gaps(const void *left, const void *right)
{
    const struct ck_gap *a = left, *b = right;

    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    if (a->repositories != b->repositories)
        return a->repositories > b->repositories ? -1 : 1;
    return a->what < b->what ? -1 : a->what > b->what;
}

int ck_gaps_collect(struct ck_gaps *gaps, const struct ck_looks *looks)
{
    bool ok = true;

    *gaps = (struct ck_gaps){0};
    for (size_t i = 0; ok && i < looks->loss_count; i++) {
        struct ck_gap *gap = add(gaps, CK_GAP_LOST, looks->losses[i].name);
        ok = gap;
        if (gap)
            gap->reason = looks->losses[i].reason;
    }
    for (size_t i = ck_looks_next(looks, 0); ok && i < looks->count; i = ck_looks_next(looks, i + 1))
        ok = add_look(gaps, &looks->items[i], &looks->strings);
    if (!ok)
        return -ENOMEM;
    if (gaps->count > 0)
        qsort(gaps->items, gaps->count, sizeof(*gaps->items), compare_gaps);
    while (gaps->gaps < gaps->count && gaps->items[gaps->gaps].kind != CK_GAP_NOTHING)
        gaps->gaps++;
    return 0;
}

void ck_gaps_done(struct ck_gaps *gaps)
{
    free(gaps->items);
    *gaps = (struct ck_gaps){0};
}
