/*
 * cgroup.h - where this process may make cgroups.
 *
 * Only looks: finds the cgroup v2 directory that the process is in. Whether one may be made there is found out by
 * making it, in the keeper.
 */
#ifndef CK_SYS_CGROUP_H
#define CK_SYS_CGROUP_H

#include <stddef.h>

/* A descriptor of the directory, or a negative errno where there is no cgroup v2. */
int ck_cgroup_own(void);

/* The same for a controller of version 1, "memory"; -ENOENT where none is mounted with it. */
int ck_cgroup_own_v1(const char *controller);

/* "chokepoint-<pid namespace>-", so that keepers of different namespaces do not take each other for dead. */
int ck_cgroup_prefix(char *buffer, size_t size);

#endif
