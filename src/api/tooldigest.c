/*
 * tooldigest.c - the digest of a tool: from the policy, the context, the cache, or by hashing the
 * file. See tooldigest.h.
 *
 * The file that is read is the one that the plan holds open and that will be executed. If the cache
 * cannot be read or written, the tool is hashed again.
 */
#include "api/tooldigest.h"

#include "api/toolcache.h"
#include "base/atomic_file.h"
#include "sys/statefile.h"

#include <stdlib.h>
#include <string.h>

void ck_tooldigest_remember(struct ck_tooldigests *digests, const struct ck_version *version,
                            const char sha256[CK_DIGEST_SIZE])
{
    if (!ck_version_settled(version))
        return;
    /* When the table is full, the oldest entry is replaced. */
    size_t at = digests->count < CK_TOOLDIGESTS ? digests->count++ : digests->next++ % CK_TOOLDIGESTS;
    digests->items[at].version = *version;
    memcpy(digests->items[at].sha256, sha256, CK_DIGEST_SIZE);
}

/* ---- the cache ---- */

/* The digest belongs to the file, so it does not matter for which policy it was remembered. */
static const char *find_cached(const struct ck_cache *cache, const struct ck_version *version)
{
    for (size_t i = 0; i < cache->count; i++)
        for (size_t k = 0; k < cache->policies[i].count; k++)
            /* The first file of an entry is the tool itself. */
            if (ck_version_equal(&cache->policies[i].tools[k].files[0], version))
                return cache->policies[i].tools[k].sha256;
    return NULL;
}

/* The remembered tools of the policy, with this one in place of an older entry. */
static void save(struct ck_toolcache *toolcache, const char *policy, const struct ck_cache_tool *tool)
{
    struct ck_cache_policy fresh = {.sha256 = policy};
    const struct ck_cache_policy *old = NULL;
    for (size_t i = 0; !old && i < toolcache->cache.count; i++)
        if (strcmp(toolcache->cache.policies[i].sha256, policy) == 0)
            old = &toolcache->cache.policies[i];
    size_t most = (old ? old->count : 0) + 1;
    fresh.tools = ck_arena_array(&toolcache->cache.arena, most, sizeof(*fresh.tools));
    if (!fresh.tools)
        return;
    for (size_t i = 0; old && i < old->count; i++)
        if (strcmp(old->tools[i].name, tool->name) != 0)
            fresh.tools[fresh.count++] = old->tools[i];
    fresh.tools[fresh.count++] = *tool;
    char *text = ck_cache_format(&toolcache->cache, &fresh);
    if (text)
        (void)ck_atomic_file_write(toolcache->fd, CK_TOOLCACHE_NAME, 0600, text, strlen(text));
    free(text);
}

/* ---- the tool ---- */

/* 0, or a negative errno: the file cannot be read, or changed during the read. */
static int hash(const struct ck_plan *plan, const char *home, const char *policy, char *buffer)
{
    const struct ck_version *version = &plan->tool_version;
    struct ck_toolcache toolcache = {.fd = -1};
    /*
     * Opened for each hash: this is rare, and another process may have saved the digest meanwhile.
     */
    ck_toolcache_open(&toolcache, home, &plan->root);
    const char *known = find_cached(&toolcache.cache, version);
    int r = 0;
    if (known)
        memcpy(buffer, known, CK_DIGEST_SIZE);
    else
        r = ck_digest_file(plan->execute_fd, buffer);
    const struct ck_cache_tool tool = {
        .name = plan->tool_name, .path = plan->tool_path, .sha256 = buffer, .files = {*version}, .files_count = 1};
    if (r == 0 && !known && toolcache.fd >= 0 && ck_version_settled(version))
        save(&toolcache, policy, &tool);
    ck_toolcache_done(&toolcache);
    return r;
}

const char *ck_tooldigest_find(struct ck_tooldigests *digests, const struct ck_plan *plan, const char *policy,
                               char buffer[CK_DIGEST_SIZE])
{
    /* Taken when the plan opened the file, so a digest that is found by it belongs to that file. */
    const struct ck_version *version = &plan->tool_version;
    /* Pinned: the policy has the digest. */
    if (plan->verdict.tool && plan->verdict.tool->sha256)
        return plan->verdict.tool->sha256;
    for (size_t i = 0; i < digests->count; i++)
        if (ck_version_equal(&digests->items[i].version, version))
            return digests->items[i].sha256;
    if (hash(plan, digests->home, policy, buffer) < 0)
        return NULL;
    ck_tooldigest_remember(digests, version, buffer);
    return buffer;
}
