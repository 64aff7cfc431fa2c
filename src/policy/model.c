/*
 * model.c - names, limits and look-ups of the policy in memory. See model.h.
 *
 * Tools keep the order of the file, which is the order that people see. A second array, sorted by
 * name, is for searching: with thousands of tools a call needs a dozen comparisons.
 */
#include "policy/model.h"

#include <stddef.h>
#include <string.h>

/* The key in the policy and the member have the same name. */
#define LIMIT(name, unit, min, max, usual) \
    { \
#name, unit, min, max, usual, offsetof(struct ck_limits, name) \
    }

/*
 * With the minimum values a program that is linked to a C library can still be executed. The
 * maximum values are beyond any machine, and far below where a number of bytes would overflow.
 */
const struct ck_limit_key ck_limit_keys[CK_LIMIT_KEYS] = {
    LIMIT(timeout_s, " seconds", 1, 365 * 24 * 3600, CK_DEFAULT_TIMEOUT_S),
    LIMIT(memory_mib, " MiB", 8, 16777216, 0),
    LIMIT(processes, "", 1, 4194304, 0),
    LIMIT(cpu_s, " seconds", 1, 365 * 24 * 3600, 0),
    LIMIT(file_size_mib, " MiB", 1, 16777216, 0),
    LIMIT(open_files, "", 8, 1048576, 0),
    LIMIT(egress_mib, " MiB", 1, 16777216, 0),
    LIMIT(egress_connections, "", 1, 100000, CK_DEFAULT_EGRESS_CONNECTIONS),
};

/* memcpy, because the member is found by its offset: the table makes one loop of eight keys. */
uint32_t ck_policy_limit(const struct ck_limits *limits, const struct ck_limit_key *key)
{
    uint32_t value;
    memcpy(&value, (const char *)limits + key->offset, sizeof(value));
    return value;
}

void ck_policy_limits_least(struct ck_limits *least, const struct ck_limits *other)
{
    for (size_t i = 0; i < CK_LIMIT_KEYS; i++) {
        uint32_t was = ck_policy_limit(least, &ck_limit_keys[i]);
        uint32_t is = ck_policy_limit(other, &ck_limit_keys[i]);
        /* 0 is no limit, so any number is stricter. */
        if (is != 0 && (was == 0 || is < was))
            memcpy((char *)least + ck_limit_keys[i].offset, &is, sizeof(is));
    }
}

#define KEY(key, member) \
    { \
        key, offsetof(struct ck_tool, member), sizeof(((struct ck_tool *)0)->member) \
    }

/*
 * The keys of a subcommand. A new one needs a line here, and its line in KEYS_FIELDS of schema.c;
 * whatever reads the key of a tool in a verdict then gets that of the subcommand.
 */
const struct ck_subcommand_key ck_subcommand_keys[CK_SUBCOMMAND_KEYS] = {
    KEY("execs", execs),
    KEY("execs", has_execs),
    KEY("uses", uses),
    KEY("workspace", workspace),
    KEY("workspace", has_workspace),
    KEY("workspace_code", workspace_code),
    KEY("loopback", loopback),
    KEY("require_jail", require_jail),
    KEY("egress", egress),
    KEY("env", env),
    KEY("set_env", set_env),
    KEY("set_env", set_env_count),
    KEY("limits", limits),
};

bool ck_policy_subcommand_has(const struct ck_subcommand *subcommand, const char *key)
{
    size_t length = strcspn(key, ".");
    for (size_t i = 0; i < CK_SUBCOMMAND_KEYS; i++)
        if ((subcommand->given >> i & 1) != 0 && strncmp(ck_subcommand_keys[i].key, key, length) == 0 &&
            ck_subcommand_keys[i].key[length] == '\0')
            return true;
    return false;
}

