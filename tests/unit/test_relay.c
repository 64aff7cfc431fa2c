/* test_relay.c - bytes go from one socket to another within their budget, and wait for the slower
 * side. */
#include "egress/relay.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#define SLICE_BYTES (4 * 1024 * 1024)

struct line {
    int client, from; /* what the client writes can be read from from */
    int to, host;     /* what is written to to arrives at host */
    struct ck_relay_pipes pipes;
    struct ck_relay_stream stream;
    uint64_t budget;
};

static int make_line(void **state)
{
    struct line *line = test_calloc(1, sizeof(*line));
    int up[2], down[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, up), 0);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, down), 0);
    line->client = up[0];
    line->from = up[1];
    line->to = down[0];
    line->host = down[1];
    line->budget = UINT64_MAX;
    line->stream.left = UINT64_MAX;
    *state = line;
    return 0;
}

static int end_line(void **state)
{
    struct line *line = *state;
    ck_relay_stream_done(&line->stream, &line->pipes);
    ck_relay_pipes_done(&line->pipes);
    (void)close(line->client);
    (void)close(line->from);
    (void)close(line->to);
    (void)close(line->host);
    test_free(line);
    return 0;
}

static int pump(struct line *line)
{
    return ck_relay_stream_pump(&line->stream, &line->pipes, (const int[]){line->from, line->to}, SLICE_BYTES,
                                &line->budget);
}

static void say(struct line *line, const char *text)
{
    assert_int_equal(send(line->client, text, strlen(text), 0), (ssize_t)strlen(text));
}

static void expect_bytes(struct line *line, const char *text)
{
    char buffer[256] = "";
    ssize_t n = recv(line->host, buffer, sizeof(buffer) - 1, MSG_DONTWAIT);
    assert_int_equal(n, text[0] != '\0' ? (ssize_t)strlen(text) : -1);
    assert_string_equal(buffer, text);
}

static void bytes_go_past_and_the_end_with_them(void **state)
{
    struct line *line = *state;
    say(line, "hello");
    assert_int_equal(pump(line), 0);
    assert_int_equal(line->stream.wait, CK_WAIT_SOURCE);
    expect_bytes(line, "hello");
    say(line, "bye");
    assert_int_equal(shutdown(line->client, SHUT_WR), 0);
    assert_int_equal(pump(line), 0);
    assert_int_equal(line->stream.wait, CK_WAIT_END);
    expect_bytes(line, "bye");
    assert_int_equal(line->stream.moved, 8);
}

static void what_was_read_goes_first(void **state)
{
    struct line *line = *state;
    say(line, "12345");
    assert_int_equal(ck_relay_stream_fill(&line->stream, line->from, 3), 1);
    assert_int_equal(ck_relay_stream_fill(&line->stream, line->from, 3), 0); /* no space */
    assert_int_equal(line->stream.buffer.length, 3);
    assert_int_equal(pump(line), 0);
    assert_int_equal(line->stream.wait, CK_WAIT_NOTHING); /* nothing is ready */
    expect_bytes(line, "");
    line->stream.ready = 3;
    assert_int_equal(pump(line), 0);
    expect_bytes(line, "12345");
}

static void no_more_passes_than_may(void **state)
{
    struct line *line = *state;
    say(line, "1234567890");
    line->stream.left = 4;
    assert_int_equal(pump(line), 0);
    assert_int_equal(line->stream.wait, CK_WAIT_NOTHING);
    expect_bytes(line, "1234");
    line->stream.left = UINT64_MAX;
    line->budget = 2;
    assert_int_equal(pump(line), 0);
    assert_int_equal(line->stream.wait, CK_WAIT_SPENT);
    expect_bytes(line, "56");
    assert_int_equal(line->budget, 0);
    assert_int_equal(line->stream.moved, 6);
}

