/*
 * diff.c - see diff.h.
 *
 * One table has a row for each field of a tool, so that what is compared can be seen at a glance. The arguments have
 * a file of their own, diff_args.c, and what is wider than what is decided in width.c.
 */
#include "policy/diff.h"

#include "policy/changes.h"

#include <errno.h>
#include <string.h>

#define WIDENS CHOKE_CHANGE_WIDENS
#define NARROWS CHOKE_CHANGE_NARROWS
#define NEUTRAL CHOKE_CHANGE_NEUTRAL

/* One tool in both policies, with what else a rule needs. */
struct pair {
    struct ck_changes *changes;
    const struct ck_policy *old_policy;
    const struct ck_tool *before;
    const struct ck_tool *after;
};

static const char *number_text(struct ck_changes *changes, uint32_t number)
{
    const char *text = ck_arena_printf(changes->arena, "%u", number);
    changes->failed = changes->failed || text == NULL;
    return text;
}

/* ---- words that grant nothing ------------------------------------------------------------ */

static void diff_words(const struct pair *pair)
{
    static const char *const truths[] = {"false", "true"};
    const struct ck_tool *was = pair->before;
    const struct ck_tool *is = pair->after;
    ck_change_text(pair->changes, "why", was->why, is->why, NEUTRAL);
    ck_change_text(pair->changes, "adr", was->adr, is->adr, NEUTRAL);
    ck_change_text(pair->changes, "required", truths[was->required], truths[is->required], NEUTRAL);
    ck_change_text(pair->changes, "install.apt", was->install.apt, is->install.apt, NEUTRAL);
    ck_change_text(pair->changes, "install.brew", was->install.brew, is->install.brew, NEUTRAL);
    ck_change_text(pair->changes, "install.npm", was->install.npm, is->install.npm, NEUTRAL);
    ck_change_text(pair->changes, "install.url", was->install.url, is->install.url, NEUTRAL);
}

/* ---- where and how it runs --------------------------------------------------------------- */

/* Nobody can call a jail's helper; an external tool is caged where that can be had; a direct one is not. */
static unsigned route_width(enum ck_route route)
{
    return route == CK_ROUTE_JAIL ? 0 : route == CK_ROUTE_EXTERNAL ? 1 : 2;
}

static void diff_route(const struct pair *pair)
{
    enum ck_route was = pair->before->route;
    enum ck_route is = pair->after->route;
    ck_change_text(pair->changes, "route", ck_route_name(was), ck_route_name(is),
                   route_width(is) > route_width(was) ? WIDENS : NARROWS);
}

static const char *platforms_text(unsigned platforms)
{
    static const char *const texts[] = {NULL, "linux", "macos", "linux macos"};
    return texts[platforms & (CK_PLATFORM_LINUX | CK_PLATFORM_MACOS)];
}

static void diff_platforms(const struct pair *pair)
{
    const unsigned every = CK_PLATFORM_LINUX | CK_PLATFORM_MACOS;
    unsigned was = pair->before->platforms != 0 ? pair->before->platforms : every;
    unsigned is = pair->after->platforms != 0 ? pair->after->platforms : every;
    ck_change_text(pair->changes, "platforms", platforms_text(pair->before->platforms),
                   platforms_text(pair->after->platforms),
                   (is & ~was) != 0 ? WIDENS
                   : is != was      ? NARROWS
                                    : NEUTRAL);
}

/* Without a limit a caller may ask for any time, and a tool take all that there is. */
static void diff_limits(const struct pair *pair)
{
    for (size_t i = 0; i < CK_LIMIT_KEYS; i++) {
        uint32_t was = ck_limit_of(&pair->before->limits, &ck_limit_keys[i]);
        uint32_t is = ck_limit_of(&pair->after->limits, &ck_limit_keys[i]);
        const char *name = ck_arena_printf(pair->changes->arena, "limits.%s", ck_limit_keys[i].key);
        pair->changes->failed = pair->changes->failed || name == NULL;
        if (name != NULL)
            ck_change_text(pair->changes, name, was != 0 ? number_text(pair->changes, was) : NULL,
                           is != 0 ? number_text(pair->changes, is) : NULL,
                           is == 0 || (was != 0 && is > was) ? WIDENS : NARROWS);
    }
}

