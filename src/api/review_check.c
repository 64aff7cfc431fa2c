/*
 * review_check.c - checks a policy under review, and words what it finds. See review.h.
 *
 * Errors must not pass. Warnings are about what is allowed and should be looked at: what an entry
 * leaves open, and what policy/risks.yaml knows of. Entries of the build were reviewed with it, so
 * they have no warnings of the second kind; what a grant adds to them has.
 */
#include "api/build_records.h"
#include "api/machine.h"
#include "api/review.h"
#include "base/destination.h"
#include "base/error.h"
#include "base/heap.h"
#include "base/path.h"
#include "base/quote.h"
#include "jail/native.h"
#include "policy/change_list.h"
#include "policy/helper_sets.h"
#include "policy/risk.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define FIRST_FINDINGS 16 /* the first allocation; then it doubles */

const char *choke_severity_name(enum choke_severity severity)
{
    switch (severity) {
    case CHOKE_SEVERITY_NOTE:
        return "note";
    case CHOKE_SEVERITY_WARNING:
        return "warning";
    case CHOKE_SEVERITY_ERROR:
        return "error";
    }
    return "?";
}

/* ---- findings ---------------------------------------------------------------------------- */

/* State of the checks. add_finding sets failed if there is no memory for a message. */
struct review {
    struct choke_policy *policy;
    const struct ck_tool *tool;          /* NULL: the finding is about the file, or about a grant */
    const struct ck_policy_grant *grant; /* NULL: it is not about a grant */
    const char *key;                     /* of the tool's entry; without a tool, the rule itself */
    const struct ck_yaml_node *node;     /* the place; NULL: that of the key */
    size_t capacity;                     /* of the findings */
    struct choke_finding lost;           /* the one that there was no memory for */
    bool failed;
};

/*
 * The entry of a list of the file by the tool's name; NULL: not in this file. A tool may have
 * several grants: the one with the key, or else the first.
 */
static const struct ck_yaml_node *find_entry(const struct review *check, const char *list_key)
{
    const struct ck_yaml_tree *tree = &check->policy->tree;
    const struct ck_yaml_node *list = tree->nodes ? ck_yaml_node_value(&tree->nodes[0], list_key) : NULL;
    const struct ck_yaml_node *first = NULL;
    for (uint32_t i = 0; list && i < list->count; i++) {
        const struct ck_yaml_node *entry = ck_yaml_node_entry(list, i);
        if (strcmp(ck_yaml_node_value(entry, "name")->text, check->tool->name) != 0)
            continue;
        if (ck_yaml_node_value(entry, check->key))
            return entry;
        first = first ? first : entry;
    }
    return first;
}

/*
 * The place of the key's value, or of the entry if that is not known. An entry that the file took
 * over has no place in it, unless one of its grants does.
 */
static void set_position(const struct review *check, struct choke_finding *finding)
{
    const struct ck_tool *tool = check->tool;
    bool elsewhere = tool->embedded && check->policy->file;
    const struct ck_yaml_node *entry = find_entry(check, elsewhere ? "grant" : "tools");
    const struct ck_yaml_node *value = check->node ? check->node : entry ? ck_yaml_node_value(entry, check->key) : NULL;
    /* The model has the line of the entry. Key and column are only in the tree. */
    finding->line = value ? value->line : entry ? entry->line : elsewhere ? 0 : tool->line;
    finding->column = value ? value->column : entry ? entry->column : 0;
}

/* Room for one more. The list is in the arena, so an old one stays until the policy is freed. */
static struct choke_finding *next_finding(struct review *check)
{
    struct choke_policy *policy = check->policy;
    if (policy->findings_count == check->capacity) {
        size_t capacity = check->capacity > 0 ? 2 * check->capacity : FIRST_FINDINGS;
        struct choke_finding *findings = ck_arena_array(&policy->arena, capacity, sizeof(*findings));
        check->failed = check->failed || !findings;
        if (!findings)
            return &check->lost;
        for (size_t i = 0; i < policy->findings_count; i++)
            findings[i] = policy->findings[i];
        policy->findings = findings;
        check->capacity = capacity;
    }
    return &policy->findings[policy->findings_count++];
}

