/*
 * host_open.c - a context that stays open while the test looks for processes.
 *
 * host_open POLICY ROOT MARKER KIND - keeps its context open while somebody looks.
 *   after   runs "escape double", which leaves a daemon; says "returned", and waits to be ended
 *   forked  starts "escape setsid", forks a child that keeps every descriptor, says "running"; both wait to be ended
 * The child is recognized by its name, "host_copy".
 */
#include "host.h"

#include <sys/prctl.h>

static void stay(void)
{
    for (;;) {
        (void)pause();
    }
}

static void after(struct choke_context *context, const char *root, const char *marker)
{
    struct choke_request request = host_request((const char *const[]){"escape", "double", marker, NULL}, root);
    struct choke_result *result = host_run(context, &request);
    CHECK(result->outcome == CHOKE_EXITED);
    (void)printf("returned\n");
    (void)fflush(stdout);
    stay();
}

static void on_output(void *data, enum choke_stream stream, const void *bytes, size_t length)
{
    (void)stream;
    (void)bytes;
    *(bool *)data = length > 0;
}

static void forked(struct choke_context *context, const char *root, const char *marker)
{
    struct choke_request request = host_request((const char *const[]){"escape", "setsid", marker, NULL}, root);
    struct choke_job *job = NULL;
    bool ready = false;
    request.timeout_ms = 60000;
    request.on_output = on_output;
    request.output_data = &ready;
    CHECK(choke_start(context, &request, &job, NULL) == 0);
    while (!ready) {
        CHECK(choke_wait(context, 100, NULL) >= 0);
    }
    pid_t copy = fork();
    CHECK(copy >= 0);
    if (copy == 0) {
        (void)prctl(PR_SET_NAME, "host_copy");
        stay();
    }
    (void)printf("running %d\n", (int)copy);
    (void)fflush(stdout);
    stay();
}

int main(int argc, char **argv)
{
    CHECK(argc == 5);
    struct choke_context *context = host_context(argv[1]);
    if (strcmp(argv[4], "after") == 0) {
        after(context, argv[2], argv[3]);
    }
    forked(context, argv[2], argv[3]);
}
