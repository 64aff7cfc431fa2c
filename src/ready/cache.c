/*
 * cache.c - parses and formats tools.json. JSON integers are signed 64 bits in jansson; devices and
 * inodes are unsigned, and a cast restores them.
 *
 * The file is in a directory of the user and can be damaged, so nothing in it is used before all of
 * it is checked.
 */
#include "ready/cache.h"

#include "base/json.h"
#include "ready/text.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define FORMAT_VERSION 1
/* Limits of the parser. A larger file is ignored like any file that is not valid. */
#define TOOLS_MAX 100000
#define TEXT_MAX 1024

void ck_cache_done(struct ck_cache *cache)
{
    ck_arena_done(&cache->arena);
    *cache = (struct ck_cache){0};
}

/* ---- reading ---- */

/* One file: the five numbers of struct ck_version, in the order of cache.h. */
static bool take_file(const json_t *array, struct ck_version *ret_version)
{
    json_int_t numbers[5];
    if (json_array_size(array) != 5)
        return false;
    for (size_t i = 0; i < 5; i++) {
        const json_t *number = json_array_get(array, i);
        if (!json_is_integer(number))
            return false;
        numbers[i] = json_integer_value(number);
    }
    *ret_version = (struct ck_version){.device = (dev_t)numbers[0],
                                       .inode = (ino_t)numbers[1],
                                       .size = (off_t)numbers[2],
                                       .mtime_ns = (int64_t)numbers[3],
                                       .ctime_ns = (int64_t)numbers[4]};
    return true;
}

/*
 * The take functions return false for anything that is not exactly of the format, and without
 * memory. jansson's getters return NULL or 0 for NULL and for a value of another type, so a missing
 * member needs no separate check.
 */
static bool take_tool(struct ck_arena *arena, const json_t *object, struct ck_cache_tool *tool)
{
    const json_t *files = json_object_get(object, "files");
    size_t count = json_array_size(files);
    if (!ck_text_member(arena, object, "name", TEXT_MAX, &tool->name) ||
        !ck_text_member(arena, object, "path", PATH_MAX, &tool->path) ||
        !ck_text_optional(arena, object, "version", TEXT_MAX, &tool->version) ||
        !ck_text_member(arena, object, "sha256", TEXT_MAX, &tool->sha256) || !ck_text_is_sha256(tool->sha256) ||
        count == 0 || count > CK_CACHE_FILES_MAX)
        return false;
    tool->files_count = count;
    for (size_t i = 0; i < count; i++)
        if (!take_file(json_array_get(files, i), &tool->files[i]))
            return false;
    return true;
}

static bool take_policy(struct ck_arena *arena, const json_t *object, struct ck_cache_policy *policy)
{
    const json_t *tools = json_object_get(object, "tools");
    if (!ck_text_member(arena, object, "policy", TEXT_MAX, &policy->sha256) || !ck_text_is_sha256(policy->sha256) ||
        !json_is_array(tools) || json_array_size(tools) > TOOLS_MAX)
        return false;
    policy->count = json_array_size(tools);
    /* + 1: also for no tools the pointer is not NULL */
    policy->tools = ck_arena_array(arena, policy->count + 1, sizeof(*policy->tools));
    bool good = !!policy->tools;
    for (size_t i = 0; good && i < policy->count; i++)
        good = take_tool(arena, json_array_get(tools, i), &policy->tools[i]);
    return good;
}

static bool take_all(const json_t *root, struct ck_cache *cache)
{
    const json_t *policies = json_object_get(root, "policies");
    const json_t *version = json_object_get(root, "version");
    if (!json_is_integer(version) || json_integer_value(version) != FORMAT_VERSION || !json_is_array(policies))
        return false;
    size_t count = json_array_size(policies);
    if (count > CK_CACHE_POLICIES_MAX)
        return false;
    for (size_t i = 0; i < count; i++)
        if (!take_policy(&cache->arena, json_array_get(policies, i), &cache->policies[i]))
            return false;
    cache->count = count;
    return true;
}

