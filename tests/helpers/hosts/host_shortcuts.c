/*
 * host_shortcuts.c - changes that a short look at the caller could miss: host_shortcuts POLICY ROOT
 * CHANGE [ARG]
 *
 * Each start looks at the calling thread, and leaves out what cannot have changed by the rules of
 * the kernel (src/sys/caller.c). Each change here is at the edge of such a rule. A tool without a
 * jail must show the property that this thread has now, three times: at the start, after the change
 * and after a second one. Must be started by root.
 */
#include "host.h"

#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <pthread.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#define NOBODY 65534

static struct choke_context *context;
static const char *root, *argument;

/* ---- what a tool has, and what this thread has ---- */

struct property {
    const char *file; /* in /proc/self; a link if line is NULL */
    const char *line; /* "": what ARG ends with, if it is there */
};

static const struct property bounding = {"status", "CapBnd:"}, limit = {"limits", "Max msgqueue size"},
                             cgroup = {"cgroup", ""}, net = {"ns/net", NULL}, ipc = {"ns/ipc", NULL},
                             user = {"ns/user", NULL};

static void read_own(const struct property *property, char *text, size_t size)
{
    char path[64], all[8192] = "";
    (void)snprintf(path, sizeof(path), "/proc/thread-self/%s", property->file);
    int fd = property->line ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    ssize_t length = property->line ? read(fd, all, sizeof(all) - 1) : readlink(path, all, sizeof(all) - 1);
    CHECK_SAYING(length > 0, path);
    if (fd >= 0) {
        (void)close(fd);
    }
    const char *line = property->line && property->line[0] == '\0' ? strrchr(argument, '/') : property->line;
    const char *from = line ? strstr(all, line) : all;
    CHECK_SAYING(!!from || line != property->line, path);
    (void)snprintf(text, size, "%.*s", from ? (int)strcspn(from, "\n") : 0, from ? from : "");
}

/* The tool has the property of this thread; text is that, and differs from what it was before. */
static void check(const struct property *property, char *text, size_t size)
{
    char path[64], before[4096];
    (void)snprintf(before, sizeof(before), "%s", text);
    read_own(property, text, size);
    CHECK_SAYING(strcmp(before, text) != 0, text);
    (void)snprintf(path, sizeof(path), "/proc/self/%s", property->file);
    struct choke_request request =
        host_request((const char *const[]){property->line ? "cat" : "readlink", path, NULL}, root);
    request.jail = CHOKE_JAIL_NONE;
    struct choke_result *result = host_run(context, &request);
    CHECK_SAYING(result->outcome == CHOKE_EXITED, result->error.message);
    CHECK_SAYING(!!strstr(result->out.data, text), result->out.data);
    choke_result_free(result);
}

/* ---- the calling thread ---- */

static void set_effective(unsigned capability, bool on)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[2];
    CHECK(syscall(SYS_capget, &header, data) == 0);
    uint32_t bit = 1u << capability % 32, *effective = &data[capability / 32].effective;
    *effective = on ? *effective | bit : *effective & ~bit;
    CHECK(syscall(SYS_capset, &header, data) == 0);
}

static void drop_from_bounding(unsigned time)
{
    static const unsigned drops[] = {CAP_SYS_CHROOT, CAP_LAST_CAP};
    CHECK(prctl(PR_CAPBSET_DROP, drops[time], 0, 0, 0) == 0);
}

/* At each start the capability is only permitted; it is effective in between. */
static void no_effective_setpcap(void)
{
    set_effective(CAP_SETPCAP, false);
}

static void drop_with_raised(unsigned time)
{
    set_effective(CAP_SETPCAP, true);
    drop_from_bounding(time);
    set_effective(CAP_SETPCAP, false);
}

static void no_effective_admin(void)
{
    set_effective(CAP_SYS_ADMIN, false);
}

static void unshare_with_raised(unsigned time)
{
    (void)time;
    set_effective(CAP_SYS_ADMIN, true);
    CHECK(unshare(CLONE_NEWNET) == 0);
    set_effective(CAP_SYS_ADMIN, false);
}

static void unshare_ipc(unsigned time)
{
    (void)time;
    CHECK(unshare(CLONE_NEWIPC) == 0);
}

/* Into a namespace that another thread of this process has made, and back. */
static int namespace_fds[2];

