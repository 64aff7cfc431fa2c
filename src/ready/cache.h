/*
 * cache.h - pure: the text of tools.json, which remembers versions and digests until a file changes
 * (R45).
 *
 * {"version": 1, "policies": [{"policy": SHA256, "tools": [{"name", "path", "version", "sha256",
 * "files": [[device, inode, size, mtime_ns, ctime_ns], ...]}]}]}. The first file is the tool, the
 * others are its interpreters. Anything else is not a valid cache, and is ignored as a whole.
 */
#ifndef CK_READY_CACHE_H
#define CK_READY_CACHE_H

#include "base/arena.h"
#include "sys/version.h"

#include <stddef.h>

#define CK_CACHE_MAX_BYTES ((size_t)4 << 20)
#define CK_CACHE_POLICIES_MAX 8 /* the most recently used ones */
#define CK_CACHE_FILES_MAX 8

struct ck_cache_tool {
    const char *name;
    const char *path;
    const char *version; /* NULL: the entry has no version_args */
    const char *sha256;
    struct ck_version files[CK_CACHE_FILES_MAX];
    size_t files_count;
};

struct ck_cache_policy {
    const char *sha256;
    struct ck_cache_tool *tools;
    size_t count;
};

struct ck_cache {
    struct ck_arena arena;
    struct ck_cache_policy policies[CK_CACHE_POLICIES_MAX];
    size_t count;
};

/* Returns 0; -EINVAL: not a valid cache; -ENOMEM. Call ck_cache_done on ret in any case. */
int ck_cache_parse(const char *text, size_t length, struct ck_cache *ret);
void ck_cache_done(struct ck_cache *cache);

/* What is remembered of the tool, if path and files are unchanged; else NULL. */
const struct ck_cache_tool *ck_cache_find(const struct ck_cache *cache, const char *policy, const char *name,
                                          const char *path, const struct ck_version *files, size_t files_count);

/*
 * The text with fresh as its first policy, followed by the policies of old that differ from it. It
 * must be freed. NULL without memory, or for a string that JSON cannot hold.
 */
char *ck_cache_format(const struct ck_cache *old, const struct ck_cache_policy *fresh);

#endif
