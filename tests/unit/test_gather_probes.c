/* test_gather_probes.c - what a file of probes may contain, and the line and column of a fault. */
#include "gather/probes.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* A file of one probe, with more keys for it and a call. */
#define PROBE(name, more) "- name: " name "\n  layer: static\n  why: A test.\n  tool: cat\n  output: lines\n" more
#define CALLS "  calls: [{id: one, argv: [cat]}]\n"
#define HEAD "version: 1\nprobes:\n"

static int parse(const char *text, struct ck_probes *ret_probes, struct choke_error *error)
{
    const struct ck_yaml_source source = {"a file", text, strlen(text)};
    return ck_probes_parse(&source, ret_probes, error);
}

static void every_key_is_filled_in(void **state)
{
    static const char text[] = HEAD PROBE(
        "first",
        CALLS) "- name: second\n  layer: runtime\n  why: A test.\n  tool: cat\n  output: lines\n"
               "  applies_when: ['a', '**/b']\n  needs: [first]\n  opens: []\n  timeout_s: 7\n  egress: [example.org]\n  git: true\n"
               "  max_output_mib: 64\n"
               "  calls:\n  - id: one\n    argv: [cat, '{files}', 'a{2}', '{}', '{A}']\n    stdin: {probe: first, call: one}\n"
               "    may_fail: [1, 255]\n    keeps: true\n"
               "  - {id: two, tool: jq, argv: [jq], stdin: {text: \"a\\nb\"}}\n";
    struct ck_probes probes = {0};
    struct choke_error error = {0};
    (void)state;

    assert_int_equal(parse(text, &probes, &error), 0);
    assert_int_equal(probes.count, 2);
    const struct ck_probe *first = &probes.items[0], *second = &probes.items[1];
    assert_string_equal(first->name, "first");
    assert_int_equal(first->max_output_mib, 16);
    assert_int_equal(first->timeout_s, 0);
    assert_null(first->applies_when[0]);
    assert_null(first->needs[0]);
    assert_string_equal(first->opens[0], "**/*");
    assert_null(first->egress[0]);
    assert_int_equal(second->layer, CK_PROBE_LAYER_RUNTIME);
    assert_string_equal(ck_probes_layer_name(second->layer), "runtime");
    assert_string_equal(second->applies_when[1], "**/b");
    assert_string_equal(second->egress[0], "example.org");
    assert_null(second->opens[0]);
    assert_int_equal(second->timeout_s, 7);
    assert_int_equal(second->max_output_mib, 64);
    assert_true(second->git);
    assert_int_equal(second->call_count, 2);
    assert_string_equal(second->calls[0].argv[1], "{files}");
    assert_string_equal(second->calls[0].argv[4], "{A}");
    assert_string_equal(second->calls[0].input.probe, "first");
    assert_int_equal(second->calls[0].may_fail_count, 2);
    assert_int_equal(second->calls[0].may_fail[1], 255);
    assert_true(second->calls[0].keeps);
    assert_string_equal(second->calls[1].tool, "jq");
    assert_string_equal(second->calls[1].input.text, "a\nb");
    ck_probes_done(&probes);
    ck_probes_done(&probes);
}

