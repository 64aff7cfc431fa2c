/*
 * limiter.h - limits of a run on memory, processes and CPU time: by cgroups, or by resource limits.
 */
#ifndef CK_RUN_KEEPER_LIMITER_H
#define CK_RUN_KEEPER_LIMITER_H

#include "run/wire.h"

#include <stdbool.h>
#include <stdint.h>

/* A limit of each process separately (setrlimit). child.c only ever lowers one. */
struct ck_rlimit {
    int resource;
    uint64_t soft, hard;
};

/* The cgroups of a warden for runs with limits. */
struct ck_warden_cgroups {
    bool limited;         /* false: its runs have no limits, and the fields below are not used */
    int leaf_fd;          /* cgroup v2: its tools are created in it; or -1 */
    int fds[CK_CONTROLS]; /* cgroup v1: the warden enters them itself; each may be -1 */
};

struct ck_limiter {
    bool limited;
    int transient;   /* 0, or a negative errno: the cgroup for a limit could not be used this time */
    bool own_userns; /* the kernel counts the processes of this warden only, not all of the user's */
    int proc_fd;
    int leaf_fd;                    /* tools are created in it; or -1 */
    int enter_fd;                   /* for the init of a jail: cgroup.procs of the leaf, or -1 */
    int set_fds[CK_CONTROLS];       /* the files that limits are written to */
    int swap_fd;                    /* cgroup v1: the limit on memory and swap together, or -1 */
    int seen_fds[CK_CONTROLS];      /* the files that count hits of a limit; for CPU time, the time used */
    int oom_fd;                     /* the warden's oom_score_adj, or -1 */
    char oom_text[16];              /* its usual content */
    enum ck_held held[CK_CONTROLS]; /* which kind of cgroup can hold each limit */
    uint64_t set[CK_CONTROLS];      /* the limit that the file has now; 0: no limit */
    uint64_t before[CK_CONTROLS];   /* the count when the run began */
    /*
     * Processes of ours beside the tool (pump.c): as cgroup v1 counts them, and as the user's limit
     * does.
     */
    unsigned extra_in_group, extra_of_user;
};

/*
 * In the keeper: enables the controllers of cgroup v2 for the directories in base_fd. 1: one or
 * both; 0: neither is available; a negative errno: that could not be determined.
 */
int ck_limiter_enable(int parent_fd, int base_fd);

/*
 * The parent directory of own_fd. -EPERM if own_fd has a limit, which processes in a sibling would
 * escape; or another negative errno.
 */
int ck_limiter_sibling(int own_fd);

/*
 * In the warden, before it enters its jail (jailed): enters the cgroups of v1 and opens the files
 * of the others. cgroup_fd: the directory that the warden was created in, or -1.
 */
void ck_limiter_open(struct ck_limiter *limiter, const struct ck_warden_cgroups *groups, int cgroup_fd, bool jailed);

/*
 * Writes the limits of a run to its cgroups, and lists in ret_rlimits those that the tool's process
 * must set itself. Returns 0, or a negative errno if one of them cannot be enforced: that is the
 * first limit that ret_held has nothing for. helpers: processes of ours beside the tool's.
 */
long ck_limiter_begin(struct ck_limiter *limiter, const uint64_t *limits, unsigned helpers,
                      struct ck_rlimit ret_rlimits[CK_LIMITS], unsigned *ret_count, uint32_t *ret_held);

/*
 * Called with true before a process is created and with false afterwards. The new process inherits
 * the raised oom_score_adj: if the warden is in the same cgroup, the kernel then kills the tool
 * first.
 */
void ck_limiter_prefer_oom(const struct ck_limiter *limiter, bool preferred);

/* Whether that has an effect: the run has a limit on memory that the warden shares. */
bool ck_limiter_prefers_oom(const struct ck_limiter *limiter);

/* CPU time of the run so far, of all its processes; 0 if no cgroup counts it. */
uint64_t ck_limiter_cpu_ns(const struct ck_limiter *limiter);

/* A bit for each limit that was hit, according to the cgroups. */
uint32_t ck_limiter_hits(const struct ck_limiter *limiter);

#endif
