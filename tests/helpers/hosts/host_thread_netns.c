/*
 * host_thread_netns.c - a second thread in another network namespace uses the context.
 *
 * host_thread_netns POLICY ROOT - a second thread uses a context at a moment without a free descriptor, so that it cannot be seen who
 * that thread is. It is seen when there are descriptors again: the thread enters another network namespace, and so do its
 * tools. Must be started by root.
 */
#include "host.h"

#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>

static struct choke_context *context;
static const char *root;

static int start(struct choke_result **ret_result, struct choke_error *error)
{
    struct choke_request request = host_request((const char *const[]){"readlink", "/proc/self/ns/net", NULL}, root);
    request.jail = CHOKE_JAIL_NONE;
    return choke_run(context, &request, ret_result, error);
}

static void check_network(void)
{
    char own[64] = "";
    struct choke_result *result = NULL;
    struct choke_error error = {0};
    ssize_t length = readlink("/proc/thread-self/ns/net", own, sizeof(own) - 2);
    CHECK(length > 0);
    own[length] = '\n';
    CHECK_SAYING(start(&result, &error) == 0, error.message);
    CHECK_SAYING(result->outcome == CHOKE_EXITED && host_is(&result->out, own), own);
    choke_result_free(result);
}

static void *work(void *unused)
{
    struct rlimit usual;
    struct choke_result *result = NULL;
    struct choke_error error = {0};
    CHECK(getrlimit(RLIMIT_NOFILE, &usual) == 0);
    const struct rlimit none = {.rlim_cur = 3, .rlim_max = usual.rlim_max};
    CHECK(setrlimit(RLIMIT_NOFILE, &none) == 0);
    CHECK(start(&result, &error) == -EMFILE && !result);
    CHECK_SAYING(!!strstr(error.message, "this may be temporary: try again"), error.message);
    CHECK(setrlimit(RLIMIT_NOFILE, &usual) == 0);
    check_network();
    CHECK(unshare(CLONE_NEWNET) == 0);
    check_network();
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    CHECK(argc == 3 && geteuid() == 0);
    root = argv[2];
    context = host_context(argv[1]);
    check_network();
    CHECK(pthread_create(&thread, NULL, work, NULL) == 0 && pthread_join(thread, NULL) == 0);
    check_network();
    choke_context_free(context);
    printf("ok\n");
    return 0;
}
