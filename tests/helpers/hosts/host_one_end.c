/*
 * host_one_end.c - runs in the native jail that end by themselves in the moment in which they are ended:
 * their init reports, or their warden does, and never both.
 *
 * host_one_end POLICY ROOT - the policy has sh and bash. bash has a limit, so its warden reports.
 */
#include "host.h"

#define ROUNDS 60

static struct choke_context *context;
static unsigned exited, ended;

static struct choke_request request_of(const char *const *argv, const char *root)
{
    struct choke_request request = host_request(argv, root);
    request.jail = CHOKE_JAIL_NATIVE;
    return request;
}

/* A run of which a second report was left over would have the output of one run and the end of another. */
static void expect(const char *root, const char *tool, int number)
{
    char script[64], out[16];
    (void)snprintf(script, sizeof(script), "echo %d; exit %d", number, number % 100);
    (void)snprintf(out, sizeof(out), "%d\n", number);
    const char *const argv[] = {tool, "-c", script, NULL};
    struct choke_request request = request_of(argv, root);
    struct choke_result *result = host_run(context, &request);
    CHECK_SAYING(result->outcome == CHOKE_EXITED, result->error.message);
    CHECK(result->exit_code == number % 100);
    CHECK_SAYING(host_is(&result->out, out), result->out.data);
    CHECK_SAYING(result->kill && strcmp(result->kill, "pidns") == 0, result->kill);
    CHECK(!result->output_incomplete);
    choke_result_free(result);
}

/* The end is whole, whichever it is. */
static void take(const struct choke_result *result, enum choke_outcome other, int status)
{
    if (result->outcome == CHOKE_EXITED) {
        CHECK(result->exit_code == status && result->error.message[0] == '\0');
        exited++;
    } else {
        CHECK_SAYING(result->outcome == other, result->error.message);
        ended++;
    }
}

/* How long a run takes that sleeps for a while, in nanoseconds. */
static double measure(const char *root, const char *const *argv)
{
    double least = 1;
    for (int i = 0; i < 10; i++) {
        struct choke_request request = request_of(argv, root);
        double start = host_now();
        choke_result_free(host_run(context, &request));
        double took = host_now() - start;
        least = took < least ? took : least;
    }
    return least;
}

/* Cancelled around the time at which it ends. */
static void cancel_at_the_end(const char *root)
{
    const char *const argv[] = {"sh", "-c", "exit 7", NULL};
    double usual = measure(root, argv);
    for (int i = 0; i < ROUNDS; i++) {
        struct choke_request request = request_of(argv, root);
        double start = host_now();
        struct choke_job *job = host_start(context, &request);
        while (host_now() < start + usual * (0.5 + i / 80.0) && choke_wait(context, 0, NULL) == 0)
            ;
        choke_cancel(job);
        CHECK(host_drain(context, 60));
        CHECK(choke_next(context) == job);
        take(choke_job_result(job), CHOKE_CANCELLED, 7);
        choke_job_free(job);
        expect(root, "sh", i);
    }
}

/* Its deadline passes around the time at which it ends. */
static void end_at_the_deadline(const char *root)
{
    const char *const argv[] = {"sh", "-c", "sleep 0.01; exit 8", NULL};
    for (int i = 0; i < ROUNDS; i++) {
        struct choke_request request = request_of(argv, root);
        request.timeout_ms = 10 + (uint64_t)i % 12;
        struct choke_result *result = host_run(context, &request);
        take(result, CHOKE_TIMEOUT, 8);
        choke_result_free(result);
        expect(root, "sh", i);
    }
}

int main(int argc, char **argv)
{
    CHECK(argc == 3);
    context = host_context(argv[1]);
    for (int i = 0; i < 200; i++)
        expect(argv[2], i % 7 == 0 ? "bash" : "sh", i);
    cancel_at_the_end(argv[2]);
    CHECK(exited > 0 && ended > 0);
    exited = ended = 0;
    end_at_the_deadline(argv[2]);
    CHECK(exited + ended == ROUNDS);
    choke_context_free(context);
    size_t zombies;
    CHECK(host_children(&zombies) == 0);
    return 0;
}
