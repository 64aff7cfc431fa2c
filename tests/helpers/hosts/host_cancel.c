/*
 * host_cancel.c - every way to end a job early: host_cancel POLICY ROOT MARKER
 *
 * Cancel, free the job while it runs, free the context while it runs. The tools ignore SIGTERM and
 * have a child in another session. The test looks for MARKER afterwards.
 */
#include "host.h"

static bool ready; /* the job that was started last has printed "ready" */

static void on_output(void *data, enum choke_stream stream, const void *bytes, size_t length)
{
    (void)data;
    (void)bytes;
    ready = ready || (stream == CHOKE_STDOUT && length > 0);
}

/* A job with a tool that has printed "ready". */
static struct choke_job *settled(struct choke_context *context, const char *root, const char *marker)
{
    struct choke_request request = host_request((const char *const[]){"escape", "setsid", marker, NULL}, root);
    request.on_output = on_output;
    ready = false;
    struct choke_job *job = host_start(context, &request);
    double end = host_now() + 60;
    while (!ready) {
        CHECK(host_now() < end);
        CHECK(choke_wait(context, 20, NULL) >= 0);
        const struct choke_result *early = choke_job_result(job);
        CHECK_SAYING(!early, early ? early->error.message : "");
    }
    return job;
}

static void one_is_cancelled(struct choke_context *context, const char *root, const char *marker)
{
    struct choke_job *job = settled(context, root, marker);
    struct choke_job *other = settled(context, root, marker);
    double began = host_now();
    choke_cancel(job);
    choke_cancel(job);
    while (!choke_job_result(job)) {
        CHECK(host_now() < began + 10);
        CHECK(choke_wait(context, 100, NULL) >= 0);
    }
    CHECK(choke_job_result(job)->outcome == CHOKE_CANCELLED);
    CHECK(choke_job_result(job)->exit_code == -1);
    CHECK(host_is(&choke_job_result(job)->out, "ready\n"));
    CHECK(!choke_job_result(other));
    CHECK(choke_running(context) == 1);
    CHECK(choke_next(context) == job);
    CHECK(!choke_next(context));
    choke_cancel(job);
    choke_job_free(job);
    choke_job_free(other);
    CHECK(host_drain(context, 10));
    CHECK(!choke_next(context));
}

int main(int argc, char **argv)
{
    CHECK(argc == 4);
    size_t zombies = 0;
    size_t descriptors = host_descriptors();
    struct choke_context *context = host_context(argv[1]);
    one_is_cancelled(context, argv[2], argv[3]);
    struct choke_job *last = settled(context, argv[2], argv[3]);
    CHECK(last && choke_running(context) == 1);
    double began = host_now();
    choke_context_free(context);
    CHECK(host_now() - began < 10); /* not at the timeout */
    CHECK(host_children(&zombies) == 0);
    CHECK(host_descriptors() == descriptors);
    printf("ok\n");
    return 0;
}
