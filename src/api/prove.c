/*
 * prove.c - a jail is proven before it is trusted: built once, with its layers tried from inside
 * (R32, section 4).
 *
 * The message says which layer does not hold or which step the kernel refused, and the usual cause.
 */
#include "api/context.h"

#include "base/clock.h"
#include "base/errkind.h"
#include "base/error.h"
#include "base/fd.h"
#include "base/quote.h"
#include "jail/bwrap.h"
#include "jail/libraries.h"
#include "jail/native_ops.h"
#include "run/trial.h"
#include "sys/host.h"
#include "sys/landlock.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/wait.h>

/*
 * The usual layers are all bits below EGRESS; those that not every run has are the last in the
 * enum. PROOF_NS is the time for one proof.
 */
#define PROOF_NS (10 * CK_NS_PER_S)
#define USUAL_LAYERS ((UINT32_C(1) << CK_JAIL_LAYER_EGRESS) - 1)
#define NO_USERNS_LAYERS \
    (UINT32_C(1) << CK_JAIL_LAYER_LANDLOCK | UINT32_C(1) << CK_JAIL_LAYER_EXECS | \
     UINT32_C(1) << CK_JAIL_LAYER_SECCOMP | UINT32_C(1) << CK_JAIL_LAYER_NO_CAPABILITIES | \
     UINT32_C(1) << CK_JAIL_LAYER_NO_NEW_PRIVS)

/*
 * ENOSYS and EINVAL: the kernel does not have the call or the flag. Anything else is a refusal. The
 * strings are those of events: doctor and callers read them.
 */
static const char *reason_of(int errnum)
{
    return ck_jail_reason(CK_JAIL_ON_LINUX, errnum == ENOSYS || errnum == EINVAL ? "not_installed" : "not_permitted");
}

/*
 * Does the errno describe the moment and not the jail? ENOENT: the name existed when the jail was
 * laid out, so it is being replaced now. But without /proc it does not come back.
 */
static bool is_transient(int errnum)
{
    /* ENOSPC: the limit of namespaces. At 0 they are off, and no waiting helps. */
    if (errnum == ENOSPC)
        return !ck_host_namespaces_off();
    if (ck_errkind_of(errnum) == CK_ERRKIND_ABSENT)
        return ck_host_has_proc();
    return ck_errkind_of(errnum) == CK_ERRKIND_TRANSIENT;
}

/* failed != 0: the answer is not kept, and the next run proves the jail again. */
static void set_failure(struct ck_jail_state *state, const char *reason, const struct choke_error *error)
{
    state->failed = is_transient(error->errnum) ? error->errnum : 0;
    state->reason = ck_jail_reason(CK_JAIL_ON_LINUX, reason);
    (void)snprintf(state->message, sizeof(state->message), "%.*s", (int)sizeof(state->message) - 1, error->message);
}

/*
 * Something that the trial needs was missing. So nothing is known about the jail, whatever the
 * errno.
 */
static void set_untried(struct ck_jail_state *state, int errnum, const char *text)
{
    state->failed = errnum;
    (void)snprintf(state->message, sizeof(state->message), "%.*s", (int)sizeof(state->message) - 1, text);
}

/* A jail could not be built. open_tree, clone3 and openat2 are older than mount_setattr. */
static const char *text_of(int errnum)
{
    return errnum == ENOSYS ? "this kernel has no mount_setattr (it came with Linux 5.12)" : strerror(errnum);
}

/* The jail could not be built at all. */
static void explain_failure(const struct ck_wire_proved *proved, struct ck_jail_state *state)
{
    bool transient = is_transient(proved->error);
    const char *hint =
        proved->error == EPERM || proved->error == EACCES || (proved->error == ENOSPC && !transient)
            ? "; user namespaces may be switched off (sysctl user.max_user_namespaces, a container, or a "
              "security module); 'chokepoint doctor' shows more"
            : "";
    state->failed = transient ? proved->error : 0;
    state->reason = reason_of(proved->error);
    if (!ck_host_has_proc())
        hint = "; no /proc of this pid namespace is mounted at /proc, and a jail needs one";
    (void)snprintf(state->message, sizeof(state->message), "building it failed: %s%s",
                   proved->error == ENOSPC       ? "the limit of namespaces is reached"
                   : proved->error == ECONNRESET ? "the process that tried was killed"
                                                 : text_of(proved->error),
                   hint);
}

