/*
 * version.h - the identity and state of a file, as far as the kernel reports them without reading
 * it.
 *
 * A program cannot set ctime, so a file that was changed in place has another version, even if its
 * size and mtime were restored. Timestamps move in ticks: a change within the same tick as the last
 * one is not visible. So a version younger than CK_VERSION_SETTLED_NS must not be relied on later.
 */
#ifndef CK_SYS_VERSION_H
#define CK_SYS_VERSION_H

#include "base/clock.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <time.h>

/* At least one tick of the timestamps of any usual file system. */
#define CK_VERSION_SETTLED_NS INT64_C(2000000000)

struct ck_version {
    dev_t device;
    ino_t inode;
    off_t size;
    int64_t mtime_ns;
    int64_t ctime_ns;
};

static inline int64_t ck_version_ns(struct timespec time)
{
    return (int64_t)time.tv_sec * INT64_C(1000000000) + (int64_t)time.tv_nsec;
}

static inline struct ck_version ck_version_of(const struct stat *status)
{
    return (struct ck_version){.device = status->st_dev,
                               .inode = status->st_ino,
                               .size = status->st_size,
                               .mtime_ns = ck_version_ns(status->st_mtim),
                               .ctime_ns = ck_version_ns(status->st_ctim)};
}

static inline bool ck_version_equal(const struct ck_version *a, const struct ck_version *b)
{
    return a->device == b->device && a->inode == b->inode && a->size == b->size && a->mtime_ns == b->mtime_ns &&
           a->ctime_ns == b->ctime_ns;
}

/* Would a later change be visible? A clock that was set back makes the answer false, never true. */
static inline bool ck_version_settled(const struct ck_version *version)
{
    return ck_version_ns(ck_clock_real_time()) - version->ctime_ns >= CK_VERSION_SETTLED_NS;
}

#endif
