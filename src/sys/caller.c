/*
 * caller.c - reads the identity and limits of the calling thread.
 *
 * It runs at each start, so it makes system calls that only read, and few look-ups in /proc. Two
 * kernel rules save most of the work: only a process with CAP_SETPCAP can drop from the bounding
 * set, and only one with CAP_SYS_ADMIN can enter a namespace, unless it enters a user namespace
 * first. So without these capabilities (their loss is seen) the bounding set is not read, and of
 * the namespaces only the user namespace is.
 */
#include "sys/caller.h"

#include "base/errkind.h"
#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/prctl.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define GROUPS_USUAL 64
#define GROUPS_MAX 65536
#define IOPRIO_WHO_PROCESS 1
#define CURRENT_PERSONALITY 0xffffffffu
#define SCHED_ATTR_SIZE 56

static const char *const links[CK_CALLER_NAMESPACES] = {"user", "net", "ipc", "mnt"};

void ck_caller_proc_init(struct ck_caller_proc *caller_proc)
{
    *caller_proc = (struct ck_caller_proc){.namespaces_fd = -1, .cgroup_fd = -1};
}

void ck_caller_proc_done(struct ck_caller_proc *caller_proc)
{
    ck_fd_close(&caller_proc->namespaces_fd);
    ck_fd_close(&caller_proc->cgroup_fd);
}

/* FNV-1a: it only has to notice a change. */
static uint64_t digest(const void *data, size_t length)
{
    const unsigned char *at = data;
    uint64_t value = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < length; i++)
        value = (value ^ at[i]) * UINT64_C(0x100000001b3);
    return value;
}

/* ---- credentials ---- */

static uint64_t read_groups(void)
{
    gid_t usual[GROUPS_USUAL];
    int count = getgroups(GROUPS_USUAL, usual);
    if (count >= 0)
        return digest(usual, (size_t)count * sizeof(usual[0]));
    gid_t *many = calloc(GROUPS_MAX, sizeof(*many));
    count = !many ? -1 : getgroups(GROUPS_MAX, many);
    uint64_t value = count < 0 ? 0 : digest(many, (size_t)count * sizeof(many[0]));
    free(many);
    return value;
}

static bool has(const struct ck_caller_authority *authority, unsigned capability)
{
    return (authority->capabilities[3 * (capability / 32) + 1] >> capability % 32 & 1) != 0;
}

static void read_capabilities(struct ck_caller_authority *authority)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[2] = {0};
    (void)syscall(SYS_capget, &header, data);
    for (unsigned i = 0; i < 2; i++) {
        authority->capabilities[3 * i] = data[i].effective;
        authority->capabilities[3 * i + 1] = data[i].permitted;
        authority->capabilities[3 * i + 2] = data[i].inheritable;
    }
    bool bounded = has(authority, CAP_SETPCAP);
    for (unsigned cap = 0; cap < 64 && bounded; cap++) {
        int set = prctl(PR_CAPBSET_READ, cap, 0, 0, 0);
        if (set < 0)
            break;
        authority->bounding |= (uint64_t)set << cap;
    }
    /*
     * The kernel keeps the ambient set within permitted and inheritable, so only those are asked
     * for.
     */
    uint64_t possible =
        ((uint64_t)(data[1].permitted & data[1].inheritable) << 32) | (data[0].permitted & data[0].inheritable);
    for (unsigned cap = 0; cap < 64 && possible >> cap != 0; cap++)
        if ((possible >> cap & 1) != 0 && prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_IS_SET, cap, 0, 0) == 1)
            authority->ambient |= UINT64_C(1) << cap;
}

/* ---- namespaces and cgroups ---- */

/*
 * A number that no other thread of this process ever has; the kernel reuses the ids of threads that
 * ended. The id is part of it, because a thread made without libc may share the variables of its
 * maker.
 */
static struct ck_caller_thread this_thread(void)
{
    static atomic_uint_fast64_t last;
    static _Thread_local uint64_t serial;
    if (serial == 0)
        serial = atomic_fetch_add(&last, 1) + 1;
    return (struct ck_caller_thread){.serial = serial, .id = gettid()};
}

/*
 * Descriptors of another thread do not count: credentials and namespaces belong to a thread. A file
 * that /proc does not have stays unseen. One that could not be opened for lack of a descriptor or
 * memory is opened by the next call; only that case returns a negative errno.
 */
