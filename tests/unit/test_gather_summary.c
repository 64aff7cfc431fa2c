/* test_gather_summary.c - the summary at the end: on 80 columns, the worst first, and harmless on a
 * terminal. */
#include "gather_fixture.h"

#include "gather/view/format.h"
#include "gather/view/severity.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

/* To be freed. The findings are collected anew, from what the probes have by now. */
static char *summary_of(struct fixture *fixture, bool colour)
{
    fixture_collect(fixture);
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    assert_non_null(out);
    assert_int_equal(ck_summary_write(&fixture->gathering, out, colour), 0);
    assert_int_equal(fclose(out), 0);
    return text;
}

static void assert_says(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("'%s' is not in:\n%s", part, text);
}

static void assert_before(const char *text, const char *first, const char *second)
{
    assert_says(text, first);
    assert_says(text, second);
    if (strstr(text, first) > strstr(text, second))
        fail_msg("'%s' comes after '%s' in:\n%s", first, second, text);
}

static void assert_readable(char *text)
{
    char *rest = NULL;

    for (const char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        if (ck_view_columns(line) > CK_VIEW_COLUMNS)
            fail_msg("too long: %s", line);
        for (const char *at = line; *at != '\0'; at++)
            if ((unsigned char)*at < 0x20 || *at == 0x7f)
                fail_msg("a control byte: %s", line);
    }
}

static void every_line_is_short_and_harmless(void **state)
{
    static char fragment[700];
    struct fixture fixture;
    (void)state;
    fixture_init(&fixture, 1);
    memset(fragment, 'w', sizeof(fragment) - 1);
    fixture.reports[4].reason = fragment;
    fixture.reports[3].install = fragment;
    fixture.gathering.document = fragment;
    char *text = summary_of(&fixture, false);
    assert_null(strstr(text, "\xe2\x80\xae"));
    assert_readable(text);
    free(text);
    fixture_done(&fixture);
}

static void it_says_what_came_of_all(void **state)
{
    struct fixture fixture;
    (void)state;
    fixture_init(&fixture, 1);
    fixture.gathering.root = "/srv/repository";
    fixture.gathering.document = "all.json";
    fixture.reports[0].files_cut = true;
    char *text = summary_of(&fixture, false);
    assert_says(text, "Repository  /srv/repository\n");
    assert_says(text, "Commit      0123456789abcdef0123456789abcdef01234567\n");
    assert_says(text, "Gathered    9 probes in 3.0s: 2 ok, 1 failed, 1 timeout, 1 tool_missing, 2\n");
    assert_says(text, "main at 0123456; it was not");
    assert_says(text, "tool_missing: semgrep is not installed\n");
    assert_says(text, "pipx install semgrep\n");
    assert_says(text, "other, another: "); /* skipped for the same reason */
    assert_says(text, "Document    all.json\n");
    free(text);
    fixture_done(&fixture);
}

/* The repository chooses the name of a directory, which may be long in any script. */
static void a_long_path_keeps_its_line(void **state)
{
    static char json[4000];
    struct fixture fixture;
    (void)state;
    fixture_init(&fixture, 1);
    json_decref(fixture.reports[2].evidence.document);
    int used = snprintf(json, sizeof(json),
                        "{\"findings\": [{\"id\": \"key\", \"severity\": \"high\", \"line\": 77, \"path\": \"");
    for (int i = 0; i < 1000; i++)
        used += snprintf(json + used, sizeof(json) - (size_t)used, "\xe5\xae\xbd");
    (void)snprintf(json + used, sizeof(json) - (size_t)used, "\"}]}");
    fixture_evidence(&fixture.reports[2], json, "one", 1);
    char *text = summary_of(&fixture, false);
    assert_says(text, ":77 [key]\n");
    assert_readable(text);
    free(text);
    fixture_done(&fixture);
}