static void own_bytes_are_not_counted(void **state)
{
    struct line *line = *state;
    line->budget = 2;
    assert_int_equal(ck_relay_buffer_append(&line->stream.buffer, "OKabc", 5), 0);
    line->stream.ready = 5;
    line->stream.own = 2;
    assert_int_equal(pump(line), 0);
    assert_int_equal(line->stream.wait, CK_WAIT_SPENT);
    expect_bytes(line, "OKab");
    assert_int_equal(line->stream.moved, 2);
}

static void a_slow_sink_stops_the_source(void **state)
{
    struct line *line = *state;
    static char block[1 << 16];
    size_t sent = 0, got = 0;
    for (int turn = 0; turn < 100; turn++) {
        ssize_t n = send(line->client, block, sizeof(block), MSG_DONTWAIT);
        sent += n > 0 ? (size_t)n : 0;
        assert_int_equal(pump(line), 0);
    }
    assert_int_equal(line->stream.wait, CK_WAIT_SINK);
    assert_true(sent < 100 * sizeof(block) && line->stream.piped > 0);
    while (got < sent) {
        ssize_t n = recv(line->host, block, sizeof(block), MSG_DONTWAIT);
        got += n > 0 ? (size_t)n : 0;
        assert_int_equal(pump(line), 0);
    }
    assert_int_equal(got, sent);
    assert_null(line->stream.pipe); /* returned */
    assert_int_equal(line->pipes.count, 1);
}

static void without_a_descriptor_for_a_pipe_bytes_are_copied(void **state)
{
    struct line *line = *state;
    struct rlimit before, none = {0};
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    none.rlim_max = before.rlim_max;
    say(line, "hello");
    line->stream.left = 4;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    int r = pump(line);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    assert_int_equal(r, 0);
    expect_bytes(line, "hell");
    assert_int_equal(line->stream.moved, 4);
    assert_int_equal(line->stream.left, 0);
}

static void a_sink_that_has_gone_is_an_error(void **state)
{
    struct line *line = *state;
    say(line, "hello");
    assert_int_equal(shutdown(line->host, SHUT_RDWR), 0);
    assert_int_equal(ck_relay_buffer_append(&line->stream.buffer, "x", 1), 0);
    line->stream.ready = 1;
    assert_int_equal(pump(line), -EPIPE); /* without a signal */
}

static void a_pipe_with_bytes_of_one_does_not_serve_another(void **state)
{
    struct line *line = *state;
    static char block[1 << 16];
    for (int turn = 0; turn < 100; turn++) {
        (void)send(line->client, block, sizeof(block), MSG_DONTWAIT);
        assert_int_equal(pump(line), 0);
    }
    assert_true(line->stream.piped > 0);
    ck_relay_stream_done(&line->stream, &line->pipes);
    assert_int_equal(line->pipes.count, 0);
}

static void the_end_of_a_source_is_reported_while_filling(void **state)
{
    struct line *line = *state;
    assert_int_equal(ck_relay_stream_fill(&line->stream, line->from, 100), 0);
    assert_int_equal(shutdown(line->client, SHUT_WR), 0);
    assert_int_equal(ck_relay_stream_fill(&line->stream, line->from, 100), 1);
    assert_true(line->stream.ended);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(bytes_go_past_and_the_end_with_them, make_line, end_line),
        cmocka_unit_test_setup_teardown(what_was_read_goes_first, make_line, end_line),
        cmocka_unit_test_setup_teardown(no_more_passes_than_may, make_line, end_line),
        cmocka_unit_test_setup_teardown(own_bytes_are_not_counted, make_line, end_line),
        cmocka_unit_test_setup_teardown(a_slow_sink_stops_the_source, make_line, end_line),
        cmocka_unit_test_setup_teardown(without_a_descriptor_for_a_pipe_bytes_are_copied, make_line, end_line),
        cmocka_unit_test_setup_teardown(a_sink_that_has_gone_is_an_error, make_line, end_line),
        cmocka_unit_test_setup_teardown(a_pipe_with_bytes_of_one_does_not_serve_another, make_line, end_line),
        cmocka_unit_test_setup_teardown(the_end_of_a_source_is_reported_while_filling, make_line, end_line),
    };
    return cmocka_run_group_tests_name("relay", tests, NULL, NULL);
}
