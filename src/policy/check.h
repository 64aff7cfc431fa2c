/*
 * check.h - checks the values of a well-formed policy: load.h has the list.
 *
 * policy was loaded from the text of tree. 0, or -EINVAL and the first fault in *error, with line
 * and column.
 */
#ifndef CK_POLICY_CHECK_H
#define CK_POLICY_CHECK_H

#include "policy/model.h"
#include "policy/yaml_tree.h"

int ck_policy_check(const struct ck_policy *policy, const struct ck_yaml_tree *tree, struct choke_error *error);

#endif
