/*
 * doctor.c - is this machine ready (R45)? The tools, the layers, and the cache of answers.
 *
 * The cache is a file of the caller in a directory of the caller. A fault in it costs time, never
 * an answer: the cache is ignored, with one note.
 */
#include "api/readiness.h"
#include "api/toolcache.h"
#include "api/versioned.h"

#include "base/atomic_file.h"
#include "base/error.h"
#include "base/quote.h"
#include "ready/layer.h"
#include "run/trial.h"
#include "sys/statefile.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/utsname.h>

/* The public struct is first: freeing the report frees the box. */
struct doctor_box {
    struct choke_doctor_report report;
    struct ck_arena text; /* all strings and arrays of the report */
};

/* ---- the cache ---- */

/*
 * A file that changed a moment ago could change again within the resolution of its times. The next
 * doctor asks again.
 */
static bool may_be_cached(const struct ck_readiness_tool *tool)
{
    bool good = strcmp(tool->state, CK_READINESS_READY) == 0 && tool->files_count > 0 && tool->sha256;
    for (size_t i = 0; good && i < tool->files_count; i++)
        good = ck_version_settled(&tool->files[i]);
    return good;
}

/*
 * The remembered tools of the policy; those that were not checked this time stay. Without a list of
 * tools all were checked, and nothing of the old entry is kept: a tool that left the policy
 * disappears.
 */
static const struct ck_cache_policy *find_cached(const struct ck_readiness *readiness, const struct ck_cache *old)
{
    static const struct ck_cache_policy nothing = {0};
    for (size_t i = 0; readiness->only && i < old->count; i++)
        if (strcmp(old->policies[i].sha256, readiness->policy_sha256) == 0)
            return &old->policies[i];
    return &nothing;
}

/* One policy at a time is written anew; the cache keeps the answers for other policies. */
static char *format_cache(struct ck_readiness *readiness, const struct ck_cache *old)
{
    struct ck_cache_policy fresh = {.sha256 = readiness->policy_sha256};
    const struct ck_cache_policy *before = find_cached(readiness, old);
    fresh.tools = ck_arena_array(&readiness->arena, readiness->count + before->count + 1, sizeof(*fresh.tools));
    if (!fresh.tools)
        return NULL;
    for (size_t i = 0; i < before->count; i++)
        if (!ck_readiness_wants(readiness, before->tools[i].name))
            fresh.tools[fresh.count++] = before->tools[i];
    for (size_t i = 0; i < readiness->count; i++) {
        const struct ck_readiness_tool *tool = &readiness->tools[i];
        if (!may_be_cached(tool))
            continue;
        struct ck_cache_tool *entry = &fresh.tools[fresh.count++];
        *entry = (struct ck_cache_tool){.name = tool->tool->name,
                                        .path = tool->path,
                                        .version = tool->version,
                                        .sha256 = tool->sha256,
                                        .files_count = tool->files_count};
        memcpy(entry->files, tool->files, sizeof(entry->files));
    }
    return ck_cache_format(old, &fresh);
}

/* Nothing is written if everything was remembered already. */
static bool needs_save(const struct ck_readiness *readiness)
{
    for (size_t i = 0; i < readiness->count; i++)
        if (!readiness->tools[i].cached && may_be_cached(&readiness->tools[i]))
            return true;
    return false;
}

/*
 * A failure to write is a note in the report, unless there is one already: then the cache could not
 * be read.
 */
static void save_cache(struct ck_toolcache *toolcache, struct ck_readiness *readiness)
{
    /* fd is -1 with no_cache too. */
    if (toolcache->fd < 0 || !needs_save(readiness))
        return;
    char *text = format_cache(readiness, &toolcache->cache);
    int r = !text ? -ENOMEM : ck_atomic_file_write(toolcache->fd, CK_TOOLCACHE_NAME, 0600, text, strlen(text));
    free(text);
    if (r < 0 && toolcache->error.message[0] == '\0')
        (void)ck_error_set(&toolcache->error, CHOKE_NONE, -r, "cannot write '%s': %s", CK_TOOLCACHE_NAME, strerror(-r));
}

