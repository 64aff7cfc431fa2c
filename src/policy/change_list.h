/*
 * change_list.h - a growing list of changes, for diff.c and diff_args.c.
 *
 * If there is no memory for a change, failed is set: a list without it would hide a change, so all
 * of it is useless.
 */
#ifndef CK_POLICY_CHANGE_LIST_H
#define CK_POLICY_CHANGE_LIST_H

#include "chokepoint.h"
#include "policy/model.h"
#include "policy/width.h"

struct ck_change_link;

struct ck_policy_changes {
    struct ck_arena *arena;
    const char *tool;   /* for changes added from now on; NULL: the policy as a whole */
    const char *prefix; /* written before each field: "args.subcommands.log." */
    struct ck_change_link *first, *last;
    size_t count;
    bool failed;
};

/* All changes in one array of the arena. 0 or -ENOMEM. */
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

/* Adds nothing if the two texts are the same. OTHER counts as wider. */
void ck_change_width(struct ck_policy_changes *changes, enum ck_width width, const char *field, const char *before,
                     const char *after);

/*
 * why NULL: the change is proven to narrow. Else it widens, and why (constant text) says what is
 * granted that was not.
 */
void ck_change_add_proof(struct ck_policy_changes *changes, const char *field, const char *before, const char *after,
                         const char *why);

/* The same, but adds nothing if the two texts are the same. */
void ck_change_proof(struct ck_policy_changes *changes, const char *field, const char *before, const char *after,
                     const char *why);

/*
 * As sets: entries only in after are of the kind added, entries only in before of the kind removed.
 */
void ck_change_lists(struct ck_policy_changes *changes, const char *field, const struct ck_list *before,
                     const struct ck_list *after, enum choke_change_kind added, enum choke_change_kind removed);

/* As a whole: any difference is of this kind. An empty list counts as absent. */
void ck_change_whole_list(struct ck_policy_changes *changes, const char *field, const struct ck_list *before,
                          const struct ck_list *after, enum choke_change_kind kind);

/* Any difference is of this kind; NULL: absent. */
void ck_change_text(struct ck_policy_changes *changes, const char *field, const char *before, const char *after,
                    enum choke_change_kind kind);

bool ck_policy_list_has(const struct ck_list *list, const char *text);
bool ck_policy_list_same(const struct ck_list *a, const struct ck_list *b);

/* The entries with blanks between them; NULL when out of memory, and then failed is set. */
const char *ck_change_join(struct ck_policy_changes *changes, const struct ck_list *list);

/* The arguments of one tool, in diff_args.c. */
void ck_diff_args(const struct ck_diff_pair *pair);

/* The egress of anything: two lists of destinations. */
void ck_diff_destinations(struct ck_policy_changes *changes, const struct ck_list *was, const struct ck_list *is);

struct ck_diff_variables {
    const struct ck_variable *items;
    uint32_t count;
};

/* The set_env of anything. */
void ck_diff_variables(struct ck_policy_changes *changes, const struct ck_diff_variables *before,
                       const struct ck_diff_variables *after);

/* The section `guard`, in diff_guard.c; and the record that covers one of its changes, or NULL. */
void ck_diff_guard(struct ck_policy_changes *changes, const struct ck_policy *before, const struct ck_policy *after);
const char *ck_diff_guard_record(const struct choke_change *change, const struct ck_policy *after);

/* Is there a rule for a key that a subcommand may have in place of the tool's? */
bool ck_diff_has_rule(const char *key);

/* The keys that a subcommand has in place of the tool's; it is in both policies. */
void ck_diff_subcommand_keys(const struct ck_diff_pair *pair, const struct ck_subcommand *before,
                             const struct ck_subcommand *after);

/* Do these keys grant something that the tool itself was not granted before? */
bool ck_diff_subcommand_widens(const struct ck_diff_pair *pair, const struct ck_subcommand *subcommand);

/*
 * A vector was listed as exactly allowed and is not any more. Why that is not narrower; NULL: it is
 * refused now, or the rules allow the same.
 */
const char *ck_diff_vector(const struct ck_diff_pair *pair, const struct ck_list *vector);

#endif
