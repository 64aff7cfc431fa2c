/*
 * diff.c - compares two policies, key by key. See diff.h.
 *
 * One principle: a change narrows only if for every request, on every machine, what is granted
 * after it is a subset of what was granted before. So each key has a comparison that returns a
 * reason why the change widens, or NULL. It returns NULL only if the subset is proven. The changes
 * between two policies are applied one after another, and a subset of a subset is a subset. So no
 * combination needs a check, as long as each proof is valid whatever the other keys are. Where a
 * proof depends on other keys, it uses the section "what keys do together".
 *
 * tests/unit/test_diff_grants.c draws policies, requests and machines, and tries to refute every
 * NULL. The arguments are in diff_args.c; width.c decides which of two values allows more.
 */
#include "policy/diff.h"

#include "base/path.h"
#include "policy/change_list.h"
#include "policy/extend.h"
#include "policy/helper_sets.h"

#include <errno.h>
#include <string.h>

#define WIDENS CHOKE_CHANGE_WIDENS
#define NARROWS CHOKE_CHANGE_NARROWS
#define NEUTRAL CHOKE_CHANGE_NEUTRAL
#define NEEDED_NAMESPACES "with '--jail none', and where no jail has namespaces, it was refused before"

static const char *const booleans[] = {"false", "true"};

/* NULL and failed set: no memory. The same for variable_text. */
static const char *number_text(struct ck_policy_changes *changes, uint32_t number)
{
    const char *text = ck_arena_printf(changes->arena, "%u", number);
    changes->failed = changes->failed || !text;
    return text;
}

/* ---- what keys do together --------------------------------------------------------------- */

static bool is_bwrap(const struct ck_tool *tool)
{
    return strcmp(tool->name, "bwrap") == 0 && tool->route == CK_ROUTE_JAIL;
}

/*
 * The jail `bwrap` is made with this entry. If it is not found, `auto` uses a weaker jail or none.
 * If it is found and was not before, `--jail bwrap` is no longer refused. So no key that decides
 * whether it is found can narrow.
 */
static const char *why_bwrap_widens(const struct ck_diff_pair *pair)
{
    if (is_bwrap(pair->before))
        return "where the jail 'bwrap' is missing, a tool runs in a weaker jail or in none";
    return is_bwrap(pair->after) ? "'--jail bwrap' was refused before" : NULL;
}

/* If the policy sets no limit, a usual one may apply. */
static const char *why_limit_widens(const struct ck_limit_key *key, uint32_t was, uint32_t is)
{
    if (is == 0)
        return "there is no limit any more";
    if (was != 0)
        return is > was ? "the limit is higher" : NULL;
    return key->usual != 0 && is > key->usual ? "without a limit in the policy a lower one applied" : NULL;
}

/* Does the old policy search for a jail's helper in the search path? */
static bool searches_bwrap(const struct ck_policy *policy)
{
    const struct ck_tool *bwrap = ck_policy_find(policy, "bwrap");
    return bwrap && is_bwrap(bwrap) && !bwrap->path;
}

/* ---- texts that grant nothing ------------------------------------------------------------ */

static void diff_notes(const struct ck_diff_pair *pair)
{
    const struct ck_tool *was = pair->before;
    const struct ck_tool *is = pair->after;
    ck_change_text(pair->changes, "why", was->why, is->why, NEUTRAL);
    ck_change_text(pair->changes, "adr", was->adr, is->adr, NEUTRAL);
    ck_change_text(pair->changes, "required", booleans[was->required], booleans[is->required], NEUTRAL);
    ck_change_text(pair->changes, "install.apt", was->install.apt, is->install.apt, NEUTRAL);
    ck_change_text(pair->changes, "install.brew", was->install.brew, is->install.brew, NEUTRAL);
    ck_change_text(pair->changes, "install.npm", was->install.npm, is->install.npm, NEUTRAL);
    ck_change_text(pair->changes, "install.url", was->install.url, is->install.url, NEUTRAL);
}

/* ---- where and how it runs --------------------------------------------------------------- */

/*
 * No one can call a jail's helper, nor a carrier but in guard; an external tool runs in a jail if one
 * is available; a direct one does not.
 */
static unsigned route_width(enum ck_route route)
{
    return route == CK_ROUTE_JAIL || route == CK_ROUTE_CARRIER ? 0 : route == CK_ROUTE_EXTERNAL ? 1 : 2;
}

