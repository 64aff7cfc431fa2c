/* test_report.c - how texts enter a report and leave it, what a page escapes, and how two looks are compared. */
#include "base/fd.h"
#include "report/compare.h"
#include "report/page.h"
#include "report/strings.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

static struct ck_page page;
static char written[1 << 12];

/* Text tests write to a memory file, and read what came out. */
static void begin(void)
{
    page = (struct ck_page){.fd = memfd_create("page", MFD_CLOEXEC)};
    assert_true(page.fd >= 0);
}

static const char *end(void)
{
    assert_int_equal(ck_page_flush(&page), 0);
    long length = ck_fd_read_at(page.fd, written, sizeof(written) - 1, 0);
    assert_true(length >= 0);
    written[length] = '\0';
    ck_fd_close(&page.fd);
    return written;
}

static void a_text_enters_once_and_safe(void **state)
{
    (void)state;
    struct ck_strings strings = {0};
    static const struct {
        const char *text;
        size_t length, most;
        const char *shown;
    } rows[] = {
        {"plain", 5, 300, "plain"},
        {"a\x1b[31m\n", 7, 300, "a\\x1b[31m\\x0a"},
        {"nul\0x", 5, 300, "nul\\x00x"},
        {"\xff\xe2\x80\xae", 4, 300, "\\xff\\xe2\\x80\\xae"},
        {"123456", 6, 4, "1234 … (2 bytes more)"},
        /* Not in the middle of a character. */
        {"ab\xc3\xa9z", 5, 3, "ab … (3 bytes more)"},
        {"", 0, 300, ""},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        uint32_t number = ck_strings_add(&strings, rows[i].text, rows[i].length, rows[i].most);
        assert_string_equal(ck_strings_text(&strings, number), rows[i].shown);
        assert_int_equal(number, ck_strings_own(&strings, rows[i].shown));
        assert_int_equal(number == 0, rows[i].shown[0] == '\0');
    }
    assert_string_equal(ck_strings_text(&strings, 12345), "");
    assert_false(strings.failed);
    ck_strings_done(&strings);
}

static void many_texts_keep_their_numbers(void **state)
{
    (void)state;
    struct ck_strings strings = {0};
    char text[32];

    for (unsigned round = 0; round < 2; round++)
        for (uint32_t i = 1; i <= 20000; i++) {
            (void)snprintf(text, sizeof(text), "text %u", (unsigned)i);
            assert_int_equal(ck_strings_add(&strings, text, strlen(text), 300), i);
            assert_string_equal(ck_strings_text(&strings, i), text);
        }
    ck_strings_done(&strings);
}

static void values_of_json_become_text(void **state)
{
    (void)state;
    struct ck_strings strings = {0};
    static const struct {
        const char *json;
        const char *shown;
    } rows[] = {
        {"\"a<b\"", "a<b"},
        {"{\"base64\":\"/w==\"}", "\\xff"},
        {"{\"base64\":\"??\"}", "??"},
        {"{\"base64\":7}", ""},
        {"null", ""},
        {"7", ""},
        {"[\"a\"]", ""},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        json_t *value = json_loads(rows[i].json, JSON_DECODE_ANY, NULL);
        assert_non_null(value);
        assert_string_equal(ck_strings_text(&strings, ck_strings_json(&strings, value, 300)), rows[i].shown);
        json_decref(value);
    }
    json_t *list = json_loads("[\"rg\", \"-n\", {\"base64\":\"/w==\"}, 3, \"\\u001b\"]", 0, NULL);
    assert_string_equal(ck_strings_text(&strings, ck_strings_list(&strings, list, " ", 300)), "rg -n \\xff  \\x1b");
    assert_int_equal(ck_strings_list(&strings, NULL, " ", 300), 0);
    json_decref(list);
    ck_strings_done(&strings);
}

static void a_page_escapes_each_text(void **state)
{
    (void)state;
    begin();
    ck_page_print(&page, "<b title=\"%s\">%s</b> 100%% %u %zu", "\"'", "<i>&amp;", 7U, (size_t)12345);
    assert_string_equal(end(), "<b title=\"&quot;&#39;\">&lt;i&gt;&amp;amp;</b> 100% 7 12345");
}

static void numbers_have_commas_where_asked(void **state)
{
    (void)state;
    begin();
    ck_page_print(&page, "%'zu %'zu %'zu %'zu", (size_t)0, (size_t)999, (size_t)1000, (size_t)1234567);
    assert_string_equal(end(), "0 999 1,000 1,234,567");
}

static void data_cannot_end_its_element(void **state)
{
    (void)state;
    begin();
    ck_page_json(&page, "</script><!-- \"\\ & ' \t\n");
    assert_string_equal(end(), "\"\\u003c/script\\u003e\\u003c!-- \\u0022\\u005c \\u0026 \\u0027 \\u0009\\u000a\"");
}

static void write_name(struct ck_page *to, const void *data)
{
    ck_page_print(to, "%s", (const char *)data);
}

static void a_template_is_filled(void **state)
{
    (void)state;
    static const char template[] = "<!-- kept --><p><!--{name}--></p><!--{name}-->";
    const struct ck_page_slot slots[] = {{"nam", NULL}, {"name", write_name}, {.name = NULL}};

    begin();
    ck_page_fill(&page, template, sizeof(template) - 1, slots, "<!--{name}-->");
    assert_string_equal(end(), "<!-- kept --><p>&lt;!--{name}--&gt;</p>&lt;!--{name}--&gt;");
}

