/*
 * host_audit.c - a program that records its calls while the log is disturbed.
 *
 * host_audit POLICY ROOT LOG MODE [ARG]... - records calls while the log is disturbed.
 *
 *   write COUNT THREADS   each thread has its own context and makes COUNT refused calls
 *   deleted, moved, exchanged, emptied   what is done to the log between two calls
 *   late                  the log is removed while a tool runs
 *   every COUNT           all that were started wait for one sync; one of them is cancelled before it
 *   alone                 the only job is cancelled while it waits for a sync, and is waited for
 *   left                  a context is freed while its jobs wait
 *   forked                a child frees its copy of the context
 *   kill COUNT MAX_BYTES  four writers at once, killed at random moments, COUNT times; the log is rotated at MAX_BYTES
 */
#include "host.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>

static const char *policy, *root, *path;
static atomic_int unrecorded_events; /* by any thread */
static uint64_t max_bytes;

static void listen(void *data, const struct choke_event *event)
{
    (void)data;
    unrecorded_events += strcmp(event->name, "audit.unrecorded") == 0;
}

static struct choke_context *open_context(enum choke_audit_sync sync)
{
    struct choke_context *context = NULL;
    struct choke_error error = {0};
    const struct choke_options options = {.policy_path = policy,
                                          .on_event = listen,
                                          .audit_path = path,
                                          .audit_sync = sync,
                                          .audit_max_bytes = max_bytes};
    int status = choke_context_new(&options, &context, &error);
    CHECK_SAYING(status == 0, error.message);
    return context;
}

static struct choke_request request_for(const char *const *argv)
{
    struct choke_request request = host_request(argv, root);
    request.jail = CHOKE_JAIL_NONE;
    return request;
}

static void expect_run(struct choke_context *context)
{
    struct choke_request request = request_for((const char *const[]){"true", NULL});
    struct choke_result *result = host_run(context, &request);
    CHECK_SAYING(result->outcome == CHOKE_EXITED && !result->unrecorded, result->error.message);
    choke_result_free(result);
}

/* Without a record nothing runs; and a refusal that cannot be recorded is still a refusal. */
static void expect_refusal(struct choke_context *context, const char *expected_text)
{
    struct choke_request request = request_for((const char *const[]){"true", NULL});
    struct choke_request wrong = request_for((const char *const[]){"no-such-tool", NULL});
    struct choke_result *result = host_run(context, &request);
    CHECK_SAYING(result->outcome == CHOKE_SPAWN_FAILED && result->unrecorded, choke_outcome_name(result->outcome));
    CHECK_SAYING(strcmp(result->rule, "audit") == 0, result->rule);
    CHECK_SAYING(!!strstr(result->error.message, expected_text), result->error.message);
    CHECK_SAYING(!!strstr(result->error.message, "--no-audit"), result->error.message);
    choke_result_free(result);
    int events_before = unrecorded_events;
    result = host_run(context, &wrong);
    CHECK(result->outcome == CHOKE_DISALLOWED && result->unrecorded && unrecorded_events == events_before + 1);
    choke_result_free(result);
}

static void beside(char *buffer, size_t size, const char *ending)
{
    CHECK(snprintf(buffer, size, "%s%s", path, ending) < (int)size);
}

/* ---- what is done to the log between two calls ---- */

static void deleted(void)
{
    struct choke_context *context = open_context(CHOKE_AUDIT_SYNC_BATCHED);
    expect_run(context);
    CHECK(unlink(path) == 0);
    expect_refusal(context, "deleted or moved away");
    CHECK(access(path, F_OK) < 0); /* no new log was begun at its path */
    choke_context_free(context);
}

/* A context that has written a record, and then its log is renamed. */
static struct choke_context *move_away(char *other, size_t size)
{
    struct choke_context *context = open_context(CHOKE_AUDIT_SYNC_BATCHED);
    beside(other, size, ".away");
    expect_run(context);
    CHECK(rename(path, other) == 0);
    return context;
}

