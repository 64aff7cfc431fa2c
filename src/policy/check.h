/*
 * check.h - the rules that a well-formed policy must keep: see load.h for the list.
 *
 * policy was loaded from the text that survey describes. 0, or -EINVAL and the first fault in *error, with its place.
 */
#ifndef CK_POLICY_CHECK_H
#define CK_POLICY_CHECK_H

#include "policy/model.h"
#include "policy/yaml_tree.h"

int ck_policy_check(const struct ck_policy *policy, const struct ck_yaml_tree *tree, struct choke_error *error);

#endif
