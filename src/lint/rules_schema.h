/*
 * rules_schema.h - the keys of a rule file, for libcyaml. See rules.h for what they mean.
 */
#ifndef CK_LINT_RULES_SCHEMA_H
#define CK_LINT_RULES_SCHEMA_H

#include <cyaml/cyaml.h>

#define CK_LINT_QUERIES_MAX 32 /* of one file: a rule keeps them as bits */

/* A struct ck_lint_ruleset. */
extern const cyaml_schema_value_t ck_lint_ruleset_schema;

#endif