/*
 * A narrower route of bwrap itself takes a jail away, so it may still widen. A carrier runs in guard
 * alone, where no other route lets a tool run without its own jail; so to become one widens, too.
 */
static void diff_route(const struct ck_diff_pair *pair)
{
    enum ck_route was = pair->before->route;
    enum ck_route is = pair->after->route;
    const char *why = is == CK_ROUTE_CARRIER && was != is   ? "in guard it runs in the cage, with any argument"
                      : route_width(is) <= route_width(was) ? why_bwrap_widens(pair)
                      : is == CK_ROUTE_DIRECT               ? "it runs without a jail unless one is requested"
                                                            : "callers may call it";
    ck_change_proof(pair->changes, "route", ck_policy_route_name(was), ck_policy_route_name(is), why);
}

/* NULL: the key is absent. The index is the bits of enum ck_platform. */
static const char *platforms_text(unsigned platforms)
{
    static const char *const texts[] = {NULL, "linux", "macos", "linux macos"};
    return texts[platforms & (CK_PLATFORM_LINUX | CK_PLATFORM_MACOS)];
}

static void diff_platforms(const struct ck_diff_pair *pair)
{
    /* An absent key means every platform, as the full list does. */
    const unsigned every = CK_PLATFORM_LINUX | CK_PLATFORM_MACOS;
    unsigned was = pair->before->platforms != 0 ? pair->before->platforms : every;
    unsigned is = pair->after->platforms != 0 ? pair->after->platforms : every;
    const char *was_text = platforms_text(pair->before->platforms);
    const char *is_text = platforms_text(pair->after->platforms);
    if (was == is)
        ck_change_text(pair->changes, "platforms", was_text, is_text, NEUTRAL);
    else
        ck_change_proof(pair->changes, "platforms", was_text, is_text,
                        (is & ~was) != 0 ? "it is allowed on another platform" : why_bwrap_widens(pair));
}

static void diff_limits(const struct ck_diff_pair *pair)
{
    for (size_t i = 0; i < CK_LIMIT_KEYS; i++) {
        uint32_t was = ck_policy_limit(&pair->before->limits, &ck_limit_keys[i]);
        uint32_t is = ck_policy_limit(&pair->after->limits, &ck_limit_keys[i]);
        const char *name = ck_arena_printf(pair->changes->arena, "limits.%s", ck_limit_keys[i].key);
        pair->changes->failed = pair->changes->failed || !name;
        if (name)
            ck_change_proof(pair->changes, name, was != 0 ? number_text(pair->changes, was) : NULL,
                            is != 0 ? number_text(pair->changes, is) : NULL,
                            why_limit_widens(&ck_limit_keys[i], was, is));
    }
}

/* ---- what is run ------------------------------------------------------------------------- */

/* The path where the old policy searches first: a file found there now was found there before. */
static bool is_first_in_search_path(const struct ck_policy *policy, const char *path, const char *name)
{
    const char *slash = strrchr(path, '/');
    const char *first = policy->search_path.items[0];
    size_t length = (size_t)(slash - path);
    return strcmp(slash + 1, name) == 0 && strlen(first) == length && memcmp(first, path, length) == 0;
}

/* Only the path that was searched first before is proven to be the same file. */
static void diff_path(const struct ck_diff_pair *pair)
{
    const char *was = pair->before->path;
    const char *is = pair->after->path;
    bool first = !was && is && is_first_in_search_path(pair->old_policy, is, pair->after->name);
    ck_change_proof(pair->changes, "path", was, is, first ? why_bwrap_widens(pair) : "another file can be run");
}

/* Adding a pin can only refuse files. Changing or removing it allows other bytes. */
static void diff_sha256(const struct ck_diff_pair *pair)
{
    ck_change_proof(pair->changes, "sha256", pair->before->sha256, pair->after->sha256,
                    !pair->before->sha256 ? why_bwrap_widens(pair) : "a file with other bytes can be run");
}

/*
 * The entries of `execs`, where both tools have a closed list. What a set of the other tool
 * contains is no difference.
 */
