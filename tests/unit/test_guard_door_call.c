/* test_guard_door_call.c - what the messages of a door are put together to, and which are refused. */
#include "guard/door_call.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define TEXTS "/r\0/usr/bin/git\0git\0git\0log\0A=1\0"
#define TEXTS_BYTES (sizeof(TEXTS) - 1)

/* A usual call: two arguments, one variable, three descriptors. */
static struct ck_door_begin usual(void)
{
    struct ck_door_begin begin = {.kind = CK_DOOR_BEGIN,
                                  .text_bytes = TEXTS_BYTES,
                                  .argc = 2,
                                  .envc = 1,
                                  .fd_count = 3,
                                  .fds_here = 3,
                                  .umask_bits = 027,
                                  .nice = 5,
                                  .numbers = {0, 1, 2}};
    for (size_t i = 0; i < CK_DOOR_RLIMITS; i++)
        begin.rlimits[i] = (struct ck_door_rlimit){i, i + 1};
    return begin;
}

static void open_fds(int *ret_fds, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        ret_fds[i] = open("/dev/null", O_RDWR | O_CLOEXEC);
        assert_true(ret_fds[i] >= 0);
    }
}

static int take_begin(struct ck_door_call *call, const struct ck_door_begin *begin, const char *text, size_t length,
                      unsigned fd_count)
{
    char message[sizeof(*begin) + 64];
    int fds[CK_DOOR_FDS_PER_MESSAGE + 1], sig = 0;
    open_fds(fds, fd_count);
    memcpy(message, begin, sizeof(*begin));
    memcpy(message + sizeof(*begin), text, length);
    int r = ck_door_call_take(call, message, sizeof(*begin) + length, fds, fd_count, &sig);
    /* Whatever the answer is, the descriptors are the call's or closed. */
    for (unsigned i = 0; i < fd_count; i++)
        assert_int_equal(fds[i], -1);
    return r;
}

static int take_text(struct ck_door_call *call, const char *text, size_t length)
{
    char message[sizeof(struct ck_door_text) + 64];
    const struct ck_door_text head = {.kind = CK_DOOR_TEXT, .bytes = (uint32_t)length};
    int sig = 0;
    memcpy(message, &head, sizeof(head));
    memcpy(message + sizeof(head), text, length);
    return ck_door_call_take(call, message, sizeof(head) + length, NULL, 0, &sig);
}

static void one_message_is_a_call(void **state)
{
    (void)state;
    struct ck_door_call call = {0};
    struct ck_door_begin begin = usual();
    assert_int_equal(take_begin(&call, &begin, TEXTS, TEXTS_BYTES, 3), 1);
    assert_string_equal(call.cwd, "/r");
    assert_string_equal(call.file, "/usr/bin/git");
    assert_string_equal(call.executed, "git");
    assert_string_equal(call.argv[1], "log");
    assert_null(call.argv[2]);
    assert_string_equal(call.variables[0], "A=1");
    assert_null(call.variables[1]);
    assert_int_equal(call.inherited.fd_count, 3);
    assert_int_equal(call.inherited.umask_bits, 027);
    assert_int_equal(call.inherited.nice, 5);
    assert_int_equal(call.inherited.rlimits[7].soft, 7);
    assert_int_equal(call.inherited.rlimits[7].hard, 8);
    ck_door_call_done(&call);
}

static void texts_and_descriptors_may_come_in_pieces(void **state)
{
    (void)state;
    struct ck_door_call call = {0};
    struct ck_door_begin begin = usual();
    struct ck_door_fds more = {.kind = CK_DOOR_FDS, .count = 1, .numbers = {9}};
    int fds[1], sig = 0;
    begin.fds_here = 2;
    assert_int_equal(take_begin(&call, &begin, TEXTS, 5, 2), 0);
    assert_int_equal(take_text(&call, &TEXTS[5], TEXTS_BYTES - 5), 0);
    open_fds(fds, 1);
    assert_int_equal(ck_door_call_take(&call, &more, sizeof(more), fds, 1, &sig), 1);
    assert_int_equal(call.inherited.numbers[2], 9);
    assert_string_equal(call.argv[0], "git");
    ck_door_call_done(&call);
}

