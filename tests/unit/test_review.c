/* test_review.c - the public functions that review a policy: what they refuse, and who owns what. */
#include "chokepoint.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct choke_policy *must_open(const char *path)
{
    struct choke_policy *policy = NULL;
    struct choke_error error = {0};
    if (choke_policy_open(path, &policy, &error) != 0)
        fail_msg("%s", error.message);
    return policy;
}

static void nothing_given_is_refused(void **state)
{
    (void)state;
    struct choke_error error = {0};
    struct choke_diff *diff = NULL;
    const struct choke_finding *findings;
    const char *text;
    size_t count;
    struct choke_policy *policy = must_open(NULL);
    assert_int_equal(choke_policy_open(NULL, NULL, &error), -EINVAL);
    assert_int_equal(error.outcome, CHOKE_INVALID);
    assert_int_equal(choke_policy_check(NULL, &findings, &count, NULL), -EINVAL);
    assert_int_equal(choke_policy_check(policy, NULL, &count, NULL), -EINVAL);
    assert_int_equal(choke_policy_json(NULL, &text, NULL), -EINVAL);
    assert_int_equal(choke_policy_json(policy, NULL, NULL), -EINVAL);
    assert_int_equal(choke_policy_diff(policy, NULL, &diff, NULL), -EINVAL);
    assert_int_equal(choke_policy_diff(policy, policy, NULL, NULL), -EINVAL);
    assert_null(diff);
    choke_policy_free(policy);
    choke_policy_free(NULL);
    choke_diff_free(NULL);
}

static void a_failure_leaves_the_result_alone(void **state)
{
    (void)state;
    struct choke_error error = {0};
    struct choke_policy *policy = NULL;
    assert_int_equal(choke_policy_open("/nowhere/at/all.yaml", &policy, &error), -ENOENT);
    assert_null(policy);
    assert_int_equal(error.outcome, CHOKE_POLICY);
    assert_non_null(strstr(error.message, "/nowhere/at/all.yaml"));
    assert_int_equal(choke_policy_open("/dev/null", &policy, &error), -EINVAL);
    assert_null(policy);
}

static void answers_are_made_once(void **state)
{
    (void)state;
    struct choke_policy *policy = must_open(CHOKE_SOURCE_DIR "/policy/default.yaml");
    const struct choke_finding *first, *second;
    const char *one, *other;
    size_t count;
    assert_int_equal(choke_policy_check(policy, &first, &count, NULL), 0);
    assert_int_equal(choke_policy_check(policy, &second, &count, NULL), 0);
    assert_ptr_equal(first, second);
    assert_int_equal(choke_policy_json(policy, &one, NULL), 0);
    assert_int_equal(choke_policy_json(policy, &other, NULL), 0);
    assert_ptr_equal(one, other);
    choke_policy_free(policy);
}

/* The library embeds exactly this file. */
static void embedded_policy_is_the_default_one(void **state)
{
    (void)state;
    struct choke_policy *embedded = must_open(NULL);
    struct choke_policy *file = must_open(CHOKE_SOURCE_DIR "/policy/default.yaml");
    struct choke_diff *diff = NULL;
    assert_int_equal(choke_policy_diff(embedded, file, &diff, NULL), 0);
    assert_int_equal(diff->count, 0);
    choke_diff_free(diff);
    choke_policy_free(embedded);
    choke_policy_free(file);
}

/* No record can be looked up for it, so nothing covers it. */
static void embedded_policy_covers_nothing(void **state)
{
    (void)state;
    struct choke_policy *embedded = must_open(NULL);
    struct choke_policy *file = must_open(CHOKE_SOURCE_DIR "/examples/policy.yaml");
    struct choke_diff *diff = NULL;
    assert_int_equal(choke_policy_diff(file, embedded, &diff, NULL), 0);
    assert_true(diff->widens > 0);
    assert_int_equal(diff->uncovered, diff->widens);
    assert_int_equal(diff->widens + diff->narrows + diff->neutral, diff->count);
    for (size_t i = 0; i < diff->count; i++) {
        assert_int_equal(diff->changes[i].covered, diff->changes[i].kind != CHOKE_CHANGE_WIDENS);
        assert_int_equal(diff->changes[i].covered, !diff->changes[i].reason);
    }
    choke_diff_free(diff);
    choke_policy_free(embedded);
    choke_policy_free(file);
}

static void names_are_stable(void **state)
{
    (void)state;
    assert_string_equal(choke_severity_name(CHOKE_SEVERITY_NOTE), "note");
    assert_string_equal(choke_severity_name(CHOKE_SEVERITY_WARNING), "warning");
    assert_string_equal(choke_severity_name(CHOKE_SEVERITY_ERROR), "error");
    assert_string_equal(choke_change_kind_name(CHOKE_CHANGE_NEUTRAL), "neutral");
    assert_string_equal(choke_change_kind_name(CHOKE_CHANGE_NARROWS), "narrows");
    assert_string_equal(choke_change_kind_name(CHOKE_CHANGE_WIDENS), "widens");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_given_is_refused),       cmocka_unit_test(a_failure_leaves_the_result_alone),
        cmocka_unit_test(answers_are_made_once),          cmocka_unit_test(embedded_policy_is_the_default_one),
        cmocka_unit_test(embedded_policy_covers_nothing), cmocka_unit_test(names_are_stable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
