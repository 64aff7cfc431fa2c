/*
 * context.c - opens and closes a context, and runs the round of events.
 *
 * No process exists before the first run: the keeper is created by the launcher when it is needed.
 */
#include "api/context.h"

#include "api/policyfile.h"
#include "api/versioned.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/fd.h"
#include "policy/describe.h"
#include "policy/tables.h"
#include "policy/yaml_write.h"
#include "sys/cachedir.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FREE_TIMEOUT_NS (500 * CK_NS_PER_MS) /* ten times the grace period */

const char *choke_version(void)
{
    return CHOKE_VERSION;
}

int ck_context_check(const struct choke_context *context, struct choke_error *error)
{
    if (!context)
        return ck_error_set(error, CHOKE_INVALID, EINVAL, "no context was given");
    /*
     * A fork shares descriptors and the keeper with its parent: both would read the same reports.
     */
    if (context->owner != getpid())
        return ck_error_set(error, CHOKE_INVALID, EOWNERDEAD,
                            "a forked child cannot use the context of its parent; make another");
    return 0;
}

int ck_context_check_fds(struct choke_context *context, struct choke_error *error)
{
    int r = ck_context_check(context, error);
    if (r < 0)
        return r;
    context->fds_closed = context->fds_closed || !ck_watch_is_intact(&context->watch);
    return !context->fds_closed ? 0
                                : ck_error_set(error, CHOKE_INVALID, EBADF,
                                               "the program has closed the descriptors of the context (closefrom, "
                                               "close_range); free it and make another");
}

struct ck_plan_sources ck_context_sources(struct choke_context *context)
{
    return (struct ck_plan_sources){
        .policy = context->policy,
        .policy_place = context->from_file ? &context->policy_place : NULL,
        .locked = ck_machine_rules(&context->machine),
        .search = &context->search,
        .execs = &context->execs,
        .native_images = &context->native_images,
        .jails = &context->jails,
        .bwrap_state = context->bwrap_state,
        .no_userns_filters = &context->no_userns_filters,
        .null_fd = context->null_fd,
        .learn = context->learn.jail,
        .unchanged = context->learn.session,
        .audit_path = context->audit.path,
        .secret_files = context->secret_files,
        .find_state = ck_cachedir_path,
        .state_home = context->machine.home,
    };
}

/*
 * The text of a policy that extends another one, or takes entries of the catalogue, does not say
 * what was allowed: the rest is in the build. So the digest is that of the whole policy as `policy show --yaml` prints it.
 */
static int digest_result(struct choke_context *context, struct choke_error *error)
{
    struct ck_arena arena = {0};
    const char *text = ck_policy_yaml(context->loaded, &arena);
    if (text)
        ck_digest_bytes(text, strlen(text), context->policy_sha256);
    ck_arena_done(&arena);
    return text ? 0 : ck_error_oom(error);
}

/* On failure the caller frees context->loaded and the place with close_context. */
static int load_file(struct choke_context *context, const struct ck_rulefile *file, struct choke_error *error)
{
    char *text;
    size_t length;
    int r = ck_rulefile_read(file, &text, &length, &context->policy_place, error);
    if (r < 0)
        return r;
    /* From here on policy_place is open, and close_context closes it. */
    context->from_file = true;
    /* The digest is of the text that was parsed, not of the file: the file may change meanwhile. */
    ck_digest_bytes(text, length, context->policy_sha256);
    r = ck_policy_parse(file->path, text, length, &context->loaded, error);
    context->policy = context->loaded;
    free(text);
    return r < 0 || !ck_policy_is_merged(context->loaded) ? r : digest_result(context, error);
}

static void unload_file(struct choke_context *context)
{
    if (context->from_file)
        ck_trust_done(&context->policy_place);
    ck_policy_free(context->loaded);
    context->loaded = NULL;
    context->from_file = false;
}

/*
 * The file that the caller names, else the machine's, else the embedded one (R1). The machine's is
 * read first in any case: it says whether the caller may name another.
 */
static int load_policy(struct choke_context *context, const char *path, struct choke_error *error)
{
    struct ck_machine *machine = &context->machine;
    int r = ck_machine_look(error);
    if (r > 0) {
        const struct ck_rulefile file = ck_policyfile(CK_LOCKED_FILE);
        r = load_file(context, &file, error);
        if (r == 0)
            ck_machine_bind(machine, context->policy);
    }
    if (r < 0)
        return r;
    if (machine->exists && (!path || strcmp(path, CK_LOCKED_FILE) == 0))
        return ck_machine_use(context, error);
    if (!path) {
        context->policy = ck_policy_default(&context->text);
        return context->policy ? 0 : ck_error_oom(error);
    }
    ck_machine_refuse(machine, "another policy is refused to all but root; leave --policy out");
    unload_file(context);
    const struct ck_rulefile file = ck_policyfile(path);
    return load_file(context, &file, error);
}

