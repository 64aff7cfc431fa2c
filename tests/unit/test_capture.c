/* test_capture.c - the ring that keeps the tail of a stream, and its head. */
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

/* The result byte by byte, from the rule alone. */
static char model(size_t cap, size_t head, size_t length, size_t i)
{
    if (length <= cap || i < head)
        return expected(i);
    return i < head + sizeof(MARKER) - 1 ? MARKER[i - head] : expected(length - cap + i);
}

struct stream_case {
    size_t cap, head, length, step;
};

static void check_fed(struct stream_case c, void (*feed_by)(struct ck_capture *, size_t, size_t))
{
    struct ck_capture capture;
    struct ck_capture_output output;
    ck_capture_init(&capture, c.cap, c.head);
    feed_by(&capture, c.length, c.step);
    assert_true(capture.mapped_bytes <= c.cap + (size_t)3 * 4096);
    ck_capture_take(&capture, &output);
    struct choke_capture result = output.view;
    assert_int_equal(result.total_bytes, c.length);
    assert_int_equal(result.truncated, c.length > c.cap);
    assert_int_equal(result.length, c.length > c.cap ? c.cap : c.length);
    for (size_t i = 0; i < result.length; i++)
        if (result.data[i] != model(c.cap, c.head, c.length, i))
            fail_msg("cap %zu, head %zu, length %zu, step %zu: byte %zu", c.cap, c.head, c.length, c.step, i);
    assert_int_equal(result.data[result.length], '\0');
    ck_capture_output_done(&output);
}

static void check_head(size_t cap, size_t head, size_t length, size_t step)
{
    struct stream_case c = {cap, head, length, step};
    check_fed(c, feed);
    check_fed(c, feed_copy);
}

static void check(size_t cap, size_t length, size_t step)
{
    check_head(cap, 0, length, step);
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
    ck_capture_init(&capture, 1 << 20, 0);
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
    ck_capture_init(&capture, 100000, 0);
    feed(&capture, 5000000, 65536);
    assert_true(capture.mapped_bytes <= 100000 + 2 * 4096);
    assert_int_equal(capture.total_bytes, 5000000);
    ck_capture_done(&capture);
}

static void every_head_of_a_small_ring_is_kept(void **state)
{
    (void)state;
    for (size_t head = 0; head <= 41 - 18; head++)
        for (size_t length = 38; length < 3 * 41; length++)
            check_head(41, head, length, 7);
}

static void every_head_of_a_large_ring_is_kept(void **state)
{
    (void)state;
    static const size_t caps[] = {65536, 65537, 81920, 86015};
    static const size_t heads[] = {1, 17, 4095, 4096, 4097, 40000, 65536 - 18};
    static const size_t overs[] = {0, 1, 17, 4095, 4096, 4097, 8192, 40000, 65536, 200000, 262144};
    for (size_t c = 0; c < sizeof(caps) / sizeof(caps[0]); c++)
        for (size_t h = 0; h < sizeof(heads) / sizeof(heads[0]); h++)
            for (size_t o = 0; o < sizeof(overs) / sizeof(overs[0]); o++)
                check_head(caps[c], heads[h], caps[c] + overs[o], 30000);
}

/* A fixed sequence, so that a failure can be repeated. */
static size_t next_random(uint64_t *seed, size_t below)
{
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (size_t)(*seed >> 33) % below;
}

static void random_streams_are_as_the_rule_says(void **state)
{
    (void)state;
    uint64_t seed = 16;
    for (int i = 0; i < 2000; i++) {
        /* Half of them small, where everything wraps often. */
        size_t cap = 18 + next_random(&seed, i % 2 == 0 ? 300 : 150000);
        size_t head = next_random(&seed, cap - 17);
        size_t length = next_random(&seed, 4 * cap);
        check_head(cap, head, length, 1 + next_random(&seed, 2 * cap));
    }
}

/* The ring cannot be mapped, so it stops at 64 KiB, and that has no room for this head. */
static void head_is_given_up_where_memory_runs_out(void **state)
{
    (void)state;
    struct ck_capture capture;
    struct ck_capture_output output;
    ck_capture_init(&capture, SIZE_MAX / 2, SIZE_MAX / 4);
    feed_copy(&capture, 300000, 1000);
    ck_capture_take(&capture, &output);
    assert_true(output.short_of_memory && output.view.truncated);
    assert_int_equal(output.view.length, 65536);
    assert_memory_equal(output.view.data, MARKER, sizeof(MARKER) - 1);
    for (size_t i = sizeof(MARKER) - 1; i < 65536; i++)
        assert_int_equal(output.view.data[i], expected(300000 - 65536 + i));
    ck_capture_output_done(&output);
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
        cmocka_unit_test(every_head_of_a_small_ring_is_kept),
        cmocka_unit_test(every_head_of_a_large_ring_is_kept),
        cmocka_unit_test(random_streams_are_as_the_rule_says),
        cmocka_unit_test(head_is_given_up_where_memory_runs_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
