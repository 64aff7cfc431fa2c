/*
 * limiter.c - limits on memory, processes and CPU time of a whole run (docs/adr/0023).
 *
 * A cgroup limits all processes of a run together, a resource limit each process separately. So a
 * cgroup is used if one can be made. With cgroup v2 the tool is created in its own leaf. cgroup v1
 * cannot create a process in a directory, and to move one can cost as much as to create it. So the
 * warden enters its v1 directories once, and its tools are created where it is. A run then costs
 * one write per limit that differs from the previous run, and one read per limit at its end.
 *
 * No controller ends a run by its CPU time: the warden reads the CPU clock of the cgroup and ends
 * the run itself.
 *
 *  Must     open everything before the warden enters its jail, where none of it can be seen.
 *  Must not start a run with a limit that nothing enforces.
 */
#include "run/keeper/limiter.h"

#include "base/errkind.h"
#include "run/keeper/nolibc.h"
#include "sys/raw.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>

#define CAP_SYS_ADMIN 21
#define CAP_SYS_RESOURCE 24

/* A limit in a cgroup: the file that sets it, and the file and line that count hits. */
struct control_files {
    const char *set;
    const char *seen;
    const char *line; /* the text before the number */
};

static const struct control_files v1_files[CK_CONTROLS] = {
    [CK_CONTROL_MEMORY] = {"memory.limit_in_bytes", "memory.oom_control", "oom_kill "},
    [CK_CONTROL_PIDS] = {"pids.max", "pids.events", "max "},
    [CK_CONTROL_CPU] = {NULL, "cpuacct.usage", ""}, /* in ns */
};

static const struct control_files v2_files[CK_CONTROLS] = {
    [CK_CONTROL_MEMORY] = {"memory.max", "memory.events", "oom_kill "},
    [CK_CONTROL_PIDS] = {"pids.max", "pids.events", "max "},
    [CK_CONTROL_CPU] = {NULL, "cpu.stat", "usage_usec "},
};

static long write_to(int fd, const char *text)
{
    size_t length = 0;
    while (text[length] != '\0')
        length++;
    long r = CK_RAW4(pwrite64, fd, text, length, 0);
    return r < 0 ? r : 0;
}

static int open_in(int directory_fd, const char *name, int flags)
{
    return (int)CK_RAW4(openat, directory_fd, name, flags | O_CLOEXEC, 0);
}

static long write_in(int directory_fd, const char *name, const char *text)
{
    int fd = open_in(directory_fd, name, O_WRONLY);
    long r = fd < 0 ? fd : write_to(fd, text);
    ck_nolibc_close(fd);
    return r;
}

/* The number in the line that begins with `line`; 0 if no line does. */
static uint64_t number_in(int fd, const char *line)
{
    char text[1024];
    long got = fd < 0 ? 0 : CK_RAW4(pread64, fd, text, sizeof(text), 0);
    const char *end = text + (got > 0 ? got : 0);
    for (const char *at = text; at < end;) {
        size_t same = 0;
        while (line[same] != '\0' && at + same < end && at[same] == line[same])
            same++;
        const char *number = at + same;
        long value = line[same] == '\0' ? ck_nolibc_parse_number(&number, end) : -1;
        if (value >= 0)
            return (uint64_t)value;
        while (at < end && *at++ != '\n')
            ;
    }
    return 0;
}

/* ---- in the keeper ---- */

/*
 * Only the root cgroup, and a directory without processes, may enable controllers for its children.
 * Elsewhere the kernel refuses the memory controller but not pids. That one would make everything
 * beneath "domain invalid": no process can be created there.
 */
static bool can_delegate(int directory_fd)
{
    char byte;
    int fd = open_in(directory_fd, "cgroup.procs", O_RDONLY);
    bool empty = fd >= 0 && CK_RAW4(pread64, fd, &byte, 1, 0) == 0;
    ck_nolibc_close(fd);
    return empty || CK_RAW3(faccessat, directory_fd, "cgroup.type", 0) == -ENOENT;
}

/*
 * EBUSY is how cgroup v2 refuses controllers in a directory with processes. It is an answer, not a
 * shortage.
 */
static bool transient(long r)
{
    return r < 0 && r != -EBUSY && ck_errkind_of((int)-r) == CK_ERRKIND_TRANSIENT;
}

/* Each controller separately: one may be available without the other. */
int ck_limiter_enable(int parent_fd, int base_fd)
{
    static const char *const names[] = {"+memory", "+pids"};
    bool asked = can_delegate(parent_fd);
    int any = 0;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        long r = write_in(base_fd, "cgroup.subtree_control", names[i]);
        if (r < 0 && asked && write_in(parent_fd, "cgroup.subtree_control", names[i]) == 0)
            r = write_in(base_fd, "cgroup.subtree_control", names[i]);
        if (transient(r))
            return (int)r;
        any = any || r == 0 ? 1 : 0;
    }
    return any;
}

