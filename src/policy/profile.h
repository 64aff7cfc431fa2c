/*
 * profile.h - carriers and profiles of guard: which tools of a policy run in the cage (R90, R91).
 *
 *   1. ck_profile_apply       makes the policy that guard judges by: with the profile in place.
 *   2. ck_profile_is_carrier  of that policy: does the tool run in the cage? Else it is a door.
 *
 * A profile is in the policy, or of this build (policy/profiles, part of the catalogue's image).
 * Nothing else can supply one. Pure. docs/adr/0108 has the rules and their reasons.
 */
#ifndef CK_POLICY_PROFILE_H
#define CK_POLICY_PROFILE_H

#include "chokepoint.h"
#include "policy/model.h"
#include "policy/yaml_tree.h"

/*
 * For the loader, after everything is merged: does each tool that `guard` names exist, and may it
 * be a carrier? catalog NULL: that of the build. 0, or a negative errno and *error.
 */
int ck_profile_check_names(struct ck_policy *policy, const struct ck_yaml_tree *tree, const struct ck_policy *catalog,
                           struct choke_error *error);

/*
 * The profile of this name: that of the policy, else that of the build, which is copied into the
 * arena. -ENOENT and *error if there is none; -ENOMEM.
 */
int ck_profile_find(const struct ck_policy *policy, const char *name, struct ck_arena *arena,
                    const struct ck_profile **ret_profile, struct choke_error *error);

/* Does the policy name it, as its own or in `shipped`? Where it is locked, callers may use no other (R9). */
bool ck_profile_is_named(const struct ck_policy *policy, const char *name);

/*
 * The policy for guard with a profile; name NULL: with the section `guard` alone.
 *
 * In *ret_policy, guard is never NULL, and guard->own is what holds: the carriers and the `catalog`
 * of the section and of the profile together, and every other key of the profile alone; its
 * workspace is CK_WORKSPACE_RW or CK_WORKSPACE_OVERLAY. The tools are those of the policy, and those
 * of `catalog` that it does not have. It points into policy and the arena, and must not be freed by
 * itself. -EINVAL and *error if a carrier or program cannot be one here.
 */
int ck_profile_apply(const struct ck_policy *policy, const char *name, struct ck_arena *arena,
                     const struct ck_policy **ret_policy, struct choke_error *error);

/* Does it run in the cage? The policy is from ck_profile_apply. False for a tool of another platform. */
bool ck_profile_is_carrier(const struct ck_policy *policy, const struct ck_tool *tool);

/* Is it in the cage as a door? Every tool that callers may name, but for the carriers. */
bool ck_profile_is_door(const struct ck_policy *policy, const struct ck_tool *tool);

/* May PROGRAM be this carrier? */
bool ck_profile_is_program(const struct ck_policy *policy, const struct ck_tool *tool);

#endif