static const struct {
    const char *text;
    unsigned line, column;
    const char *expected_text;
} faults[] = {
    {"", 1, 1, "nothing in the file"},
    {"- 1\n", 1, 1, "a mapping is expected here, not a list; its keys are: version, probes"},
    {"version: 1\n", 1, 1, "'probes' is missing"},
    {"version: 2\nprobes: []\n", 1, 10, "'version' must be 1"},
    {"version: '1'\nprobes: []\n", 1, 10, "'version' must be 1"},
    {"version: 1\nprobes: []\n", 2, 9, "must not be empty"},
    {"version: 1\nprobes: 5\n", 2, 9, "must be a list"},
    {"version: 1\nversion: 1\nprobes: []\n", 2, 1, "given twice"},
    {"version: 1\nprobes: [\n", 3, 1, "did not find expected"},
    {"version: 1\n---\nversion: 1\n", 1, 1, "'probes' is missing"},
    {HEAD PROBE("a", CALLS) "---\nversion: 1\n", 9, 1, "second document"},
    {HEAD PROBE("a", CALLS "  shell: yes\n"), 9, 3, "unknown key 'shell'; known keys are: name, layer, why"},
    {HEAD PROBE("a", CALLS "  git: yes\n"), 9, 8, "true or false"},
    {HEAD PROBE("a", CALLS "  timeout_s: 0\n"), 9, 14, "from 1 to 86400"},
    {HEAD PROBE("a", CALLS "  timeout_s: 99999999999999999999\n"), 9, 14, "from 1 to 86400"},
    {HEAD PROBE("a", CALLS "  max_output_mib: 65\n"), 9, 19, "from 1 to 64"},
    {HEAD PROBE("a", CALLS "  egress: host\n"), 9, 11, "must be a list"},
    {HEAD PROBE("A", CALLS), 3, 9, "must be a name of a-z"},
    {HEAD PROBE("1a", CALLS), 3, 9, "must be a name of a-z"},
    {HEAD PROBE("a-b", CALLS), 3, 9, "must be a name of a-z"},
    {HEAD PROBE("a", "") "", 3, 3, "probe 'a' needs 'calls' and 'output', or 'inside'"},
    {HEAD PROBE("a", "  calls: []\n"), 8, 10, "must not be empty"},
    {HEAD PROBE("a", "  calls: [{id: one, argv: []}]\n"), 8, 11, "begin with the tool"},
    {HEAD PROBE("a", "  calls: [{id: one, argv: [sh, -c, id]}]\n"), 8, 11, "begin with the tool, 'cat'"},
    {HEAD PROBE("a", "  calls: [{id: one, tool: jq, argv: [cat]}]\n"), 8, 11, "begin with the tool, 'jq'"},
    {HEAD PROBE("a", "  calls: [{id: one, argv: [cat, {a: b}]}]\n"), 8, 33, "text is expected here, not a mapping"},
    {HEAD PROBE("a", "  calls: [{id: one, argv: [cat, \"a\\0b\"]}]\n"), 8, 33, "NUL"},
    {HEAD PROBE("a", "  calls: [{id: one, argv: [cat, '']}]\n"), 8, 33, "1 to 16384 bytes"},
    {"[[[[[[[[[[[[[[[[[[[[", 1, 1, "a mapping is expected here"},
    {HEAD PROBE("a", "  calls: [{id: one, argv: &x [cat]}, {id: two, argv: *x}]\n"), 8, 54, "an alias is not allowed"},
    {HEAD PROBE("a", "  calls: [{id: one, argv: [cat]}, {id: one, argv: [cat]}]\n"), 8, 35, "two calls"},
    {HEAD PROBE("a", "  calls: [{id: one, argv: [cat, '{root}']}]\n"), 8, 11, "unknown placeholder {root}"},
    {HEAD PROBE("a", "  calls: [{id: one, argv: [cat, '{file}']}]\n"), 8, 11, "needs applies_when"},
    {HEAD PROBE("a", "  calls: [{id: one, argv: [cat], may_fail: [0]}]\n"), 8, 45, "from 1 to 255"},
    {HEAD PROBE("a", "  calls: [{id: one, argv: [cat], may_fail: [256]}]\n"), 8, 45, "from 1 to 255"},
    {HEAD PROBE("a", "  calls: [{id: one, argv: [cat], stdin: {probe: b, call: one}}]\n"), 8, 11, "not in needs"},
    {HEAD PROBE("a", "  calls: [{id: one, argv: [cat], stdin: {probe: b}}]\n"), 8, 11, "stdin must be"},
    {HEAD PROBE("a", "  calls: [{id: one, argv: [cat], stdin: {text: b, probe: b, call: c}}]\n"), 8, 11,
     "stdin must be"},
    {HEAD PROBE("a", "  needs: [b]\n  calls: [{id: one, argv: [cat], stdin: {probe: b, call: two}}]\n")
         PROBE("b", CALLS),
     9, 11, "has no call 'two'"},
    {HEAD PROBE("a", "  needs: [b]\n" CALLS), 3, 3, "'b', which does not exist"},
    {HEAD PROBE("a", "  needs: [a]\n" CALLS), 3, 3, "needs itself"},
    {HEAD PROBE("c", CALLS) PROBE("a", "  needs: [b]\n" CALLS) PROBE("b", "  needs: [a, c]\n" CALLS), 9, 3,
     "needs itself"},
    {HEAD PROBE("a", CALLS) PROBE("a", CALLS), 9, 3, "two probes"},
    {HEAD PROBE("a", CALLS "  prepare: magic\n"), 3, 3, "unknown preparation 'magic'"},
    {HEAD "- {name: a, layer: static, why: x, tool: cat, output: magic, calls: [{id: one, argv: [cat]}]}\n", 3, 3,
     "unknown output 'magic'"},
    {HEAD "- {name: a, layer: magic, why: x, tool: cat, output: lines, calls: [{id: one, argv: [cat]}]}\n", 3, 20,
     "'layer' is 'magic'; it must be one of: repository, static, supply, index, runtime"},
    {HEAD "- {name: a, layer: static, tool: cat, output: lines, calls: [{id: one, argv: [cat]}]}\n", 3, 3,
     "'why' is missing"},
};

