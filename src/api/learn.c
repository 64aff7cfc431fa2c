/*
 * learn.c - `policy learn`: runs a call in the learning jail, makes an entry of what it did, and
 * tries the entry (docs/adr/0062).
 *
 *   Must     ask the lock before anything runs.
 *   Must not change the repository: every run has an overlay, or sees it read-only.
 */
#include "api/context.h"
#include "api/denied_add.h"
#include "api/learn_grants.h"
#include "api/learn_record.h"
#include "api/policyfile.h"
#include "api/versioned.h"

#include "base/error.h"
#include "base/fd.h"
#include "base/quote.h"
#include "policy/judge.h"
#include "policy/learn_into.h"
#include "policy/tables.h"
#include "policy/yaml_write.h"
#include "sys/beneath.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define POLICIES_MAX 5 /* the file, the learning entry, two that are tried, and the result */
#define INDENT 2       /* of an entry that is printed, beneath `tools:` */
#define WROTE_MAX 3    /* paths that the comment names */

struct learner {
    const struct choke_learn *learn;
    struct choke_context *context;
    struct choke_error *error;
    struct ck_arena arena; /* of the result */
    struct choke_learned *learned;
    struct ck_identity root;
    const struct ck_policy *policy; /* the context's own */
    struct ck_policy *policies[POLICIES_MAX];
    size_t policies_count;
    struct ck_learn_text into; /* text NULL: not requested */
    struct ck_learn_change change;
    struct ck_learn_entry entry;
};

struct learned_block {
    struct choke_learned learned;
    struct ck_arena arena;
};

void ck_learn_keep(struct choke_job *job, const char *records, size_t bytes, uint64_t more)
{
    struct choke_context *context = job->context;
    char *copy = malloc(bytes > 0 ? bytes : 1);
    free(context->learn.records);
    context->learn.records = copy;
    context->learn.bytes = copy ? bytes : 0;
    context->learn.more = more + (copy ? 0 : 1);
    if (copy)
        memcpy(copy, records, bytes);
    /* Without memory for it the comments name the tool's file. */
    context->learn.tool = job->inside ? ck_arena_strdup(&context->text, job->inside) : NULL;
}

/* ---- runs ---- */

/* Parses a policy for one run. It lives as long as the learner. */
static int parse(struct learner *learner, const char *text, struct ck_policy **ret_policy)
{
    struct ck_policy *policy = NULL;
    const char *file = learner->into.text ? learner->into.file : "the learned entry";
    int r = learner->policies_count == POLICIES_MAX
                ? -E2BIG
                : ck_policy_parse(file, text, strlen(text), &policy, learner->error);
    if (r < 0)
        return r;
    learner->policies[learner->policies_count++] = policy;
    *ret_policy = policy;
    return 0;
}

static struct ck_tool *find_tool(struct ck_policy *policy, const char *name)
{
    for (uint32_t i = 0; i < policy->tools_count; i++)
        if (strcmp(policy->tools[i].name, name) == 0)
            return &policy->tools[i];
    return NULL;
}

static struct choke_request request_of(const struct learner *learner)
{
    return (struct choke_request){.argv = learner->learn->argv,
                                  .root = learner->learn->root,
                                  .cwd = ".",
                                  .timeout_ms = learner->learn->timeout_ms,
                                  .jail = CHOKE_JAIL_NATIVE,
                                  .require_jail = true};
}

/* In a context of a session the repository stays as it is: what must be writable is in an overlay. */
static int run(struct learner *learner, struct ck_policy *policy, bool jail, struct choke_result **ret_result)
{
    struct choke_context *context = learner->context;
    struct choke_request request = request_of(learner);
    if (!ck_policy_find(policy, learner->entry.name))
        return ck_error_set(learner->error, CHOKE_INVALID, EINVAL, "the policy has no entry '%s'",
                            CK_QUOTE(learner->entry.name));
    request.why = jail;
    request.on_output = jail ? learner->learn->on_output : NULL;
    request.output_data = learner->learn->output_data;
    context->policy = policy;
    context->learn.jail = jail;
    int r = choke_run(context, &request, ret_result, learner->error);
    context->policy = learner->policy;
    context->learn.jail = false;
    return r;
}

/* ---- the learning run ---- */

/* A policy of one entry, with the search path of the context's policy. */
static const char *policy_of(struct learner *learner, const char *entry)
{
    const struct ck_list *paths = &learner->policy->search_path;
    const char *text = "version: 1\nsearch_path:\n";
    for (uint32_t i = 0; text && i < paths->count; i++) {
        const char *path = ck_policy_yaml_text(paths->items[i], &learner->arena);
        text = path ? ck_arena_printf(&learner->arena, "%s  - %s\n", text, path) : NULL;
    }
    return text && entry ? ck_arena_printf(&learner->arena, "%stools:\n%s", text, entry) : NULL;
}

