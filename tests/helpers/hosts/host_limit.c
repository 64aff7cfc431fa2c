/*
 * host_limit.c - starts runs until a limit of the machine refuses some.
 *
 * host_limit POLICY ROOT JAIL NAME MOST - the policy has sleep and true. NAME is what the refusals must
 * name; at most MOST runs are started.
 */
#include "host.h"

#define REFUSALS 5

static size_t refused;

/* What has ended was cancelled, or refused by that limit: nothing else fails. Returns how many were cancelled. */
static size_t take_ended(struct choke_context *context, const char *name)
{
    size_t cancelled = 0;
    for (struct choke_job *job = choke_next(context); job; job = choke_next(context)) {
        const struct choke_result *result = choke_job_result(job);
        if (result->outcome == CHOKE_CANCELLED) {
            cancelled++;
        } else {
            CHECK_SAYING(result->outcome == CHOKE_SPAWN_FAILED, result->error.message);
            CHECK_SAYING(strstr(result->error.message, name), result->error.message);
            CHECK_SAYING(strstr(result->error.message, "try again"), result->error.message);
            refused++;
        }
        choke_job_free(job);
    }
    return cancelled;
}

/* A context that has no descriptor left can refuse a start without a job. */
static void start(struct choke_context *context, const char *root, enum choke_jail jail, const char *name)
{
    static const char *const argv[] = {"sleep", "50", NULL};
    struct choke_request request = host_request(argv, root);
    struct choke_job *job = NULL;
    struct choke_error error = {0};
    request.jail = jail;
    request.timeout_ms = 60000;
    if (choke_start(context, &request, &job, &error) == 0)
        return;
    CHECK_SAYING(strstr(error.message, name), error.message);
    refused++;
}

int main(int argc, char **argv)
{
    CHECK(argc == 6);
    const char *name = argv[4];
    enum choke_jail jail = host_jail(argv[3]);
    struct choke_context *context = host_context(argv[1]);
    const char *const once[] = {"true", NULL};
    struct choke_request request = host_request(once, argv[2]);
    request.jail = jail;
    choke_result_free(host_run(context, &request));
    for (long i = 0; i < strtol(argv[5], NULL, 10) && refused < REFUSALS; i++) {
        start(context, argv[2], jail, name);
        CHECK(choke_wait(context, 20, NULL) >= 0);
        CHECK(take_ended(context, name) == 0);
    }
    CHECK(refused >= REFUSALS);
    size_t running = choke_running(context);
    CHECK(running > 0);
    (void)printf("%zu %zu\n", running, refused);
    choke_cancel_all(context);
    CHECK(host_drain(context, 60));
    /* Some may still have been refused: a warden reports that later than the start. */
    CHECK(take_ended(context, name) > 0);
    struct choke_result *result = host_run(context, &request);
    CHECK_SAYING(result->outcome == CHOKE_EXITED, result->error.message);
    choke_result_free(result);
    choke_context_free(context);
    return 0;
}