/* 1: the limit does not exist or is "max"; 0: it limits; or a negative errno. */
static int is_unlimited(int directory_fd, const char *name)
{
    char text[4] = "";
    int fd = open_in(directory_fd, name, O_RDONLY);
    if (fd < 0)
        return fd == -ENOENT ? 1 : fd;
    long got = CK_RAW4(pread64, fd, text, sizeof(text), 0);
    ck_nolibc_close(fd);
    return got >= 3 && text[0] == 'm' && text[1] == 'a' && text[2] == 'x';
}

/*
 * A limit on the cgroup of the caller was meant for its tools, too, so they must not leave that
 * cgroup.
 */
int ck_limiter_sibling(int own_fd)
{
    static const char *const limits[] = {"memory.max", "memory.high", "memory.swap.max", "pids.max", "cpu.max"};
    for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
        int open = is_unlimited(own_fd, limits[i]);
        if (open <= 0)
            return open < 0 ? open : -EPERM;
    }
    int fd = open_in(own_fd, "..", O_RDONLY | O_DIRECTORY);
    if (fd < 0)
        return fd;
    if (CK_RAW3(faccessat, fd, "cgroup.subtree_control", 0) == 0)
        return fd;
    ck_nolibc_close(fd);
    return -ENOENT;
}

/* ---- in the warden, once ---- */

static void use_control(struct ck_limiter *limiter, unsigned control, int directory_fd,
                        const struct control_files *place, enum ck_held held)
{
    int set_fd = place->set ? open_in(directory_fd, place->set, O_WRONLY) : -1;
    int seen_fd = open_in(directory_fd, place->seen, O_RDONLY);
    if (seen_fd < 0 || (place->set && set_fd < 0)) {
        if (transient(seen_fd) || transient(place->set ? set_fd : 0))
            limiter->transient = seen_fd < 0 ? seen_fd : set_fd;
        ck_nolibc_close(seen_fd);
        ck_nolibc_close(set_fd);
        return;
    }
    limiter->set_fds[control] = set_fd;
    limiter->seen_fds[control] = seen_fd;
    limiter->held[control] = held;
}

/*
 * memory.oom.group: if the kernel kills one process of the run, it kills all, because half a tree
 * is of no use. memory.swap.max: memory above the limit must not move to swap.
 */
static void use_leaf(struct ck_limiter *limiter, int leaf_fd)
{
    for (unsigned i = 0; i < CK_CONTROLS; i++)
        use_control(limiter, i, leaf_fd, &v2_files[i], CK_HELD_CGROUP2);
    if (limiter->held[CK_CONTROL_MEMORY] == CK_HELD_NONE)
        return;
    (void)write_in(leaf_fd, "memory.oom.group", "1");
    (void)write_in(leaf_fd, "memory.swap.max", "0");
}

/*
 * In a jail the filter refuses clone3, because it cannot read its arguments, and the warden of the
 * jail is under that filter, too. So the init moves to the leaf itself, if the leaf has a
 * controller. If it has none, only the CPU clock is needed, and the directory of the warden has one
 * as well.
 */
static void use_v2(struct ck_limiter *limiter, int leaf_fd, int cgroup_fd, bool jailed)
{
    use_leaf(limiter, leaf_fd);
    if (!jailed) {
        limiter->leaf_fd = leaf_fd;
        return;
    }
    if (limiter->held[CK_CONTROL_MEMORY] != CK_HELD_NONE || limiter->held[CK_CONTROL_PIDS] != CK_HELD_NONE) {
        limiter->enter_fd = open_in(leaf_fd, "cgroup.procs", O_WRONLY);
        if (limiter->enter_fd < 0)
            limiter->transient = limiter->enter_fd; /* without this the limits would apply to an empty cgroup */
    } else {
        ck_nolibc_close(limiter->seen_fds[CK_CONTROL_CPU]);
        limiter->held[CK_CONTROL_CPU] = CK_HELD_NONE;
        use_control(limiter, CK_CONTROL_CPU, cgroup_fd, &v2_files[CK_CONTROL_CPU], CK_HELD_CGROUP2);
    }
    ck_nolibc_close(leaf_fd);
}

/*
 * In cgroup v1 the warden is in the same directory as its tools, so the kernel could choose the
 * warden when memory runs out.
 */
