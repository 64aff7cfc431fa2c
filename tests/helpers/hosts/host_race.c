/*
 * host_race.c - the working directory is swapped for a link during runs.
 *
 * host_race POLICY ROOT COUNT OUTSIDE - a thread exchanges ROOT/work (a directory) and ROOT/trap (a link to
 * OUTSIDE) as fast as it can while COUNT tools are launched with cwd "work" and, every other time, "work/deep". A
 * tool says its directory. It is never OUTSIDE: the run is refused as "cwd", or it happens beneath ROOT.
 */
#include "host.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>

#define PATIENCE_S 30

static atomic_bool over;

static void *swap(void *data)
{
    int root_fd = *(int *)data;
    while (!atomic_load(&over)) {
        CHECK(renameat2(root_fd, "work", root_fd, "trap", RENAME_EXCHANGE) == 0);
    }
    return NULL;
}

/* true: it ran, and beneath root; false: it was refused. Anything else ends the program. */
static bool launch(struct choke_context *context, const char *root, const char *cwd)
{
    struct choke_request request = host_request((const char *const[]){"say_state", NULL}, root);
    char expected[4096];
    (void)snprintf(expected, sizeof(expected), "cwd=%s/", root);
    request.cwd = cwd;
    struct choke_result *result = host_run(context, &request);
    bool ran = result->outcome == CHOKE_EXITED;
    CHECK_SAYING(ran || result->outcome == CHOKE_CWD, result->error.message);
    if (ran) {
        CHECK_SAYING(strncmp(result->out.data, expected, strlen(expected)) == 0, result->out.data);
    } else {
        CHECK(result->out.length == 0);
    }
    choke_result_free(result);
    return ran;
}

int main(int argc, char **argv)
{
    CHECK(argc == 5);
    long count = strtol(argv[3], NULL, 10);
    int root_fd = open(argv[2], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    CHECK(root_fd >= 0);
    CHECK(mkdirat(root_fd, "work", 0755) == 0 && mkdirat(root_fd, "work/deep", 0755) == 0);
    CHECK(symlinkat(argv[4], root_fd, "trap") == 0);
    struct choke_context *context = host_context(argv[1]);
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, swap, &root_fd) == 0);
    long ran = 0, refused = 0;
    double end = host_now() + PATIENCE_S;
    /* Until both have happened: on a busy machine the other thread may not have its turn for a while. */
    for (long i = 0; i < count || ((ran == 0 || refused == 0) && host_now() < end); i++) {
        bool once = launch(context, argv[2], i % 2 == 0 ? "work" : "work/deep");
        ran += once;
        refused += !once;
    }
    atomic_store(&over, true);
    CHECK(pthread_join(thread, NULL) == 0);
    choke_context_free(context);
    printf("ok ran %ld refused %ld\n", ran, refused);
    return 0;
}
