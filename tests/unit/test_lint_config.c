/* test_lint_config.c - the configuration of a tree: what it may contain, and what is refused, with
 * line and column. */
#include "lint/config.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static int parse(const char *text, struct ck_lint_config *config, struct choke_error *error)
{
    return ck_lint_config_parse("c.yaml", text, strlen(text), config, error);
}

static void what_it_says_is_kept(void **state)
{
    struct ck_lint_config config;
    struct choke_error error = {0};
    (void)state;
    assert_int_equal(parse("version: 1\n"
                           "adr_dir: docs/adr\n"
                           "chokepoints:\n"
                           "  - {path: src/door.py, adr: \"0003\"}\n"
                           "  - {path: src/run/, why: It is the door.}\n"
                           "exclude:\n"
                           "  - {path: tests/, why: They are there to be found.}\n"
                           "severities:\n"
                           "  a-rule: note\n"
                           "  b-rule: off\n",
                           &config, &error),
                     0);
    assert_string_equal(config.adr_dir, "docs/adr");
    assert_int_equal(config.module_count, 2);
    assert_string_equal(config.modules[0].adr, "0003");
    assert_null(config.modules[1].adr);
    assert_true(ck_lint_config_allows(&config, "src/door.py"));
    assert_true(ck_lint_config_allows(&config, "src/run/deep/a.c"));
    assert_false(ck_lint_config_allows(&config, "src/door.pyc"));
    assert_false(ck_lint_config_allows(&config, "x/src/door.py"));
    assert_false(ck_lint_config_allows(&config, "src/running.c"));
    assert_true(ck_ignore_matches_within(config.exclude, "tests/a.py", false));
    assert_int_equal(ck_lint_config_severity(&config, "a-rule", CHOKE_SEVERITY_ERROR), CHOKE_SEVERITY_NOTE);
    assert_int_equal(ck_lint_config_severity(&config, "b-rule", CHOKE_SEVERITY_ERROR), 0);
    assert_int_equal(ck_lint_config_severity(&config, "c-rule", CHOKE_SEVERITY_ERROR), CHOKE_SEVERITY_ERROR);
    ck_lint_config_done(&config);
}

static void an_empty_one_allows_nothing(void **state)
{
    static const char *const texts[] = {"", "\n\n", "# nothing\n", "version: 1\n"};
    (void)state;
    for (size_t i = 0; i < COUNT(texts); i++) {
        struct ck_lint_config config;
        struct choke_error error = {0};
        assert_int_equal(parse(texts[i], &config, &error), 0);
        assert_false(ck_lint_config_allows(&config, "a.py"));
        assert_false(ck_ignore_matches_within(config.exclude, "a.py", false));
        ck_lint_config_done(&config);
    }
}

struct refusal {
    const char *text;
    unsigned line, column;
    const char *expected_text;
};

