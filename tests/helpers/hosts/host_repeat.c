/*
 * host_repeat.c - the same run many times in one context.
 *
 * host_repeat POLICY ROOT JAIL COUNT TOOL [ARG]... - the same run COUNT times in one context, most of them right after each
 * other and some after a pause, so that what is done between two runs is hurried or not. Says whatever each run said.
 */
#include "host.h"

int main(int argc, char **argv)
{
    CHECK(argc > 5);
    struct choke_context *context = host_context(argv[1]);
    struct choke_request request = host_request((const char *const *)(argv + 5), argv[2]);
    request.jail = host_jail(argv[3]);
    long count = strtol(argv[4], NULL, 10);
    for (long i = 0; i < count; i++) {
        struct choke_result *result = host_run(context, &request);
        CHECK_SAYING(result->outcome == CHOKE_EXITED, result->error.message);
        CHECK_SAYING(result->exit_code == 0, result->err.data);
        (void)fwrite(result->out.data, 1, result->out.length, stdout);
        choke_result_free(result);
        if (i % 10 == 9) {
            (void)usleep(5000);
        }
    }
    choke_context_free(context);
    return 0;
}