__attribute__((format(printf, 3, 4))) static struct choke_finding *add_finding(struct review *check,
                                                                               enum choke_severity severity,
                                                                               const char *format, ...)
{
    char formatted[CHOKE_MESSAGE_MAX];
    struct choke_policy *policy = check->policy;
    struct choke_finding *finding = next_finding(check);
    va_list list;
    va_start(list, format);
    (void)vsnprintf(formatted, sizeof(formatted), format, list);
    va_end(list);
    /* Without a tool the rule is the key itself: "file", "policy", "adr_dir". */
    *finding = (struct choke_finding){.severity = severity, .rule = check->key};
    finding->message = ck_arena_strdup(&policy->arena, formatted);
    if (check->tool) {
        finding->tool = check->tool->name;
        finding->rule = ck_arena_printf(&policy->arena, "tools.%s.%s", check->tool->name, check->key);
        set_position(check, finding);
    } else if (check->grant) {
        finding->tool = check->grant->name;
        finding->rule = ck_arena_printf(&policy->arena, "grant.%s.%s", check->grant->name, check->key);
        finding->line = check->grant->line;
        finding->column = check->grant->column;
    }
    check->failed = check->failed || !finding->message || !finding->rule;
    return finding;
}

/*
 * A fault begins with "policy 'FILE': line 3, column 5: "; the finding has these as fields, so they
 * are removed.
 */
static const char *strip_position(const struct choke_error *fault)
{
    char position[64];
    (void)snprintf(position, sizeof(position), ": line %u, column %u: ", fault->line, fault->column);
    const char *at = fault->line != 0 ? strstr(fault->message, position) : NULL;
    return at ? at + strlen(position) : fault->message;
}

/* The only checks that need no valid policy. */
static void check_file(struct review *check)
{
    struct choke_policy *policy = check->policy;
    check->key = "file";
    if (policy->refusal.outcome != CHOKE_NONE)
        (void)add_finding(check, CHOKE_SEVERITY_WARNING, "a run would refuse this file: %s", policy->refusal.message);
    check->key = "policy";
    if (policy->policy)
        return;
    uint32_t count = policy->faults ? policy->faults->count : 1;
    for (uint32_t i = 0; i < count; i++) {
        const struct choke_error *fault = policy->faults ? &policy->faults->items[i] : &policy->fault;
        struct choke_finding *finding = add_finding(check, CHOKE_SEVERITY_ERROR, "%s", strip_position(fault));
        finding->line = fault->line;
        finding->column = fault->column;
    }
    if (count == CK_YAML_FAULTS_MAX)
        (void)add_finding(check, CHOKE_SEVERITY_NOTE, "%u faults are reported; there may be more", count);
}

/* Does anything in the file cite a record of adr_dir? */
static bool cites_records(const struct ck_policy *policy)
{
    for (uint32_t i = 0; i < policy->tools_count; i++)
        if (!policy->tools[i].embedded)
            return true;
    for (uint32_t i = 0; i < policy->grants_count; i++)
        if (policy->grants[i].adr)
            return true;
    if (policy->guard && (policy->guard->own.adr || policy->guard->profiles_count > 0))
        return true;
    /* Without entries the key is still expected, as a sign that they will have records. */
    return !ck_policy_is_merged(policy);
}

/* At most one finding. Without records the check of each tool's adr is skipped. */
static void check_directory(struct review *check)
{
    const struct choke_policy *policy = check->policy;
    const struct ck_decision_records *records = &policy->records;
    check->key = "adr_dir";
    if (!policy->file)
        (void)add_finding(check, CHOKE_SEVERITY_NOTE,
                          "the policy is embedded: its decision records are those of this build, known by number");
    else if (!policy->policy->adr_dir && !cites_records(policy->policy))
        return;
    else if (!policy->policy->adr_dir)
        (void)add_finding(
            check, CHOKE_SEVERITY_ERROR,
            "'adr_dir' is missing; set it to the directory of the decision records, relative to this file");
    else if (records->errnum != 0)
        (void)add_finding(check, CHOKE_SEVERITY_ERROR, "cannot read the decision records in '%s': %s",
                          CK_QUOTE(records->directory), strerror(records->errnum));
}

