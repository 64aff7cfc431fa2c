/* policy_parse.h - the text of a policy in a unit test: it becomes a policy, or is refused at its place. */
#ifndef TEST_POLICY_PARSE_H
#define TEST_POLICY_PARSE_H

#include "policy/load.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* The caller frees the policy. */
static inline struct ck_policy *must_parse(const char *text)
{
    struct ck_policy *policy = NULL;
    struct choke_error error = {0};
    if (ck_policy_parse("p.yaml", text, strlen(text), &policy, &error) != 0)
        fail_msg("refused: %s", error.message);
    assert_non_null(policy);
    return policy;
}

/* The place is in the message and in the error, and the result is not written. */
static inline struct choke_error must_refuse(const char *text, size_t length, unsigned line, unsigned column,
                                             const char *expected_text)
{
    struct ck_policy *const untouched = (struct ck_policy *)(uintptr_t)16;
    struct ck_policy *policy = untouched;
    struct choke_error error = {0};
    int r = ck_policy_parse("p.yaml", text, length, &policy, &error);
    if (r == 0)
        fail_msg("accepted, but should be refused with '%s'", expected_text);
    assert_int_equal(r, -EINVAL);
    assert_ptr_equal(policy, untouched);
    assert_int_equal(error.outcome, CHOKE_POLICY);
    char place[64];
    (void)snprintf(place, sizeof(place), "policy 'p.yaml': line %u, column %u: ", line, column);
    if (strncmp(error.message, place, strlen(place)) != 0 || !strstr(error.message, expected_text))
        fail_msg("wanted '%s...%s', got '%s'", place, expected_text, error.message);
    assert_int_equal(error.line, line);
    assert_int_equal(error.column, column);
    return error;
}

#endif
