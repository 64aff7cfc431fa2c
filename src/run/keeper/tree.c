/*
 * tree.c - finds every descendant of the calling process, and sends them signals.
 *
 * The kernel lists the children of each thread in /proc/PID/task/TID/children. A walk over these
 * lists finds the tree as it is now. A process that is forked during the walk is found by the next
 * one: the children of a dead process move to the nearest subreaper, which we are. Callers repeat
 * until they have no child left.
 *
 * A signal is sent through a pidfd. For our own children the pid is safe, because only we can reap
 * them. A deeper descendant may have been reaped by its parent between the walk and pidfd_open, and
 * its pid given to another process. So after pidfd_open the parent in /proc must still be the one
 * that the walk found (or us), and only then the signal is sent.
 */
#include "run/keeper/tree.h"

#include "run/keeper/nolibc.h"
#include "sys/raw.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

#define TREE_MAX 65536 /* more are found by a later walk */

/*
 * The result of one walk. Static: a keeper or warden has one thread, and untouched pages need no
 * memory.
 */
static struct {
    int32_t pid[TREE_MAX];
    int32_t parent[TREE_MAX];
    size_t count;
} found;

static void add(int32_t pid, int32_t parent)
{
    if (found.count == TREE_MAX)
        return;
    found.pid[found.count] = pid;
    found.parent[found.count] = parent;
    found.count++;
}

/* Reads a list such as "12 345 6 " in pieces; a number may be split between two of them. */
static long add_children_of_task(int proc_fd, int32_t pid, long task)
{
    char path[64];
    (void)ck_nolibc_append_text(
        ck_nolibc_append_number(ck_nolibc_append_text(ck_nolibc_append_number(path, pid), "/task/"), task),
        "/children");
    long fd = CK_RAW4(openat, proc_fd, path, O_RDONLY | O_CLOEXEC, 0);
    if (fd < 0)
        return fd;
    char text[4096];
    long carried = -1;
    for (long got; (got = CK_RAW3(read, fd, text, sizeof(text))) > 0;) {
        for (long i = 0; i < got; i++) {
            if (text[i] >= '0' && text[i] <= '9') {
                carried = (carried < 0 ? 0 : carried) * 10 + (text[i] - '0');
            } else if (carried > 0) {
                add((int32_t)carried, pid);
                carried = -1;
            }
        }
    }
    ck_nolibc_close((int)fd);
    return 0;
}

struct visit {
    int proc_fd;
    int32_t pid;
};

static void visit_task(void *data, const char *name)
{
    const struct visit *visit = data;
    const char *end = name;
    while (*end != '\0')
        end++;
    long task = ck_nolibc_parse_number(&name, end);
    if (task > 0)
        (void)add_children_of_task(visit->proc_fd, visit->pid, task);
}

static void add_children(int proc_fd, int32_t pid)
{
    char path[64];
    (void)ck_nolibc_append_text(ck_nolibc_append_number(path, pid), "/task");
    long fd = CK_RAW4(openat, proc_fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    if (fd < 0)
        return;
    ck_nolibc_each_entry((int)fd, visit_task, &(struct visit){.proc_fd = proc_fd, .pid = pid});
    ck_nolibc_close((int)fd);
}

/*
 * The parent of a process: the second field after the last ')' of its stat line. The name before it
 * may contain any byte, also ')'.
 */
static long parent_of(int proc_fd, int32_t pid)
{
    char path[64], text[1024];
    (void)ck_nolibc_append_text(ck_nolibc_append_number(path, pid), "/stat");
    long fd = CK_RAW4(openat, proc_fd, path, O_RDONLY | O_CLOEXEC, 0);
    if (fd < 0)
        return fd;
    long got = CK_RAW3(read, fd, text, sizeof(text));
    ck_nolibc_close((int)fd);
    long paren = got - 1;
    while (paren > 0 && text[paren] != ')')
        paren--;
    const char *at = text + paren + 4; /* ") S 123" */
    return paren > 0 && paren + 4 < got ? ck_nolibc_parse_number(&at, text + got) : -ESRCH;
}

static void signal_one(int proc_fd, size_t i, int32_t self, int sig)
{
    long pidfd = CK_RAW2(pidfd_open, found.pid[i], 0);
    if (pidfd < 0)
        return;
    bool ours = found.parent[i] == self;
    if (!ours) {
        long parent = parent_of(proc_fd, found.pid[i]);
        ours = parent == found.parent[i] || parent == self;
    }
    if (ours)
        (void)CK_RAW4(pidfd_send_signal, pidfd, sig, NULL, 0);
    ck_nolibc_close((int)pidfd);
}

static bool excepted(int32_t pid, const int32_t *except, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (except[i] == pid)
            return true;
    return false;
}

long ck_tree_signal(int proc_fd, int sig, const int32_t *except, size_t except_count)
{
    if (proc_fd < 0)
        return -ENOSYS;
    int32_t self = (int32_t)CK_RAW0(getpid);
    found.count = 0;
    long r = add_children_of_task(proc_fd, self, self);
    if (r < 0)
        return r;
    size_t remaining = 0;
    for (size_t i = 0; i < found.count; i++)
        if (!excepted(found.pid[i], except, except_count))
            found.pid[remaining++] = found.pid[i];
    found.count = remaining;
    /* The list grows while the loop runs: so it reaches all levels of the tree. */
    for (size_t i = 0; i < found.count; i++)
        add_children(proc_fd, found.pid[i]);
    for (size_t i = 0; i < found.count; i++)
        signal_one(proc_fd, i, self, sig);
    return (long)found.count;
}

long ck_tree_pass_signal(int proc_fd, uint32_t sig, int32_t pid)
{
    bool stops = sig == SIGTSTP || sig == SIGTTIN || sig == SIGTTOU || sig == SIGSTOP;
    bool job = stops || sig == SIGINT || sig == SIGQUIT || sig == SIGCONT || sig == SIGWINCH;
    int32_t self = (int32_t)CK_RAW0(getpid);
    if (proc_fd < 0 || sig == 0 || sig > SIGSYS)
        return proc_fd < 0 ? -ENOSYS : -EINVAL;
    found.count = 0;
    add_children(proc_fd, pid);
    for (size_t i = 0; job && i < found.count; i++)
        add_children(proc_fd, found.pid[i]);
    for (size_t i = 0; i < found.count; i++)
        signal_one(proc_fd, i, self, stops ? SIGSTOP : (int)sig);
    return (long)found.count;
}
