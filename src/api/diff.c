/*
 * diff.c - compares two policies, and checks each widening against the decision records.
 *
 * It guards pull requests, so it fails closed: if the old records cannot be read, no record counts
 * as new.
 */
#include "api/review.h"

#include "api/build_records.h"
#include "base/error.h"
#include "policy/diff.h"
#include "policy/extend.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The public struct is first: freeing the diff frees the box. */
struct diff_box {
    struct choke_diff diff;
    struct ck_arena arena; /* the changes and all their text */
};

const char *choke_change_kind_name(enum choke_change_kind kind)
{
    switch (kind) {
    case CHOKE_CHANGE_NEUTRAL:
        return "neutral";
    case CHOKE_CHANGE_NARROWS:
        return "narrows";
    case CHOKE_CHANGE_WIDENS:
        return "widens";
    }
    return "?";
}

/*
 * What counts as old: the records of the old policy, and the directory beside the old policy that
 * has the name which the new policy uses. Without the second, a directory that is named for the
 * first time would make all its records new.
 */
struct history {
    const struct choke_policy *before;
    const struct choke_policy *after;
    struct ck_decision_records there; /* of the second directory; empty: not needed */
};

/* Only needed if the directory has another name now, or is named for the first time. */
static int read_moved_records(struct history *history, struct ck_arena *arena)
{
    const char *directory = history->after->policy->adr_dir;
    const char *own = history->before->policy->adr_dir;
    if (!history->before->file || !directory || (own && strcmp(own, directory) == 0))
        return 0;
    if (ck_decision_records_read(arena, history->before->file, directory, &history->there) < 0)
        return -ENOMEM;
    /* the directory did not exist */
    if (history->there.errnum == ENOENT && history->there.count == 0)
        history->there.errnum = 0;
    return 0;
}

/* Compared with the embedded policy, whose records are those of this build. */
static bool is_new_to_build(const struct ck_decision_records *records, const char *number)
{
    for (size_t i = 0; i < records->count; i++) {
        const struct ck_decision_record *record = &records->items[i];
        if (strcmp(record->number, number) == 0 && record->regular && record->length > 0 &&
            !ck_build_records_contain(record->bytes, record->length))
            return true;
    }
    return false;
}

/* It must be new compared with both: a record that was only moved does not count. */
static bool is_amended(const struct history *history, const char *number)
{
    const struct ck_decision_records *after = &history->after->records;
    if (!history->before->file)
        return is_new_to_build(after, number);
    return ck_decision_records_amended(&history->before->records, after, number) &&
           ck_decision_records_amended(&history->there, after, number);
}

/* Is any record new or amended? */
static bool any_amended(const struct history *history)
{
    const struct ck_decision_records *after = &history->after->records;
    for (size_t i = 0; i < after->count; i++)
        if (is_amended(history, after->items[i].number))
            return true;
    return false;
}

/* Why nothing can be covered; NULL if something can. */
static const char *why_unreadable(const struct history *history)
{
    const struct choke_policy *before = history->before;
    const struct choke_policy *after = history->after;
    if (!after->file)
        return "the records of an embedded policy cannot be looked up";
    if (before->records.errnum != 0 || history->there.errnum != 0)
        return "the old policy's records cannot be read";
    if (!after->policy->adr_dir)
        return "the new policy names no adr_dir";
    return after->records.errnum != 0 ? "the new policy's records cannot be read" : NULL;
}

/* All grants to a tool that is new as a whole: they are no changes of their own. */
static bool grants_are_covered(const struct history *history, const char *tool)
{
    const struct ck_policy *after = history->after->policy;
    for (uint32_t i = 0; i < after->grants_count; i++) {
        const struct ck_policy_grant *grant = &after->grants[i];
        if (strcmp(grant->name, tool) == 0 && (!grant->adr || !is_amended(history, grant->adr)))
            return false;
    }
    return true;
}

/*
 * NULL: the widening is covered. A change of a tool needs the record that its entry names, or that
 * the grant names which made it. One of the whole policy is covered by any new record, and so is one
 * of an entry of this build: its own record is not one of adr_dir.
 */
static const char *why_uncovered(const struct history *history, const struct choke_change *change,
                                 struct ck_arena *arena)
{
    const char *unreadable = why_unreadable(history);
    const struct ck_policy *after = history->after->policy;
    if (ck_extend_grant_of(after, change) && !change->adr)
        return "the grant cites no ADR";
    if (unreadable)
        return unreadable;
    if (!change->adr && change->tool && strcmp(change->field, "tools") == 0 &&
        !grants_are_covered(history, change->tool))
        return "no new or amended ADR of a grant to it";
    if (!change->adr)
        return any_amended(history) ? NULL : "no new or amended ADR";
    if (is_amended(history, change->adr))
        return NULL;
    const char *why = ck_arena_printf(arena, "no new or amended ADR: %s", change->adr);
    /* Without memory the number is left out; it is still not covered. */
    return why ? why : "no new or amended ADR";
}

/* A change that is not a widening is always covered. */
static void count(struct choke_diff *diff, const struct choke_change *change)
{
    diff->widens += change->kind == CHOKE_CHANGE_WIDENS;
    diff->narrows += change->kind == CHOKE_CHANGE_NARROWS;
    diff->neutral += change->kind == CHOKE_CHANGE_NEUTRAL;
    diff->uncovered += !change->covered;
}

static int compare(struct diff_box *box, struct choke_policy *before, struct choke_policy *after,
                   struct choke_error *error)
{
    struct choke_change *changes;
    struct history history = {.before = before, .after = after};
    if (ck_review_records(before, error) < 0 || ck_review_records(after, error) < 0)
        return -ENOMEM;
    if (read_moved_records(&history, &box->arena) < 0 ||
        ck_policy_diff(before->policy, after->policy, &box->arena, &changes, &box->diff.count) < 0)
        return ck_error_oom(error);
    box->diff.changes = changes;
    for (size_t i = 0; i < box->diff.count; i++) {
        if (changes[i].kind == CHOKE_CHANGE_WIDENS)
            changes[i].reason = why_uncovered(&history, &changes[i], &box->arena);
        changes[i].covered = !changes[i].reason;
        count(&box->diff, &changes[i]);
    }
    return 0;
}

int choke_policy_diff(struct choke_policy *old_policy, struct choke_policy *new_policy, struct choke_diff **ret_diff,
                      struct choke_error *error)
{
    if (!old_policy || !new_policy || !ret_diff)
        return ck_error_set(error, CHOKE_INVALID, EINVAL, "two policies and a pointer for the difference are required");
    /* The first of the two that is not valid, or a valid one. */
    const struct choke_policy *bad = !old_policy->policy ? old_policy : new_policy;
    if (!bad->policy) {
        if (error)
            *error = bad->fault;
        return -EINVAL;
    }
    struct diff_box *box = calloc(1, sizeof(*box));
    if (!box)
        return ck_error_oom(error);
    int r = compare(box, old_policy, new_policy, error);
    if (r < 0)
        choke_diff_free(&box->diff);
    else
        *ret_diff = &box->diff;
    return r;
}

void choke_diff_free(struct choke_diff *diff)
{
    if (!diff)
        return;
    struct diff_box *box = (struct diff_box *)diff;
    ck_arena_done(&box->arena);
    free(box);
}
