/*
 * host.h - what this machine says about itself that can explain why a layer is not to be had, and which cgroup
 * controllers may be used. Facts only; what follows from them is in src/ready/layer.c.
 */
#ifndef CK_SYS_HOST_H
#define CK_SYS_HOST_H

#include <stdbool.h>

#define CK_HOST_UNKNOWN (-1)

struct ck_host {
    bool root;                  /* the effective user is root, of this user namespace */
    long max_user_namespaces;   /* sysctl user.max_user_namespaces */
    long unprivileged_userns;   /* sysctl kernel.unprivileged_userns_clone (Debian's) */
    long apparmor_restricts;    /* sysctl kernel.apparmor_restrict_unprivileged_userns (Ubuntu's) */
    long seccomp_mode;          /* of this process: 2 where a filter was put on it */
    bool container;             /* there are signs of one */
    const char *container_sign; /* which: "/.dockerenv"; NULL for none */
    bool lsm_known;             /* the list of security modules could be read */
    bool lsm_landlock;          /* landlock is in it */
    bool cgroup2;               /* a cgroup v2 hierarchy is mounted, and this process is in it */
};

void ck_host_inspect(struct ck_host *ret_host);

/*
 * Is a kind of namespace switched off (sysctl user.max_*_namespaces is 0)? The kernel then says ENOSPC, as it does where
 * there are as many as may be at this moment.
 */
bool ck_host_namespaces_off(void);

/* Is a /proc mounted, and is it that of our pid namespace? */
bool ck_host_has_proc(void);

/* How a controller can be had. */
enum ck_controller_version { CK_CONTROLLER_NONE = 0, CK_CONTROLLER_V1, CK_CONTROLLER_V2 };

struct ck_controller {
    enum ck_controller_version cgroup_version; /* that worked, or that was tried last */
    int error; /* 0: a group with this controller was made and removed again; else why not */
};

/* "memory", "pids" or "cpu": tried by making a group in the one that this process is in. */
void ck_host_try_controller(const char *name, struct ck_controller *ret_controller);

/* Whether a group may be made in the own cgroup v2: 0 or a positive errno. */
int ck_host_try_cgroup(void);

#endif
