/* rules_schema.h - the keys of a rule file, as tables for base/yaml.h. rules.h explains them. */
#ifndef CK_LINT_RULES_SCHEMA_H
#define CK_LINT_RULES_SCHEMA_H

#include "base/yaml.h"

#define CK_LINT_QUERIES_MAX 32 /* of one file: a rule has one bit for each */

/* Reads into a struct ck_lint_ruleset. */
extern const struct ck_yaml_format ck_lint_rules_format;

const char *const *ck_lint_rules_severities(void); /* by enum ck_lint_severity */
const char *const *ck_lint_rules_groups(void);     /* by enum ck_lint_group */

#endif
