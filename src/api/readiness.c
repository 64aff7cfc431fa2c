/*
 * readiness.c - finds, hashes and runs the tools of a policy for their versions. See readiness.h.
 *
 * The tools run in /dev: it exists wherever this library works, belongs to root, and has no
 * configuration file that a tool could read. A repository, a home or /tmp may have one.
 */
#include "api/readiness.h"

#include "base/error.h"
#include "base/fd.h"
#include "base/quote.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#define VERSION_TIMEOUT_MS 10000             /* for one tool */
#define VERSION_OUTPUT_BYTES ((size_t)65536) /* more is not a version */
#define PARALLEL_MAX 32
#define STOP_POLL_MS 20 /* how often the caller's stop is called */
#define VERSION_ROOT "/dev"

void ck_readiness_policy_digest(const struct choke_context *context, char ret_hex[CK_DIGEST_SIZE])
{
    if (context->from_file)
        memcpy(ret_hex, context->policy_sha256, CK_DIGEST_SIZE);
    else
        ck_digest_bytes(ck_policy_default_text, ck_policy_default_length, ret_hex);
}

/* ---- the policy that allows versions only ---- */

/*
 * A copy of the policy in which only version_args are allowed. Workspaces are ro: a version needs
 * no writing, and an overlay would need a native jail. A jail's helper becomes a direct tool, and
 * a carrier an external one, so that they can be run for their versions.
 */
static int narrow_policy(struct ck_readiness *readiness)
{
    const struct ck_policy *from = readiness->context->policy;
    struct ck_policy *policy = &readiness->policy;
    *policy = *from;
    /* The strings stay in the arena of the context's policy, which alone frees them. */
    policy->arena = (struct ck_arena){0};
    policy->tools = ck_arena_array(&readiness->arena, from->tools_count + 1u, sizeof(*policy->tools));
    policy->by_name = ck_arena_array(&readiness->arena, from->tools_count + 1u, sizeof(*policy->by_name));
    struct ck_args *args = ck_arena_array(&readiness->arena, 2, sizeof(*args));
    if (!policy->tools || !policy->by_name || !args)
        return -ENOMEM;
    /* only version_args, which every entry allows; args[0]: no argument at all */
    args[1].only_exact = true;
    for (uint32_t i = 0; i < from->tools_count; i++) {
        policy->tools[i] = from->tools[i];
        policy->tools[i].args = &args[from->tools[i].version_args.count > 0];
        policy->tools[i].workspace = CK_WORKSPACE_RO;
        policy->tools[i].loopback = false;
        policy->tools[i].require_jail = false;
        policy->tools[i].workspace_code = false;
        if (policy->tools[i].route == CK_ROUTE_JAIL)
            policy->tools[i].route = CK_ROUTE_DIRECT;
        else if (policy->tools[i].route == CK_ROUTE_CARRIER)
            policy->tools[i].route = CK_ROUTE_EXTERNAL;
        /* The same order by name, but pointing to the copies. */
        policy->by_name[i] = policy->tools + (from->by_name[i] - from->tools);
    }
    return 0;
}

/* ---- one tool ---- */

/* The entry's limit if it is shorter: the judge refuses a longer timeout. */
static uint64_t timeout_of(const struct ck_tool *tool)
{
    uint64_t limit_ms = (uint64_t)tool->limits.timeout_s * 1000;
    return limit_ms != 0 && limit_ms < VERSION_TIMEOUT_MS ? limit_ms : VERSION_TIMEOUT_MS;
}

/* Copies the text to *slot. 0 or -ENOMEM. */
static int set_text(struct ck_readiness *readiness, const char **slot, const char *text)
{
    *slot = ck_arena_strdup(&readiness->arena, text);
    return !*slot ? -ENOMEM : 0;
}

/* A tool with a problem is not run, and the check goes on with the next one. */
static int set_problem(struct ck_readiness *readiness, struct ck_readiness_tool *tool, const char *state,
                       const char *problem_text)
{
    tool->state = state;
    return set_text(readiness, &tool->problem, problem_text);
}