/*
 * Records are sorted by name, and a name begins with the number; so equal numbers are neighbours.
 */
static void check_duplicate_records(struct review *check)
{
    const struct ck_decision_records *records = &check->policy->records;
    for (size_t i = 1; i < records->count; i++)
        if (strcmp(records->items[i - 1].number, records->items[i].number) == 0)
            (void)add_finding(check, CHOKE_SEVERITY_WARNING, "two decision records have the number %s: '%s' and '%s'",
                              records->items[i].number, CK_QUOTE(records->items[i - 1].name),
                              CK_QUOTE(records->items[i].name));
}

/* The keys of the machine's policy. Another file may have them, so that it can be tried before. */
static void check_lock(struct review *check, const struct ck_policy *model)
{
    bool is_machine = check->policy->file && strcmp(check->policy->file, CK_LOCKED_FILE) == 0;
    check->key = "locked";
    if (model->locked && !is_machine)
        (void)add_finding(check, CHOKE_SEVERITY_WARNING,
                          "'locked' and 'roots' have an effect only in '" CK_LOCKED_FILE "'");
    check->key = "roots";
    if (model->roots.count > 0 && !model->locked)
        (void)add_finding(check, CHOKE_SEVERITY_WARNING, "'roots' has no effect without 'locked: true'");
}

/* If the directory cannot be read, that is one finding, not one for each record. */
static void check_record(struct review *check, const char *number)
{
    const struct choke_policy *policy = check->policy;
    if (policy->records_read && policy->records.errnum == 0 && !ck_decision_records_have(&policy->records, number))
        (void)add_finding(check, CHOKE_SEVERITY_ERROR,
                          "there is no decision record %s-*.md in '%s' (a regular file, not empty)", number,
                          CK_QUOTE(policy->records.directory));
}

/* Without them the grant works, and `policy diff` never calls it covered. */
static void check_grant(struct review *check)
{
    const struct ck_policy_grant *grant = check->grant;
    check->key = "adr";
    if (grant->adr)
        check_record(check, grant->adr);
    else
        (void)add_finding(check, CHOKE_SEVERITY_WARNING, "the grant to '%s' cites no decision record; add 'adr'",
                          grant->name);
    check->key = "why";
    if (!grant->why)
        (void)add_finding(check, CHOKE_SEVERITY_WARNING,
                          "the grant to '%s' does not say what it is needed for; add 'why'", grant->name);
}

static void check_tool(struct review *check)
{
    const struct ck_tool *tool = check->tool;
    check->key = "adr";
    if (!tool->embedded)
        check_record(check, tool->adr);
    else if (!ck_build_records_have(tool->adr))
        (void)add_finding(check, CHOKE_SEVERITY_ERROR, "this build has no decision record %s", tool->adr);
}

/* The first destination of the tool or of a subcommand whose content is not checked; or NULL. */
static const char *find_opaque(const struct ck_tool *tool, const struct ck_tool *keys)
{
    struct ck_destination destination;
    const char *reason;
    (void)tool;
    for (uint32_t i = 0; i < keys->egress.count; i++)
        if (ck_destination_parse(keys->egress.items[i], &destination, &reason) == 0 && destination.opaque)
            return keys->egress.items[i];
    return NULL;
}

/* The first answer that is not NULL, of the tool and of its subcommands with their own keys. */
static const char *find_in(const struct ck_tool *tool,
                           const char *(*find)(const struct ck_tool *tool, const struct ck_tool *keys))
{
    const char *found = find(tool, tool);
    for (uint32_t i = 0; !found && tool->args && i < tool->args->subcommands_count; i++)
        found = find(tool, &tool->args->subcommands[i].own);
    return found;
}