/* Once for all: choke_tool returns pointers that live as long as the context. */
static int write_installs(struct choke_context *context)
{
    const struct ck_policy *policy = context->policy;
    context->installs = ck_arena_array(&context->text, policy->tools_count + 1u, sizeof(*context->installs));
    for (uint32_t i = 0; context->installs && i < policy->tools_count; i++)
        context->installs[i] = ck_policy_tool_install_command(&context->text, &policy->tools[i]);
    return !context->installs ? -ENOMEM : 0;
}

int ck_context_use_policy(struct choke_context *context, const struct ck_policy *policy, struct choke_error *error)
{
    context->policy = policy;
    context->policy_json = NULL;
    return write_installs(context) < 0 ? ck_error_oom(error) : 0;
}

/*
 * Tools of this platform that are in no directory of the search path. One that cannot be trusted is
 * not missing: a call of it is refused, and says why.
 */
static void report_missing(struct choke_context *context)
{
    const struct ck_policy *policy = context->policy;
    for (uint32_t i = 0; context->on_event && i < policy->tools_count; i++) {
        const struct ck_tool *tool = &policy->tools[i];
        const struct ck_binary_wanted wanted = {.name = tool->name, .path = tool->path};
        struct ck_binary binary;
        struct choke_error error = {0};
        /* A path beneath the root is known with the root of a request. */
        if (!ck_policy_tool_is_here(tool) || ck_policy_tool_is_beneath_root(tool))
            continue;
        if (ck_binary_find(&context->search, &wanted, (struct ck_identity){0}, &binary, NULL, &error) == 0)
            ck_fd_close(&binary.fd);
        else if (error.outcome == CHOKE_TOOL_MISSING)
            ck_event_missing(context, tool, context->installs[i]);
    }
}

/* Everything that can fail. The caller calls close_context on failure. */
static int open_context(struct choke_context *context, const struct choke_options *options, struct choke_error *error)
{
    int r = load_policy(context, options->policy_path, error);
    if (r == 0)
        r = ck_audit_init(context, options, error);
    if (r < 0)
        return r;
    if (write_installs(context) < 0 || ck_binary_search_init(&context->search, context->policy->search_path.items,
                                                             context->policy->search_path.count) < 0)
        return ck_error_oom(error);
    ck_execs_init(&context->execs, &context->search);
    ck_native_images_init(&context->native_images, &context->search);
    context->jails = (struct ck_jails){.prove = ck_prove_jail, .data = context};
    /* Opened once: it is the stdin of every run that has none. */
    context->null_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (context->null_fd < 0)
        return ck_error_set(error, CHOKE_SPAWN_FAILED, errno, "cannot open '/dev/null': %s", strerror(errno));
    r = ck_watch_init(&context->watch, ck_job_ended, context);
    context->watch.on_gate = ck_egress_open;
    context->watch.on_door = ck_guard_connected;
    if (r == 0)
        /* every start checks again */
        (void)ck_caller_inspect(&context->watch.launcher.caller_proc, &context->caller);
    if (r < 0)
        return ck_error_set(error, CHOKE_SPAWN_FAILED, -r, "cannot create an event descriptor: %s", strerror(-r));
    if (options->report_missing)
        report_missing(context);
    return 0;
}

/* Releases what open_context made; the watch, the jobs and the audit are ended before. */
static void close_context(struct choke_context *context)
{
    ck_execs_done(&context->execs);
    ck_native_images_done(&context->native_images);
    /*
     * The present one, and those that context_renew.c replaced: running jobs still used their
     * scratch places.
     */
    while (context->bwrap_state) {
        struct ck_bwrap_state *bwrap_state = context->bwrap_state;
        context->bwrap_state = bwrap_state->next;
        ck_bwrap_state_done(bwrap_state);
        free(bwrap_state);
    }
    ck_native_no_userns_done(&context->no_userns_filters);
    ck_proof_memory_done(&context->proof_memory);
    ck_binary_search_done(&context->search);
    ck_fd_close(&context->null_fd);
    unload_file(context);
    ck_arena_done(&context->text);
    free(context);
}

