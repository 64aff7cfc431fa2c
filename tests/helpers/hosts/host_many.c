/*
 * host_many.c - COUNT runs in one process leak nothing: host_many POLICY ROOT COUNT
 *
 * At the end there are as many descriptors as after the first run, at most one child (the keeper),
 * and no zombie. After choke_context_free there are as many children and descriptors as before the
 * context.
 */
#include "host.h"

int main(int argc, char **argv)
{
    CHECK(argc == 4);
    long count = strtol(argv[3], NULL, 10);
    size_t zombies = 0;
    size_t descriptors_at_first = host_descriptors();
    struct choke_context *context = host_context(argv[1]);
    struct choke_request request = host_request((const char *const[]){"say_args", "word", NULL}, argv[2]);
    size_t descriptors = 0;
    for (long i = 0; i < count; i++) {
        struct choke_result *result = host_run(context, &request);
        CHECK_SAYING(result->outcome == CHOKE_EXITED, result->error.message);
        CHECK(result->exit_code == 0);
        CHECK(result->out.length == 5 && memcmp(result->out.data, "word", 5) == 0);
        CHECK(result->err.length == 0);
        CHECK(!result->output_incomplete);
        choke_result_free(result);
        if (i == 0) {
            descriptors = host_descriptors();
        }
    }
    CHECK(host_descriptors() == descriptors);
    CHECK(host_children(&zombies) <= 1);
    CHECK(zombies == 0);
    choke_context_free(context);
    CHECK(host_children(&zombies) == 0);
    CHECK(host_descriptors() == descriptors_at_first);
    printf("ok %ld\n", count);
    return 0;
}
