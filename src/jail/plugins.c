/* plugins.c - adds the plug-ins of interpreters to a jail. See plugins.h. */
#include "jail/plugins.h"

#include "base/clock.h"
#include "jail/plugins_cache.h"
#include "jail/plugins_scan.h"

#include <errno.h>
#include <string.h>

void ck_plugins_reset(struct ck_plugins *plugins)
{
    ck_arena_done(&plugins->arena);
    *plugins = (struct ck_plugins){.root = plugins->root, .home = plugins->home};
}

void ck_plugins_done(struct ck_plugins *plugins)
{
    ck_plugins_reset(plugins);
}

void ck_plugins_note(struct ck_plugins *plugins, const char *real)
{
    struct ck_plugins_interpreter found;
    if (!plugins || plugins->interpreters_count == CK_PLUGINS_INTERPRETERS_MAX || !ck_plugins_layout_find(real, &found))
        return;
    for (size_t i = 0; i < plugins->interpreters_count; i++)
        if (strcmp(plugins->interpreters[i].path, real) == 0)
            return;
    plugins->interpreters[plugins->interpreters_count++] = found;
}

/* ---- the jail ---- */

static bool is_beneath(const char *path, const char *directory)
{
    size_t length = strlen(directory);
    return strncmp(path, directory, length) == 0 && (path[length] == '/' || path[length] == '\0');
}

/* The interpreter itself needs some of the libraries, and a directory in `execs` is code as a whole. */
static bool is_there(const struct ck_native_builder *program, size_t count, const char *path)
{
    for (size_t i = 0; i < count; i++)
        if (program->ops[i].op == CK_NATIVE_OP_BIND_CODE && is_beneath(path + 1, program->ops[i].inside))
            return true;
    return false;
}

/* listed: how many operations the program had before the first plug-in. */
static void add_files(struct ck_native_builder *program, size_t listed, const struct ck_plugins_list *list)
{
    for (size_t i = 0; i < list->files_count; i++) {
        const struct ck_plugins_stamp *file = &list->files[i];
        if (!is_there(program, listed, file->path))
            ck_native_program_add_op(program, &(const struct ck_native_builder_op){.op = CK_NATIVE_OP_BIND_PLUGIN,
                                                                                   .inside = file->path + 1,
                                                                                   .outside = file->path,
                                                                                   .device = file->version.device,
                                                                                   .inode = file->version.inode});
    }
}

/* The list's own memory is freed after this call. */
static int keep_directories(struct ck_plugins *plugins, const struct ck_plugins_list *list)
{
    size_t count = plugins->count + list->directories_count;
    struct ck_plugins_stamp *all = ck_arena_array(&plugins->arena, count + 1, sizeof(*all));
    if (!all)
        return -ENOMEM;
    if (plugins->count > 0)
        memcpy(all, plugins->directories, plugins->count * sizeof(*all));
    for (size_t i = 0; i < list->directories_count; i++) {
        struct ck_plugins_stamp *kept = &all[plugins->count + i];
        kept->version = list->directories[i].version;
        kept->path = ck_arena_strdup(&plugins->arena, list->directories[i].path);
        if (!kept->path)
            return -ENOMEM;
    }
    plugins->directories = all;
    plugins->count = count;
    /* A change in the same tick as the last one would not be seen. So it is searched once more, later. */
    if (!list->settled)
        plugins->valid_until_ns = ck_clock_now_ns() + (uint64_t)CK_VERSION_SETTLED_NS;
    return 0;
}

static int find(struct ck_plugins *plugins, struct ck_plugins_check *check, struct ck_depend *depend,
                struct ck_plugins_list *list)
{
    int r = ck_plugins_list_init(list, check->arena);
    if (r == 0)
        r = ck_plugins_check_interpreter(check);
    if (r <= 0)
        return r;
    r = ck_plugins_cache_load(check, &plugins->root, list);
    if (r != 0)
        return r;
    r = ck_plugins_list_init(list, check->arena);
    if (r == 0)
        r = ck_plugins_scan(check, depend, list);
    if (r == 0)
        ck_plugins_cache_save(check, &plugins->root, list);
    return r;
}

int ck_plugins_add(struct ck_plugins *plugins, struct ck_native_builder *program, struct ck_depend *depend)
{
    int r = 0;
    size_t listed = program->ops_count;
    if (!plugins || program->libraries != 0)
        return 0;
    for (size_t i = 0; r >= 0 && i < plugins->interpreters_count; i++) {
        struct ck_arena arena = {0};
        struct ck_plugins_check check = {
            .arena = &arena, .home = plugins->home, .interpreter = &plugins->interpreters[i]};
        struct ck_plugins_list list;
        r = find(plugins, &check, depend, &list);
        if (r >= 0)
            add_files(program, listed, &list);
        if (r >= 0)
            r = keep_directories(plugins, &list);
        ck_arena_done(&arena);
    }
    return r < 0 ? r : 0;
}

bool ck_plugins_are_current(const struct ck_plugins *plugins)
{
    if (plugins->valid_until_ns != 0 && ck_clock_now_ns() >= plugins->valid_until_ns)
        return false;
    for (size_t i = 0; i < plugins->count; i++) {
        const struct ck_version now = ck_plugins_version_now(plugins->directories[i].path);
        if (!ck_version_equal(&now, &plugins->directories[i].version))
            return false;
    }
    return true;
}
