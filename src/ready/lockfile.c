/* lockfile.c - reads, sorts and writes tools.lock. lockfile_drift.c compares two of them. */
#include "ready/lockfile.h"

#include "base/error.h"
#include "base/json.h"
#include "ready/text.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define FORMAT_VERSION 1
/* Limits of the parser: the file may come from elsewhere, and each tool needs memory. */
#define TOOLS_MAX 100000
#define FILES_MAX 4096
#define TEXT_MAX 4096

void ck_lockfile_done(struct ck_lockfile *lock)
{
    ck_arena_done(&lock->arena);
    *lock = (struct ck_lockfile){0};
}

/* ---- order ---- */

/* A name can have several files, so the path decides next. A missing path comes first. */
static int compare_files(const void *left, const void *right)
{
    const struct ck_lockfile_file *a = left;
    const struct ck_lockfile_file *b = right;
    int order = strcmp(a->name, b->name);
    return order != 0 ? order : strcmp(a->path ? a->path : "", b->path ? b->path : "");
}

static int compare_tools(const void *left, const void *right)
{
    const struct ck_lockfile_tool *a = left;
    const struct ck_lockfile_tool *b = right;
    return strcmp(a->name, b->name);
}

/* qsort must not get a NULL pointer, which an empty list may be. */
static void sort(void *items, size_t count, size_t size, int (*compare)(const void *, const void *))
{
    if (count > 1)
        qsort(items, count, size, compare);
}

void ck_lockfile_sort(struct ck_lockfile *lock)
{
    for (size_t i = 0; i < lock->count; i++) {
        struct ck_lockfile_tool *tool = &lock->tools[i];
        sort(tool->interpreters.items, tool->interpreters.count, sizeof(*tool->interpreters.items), compare_files);
        sort(tool->libraries.items, tool->libraries.count, sizeof(*tool->libraries.items), compare_files);
    }
    sort(lock->tools, lock->count, sizeof(*lock->tools), compare_tools);
}

/* ---- reading ---- */

/* NULL: the file could not be read when the lock was written. */
static bool is_digest(const char *text)
{
    return !text || ck_text_is_sha256(text);
}

/* A list of interpreters or libraries. False if it is malformed, or without memory. */
static bool take_files(struct ck_arena *arena, const json_t *array, struct ck_lockfile_files *files)
{
    if (!json_is_array(array) || json_array_size(array) > FILES_MAX)
        return false;
    files->count = json_array_size(array);
    files->items = ck_arena_array(arena, files->count + 1, sizeof(*files->items));
    bool good = !!files->items;
    for (size_t i = 0; good && i < files->count; i++) {
        const json_t *object = json_array_get(array, i);
        struct ck_lockfile_file *file = &files->items[i];
        good = ck_text_member(arena, object, "name", TEXT_MAX, &file->name) &&
               ck_text_optional(arena, object, "path", TEXT_MAX, &file->path) &&
               ck_text_optional(arena, object, "sha256", TEXT_MAX, &file->sha256) && is_digest(file->sha256);
    }
    return good;
}

static bool take_tool(struct ck_arena *arena, const json_t *object, struct ck_lockfile_tool *tool)
{
    return ck_text_member(arena, object, "name", TEXT_MAX, &tool->name) &&
           ck_text_member(arena, object, "path", TEXT_MAX, &tool->path) &&
           ck_text_optional(arena, object, "version", TEXT_MAX, &tool->version) &&
           ck_text_optional(arena, object, "sha256", TEXT_MAX, &tool->sha256) && is_digest(tool->sha256) &&
           take_files(arena, json_object_get(object, "interpreters"), &tool->interpreters) &&
           take_files(arena, json_object_get(object, "libraries"), &tool->libraries);
}

