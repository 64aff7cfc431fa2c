/*
 * guard_tools.c - which tools of a policy have a door in a cage.
 *
 * A door is mounted over the tool's own file, so a name, a path and a symlink all lead to it. Every
 * tool that callers may name has one, but for carriers. A tool that is not installed or not trusted
 * has none: nothing of that name can be executed in the cage.
 *
 * What the cage can write must not be what a tool or a carrier is executed from: a call would run what
 * PROGRAM wrote there, with the rights of the tool.
 */
#include "api/guard.h"

#include "base/error.h"
#include "base/fd.h"
#include "base/path.h"
#include "base/quote.h"
#include "policy/profile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Could PROGRAM change this file? By a path beneath what it can write, or by another name that it has there. */
static bool is_exposed(const struct choke_guard *guard, const char *file, const struct stat *status)
{
    bool beneath = !!ck_path_beneath(guard->root, file);
    for (size_t i = 0; i < guard->writable_count; i++)
        beneath = beneath || ck_path_beneath(guard->writable[i].path, file) ||
                  ck_path_beneath(guard->directories[i].real, file);
    return beneath || ck_trust_has_second_name(status);
}

/* The file of a tool, without symlinks. 0; 1: the cage has no such tool; or a negative errno. */
static int find_file(struct choke_guard *guard, const struct ck_tool *tool, bool must, const char **ret_file,
                     struct choke_error *error)
{
    const struct ck_binary_wanted wanted = {.name = tool->name, .path = tool->path};
    struct ck_binary binary;
    struct stat status;
    struct choke_error found = {0};
    if (ck_policy_tool_is_beneath_root(tool))
        return 1;
    if (ck_binary_find(&guard->context->search, &wanted, guard->root_identity, &binary, NULL, &found) < 0) {
        bool shortage = found.outcome == CHOKE_SPAWN_FAILED && found.errnum != EACCES;
        if (shortage)
            *error = found;
        return shortage ? -found.errnum : 1;
    }
    ck_fd_close(&binary.fd);
    char *real = realpath(binary.path, NULL);
    int r = !real ? -errno : stat(real, &status) < 0 ? -errno : 0;
    *ret_file = r == 0 ? ck_arena_strdup(&guard->arena, real) : NULL;
    free(real);
    if (r < 0)
        return r == -ENOMEM ? ck_error_oom(error) : 1;
    if (!*ret_file)
        return ck_error_oom(error);
    if (!is_exposed(guard, *ret_file, &status))
        return 0;
    if (!must)
        return 1;
    return ck_error_set(error, CHOKE_DISALLOWED, EPERM,
                        "carrier '%s' cannot be used: the program could change its file '%s', which is beneath a "
                        "directory that it may write, or has a second name",
                        tool->name, CK_QUOTE(*ret_file));
}

/* The files of the carriers, which no door may cover: "sh" and "dash" are one file. */
static int find_carriers(struct choke_guard *guard, const struct ck_policy *policy, const char **ret_files,
                         size_t *ret_count, struct choke_error *error)
{
    *ret_count = 0;
    for (uint32_t i = 0; i < policy->tools_count; i++) {
        if (!ck_profile_is_carrier(policy, &policy->tools[i]))
            continue;
        int r = find_file(guard, &policy->tools[i], true, &ret_files[*ret_count], error);
        if (r < 0)
            return r;
        *ret_count += r == 0 ? 1 : 0;
    }
    return 0;
}

static bool is_among(const char *const *files, size_t count, const char *file)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(files[i], file) == 0)
            return true;
    return false;
}

/*
 * An entry that runs in the cage alone names what it starts there: then that is no door. node starts the
 * script of an agent, and as a tool of the policy it may be called for its version only.
 */
static bool is_helper(const struct ck_policy *policy, const char *name)
{
    for (uint32_t i = 0; i < policy->tools_count; i++) {
        const struct ck_tool *tool = &policy->tools[i];
        if (tool->route == CK_ROUTE_CARRIER && ck_policy_tool_is_here(tool) &&
            is_among(tool->execs.items, tool->execs.count, name))
            return true;
    }
    return false;
}

static int add_door(struct choke_guard *guard, const struct ck_tool *tool, const char **doors, size_t *doors_count,
                    struct choke_error *error)
{
    const char *file = NULL;
    int r = find_file(guard, tool, false, &file, error);
    if (r != 0)
        return r < 0 ? r : 0;
    guard->tools[guard->tools_count++] = (struct ck_guard_tool){.tool = tool, .file = file};
    if (!is_among(doors, *doors_count, file))
        doors[(*doors_count)++] = file;
    return 0;
}

int ck_guard_tools_find(struct choke_guard *guard, const struct ck_policy *policy, struct choke_error *error)
{
    const char **carriers = ck_arena_array(&guard->arena, policy->tools_count + 1u, sizeof(*carriers));
    const char **doors = ck_arena_array(&guard->arena, policy->tools_count + 1u, sizeof(*doors));
    size_t carriers_count = 0, doors_count = 0;
    guard->tools = ck_arena_array(&guard->arena, policy->tools_count + 1u, sizeof(*guard->tools));
    if (!carriers || !doors || !guard->tools)
        return ck_error_oom(error);
    int r = find_carriers(guard, policy, carriers, &carriers_count, error);
    for (uint32_t i = 0; r == 0 && i < policy->tools_count; i++)
        if (ck_profile_is_door(policy, &policy->tools[i]) && !is_helper(policy, policy->tools[i].name))
            r = add_door(guard, &policy->tools[i], doors, &doors_count, error);
    /* A tool that shares its file with a carrier is executed in the cage, as the carrier is. */
    size_t kept = 0;
    for (size_t i = 0; i < doors_count; i++)
        if (!is_among(carriers, carriers_count, doors[i]))
            doors[kept++] = doors[i];
    doors[kept] = NULL;
    guard->cage.native.doors = doors;
    return r;
}

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static const struct ck_tool *choose_by_name(const struct choke_guard *guard, const char *file, const char *name)
{
    for (size_t i = 0; i < guard->tools_count; i++)
        if (strcmp(guard->tools[i].file, file) == 0 && strcmp(guard->tools[i].tool->name, name) == 0)
            return guard->tools[i].tool;
    return NULL;
}

/*
 * One file may be several tools: then the name that was executed says which one, then argv[0]. Neither
 * can choose a tool of another file.
 */
const struct ck_tool *ck_guard_tools_choose(const struct choke_guard *guard, const struct choke_guard_call *call)
{
    const struct ck_tool *only = NULL;
    size_t count = 0;
    for (size_t i = 0; i < guard->tools_count; i++)
        if (strcmp(guard->tools[i].file, call->file) == 0) {
            only = guard->tools[i].tool;
            count++;
        }
    if (count <= 1)
        return only;
    const struct ck_tool *chosen = choose_by_name(guard, call->file, last_part(call->executed));
    if (!chosen && call->argv[0])
        chosen = choose_by_name(guard, call->file, last_part(call->argv[0]));
    return chosen;
}