static void moved(void)
{
    char other[4096];
    struct choke_context *context = move_away(other, sizeof(other));
    expect_refusal(context, "deleted or moved away");
    CHECK(rename(other, path) == 0);
    expect_run(context);
    choke_context_free(context);
}

static void exchanged(void)
{
    char other[4096];
    struct choke_context *context = move_away(other, sizeof(other));
    struct choke_context *second = open_context(CHOKE_AUDIT_SYNC_BATCHED);
    expect_run(second); /* begins a new log: this context has seen none */
    expect_refusal(context, "replaced by another log");
    choke_context_free(second);
    choke_context_free(context);
}

static void emptied(void)
{
    struct choke_context *context = open_context(CHOKE_AUDIT_SYNC_BATCHED);
    expect_run(context);
    CHECK(truncate(path, 0) == 0);
    expect_refusal(context, "was emptied");
    choke_context_free(context);
}

/* A tool that reports when it runs, and ends when its stdin ends. */
static void late(void)
{
    int pair[2];
    CHECK(pipe(pair) == 0);
    struct choke_context *context = open_context(CHOKE_AUDIT_SYNC_BATCHED);
    struct choke_request request = request_for((const char *const[]){"cat", NULL});
    request.stdin_kind = CHOKE_STDIN_FD;
    request.stdin_fd = pair[0];
    struct choke_job *job = host_start(context, &request);
    CHECK(unlink(path) == 0);
    CHECK(close(pair[0]) == 0 && close(pair[1]) == 0);
    CHECK(host_drain(context, 60));
    const struct choke_result *result = choke_job_result(job);
    CHECK(result && result->outcome == CHOKE_EXITED && result->exit_code == 0);
    CHECK(result->unrecorded && unrecorded_events == 1);
    choke_context_free(context);
}

/* ---- one sync for all ---- */

static void every(long count)
{
    struct choke_context *context = open_context(CHOKE_AUDIT_SYNC_EVERY);
    struct choke_job *jobs[256];
    CHECK(count > 2 && count <= 256);
    for (long i = 0; i < count; i++) {
        struct choke_request request = request_for((const char *const[]){"say_args", "x", NULL});
        jobs[i] = host_start(context, &request);
        CHECK(!choke_job_result(jobs[i]));
    }
    size_t zombies;
    int keeper, child;
    CHECK(choke_running(context) == (size_t)count);
    /* No process of a run exists before its intent is on the disk: the keeper alone, without a child. */
    CHECK(host_children_of(getpid(), &zombies, &keeper) <= 1);
    CHECK(keeper == 0 || host_children_of(keeper, &zombies, &child) == 0);
    choke_cancel(jobs[1]);
    CHECK(host_drain(context, 60));
    for (long i = 0; i < count; i++) {
        const struct choke_result *result = choke_job_result(jobs[i]);
        CHECK(result && !result->unrecorded);
        CHECK_SAYING(result->outcome == (i == 1 ? CHOKE_CANCELLED : CHOKE_EXITED), result->error.message);
        choke_job_free(jobs[i]);
    }
    struct choke_request wrong = request_for((const char *const[]){"no-such-tool", NULL});
    struct choke_result *result = host_run(context, &wrong);
    CHECK(result->outcome == CHOKE_DISALLOWED && !result->unrecorded);
    choke_result_free(result);
    expect_run(context);
    choke_context_free(context);
}

/* A job that ends in the round in which it would be launched is still returned by choke_wait. */
static void alone(void)
{
    struct choke_context *context = open_context(CHOKE_AUDIT_SYNC_EVERY);
    struct choke_request request = request_for((const char *const[]){"true", NULL});
    struct choke_error error = {0};
    struct choke_job *job = host_start(context, &request);
    choke_cancel(job);
    CHECK_SAYING(choke_wait(context, -1, &error) == 1, error.message);
    CHECK(choke_next(context) == job && choke_job_result(job)->outcome == CHOKE_CANCELLED);
    choke_context_free(context);
}