int choke_context_new(const struct choke_options *options, struct choke_context **ret_context,
                      struct choke_error *error)
{
    struct choke_options known = {0};
    if (!ret_context)
        return ck_error_set(error, CHOKE_INVALID, EINVAL, "a pointer for the context is required");
    int r = !options ? 0 : ck_versioned_read(CK_VERSIONED(choke_options), options, options->struct_size, &known, error);
    if (r < 0)
        return r;
    struct choke_context *context = calloc(1, sizeof(*context));
    if (!context)
        return ck_error_oom(error);
    context->bwrap_state = calloc(1, sizeof(*context->bwrap_state));
    if (!context->bwrap_state) {
        free(context);
        return ck_error_oom(error);
    }
    /* close_context releases everything on failure, so every member must be valid: fds are -1. */
    context->owner = getpid();
    context->null_fd = -1;
    ck_bwrap_state_init(context->bwrap_state);
    ck_proof_memory_init(&context->proof_memory);
    ck_native_no_userns_init(&context->no_userns_filters);
    ck_proxy_init(&context->proxy);
    context->watch = (struct ck_watch){.epoll_fd = -1, .timer_fd = -1, .anchor_fd = -1, .ended_fd = -1};
    context->on_event = known.on_event;
    context->event_data = known.event_data;
    context->audit.directory.fd = -1;
    context->audit.log.fd = -1;
    r = open_context(context, &known, error);
    if (r < 0) {
        close_context(context);
        return r;
    }
    *ret_context = context;
    return 0;
}

/* 0: the plan was made, but there was no memory for a job or a decision. */
int ck_context_plan_failed(int r, struct choke_error *error)
{
    if (r == 0 || r == -ENOMEM)
        return ck_error_oom(error);
    return ck_error_set(error, CHOKE_SPAWN_FAILED, -r, "the run cannot be prepared: %s", ck_error_text(-r));
}

/*
 * Cancelled runs end within their grace period. A run that does not has lost its warden to
 * something hostile; it is abandoned at the deadline. 0: all are abandoned at once.
 */
static void end_all(struct choke_context *context, uint64_t deadline_ns)
{
    struct ck_watch *watch = &context->watch;
    /* Slices are closed first, or a cancelled run would begin to list its changes. */
    ck_slices_close(context);
    choke_cancel_all(context);
    while (choke_running(context) > 0 && ck_clock_now_ns() < deadline_ns)
        if (ck_context_round(context, 50) < 0)
            break;
    /* These end now, without a report. */
    while (watch->running)
        ck_watch_abandon(watch, watch->running);
    /* A loop: a job that is refused here is recorded and waits for the disk once more. */
    while (context->audit.waiting || context->audit.ended)
        ck_job_sync_waiting(context);
}

/*
 * Our descriptor numbers may belong to the program by now. So nothing is closed, and nothing is
 * removed in a directory that is not known to be ours. The runs have ended, because the sockets of
 * their wardens were closed.
 */
static void forget_places(struct choke_context *context)
{
    context->owner = 0;
    for (struct choke_job *job = context->jobs; job; job = job->next)
        job->run.scratch = (struct ck_scratch){.fd = -1};
    for (struct ck_bwrap_state *bwrap_state = context->bwrap_state; bwrap_state; bwrap_state = bwrap_state->next)
        bwrap_state->scratch_pool.leftover = false;
}

/*
 * For a caller that does not wait: a scratch directory is left to the sweep of the next context,
 * because its run may not be dead yet, and no callback is called.
 */
static void mute_and_release(struct choke_context *context)
{
    context->on_event = NULL;
    for (struct choke_job *job = context->jobs; job; job = job->next) {
        /* If the audit hashes output, its own callback is before the caller's. */
        if (job->run.output_data != job)
            job->run.on_output = NULL;
        job->on_output = NULL;
        ck_scratch_release(&job->run.scratch);
    }
    for (struct ck_bwrap_state *bwrap_state = context->bwrap_state; bwrap_state; bwrap_state = bwrap_state->next)
        bwrap_state->scratch_pool.leftover = false;
}

/*
 * In a fork of the owner nothing is ended or removed: the keeper, the runs and the scratch
 * directories are the parent's. Only memory and our copies of the descriptors are released.
 */
static void free_context(struct choke_context *context, bool wait)
{
    if (!context)
        return;
    bool fds_closed = ck_context_check(context, NULL) == 0 && ck_context_check_fds(context, NULL) == -EBADF;
    bool owner = context->owner == getpid() && !fds_closed;
    /* Every function below closes descriptors; with this they only forget the numbers. */
    ck_fd_forget_only(fds_closed);
    if (fds_closed)
        forget_places(context);
    if (owner && !wait)
        mute_and_release(context);
    if (owner)
        end_all(context, wait ? ck_clock_now_ns() + FREE_TIMEOUT_NS : 0);
    ck_slices_done(context, owner && wait);
    if (owner) {
        ck_proxy_done(&context->proxy);
        /* The log is synced while the keeper takes down what it has made. */
        ck_launcher_close(&context->watch.launcher);
        if (wait && context->audit.log.sync != CHOKE_AUDIT_SYNC_NONE)
            (void)ck_audit_sync(context, NULL);
        (wait ? ck_watch_done : ck_watch_leave)(&context->watch);
    } else {
        ck_watch_forget(&context->watch);
    }
    /* After the watch: a run that the watch still knew would be freed under it. */
    ck_job_free_all(context);
    ck_audit_done(context, owner && wait);
    close_context(context);
    ck_fd_forget_only(false);
}

