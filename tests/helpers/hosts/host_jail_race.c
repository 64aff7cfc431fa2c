/*
 * host_jail_race.c - attackers swap directories and links while tools run in a jail.
 *
 * host_jail_race POLICY ROOT JAIL COUNT OUTSIDE PLACE - tools are launched in the jail with cwd "work", some at a
 * time, until COUNT of them have run there. Some leave daemons, some a file for the next, which must not find it.
 * Meanwhile
 *   - a thread exchanges ROOT/work (a directory) and ROOT/trap (a link to OUTSIDE) at random moments;
 *   - another waits for scratch directories to appear in PLACE, and a moment later lets one change places with a link
 *     to OUTSIDE, or puts links to OUTSIDE into it that change places with directories of it while it is emptied.
 * No tool reads the file "who" of OUTSIDE, and OUTSIDE holds at the end what it held. Says how many ran, how many read
 * the "who" that was meant, how many were stopped within the jail, and how many were refused before.
 *
 * JAIL "naive": without the library. A file is read in ROOT/work, and a directory in PLACE is made, used and removed,
 * by their paths, until both attacks have succeeded; it says so.
 */
#include "host.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/inotify.h>
#include <sys/prctl.h>
#include <sys/stat.h>

#define AT_ONCE 4
#define AWAY_US 400
#define BWRAP_STAY_US 20000
#define NAIVE_SECONDS 60
#define PATIENCE_S 120
#define NAIVE_READS 200 /* for each use of a scratch directory, which takes longer */
#define PREFIX "chokepoint-"
#define SECRET "outside"

static atomic_bool over;
static const char *outside;
static int place_fd;
static int stay_us =
    4000; /* upper bound of the time in which the directory is at its path; twice the length of a run */

/* ---- the attackers ---- */

/* Sleeps, so that the tools have the machine; by microseconds, so that it hits every phase of a
 * run. */
static void wait_outside(unsigned *seed, int most_us)
{
    const struct timespec time = {.tv_nsec = rand_r(seed) % most_us * 1000L};
    (void)clock_nanosleep(CLOCK_MONOTONIC, 0, &time, NULL);
}

static void *swap_work(void *data)
{
    int root_fd = *(int *)data;
    unsigned seed = 1;
    CHECK(prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0) == 0);
    for (bool away = false; !atomic_load(&over); away = !away) {
        CHECK(renameat2(root_fd, "work", root_fd, "trap", RENAME_EXCHANGE) == 0);
        wait_outside(&seed, away ? stay_us : AWAY_US);
    }
    return NULL;
}

/* There and back: what is made must be found and removed again by anyone who looks. */
static void exchange(const char *name, unsigned *seed)
{
    for (int i = 0; i < 4; i++) {
        (void)renameat2(place_fd, name, place_fd, "trap", RENAME_EXCHANGE);
        wait_outside(seed, 3000);
    }
}

static void fill_with_traps(const char *name, unsigned *seed)
{
    int fd = openat(place_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    bool done = fd >= 0 && symlinkat(outside, fd, "link") == 0 && mkdirat(fd, "nest", 0700) == 0 &&
                mkdirat(fd, "nest/nest", 0700) == 0 && symlinkat(outside, fd, "nest/link") == 0;
    for (int i = 0; done && i < 100 && renameat2(fd, "nest", fd, "link", RENAME_EXCHANGE) == 0; i++) {
        wait_outside(seed, 100);
    }
    if (fd >= 0) {
        (void)close(fd);
    }
}

static void attack_scratch(const char *name, unsigned *seed)
{
    wait_outside(seed, 6000);
    if (rand_r(seed) % 2 == 0) {
        exchange(name, seed);
    } else {
        fill_with_traps(name, seed);
    }
}

static void *watch_scratch(void *data)
{
    _Alignas(struct inotify_event) char buffer[8192];
    unsigned seed = 2;
    int fd = *(int *)data;
    CHECK(prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0) == 0);
    while (!atomic_load(&over)) {
        struct pollfd poll_fd = {.fd = fd, .events = POLLIN};
        ssize_t got = poll(&poll_fd, 1, 20) == 1 ? read(fd, buffer, sizeof(buffer)) : 0;
        /* The newest of those that appeared while the last one was attacked. */
        const struct inotify_event *newest = NULL;
        for (ssize_t at = 0; at < got;) {
            const struct inotify_event *event = (const void *)(buffer + at);
            newest = strncmp(event->name, PREFIX, strlen(PREFIX)) == 0 ? event : newest;
            at += (ssize_t)(sizeof(*event) + event->len);
        }
        if (newest) {
            attack_scratch(newest->name, &seed);
        }
    }
    return NULL;
}

