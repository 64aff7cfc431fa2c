/* test_fd.c - descriptors with an owner, and reads and writes that complete. */
#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define LARGE ((size_t)1 << 20)
#define SIGNALS 50

static int open_null(void)
{
    int fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    assert_true(fd >= 0);
    return fd;
}

static int is_open(int fd)
{
    return fcntl(fd, F_GETFD) >= 0;
}

static void close_closes_once_and_leaves_none(void **state)
{
    (void)state;
    int fd = open_null();
    int number = fd;
    ck_fd_close(&fd);
    assert_int_equal(fd, -1);
    assert_false(is_open(number));
    ck_fd_close(&fd);
    assert_int_equal(fd, -1);
}

static void close_keeps_errno(void **state)
{
    (void)state;
    int fd = open_null();
    int number = fd;
    assert_int_equal(close(number), 0);
    errno = ENOENT;
    ck_fd_close(&fd);
    assert_int_equal(errno, ENOENT);
    assert_int_equal(fd, -1);
}

static void leaving_the_block_closes(void **state)
{
    (void)state;
    int number;
    {
        CK_FD fd = open_null();
        number = fd;
        assert_true(is_open(number));
    }
    assert_false(is_open(number));
}

static void a_taken_descriptor_stays_open(void **state)
{
    (void)state;
    int taken;
    {
        CK_FD fd = open_null();
        taken = ck_fd_take(&fd);
        assert_int_equal(fd, -1);
    }
    assert_true(is_open(taken));
    ck_fd_close(&taken);
}

static void descriptor_zero_is_closed_too(void **state)
{
    (void)state;
    int saved = dup(0);
    assert_true(saved >= 0);
    int zero = 0;
    ck_fd_close(&zero);
    assert_int_equal(zero, -1);
    assert_false(is_open(0));
    assert_int_equal(dup2(saved, 0), 0);
    ck_fd_close(&saved);
}

/* ---- reading and writing ----------------------------------------------------------------- */

static void bad_descriptors_are_errors(void **state)
{
    (void)state;
    char byte = 'x';
    assert_int_equal(ck_fd_write_all(-1, &byte, 1), -EBADF);
    assert_int_equal(ck_fd_read_all(-1, &byte, 1), -EBADF);
    assert_int_equal(ck_fd_write_all(-1, &byte, 0), 0);
    assert_int_equal(ck_fd_read_all(-1, &byte, 0), 0);
}

static void end_of_file_ends_a_read(void **state)
{
    (void)state;
    int ends[2];
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    assert_int_equal(ck_fd_write_all(ends[1], "hello", 5), 0);
    ck_fd_close(&ends[1]);
    char buffer[64];
    assert_int_equal(ck_fd_read_all(ends[0], buffer, sizeof(buffer)), 5);
    assert_memory_equal(buffer, "hello", 5);
    assert_int_equal(ck_fd_read_all(ends[0], buffer, sizeof(buffer)), 0);
    ck_fd_close(&ends[0]);
}

static void a_full_pipe_that_may_not_block_is_an_error(void **state)
{
    (void)state;
    static char data[LARGE];
    int ends[2];
    assert_int_equal(pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
    assert_int_equal(ck_fd_write_all(ends[1], data, sizeof(data)), -EAGAIN);
    ck_fd_close(&ends[0]);
    ck_fd_close(&ends[1]);
}

static volatile sig_atomic_t signals_seen;

static void count_signal(int number)
{
    (void)number;
    signals_seen++;
}

struct other_side {
    pthread_t main_thread;
    int fd;
    int r;
};

/* Interrupts the thread that works on the other end of the pipe, between the pieces that are written. */
static void *write_in_pieces(void *data)
{
    struct other_side *side = data;
    static char piece[LARGE / 16];
    for (int i = 0; i < 16; i++) {
        for (int k = 0; k < SIGNALS; k++) {
            (void)pthread_kill(side->main_thread, SIGUSR1);
            (void)sched_yield();
        }
        memset(piece, 'a' + i, sizeof(piece));
        side->r |= ck_fd_write_all(side->fd, piece, sizeof(piece));
    }
    ck_fd_close(&side->fd);
    return NULL;
}

static void *read_and_interrupt(void *data)
{
    struct other_side *side = data;
    static char buffer[LARGE];
    for (int k = 0; k < SIGNALS; k++) {
        (void)pthread_kill(side->main_thread, SIGUSR1);
        (void)sched_yield();
    }
    side->r = ck_fd_read_all(side->fd, buffer, sizeof(buffer)) == (long)sizeof(buffer) ? 0 : -1;
    for (size_t i = 0; side->r == 0 && i < sizeof(buffer); i++)
        side->r = buffer[i] == (char)('a' + (int)(i % 23)) ? 0 : -1;
    return NULL;
}

static void with_signals(void (*work)(int ends[2]))
{
    struct sigaction action = {.sa_handler = count_signal};
    struct sigaction before;
    assert_int_equal(sigaction(SIGUSR1, &action, &before), 0);
    signals_seen = 0;
    int ends[2];
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    work(ends);
    assert_true(signals_seen > 0);
    ck_fd_close(&ends[0]);
    ck_fd_close(&ends[1]);
    assert_int_equal(sigaction(SIGUSR1, &before, NULL), 0);
}

static void read_through_signals(int ends[2])
{
    static char buffer[LARGE];
    struct other_side side = {.main_thread = pthread_self(), .fd = ck_fd_take(&ends[1])};
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, write_in_pieces, &side), 0);
    assert_int_equal(ck_fd_read_all(ends[0], buffer, sizeof(buffer)), sizeof(buffer));
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(side.r, 0);
    for (size_t i = 0; i < sizeof(buffer); i++)
        assert_int_equal(buffer[i], 'a' + (int)(i / (LARGE / 16)));
}

static void write_through_signals(int ends[2])
{
    static char data[LARGE];
    for (size_t i = 0; i < sizeof(data); i++)
        data[i] = (char)('a' + (int)(i % 23));
    struct other_side side = {.main_thread = pthread_self(), .fd = ends[0]};
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, read_and_interrupt, &side), 0);
    assert_int_equal(ck_fd_write_all(ends[1], data, sizeof(data)), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(side.r, 0);
}

static void reads_go_on_after_signals_and_short_reads(void **state)
{
    (void)state;
    with_signals(read_through_signals);
}

static void writes_go_on_after_signals_and_short_writes(void **state)
{
    (void)state;
    with_signals(write_through_signals);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(close_closes_once_and_leaves_none),
        cmocka_unit_test(close_keeps_errno),
        cmocka_unit_test(leaving_the_block_closes),
        cmocka_unit_test(a_taken_descriptor_stays_open),
        cmocka_unit_test(descriptor_zero_is_closed_too),
        cmocka_unit_test(bad_descriptors_are_errors),
        cmocka_unit_test(end_of_file_ends_a_read),
        cmocka_unit_test(a_full_pipe_that_may_not_block_is_an_error),
        cmocka_unit_test(reads_go_on_after_signals_and_short_reads),
        cmocka_unit_test(writes_go_on_after_signals_and_short_writes),
    };
    return cmocka_run_group_tests_name("fd", tests, NULL, NULL);
}
