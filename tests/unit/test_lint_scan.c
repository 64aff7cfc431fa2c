/* test_lint_scan.c - one file: what is skipped, the position of a finding, and bounded time for
 * hostile texts. */
#include "lint/scan.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct fixture {
    struct ck_lint_rules *rules;
    struct ck_lint_scanner *scanner;
};

static int set_up(void **state)
{
    static struct fixture fixture;
    *state = &fixture;
    return ck_lint_rules_load(&fixture.rules, NULL) < 0 ||
           ck_lint_scanner_new(fixture.rules, &fixture.scanner, NULL) < 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;
    ck_lint_scanner_free(fixture->scanner);
    ck_lint_rules_free(fixture->rules);
    return 0;
}

static struct ck_lint_scan scan_bytes(void **state, const char *text, size_t length)
{
    struct fixture *fixture = *state;
    struct ck_lint_scan scan;
    struct choke_error error = {0};
    if (ck_lint_scan(fixture->scanner, &ck_grammars[CK_GRAMMAR_PYTHON], text, length, &scan, &error) < 0)
        fail_msg("%s", error.message);
    return scan;
}

static struct ck_lint_scan scan_text(void **state, const char *text)
{
    return scan_bytes(state, text, strlen(text));
}

static void positions_count_characters_and_bytes(void **state)
{
    struct ck_lint_scan scan = scan_text(state, "import os\r\n\"\xe6\x97\xa5\xe6\x9c\xac\"; os.system('x')\r\n");
    assert_int_equal(scan.findings_count, 1);
    const struct ck_lint_location *location = &scan.findings[0].location;
    assert_int_equal(location->line, 2);
    assert_int_equal(location->column, 7);
    assert_int_equal(location->byte_column, 11);
    assert_int_equal(location->end_line, 2);
    assert_int_equal(location->end_column, 16);
    assert_int_equal(location->end_byte_column, 20);
    assert_string_equal(scan.findings[0].name, "os.system");
    assert_string_equal(scan.findings[0].source, "\"\xe6\x97\xa5\xe6\x9c\xac\"; os.system('x')");
    ck_lint_scan_done(&scan);
}

static void what_cannot_be_read_is_skipped_with_a_reason(void **state)
{
    struct ck_lint_scan scan = scan_bytes(state, "eval(1)\0", 8);
    assert_int_equal(scan.skip, CK_LINT_SKIP_BINARY);
    scan = scan_text(state, "eval('\xff')");
    assert_int_equal(scan.skip, CK_LINT_SKIP_ENCODING);
    char *large = calloc(1, CK_LINT_FILE_MAX_BYTES + 1);
    memset(large, 'x', CK_LINT_FILE_MAX_BYTES + 1);
    scan = scan_bytes(state, large, CK_LINT_FILE_MAX_BYTES + 1);
    assert_int_equal(scan.skip, CK_LINT_SKIP_LARGE);
    free(large);
    for (int skip = CK_LINT_SCANNED; skip <= CK_LINT_SKIP_TIME; skip++)
        assert_true(strlen(ck_lint_skip_reason((enum ck_lint_skip)skip)) > 3);
}

/* Python decodes such a file by another table than ours: we do not see what runs. */
static void another_encoding_is_skipped_with_a_reason(void **state)
{
    static const struct {
        const char *text;
        enum ck_lint_skip skip;
    } cases[] = {
        {"# coding: utf-7\neval(1)\n", CK_LINT_SKIP_ENCODING},
        {"#!/usr/bin/python3\n# -*- coding: rot13 -*-\neval(1)\n", CK_LINT_SKIP_ENCODING},
        {"# vim: set fileencoding=utf-16 :\neval(1)\n", CK_LINT_SKIP_ENCODING},
        {"# coding=UTF-8\neval(1)\n", CK_LINT_SCANNED},
        {"# -*- coding: latin-1 -*-\neval(1)\n", CK_LINT_SCANNED},
        {"# -*- coding: us-ascii -*-\neval(1)\n", CK_LINT_SCANNED},
        {"x = 1\n\n# coding: utf-7\neval(1)\n", CK_LINT_SCANNED},
        {"x = 'coding: utf-7'\neval(1)\n", CK_LINT_SCANNED},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct ck_lint_scan scan = scan_text(state, cases[i].text);
        if (scan.skip != cases[i].skip)
            fail_msg("%s: %s", cases[i].text, ck_lint_skip_reason(scan.skip));
        assert_int_equal(scan.findings_count, cases[i].skip == CK_LINT_SCANNED);
        ck_lint_scan_done(&scan);
    }
}

static void a_file_without_the_words_is_not_parsed(void **state)
{
    struct ck_lint_scan scan = scan_text(state, "import json\nprint(json.dumps({}))\n");
    assert_false(scan.parsed);
    ck_lint_scan_done(&scan);
    scan = scan_text(state, "import os\nos.system('x')\n");
    assert_true(scan.parsed);
    ck_lint_scan_done(&scan);
}

