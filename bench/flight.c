/*
 * flight.c - many runs at once from one thread.
 *
 * Two shapes. "hold" proves how many are in flight: each tool writes one byte when it lives and
 * then waits at a gate that opens when all WIDTH of them have written; a cycle is start, all alive,
 * gate open, all ended. "window" keeps WIDTH short runs started and not yet collected, as a busy
 * orchestrator does. What counts as the cost: see run.py.
 */
#include "worker.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const hold_argv[] = {"hold", NULL};
static const char *const trivial_argv[] = {"true", NULL};

static void open_pipe(int fds[2])
{
    if (pipe2(fds, O_CLOEXEC) < 0) {
        fail_errno("pipe2", errno);
    }
}

static void start(struct worker *worker, const struct choke_request *request)
{
    struct choke_job *job = NULL;
    struct choke_error error = {0};
    if (choke_start(worker->context, request, &job, &error) < 0) {
        fail("choke_start", error.message);
    }
}

/* One iteration of the event loop; returns how many jobs ended in it. */
static size_t dispatch_jobs(struct worker *worker, struct tally *tally)
{
    struct pollfd ready = {.fd = choke_fd(worker->context), .events = POLLIN};
    struct choke_error error = {0};
    if (poll(&ready, 1, -1) < 0) {
        fail_errno("poll", errno);
    }
    if (choke_dispatch(worker->context, &error) < 0) {
        fail("choke_dispatch", error.message);
    }
    size_t ended = 0;
    for (struct choke_job *job = choke_next(worker->context); job; job = choke_next(worker->context)) {
        add_result(tally, choke_job_result(job));
        choke_job_free(job);
        ended++;
    }
    return ended;
}

static void count_alive(void *data, enum choke_stream stream, const void *bytes, size_t length)
{
    size_t *alive = data;
    (void)stream;
    (void)bytes;
    *alive += length;
}

static void hold_choke(struct worker *worker, size_t width, struct tally *tally)
{
    struct choke_request request = request_for(worker, hold_argv);
    size_t alive = 0;
    int gate[2];
    open_pipe(gate);
    request.stdin_kind = CHOKE_STDIN_FD;
    request.stdin_fd = gate[0];
    request.on_output = count_alive;
    request.output_data = &alive;
    for (size_t i = 0; i < width; i++) {
        start(worker, &request);
    }
    close(gate[0]);
    while (alive < width) {
        if (dispatch_jobs(worker, tally) > 0) {
            fail("hold", "a tool ended before the gate was opened");
        }
    }
    close(gate[1]);
    for (size_t ended = 0; ended < width;) {
        ended += dispatch_jobs(worker, tally);
    }
}

static void await_bytes(int fd, size_t count)
{
    char buffer[1024];
    while (count > 0) {
        ssize_t n = read(fd, buffer, sizeof(buffer));
        if (n <= 0) {
            fail_errno("read", errno);
        }
        count -= (size_t)n;
    }
}

static void hold_posix_spawn(struct worker *worker, size_t width, struct tally *tally)
{
    struct choke_decision *decision = decision_for(worker, hold_argv);
    int gate[2];
    int alive[2];
    open_pipe(gate);
    open_pipe(alive);
    for (size_t i = 0; i < width; i++) {
        peer_posix_spawn(decision, gate[0], alive[1], -1);
    }
    close(gate[0]);
    await_bytes(alive[0], width);
    close(gate[1]);
    for (size_t i = 0; i < width; i++) {
        peer_reap(-1, tally);
    }
    close(alive[0]);
    close(alive[1]);
    choke_decision_free(decision);
}

static void window_choke(struct worker *worker, size_t width, size_t runs, struct tally *tally)
{
    struct choke_request request = request_for(worker, trivial_argv);
    size_t started = 0;
    while (tally->runs < runs) {
        for (; started < runs && started - tally->runs < width; started++) {
            start(worker, &request);
        }
        dispatch_jobs(worker, tally);
    }
}

static void window_posix_spawn(struct worker *worker, size_t width, size_t runs, struct tally *tally)
{
    struct choke_decision *decision = decision_for(worker, trivial_argv);
    size_t started = 0;
    while (tally->runs < runs) {
        for (; started < runs && started - tally->runs < width; started++) {
            peer_posix_spawn(decision, -1, -1, -1);
        }
        peer_reap(-1, tally);
    }
    choke_decision_free(decision);
}

static int is_choke(const char *side)
{
    if (strcmp(side, "choke") != 0 && strcmp(side, "posix_spawn") != 0) {
        fail("no such side", side);
    }
    return strcmp(side, "choke") == 0;
}

void command_hold(struct worker *worker, const char *const *args)
{
    size_t width = number(args[2]);
    size_t cycles = number(args[3]);
    struct tally tally = {0};
    uint64_t begin = now_ns();
    for (size_t i = 0; i < cycles; i++) {
        if (is_choke(args[1])) {
            hold_choke(worker, width, &tally);
        } else {
            hold_posix_spawn(worker, width, &tally);
        }
    }
    tally.wall_ns = now_ns() - begin;
    reply_tally(&tally);
}

void command_window(struct worker *worker, const char *const *args)
{
    size_t width = number(args[2]);
    size_t runs = number(args[3]);
    struct tally tally = {0};
    uint64_t begin = now_ns();
    if (is_choke(args[1])) {
        window_choke(worker, width, runs, &tally);
    } else {
        window_posix_spawn(worker, width, runs, &tally);
    }
    tally.wall_ns = now_ns() - begin;
    reply_tally(&tally);
}
