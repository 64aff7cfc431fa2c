/* test_proxy.c - gates are opened and closed; each has its own rules; a refusal is answered and
 * reported; nothing is left. */
#include "egress/proxy.h"

#include "base/direct_attempt.h"
#include "base/fd.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netinet/in.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define PATIENCE_MS 10000

struct noted {
    unsigned count[5]; /* by verdict */
    char reason[32];   /* of the last */
    char host[64];
    uint64_t up_bytes, down_bytes;
};

static void note(void *data, const struct ck_gate_event *event)
{
    struct noted *noted = data;
    noted->count[event->verdict]++;
    (void)snprintf(noted->reason, sizeof(noted->reason), "%s", event->reason);
    (void)snprintf(noted->host, sizeof(noted->host), "%s", event->host);
    noted->up_bytes += event->up_bytes;
    noted->down_bytes += event->down_bytes;
}

static int listen_somewhere(uint16_t *ret_port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof(address);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, size), 0);
    assert_int_equal(listen(fd, 16), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &size), 0);
    *ret_port = ntohs(address.sin_port);
    return fd;
}

static int dial(uint16_t port)
{
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
    return fd;
}

static struct ck_gate *open_gate(struct ck_proxy *proxy, const char *rule, struct noted *noted, uint16_t *ret_port)
{
    struct ck_destination rules[1];
    const char *why = NULL;
    struct ck_gate *gate = NULL;
    if (rule)
        assert_int_equal(ck_destination_parse(rule, rules, &why), 0);
    struct ck_gate_options options = {
        .rules = rules, .rules_count = !!rule, .budget = CK_GATE_BUDGET_DEFAULT, .on_event = note, .data = noted};
    assert_int_equal(ck_proxy_open(proxy, listen_somewhere(ret_port), &options, &gate), 0);
    assert_non_null(gate);
    return gate;
}

/* Lets the proxy work until fd can be read. */
static void serve_until(struct ck_proxy *proxy, int fd)
{
    struct pollfd polled[] = {{.fd = fd, .events = POLLIN}, {.fd = ck_proxy_fd(proxy), .events = POLLIN}};
    while (poll(polled, 2, PATIENCE_MS) > 0) {
        if (polled[0].revents != 0)
            return;
        assert_int_equal(ck_proxy_dispatch(proxy), 0);
    }
    fail_msg("nothing came");
}

static void say(int fd, const char *text)
{
    assert_int_equal(send(fd, text, strlen(text), MSG_NOSIGNAL), (ssize_t)strlen(text));
}

static void expect_reply(struct ck_proxy *proxy, int fd, const char *begin)
{
    char buffer[1024] = "";
    serve_until(proxy, fd);
    assert_true(recv(fd, buffer, sizeof(buffer) - 1, 0) >= 0);
    assert_int_equal(strncmp(buffer, begin, strlen(begin)), 0);
}

static size_t descriptors(void)
{
    size_t count = 0;
    DIR *directory = opendir("/proc/self/fd");
    assert_non_null(directory);
    while (readdir(directory))
        count++;
    (void)closedir(directory);
    return count;
}

static void there_is_no_descriptor_before_the_first_gate(void **state)
{
    (void)state;
    struct ck_proxy proxy;
    ck_proxy_init(&proxy);
    assert_int_equal(ck_proxy_fd(&proxy), -1);
    assert_int_equal(ck_proxy_dispatch(&proxy), 0);
    ck_proxy_close_gate(NULL);
    ck_proxy_done(&proxy);
    ck_proxy_done(&proxy);
}

static void the_socket_is_taken_even_where_no_gate_is_made(void **state)
{
    (void)state;
    static struct ck_destination many[300];
    struct ck_proxy proxy;
    struct ck_gate *gate = NULL;
    uint16_t port = 0;
    ck_proxy_init(&proxy);
    size_t before = descriptors();
    assert_int_equal(ck_proxy_open(&proxy, socket(AF_INET, SOCK_STREAM, 0), &(struct ck_gate_options){0}, &gate),
                     -EINVAL);
    assert_int_equal(ck_proxy_open(&proxy, open("/dev/null", O_RDONLY), &(struct ck_gate_options){0}, &gate), -EINVAL);
    assert_int_equal(descriptors(), before);
    struct ck_gate_options options = {.rules = many, .rules_count = 300};
    assert_int_equal(ck_proxy_open(&proxy, listen_somewhere(&port), &options, &gate), -E2BIG);
    assert_null(gate);
    ck_proxy_done(&proxy);
    assert_int_equal(descriptors(), before);
}

