/* test_evidence.c - what every reader promises: bounds, a fixed order, a message instead of a
 * crash. */
#include "evidence_reading.h"

#include "gather/evidence/common.h"

#include <errno.h>

#define BYTES(text) \
    { \
        text, sizeof(text) - 1 \
    }

static const struct {
    const char *kind, *id;
} kinds[] = {{"git", "kind"},     {"node", "version"},     {"patterns", "shell_call"}, {"ast-grep", "scan"},
             {"semgrep", "scan"}, {"gitleaks", "scan"},    {"cyclonedx", "scan"},      {"grype", "scan"},
             {"scip", "index"},   {"tree-sitter", "parse"}};

static void every_reader_survives_any_input(void **state)
{
    static const struct {
        const char *bytes;
        size_t length;
    } inputs[] = {
        BYTES(""),
        BYTES("\0"),
        BYTES("\n"),
        BYTES("{"),
        BYTES("[]"),
        BYTES("{}"),
        BYTES("null"),
        BYTES("[[[[[[["),
        BYTES("\xff\xfe\xfd"),
        BYTES("a\0"
              "1:high"),
        BYTES("{\"results\": 5}"),
        BYTES("{\"results\": [5, null, {}, [], {\"check_id\": 1}]}"),
        BYTES("{\"matches\": [5, {\"vulnerability\": 1, \"artifact\": {}}]}"),
        BYTES("{\"bomFormat\": \"CycloneDX\", \"components\": [1, {\"type\": \"library\", \"name\": []}]}"),
        BYTES("[{\"RuleID\": 1}, {\"RuleID\": \"a\"}, 7]"),
        BYTES("{\"line\": 99999999999999999999999999}"),
        BYTES("Total parses: 99999999999999999999"),
    };
    (void)state;
    for (size_t i = 0; i < COUNT(kinds); i++)
        for (size_t j = 0; j < COUNT(inputs); j++)
            for (int truncated = 0; truncated < 2; truncated++) {
                struct ck_answer answer = make_answer(kinds[i].id, inputs[j].bytes, inputs[j].length);
                answer.out_truncated = truncated == 1;
                struct reading reading = read_all_of(kinds[i].kind, &answer, 1);
                ck_evidence_done(&reading.evidence);
            }
}

static void no_answer_at_all_is_a_message_or_an_empty_document(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(kinds); i++) {
        struct reading reading = read_all_of(kinds[i].kind, NULL, 0);
        ck_evidence_done(&reading.evidence);
    }
}

static void deep_json_is_refused(void **state)
{
    static const char *const names[] = {"semgrep", "gitleaks", "cyclonedx", "grype"};
    size_t length = 200000;
    char *deep = malloc(length);
    (void)state;
    assert_non_null(deep);
    memset(deep, '[', length);
    for (size_t i = 0; i < COUNT(names); i++) {
        const struct ck_answer answer = make_answer("scan", deep, length);
        struct reading reading = read_all_of(names[i], &answer, 1);
        assert_int_equal(reading.r, -EBADMSG);
        assert_non_null(strstr(reading.error.message, "cannot parse the output of"));
    }
    free(deep);
}

static void a_flood_of_values_is_refused_before_it_is_parsed(void **state)
{
    size_t length = 9000000;
    char *flood = malloc(length);
    (void)state;
    assert_non_null(flood);
    for (size_t i = 0; i < length; i++)
        flood[i] = "[],"[i % 3];
    flood[0] = '[';
    const struct ck_answer answer = make_answer("scan", flood, length);
    struct reading reading = read_all_of("gitleaks", &answer, 1);
    assert_int_equal(reading.r, -EBADMSG);
    assert_non_null(strstr(reading.error.message, "too many values"));
    free(flood);
}

static void json_without_its_beginning_is_not_guessed_at(void **state)
{
    struct ck_answer answer = make_text_answer("scan", "{\"results\": []}");
    (void)state;
    answer.out_truncated = true;
    struct reading reading = read_all_of("semgrep", &answer, 1);
    assert_int_equal(reading.r, -EBADMSG);
    assert_non_null(strstr(reading.error.message, "beginning is lost"));
}

static json_t *item_of(const char *id, const char *severity, const char *path, int line)
{
    return json_pack("{s:s, s:s, s:s, s:i}", "id", id, "severity", severity, "path", path, "line", line);
}

static json_t *item(const char *severity, const char *path, int line)
{
    return item_of("x", severity, path, line);
}

