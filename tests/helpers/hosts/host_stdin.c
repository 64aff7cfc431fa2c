/*
 * host_stdin.c - many runs in a jail with bytes on stdin.
 *
 * host_stdin POLICY ROOT JAIL COUNT - COUNT runs in the jail with bytes on stdin, in one process, some at a time: read whole,
 * read in part, or not at all. What is read comes back as it was given, and at the end there are as many descriptors and
 * children as in the beginning. Then a run with a stdin that never ends is cancelled.
 */
#include "host.h"

#define AT_ONCE 4
#define BYTES_MAX ((size_t)1 << 20)

static char bytes[BYTES_MAX];
static const size_t lengths[] = {0, 1, 65536, 65537, BYTES_MAX};

static const struct kind {
    const char *argv[4];
    long read; /* how many of the bytes come back; -1: all */
} kinds[] = {{{"cat"}, -1}, {{"head", "-c", "1"}, 1}, {{"true"}, 0}};

struct given {
    size_t kind, length;
};

static void start(struct choke_context *context, const char *root, enum choke_jail jail, struct given *given)
{
    struct choke_request request = host_request(kinds[given->kind].argv, root);
    request.jail = jail;
    request.stdin_kind = CHOKE_STDIN_BYTES;
    request.stdin_bytes = bytes;
    request.stdin_length = given->length;
    choke_job_set_data(host_start(context, &request), given);
}

static void check(const struct choke_result *result, const struct given *given)
{
    long all = (long)given->length, read = kinds[given->kind].read;
    size_t wanted = (size_t)(read < 0 || read > all ? all : read);
    CHECK_SAYING(result->outcome == CHOKE_EXITED && result->exit_code == 0, result->error.message);
    CHECK(!result->output_incomplete);
    CHECK(result->out.total_bytes == wanted);
    CHECK(result->out.length == wanted && memcmp(result->out.data, bytes, wanted) == 0);
}

static long collect(struct choke_context *context)
{
    long ended = 0;
    for (struct choke_job *job = choke_next(context); job; job = choke_next(context), ended++) {
        check(choke_job_result(job), choke_job_data(job));
        choke_job_free(job);
    }
    return ended;
}

/* No bytes are written to the pipe, and its other end stays open. */
static void cancel(struct choke_context *context, const char *root, enum choke_jail jail)
{
    int ends[2];
    CHECK(pipe(ends) == 0);
    struct choke_request request = host_request(kinds[0].argv, root);
    request.jail = jail;
    request.stdin_kind = CHOKE_STDIN_FD;
    request.stdin_fd = ends[0];
    struct choke_job *job = host_start(context, &request);
    choke_cancel(job);
    while (!choke_next(context)) {
        CHECK(choke_wait(context, 20000, NULL) >= 0);
    }
    CHECK(choke_job_result(job)->outcome == CHOKE_CANCELLED);
    choke_job_free(job);
    (void)close(ends[0]);
    (void)close(ends[1]);
}

int main(int argc, char **argv)
{
    static struct given givens[64];
    CHECK(argc == 5);
    enum choke_jail jail = strcmp(argv[3], "bwrap") == 0 ? CHOKE_JAIL_BWRAP : CHOKE_JAIL_NATIVE;
    long count = strtol(argv[4], NULL, 10), started = 0, ended = 0;
    size_t zombies = 0, descriptors = host_descriptors();
    CHECK(count <= (long)(sizeof(givens) / sizeof(givens[0])));
    for (size_t i = 0; i < sizeof(bytes); i++) {
        bytes[i] = (char)(i % 251);
    }
    struct choke_context *context = host_context(argv[1]);
    while (ended < count) {
        for (; started < count && started - ended < AT_ONCE; started++) {
            givens[started] = (struct given){(size_t)started % 3, lengths[(size_t)started / 3 % 5]};
            start(context, argv[2], jail, &givens[started]);
        }
        CHECK(choke_wait(context, 20000, NULL) >= 0);
        ended += collect(context);
    }
    cancel(context, argv[2], jail);
    choke_context_free(context);
    CHECK(host_descriptors() == descriptors);
    CHECK(host_children(&zombies) == 0);
    return 0;
}
