/* test_lint_rules.c - the embedded rules load and compile for every grammar, and a malformed file does not. */
#include "lint/program.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define QUERIES "queries: [{name: call, query: '(call function: (_) @name arguments: (_) @arguments)'}]\n"
#define HEAD "grammars: [python]\n" QUERIES
#define RULE_HEAD "rules:\n  - {id: a-rule, group: code, severity: error, why: w, instead: i, find: [call], names: [f]"
#define RULE RULE_HEAD ", triggers: [f]}\n"

static void embedded_rules_compile_for_every_grammar(void **state)
{
    struct ck_lint_rules *rules = NULL;
    struct choke_error error = {0};
    (void)state;
    if (ck_lint_rules_load(&rules, &error) < 0)
        fail_msg("%s", error.message);
    for (size_t i = 0; i < CK_GRAMMARS; i++) {
        const struct ck_lint_program *program = NULL, *again = NULL;
        assert_non_null(rules->by_grammar[i]);
        if (ck_lint_program_get(rules, &ck_grammars[i], &program, &error) < 0)
            fail_msg("%s", error.message);
        assert_int_equal(ck_lint_program_get(rules, &ck_grammars[i], &again, &error), 0);
        assert_ptr_equal(program, again);
    }
    ck_lint_rules_free(rules);
}

/* Texts for users are whole sentences, and each rule can be found by its id. */
static void embedded_rules_explain_themselves(void **state)
{
    struct ck_lint_rules *rules = NULL;
    struct choke_error error = {0};
    (void)state;
    assert_int_equal(ck_lint_rules_load(&rules, &error), 0);
    for (uint32_t i = 0; i < rules->rulesets_count; i++)
        for (uint32_t at = 0; at < rules->rulesets[i]->rules_count; at++) {
            const struct ck_lint_rule *rule = &rules->rulesets[i]->rules[at];
            assert_ptr_equal(ck_lint_rules_find(rules, rule->id), rule);
            assert_int_equal(rule->why[strlen(rule->why) - 1], '.');
            assert_int_equal(rule->instead[strlen(rule->instead) - 1], '.');
        }
    assert_null(ck_lint_rules_find(rules, "no-such-rule"));
    ck_lint_rules_free(rules);
}

/* Loads and compiles; returns the message if one of the two fails. */
static bool accepted(const char *text, struct choke_error *error)
{
    struct ck_lint_rules *rules = NULL;
    const struct ck_lint_program *program;
    if (ck_lint_rules_parse("file", text, strlen(text), &rules, error) < 0)
        return false;
    int r = ck_lint_program_get(rules, &ck_grammars[CK_GRAMMAR_PYTHON], &program, error);
    ck_lint_rules_free(rules);
    return r == 0;
}

static void a_small_file_is_accepted(void **state)
{
    struct choke_error error = {0};
    (void)state;
    if (!accepted(HEAD RULE, &error))
        fail_msg("%s", error.message);
}