static void write_file(int directory_fd, const char *name, const char *text)
{
    int fd = openat(directory_fd, name, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    CHECK(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
    (void)close(fd);
}

static void set_traps(int root_fd)
{
    int outside_fd = open(outside, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    CHECK(mkdirat(root_fd, "work", 0755) == 0);
    int work_fd = openat(root_fd, "work", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    CHECK(work_fd >= 0 && outside_fd >= 0);
    write_file(work_fd, "who", "inside");
    write_file(outside_fd, "who", SECRET);
    CHECK(symlinkat(outside, root_fd, "trap") == 0 && symlinkat(outside, place_fd, "trap") == 0);
    (void)close(work_fd);
    (void)close(outside_fd);
}

/* The content of OUTSIDE is unchanged: nothing is written, nothing is removed. */
static bool is_whole(void)
{
    DIR *listing = opendir(outside);
    bool whole = false;
    CHECK(!!listing);
    for (struct dirent *entry; (entry = readdir(listing));) {
        if (strcmp(entry->d_name, "who") == 0) {
            whole = true;
        } else if (entry->d_name[0] != '.') {
            (void)closedir(listing);
            return false;
        }
    }
    (void)closedir(listing);
    return whole;
}

/* ---- without the library ---- */

static bool reads_outside(int root_fd)
{
    char text[16] = {0};
    int fd = openat(root_fd, "work/who", O_RDONLY | O_CLOEXEC);
    bool leaked = fd >= 0 && read(fd, text, sizeof(text) - 1) > 0 && strcmp(text, SECRET) == 0;
    if (fd >= 0) {
        (void)close(fd);
    }
    return leaked;
}

static void use_scratch(const char *place, unsigned *seed)
{
    char path[PATH_MAX], inner[PATH_MAX + NAME_MAX + 2];
    (void)snprintf(path, sizeof(path), "%s/" PREFIX "naive-%d", place, rand_r(seed));
    CHECK(mkdir(path, 0700) == 0);
    wait_outside(seed, 6000);
    (void)snprintf(inner, sizeof(inner), "%s/word", path);
    (void)close(open(inner, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    wait_outside(seed, 6000);
    DIR *listing = opendir(path);
    for (struct dirent *entry; listing && (entry = readdir(listing));) {
        (void)snprintf(inner, sizeof(inner), "%s/%s", path, entry->d_name);
        (void)unlink(inner);
    }
    if (listing) {
        (void)closedir(listing);
    }
    (void)rmdir(path);
}

/* The two attacks may succeed in any order: what one removed is put back for the other to read. */
static void be_naive(int root_fd, const char *place)
{
    double end = host_now() + NAIVE_SECONDS;
    unsigned seed = 3;
    bool read_outside = false, wrote_outside = false;
    int outside_fd = open(outside, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    CHECK(outside_fd >= 0);
    while (!(read_outside && wrote_outside) && host_now() < end) {
        for (int i = 0; i < NAIVE_READS && !read_outside; i++) {
            read_outside = reads_outside(root_fd);
        }
        use_scratch(place, &seed);
        wrote_outside = wrote_outside || !is_whole();
        write_file(outside_fd, "who", SECRET);
    }
    (void)close(outside_fd);
    printf("cwd %s scratch %s\n", read_outside ? "lost" : "kept", wrote_outside ? "lost" : "kept");
}

/* ---- with it ---- */

static const struct kind {
    const char *argv[4];
    int status;
} kinds[] = {
    {{"cat", "who"}, 0},
    {{"breach_files", "write", "/tmp/probe/word"}, 0},
    {{"cat", "who"}, 0},
    {{"breach_files", "keep", "word"}, 0},
    {{"cat", "who"}, 0},
    {{"breach_files", "find", "word"}, 113},
    {{"cat", "who"}, 0},
    {{"breach_files", "write", "/tmp/probe/other"}, 0},
    {{"breach_files", "read", "/tmp/probe/word"}, 113},
    {{"daemons", "3", "left-behind"}, 0},
};

struct tally {
    long ran, read, stopped, refused;
};

static void start(struct choke_context *context, const char *root, enum choke_jail jail, size_t number)
{
    const struct kind *kind = &kinds[number % (sizeof(kinds) / sizeof(kinds[0]))];
    struct choke_request request = host_request(kind->argv, root);
    request.cwd = "work";
    request.jail = jail;
    choke_job_set_data(host_start(context, &request), (void *)(uintptr_t)kind);
}

/* It does its work, or finds nothing because the directory is not at its path, or it is refused
 * before. */
static void count(const struct choke_result *result, const struct kind *kind, struct tally *tally)
{
    bool reads = strcmp(kind->argv[0], "cat") == 0;
    bool ran = result->outcome == CHOKE_EXITED;
    bool said = reads && result->out.length > 0;
    CHECK_SAYING(!said || host_is(&result->out, "inside"), result->out.data);
    CHECK_SAYING(!ran || reads || result->exit_code == kind->status, kind->argv[1]);
    CHECK_SAYING(ran || result->outcome == CHOKE_CWD || result->outcome == CHOKE_SPAWN_FAILED, result->error.message);
    tally->ran += ran;
    tally->read += said;
    tally->stopped += result->outcome == CHOKE_SPAWN_FAILED;
    tally->refused += result->outcome == CHOKE_CWD;
}

/* Until the attacker got in between: on a busy machine it may not have its turn for a while. */
static bool goes_on(const struct tally *tally, enum choke_jail jail, long wanted, double end)
{
    bool met = tally->refused > 0 && (jail != CHOKE_JAIL_BWRAP || tally->stopped > 0);
    return tally->ran < wanted || (!met && host_now() < end);
}

static void launch_all(const char *policy, const char *root, enum choke_jail jail, long wanted)
{
    struct tally tally = {0};
    size_t zombies = 0, descriptors = host_descriptors();
    struct choke_context *context = host_context(policy);
    double end = host_now() + PATIENCE_S;
    for (size_t started = 0; goes_on(&tally, jail, wanted, end) || choke_running(context) > 0;) {
        for (; goes_on(&tally, jail, wanted, end) && choke_running(context) < AT_ONCE; started++) {
            start(context, root, jail, started);
        }
        CHECK(choke_wait(context, 20000, NULL) >= 0);
        for (struct choke_job *job = choke_next(context); job; job = choke_next(context)) {
            count(choke_job_result(job), choke_job_data(job), &tally);
            choke_job_free(job);
        }
    }
    choke_context_free(context);
    CHECK(host_children(&zombies) == 0);
    CHECK(host_descriptors() == descriptors);
    CHECK(is_whole());
    printf("ran %ld read %ld stopped %ld refused %ld\n", tally.ran, tally.read, tally.stopped, tally.refused);
}

int main(int argc, char **argv)
{
    CHECK(argc == 7);
    pthread_t swapper, scratch_watcher;
    outside = argv[5];
    int watch_fd = inotify_init1(IN_CLOEXEC);
    int root_fd = open(argv[2], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    place_fd = open(argv[6], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    CHECK(root_fd >= 0 && place_fd >= 0 && watch_fd >= 0);
    CHECK(inotify_add_watch(watch_fd, argv[6], IN_CREATE) >= 0);
    enum choke_jail jail = strcmp(argv[3], "bwrap") == 0 ? CHOKE_JAIL_BWRAP : CHOKE_JAIL_NATIVE;
    stay_us = jail == CHOKE_JAIL_BWRAP ? BWRAP_STAY_US : stay_us;
    set_traps(root_fd);
    CHECK(pthread_create(&swapper, NULL, swap_work, &root_fd) == 0);
    CHECK(pthread_create(&scratch_watcher, NULL, watch_scratch, &watch_fd) == 0);
    if (strcmp(argv[3], "naive") == 0) {
        be_naive(root_fd, argv[6]);
    } else {
        launch_all(argv[1], argv[2], jail, strtol(argv[4], NULL, 10));
    }
    atomic_store(&over, true);
    CHECK(pthread_join(swapper, NULL) == 0 && pthread_join(scratch_watcher, NULL) == 0);
    return 0;
}