void choke_context_free(struct choke_context *context)
{
    free_context(context, true);
}

void choke_context_discard(struct choke_context *context)
{
    free_context(context, false);
}

void choke_context_set_level(struct choke_context *context, enum choke_level least)
{
    context->least_level = least;
}

/*
 * An epoll set is itself readable when one of its descriptors is, so a program can wait for this
 * one.
 */
int choke_fd(const struct choke_context *context)
{
    return context->watch.epoll_fd;
}

/* Runs, jobs that wait for the disk, and jobs with changes that are being listed. */
size_t choke_running(const struct choke_context *context)
{
    return context->watch.running_count + context->audit.waiting_count + context->slices.count;
}

/*
 * The order matters: what the watch reports is sliced in the same round, what slices finish is
 * synced, and garbage is freed last, when no one uses it.
 */
static void after_events(struct choke_context *context)
{
    ck_slices_run(context);
    ck_job_sync_waiting(context);
    ck_job_free_garbage(context);
}

int ck_context_round(struct choke_context *context, int timeout_ms)
{
    int r = ck_watch_wait(&context->watch, timeout_ms);
    after_events(context);
    return r;
}

/* How many choke_next can return now; r: of the round. */
static int count_done(const struct choke_context *context, int r, struct choke_error *error)
{
    if (r < 0)
        return ck_error_set(error, CHOKE_SPAWN_FAILED, -r, "cannot wait for events: %s", strerror(-r));
    return context->done_count > INT_MAX ? INT_MAX : (int)context->done_count;
}

static int one_round(struct choke_context *context, int timeout_ms, struct choke_error *error)
{
    return count_done(context, ck_context_round(context, timeout_ms), error);
}

int choke_dispatch(struct choke_context *context, struct choke_error *error)
{
    int r = ck_context_check_fds(context, error);
    return r < 0 ? r : one_round(context, 0, error);
}

int choke_dispatch_for(struct choke_context *context, uint64_t budget_us, struct choke_error *error)
{
    int r = ck_context_check_fds(context, error);
    if (r < 0)
        return r;
    uint64_t now_ns = ck_clock_now_ns(), budget_ns, until_ns;
    if (__builtin_mul_overflow(budget_us, CK_NS_PER_US, &budget_ns) ||
        __builtin_add_overflow(now_ns, budget_ns, &until_ns))
        until_ns = UINT64_MAX;
    r = ck_watch_work_until(&context->watch, until_ns);
    after_events(context);
    return count_done(context, r, error);
}

int choke_wait(struct choke_context *context, int timeout_ms, struct choke_error *error)
{
    int r = ck_context_check_fds(context, error);
    if (r < 0)
        return r;
    uint64_t deadline = ck_clock_now_ns() + (uint64_t)(timeout_ms < 0 ? 0 : timeout_ms) * CK_NS_PER_MS;
    /* A round may end without a finished job: a timer, output, a slice. So it waits again. */
    for (int left = timeout_ms;;) {
        r = one_round(context, context->done_count > 0 ? 0 : left, error);
        /* Without a timeout and without a job nothing would ever wake it. */
        if (r != 0 || (timeout_ms < 0 && choke_running(context) == 0))
            return r;
        uint64_t now = ck_clock_now_ns();
        if (timeout_ms >= 0 && now >= deadline)
            return 0;
        /*
         * Rounded up: rounded down it would be 0 in the last millisecond, and poll without waiting.
         */
        left = timeout_ms < 0 ? -1 : (int)((deadline - now + CK_NS_PER_MS - 1) / CK_NS_PER_MS);
    }
}

bool choke_tool(const struct choke_context *context, size_t index, struct choke_tool_info *ret_info)
{
    if (index >= context->policy->tools_count)
        return false;
    const struct ck_tool *tool = &context->policy->tools[index];
    *ret_info = (struct choke_tool_info){
        .name = tool->name,
        .why = tool->why,
        .adr = tool->adr,
        .route = ck_policy_route_name(tool->route),
        .required = tool->required,
        .install = context->installs[index],
    };
    return true;
}

int choke_context_policy_json(struct choke_context *context, const char **ret_text, struct choke_error *error)
{
    int r = ck_context_check(context, error);
    if (r < 0)
        return r;
    if (!ret_text)
        return ck_error_set(error, CHOKE_INVALID, EINVAL, "a pointer for the text is required");
    if (!context->policy_json)
        context->policy_json = ck_policy_json(context->policy, &context->text);
    if (!context->policy_json)
        return ck_error_oom(error);
    *ret_text = context->policy_json;
    return 0;
}