static void zero_filled_options_allow_nothing(void **state)
{
    (void)state;
    struct ck_proxy proxy;
    struct ck_gate *gate = NULL;
    uint16_t port = 0;
    ck_proxy_init(&proxy);
    assert_int_equal(ck_proxy_open(&proxy, listen_somewhere(&port), &(struct ck_gate_options){0}, &gate), 0);
    CK_FD fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof(address)), -1);
    assert_int_equal(errno, ECONNREFUSED);
    ck_proxy_done(&proxy);
}

static void each_gate_has_its_own_rules(void **state)
{
    (void)state;
    struct noted first = {0}, second = {0}, none = {0};
    struct ck_proxy proxy;
    uint16_t host_port = 0, ports[3];
    char request[64];
    ck_proxy_init(&proxy);
    CK_FD host = listen_somewhere(&host_port);
    assert_true(host >= 0);
    (void)snprintf(request, sizeof(request), "CONNECT 127.0.0.1:%u HTTP/1.1\r\n\r\n", host_port);
    struct ck_gate *gate = open_gate(&proxy, "127.0.0.0/8 opaque", &first, &ports[0]);
    (void)open_gate(&proxy, "10.0.0.0/8 opaque", &second, &ports[1]);
    (void)open_gate(&proxy, NULL, &none, &ports[2]);
    CK_FD allowed = dial(ports[0]);
    CK_FD refused = dial(ports[1]);
    CK_FD nobody = dial(ports[2]);
    say(allowed, request);
    say(refused, request);
    say(nobody, request);
    expect_reply(&proxy, allowed, "HTTP/1.1 200 ");
    expect_reply(&proxy, refused, "HTTP/1.1 403 ");
    expect_reply(&proxy, nobody, "HTTP/1.1 403 ");
    assert_string_equal(second.reason, "not_listed");
    assert_string_equal(none.reason, "not_listed");
    assert_int_equal(first.count[CK_GATE_OPENED], 1);
    struct ck_proxy_gate_totals totals;
    ck_proxy_gate_totals(gate, &totals);
    assert_true(totals.connections == 1 && totals.opened == 1 && totals.refused == 0);
    ck_proxy_done(&proxy);
}

static void a_gate_that_is_closed_reports_and_leaves_nothing(void **state)
{
    (void)state;
    struct noted noted = {0};
    struct ck_proxy proxy;
    uint16_t host_port = 0, port = 0;
    char request[64], byte = 0;
    size_t before = descriptors();
    ck_proxy_init(&proxy);
    int host = listen_somewhere(&host_port);
    struct ck_gate *gate = open_gate(&proxy, "127.0.0.1 opaque", &noted, &port);
    int client = dial(port);
    (void)snprintf(request, sizeof(request), "CONNECT 127.0.0.1:%u HTTP/1.1\r\n\r\nabc", host_port);
    say(client, request);
    serve_until(&proxy, host);
    int peer = accept4(host, NULL, NULL, SOCK_CLOEXEC);
    serve_until(&proxy, peer);
    assert_int_equal(recv(peer, &byte, 1, 0), 1);
    assert_int_equal(byte, 'a');
    ck_proxy_close_gate(gate);
    assert_int_equal(noted.count[CK_GATE_OPENED], 1);
    assert_int_equal(noted.count[CK_GATE_CLOSED], 1);
    assert_string_equal(noted.reason, "closed");
    assert_int_equal(noted.up_bytes, 3);
    assert_int_equal(noted.down_bytes, 0); /* the answer to CONNECT is not payload */
    (void)close(peer);
    (void)close(client);
    (void)close(host);
    ck_proxy_done(&proxy);
    assert_int_equal(descriptors(), before);
}

