/*
 * shortage.c - which limit of the machine is behind an errno. See shortage.h.
 *
 * The kernel rules (copy_process, alloc_pid, pids_can_fork): a process is refused with EAGAIN if the
 * user has as many as its RLIMIT_NPROC (root and who has CAP_SYS_ADMIN or CAP_SYS_RESOURCE are not
 * counted), a pids cgroup or one above it as many as its pids.max, the machine as many as
 * kernel.threads-max, or no number is free below kernel.pid_max. The limits of cgroups and of the
 * machine can be compared with what is there now. What a user has cannot be read, so RLIMIT_NPROC is
 * named if it applies and the others are not reached.
 *
 * Processes may have ended since, the own ones of the refused run among them, so a limit counts as reached from a little
 * below it. A pids cgroup counts its refusals (pids.events): if there was one, a larger gap is that of processes that ended. If
 * nothing else explains the EAGAIN, that cgroup is named however few there are now: all other runs can have been cancelled
 * between the refusal and the look.
 */
#include "run/shortage.h"

#include "base/error.h"
#include "base/fd.h"
#include "base/file.h"
#include "run/wire.h"
#include "sys/cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/capability.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define TEXT_MAX 200
#define LEVELS_MAX 64 /* of cgroups above our own */
#define ENDED 4       /* a run in a jail has three processes, and the prepared one of the next */

struct reason {
    char text[TEXT_MAX];
};

static __attribute__((format(printf, 2, 3))) bool found(struct reason *ret, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    (void)vsnprintf(ret->text, sizeof(ret->text), format, args);
    va_end(args);
    return true;
}

/* The number at the beginning of a file; UINT64_MAX if it is not there, or says "max". */
static uint64_t read_number(int directory_fd, const char *path)
{
    char text[64];
    long length = ck_file_read_into(directory_fd, path, 0, text, sizeof(text));
    return length <= 0 || text[0] < '0' || text[0] > '9' ? UINT64_MAX : strtoull(text, NULL, 10);
}

static bool is_within(uint64_t gap, uint64_t count, uint64_t limit)
{
    return count != UINT64_MAX && limit != UINT64_MAX && limit - (count < limit ? count : limit) < gap;
}

/* ---- processes ---- */

/* "0.00 0.00 0.00 1/234 5678": the number after the slash counts all threads of the machine. */
static uint64_t count_threads(void)
{
    char text[128];
    long length = ck_file_read_into(AT_FDCWD, "/proc/loadavg", 0, text, sizeof(text));
    const char *slash = length <= 0 ? NULL : strchr(text, '/');
    return !slash ? UINT64_MAX : strtoull(slash + 1, NULL, 10);
}

static bool machine_is_full(struct reason *ret)
{
    static const struct {
        const char *path, *name;
    } limits[] = {{"/proc/sys/kernel/threads-max", "kernel.threads-max"},
                  {"/proc/sys/kernel/pid_max", "kernel.pid_max"}};
    uint64_t threads = count_threads();
    for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
        uint64_t limit = read_number(AT_FDCWD, limits[i].path);
        if (is_within(limit / 64 + ENDED, threads, limit))
            return found(ret, "the limit on processes of this machine is reached (sysctl %s, %" PRIu64 ")",
                         limits[i].name, limit);
    }
    return false;
}

/* "max 12": how often a process was refused. Older kernels count it where the process was to be, not where the limit is. */
static bool has_refused(int cgroup_fd)
{
    char text[64];
    long length = ck_file_read_into(cgroup_fd, "pids.events", 0, text, sizeof(text));
    return length > 0 && strncmp(text, "max ", 4) == 0 && strtoull(text + 4, NULL, 10) > 0;
}

/*
 * own_fd is closed. With is_past it is enough that the cgroup has refused a process at some time. The root of a hierarchy has no
 * pids.max.
 */
static bool cgroup_is_full(int own_fd, bool is_past, struct reason *ret)
{
    CK_FD fd = own_fd < 0 ? -1 : own_fd;
    bool refused = false;
    for (unsigned level = 0; fd >= 0 && level < LEVELS_MAX; level++) {
        uint64_t limit = read_number(fd, "pids.max"), count = read_number(fd, "pids.current");
        bool is_now = is_within(limit / 64 + ENDED, count, limit);
        refused = refused || has_refused(fd);
        if (is_now || (refused && limit != UINT64_MAX && (is_past || is_within(limit / 2, count, limit))))
            return found(ret, "the limit on processes of this cgroup%s %s reached (pids.max, %" PRIu64 ")",
                         level > 0 ? " or one above it" : "", is_now ? "is" : "was", limit);
        if (faccessat(fd, "pids.current", F_OK, 0) < 0)
            return false;
        int above = openat(fd, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
        ck_fd_close(&fd);
        fd = above;
    }
    return false;
}

static bool a_cgroup_is_full(bool is_past, struct reason *ret)
{
    return cgroup_is_full(ck_cgroup_own(), is_past, ret) || cgroup_is_full(ck_cgroup_own_v1("pids"), is_past, ret);
}

static bool user_is_counted(void)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[2] = {0};
    const uint32_t exempt = 1u << CAP_SYS_ADMIN | 1u << CAP_SYS_RESOURCE;
    return getuid() != 0 && (syscall(SYS_capget, &header, data) < 0 || (data[0].effective & exempt) == 0);
}

static bool user_is_full(struct reason *ret)
{
    struct rlimit limit;
    if (!user_is_counted() || getrlimit(RLIMIT_NPROC, &limit) < 0 || limit.rlim_cur == RLIM_INFINITY)
        return false;
    return found(ret, "the limit on processes of user %u is reached (RLIMIT_NPROC, ulimit -u, %" PRIu64 ")", getuid(),
                 (uint64_t)limit.rlim_cur);
}

static bool find_process_limit(struct reason *ret)
{
    return machine_is_full(ret) || a_cgroup_is_full(false, ret) || user_is_full(ret) || a_cgroup_is_full(true, ret);
}

/* ---- descriptors ---- */

static bool find_file_limit(const char *what, struct reason *ret)
{
    struct rlimit limit;
    return getrlimit(RLIMIT_NOFILE, &limit) == 0 &&
           found(ret, "%s (RLIMIT_NOFILE, ulimit -n, %" PRIu64 ")", what, (uint64_t)limit.rlim_cur);
}

static bool find(int errnum, struct reason *ret)
{
    switch (errnum) {
    case EAGAIN:
        return find_process_limit(ret);
    case CK_WIRE_FULL:
        return found(ret, "one context has at most %u runs in flight", CK_WARDENS_MAX);
    case EMFILE:
        return find_file_limit("the limit on open files of this process is reached", ret);
    case ETOOMANYREFS:
        return find_file_limit("the limit on descriptors that this user has in sockets is reached", ret);
    case ENFILE:
        return found(ret, "the limit on open files of this machine is reached (sysctl fs.file-max, %" PRIu64 ")",
                     read_number(AT_FDCWD, "/proc/sys/fs/file-max"));
    default:
        return false;
    }
}

static void append(struct choke_error *error, const char *text)
{
    size_t length = strlen(error->message);
    (void)snprintf(error->message + length, sizeof(error->message) - length, "; %s", text);
}

void ck_shortage_explain(struct choke_error *error, int errnum)
{
    struct reason reason;
    if (find(errnum, &reason))
        append(error, reason.text);
    ck_error_add_hint(error);
}