static void diff_helpers(const struct ck_diff_pair *pair)
{
    const struct ck_tool *was = pair->before;
    const struct ck_tool *is = pair->after;
    for (uint32_t i = 0; i < was->execs.count; i++)
        if (!ck_policy_list_has(&is->execs, was->execs.items[i]))
            ck_change_add(pair->changes, ck_helper_sets_have(is, was->execs.items[i]) ? NEUTRAL : NARROWS, "execs",
                          was->execs.items[i], NULL);
    for (uint32_t i = 0; i < is->execs.count; i++)
        if (!ck_policy_list_has(&was->execs, is->execs.items[i]))
            ck_change_add(pair->changes, ck_helper_sets_have(was, is->execs.items[i]) ? NEUTRAL : WIDENS, "execs", NULL,
                          is->execs.items[i]);
}

/*
 * Without a list and without a jail the tool executes anything; without a list in a jail, itself
 * and its interpreter. An empty list is less than that in both cases. Any other list is less in the
 * first case and more in the second. A set in `uses` closes the list, too.
 */
static void diff_execs(const struct ck_diff_pair *pair)
{
    static const char *const labels[] = {"not restricted", "a closed list"};
    const struct ck_tool *was = pair->before;
    const struct ck_tool *is = pair->after;
    struct ck_helper helper;
    bool bound = ck_helper_sets_bind(is);
    if (ck_helper_sets_bind(was) && bound)
        diff_helpers(pair);
    else
        ck_change_proof(pair->changes, "execs", labels[was->has_execs], labels[is->has_execs],
                        !bound ? "without a jail it can execute anything"
                        : ck_helper_sets_at(is, 0, &helper)
                            ? "in a jail it executed nothing but itself and its interpreter before"
                            : NULL);
}

/* Is each member of the set a helper of the tool? */
static bool has_set(const struct ck_tool *tool, const char *name)
{
    const struct ck_helper_set *set = ck_helper_sets_find(name);
    for (uint32_t i = 0; i < set->helpers.count; i++)
        if (!ck_helper_sets_have(tool, set->helpers.items[i]))
            return false;
    return true;
}

/*
 * A set is what it contains. The last one that goes may open the list: then the tool executes
 * anything without a jail.
 */
static void diff_uses(const struct ck_diff_pair *pair)
{
    const struct ck_tool *was = pair->before;
    const struct ck_tool *is = pair->after;
    for (uint32_t i = 0; i < was->uses.count; i++) {
        const char *name = was->uses.items[i];
        if (!ck_policy_list_has(&is->uses, name))
            ck_change_add(pair->changes,
                          !ck_helper_sets_bind(is) ? WIDENS
                          : has_set(is, name)      ? NEUTRAL
                                                   : NARROWS,
                          "uses", name, NULL);
    }
    for (uint32_t i = 0; i < is->uses.count; i++)
        if (!ck_policy_list_has(&was->uses, is->uses.items[i]))
            ck_change_add(pair->changes, has_set(was, is->uses.items[i]) ? NEUTRAL : WIDENS, "uses", NULL,
                          is->uses.items[i]);
}

/* version_args are always allowed exactly, and are run to get the version. */
static void diff_version_args(const struct ck_diff_pair *pair)
{
    const struct ck_list *was = &pair->before->version_args;
    const struct ck_list *is = &pair->after->version_args;
    if (!ck_policy_list_same(was, is)) /* their texts may be the same: [a b] and [a, b] */
        ck_change_add_proof(pair->changes, "version_args", was->count > 0 ? ck_change_join(pair->changes, was) : NULL,
                            is->count > 0 ? ck_change_join(pair->changes, is) : NULL,
                            is->count > 0 ? "other arguments are allowed exactly" : ck_diff_vector(pair, was));
}

/* ---- what it is given -------------------------------------------------------------------- */

/* Names that callers may set. */
static void diff_env(const struct ck_diff_pair *pair)
{
    ck_change_lists(pair->changes, "env", &pair->before->env, &pair->after->env, WIDENS, NARROWS);
}

static const struct ck_variable *find_variable(const struct ck_variable *variables, uint32_t count, const char *name)
{
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(variables[i].name, name) == 0)
            return &variables[i];
    return NULL;
}

static const char *variable_text(struct ck_policy_changes *changes, const struct ck_variable *variable)
{
    const char *text = ck_arena_printf(changes->arena, "%s=%s%s", variable->name, variable->value,
                                       variable->offline ? " when offline" : "");
    changes->failed = changes->failed || !text;
    return text;
}

