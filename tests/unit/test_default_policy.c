/* test_default_policy.c - the shipped policy: exactly the tools that were decided on, with reasons. */
#include "feature.h"
#include "policy/describe.h"
#include "policy/load.h"
#include "policy/schema.h"
#include "policy/tables.h"
#include "policy/yaml_tree.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* The default policy of the build, copied once. */
static const struct ck_policy *embedded(void)
{
    static struct ck_arena arena;
    static const struct ck_policy *policy;
    if (!policy)
        policy = ck_policy_default(&arena);
    assert_non_null(policy);
    return policy;
}

#ifndef CHOKE_SOURCE_DIR
#error "CHOKE_SOURCE_DIR must name the source directory"
#endif

/* Primes, so that each cut is at another position of its line. With the sanitizers each takes five
 * times as long. */
#define FULL_CUT_STEP 7
#if defined(CHOKE_SANITIZED)
#define CUT_STEP 53
#else
#define CUT_STEP 29
#endif

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

struct shipped {
    const char *name;
    enum ck_route route;
    unsigned platforms;
};

static const struct shipped shipped[] = {
    {"git", CK_ROUTE_EXTERNAL, 0},
    {"node", CK_ROUTE_DIRECT, 0},
    {"docker", CK_ROUTE_DIRECT, 0},
    {"strace", CK_ROUTE_DIRECT, CK_PLATFORM_LINUX},
    {"semgrep", CK_ROUTE_EXTERNAL, 0},
    {"syft", CK_ROUTE_EXTERNAL, 0},
    {"grype", CK_ROUTE_EXTERNAL, 0},
    {"gitleaks", CK_ROUTE_EXTERNAL, 0},
    {"scip-typescript", CK_ROUTE_EXTERNAL, 0},
    {"tree-sitter", CK_ROUTE_EXTERNAL, 0},
    {"ast-grep", CK_ROUTE_EXTERNAL, 0},
    {"rg", CK_ROUTE_EXTERNAL, 0},
    {"npm", CK_ROUTE_EXTERNAL, 0},
    {"jq", CK_ROUTE_EXTERNAL, 0},
    {"bwrap", CK_ROUTE_JAIL, CK_PLATFORM_LINUX},
    {"sandbox-exec", CK_ROUTE_JAIL, CK_PLATFORM_MACOS},
};

static struct ck_policy *default_policy(void)
{
    struct ck_policy *policy = NULL;
    struct choke_error error = {0};
    if (ck_policy_parse(CK_POLICY_DEFAULT_NAME, ck_policy_default_text, ck_policy_default_length, &policy, &error) != 0)
        fail_msg("refused: %s", error.message);
    return policy;
}

static void default_policy_lists_exactly_the_sixteen(void **state)
{
    (void)state;
    struct ck_policy *policy = default_policy();
    assert_int_equal(policy->tools_count, COUNT(shipped));
    for (uint32_t i = 0; i < policy->tools_count; i++) {
        assert_string_equal(policy->tools[i].name, shipped[i].name);
        assert_int_equal(policy->tools[i].route, shipped[i].route);
        assert_int_equal(policy->tools[i].platforms, shipped[i].platforms);
    }
    assert_null(ck_policy_find(policy, "java"));
    ck_policy_free(policy);
}

static void assert_same_table(const struct ck_rules *built_in, const struct ck_rules *parsed)
{
    assert_int_equal(built_in->table_count, parsed->table_count);
    for (uint32_t i = 0; i < parsed->table_count; i++) {
        const struct ck_arg_option *a = &built_in->table[i];
        const struct ck_arg_option *b = &parsed->table[i];
        assert_string_equal(a->text, b->text);
        assert_string_equal(a->name, b->name);
        assert_int_equal(a->name_length, b->name_length);
        assert_int_equal(a->form, b->form);
        assert_int_equal(a->patterns_count, b->patterns_count);
        for (uint32_t k = 0; k < b->patterns_count; k++) {
            assert_string_equal(a->patterns[k].text, b->patterns[k].text);
            assert_int_equal(a->patterns[k].type, b->patterns[k].type);
        }
    }
    assert_int_equal(built_in->has_first, parsed->has_first);
    assert_int_equal(built_in->options_first, parsed->options_first);
}

static void assert_same_made(const struct ck_tool *built_in, const struct ck_tool *parsed)
{
    assert_int_equal(built_in->line, parsed->line);
    assert_int_equal(built_in->has_execs, parsed->has_execs);
    assert_int_equal(!!built_in->args, !!parsed->args);
    if (!parsed->args)
        return;
    assert_int_equal(built_in->args->line, parsed->args->line);
    assert_int_equal(built_in->args->only_exact, parsed->args->only_exact);
    assert_same_table(&built_in->args->rules, &parsed->args->rules);
    for (uint32_t i = 0; i < parsed->args->subcommands_count; i++) {
        assert_int_equal(built_in->args->subcommands[i].line, parsed->args->subcommands[i].line);
        assert_int_equal(built_in->args->subcommands[i].given, parsed->args->subcommands[i].given);
        assert_int_equal(built_in->args->subcommands[i].own.has_execs, parsed->args->subcommands[i].own.has_execs);
        assert_same_table(&built_in->args->subcommands[i].rules, &parsed->args->subcommands[i].rules);
    }
}