/* Each changes one thing in a call that would be whole. */
static void a_malformed_begin_is_refused(void **state)
{
    (void)state;
    static const struct {
        size_t offset;
        uint32_t value;
    } cases[] = {
        {offsetof(struct ck_door_begin, kind), 99},
        {offsetof(struct ck_door_begin, kind), CK_DOOR_END},
        {offsetof(struct ck_door_begin, text_bytes), CK_DOOR_TEXT_MAX + 1},
        {offsetof(struct ck_door_begin, text_bytes), TEXTS_BYTES - 1},
        {offsetof(struct ck_door_begin, argc), 3},
        {offsetof(struct ck_door_begin, argc), 1},
        {offsetof(struct ck_door_begin, argc), UINT32_MAX},
        {offsetof(struct ck_door_begin, envc), UINT32_MAX},
        {offsetof(struct ck_door_begin, envc), UINT32_MAX - 1},
        {offsetof(struct ck_door_begin, fd_count), CK_DOOR_FDS_MAX + 1},
        {offsetof(struct ck_door_begin, fd_count), 2},
        {offsetof(struct ck_door_begin, fds_here), 2},
        {offsetof(struct ck_door_begin, fds_here), UINT32_MAX},
        {offsetof(struct ck_door_begin, umask_bits), 01000},
        {offsetof(struct ck_door_begin, nice), 20},
        {offsetof(struct ck_door_begin, nice), (uint32_t)-21},
        {offsetof(struct ck_door_begin, numbers), UINT32_MAX}, /* a negative number */
        {offsetof(struct ck_door_begin, numbers), 1},          /* the same number twice */
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct ck_door_call call = {0};
        struct ck_door_begin begin = usual();
        memcpy((char *)&begin + cases[i].offset, &cases[i].value, sizeof(cases[i].value));
        if (take_begin(&call, &begin, TEXTS, TEXTS_BYTES, 3) != -EPROTO)
            fail_msg("case %zu is accepted", i);
        ck_door_call_done(&call);
    }
}

static void texts_end_where_they_were_announced(void **state)
{
    (void)state;
    struct ck_door_call call = {0};
    struct ck_door_begin begin = usual();
    /* No NUL at the end. */
    assert_int_equal(take_begin(&call, &begin, "/r\0/usr/bin/git\0git\0git\0log\0A=1x", TEXTS_BYTES, 3), -EPROTO);
    ck_door_call_done(&call);
    /* More than announced. */
    assert_int_equal(take_begin(&call, &begin, TEXTS, 5, 3), 0);
    assert_int_equal(take_text(&call, TEXTS, TEXTS_BYTES), -EPROTO);
    ck_door_call_done(&call);
}

static void order_is_kept(void **state)
{
    (void)state;
    struct ck_door_call call = {0};
    struct ck_door_begin begin = usual();
    const struct ck_door_signal terminate = {.kind = CK_DOOR_SIGNAL, .signal = 15};
    struct ck_door_signal wrong = {.kind = CK_DOOR_SIGNAL, .signal = 32};
    int sig = 0;
    assert_int_equal(take_text(&call, "x", 1), -EPROTO);
    assert_int_equal(ck_door_call_take(&call, &terminate, sizeof(terminate), NULL, 0, &sig), -EPROTO);
    assert_int_equal(take_begin(&call, &begin, TEXTS, TEXTS_BYTES, 3), 1);
    assert_int_equal(ck_door_call_take(&call, &terminate, sizeof(terminate), NULL, 0, &sig), 2);
    assert_int_equal(sig, 15);
    assert_int_equal(ck_door_call_take(&call, &wrong, sizeof(wrong), NULL, 0, &sig), -EPROTO);
    assert_int_equal(take_text(&call, "x", 1), -EPROTO);
    assert_int_equal(take_begin(&call, &begin, TEXTS, TEXTS_BYTES, 3), -EPROTO);
    ck_door_call_done(&call);
}

static void a_message_that_is_too_short_is_refused(void **state)
{
    (void)state;
    struct ck_door_begin begin = usual();
    int sig = 0;
    for (size_t size = 0; size < sizeof(begin); size += 3) {
        struct ck_door_call call = {0};
        assert_int_equal(ck_door_call_take(&call, &begin, size, NULL, 0, &sig), -EPROTO);
        ck_door_call_done(&call);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_message_is_a_call),
        cmocka_unit_test(texts_and_descriptors_may_come_in_pieces),
        cmocka_unit_test(a_malformed_begin_is_refused),
        cmocka_unit_test(texts_end_where_they_were_announced),
        cmocka_unit_test(order_is_kept),
        cmocka_unit_test(a_message_that_is_too_short_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
