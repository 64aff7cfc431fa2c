/*
 * load.h - loads YAML text into a policy, or reports an error with line and column.
 *
 * Pure: no file is opened here. Refused, each with line and column: unknown keys, wrong types,
 * duplicate keys and tools, missing name, why, adr or route, anchors, aliases, tags, several
 * documents, NUL bytes, relative or empty search_path entries, text over CK_POLICY_MAX_BYTES.
 *
 * A policy with `extends: default` or `catalog` becomes one policy here, as if all of it had been
 * written in one file: its entries, those of the default policy that it does not replace or remove,
 * and those that it takes from the catalogue. Nothing after the loader depends on where an entry was
 * written.
 */
#ifndef CK_POLICY_LOAD_H
#define CK_POLICY_LOAD_H

#include "chokepoint.h"
#include "policy/model.h"
#include "policy/yaml_tree.h"

#define CK_POLICY_MAX_BYTES ((size_t)1 << 20)

/* The embedded policy (policy/default.yaml) as text. tables.h has it as structs. */
extern const unsigned char ck_policy_default_text[];
extern const size_t ck_policy_default_length;

/*
 * file is used in messages only. On failure a negative errno and *error; *ret_policy is not
 * changed.
 */
int ck_policy_parse(const char *file, const void *text, size_t length, struct ck_policy **ret_policy,
                    struct choke_error *error);

/* What is loaded, and how. */
struct ck_policy_source {
    const char *file; /* in messages only */
    const void *text;
    size_t length;
    /*
     * NULL, or what `extends: default` means in place of the default policy, for tests. The result
     * points into it, so it must live as long.
     */
    const struct ck_policy *base;
    const struct ck_policy *catalog; /* the same for `catalog` */
    /* A profile of the build: its carriers are looked up when it is used, in the policy at hand. */
    bool is_of_build;
    /*
     * NULL: the first fault is in *error. Else all faults are here, as far as each can be found
     * without the others; *error then has only what made the text unreadable.
     */
    struct ck_yaml_faults *faults;
};

/* The same with more choices. */
int ck_policy_parse_source(const struct ck_policy_source *source, struct ck_policy **ret_policy,
                           struct choke_error *error);

/* Makes by_name from tools, in the arena. False: no memory. */
bool ck_policy_index(struct ck_policy *policy, struct ck_arena *arena);

void ck_policy_free(struct ck_policy *policy); /* NULL is fine */

#endif
