/*
 * host_loop.c - what the header promises to an event loop: host_loop POLICY ROOT
 *
 * choke_fd is level-triggered, readable after a refused start, and may be polled by another thread;
 * callbacks come on the thread that dispatches; an event names its job; a bounded dispatch returns
 * in time and starves no stream.
 */
#include "host.h"

#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/epoll.h>

static const char *root;

/* What the callbacks saw. */
struct seen {
    pthread_t dispatcher;
    size_t events;
    size_t outputs;
    size_t named[2]; /* events of job 0 and 1, by job_data */
};

static struct seen seen;

static void on_event(void *data, const struct choke_event *event)
{
    CHECK(data == &seen);
    CHECK(pthread_equal(pthread_self(), seen.dispatcher));
    seen.events++;
    CHECK(!!event->job);
    const size_t *number = choke_job_data(event->job);
    CHECK(number && *number < 2);
    seen.named[*number]++;
}

static void on_output(void *data, enum choke_stream stream, const void *bytes, size_t length)
{
    (void)stream;
    (void)bytes;
    CHECK(pthread_equal(pthread_self(), seen.dispatcher));
    *(size_t *)data += length;
    seen.outputs++;
}

static bool readable(int fd, int timeout_ms)
{
    struct pollfd polled = {.fd = fd, .events = POLLIN};
    return poll(&polled, 1, timeout_ms) == 1 && (polled.revents & POLLIN) != 0;
}

/* Nothing is lost by a loop that looks late, or more than once. */
static void descriptor_is_level_triggered(struct choke_context *context)
{
    struct choke_request request = host_request((const char *const[]){"true", NULL}, root);
    struct choke_job *job = host_start(context, &request);
    int fd = choke_fd(context);
    int outer_fd = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event event = {.events = EPOLLIN};
    CHECK(outer_fd >= 0 && epoll_ctl(outer_fd, EPOLL_CTL_ADD, fd, &event) == 0);
    while (!choke_job_result(job)) {
        CHECK(readable(fd, 60000));
        CHECK(readable(fd, 0) && readable(fd, 0));
        CHECK(epoll_wait(outer_fd, &event, 1, 0) == 1 && epoll_wait(outer_fd, &event, 1, 0) == 1);
        CHECK(choke_dispatch(context, NULL) >= 0);
    }
    CHECK(choke_fd(context) == fd && close(outer_fd) == 0);
    CHECK(choke_next(context) == job);
    choke_job_free(job);
    CHECK(choke_dispatch(context, NULL) == 0);
}

static void descriptor_is_readable_after_a_refused_start(struct choke_context *context)
{
    while (readable(choke_fd(context), 0)) {
        CHECK(choke_dispatch(context, NULL) == 0);
    }
    struct choke_request request = host_request((const char *const[]){"no-such-tool", NULL}, root);
    struct choke_job *job = host_start(context, &request);
    CHECK(readable(choke_fd(context), 0));
    CHECK(choke_dispatch(context, NULL) == 1 && choke_next(context) == job);
    CHECK(choke_job_result(job)->timeout_ms == 0);
    choke_job_free(job);
}

struct poller {
    int fd;
    atomic_bool end;
    atomic_size_t woken;
};

static void *poll_only(void *data)
{
    struct poller *poller = data;
    while (!atomic_load(&poller->end)) {
        atomic_fetch_add(&poller->woken, (size_t)readable(poller->fd, 10));
    }
    return NULL;
}

static void another_thread_may_poll(struct choke_context *context)
{
    struct poller poller = {.fd = choke_fd(context)};
    struct choke_request request = host_request((const char *const[]){"flood", "300000", "out", NULL}, root);
    size_t bytes = 0;
    request.on_output = on_output;
    request.output_data = &bytes;
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, poll_only, &poller) == 0);
    for (int i = 0; i < 20; i++) {
        struct choke_job *job = host_start(context, &request);
        CHECK(host_drain(context, 60));
        CHECK(choke_next(context) == job && choke_job_result(job)->outcome == CHOKE_EXITED);
        choke_job_free(job);
    }
    atomic_store(&poller.end, true);
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK(bytes == 20 * 300000u && atomic_load(&poller.woken) > 0);
}