/* The plan was refused. The path is known if the file was found, but may not be run. */
static int take_refusal(struct ck_readiness *readiness, struct ck_readiness_tool *tool, const struct ck_plan *plan)
{
    const struct ck_verdict *verdict = &plan->verdict;
    if (plan->tool_path && set_text(readiness, &tool->path, plan->tool_path) < 0)
        return -ENOMEM;
    const char *state = verdict->outcome == CHOKE_TOOL_MISSING ? CK_READINESS_MISSING
                        : verdict->outcome == CHOKE_DISALLOWED ? CK_READINESS_REFUSED
                                                               : CK_READINESS_FAILED;
    return set_problem(readiness, tool, state, verdict->error.message);
}

/* A pinned script runs as a sealed copy; then the version is that of the file itself. */
static int stat_tool(const struct ck_plan *plan, struct ck_version *ret_version)
{
    struct stat status;
    if ((plan->keep_executable ? stat(plan->tool_path, &status) : fstat(plan->execute_fd, &status)) < 0)
        return -errno;
    *ret_version = ck_version_of(&status);
    return 0;
}

/*
 * The cache needs the version of every file. If one is missing, files_count 0 means: do not cache.
 */
static void take_files(struct ck_readiness *readiness, struct ck_readiness_tool *tool, const struct ck_plan *plan)
{
    const struct ck_depend *depend = &readiness->depend;
    bool known = stat_tool(plan, &tool->files[0]) == 0 && depend->count < CK_CACHE_FILES_MAX;
    for (size_t i = 0; known && i < depend->count; i++) {
        known = !!depend->parts[i].path;
        tool->files[i + 1] = depend->parts[i].version;
    }
    tool->files_count = known ? depend->count + 1 : 0;
}

/*
 * tooldigest.c saves tools without a version. That is not an answer for an entry with version_args.
 */
static bool find_cached(struct ck_readiness *readiness, struct ck_readiness_tool *tool)
{
    const struct ck_cache_tool *known =
        readiness->cache && tool->files_count > 0
            ? ck_cache_find(readiness->cache, readiness->policy_sha256, tool->tool->name, tool->path, tool->files,
                            tool->files_count)
            : NULL;
    /* An answer has a version exactly if the entry asks for one. */
    if (!known || (!known->version) != (tool->tool->version_args.count == 0))
        return false;
    tool->version = known->version;
    tool->sha256 = known->sha256;
    tool->cached = true;
    return true;
}

/* A tool that may be executed but not read has no digest; that is not a failure. */
static int hash(struct ck_readiness *readiness, struct ck_readiness_tool *tool, int fd)
{
    struct ck_version version;
    char hex[CK_DIGEST_SIZE];
    int r = ck_depend_digest(&readiness->depend, fd, &version, hex);
    if (r == 0) {
        ck_tooldigest_remember(&readiness->context->audit.digests, &version, hex);
        return set_text(readiness, &tool->sha256, hex);
    }
    tool->files_count = 0; /* a file that could not be read is not remembered */
    /* Any other error says that the file cannot be read. */
    return r == -ENOMEM || r == -ECANCELED ? r : 0;
}

/* Finds the files that run, and what is known about them. */
static int examine(struct ck_readiness *readiness, struct ck_readiness_tool *tool, const struct ck_plan *plan)
{
    struct ck_depend *depend = &readiness->depend;
    int r = set_text(readiness, &tool->path, plan->tool_path);
    if (r == 0)
        /*
         * Without parts only the interpreters are needed: the cache knows a tool by its file and
         * theirs.
         */
        r = readiness->want_parts ? ck_depend_all(depend, plan->execute_fd)
                                  : ck_depend_interpreters(depend, plan->execute_fd);
    if (r == -ELOOP || r == -E2BIG)
        return set_problem(readiness, tool, CK_READINESS_FAILED, "it depends on more files than can be followed");
    if (r < 0)
        return r;
    tool->state = CK_READINESS_READY;
    tool->parts = depend->parts;
    tool->parts_count = depend->count;
    /* A lock uses no cache, so it needs no versions of files. */
    if (!readiness->want_parts)
        take_files(readiness, tool, plan);
    depend->parts = NULL; /* the tool keeps them, and the next gets others */
    /* The plan holds the file open: what is hashed here is what runs. */
    return find_cached(readiness, tool) ? 0 : hash(readiness, tool, plan->execute_fd);
}

/* Blocking, so that the job does not come out of the program's choke_next. */
static void run(struct ck_readiness *readiness, struct ck_readiness_tool *tool, const struct choke_request *request,
                struct ck_plan *plan)
{
    tool->job = ck_job_from_plan(readiness->context, request, plan, true);
    if (!tool->job)
        return;
    tool->next_running = readiness->running;
    readiness->running = tool;
    readiness->running_count++;
}

