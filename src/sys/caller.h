/*
 * caller.h - the identity of the calling thread, as its children would inherit it (docs/adr/0039).
 *
 * The keeper is made once and starts every tool. What it inherited from the caller must still be
 * true of the caller when a tool is started, so both are compared at each start. Some properties
 * cannot be read cheaply, or not at all; the public header names them.
 */
#ifndef CK_SYS_CALLER_H
#define CK_SYS_CALLER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

#define CK_CALLER_NAMESPACES 4
#define CK_CALLER_LIMITS 16

/*
 * What the thread may do, and where. A proof of a jail holds only for the authority it was made
 * with.
 */
struct ck_caller_authority {
    uint32_t uids[3], gids[3];
    uint64_t groups; /* digest of the list */
    uint32_t capabilities[6];
    uint64_t bounding, ambient;
    int64_t securebits, no_new_privs, seccomp;
    uint64_t root_device, root_inode, root_mount; /* each mount namespace has its own mounts, so these identify it */
    uint64_t namespaces[CK_CALLER_NAMESPACES];    /* 0: not seen */
};

/* What the thread may use. */
struct ck_caller_resources {
    struct rlimit limits[CK_CALLER_LIMITS];
    uint32_t scheduling[14]; /* struct sched_attr: policy, nice, priority and more */
    int32_t io_priority;
    uint32_t personality;
    uint64_t processors[16]; /* the first 1024 */
    uint64_t cgroups;        /* digest of /proc/thread-self/cgroup; 0: not seen */
};

struct ck_caller {
    struct ck_caller_authority authority;
    struct ck_caller_resources resources;
};

/* Identifies a thread of this process, over the whole life of the process. */
struct ck_caller_thread {
    uint64_t serial;
    pid_t id;
};

/*
 * Open files of /proc, so that a look-up needs no path walk. Must be set up with
 * ck_caller_proc_init: zero-filled is not valid.
 */
struct ck_caller_proc {
    int namespace_fds[CK_CALLER_NAMESPACES]; /* -1: not needed so far */
    int cgroup_fd;
    struct ck_caller_thread thread; /* the thread they belong to */
};

void ck_caller_proc_init(struct ck_caller_proc *caller_proc);
void ck_caller_proc_done(struct ck_caller_proc *caller_proc);

/*
 * Reads the calling thread. Returns 0, or a negative errno if something could not be read for lack
 * of a descriptor or memory: the identity is then unknown.
 */
int ck_caller_inspect(struct ck_caller_proc *caller_proc, struct ck_caller *ret_caller);

bool ck_caller_same_authority(const struct ck_caller *a, const struct ck_caller *b);
bool ck_caller_same(const struct ck_caller *a, const struct ck_caller *b);

/*
 * Does a security module keep us from reaching our child? A Landlock domain that was entered after
 * the child was made has this effect, and nothing else shows it. Only a caller with CAP_SYS_PTRACE
 * can see that; for others the answer is false.
 */
bool ck_caller_child_unreachable(const struct ck_caller *caller, pid_t child);

#endif