/* The first events come before choke_start has returned. */
static void events_name_their_job(const char *policy)
{
    static const size_t numbers[2] = {0, 1};
    struct choke_context *context = NULL;
    struct choke_options options = {.policy_path = policy, .on_event = on_event, .event_data = &seen};
    CHECK(choke_context_new(&options, &context, NULL) == 0);
    for (size_t i = 0; i < 2; i++) {
        const char *const argv[2][2] = {{"true", NULL}, {"no-such-tool", NULL}};
        struct choke_request request = host_request(argv[i], root);
        size_t number = numbers[i];
        request.job_data = &number;
        struct choke_job *job = host_start(context, &request);
        CHECK(seen.named[i] > 0 && choke_job_data(job) == &number);
        CHECK(host_drain(context, 60));
        CHECK(choke_next(context) == job);
        choke_job_free(job);
    }
    CHECK(seen.named[0] >= 2 && seen.named[1] >= 1 && seen.named[0] + seen.named[1] == seen.events);
    choke_context_free(context);
}

/* Four floods that a dispatch without a bound would read by the MiB, and a tool that ends meanwhile. */
static void bounded_dispatch_takes_turns(struct choke_context *context)
{
    enum { FLOODS = 4 };
    size_t bytes[FLOODS] = {0};
    struct choke_job *jobs[FLOODS];
    for (size_t i = 0; i < FLOODS; i++) {
        struct choke_request request = host_request((const char *const[]){"yes", NULL}, root);
        request.on_output = on_output;
        request.output_data = &bytes[i];
        request.max_output_bytes = 4096;
        jobs[i] = host_start(context, &request);
    }
    double end = host_now() + 60, best = 60;
    size_t least = 0;
    while (least < (size_t)8 << 20) {
        CHECK(host_now() < end && readable(choke_fd(context), 1000));
        double began = host_now();
        CHECK(choke_dispatch_for(context, 500, NULL) >= 0);
        best = host_now() - began < best ? host_now() - began : best;
        least = bytes[0];
        for (size_t i = 1; i < FLOODS; i++) {
            least = bytes[i] < least ? bytes[i] : least;
        }
    }
    /* A whole MiB of each would take longer; the best of many, because the machine is shared. */
    CHECK(best < 0.02);
    CHECK(choke_dispatch_for(context, 0, NULL) == 0 && choke_dispatch_for(context, UINT64_MAX, NULL) >= 0);
    choke_cancel_all(context);
    CHECK(host_drain(context, 60));
    for (size_t i = 0; i < FLOODS; i++) {
        CHECK(choke_job_result(jobs[i])->outcome == CHOKE_CANCELLED);
        choke_job_free(jobs[i]);
    }
}

static void effective_timeout_is_in_result_and_job(struct choke_context *context)
{
    struct choke_request request = host_request((const char *const[]){"true", NULL}, root);
    request.timeout_ms = 12345;
    struct choke_job *job = host_start(context, &request);
    CHECK(choke_job_timeout_ms(job) == 12345);
    CHECK(host_drain(context, 60) && choke_job_result(job)->timeout_ms == 12345);
    choke_job_free(job);
    request.timeout_ms = CHOKE_TIMEOUT_FROM_POLICY;
    job = host_start(context, &request);
    CHECK(choke_job_timeout_ms(job) > 0 && choke_job_timeout_ms(job) != CHOKE_TIMEOUT_FROM_POLICY);
    CHECK(host_drain(context, 60) && choke_job_result(job)->timeout_ms == choke_job_timeout_ms(job));
    choke_job_free(job);
}

int main(int argc, char **argv)
{
    CHECK(argc == 3);
    root = argv[2];
    seen.dispatcher = pthread_self();
    struct choke_context *context = host_context(argv[1]);
    descriptor_is_level_triggered(context);
    descriptor_is_readable_after_a_refused_start(context);
    another_thread_may_poll(context);
    events_name_their_job(argv[1]);
    bounded_dispatch_takes_turns(context);
    effective_timeout_is_in_result_and_job(context);
    CHECK(seen.outputs > 0);
    const char *text = NULL;
    CHECK(choke_context_policy_json(context, &text, NULL) == 0 && strstr(text, "\"name\":"));
    choke_context_free(context);
    printf("ok\n");
    return 0;
}
