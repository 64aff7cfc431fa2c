/*
 * dispatch.c - the longest choke_dispatch while a run with many changes is listed and kept, and the
 * cost of copying 1 MiB, the bound of one slice, into a file of the same directory.
 */
#include "worker.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define SLICE_BYTES ((size_t)1 << 20)
#define PIECE_BYTES ((size_t)128 << 10)

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *place)
{
    (void)status;
    (void)type;
    (void)place;
    return remove(path);
}

/* On a busy machine wall time includes other processes; processor time does not, but it does not
 * show a slow disk either. */
struct took {
    uint64_t wall_ns, cpu_ns;
};

static struct took clocks(void)
{
    return (struct took){.wall_ns = now_ns(), .cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID)};
}

static struct took since(struct took started)
{
    struct took now = clocks();
    return (struct took){.wall_ns = now.wall_ns - started.wall_ns, .cpu_ns = now.cpu_ns - started.cpu_ns};
}

static uint64_t most(uint64_t one, uint64_t other)
{
    return one > other ? one : other;
}

/* From memory to a file, as the library copies from an overlay. */
static struct took copy_slice(const char *directory)
{
    static char piece[PIECE_BYTES];
    char path[PATH_MAX];
    int from = memfd_create("slice", MFD_CLOEXEC);
    for (size_t done = 0; done < SLICE_BYTES; done += sizeof(piece)) {
        if (write(from, piece, sizeof(piece)) != (ssize_t)sizeof(piece)) {
            fail_errno("memfd", errno);
        }
    }
    (void)snprintf(path, sizeof(path), "%.4000s/slice", directory);
    struct took started = clocks();
    int to = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    for (off_t done = 0; done < (off_t)SLICE_BYTES; done += (off_t)sizeof(piece)) {
        if (pread(from, piece, sizeof(piece), done) < 0 || pwrite(to, piece, sizeof(piece), done) < 0) {
            fail_errno("copy", errno);
        }
    }
    (void)close(to);
    struct took took = since(started);
    (void)close(from);
    (void)unlink(path);
    return took;
}

static struct took longest_dispatch(struct worker *worker, uint64_t *ret_count)
{
    struct took longest = {0};
    struct choke_job *job;
    while (!(job = choke_next(worker->context))) {
        struct pollfd poller = {.fd = choke_fd(worker->context), .events = POLLIN};
        if (poll(&poller, 1, -1) < 0) {
            fail_errno("poll", errno);
        }
        struct took started = clocks();
        if (choke_dispatch(worker->context, NULL) < 0) {
            fail("choke_dispatch", "failed");
        }
        struct took took = since(started);
        longest.wall_ns = most(longest.wall_ns, took.wall_ns);
        longest.cpu_ns = most(longest.cpu_ns, took.cpu_ns);
        ++*ret_count;
    }
    expect_success(choke_job_result(job));
    if (choke_job_result(job)->kept_incomplete) {
        fail("dispatch", "not everything was kept");
    }
    choke_job_free(job);
    return longest;
}

void command_dispatch(struct worker *worker, const char *const *args)
{
    const char *const argv[] = {"leave", args[1], args[2], NULL};
    struct choke_request request = request_for(worker, argv);
    struct choke_job *job = NULL;
    struct choke_error error = {0};
    char place[PATH_MAX];
    uint64_t dispatches = 0;
    (void)snprintf(place, sizeof(place), "%s.kept", worker->root);
    if (mkdir(place, 0700) < 0) {
        fail_errno("mkdir", errno);
    }
    struct took slice = copy_slice(place);
    request.jail = CHOKE_JAIL_NATIVE;
    request.keep_path = place;
    if (choke_start(worker->context, &request, &job, &error) < 0) {
        fail("choke_start", error.message);
    }
    struct took longest = longest_dispatch(worker, &dispatches);
    (void)nftw(place, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    printf("{\"longest_ns\": %llu, \"longest_cpu_ns\": %llu, \"slice_ns\": %llu, \"slice_cpu_ns\": %llu, "
           "\"dispatches\": %llu}\n",
           (unsigned long long)longest.wall_ns, (unsigned long long)longest.cpu_ns, (unsigned long long)slice.wall_ns,
           (unsigned long long)slice.cpu_ns, (unsigned long long)dispatches);
}