/* A variable may harden a tool or enable something; this code cannot know which. */
void ck_diff_variables(struct ck_policy_changes *changes, const struct ck_diff_variables *before,
                       const struct ck_diff_variables *after)
{
    for (uint32_t i = 0; i < before->count; i++) {
        const struct ck_variable *was = &before->items[i];
        const struct ck_variable *is = find_variable(after->items, after->count, was->name);
        if (!is || strcmp(was->value, is->value) != 0 || was->offline != is->offline)
            ck_change_add(changes, WIDENS, "set_env", variable_text(changes, was),
                          is ? variable_text(changes, is) : NULL);
    }
    for (uint32_t i = 0; i < after->count; i++)
        if (!find_variable(before->items, before->count, after->items[i].name))
            ck_change_add(changes, WIDENS, "set_env", NULL, variable_text(changes, &after->items[i]));
}

static void diff_set_env(const struct ck_diff_pair *pair)
{
    const struct ck_diff_variables was = {pair->before->set_env, pair->before->set_env_count};
    const struct ck_diff_variables is = {pair->after->set_env, pair->after->set_env_count};
    ck_diff_variables(pair->changes, &was, &is);
}

static void diff_credentials(const struct ck_diff_pair *pair)
{
    static const char *const labels[] = {"refuse", "allow"};
    ck_change_text(pair->changes, "credentials", labels[pair->before->allow_credentials],
                   labels[pair->after->allow_credentials], pair->after->allow_credentials ? WIDENS : NARROWS);
}

/* Does one entry of the list contain the destination? */
static bool is_covered(const struct ck_list *egress, const char *destination)
{
    for (uint32_t i = 0; i < egress->count; i++)
        if (ck_width_destination_within(destination, egress->items[i]))
            return true;
    return false;
}

/*
 * An entry that other entries of its list already contain is neutral, whether it is added or
 * removed.
 */
void ck_diff_destinations(struct ck_policy_changes *changes, const struct ck_list *was, const struct ck_list *is)
{
    for (uint32_t i = 0; i < was->count; i++)
        if (!ck_policy_list_has(is, was->items[i]))
            ck_change_add(changes, is_covered(is, was->items[i]) ? NEUTRAL : NARROWS, "egress", was->items[i], NULL);
    for (uint32_t i = 0; i < is->count; i++)
        if (!ck_policy_list_has(was, is->items[i]))
            ck_change_add(changes, is_covered(was, is->items[i]) ? NEUTRAL : WIDENS, "egress", NULL, is->items[i]);
}

static void diff_egress(const struct ck_diff_pair *pair)
{
    ck_diff_destinations(pair->changes, &pair->before->egress, &pair->after->egress);
}

/*
 * Without a jail a workspace limits nothing; but an overlay is refused there, and only with an
 * overlay something is kept.
 */
static void diff_workspace(const struct ck_diff_pair *pair)
{
    enum ck_workspace was = pair->before->workspace;
    enum ck_workspace is = pair->after->workspace;
    const char *why =
        was == CK_WORKSPACE_OVERLAY  ? "with '--jail none', and where no native jail has namespaces, it was "
                                       "refused before"
        : is == CK_WORKSPACE_OVERLAY ? "what it writes can be kept with '--keep', which was refused before"
        : is == CK_WORKSPACE_RW      ? "it can write into the repository"
                                     : NULL;
    ck_change_proof(pair->changes, "workspace", ck_policy_workspace_name(was), ck_policy_workspace_name(is), why);
}

/*
 * A change widens in both directions: code runs that did not, or the call runs where it was refused
 * because nothing confined that code.
 */
static void diff_workspace_code(const struct ck_diff_pair *pair)
{
    bool is = pair->after->workspace_code;
    ck_change_proof(pair->changes, "workspace_code", booleans[pair->before->workspace_code], booleans[is],
                    is ? "it can execute every file beneath the root, and what it writes there" : NEEDED_NAMESPACES);
}

/* As with workspace_code: without a network namespace the call was refused. */
static void diff_loopback(const struct ck_diff_pair *pair)
{
    bool is = pair->after->loopback;
    ck_change_proof(pair->changes, "loopback", booleans[pair->before->loopback], booleans[is],
                    is ? "it can make TCP and UDP sockets, in a network of its own" : NEEDED_NAMESPACES);
}

