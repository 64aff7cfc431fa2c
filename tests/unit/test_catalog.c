/* test_catalog.c - a policy that takes entries of the catalogue: what it becomes, and what is refused, where (R85). */
#include "base/arena.h"
#include "policy/catalog.h"
#include "policy/load.h"
#include "policy/tables.h"
#include "policy/yaml_write.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* The catalogue of the build, copied once. */
static const struct ck_policy *embedded(void)
{
    static struct ck_arena arena;
    static const struct ck_policy *policy;
    if (!policy)
        policy = ck_policy_catalog(&arena);
    assert_non_null(policy);
    return policy;
}

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* This test has its own base and catalogue, so that no entry of the build matters. */
#define TOP "version: 1\nsearch_path: [/bin]\n"
#define ENTRY(name) "  - name: " name "\n    why: w\n    adr: \"0001\"\n    route: external\n    execs: []\n"
#define VCS \
    ENTRY("vcs") \
    "    args:\n      options: [-q]\n      subcommands:\n        - {name: log, options: [-p]}\n"
#define CLONE \
    "        - name: clone\n          options: [--depth=<number>]\n          operands: any\n" \
    "          execs: [helper]\n          set_env: [{name: ONLY, value: here}]\n          egress: []\n"

static const char base_text[] = TOP "tools:\n" VCS ENTRY("plain");
static const char catalog_text[] = TOP "tools:\n" ENTRY("reader") "    egress: [a.org]\n" ENTRY("writer") ENTRY(
    "vcs-clone") "    args:\n      subcommands:\n" CLONE ENTRY("plain-more") "    args:\n      subcommands:\n" CLONE
    ENTRY("nothing-more") "    args:\n      subcommands:\n" CLONE ENTRY("plain");

static struct ck_policy *base, *catalog;

static struct ck_policy *must_parse_source(struct ck_policy_source source)
{
    struct ck_policy *policy = NULL;
    struct choke_error error = {0};
    source.file = "p.yaml";
    source.length = strlen(source.text);
    if (ck_policy_parse_source(&source, &policy, &error) != 0)
        fail_msg("refused: %s", error.message);
    return policy;
}

static struct ck_policy *must_parse(const char *text)
{
    return must_parse_source((struct ck_policy_source){.text = text, .base = base, .catalog = catalog});
}

static int set_up(void **state)
{
    static const char *const targets[][2] = {
        {"vcs-clone", "vcs"}, {"plain-more", "plain"}, {"nothing-more", "nothing"}};
    (void)state;
    base = must_parse_source((struct ck_policy_source){.text = base_text});
    catalog = must_parse_source((struct ck_policy_source){.text = catalog_text});
    for (uint32_t i = 0; i < catalog->tools_count; i++) {
        catalog->tools[i].embedded = true;
        catalog->tools[i].catalog_file = "catalog/test.yaml";
        for (size_t k = 0; k < COUNT(targets); k++)
            if (strcmp(catalog->tools[i].name, targets[k][0]) == 0)
                catalog->tools[i].adds_to = targets[k][1];
    }
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    ck_policy_free(base);
    ck_policy_free(catalog);
    return 0;
}

/* ---- what is refused, and where ---------------------------------------------------------- */

#define HEAD "version: 1\nextends: default\n" /* what follows begins on line 3 */

struct refused {
    const char *name;
    const char *text;
    unsigned line, column;
    const char *expected_text;
};