/*
 * Plans a run for the version, examines what the plan opened, and runs it if the answer is not in
 * the cache.
 */
static int take_tool(struct ck_readiness *readiness, struct ck_readiness_tool *tool)
{
    const struct ck_list *version_args = &tool->tool->version_args;
    const char **argv = ck_arena_array(&readiness->arena, version_args->count + 2u, sizeof(*argv));
    if (!argv)
        return -ENOMEM;
    argv[0] = tool->tool->name;
    for (uint32_t i = 0; i < version_args->count; i++)
        argv[i + 1] = version_args->items[i];
    const struct choke_request request = {.argv = argv,
                                          .root = VERSION_ROOT,
                                          .cwd = ".",
                                          .timeout_ms = timeout_of(tool->tool),
                                          .max_output_bytes = VERSION_OUTPUT_BYTES,
                                          .stdin_fd = -1};
    struct ck_plan_sources sources = ck_context_sources(readiness->context);
    struct ck_plan plan;
    /* The only place where the special policy is used. It runs in a directory of its own choice. */
    struct ck_locked locked = readiness->context->machine.rules;
    locked.roots = NULL;
    sources.locked = sources.locked ? &locked : NULL;
    sources.policy = &readiness->policy;
    int r = ck_plan_make(&sources, &request, &plan);
    bool allowed = r == 0 && plan.verdict.outcome == CHOKE_NONE;
    if (allowed)
        r = examine(readiness, tool, &plan);
    else if (r == 0)
        r = take_refusal(readiness, tool, &plan);
    if (r == 0 && allowed && !tool->problem && !tool->cached && version_args->count > 0) {
        run(readiness, tool, &request, &plan);
        r = !tool->job ? -ENOMEM : 0;
    }
    ck_plan_done(&plan);
    return r;
}

/* ---- answers ---- */

/* With the last line that the tool printed: usually it says which file or library was missing. */
static int take_failure(struct ck_readiness *readiness, struct ck_readiness_tool *tool,
                        const struct choke_result *result)
{
    char why[sizeof(result->error.message)], line[CK_QUOTE_MAX];
    char problem_text[sizeof(why) + sizeof(line) + 32];
    if (result->outcome != CHOKE_EXITED)
        (void)snprintf(why, sizeof(why), "%s", result->error.message);
    else
        (void)snprintf(why, sizeof(why), "its version command ended with status %d", result->exit_code);
    bool printed = ck_quote_last_line(CK_QUOTE_SINGLE, line, sizeof(line), result->err.data, result->err.length) ||
                   ck_quote_last_line(CK_QUOTE_SINGLE, line, sizeof(line), result->out.data, result->out.length);
    (void)snprintf(problem_text, sizeof(problem_text), printed ? "%s; it printed '%s'" : "%s%s", why, line);
    return set_problem(readiness, tool, CK_READINESS_FAILED, problem_text);
}

/* Some tools print their version to stderr. */
static int take_version(struct ck_readiness *readiness, struct ck_readiness_tool *tool,
                        const struct choke_result *result)
{
    char release[CK_RELEASE_MAX];
    if (result->outcome != CHOKE_EXITED || result->exit_code != 0)
        return take_failure(readiness, tool, result);
    const struct choke_capture *output = result->out.length > 0 ? &result->out : &result->err;
    if (output->truncated || !ck_release_find(output->data, output->length, release))
        return set_problem(readiness, tool, CK_READINESS_FAILED,
                           output->truncated ? "its version command printed too much to be a version"
                                             : "its version command printed nothing");
    return set_text(readiness, &tool->version, release);
}

/*
 * Takes the answers of the tools that have ended. After an error the answers are not read any more,
 * but the jobs are still freed.
 */
static int collect(struct ck_readiness *readiness)
{
    int r = 0;
    for (struct ck_readiness_tool **at = &readiness->running; *at;) {
        struct ck_readiness_tool *tool = *at;
        /* NULL: it still runs. */
        const struct choke_result *answer = choke_job_result(tool->job);
        if (!answer) {
            at = &tool->next_running;
            continue;
        }
        *at = tool->next_running;
        readiness->running_count--;
        if (r == 0)
            r = take_version(readiness, tool, answer);
        choke_job_free(tool->job);
        tool->job = NULL;
    }
    return r;
}

