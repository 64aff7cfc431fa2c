/*
 * host_closed POLICY ROOT JAIL [running] - the program closes every descriptor it does not know, among them those of a
 * context, and gets the same numbers for files of its own. The context says so, and leaves those files alone.
 */
#include "host.h"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>

#define OWN 200

int main(int argc, char **argv)
{
    CHECK(argc >= 4);
    struct choke_context *context = host_context(argv[1]);
    struct choke_request request = host_request((const char *const[]){"cat", "open", NULL}, argv[2]);
    request.jail = host_jail(argv[3]);
    choke_result_free(host_run(context, &request));
    if (argc == 5) {
        struct choke_request longer = host_request((const char *const[]){"sleep", "20", NULL}, argv[2]);
        longer.jail = request.jail;
        (void)host_start(context, &longer);
    }
    closefrom(3);
    /* Files, directories and event descriptors of the program's own; those that are lost are missed below. */
    int fds[OWN];
    struct stat before[OWN];
    for (int i = 0; i < OWN; i++) {
        fds[i] = i % 4 == 0   ? open(argv[2], O_RDONLY | O_DIRECTORY)
                 : i % 4 == 1 ? epoll_create1(0)
                 : i % 4 == 2 ? socket(AF_UNIX, SOCK_DGRAM, 0)
                              : open("/proc/self/exe", O_RDONLY);
        CHECK(fds[i] == 3 + i && fstat(fds[i], &before[i]) == 0);
    }
    struct choke_result *result = NULL;
    struct choke_error error = {0};
    CHECK(choke_run(context, &request, &result, &error) == -EBADF && result == NULL);
    CHECK_SAYING(strstr(error.message, "has closed the descriptors of the context") != NULL, error.message);
    CHECK(choke_dispatch(context, &error) == -EBADF && choke_wait(context, 10, &error) == -EBADF);
    choke_context_free(context);
    for (int i = 0; i < OWN; i++) {
        struct stat after;
        CHECK(fstat(fds[i], &after) == 0 && after.st_dev == before[i].st_dev && after.st_ino == before[i].st_ino);
    }
    context = host_context(argv[1]);
    result = host_run(context, &request);
    CHECK_SAYING(result->outcome == CHOKE_EXITED, result->error.message);
    choke_result_free(result);
    choke_context_free(context);
    printf("ok\n");
    return 0;
}
