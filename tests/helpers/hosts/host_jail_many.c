/*
 * host_jail_many.c - COUNT runs in a jail in one process, some at a time: host_jail_many POLICY
 * ROOT JAIL COUNT
 *
 * Some leave daemons, some a file for the next run, which must not find it. Prints "at work" when
 * the first has ended. At the end there are as many descriptors and children as in the beginning.
 */
#include "host.h"

#define AT_ONCE 4

static const struct kind {
    const char *argv[4];
    int status;
} kinds[] = {
    {{"say_args", "word"}, 0},
    {{"breach_files", "keep", "word"}, 0},
    {{"breach_files", "find", "word"}, 113},
    {{"breach_files", "write", "/tmp/probe/word"}, 0},
    {{"breach_files", "read", "/tmp/probe/word"}, 113},
    {{"daemons", "3", "left-behind"}, 0},
};

static void start(struct choke_context *context, const char *root, enum choke_jail jail, long number)
{
    const struct kind *kind = &kinds[(size_t)number % (sizeof(kinds) / sizeof(kinds[0]))];
    struct choke_request request = host_request(kind->argv, root);
    request.jail = jail;
    choke_job_set_data(host_start(context, &request), (void *)(uintptr_t)kind);
}

/* The number that have ended by now; each must have ended as expected. */
static long collect(struct choke_context *context)
{
    long ended = 0;
    for (struct choke_job *job = choke_next(context); job; job = choke_next(context)) {
        const struct choke_result *result = choke_job_result(job);
        const struct kind *kind = choke_job_data(job);
        CHECK_SAYING(result->outcome == CHOKE_EXITED, result->error.message);
        CHECK_SAYING(result->exit_code == kind->status, kind->argv[1]);
        choke_job_free(job);
        ended++;
    }
    return ended;
}

int main(int argc, char **argv)
{
    CHECK(argc == 5);
    enum choke_jail jail = strcmp(argv[3], "bwrap") == 0 ? CHOKE_JAIL_BWRAP : CHOKE_JAIL_NATIVE;
    long count = strtol(argv[4], NULL, 10), started = 0, ended = 0;
    bool reported = false;
    size_t zombies = 0, descriptors = host_descriptors();
    struct choke_context *context = host_context(argv[1]);
    while (ended < count) {
        for (; started < count && started - ended < AT_ONCE; started++) {
            start(context, argv[2], jail, started);
        }
        CHECK(choke_wait(context, 20000, NULL) >= 0);
        ended += collect(context);
        if (ended > 0 && !reported) {
            reported = puts("at work") >= 0 && fflush(stdout) == 0;
        }
    }
    choke_context_free(context);
    CHECK(host_children(&zombies) == 0);
    CHECK(host_descriptors() == descriptors);
    printf("ok %ld\n", count);
    return 0;
}
