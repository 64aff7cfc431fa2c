/*
 * host_fork.c - after fork() the child may not use the context of the parent: host_fork POLICY ROOT
 *
 * Every call that would use it returns -EOWNERDEAD, freeing it does no harm, and the running job of
 * the parent is not disturbed. A new context of the child works.
 */
#include "host.h"

static void in_child(struct choke_context *context, struct choke_job *job, const char *policy, const char *root)
{
    struct choke_request request = host_request((const char *const[]){"true", NULL}, root);
    struct choke_result *result = NULL;
    struct choke_job *other = NULL;
    struct choke_decision *decision = NULL;
    struct choke_error error = {0};
    CHECK(choke_run(context, &request, &result, &error) == -EOWNERDEAD && !result);
    CHECK(error.message[0] != '\0');
    CHECK(choke_start(context, &request, &other, NULL) == -EOWNERDEAD && !other);
    CHECK(choke_dispatch(context, NULL) == -EOWNERDEAD);
    CHECK(choke_wait(context, 0, NULL) == -EOWNERDEAD);
    CHECK(choke_dispatch_for(context, 0, NULL) == -EOWNERDEAD);
    choke_pause(job, CHOKE_STDOUT);
    (void)choke_explain(context, &request, &decision, NULL);
    choke_decision_free(decision);
    choke_cancel(job);
    choke_cancel_all(context);
    choke_context_free(context);
    struct choke_context *own = host_context(policy);
    choke_result_free(host_run(own, &request));
    choke_context_free(own);
}

int main(int argc, char **argv)
{
    CHECK(argc == 3);
    struct choke_context *context = host_context(argv[1]);
    int pair[2];
    CHECK(pipe(pair) == 0);
    struct choke_request request = host_request((const char *const[]){"sh", "-c", "read x; echo $x", NULL}, argv[2]);
    request.stdin_kind = CHOKE_STDIN_FD;
    request.stdin_fd = pair[0];
    struct choke_job *job = host_start(context, &request);
    CHECK(close(pair[0]) == 0);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        (void)close(pair[1]);
        in_child(context, job, argv[1], argv[2]);
        _exit(0);
    }
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    CHECK(write(pair[1], "still here\n", 11) == 11);
    CHECK(host_drain(context, 60));
    const struct choke_result *result = choke_job_result(job);
    CHECK(!!result);
    CHECK_SAYING(result->outcome == CHOKE_EXITED, result->error.message);
    CHECK(host_is(&result->out, "still here\n"));
    choke_context_free(context);
    printf("ok\n");
    return 0;
}
