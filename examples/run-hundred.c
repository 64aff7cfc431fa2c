/*
 * run-hundred.c - a hundred tools at once from one thread, in the program's poll() loop.
 *
 *   cc run-hundred.c $(pkg-config --cflags --libs chokepoint) -o run-hundred
 *
 * A real program has more descriptors in its loop: the library needs only one of them.
 */
#include <chokepoint.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#define RUNS 100

struct tally {
    int succeeded;
    int failed;
};

/* A refusal comes out as a finished job too, so results are read at one point. */
static void take_finished(struct choke_context *context, struct tally *tally)
{
    struct choke_job *job;

    while ((job = choke_next(context))) {
        const struct choke_result *result = choke_job_result(job);

        if (result->outcome == CHOKE_EXITED && result->exit_code == 0) {
            tally->succeeded++;
        } else {
            tally->failed++;
            fprintf(stderr, "run-hundred: %s: %s\n", choke_outcome_name(result->outcome), result->error.message);
        }
        choke_job_free(job);
    }
}

static int start_all(struct choke_context *context, struct choke_error *error)
{
    const char *const argv[] = {"git", "--version", NULL};
    struct choke_request request = {.argv = argv, .root = ".", .cwd = ".", .timeout_ms = 30000};

    for (int i = 0; i < RUNS; i++) {
        struct choke_job *job; /* what belongs to a job can hang on it: choke_job_set_data */
        int r = choke_start(context, &request, &job, error);
        if (r < 0)
            return r;
    }
    return 0;
}

static int run_all(struct choke_context *context, struct tally *tally, struct choke_error *error)
{
    struct pollfd watched = {.fd = choke_fd(context), .events = POLLIN};

    int r = start_all(context, error);
    while (r >= 0 && tally->succeeded + tally->failed < RUNS) {
        if (poll(&watched, 1, -1) < 0 && errno != EINTR) {
            snprintf(error->message, sizeof(error->message), "poll: %s", strerror(errno));
            return -errno;
        }
        r = choke_dispatch(context, error);
        take_finished(context, tally);
    }
    return r;
}

int main(void)
{
    struct choke_context *context = NULL;
    struct choke_error error = {0};
    struct tally tally = {0};

    int r = choke_context_new(NULL, &context, &error);
    if (r >= 0)
        r = run_all(context, &tally, &error);
    if (r < 0)
        fprintf(stderr, "run-hundred: %s\n", error.message);
    printf("%d runs: %d succeeded, %d failed\n", RUNS, tally.succeeded, tally.failed);
    choke_context_free(context);
    return r < 0 || tally.succeeded != RUNS;
}