/* ---- what is run ------------------------------------------------------------------------- */

/* Is it a place where the old policy would have found the tool? */
static bool was_reachable(const struct ck_policy *policy, const char *path, const char *name)
{
    const char *slash = strrchr(path, '/');
    size_t length = (size_t)(slash - path);
    for (uint32_t i = 0; strcmp(slash + 1, name) == 0 && i < policy->search_path.count; i++)
        if (strlen(policy->search_path.items[i]) == length && memcmp(policy->search_path.items[i], path, length) == 0)
            return true;
    return false;
}

static void diff_path(const struct pair *pair)
{
    const char *was = pair->before->path;
    const char *is = pair->after->path;
    bool narrows = was == NULL && is != NULL && was_reachable(pair->old_policy, is, pair->after->name);
    ck_change_text(pair->changes, "path", was, is, narrows ? NARROWS : WIDENS);
}

static void diff_sha256(const struct pair *pair)
{
    ck_change_text(pair->changes, "sha256", pair->before->sha256, pair->after->sha256,
                   pair->before->sha256 == NULL ? NARROWS : WIDENS);
}

static void diff_execs(const struct pair *pair)
{
    const struct ck_tool *was = pair->before;
    const struct ck_tool *is = pair->after;
    static const char *const words[] = {"not restricted", "a closed list"};
    if (was->has_execs && is->has_execs)
        ck_change_lists(pair->changes, "execs", &was->execs, &is->execs, WIDENS, NARROWS);
    else
        ck_change_text(pair->changes, "execs", words[was->has_execs], words[is->has_execs],
                       is->has_execs ? NARROWS : WIDENS);
}

/* It is always allowed as it stands, and run to see the version. */
static void diff_version_args(const struct pair *pair)
{
    ck_change_words(pair->changes, "version_args", &pair->before->version_args, &pair->after->version_args,
                    pair->after->version_args.count > 0 ? WIDENS : NARROWS);
}

static void diff_arguments(const struct pair *pair)
{
    ck_diff_args(pair->changes, pair->before->args, pair->after->args);
}

/* ---- what it is given -------------------------------------------------------------------- */

static void diff_env(const struct pair *pair)
{
    ck_change_lists(pair->changes, "env", &pair->before->env, &pair->after->env, WIDENS, NARROWS);
}

static const struct ck_variable *find_variable(const struct ck_tool *tool, const char *name)
{
    for (uint32_t i = 0; i < tool->set_env_count; i++)
        if (strcmp(tool->set_env[i].name, name) == 0)
            return &tool->set_env[i];
    return NULL;
}

static const char *variable_text(struct ck_changes *changes, const struct ck_variable *variable)
{
    const char *text = ck_arena_printf(changes->arena, "%s=%s", variable->name, variable->value);
    changes->failed = changes->failed || text == NULL;
    return text;
}

/* A variable may harden a tool or turn something on; nobody here knows which. */
static void diff_set_env(const struct pair *pair)
{
    struct ck_changes *changes = pair->changes;
    for (uint32_t i = 0; i < pair->before->set_env_count; i++) {
        const struct ck_variable *was = &pair->before->set_env[i];
        const struct ck_variable *is = find_variable(pair->after, was->name);
        if (is == NULL || strcmp(was->value, is->value) != 0)
            ck_change_add(changes, WIDENS, "set_env", variable_text(changes, was),
                          is != NULL ? variable_text(changes, is) : NULL);
    }
    for (uint32_t i = 0; i < pair->after->set_env_count; i++)
        if (find_variable(pair->before, pair->after->set_env[i].name) == NULL)
            ck_change_add(changes, WIDENS, "set_env", NULL, variable_text(changes, &pair->after->set_env[i]));
}

static void diff_credentials(const struct pair *pair)
{
    static const char *const words[] = {"refuse", "allow"};
    ck_change_text(pair->changes, "credentials", words[pair->before->allow_credentials],
                   words[pair->after->allow_credentials], pair->after->allow_credentials ? WIDENS : NARROWS);
}

static bool reached(const struct ck_list *egress, const char *destination)
{
    for (uint32_t i = 0; i < egress->count; i++)
        if (ck_destination_within(destination, egress->items[i]))
            return true;
    return false;
}