static int take_all(const json_t *root, struct ck_lockfile *lock, struct choke_error *error)
{
    const json_t *version = json_object_get(root, "version");
    const json_t *tools = json_object_get(root, "tools");
    if (!json_is_integer(version) || !json_is_array(tools))
        return ck_error_set(error, CHOKE_INVALID, EINVAL, "it is not a lock file: 'version' or 'tools' is missing");
    if (json_integer_value(version) != FORMAT_VERSION)
        return ck_error_set(error, CHOKE_INVALID, EINVAL,
                            "its version is %lld, but only %d is supported; write it again with 'chokepoint lock'",
                            (long long)json_integer_value(version), FORMAT_VERSION);
    lock->count = json_array_size(tools);
    if (lock->count > TOOLS_MAX)
        return ck_error_set(error, CHOKE_INVALID, EINVAL, "it has %zu tools; the maximum is %d", lock->count,
                            TOOLS_MAX);
    lock->tools = ck_arena_array(&lock->arena, lock->count + 1, sizeof(*lock->tools));
    if (!lock->tools)
        return ck_error_oom(error);
    for (size_t i = 0; i < lock->count; i++)
        if (!take_tool(&lock->arena, json_array_get(tools, i), &lock->tools[i]))
            return lock->arena.failed
                       ? ck_error_oom(error)
                       : ck_error_set(error, CHOKE_INVALID, EINVAL,
                                      "tool %zu is malformed; write the file again with 'chokepoint lock'", i + 1);
    /* A file that was edited or merged by hand may have another order. */
    ck_lockfile_sort(lock);
    /* The tools are sorted, so duplicates are neighbours. */
    for (size_t i = 1; i < lock->count; i++)
        if (strcmp(lock->tools[i - 1].name, lock->tools[i].name) == 0)
            return ck_error_set(error, CHOKE_INVALID, EINVAL, "a tool is listed twice");
    return 0;
}

int ck_lockfile_parse(const char *text, size_t length, struct ck_lockfile *ret, struct choke_error *error)
{
    json_error_t parse = {0};
    *ret = (struct ck_lockfile){0};
    /* Before the parser, which recurses and would use up the small stack of a host thread. */
    if (ck_json_is_deep(text, length))
        return ck_error_set(error, CHOKE_INVALID, EINVAL, "it is nested more than %d deep", CK_JSON_DEPTH_MAX);
    json_t *root = json_loadb(text, length, JSON_REJECT_DUPLICATES, &parse);
    /* jansson describes each fault of the text; of a lack of memory it does not say all */
    if (!root && (parse.text[0] == '\0' || json_error_code(&parse) == json_error_out_of_memory))
        return ck_error_oom(error);
    if (!root)
        return ck_error_set(error, CHOKE_INVALID, EINVAL, "it is not JSON (line %d, column %d)", parse.line,
                            parse.column);
    int r = take_all(root, ret, error);
    json_decref(root);
    /* a caller that ignores the error must not use a part of the tools */
    if (r < 0)
        ret->count = 0;
    return r;
}

/* ---- writing ---- */

/*
 * jansson's setters fail for a NULL value or object, and own the value also then. So NULL is
 * checked once, at the end.
 */
static json_t *files_json(const struct ck_lockfile_files *files)
{
    json_t *array = json_array();
    int bad = !array;
    for (size_t i = 0; !bad && i < files->count; i++) {
        json_t *object = json_object();
        bad |= json_object_set_new(object, "name", ck_text_json(files->items[i].name));
        bad |= json_object_set_new(object, "path", ck_text_json(files->items[i].path));
        bad |= json_object_set_new(object, "sha256", ck_text_json(files->items[i].sha256));
        bad |= json_array_append_new(array, object);
    }
    if (!bad)
        return array;
    json_decref(array);
    return NULL;
}

static json_t *tool_json(const struct ck_lockfile_tool *tool)
{
    json_t *object = json_object();
    int bad = 0;
    bad |= json_object_set_new(object, "name", ck_text_json(tool->name));
    bad |= json_object_set_new(object, "path", ck_text_json(tool->path));
    bad |= json_object_set_new(object, "version", ck_text_json(tool->version));
    bad |= json_object_set_new(object, "sha256", ck_text_json(tool->sha256));
    bad |= json_object_set_new(object, "interpreters", files_json(&tool->interpreters));
    bad |= json_object_set_new(object, "libraries", files_json(&tool->libraries));
    if (!bad)
        return object;
    json_decref(object);
    return NULL;
}

char *ck_lockfile_format(const struct ck_lockfile *lock)
{
    json_t *root = json_object();
    json_t *tools = json_array();
    int bad = json_object_set_new(root, "version", json_integer(FORMAT_VERSION));
    for (size_t i = 0; i < lock->count; i++)
        bad |= json_array_append_new(tools, tool_json(&lock->tools[i]));
    bad |= json_object_set_new(root, "tools", tools);
    /* indented, so that a change is a small difference in version control */
    char *text = bad ? NULL : json_dumps(root, JSON_INDENT(2));
    json_decref(root);
    return text;
}