/* ---- the layers ---- */

/* The layers that a child of the keeper tries, each with its trial. */
static const struct {
    enum ck_layer layer;
    enum ck_trial trial;
} tried_layers[] = {
    {CK_LAYER_NO_NEW_PRIVS, CK_TRIAL_NO_NEW_PRIVS},
    {CK_LAYER_EXECS, CK_TRIAL_LANDLOCK},
    {CK_LAYER_SECCOMP, CK_TRIAL_SECCOMP},
    {CK_LAYER_SUBREAPER, CK_TRIAL_SUBREAPER},
    {CK_LAYER_PIDFD, CK_TRIAL_PIDFD},
    {CK_LAYER_OPENAT2, CK_TRIAL_OPENAT2},
    {CK_LAYER_USER, CK_TRIAL_USER_NS},
    {CK_LAYER_MOUNT, CK_TRIAL_MOUNT_NS},
    {CK_LAYER_PID, CK_TRIAL_PID_NS},
    {CK_LAYER_NET, CK_TRIAL_NET_NS},
    {CK_LAYER_IPC, CK_TRIAL_IPC_NS},
    {CK_LAYER_UTS, CK_TRIAL_UTS_NS},
    {CK_LAYER_CGROUP, CK_TRIAL_CGROUP_NS},
    {CK_LAYER_CGROUP_KILL, CK_TRIAL_CGROUP_KILL},
};

/* Are these controllers available? Tried by making a cgroup with each, see sys/host.h. */
static void try_controllers(struct ck_layer_trial *trials)
{
    static const struct {
        enum ck_layer layer;
        const char *name;
    } controllers[] = {{CK_LAYER_MEMORY, "memory"}, {CK_LAYER_PIDS, "pids"}, {CK_LAYER_CPU, "cpu"}};
    for (size_t i = 0; i < sizeof(controllers) / sizeof(controllers[0]); i++) {
        struct ck_controller controller;
        ck_host_try_controller(controllers[i].name, &controller);
        trials[controllers[i].layer] =
            (struct ck_layer_trial){.error = controller.error, .cgroup_version = controller.cgroup_version};
    }
}

/*
 * Proves each jail, as the first run in it would do; a proof that the context made is used, one of
 * another process is not. native and bwrap have one proof with egress and one without.
 */
static void find_jails(struct choke_context *context, struct ck_layer_trial *trials)
{
    const struct {
        enum ck_layer layer;
        bool egress;
        const struct ck_jail *jail; /* NULL: not in this build */
    } jails[] = {
        {CK_LAYER_NATIVE, false, ck_jail_find("native")},
        {CK_LAYER_NATIVE_DEGRADED, false, &ck_jail_native_no_userns},
        {CK_LAYER_BWRAP, false, ck_jail_find("bwrap")},
        {CK_LAYER_NATIVE_EGRESS, true, ck_jail_find("native")},
        {CK_LAYER_BWRAP_EGRESS, true, ck_jail_find("bwrap")},
        {CK_LAYER_SEATBELT, false, ck_jail_find("seatbelt")},
    };
    for (size_t i = 0; i < sizeof(jails) / sizeof(jails[0]); i++) {
        const struct ck_jail *jail = jails[i].jail;
        const struct ck_jail_form form = {.egress = jails[i].egress};
        const struct ck_jail_state *state = jail ? ck_jail_look(&context->jails, jail, form) : NULL;
        /* failed is 0 for a jail that does not hold. ENOTSUP then: the message says why. */
        int error = state && state->failed != 0 ? state->failed : ENOTSUP;
        trials[jails[i].layer] =
            (struct ck_layer_trial){.error = state && state->holds ? 0 : error,
                                    .value = state && (jails[i].egress ? state->reports_attempts : state->libraries),
                                    .message = state ? state->message : NULL};
    }
}

/* SECCOMP_ADDFD_FLAG_SEND, with which init answers a door, is from Linux 5.14. */
static bool answers_doors(void)
{
    struct utsname machine;
    unsigned major = 0, minor = 0;
    return uname(&machine) == 0 && sscanf(machine.release, "%u.%u", &major, &minor) == 2 &&
           (major > 5 || (major == 5 && minor >= 14));
}

