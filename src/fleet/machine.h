/* machine.h - what this machine, or the part of it that this process may use, has for a fleet. */
#ifndef CK_FLEET_MACHINE_H
#define CK_FLEET_MACHINE_H

#include <stdint.h>

/* Processors that this process may run on, and as many as its cgroups give the time of; at least 1. */
unsigned ck_machine_processors(void);

/* Probes at once that keep them all at work: one more uses the time in which another waits. */
unsigned ck_machine_jobs(void);

/* Memory that is free, also within its cgroups, in MiB; UINT64_MAX: not known. */
uint64_t ck_machine_memory_mib(void);

/* What one cgroup of version 2 leaves; UINT64_MAX: it has no limit. */
uint64_t ck_machine_cgroup_free_mib(const char *directory);

/* The time of how many processors one cgroup of version 2 gives, rounded up; UINT_MAX: it has no limit. */
unsigned ck_machine_cgroup_processors(const char *directory);

#endif