static int open_caller_proc(struct ck_caller_proc *caller_proc)
{
    struct ck_caller_thread thread = this_thread();
    bool is_ours = caller_proc->thread.serial == thread.serial && caller_proc->thread.id == thread.id;
    if (is_ours && caller_proc->namespaces_fd >= 0 && caller_proc->cgroup_fd >= 0)
        return 0;
    ck_caller_proc_done(caller_proc);
    caller_proc->thread = thread;
    caller_proc->namespaces_fd = open("/proc/thread-self/ns", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (caller_proc->namespaces_fd < 0 && ck_errkind_of(errno) == CK_ERRKIND_TRANSIENT)
        return -errno;
    caller_proc->cgroup_fd = open("/proc/thread-self/cgroup", O_RDONLY | O_CLOEXEC);
    return caller_proc->cgroup_fd < 0 && ck_errkind_of(errno) == CK_ERRKIND_TRANSIENT ? -errno : 0;
}

static uint64_t read_namespace(const struct ck_caller_proc *caller_proc, const char *name)
{
    char text[64];
    ssize_t length =
        caller_proc->namespaces_fd < 0 ? 0 : readlinkat(caller_proc->namespaces_fd, name, text, sizeof(text));
    return length <= 0 ? 0 : digest(text, (size_t)length);
}

static void read_locations(const struct ck_caller_proc *caller_proc, struct ck_caller_authority *authority)
{
    struct statx root = {0};
    (void)statx(AT_FDCWD, "/", AT_STATX_DONT_SYNC, STATX_INO | STATX_MNT_ID, &root);
    authority->root_device = (uint64_t)root.stx_dev_major << 32 | root.stx_dev_minor;
    authority->root_inode = root.stx_ino;
    bool mounts = (root.stx_mask & STATX_MNT_ID) != 0;
    authority->root_mount = mounts ? root.stx_mnt_id : 0;
    unsigned count = has(authority, CAP_SYS_ADMIN) ? CK_CALLER_NAMESPACES - 1 : 1;
    for (unsigned i = 0; i < count + (mounts ? 0 : 1); i++)
        authority->namespaces[i] = read_namespace(caller_proc, links[i < count ? i : CK_CALLER_NAMESPACES - 1]);
}

static uint64_t read_cgroups(const struct ck_caller_proc *caller_proc)
{
    char text[4096];
    ssize_t length = caller_proc->cgroup_fd < 0 ? 0 : pread(caller_proc->cgroup_fd, text, sizeof(text), 0);
    return length <= 0 ? 0 : digest(text, (size_t)length);
}

/* ---- everything ---- */

int ck_caller_inspect(struct ck_caller_proc *caller_proc, struct ck_caller *ret_caller)
{
    struct ck_caller_authority *authority = &ret_caller->authority;
    struct ck_caller_resources *resources = &ret_caller->resources;
    int saved = errno;
    *ret_caller = (struct ck_caller){0};
    int r = open_caller_proc(caller_proc);
    (void)getresuid(&authority->uids[0], &authority->uids[1], &authority->uids[2]);
    (void)getresgid(&authority->gids[0], &authority->gids[1], &authority->gids[2]);
    authority->groups = read_groups();
    read_capabilities(authority);
    authority->securebits = prctl(PR_GET_SECUREBITS, 0, 0, 0, 0);
    authority->no_new_privs = prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0);
    authority->seccomp = prctl(PR_GET_SECCOMP, 0, 0, 0, 0);
    read_locations(caller_proc, authority);
    for (unsigned i = 0; i < CK_CALLER_LIMITS; i++)
        (void)syscall(SYS_getrlimit, i, &resources->limits[i]); /* half the cost of prlimit, which libc would use */
    (void)syscall(SYS_sched_getattr, 0, resources->scheduling, SCHED_ATTR_SIZE, 0);
    resources->io_priority = (int32_t)syscall(SYS_ioprio_get, IOPRIO_WHO_PROCESS, 0);
    resources->personality = (uint32_t)personality(CURRENT_PERSONALITY);
    (void)syscall(SYS_sched_getaffinity, 0, sizeof(resources->processors), resources->processors);
    resources->cgroups = read_cgroups(caller_proc);
    errno = saved;
    return r;
}

bool ck_caller_same_authority(const struct ck_caller *a, const struct ck_caller *b)
{
    return memcmp(&a->authority, &b->authority, sizeof(a->authority)) == 0;
}

bool ck_caller_same(const struct ck_caller *a, const struct ck_caller *b)
{
    /* The members leave no padding between them, so memcmp compares values only. */
    return memcmp(a, b, sizeof(*a)) == 0;
}

bool ck_caller_child_unreachable(const struct ck_caller *caller, pid_t child)
{
    void *head;
    size_t length;
    if (child <= 0 || (caller->authority.capabilities[0] >> CAP_SYS_PTRACE & 1) == 0)
        return false;
    /* get_robust_list makes the kernel's ptrace access check and changes nothing in the child. */
    return syscall(SYS_get_robust_list, child, &head, &length) < 0 && errno == EPERM;
}
