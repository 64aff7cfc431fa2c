/*
 * host_pause.c - a consumer that is slower than the tool: host_pause POLICY ROOT
 *
 * While a stream is paused, nothing of it is read and the tool waits; nothing is lost; the other
 * stream goes on; the loop is not woken; the timeout still holds; what is left at the end arrives.
 */
#include "host.h"

#include <poll.h>

enum { TOTAL = 8 << 20, PIPE_MAX = 1 << 20, READ_MAX = 128 << 10 };

static const char *root;

struct consumer {
    struct choke_job *job;
    size_t bytes[3]; /* by enum choke_stream */
    bool pauses;     /* after every piece */
};

static void on_output(void *data, enum choke_stream stream, const void *bytes, size_t length)
{
    struct consumer *consumer = data;
    const unsigned char *at = bytes;
    for (size_t i = 0; i < length; i++) {
        size_t j = (consumer->bytes[stream] + i) % 65536;
        CHECK(at[i] == 33 + (j * 31 + j / 94) % 94);
    }
    consumer->bytes[stream] += length;
    if (consumer->pauses && consumer->job)
        choke_pause(consumer->job, stream);
}

static struct choke_job *start(struct choke_context *context, struct consumer *consumer, const char *stream,
                               uint64_t timeout_ms)
{
    static char total[32];
    (void)snprintf(total, sizeof(total), "%d", TOTAL);
    struct choke_request request = host_request((const char *const[]){"flood", total, stream, NULL}, root);
    request.on_output = on_output;
    request.output_data = consumer;
    request.max_output_bytes = 4096;
    request.timeout_ms = timeout_ms;
    *consumer = (struct consumer){0};
    consumer->job = host_start(context, &request);
    return consumer->job;
}

/* True: the loop has something to do within that time. */
static bool wakes(struct choke_context *context, int timeout_ms)
{
    struct pollfd polled = {.fd = choke_fd(context), .events = POLLIN};
    return poll(&polled, 1, timeout_ms) == 1;
}

static void end(struct choke_context *context, struct choke_job *job, enum choke_outcome outcome)
{
    CHECK(host_drain(context, 60));
    CHECK_SAYING(choke_job_result(job)->outcome == outcome, choke_outcome_name(choke_job_result(job)->outcome));
    CHECK(choke_next(context) == job);
    choke_pause(job, CHOKE_STDOUT | CHOKE_STDERR); /* harmless for a finished one */
    choke_resume(job, CHOKE_STDOUT);
    choke_job_free(job);
}

/* The jobs of a context that waits for the disk are paused before they run, too. */
static void paused_tool_waits(struct choke_context *context)
{
    struct consumer consumer;
    struct choke_job *job = start(context, &consumer, "out", 60000);
    choke_pause(job, CHOKE_STDOUT);
    double until = host_now() + 0.3;
    while (host_now() < until) {
        CHECK(choke_wait(context, 50, NULL) == 0);
    }
    CHECK(consumer.bytes[CHOKE_STDOUT] == 0 && !choke_job_result(job));
    CHECK(!wakes(context, 0));
    choke_resume(job, CHOKE_STDOUT);
    end(context, job, CHOKE_EXITED);
    CHECK(consumer.bytes[CHOKE_STDOUT] == TOTAL);
}

/* A call from the callback stops after that piece: memory is bounded by one read. */
static void callback_can_pause(struct choke_context *context)
{
    struct consumer consumer;
    struct choke_job *job = start(context, &consumer, "out", 60000);
    size_t before = 0;
    consumer.pauses = true;
    while (!choke_job_result(job)) {
        CHECK(choke_wait(context, 10, NULL) >= 0);
        size_t got = consumer.bytes[CHOKE_STDOUT] - before;
        CHECK(got <= READ_MAX || choke_job_result(job));
        CHECK(got <= READ_MAX + PIPE_MAX);
        before = consumer.bytes[CHOKE_STDOUT];
        choke_resume(job, CHOKE_STDOUT);
    }
    CHECK(consumer.bytes[CHOKE_STDOUT] == TOTAL);
    end(context, job, CHOKE_EXITED);
}

static void other_stream_goes_on(struct choke_context *context)
{
    struct consumer consumer;
    struct choke_request request = host_request(
        (const char *const[]){"sh", "-c", "(flood 3000000 out; echo) & flood 3000000 err; wait", NULL}, root);
    request.on_output = on_output;
    request.output_data = &consumer;
    consumer = (struct consumer){0};
    struct choke_job *job = host_start(context, &request);
    choke_pause(job, CHOKE_STDOUT);
    double until = host_now() + 60;
    while (consumer.bytes[CHOKE_STDERR] < 3000000 && !choke_job_result(job)) {
        CHECK(host_now() < until && choke_wait(context, 50, NULL) >= 0);
    }
    CHECK(!choke_job_result(job) && consumer.bytes[CHOKE_STDOUT] == 0);
    choke_cancel(job);
    end(context, job, CHOKE_CANCELLED);
}

/* The timeout goes on, and the pipe is still read at the end. */
static void timeout_holds_while_paused(struct choke_context *context)
{
    struct consumer consumer;
    struct choke_job *job = start(context, &consumer, "out", 400);
    double began = host_now();
    choke_pause(job, CHOKE_STDOUT | CHOKE_STDERR);
    end(context, job, CHOKE_TIMEOUT);
    CHECK(host_now() - began < 30);
    CHECK(consumer.bytes[CHOKE_STDOUT] > 0 && consumer.bytes[CHOKE_STDOUT] <= PIPE_MAX);
}

/* A small output is in the pipe when the tool ends: it arrives, and the end is not delayed. */
static void rest_arrives_at_the_end(struct choke_context *context)
{
    struct consumer consumer = {0};
    struct choke_request request = host_request((const char *const[]){"flood", "5000", "both", NULL}, root);
    request.on_output = on_output;
    request.output_data = &consumer;
    struct choke_job *job = host_start(context, &request);
    choke_pause(job, CHOKE_STDOUT | CHOKE_STDERR);
    CHECK(host_drain(context, 60));
    CHECK(consumer.bytes[CHOKE_STDOUT] == 5000 && consumer.bytes[CHOKE_STDERR] == 5000);
    CHECK(choke_job_result(job)->out.length == 5000 && !choke_job_result(job)->output_incomplete);
    end(context, job, CHOKE_EXITED);
}

int main(int argc, char **argv)
{
    CHECK(argc == 4);
    root = argv[2];
    struct choke_context *context = NULL;
    struct choke_options options = {
        .policy_path = argv[1], .audit_path = argv[3], .audit_sync = CHOKE_AUDIT_SYNC_EVERY};
    for (int audited = 0; audited < 2; audited++) {
        CHECK(choke_context_new(audited ? &options : &(struct choke_options){.policy_path = argv[1]}, &context, NULL) ==
              0);
        paused_tool_waits(context);
        callback_can_pause(context);
        rest_arrives_at_the_end(context);
        timeout_holds_while_paused(context);
        other_stream_goes_on(context);
        choke_context_free(context);
    }
    printf("ok\n");
    return 0;
}
