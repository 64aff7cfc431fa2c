/*
 * host_jail_race POLICY ROOT JAIL COUNT OUTSIDE - a thread exchanges ROOT/work (a directory) and ROOT/trap (a link to OUTSIDE)
 * at random moments while tools are launched in the jail with cwd "work": 10,000 at least, of which COUNT got as far as the jail. A tool reads
 * "who" there. It is never that of OUTSIDE. Says how many read it, missed it because it was gone by then, and were refused before anything was launched.
 */
#include "host.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>

#define LAUNCHES 10000

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

struct tally {
    long read, missed, refused;
};

/* It reads the right file, or finds none because the directory is gone from its place, or it is refused beforehand. */
static void launch(struct choke_context *context, const char *root, enum choke_jail jail, struct tally *tally)
{
    struct choke_request request = host_request((const char *const[]){"cat", "who", NULL}, root);
    request.cwd = "work";
    request.jail = jail;
    struct choke_result *result = host_run(context, &request);
    if (result->outcome == CHOKE_EXITED && result->exit_code == 0) {
        CHECK_SAYING(host_is(&result->out, "inside"), result->out.data);
        tally->read++;
    } else {
        CHECK_SAYING(result->out.length == 0, result->out.data);
        bool before = result->outcome == CHOKE_CWD;
        bool within = result->outcome == CHOKE_EXITED || result->outcome == CHOKE_SPAWN_FAILED;
        CHECK_SAYING(before || within, result->error.message);
        tally->refused += before;
        tally->missed += within;
    }
    choke_result_free(result);
}

int main(int argc, char **argv)
{
    CHECK(argc == 6);
    enum choke_jail jail = strcmp(argv[3], "bwrap") == 0 ? CHOKE_JAIL_BWRAP : CHOKE_JAIL_NATIVE;
    long count = strtol(argv[4], NULL, 10);
    struct tally tally = {0};
    int root_fd = open(argv[2], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    CHECK(root_fd >= 0);
    set_trap(root_fd, argv[5]);
    struct choke_context *context = host_context(argv[1]);
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, swap, &root_fd) == 0);
    while (tally.read + tally.missed < count || tally.read + tally.missed + tally.refused < LAUNCHES) {
        launch(context, argv[2], jail, &tally);
    }
    atomic_store(&over, true);
    CHECK(pthread_join(thread, NULL) == 0);
    choke_context_free(context);
    printf("read %ld missed %ld refused %ld\n", tally.read, tally.missed, tally.refused);
    return 0;
}
