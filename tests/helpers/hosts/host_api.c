/* host_api.c - what the public header promises to a program, one small case after another: host_api
 * POLICY ROOT */
#include "host.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/resource.h>

static const char *policy;
static const char *root;
static struct choke_context *context;

static void expect(const struct choke_request *request, enum choke_outcome outcome)
{
    struct choke_result *result = host_run(context, request);
    CHECK_SAYING(result->outcome == outcome, choke_outcome_name(result->outcome));
    CHECK(result->out.data && result->err.data);
    CHECK(result->exit_code == (outcome == CHOKE_EXITED ? result->exit_code : -1));
    CHECK((outcome == CHOKE_EXITED) == (result->error.outcome == CHOKE_NONE));
    CHECK(outcome == CHOKE_EXITED || result->error.message[0] != '\0');
    choke_result_free(result);
}

static void zero_is_closed(void)
{
    const char *const argv[] = {"true", NULL};
    const char *const empty[] = {NULL};
    expect(&(struct choke_request){0}, CHOKE_INVALID);
    expect(&(struct choke_request){.root = root, .cwd = ".", .timeout_ms = 1000}, CHOKE_INVALID);
    expect(&(struct choke_request){.argv = empty, .root = root, .cwd = ".", .timeout_ms = 1000}, CHOKE_INVALID);
    expect(&(struct choke_request){.argv = argv, .cwd = ".", .timeout_ms = 1000}, CHOKE_INVALID);
    expect(&(struct choke_request){.argv = argv, .root = root, .timeout_ms = 1000}, CHOKE_INVALID);
    expect(&(struct choke_request){.argv = argv, .root = root, .cwd = "."}, CHOKE_INVALID);
    expect(&(struct choke_request){.argv = argv, .root = root, .cwd = ".", .timeout_ms = UINT64_MAX - 1},
           CHOKE_INVALID);
    expect(&(struct choke_request){.argv = argv, .root = root, .cwd = ".", .timeout_ms = CHOKE_TIMEOUT_FROM_POLICY},
           CHOKE_EXITED);
}

static void null_is_a_failure(void)
{
    struct choke_request request = host_request((const char *const[]){"true", NULL}, root);
    struct choke_result *result = NULL;
    struct choke_job *job = NULL;
    struct choke_decision *decision = NULL;
    struct choke_error error = {0};
    CHECK(choke_run(NULL, &request, &result, &error) == -EINVAL && !result);
    CHECK(error.message[0] != '\0');
    CHECK(choke_run(context, NULL, &result, NULL) == -EINVAL && !result);
    CHECK(choke_run(context, &request, NULL, NULL) == -EINVAL);
    CHECK(choke_start(NULL, &request, &job, NULL) == -EINVAL && !job);
    CHECK(choke_start(context, NULL, &job, NULL) == -EINVAL && !job);
    CHECK(choke_explain(context, NULL, &decision, NULL) == -EINVAL && !decision);
    CHECK(choke_context_new(NULL, NULL, NULL) == -EINVAL);
    choke_context_free(NULL);
    choke_result_free(NULL);
    choke_decision_free(NULL);
    choke_job_free(NULL);
}

static void stdin_bytes_arrive(void)
{
    size_t length = (size_t)4 << 20;
    char *bytes = malloc(length);
    CHECK(!!bytes);
    for (size_t i = 0; i < length; i++) {
        bytes[i] = (char)(i * 7 + i / 251);
    }
    struct choke_request request = host_request((const char *const[]){"cat", NULL}, root);
    request.stdin_kind = CHOKE_STDIN_BYTES;
    request.stdin_bytes = bytes;
    request.stdin_length = length;
    struct choke_job *job = host_start(context, &request);
    char *copy = malloc(length);
    CHECK(!!copy);
    (void)memcpy(copy, bytes, length);
    (void)memset(bytes, 0, length); /* the header says that the call copies it */
    free(bytes);
    CHECK(host_drain(context, 60));
    const struct choke_result *result = choke_job_result(job);
    CHECK(!!result);
    CHECK_SAYING(result->outcome == CHOKE_EXITED && result->out.length == length, result->error.message);
    CHECK(memcmp(result->out.data, copy, length) == 0 && result->out.data[length] == '\0');
    CHECK(choke_next(context) == job);
    choke_job_free(job);
    free(copy);
}

/* A tool that does not read its input does not block the call and does not raise SIGPIPE in the
 * host. */
static void stdin_unread_does_no_harm(void)
{
    static char bytes[1 << 20];
    struct choke_request request = host_request((const char *const[]){"sh", "-c", "exit 7", NULL}, root);
    request.stdin_kind = CHOKE_STDIN_BYTES;
    request.stdin_bytes = bytes;
    request.stdin_length = sizeof(bytes);
    struct choke_result *result = host_run(context, &request);
    CHECK(result->outcome == CHOKE_EXITED && result->exit_code == 7);
    choke_result_free(result);
}

static void stdin_descriptor_stays_the_callers(void)
{
    int pair[2];
    CHECK(pipe(pair) == 0);
    CHECK(write(pair[1], "words\n", 6) == 6 && close(pair[1]) == 0);
    struct choke_request request = host_request((const char *const[]){"cat", NULL}, root);
    request.stdin_kind = CHOKE_STDIN_FD;
    request.stdin_fd = pair[0];
    struct choke_result *result = host_run(context, &request);
    CHECK(result->outcome == CHOKE_EXITED && host_is(&result->out, "words\n"));
    choke_result_free(result);
    CHECK(fcntl(pair[0], F_GETFD) >= 0 && close(pair[0]) == 0);
    request.stdin_fd = -1;
    expect(&request, CHOKE_INVALID);
    request.stdin_fd = pair[0]; /* closed by now */
    expect(&request, CHOKE_INVALID);
    request.stdin_kind = (enum choke_stdin)77;
    expect(&request, CHOKE_INVALID);
}

