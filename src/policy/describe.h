/*
 * describe.h - a policy as JSON: every field of the model, under the names of the file. See
 * chokepoint.h.
 */
#ifndef CK_POLICY_DESCRIBE_H
#define CK_POLICY_DESCRIBE_H

#include "policy/model.h"

/* One line of text in the arena; NULL when out of memory. */
const char *ck_policy_json(const struct ck_policy *policy, struct ck_arena *arena);

/* What a cage with this profile has, the same keys. */
const char *ck_policy_cage_json(const struct ck_profile *profile, struct ck_arena *arena);

#endif