/* Does the entry of the file allow the arguments? */
static int judge(struct learner *learner, const struct ck_policy *policy, bool *ret_allowed)
{
    const struct choke_request request = request_of(learner);
    struct ck_verdict verdict;
    if (ck_judge(policy, &request, &learner->arena, &verdict) < 0)
        return ck_error_oom(learner->error);
    *ret_allowed = verdict.outcome == CHOKE_NONE;
    return 0;
}

/* The entry that is in the file already keeps its keys: environment, limits, directories. */
static int learn_from_file(struct learner *learner, struct ck_policy **ret_policy)
{
    bool allowed = false;
    int r = parse(learner, learner->into.text, ret_policy);
    struct ck_tool *tool = r < 0 ? NULL : find_tool(*ret_policy, learner->entry.name);
    if (r == 0 && !(*ret_policy)->extends)
        learner->entry.replaces = false; /* the file does not have the default entries */
    if (r < 0 || !tool || tool->embedded)
        return r < 0 ? r : 1;
    learner->change.tool = ck_policy_find(learner->policy, learner->entry.name);
    r = judge(learner, *ret_policy, &allowed);
    learner->change.missing.call = !allowed;
    if (!allowed)
        tool->args = NULL;
    return r;
}

static int run_to_learn(struct learner *learner, struct choke_result **ret_result)
{
    struct ck_policy *policy = NULL;
    int r = learner->into.text ? learn_from_file(learner, &policy) : 1;
    if (r > 0) {
        const char *text = policy_of(learner, ck_learn_entry_write(&learner->entry, INDENT, true, &learner->arena));
        r = text ? parse(learner, text, &policy) : ck_error_oom(learner->error);
    }
    return r < 0 || !policy ? r : run(learner, policy, true, ret_result);
}

/* "h, build/a.o and 7 more": what the tool wrote beneath the root. */
static const char *list_changes(struct learner *learner, const struct choke_result *result)
{
    const char *text = "";
    for (size_t i = 0; text && i < result->change_count && i < WROTE_MAX; i++) {
        const char *path = ck_denied_show(&learner->arena, result->changes[i].path);
        text = path ? ck_arena_printf(&learner->arena, "%s%s'%s'", text, i == 0 ? "" : ", ", path) : NULL;
    }
    if (text && result->change_count > WROTE_MAX)
        text = ck_arena_printf(&learner->arena, "%s and %zu more", text, result->change_count - WROTE_MAX);
    return text;
}

/* ---- the trial of the entry ---- */

static bool has_item(const struct ck_list *list, const char *text)
{
    for (uint32_t i = 0; i < list->count; i++)
        if (strcmp(list->items[i], text) == 0)
            return true;
    return false;
}

/* What the entry of the file has already is not added again. */
static int keep_new(struct learner *learner, struct ck_learn_items *items, const struct ck_list *list)
{
    struct ck_learn_item *kept = ck_arena_array(&learner->arena, items->count + 1, sizeof(*kept));
    size_t count = 0;
    if (!kept)
        return ck_error_oom(learner->error);
    for (size_t i = 0; i < items->count; i++)
        if (!has_item(list, items->items[i].text))
            kept[count++] = items->items[i];
    *items = (struct ck_learn_items){.items = kept, .count = count};
    return 0;
}

static int compare_with_file(struct learner *learner)
{
    const struct ck_tool *tool = learner->change.tool;
    struct ck_learn_entry *entry = &learner->entry;
    if (!tool)
        return 0;
    int r = keep_new(learner, &entry->uses, &tool->uses);
    if (r == 0)
        r = keep_new(learner, &entry->execs, &tool->execs);
    if (r == 0)
        r = keep_new(learner, &entry->asked_uses, &tool->uses);
    if (r == 0)
        r = keep_new(learner, &entry->asked_execs, &tool->execs);
    learner->change.missing.workspace_code = entry->code && !tool->workspace_code;
    return r;
}

/* The policy as a whole, with the entry or what was added to it. */
static int compose(struct learner *learner, bool answered, const char **ret_text)
{
    struct ck_learn_change *change = &learner->change;
    change->answered = answered;
    change->entry = &learner->entry;
    change->missing.workspace =
        (learner->entry.writes || learner->entry.code) && change->tool && !change->tool->has_workspace;
    if (learner->into.text)
        return ck_learn_into(&learner->into, change, &learner->arena, ret_text, learner->error);
    *ret_text = policy_of(learner, ck_learn_entry_write(&learner->entry, INDENT, answered, &learner->arena));
    return *ret_text ? 0 : ck_error_oom(learner->error);
}