static const struct refusal refusals[] = {
    {"chokepoints: []\n", 1, 1, "'version' is missing"},
    {"version: 2\n", 1, 10, "'version' is '2'; it must be 1"},
    {"version: [1]\n", 1, 10, "'version' must be 1"},
    {"version: 1\nexcludes: []\n", 2, 1,
     "unknown key 'excludes'; known keys are: version, adr_dir, chokepoints, exclude"},
    {"version: 1\nversion: 1\n", 2, 1, "'version' is given twice; the first one is on line 1"},
    {"version: 1\n[a]: b\n", 2, 1, "a key must be text"},
    {"version: 1\nadr_dir:\n", 2, 9, "has no value here"},
    {"version: 1\nadr_dir: [a]\n", 2, 10, "text is expected here"},
    {"version: 1\nadr_dir: \"a\\0b\"\n", 2, 10, "NUL"},
    {"- a\n", 1, 1, "a mapping is expected here"},
    {"just text\n", 1, 1, "a mapping is expected here"},
    {"version: 1\nchokepoints: src/a.c\n", 2, 14, "'chokepoints' must be a list"},
    {"version: 1\nchokepoints:\n  - src/a.c\n", 3, 5,
     "a mapping is expected here, not a single value; its keys are: path, adr, why"},
    {"version: 1\nchokepoints:\n  - path: a.c\n", 3, 5, "say 'adr' or 'why'"},
    {"version: 1\nchokepoints:\n  - adr: \"0001\"\n", 3, 5, "'path' is missing"},
    {"version: 1\nchokepoints:\n  - {path: /a.c, why: x}\n", 3, 12, "a path from the top"},
    {"version: 1\nchokepoints:\n  - {path: a/../b.c, why: x}\n", 3, 12, "a path from the top"},
    {"version: 1\nchokepoints:\n  - {path: ./b.c, why: x}\n", 3, 12, "a path from the top"},
    {"version: 1\nchokepoints:\n  - {path: .., why: x}\n", 3, 12, "a path from the top"},
    {"version: 1\nchokepoints:\n  - {path: a.c, adr: 3}\n", 3, 22, "the number of a record"},
    {"version: 1\nchokepoints:\n  - {path: a.c, adr: \"00030\"}\n", 3, 22, "the number of a record"},
    {"version: 1\nchokepoints:\n  - {path: a.c, adr: \"0003\", because: x}\n", 3, 30,
     "unknown key 'because'; known keys are: path, adr, why"},
    {"version: 1\nexclude:\n  - path: a\n", 3, 5, "'why' is missing"},
    {"version: 1\nexclude:\n  - {path: \"#a\", why: x}\n", 3, 5, "is not a pattern"},
    {"version: 1\nseverities: [a]\n", 2, 13, "'severities' must be a mapping"},
    {"version: 1\nseverities: {a: fatal}\n", 2, 17,
     "'severity' is 'fatal'; it must be one of: off, note, warning, error"},
    {"version: 1\nseverities: {a: [off]}\n", 2, 17, "must be one of: off"},
    {"version: 1\nseverities: {a: off, a: note}\n", 2, 22, "given twice"},
    {"version: 1\n---\nversion: 1\n", 2, 1, "a second document"},
    {"version: 1\n a: [\n", 1, 10, "'version' is '1 a'; it must be 1"},
    {"version: 1\nexclude: [\n", 3, 1, "not valid YAML"},
    {"version: 1\nexclude: &a []\nchokepoints: *a\n", 3, 14, "an alias is not allowed"},
    {"version: \xff\n", 1, 10, "not valid YAML"},
};

static void unknown_text_is_refused_with_line_and_column(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(refusals); i++) {
        struct ck_lint_config config;
        struct choke_error error = {0};
        int r = parse(refusals[i].text, &config, &error);
        ck_lint_config_done(&config);
        if (r != -EINVAL || !strstr(error.message, refusals[i].expected_text))
            fail_msg("%s: %d '%s'", refusals[i].text, r, error.message);
        if (error.line != refusals[i].line || error.column != refusals[i].column)
            fail_msg("%s: at %u:%u: %s", refusals[i].text, error.line, error.column, error.message);
        assert_int_equal(error.outcome, CHOKE_INVALID);
        assert_non_null(strstr(error.message, "configuration 'c.yaml': line "));
    }
}

/* Depth, aliases, many entries: bounded, and never a crash. */
static void hostile_text_is_refused_soon(void **state)
{
    static const char *const texts[] = {
        "version: 1\nexclude: &a [*a]\n",
        "version: 1\nseverities: &a {b: *a}\n",
        "version: 1\nchokepoints: &a\n  - &b {path: *b}\n",
    };
    size_t length = CK_LINT_CONFIG_MAX_BYTES;
    char *deep = malloc(length);
    struct ck_lint_config config;
    struct choke_error error;
    (void)state;
    for (size_t i = 0; i < COUNT(texts); i++) {
        assert_true(parse(texts[i], &config, &error) < 0);
        ck_lint_config_done(&config);
    }
    assert_non_null(deep);
    memset(deep, '[', length);
    assert_true(ck_lint_config_parse("deep", deep, length, &config, &error) < 0);
    ck_lint_config_done(&config);
    for (size_t i = 0; i + 1 < length; i += 2)
        memcpy(deep + i, "- ", 2);
    assert_true(ck_lint_config_parse("deep", deep, length, &config, &error) < 0);
    ck_lint_config_done(&config);
    free(deep);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_it_says_is_kept),
        cmocka_unit_test(an_empty_one_allows_nothing),
        cmocka_unit_test(unknown_text_is_refused_with_line_and_column),
        cmocka_unit_test(hostile_text_is_refused_soon),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
