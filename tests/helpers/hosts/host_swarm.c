/*
 * host_swarm.c - many connections of tools against few descriptors of the caller.
 *
 * host_swarm POLICY ROOT JAIL COUNT - a caller that may have few descriptors. Many of its tools make COUNT connections each to
 * the proxy and hold them; meanwhile the caller opens files and runs another tool, which has egress too.
 */
#include "host.h"

#include <fcntl.h>
#include <sys/resource.h>

#define DESCRIPTORS 512
#define SWARMS 12 /* each with as many connections as one run may have, they would take all of these */
#define NEEDED 32 /* what a caller might open meanwhile */
#define ROUNDS 5

static int held;

static void note(void *data, enum choke_stream stream, const void *bytes, size_t length)
{
    (void)data;
    held += stream == CHOKE_STDOUT && length >= 4 && memcmp(bytes, "held", 4) == 0;
}

static void open_files(void)
{
    int fds[NEEDED];
    for (int i = 0; i < NEEDED; i++) {
        fds[i] = open("/dev/null", O_RDONLY | O_CLOEXEC);
        CHECK(fds[i] >= 0);
    }
    for (int i = 0; i < NEEDED; i++) {
        (void)close(fds[i]);
    }
}

int main(int argc, char **argv)
{
    CHECK(argc == 5);
    const char *const rules[] = {"a.example.org", NULL};
    const char *const swarm[] = {"breach_net", "swarm", argv[4], NULL};
    const char *const reach[] = {"breach_net", "reach", "127.0.0.1", "3128", NULL};
    struct rlimit limit;
    CHECK(getrlimit(RLIMIT_NOFILE, &limit) == 0);
    limit.rlim_cur = DESCRIPTORS;
    CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
    struct choke_context *context = host_context(argv[1]);
    struct choke_request request = host_request(swarm, argv[2]);
    request.jail = host_jail(argv[3]);
    request.egress = rules;
    request.on_output = note;
    struct choke_job *jobs[SWARMS] = {NULL};
    for (int i = 0; i < SWARMS; i++) {
        CHECK(choke_start(context, &request, &jobs[i], NULL) == 0);
    }
    for (double until = host_now() + 60; held < SWARMS && host_now() < until;) {
        CHECK(choke_wait(context, 100, NULL) == 0);
    }
    CHECK(held == SWARMS);
    for (int i = 0; i < ROUNDS; i++) {
        struct choke_request other = host_request(reach, argv[2]);
        other.jail = request.jail;
        other.egress = rules;
        struct choke_result *result = host_run(context, &other);
        CHECK_SAYING(result->outcome == CHOKE_EXITED && result->exit_code == 0, result->error.message);
        choke_result_free(result);
        open_files();
    }
    for (int i = 0; i < SWARMS; i++) {
        choke_cancel(jobs[i]);
        while (!choke_job_result(jobs[i])) {
            CHECK(choke_wait(context, -1, NULL) >= 0);
        }
        CHECK(choke_job_result(jobs[i])->egress->refused > 0);
    }
    choke_context_free(context);
    return 0;
}
