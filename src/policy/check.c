/*
 * check.c - checks the values of a policy: names, paths, variables, limits. See check.h.
 *
 * Keys and types are already correct (schema.h); this file checks values. Each rule gets the tool
 * and its node in the text, so that every refusal has line and column. Text that is later printed
 * as part of a command line or used as a path is limited to a narrow alphabet here, once, and
 * trusted afterwards.
 */
#include "policy/check.h"

#include "base/destination.h"
#include "base/path.h"
#include "base/quote.h"
#include "base/upstream.h"
#include "policy/env.h"
#include "policy/helper_sets.h"
#include "policy/schema.h"

#include <stdio.h>
#include <string.h>

#define NAME_MAX_BYTES 64 /* of a tool or a helper */
#define LOWER "abcdefghijklmnopqrstuvwxyz"
#define UPPER "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define DIGITS "0123456789"

struct check_state {
    const struct ck_policy *policy;  /* filled, not yet compiled */
    const struct ck_yaml_tree *tree; /* only for the positions in messages */
    struct choke_error *error;
    /* the one that is being checked, or the tool as a subcommand has it; NULL at the top */
    const struct ck_tool *tool;
    const struct ck_yaml_node *tool_node; /* its mapping in the tree, or that of the subcommand */
    const char *label;                    /* "tool 'rg'", "subcommand 'ci' in tool 'npm'" */
};

/* Every rule returns 0, or this: -EINVAL with the position of the node in the message. */
#define REFUSE(check, node, ...) ck_yaml_tree_error((check)->tree, (node), (check)->error, __VA_ARGS__)

/* The value of a key of the tool; NULL if the entry does not have the key. */
static const struct ck_yaml_node *value_of(const struct check_state *check, const char *key)
{
    return ck_yaml_node_value(check->tool_node, key);
}

/*
 * An entry of a list of the tool, for its position. A subcommand may lack the key: then the list is
 * the tool's, and the position that of the subcommand, which does not fit it.
 */
static const struct ck_yaml_node *entry_of(const struct check_state *check, const char *key, uint32_t index)
{
    const struct ck_yaml_node *list = value_of(check, key);
    return list ? ck_yaml_node_entry(list, index) : check->tool_node;
}

/* The value of a key of one entry of a list of mappings, or what entry_of gives. */
static const struct ck_yaml_node *member_of(const struct check_state *check, const char *key, uint32_t index,
                                            const char *member)
{
    return value_of(check, key) ? ck_yaml_node_value(entry_of(check, key, index), member) : check->tool_node;
}

/* 1 to max_bytes bytes, all of them in the alphabet. */
static bool has_only(const char *text, const char *alphabet, size_t max_bytes)
{
    size_t length = strlen(text);
    return length > 0 && length <= max_bytes && strspn(text, alphabet) == length;
}

bool ck_policy_check_is_plain_path(const char *path)
{
    if (path[0] != '/')
        return false;
    for (const char *at = path; *at == '/';) {
        const char *component = at + 1;
        size_t length = strcspn(component, "/");
        bool dots = (length == 1 && component[0] == '.') || (length == 2 && memcmp(component, "..", 2) == 0);
        if (length == 0 || dots)
            return false;
        at = component + length;
    }
    return true;
}

/* ---- single values ----------------------------------------------------------------------- */

/* No '/' and no '-' at the beginning: a name is never a path, and never an option. */
bool ck_policy_check_is_name(const char *name)
{
    return has_only(name, LOWER DIGITS "._+-", NAME_MAX_BYTES) && !strchr("._+-", name[0]);
}

static int check_name(const struct check_state *check)
{
    const char *name = check->tool->name;
    if (ck_policy_check_is_name(name))
        return 0;
    return REFUSE(
        check, value_of(check, "name"),
        "'%s' is not a valid tool name; a name has 1 to %d of a-z, 0-9, '.', '_', '+' and '-', and begins with a letter "
        "or digit",
        CK_QUOTE(name), NAME_MAX_BYTES);
}

