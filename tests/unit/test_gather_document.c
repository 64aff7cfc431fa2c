/* test_gather_document.c - the document has its members in order, and no difference without a
 * reason. */
#include "gather_fixture.h"

#include "front/jansson.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

/* The names of an object's members, each followed by a space. */
static void assert_members(const json_t *object, const char *expected)
{
    char names[512] = "";
    const char *name;
    json_t *value;

    json_object_foreach((json_t *)(uintptr_t)object, name, value)
    {
        size_t used = strlen(names);
        (void)snprintf(names + used, sizeof(names) - used, "%s ", name);
    }
    assert_string_equal(names, expected);
}

static void drop_timing(json_t *value)
{
    const char *name;
    json_t *member;
    size_t index;

    if (json_is_object(value))
        (void)json_object_del(value, "timing");
    json_object_foreach(value, name, member) drop_timing(member);
    json_array_foreach(value, index, member) drop_timing(member);
}

static void members_are_in_their_order(void **state)
{
    struct fixture fixture;
    (void)state;
    fixture_init(&fixture, 1);
    json_t *document = ck_document_make(&fixture.gathering);
    const json_t *probe = json_array_get(json_object_get(document, "probes"), 0);
    const json_t *call = json_array_get(json_object_get(probe, "calls"), 0);

    assert_members(
        document,
        "format chokepoint repository commit cancelled summary findings findings_summary tools probes timing ");
    assert_members(json_object_get(document, "repository"), "root files files_incomplete ");
    assert_members(json_object_get(document, "summary"), "ok failed timeout tool_missing skipped refused cancelled ");
    assert_members(json_array_get(json_object_get(document, "tools"), 0), "name path version sha256 ");
    assert_members(probe, "name layer tool why state reason install headline found evidence files_cut calls timing ");
    assert_members(call, "id argv outcome exit_code rule jail layers truncated timing ");
    assert_int_equal(json_integer_value(json_object_get(document, "format")), 1);
    json_decref(document);
    fixture_done(&fixture);
}

static void states_are_named_and_counted(void **state)
{
    static const char *const names[FIXTURE_PROBES] = {"ok",      "failed",  "ok",      "tool_missing", "timeout",
                                                      "skipped", "skipped", "refused", "cancelled"};
    struct fixture fixture;
    (void)state;
    fixture_init(&fixture, 1);
    json_t *document = ck_document_make(&fixture.gathering);
    const json_t *summary = json_object_get(document, "summary");

    for (size_t i = 0; i < FIXTURE_PROBES; i++) {
        const json_t *probe = json_array_get(json_object_get(document, "probes"), i);
        assert_string_equal(json_string_value(json_object_get(probe, "state")), names[i]);
        assert_int_equal(json_is_object(json_object_get(probe, "evidence")), strcmp(names[i], "ok") == 0);
    }
    assert_int_equal(json_integer_value(json_object_get(summary, "ok")), 2);
    assert_int_equal(json_integer_value(json_object_get(summary, "skipped")), 2);
    assert_int_equal(json_integer_value(json_object_get(summary, "refused")), 1);
    json_decref(document);
    fixture_done(&fixture);
}

static void the_commit_comes_from_the_repository_layer(void **state)
{
    struct fixture fixture;
    (void)state;
    fixture_init(&fixture, 1);
    (void)json_object_set_new(fixture.reports[2].evidence.document, "commit", json_string("planted"));
    assert_string_equal(ck_gather_commit(&fixture.gathering), "0123456789abcdef0123456789abcdef01234567");
    (void)json_object_del(fixture.reports[0].evidence.document, "commit");
    assert_null(ck_gather_commit(&fixture.gathering));

    json_t *document = ck_document_make(&fixture.gathering);
    assert_true(json_is_null(json_object_get(document, "commit")));
    json_decref(document);
    fixture_done(&fixture);
}

static void bytes_that_are_not_utf8_are_base64(void **state)
{
    struct fixture fixture;
    (void)state;
    fixture_init(&fixture, 1);
    json_t *document = ck_document_make(&fixture.gathering);
    const json_t *root = json_object_get(json_object_get(document, "repository"), "root");
    const json_t *probe = json_array_get(json_object_get(document, "probes"), 0);
    const json_t *argv = json_object_get(json_array_get(json_object_get(probe, "calls"), 0), "argv");

    assert_string_equal(json_string_value(json_object_get(root, "base64")), "L3Nydi9jYWbpCg==");
    assert_string_equal(json_string_value(json_object_get(json_array_get(argv, 1), "base64")), "Y2Fm6Qo=");
    assert_string_equal(json_string_value(json_array_get(argv, 2)), NASTY);
    json_decref(document);
    fixture_done(&fixture);
}

static void only_timing_differs_between_two_runs(void **state)
{
    struct fixture hands[2];
    json_t *documents[2];
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        fixture_init(&hands[i], 1 + 6 * i);
        documents[i] = ck_document_make(&hands[i].gathering);
    }
    assert_false(json_equal(documents[0], documents[1]));
    drop_timing(documents[0]);
    drop_timing(documents[1]);
    char *first = json_dumps(documents[0], JSON_COMPACT);
    char *second = json_dumps(documents[1], JSON_COMPACT);
    assert_string_equal(first, second);
    free(first);
    free(second);
    for (size_t i = 0; i < 2; i++) {
        json_decref(documents[i]);
        fixture_done(&hands[i]);
    }
}

static void what_did_not_run_has_no_status_and_no_time(void **state)
{
    struct fixture fixture;
    (void)state;
    fixture_init(&fixture, 1);
    json_t *document = ck_document_make(&fixture.gathering);
    const json_t *probes = json_object_get(document, "probes");
    const json_t *calls = json_object_get(json_array_get(probes, 0), "calls");

    assert_int_equal(json_integer_value(json_object_get(json_array_get(calls, 0), "exit_code")), 1);
    assert_true(json_is_null(json_object_get(json_array_get(calls, 1), "exit_code")));
    assert_true(json_is_null(json_object_get(json_array_get(calls, 1), "jail")));
    assert_true(json_is_null(json_object_get(json_array_get(probes, 3), "timing")));
    assert_true(json_is_null(json_object_get(json_array_get(probes, 0), "found")));
    assert_true(json_is_object(json_object_get(json_array_get(probes, 2), "found")));
    json_decref(document);
    fixture_done(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(members_are_in_their_order),
        cmocka_unit_test(states_are_named_and_counted),
        cmocka_unit_test(the_commit_comes_from_the_repository_layer),
        cmocka_unit_test(bytes_that_are_not_utf8_are_base64),
        cmocka_unit_test(only_timing_differs_between_two_runs),
        cmocka_unit_test(what_did_not_run_has_no_status_and_no_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
