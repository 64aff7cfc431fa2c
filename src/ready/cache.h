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

#define CK_CACHE_MAX_BYTES ((size_t)4 << 20) /* of the file */
#define CK_CACHE_POLICIES_MAX 8              /* the most recently used ones */
#define CK_CACHE_FILES_MAX 8                 /* of one tool */

/* What is known of one tool. Strings are in the arena of the cache. */
struct ck_cache_tool {
    const char *name;
    const char *path;
    const char *version; /* NULL: the policy's entry has no version_args */
    const char *sha256;
    struct ck_version files[CK_CACHE_FILES_MAX];
    size_t files_count; /* at least 1 */
};

/* The tools of one policy, which is named by its digest: another policy can find other tools. */
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

/*
 * Returns 0, or -EINVAL if it is not a valid cache or memory ran out. Call ck_cache_done on ret in
 * any case.
 */
int ck_cache_parse(const char *text, size_t length, struct ck_cache *ret);
void ck_cache_done(struct ck_cache *cache);

/*
 * The remembered tool, if its path and all its files are unchanged; otherwise NULL. files must be
 * in the order of the cache: the tool, then its interpreters.
 */
const struct ck_cache_tool *ck_cache_find(const struct ck_cache *cache, const char *policy, const char *name,
                                          const char *path, const struct ck_version *files, size_t files_count);

/*
 * The text with fresh as its first policy, followed by the policies of old that differ from it. It
 * must be freed. NULL without memory, or for a string that JSON cannot hold.
 */
char *ck_cache_format(const struct ck_cache *old, const struct ck_cache_policy *fresh);

#endif
