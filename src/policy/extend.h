/*
 * extend.h - a policy that builds on entries of this build: `extends`, `remove` and `grant` (R84).
 * Those of the catalogue are part of base (catalog.h).
 *
 * Pure. docs/adr/0057 has the rules and their reasons.
 */
#ifndef CK_POLICY_EXTEND_H
#define CK_POLICY_EXTEND_H

#include "chokepoint.h"
#include "policy/model.h"
#include "policy/yaml_tree.h"

/*
 * Makes one policy of the loaded one and base: the entries of base without those that are removed,
 * each replaced by the entry of the same name in the policy, lengthened by the grants; then the
 * other entries of the policy. The policy points into base afterwards. 0, or a negative errno and
 * *error.
 */
int ck_extend_apply(struct ck_policy *policy, const struct ck_policy *base, const struct ck_yaml_tree *tree,
                    struct choke_error *error);

/* The grant of the policy that made this change; NULL: the change does not come from a grant. */
const struct ck_policy_grant *ck_extend_grant_of(const struct ck_policy *policy, const struct choke_change *change);

#endif
