/* machine.c - see machine.h. */
#include "fleet/machine.h"

#include "base/file.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define TEXT_SIZE 4096
#define STAT_SIZE 8192 /* memory.stat has about 60 lines */
#define CGROUP_ROOT "/sys/fs/cgroup"
#define MIB_SHIFT 20

/* A file with one number. False: none, or "max". */
static bool read_number(const char *directory, const char *name, uint64_t *ret_number)
{
    char path[PATH_MAX + 64], text[64];

    (void)snprintf(path, sizeof(path), "%s/%s", directory, name);
    return ck_file_read_into(AT_FDCWD, path, 0, text, sizeof(text)) > 0 && sscanf(text, "%" SCNu64, ret_number) == 1;
}

/*
 * What the kernel can take back when it wants to: files that were read and are not in use. It counts as used in
 * memory.current, so a cgroup that has read many repositories looks full.
 */
static uint64_t read_reclaimable(const char *directory)
{
    char path[PATH_MAX + 64], text[STAT_SIZE];
    uint64_t bytes = 0;

    (void)snprintf(path, sizeof(path), "%s/memory.stat", directory);
    if (ck_file_read_into(AT_FDCWD, path, 0, text, sizeof(text)) <= 0)
        return 0;
    const char *line = strstr(text, "\ninactive_file ");
    return line && sscanf(line, "\ninactive_file %" SCNu64, &bytes) == 1 ? bytes : 0;
}

uint64_t ck_machine_cgroup_free_mib(const char *directory)
{
    uint64_t most, used, reclaimable;

    if (!read_number(directory, "memory.max", &most) || !read_number(directory, "memory.current", &used))
        return UINT64_MAX;
    reclaimable = read_reclaimable(directory);
    used -= reclaimable < used ? reclaimable : used;
    return most > used ? (most - used) >> MIB_SHIFT : 0;
}

/* The cgroup of this process, version 2. False: it has none. */
static bool find_cgroup(char path[PATH_MAX])
{
    char text[TEXT_SIZE];

    if (ck_file_read_into(AT_FDCWD, "/proc/self/cgroup", 0, text, sizeof(text)) <= 0)
        return false;
    const char *line = strstr(text, "0::/");
    if (!line)
        return false;
    (void)snprintf(path, PATH_MAX, CGROUP_ROOT "%.*s", (int)strcspn(line + 3, "\n"), line + 3);
    return true;
}

/* What is left in the cgroups from this process's one up to the root. */
static uint64_t cgroup_free_mib(void)
{
    char path[PATH_MAX];
    uint64_t least = UINT64_MAX;

    for (bool more = find_cgroup(path); more && strlen(path) >= strlen(CGROUP_ROOT); *strrchr(path, '/') = '\0') {
        uint64_t left = ck_machine_cgroup_free_mib(path);
        least = left < least ? left : least;
    }
    return least;
}

uint64_t ck_machine_memory_mib(void)
{
    char text[TEXT_SIZE];
    uint64_t kib, least = cgroup_free_mib();

    if (ck_file_read_into(AT_FDCWD, "/proc/meminfo", 0, text, sizeof(text)) <= 0)
        return least;
    const char *line = strstr(text, "MemAvailable:");
    if (line && sscanf(line, "MemAvailable: %" SCNu64, &kib) == 1 && kib >> 10 < least)
        least = kib >> 10;
    return least;
}

/* ---- processors ---- */

/* "QUOTA PERIOD" in microseconds, or "max PERIOD". */
unsigned ck_machine_cgroup_processors(const char *directory)
{
    char path[PATH_MAX + 64], text[64];
    uint64_t quota, period;

    (void)snprintf(path, sizeof(path), "%s/cpu.max", directory);
    if (ck_file_read_into(AT_FDCWD, path, 0, text, sizeof(text)) <= 0 ||
        sscanf(text, "%" SCNu64 " %" SCNu64, &quota, &period) != 2 || quota == 0 || period == 0)
        return UINT_MAX;
    uint64_t count = quota / period + (quota % period > 0);
    return count < UINT_MAX ? (unsigned)count : UINT_MAX;
}

/* A container may see all processors of its machine and have the time of two. */
unsigned ck_machine_processors(void)
{
    char path[PATH_MAX];
    cpu_set_t set;
    int seen = sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : 1;
    unsigned count = seen > 0 ? (unsigned)seen : 1;

    for (bool more = find_cgroup(path); more && strlen(path) >= strlen(CGROUP_ROOT); *strrchr(path, '/') = '\0') {
        unsigned given = ck_machine_cgroup_processors(path);
        count = given < count ? given : count;
    }
    return count;
}

unsigned ck_machine_jobs(void)
{
    unsigned count = ck_machine_processors();
    return count > 1 ? count + 1 : 1;
}