static bool is_stopped(const struct ck_readiness *readiness)
{
    return readiness->stop && readiness->stop(readiness->stop_data);
}

/* Waits until at most count tools are running. */
static int wait_for(struct ck_readiness *readiness, size_t count)
{
    struct choke_context *context = readiness->context;
    int r = collect(readiness);
    while (r == 0 && readiness->running_count > count) {
        /* Other jobs of the context go on meanwhile; their ends wait in the queue of choke_next. */
        r = ck_context_round(context, readiness->stop ? STOP_POLL_MS : -1);
        if (r == 0 && is_stopped(readiness))
            return -ECANCELED;
        if (r == 0)
            r = collect(readiness);
    }
    return r;
}

bool ck_readiness_wants(const struct ck_readiness *readiness, const char *name)
{
    const char *const *wanted = readiness->only;
    /* Without a list every tool is wanted. */
    while (wanted && *wanted && strcmp(*wanted, name) != 0)
        wanted++;
    return !wanted || *wanted;
}

/* It was not looked for, so it is neither ready nor missing. */
static int set_in_root(struct ck_readiness *readiness, struct ck_readiness_tool *tool)
{
    char text[CK_QUOTE_MAX + 128];
    (void)snprintf(text, sizeof(text),
                   "'%s' is a file of the repository: whether it exists depends on the root of a run",
                   CK_QUOTE(tool->tool->path));
    return set_problem(readiness, tool, CK_READINESS_IN_ROOT, text);
}

/* At most PARALLEL_MAX at a time: each needs processes and descriptors of the caller. */
static int take_tools(struct ck_readiness *readiness)
{
    const struct choke_context *context = readiness->context;
    int r = 0;
    for (uint32_t i = 0; r == 0 && i < context->policy->tools_count; i++) {
        const struct ck_tool *listed = &context->policy->tools[i];
        if (!ck_policy_tool_is_here(listed) || !ck_readiness_wants(readiness, listed->name))
            continue;
        if (is_stopped(readiness)) /* no more tools are started */
            return -ECANCELED;
        struct ck_readiness_tool *tool = &readiness->tools[readiness->count++];
        tool->tool = listed;
        tool->install = context->installs[i];
        r = ck_policy_tool_is_beneath_root(listed) ? set_in_root(readiness, tool) : take_tool(readiness, tool);
        if (r == 0)
            r = wait_for(readiness, PARALLEL_MAX - 1);
    }
    return r == 0 ? wait_for(readiness, 0) : r;
}

int ck_readiness_check(struct ck_readiness *readiness, struct choke_error *error)
{
    const struct ck_policy *policy = readiness->context->policy;
    /* Tools are run for their versions, so this is refused like any run. */
    int r = ck_machine_check(&readiness->context->machine, error);
    if (r < 0)
        return r;
    r = narrow_policy(readiness);
    readiness->tools = ck_arena_array(&readiness->arena, policy->tools_count + 1u, sizeof(*readiness->tools));
    readiness->depend.search = policy->search_path.items;
    readiness->depend.search_count = policy->search_path.count;
    readiness->depend.stop = readiness->stop;
    readiness->depend.stop_data = readiness->stop_data;
    readiness->depend.versions_only = !readiness->want_parts;
    ck_readiness_policy_digest(readiness->context, readiness->policy_sha256);
    if (r == 0)
        r = !readiness->tools ? -ENOMEM : take_tools(readiness);
    if (r == -ENOMEM)
        return ck_error_oom(error);
    if (r == -ECANCELED)
        return ck_error_set(error, CHOKE_CANCELLED, ECANCELED, "the caller stopped the check of the tools");
    if (r < 0)
        return ck_error_set(error, CHOKE_SPAWN_FAILED, -r, "cannot wait for the tools: %s", strerror(-r));
    return 0;
}

/* After an error or a stop some tools may still run. They are cancelled and freed when they end. */
void ck_readiness_done(struct ck_readiness *readiness)
{
    for (struct ck_readiness_tool *tool = readiness->running; tool; tool = tool->next_running)
        choke_job_free(tool->job);
    ck_depend_done(&readiness->depend);
    ck_arena_done(&readiness->arena);
}