static const struct {
    const char *text, *word; /* word: in the message */
} malformed[] = {
    {"grammars: [python]\n" QUERIES, "rules"},
    {"grammars: [cobol]\n" QUERIES RULE, "cobol"},
    {"grammars: [python, python]\n" QUERIES RULE, "already"},
    {HEAD RULE_HEAD "}\n", "triggers"},
    {HEAD RULE_HEAD ", triggers: [f], color: red}\n", "color"},
    {HEAD RULE_HEAD ", triggers: ['a.b']}\n", "trigger"},
    {HEAD RULE_HEAD ", triggers: [f], when: [{test: truthy}]}\n", "keyword or a position"},
    {HEAD RULE_HEAD ", triggers: [f], when: [{position: -2, test: truthy}]}\n", "from 0"},
    {HEAD RULE_HEAD ", triggers: [f], when: [{position: 1, test: one-of}]}\n", "values"},
    {HEAD RULE_HEAD ", triggers: [f], when: [{position: 1, test: truthy, values: [a]}]}\n", "values"},
    {HEAD RULE_HEAD ", triggers: [f], when: [{position: 1, test: maybe}]}\n", "maybe"},
    {HEAD
     "rules:\n  - {id: A, group: code, severity: error, why: w, instead: i, find: [call], names: [f], triggers: [f]}\n",
     "a-z"},
    {HEAD
     "rules:\n  - {id: a, group: code, severity: error, why: w, instead: i, find: [cal], names: [f], triggers: [f]}\n",
     "'cal'"},
    {HEAD RULE
     "  - {id: a-rule, group: code, severity: error, why: w, instead: i, find: [call], names: [g], triggers: [g]}\n",
     "two rules"},
    {"grammars: [python]\nqueries: [{name: call, query: '(call'}]\n" RULE, "query 'call'"},
    {"grammars: [python]\nqueries: [{name: call, query: '(no_such_node) @name'}]\n" RULE, "query 'call'"},
    {"grammars: [python]\nqueries: [{name: call, query: '(call) @site'}]\n" RULE, "query 'call'"},
    {"grammars: [python]\nqueries: [{name: call, query: '(call) @name @other'}]\n" RULE, "query 'call'"},
    {"grammars: [python]\nqueries: [{name: call, query: '((call) @name (#eq? @name \"x\"))'}]\n" RULE, "query 'call'"},
};

/* What the table refuses, and what is checked after it, both with line and column. */
static void faults_of_a_file_have_line_and_column(void **state)
{
    static const struct {
        const char *text;
        unsigned line, column;
    } cases[] = {
        {HEAD RULE_HEAD ", triggers: [f], color: red}\n", 4, 109},
        {HEAD RULE_HEAD ", triggers: [f], when: [{test: truthy}]}\n", 4, 116},
        {HEAD RULE_HEAD ", triggers: ['a.b']}\n", 4, 5},
        {HEAD RULE RULE, 5, 1},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct choke_error error = {0};
        assert_false(accepted(cases[i].text, &error));
        if (error.line != cases[i].line || error.column != cases[i].column)
            fail_msg("row %zu: at %u:%u: %s", i, error.line, error.column, error.message);
        assert_non_null(strstr(error.message, "rules 'file': line "));
    }
}

static void malformed_files_are_refused_with_the_reason(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(malformed) / sizeof(malformed[0]); i++) {
        struct choke_error error = {0};
        if (accepted(malformed[i].text, &error))
            fail_msg("accepted: %s", malformed[i].text);
        if (!strstr(error.message, malformed[i].word))
            fail_msg("'%s' is not in: %s", malformed[i].word, error.message);
    }
}

static void languages_are_detected_by_name_and_by_first_line(void **state)
{
    static const struct {
        const char *path, *text, *language; /* NULL: none */
    } cases[] = {
        {"a.py", NULL, "python"},
        {"dir.py/readme", NULL, NULL},
        {"a.tsx", NULL, "tsx"},
        {"a.h", NULL, "c"},
        {"run", "#!/bin/sh\n", "bash"},
        {"run", "#!/usr/bin/env python3\n", "python"},
        {"run", "#! /usr/bin/env -S A=b python3.11 -u\nx", "python"},
        {"run", "#!/usr/local/bin/node", "javascript"},
        {"run", "#!/bin/shred\n", NULL},
        {"run", "#!/usr/bin/env\n", NULL},
        {"run", "print(1)\n", NULL},
        {"a.txt", "#!/usr/bin/python3\n", "python"},
        {"a.py", "#!/bin/sh\n", "python"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const char *text = cases[i].text;
        const struct ck_grammar *found = ck_grammar_of(cases[i].path, text, text ? strlen(text) : 0);
        if (!cases[i].language)
            assert_null(found);
        else
            assert_string_equal(found->name, cases[i].language);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(embedded_rules_compile_for_every_grammar),
        cmocka_unit_test(embedded_rules_explain_themselves),
        cmocka_unit_test(a_small_file_is_accepted),
        cmocka_unit_test(malformed_files_are_refused_with_the_reason),
        cmocka_unit_test(faults_of_a_file_have_line_and_column),
        cmocka_unit_test(languages_are_detected_by_name_and_by_first_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
