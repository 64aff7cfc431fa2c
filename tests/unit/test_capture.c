/* test_capture.c - the ring that keeps the tail of a stream. */
#include "run/capture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static char expected(size_t index)
{
    return (char)('a' + index % 23);
}

/* Feeds length bytes of a pattern in pieces of at most step, as reads would. */
static void feed(struct ck_capture *capture, size_t length, size_t step)
{
    for (size_t done = 0; done < length;) {
        size_t room;
        char *data = ck_capture_room(capture, &room);
        assert_non_null(data);
        assert_true(room > 0);
        size_t n = length - done < step ? length - done : step;
        n = n < room ? n : room;
        for (size_t i = 0; i < n; i++)
            data[i] = expected(done + i);
        ck_capture_add(capture, n);
        done += n;
    }
}

/* The same through a separate buffer. */
static void feed_copy(struct ck_capture *capture, size_t length, size_t step)
{
    char *piece = malloc(step);
    assert_non_null(piece);
    for (size_t done = 0, n; done < length; done += n) {
        n = length - done < step ? length - done : step;
        for (size_t i = 0; i < n; i++)
            piece[i] = expected(done + i);
        ck_capture_copy(capture, piece, n);
    }
    free(piece);
}

/* To the letter, as in the public header: another marker in the code must not pass. */
#define MARKER "...[TRUNCATED]..."

static void check_fed(size_t cap, size_t length, size_t step, void (*feed_by)(struct ck_capture *, size_t, size_t))
{
    struct ck_capture capture;
    struct ck_capture_output output;
    ck_capture_init(&capture, cap);
    feed_by(&capture, length, step);
    ck_capture_take(&capture, &output);
    struct choke_capture result = output.view;
    assert_int_equal(result.total_bytes, length);
    assert_int_equal(result.truncated, length > cap);
    assert_int_equal(result.length, length > cap ? cap : length);
    size_t skip = result.truncated ? sizeof(MARKER) - 1 : 0;
    if (result.truncated)
        assert_memory_equal(result.data, MARKER, skip);
    for (size_t i = skip; i < result.length; i++)
        assert_int_equal(result.data[i], expected(length - result.length + i));
    assert_int_equal(result.data[result.length], '\0');
    ck_capture_output_done(&output);
}

static void check(size_t cap, size_t length, size_t step)
{
    check_fed(cap, length, step, feed);
    check_fed(cap, length, step, feed_copy);
}

static void every_length_around_the_cap_is_exact(void **state)
{
    (void)state;
    static const size_t caps[] = {18, 19, 64, 4095, 4096, 4097, 16384, 50000, 65536, 65537, 69632, 100001};
    for (size_t c = 0; c < sizeof(caps) / sizeof(caps[0]); c++) {
        size_t cap = caps[c];
        const size_t lengths[] = {0,        1,           cap - 1, cap,         cap + 1,
                                  cap + 17, 2 * cap - 1, 2 * cap, 2 * cap + 1, 7 * cap + 3};
        for (size_t l = 0; l < sizeof(lengths) / sizeof(lengths[0]); l++) {
            check(cap, lengths[l], 1000);
            check(cap, lengths[l], cap > 1000 ? 777 : 5);
        }
    }
}

static void every_turn_of_a_small_ring_is_put_in_order(void **state)
{
    (void)state;
    for (size_t length = 41; length < 41 + 3 * 41; length++)
        check(41, length, 7);
}

/* For a large ring too, at the offsets where a page has to be split, and one byte to either side. */
static void every_turn_of_a_large_ring_is_put_in_order(void **state)
{
    (void)state;
    static const size_t caps[] = {81920, 81921, 86015};
    static const size_t offsets[] = {0, 1, 17, 18, 4095, 4096, 4097, 8191, 40000, 77823, 77824, 81919};
    for (size_t c = 0; c < sizeof(caps) / sizeof(caps[0]); c++)
        for (size_t o = 0; o < sizeof(offsets) / sizeof(offsets[0]); o++)
            check(caps[c], 3 * caps[c] + offsets[o], 30000);
}

static void large_outputs_of_awkward_length_are_exact(void **state)
{
    (void)state;
    size_t cap = (size_t)16 << 20;
    check(cap, cap + cap / 3, 1 << 20);
    check(cap, 2 * cap - 1, 1 << 20);
}

static void an_empty_stream_takes_no_memory_and_gives_empty_text(void **state)
{
    (void)state;
    struct ck_capture capture;
    struct ck_capture_output output;
    ck_capture_init(&capture, 1 << 20);
    assert_null(capture.data);
    ck_capture_take(&capture, &output);
    assert_null(output.memory);
    assert_string_equal(output.view.data, "");
    ck_capture_output_done(&output);
}

static void memory_never_exceeds_the_cap(void **state)
{
    (void)state;
    struct ck_capture capture;
    ck_capture_init(&capture, 100000);
    feed(&capture, 5000000, 65536);
    assert_true(capture.mapped_bytes <= 100000 + 2 * 4096);
    assert_int_equal(capture.total_bytes, 5000000);
    ck_capture_done(&capture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_length_around_the_cap_is_exact),
        cmocka_unit_test(every_turn_of_a_small_ring_is_put_in_order),
        cmocka_unit_test(every_turn_of_a_large_ring_is_put_in_order),
        cmocka_unit_test(large_outputs_of_awkward_length_are_exact),
        cmocka_unit_test(an_empty_stream_takes_no_memory_and_gives_empty_text),
        cmocka_unit_test(memory_never_exceeds_the_cap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
