/* test_versioned.c - a program and the library may be built with different versions of a struct. */
#include "api/versioned.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* The versions of a struct that has grown twice. */
struct one {
    const char *name;
    size_t struct_size;
};
struct two {
    const char *name;
    size_t struct_size;
    int second;
};
struct three {
    const char *name;
    size_t struct_size;
    int second;
    void *third;
};

/* The library knows the second version. */
static const struct ck_versioned known = {.first_bytes = sizeof(struct one), .known_bytes = sizeof(struct two)};

static void first_version_is_filled_with_zeros(void **state)
{
    (void)state;
    struct three memory = {.name = "a", .second = 5, .third = &memory};
    struct two read = {.second = 9};
    assert_int_equal(ck_versioned_read(known, &memory, 0, &read, NULL), 0);
    assert_string_equal(read.name, "a");
    assert_int_equal(read.second, 0);
    assert_int_equal(ck_versioned_read(known, &memory, sizeof(struct one), &read, NULL), 0);
    assert_int_equal(read.second, 0);
}

static void known_members_are_read(void **state)
{
    (void)state;
    const struct three memory = {.name = "a", .second = 5};
    struct two read = {0};
    assert_int_equal(ck_versioned_read(known, &memory, sizeof(struct two), &read, NULL), 0);
    assert_int_equal(read.second, 5);
    assert_int_equal(ck_versioned_read(known, &memory, sizeof(struct three), &read, NULL), 0);
    assert_int_equal(read.second, 5);
}

static void unknown_member_in_use_is_refused(void **state)
{
    (void)state;
    struct three memory = {.name = "a", .third = &memory};
    struct two read = {0};
    struct choke_error error = {0};
    assert_int_equal(ck_versioned_read(known, &memory, sizeof(struct three), &read, &error), -E2BIG);
    assert_int_equal(error.outcome, CHOKE_INVALID);
    assert_non_null(strstr(error.message, "does not have"));
    assert_null(read.name);
}

static void size_below_the_first_version_is_refused(void **state)
{
    (void)state;
    const struct one memory = {.name = "a"};
    struct two read = {0};
    for (size_t size = 1; size < sizeof(struct one); size++)
        assert_int_equal(ck_versioned_read(known, &memory, size, &read, NULL), -EINVAL);
    assert_null(read.name);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(first_version_is_filled_with_zeros),
        cmocka_unit_test(known_members_are_read),
        cmocka_unit_test(unknown_member_in_use_is_refused),
        cmocka_unit_test(size_below_the_first_version_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
