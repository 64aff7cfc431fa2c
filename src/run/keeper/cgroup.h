/* cgroup.h - the cgroup directories of a keeper and its wardens, and cgroup.kill. */
#ifndef CK_RUN_KEEPER_CGROUP_H
#define CK_RUN_KEEPER_CGROUP_H

#include <stdbool.h>

/* The directory of a warden and its tools. */
struct ck_cgroup {
    int kill_fd;  /* its cgroup.kill; -1: it has none */
    int leave_fd; /* cgroup.procs of where the warden moves to before it kills; -1: it is outside */
};

enum ck_cgroup_kind {
    CK_CGROUP_WARDEN, /* holds a warden, and its tools if they have no limits */
    CK_CGROUP_LEAF,   /* holds the tools of a warden if they have limits */
};

/*
 * Makes the directory "<prefix><our pid>" in parent_fd. Returns its descriptor, or a negative
 * errno, also if the new directory lacks the file `needed`. First removes the directories that dead
 * keepers with the same prefix left.
 */
int ck_cgroup_base(int parent_fd, const char *prefix, int proc_fd, const char *needed);
void ck_cgroup_base_remove(int parent_fd, int base_fd, const char *prefix);

/*
 * The directory of the warden with this number. A descriptor or a negative errno; -ENOENT without a
 * base.
 */
int ck_cgroup_make(int base_fd, enum ck_cgroup_kind kind, long number);
void ck_cgroup_remove(int base_fd, enum ck_cgroup_kind kind, long number);

/* In the warden, which was created in directory_fd (-1: in no directory of ours). */
void ck_cgroup_open(struct ck_cgroup *cgroup, int base_fd, int directory_fd);

/* The same if its tools are created in a leaf. */
void ck_cgroup_open_leaf(struct ck_cgroup *cgroup, int leaf_fd);

/* Kills everything in it except the caller, which moves outside first. False: nothing was done. */
bool ck_cgroup_kill(const struct ck_cgroup *cgroup);

#endif
