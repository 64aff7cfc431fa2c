/*
 * host_threads.c - contexts and threads.
 *
 * host_threads POLICY ROOT COUNT - two contexts in two threads do not meet; and a context with a keeper made by
 * a thread that has ended since still runs tools, and its running job is not lost (the parent-death signal follows
 * the creating thread).
 */
#include "host.h"

#include <pthread.h>

struct worker {
    const char *policy;
    const char *root;
    const char *word;
    long count;
};

static void *work(void *data)
{
    const struct worker *worker = data;
    struct choke_context *context = host_context(worker->policy);
    for (long i = 0; i < worker->count; i++) {
        char text[64];
        (void)snprintf(text, sizeof(text), "%s%ld", worker->word, i);
        struct choke_request request = host_request((const char *const[]){"say_args", text, NULL}, worker->root);
        struct choke_result *result = host_run(context, &request);
        CHECK_SAYING(result->outcome == CHOKE_EXITED, result->error.message);
        CHECK(result->out.length == strlen(text) + 1 && strcmp(result->out.data, text) == 0);
        choke_result_free(result);
    }
    choke_context_free(context);
    return NULL;
}

struct handover {
    struct choke_context *context;
    const char *root;
    struct choke_job *job;
};

static void *start_and_leave(void *data)
{
    struct handover *handover = data;
    struct choke_request request =
        host_request((const char *const[]){"sh", "-c", "read x; echo $x", NULL}, handover->root);
    struct choke_request first = host_request((const char *const[]){"true", NULL}, handover->root);
    choke_result_free(host_run(handover->context, &first));
    int pair[2];
    CHECK(pipe(pair) == 0);
    request.stdin_kind = CHOKE_STDIN_FD;
    request.stdin_fd = pair[0];
    handover->job = host_start(handover->context, &request);
    (void)close(pair[0]);
    return (void *)(long)pair[1];
}

static void hand_over(const char *policy, const char *root)
{
    struct handover handover = {.context = host_context(policy), .root = root};
    pthread_t thread;
    void *write_fd = NULL;
    CHECK(pthread_create(&thread, NULL, start_and_leave, &handover) == 0);
    CHECK(pthread_join(thread, &write_fd) == 0);
    struct choke_request request = host_request((const char *const[]){"sh", "-c", "exit 5", NULL}, root);
    struct choke_result *result = host_run(handover.context, &request);
    CHECK_SAYING(result->outcome == CHOKE_EXITED && result->exit_code == 5, result->error.message);
    choke_result_free(result);
    CHECK(!choke_job_result(handover.job));
    CHECK(write((int)(long)write_fd, "alive\n", 6) == 6);
    CHECK(close((int)(long)write_fd) == 0);
    CHECK(host_drain(handover.context, 60));
    const struct choke_result *late = choke_job_result(handover.job);
    CHECK(!!late);
    CHECK_SAYING(late->outcome == CHOKE_EXITED && host_is(&late->out, "alive\n"), late->error.message);
    choke_context_free(handover.context);
}

int main(int argc, char **argv)
{
    CHECK(argc == 4);
    long count = strtol(argv[3], NULL, 10);
    struct worker workers[2] = {{argv[1], argv[2], "left", count}, {argv[1], argv[2], "right", count}};
    pthread_t threads[2];
    size_t zombies = 0;
    for (int i = 0; i < 2; i++) {
        CHECK(pthread_create(&threads[i], NULL, work, &workers[i]) == 0);
    }
    for (int i = 0; i < 2; i++) {
        CHECK(pthread_join(threads[i], NULL) == 0);
    }
    hand_over(argv[1], argv[2]);
    CHECK(host_children(&zombies) == 0);
    printf("ok\n");
    return 0;
}