/* One finding is enough: a reviewer who looks at it sees the others. */
static void check_egress(struct review *check)
{
    const char *opaque = find_in(check->tool, find_opaque);
    check->key = "egress";
    if (opaque)
        (void)add_finding(check, CHOKE_SEVERITY_WARNING,
                          "'%s': the content of an opaque tunnel is not checked; remove 'opaque' if it is TLS",
                          CK_QUOTE(opaque));
}

/* Is the path in a directory that the jail shows? */
static bool is_read(const struct ck_list *reads, const char *real)
{
    for (uint32_t i = 0; i < reads->count; i++) {
        CK_HEAP char *shown = ck_heap_own(realpath(reads->items[i], NULL));
        if (shown && ck_path_beneath(shown, real))
            return true;
    }
    return false;
}

/*
 * A directory that no jail maps code from (jail/native.h). A file may be anywhere, so the answer
 * depends on what exists now.
 */
static const char *find_unmapped(const struct ck_tool *tool, const struct ck_tool *keys)
{
    struct stat status;
    for (uint32_t i = 0; i < keys->execs.count; i++) {
        const char *helper = keys->execs.items[i];
        if (helper[0] != '/' || stat(helper, &status) < 0 || !S_ISDIR(status.st_mode))
            continue;
        CK_HEAP char *real = ck_heap_own(realpath(helper, NULL));
        if (real && !ck_native_is_system(real) && !is_read(&tool->reads, real))
            return helper;
    }
    return NULL;
}

static void check_execs(struct review *check)
{
    const char *unmapped = find_in(check->tool, find_unmapped);
    check->key = "execs";
    if (unmapped)
        (void)add_finding(check, CHOKE_SEVERITY_ERROR, CK_NATIVE_OUTSIDE_SYSTEM, CK_QUOTE(unmapped));
}

/* ---- guard ------------------------------------------------------------------------------- */

/* The first of the keys that the cage does not hold to; NULL: the entry has none. */
static const char *find_unenforced(const struct ck_tool *tool, const struct ck_tool *keys)
{
    static const struct ck_limits none;
    return tool->args                                        ? "args"
           : keys->egress.count > 0                          ? "egress"
           : memcmp(&keys->limits, &none, sizeof(none)) != 0 ? "limits"
           : keys->set_env_count > 0                         ? "set_env"
                                                             : NULL;
}

/* node is the mapping of the section or of the profile. */
static void check_carriers(struct review *check, const struct ck_policy *model, const struct ck_list *carriers,
                           const struct ck_yaml_node *node)
{
    for (uint32_t i = 0; i < carriers->count; i++) {
        const struct ck_tool *tool = ck_policy_find(model, carriers->items[i]);
        if (!tool || !find_in(tool, find_unenforced))
            continue;
        const struct ck_yaml_node *list = node ? ck_yaml_node_value(node, "carriers") : NULL;
        const struct ck_yaml_node *at = list ? ck_yaml_node_entry(list, i) : NULL;
        struct choke_finding *finding = add_finding(
            check, CHOKE_SEVERITY_WARNING,
            "'%s' is a carrier: in the cage of guard its args, egress, limits and set_env do not hold", tool->name);
        finding->tool = tool->name;
        finding->line = at ? at->line : 0;
        finding->column = at ? at->column : 0;
    }
}

