/*
 * cgroup.h - the cgroup in which this process may make cgroups.
 *
 * This only reads: it finds the cgroup v2 directory of the process. The keeper finds out whether a
 * group may be made there, by making one.
 */
#ifndef CK_SYS_CGROUP_H
#define CK_SYS_CGROUP_H

#include <stddef.h>

/* A descriptor of the directory, or a negative errno if there is no cgroup v2. */
int ck_cgroup_own(void);

/* The same for a controller of version 1, such as "memory"; -ENOENT if no mount has it. */
int ck_cgroup_own_v1(const char *controller);

/*
 * "chokepoint-<pid namespace>-". The namespace is in the name because a keeper checks by pid
 * whether the owner of a group is alive, and pids of another namespace would look dead.
 */
int ck_cgroup_prefix(char *buffer, size_t size);

#endif
