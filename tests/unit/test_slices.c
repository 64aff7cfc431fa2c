/*
 * test_slices.c - one dispatch does one slice of work, whatever the connections of a run do, and
 * every run has its share.
 *
 * Counted, not timed: bytes and connections of each dispatch, and how many dispatches another run
 * waits for its byte.
 */
#include "crowd.h"

#include "base/fd.h"
#include "egress/proxy.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#define PATIENCE_MS 10000
#define QUIET_MS 200
#define TUNNELS_MAX 1024
#define WAITS 3 /* dispatches: the byte is seen by the next one; two more if the kernel is late to say so */

struct tally {
    unsigned opened, closed;
};

static void note(void *data, const struct ck_gate_event *event)
{
    struct tally *tally = data;
    tally->opened += event->verdict == CK_GATE_OPENED;
    tally->closed += event->verdict == CK_GATE_CLOSED;
}

struct scene {
    struct ck_proxy proxy;
    struct ck_gate *crowded;
    struct tally tally, other_tally;
    pid_t host, clients;
    int client_fd, host_fd; /* the ends of the one tunnel of another gate */
    int all_fd;             /* readable when something has come through every tunnel */
};

static struct ck_gate *open_gate(struct scene *scene, struct tally *tally, uint16_t *ret_port)
{
    struct ck_destination rule;
    const char *why = NULL;
    struct ck_gate *gate = NULL;
    assert_int_equal(ck_destination_parse("127.0.0.1 opaque", &rule, &why), 0);
    struct ck_gate_budget budget = CK_GATE_BUDGET_DEFAULT;
    budget.connections_at_once = TUNNELS_MAX;
    const struct ck_gate_options options = {
        .rules = &rule, .rules_count = 1, .budget = budget, .on_event = note, .data = tally};
    assert_int_equal(ck_proxy_open(&scene->proxy, crowd_listen(ret_port), &options, &gate), 0);
    return gate;
}

/* One dispatch when there is something to do, and its work. False: nothing came for a while. */
static bool dispatch(struct scene *scene, int patience_ms)
{
    struct pollfd polled = {.fd = ck_proxy_fd(&scene->proxy), .events = POLLIN};
    if (poll(&polled, 1, patience_ms) == 0)
        return false;
    assert_int_equal(ck_proxy_dispatch(&scene->proxy), 0);
    assert_in_range(scene->proxy.work.bytes, 0, CK_PROXY_SLICE_BYTES);
    assert_in_range(scene->proxy.work.connections, 0, CK_PROXY_SLICE_CONNECTIONS);
    return true;
}

