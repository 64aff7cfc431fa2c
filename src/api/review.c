/*
 * review.c - a policy under review: opens, describes and checks it.
 *
 * A reviewer wants to see what is wrong with a file. So what would end a run is a finding here.
 * Only a file that cannot be read at all is a failure.
 */
#include "api/review.h"

#include "api/build_records.h"
#include "api/machine.h"
#include "api/policyfile.h"
#include "base/destination.h"
#include "base/error.h"
#include "base/heap.h"
#include "base/path.h"
#include "base/quote.h"
#include "jail/native.h"
#include "policy/describe.h"
#include "policy/yaml_write.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/*
 * The most findings: four for each tool (adr, args, egress, execs), two for each grant (adr, why),
 * one for each pair of records, and those about the file.
 */
#define FINDINGS_OF_TOOL 4
#define FINDINGS_OF_GRANT 2
#define FINDINGS_OF_FILE (6 + CK_YAML_FAULTS_MAX)

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

/* ---- open -------------------------------------------------------------------------------- */

/* By their place in the file. */
static int compare_faults(const void *left, const void *right)
{
    const struct choke_error *a = left;
    const struct choke_error *b = right;
    return a->line != b->line ? (a->line > b->line) - (a->line < b->line)
                              : (a->column > b->column) - (a->column < b->column);
}

/*
 * A fault of the text is kept as a finding; out of memory is a failure. The tree is only for
 * positions. The text was parsed before, so it fails here only without memory; then findings have
 * the line of the entry and no column.
 */
static int parse(struct choke_policy *policy, const void *text, size_t length, struct choke_error *error)
{
    const char *file = policy->file ? policy->file : "default policy";
    struct choke_error ignored;
    struct ck_yaml_faults *faults = ck_arena_array(&policy->arena, 1, sizeof(*faults));
    if (!faults)
        return ck_error_oom(error);
    const struct ck_policy_source source = {.file = file, .text = text, .length = length, .faults = faults};
    int r = ck_policy_parse_source(&source, &policy->policy, &policy->fault);
    if (r == -EINVAL && faults->count > 0) {
        qsort(faults->items, faults->count, sizeof(faults->items[0]), compare_faults);
        policy->faults = faults;
        policy->fault = faults->items[0];
    }
    if (r < 0 && policy->fault.outcome != CHOKE_POLICY) {
        if (error)
            *error = policy->fault;
        return r;
    }
    /* The entries of the embedded policy are those of this build. */
    for (uint32_t i = 0; r == 0 && !policy->file && i < policy->policy->tools_count; i++)
        policy->policy->tools[i].embedded = true;
    if (r == 0)
        policy->policy->embedded = !policy->file;
    if (r == 0 && ck_yaml_tree_parse(&policy->tree, file, text, length, &ignored) < 0) {
        ck_yaml_tree_done(&policy->tree);
        policy->tree = (struct ck_yaml_tree){0};
    }
    return 0;
}

/*
 * A file that a run would refuse (its owner, its mode) is read nevertheless, and refusal says why.
 * Only one that cannot be read is a failure.
 */
static int read_policy(struct choke_policy *policy, const char *path, struct choke_error *error)
{
    char *text;
    size_t length;
    policy->file = ck_arena_strdup(&policy->arena, path);
    if (!policy->file)
        return ck_error_oom(error);
    const struct ck_rulefile file = ck_policyfile(path);
    int r = ck_rulefile_review(&file, &text, &length, &policy->refusal, error);
    if (r < 0)
        return r;
    r = parse(policy, text, length, error);
    free(text);
    return r;
}

/* path NULL: the embedded policy. */
static int open_policy(const char *path, struct choke_policy **ret_policy, struct choke_error *error)
{
    if (!ret_policy)
        return ck_error_set(error, CHOKE_INVALID, EINVAL, "a pointer for the policy is required");
    struct choke_policy *policy = calloc(1, sizeof(*policy));
    if (!policy)
        return ck_error_oom(error);
    int r = path ? read_policy(policy, path, error)
                 : parse(policy, ck_policy_default_text, ck_policy_default_length, error);
    if (r < 0)
        choke_policy_free(policy);
    else
        *ret_policy = policy;
    return r;
}

int choke_policy_open(const char *path, struct choke_policy **ret_policy, struct choke_error *error)
{
    int there = path ? 0 : ck_machine_look(error);
    if (there < 0)
        return there;
    return open_policy(there > 0 ? CK_LOCKED_FILE : path, ret_policy, error);
}

int choke_policy_open_embedded(struct choke_policy **ret_policy, struct choke_error *error)
{
    return open_policy(NULL, ret_policy, error);
}