/* The schema requires the key, but blanks pass there. */
static int check_why(const struct check_state *check)
{
    const char *why = check->tool->why;
    if (why[strspn(why, " \n")] != '\0')
        return 0;
    return REFUSE(check, value_of(check, "why"), "'why' in %s is blank; say what the tool is needed for", check->label);
}

/*
 * Only the form. Whether the record exists is a question for a review (api/review.c): a run must
 * not depend on it.
 */
static int check_adr(const struct check_state *check)
{
    const char *adr = check->tool->adr;
    if (strlen(adr) == 4 && strspn(adr, DIGITS) == 4)
        return 0;
    return REFUSE(check, value_of(check, "adr"),
                  "'adr' in %s is '%s'; it must be the four digits of a decision record, as in \"0004\"", check->label,
                  CK_QUOTE(adr));
}

/*
 * It is printed as part of a command that users copy into a shell: no blank, no quote, and no '-'
 * first, which would be an option. 214 is the longest name of an npm package.
 */
static int check_package(const struct check_state *check, const char *key, const char *value)
{
    static const char alphabet[] = LOWER UPPER DIGITS "@/._+-";
    if (!value || (has_only(value, alphabet, 214) && value[0] != '-'))
        return 0;
    return REFUSE(check, ck_yaml_node_value(value_of(check, "install"), key),
                  "'%s' in 'install' in %s is not a valid package name: '%s'", key, check->label, CK_QUOTE(value));
}

/* The alphabet of a URL is that of RFC 3986 without quotes and brackets. */
static int check_install(const struct check_state *check)
{
    const struct ck_install *install = &check->tool->install;
    static const char alphabet[] = LOWER UPPER DIGITS "-._~:/?#@!$&()*+,;=%";
    int r = check_package(check, "apt", install->apt);
    if (r == 0)
        r = check_package(check, "brew", install->brew);
    if (r == 0)
        r = check_package(check, "npm", install->npm);
    if (r < 0 || !install->url)
        return r;
    const char *url = install->url;
    if (strncmp(url, "https://", 8) == 0 && url[8] != '\0' && has_only(url, alphabet, 1024))
        return 0;
    return REFUSE(check, ck_yaml_node_value(value_of(check, "install"), "url"),
                  "'url' in 'install' in %s is '%s'; it must be an https:// address", check->label, CK_QUOTE(url));
}

/*
 * 0 is not accepted as "no limit": a key that is given is in the range of its table. Without the
 * key the value is 0, and not checked.
 */
static int check_limits(const struct check_state *check)
{
    const struct ck_yaml_node *limits = value_of(check, "limits");
    int r = 0;
    for (size_t i = 0; ck_yaml_tree_continues(check->tree, r) && i < CK_LIMIT_KEYS; i++) {
        const struct ck_limit_key *key = &ck_limit_keys[i];
        const struct ck_yaml_node *node = limits ? ck_yaml_node_value(limits, key->key) : NULL;
        uint32_t value = ck_policy_limit(&check->tool->limits, key);
        if (node && (value < key->min || value > key->max))
            r = REFUSE(check, node, "'%s' in 'limits' in %s is %u; it must be %u to %u%s", key->key, check->label,
                       value, key->min, key->max, key->unit);
    }
    return r;
}

/*
 * A file beneath the root belongs to the repository: a digest of it would be checked before the
 * repository can change the file once more. check_workspace_code has the other rules.
 */
static int check_path_beneath_root(const struct check_state *check)
{
    const struct ck_tool *tool = check->tool;
    if (!ck_policy_check_is_plain_path(tool->path + 1))
        return REFUSE(check, value_of(check, "path"),
                      "'path' in %s is '%s'; a path beneath the root must be plain, as in './.venv/bin/pytest'",
                      check->label, CK_QUOTE(tool->path));
    if (tool->sha256)
        return REFUSE(check, value_of(check, "sha256"),
                      "'sha256' in %s is of a file beneath the root, which the repository can change; leave it out",
                      check->label);
    return 0;
}