static void open_oom(struct ck_limiter *limiter)
{
    int fd = limiter->proc_fd < 0 ? -1 : open_in(limiter->proc_fd, "self/oom_score_adj", O_RDWR);
    if (fd >= 0 && CK_RAW4(pread64, fd, limiter->oom_text, sizeof(limiter->oom_text) - 1, 0) > 0)
        limiter->oom_fd = fd;
    else
        ck_nolibc_close(fd);
}

static void enter_v1(struct ck_limiter *limiter, unsigned control, int directory_fd)
{
    if (directory_fd < 0 || limiter->held[control] != CK_HELD_NONE)
        return;
    long entered = write_in(directory_fd, "cgroup.procs", "0");
    if (transient(entered))
        limiter->transient = (int)entered;
    if (entered < 0)
        return;
    use_control(limiter, control, directory_fd, &v1_files[control], CK_HELD_CGROUP1);
    if (control == CK_CONTROL_MEMORY && limiter->held[control] != CK_HELD_NONE) {
        limiter->swap_fd = open_in(directory_fd, "memory.memsw.limit_in_bytes", O_WRONLY);
        open_oom(limiter);
    }
}

void ck_limiter_open(struct ck_limiter *limiter, const struct ck_warden_cgroups *groups, int cgroup_fd, bool jailed)
{
    limiter->limited = groups->limited;
    limiter->leaf_fd = limiter->enter_fd = limiter->swap_fd = limiter->oom_fd = -1;
    for (unsigned i = 0; i < CK_CONTROLS; i++)
        limiter->set_fds[i] = limiter->seen_fds[i] = -1;
    if (!groups->limited)
        return;
    if (groups->leaf_fd >= 0)
        use_v2(limiter, groups->leaf_fd, cgroup_fd, jailed);
    for (unsigned i = 0; i < CK_CONTROLS; i++) {
        enter_v1(limiter, i, groups->fds[i]);
        ck_nolibc_close(groups->fds[i]);
    }
}

/* ---- a run ---- */

static long set_number(int fd, uint64_t value, const char *none)
{
    char text[32];
    (void)ck_nolibc_append_number(text, (long)value);
    return write_to(fd, value != 0 ? text : none);
}

/*
 * In cgroup v1 the memory limit can never exceed the limit on memory and swap together. So the
 * second is lifted first and set last.
 */
static long set_memory(const struct ck_limiter *limiter, uint64_t bytes)
{
    const char *none = limiter->held[CK_CONTROL_MEMORY] == CK_HELD_CGROUP1 ? "-1" : "max";
    if (limiter->swap_fd >= 0)
        (void)write_to(limiter->swap_fd, "-1");
    long r = set_number(limiter->set_fds[CK_CONTROL_MEMORY], bytes, none);
    if (r == 0 && limiter->swap_fd >= 0)
        r = set_number(limiter->swap_fd, bytes, none);
    return r;
}

/*
 * Adds our own processes in the cgroup to the limit: the init of a jail, and in cgroup v1 the
 * warden and a pump.
 */
static long set_group(struct ck_limiter *limiter, unsigned control, uint64_t limit, unsigned helpers)
{
    long r = 0;
    if (control == CK_CONTROL_PIDS && limit != 0)
        limit += (limiter->held[control] == CK_HELD_CGROUP1 ? 1u + limiter->extra_in_group : 0u) + helpers;
    if (limiter->set_fds[control] < 0 || limiter->set[control] == limit)
        return 0;
    if (control == CK_CONTROL_MEMORY)
        r = set_memory(limiter, limit);
    else
        r = set_number(limiter->set_fds[control], limit, "max");
    /* After a failed write the content is not known, so the next run writes it again. */
    limiter->set[control] = r == 0 ? limit : UINT64_MAX;
    return r;
}

struct task_count {
    int proc_fd;
    uint32_t uid;
    uint64_t tasks;
};

/*
 * Counts threads without reading the directory: /proc/PID/task has one link per thread, plus two.
 */
static void count_tasks(void *data, const char *name)
{
    struct task_count *count = data;
    char path[64];
    struct stat status;
    if (name[0] < '1' || name[0] > '9')
        return;
    (void)ck_nolibc_append_text(ck_nolibc_append_text(path, name), "/task");
    if (CK_RAW4(newfstatat, count->proc_fd, path, &status, 0) == 0 && status.st_uid == count->uid)
        count->tasks += status.st_nlink > 2 ? status.st_nlink - 2 : 1;
}

/*
 * RLIMIT_NPROC counts all processes of a user, so those that exist are added; in our own user
 * namespace these are the warden and the init. The kernel does not apply it to root or to a process
 * that may raise limits: then nothing enforces it.
 */