/*
 * Reports the first layer that does not hold; all layers in wanted (one bit each) must. shortage: a
 * call inside ran out of resources, so the layer may hold nevertheless.
 */
static void judge_layers(uint32_t held, uint32_t wanted, int shortage, struct ck_jail_state *state)
{
    for (uint32_t layer = 0; layer < CK_JAIL_LAYERS; layer++) {
        if ((wanted >> layer & 1) == 0 || (held >> layer & 1) != 0)
            continue;
        /* The last ones are not in the table of the jail: not every run has them. */
        const char *name = layer == CK_JAIL_LAYER_EGRESS             ? "egress"
                           : layer == CK_JAIL_LAYER_LOOPBACK         ? "loopback"
                           : layer == CK_JAIL_LAYER_REPORTS_ATTEMPTS ? "egress_named"
                           : layer == CK_JAIL_LAYER_LIBRARIES        ? "libraries"
                           : layer == CK_JAIL_LAYER_NAMES_EXECS      ? "execs_named"
                                                                     : ck_jail_native.layers[layer];
        /* With a shortage the answer is not kept; without one (0) it is. */
        state->failed = shortage;
        state->reason = ck_jail_reason(CK_JAIL_ON_LINUX, "not_permitted");
        (void)snprintf(state->message, sizeof(state->message),
                       shortage != 0 ? "its layer '%s' could not be tried: %s"
                                     : "its layer '%s' does not hold on this machine",
                       name, strerror(shortage));
        return;
    }
    state->holds = true;
}

/* The variants in which a jail is proven. */
struct proof_kind {
    struct ck_jail_form form;
    bool reports_attempts; /* with egress: direct attempts are reported */
    bool libraries;        /* the library directories of the system are code */
    bool names_execs;      /* refused executions are named */
};

static uint32_t layers_of(struct proof_kind kind)
{
    return USUAL_LAYERS | (kind.form.egress ? UINT32_C(1) << CK_JAIL_LAYER_EGRESS : 0) |
           (kind.form.loopback ? UINT32_C(1) << CK_JAIL_LAYER_LOOPBACK : 0) |
           (kind.reports_attempts ? UINT32_C(1) << CK_JAIL_LAYER_REPORTS_ATTEMPTS : 0) |
           (kind.libraries ? UINT32_C(1) << CK_JAIL_LAYER_LIBRARIES : 0) |
           (kind.names_execs ? UINT32_C(1) << CK_JAIL_LAYER_NAMES_EXECS : 0);
}

/* A bare jail, without files of a tool. */
static struct ck_native_wanted wanted_for(struct choke_context *context, struct proof_kind kind)
{
    return (struct ck_native_wanted){.search = context->search.paths,
                                     .search_count = context->search.count,
                                     .workspace_code = kind.form.workspace_code,
                                     .loopback = kind.form.loopback,
                                     .learn = kind.form.learn,
                                     .egress = kind.form.egress,
                                     .libraries = kind.libraries,
                                     .proof = kind.libraries,
                                     .reports_attempts = kind.reports_attempts,
                                     .names_execs = kind.names_execs,
                                     .arena = &context->text};
}

static void prove_native(struct choke_context *context, struct proof_kind kind, struct ck_jail_state *state)
{
    const struct ck_native_wanted bare = wanted_for(context, kind);
    struct ck_wire_proved proved = {0};
    struct choke_error error = {0};
    CK_FD program_fd = -1;
    if (ck_native_make(&bare, &program_fd, &error) < 0) {
        set_failure(state, "not_permitted", &error);
        return;
    }
    int r = ck_trial_jail(&context->watch.launcher, program_fd, &proved);
    if (r < 0)
        set_untried(state, -r, strerror(-r));
    else if (proved.error != 0)
        explain_failure(&proved, state);
    else
        judge_layers(proved.held, layers_of(kind), proved.shortage, state);
}

/* ---- bwrap ------------------------------------------------------------------------------- */

