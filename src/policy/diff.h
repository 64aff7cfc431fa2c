/*
 * diff.h - what one policy allows and the other does not (R6).
 *
 * Pure. Every field of the model has its rule here, and every difference is a change of one of three kinds: it widens,
 * narrows, or is neutral. What cannot be proven to narrow, and has an effect on what is run, widens: a reviewer must
 * look. docs/adr/0017 has the table.
 *
 * The order of tools, of options, of names in env and the like has no meaning, and is no change. Options are compared
 * with their sets put in.
 */
#ifndef CK_POLICY_DIFF_H
#define CK_POLICY_DIFF_H

#include "chokepoint.h"
#include "policy/model.h"

/*
 * The changes in the order of the policies: the top, then the tools of before, then those that are new. adr is the
 * record that the tool's entry cites; covered and reason are left for whoever can look at records. Texts are the
 * policies' or the arena's. 0, or -ENOMEM.
 */
int ck_policy_diff(const struct ck_policy *before, const struct ck_policy *after, struct ck_arena *arena,
                   struct choke_change **ret_changes, size_t *ret_count);

#endif