/* Canonical, so that the file that a reviewer reads is the one that is opened. */
static int check_path(const struct check_state *check)
{
    const char *path = check->tool->path;
    if (!path || ck_policy_check_is_plain_path(path))
        return 0;
    if (ck_policy_tool_is_beneath_root(check->tool))
        return check_path_beneath_root(check);
    return REFUSE(check, value_of(check, "path"),
                  "'path' in %s is '%s'; it must be a plain absolute path, as in '/usr/bin/git'", check->label,
                  CK_QUOTE(path));
}

/*
 * Whether the repository's code can change the repository is the first question about such an
 * entry, so the answer must be in it. Only a jail confines that code: 'direct' has none.
 */
static int check_workspace_code(const struct check_state *check)
{
    const struct ck_tool *tool = check->tool;
    const struct ck_yaml_node *node = value_of(check, "workspace_code");
    if (!tool->workspace_code && !ck_policy_tool_is_beneath_root(tool))
        return 0;
    /* A subcommand has the tool's path, and may take the key away. */
    if (!tool->workspace_code)
        return REFUSE(check, node ? node : value_of(check, "path"),
                      "'path' in %s is '%s', a file beneath the root; that needs 'workspace_code: true'", check->label,
                      CK_QUOTE(tool->path));
    if (!node)
        return 0; /* a subcommand without the key: it was checked at the tool */
    if (!tool->has_workspace)
        return REFUSE(check, node, "'workspace_code' in %s needs 'workspace' beside it: ro, rw or overlay",
                      check->label);
    if (tool->route != CK_ROUTE_EXTERNAL)
        return REFUSE(check, node, "'workspace_code' in %s needs 'route: external': the code must run in a jail",
                      check->label);
    return 0;
}

/*
 * A carrier runs in the cage of guard, and is executed there by whom the kernel lets: nobody sees
 * its arguments, and all that it may do is what the cage may do.
 */
static int check_carrier(const struct check_state *check)
{
    static const char *const keys[] = {"args",      "egress",   "limits",       "env",         "set_env",
                                       "workspace", "loopback", "require_jail", "credentials", "root_at"};
    int r = 0;
    if (check->tool->route != CK_ROUTE_CARRIER)
        return 0;
    for (size_t i = 0; ck_yaml_tree_continues(check->tree, r) && i < sizeof(keys) / sizeof(keys[0]); i++)
        if (value_of(check, keys[i]))
            r = ck_yaml_tree_both(r, REFUSE(check, value_of(check, keys[i]),
                                            "'%s' in %s cannot be enforced on a carrier, which runs in the cage of "
                                            "guard; leave it out",
                                            keys[i], check->label));
    return r;
}

/* Lower case only: digests are compared as text. */
static int check_sha256(const struct check_state *check)
{
    const char *digest = check->tool->sha256;
    if (!digest || (strlen(digest) == 64 && strspn(digest, DIGITS "abcdef") == 64))
        return 0;
    return REFUSE(check, value_of(check, "sha256"), "'sha256' in %s must be 64 of 0-9 and a-f", check->label);
}

/* ---- lists ------------------------------------------------------------------------------- */

/*
 * where is "tool 'rg'", or "" at the top. repeats: an entry may come twice, as in arguments.
 * Comparing all pairs is quadratic, but the schema bounds the number of entries.
 */
static int check_list(const struct check_state *check, const struct ck_yaml_node *list, const char *key,
                      const char *where, bool repeats)
{
    /* list NULL: the key is absent. The first entry follows its list in the array. */
    const struct ck_yaml_node *entry = list ? list + 1 : NULL;
    for (uint32_t i = 0; list && i < list->count; i++, entry += entry->span) {
        if (strchr(entry->text, '\n'))
            return REFUSE(check, entry, "an entry of '%s'%s%s has a line break", key, *where != '\0' ? " in " : "",
                          where);
        const struct ck_yaml_node *other = list + 1;
        for (uint32_t j = 0; !repeats && j < i; j++, other += other->span)
            if (strcmp(entry->text, other->text) == 0)
                return REFUSE(check, entry, "'%s' is listed twice in '%s'%s%s", CK_QUOTE(entry->text), key,
                              *where != '\0' ? " in " : "", where);
    }
    return 0;
}

