/*
 * host_inflight.c - COUNT tools at once from one thread in a poll loop: host_inflight POLICY ROOT
 * COUNT [hold]
 *
 * First each prints its number, and every result belongs to its job. Then all sleep, all are
 * running, and choke_cancel_all ends them. With "hold" it waits to be killed while they run.
 */
#include "host.h"

#include <poll.h>
#include <sys/resource.h>

static void raise_descriptor_limit(void)
{
    struct rlimit limit;
    CHECK(getrlimit(RLIMIT_NOFILE, &limit) == 0);
    limit.rlim_cur = limit.rlim_max;
    CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
}

/* Collects finished jobs until COUNT have come; ends the program if that takes too long. */
static void collect(struct choke_context *context, long count, bool (*accept)(const struct choke_result *, long))
{
    double end = host_now() + 60;
    for (long done = 0; done < count;) {
        struct pollfd poll_fd = {.fd = choke_fd(context), .events = POLLIN};
        CHECK(host_now() < end);
        CHECK(poll(&poll_fd, 1, 1000) >= 0);
        CHECK(choke_dispatch(context, NULL) >= 0);
        for (struct choke_job *job = choke_next(context); job; job = choke_next(context)) {
            const struct choke_result *result = choke_job_result(job);
            CHECK(!!result);
            CHECK_SAYING(accept(result, *(long *)choke_job_data(job)), result->error.message);
            choke_job_free(job);
            done++;
        }
    }
    CHECK(!choke_next(context));
    CHECK(choke_running(context) == 0);
}

static bool said_its_number(const struct choke_result *result, long number)
{
    char expected[32];
    int length = snprintf(expected, sizeof(expected), "%ld", number);
    return result->outcome == CHOKE_EXITED && result->exit_code == 0 && result->out.length == (size_t)length + 1 &&
           strcmp(result->out.data, expected) == 0;
}

static bool was_cancelled(const struct choke_result *result, long number)
{
    (void)number;
    return result->outcome == CHOKE_CANCELLED && result->exit_code == -1;
}

static void start_all(struct choke_context *context, const char *root, long *numbers, long count, bool sleeping)
{
    for (long i = 0; i < count; i++) {
        char text[32];
        (void)snprintf(text, sizeof(text), "%ld", i);
        const char *const said[] = {"say_args", text, NULL};
        const char *const slept[] = {"sleep", "50", NULL};
        struct choke_request request = host_request(sleeping ? slept : said, root);
        request.timeout_ms = 60000;
        request.max_output_bytes = 4096;
        struct choke_job *job = host_start(context, &request);
        numbers[i] = i;
        choke_job_set_data(job, &numbers[i]);
    }
}

int main(int argc, char **argv)
{
    CHECK(argc == 4 || argc == 5);
    long count = strtol(argv[3], NULL, 10);
    long *numbers = calloc((size_t)count, sizeof(*numbers));
    CHECK(!!numbers);
    raise_descriptor_limit();
    size_t descriptors = host_descriptors();
    struct choke_context *context = host_context(argv[1]);
    start_all(context, argv[2], numbers, count, false);
    collect(context, count, said_its_number);
    start_all(context, argv[2], numbers, count, true);
    CHECK(choke_running(context) == (size_t)count);
    if (argc == 5) {
        printf("holding\n");
        (void)fflush(stdout);
        (void)pause();
    }
    double began = host_now();
    choke_cancel_all(context);
    collect(context, count, was_cancelled);
    printf("ok %ld cancelled in %.3f s\n", count, host_now() - began);
    choke_context_free(context);
    CHECK(host_descriptors() == descriptors);
    free(numbers);
    return 0;
}