/* prctl(PR_GET_MDWE), Linux 6.3: does this kernel know it? */
static bool refuses_new_code(void)
{
    return prctl(66, 0, 0, 0, 0) >= 0;
}

static void find_guard(struct choke_context *context, struct ck_layer_trial *trials)
{
    const struct ck_jail_state *state = ck_jail_look(&context->jails, &ck_jail_native, (struct ck_jail_form){0});
    struct ck_layer_trial *guard = &trials[CK_LAYER_GUARD];
    *guard = trials[CK_LAYER_NATIVE];
    guard->value = refuses_new_code() ? 1 : 0;
    if (guard->error != 0 || (state->names_execs && answers_doors()))
        return;
    guard->error = ENOTSUP;
    guard->message = state->names_execs ? "it needs Linux 5.14" : "executions cannot be watched here";
}

/* Without a keeper all trials have its error: nothing is known about any layer. */
static void try_layers(struct choke_context *context, struct ck_layer_trial trials[CK_LAYERS])
{
    struct ck_wire_tried tried[CK_TRIALS];
    int r = ck_trial_all(&context->watch.launcher, tried);
    for (size_t i = 0; i < sizeof(tried_layers) / sizeof(tried_layers[0]); i++) {
        const struct ck_wire_tried *answer = &tried[tried_layers[i].trial];
        trials[tried_layers[i].layer] =
            (struct ck_layer_trial){.error = r < 0 ? -r : answer->error, .value = answer->value};
    }
    /* The keeper only knows that it has no cgroup. Try here to create one, to learn why. */
    int refused = trials[CK_LAYER_CGROUP_KILL].error == ENOTSUP ? ck_host_try_cgroup() : 0;
    if (refused != 0)
        trials[CK_LAYER_CGROUP_KILL].error = refused;
    try_controllers(trials);
    find_jails(context, trials);
    find_guard(context, trials);
}

/* ---- the report ---- */

/* A copy, or NULL for NULL and for "". */
static const char *copy(struct doctor_box *box, const char *text, bool *good)
{
    if (!text || text[0] == '\0')
        return NULL;
    const char *copied = ck_arena_strdup(&box->text, text);
    *good = *good && copied;
    return copied;
}

/*
 * False when out of memory, as for the next two. Only a required tool can make the machine not
 * ready; layers do not count.
 */
static bool report_tools(struct doctor_box *box, const struct ck_readiness *readiness)
{
    struct choke_tool_report *tools = ck_arena_array(&box->text, readiness->count + 1, sizeof(*tools));
    bool good = !!tools;
    box->report.ready = true;
    for (size_t i = 0; good && i < readiness->count; i++) {
        const struct ck_readiness_tool *tool = &readiness->tools[i];
        /*
         * Text of the readiness is copied, because the report outlives it; state and route are
         * constants.
         */
        tools[i] = (struct choke_tool_report){
            .name = copy(box, tool->tool->name, &good),
            .route = ck_policy_route_name(tool->tool->route),
            .required = tool->tool->required,
            .state = tool->state,
            .path = copy(box, tool->path, &good),
            .version = copy(box, tool->version, &good),
            .sha256 = copy(box, tool->sha256, &good),
            .install = copy(box, tool->install, &good),
            .problem = copy(box, tool->problem, &good),
            .cached = tool->cached,
        };
        /* A tool of the repository says nothing about the machine. */
        if (tool->tool->required && strcmp(tool->state, CK_READINESS_READY) != 0 &&
            strcmp(tool->state, CK_READINESS_IN_ROOT) != 0)
            box->report.ready = false;
    }
    box->report.tools = tools;
    box->report.tool_count = readiness->count;
    return good;
}