/*
 * env lets callers choose the value, so names that could undo a protection are refused: see env.c.
 */
static int check_env(const struct check_state *check)
{
    const struct ck_list *env = &check->tool->env;
    int r = 0;
    for (uint32_t i = 0; ck_yaml_tree_continues(check->tree, r) && i < env->count; i++) {
        const char *name = env->items[i];
        size_t length = strlen(name);
        const char *danger = ck_env_name_danger(name, length);
        if (!ck_env_name_valid(name, length))
            r = REFUSE(check, entry_of(check, "env", i), "'%s' in 'env' in %s is not a valid variable name",
                       CK_QUOTE(name), check->label);
        else if (danger)
            r = REFUSE(check, entry_of(check, "env", i), "'%s' in 'env' in %s may not be granted to callers: it %s",
                       name, check->label, danger);
    }
    return r;
}

/* Is the text in the list, compared exactly? */
static bool listed(const struct ck_list *list, const char *text)
{
    for (uint32_t i = 0; i < list->count; i++)
        if (strcmp(list->items[i], text) == 0)
            return true;
    return false;
}

/* set_env has fixed values that were reviewed, so more names are allowed than in env. */
static int check_variable(const struct check_state *check, uint32_t index)
{
    const struct ck_variable *variables = check->tool->set_env;
    const struct ck_yaml_node *at = member_of(check, "set_env", index, "name");
    const char *name = variables[index].name;
    const char *label = check->label;
    if (!ck_env_name_valid(name, strlen(name)))
        return REFUSE(check, at, "'%s' in 'set_env' in %s is not a valid variable name", CK_QUOTE(name), label);
    if (!ck_env_name_settable(name, strlen(name)))
        return REFUSE(check, at, "'%s' in 'set_env' in %s may not be set: it %s", name, label,
                      ck_env_name_danger(name, strlen(name)));
    if (strchr(variables[index].value, '\n'))
        return REFUSE(check, member_of(check, "set_env", index, "value"),
                      "the value of '%s' in 'set_env' in %s has a line break", name, label);
    for (uint32_t i = 0; i < index; i++)
        if (strcmp(variables[i].name, name) == 0)
            return REFUSE(check, at, "'%s' is set twice in 'set_env' in %s", name, label);
    /* Otherwise it would be unclear if the policy's value or the caller's counts. */
    if (listed(&check->tool->env, name))
        return REFUSE(check, at, "'%s' is both set by 'set_env' and granted by 'env' in %s; remove one of the two",
                      name, label);
    return 0;
}

/* A helper is a name that is searched in the search path, or an absolute path. */
static int check_execs(const struct check_state *check)
{
    const struct ck_list *execs = &check->tool->execs;
    int r = check_list(check, value_of(check, "execs"), "execs", check->label, false);
    for (uint32_t i = 0; ck_yaml_tree_continues(check->tree, r) && i < execs->count; i++) {
        const char *helper = execs->items[i];
        bool name = has_only(helper, LOWER UPPER DIGITS "._+-", NAME_MAX_BYTES) && !strchr("._+-", helper[0]);
        if (!name && !ck_policy_check_is_plain_path(helper))
            r = REFUSE(check, entry_of(check, "execs", i),
                       "'%s' in 'execs' in %s is neither a program's name nor a plain absolute path", CK_QUOTE(helper),
                       check->label);
    }
    return r;
}

/* "a, b, c": every set that there is. */
static const char *list_sets(char *buffer, size_t size)
{
    size_t at = 0;
    buffer[0] = '\0';
    for (uint32_t i = 0; i < ck_helper_sets_count && at < size; i++)
        at += (size_t)snprintf(buffer + at, size - at, "%s%s", i == 0 ? "" : ", ", ck_helper_sets[i].name);
    return buffer;
}