static void a_name_that_is_not_printable_is_reported_escaped(void **state)
{
    (void)state;
    struct noted noted = {0};
    struct ck_proxy proxy;
    uint16_t port = 0;
    ck_proxy_init(&proxy);
    (void)open_gate(&proxy, "127.0.0.1", &noted, &port);
    CK_FD client = dial(port);
    static const char request[] = "\5\1\0\5\1\0\3\4a\033b\n\0\120";
    assert_int_equal(send(client, request, sizeof(request) - 1, 0), sizeof(request) - 1);
    expect_reply(&proxy, client, "\5");
    serve_until(&proxy, client);
    assert_int_equal(noted.count[CK_GATE_REFUSED], 1);
    assert_string_equal(noted.reason, "name");
    assert_string_equal(noted.host, "a\\x1bb\\n");
    ck_proxy_done(&proxy);
}

static void the_callers_signals_are_as_they_were(void **state)
{
    (void)state;
    struct noted noted = {0};
    struct ck_proxy proxy;
    uint16_t port = 0;
    sigset_t before, after;
    ck_proxy_init(&proxy);
    (void)open_gate(&proxy, "127.0.0.1", &noted, &port);
    assert_int_equal(sigprocmask(SIG_SETMASK, NULL, &before), 0);
    assert_int_equal(ck_proxy_dispatch(&proxy), 0);
    assert_int_equal(sigprocmask(SIG_SETMASK, NULL, &after), 0);
    assert_int_equal(sigismember(&before, SIGPIPE), sigismember(&after, SIGPIPE));
    assert_memory_equal(&before, &after, sizeof(unsigned long));
    ck_proxy_done(&proxy);
}

/* A client of a new gate that has sent a request, and the host's side of it. Returns the host's
 * port. */
static uint16_t begin_exchange(struct ck_proxy *proxy, struct noted *noted, const char *fields, int ret_ends[2])
{
    uint16_t host_port = 0, port = 0;
    char request[256], received[256];
    CK_FD host = listen_somewhere(&host_port);
    (void)open_gate(proxy, "127.0.0.1", noted, &port);
    ret_ends[0] = dial(port);
    (void)snprintf(request, sizeof(request), "POST http://127.0.0.1:%u/ HTTP/1.1\r\nHost: 127.0.0.1:%u\r\n%s\r\n",
                   host_port, host_port, fields);
    say(ret_ends[0], request);
    serve_until(proxy, host);
    ret_ends[1] = accept4(host, NULL, NULL, SOCK_CLOEXEC);
    assert_true(ret_ends[1] >= 0);
    serve_until(proxy, ret_ends[1]);
    assert_true(recv(ret_ends[1], received, sizeof(received), 0) > 0);
    return host_port;
}

static void a_host_that_says_continue_without_end_does_not_starve_others(void **state)
{
    (void)state;
    static const char interim[] = "HTTP/1.1 100 Continue\r\n\r\n";
    enum { HEADS = 1000 };
    struct noted noted = {0};
    struct ck_proxy proxy;
    struct ck_proxy_gate_totals totals = {0};
    int ends[2];
    size_t size = strlen(interim), total = 0;
    char *all = calloc(HEADS, size + 1);
    assert_non_null(all);
    for (int i = 0; i < HEADS; i++)
        memcpy(all + (size_t)i * size, interim, size);
    ck_proxy_init(&proxy);
    (void)begin_exchange(&proxy, &noted, "Content-Length: 0\r\n", ends);
    say(ends[1], all);
    assert_int_equal(poll(&(struct pollfd){.fd = ck_proxy_fd(&proxy), .events = POLLIN}, 1, PATIENCE_MS), 1);
    assert_int_equal(ck_proxy_dispatch(&proxy), 0);
    ck_proxy_gate_totals(proxy.gates, &totals);
    assert_in_range(totals.down_bytes, 1, HEADS / 2 * size);
    while (total < HEADS * size) { /* and nothing is lost */
        serve_until(&proxy, ends[0]);
        ssize_t n = recv(ends[0], all, HEADS * size, 0);
        assert_true(n > 0);
        total += (size_t)n;
    }
    free(all);
    ck_proxy_done(&proxy);
    ck_fd_close(&ends[0]);
    ck_fd_close(&ends[1]);
}