static void left(void)
{
    struct choke_context *context = open_context(CHOKE_AUDIT_SYNC_EVERY);
    struct choke_request request = request_for((const char *const[]){"sleep", "20", NULL});
    for (int i = 0; i < 3; i++) {
        struct choke_job *job = host_start(context, &request);
        if (i == 0) {
            choke_job_free(job);
        }
    }
    choke_context_free(context);
}

/* ---- others ---- */

static void forked(void)
{
    struct choke_context *context = open_context(CHOKE_AUDIT_SYNC_EVERY);
    struct choke_request request = request_for((const char *const[]){"true", NULL});
    struct choke_job *job = host_start(context, &request);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        choke_context_free(context);
        _exit(0);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    CHECK(host_drain(context, 60));
    CHECK(choke_job_result(job)->outcome == CHOKE_EXITED);
    choke_context_free(context);
}

static void *write_calls(void *data)
{
    const long count = *(long *)data;
    struct choke_context *context = open_context(CHOKE_AUDIT_SYNC_NONE);
    for (long i = 0; i < count; i++) {
        char name[32];
        (void)snprintf(name, sizeof(name), "call-%ld", i);
        struct choke_request request = request_for((const char *const[]){name, NULL});
        struct choke_result *result = host_run(context, &request);
        CHECK_SAYING(result->outcome == CHOKE_DISALLOWED && !result->unrecorded, result->error.message);
        choke_result_free(result);
    }
    choke_context_free(context);
    return NULL;
}

static void write_all(long count, long threads)
{
    pthread_t ids[64];
    CHECK(threads > 0 && threads <= 64);
    for (long i = 0; i < threads; i++) {
        CHECK(pthread_create(&ids[i], NULL, write_calls, &count) == 0);
    }
    for (long i = 0; i < threads; i++) {
        CHECK(pthread_join(ids[i], NULL) == 0);
    }
}

/* ---- death ---- */

#define AT_ONCE 4

static pid_t start_writer(void)
{
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        long for_ever = 1000000;
        (void)write_calls(&for_ever);
        _exit(1);
    }
    return child;
}

static void end_writer(pid_t child)
{
    int status;
    CHECK(kill(child, SIGKILL) == 0);
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL); /* until then it wrote without an error */
}

static void kill_writers(long count)
{
    pid_t running[AT_ONCE];
    unsigned random_state = 7;
    for (int i = 0; i < AT_ONCE; i++) {
        running[i] = start_writer();
    }
    for (long i = 0; i < count; i++) {
        const struct timespec moment = {.tv_nsec = rand_r(&random_state) % 600000};
        (void)nanosleep(&moment, NULL);
        end_writer(running[i % AT_ONCE]);
        running[i % AT_ONCE] = start_writer();
    }
    for (int i = 0; i < AT_ONCE; i++) {
        end_writer(running[i]);
    }
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } modes[] = {{"deleted", deleted}, {"moved", moved}, {"exchanged", exchanged}, {"emptied", emptied},
                 {"late", late},       {"alone", alone}, {"left", left},           {"forked", forked}};
    CHECK(argc >= 5);
    policy = argv[1];
    root = argv[2];
    path = argv[3];
    size_t done = 0;
    for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
        if (strcmp(argv[4], modes[i].name) == 0) {
            modes[i].run();
            done++;
        }
    }
    if (done == 0 && strcmp(argv[4], "write") == 0 && argc == 7) {
        write_all(strtol(argv[5], NULL, 10), strtol(argv[6], NULL, 10));
        done++;
    }
    if (done == 0 && strcmp(argv[4], "every") == 0 && argc == 6) {
        every(strtol(argv[5], NULL, 10));
        done++;
    }
    if (done == 0 && strcmp(argv[4], "kill") == 0 && argc == 7) {
        max_bytes = strtoul(argv[6], NULL, 10);
        kill_writers(strtol(argv[5], NULL, 10));
        done++;
    }
    CHECK(done == 1);
    printf("ok\n");
    return 0;
}