/* With it a run is in a jail or refused, so it can do no more than without. */
static void diff_require_jail(const struct ck_diff_pair *pair)
{
    bool was = pair->before->require_jail;
    bool is = pair->after->require_jail;
    if (was && !is)
        ck_change_proof(pair->changes, "require_jail", booleans[was], booleans[is], "it can run without a jail");
    else if (was != is)
        ck_change_text(pair->changes, "require_jail", booleans[was], booleans[is], NARROWS);
}

/*
 * Without a jail every directory can be read. In a jail, fewer directories show less, and another
 * directory may hold anything. A directory that is not trusted refuses a run, as a helper does; a
 * grant is compared on machines where both are trusted.
 */
static void diff_reads(const struct ck_diff_pair *pair)
{
    ck_change_lists(pair->changes, "reads", &pair->before->reads, &pair->after->reads, WIDENS, NARROWS);
}

/*
 * At its own path the root tells the tool where it is on the host. At /work it can have places that
 * were refused before, such as /usr. So neither contains the other.
 */
static void diff_root_at(const struct ck_diff_pair *pair)
{
    enum ck_root_at was = pair->before->root_at;
    enum ck_root_at is = pair->after->root_at;
    const char *why = is == CK_ROOT_AT_OWN ? "the tool sees where the root is on the host"
                                           : "a root that could not be at its own path was refused before";
    ck_change_proof(pair->changes, "root_at", ck_policy_root_at_name(was), ck_policy_root_at_name(is), why);
}

/* ---- subcommands ------------------------------------------------------------------------- */

/* The keys that a subcommand may have in place of the tool's, in the order of the report. */
static const struct {
    const char *key;
    void (*rule)(const struct ck_diff_pair *pair);
} key_rules[] = {
    {"limits", diff_limits},       {"execs", diff_execs},
    {"uses", diff_uses},           {"env", diff_env},
    {"set_env", diff_set_env},     {"egress", diff_egress},
    {"workspace", diff_workspace}, {"workspace_code", diff_workspace_code},
    {"loopback", diff_loopback},   {"require_jail", diff_require_jail},
};

bool ck_diff_has_rule(const char *key)
{
    for (size_t i = 0; i < sizeof(key_rules) / sizeof(key_rules[0]); i++)
        if (strcmp(key_rules[i].key, key) == 0)
            return true;
    return false;
}

/*
 * Does the rule have to be applied to the subcommand? `execs` and `uses` together decide whether
 * there is a closed list, so a subcommand with one of them has its own answer to both.
 */
static bool concerns(const struct ck_subcommand *subcommand, const char *key)
{
    bool helpers = strcmp(key, "execs") == 0 || strcmp(key, "uses") == 0;
    return ck_policy_subcommand_has(subcommand, key) ||
           (helpers && (ck_policy_subcommand_has(subcommand, "execs") || ck_policy_subcommand_has(subcommand, "uses")));
}

/*
 * What each subcommand has is compared, wherever it has it from. A key that neither has is the
 * tool's in both, and is compared there.
 */
void ck_diff_subcommand_keys(const struct ck_diff_pair *pair, const struct ck_subcommand *before,
                             const struct ck_subcommand *after)
{
    static const char *const labels[] = {"as the tool's", "its own"};
    struct ck_tool was, is;
    struct ck_diff_pair inner = *pair;
    ck_policy_subcommand_tool(pair->before, before, &was);
    ck_policy_subcommand_tool(pair->after, after, &is);
    inner.before = &was;
    inner.after = &is;
    for (size_t i = 0; i < sizeof(key_rules) / sizeof(key_rules[0]); i++) {
        bool had = ck_policy_subcommand_has(before, key_rules[i].key);
        bool has = ck_policy_subcommand_has(after, key_rules[i].key);
        size_t count = pair->changes->count;
        if (concerns(before, key_rules[i].key) || concerns(after, key_rules[i].key))
            key_rules[i].rule(&inner);
        if (had != has && pair->changes->count == count)
            ck_change_add(pair->changes, NEUTRAL, key_rules[i].key, labels[had], labels[has]);
    }
}

