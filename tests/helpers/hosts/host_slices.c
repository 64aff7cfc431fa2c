/*
 * host_slices.c - how much work one dispatch does.
 *
 * host_slices POLICY ROOT JAIL COUNT WATCHED TIMEOUT_MS WHAT TOOL [ARG]... - COUNT runs at once in one context, each kept
 * in WATCHED/NUMBER where WHAT is "keep" or "free"; "list" and "scratch" keep nothing.
 *
 * Looks into each directory of WATCHED after each dispatch, and says what one dispatch did at most: entries and bytes
 * that appeared, entries that went, dispatches between two in which the same directory changed. "free" frees the
 * context as soon as something was kept, "cancel" (kept as well) cancels all then. "late" and "late-list" are "keep" and
 * "list" without looking, which takes time itself.
 */
#include "host.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>

#define PLACES 16

struct place {
    char name[256];
    long entries, bytes; /* what it held when it was looked at last */
    long changed;        /* the dispatch that changed it last; 0: none has */
};

struct most {
    long entries, bytes, removed, gap, dispatches;
    double dispatch, total;
};

static struct place places[PLACES];

static void count(int directory_fd, long *entries, long *bytes)
{
    DIR *stream = fdopendir(directory_fd);
    CHECK(!!stream);
    for (struct dirent *entry; (entry = readdir(stream));) {
        struct stat status;
        if (entry->d_name[0] == '.' && (entry->d_name[1] == '\0' || entry->d_name[1] == '.'))
            continue;
        *entries += 1;
        if (fstatat(dirfd(stream), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0)
            *bytes += S_ISREG(status.st_mode) ? (long)status.st_size : 0;
    }
    (void)closedir(stream);
}

static struct place *find(const char *name)
{
    for (size_t i = 0; i < PLACES; i++) {
        if (places[i].name[0] == '\0')
            (void)snprintf(places[i].name, sizeof(places[i].name), "%s", name);
        if (strcmp(places[i].name, name) == 0)
            return &places[i];
    }
    CHECK_SAYING(false, "too many directories");
    return NULL;
}

static void note(struct most *most, struct place *place, long entries, long bytes, long sums[3])
{
    if (entries == place->entries && bytes == place->bytes)
        return;
    sums[0] += entries > place->entries ? entries - place->entries : 0;
    sums[1] += bytes > place->bytes ? bytes - place->bytes : 0;
    sums[2] += place->entries > entries ? place->entries - entries : 0;
    if (place->changed > 0 && most->dispatches - place->changed > most->gap)
        most->gap = most->dispatches - place->changed;
    place->changed = most->dispatches;
    place->entries = entries;
    place->bytes = bytes;
}

/* Bytes in all directories; begun: what is there now is counted from here on. */
static long look(const char *watched, struct most *most, bool begun)
{
    DIR *stream = opendir(watched);
    long total = 0, sums[3] = {0};
    for (struct dirent *entry; stream && (entry = readdir(stream));) {
        int fd = entry->d_name[0] == '.' ? -1 : openat(dirfd(stream), entry->d_name, O_RDONLY | O_DIRECTORY);
        long entries = 0, bytes = 0;
        if (fd < 0)
            continue;
        count(fd, &entries, &bytes);
        total += bytes;
        struct place *place = find(entry->d_name);
        if (begun) {
            note(most, place, entries, bytes, sums);
        } else {
            place->entries = entries;
            place->bytes = bytes;
        }
    }
    if (stream)
        (void)closedir(stream);
    most->entries = sums[0] > most->entries ? sums[0] : most->entries;
    most->bytes = sums[1] > most->bytes ? sums[1] : most->bytes;
    most->removed = sums[2] > most->removed ? sums[2] : most->removed;
    return total;
}

static void print_job(struct choke_job *job, double started)
{
    const struct choke_result *result = choke_job_result(job);
    CHECK_SAYING(result->outcome == CHOKE_EXITED, result->error.message);
    (void)printf("job %zu %d %d %.3f\n", result->change_count, result->changes_incomplete, result->kept_incomplete,
                 host_now() - started);
    choke_job_free(job);
}

static void start(struct choke_context *context, char **argv, long number)
{
    char path[4096];
    struct choke_request request = host_request((const char *const *)(argv + 8), argv[2]);
    const char *what = argv[7];
    request.jail = host_jail(argv[3]);
    request.timeout_ms = (uint64_t)strtoul(argv[6], NULL, 10);
    (void)snprintf(path, sizeof(path), "%s/%ld", argv[5], number);
    if (strcmp(what, "list") != 0 && strcmp(what, "scratch") != 0 && strcmp(what, "late-list") != 0)
        request.keep_path = path;
    (void)host_start(context, &request);
}

static void dispatch(struct choke_context *context, struct most *most)
{
    struct pollfd poller = {.fd = choke_fd(context), .events = POLLIN};
    CHECK(poll(&poller, 1, 60000) >= 0);
    double before = host_now();
    CHECK(choke_dispatch(context, NULL) >= 0);
    double took = host_now() - before;
    most->dispatches++;
    most->total += took;
    most->dispatch = took > most->dispatch ? took : most->dispatch;
}

int main(int argc, char **argv)
{
    CHECK(argc > 8);
    long jobs = strtol(argv[4], NULL, 10);
    const char *what = argv[7];
    bool blind = strncmp(what, "late", 4) == 0;
    bool leave = strcmp(what, "free") == 0, cancel = strcmp(what, "cancel") == 0;
    struct most most = {0};
    struct choke_context *context = host_context(argv[1]);
    for (long i = 0; i < jobs; i++)
        start(context, argv, i);
    double started = host_now(); /* the first start proves the jail, which is no part of a run */
    (void)look(argv[5], &most, false);
    for (long left = jobs; left > 0;) {
        dispatch(context, &most);
        long kept = blind ? 0 : look(argv[5], &most, true);
        for (struct choke_job *job; (job = choke_next(context)); left--)
            print_job(job, started);
        if (leave && kept > 0)
            break;
        if (cancel && kept > 0)
            choke_cancel_all(context);
    }
    double before = host_now();
    choke_context_free(context);
    (void)printf("most %ld %ld %ld %ld %ld %.6f %.6f %.3f\n", most.entries, most.bytes, most.removed, most.gap,
                 most.dispatches, most.dispatch, most.total, host_now() - before);
    return 0;
}
