/*
 * review.c - a policy under review: opens and describes it. review_check.c checks it.
 *
 * A reviewer wants to see what is wrong with a file. So what would end a run is a finding here.
 * Only a file that cannot be read at all is a failure.
 */
#include "api/review.h"

#include "api/machine.h"
#include "api/policyfile.h"
#include "base/error.h"
#include "policy/catalog.h"
#include "policy/describe.h"
#include "policy/tables.h"
#include "policy/yaml_write.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

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

/* It has no text as a whole, so nothing is parsed: it points to a copy of the tables of the build. */
static int copy_catalog(struct choke_policy *policy, struct choke_error *error)
{
    const struct ck_policy *catalog = ck_policy_catalog(&policy->arena);
    policy->policy = calloc(1, sizeof(*policy->policy));
    if (!policy->policy || !catalog)
        return ck_error_oom(error);
    *policy->policy = *catalog;
    policy->policy->embedded = true;
    return 0;
}

int choke_policy_open_catalog(struct choke_policy **ret_policy, struct choke_error *error)
{
    if (!ret_policy)
        return ck_error_set(error, CHOKE_INVALID, EINVAL, "a pointer for the policy is required");
    struct choke_policy *policy = calloc(1, sizeof(*policy));
    if (!policy)
        return ck_error_oom(error);
    int r = copy_catalog(policy, error);
    if (r < 0)
        choke_policy_free(policy);
    else
        *ret_policy = policy;
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