/* The changes go into a list that is thrown away. */
bool ck_diff_subcommand_widens(const struct ck_diff_pair *pair, const struct ck_subcommand *subcommand)
{
    struct ck_policy_changes changes = {.arena = pair->changes->arena, .prefix = ""};
    struct choke_change *list;
    size_t count;
    struct ck_tool is;
    struct ck_diff_pair inner = *pair;
    ck_policy_subcommand_tool(pair->after, subcommand, &is);
    inner.after = &is;
    inner.changes = &changes;
    for (size_t i = 0; i < sizeof(key_rules) / sizeof(key_rules[0]); i++)
        if (concerns(subcommand, key_rules[i].key))
            key_rules[i].rule(&inner);
    if (ck_change_list_take(&changes, &list, &count) < 0) {
        pair->changes->failed = true;
        return true;
    }
    for (size_t i = 0; i < count; i++)
        if (list[i].kind == WIDENS)
            return true;
    return false;
}

/* ---- whole policies ---------------------------------------------------------------------- */

static void diff_tool(const struct ck_diff_pair *pair)
{
    /* In the order of the report. */
    static void (*const rules[])(const struct ck_diff_pair *) = {
        diff_notes,       diff_route,   diff_platforms,    diff_limits,         diff_path,     diff_sha256,
        diff_execs,       diff_uses,    diff_version_args, ck_diff_args,        diff_env,      diff_set_env,
        diff_credentials, diff_egress,  diff_workspace,    diff_workspace_code, diff_loopback, diff_require_jail,
        diff_reads,       diff_root_at,
    };
    for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++)
        rules[i](pair);
}

/*
 * Directories that both have are in another order: another file of the same name may be found
 * first.
 */
static bool is_reordered(const struct ck_list *before, const struct ck_list *after)
{
    uint32_t at = 0;
    for (uint32_t i = 0; i < before->count; i++) {
        if (!ck_policy_list_has(after, before->items[i]))
            continue;
        while (at < after->count && !ck_policy_list_has(before, after->items[at]))
            at++;
        if (at == after->count || strcmp(before->items[i], after->items[at++]) != 0)
            return true;
    }
    return false;
}

/*
 * If directories are removed at the end, a file is found where it was, or not at all. If any other
 * is removed, another file of the same name can be found.
 */
static const char *why_search_widens(const struct ck_policy *before, const struct ck_policy *after)
{
    for (uint32_t i = 0; i < after->search_path.count; i++)
        if (i == before->search_path.count || strcmp(before->search_path.items[i], after->search_path.items[i]) != 0)
            return "a file with the same name in a later directory can be run";
    return searches_bwrap(before) ? "where bwrap is missing, a tool runs in a weaker jail or in none" : NULL;
}

static void diff_search_path(struct ck_policy_changes *changes, const struct ck_policy *before,
                             const struct ck_policy *after)
{
    const struct ck_list *was = &before->search_path;
    const struct ck_list *is = &after->search_path;
    for (uint32_t i = 0; i < was->count; i++)
        if (!ck_policy_list_has(is, was->items[i]))
            ck_change_proof(changes, "search_path", was->items[i], NULL, why_search_widens(before, after));
    for (uint32_t i = 0; i < is->count; i++)
        if (!ck_policy_list_has(was, is->items[i]))
            ck_change_add(changes, WIDENS, "search_path", NULL, is->items[i]);
    if (is_reordered(was, is))
        ck_change_whole_list(changes, "search_path", was, is, WIDENS);
}

/* NULL: every root that is allowed now was allowed before. No list: any root. */
static const char *why_roots_widen(const struct ck_list *was, const struct ck_list *is)
{
    if (was->count > 0 && is->count == 0)
        return "any root is allowed";
    for (uint32_t i = 0; was->count > 0 && i < is->count; i++) {
        bool known = false;
        for (uint32_t k = 0; !known && k < was->count; k++)
            known = !!ck_path_beneath(was->items[k], is->items[i]);
        if (!known)
            return "a root is allowed that was not";
    }
    return NULL;
}

/* As if the policy were the machine's: in another file both keys have no effect. */
static void diff_lock(struct ck_policy_changes *changes, const struct ck_policy *before, const struct ck_policy *after)
{
    const struct ck_list *was = &before->roots;
    const struct ck_list *is = &after->roots;
    ck_change_proof(changes, "locked", booleans[before->locked], booleans[after->locked],
                    before->locked ? "every caller can choose another policy, no jail and no log" : NULL);
    if (ck_policy_list_same(was, is))
        return;
    const char *was_text = was->count > 0 ? ck_change_join(changes, was) : NULL;
    const char *is_text = is->count > 0 ? ck_change_join(changes, is) : NULL;
    const char *why = why_roots_widen(was, is);
    /* Another order, or a directory and one beneath it: the same roots are allowed. */
    if (!why && !why_roots_widen(is, was))
        ck_change_add(changes, NEUTRAL, "roots", was_text, is_text);
    else
        ck_change_add_proof(changes, "roots", was_text, is_text, why);
}

