/*
 * caller.c - reads the identity and limits of the calling thread.
 *
 * It runs at each start, so it makes system calls that only read, without libc around them (a
 * third of the cost of the short ones), and no look-up of a path in /proc. Two kernel rules save
 * more:
 *   - A thread drops from its bounding set with CAP_SETPCAP in its user namespace, and nothing else
 *     changes that set except entering a user namespace (cap_prctl_drop, set_cred_user_ns).
 *   - A thread enters a network, IPC or mount namespace with CAP_SYS_ADMIN in its user namespace
 *     (netns_install, ipcns_install, mntns_install; unshare: ksys_unshare).
 * A capability that is not in the permitted set returns only with exec or with another user
 * namespace. So without these capabilities in that set (their loss is seen) the bounding set is not
 * read, and of the namespaces only the user namespace is. The effective set does not count: a
 * thread may raise a capability between two starts.
 *
 * Nobody can see the bounding set as a whole except in /proc/thread-self/status, which costs more
 * than 41 calls. Limits and cgroups may be changed by other processes, so all are read each time.
 */
#include "sys/caller.h"

#include "base/errkind.h"
#include "base/fd.h"
#include "sys/raw.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/prctl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define GROUPS_USUAL 64
#define GROUPS_MAX 65536
#define IOPRIO_WHO_PROCESS 1
#define CURRENT_PERSONALITY 0xffffffffu
#define SCHED_ATTR_SIZE 56

void ck_caller_proc_init(struct ck_caller_proc *caller_proc)
{
    *caller_proc = (struct ck_caller_proc){.namespace_fds = {-1, -1, -1, -1}, .cgroup_fd = -1};
}