/* Every key of the file by their JSON, which has them all; then what the loader makes of them. */
static void tables_that_are_built_in_are_what_the_loader_makes_of_the_text(void **state)
{
    (void)state;
    struct ck_arena arena = {0};
    struct ck_policy *policy = default_policy();
    assert_string_equal(ck_policy_json(embedded(), &arena), ck_policy_json(policy, &arena));
    assert_string_equal(embedded()->file, policy->file);
    for (uint32_t i = 0; i < policy->tools_count; i++) {
        assert_same_made(&embedded()->tools[i], &policy->tools[i]);
        assert_string_equal(embedded()->by_name[i]->name, policy->by_name[i]->name);
    }
    ck_policy_free(policy);
    ck_arena_done(&arena);
}

static void default_policy_survives_the_survey(void **state)
{
    (void)state;
    struct ck_yaml_tree tree = {0};
    struct choke_error error = {0};
    assert_int_equal(ck_yaml_tree_parse(&tree, "default", ck_policy_default_text, ck_policy_default_length, &error), 0);
    assert_int_equal(ck_schema_check(&tree, &error), 0);
    ck_yaml_tree_done(&tree);
}

static void default_policy_grants_nothing_by_default(void **state)
{
    (void)state;
    struct ck_policy *policy = default_policy();
    for (uint32_t i = 0; i < policy->tools_count; i++) {
        const struct ck_tool *tool = &policy->tools[i];
        assert_int_equal(tool->env.count, 0);
        assert_false(tool->allow_credentials);
        assert_int_equal(tool->required, strcmp(tool->name, "git") == 0);
        if (tool->route != CK_ROUTE_JAIL)
            assert_in_range(tool->limits.timeout_s, 1, 3600);
    }
    ck_policy_free(policy);
}

static void default_policy_says_how_to_install_and_ask_for_a_version(void **state)
{
    (void)state;
    struct ck_policy *policy = default_policy();
    for (uint32_t i = 0; i < policy->tools_count; i++) {
        const struct ck_tool *tool = &policy->tools[i];
        struct ck_arena arena = {0};
        if (ck_policy_tool_is_here(tool)) {
            assert_non_null(ck_policy_tool_install_command(&arena, tool));
            assert_true(tool->version_args.count > 0);
        }
        ck_arena_done(&arena);
    }
    ck_policy_free(policy);
}

/* Is there a file NNNN-something.md? */
static bool record_exists(const char *directory, const char *adr)
{
    DIR *stream = opendir(directory);
    if (!stream)
        return false;
    bool found = false;
    for (const struct dirent *entry; !found && (entry = readdir(stream));) {
        size_t length = strlen(entry->d_name);
        found = length > strlen("0000-.md") && strncmp(entry->d_name, adr, 4) == 0 && entry->d_name[4] == '-' &&
                strcmp(entry->d_name + length - 3, ".md") == 0;
    }
    (void)closedir(stream);
    return found;
}

static void default_policy_cites_records_that_exist(void **state)
{
    (void)state;
    struct ck_policy *policy = default_policy();
    char directory[4096];
    (void)snprintf(directory, sizeof(directory), "%s/policy/%s", CHOKE_SOURCE_DIR, policy->adr_dir);
    assert_false(record_exists(directory, "9999"));
    for (uint32_t i = 0; i < policy->tools_count; i++)
        if (!record_exists(directory, policy->tools[i].adr))
            fail_msg("'%s' cites %s, which is not in %s", policy->tools[i].name, policy->tools[i].adr, directory);
    ck_policy_free(policy);
}

static void every_cut_of_the_default_policy_ends_well(void **state)
{
    (void)state;
    unsigned refused = 0;
    size_t step = feature_full_run() ? FULL_CUT_STEP : CUT_STEP;
    for (size_t length = 0; length < ck_policy_default_length; length += step) {
        char *text = test_malloc(length + 1);
        memcpy(text, ck_policy_default_text, length);
        struct ck_policy *policy = NULL;
        struct choke_error error = {0};
        if (ck_policy_parse("p", text, length, &policy, &error) < 0) {
            refused++;
            assert_int_equal(error.outcome, CHOKE_POLICY);
            assert_true(error.line >= 1 && error.column >= 1);
        }
        ck_policy_free(policy);
        test_free(text);
    }
    assert_true(refused > 100);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(default_policy_lists_exactly_the_sixteen),
        cmocka_unit_test(tables_that_are_built_in_are_what_the_loader_makes_of_the_text),
        cmocka_unit_test(default_policy_survives_the_survey),
        cmocka_unit_test(default_policy_grants_nothing_by_default),
        cmocka_unit_test(default_policy_says_how_to_install_and_ask_for_a_version),
        cmocka_unit_test(default_policy_cites_records_that_exist),
        cmocka_unit_test(every_cut_of_the_default_policy_ends_well),
    };
    return cmocka_run_group_tests_name("default_policy", tests, NULL, NULL);
}
