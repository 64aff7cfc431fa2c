/*
 * cgroup.c - one cgroup v2 directory per warden, for cgroup.kill.
 *
 * A warden is created in its directory (clone3) and its tools inherit it, so a run pays nothing for
 * it. What the walk over the tree cannot catch, a fork bomb, is killed by one write to cgroup.kill.
 * Before that write the warden moves to a directory of the context, and afterwards it ends: the
 * kernel also kills processes that are created later in a directory that was killed once.
 *
 * A warden of runs with limits has a second directory, a leaf that only its tools are in. limiter.c
 * uses the controllers there, and those of cgroup v1.
 *
 * The directory of a context is named after the keeper's pid namespace and pid. A keeper that was
 * killed leaves it. The next keeper that starts kills what is in it and removes it.
 */
#include "run/keeper/cgroup.h"

#include "run/keeper/nolibc.h"
#include "sys/raw.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <time.h>

/* How long to wait until a directory is empty after everything in it was killed. */
#define EMPTY_TRIES 20
#define EMPTY_NS 1000000

/*
 * Where a warden moves to. Not the directory of the context: the kernel allows no process there
 * once its controllers are enabled for children (the rule of no internal processes).
 */
#define ASIDE "w0"

static int open_directory(int parent_fd, const char *name)
{
    return (int)CK_RAW4(openat, parent_fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW, 0);
}

/* Reads the first part of the list. Callers repeat: the first processes are dead by then. */
static long read_members(int directory_fd, char *text, size_t size)
{
    long fd = CK_RAW4(openat, directory_fd, "cgroup.procs", O_RDONLY | O_CLOEXEC, 0);
    long got = fd < 0 ? fd : CK_RAW3(read, fd, text, size);
    ck_nolibc_close((int)fd);
    return got;
}

static bool is_member(int directory_fd, long pid)
{
    char text[4096];
    long got = read_members(directory_fd, text, sizeof(text));
    for (const char *at = text; at < text + got; at++)
        if (ck_nolibc_parse_number(&at, text + got) == pid)
            return true;
    return false;
}

/*
 * cgroup v1 has no cgroup.kill. The list is read again once the pidfd is open: a pid that is still
 * in it was not reused by another process.
 */
static void kill_members(int directory_fd)
{
    char text[4096];
    long got = read_members(directory_fd, text, sizeof(text));
    for (const char *at = text; at < text + got; at++) {
        long pid = ck_nolibc_parse_number(&at, text + got);
        long pidfd = pid > 0 ? CK_RAW2(pidfd_open, pid, 0) : -1;
        if (pidfd >= 0 && is_member(directory_fd, pid))
            (void)CK_RAW4(pidfd_send_signal, pidfd, SIGKILL, NULL, 0);
        ck_nolibc_close((int)pidfd);
    }
}

static void kill_all(int directory_fd)
{
    long fd = CK_RAW4(openat, directory_fd, "cgroup.kill", O_WRONLY | O_CLOEXEC, 0);
    if (fd < 0) {
        kill_members(directory_fd);
        return;
    }
    (void)CK_RAW3(write, fd, "1", 1);
    ck_nolibc_close((int)fd);
}

/*
 * Removes the directory of a warden. A killed process needs a moment until it is gone, so it is
 * tried several times.
 */
static void remove_child(int base_fd, const char *name, int tries)
{
    int fd = open_directory(base_fd, name);
    if (fd < 0)
        return;
    const struct timespec moment = {.tv_nsec = EMPTY_NS};
    kill_all(fd);
    while (CK_RAW3(unlinkat, base_fd, name, AT_REMOVEDIR) == -EBUSY && --tries > 0) {
        (void)CK_RAW5(ppoll, NULL, 0, &moment, NULL, 0);
        kill_all(fd);
    }
    ck_nolibc_close(fd);
}

static bool is_warden_directory(const char *name)
{
    return (name[0] == 'w' || name[0] == 'l') && name[1] >= '0' && name[1] <= '9';
}

static void visit_warden(void *data, const char *name)
{
    const int *base_fd = data;
    if (is_warden_directory(name))
        remove_child(*base_fd, name, EMPTY_TRIES);
}

struct sweep {
    int parent_fd;
    int proc_fd;
    const char *prefix;
};

/*
 * The number after the prefix is the pid of a keeper. If that process is gone, its directory is
 * removed.
 */
static void visit_context(void *data, const char *name)
{
    const struct sweep *sweep = data;
    size_t length = 0;
    while (sweep->prefix[length] != '\0' && name[length] == sweep->prefix[length])
        length++;
    const char *at = name + length;
    const char *end = at;
    while (*end != '\0')
        end++;
    long pid = sweep->prefix[length] == '\0' ? ck_nolibc_parse_number(&at, end) : -1;
    char path[32];
    if (pid <= 0 || at != end)
        return;
    (void)ck_nolibc_append_number(path, pid);
    /* Any other error does not say that the process is gone. */
    if (CK_RAW3(faccessat, sweep->proc_fd, path, 0) != -ENOENT)
        return;
    int fd = open_directory(sweep->parent_fd, name);
    if (fd < 0)
        return;
    ck_nolibc_each_entry(fd, visit_warden, &fd);
    ck_nolibc_close(fd);
    (void)CK_RAW3(unlinkat, sweep->parent_fd, name, AT_REMOVEDIR);
}

