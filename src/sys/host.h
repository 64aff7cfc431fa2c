/*
 * host.h - facts about this machine that explain why a layer is not available, and which cgroup
 * controllers may be used. It holds facts only; src/ready/layer.c draws the conclusions.
 */
#ifndef CK_SYS_HOST_H
#define CK_SYS_HOST_H

#include <stdbool.h>

#define CK_HOST_UNKNOWN (-1)
#define CK_HOST_PROFILE_BYTES 128
#define CK_HOST_CONTEXT_BYTES 128

struct ck_host {
    bool root;                                    /* the effective user is root, of this user namespace */
    long max_user_namespaces;                     /* sysctl user.max_user_namespaces */
    long unprivileged_userns;                     /* sysctl kernel.unprivileged_userns_clone (Debian's) */
    long apparmor_restricts;                      /* sysctl kernel.apparmor_restrict_unprivileged_userns (Ubuntu's) */
    char apparmor_profile[CK_HOST_PROFILE_BYTES]; /* of this process; empty: it has none, or it could not be read */
    char selinux_context[CK_HOST_CONTEXT_BYTES]; /* of this process, where SELinux denies what its rules do not allow */
    long seccomp_mode;                           /* of this process: 2 if it has a seccomp filter */
    bool container;                              /* there are signs of a container */
    const char *container_sign;                  /* which: "/.dockerenv"; NULL for none */
    bool lsm_known;                              /* the list of security modules could be read */
    bool lsm_landlock;                           /* landlock is in it */
    bool cgroup2;                                /* a cgroup v2 hierarchy is mounted, and this process is in it */
};

void ck_host_inspect(struct ck_host *ret_host);

/*
 * Is a kind of namespace switched off (a sysctl user.max_*_namespaces is 0)? The kernel then
 * returns ENOSPC, as it also does when the current limit is reached.
 */
bool ck_host_namespaces_off(void);

/* Is a /proc mounted, and does it belong to our pid namespace? */
bool ck_host_has_proc(void);

/* Which cgroup version provides a controller. */
enum ck_controller_version { CK_CONTROLLER_NONE = 0, CK_CONTROLLER_V1, CK_CONTROLLER_V2 };

struct ck_controller {
    enum ck_controller_version cgroup_version; /* the one that worked, or the last one tried */
    int error;                                 /* 0: a group with this controller was made and removed; else why not */
};

/* name is "memory", "pids" or "cpu". Tried by making a group in the cgroup of this process. */
void ck_host_try_controller(const char *name, struct ck_controller *ret_controller);

/* May a group be made in our own cgroup v2? Returns 0 or a positive errno. */
int ck_host_try_cgroup(void);

#endif
