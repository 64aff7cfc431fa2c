/*
 * host_swap.c - the file of a tool is swapped during runs.
 *
 * host_swap POLICY ROOT TOOL WAY FILE OTHER SWAPS RUNS - runs TOOL (its file is FILE) at least RUNS times, while a thread
 * puts the content of OTHER in its place and takes it away again, SWAPS times at least, at random moments.
 *   rename  the two files are exchanged by name
 *   write   the content is written into FILE, with the mtime put back; both must have the same size
 * The good tool prints its argument, the evil one does not. Says how many runs were good, evil, disallowed, refused by
 * the kernel because somebody writes (busy), or ended otherwise, and how often it was swapped.
 */
#include "host.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>

#define MAX_BYTES ((size_t)1 << 20)

struct content {
    char *bytes;
    size_t length;
};

struct swapper {
    const char *file;
    const char *other;
    struct content good, evil;
    struct timespec mtime;
};

static atomic_bool over;
static atomic_long swaps;
static long pause_us; /* the longest pause between two swaps */

static struct content load(const char *path)
{
    struct content content = {.bytes = malloc(MAX_BYTES)};
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    CHECK(content.bytes && fd >= 0);
    for (ssize_t got; (got = read(fd, content.bytes + content.length, MAX_BYTES - content.length)) > 0;) {
        content.length += (size_t)got;
    }
    CHECK(content.length > 0 && content.length < MAX_BYTES);
    (void)close(fd);
    return content;
}

/*
 * Swaps fall into every phase of a run, and some runs have none: an attempt to write during the check is reason enough
 * to refuse a run.
 */
static void loiter(unsigned *seed)
{
    double end = host_now() + (double)(rand_r(seed) % pause_us) / 1e6;
    while (host_now() < end && !atomic_load(&over)) {
    }
}

/* Where the file is executed just now, or held for it, the attacker comes back. */
static void overwrite(const struct swapper *swapper, const struct content *content)
{
    int fd = open(swapper->file, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) {
        CHECK_SAYING(errno == ETXTBSY || errno == EWOULDBLOCK, strerror(errno));
        return;
    }
    const struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, swapper->mtime};
    CHECK(pwrite(fd, content->bytes, content->length, 0) == (ssize_t)content->length);
    CHECK(futimens(fd, times) == 0);
    (void)close(fd);
    atomic_fetch_add(&swaps, 1);
}

static void *swap_by_write(void *data)
{
    const struct swapper *swapper = data;
    unsigned seed = 1;
    for (unsigned i = 0; !atomic_load(&over); i++) {
        overwrite(swapper, i % 2 == 0 ? &swapper->evil : &swapper->good);
        loiter(&seed);
    }
    return NULL;
}

static void *swap_by_rename(void *data)
{
    const struct swapper *swapper = data;
    unsigned seed = 1;
    while (!atomic_load(&over)) {
        CHECK(renameat2(AT_FDCWD, swapper->file, AT_FDCWD, swapper->other, RENAME_EXCHANGE) == 0);
        atomic_fetch_add(&swaps, 1);
        loiter(&seed);
    }
    return NULL;
}

struct tally {
    long good, evil, disallowed, busy, otherwise;
};

static void launch(struct choke_context *context, const char *tool, const char *root, struct tally *tally)
{
    const char *const argv[] = {tool, "good", NULL};
    struct choke_request request = host_request(argv, root);
    struct choke_result *result = host_run(context, &request);
    if (result->outcome == CHOKE_DISALLOWED) {
        CHECK(result->out.length == 0);
        tally->disallowed++;
    } else if (result->outcome == CHOKE_SPAWN_FAILED && result->error.errnum == ETXTBSY) {
        tally->busy++;
    } else if (result->outcome != CHOKE_EXITED) {
        (void)fprintf(stderr, "%s\n", result->error.message);
        tally->otherwise++;
    } else if (strncmp(result->out.data, "good", 4) == 0) {
        tally->good++;
    } else {
        tally->evil++;
    }
    choke_result_free(result);
}

/* The duration of a run on this machine. */
static long run_us(struct choke_context *context, const char *tool, const char *root)
{
    enum { TRIALS = 20 };
    struct tally tally = {0};
    launch(context, tool, root, &tally); /* makes the keeper */
    double began = host_now();
    for (int i = 0; i < TRIALS; i++) {
        launch(context, tool, root, &tally);
    }
    CHECK(tally.good == TRIALS + 1);
    return (long)((host_now() - began) / TRIALS * 1e6);
}

int main(int argc, char **argv)
{
    CHECK(argc == 9);
    struct swapper swapper = {.file = argv[5], .other = argv[6], .good = load(argv[5]), .evil = load(argv[6])};
    struct stat status;
    CHECK(stat(argv[5], &status) == 0);
    swapper.mtime = status.st_mtim;
    long wanted_swaps = strtol(argv[7], NULL, 10), wanted_runs = strtol(argv[8], NULL, 10), runs = 0;
    struct choke_context *context = host_context(argv[1]);
    struct tally tally = {0};
    pthread_t thread;
    bool by_write = strcmp(argv[4], "write") == 0;
    CHECK(!by_write || swapper.good.length == swapper.evil.length);
    pause_us = 2 * run_us(context, argv[3], argv[2]) + 1;
    CHECK(pthread_create(&thread, NULL, by_write ? swap_by_write : swap_by_rename, &swapper) == 0);
    for (; runs < wanted_runs || atomic_load(&swaps) < wanted_swaps; runs++) {
        launch(context, argv[3], argv[2], &tally);
    }
    atomic_store(&over, true);
    CHECK(pthread_join(thread, NULL) == 0);
    choke_context_free(context);
    free(swapper.good.bytes);
    free(swapper.evil.bytes);
    printf("good %ld evil %ld disallowed %ld busy %ld otherwise %ld swaps %ld\n", tally.good, tally.evil,
           tally.disallowed, tally.busy, tally.otherwise, atomic_load(&swaps));
    return 0;
}