static void faults_are_reported_with_line_and_column(void **state)
{
    (void)state;

    for (size_t i = 0; i < COUNT(faults); i++) {
        struct ck_probes probes = {0};
        struct choke_error error = {0};
        int r = parse(faults[i].text, &probes, &error);
        if (r != -EINVAL || error.line != faults[i].line || error.column != faults[i].column ||
            !strstr(error.message, faults[i].expected_text))
            fail_msg("row %zu: %d, %u:%u, '%s'", i, r, error.line, error.column, error.message);
        assert_non_null(strstr(error.message, "probes 'a file': line "));
    }
}

/* A file of probes may hold a credential by mistake; a message goes to logs. */
static void a_message_repeats_no_credential(void **state)
{
    static const char token[] = "ghp_"
                                "0123456789abcdefghijABCDEFGHIJ012345";
    char text[256];
    struct ck_probes probes = {0};
    struct choke_error error = {0};
    (void)state;

    (void)snprintf(text, sizeof(text), "version: 1\nprobes:\n- name: %s\n", token);
    assert_int_equal(parse(text, &probes, &error), -EINVAL);
    assert_int_equal(error.line, 3);
    assert_true(error.message[0] != '\0');
    assert_null(strstr(error.message, token));
}

static void lists_have_an_end(void **state)
{
    static char text[1 << 20];
    size_t used = (size_t)snprintf(text, sizeof(text), "%s", HEAD);
    struct ck_probes probes = {0};
    struct choke_error error = {0};
    (void)state;

    for (int i = 0; i <= CK_PROBES_MAX; i++)
        used += (size_t)snprintf(text + used, sizeof(text) - used,
                                 "- {name: p%d, layer: static, why: x, tool: cat, output: lines, calls: [{id: a, argv: "
                                 "[cat]}]}\n",
                                 i);
    assert_int_equal(parse(text, &probes, &error), -EINVAL);
    assert_non_null(strstr(error.message, "at most 64"));
}

static void the_embedded_probes_load(void **state)
{
    struct ck_probes probes = {0};
    struct choke_error error = {0};
    (void)state;

    if (ck_probes_load(NULL, NULL, &probes, &error) < 0)
        fail_msg("%s", error.message);
    assert_int_equal(probes.count, 15);
    ck_probes_done(&probes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_key_is_filled_in),          cmocka_unit_test(faults_are_reported_with_line_and_column),
        cmocka_unit_test(a_message_repeats_no_credential), cmocka_unit_test(lists_have_an_end),
        cmocka_unit_test(the_embedded_probes_load),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
