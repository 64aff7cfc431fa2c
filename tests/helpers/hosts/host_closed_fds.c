/*
 * host_closed_fds.c - a program that closes the descriptors of a context: host_closed_fds POLICY
 * ROOT JAIL [running|twin]
 *
 * The program closes every descriptor that it does not know, among them those of a context, and
 * opens its own files at the same numbers; twin: the descriptors of a second context. The context
 * reports that and leaves those files alone.
 */
#include "host.h"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>

#define OWN 200

static void check_lost(struct choke_context *context, const struct choke_request *request)
{
    struct choke_result *result = NULL;
    struct choke_error error = {0};
    CHECK(choke_run(context, request, &result, &error) == -EBADF && !result);
    CHECK_SAYING(!!strstr(error.message, "has closed the descriptors of the context"), error.message);
    CHECK(choke_dispatch(context, &error) == -EBADF && choke_wait(context, 10, &error) == -EBADF);
    choke_context_free(context);
}

static void check_runs(struct choke_context *context, const struct choke_request *request)
{
    struct choke_result *result = host_run(context, request);
    CHECK_SAYING(result->outcome == CHOKE_EXITED, result->error.message);
    choke_result_free(result);
}

/* Made the same way, so its descriptors have the same numbers. */
static int be_twins(const char *policy, struct choke_context *lost, const struct choke_request *request)
{
    struct choke_context *context = host_context(policy);
    CHECK(choke_fd(context) == choke_fd(lost));
    check_runs(context, request);
    check_lost(lost, request);
    check_runs(context, request);
    choke_context_free(context);
    printf("ok\n");
    return 0;
}

int main(int argc, char **argv)
{
    CHECK(argc >= 4);
    struct choke_context *context = host_context(argv[1]);
    struct choke_request request = host_request((const char *const[]){"cat", "open", NULL}, argv[2]);
    request.jail = host_jail(argv[3]);
    check_runs(context, &request);
    if (argc == 5 && strcmp(argv[4], "running") == 0) {
        struct choke_request longer = host_request((const char *const[]){"sleep", "20", NULL}, argv[2]);
        longer.jail = request.jail;
        (void)host_start(context, &longer);
    }
    closefrom(3);
    if (argc == 5 && strcmp(argv[4], "twin") == 0) {
        return be_twins(argv[1], context, &request);
    }
    /* Files, directories and event descriptors of the program. The checks below notice one that is
     * lost. */
    int fds[OWN];
    struct stat before[OWN];
    for (int i = 0; i < OWN; i++) {
        fds[i] = i % 4 == 0   ? open(argv[2], O_RDONLY | O_DIRECTORY)
                 : i % 4 == 1 ? epoll_create1(0)
                 : i % 4 == 2 ? socket(AF_UNIX, SOCK_DGRAM, 0)
                              : open("/proc/self/exe", O_RDONLY);
        CHECK(fds[i] == 3 + i && fstat(fds[i], &before[i]) == 0);
    }
    check_lost(context, &request);
    for (int i = 0; i < OWN; i++) {
        struct stat after;
        CHECK(fstat(fds[i], &after) == 0 && after.st_dev == before[i].st_dev && after.st_ino == before[i].st_ino);
    }
    context = host_context(argv[1]);
    check_runs(context, &request);
    choke_context_free(context);
    printf("ok\n");
    return 0;
}