/* Each answer is as long as one read, so that nothing is left over after it. */
static void a_host_that_answers_before_it_is_asked_does_not_starve_others(void **state)
{
    (void)state;
    enum { ANSWERS = 50, SIZE = 4096 };
    static const char head[] = "HTTP/1.1 200 OK\r\nContent-Length: 4055\r\n\r\n";
    struct noted noted = {0};
    struct ck_proxy proxy;
    struct ck_proxy_gate_totals totals = {0};
    int ends[2];
    char request[128], answer[SIZE];
    memset(answer, 'x', sizeof(answer));
    memcpy(answer, head, strlen(head));
    assert_int_equal(strlen(head) + 4055, SIZE);
    ck_proxy_init(&proxy);
    uint16_t port = begin_exchange(&proxy, &noted, "Content-Length: 0\r\n", ends);
    (void)snprintf(request, sizeof(request), "GET http://127.0.0.1:%u/ HTTP/1.1\r\nHost: 127.0.0.1:%u\r\n\r\n", port,
                   port);
    for (int i = 1; i < ANSWERS; i++)
        say(ends[0], request);
    assert_int_equal(setsockopt(ends[1], SOL_SOCKET, SO_SNDBUF, &(int){2 * ANSWERS * SIZE}, sizeof(int)), 0);
    for (int i = 0; i < ANSWERS; i++)
        assert_int_equal(send(ends[1], answer, SIZE, MSG_DONTWAIT), SIZE);
    assert_int_equal(ck_proxy_dispatch(&proxy), 0);
    ck_proxy_gate_totals(proxy.gates, &totals);
    assert_in_range(totals.down_bytes, SIZE, (ANSWERS - 5) * SIZE);
    ck_proxy_done(&proxy);
    ck_fd_close(&ends[0]);
    ck_fd_close(&ends[1]);
}

/* Writes chunks to one descriptor, or reads from it, until it is killed. */
static pid_t start_peer(int fd, bool writes)
{
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid != 0)
        return pid;
    static char data[1 << 20];
    memset(data, 'x', sizeof(data));
    for (size_t at = 0; at < sizeof(data); at += 65536) {
        memcpy(data + at, "fff8\r\n", 6); /* 65528 bytes with 6 before and 2 after them */
        memcpy(data + at + 65534, "\r\n", 2);
    }
    while ((writes ? send(fd, data, sizeof(data), MSG_NOSIGNAL) : recv(fd, data, sizeof(data), 0)) > 0)
        ;
    _exit(0);
}

static void a_body_without_end_does_not_starve_others(void **state)
{
    (void)state;
    struct noted noted = {0};
    struct ck_proxy proxy;
    struct ck_proxy_gate_totals totals = {0};
    uint64_t before = 0, most = 0;
    int ends[2];
    ck_proxy_init(&proxy);
    (void)begin_exchange(&proxy, &noted, "Transfer-Encoding: chunked\r\n", ends);
    pid_t peers[2] = {start_peer(ends[0], true), start_peer(ends[1], false)};
    for (int i = 0; i < 100; i++) {
        assert_int_equal(poll(&(struct pollfd){.fd = ck_proxy_fd(&proxy), .events = POLLIN}, 1, PATIENCE_MS), 1);
        assert_int_equal(ck_proxy_dispatch(&proxy), 0);
        ck_proxy_gate_totals(proxy.gates, &totals);
        most = totals.up_bytes - before > most ? totals.up_bytes - before : most;
        before = totals.up_bytes;
    }
    for (int i = 0; i < 2; i++) {
        (void)kill(peers[i], SIGKILL);
        assert_int_equal(waitpid(peers[i], NULL, 0), peers[i]);
        ck_fd_close(&ends[i]);
    }
    assert_in_range(most, 1, 4 << 20);
    ck_proxy_done(&proxy);
}

/* Which of count connections are kept: the rejected ones get an answer. */
static unsigned crowd(struct ck_proxy *proxy, uint16_t port, int *fds, unsigned count)
{
    unsigned kept = 0;
    for (unsigned i = 0; i < count; i++) {
        char byte;
        fds[i] = dial(port);
        for (int turn = 0; turn < 4; turn++)
            assert_int_equal(ck_proxy_dispatch(proxy), 0);
        kept += recv(fds[i], &byte, 1, MSG_DONTWAIT) < 0;
    }
    return kept;
}