static const struct refused refusals[] = {
    {"unknown_name", HEAD "catalog: [reader, raeder]\n", 3, 19, "no entry 'raeder'; did you mean 'reader'?"},
    {"name_like_no_other", HEAD "catalog: [q]\n", 3, 11, "no entry 'q'; 'chokepoint policy show catalog' lists"},
    {"name_of_a_tool_of_the_default_policy", TOP "catalog: [docker]\n", 3, 11, "it is in the default policy"},
    {"name_twice", HEAD "catalog: [reader, writer, reader]\n", 3, 27, "'reader' is listed twice in 'catalog'"},
    {"name_in_tools", HEAD "catalog: [reader]\ntools:\n" ENTRY("reader"), 3, 11, "in 'catalog' and in 'tools'"},
    {"name_in_tools_without_extends", TOP "catalog: [reader]\ntools:\n" ENTRY("reader"), 3, 11, "in 'tools'"},
    {"name_in_the_default_policy", HEAD "catalog: [plain]\n", 3, 11, "'plain' is in the default policy already"},
    {"empty_list", HEAD "catalog: []\n", 3, 10, "'catalog' must not be an empty list"},
    {"word", HEAD "catalog: reader\n", 3, 10, "'catalog' must be a list"},
    {"file", HEAD "catalog: [./reader]\n", 3, 11, "no entry './reader'"},
    {"line_break", HEAD "catalog: [\"a\\nb\"]\n", 3, 11, "line break"},
    {"key_twice", HEAD "catalog: [reader]\ncatalog: [writer]\n", 4, 1, "given twice"},
    {"search_path_is_mandatory_without_extends", "version: 1\ncatalog: [reader]\n", 1, 1, "'search_path' is missing"},
    {"grant_to_an_entry_that_is_not_taken", TOP "catalog: [writer]\ngrant: [{name: reader, egress: [b.org]}]\n", 4, 16,
     "'catalog' of this policy has no tool 'reader'; its tools are: writer"},
    {"grant_to_a_tool_of_the_default_policy_without_extends",
     TOP "catalog: [writer]\ngrant: [{name: vcs, egress: [b.org]}]\n", 4, 16, "has no tool 'vcs'"},
    {"remove_of_an_entry_that_is_not_taken", TOP "catalog: [writer]\nremove: [reader]\n", 4, 10, "no tool 'reader'"},
    {"remove_needs_extends_or_catalog", TOP "tools: []\nremove: [reader]\n", 4, 9, "or 'catalog'"},
    {"subcommand_needs_extends", TOP "catalog: [vcs-clone]\n", 3, 11, "it needs 'extends: default'"},
    {"subcommand_of_an_own_entry", HEAD "catalog: [vcs-clone]\ntools:\n" VCS, 3, 11,
     "'vcs-clone' adds to 'vcs', which is in 'tools' of this file; write the subcommand 'clone' there"},
    {"subcommand_of_a_removed_tool", HEAD "catalog: [vcs-clone]\nremove: [vcs]\n", 3, 11, "which is in 'remove'"},
    {"subcommand_of_a_tool_without_any", HEAD "catalog: [plain-more]\n", 3, 11, "which has no subcommands"},
    {"subcommand_of_a_tool_that_is_not_there", HEAD "catalog: [nothing-more]\n", 3, 11, "it needs 'extends: default'"},
    {"grant_by_the_name_of_the_entry", HEAD "catalog: [vcs-clone]\ngrant: [{name: vcs-clone, egress: [a.org]}]\n", 4,
     16, "no tool 'vcs-clone'"},
};

static void check_refusal(void **state)
{
    const struct refused *row = *state;
    struct ck_policy *policy = NULL;
    struct choke_error error = {0};
    const struct ck_policy_source source = {
        .file = "p.yaml", .text = row->text, .length = strlen(row->text), .base = base, .catalog = catalog};
    int r = ck_policy_parse_source(&source, &policy, &error);
    if (r == 0)
        fail_msg("accepted, but should be refused with '%s'", row->expected_text);
    assert_int_equal(r, -EINVAL);
    assert_null(policy);
    if (error.line != row->line || error.column != row->column || !strstr(error.message, row->expected_text))
        fail_msg("wanted line %u, column %u, '%s', got '%s'", row->line, row->column, row->expected_text,
                 error.message);
}

/* Every fault is reported to a review, not the first. */
static void all_faults_are_found(void **state)
{
    (void)state;
    static struct ck_yaml_faults faults;
    struct ck_policy *policy = NULL;
    struct choke_error error = {0};
    static const char text[] = HEAD "catalog: [x1, reader, x2, plain]\n";
    const struct ck_policy_source source = {
        .file = "p.yaml", .text = text, .length = strlen(text), .base = base, .catalog = catalog, .faults = &faults};
    assert_int_equal(ck_policy_parse_source(&source, &policy, &error), -EINVAL);
    assert_int_equal(faults.count, 3);
}

/* ---- what it becomes --------------------------------------------------------------------- */

