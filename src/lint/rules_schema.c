/* rules_schema.c - the tables of the keys of a rule file. See rules_schema.h. */
#include "lint/rules_schema.h"

#include "lint/rules.h"

#include <string.h>

#define FILE_MAX ((size_t)1 << 20) /* bytes of a rule file */
#define TEXT_MAX 4096              /* bytes of one text; a query is the longest */
#define LIST_MAX 256               /* entries of one list */
#define POSITION_MAX 255           /* more arguments than a call has */

/* Words of the file, by the enum that they are stored as. NULL ends each list. */
static const char *const severities[] = {
    [CK_LINT_NOTE] = "note", [CK_LINT_WARNING] = "warning", [CK_LINT_ERROR] = "error", NULL};
static const char *const groups[] = {
    [CK_LINT_PROCESS] = "process", [CK_LINT_SHELL] = "shell",     [CK_LINT_CODE] = "code",
    [CK_LINT_DATA] = "data",       [CK_LINT_UNCLEAR] = "unclear", NULL};
static const char *const tests[] = {[CK_TEST_TRUTHY] = "truthy",     [CK_TEST_FALSY] = "falsy",
                                    [CK_TEST_UNSURE] = "unsure",     [CK_TEST_PRESENT] = "present",
                                    [CK_TEST_ABSENT] = "absent",     [CK_TEST_CONSTANT] = "constant",
                                    [CK_TEST_VARIABLE] = "variable", [CK_TEST_ONE_OF] = "one-of",
                                    [CK_TEST_NONE_OF] = "none-of",   NULL};

const char *const *ck_lint_rules_severities(void)
{
    return severities;
}

const char *const *ck_lint_rules_groups(void)
{
    return groups;
}

/* Waivers and the configuration name rules by these, see add_rule in waiver.c. */
static bool is_id(const char *text)
{
    return text[strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789-")] == '\0';
}

static const struct ck_yaml_form id_form = {is_id, "a-z, 0-9 and '-' only"};

/* Where the value goes in the struct; base/yaml.h explains the members. */
#define AT(type, member) .offset = offsetof(struct type, member)
/* A member name cannot be put in parentheses, which clang-tidy asks for. */
/* NOLINTBEGIN(bugprone-macro-parentheses) */
/* A struct ck_lint_strings, and an array of structs with its count. Empty lists are refused. */
#define LIST(type, member) \
    AT(type, member.items), .count_offset = offsetof(struct type, member.count), .not_empty = true, \
                            .max_entries = LIST_MAX
#define RECORDS(type, member, table) \
    AT(type, member), .count_offset = offsetof(struct type, member##_count), .not_empty = true, .keys = (table), \
                      .size = sizeof(*((struct type *)0)->member)
/* NOLINTEND(bugprone-macro-parentheses) */

/* The tables below are those of rules.h. .name = NULL ends each. */
static const struct ck_yaml_key condition_keys[] = {
    {"keyword", CK_YAML_TEXT, AT(ck_lint_condition, keyword)},
    {"position", CK_YAML_NUMBER, AT(ck_lint_condition, position), .max = POSITION_MAX, .absent = -1},
    {"test", CK_YAML_CHOICE, .required = true, AT(ck_lint_condition, test), .choices = tests},
    {"values", CK_YAML_TEXTS, LIST(ck_lint_condition, values)},
    {.name = NULL},
};

static const struct ck_yaml_key rule_keys[] = {
    {"id", CK_YAML_TEXT, .required = true, AT(ck_lint_rule, id), .form = &id_form},
    {"group", CK_YAML_CHOICE, .required = true, AT(ck_lint_rule, group), .choices = groups},
    {"severity", CK_YAML_CHOICE, .required = true, AT(ck_lint_rule, severity), .choices = severities},
    {"why", CK_YAML_TEXT, .required = true, AT(ck_lint_rule, why)},
    {"instead", CK_YAML_TEXT, .required = true, AT(ck_lint_rule, instead)},
    {"find", CK_YAML_TEXTS, .required = true, LIST(ck_lint_rule, find)},
    {"names", CK_YAML_TEXTS, .required = true, LIST(ck_lint_rule, names)},
    {"triggers", CK_YAML_TEXTS, .required = true, LIST(ck_lint_rule, triggers)},
    {"when", CK_YAML_RECORDS, RECORDS(ck_lint_rule, when, condition_keys), .max_entries = LIST_MAX},
    {.name = NULL},
};

static const struct ck_yaml_key query_keys[] = {
    {"name", CK_YAML_TEXT, .required = true, AT(ck_lint_query, name)},
    {"query", CK_YAML_TEXT, .required = true, AT(ck_lint_query, text)},
    {"grammars", CK_YAML_TEXTS, LIST(ck_lint_query, grammars)},
    {.name = NULL},
};

static const struct ck_yaml_key ruleset_keys[] = {
    {"grammars", CK_YAML_TEXTS, .required = true, LIST(ck_lint_ruleset, grammars)},
    {"lookups", CK_YAML_TEXTS, LIST(ck_lint_ruleset, lookups)},
    /* At most one for each bit of ck_lint_rule.queries. */
    {"queries", CK_YAML_RECORDS, .required = true, RECORDS(ck_lint_ruleset, queries, query_keys),
     .max_entries = CK_LINT_QUERIES_MAX},
    {"rules", CK_YAML_RECORDS, .required = true, RECORDS(ck_lint_ruleset, rules, rule_keys), .max_entries = LIST_MAX},
    {.name = NULL},
};

const struct ck_yaml_format ck_lint_rules_format = {
    .what = "rules", .keys = ruleset_keys, .max_bytes = FILE_MAX, .text_max = TEXT_MAX};