/* Runs the call with the entry, all questions answered, and compares how it ends. */
static int try_entry(struct learner *learner, bool *ret_same)
{
    struct choke_result *result = NULL;
    struct ck_policy *policy;
    const char *text;
    int r = compose(learner, true, &text);
    if (r == 0)
        r = parse(learner, text, &policy);
    if (r == 0)
        r = run(learner, policy, false, &result);
    if (r < 0 || !result)
        return r;
    *ret_same = result->outcome == CHOKE_EXITED && result->exit_code == learner->learned->exit_code;
    if (result->error.outcome != CHOKE_NONE)
        learner->learned->reason = ck_arena_strdup(&learner->arena, result->error.message);
    else if (!*ret_same)
        learner->learned->reason =
            ck_arena_printf(&learner->arena, "with it the tool exits with status %d", result->exit_code);
    choke_result_free(result);
    return 0;
}

/* Of a tool that failed nobody knows whether it would need more. */
static int find_smallest(struct learner *learner, const char *wrote)
{
    struct choke_learned *learned = learner->learned;
    int r = 0;
    if (learned->outcome != CHOKE_EXITED || learned->exit_code != 0) {
        learner->entry.writes = wrote;
        learned->reason = "the tool did not succeed, so it may need more";
        return 0;
    }
    r = try_entry(learner, &learned->passes);
    if (r == 0 && !learned->passes && wrote) {
        learner->entry.writes = wrote;
        r = try_entry(learner, &learned->passes);
    }
    if (learned->passes)
        learned->reason = NULL;
    return r;
}

/* ---- the whole ---- */

static int check(const struct choke_learn *learn, struct choke_error *error)
{
    const char *adr = learn->adr;
    if (!learn->argv || !learn->argv[0] || !learn->root)
        return ck_error_set(error, CHOKE_INVALID, EINVAL, "a tool and a root are required");
    if (learn->argv[0][0] == '\0' || strchr(learn->argv[0], '/'))
        return ck_error_set(error, CHOKE_INVALID, EINVAL, "'%s' is not the name of a tool in the search path",
                            CK_QUOTE(learn->argv[0]));
    if (adr && (strlen(adr) != 4 || strspn(adr, "0123456789") != 4))
        return ck_error_set(error, CHOKE_INVALID, EINVAL, "the number of a decision record has four digits, not '%s'",
                            CK_QUOTE(adr));
    return 0;
}

/* As a helper it would not be granted either. A reviewer who wants it writes the entry. */
static int check_privileges(struct learner *learner)
{
    const char *name = learner->entry.name;
    if (!ck_denied_add_is_privileged(&learner->context->search, learner->root, name))
        return 0;
    return ck_error_set(learner->error, CHOKE_DISALLOWED, EPERM,
                        "'%s' gives its user other privileges (set-user-ID, set-group-ID, capabilities or its "
                        "purpose), which 'policy learn' never grants",
                        CK_QUOTE(name));
}

static int begin(struct learner *learner)
{
    const struct choke_learn *learn = learner->learn;
    struct ck_learn_entry *entry = &learner->entry;
    CK_FD root_fd = -1;
    entry->name = learn->argv[0];
    entry->args = learn->argv + 1;
    entry->replaces = ck_tables_has(ck_policy_default(&learner->arena), entry->name);
    entry->adr = learn->adr;
    entry->why =
        learn->why ? learn->why : ck_arena_printf(&learner->arena, "Write here what %s is for.", learn->argv[0]);
    if (!entry->why)
        return ck_error_oom(learner->error);
    int r = ck_beneath_root(learn->root, &root_fd, learner->error);
    if (r == 0)
        r = ck_trust_identity_of(root_fd, &learner->root);
    if (r == 0)
        r = check_privileges(learner);
    if (r == 0 && !entry->adr)
        r = ck_learn_record_number(learner->context, &learner->arena, &entry->adr, learner->error);
    if (r < 0 || !learn->policy_path)
        return r;
    const struct ck_rulefile file = ck_policyfile(learn->policy_path);
    struct ck_trusted place;
    char *text;
    r = ck_rulefile_read(&file, &text, &learner->into.length, &place, learner->error);
    if (r < 0)
        return r;
    ck_trust_done(&place);
    learner->into.file = learn->policy_path;
    learner->into.text = ck_arena_memdup(&learner->arena, text, learner->into.length);
    free(text);
    return learner->into.text ? 0 : ck_error_oom(learner->error);
}

static const char *describe_items(struct learner *learner, const char *text, const char *key,
                                  const struct ck_learn_items *items)
{
    for (size_t i = 0; text && i < items->count; i++)
        text = ck_arena_printf(&learner->arena, "%s  # %s: %s: %s (%s)\n", text, learner->entry.name, key,
                               items->items[i].text, items->items[i].note);
    return text;
}