static long process_limit(const struct ck_limiter *limiter, uint64_t *ret_number)
{
    long uid = CK_RAW0(getuid);
    if (uid == 0 || CK_RAW5(prctl, PR_CAP_AMBIENT, PR_CAP_AMBIENT_IS_SET, CAP_SYS_RESOURCE, 0, 0) == 1 ||
        CK_RAW5(prctl, PR_CAP_AMBIENT, PR_CAP_AMBIENT_IS_SET, CAP_SYS_ADMIN, 0, 0) == 1)
        return -EPERM;
    *ret_number += limiter->extra_of_user;
    if (limiter->own_userns) {
        *ret_number += 2;
        return 0;
    }
    struct task_count count = {.proc_fd = limiter->proc_fd, .uid = (uint32_t)uid};
    int fd = limiter->proc_fd < 0 ? -ENOENT : open_in(limiter->proc_fd, ".", O_RDONLY | O_DIRECTORY);
    if (fd < 0)
        return fd;
    ck_nolibc_each_entry(fd, count_tasks, &count);
    ck_nolibc_close(fd);
    *ret_number += count.tasks;
    return 0;
}

static long add_rlimit(const struct ck_limiter *limiter, unsigned limit, uint64_t value, struct ck_rlimit *ret)
{
    static const int resources[CK_LIMITS] = {
        [CK_LIMIT_MEMORY] = RLIMIT_AS,       [CK_LIMIT_PROCESSES] = RLIMIT_NPROC,   [CK_LIMIT_CPU] = RLIMIT_CPU,
        [CK_LIMIT_FILE_SIZE] = RLIMIT_FSIZE, [CK_LIMIT_OPEN_FILES] = RLIMIT_NOFILE,
    };
    long r = limit == CK_LIMIT_PROCESSES ? process_limit(limiter, &value) : 0;
    /* At the soft limit of CPU time a process gets SIGXCPU, at the hard limit SIGKILL. */
    *ret = (struct ck_rlimit){.resource = resources[limit], .soft = value, .hard = value + (limit == CK_LIMIT_CPU)};
    return r;
}

long ck_limiter_begin(struct ck_limiter *limiter, const uint64_t *limits, unsigned helpers,
                      struct ck_rlimit ret_rlimits[CK_LIMITS], unsigned *ret_count, uint32_t *ret_held)
{
    *ret_count = 0;
    if (limiter->transient < 0)
        return limiter->transient;
    for (unsigned i = 0; i < CK_LIMITS; i++) {
        bool grouped = i < CK_CONTROLS && limiter->held[i] != CK_HELD_NONE;
        long r = grouped ? set_group(limiter, i, limits[i], helpers) : 0;
        if (r < 0)
            return r;
        if (grouped)
            limiter->before[i] =
                number_in(limiter->seen_fds[i], (limiter->held[i] == CK_HELD_CGROUP1 ? v1_files : v2_files)[i].line);
        if (limits[i] == 0)
            continue;
        /*
         * CPU time has both kinds of limit: a single process above it is ended by the kernel at
         * once.
         */
        if (!grouped || i == CK_LIMIT_CPU)
            r = add_rlimit(limiter, i, limits[i], &ret_rlimits[(*ret_count)++]);
        if (r < 0)
            return r;
        ret_held[i] = grouped ? limiter->held[i] : CK_HELD_RLIMIT;
    }
    return 0;
}

bool ck_limiter_prefers_oom(const struct ck_limiter *limiter)
{
    return limiter->oom_fd >= 0 && limiter->set[CK_CONTROL_MEMORY] != 0;
}

void ck_limiter_prefer_oom(const struct ck_limiter *limiter, bool preferred)
{
    if (ck_limiter_prefers_oom(limiter))
        (void)write_to(limiter->oom_fd, preferred ? "1000" : limiter->oom_text);
}

static uint64_t seen_since(const struct ck_limiter *limiter, unsigned control)
{
    const char *line = (limiter->held[control] == CK_HELD_CGROUP1 ? v1_files : v2_files)[control].line;
    uint64_t now = number_in(limiter->seen_fds[control], line);
    return now > limiter->before[control] ? now - limiter->before[control] : 0;
}

uint64_t ck_limiter_cpu_ns(const struct ck_limiter *limiter)
{
    uint64_t seen = seen_since(limiter, CK_CONTROL_CPU);
    return limiter->held[CK_CONTROL_CPU] == CK_HELD_CGROUP2 ? seen * 1000 : seen;
}

uint32_t ck_limiter_hits(const struct ck_limiter *limiter)
{
    uint32_t hits = 0;
    for (unsigned i = CK_CONTROL_MEMORY; i <= CK_CONTROL_PIDS; i++)
        if (limiter->set[i] != 0 && seen_since(limiter, i) > 0)
            hits |= 1u << i;
    return hits;
}