static void *make_namespace(void *unused)
{
    namespace_fds[1] = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
    CHECK(namespace_fds[1] >= 0 && unshare(CLONE_NEWNET) == 0);
    namespace_fds[0] = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
    CHECK(namespace_fds[0] >= 0);
    return unused;
}

static void make_namespace_elsewhere(void)
{
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, make_namespace, NULL) == 0 && pthread_join(thread, NULL) == 0);
}

static void enter(unsigned time)
{
    CHECK(setns(namespace_fds[time], CLONE_NEWNET) == 0);
}

static void write_file(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    CHECK_SAYING(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text), path);
    (void)close(fd);
}

static void become_nobody(void)
{
    CHECK(setgroups(0, NULL) == 0 && setgid(NOBODY) == 0 && setuid(NOBODY) == 0);
    CHECK(prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) == 0);
}

/* The credentials are afterwards what they were before, except for the user namespace. */
static void enter_user_namespace(unsigned time)
{
    (void)time;
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    const struct __user_cap_data_struct none[2] = {0};
    CHECK(unshare(CLONE_NEWUSER) == 0 && prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) == 0);
    write_file("/proc/self/setgroups", "deny");
    write_file("/proc/self/uid_map", "65534 65534 1");
    write_file("/proc/self/gid_map", "65534 65534 1");
    CHECK(syscall(SYS_capset, &header, none) == 0);
}

/* ---- from outside ---- */

/* Another process makes the change, and has ended before the next start. */
static bool is_outside(void)
{
    int status = -1;
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        return true;
    }
    CHECK(waitpid(pid, &status, 0) == pid && status == 0);
    return false;
}

static void limit_outside(unsigned time)
{
    const struct rlimit lower = {.rlim_cur = 77 - time, .rlim_max = 77};
    if (is_outside()) {
        _exit(prlimit(getppid(), RLIMIT_MSGQUEUE, &lower, NULL) == 0 ? 0 : 1);
    }
}

static void move_outside(unsigned time)
{
    char path[4096], text[32];
    (void)snprintf(path, sizeof(path), "%s%s/cgroup.procs", argument, time == 0 ? "" : "/inner");
    if (is_outside()) {
        (void)snprintf(text, sizeof(text), "%d", (int)getppid());
        write_file(path, text);
        _exit(0);
    }
}

/* ---- all ---- */

static const struct change {
    const char *name;
    const struct property *property;
    void (*prepare)(void); /* before the first run, with the context open */
    void (*make)(unsigned time);
} changes[] = {
    {"bounding", &bounding, NULL, drop_from_bounding},
    {"bounding-raised", &bounding, no_effective_setpcap, drop_with_raised},
    {"net-raised", &net, no_effective_admin, unshare_with_raised},
    {"net-entered", &net, make_namespace_elsewhere, enter},
    {"ipc", &ipc, NULL, unshare_ipc},
    {"user", &user, become_nobody, enter_user_namespace},
    {"limit-outside", &limit, NULL, limit_outside},
    {"cgroup-outside", &cgroup, NULL, move_outside},
};

static void *check_here(void *property)
{
    char text[4096] = "unknown";
    check(property, text, sizeof(text));
    return NULL;
}

/* /proc of a process that changed its user is not readable, and the search for leaks needs it. */
int __lsan_is_turned_off(void);
int __lsan_is_turned_off(void)
{
    return 1;
}

int main(int argc, char **argv)
{
    CHECK(argc >= 4 && geteuid() == 0);
    const struct change *change = changes;
    while (change < changes + sizeof(changes) / sizeof(changes[0]) && strcmp(change->name, argv[3]) != 0) {
        change++;
    }
    CHECK_SAYING(change < changes + sizeof(changes) / sizeof(changes[0]), argv[3]);
    root = argv[2];
    argument = argc > 4 ? argv[4] : "";
    context = host_context(argv[1]);
    if (change->prepare) {
        change->prepare();
    }
    char text[4096] = "unknown";
    check(change->property, text, sizeof(text));
    for (unsigned time = 0; time < 2; time++) {
        change->make(time);
        check(change->property, text, sizeof(text));
        if (argc == 4 && change->property != &user) {
            pthread_t thread;
            CHECK(pthread_create(&thread, NULL, check_here, (void *)(uintptr_t)change->property) == 0);
            CHECK(pthread_join(thread, NULL) == 0);
        }
    }
    choke_context_free(context);
    printf("ok\n");
    return 0;
}
