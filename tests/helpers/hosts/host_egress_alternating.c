/*
 * host_egress_alternating.c - runs with and without egress alternate in one context:
 * host_egress_alternating POLICY ROOT JAIL COUNT RULE TOOL [ARG]...
 *
 * The same run COUNT times, alternately with egress to RULE and without. Prints the output of each
 * run, and after it the number of connections that the proxy refused.
 */
#include "host.h"

int main(int argc, char **argv)
{
    CHECK(argc > 6);
    const char *const rules[] = {argv[5], NULL};
    struct choke_context *context = host_context(argv[1]);
    struct choke_request request = host_request((const char *const *)(argv + 6), argv[2]);
    request.jail = host_jail(argv[3]);
    long count = strtol(argv[4], NULL, 10);
    for (long i = 0; i < count; i++) {
        request.egress = i % 2 == 0 ? rules : NULL;
        struct choke_result *result = host_run(context, &request);
        CHECK_SAYING(result->outcome == CHOKE_EXITED, result->error.message);
        CHECK((!!result->egress) == (i % 2 == 0));
        (void)fwrite(result->out.data, 1, result->out.length, stdout);
        (void)printf("end %llu\n", result->egress ? (unsigned long long)result->egress->refused : 0);
        choke_result_free(result);
    }
    choke_context_free(context);
    return 0;
}