static void broken_syntax_is_reported_with_its_line(void **state)
{
    struct ck_lint_scan scan = scan_text(state, "eval(1)\nx = = 2\n");
    assert_true(scan.broken);
    assert_int_equal(scan.broken_line, 2);
    assert_int_equal(scan.findings_count, 1);
    ck_lint_scan_done(&scan);
}

static void a_marker_counts_in_comments_only(void **state)
{
    struct ck_lint_scan scan = scan_text(state, "x = 'chokepoint-lint: allow a'\n"
                                                "y = 1  # chokepoint-lint: allow b ADR-0001\n");
    assert_int_equal(scan.comments_count, 1);
    assert_int_equal(scan.comments[0].location.line, 2);
    assert_string_equal(scan.comments[0].text, "# chokepoint-lint: allow b ADR-0001");
    ck_lint_scan_done(&scan);
}

/* head, then part as often as it takes to fill the bytes, then tail. */
static char *repeat(const char *head, const char *part, size_t bytes, const char *tail, size_t *ret_length)
{
    size_t count = bytes / strlen(part);
    size_t total = strlen(head) + count * strlen(part) + strlen(tail);
    char *text = malloc(total + 1), *at = text;
    assert_non_null(text);
    at = mempcpy(at, head, strlen(head));
    for (size_t i = 0; i < count; i++)
        at = mempcpy(at, part, strlen(part));
    (void)mempcpy(at, tail, strlen(tail));
    *ret_length = total;
    return text;
}

/* A sanitizer takes several times as long; the repeated part is the same. */
#if defined(CHOKE_SANITIZED)
#define HOSTILE_BYTES ((size_t)24 << 10)
#else
#define HOSTILE_BYTES ((size_t)64 << 10)
#endif

/* Each would take minutes, or the stack, if a step were repeated for every level or for every earlier binding. */
static void hostile_texts_end_in_bounded_time(void **state)
{
    static const struct {
        const char *head, *part, *tail;
    } cases[] = {
        {"eval", "(eval", ""},                                         /* nested calls */
        {"import os\nos.system", "()", "\n"},                          /* a chain of calls */
        {"import os\nf = os.system\n", "f = f\n", "f('x')\n"},         /* a name bound to itself */
        {"eval\n", "x = x.y if x else x.z\n", "x('x')\n"},             /* each binding has two ways */
        {"import os\nx = ", "[", "os.system"},                         /* nested lists */
        {"import os\n", "if x:\n ", "os.system('x')\n"},               /* broken blocks */
        {"import os\ndef f(", "a=lambda b=os.system:b,", "): pass\n"}, /* many scopes */
        {"eval(", "'a' + ", "'b')\n"},                                 /* a long sum */
        {"import os\nos.system(*", "**", "x)\n"},                      /* operators without operands */
        {"import os\ngetattr(os, ", "(", "'system')('x')"},            /* parentheses without an end */
        {"import subprocess\nsubprocess.run(**", "{**", "x)\n"},       /* mappings in mappings */
        {"eval\n", "a = ", "eval\n"},                                  /* a chain of assignments */
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        size_t length;
        char *text = repeat(cases[i].head, cases[i].part, HOSTILE_BYTES, cases[i].tail, &length);
        struct ck_lint_scan scan = scan_bytes(state, text, length);
        assert_true(scan.parsed || scan.skip == CK_LINT_SKIP_TIME);
        ck_lint_scan_done(&scan);
        free(text);
    }
}

static void findings_have_a_bound(void **state)
{
    size_t length;
    char *text = repeat("", "eval(1)\n", (CK_LINT_FINDINGS_MAX + 5) * strlen("eval(1)\n"), "", &length);
    struct ck_lint_scan scan = scan_bytes(state, text, length);
    assert_int_equal(scan.findings_count, CK_LINT_FINDINGS_MAX);
    assert_int_equal(scan.findings_dropped, 5);
    ck_lint_scan_done(&scan);
    free(text);
}

static void a_long_line_is_cut_at_a_character(void **state)
{
    size_t length;
    char *text = repeat("eval('", "\xc3\xa9", CK_LINT_LINE_MAX, "')\n", &length);
    struct ck_lint_scan scan = scan_bytes(state, text, length);
    assert_int_equal(scan.findings_count, 1);
    assert_true(scan.findings[0].source_length <= CK_LINT_LINE_MAX);
    assert_int_equal((scan.findings[0].source_length - strlen("eval('")) % 2, 0);
    ck_lint_scan_done(&scan);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(positions_count_characters_and_bytes),
        cmocka_unit_test(what_cannot_be_read_is_skipped_with_a_reason),
        cmocka_unit_test(another_encoding_is_skipped_with_a_reason),
        cmocka_unit_test(a_file_without_the_words_is_not_parsed),
        cmocka_unit_test(broken_syntax_is_reported_with_its_line),
        cmocka_unit_test(a_marker_counts_in_comments_only),
        cmocka_unit_test(hostile_texts_end_in_bounded_time),
        cmocka_unit_test(findings_have_a_bound),
        cmocka_unit_test(a_long_line_is_cut_at_a_character),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
