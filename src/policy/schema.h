/*
 * schema.h - the keys of a policy and their types: one table for the loader and for its error
 * messages.
 *
 * To add a key: a member in model.h, a line in the table of schema.c, its rule in check.c, a copy
 * in load.c.
 */
#ifndef CK_POLICY_SCHEMA_H
#define CK_POLICY_SCHEMA_H

#include "policy/yaml_tree.h"

#include <cyaml/cyaml.h>

#define CK_POLICY_MAX_TOOLS 4096
#define CK_TOOL_MAX_ENV 64         /* names in env, entries in set_env; the judge has one bit for each */
#define CK_POLICY_MAX_LIST 64      /* entries of most lists; args.c has one bit for each */
#define CK_POLICY_MAX_OPTIONS 1024 /* entries of one list of options */
#define CK_POLICY_MAX_GRANTS 256
#define CK_POLICY_MAX_CATALOG 256 /* entries that one policy takes */
#define CK_POLICY_MAX_CARRIERS 256
#define CK_POLICY_MAX_PROFILES 64

/* The keys of upstream, which is not in the table of libcyaml (schema.c). */
extern const cyaml_schema_field_t ck_schema_upstream_fields[];

/* Loads into a struct ck_policy; its arena, file, index and lines are not set. */
extern const cyaml_schema_value_t ck_policy_schema;

/*
 * Compares the tree with the table: keys, types, words of a choice, sizes. 0, or -EINVAL and
 * *error.
 */
int ck_schema_check(const struct ck_yaml_tree *tree, struct choke_error *error);

/*
 * Was the key given although its value in the model is empty? fields is the table of the struct at
 * data. False for a key whose absence has the same meaning as an empty value.
 */
bool ck_schema_is_given(const cyaml_schema_field_t *fields, const char *key, const void *data);

/* "tool 'rg'", or "tool number 3" if it has no name; in buffer. */
const char *ck_schema_tool_label(const struct ck_yaml_node *tool, uint32_t index, char *buffer, size_t size);

#endif
