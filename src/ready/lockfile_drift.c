/*
 * lockfile_drift.c - the difference between two locks.
 *
 * Both are sorted, so one walk over the two finds what only one of them has. Files with the same
 * name are compared in their order: a name has several files where the loader chooses by processor.
 */
#include "ready/lockfile.h"

#include <errno.h>
#include <string.h>

/* The result so far. What it points to is in the arena or belongs to the locks. */
struct drifts {
    struct ck_arena *arena;
    struct choke_drift *items;
    size_t count;
    size_t room;
    const char *tool; /* the one that is compared now */
};

/* NULL equals only NULL. */
static bool same(const char *a, const char *b)
{
    return !a || !b ? a == b : strcmp(a, b) == 0;
}

/*
 * what is NULL if label() had no memory. before or after is NULL if the thing exists only on the
 * other side.
 */
static int add(struct drifts *drifts, const char *what, const char *before, const char *after)
{
    if (!what)
        return -ENOMEM;
    if (drifts->count == drifts->room) {
        /* An arena cannot resize. The old array is freed with the arena. */
        size_t room = drifts->room == 0 ? 32 : drifts->room * 2;
        struct choke_drift *items = ck_arena_array(drifts->arena, room, sizeof(*items));
        if (!items)
            return -ENOMEM;
        if (drifts->count > 0)
            memcpy(items, drifts->items, drifts->count * sizeof(*items));
        drifts->items = items;
        drifts->room = room;
    }
    drifts->items[drifts->count++] =
        (struct choke_drift){.tool = drifts->tool, .what = what, .before = before, .after = after};
    return 0;
}

static int compare_text(struct drifts *drifts, const char *what, const char *before, const char *after)
{
    return same(before, after) ? 0 : add(drifts, what, before, after);
}

/* "library libz.so.1", and which property of it. */
static const char *label(struct drifts *drifts, const char *kind, const char *name, const char *about)
{
    return ck_arena_printf(drifts->arena, "%s %s%s", kind, name, about);
}

static int compare_file(struct drifts *drifts, const char *kind, const struct ck_lockfile_file *before,
                        const struct ck_lockfile_file *after)
{
    int r = 0;
    if (!same(before->path, after->path))
        r = add(drifts, label(drifts, kind, before->name, " path"), before->path, after->path);
    if (r == 0 && !same(before->sha256, after->sha256))
        r = add(drifts, label(drifts, kind, before->name, " sha256"), before->sha256, after->sha256);
    return r;
}

/* Which of two sorted names comes first; a missing one comes last. */
static int order_of(const char *old, const char *new)
{
    if (!old || !new)
        return old ? -1 : 1;
    return strcmp(old, new);
}

/* NULL would mean that the lock does not have the file at all. */
static const char *shown(const struct ck_lockfile_file *file)
{
    return file->path ? file->path : "not found";
}

/*
 * The same walk as in ck_lockfile_compare. old and new may point after the last item; then order_of
 * gets NULL for it, and it is not read.
 */
static int compare_files(struct drifts *drifts, const char *kind, const struct ck_lockfile_files *before,
                         const struct ck_lockfile_files *after)
{
    int r = 0;
    for (size_t i = 0, k = 0; r == 0 && (i < before->count || k < after->count);) {
        const struct ck_lockfile_file *old = &before->items[i], *new = &after->items[k];
        int order = order_of(i < before->count ? old->name : NULL, k < after->count ? new->name : NULL);
        if (order == 0)
            r = compare_file(drifts, kind, old, new);
        else if (order < 0)
            r = add(drifts, label(drifts, kind, old->name, ""), shown(old), NULL);
        else
            r = add(drifts, label(drifts, kind, new->name, ""), NULL, shown(new));
        i += order <= 0;
        k += order >= 0;
    }
    return r;
}

static int compare_tool(struct drifts *drifts, const struct ck_lockfile_tool *before,
                        const struct ck_lockfile_tool *after)
{
    int r = compare_text(drifts, "path", before->path, after->path);
    if (r == 0)
        r = compare_text(drifts, "version", before->version, after->version);
    if (r == 0)
        r = compare_text(drifts, "sha256", before->sha256, after->sha256);
    if (r == 0)
        r = compare_files(drifts, "interpreter", &before->interpreters, &after->interpreters);
    return r == 0 ? compare_files(drifts, "library", &before->libraries, &after->libraries) : r;
}

int ck_lockfile_compare(const struct ck_lockfile *before, const struct ck_lockfile *after, struct ck_arena *arena,
                        struct choke_drift **ret_drifts, size_t *ret_count)
{
    struct drifts drifts = {.arena = arena};
    int r = 0;
    for (size_t i = 0, k = 0; r == 0 && (i < before->count || k < after->count);) {
        const struct ck_lockfile_tool *old = &before->tools[i], *new = &after->tools[k];
        int order = order_of(i < before->count ? old->name : NULL, k < after->count ? new->name : NULL);
        drifts.tool = order <= 0 ? old->name : new->name;
        if (order == 0)
            r = compare_tool(&drifts, old, new);
        else
            r = add(&drifts, "tool", order < 0 ? old->path : NULL, order < 0 ? NULL : new->path);
        i += order <= 0;
        k += order >= 0;
    }
    *ret_drifts = drifts.items;
    *ret_count = drifts.count;
    return r;
}
