/*
 * yaml_write.h - writes a policy as YAML that loads back to the same policy (R84).
 *
 * `extends`, `catalog`, `remove` and `grant` are not written: the loader has applied them. The same policy
 * always gives the same bytes, whatever file it was loaded from; its digest identifies it.
 */
#ifndef CK_POLICY_YAML_WRITE_H
#define CK_POLICY_YAML_WRITE_H

#include "policy/model.h"

/* Text in the arena; NULL when out of memory. */
const char *ck_policy_yaml(const struct ck_policy *policy, struct ck_arena *arena);

/* One text, with quotes where they are needed; also inside of brackets. NULL when out of memory. */
const char *ck_policy_yaml_text(const char *text, struct ck_arena *arena);

#endif
