/*
 * capture.c - how fast the output of a tool is read.
 *
 * The bare side reads 64 KiB at a time into one buffer that stays in the processor's cache, and
 * discards everything. "wide" does so with 256 KiB at a time, about the best that any loop can do.
 * "keep" keeps the last CAP bytes, and shows the cost of keeping alone. All use a pipe of the size
 * that the library gives to a tool that writes much.
 */
#include "worker.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BARE_BYTES ((size_t)64 << 10)
#define WIDE_BYTES ((size_t)256 << 10)

struct flood {
    const char *argv[4];
    size_t bytes;
    size_t cap;
    size_t pipe_bytes;
};

static struct choke_result *run_choke(struct worker *worker, const char *const *argv, size_t cap)
{
    struct choke_request request = request_for(worker, argv);
    struct choke_result *result = NULL;
    struct choke_error error = {0};
    request.max_output_bytes = cap;
    if (choke_run(worker->context, &request, &result, &error) < 0) {
        fail("choke_run", error.message);
    }
    expect_success(result);
    return result;
}

static void flood_choke(struct worker *worker, const struct flood *flood, struct tally *tally)
{
    uint64_t start = now_ns();
    struct choke_result *result = run_choke(worker, flood->argv, flood->cap);
    size_t kept = flood->bytes < flood->cap ? flood->bytes : flood->cap;
    if (result->out.total_bytes != flood->bytes || result->out.length != kept) {
        fail("flood", "the library captured another number of bytes than were written");
    }
    add_result(tally, result);
    choke_result_free(result);
    tally->wall_ns = now_ns() - start;
}

/* Reads to the end into a ring of ring_bytes; returns the number of bytes. */
static size_t read_into_ring(int fd, char *ring, size_t ring_bytes)
{
    size_t total = 0;
    size_t at = 0;
    for (;;) {
        ssize_t n = read(fd, ring + at, ring_bytes - at);
        if (n < 0) {
            fail_errno("read", errno);
        }
        if (n == 0) {
            return total;
        }
        total += (size_t)n;
        at = (at + (size_t)n) % ring_bytes;
    }
}

static void flood_bare(struct worker *worker, const struct flood *flood, size_t ring_bytes, struct tally *tally)
{
    struct choke_decision *decision = decision_for(worker, flood->argv);
    uint64_t start = now_ns();
    char *ring = malloc(ring_bytes);
    int out[2];
    if (!ring || pipe2(out, O_CLOEXEC) < 0) {
        fail_errno("malloc or pipe2", errno);
    }
    if (fcntl(out[0], F_SETPIPE_SZ, (int)flood->pipe_bytes) < 0) {
        fail_errno("F_SETPIPE_SZ", errno);
    }
    pid_t pid = peer_posix_spawn(decision, -1, out[1], -1);
    close(out[1]);
    if (read_into_ring(out[0], ring, ring_bytes) != flood->bytes) {
        fail("flood", "the bare loop read another number of bytes than were written");
    }
    close(out[0]);
    peer_reap(pid, tally);
    free(ring);
    tally->wall_ns = now_ns() - start;
    choke_decision_free(decision);
}

void command_flood(struct worker *worker, const char *const *args)
{
    struct flood flood = {
        .argv = {"flood", args[2], args[3], NULL},
        .bytes = number(args[3]),
        .cap = number(args[4]),
        .pipe_bytes = number(args[5]),
    };
    struct tally tally = {0};
    if (strcmp(args[1], "choke") == 0) {
        flood_choke(worker, &flood, &tally);
    } else if (strcmp(args[1], "bare") == 0) {
        flood_bare(worker, &flood, BARE_BYTES, &tally);
    } else if (strcmp(args[1], "wide") == 0) {
        flood_bare(worker, &flood, WIDE_BYTES, &tally);
    } else if (strcmp(args[1], "keep") == 0) {
        flood_bare(worker, &flood, flood.cap, &tally);
    } else {
        fail("no such side", args[1]);
    }
    reply_tally(&tally);
}

void command_pipe_size(struct worker *worker, const char *const *args)
{
    static const char *const argv[] = {"flood", "1", "16777216", "pipe-size", NULL};
    (void)args;
    struct choke_result *result = run_choke(worker, argv, 0);
    printf("{\"bytes\": %zu}\n", number(result->err.data));
    choke_result_free(result);
}