/* Interpreters with a compiler of their own, and what runs in one: they end where code cannot be made. */
static bool needs_jit(const char *name)
{
    static const char *const names[] = {"node", "npm",    "npx",   "java", "javac",  "mvn",     "gradle",
                                        "jest", "vitest", "mocha", "tsc",  "eslint", "prettier"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

static void check_profile(struct review *check, const struct ck_policy *model, const struct ck_profile *profile,
                          const struct ck_yaml_node *node)
{
    const struct ck_yaml_node *adr = node ? ck_yaml_node_value(node, "adr") : NULL;
    check->key = "guard.adr";
    size_t before = check->policy->findings_count;
    if (profile->adr)
        check_record(check, profile->adr);
    if (check->policy->findings_count > before && adr) {
        check->policy->findings[before].line = adr->line;
        check->policy->findings[before].column = adr->column;
    }
    check->key = "guard.carriers";
    check_carriers(check, model, &profile->carriers, node);
    check->key = "guard.jit";
    for (uint32_t i = 0; !profile->jit && i < profile->carriers.count; i++)
        if (needs_jit(profile->carriers.items[i])) {
            struct choke_finding *finding =
                add_finding(check, CHOKE_SEVERITY_WARNING,
                            "the carrier '%s' makes code while it runs, which fails without 'jit: true'",
                            profile->carriers.items[i]);
            finding->line = node ? node->line : 0;
        }
}

/* A widening of the section that cites no record is never covered, as with a grant. */
static void check_guard(struct review *check, const struct ck_policy *model)
{
    const struct ck_policy_guard *guard = model->guard;
    const struct ck_yaml_tree *tree = &check->policy->tree;
    const struct ck_yaml_node *node = tree->nodes && guard ? ck_yaml_node_value(&tree->nodes[0], "guard") : NULL;
    const struct ck_yaml_node *profiles = node ? ck_yaml_node_value(node, "profiles") : NULL;
    if (!guard || !node)
        return;
    check_profile(check, model, &guard->own, node);
    for (uint32_t i = 0; i < guard->profiles_count; i++)
        check_profile(check, model, &guard->profiles[i], ck_yaml_node_entry(profiles, i));
    check->key = "guard.adr";
    if (!guard->own.adr && guard->own.carriers.count > 0) {
        struct choke_finding *finding =
            add_finding(check, CHOKE_SEVERITY_WARNING, "the carriers of 'guard' cite no decision record; add 'adr'");
        finding->line = node->line;
        finding->column = node->column;
    }
}

/* ---- what an entry leaves open ------------------------------------------------------------ */

/* A grant to the tool that a subcommand does not get, because it has its own list. */
static void check_reach(struct review *check, const struct ck_policy *model)
{
    const struct ck_policy_grant *grant = check->grant;
    const struct ck_tool *tool = ck_policy_find(model, grant->name);
    static const char *const keys[] = {"egress", "env", "execs", "uses"};
    const struct ck_list *lists[] = {&grant->egress, &grant->env, &grant->execs, &grant->uses};
    for (size_t k = 0; !grant->subcommand && tool->args && k < sizeof(keys) / sizeof(keys[0]); k++)
        for (uint32_t i = 0; lists[k]->count > 0 && i < tool->args->subcommands_count; i++)
            if (ck_policy_subcommand_has(&tool->args->subcommands[i], keys[k])) {
                check->key = keys[k];
                (void)add_finding(check, CHOKE_SEVERITY_WARNING,
                                  "subcommand '%s' of '%s' has its own '%s', which this grant does not reach; name the "
                                  "one that is meant with 'subcommand'",
                                  tool->args->subcommands[i].name, tool->name, keys[k]);
                break;
            }
}

static void check_args(struct review *check)
{
    const struct ck_tool *tool = check->tool;
    check->key = "args";
    if (tool->args || tool->route == CK_ROUTE_JAIL || tool->route == CK_ROUTE_CARRIER)
        return;
    if (tool->route == CK_ROUTE_DIRECT)
        (void)add_finding(check, CHOKE_SEVERITY_WARNING,
                          "'%s' runs without a jail and has no 'args': any argument is allowed; list the allowed ones",
                          tool->name);
    else
        (void)add_finding(check, CHOKE_SEVERITY_WARNING,
                          "'%s' has no 'args': any argument is allowed; list the allowed ones", tool->name);
}

/* Without a list, and without a jail, it executes anything. */
static bool is_open(const struct ck_tool *tool)
{
    return !ck_helper_sets_bind(tool) && !tool->workspace_code;
}

/* Exact vectors do what was reviewed, and a command is judged by its own entry. */
static void check_helpers(struct review *check)
{
    const struct ck_tool *tool = check->tool;
    const struct ck_args *args = tool->args;
    bool open = is_open(tool) && !(args && (args->only_exact || args->command));
    if (args && args->subcommands_count > 0)
        open = false;
    for (uint32_t i = 0; args && i < args->subcommands_count && !open; i++) {
        struct ck_tool own;
        ck_policy_subcommand_tool(tool, &args->subcommands[i], &own);
        open = is_open(&own);
    }
    check->key = "execs";
    if (open && tool->route != CK_ROUTE_JAIL && tool->route != CK_ROUTE_CARRIER)
        (void)add_finding(check, CHOKE_SEVERITY_WARNING,
                          "'%s' has no 'execs': without a jail it can execute any program; write 'execs: []' if it "
                          "starts none, or list what it starts",
                          tool->name);
}

/*
 * The arguments of a helper are not judged, so one that runs any text opens what `args` closes. A
 * set of helpers was reviewed as a whole. With `env` beside it, it starts the tool itself: a script
 * that begins with "#!/usr/bin/env node" needs both.
 */
static void check_interpreters(struct review *check, const char *name, const struct ck_list *execs)
{
    check->key = "execs";
    if (ck_policy_list_has(execs, "env"))
        return;
    for (uint32_t i = 0; i < execs->count; i++)
        if (ck_risk_runs_text(execs->items[i]))
            (void)add_finding(check, CHOKE_SEVERITY_WARNING,
                              "'%s' among the helpers of '%s' runs the text that it is given, also text of the "
                              "repository; leave it out if the tool works without it, or name the set that has it in "
                              "'uses'",
                              CK_QUOTE(execs->items[i]), name);
}

static void check_helper_lists(struct review *check)
{
    const struct ck_tool *tool = check->tool;
    if (!tool->workspace_code)
        check_interpreters(check, tool->name, &tool->execs);
    for (uint32_t i = 0; tool->args && i < tool->args->subcommands_count; i++) {
        const struct ck_subcommand *subcommand = &tool->args->subcommands[i];
        struct ck_tool own;
        ck_policy_subcommand_tool(tool, subcommand, &own);
        if (!own.workspace_code && ck_policy_subcommand_has(subcommand, "execs"))
            check_interpreters(check, tool->name, &own.execs);
    }
}

/* ---- what is known to run or to write ------------------------------------------------------ */

/*
 * Does the text of the policy list this option? "--pre", "--pre=", "--pre[=x]", "--pre <any>".
 * strchr finds the NUL at the end, too.
 */
static bool lists_option(const char *text, const char *name)
{
    size_t length = strlen(name);
    return strncmp(text, name, length) == 0 && strchr("=[ ", text[length]);
}

static const struct ck_yaml_node *find_option(const struct ck_yaml_node *mapping, const char *name)
{
    const struct ck_yaml_node *list = mapping ? ck_yaml_node_value(mapping, "options") : NULL;
    for (uint32_t i = 0; list && i < list->count; i++)
        if (lists_option(ck_yaml_node_entry(list, i)->text, name))
            return ck_yaml_node_entry(list, i);
    return NULL;
}

/* The option in the file: in the rules of the tool or subcommand, in a set, or in a grant. */
static const struct ck_yaml_node *find_use(const struct review *check, const struct ck_risk_use *use)
{
    const struct ck_yaml_node *entry = find_entry(check, "tools");
    const struct ck_yaml_node *args = entry ? ck_yaml_node_value(entry, "args") : NULL;
    const struct ck_yaml_node *sets = args ? ck_yaml_node_value(args, "sets") : NULL;
    const struct ck_yaml_node *node = args;
    if (args && use->subcommand)
        node = ck_yaml_node_entry(ck_yaml_node_value(args, "subcommands"),
                                  (uint32_t)(use->subcommand - check->tool->args->subcommands));
    node = find_option(node, use->option);
    for (uint32_t i = 0; !node && sets && i < sets->count; i++)
        node = find_option(ck_yaml_node_entry(sets, i), use->option);
    return node;
}

static const struct ck_yaml_node *find_granted(const struct review *check, const struct ck_risk_use *use)
{
    const struct ck_yaml_tree *tree = &check->policy->tree;
    const struct ck_yaml_node *list = tree->nodes ? ck_yaml_node_value(&tree->nodes[0], "grant") : NULL;
    for (uint32_t i = 0; list && i < list->count; i++) {
        const struct ck_yaml_node *grant = ck_yaml_node_entry(list, i);
        const struct ck_yaml_node *subcommand = ck_yaml_node_value(grant, "subcommand");
        bool same = strcmp(ck_yaml_node_value(grant, "name")->text, check->tool->name) == 0 &&
                    !subcommand == !use->subcommand &&
                    (!subcommand || strcmp(subcommand->text, use->subcommand->name) == 0);
        const struct ck_yaml_node *node = same ? find_option(grant, use->option) : NULL;
        if (node)
            return node;
    }
    return NULL;
}

static void add_risk(void *data, const struct ck_risk_use *use)
{
    static const char *const effects[] = {
        [CK_RISK_RUNS] = "runs programs", [CK_RISK_WRITES] = "writes files", [CK_RISK_OPENS] = "opens the host"};
    struct review *check = data;
    check->key = "args";
    if (!use->option) {
        if (!check->tool->embedded)
            (void)add_finding(check, CHOKE_SEVERITY_WARNING, "'%s' runs what it is given: %s", check->tool->name,
                              use->risk->instead);
        return;
    }
    check->node = check->tool->embedded ? find_granted(check, use) : find_use(check, use);
    if (check->node || !check->tool->embedded)
        (void)add_finding(check, CHOKE_SEVERITY_WARNING, "option '%s'%s%s%s of '%s' %s: %s", use->option,
                          use->subcommand ? " in subcommand '" : "", use->subcommand ? use->subcommand->name : "",
                          use->subcommand ? "'" : "", check->tool->name, effects[use->risk->effect],
                          use->risk->instead);
    check->node = NULL;
}

static void check_tools(struct review *check, const struct ck_policy *model)
{
    check_directory(check);
    check_duplicate_records(check);
    check_lock(check, model);
    for (uint32_t i = 0; i < model->grants_count; i++) {
        check->grant = &model->grants[i];
        check_grant(check);
        check_reach(check, model);
        check_interpreters(check, check->grant->name, &check->grant->execs);
    }
    check->grant = NULL;
    check_guard(check, model);
    for (uint32_t i = 0; i < model->tools_count; i++) {
        check->tool = &model->tools[i];
        check_tool(check);
        check_egress(check);
        check_execs(check);
        if (!check->tool->embedded) {
            check_args(check);
            check_helpers(check);
            check_helper_lists(check);
        }
        ck_risk_each(check->tool, add_risk, check);
    }
}

/*
 * All findings, or none: a list that lost one to a lack of memory would look better than the policy
 * is.
 */
static int run_checks(struct choke_policy *policy, struct choke_error *error)
{
    struct review check = {.policy = policy};
    const struct ck_policy *model = policy->policy;
    if (model && ck_review_records(policy, error) < 0)
        return -ENOMEM;
    /* Not NULL afterwards, even without a finding: it says that the policy was checked. */
    policy->findings = ck_arena_array(&policy->arena, FIRST_FINDINGS, sizeof(*policy->findings));
    if (!policy->findings)
        return ck_error_oom(error);
    check.capacity = FIRST_FINDINGS;
    check_file(&check);
    if (model)
        check_tools(&check, model);
    if (!check.failed)
        return 0;
    policy->findings = NULL;
    policy->findings_count = 0;
    return ck_error_oom(error);
}

int choke_policy_check(struct choke_policy *policy, const struct choke_finding **ret_findings, size_t *ret_count,
                       struct choke_error *error)
{
    if (!policy || !ret_findings || !ret_count)
        return ck_error_set(error, CHOKE_INVALID, EINVAL, "a policy and a pointer for its findings are required");
    int r = !policy->findings ? run_checks(policy, error) : 0;
    if (r < 0)
        return r;
    *ret_findings = policy->findings;
    *ret_count = policy->findings_count;
    return 0;
}