/* A separate run with the trial in place of the tool. Only its report matters. */
static int run_proof(struct choke_context *context, const struct ck_plan *plan, struct ck_wire_report *ret_report,
                     struct choke_error *error)
{
    CK_FD out = open("/dev/null", O_RDWR | O_CLOEXEC);
    const struct ck_run_pipes pipes = {.out = {out, out}, .err = {out, out}, .scratch_fd = -1};
    uint64_t deadline_ns = ck_clock_now_ns() + PROOF_NS;
    /* bwrap makes the jail, and the trial has no limits. */
    static const struct ck_warden_kind plain = {0};
    struct ck_warden *warden = NULL;
    bool fresh;
    int r = ck_launcher_take(&context->watch.launcher, &plain, &warden, &fresh, error);
    if (r < 0)
        return r;
    /* An idle warden is in the epoll set. Its report is read here, and must not wake the watch. */
    if (!fresh)
        (void)epoll_ctl(context->watch.epoll_fd, EPOLL_CTL_DEL, warden->socket_fd, NULL);
    r = ck_launcher_send_plan(warden, plan, &pipes, deadline_ns, deadline_ns, error);
    struct pollfd polled = {.fd = warden->socket_fd, .events = POLLIN};
    int received = 0;
    /*
     * The warden ends the trial at its deadline; the second PROOF_NS is for its report. 0 is a
     * hello, not an end.
     */
    while (r == 0 && received == 0 && ck_clock_now_ns() < deadline_ns + PROOF_NS) {
        (void)poll(&polled, 1, (int)(PROOF_NS / CK_NS_PER_MS));
        received = ck_launcher_receive(warden, ret_report);
    }
    /*
     * Not given back: it is out of the epoll set. Without a report it may still live, so it is
     * killed.
     */
    ck_launcher_discard(warden, received <= 0);
    if (r == 0 && received <= 0)
        return ck_error_set(error, CHOKE_SPAWN_FAILED, ETIMEDOUT, "the trial did not end");
    return r;
}

/*
 * A plan by hand: no request and no policy are involved. The root of a proof is
 * also its working directory.
 */
static int plan_proof(struct choke_context *context, struct ck_plan *plan, int program_fd, struct choke_error *error)
{
    static const char *no_env[] = {NULL};
    struct ck_plan_sources sources = ck_context_sources(context);
    *plan = (struct ck_plan){.native_jail = {.fd = program_fd},
                             .out_fd = -1,
                             .err_fd = -1,
                             .guarded_top_fd = -1,
                             .keep = {.fd = -1},
                             .bwrap = {.image_fd = -1, .program_fd = -1, .bwrap_fd = -1},
                             .no_userns = {.filter_fd = -1},
                             .env = no_env,
                             .tool_name = "bwrap",
                             .host_root = CK_JAIL_PROOF_ROOT,
                             .root_fd = open(CK_JAIL_PROOF_ROOT, O_PATH | O_DIRECTORY | O_CLOEXEC),
                             .cwd_fd = -1,
                             .execute_fd = -1,
                             .ruleset_fd = -1,
                             .stdin_fd = context->null_fd};
    if (plan->root_fd < 0)
        return ck_error_set(error, CHOKE_SPAWN_FAILED, errno, "cannot open '" CK_JAIL_PROOF_ROOT "': %s",
                            strerror(errno));
    /* The same number means: cwd is ".". */
    plan->cwd_fd = plan->root_fd;
    plan->execute_fd = fcntl(plan->root_fd, F_DUPFD_CLOEXEC, 3);
    return ck_bwrap_plan_proof(&sources, plan, error);
}

/* Without Landlock in the kernel, its layers are not among the layers of a run. */
static uint32_t missing_layers(const struct ck_plan *plan)
{
    return plan->bwrap.bounded ? 0 : UINT32_C(1) << CK_JAIL_LAYER_LANDLOCK | UINT32_C(1) << CK_JAIL_LAYER_EXECS;
}

/*
 * bwrap failed before it started the trial, or the trial was killed. EPROTO means "bwrap ended
 * before"; only the message of bwrap says why. A message that is not known is not taken for an
 * answer about the jail.
 */
