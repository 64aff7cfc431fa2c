/*
 * change_list.h - a list of changes that grows, for diff.c and diff_args.c.
 *
 * A change that does not fit into memory is not forgotten: failed is set, and the whole list is worthless.
 */
#ifndef CK_POLICY_CHANGE_LIST_H
#define CK_POLICY_CHANGE_LIST_H

#include "chokepoint.h"
#include "policy/model.h"
#include "policy/width.h"

struct ck_change_link;

struct ck_policy_changes {
    struct ck_arena *arena;
    const char *tool;   /* of what is added from now on; NULL: the policy as a whole */
    const char *prefix; /* put before each field: "args.subcommands.log." */
    struct ck_change_link *first, *last;
    size_t count;
    bool failed;
};

/* All of them in one array of the arena. 0, or -ENOMEM. */
int ck_change_list_take(const struct ck_policy_changes *changes, struct choke_change **ret_changes, size_t *ret_count);

/* One tool in both policies. */
struct ck_diff_pair {
    struct ck_policy_changes *changes;
    const struct ck_policy *old_policy;
    const struct ck_policy *new_policy;
    const struct ck_tool *before;
    const struct ck_tool *after;
};

/* before and after live as long as the arena; NULL: absent. */
void ck_change_add(struct ck_policy_changes *changes, enum choke_change_kind kind, const char *field,
                   const char *before, const char *after);

/* Adds nothing where the two texts are the same. OTHER counts as wider. */
void ck_change_width(struct ck_policy_changes *changes, enum ck_width width, const char *field, const char *before,
                     const char *after);

/*
 * The change is proven to narrow, or it widens, and why says what is granted that was not (constant text); NULL: it
 * narrows.
 */
void ck_change_add_proof(struct ck_policy_changes *changes, const char *field, const char *before, const char *after,
                         const char *why);

/* The same, but adds nothing where the two texts are the same. */
void ck_change_proof(struct ck_policy_changes *changes, const char *field, const char *before, const char *after,
                     const char *why);

/* As sets: what only the second has is of the kind added, what only the first has of the kind removed. */
void ck_change_lists(struct ck_policy_changes *changes, const char *field, const struct ck_list *before,
                     const struct ck_list *after, enum choke_change_kind added, enum choke_change_kind removed);

/* As a whole: any difference is of this kind. An empty list is absent. */
void ck_change_whole_list(struct ck_policy_changes *changes, const char *field, const struct ck_list *before,
                          const struct ck_list *after, enum choke_change_kind kind);

/* Any difference is of this kind; NULL: absent. */
void ck_change_text(struct ck_policy_changes *changes, const char *field, const char *before, const char *after,
                    enum choke_change_kind kind);

bool ck_policy_list_has(const struct ck_list *list, const char *text);
bool ck_policy_list_same(const struct ck_list *a, const struct ck_list *b);

/* The words with blanks between them; NULL, and failed is set, when out of memory. */
const char *ck_change_join(struct ck_policy_changes *changes, const struct ck_list *list);

/* The arguments of one tool, in diff_args.c. */
void ck_diff_args(const struct ck_diff_pair *pair);

/* Why a vector that was allowed as it stands is not less now that it is not listed; NULL: it is refused, or the same. */
const char *ck_diff_vector(const struct ck_diff_pair *pair, const struct ck_list *vector);

#endif