/* A set is a name of policy/helpers.yaml; no policy can define one. */
static int check_uses(const struct check_state *check)
{
    const struct ck_list *uses = &check->tool->uses;
    int r = check_list(check, value_of(check, "uses"), "uses", check->label, false);
    for (uint32_t i = 0; ck_yaml_tree_continues(check->tree, r) && i < uses->count; i++) {
        const struct ck_helper_set *near = ck_helper_sets_nearest(uses->items[i]);
        char list[256];
        if (!ck_helper_sets_find(uses->items[i]))
            r = REFUSE(check, entry_of(check, "uses", i),
                       "'%s' in 'uses' in %s is not a set of helpers%s%s%s; known sets are: %s",
                       CK_QUOTE(uses->items[i]), check->label, near ? "; did you mean '" : "", near ? near->name : "",
                       near ? "'?" : "", list_sets(list, sizeof(list)));
    }
    return r;
}

/* The trees of the kernel and of running services; what is in them is not the content of files. */
static bool is_of_the_machine(const char *path)
{
    static const char *const trees[] = {"/proc", "/sys", "/dev", "/run"};
    for (size_t i = 0; i < sizeof(trees) / sizeof(trees[0]); i++)
        if (ck_path_beneath(trees[i], path))
            return true;
    return false;
}

/* Whether a directory exists and is trusted is a question for each run: see run/shown.c. */
static int check_reads(const struct check_state *check)
{
    const struct ck_list *reads = &check->tool->reads;
    const struct ck_yaml_node *list = value_of(check, "reads");
    int r = check_list(check, list, "reads", check->label, false);
    for (uint32_t i = 0; ck_yaml_tree_continues(check->tree, r) && i < reads->count; i++) {
        const char *path = reads->items[i];
        if (!ck_policy_check_is_plain_path(path))
            r = REFUSE(check, ck_yaml_node_entry(list, i),
                       "'%s' in 'reads' in %s is not a plain absolute path of a directory, as in '/opt/python'",
                       CK_QUOTE(path), check->label);
        else if (is_of_the_machine(path))
            r = REFUSE(check, ck_yaml_node_entry(list, i),
                       "'%s' in 'reads' in %s may not be shown: it is in /proc, /sys, /dev or /run", CK_QUOTE(path),
                       check->label);
    }
    return r;
}

/* Only the canonical form is accepted, so that two policies can be compared by eye. */
static int check_egress(const struct check_state *check)
{
    const struct ck_list *egress = &check->tool->egress;
    int r = check_list(check, value_of(check, "egress"), "egress", check->label, false);
    for (uint32_t i = 0; ck_yaml_tree_continues(check->tree, r) && i < egress->count; i++) {
        const struct ck_yaml_node *place = entry_of(check, "egress", i);
        char usual[CK_DESTINATION_TEXT_SIZE];
        struct ck_destination destination;
        const char *reason;
        if (ck_destination_parse(egress->items[i], &destination, &reason) < 0)
            r = REFUSE(check, place, "'%s' in 'egress' in %s is not a valid destination: it %s",
                       CK_QUOTE(egress->items[i]), check->label, reason);
        /* For example with upper-case letters in the host name. */
        else if (strcmp(ck_destination_text(&destination, usual), egress->items[i]) != 0)
            r = REFUSE(check, place, "'%s' in 'egress' in %s must be written '%s'", CK_QUOTE(egress->items[i]),
                       check->label, usual);
    }
    return r;
}

/* ---- whole tools ------------------------------------------------------------------------- */

/* The variables of a tool: those that a caller may give, and those that the policy sets. */
static int check_variables(const struct check_state *check)
{
    int r = check_list(check, value_of(check, "env"), "env", check->label, false);
    if (ck_yaml_tree_continues(check->tree, r))
        r = ck_yaml_tree_both(r, check_env(check));
    for (uint32_t i = 0; ck_yaml_tree_continues(check->tree, r) && i < check->tool->set_env_count; i++)
        r = ck_yaml_tree_both(r, check_variable(check, i));
    return r;
}

static int check_lists(const struct check_state *check)
{
    int r = check_list(check, value_of(check, "platforms"), "platforms", check->label, false);
    return r < 0 ? r : check_list(check, value_of(check, "version_args"), "version_args", check->label, true);
}

