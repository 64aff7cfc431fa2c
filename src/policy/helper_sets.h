/*
 * helper_sets.h - the sets of helpers that `uses` names, and all helpers of a tool.
 *
 * The sets are data: policy/helpers.yaml, compiled into tables when the library is built
 * (tools/gen/helper-tables.c). Pure.
 */
#ifndef CK_POLICY_HELPER_SETS_H
#define CK_POLICY_HELPER_SETS_H

#include "policy/model.h"

struct ck_helper_set {
    const char *name;
    const char *why;
    struct ck_list helpers; /* names, then paths; a path of a directory ends with '/' */
};

extern const struct ck_helper_set ck_helper_sets[];
extern const uint32_t ck_helper_sets_count;

/* NULL: there is no such set. */
const struct ck_helper_set *ck_helper_sets_find(const char *name);

/* The set whose name is most like this one; NULL: none is like it. */
const struct ck_helper_set *ck_helper_sets_nearest(const char *name);

/* One helper of a tool: a name, or an absolute path. */
struct ck_helper {
    const char *text;
    const struct ck_helper_set *set; /* it is from; '*' in its path is a pattern. NULL: from `execs` */
};

/* The helper with this index: those of `execs`, then those of each set. False: there are fewer. */
bool ck_helper_sets_at(const struct ck_tool *tool, uint32_t index, struct ck_helper *ret_helper);

/* Is the text a helper of the tool, from `execs` or from a set? */
bool ck_helper_sets_have(const struct ck_tool *tool, const char *text);

/* Does the tool have a closed list, even an empty one? */
bool ck_helper_sets_bind(const struct ck_tool *tool);

#endif