void ck_policy_subcommand_tool(const struct ck_tool *tool, const struct ck_subcommand *subcommand,
                               struct ck_tool *ret_tool)
{
    *ret_tool = *tool;
    ret_tool->subcommand = subcommand;
    for (size_t i = 0; i < CK_SUBCOMMAND_KEYS; i++)
        if ((subcommand->given >> i & 1) != 0)
            memcpy((char *)ret_tool + ck_subcommand_keys[i].offset,
                   (const char *)&subcommand->own + ck_subcommand_keys[i].offset, ck_subcommand_keys[i].size);
}

const char *ck_policy_route_name(enum ck_route route)
{
    switch (route) {
    case CK_ROUTE_DIRECT:
        return "direct";
    case CK_ROUTE_EXTERNAL:
        return "external";
    case CK_ROUTE_JAIL:
        return "jail";
    case CK_ROUTE_CARRIER:
        return "carrier";
    }
    return "?";
}

const char *ck_policy_platform_name(enum ck_platform platform)
{
    switch (platform) {
    case CK_PLATFORM_LINUX:
        return "linux";
    case CK_PLATFORM_MACOS:
        return "macos";
    }
    return "?";
}

const char *ck_policy_workspace_name(enum ck_workspace workspace)
{
    switch (workspace) {
    case CK_WORKSPACE_RO:
        return "ro";
    case CK_WORKSPACE_RW:
        return "rw";
    case CK_WORKSPACE_OVERLAY:
        return "overlay";
    }
    return "?";
}

const char *ck_policy_root_at_name(enum ck_root_at root_at)
{
    return root_at == CK_ROOT_AT_OWN ? "own" : "work";
}

/* An overlay can write, but what it wrote does not reach the repository by itself. */
bool ck_policy_workspace_narrows(enum ck_workspace before, enum ck_workspace after)
{
    static const int widths[] = {[CK_WORKSPACE_RO] = 0, [CK_WORKSPACE_OVERLAY] = 1, [CK_WORKSPACE_RW] = 2};
    return widths[after] < widths[before];
}

const struct ck_tool *ck_policy_find(const struct ck_policy *policy, const char *name)
{
    uint32_t low = 0;
    uint32_t high = policy->tools_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        int order = strcmp(name, policy->by_name[middle]->name);
        if (order == 0)
            return policy->by_name[middle];
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return NULL;
}

bool ck_policy_tool_is_beneath_root(const struct ck_tool *tool)
{
    return tool->path && tool->path[0] == '.' && tool->path[1] == '/';
}

const char *ck_policy_tool_file(const struct ck_policy *policy, const struct ck_tool *tool)
{
    if (tool->catalog_file)
        return tool->catalog_file;
    return tool->embedded ? CK_POLICY_DEFAULT_NAME : policy->file;
}

bool ck_policy_is_merged(const struct ck_policy *policy)
{
    return policy->extends || policy->catalog.count > 0;
}

bool ck_policy_tool_is_here(const struct ck_tool *tool)
{
    return tool->platforms == 0 || (tool->platforms & CK_PLATFORM_HERE) != 0;
}

bool ck_policy_tool_is_callable(const struct ck_tool *tool)
{
    return tool->route != CK_ROUTE_JAIL && tool->route != CK_ROUTE_CARRIER && ck_policy_tool_is_here(tool);
}

/*
 * The package manager of the platform first, then what works everywhere. brew also exists on Linux,
 * so it comes last.
 */
char *ck_policy_tool_install_command(struct ck_arena *arena, const struct ck_tool *tool)
{
    const struct ck_install *install = &tool->install;
    /* A constant of this build; both branches are compiled everywhere. */
    if (CK_PLATFORM_HERE == CK_PLATFORM_LINUX && install->apt)
        return ck_arena_printf(arena, "apt-get install %s", install->apt);
    if (CK_PLATFORM_HERE == CK_PLATFORM_MACOS && install->brew)
        return ck_arena_printf(arena, "brew install %s", install->brew);
    if (install->npm)
        return ck_arena_printf(arena, "npm install -g %s", install->npm);
    if (install->url)
        return ck_arena_printf(arena, "see %s", install->url);
    if (install->brew)
        return ck_arena_printf(arena, "brew install %s", install->brew);
    return NULL;
}