/* The keys that a subcommand may have in place of the tool's. */
static int check_keys(const struct check_state *check)
{
    static int (*const rules[])(const struct check_state *) = {
        check_limits, check_variables, check_execs, check_uses, check_egress, check_workspace_code,
    };
    int r = 0;
    for (size_t i = 0; ck_yaml_tree_continues(check->tree, r) && i < sizeof(rules) / sizeof(rules[0]); i++)
        r = ck_yaml_tree_both(r, rules[i](check));
    return r;
}

/*
 * Each subcommand is checked as the tool that it makes of the entry: a variable that it sets must
 * not be one that the tool's own env grants.
 */
static int check_subcommands(const struct check_state *check)
{
    const struct ck_args *args = check->tool->args;
    int r = 0;
    for (uint32_t i = 0; ck_yaml_tree_continues(check->tree, r) && args && i < args->subcommands_count; i++) {
        const struct ck_subcommand *subcommand = &args->subcommands[i];
        struct ck_tool tool;
        char label[256];
        if (subcommand->given == 0)
            continue;
        (void)snprintf(label, sizeof(label), "subcommand '%s' in %s",
                       ck_quote((char[80]){0}, 80, subcommand->name, strlen(subcommand->name)), check->label);
        ck_policy_subcommand_tool(check->tool, subcommand, &tool);
        struct check_state inner = *check;
        inner.tool = &tool;
        inner.tool_node = ck_yaml_node_entry(ck_yaml_node_value(value_of(check, "args"), "subcommands"), i);
        inner.label = label;
        r = ck_yaml_tree_both(r, check_keys(&inner));
    }
    return r;
}

/*
 * The keys that grant something, of a tool or of a grant. Each rule accepts an entry without its
 * key.
 */
static int check_values(const struct check_state *check)
{
    static int (*const rules[])(const struct check_state *) = {
        check_install, check_path, check_sha256, check_lists, check_keys, check_reads,
    };
    int r = 0;
    for (size_t i = 0; ck_yaml_tree_continues(check->tree, r) && i < sizeof(rules) / sizeof(rules[0]); i++)
        r = ck_yaml_tree_both(r, rules[i](check));
    /* Subcommands have the tool's keys: a fault of these would be reported again for each. */
    return r < 0 ? r : check_subcommands(check);
}

static int check_tool(struct check_state *check, uint32_t index, const struct ck_yaml_node *node)
{
    static int (*const rules[])(const struct check_state *) = {check_name, check_why, check_adr, check_carrier,
                                                               check_values};
    char label[128];
    check->tool = &check->policy->tools[index];
    check->tool_node = node;
    /* label is on this stack; check->label is set again for the next tool. */
    check->label = ck_schema_tool_label(node, index, label, sizeof(label));
    int r = 0;
    for (size_t i = 0; ck_yaml_tree_continues(check->tree, r) && i < sizeof(rules) / sizeof(rules[0]); i++)
        r = ck_yaml_tree_both(r, rules[i](check));
    return r;
}

/* by_name keeps the order of the file among equal names, so the later entry is reported. */
static int check_unique(const struct check_state *check, const struct ck_yaml_node *tools)
{
    const struct ck_policy *policy = check->policy;
    for (uint32_t i = 1; i < policy->tools_count; i++) {
        const struct ck_tool *first = policy->by_name[i - 1];
        const struct ck_tool *second = policy->by_name[i];
        if (strcmp(first->name, second->name) != 0)
            continue;
        const struct ck_yaml_node *node = ck_yaml_node_entry(tools, (uint32_t)(second - policy->tools));
        return REFUSE(check, ck_yaml_node_value(node, "name"),
                      "tool '%s' is listed twice; the first entry is on line %u", CK_QUOTE(second->name), first->line);
    }
    return 0;
}

/* ---- grants ------------------------------------------------------------------------------ */

#define TAKE_GRANT_KEY(key) part.key = grant->key;

/*
 * By the rules of a tool, as if the grant were an entry with these lists alone. What depends on the
 * entry that it adds to is checked in extend.c.
 */