void ck_caller_proc_done(struct ck_caller_proc *caller_proc)
{
    for (unsigned i = 0; i < CK_CALLER_NAMESPACES; i++)
        ck_fd_close(&caller_proc->namespace_fds[i]);
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
    long count = CK_RAW2(getgroups, GROUPS_USUAL, usual);
    if (count >= 0)
        return digest(usual, (size_t)count * sizeof(usual[0]));
    gid_t *many = calloc(GROUPS_MAX, sizeof(*many));
    count = !many ? -1 : CK_RAW2(getgroups, GROUPS_MAX, many);
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
    (void)CK_RAW2(capget, &header, data);
    for (unsigned i = 0; i < 2; i++) {
        authority->capabilities[3 * i] = data[i].effective;
        authority->capabilities[3 * i + 1] = data[i].permitted;
        authority->capabilities[3 * i + 2] = data[i].inheritable;
    }
    bool bounded = has(authority, CAP_SETPCAP);
    for (unsigned cap = 0; cap < 64 && bounded; cap++) {
        long set = CK_RAW2(prctl, PR_CAPBSET_READ, cap);
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
        if ((possible >> cap & 1) != 0 && CK_RAW5(prctl, PR_CAP_AMBIENT, PR_CAP_AMBIENT_IS_SET, cap, 0, 0) == 1)
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

/* Descriptors of another thread do not count: credentials and namespaces belong to a thread. */
static void take_over(struct ck_caller_proc *caller_proc)
{
    struct ck_caller_thread thread = this_thread();
    if (caller_proc->thread.serial == thread.serial && caller_proc->thread.id == thread.id)
        return;
    ck_caller_proc_done(caller_proc);
    caller_proc->thread = thread;
}

/*
 * A file that /proc does not have stays unseen. One that could not be opened for lack of a
 * descriptor or memory is opened by the next call; only that case returns a negative errno.
 */
static int keep_open(int *fd, const char *path, int flags)
{
    if (*fd >= 0)
        return 0;
    *fd = open(path, flags | O_CLOEXEC);
    return *fd < 0 && ck_errkind_of(errno) == CK_ERRKIND_TRANSIENT ? -errno : 0;
}

/*
 * The descriptor is of the link, and not of the namespace: it keeps no namespace alive, and the
 * kernel writes the link anew for each call.
 */
static int read_namespace(struct ck_caller_proc *caller_proc, unsigned which, uint64_t *ret_value)
{
    static const char *const links[CK_CALLER_NAMESPACES] = {"/proc/thread-self/ns/user", "/proc/thread-self/ns/net",
                                                            "/proc/thread-self/ns/ipc", "/proc/thread-self/ns/mnt"};
    char text[64];
    int *fd = &caller_proc->namespace_fds[which];
    int r = keep_open(fd, links[which], O_PATH | O_NOFOLLOW);
    long length = *fd < 0 ? 0 : CK_RAW4(readlinkat, *fd, "", text, sizeof(text));
    *ret_value = length <= 0 ? 0 : digest(text, (size_t)length);
    return r;
}

static int read_locations(struct ck_caller_proc *caller_proc, struct ck_caller_authority *authority)
{
    struct statx root = {0};
    (void)CK_RAW5(statx, AT_FDCWD, "/", AT_STATX_DONT_SYNC, STATX_INO | STATX_MNT_ID, &root);
    authority->root_device = (uint64_t)root.stx_dev_major << 32 | root.stx_dev_minor;
    authority->root_inode = root.stx_ino;
    bool mounts = (root.stx_mask & STATX_MNT_ID) != 0;
    authority->root_mount = mounts ? root.stx_mnt_id : 0;
    bool admin = has(authority, CAP_SYS_ADMIN);
    const bool wanted[CK_CALLER_NAMESPACES] = {true, admin, admin, !mounts};
    int r = 0;
    for (unsigned i = 0; i < CK_CALLER_NAMESPACES && r == 0; i++)
        if (wanted[i])
            r = read_namespace(caller_proc, i, &authority->namespaces[i]);
    return r;
}

static int read_cgroups(struct ck_caller_proc *caller_proc, uint64_t *ret_value)
{
    char text[4096];
    int r = keep_open(&caller_proc->cgroup_fd, "/proc/thread-self/cgroup", O_RDONLY);
    long length = caller_proc->cgroup_fd < 0 ? 0 : CK_RAW4(pread64, caller_proc->cgroup_fd, text, sizeof(text), 0);
    *ret_value = length <= 0 ? 0 : digest(text, (size_t)length);
    return r;
}

/* ---- everything ---- */

static void read_authority(struct ck_caller_authority *authority)
{
    uint32_t *uids = authority->uids, *gids = authority->gids;
    (void)CK_RAW3(getresuid, &uids[0], &uids[1], &uids[2]);
    (void)CK_RAW3(getresgid, &gids[0], &gids[1], &gids[2]);
    authority->groups = read_groups();
    read_capabilities(authority);
    authority->securebits = CK_RAW1(prctl, PR_GET_SECUREBITS);
    authority->no_new_privs = CK_RAW5(prctl, PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0);
    authority->seccomp = CK_RAW1(prctl, PR_GET_SECCOMP);
}

static void read_resources(struct ck_caller_resources *resources)
{
    for (unsigned i = 0; i < CK_CALLER_LIMITS; i++)
        (void)CK_RAW2(getrlimit, i, &resources->limits[i]); /* half the cost of prlimit, which libc would use */
    (void)CK_RAW4(sched_getattr, 0, resources->scheduling, SCHED_ATTR_SIZE, 0);
    resources->io_priority = (int32_t)CK_RAW2(ioprio_get, IOPRIO_WHO_PROCESS, 0);
    resources->personality = (uint32_t)CK_RAW1(personality, CURRENT_PERSONALITY);
    (void)CK_RAW3(sched_getaffinity, 0, sizeof(resources->processors), resources->processors);
}

int ck_caller_inspect(struct ck_caller_proc *caller_proc, struct ck_caller *ret_caller)
{
    int saved = errno;
    *ret_caller = (struct ck_caller){0};
    take_over(caller_proc);
    read_authority(&ret_caller->authority);
    read_resources(&ret_caller->resources);
    int r = read_locations(caller_proc, &ret_caller->authority);
    if (r == 0)
        r = read_cgroups(caller_proc, &ret_caller->resources.cgroups);
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
    return CK_RAW3(get_robust_list, child, &head, &length) == -EPERM;
}