static void a_list_is_in_the_order_of_its_content(void **state)
{
    static const char *const expected[] = {"z:1", "a:9", "a:10", "b:1", "a:1"};
    struct ck_evidence_list list CK_CLEANUP_LIST = {0};
    json_t *document CK_CLEANUP_JSON = json_object();
    (void)state;
    ck_evidence_list_add(&list, item("low", "a", 1));
    ck_evidence_list_add(&list, item("high", "b", 1));
    ck_evidence_list_add(&list, item("high", "a", 10));
    ck_evidence_list_add(&list, item("critical", "z", 1));
    ck_evidence_list_add(&list, item("high", "a", 9));
    assert_int_equal(ck_evidence_set_list(document, "findings", &list), 0);
    const json_t *findings = json_object_get(document, "findings");
    assert_int_equal(json_array_size(findings), COUNT(expected));
    for (size_t i = 0; i < COUNT(expected); i++) {
        const json_t *found = json_array_get(findings, i);
        char location[16];
        (void)snprintf(location, sizeof(location), "%s:%lld", json_string_value(json_object_get(found, "path")),
                       json_integer_value(json_object_get(found, "line")));
        assert_string_equal(location, expected[i]);
    }
}

/* In any order, and whether or not it is asked before, the same items are kept. */
static void a_list_that_is_cut_keeps_the_same_items(void **state)
{
    enum { all = 7 * CK_EVIDENCE_ITEMS_MAX, orders = 4 };
    json_t *documents[orders];
    size_t spared = 0;
    (void)state;
    for (int order = 0; order < orders; order++) {
        struct ck_evidence_list list CK_CLEANUP_LIST = {0};
        documents[order] = json_object();
        for (int i = 0; i < all; i++) {
            int number = order % 2 == 0 ? i : i * 4999 % all; /* each once, in another order */
            const char *severity = number % 100 == 0 ? "high" : "low";
            bool wanted =
                order < 2 ||
                ck_evidence_list_wants(&list, &(struct ck_evidence_location){"x", severity, "p", 1, (uint64_t)number});
            if (wanted)
                ck_evidence_list_add(&list, item(severity, "p", number));
            spared += !wanted;
        }
        assert_int_equal(ck_evidence_set_list(documents[order], "findings", &list), 0);
    }
    for (int order = 1; order < orders; order++) {
        assert_true(json_equal(documents[0], documents[order]));
        json_decref(documents[order]);
    }
    assert_true(spared > (size_t)all);
    assert_int_equal(json_array_size(json_object_get(documents[0], "findings")), CK_EVIDENCE_ITEMS_MAX);
    assert_int_equal(json_integer_value(json_object_get(documents[0], "findings_total")), all);
    const json_t *worst = json_array_get(json_object_get(documents[0], "findings"), 69);
    assert_string_equal(json_string_value(json_object_get(worst, "severity")), "high");
    json_decref(documents[0]);
}

static bool has_id(const json_t *findings, size_t index, const char *id)
{
    return strcmp(json_string_value(json_object_get(json_array_get(findings, index), "id")), id) == 0;
}

/* Otherwise a repository with a real finding could plant a thousand others before it. */
static void many_of_one_kind_do_not_hide_another(void **state)
{
    enum { all = 7 * CK_EVIDENCE_ITEMS_MAX, orders = 4 };
    json_t *documents[orders];
    (void)state;
    for (int order = 0; order < orders; order++) {
        struct ck_evidence_list list CK_CLEANUP_LIST = {0};
        documents[order] = json_object();
        for (int i = 0; i < all; i++) {
            int number = order % 2 == 0 ? i : i * 4999 % all;
            bool last = number >= all - 2, low = number % 3000 == 2999;
            const char *id = last ? "secret" : low ? "hash" : "noise", *severity = low ? "low" : "high";
            const struct ck_evidence_location location = {id, severity, "p", 1, (uint64_t)number};
            if (order < 2 || ck_evidence_list_wants(&list, &location))
                ck_evidence_list_add(&list, item_of(id, severity, "p", number));
        }
        assert_int_equal(ck_evidence_set_list(documents[order], "findings", &list), 0);
    }
    for (int order = 1; order < orders; order++) {
        assert_true(json_equal(documents[0], documents[order]));
        json_decref(documents[order]);
    }
    const json_t *findings = json_object_get(documents[0], "findings");
    assert_int_equal(json_array_size(findings), CK_EVIDENCE_ITEMS_MAX);
    assert_true(has_id(findings, CK_EVIDENCE_ITEMS_MAX - 3, "noise"));
    assert_true(has_id(findings, CK_EVIDENCE_ITEMS_MAX - 2, "secret"));
    assert_true(has_id(findings, CK_EVIDENCE_ITEMS_MAX - 1, "hash"));
    assert_int_equal(json_integer_value(json_object_get(json_array_get(findings, 998), "line")), all - 2);
    json_decref(documents[0]);
}