/* An entry that says no more than others of its list do is neutral, whether it comes or goes. */
static void diff_egress(const struct pair *pair)
{
    const struct ck_list *was = &pair->before->egress;
    const struct ck_list *is = &pair->after->egress;
    for (uint32_t i = 0; i < was->count; i++)
        if (!ck_list_has(is, was->items[i]))
            ck_change_add(pair->changes, reached(is, was->items[i]) ? NEUTRAL : NARROWS, "egress", was->items[i], NULL);
    for (uint32_t i = 0; i < is->count; i++)
        if (!ck_list_has(was, is->items[i]))
            ck_change_add(pair->changes, reached(was, is->items[i]) ? NEUTRAL : WIDENS, "egress", NULL, is->items[i]);
}

static void diff_workspace(const struct pair *pair)
{
    enum ck_workspace was = pair->before->workspace;
    enum ck_workspace is = pair->after->workspace;
    ck_change_text(pair->changes, "workspace", ck_workspace_name(was), ck_workspace_name(is),
                   ck_workspace_narrows(was, is) ? NARROWS : WIDENS);
}

/* ---- whole policies ---------------------------------------------------------------------- */

static void diff_tool(const struct pair *pair)
{
    static void (*const rules[])(const struct pair *) = {
        diff_words,        diff_route,     diff_platforms, diff_limits,  diff_path,        diff_sha256, diff_execs,
        diff_version_args, diff_arguments, diff_env,       diff_set_env, diff_credentials, diff_egress, diff_workspace,
    };
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++)
        rules[i](pair);
}

/* The directories that both have come in another order: another file of the same name may be found first. */
static bool is_reordered(const struct ck_list *before, const struct ck_list *after)
{
    uint32_t at = 0;
    for (uint32_t i = 0; i < before->count; i++) {
        if (!ck_list_has(after, before->items[i]))
            continue;
        while (at < after->count && !ck_list_has(before, after->items[at]))
            at++;
        if (at == after->count || strcmp(before->items[i], after->items[at++]) != 0)
            return true;
    }
    return false;
}

static void diff_top(struct ck_changes *changes, const struct ck_policy *before, const struct ck_policy *after)
{
    ck_change_text(changes, "version", number_text(changes, before->version), number_text(changes, after->version),
                   WIDENS);
    ck_change_text(changes, "adr_dir", before->adr_dir, after->adr_dir, NEUTRAL);
    ck_change_lists(changes, "search_path", &before->search_path, &after->search_path, WIDENS, NARROWS);
    if (is_reordered(&before->search_path, &after->search_path))
        ck_change_words(changes, "search_path", &before->search_path, &after->search_path, WIDENS);
}

static void diff_tools(struct ck_changes *changes, const struct ck_policy *before, const struct ck_policy *after)
{
    struct pair pair = {.changes = changes, .old_policy = before};
    for (uint32_t i = 0; i < before->tools_count; i++) {
        pair.before = &before->tools[i];
        pair.after = ck_policy_find(after, pair.before->name);
        changes->tool = pair.before->name;
        if (pair.after != NULL)
            diff_tool(&pair);
        else
            ck_change_add(changes, NARROWS, "tools", pair.before->name, NULL);
    }
    for (uint32_t i = 0; i < after->tools_count; i++) {
        changes->tool = after->tools[i].name;
        if (ck_policy_find(before, changes->tool) == NULL)
            ck_change_add(changes, WIDENS, "tools", NULL, changes->tool);
    }
}

int ck_policy_diff(const struct ck_policy *before, const struct ck_policy *after, struct ck_arena *arena,
                   struct choke_change **ret_changes, size_t *ret_count)
{
    struct ck_changes changes = {.arena = arena, .prefix = ""};
    diff_top(&changes, before, after);
    diff_tools(&changes, before, after);
    int r = ck_changes_take(&changes, ret_changes, ret_count);
    for (size_t i = 0; r == 0 && i < *ret_count; i++) {
        const char *name = (*ret_changes)[i].tool;
        const struct ck_tool *tool = name != NULL ? ck_policy_find(after, name) : NULL;
        if (name != NULL && tool == NULL)
            tool = ck_policy_find(before, name);
        (*ret_changes)[i].adr = tool != NULL ? tool->adr : NULL;
    }
    return r;
}
