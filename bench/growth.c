/*
 * growth.c - how the library grows: many threads, many runs in flight, many contexts, many runs.
 *
 * "threads" lets each thread have a context of its own. "latencies" keeps WIDTH runs started and
 * takes the time of each from its start to its end. "open" starts tools that wait until "shut", as many
 * as wanted or as the machine allows, so that run.py can look at the memory of all processes meanwhile.
 */
#include "worker.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define THREADS_MAX 64
#define CONTEXTS_MAX 64
#define PERCENTILES 5

static const char *const trivial_argv[] = {"true", NULL};
static const char *const hold_argv[] = {"hold", "until-killed", NULL};

static enum choke_jail jail_named(const char *side)
{
    if (strcmp(side, "native") == 0) {
        return CHOKE_JAIL_NATIVE;
    }
    if (strcmp(side, "none") != 0) {
        fail("no such side", side);
    }
    return CHOKE_JAIL_NONE;
}

static int is_bare(const char *side)
{
    return strcmp(side, "posix_spawn") == 0;
}

static struct choke_request request_of(const struct worker *worker, const char *side, const char *const *argv)
{
    struct choke_request request = request_for(worker, argv);
    request.jail = jail_named(side);
    return request;
}

static void run_once(struct worker *worker, const struct choke_request *request, struct tally *tally)
{
    struct choke_result *result = NULL;
    struct choke_error error = {0};
    if (choke_run(worker->context, request, &result, &error) < 0) {
        fail("choke_run", error.message);
    }
    add_result(tally, result);
    choke_result_free(result);
}

/* ---- threads ------------------------------------------------------------------------------------------------------ */

struct crew {
    const char *side;
    struct worker *worker;
    size_t runs; /* of each thread */
    pthread_barrier_t ready;
};

static void *work(void *argument)
{
    struct crew *crew = argument;
    struct worker own = *crew->worker;
    struct tally tally = {0};
    if (is_bare(crew->side)) {
        struct choke_decision *decision = decision_for(crew->worker, trivial_argv);
        pthread_barrier_wait(&crew->ready);
        for (size_t i = 0; i < crew->runs; i++) {
            peer_reap(peer_posix_spawn(decision, -1, -1, -1), &tally);
        }
        choke_decision_free(decision);
        return NULL;
    }
    own.context = context_new(crew->worker);
    struct choke_request request = request_of(&own, crew->side, trivial_argv);
    for (size_t i = 0; i < 3; i++) {
        run_once(&own, &request, &tally);
    }
    pthread_barrier_wait(&crew->ready);
    for (size_t i = 0; i < crew->runs; i++) {
        run_once(&own, &request, &tally);
    }
    pthread_barrier_wait(&crew->ready);
    choke_context_free(own.context);
    return NULL;
}

void command_threads(struct worker *worker, const char *const *args)
{
    size_t count = number(args[2]);
    struct crew crew = {.side = args[1], .worker = worker, .runs = number(args[3])};
    pthread_t threads[THREADS_MAX];
    if (count == 0 || count > THREADS_MAX || pthread_barrier_init(&crew.ready, NULL, (unsigned)count + 1) != 0) {
        fail("threads", args[2]);
    }
    for (size_t i = 0; i < count; i++) {
        if (pthread_create(&threads[i], NULL, work, &crew) != 0) {
            fail("pthread_create", args[2]);
        }
    }
    pthread_barrier_wait(&crew.ready);
    struct tally tally = {.runs = count * crew.runs};
    uint64_t start = now_ns();
    if (!is_bare(crew.side)) {
        pthread_barrier_wait(&crew.ready);
        tally.wall_ns = now_ns() - start;
    }
    for (size_t i = 0; i < count; i++) {
        pthread_join(threads[i], NULL);
    }
    if (is_bare(crew.side)) {
        tally.wall_ns = now_ns() - start;
    }
    pthread_barrier_destroy(&crew.ready);
    reply_tally(&tally);
}

/* ---- latencies ---------------------------------------------------------------------------------------------------- */

static int by_value(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return left < right ? -1 : left > right;
}

static void reply_percentiles(uint64_t *values, size_t count, uint64_t wall_ns)
{
    static const struct {
        const char *name;
        size_t per_mille;
    } wanted[PERCENTILES] = {{"p50", 500}, {"p90", 900}, {"p99", 990}, {"p99.9", 999}, {"max", 1000}};
    qsort(values, count, sizeof(*values), by_value);
    printf("{\"runs\": %zu, \"wall_ns\": %llu", count, (unsigned long long)wall_ns);
    for (size_t i = 0; i < PERCENTILES; i++) {
        size_t at = count * wanted[i].per_mille / 1000;
        printf(", \"%s\": %llu", wanted[i].name, (unsigned long long)values[at < count ? at : count - 1]);
    }
    printf("}\n");
}