/* As many kinds as there is room for, and more: each once. */
static void of_more_kinds_than_fit_the_worst_remain(void **state)
{
    struct ck_evidence_list list CK_CLEANUP_LIST = {0};
    json_t *document CK_CLEANUP_JSON = json_object();
    char id[16];
    (void)state;
    for (int i = 0; i < 6 * CK_EVIDENCE_ITEMS_MAX; i++) {
        (void)snprintf(id, sizeof(id), "%04d", i / 3);
        ck_evidence_list_add(&list, item_of(id, "high", id, i % 3));
    }
    assert_int_equal(ck_evidence_set_list(document, "findings", &list), 0);
    const json_t *findings = json_object_get(document, "findings");
    assert_int_equal(json_array_size(findings), CK_EVIDENCE_ITEMS_MAX);
    assert_true(has_id(findings, 0, "0000") && has_id(findings, 1, "0001") && has_id(findings, 999, "0999"));
}

static void text_is_cut_between_two_characters(void **state)
{
    char text[2 * CK_EVIDENCE_TEXT_MAX];
    (void)state;
    for (size_t i = 0; i + 2 < sizeof(text); i += 3)
        memcpy(text + i, "\xe2\x82\xac", 3);
    json_t *cut CK_CLEANUP_JSON = ck_evidence_text(text, sizeof(text) - 2);
    assert_true(json_is_string(cut));
    assert_int_equal(json_string_length(cut), CK_EVIDENCE_TEXT_MAX - CK_EVIDENCE_TEXT_MAX % 3);
}

static void bytes_that_are_no_text_are_base64(void **state)
{
    (void)state;
    json_t *bytes CK_CLEANUP_JSON = ck_evidence_text("caf\xe9", 4);
    assert_string_equal(json_string_value(json_object_get(bytes, "base64")), "Y2Fm6Q==");
    json_t *zero CK_CLEANUP_JSON = ck_evidence_text("a\0b", 3);
    assert_int_equal(json_string_length(zero), 3);
    char long_bytes[CK_EVIDENCE_TEXT_MAX + 8];
    memset(long_bytes, 0xbf, sizeof(long_bytes));
    json_t *cut CK_CLEANUP_JSON = ck_evidence_text(long_bytes, sizeof(long_bytes));
    assert_true(json_is_object(cut));
    assert_true(json_string_length(json_object_get(cut, "base64")) <= (CK_EVIDENCE_TEXT_MAX + 2) / 3 * 4);
}

static void names_beyond_the_bound_are_counted_together(void **state)
{
    json_t *counts CK_CLEANUP_JSON = json_object();
    json_t *document CK_CLEANUP_JSON = json_object();
    (void)state;
    for (int i = 0; i < CK_EVIDENCE_ITEMS_MAX + 500; i++) {
        char name[16];
        (void)snprintf(name, sizeof(name), "n%04d", i);
        ck_evidence_count(counts, name, 1);
    }
    assert_int_equal(json_object_size(counts), CK_EVIDENCE_ITEMS_MAX + 1);
    assert_int_equal(json_integer_value(json_object_get(counts, "(other)")), 500);
    assert_int_equal(ck_evidence_set_counts(document, "by_id", counts), 0);
    assert_string_equal(json_object_iter_key(json_object_iter(json_object_get(document, "by_id"))), "(other)");
}

static void severity_names_are_one_set(void **state)
{
    static const char *const pairs[][2] = {{"CRITICAL", "critical"},
                                           {"Critical", "critical"},
                                           {"ERROR", "high"},
                                           {"error", "high"},
                                           {"WARNING", "medium"},
                                           {"Moderate", "medium"},
                                           {"Low", "low"},
                                           {"Negligible", "info"},
                                           {"Unknown", "info"},
                                           {"", "info"},
                                           {NULL, "info"}};
    (void)state;
    for (size_t i = 0; i < COUNT(pairs); i++)
        assert_string_equal(ck_evidence_severity(pairs[i][0]), pairs[i][1]);
}

static void a_missing_kind_is_reported_as_missing(void **state)
{
    (void)state;
    assert_null(ck_evidence_find(""));
    assert_null(ck_evidence_find("gi"));
    assert_null(ck_evidence_find("gitt"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_reader_survives_any_input),
        cmocka_unit_test(no_answer_at_all_is_a_message_or_an_empty_document),
        cmocka_unit_test(deep_json_is_refused),
        cmocka_unit_test(a_flood_of_values_is_refused_before_it_is_parsed),
        cmocka_unit_test(json_without_its_beginning_is_not_guessed_at),
        cmocka_unit_test(a_list_is_in_the_order_of_its_content),
        cmocka_unit_test(a_list_that_is_cut_keeps_the_same_items),
        cmocka_unit_test(many_of_one_kind_do_not_hide_another),
        cmocka_unit_test(of_more_kinds_than_fit_the_worst_remain),
        cmocka_unit_test(text_is_cut_between_two_characters),
        cmocka_unit_test(bytes_that_are_no_text_are_base64),
        cmocka_unit_test(names_beyond_the_bound_are_counted_together),
        cmocka_unit_test(severity_names_are_one_set),
        cmocka_unit_test(a_missing_kind_is_reported_as_missing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