static void fail_bwrap_init(const struct ck_wire_report *report, struct ck_jail_state *state)
{
    struct choke_error error = {0};
    bool complained = report->message[0] != '\0';
    int errnum = report->stage != CK_STAGE_NONE ? report->error : ECONNRESET;
    if (report->stage == CK_STAGE_JAIL && errnum == EPROTO) {
        int cause = complained ? ck_bwrap_cause(report->message) : 0;
        /* EAGAIN is transient: the jail is proven again with the next run. */
        errnum = cause != 0 ? cause : EAGAIN;
    } else if (errnum == ESTALE || ck_errkind_of(errnum) == CK_ERRKIND_ABSENT) {
        /* the init that bwrap started does not find the files that bwrap should mount */
        errnum = EPROTO;
    }
    (void)ck_error_set(&error, CHOKE_JAIL_UNAVAILABLE, errnum, "%s",
                       complained             ? CK_QUOTE(report->message)
                       : errnum == ECONNRESET ? "the process that tried its layers was killed"
                       : errnum == EAGAIN     ? "bwrap ended without a message"
                                              : text_of(errnum));
    set_failure(state, "not_permitted", &error);
}

/* A bwrap that is missing or not trusted is an answer about the jail. */
static void fail_plan(const struct choke_error *error, struct ck_jail_state *state)
{
    set_failure(state, error->errnum == ENOENT ? "not_installed" : "not_permitted", error);
    if (error->outcome == CHOKE_JAIL_UNAVAILABLE && !ck_error_is_transient(error->errnum))
        /* A lasting answer, whatever is_transient says about the errno. */
        state->failed = 0;
}

static void prove_bwrap(struct choke_context *context, struct proof_kind kind, struct ck_jail_state *state)
{
    const struct ck_native_wanted bare = wanted_for(context, kind);
    struct ck_wire_report report = {0};
    struct choke_error error = {0};
    struct ck_plan plan;
    CK_FD program_fd = -1;
    if (ck_native_make(&bare, &program_fd, &error) < 0) {
        set_failure(state, "not_permitted", &error);
        return;
    }
    if (plan_proof(context, &plan, program_fd, &error) < 0)
        fail_plan(&error, state);
    else if (run_proof(context, &plan, &report, &error) < 0)
        set_untried(state, error.errnum, error.message);
    else if (report.stage != CK_STAGE_NONE || report.code != CLD_EXITED)
        fail_bwrap_init(&report, state);
    else
        judge_layers(report.held | missing_layers(&plan), layers_of(kind), report.error, state);
    ck_plan_done(&plan);
}

/* ---- native without namespaces ------------------------------------------------------------ */

/* A directory of the caller that exists during the proof. */
static int make_scratch(struct choke_context *context, struct ck_scratch *ret_scratch, struct choke_error *error)
{
    const char *path = ck_scratch_name(&context->bwrap_state->scratch_pool, "proof", &context->text);
    return !path ? ck_error_oom(error) : ck_scratch_make(&context->bwrap_state->scratch_pool, path, ret_scratch, error);
}

/*
 * Landlock and seccomp are applied to a child. It may write in the directory inside, and must not
 * be able to in the one outside.
 */
static int try_no_userns(struct choke_context *context, int program_fd, const struct ck_scratch *inside,
                         const struct ck_scratch *outside, struct ck_wire_proved *ret_proved, struct choke_error *error)
{
    int filter_fd;
    CK_FD ruleset_fd = -1;
    int r = ck_native_no_userns_proof(&context->no_userns_filters, program_fd, &ruleset_fd, &filter_fd, error);
    if (r < 0)
        return r;
    r = ck_landlock_grant(ruleset_fd, inside->fd, CK_LANDLOCK_GRANT_WRITE);
    const int fds[CK_WIRE_PROOF_FDS] = {
        [CK_WIRE_PROOF_RULESET] = ruleset_fd,
        [CK_WIRE_PROOF_FILTER] = filter_fd,
        [CK_WIRE_PROOF_INSIDE] = inside->fd,
        [CK_WIRE_PROOF_OUTSIDE] = outside->fd,
    };
    if (r == 0)
        r = ck_trial_no_userns(&context->watch.launcher, fds, ret_proved);
    if (r == 0 && ret_proved->error != 0)
        r = -ret_proved->error;
    if (r == 0)
        return 0;
    return ck_error_set(error, CHOKE_JAIL_UNAVAILABLE, -r, "applying it failed: %s", strerror(-r));
}