static void refusals_come_out_of_next(void)
{
    struct choke_request request = host_request((const char *const[]){"no-such-tool", NULL}, root);
    struct choke_job *job = host_start(context, &request);
    CHECK(choke_job_result(job) && choke_job_result(job)->outcome == CHOKE_DISALLOWED);
    CHECK(choke_running(context) == 0);
    CHECK(choke_dispatch(context, NULL) == 1);
    CHECK(choke_next(context) == job && !choke_next(context));
    choke_job_free(job);
}

/* A sanitizer installs handlers too, so the state before the call is compared. */
static void host_is_left_as_it_was(void)
{
    sigset_t mask;
    sigset_t after;
    struct sigaction was[NSIG] = {0};
    struct sigaction is = {0};
    for (int number = 1; number < NSIG; number++) {
        (void)sigaction(number, NULL, &was[number]);
    }
    CHECK(sigemptyset(&mask) == 0 && sigaddset(&mask, SIGUSR2) == 0);
    CHECK(pthread_sigmask(SIG_SETMASK, &mask, NULL) == 0);
    struct choke_context *other = host_context(policy);
    struct choke_request request = host_request((const char *const[]){"true", NULL}, root);
    choke_result_free(host_run(other, &request));
    choke_context_free(other);
    CHECK(pthread_sigmask(SIG_SETMASK, NULL, &after) == 0);
    for (int number = 1; number < NSIG; number++) {
        CHECK(sigismember(&after, number) == sigismember(&mask, number));
        CHECK(sigaction(number, NULL, &is) != 0 || is.sa_handler == was[number].sa_handler);
    }
}

static void descriptors_are_close_on_exec(void)
{
    for (int fd = 3; fd < 256; fd++) {
        int flags = fcntl(fd, F_GETFD);
        CHECK(flags < 0 || (flags & FD_CLOEXEC) != 0);
    }
}

static void too_much_for_exec(size_t total, bool may_run)
{
    enum { PIECE = 100000 };
    size_t count = total / PIECE;
    const char **argv = calloc(count + 2, sizeof(*argv));
    char *piece = malloc(PIECE + 1);
    CHECK(argv && piece);
    (void)memset(piece, 'x', PIECE);
    piece[PIECE] = '\0';
    argv[0] = "true";
    for (size_t i = 0; i < count; i++) {
        argv[i + 1] = piece;
    }
    struct choke_request request = host_request(argv, root);
    struct choke_result *result = host_run(context, &request);
    CHECK_SAYING(may_run ? result->outcome == CHOKE_EXITED
                         : result->outcome == CHOKE_INVALID || result->outcome == CHOKE_SPAWN_FAILED,
                 choke_outcome_name(result->outcome));
    CHECK(may_run || result->error.message[0] != '\0');
    choke_result_free(result);
    free(argv);
    free(piece);
}

static void arguments_meet_the_kernels_limit(void)
{
    struct rlimit stack = {.rlim_cur = (rlim_t)8 << 20, .rlim_max = RLIM_INFINITY};
    struct rlimit was;
    CHECK(getrlimit(RLIMIT_STACK, &was) == 0);
    stack.rlim_max = was.rlim_max;
    CHECK(setrlimit(RLIMIT_STACK, &stack) == 0);
    struct choke_context *saved = context;
    context = host_context(policy); /* a keeper under this limit */
    too_much_for_exec((size_t)1900000, true);
    too_much_for_exec((size_t)3 << 20, false);
    too_much_for_exec((size_t)7 << 20, false);
    too_much_for_exec((size_t)64 << 20, false);
    choke_context_free(context);
    context = saved;
    CHECK(setrlimit(RLIMIT_STACK, &was) == 0);
}

static void explaining_runs_nothing(void)
{
    size_t zombies = 0;
    size_t children = host_children(&zombies);
    struct choke_context *other = host_context(policy);
    struct choke_decision *decision = NULL;
    struct choke_request request = host_request((const char *const[]){"sh", "-c", "touch canary", NULL}, root);
    CHECK(choke_explain(other, &request, &decision, NULL) == 0);
    CHECK(decision->outcome == CHOKE_NONE && decision->tool_path && !decision->env[4]);
    CHECK(strcmp(decision->argv[2], "touch canary") == 0);
    CHECK(host_children(&zombies) == children);
    choke_decision_free(decision);
    choke_context_free(other);
}

static void tools_are_listed(void)
{
    struct choke_tool_info info;
    size_t count = 0;
    while (choke_tool(context, count, &info)) {
        CHECK(info.name && info.why && info.adr && info.route);
        count++;
    }
    CHECK(count > 0);
    CHECK(strcmp(choke_version(), CHOKE_VERSION) == 0);
    for (int outcome = CHOKE_EXITED; outcome <= CHOKE_SPAWN_FAILED; outcome++) {
        CHECK(strlen(choke_outcome_name((enum choke_outcome)outcome)) > 2);
    }
}

int main(int argc, char **argv)
{
    CHECK(argc == 3);
    policy = argv[1];
    root = argv[2];
    context = host_context(policy);
    zero_is_closed();
    null_is_a_failure();
    stdin_bytes_arrive();
    stdin_unread_does_no_harm();
    stdin_descriptor_stays_the_callers();
    refusals_come_out_of_next();
    host_is_left_as_it_was();
    descriptors_are_close_on_exec();
    arguments_meet_the_kernels_limit();
    explaining_runs_nothing();
    tools_are_listed();
    choke_context_free(context);
    printf("ok\n");
    return 0;
}
