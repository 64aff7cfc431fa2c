/*
 * host_fetch.c - many runs with egress at once from one thread: host_fetch POLICY ROOT JAIL COUNT
 * RULE TOOL [ARG]...
 *
 * The same run COUNT times at once in the event loop of the host, which waits for choke_fd alone.
 * Each must exit with 0. Prints the output of the first one, and the number of connections of all.
 */
#include "host.h"

#include <poll.h>

#define PATIENCE_MS 20000

static void check(const struct choke_result *result, bool first, unsigned long long *allowed)
{
    CHECK_SAYING(result->outcome == CHOKE_EXITED, result->error.message);
    CHECK_SAYING(result->exit_code == 0, result->err.data);
    CHECK(result->egress && result->egress->refused == 0);
    *allowed += result->egress->allowed;
    if (first) {
        (void)fwrite(result->out.data, 1, result->out.length, stdout);
    }
}

int main(int argc, char **argv)
{
    CHECK(argc > 6);
    const char *const rules[] = {argv[5], NULL};
    struct choke_context *context = host_context(argv[1]);
    struct choke_request request = host_request((const char *const *)(argv + 6), argv[2]);
    request.jail = host_jail(argv[3]);
    request.egress = rules;
    request.timeout_ms = PATIENCE_MS;
    unsigned long count = strtoul(argv[4], NULL, 10), ended = 0;
    unsigned long long allowed = 0;
    for (unsigned long i = 0; i < count; i++) {
        struct choke_job *job = NULL;
        CHECK(choke_start(context, &request, &job, NULL) == 0);
    }
    while (ended < count) {
        struct pollfd polled = {.fd = choke_fd(context), .events = POLLIN};
        CHECK(poll(&polled, 1, PATIENCE_MS) == 1);
        CHECK(choke_dispatch(context, NULL) >= 0);
        for (struct choke_job *job = choke_next(context); job; job = choke_next(context)) {
            check(choke_job_result(job), ended++ == 0, &allowed);
            choke_job_free(job);
        }
    }
    (void)printf("\n%llu\n", allowed);
    choke_context_free(context);
    return 0;
}