/* r is about the jail. scratch_result is about the two directories, which say nothing about it. */
static void prove_no_userns(struct choke_context *context, struct ck_jail_state *state)
{
    const struct ck_native_wanted bare = {
        .search = context->search.paths, .search_count = context->search.count, .arena = &context->text};
    struct ck_scratch inside = {.fd = -1}, outside = {.fd = -1};
    struct ck_wire_proved proved = {0};
    struct choke_error error = {0};
    CK_FD program_fd = -1;
    int r = ck_native_make(&bare, &program_fd, &error);
    int scratch_result = r < 0 ? 0 : make_scratch(context, &inside, &error);
    if (r == 0 && scratch_result == 0)
        scratch_result = make_scratch(context, &outside, &error);
    if (r == 0 && scratch_result == 0)
        r = try_no_userns(context, program_fd, &inside, &outside, &proved, &error);
    if (scratch_result < 0)
        set_untried(state, -scratch_result, error.message);
    else if (r < 0)
        set_failure(state, reason_of(-r), &error);
    else
        judge_layers(proved.held, NO_USERNS_LAYERS, proved.shortage, state);
    ck_scratch_remove(&inside);
    ck_scratch_remove(&outside);
}

static void prove_form(struct choke_context *context, const struct ck_jail *jail, struct proof_kind kind,
                       struct ck_jail_state *state)
{
    if (jail == &ck_jail_native)
        prove_native(context, kind, state);
    else
        prove_bwrap(context, kind, state);
}

/*
 * First with libraries as code. That can be impossible: no Landlock, no stub for the loader of this
 * machine, a security module that refuses a copy of it. Then only listed files are code, and the
 * jail is proven in that form. So it is with workspace_code: the loader of a repository has no stub.
 */
static void prove_whole(struct choke_context *context, const struct ck_jail *jail, struct proof_kind kind,
                        struct ck_jail_state *state)
{
    struct ck_jail_state first = *state;
    kind.libraries = !kind.form.workspace_code && ck_libraries_fit();
    if (kind.libraries) {
        prove_form(context, jail, kind, &first);
        first.libraries = first.holds;
        /* After a lack of resources nothing is known. */
        if (first.holds || first.failed != 0) {
            *state = first;
            return;
        }
    }
    kind.libraries = false;
    prove_form(context, jail, kind, state);
}

/*
 * First with everything that can be reported. That can be impossible: an old kernel, a seccomp
 * filter around us that already has a listener (the kernel allows one), a machine where no process
 * may read another. All layers still hold then, and the jail is proven once more with less. Only
 * the native jail names executions: in the other one bwrap makes the tool's first process.
 */
static void prove_kinds(struct choke_context *context, const struct ck_jail *jail, struct ck_jail_form form,
                        struct ck_jail_state *state)
{
    const struct proof_kind kinds[] = {{.form = form, .reports_attempts = form.egress, .names_execs = true},
                                       {.form = form, .reports_attempts = true},
                                       {.form = form}};
    for (size_t i = jail == &ck_jail_native ? 0 : 1; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        struct ck_jail_state tried = {.reason = state->reason};
        if (kinds[i].reports_attempts && !form.egress)
            continue;
        prove_whole(context, jail, kinds[i], &tried);
        tried.reports_attempts = tried.holds && kinds[i].reports_attempts;
        tried.names_execs = tried.holds && kinds[i].names_execs;
        *state = tried;
        /* After a lack of resources nothing is known, and a weaker form must not be chosen then. */
        if (tried.holds || tried.failed != 0)
            return;
    }
}

/* The state of any other jail stays as it was: it does not hold. */
void ck_prove_jail(void *data, const struct ck_jail *jail, struct ck_jail_form form, struct ck_jail_state *ret_state)
{
    struct choke_context *context = data;
    if (ck_proof_memory_recall(context, jail, form, ret_state))
        return;
    if (jail == &ck_jail_native_no_userns)
        prove_no_userns(context, ret_state);
    else if (jail == &ck_jail_native || jail == &ck_jail_bwrap)
        prove_kinds(context, jail, form, ret_state);
    ck_proof_memory_record(context, jail, form, ret_state);
}
