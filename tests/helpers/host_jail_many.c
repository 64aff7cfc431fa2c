/*
 * host_jail_many POLICY ROOT JAIL COUNT - COUNT runs in the jail, in one process, one after another: some leave daemons, some a file
 * for the next run, which must not find it. At the end there are as many descriptors and children as in the beginning.
 */
#include "host.h"

static const struct {
    const char *argv[4];
    int status;
} runs[] = {
    {{"say_args", "word"}, 0},
    {{"breach_files", "keep", "word"}, 0},
    {{"breach_files", "find", "word"}, 113},
    {{"breach_files", "write", "/tmp/probe/word"}, 0},
    {{"breach_files", "read", "/tmp/probe/word"}, 113},
    {{"daemons", "3", "left-behind"}, 0},
};

int main(int argc, char **argv)
{
    CHECK(argc == 5);
    enum choke_jail jail = strcmp(argv[3], "bwrap") == 0 ? CHOKE_JAIL_BWRAP : CHOKE_JAIL_NATIVE;
    long count = strtol(argv[4], NULL, 10);
    size_t zombies = 0, descriptors = host_descriptors();
    struct choke_context *context = host_context(argv[1]);
    for (long i = 0; i < count; i++) {
        size_t which = (size_t)i % (sizeof runs / sizeof runs[0]);
        struct choke_request request = host_request(runs[which].argv, argv[2]);
        request.jail = jail;
        struct choke_result *result = host_run(context, &request);
        CHECK_SAYING(result->outcome == CHOKE_EXITED, result->error.message);
        CHECK_SAYING(result->exit_code == runs[which].status, runs[which].argv[1]);
        choke_result_free(result);
    }
    choke_context_free(context);
    CHECK(host_children(&zombies) == 0);
    CHECK(host_descriptors() == descriptors);
    printf("ok %ld\n", count);
    return 0;
}
