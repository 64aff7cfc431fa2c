/*
 * worker.c - the line protocol, and the ballast that makes a caller large.
 *
 * The ballast is made of small pages and written to, like the heap of a program that grew bit by
 * bit: with huge pages a fork would copy 512 times fewer entries, and fork+exec would look better
 * than in practice.
 */
#include "worker.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

struct command {
    const char *name;
    size_t args; /* the command itself included */
    void (*run)(struct worker *worker, const char *const *args);
};

static const struct command commands[] = {
    {"spawn", 3, command_spawn},         {"first", 1, command_first},
    {"steps", 2, command_steps},         {"explain", 2, command_explain},
    {"embedded", 2, command_embedded},   {"pipe-size", 1, command_pipe_size},
    {"flood", 6, command_flood},         {"hold", 4, command_hold},
    {"window", 4, command_window},       {"jailed", 4, command_jailed},
    {"traced", 4, command_traced},       {"first-jailed", 3, command_first_jailed},
    {"audited", 3, command_audited},     {"audited-together", 3, command_audited_together},
    {"dispatch", 3, command_dispatch},   {"threads", 4, command_threads},
    {"latencies", 4, command_latencies}, {"open", 3, command_open},
    {"shut", 1, command_shut},           {"contexts", 3, command_contexts},
};

void fail_errno(const char *what, int errnum)
{
    fail(what, strerror(errnum));
}

size_t number(const char *word)
{
    char *end = NULL;
    errno = 0;
    unsigned long value = strtoul(word, &end, 10);
    if (errno != 0 || end == word || *end != '\0') {
        fail("not a number", word);
    }
    return value;
}

struct choke_context *context_new(const struct worker *worker)
{
    struct choke_options options = {.policy_path = worker->policy_path};
    struct choke_context *context = NULL;
    struct choke_error error = {0};
    if (choke_context_new(&options, &context, &error) < 0) {
        fail("choke_context_new", error.message);
    }
    return context;
}

struct choke_request request_for(const struct worker *worker, const char *const *argv)
{
    struct choke_request request = {
        .argv = argv,
        .root = worker->root,
        .cwd = ".",
        .timeout_ms = 60 * 1000,
        .jail = CHOKE_JAIL_NONE,
    };
    return request;
}

void expect_success(const struct choke_result *result)
{
    if (result->outcome != CHOKE_EXITED) {
        fail(choke_outcome_name(result->outcome), result->error.message);
    }
    if (result->exit_code != 0) {
        fail("a tool failed", result->err.data);
    }
}

void add_result(struct tally *tally, const struct choke_result *result)
{
    expect_success(result);
    tally->runs++;
    tally->tool_cpu_ns += (result->user_us + result->system_us) * 1000;
}

struct choke_decision *decision_for(const struct worker *worker, const char *const *argv)
{
    struct choke_request request = request_for(worker, argv);
    struct choke_decision *decision = NULL;
    struct choke_error error = {0};
    if (choke_explain(worker->context, &request, &decision, &error) < 0) {
        fail("choke_explain", error.message);
    }
    if (decision->outcome != CHOKE_NONE) {
        fail(choke_outcome_name(decision->outcome), decision->error.message);
    }
    return decision;
}

void reply_tally(const struct tally *tally)
{
    printf("{\"runs\": %llu, \"wall_ns\": %llu, \"tool_cpu_ns\": %llu}\n", (unsigned long long)tally->runs,
           (unsigned long long)tally->wall_ns, (unsigned long long)tally->tool_cpu_ns);
}

static void grow(size_t mib)
{
    size_t length = mib << 20;
    if (length == 0) {
        return;
    }
    void *ballast = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (ballast == MAP_FAILED) {
        fail_errno("mmap", errno);
    }
    madvise(ballast, length, MADV_NOHUGEPAGE);
    memset(ballast, 1, length);
}

/* A thousand runs in flight hold several descriptors each. */
static void raise_descriptor_limit(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) < 0) {
        fail_errno("getrlimit", errno);
    }
    limit.rlim_cur = limit.rlim_max;
    if (setrlimit(RLIMIT_NOFILE, &limit) < 0) {
        fail_errno("setrlimit", errno);
    }
}

static void execute(struct worker *worker, char *line)
{
    const char *args[WORKER_MAX_ARGS] = {0};
    size_t count = 0;
    char *rest = NULL;
    for (char *word = strtok_r(line, " \n", &rest); word && count < WORKER_MAX_ARGS;
         word = strtok_r(NULL, " \n", &rest)) {
        args[count++] = word;
    }
    for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
        if (count == commands[i].args && strcmp(args[0], commands[i].name) == 0) {
            commands[i].run(worker, args);
            (void)fflush(stdout);
            return;
        }
    }
    fail("no such command, or words are missing", count > 0 ? args[0] : "(empty line)");
}

int main(int argc, char **argv)
{
    if (argc != 4) {
        fail("usage", "bench-worker POLICY ROOT BALLAST_MIB");
    }
    struct worker worker = {.policy_path = argv[1], .root = argv[2]};
    raise_descriptor_limit();
    grow(number(argv[3]));
    worker.context = context_new(&worker);
    printf("{\"ready\": true}\n");
    (void)fflush(stdout);

    char line[256];
    while (fgets(line, sizeof(line), stdin)) {
        execute(&worker, line);
    }
    choke_context_free(worker.context);
    return 0;
}
