/* test_guard_streams.c - which descriptors a tool of guard gets, and copies of the others. */
#include "guard/handover.h"
#include "guard/relay.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

static void expect(int fd, enum ck_handover wanted)
{
    assert_true(fd >= 0);
    assert_int_equal(ck_handover_of(fd), wanted);
    (void)close(fd);
}

static void pipes_and_harmless_devices_are_given(void **state)
{
    (void)state;
    int pair[2];
    assert_int_equal(pipe(pair), 0);
    expect(pair[0], CK_HANDOVER_DIRECT);
    expect(pair[1], CK_HANDOVER_DIRECT);
    expect(open("/dev/null", O_RDWR), CK_HANDOVER_DIRECT);
    expect(open("/dev/urandom", O_RDONLY), CK_HANDOVER_DIRECT);
    expect(posix_openpt(O_RDWR | O_NOCTTY), CK_HANDOVER_DIRECT);
}

static void what_leads_elsewhere_is_not_given(void **state)
{
    (void)state;
    expect(open("/", O_RDONLY | O_DIRECTORY), CK_HANDOVER_REFUSED);
    expect(open("/etc/passwd", O_PATH), CK_HANDOVER_REFUSED);
    expect(eventfd(0, 0), CK_HANDOVER_REFUSED);
    expect(open("/proc/self/mem", O_RDWR), CK_HANDOVER_REFUSED);
    expect(open("/proc/self/oom_score_adj", O_WRONLY), CK_HANDOVER_REFUSED);
}

static void sockets_and_files_that_may_be_code_are_copied(void **state)
{
    (void)state;
    int pair[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    expect(pair[0], CK_HANDOVER_COPIED);
    expect(pair[1], CK_HANDOVER_COPIED);
    /* The mount of a shell is not noexec, so the file could be mapped as code. */
    expect(open("/bin/sh", O_RDONLY), CK_HANDOVER_COPIED);
}

static int file_with(const char *text)
{
    char path[] = "/tmp/test-guard-streams-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    (void)unlink(path);
    assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
    return fd;
}

/* As in "while read LINE; do TOOL; done <FILE". */
static void a_file_is_left_where_the_tool_has_stopped_reading(void **state)
{
    (void)state;
    int file = file_with("first\nsecond\n"), tool = -1;
    struct ck_guard_relay relay;
    char line[6];
    assert_int_equal(ck_guard_relay_begin(&relay, dup(file), true, &tool), 0);
    assert_true(ck_guard_relay_move(&relay));
    assert_int_equal(read(tool, line, sizeof(line)), (ssize_t)sizeof(line));
    assert_memory_equal(line, "first\n", sizeof(line));
    (void)close(tool);
    ck_guard_relay_end(&relay);
    assert_int_equal(lseek(file, 0, SEEK_CUR), 6);
    (void)close(file);
}

static void output_goes_to_where_the_file_is(void **state)
{
    (void)state;
    int file = file_with("before\n"), tool = -1;
    struct ck_guard_relay relay;
    char all[32] = {0};
    assert_int_equal(lseek(file, 0, SEEK_END), 7);
    assert_int_equal(ck_guard_relay_begin(&relay, dup(file), false, &tool), 0);
    assert_int_equal(write(tool, "after\n", 6), 6);
    (void)close(tool);
    assert_true(ck_guard_relay_move(&relay));
    ck_guard_relay_end(&relay);
    assert_int_equal(lseek(file, 0, SEEK_CUR), 13);
    assert_int_equal(pread(file, all, sizeof(all), 0), 13);
    assert_string_equal(all, "before\nafter\n");
    (void)close(file);
}

static void a_socket_that_is_not_read_makes_nobody_wait(void **state)
{
    (void)state;
    int pair[2], tool = -1;
    bool reads = true;
    struct ck_guard_relay relay;
    static char bytes[1 << 16];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
    assert_int_equal(ck_guard_relay_begin(&relay, pair[0], false, &tool), 0);
    assert_int_equal(fcntl(tool, F_SETFL, O_NONBLOCK), 0);
    for (int i = 0; i < 64; i++) {
        (void)!write(tool, bytes, sizeof(bytes));
        assert_false(ck_guard_relay_move(&relay));
    }
    assert_int_equal(ck_guard_relay_waits_for(&relay, &reads), pair[0]);
    assert_false(reads);
    (void)close(tool);
    (void)close(pair[1]);
    assert_true(ck_guard_relay_move(&relay));
    ck_guard_relay_end(&relay);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pipes_and_harmless_devices_are_given),
        cmocka_unit_test(what_leads_elsewhere_is_not_given),
        cmocka_unit_test(sockets_and_files_that_may_be_code_are_copied),
        cmocka_unit_test(a_file_is_left_where_the_tool_has_stopped_reading),
        cmocka_unit_test(output_goes_to_where_the_file_is),
        cmocka_unit_test(a_socket_that_is_not_read_makes_nobody_wait),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