const char *choke_policy_file(const struct choke_policy *policy)
{
    return policy ? policy->file : NULL;
}

void choke_policy_free(struct choke_policy *policy)
{
    if (!policy)
        return;
    ck_policy_free(policy->policy);
    ck_yaml_tree_done(&policy->tree);
    ck_arena_done(&policy->arena);
    free(policy);
}

/*
 * Made once; the text belongs to the policy. A policy that is not valid has no JSON, and its fault
 * is the error.
 */
int choke_policy_json(struct choke_policy *policy, const char **ret_text, struct choke_error *error)
{
    if (!policy || !ret_text)
        return ck_error_set(error, CHOKE_INVALID, EINVAL, "a policy and a pointer for its text are required");
    if (!policy->policy) {
        if (error)
            *error = policy->fault;
        return -EINVAL;
    }
    if (!policy->json)
        policy->json = ck_policy_json(policy->policy, &policy->arena);
    if (!policy->json)
        return ck_error_oom(error);
    *ret_text = policy->json;
    return 0;
}

int choke_policy_yaml(struct choke_policy *policy, const char **ret_text, struct choke_error *error)
{
    if (!policy || !ret_text)
        return ck_error_set(error, CHOKE_INVALID, EINVAL, "a policy and a pointer for its text are required");
    if (!policy->policy) {
        if (error)
            *error = policy->fault;
        return -EINVAL;
    }
    if (!policy->yaml)
        policy->yaml = ck_policy_yaml(policy->policy, &policy->arena);
    if (!policy->yaml)
        return ck_error_oom(error);
    *ret_text = policy->yaml;
    return 0;
}

int ck_review_records(struct choke_policy *policy, struct choke_error *error)
{
    if (policy->records_read || !policy->file || !policy->policy->adr_dir)
        return 0;
    if (ck_decision_records_read(&policy->arena, policy->file, policy->policy->adr_dir, &policy->records) < 0)
        return ck_error_oom(error);
    policy->records_read = true;
    return 0;
}

/* ---- check ------------------------------------------------------------------------------- */

/* State of the checks. add_finding sets failed if there is no memory for a message. */
struct review {
    struct choke_policy *policy;
    const struct ck_tool *tool;          /* NULL: the finding is about the file, or about a grant */
    const struct ck_policy_grant *grant; /* NULL: it is not about a grant */
    const char *key;                     /* of the tool's entry; without a tool, the rule itself */
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
    const struct ck_yaml_node *value = entry ? ck_yaml_node_value(entry, check->key) : NULL;
    /* The model has the line of the entry. Key and column are only in the tree. */
    finding->line = value ? value->line : entry ? entry->line : elsewhere ? 0 : tool->line;
    finding->column = value ? value->column : entry ? entry->column : 0;
}

/* Never beyond the array: run_checks has counted the most that can be added. */
__attribute__((format(printf, 3, 4))) static struct choke_finding *add_finding(struct review *check,
                                                                               enum choke_severity severity,
                                                                               const char *format, ...)
{
    char formatted[CHOKE_MESSAGE_MAX];
    struct choke_policy *policy = check->policy;
    struct choke_finding *finding = &policy->findings[policy->findings_count++];
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
    /* Without entries the key is still expected, as a sign that they will have records. */
    return !policy->extends;
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
    check->key = "args";
    if (tool->route == CK_ROUTE_DIRECT && !tool->args)
        (void)add_finding(check, CHOKE_SEVERITY_WARNING,
                          "'%s' runs without a jail and has no 'args': any argument is allowed; list the allowed ones",
                          tool->name);
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

static void check_tools(struct review *check, const struct ck_policy *model)
{
    check_directory(check);
    check_duplicate_records(check);
    check_lock(check, model);
    for (uint32_t i = 0; i < model->grants_count; i++) {
        check->grant = &model->grants[i];
        check_grant(check);
    }
    check->grant = NULL;
    for (uint32_t i = 0; i < model->tools_count; i++) {
        check->tool = &model->tools[i];
        check_tool(check);
        check_egress(check);
        check_execs(check);
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
    size_t tools = model ? model->tools_count : 0;
    if (model && ck_review_records(policy, error) < 0)
        return -ENOMEM;
    size_t grants = model ? model->grants_count : 0;
    policy->findings =
        ck_arena_array(&policy->arena,
                       FINDINGS_OF_TOOL * tools + FINDINGS_OF_GRANT * grants + policy->records.count + FINDINGS_OF_FILE,
                       sizeof(*policy->findings));
    if (!policy->findings)
        return ck_error_oom(error);
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
