/*
 * diff.h - what one policy allows and the other does not (R6).
 *
 * Pure. Every field of the model has a rule here, and every difference is a change of one of three
 * kinds: it widens, narrows, or is neutral. A change that has an effect on what runs and is not
 * proven to narrow, widens: a reviewer must look at it. docs/adr/0017 has the table.
 *
 * The order of tools, options, names in env and the like has no meaning, so it is not a change.
 * Options are compared with their sets expanded.
 */
#ifndef CK_POLICY_DIFF_H
#define CK_POLICY_DIFF_H

#include "chokepoint.h"
#include "policy/model.h"

/*
 * The changes in the order of the policies: the top, then the tools of before, then new tools. adr
 * is the record that the tool's entry cites. covered and reason are left to the caller, which can
 * read the records. Texts belong to the policies or the arena. 0 or -ENOMEM.
 */
int ck_policy_diff(const struct ck_policy *before, const struct ck_policy *after, struct ck_arena *arena,
                   struct choke_change **ret_changes, size_t *ret_count);

#endif
