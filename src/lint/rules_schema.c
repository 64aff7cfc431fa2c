/*
 * rules_schema.c - see rules_schema.h.
 */
#include "lint/rules_schema.h"

#include "lint/rules.h"

#define TEXT_MAX 4096
#define LIST_MAX 256

static const cyaml_strval_t severities[] = {
    {"note", CK_LINT_NOTE}, {"warning", CK_LINT_WARNING}, {"error", CK_LINT_ERROR}};
static const cyaml_strval_t groups[] = {{"process", CK_LINT_PROCESS},
                                        {"shell", CK_LINT_SHELL},
                                        {"code", CK_LINT_CODE},
                                        {"data", CK_LINT_DATA},
                                        {"unclear", CK_LINT_UNCLEAR}};
static const cyaml_strval_t tests[] = {
    {"truthy", CK_TEST_TRUTHY},     {"falsy", CK_TEST_FALSY},   {"unsure", CK_TEST_UNSURE},
    {"present", CK_TEST_PRESENT},   {"absent", CK_TEST_ABSENT}, {"constant", CK_TEST_CONSTANT},
    {"variable", CK_TEST_VARIABLE}, {"one-of", CK_TEST_ONE_OF}, {"none-of", CK_TEST_NONE_OF},
};

#define OPTIONAL_LIST (CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL)
#define TEXT_FIELD(key, type, member) CYAML_FIELD_STRING_PTR(key, CYAML_FLAG_POINTER, type, member, 1, TEXT_MAX)
#define ENUM_FIELD(key, type, member, enum_names) \
    CYAML_FIELD_ENUM(key, CYAML_FLAG_STRICT, type, member, enum_names, CYAML_ARRAY_LEN(enum_names))
/* The name of a member cannot stand in parentheses. */
/* NOLINTBEGIN(bugprone-macro-parentheses) */
#define LIST_FIELD(key, flags, type, member) \
    CYAML_FIELD_SEQUENCE_COUNT(key, flags, type, member.items, member.count, &text_entry, 1, LIST_MAX)
/* NOLINTEND(bugprone-macro-parentheses) */

static const cyaml_schema_value_t text_entry = {CYAML_VALUE_STRING(CYAML_FLAG_POINTER, char *, 1, TEXT_MAX)};

static const cyaml_schema_field_t condition_fields[] = {
    CYAML_FIELD_STRING_PTR("keyword", OPTIONAL_LIST, struct ck_lint_condition, keyword, 1, TEXT_MAX),
    CYAML_FIELD_INT_PTR("position", OPTIONAL_LIST, struct ck_lint_condition, position_key),
    ENUM_FIELD("test", struct ck_lint_condition, test, tests),
    LIST_FIELD("values", OPTIONAL_LIST, struct ck_lint_condition, values),
    CYAML_FIELD_END,
};

static const cyaml_schema_value_t condition_entry = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct ck_lint_condition, condition_fields)};

static const cyaml_schema_field_t rule_fields[] = {
    TEXT_FIELD("id", struct ck_lint_rule, id),
    ENUM_FIELD("group", struct ck_lint_rule, group, groups),
    ENUM_FIELD("severity", struct ck_lint_rule, severity, severities),
    TEXT_FIELD("why", struct ck_lint_rule, why),
    TEXT_FIELD("instead", struct ck_lint_rule, instead),
    LIST_FIELD("find", CYAML_FLAG_POINTER, struct ck_lint_rule, find),
    LIST_FIELD("names", CYAML_FLAG_POINTER, struct ck_lint_rule, names),
    LIST_FIELD("triggers", CYAML_FLAG_POINTER, struct ck_lint_rule, triggers),
    CYAML_FIELD_SEQUENCE_COUNT("when", OPTIONAL_LIST, struct ck_lint_rule, when, when_count, &condition_entry, 1,
                               LIST_MAX),
    CYAML_FIELD_END,
};

static const cyaml_schema_value_t rule_entry = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct ck_lint_rule, rule_fields)};

static const cyaml_schema_field_t query_fields[] = {
    TEXT_FIELD("name", struct ck_lint_query, name),
    TEXT_FIELD("query", struct ck_lint_query, text),
    LIST_FIELD("grammars", OPTIONAL_LIST, struct ck_lint_query, grammars),
    CYAML_FIELD_END,
};

static const cyaml_schema_value_t query_entry = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct ck_lint_query, query_fields)};

static const cyaml_schema_field_t ruleset_fields[] = {
    LIST_FIELD("grammars", CYAML_FLAG_POINTER, struct ck_lint_ruleset, grammars),
    LIST_FIELD("lookups", OPTIONAL_LIST, struct ck_lint_ruleset, lookups),
    CYAML_FIELD_SEQUENCE_COUNT("queries", CYAML_FLAG_POINTER, struct ck_lint_ruleset, queries, queries_count,
                               &query_entry, 1, CK_LINT_QUERIES_MAX),
    CYAML_FIELD_SEQUENCE_COUNT("rules", CYAML_FLAG_POINTER, struct ck_lint_ruleset, rules, rules_count, &rule_entry, 1,
                               LIST_MAX),
    CYAML_FIELD_END,
};

const cyaml_schema_value_t ck_lint_ruleset_schema = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_POINTER, struct ck_lint_ruleset, ruleset_fields)};