static void sweep_stale(int parent_fd, const char *prefix, int proc_fd)
{
    int fd = open_directory(parent_fd, ".");
    if (fd >= 0 && proc_fd >= 0) {
        struct sweep sweep = {.parent_fd = parent_fd, .proc_fd = proc_fd, .prefix = prefix};
        ck_nolibc_each_entry(fd, visit_context, &sweep);
    }
    ck_nolibc_close(fd);
}

static void context_name(char *name, const char *prefix)
{
    (void)ck_nolibc_append_number(ck_nolibc_append_text(name, prefix), CK_RAW0(getpid));
}

int ck_cgroup_base(int parent_fd, const char *prefix, int proc_fd, const char *needed)
{
    char name[128];
    sweep_stale(parent_fd, prefix, proc_fd);
    context_name(name, prefix);
    long made = CK_RAW3(mkdirat, parent_fd, name, 0755);
    if (made < 0)
        return (int)made;
    int base_fd = open_directory(parent_fd, name);
    long found = base_fd < 0 ? base_fd : CK_RAW3(faccessat, base_fd, needed, 0);
    if (found == 0) {
        /* cgroup v1 has no cgroup.kill, so no warden moves aside there. */
        if (CK_RAW3(faccessat, base_fd, "cgroup.kill", 0) == 0)
            (void)CK_RAW3(mkdirat, base_fd, ASIDE, 0755);
        return base_fd;
    }
    ck_nolibc_close(base_fd);
    (void)CK_RAW3(unlinkat, parent_fd, name, AT_REMOVEDIR);
    return (int)found;
}

/*
 * Directories of wardens are tried once more: their processes may have been dying at the first try.
 */
void ck_cgroup_base_remove(int parent_fd, int base_fd, const char *prefix)
{
    char name[128];
    ck_nolibc_each_entry(base_fd, visit_warden, &base_fd);
    context_name(name, prefix);
    (void)CK_RAW3(unlinkat, parent_fd, name, AT_REMOVEDIR);
}

static void warden_name(char *name, enum ck_cgroup_kind kind, long number)
{
    (void)ck_nolibc_append_number(ck_nolibc_append_text(name, kind == CK_CGROUP_LEAF ? "l" : "w"), number);
}

int ck_cgroup_make(int base_fd, enum ck_cgroup_kind kind, long number)
{
    char name[32];
    if (base_fd < 0)
        return -ENOENT;
    warden_name(name, kind, number);
    long made = CK_RAW3(mkdirat, base_fd, name, 0755);
    return made < 0 ? (int)made : open_directory(base_fd, name);
}

void ck_cgroup_remove(int base_fd, enum ck_cgroup_kind kind, long number)
{
    char name[32];
    if (base_fd < 0)
        return;
    warden_name(name, kind, number);
    remove_child(base_fd, name, 1);
}

void ck_cgroup_open(struct ck_cgroup *cgroup, int base_fd, int directory_fd)
{
    *cgroup = (struct ck_cgroup){.kill_fd = -1, .leave_fd = -1};
    if (directory_fd < 0)
        return;
    long kill_fd = CK_RAW4(openat, directory_fd, "cgroup.kill", O_WRONLY | O_CLOEXEC, 0);
    long leave_fd = CK_RAW4(openat, base_fd, ASIDE "/cgroup.procs", O_WRONLY | O_CLOEXEC, 0);
    if (kill_fd >= 0 && leave_fd >= 0) {
        *cgroup = (struct ck_cgroup){.kill_fd = (int)kill_fd, .leave_fd = (int)leave_fd};
    } else {
        ck_nolibc_close((int)kill_fd);
        ck_nolibc_close((int)leave_fd);
    }
}

void ck_cgroup_open_leaf(struct ck_cgroup *cgroup, int leaf_fd)
{
    long kill_fd = CK_RAW4(openat, leaf_fd, "cgroup.kill", O_WRONLY | O_CLOEXEC, 0);
    if (kill_fd < 0)
        return;
    ck_nolibc_close(cgroup->kill_fd);
    ck_nolibc_close(cgroup->leave_fd);
    *cgroup = (struct ck_cgroup){.kill_fd = (int)kill_fd, .leave_fd = -1};
}

bool ck_cgroup_kill(const struct ck_cgroup *cgroup)
{
    if (cgroup->kill_fd < 0 || (cgroup->leave_fd >= 0 && CK_RAW3(write, cgroup->leave_fd, "0", 1) < 0))
        return false;
    return CK_RAW3(write, cgroup->kill_fd, "1", 1) == 1;
}