/* As in the policy, in one line; NULL for none. */
static const char *upstream_text(struct ck_policy_changes *changes, const struct ck_policy_upstream *upstream)
{
    if (!upstream->url)
        return upstream->environment ? CK_POLICY_ENVIRONMENT : NULL;
    const char *text = ck_arena_printf(changes->arena, "%s%s%s", upstream->url,
                                       upstream->credentials_file ? " with credentials from " : "",
                                       upstream->credentials_file ? upstream->credentials_file : "");
    changes->failed = changes->failed || !text;
    return text;
}

/*
 * Every change widens: with a proxy nobody here checks the addresses of hosts; another one may reach
 * other hosts and gets other credentials; without one, hosts that it refuses are reached.
 */
static void diff_upstream(struct ck_policy_changes *changes, const struct ck_policy *before,
                          const struct ck_policy *after)
{
    ck_change_text(changes, "upstream", upstream_text(changes, &before->upstream),
                   upstream_text(changes, &after->upstream), WIDENS);
}

/* Another version may give every key another meaning, so it widens. */
static void diff_top(struct ck_policy_changes *changes, const struct ck_policy *before, const struct ck_policy *after)
{
    ck_change_text(changes, "version", number_text(changes, before->version), number_text(changes, after->version),
                   WIDENS);
    /* That of the embedded policy is a directory of the sources, which the other one cannot have. */
    if (!before->embedded && !after->embedded)
        ck_change_text(changes, "adr_dir", before->adr_dir, after->adr_dir, NEUTRAL);
    diff_search_path(changes, before, after);
    diff_lock(changes, before, after);
    diff_upstream(changes, before, after);
    ck_diff_guard(changes, before, after);
}

static void diff_tools(struct ck_policy_changes *changes, const struct ck_policy *before, const struct ck_policy *after)
{
    struct ck_diff_pair pair = {.changes = changes, .old_policy = before, .new_policy = after};
    for (uint32_t i = 0; i < before->tools_count; i++) {
        const struct ck_tool *tool = &before->tools[i];
        pair.before = tool;
        pair.after = ck_policy_find(after, tool->name);
        changes->tool = tool->name;
        if (pair.after) {
            diff_tool(&pair);
        } else {
            /* why_bwrap_widens reads both; the tool is gone, so the old entry is in both places. */
            pair.after = tool;
            ck_change_proof(changes, "tools", tool->name, NULL, why_bwrap_widens(&pair));
        }
    }
    for (uint32_t i = 0; i < after->tools_count; i++) {
        changes->tool = after->tools[i].name;
        if (!ck_policy_find(before, changes->tool))
            ck_change_add(changes, WIDENS, "tools", NULL, changes->tool);
    }
}

/*
 * The record is that of the new entry: it must justify the change. A removed tool has only the old
 * one. A change that a grant made needs the record of the grant. An entry that was taken over cites
 * a record of the build, whose number has another meaning in adr_dir.
 */
static const char *record_of(const struct choke_change *change, const struct ck_policy *before,
                             const struct ck_policy *after)
{
    const struct ck_tool *tool = change->tool ? ck_policy_find(after, change->tool) : NULL;
    const struct ck_policy_grant *grant = ck_extend_grant_of(after, change);
    if (change->tool && !tool)
        tool = ck_policy_find(before, change->tool);
    if (strncmp(change->field, "guard.", 6) == 0)
        return ck_diff_guard_record(change, after);
    return grant ? grant->adr : tool && !tool->embedded ? tool->adr : NULL;
}

int ck_policy_diff(const struct ck_policy *before, const struct ck_policy *after, struct ck_arena *arena,
                   struct choke_change **ret_changes, size_t *ret_count)
{
    struct ck_policy_changes changes = {.arena = arena, .prefix = ""};
    diff_top(&changes, before, after);
    diff_tools(&changes, before, after);
    int r = ck_change_list_take(&changes, ret_changes, ret_count);
    for (size_t i = 0; r == 0 && i < *ret_count; i++)
        (*ret_changes)[i].adr = record_of(&(*ret_changes)[i], before, after);
    return r;
}