/* The same as if all of it had been written in one file. */
static void is_as_if_written_in_one_file(void **state)
{
    (void)state;
    static const struct {
        const char *taken, *written;
    } rows[] = {
        {TOP "catalog: [writer, reader]\n", TOP "tools:\n" ENTRY("writer") ENTRY("reader") "    egress: [a.org]\n"},
        {TOP "catalog: [reader]\ngrant: [{name: reader, egress: [b.org], env: [TZ]}]\ntools:\n" ENTRY("own"),
         TOP "tools:\n" ENTRY("reader") "    egress: [a.org, b.org]\n    env: [TZ]\n" ENTRY("own")},
        {TOP "catalog: [writer, reader]\nremove: [reader]\n", TOP "tools:\n" ENTRY("writer")},
        {HEAD "catalog: [writer]\nremove: [plain]\n", TOP "tools:\n" VCS ENTRY("writer")},
        {TOP "catalog: [plain]\n", TOP "tools:\n" ENTRY("plain")},
        {HEAD "catalog: [vcs-clone]\n", TOP "tools:\n" VCS CLONE ENTRY("plain")},
        {HEAD "catalog: [vcs-clone]\ngrant: [{name: vcs, subcommand: clone, egress: [b.org]}]\n",
         TOP "tools:\n" VCS "        - {name: clone, options: [--depth=<number>], operands: any, execs: [helper], "
             "set_env: [{name: ONLY, value: here}], egress: [b.org]}\n" ENTRY("plain")},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct ck_arena arena = {0};
        struct ck_policy *taken = must_parse(rows[i].taken);
        struct ck_policy *written = must_parse(rows[i].written);
        assert_string_equal(ck_policy_yaml(taken, &arena), ck_policy_yaml(written, &arena));
        assert_true(ck_policy_is_merged(taken));
        ck_policy_free(taken);
        ck_policy_free(written);
        ck_arena_done(&arena);
    }
}

static void entries_are_those_of_the_build(void **state)
{
    (void)state;
    struct ck_policy *policy =
        must_parse(TOP "catalog: [reader]\ngrant: [{name: reader, egress: [b.org]}]\ntools:\n" ENTRY("own"));
    const struct ck_tool *reader = ck_policy_find(policy, "reader");
    const struct ck_tool *own = ck_policy_find(policy, "own");
    assert_true(reader->embedded && !own->embedded);
    assert_string_equal(ck_policy_tool_file(policy, reader), "catalog/test.yaml");
    assert_string_equal(ck_policy_tool_file(policy, own), "p.yaml");
    assert_int_equal(ck_policy_find(catalog, "reader")->egress.count, 1);
    ck_policy_free(policy);
}

/* ---- the catalogue of the build ---------------------------------------------------------- */

static void every_entry_of_the_build_can_be_taken(void **state)
{
    (void)state;
    assert_true(embedded()->tools_count > 0);
    for (uint32_t i = 0; i < embedded()->tools_count; i++) {
        const struct ck_tool *entry = &embedded()->tools[i];
        char text[256];
        (void)snprintf(text, sizeof(text), "version: 1\nextends: default\ncatalog: [\"%s\"]\n", entry->name);
        struct ck_policy *policy = must_parse_source((struct ck_policy_source){.text = text});
        const struct ck_tool *taken = ck_policy_find(policy, entry->adds_to ? entry->adds_to : entry->name);
        assert_non_null(taken);
        assert_true(entry->embedded && entry->catalog_file && entry->line > 0);
        /* What executes is bounded, and what it may be given is written down. */
        assert_true(entry->adds_to || entry->has_execs || entry->uses.count > 0);
        ck_policy_free(policy);
    }
}

int main(void)
{
    struct CMUnitTest tests[COUNT(refusals) + 4];
    for (size_t i = 0; i < COUNT(refusals); i++)
        tests[i] = (struct CMUnitTest){
            .name = refusals[i].name, .test_func = check_refusal, .initial_state = (void *)(uintptr_t)&refusals[i]};
    const struct CMUnitTest others[] = {
        cmocka_unit_test(all_faults_are_found),
        cmocka_unit_test(is_as_if_written_in_one_file),
        cmocka_unit_test(entries_are_those_of_the_build),
        cmocka_unit_test(every_entry_of_the_build_can_be_taken),
    };
    memcpy(tests + COUNT(refusals), others, sizeof(others));
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