static void a_page_that_cannot_be_written_says_so(void **state)
{
    (void)state;
    page = (struct ck_page){.fd = -1};
    for (unsigned i = 0; i < 10000; i++)
        ck_page_print(&page, "more than the buffer holds");
    assert_true(ck_page_flush(&page) < 0);
}

/* Identities as digits: "113" has one twice. The states come back as letters. */
static void check_states(const char *before, const char *now, const char *before_states, const char *now_states)
{
    struct ck_look_finding old[8] = {{0}}, new[8] = {{0}};
    struct ck_look a = {.findings = {old, strlen(before)}}, b = {.findings = {new, strlen(now)}};
    struct ck_compare_counts counts;
    const struct ck_strings strings = {0};
    uint64_t fresh = 0, gone = 0;

    for (size_t i = 0; before[i] != '\0'; i++)
        old[i].identity = (uint64_t)before[i];
    for (size_t i = 0; now[i] != '\0'; i++)
        new[i].identity = (uint64_t)now[i];
    assert_int_equal(ck_compare(&a, &b, &strings, &counts), 0);
    for (size_t i = 0; before[i] != '\0'; i++) {
        assert_int_equal(old[i].state, before_states[i] == 'g' ? CK_LOOK_GONE : CK_LOOK_KNOWN);
        gone += before_states[i] == 'g' ? 1 : 0;
    }
    for (size_t i = 0; now[i] != '\0'; i++) {
        assert_int_equal(new[i].state, now_states[i] == 'n' ? CK_LOOK_NEW : CK_LOOK_KNOWN);
        fresh += now_states[i] == 'n' ? 1 : 0;
    }
    assert_int_equal(counts.fresh, fresh);
    assert_int_equal(counts.gone, gone);
}

static void looks_are_compared_by_identity(void **state)
{
    (void)state;
    check_states("", "", "", "");
    check_states("", "12", "", "nn");
    check_states("12", "", "gg", "");
    check_states("123", "321", "kkk", "kkk");
    check_states("139", "213", "kkg", "nkk");
    check_states("11", "111", "kk", "kkn");
    check_states("111", "1", "kgg", "k");
}

/* Two probes had seen a finding; they are, and their lists lack, what the row says. */
static void what_was_not_looked_for_again_is_not_gone(void **state)
{
    (void)state;
    static const struct {
        const char *seen_by;
        struct ck_look_probe rg, semgrep;
        enum ck_look_state expected;
    } rows[] = {
        {"rg, semgrep", {.ok = true, .cut = 5}, {.ok = true, .cut = 5}, CK_LOOK_GONE},
        {"rg, semgrep", {.ok = true, .cut = 5}, {.ok = false, .cut = 5}, CK_LOOK_UNCHECKED},
        {"rg", {.ok = true, .cut = 5}, {.ok = false, .cut = 5}, CK_LOOK_GONE},
        {"rg", {.ok = true, .cut = CK_LOOK_MEDIUM}, {0}, CK_LOOK_UNCHECKED},
        {"rg", {.ok = true, .cut = CK_LOOK_LOW}, {0}, CK_LOOK_GONE},
        {"rg", {.ok = true, .cut = 5, .output_cut = true}, {0}, CK_LOOK_UNCHECKED},
        {"rg", {.nothing = true, .cut = 5}, {0}, CK_LOOK_GONE},
        {"another", {.ok = true, .cut = 5}, {.ok = true, .cut = 5}, CK_LOOK_UNCHECKED},
        {"", {.ok = false, .cut = 5}, {0}, CK_LOOK_GONE},
    };
    struct ck_strings strings = {0};
    uint32_t rg = ck_strings_own(&strings, "rg"), semgrep = ck_strings_own(&strings, "semgrep");

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct ck_look_finding finding = {
            .identity = 1, .severity = CK_LOOK_MEDIUM, .seen_by = ck_strings_own(&strings, rows[i].seen_by)};
        struct ck_look_probe probes[] = {rows[i].rg, rows[i].semgrep};
        struct ck_look before = {.findings = {&finding, 1}}, now = {.probes = {probes, 2}};
        struct ck_compare_counts counts;
        probes[0].name = rg;
        probes[1].name = semgrep;
        assert_int_equal(ck_compare(&before, &now, &strings, &counts), 0);
        assert_int_equal(finding.state, rows[i].expected);
        assert_int_equal(counts.gone, rows[i].expected == CK_LOOK_GONE);
        assert_int_equal(counts.unchecked, rows[i].expected == CK_LOOK_UNCHECKED);
    }
    ck_strings_done(&strings);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_text_enters_once_and_safe),
        cmocka_unit_test(many_texts_keep_their_numbers),
        cmocka_unit_test(values_of_json_become_text),
        cmocka_unit_test(a_page_escapes_each_text),
        cmocka_unit_test(numbers_have_commas_where_asked),
        cmocka_unit_test(data_cannot_end_its_element),
        cmocka_unit_test(a_template_is_filled),
        cmocka_unit_test(a_page_that_cannot_be_written_says_so),
        cmocka_unit_test(looks_are_compared_by_identity),
        cmocka_unit_test(what_was_not_looked_for_again_is_not_gone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
