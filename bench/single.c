/*
 * single.c - one run after the other: what a run costs, and where its time goes.
 *
 * Every side runs the same file with the same arguments and environment, taken from choke_explain. The bare sides
 * give the child no pipe; "captured" is posix_spawn with the two pipes and the reading that the library does too, and
 * so shows what the capture alone costs.
 */
#include "worker.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char *const trivial_argv[] = {"true", NULL};

struct side {
    const char *name;
    void (*once)(struct worker *worker, const struct choke_decision *decision, struct tally *tally);
};

static void once_choke(struct worker *worker, const struct choke_decision *decision, struct tally *tally)
{
    (void)decision;
    struct choke_request request = request_for(worker, trivial_argv);
    struct choke_result *result = NULL;
    struct choke_error error = {0};
    if (choke_run(worker->context, &request, &result, &error) < 0) {
        fail("choke_run", error.message);
    }
    add_result(tally, result);
    choke_result_free(result);
}

static void once_posix_spawn(struct worker *worker, const struct choke_decision *decision, struct tally *tally)
{
    (void)worker;
    peer_reap(peer_posix_spawn(decision, -1, -1, -1), tally);
}

static void once_fork_exec(struct worker *worker, const struct choke_decision *decision, struct tally *tally)
{
    (void)worker;
    peer_reap(peer_fork_exec(decision), tally);
}

static void read_to_end(int fd)
{
    char buffer[4096];
    ssize_t n = 0;
    do {
        n = read(fd, buffer, sizeof(buffer));
    } while (n > 0 || (n < 0 && errno == EINTR));
    close(fd);
}

static void once_captured(struct worker *worker, const struct choke_decision *decision, struct tally *tally)
{
    (void)worker;
    int out[2];
    int err[2];
    if (pipe2(out, O_CLOEXEC) < 0 || pipe2(err, O_CLOEXEC) < 0) {
        fail_errno("pipe2", errno);
    }
    pid_t pid = peer_posix_spawn(decision, -1, out[1], err[1]);
    close(out[1]);
    close(err[1]);
    read_to_end(out[0]);
    read_to_end(err[0]);
    peer_reap(pid, tally);
}

static const struct side sides[] = {
    {"choke", once_choke},
    {"posix_spawn", once_posix_spawn},
    {"fork_exec", once_fork_exec},
    {"captured", once_captured},
};

static const struct side *side_named(const char *name)
{
    for (size_t i = 0; i < sizeof(sides) / sizeof(sides[0]); i++) {
        if (strcmp(name, sides[i].name) == 0) {
            return &sides[i];
        }
    }
    fail("no such side", name);
}

void command_spawn(struct worker *worker, const char *const *args)
{
    const struct side *side = side_named(args[1]);
    size_t runs = number(args[2]);
    struct choke_decision *decision = decision_for(worker, trivial_argv);
    struct tally tally = {0};

    uint64_t start = now_ns();
    for (size_t i = 0; i < runs; i++) {
        side->once(worker, decision, &tally);
    }
    tally.wall_ns = now_ns() - start;

    choke_decision_free(decision);
    reply_tally(&tally);
}

/* A new context, so that its first run has to make the keeper. */
void command_first(struct worker *worker, const char *const *args)
{
    (void)args;
    struct worker fresh = *worker;
    struct tally tally = {0};
    fresh.context = context_new(worker);

    uint64_t start = now_ns();
    once_choke(&fresh, NULL, &tally);
    uint64_t first = now_ns();
    once_choke(&fresh, NULL, &tally);
    uint64_t second = now_ns();
    choke_context_free(fresh.context);
    uint64_t freed = now_ns();

    printf("{\"first_ns\": %llu, \"second_ns\": %llu, \"free_ns\": %llu}\n", (unsigned long long)(first - start),
           (unsigned long long)(second - first), (unsigned long long)(freed - second));
}

struct steps {
    uint64_t start_ns;
    uint64_t sleep_ns;
    uint64_t dispatch_ns;
    uint64_t take_ns;
    uint64_t dispatches;
    uint64_t reported_ns; /* the library's own figure for how long the tool ran */
};

/* Runs the event loop until the only job is finished. */
static void loop_until_finished(struct choke_context *context, struct steps *steps)
{
    int finished = 0;
    while (finished == 0) {
        struct pollfd ready = {.fd = choke_fd(context), .events = POLLIN};
        uint64_t start = now_ns();
        if (poll(&ready, 1, -1) < 0) {
            fail_errno("poll", errno);
        }
        uint64_t woken = now_ns();
        struct choke_error error = {0};
        finished = choke_dispatch(context, &error);
        if (finished < 0) {
            fail("choke_dispatch", error.message);
        }
        steps->sleep_ns += woken - start;
        steps->dispatch_ns += now_ns() - woken;
        steps->dispatches++;
    }
}

static void step_once(struct worker *worker, struct steps *steps)
{
    struct choke_request request = request_for(worker, trivial_argv);
    struct choke_job *job = NULL;
    struct choke_error error = {0};
    uint64_t start = now_ns();
    if (choke_start(worker->context, &request, &job, &error) < 0) {
        fail("choke_start", error.message);
    }
    steps->start_ns += now_ns() - start;

    loop_until_finished(worker->context, steps);

    start = now_ns();
    job = choke_next(worker->context);
    const struct choke_result *result = choke_job_result(job);
    expect_success(result);
    steps->reported_ns += result->duration_us * 1000;
    choke_job_free(job);
    steps->take_ns += now_ns() - start;
}

void command_steps(struct worker *worker, const char *const *args)
{
    size_t runs = number(args[1]);
    struct steps steps = {0};
    for (size_t i = 0; i < runs; i++) {
        step_once(worker, &steps);
    }
    printf("{\"runs\": %zu, \"start_ns\": %llu, \"sleep_ns\": %llu, \"dispatch_ns\": %llu, \"take_ns\": %llu, "
           "\"dispatches\": %llu, \"reported_ns\": %llu}\n",
           runs, (unsigned long long)steps.start_ns, (unsigned long long)steps.sleep_ns,
           (unsigned long long)steps.dispatch_ns, (unsigned long long)steps.take_ns,
           (unsigned long long)steps.dispatches, (unsigned long long)steps.reported_ns);
}

void command_explain(struct worker *worker, const char *const *args)
{
    struct tally tally = {.runs = number(args[1])};
    uint64_t start = now_ns();
    for (size_t i = 0; i < tally.runs; i++) {
        choke_decision_free(decision_for(worker, trivial_argv));
    }
    tally.wall_ns = now_ns() - start;
    reply_tally(&tally);
}

/* The embedded policy: parsing it and nothing else. Freeing is not part of the figure. */
void command_embedded(struct worker *worker, const char *const *args)
{
    struct worker embedded = {.root = worker->root};
    struct tally tally = {.runs = number(args[1])};
    for (size_t i = 0; i < tally.runs; i++) {
        uint64_t start = now_ns();
        struct choke_context *context = context_new(&embedded);
        tally.wall_ns += now_ns() - start;
        choke_context_free(context);
    }
    reply_tally(&tally);
}