/* What an entry that was there already has got, one line for each. NULL: no memory. */
static const char *describe(struct learner *learner)
{
    const struct ck_learn_entry *entry = &learner->entry;
    const struct ck_learn_missing *missing = &learner->change.missing;
    const char *vector = ck_learn_entry_vector(entry->args, &learner->arena);
    const char *text = !vector         ? NULL
                       : missing->call ? ck_arena_printf(&learner->arena, "  # %s: exact: %s\n", entry->name, vector)
                                       : "";
    text = describe_items(learner, text, "uses", &entry->uses);
    text = describe_items(learner, text, "execs", &entry->execs);
    text = describe_items(learner, text, "question: uses", &entry->asked_uses);
    text = describe_items(learner, text, "question: execs", &entry->asked_execs);
    if (text && missing->workspace)
        text = ck_arena_printf(&learner->arena, "%s  # %s: workspace: %s\n", text, entry->name,
                               entry->writes ? "rw" : "ro");
    if (text && missing->workspace_code)
        text = ck_arena_printf(&learner->arena, "%s  # %s: workspace_code: true\n", text, entry->name);
    return text;
}

static int write_result(struct learner *learner)
{
    struct choke_learned *learned = learner->learned;
    const char *text;
    int r = compose(learner, false, &text);
    if (r < 0)
        return r;
    learned->entry = learner->change.tool ? describe(learner)
                                          : ck_learn_entry_write(&learner->entry, INDENT, false, &learner->arena);
    if (!learned->entry)
        return ck_error_oom(learner->error);
    if (learner->into.text && text != learner->into.text) {
        struct ck_policy *policy;
        r = parse(learner, text, &policy);
        learned->policy_text = text;
    }
    if (r < 0 || learner->learn->adr || learner->change.tool)
        return r;
    r = ck_learn_record_write(learner->context, &learner->entry, &learner->arena, learned);
    return r < 0 ? ck_error_oom(learner->error) : 0;
}

static int learn_all(struct learner *learner)
{
    static const struct ck_list none;
    struct choke_learned *learned = learner->learned;
    struct choke_result *result = NULL;
    int r = begin(learner);
    if (r == 0)
        r = run_to_learn(learner, &result);
    if (r < 0 || !result)
        return r;
    learned->outcome = result->outcome;
    learned->exit_code = result->exit_code;
    learned->error = result->error;
    bool ran = !!result->jail;
    const char *wrote = result->change_count > 0 ? list_changes(learner, result) : NULL;
    bool no_memory = result->change_count > 0 && !wrote;
    choke_result_free(result);
    if (no_memory)
        return ck_error_oom(learner->error);
    if (!ran)
        return 0;
    const struct ck_tool *tool = learner->change.tool;
    if (ck_learn_grants(learner->context, learner->root, tool ? &tool->uses : &none, &learner->arena, &learner->entry) <
        0)
        return ck_error_oom(learner->error);
    r = compare_with_file(learner);
    if (r == 0)
        r = find_smallest(learner, wrote);
    return r < 0 ? r : write_result(learner);
}

/* The context keeps pointers into its own policy, so that one stays until the end. */
static void end(struct learner *learner)
{
    free(learner->context->learn.records);
    learner->context->learn.records = NULL;
    choke_context_free(learner->context);
    for (size_t i = 0; i < learner->policies_count; i++)
        ck_policy_free(learner->policies[i]);
}

int choke_policy_learn(const struct choke_learn *learn, struct choke_learned **ret_learned, struct choke_error *error)
{
    const struct choke_options options = {.policy_path = learn ? learn->policy_path : NULL,
                                          .audit_log = CHOKE_AUDIT_DEFAULT};
    if (!learn || !ret_learned)
        return ck_error_set(error, CHOKE_INVALID, EINVAL, "a call and a pointer for its result are required");
    struct choke_error unused;
    struct choke_learn known;
    int r = ck_versioned_read(CK_VERSIONED(choke_learn), learn, learn->struct_size, &known, error);
    if (r < 0)
        return r;
    struct learner learner = {.learn = &known, .error = error ? error : &unused};
    r = check(&known, learner.error);
    struct learned_block *block = r < 0 ? NULL : calloc(1, sizeof(*block));
    if (!block)
        return r < 0 ? r : ck_error_oom(error);
    learner.learned = &block->learned;
    r = choke_context_new(&options, &learner.context, learner.error);
    if (r == 0) {
        learner.policy = learner.context->policy;
        learner.context->learn.session = true;
        r = choke_locked(learner.context, "policy learn", learner.error);
        if (r == 0)
            r = learn_all(&learner);
        end(&learner);
    }
    block->arena = learner.arena;
    if (r < 0)
        choke_learned_free(&block->learned);
    else
        *ret_learned = &block->learned;
    return r;
}

void choke_learned_free(struct choke_learned *learned)
{
    struct learned_block *block = (struct learned_block *)learned;
    if (!block)
        return;
    ck_arena_done(&block->arena);
    free(block);
}