static void open_other(struct scene *scene)
{
    uint16_t host_port, gate_port;
    char request[128], answer[128];
    CK_FD listen_fd = crowd_listen(&host_port);
    (void)open_gate(scene, &scene->other_tally, &gate_port);
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons(gate_port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    scene->client_fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(connect(scene->client_fd, (struct sockaddr *)&address, sizeof(address)), 0);
    int length = snprintf(request, sizeof(request), "CONNECT 127.0.0.1:%u HTTP/1.1\r\n\r\n", host_port);
    assert_int_equal(send(scene->client_fd, request, (size_t)length, MSG_NOSIGNAL), length);
    while (scene->other_tally.opened == 0)
        assert_true(dispatch(scene, PATIENCE_MS));
    scene->host_fd = accept4(listen_fd, NULL, NULL, SOCK_CLOEXEC);
    assert_true(scene->host_fd >= 0);
    while (recv(scene->client_fd, answer, sizeof(answer), MSG_DONTWAIT) < 0)
        assert_true(dispatch(scene, PATIENCE_MS));
    assert_int_equal(send(scene->client_fd, "x", 1, MSG_NOSIGNAL), 1);
    while (recv(scene->host_fd, answer, sizeof(answer), MSG_DONTWAIT) < 0)
        assert_true(dispatch(scene, PATIENCE_MS));
}

static void open_scene(struct scene *scene, unsigned tunnels, bool reads)
{
    uint16_t host_port, gate_port;
    *scene = (struct scene){0};
    ck_proxy_init(&scene->proxy);
    int listen_fd = crowd_listen(&host_port);
    scene->crowded = open_gate(scene, &scene->tally, &gate_port);
    scene->host = crowd_host(listen_fd);
    int ends[2];
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    scene->clients = crowd_clients(gate_port, host_port, tunnels, reads, ends[1]);
    scene->all_fd = ends[0];
    (void)close(ends[1]);
    (void)close(listen_fd);
    while (scene->tally.opened < tunnels)
        assert_true(dispatch(scene, PATIENCE_MS));
    open_other(scene);
}

static void close_scene(struct scene *scene)
{
    ck_proxy_done(&scene->proxy);
    crowd_end(scene->clients);
    crowd_end(scene->host);
    ck_fd_close(&scene->all_fd);
    ck_fd_close(&scene->client_fd);
    ck_fd_close(&scene->host_fd);
}

/* A byte of the other run passes within this number of dispatches. */
static void the_other_is_served(struct scene *scene)
{
    char byte;
    assert_int_equal(send(scene->host_fd, "y", 1, MSG_NOSIGNAL), 1);
    for (unsigned i = 0; i < WAITS; i++) {
        (void)dispatch(scene, QUIET_MS);
        if (recv(scene->client_fd, &byte, 1, MSG_DONTWAIT) == 1)
            return;
    }
    fail_msg("the other run waits for more than %u dispatches", WAITS);
}

static void tunnels_that_flood_have_one_slice_together(void **state)
{
    (void)state;
    enum { TUNNELS = 200 };
    struct scene scene;
    uint64_t moved = 0;
    open_scene(&scene, TUNNELS, true);
    struct pollfd all = {.fd = scene.all_fd, .events = POLLIN};
    for (unsigned i = 0; i < 200 || poll(&all, 1, 0) == 0; i++) { /* until each tunnel was served */
        assert_in_range(i, 0, 20000);
        assert_true(dispatch(&scene, PATIENCE_MS));
        moved += scene.proxy.work.bytes;
        if (i % 10 == 0)
            the_other_is_served(&scene);
    }
    assert_true(moved > CK_PROXY_SLICE_BYTES); /* it was a flood */
    ck_proxy_close_gate(scene.crowded);
    assert_int_equal(scene.tally.closed, TUNNELS);
    close_scene(&scene);
}

static void tunnels_that_nobody_reads_have_one_slice_together(void **state)
{
    (void)state;
    struct scene scene;
    open_scene(&scene, 1000, false);
    for (unsigned i = 0; dispatch(&scene, QUIET_MS); i++)
        if (i % 10 == 0)
            the_other_is_served(&scene);
    assert_int_equal(scene.proxy.count, 1001);
    assert_true(scene.proxy.pipes.borrowed <=
                ck_relay_pipes_left(&scene.proxy.pipes)); /* some are left for the others */
    close_scene(&scene);
}

/* A run that ends with a thousand full sockets: they are closed some at a time, and no other run
 * waits for that. */
static void the_end_of_a_run_is_cut_into_slices(void **state)
{
    (void)state;
    enum { TUNNELS = 1000 };
    struct scene scene;
    unsigned dispatches = 0;
    open_scene(&scene, TUNNELS, false);
    while (dispatch(&scene, QUIET_MS))
        ;
    ck_proxy_close_gate(scene.crowded);
    assert_int_equal(scene.tally.closed, TUNNELS);
    assert_int_equal(scene.proxy.count,
                     TUNNELS + 1 - CK_PROXY_SLICE_CONNECTIONS / 2); /* the caller does not wait for all */
    for (; scene.proxy.count > 1; dispatches++) {
        assert_in_range(dispatches, 0, 2 * TUNNELS * 2 / CK_PROXY_SLICE_CONNECTIONS);
        the_other_is_served(&scene);
    }
    assert_true(dispatches >= TUNNELS / CK_PROXY_SLICE_CONNECTIONS / WAITS);
    close_scene(&scene);
}

/* Clients that connect and send nothing are late all at the same moment. */
static void those_that_are_late_together_are_ended_in_slices(void **state)
{
    (void)state;
    enum { CLIENTS = 300 };
    struct scene scene = {0};
    struct ck_gate *gate = NULL;
    uint16_t port;
    int fds[CLIENTS];
    struct ck_gate_budget budget = CK_GATE_BUDGET_DEFAULT;
    budget.head_ms = 300;
    ck_proxy_init(&scene.proxy);
    const struct ck_gate_options options = {.budget = budget, .on_event = note, .data = &scene.tally};
    assert_int_equal(ck_proxy_open(&scene.proxy, crowd_listen(&port), &options, &gate), 0);
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    for (unsigned i = 0; i < CLIENTS; i++) {
        fds[i] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        assert_int_equal(connect(fds[i], (struct sockaddr *)&address, sizeof(address)), 0);
    }
    struct ck_proxy_gate_totals totals = {0};
    while (totals.refused < CLIENTS) {
        assert_true(dispatch(&scene, PATIENCE_MS));
        ck_proxy_gate_totals(gate, &totals);
    }
    for (unsigned i = 0; i < CLIENTS; i++)
        ck_fd_close(&fds[i]);
    ck_proxy_done(&scene.proxy);
}

/* Two epoll sets of a caller around that of a context, as an event loop within an event loop; the
 * kernel refuses a third. */
static void the_descriptor_can_be_nested_as_deep_as_is_said(void **state)
{
    (void)state;
    static const int results[] = {0, 0, 0, -ELOOP};
    for (unsigned depth = 0; depth < 4; depth++) {
        struct ck_proxy proxy;
        struct ck_gate *gate = NULL;
        uint16_t port = 0;
        int sets[4] = {-1, -1, -1, -1};
        ck_proxy_init(&proxy);
        assert_int_equal(ck_proxy_open(&proxy, crowd_listen(&port), &(struct ck_gate_options){0}, &gate), 0);
        ck_proxy_close_gate(gate); /* the set of the proxy stays */
        for (unsigned i = 0; i <= depth; i++) {
            sets[i] = epoll_create1(EPOLL_CLOEXEC);
            assert_int_equal(epoll_ctl(sets[i], EPOLL_CTL_ADD, i == 0 ? ck_proxy_fd(&proxy) : sets[i - 1],
                                       &(struct epoll_event){.events = EPOLLIN}),
                             0);
        }
        assert_int_equal(ck_proxy_open(&proxy, crowd_listen(&port), &(struct ck_gate_options){0}, &gate),
                         results[depth]);
        ck_proxy_done(&proxy);
        for (unsigned i = 0; i < 4; i++)
            ck_fd_close(&sets[i]);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(tunnels_that_flood_have_one_slice_together),
        cmocka_unit_test(tunnels_that_nobody_reads_have_one_slice_together),
        cmocka_unit_test(the_end_of_a_run_is_cut_into_slices),
        cmocka_unit_test(those_that_are_late_together_are_ended_in_slices),
        cmocka_unit_test(the_descriptor_can_be_nested_as_deep_as_is_said),
    };
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &limit);
    }
    return cmocka_run_group_tests_name("slices", tests, NULL, NULL);
}