static int check_grant(const struct check_state *check, const struct ck_policy_grant *grant,
                       const struct ck_yaml_node *node)
{
    struct check_state inner = *check;
    struct ck_tool part = {.name = grant->name, .why = grant->why, .adr = grant->adr};
    char label[128];
    CK_POLICY_GRANT_KEYS(TAKE_GRANT_KEY)
    (void)snprintf(label, sizeof(label), "grant '%s'", ck_quote((char[80]){0}, 80, grant->name, strlen(grant->name)));
    inner.tool = &part;
    inner.tool_node = node;
    inner.label = label;
    int r = grant->why ? check_why(&inner) : 0;
    if (ck_yaml_tree_continues(check->tree, r) && grant->adr)
        r = ck_yaml_tree_both(r, check_adr(&inner));
    return ck_yaml_tree_continues(check->tree, r) ? ck_yaml_tree_both(r, check_values(&inner)) : r;
}

/* ---- parts for check_guard.c -------------------------------------------------------------- */

static struct check_state state_of(const struct ck_check_part *part, const struct ck_tool *tool)
{
    return (struct check_state){.policy = part->policy,
                                .tree = part->tree,
                                .error = part->error,
                                .tool = tool,
                                .tool_node = part->node,
                                .label = part->label};
}

int ck_policy_check_list(const struct ck_check_part *part, const char *key, bool repeats)
{
    const struct check_state check = state_of(part, NULL);
    return check_list(&check, ck_yaml_node_value(part->node, key), key, part->label, repeats);
}

int ck_policy_check_part(const struct ck_check_part *part, const struct ck_profile *profile)
{
    const struct ck_tool tool = {.why = profile->why,
                                 .adr = profile->adr,
                                 .env = profile->env,
                                 .set_env = profile->set_env,
                                 .set_env_count = profile->set_env_count,
                                 .egress = profile->egress};
    const struct check_state check = state_of(part, &tool);
    int r = tool.why ? check_why(&check) : 0;
    if (ck_yaml_tree_continues(part->tree, r) && tool.adr)
        r = ck_yaml_tree_both(r, check_adr(&check));
    if (ck_yaml_tree_continues(part->tree, r))
        r = ck_yaml_tree_both(r, check_variables(&check));
    return ck_yaml_tree_continues(part->tree, r) ? ck_yaml_tree_both(r, check_egress(&check)) : r;
}

/* ---- the top ----------------------------------------------------------------------------- */

/* The paths become PATH, in this order, separated by ':'. */
static int check_search_path(const struct check_state *check, const struct ck_yaml_node *list)
{
    int r = check_list(check, list, "search_path", "", false);
    /* list NULL: the policy extends another one and has its search path. */
    for (uint32_t i = 0; ck_yaml_tree_continues(check->tree, r) && list && i < list->count; i++) {
        const char *path = check->policy->search_path.items[i];
        if (strchr(path, ':'))
            r = REFUSE(check, ck_yaml_node_entry(list, i),
                       "'%s' in 'search_path' contains ':', which would make it two entries of PATH", CK_QUOTE(path));
        else if (!ck_policy_check_is_plain_path(path))
            r = REFUSE(
                check, ck_yaml_node_entry(list, i),
                "'%s' in 'search_path' is not a plain absolute path, as in '/usr/bin': no '.', '..', '//' or '/' at "
                "the end",
                CK_QUOTE(path));
    }
    return r;
}

/* They are compared with the directories above a root, so that each has one spelling. */
static int check_roots(const struct check_state *check, const struct ck_yaml_node *list)
{
    int r = check_list(check, list, "roots", "", false);
    for (uint32_t i = 0; ck_yaml_tree_continues(check->tree, r) && list && i < list->count; i++)
        if (!ck_policy_check_is_plain_path(check->policy->roots.items[i]))
            r = REFUSE(check, ck_yaml_node_entry(list, i),
                       "'%s' in 'roots' is not a plain absolute path, as in '/srv/work': no '.', '..', '//' or '/' at "
                       "the end",
                       CK_QUOTE(check->policy->roots.items[i]));
    return r;
}

/*
 * A locked policy decides for callers who choose the environment of the command, so it cannot leave
 * the proxy to that.
 */