static void the_worst_kinds_come_first_and_once(void **state)
{
    struct fixture fixture;
    (void)state;
    fixture_init(&fixture, 1);
    json_decref(fixture.reports[2].evidence.document);
    fixture_evidence(
        &fixture.reports[2],
        "{\"by_id\": {\"weak\": 7, \"shell\": 1, \"key\": -1}, \"findings_total\": 10, \"findings_cut\": \"low\", \"findings\": ["
        "{\"id\": \"noise\", \"severity\": \"info\", \"message\": \"Only noise.\", \"path\": \"a\"},"
        "{\"id\": \"weak\", \"severity\": \"low\", \"message\": \"A weak hash.\", \"path\": \"a.py\", \"line\": 3},"
        "{\"id\": \"shell\", \"severity\": \"high\", \"message\": \"A shell.\", \"path\": \"b.py\", \"line\": 9},"
        "{\"id\": \"shell_js\", \"severity\": \"high\", \"message\": \"A shell.\", \"path\": \"c.py\", \"line\": 1},"
        "{\"id\": \"key\", \"severity\": \"critical\", \"path\": {\"base64\": \"Y2Fm6Qo=\"}},"
        "{\"severity\": 7, \"message\": [], \"path\": 1}, 8, null]}",
        "four", 4);
    char *text = summary_of(&fixture, false);
    assert_before(text, "critical", "A shell.");
    assert_before(text, "A shell.", "A weak hash.");
    assert_says(text, "b.py:9 and 1 more [shell]");
    assert_says(text, "a.py:3 and 6 more [weak]"); /* the list is cut, the count is not */
    assert_says(text, "found more than is listed; the rest may be low\n");
    assert_says(text, "<base64:Y2Fm6Qo=>");
    assert_null(strstr(text, "Only noise."));
    assert_null(strstr(text, "c.py"));
    free(text);
    fixture_done(&fixture);
}

/* As a hostile repository would have them: each of another kind, with a text that takes over a terminal. */
static void any_number_of_findings_is_bounded(void **state)
{
    struct fixture fixture;
    size_t lines = 0;
    (void)state;
    fixture_init(&fixture, 1);
    json_t *findings = json_object_get(fixture.reports[2].evidence.document, "findings");
    for (int i = 0; i < 2 * CK_KINDS_MAX; i++) {
        char id[32], message[sizeof(NASTY) + 32];
        (void)snprintf(id, sizeof(id), "id%d", i);
        (void)snprintf(message, sizeof(message), "%s%d", NASTY, i);
        assert_int_equal(json_array_append_new(findings, json_pack("{s:s, s:s, s:s, s:s, s:I}", "id", id, "severity",
                                                                   "high", "message", message, "path", NASTY, "line",
                                                                   (json_int_t)INT64_MAX - i)),
                         0);
    }
    char *text = summary_of(&fixture, false);
    for (const char *at = text; *at != '\0'; at++)
        lines += *at == '\n';
    assert_in_range(lines, 20, 80);
    assert_says(text, "and 246 of other kinds: id501, id500, id499,");
    assert_says(text, " and more\n");
    assert_readable(text);
    free(text);
    fixture_done(&fixture);
}

static void nothing_at_all_can_be_summed_up(void **state)
{
    struct fixture fixture = {.gathering = {.root = "/", .cancelled = true}};
    (void)state;
    char *text = summary_of(&fixture, false);
    assert_says(text, "Commit      not known\n");
    assert_says(text, "Cancelled   0 probes in 0.0s\n");
    assert_says(text, "--out FILE");
    free(text);
    fixture_done(&fixture);
}

static void missing_parts_are_reported(void **state)
{
    struct fixture fixture;
    (void)state;
    fixture_init(&fixture, 1);
    (void)json_object_set_new(fixture.reports[0].evidence.document, "commit", json_null());
    char *text = summary_of(&fixture, false);
    assert_says(text, "Commit      none yet\n");
    assert_says(text, "nothing: no finding is above info, by the 1 probe that looked; these have no\n");
    assert_says(text, "semgrep (tool_missing)"); /* "nothing" without it would be worth more */
    free(text);
    fixture_done(&fixture);
}

static void colour_is_there_when_asked_for(void **state)
{
    struct fixture fixture;
    (void)state;
    fixture_init(&fixture, 1);
    char *plain = summary_of(&fixture, false);
    char *painted = summary_of(&fixture, true);
    assert_null(strchr(plain, '\033'));
    assert_says(painted, "\033[31mfailed\033[0m: ");
    free(plain);
    free(painted);
    fixture_done(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_line_is_short_and_harmless),    cmocka_unit_test(it_says_what_came_of_all),
        cmocka_unit_test(the_worst_kinds_come_first_and_once), cmocka_unit_test(a_long_path_keeps_its_line),
        cmocka_unit_test(any_number_of_findings_is_bounded),   cmocka_unit_test(nothing_at_all_can_be_summed_up),
        cmocka_unit_test(missing_parts_are_reported),          cmocka_unit_test(colour_is_there_when_asked_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