int ck_cache_parse(const char *text, size_t length, struct ck_cache *ret)
{
    *ret = (struct ck_cache){0};
    /* The depth is checked first, because the parser is recursive (base/json.h). */
    json_t *root = ck_json_is_deep(text, length) ? NULL : json_loadb(text, length, JSON_REJECT_DUPLICATES, NULL);
    bool good = root && take_all(root, ret);
    json_decref(root);
    /* All or nothing: a cache that was read in part must not be used. */
    if (!good)
        ret->count = 0;
    return good ? 0 : -EINVAL;
}

/* ---- look-up ---- */

static const struct ck_cache_policy *find_policy(const struct ck_cache *cache, const char *sha256)
{
    for (size_t i = 0; i < cache->count; i++)
        if (strcmp(cache->policies[i].sha256, sha256) == 0)
            return &cache->policies[i];
    return NULL;
}

/*
 * The files are in a fixed order: the tool, then its interpreters. A changed interpreter can change
 * the version that a script reports, so all of them count.
 */
static bool matches(const struct ck_cache_tool *tool, const char *path, const struct ck_version *files, size_t count)
{
    bool same = strcmp(tool->path, path) == 0 && tool->files_count == count;
    for (size_t i = 0; same && i < count; i++)
        same = ck_version_equal(&tool->files[i], &files[i]);
    return same;
}

const struct ck_cache_tool *ck_cache_find(const struct ck_cache *cache, const char *policy, const char *name,
                                          const char *path, const struct ck_version *files, size_t files_count)
{
    const struct ck_cache_policy *found = find_policy(cache, policy);
    for (size_t i = 0; found && i < found->count; i++)
        if (strcmp(found->tools[i].name, name) == 0)
            return matches(&found->tools[i], path, files, files_count) ? &found->tools[i] : NULL;
    return NULL;
}

/* ---- writing ---- */

static json_t *file_json(const struct ck_version *version)
{
    return json_pack("[IIIII]", (json_int_t)version->device, (json_int_t)version->inode, (json_int_t)version->size,
                     (json_int_t)version->mtime_ns, (json_int_t)version->ctime_ns);
}

/*
 * jansson's setters accept NULL for a value that could not be made, and for the object itself, and
 * then fail. They own the new value also when they fail, so nothing leaks and one check at the end
 * is enough.
 */
static json_t *tool_json(const struct ck_cache_tool *tool)
{
    json_t *object = json_object();
    json_t *files = json_array();
    int bad = 0;
    for (size_t i = 0; i < tool->files_count; i++)
        bad |= json_array_append_new(files, file_json(&tool->files[i]));
    bad |= json_object_set_new(object, "name", ck_text_json(tool->name));
    bad |= json_object_set_new(object, "path", ck_text_json(tool->path));
    bad |= json_object_set_new(object, "version", ck_text_json(tool->version));
    bad |= json_object_set_new(object, "sha256", ck_text_json(tool->sha256));
    bad |= json_object_set_new(object, "files", files);
    if (!bad)
        return object;
    json_decref(object);
    return NULL;
}

static json_t *policy_json(const struct ck_cache_policy *policy)
{
    json_t *object = json_object();
    json_t *tools = json_array();
    int bad = 0;
    for (size_t i = 0; i < policy->count; i++)
        bad |= json_array_append_new(tools, tool_json(&policy->tools[i]));
    bad |= json_object_set_new(object, "policy", ck_text_json(policy->sha256));
    bad |= json_object_set_new(object, "tools", tools);
    if (!bad)
        return object;
    json_decref(object);
    return NULL;
}

char *ck_cache_format(const struct ck_cache *old, const struct ck_cache_policy *fresh)
{
    json_t *root = json_object();
    json_t *policies = json_array();
    int bad = json_array_append_new(policies, policy_json(fresh));
    size_t count = 1;
    /*
     * The fresh policy comes first, so the one that was not used for the longest time is dropped.
     */
    for (size_t i = 0; i < old->count && count < CK_CACHE_POLICIES_MAX; i++) {
        /* fresh replaces this one. */
        if (strcmp(old->policies[i].sha256, fresh->sha256) == 0)
            continue;
        bad |= json_array_append_new(policies, policy_json(&old->policies[i]));
        count++;
    }
    bad |= json_object_set_new(root, "version", json_integer(FORMAT_VERSION));
    bad |= json_object_set_new(root, "policies", policies);
    char *text = bad ? NULL : json_dumps(root, JSON_COMPACT);
    json_decref(root);
    return text;
}