/* Every layer needs the trials of all: see ck_layer_explain. */
static bool report_layers(struct doctor_box *box, const struct ck_layer_trial *trials, const struct ck_host *host)
{
    struct choke_layer_report *layers = ck_arena_array(&box->text, CK_LAYERS, sizeof(*layers));
    bool good = !!layers;
    for (size_t i = 0; good && i < CK_LAYERS; i++) {
        struct ck_layer_message message;
        ck_layer_explain((enum ck_layer)i, trials, host, &message);
        layers[i] = (struct choke_layer_report){
            .name = message.name,
            .group = message.group,
            .holds = trials[i].error == 0,
            .detail = copy(box, message.detail, &good),
            .cause = copy(box, message.cause, &good),
            .remedy = copy(box, message.remedy, &good),
        };
    }
    box->report.layers = layers;
    box->report.layer_count = CK_LAYERS;
    return good;
}

/* The policy, and the cache: its path if it is used, and why not if it is not. */
static bool report_rest(struct doctor_box *box, const struct ck_readiness *readiness,
                        const struct ck_toolcache *toolcache)
{
    bool good = true;
    box->report.policy = copy(box, readiness->context->policy->file, &good);
    box->report.policy_sha256 = copy(box, readiness->policy_sha256, &good);
    if (toolcache->fd >= 0) {
        box->report.cache_path = ck_arena_printf(&box->text, "%s/%s", toolcache->path, CK_TOOLCACHE_NAME);
        good = good && box->report.cache_path;
    }
    box->report.cache_note = copy(box, toolcache->error.message, &good);
    const struct ck_machine *machine = &readiness->context->machine;
    box->report.machine_policy = machine->exists ? CK_LOCKED_FILE : NULL;
    box->report.machine_locked = machine->locked;
    box->report.machine_binds = machine->bound;
    return good;
}

/* Layers come last: if the caller stops the check of the tools, none is tried. */
static int examine(struct ck_readiness *readiness, struct ck_toolcache *toolcache, bool layers, struct doctor_box *box,
                   struct choke_error *error)
{
    /* Zero-filled would mean that every layer holds; try_layers fills all of them. */
    struct ck_layer_trial trials[CK_LAYERS] = {0};
    struct ck_host host;
    int r = ck_readiness_check(readiness, error);
    if (r < 0)
        return r;
    save_cache(toolcache, readiness);
    bool good = report_tools(box, readiness) && report_rest(box, readiness, toolcache);
    if (good && layers) {
        ck_host_inspect(&host);
        try_layers(readiness->context, trials);
        good = report_layers(box, trials, &host);
    }
    return good ? 0 : ck_error_oom(error);
}

int choke_doctor(struct choke_context *context, const struct choke_doctor_options *options,
                 struct choke_doctor_report **ret_report, struct choke_error *error)
{
    int r = ck_context_renew(context, error);
    if (r < 0)
        return r;
    if (!ret_report)
        return ck_error_set(error, CHOKE_INVALID, EINVAL, "a pointer for the report is required");
    /* Zero-filled: all tools, all layers, with the cache. */
    struct choke_doctor_options known = {0};
    r = !options ? 0
                 : ck_versioned_read(CK_VERSIONED(choke_doctor_options), options, options->struct_size, &known, error);
    if (r < 0)
        return r;
    struct doctor_box *box = calloc(1, sizeof(*box));
    if (!box)
        return ck_error_oom(error);
    ck_proof_memory_stop(context);
    struct ck_toolcache toolcache = {.fd = -1};
    struct ck_readiness readiness = {
        .context = context, .only = known.tools, .stop = known.stop, .stop_data = known.data};
    if (!known.no_cache) {
        /* No root: doctor is not about a repository. */
        ck_toolcache_open(&toolcache, context->machine.home, NULL);
        readiness.cache = &toolcache.cache;
    }
    r = examine(&readiness, &toolcache, !known.no_layers, box, error);
    ck_readiness_done(&readiness);
    ck_toolcache_done(&toolcache);
    if (r < 0)
        choke_doctor_report_free(&box->report);
    else
        *ret_report = &box->report;
    return r;
}

void choke_doctor_report_free(struct choke_doctor_report *report)
{
    if (!report)
        return;
    struct doctor_box *box = (struct doctor_box *)report;
    ck_arena_done(&box->text);
    free(box);
}