static size_t take_ended(struct worker *worker, size_t done)
{
    struct tally tally = {0};
    struct choke_error error = {0};
    if (choke_wait(worker->context, -1, &error) < 0) {
        fail("choke_wait", error.message);
    }
    for (struct choke_job *job = choke_next(worker->context); job; job = choke_next(worker->context)) {
        uint64_t *value = choke_job_data(job);
        if (value) {
            *value = now_ns() - *value;
        }
        add_result(&tally, choke_job_result(job));
        choke_job_free(job);
    }
    return done + tally.runs;
}

void command_latencies(struct worker *worker, const char *const *args)
{
    size_t width = number(args[2]), runs = number(args[3]), started = 0, done = 0;
    struct choke_request request = request_of(worker, args[1], trivial_argv);
    uint64_t *values = calloc(runs, sizeof(*values));
    if (!values) {
        fail_errno("calloc", errno);
    }
    uint64_t begin = now_ns();
    while (done < runs) {
        for (; started < runs && started - done < width; started++) {
            struct choke_job *job = NULL;
            struct choke_error error = {0};
            values[started] = now_ns();
            request.job_data = &values[started];
            if (choke_start(worker->context, &request, &job, &error) < 0) {
                fail("choke_start", error.message);
            }
        }
        done = take_ended(worker, done);
    }
    reply_percentiles(values, runs, now_ns() - begin);
    free(values);
}

/* ---- tools that wait ---------------------------------------------------------------------------------------------- */

static struct {
    size_t alive, running;
    char refusal[CHOKE_MESSAGE_MAX];
} opened;

static void count_alive(void *data, enum choke_stream stream, const void *bytes, size_t length)
{
    (void)data;
    (void)stream;
    (void)bytes;
    opened.alive += length;
}

/* A refused run ends at once; every other one must wait for the gate. */
static void take_refused(struct worker *worker)
{
    for (struct choke_job *job = choke_next(worker->context); job; job = choke_next(worker->context)) {
        const struct choke_result *result = choke_job_result(job);
        if (result->outcome != CHOKE_SPAWN_FAILED) {
            fail(choke_outcome_name(result->outcome), result->error.message);
        }
        (void)snprintf(opened.refusal, sizeof(opened.refusal), "%s", result->error.message);
        opened.running--;
        choke_job_free(job);
    }
}

static void open_one(struct worker *worker, const struct choke_request *request)
{
    struct choke_job *job = NULL;
    struct choke_error error = {0};
    if (choke_start(worker->context, request, &job, &error) < 0) {
        (void)snprintf(opened.refusal, sizeof(opened.refusal), "%s", error.message);
        return;
    }
    opened.running++;
    (void)choke_dispatch(worker->context, &error);
    take_refused(worker);
}

/* open SIDE MOST: until MOST wait, or one is refused. */
void command_open(struct worker *worker, const char *const *args)
{
    size_t most = number(args[2]);
    struct choke_request request = request_of(worker, args[1], hold_argv);
    struct choke_error error = {0};
    opened.alive = opened.running = 0;
    opened.refusal[0] = '\0';
    request.timeout_ms = 600 * 1000;
    request.on_output = count_alive;
    while (opened.running < most && opened.refusal[0] == '\0') {
        open_one(worker, &request);
    }
    while (opened.alive < opened.running) {
        struct pollfd ready = {.fd = choke_fd(worker->context), .events = POLLIN};
        (void)poll(&ready, 1, -1);
        if (choke_dispatch(worker->context, &error) < 0) {
            fail("choke_dispatch", error.message);
        }
        take_refused(worker);
    }
    printf("{\"alive\": %zu, \"refusal\": \"%s\"}\n", opened.alive, opened.refusal);
}

void command_shut(struct worker *worker, const char *const *args)
{
    size_t ended = 0;
    (void)args;
    choke_cancel_all(worker->context);
    while (ended < opened.running) {
        (void)choke_wait(worker->context, -1, NULL);
        for (struct choke_job *job = choke_next(worker->context); job; job = choke_next(worker->context)) {
            ended++;
            choke_job_free(job);
        }
    }
    printf("{\"ended\": %zu}\n", ended);
}

/* ---- contexts ----------------------------------------------------------------------------------------------------- */

/* contexts SIDE COUNT: each has run one tool. They stay until this is called with 0. */
void command_contexts(struct worker *worker, const char *const *args)
{
    static struct choke_context *contexts[CONTEXTS_MAX];
    size_t count = number(args[2]);
    struct tally tally = {0};
    if (count > CONTEXTS_MAX) {
        fail("contexts", args[2]);
    }
    for (size_t i = 0; i < CONTEXTS_MAX; i++) {
        choke_context_free(contexts[i]);
        contexts[i] = NULL;
    }
    for (size_t i = 0; i < count; i++) {
        struct worker own = *worker;
        own.context = contexts[i] = context_new(worker);
        struct choke_request request = request_of(&own, args[1], trivial_argv);
        run_once(&own, &request, &tally);
    }
    reply_tally(&tally);
}
