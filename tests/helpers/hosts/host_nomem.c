/*
 * host_nomem.c - every allocation of the library may fail.
 *
 * host_nomem POLICY|- ROOT [egress] - memory runs out at every point: the n-th allocation fails, n = 1, 2, ...
 * until a whole pass meets no failure. Each pass makes a context, explains, runs, starts and frees. A call that
 * fails says so with -ENOMEM, or as a result; nothing crashes, no descriptor and no child stays. With egress the runs are in
 * the native jail, and have it.
 *
 * Linked with -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc.
 */
#include "host.h"

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t bytes);
void *__real_realloc(void *old, size_t bytes);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_realloc(void *old, size_t bytes);

static long countdown; /* 0: nothing fails */
static bool from_then_on;
static bool failed;

static bool fails(void)
{
    if (failed && from_then_on) {
        errno = ENOMEM;
        return true;
    }
    if (countdown == 0 || --countdown > 0) {
        return false;
    }
    failed = true;
    errno = ENOMEM;
    return true;
}

void *__wrap_malloc(size_t bytes)
{
    return fails() ? NULL : __real_malloc(bytes);
}

void *__wrap_calloc(size_t count, size_t bytes)
{
    return fails() ? NULL : __real_calloc(count, bytes);
}

void *__wrap_realloc(void *old, size_t bytes)
{
    return fails() ? NULL : __real_realloc(old, bytes);
}

/* A call either did its work or fails with a message. */
static void check_status(int status, const struct choke_error *error)
{
    CHECK(status == 0 || failed);
    CHECK_SAYING(status == 0 || status == -ENOMEM, error->message);
    CHECK(status == 0 || error->message[0] != '\0');
}

/* Lack of memory must not become a refusal, nor an invented result. */
static void check_outcome(enum choke_outcome outcome, enum choke_outcome good)
{
    CHECK_SAYING(outcome == good || (failed && (outcome == CHOKE_SPAWN_FAILED || outcome == CHOKE_CANCELLED)),
                 choke_outcome_name(outcome));
}

static void explain(struct choke_context *context, const struct choke_request *request)
{
    struct choke_decision *decision = NULL;
    struct choke_error error = {0};
    int status = choke_explain(context, request, &decision, &error);
    check_status(status, &error);
    CHECK((status == 0) == (!!decision));
    if (decision) {
        check_outcome(decision->outcome, CHOKE_NONE);
    }
    choke_decision_free(decision);
}

static void run(struct choke_context *context, const struct choke_request *request)
{
    struct choke_result *result = NULL;
    struct choke_error error = {0};
    int status = choke_run(context, request, &result, &error);
    check_status(status, &error);
    CHECK((status == 0) == (!!result));
    if (result) {
        check_outcome(result->outcome, CHOKE_EXITED);
        CHECK(result->out.data && result->err.data);
        /* Output without memory for it is missing, and the result says so. */
        bool reported = result->out.truncated && result->out.total_bytes == strlen("hello\n");
        CHECK(result->outcome != CHOKE_EXITED || reported || host_is(&result->out, "hello\n") ||
              result->output_incomplete);
    }
    choke_result_free(result);
}

static void start(struct choke_context *context, const struct choke_request *request)
{
    struct choke_job *job = NULL;
    struct choke_error error = {0};
    int status = choke_start(context, request, &job, &error);
    check_status(status, &error);
    CHECK((status == 0) == (!!job));
    double end = host_now() + 60;
    while (job && !choke_job_result(job)) {
        CHECK(host_now() < end);
        int ready = choke_wait(context, 100, &error);
        CHECK(ready >= 0 || (failed && ready == -ENOMEM));
    }
    if (job) {
        check_outcome(choke_job_result(job)->outcome, CHOKE_EXITED);
    }
    choke_job_free(job);
}

static const char *const version_argv[] = {"git", "--version", NULL};
static const char *const copy_argv[] = {"sh", "-c", "cat; echo noise >&2", NULL};

static const char *const rules[] = {"a.example.org", "*.example.net:443", NULL};
static bool egress;

/* One life of a context in which allocation number n fails; true when none did. */
static bool pass(const char *policy, const char *root, long n)
{
    struct choke_context *context = NULL;
    struct choke_error error = {0};
    struct choke_options options = {.policy_path = policy};
    struct choke_request request = host_request(policy ? copy_argv : version_argv, root);
    if (policy) {
        request.stdin_kind = CHOKE_STDIN_BYTES;
        request.stdin_bytes = "hello\n";
        request.stdin_length = 6;
    }
    if (egress) {
        request.jail = CHOKE_JAIL_NATIVE;
        request.egress = rules;
    }
    failed = false;
    countdown = n;
    int status = choke_context_new(&options, &context, &error);
    check_status(status, &error);
    CHECK((status == 0) == (!!context));
    if (context) {
        explain(context, &request);
        if (policy) {
            run(context, &request);
            start(context, &request);
            run(context, &request);
        }
    }
    choke_context_free(context);
    countdown = 0;
    return !failed;
}

int main(int argc, char **argv)
{
    CHECK(argc == 3 || (argc == 4 && strcmp(argv[3], "egress") == 0));
    egress = argc == 4;
    const char *policy = strcmp(argv[1], "-") == 0 ? NULL : argv[1];
    CHECK(pass(policy, argv[2], 0));
    size_t descriptors = host_descriptors();
    size_t zombies = 0;
    long places = 0;
    for (int twice = 0; twice < 2; twice++) {
        from_then_on = twice == 1;
        long n = 1;
        while (!pass(policy, argv[2], n)) {
            CHECK(host_descriptors() == descriptors);
            CHECK(host_children(&zombies) == 0);
            n++;
        }
        places = n - 1;
    }
    CHECK(places > 0);
    printf("ok %ld\n", places);
    return 0;
}
