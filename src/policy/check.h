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

/* ---- for check_guard.c ---- */

struct ck_check_part {
    const struct ck_policy *policy;
    const struct ck_yaml_tree *tree;
    const struct ck_yaml_node *node; /* the mapping */
    const char *label;               /* "profile 'ci'" */
    struct choke_error *error;
};

/* The values of why, adr, env, set_env and egress, as if the mapping were an entry with these keys. */
int ck_policy_check_part(const struct ck_check_part *part, const struct ck_profile *profile);

/* No line break, and nothing twice unless it repeats. The key may be absent. */
int ck_policy_check_list(const struct ck_check_part *part, const char *key, bool repeats);

/* Absolute, in canonical form: no '.', '..', empty component or slash at the end. */
bool ck_policy_check_is_plain_path(const char *path);

/* A tool's name: 1 to 64 of a-z, 0-9 and "._+-", beginning with a letter or digit. */
bool ck_policy_check_is_name(const char *name);

/* The section `guard`: everything but whether the tools that it names exist (profile.h). */
int ck_policy_check_guard(const struct ck_policy *policy, const struct ck_yaml_tree *tree, struct choke_error *error);

#endif
