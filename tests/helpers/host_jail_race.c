/*
 * host_jail_race POLICY ROOT JAIL COUNT OUTSIDE - a thread exchanges ROOT/work (a directory) and ROOT/trap (a link to OUTSIDE)
 * at random moments while COUNT tools are launched in the jail with cwd "work". A tool reads "who" there. It is never that of
 * OUTSIDE: the run is refused, or it reads that of ROOT/work.
 */
#include "host.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>

static atomic_bool over;

/* Up to two milliseconds, so that swaps fall into every phase of a run. */
static void loiter(unsigned *seed)
{
    double end = host_now() + (double)(rand_r(seed) % 2000) / 1e6;
    while (host_now() < end && !atomic_load(&over)) {
    }
}

static void *swap(void *data)
{
    int root_fd = *(int *)data;
    unsigned seed = 1;
    while (!atomic_load(&over)) {
        CHECK(renameat2(root_fd, "work", root_fd, "trap", RENAME_EXCHANGE) == 0);
        loiter(&seed);
    }
    return NULL;
}

static void write_who(int directory_fd, const char *text)
{
    int fd = openat(directory_fd, "who", O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    CHECK(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
    (void)close(fd);
}

static void set_trap(int root_fd, const char *outside)
{
    int outside_fd = open(outside, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    CHECK(mkdirat(root_fd, "work", 0755) == 0);
    int work_fd = openat(root_fd, "work", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    CHECK(work_fd >= 0 && outside_fd >= 0);
    write_who(work_fd, "inside");
    write_who(outside_fd, "outside");
    CHECK(symlinkat(outside, root_fd, "trap") == 0);
}

/* true: it ran, beneath root; false: it was refused. Anything else ends the program. */
static bool launch(struct choke_context *context, const char *root, enum choke_jail jail)
{
    struct choke_request request = host_request((const char *const[]){"cat", "who", NULL}, root);
    request.cwd = "work";
    request.jail = jail;
    struct choke_result *result = host_run(context, &request);
    bool ran = result->outcome == CHOKE_EXITED;
    CHECK_SAYING(ran || result->outcome == CHOKE_CWD || result->outcome == CHOKE_SPAWN_FAILED, result->error.message);
    /* The directory that was held can be gone from its place when the tool starts; it is not another then. */
    bool read_it = ran && result->exit_code == 0;
    CHECK_SAYING(!read_it || host_is(&result->out, "inside"), result->out.data);
    CHECK_SAYING(read_it || result->out.length == 0, result->out.data);
    choke_result_free(result);
    return read_it;
}

int main(int argc, char **argv)
{
    CHECK(argc == 6);
    enum choke_jail jail = strcmp(argv[3], "bwrap") == 0 ? CHOKE_JAIL_BWRAP : CHOKE_JAIL_NATIVE;
    long count = strtol(argv[4], NULL, 10), ran = 0;
    int root_fd = open(argv[2], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    CHECK(root_fd >= 0);
    set_trap(root_fd, argv[5]);
    struct choke_context *context = host_context(argv[1]);
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, swap, &root_fd) == 0);
    for (long i = 0; i < count; i++) {
        ran += launch(context, argv[2], jail);
    }
    atomic_store(&over, true);
    CHECK(pthread_join(thread, NULL) == 0);
    choke_context_free(context);
    printf("ok ran %ld refused %ld\n", ran, count - ran);
    return 0;
}