static int check_upstream(const struct check_state *check, const struct ck_yaml_node *node)
{
    const struct ck_policy_upstream *upstream = &check->policy->upstream;
    struct ck_upstream parsed;
    const char *reason;
    if (upstream->environment && check->policy->locked)
        return REFUSE(check, node,
                      "'upstream: environment' lets every caller choose the proxy; a policy with 'locked: true' must "
                      "name it: {url: http://HOST:PORT}");
    int r = 0;
    if (upstream->url && ck_upstream_parse(upstream->url, false, &parsed, &reason) != 0)
        r = REFUSE(check, ck_yaml_node_value(node, "url"), "'url' in 'upstream' %s", reason);
    if (ck_yaml_tree_continues(check->tree, r) && upstream->credentials_file &&
        !ck_policy_check_is_plain_path(upstream->credentials_file))
        r = ck_yaml_tree_both(r, REFUSE(check, ck_yaml_node_value(node, "credentials_file"),
                                        "'%s' in 'upstream' is not a plain absolute path, as in "
                                        "'/etc/proxy-credentials': no '.', '..', '//' or '/' at the end",
                                        CK_QUOTE(upstream->credentials_file)));
    return r;
}

static int check_top(const struct check_state *check, const struct ck_yaml_node *root)
{
    const struct ck_policy *policy = check->policy;
    if (policy->version != 1)
        return REFUSE(check, ck_yaml_node_value(root, "version"),
                      "version %u is not known; this release reads version 1", policy->version);
    int r = 0;
    if (policy->adr_dir && strchr(policy->adr_dir, '\n'))
        r = REFUSE(check, ck_yaml_node_value(root, "adr_dir"), "'adr_dir' has a line break; it must be one path");
    if (ck_yaml_tree_continues(check->tree, r))
        r = ck_yaml_tree_both(r, check_list(check, ck_yaml_node_value(root, "catalog"), "catalog", "", false));
    if (ck_yaml_tree_continues(check->tree, r))
        r = ck_yaml_tree_both(r, check_list(check, ck_yaml_node_value(root, "remove"), "remove", "", false));
    if (ck_yaml_tree_continues(check->tree, r))
        r = ck_yaml_tree_both(r, check_search_path(check, ck_yaml_node_value(root, "search_path")));
    if (ck_yaml_tree_continues(check->tree, r))
        r = ck_yaml_tree_both(r, check_roots(check, ck_yaml_node_value(root, "roots")));
    if (ck_yaml_tree_continues(check->tree, r))
        r = ck_yaml_tree_both(r, check_upstream(check, ck_yaml_node_value(root, "upstream")));
    if (ck_yaml_tree_continues(check->tree, r))
        r = ck_yaml_tree_both(r, ck_policy_check_guard(policy, check->tree, check->error));
    return r;
}

int ck_policy_check(const struct ck_policy *policy, const struct ck_yaml_tree *tree, struct choke_error *error)
{
    struct check_state check = {.policy = policy, .tree = tree, .error = error};
    const struct ck_yaml_node *root = &tree->nodes[0];
    const struct ck_yaml_node *tools = ck_yaml_node_value(root, "tools");
    const struct ck_yaml_node *grants = ck_yaml_node_value(root, "grant");
    int r = check_top(&check, root);
    /* With another version nothing else need be right. */
    if (policy->version != 1)
        return r;
    const struct ck_yaml_node *node = tools ? tools + 1 : NULL;
    for (uint32_t i = 0; ck_yaml_tree_continues(tree, r) && node && i < policy->tools_count; i++, node += node->span)
        r = ck_yaml_tree_both(r, check_tool(&check, i, node));
    node = grants ? grants + 1 : NULL;
    for (uint32_t i = 0; ck_yaml_tree_continues(tree, r) && node && i < policy->grants_count; i++, node += node->span)
        r = ck_yaml_tree_both(r, check_grant(&check, &policy->grants[i], node));
    return ck_yaml_tree_continues(tree, r) ? ck_yaml_tree_both(r, check_unique(&check, tools)) : r;
}