/* Half of the descriptors for all; and a gate that takes all it can leaves some for the next. */
static void gates_share_what_descriptors_there_are(void **state)
{
    (void)state;
    static const unsigned expected[] = {
        8, 4, 2, 1}; /* 64 descriptors are 16 connections, and each gate takes half of what is left */
    struct noted noted[4] = {0};
    struct ck_proxy proxy;
    uint16_t port = 0;
    int fds[4][20];
    ck_proxy_init(&proxy);
    for (unsigned i = 0; i < 4; i++) {
        (void)open_gate(&proxy, NULL, &noted[i], &port);
        ck_proxy_set_fd_limit(&proxy, 64);
        proxy.fd_limit = INT_MAX; /* this program has other descriptors, and those of the clients */
        assert_int_equal(crowd(&proxy, port, fds[i], 20), expected[i]);
        assert_int_equal(noted[i].count[CK_GATE_REFUSED], 20 - expected[i]);
        assert_string_equal(noted[i].reason, "resources");
    }
    ck_proxy_set_fd_limit(&proxy, 1000);
    proxy.fd_limit = fds[3][19]; /* lower numbers are taken: the next one is beyond */
    assert_int_equal(crowd(&proxy, port, fds[0], 1), 0);
    ck_proxy_done(&proxy);
    for (unsigned i = 0; i < 80; i++)
        ck_fd_close(&fds[i / 20][i % 20]);
}

/* Reports of the jail are counted when they are read, at the latest at the end of the run; half a
 * record is not used. */
static void direct_attempts_are_reported_and_counted(void **state)
{
    (void)state;
    const struct ck_direct_attempt four = {
        .kind = CK_DIRECT_ATTEMPT_CONNECTION, .family = AF_INET, .port = 443, .address = {192, 0, 2, 1}};
    const struct ck_direct_attempt udp = {.kind = CK_DIRECT_ATTEMPT_SOCKET, .family = AF_INET, .type = SOCK_DGRAM};
    struct noted noted = {0};
    struct ck_proxy_gate_totals totals;
    struct ck_proxy proxy;
    uint16_t port = 0;
    int ends[2];
    size_t before = descriptors();
    ck_proxy_init(&proxy);
    struct ck_gate *gate = open_gate(&proxy, NULL, &noted, &port);
    assert_int_equal(pipe2(ends, O_NONBLOCK | O_CLOEXEC), 0);
    assert_int_equal(ck_direct_attempts_watch(gate, ends[0]), 0);
    assert_int_equal(write(ends[1], &four, sizeof(four)), sizeof(four));
    assert_int_equal(ck_proxy_dispatch(&proxy), 0);
    assert_int_equal(noted.count[CK_GATE_REFUSED], 1);
    assert_string_equal(noted.host, "192.0.2.1");
    assert_string_equal(noted.reason, "direct");
    assert_int_equal(write(ends[1], &udp, sizeof(udp)), sizeof(udp));
    ck_proxy_gate_totals(gate, &totals);
    assert_int_equal(totals.refused, 2);
    assert_int_equal(write(ends[1], &udp, sizeof(udp) / 2), sizeof(udp) / 2);
    assert_int_equal(ck_proxy_dispatch(&proxy), 0);
    assert_int_equal(noted.count[CK_GATE_REFUSED], 2);
    assert_int_equal(fcntl(ends[0], F_GETFD), -1); /* no reader any more */
    ck_proxy_done(&proxy);
    ck_fd_close(&ends[1]);
    assert_int_equal(descriptors(), before);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(there_is_no_descriptor_before_the_first_gate),
        cmocka_unit_test(the_socket_is_taken_even_where_no_gate_is_made),
        cmocka_unit_test(zero_filled_options_allow_nothing),
        cmocka_unit_test(each_gate_has_its_own_rules),
        cmocka_unit_test(a_gate_that_is_closed_reports_and_leaves_nothing),
        cmocka_unit_test(a_name_that_is_not_printable_is_reported_escaped),
        cmocka_unit_test(gates_share_what_descriptors_there_are),
        cmocka_unit_test(direct_attempts_are_reported_and_counted),
        cmocka_unit_test(the_callers_signals_are_as_they_were),
        cmocka_unit_test(a_host_that_says_continue_without_end_does_not_starve_others),
        cmocka_unit_test(a_host_that_answers_before_it_is_asked_does_not_starve_others),
        cmocka_unit_test(a_body_without_end_does_not_starve_others),
    };
    return cmocka_run_group_tests_name("proxy", tests, NULL, NULL);
}
