/* test_arena.c - memory that is freed all at once: zeroed, aligned, bounded. */
#include "base/arena.h"

#include <setjmp.h>
#include <stdalign.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void zero_filled_arena_is_empty_and_may_be_done(void **state)
{
    (void)state;
    struct ck_arena arena = {0};
    ck_arena_done(&arena);
    assert_null(arena.blocks);
    assert_int_equal(arena.total_bytes, 0);
}

static void allocations_are_zeroed_aligned_and_apart(void **state)
{
    (void)state;
    struct ck_arena arena = {0};
    unsigned char *before = NULL;
    size_t before_bytes = 0;
    for (size_t bytes = 0; bytes < 3000; bytes += 7) {
        unsigned char *block = ck_arena_alloc(&arena, bytes);
        assert_non_null(block);
        assert_int_equal((uintptr_t)block % alignof(max_align_t), 0);
        for (size_t i = 0; i < bytes; i++)
            assert_int_equal(block[i], 0);
        memset(block, 0xff, bytes);
        if (before && before_bytes > 0)
            assert_int_equal(before[before_bytes - 1], 0xff);
        before = block;
        before_bytes = bytes;
    }
    ck_arena_done(&arena);
}

static void empty_allocations_have_addresses_of_their_own(void **state)
{
    (void)state;
    struct ck_arena arena = {0};
    void *first = ck_arena_alloc(&arena, 0);
    void *second = ck_arena_alloc(&arena, 0);
    assert_non_null(first);
    assert_non_null(second);
    assert_ptr_not_equal(first, second);
    ck_arena_done(&arena);
}

static void large_allocations_get_their_own_block(void **state)
{
    (void)state;
    struct ck_arena arena = {0};
    char *small = ck_arena_strdup(&arena, "small");
    char *large = ck_arena_alloc(&arena, (size_t)3 << 20);
    assert_non_null(large);
    memset(large, 'x', (size_t)3 << 20);
    assert_string_equal(small, "small");
    ck_arena_done(&arena);
}

static void the_maximum_holds(void **state)
{
    (void)state;
    struct ck_arena arena = {.max_bytes = 10000};
    unsigned got = 0;
    while (ck_arena_alloc(&arena, 100))
        got++;
    assert_in_range(got, 1, 100);
    assert_true(arena.total_bytes <= 10000);
    assert_null(ck_arena_alloc(&arena, 10001));
    ck_arena_done(&arena);
    assert_int_equal(arena.max_bytes, 10000);
    assert_null(ck_arena_alloc(&arena, 20000));
    assert_non_null(ck_arena_alloc(&arena, 100));
    ck_arena_done(&arena);
}

static void absurd_sizes_are_refused(void **state)
{
    (void)state;
    struct ck_arena arena = {.max_bytes = 1 << 20};
    assert_null(ck_arena_alloc(&arena, SIZE_MAX));
    assert_null(ck_arena_alloc(&arena, SIZE_MAX / 2));
    assert_null(ck_arena_array(&arena, SIZE_MAX / 2, 4));
    assert_null(ck_arena_array(&arena, 4, SIZE_MAX / 2));
    assert_non_null(ck_arena_array(&arena, 4, 8));
    ck_arena_done(&arena);
}

static void strings_are_copied(void **state)
{
    (void)state;
    struct ck_arena arena = {0};
    char source[] = "hello";
    char *copy = ck_arena_strdup(&arena, source);
    char *part = ck_arena_memdup(&arena, source, 2);
    char *empty = ck_arena_memdup(&arena, source, 0);
    char *printed = ck_arena_printf(&arena, "%s=%d", source, 42);
    source[0] = 'J';
    assert_string_equal(copy, "hello");
    assert_string_equal(part, "he");
    assert_string_equal(empty, "");
    assert_string_equal(printed, "hello=42");
    ck_arena_done(&arena);
}

/* Around the size up to which a text is formatted once. */
static void printed_text_of_any_length_is_whole(void **state)
{
    (void)state;
    static char source[5000];
    memset(source, 'x', sizeof(source) - 1);
    static const int lengths[] = {0, 1, 253, 254, 255, 256, 257, 4998};
    struct ck_arena arena = {0};
    for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
        const char *printed = ck_arena_printf(&arena, "%.*s!", lengths[i], source);
        assert_non_null(printed);
        assert_int_equal(strlen(printed), lengths[i] + 1);
        assert_memory_equal(printed, source, (size_t)lengths[i]);
        assert_int_equal(printed[lengths[i]], '!');
    }
    ck_arena_done(&arena);
}

static void vectors_are_copied_with_their_strings(void **state)
{
    (void)state;
    struct ck_arena arena = {0};
    char source[] = "one";
    const char *const strings[] = {source, "", "two", NULL};
    const char **copy = ck_arena_strv(&arena, strings);
    assert_non_null(copy);
    source[0] = 'x';
    assert_string_equal(copy[0], "one");
    assert_string_equal(copy[1], "");
    assert_string_equal(copy[2], "two");
    assert_null(copy[3]);
    const char **none = ck_arena_strv(&arena, NULL);
    assert_non_null(none);
    assert_null(none[0]);
    ck_arena_done(&arena);
}

static void copies_fail_when_full(void **state)
{
    (void)state;
    struct ck_arena arena = {.max_bytes = 64};
    assert_null(ck_arena_strdup(&arena, "x"));
    assert_null(ck_arena_printf(&arena, "%s", "x"));
    assert_null(ck_arena_strv(&arena, NULL));
    ck_arena_done(&arena);

    static char long_string[4000];
    memset(long_string, 'x', sizeof(long_string) - 1);
    const char *const strings[] = {long_string, NULL};
    arena = (struct ck_arena){.max_bytes = 2048};
    assert_null(ck_arena_strv(&arena, strings));
    ck_arena_done(&arena);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(zero_filled_arena_is_empty_and_may_be_done),
        cmocka_unit_test(allocations_are_zeroed_aligned_and_apart),
        cmocka_unit_test(empty_allocations_have_addresses_of_their_own),
        cmocka_unit_test(large_allocations_get_their_own_block),
        cmocka_unit_test(the_maximum_holds),
        cmocka_unit_test(absurd_sizes_are_refused),
        cmocka_unit_test(strings_are_copied),
        cmocka_unit_test(printed_text_of_any_length_is_whole),
        cmocka_unit_test(vectors_are_copied_with_their_strings),
        cmocka_unit_test(copies_fail_when_full),
    };
    return cmocka_run_group_tests_name("arena", tests, NULL, NULL);
}
