/*
 * caller.h - who the calling thread is, as its children would inherit it (docs/adr/0039).
 *
 * The keeper is made once and makes every tool. What it inherited from the caller must still be the caller's when a tool is
 * started, so both are compared at each start. What a process cannot see of itself cheaply or at all is not here, and is
 * named in the public header.
 */
#ifndef CK_SYS_CALLER_H
#define CK_SYS_CALLER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

#define CK_CALLER_NAMESPACES 4
#define CK_CALLER_LIMITS 16

/* What it may do, and where. A jail that was proven with another one is not proven. */
struct ck_caller_authority {
    uint32_t uids[3], gids[3];
    uint64_t groups; /* digest of the list */
    uint32_t capabilities[6];
    uint64_t bounding, ambient;
    int64_t securebits, no_new_privs, seccomp;
    uint64_t root_device, root_inode, root_mount; /* a mount namespace has mounts of its own, so it is told by them */
    uint64_t namespaces[CK_CALLER_NAMESPACES];    /* 0: not seen */
};

/* What it may use. */
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

/* Which thread of this process, for all of its life. */
struct ck_caller_thread {
    uint64_t serial;
    pid_t id;
};

/* Open files of /proc, so that a look costs no walk. Zero-filled is not ready: ck_caller_proc_init. */
struct ck_caller_proc {
    int namespaces_fd, cgroup_fd;
    struct ck_caller_thread thread; /* whose they are */
};

void ck_caller_proc_init(struct ck_caller_proc *caller_proc);
void ck_caller_proc_done(struct ck_caller_proc *caller_proc);

/*
 * Looks at the calling thread. 0, or a negative errno where something could not be seen for want of a descriptor or memory:
 * then it is not known who that is.
 */
int ck_caller_inspect(struct ck_caller_proc *caller_proc, struct ck_caller *ret_caller);

bool ck_caller_same_authority(const struct ck_caller *a, const struct ck_caller *b);
bool ck_caller_same(const struct ck_caller *a, const struct ck_caller *b);

/*
 * Is a child of ours out of our reach, by a security module? A domain of Landlock that was entered after the child was made
 * has this effect, and there is no other sign of it. Known only to who may look into any process: false for others.
 */
bool ck_caller_child_unreachable(const struct ck_caller *caller, pid_t child);

#endif
