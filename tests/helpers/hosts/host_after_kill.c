/*
 * host_after_kill.c - a run after one that was killed is not affected: host_after_kill POLICY ROOT
 * COUNT
 *
 * In one context a run that has to be killed is followed by one that behaves, COUNT times for each
 * way to be killed: at the timeout, for processes that it left, by a signal that it sent itself.
 * The second run works, although it may have the same warden.
 */
#include "host.h"

static void good(struct choke_context *context, const char *root, const char *after)
{
    struct choke_request request = host_request((const char *const[]){"sh", "-c", "echo fine; exit 3", NULL}, root);
    struct choke_result *result = host_run(context, &request);
    CHECK_SAYING(result->outcome == CHOKE_EXITED, after);
    CHECK_SAYING(result->exit_code == 3 && host_is(&result->out, "fine\n") && !result->output_incomplete, after);
    choke_result_free(result);
}

static void bad(struct choke_context *context, const char *root, const char *const *argv, enum choke_outcome outcome)
{
    struct choke_request request = host_request(argv, root);
    request.timeout_ms = outcome == CHOKE_TIMEOUT ? 50 : 10000;
    struct choke_result *result = host_run(context, &request);
    CHECK_SAYING(result->outcome == outcome, choke_outcome_name(result->outcome));
    choke_result_free(result);
}

int main(int argc, char **argv)
{
    CHECK(argc == 4);
    long count = strtol(argv[3], NULL, 10);
    struct choke_context *context = host_context(argv[1]);
    for (long i = 0; i < count; i++) {
        bad(context, argv[2], (const char *const[]){"sleep", "20", NULL}, CHOKE_TIMEOUT);
        good(context, argv[2], "after a timeout");
        bad(context, argv[2], (const char *const[]){"ignore_signals", "x", NULL}, CHOKE_TIMEOUT);
        good(context, argv[2], "after SIGKILL");
        bad(context, argv[2], (const char *const[]){"escape", "holder", "x", NULL}, CHOKE_EXITED);
        good(context, argv[2], "after a run that left processes");
        bad(context, argv[2], (const char *const[]){"sh", "-c", "kill -9 $$", NULL}, CHOKE_SIGNALED);
        good(context, argv[2], "after a run that killed itself");
    }
    choke_context_free(context);
    printf("ok\n");
    return 0;
}
