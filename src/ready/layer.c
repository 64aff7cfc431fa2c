/*
 * layer.c - explains why a layer does not hold.
 *
 * Each kind of layer has a list of possible causes, ordered by how certain they are: a switch that
 * is off comes first, then a container that may forbid something, and last the bare error.
 */
#include "ready/layer.h"

#include "base/errkind.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Layers of one kind have the same possible causes (the table causes). */
enum layer_kind { KERNEL, LANDLOCK, SECCOMP, USER, NAMESPACE, CGROUP, CONTROLLER, JAIL };

static const struct {
    const char *name;
    const char *group;
    enum layer_kind kind;
    const char *since; /* the first kernel version that has it; "" for a jail */
} layers[CK_LAYERS] = {
    [CK_LAYER_NO_NEW_PRIVS] = {"no_new_privs", "kernel", KERNEL, "3.5"},
    [CK_LAYER_EXECS] = {"execs", "kernel", LANDLOCK, "5.13"},
    [CK_LAYER_SECCOMP] = {"seccomp", "kernel", SECCOMP, "3.5"},
    [CK_LAYER_SUBREAPER] = {"subreaper", "kernel", KERNEL, "3.4"},
    [CK_LAYER_PIDFD] = {"pidfd", "kernel", KERNEL, "5.3"},
    [CK_LAYER_OPENAT2] = {"openat2", "kernel", KERNEL, "5.6"},
    [CK_LAYER_USER] = {"user", "namespace", USER, "3.8"},
    [CK_LAYER_MOUNT] = {"mount", "namespace", NAMESPACE, "3.8"},
    [CK_LAYER_PID] = {"pid", "namespace", NAMESPACE, "3.8"},
    [CK_LAYER_NET] = {"net", "namespace", NAMESPACE, "3.8"},
    [CK_LAYER_IPC] = {"ipc", "namespace", NAMESPACE, "3.8"},
    [CK_LAYER_UTS] = {"uts", "namespace", NAMESPACE, "3.8"},
    [CK_LAYER_CGROUP] = {"cgroup", "namespace", NAMESPACE, "4.6"},
    [CK_LAYER_CGROUP_KILL] = {"cgroup.kill", "cgroup", CGROUP, "5.14"},
    [CK_LAYER_MEMORY] = {"memory", "cgroup", CONTROLLER, "4.5"},
    [CK_LAYER_PIDS] = {"pids", "cgroup", CONTROLLER, "4.5"},
    [CK_LAYER_CPU] = {"cpu", "cgroup", CONTROLLER, "4.15"},
    [CK_LAYER_NATIVE] = {"native", "jail", JAIL, ""},
    [CK_LAYER_NATIVE_DEGRADED] = {"native-degraded", "jail", JAIL, ""},
    [CK_LAYER_BWRAP] = {"bwrap", "jail", JAIL, ""},
    [CK_LAYER_NATIVE_EGRESS] = {"native-egress", "jail", JAIL, ""},
    [CK_LAYER_BWRAP_EGRESS] = {"bwrap-egress", "jail", JAIL, ""},
    [CK_LAYER_SEATBELT] = {"seatbelt", "jail", JAIL, ""},
    [CK_LAYER_GUARD] = {"guard", "jail", JAIL, ""},
};

/* What a cause may look at to decide whether it explains the error. */
struct layer_question {
    enum ck_layer layer; /* the one that does not hold */
    int error;           /* why not: a positive errno */
    int user_error;      /* of the user namespace */
    bool no_user;        /* there is no user namespace, and we are not root */
    const struct ck_host *host;
    const char *reason;               /* of a jail: its message; may be NULL */
    struct ck_layer_message *message; /* where the answer goes */
};

/*
 * DelegateSubgroup: a group with processes in it cannot give controllers to groups below it, so the
 * command itself must run in a group below the delegated one.
 */
static const char delegate[] =
    "run it in a leaf of a delegated cgroup: systemd-run --user -P -p Delegate=yes -p DelegateSubgroup=main "
    "chokepoint ...";

static const char userns_rule[] =
    "an AppArmor profile with 'userns,', or sysctl -w kernel.apparmor_restrict_unprivileged_userns=0";

static const char selinux_rule[] =
    "allow 'user_namespace create' and 'cap_userns' in its policy ('ausearch -m avc' shows what was denied), or start it in "
    "another context";

/* Sets cause and remedy. Returns true, so that a cause can end with it. */
__attribute__((format(printf, 3, 4))) static bool answer(const struct layer_question *question, const char *remedy,
                                                         const char *format, ...)
{
    va_list args;
    va_start(args, format);
    (void)vsnprintf(question->message->cause, sizeof(question->message->cause), format, args);
    va_end(args);
    (void)snprintf(question->message->remedy, sizeof(question->message->remedy), "%s", remedy);
    return true;
}

/* ---- causes; each returns true if it explains the error ---- */

/*
 * EPROTO: the trial found that the kernel accepted the layer and did not enforce it. The other two:
 * the trial itself did not finish.
 */
static bool not_held(const struct layer_question *question)
{
    if (question->error == EPROTO)
        return answer(question, "look for a security module or a container runtime that interferes",
                      "the kernel accepts it but does not enforce it");
    if (question->error == ETIMEDOUT || question->error == ECONNRESET)
        return answer(question, "try again", "not tried: the trial ended before it could answer");
    return false;
}

/*
 * The layer was not tried, so nothing is known. For namespaces ENOSPC has its own causes, which are
 * checked first.
 */
static bool untried(const struct layer_question *question)
{
    if (ck_errkind_of(question->error) != CK_ERRKIND_TRANSIENT)
        return false;
    return answer(question, "try again", "not tried: %s",
                  question->reason && question->reason[0] != '\0' ? question->reason : strerror(question->error));
}

/* A container engine is a likely cause of these errors, not a certain one, so this comes late. */
static bool container(const struct layer_question *question)
{
    const struct ck_host *host = question->host;
    if (question->error != EPERM && question->error != EACCES && question->error != ENOSYS)
        return false;
    if (host->container_sign)
        return answer(question, "allow it in the container's settings (security profile, capabilities)",
                      "a container forbids it (%s is there)", host->container_sign);
    if (host->seccomp_mode == 2)
        return answer(question, "allow it in that filter, or start without it",
                      "this process has a seccomp filter, as container engines install it");
    return false;
}

/*
 * AppArmor denies a user namespace or, as Ubuntu's rule does since 24.04, the capabilities in it: then the
 * namespace is there, and what it is for is refused. The profile is a likely cause of these errors.
 */
static bool by_apparmor(const struct layer_question *question)
{
    const struct ck_host *host = question->host;
    if (question->error != EPERM && question->error != EACCES)
        return false;
    if (!host->root && host->apparmor_restricts > 0)
        return answer(question, userns_rule,
                      "AppArmor forbids it (sysctl kernel.apparmor_restrict_unprivileged_userns)");
    if (host->apparmor_profile[0] == '\0')
        return false;
    return answer(question, "allow it in that profile ('userns,' and the capabilities), or start without it",
                  "this process has the AppArmor profile '%s'", host->apparmor_profile);
}

/* SELinux denies a user namespace (since Linux 6.1), or capabilities in it. The context is a likely cause too. */
static bool by_selinux(const struct layer_question *question)
{
    const struct ck_host *host = question->host;
    if ((question->error != EPERM && question->error != EACCES) || host->selinux_context[0] == '\0')
        return false;
    return answer(question, selinux_rule, "this process has the SELinux context '%s'", host->selinux_context);
}

/* ENOSYS: no such system call. EINVAL: no such flag or prctl option. */
static bool old_kernel(const struct layer_question *question)
{
    char remedy[64];
    if (question->error != ENOSYS && question->error != EINVAL)
        return false;
    (void)snprintf(remedy, sizeof(remedy), "it needs Linux %s or newer", layers[question->layer].since);
    return answer(question, remedy, "this kernel is too old, or was built without it");
}

/*
 * EOPNOTSUPP: Landlock is built in, but was not enabled at boot. ENOSYS: it is not built in. That can
 * also come from a seccomp filter, so it counts only if the list of modules is known and lacks
 * Landlock.
 */
static bool landlock(const struct layer_question *question)
{
    const struct ck_host *host = question->host;
    if (question->error == ENOSYS && host->lsm_known && !host->lsm_landlock)
        return old_kernel(question);
    if (question->error != EOPNOTSUPP)
        return false;
    return answer(question, "boot with lsm=landlock,... (/sys/kernel/security/lsm has the list)",
                  "Landlock is not among the kernel's security modules");
}

/* Sysctls that switch user namespaces off. Those about unprivileged users do not affect root. */
static bool user_switch(const struct layer_question *question)
{
    const struct ck_host *host = question->host;
    /* This one applies to root too. A negative value means that the sysctl could not be read. */
    if (host->max_user_namespaces == 0)
        return answer(question, "sysctl -w user.max_user_namespaces=15000", "sysctl user.max_user_namespaces is 0");
    if (question->error == ENOSPC)
        return answer(question, "raise sysctl user.max_user_namespaces, or nest less deep",
                      "the limit on user namespaces is reached");
    if (!host->root && host->unprivileged_userns == 0)
        return answer(question, "sysctl -w kernel.unprivileged_userns_clone=1",
                      "sysctl kernel.unprivileged_userns_clone is 0");
    if (!host->root && host->apparmor_restricts > 0)
        return answer(question, userns_rule,
                      "AppArmor forbids it (sysctl kernel.apparmor_restrict_unprivileged_userns)");
    return false;
}

/* The other namespaces need CAP_SYS_ADMIN, which only a user namespace gives to a normal user. */
static bool needs_user(const struct layer_question *question)
{
    if (question->no_user && (question->error == EPERM || question->error == EACCES))
        return answer(question, "see 'user'", "it needs a user namespace, or root");
    if (question->error == ENOSPC)
        return answer(question, "raise sysctl user.max_*_namespaces", "the limit on such namespaces is reached");
    return false;
}

static bool no_cgroup2(const struct layer_question *question)
{
    if (question->host->cgroup2)
        return false;
    return answer(question, "mount -t cgroup2 none /sys/fs/cgroup/unified, or boot with systemd's unified hierarchy",
                  "no cgroup v2 hierarchy is mounted");
}

/*
 * EBUSY: the group has processes (may_delegate in sys/host.c). ENODEV: cgroup.controllers does not
 * list the controller.
 */
static bool not_delegated(const struct layer_question *question)
{
    int error = question->error;
    if (error == EACCES || error == EPERM || error == EROFS)
        return answer(question, delegate, "this process may not make a group in its cgroup");
    if (error == EBUSY)
        return answer(question, delegate,
                      "the cgroup of this process has processes in it, so it cannot delegate controllers");
    if (error == ENODEV)
        return answer(question, delegate, "the controller is not delegated to the cgroup of this process");
    if (error == ENOENT)
        return answer(question, "mount a cgroup hierarchy that has it", "no cgroup hierarchy with it is mounted");
    return false;
}

/*
 * A jail that needs a user namespace, where none can be made: reports why not, and the remedy for
 * that. reason is NULL if the jail is not in this build; then that is the answer.
 */
static bool no_user_namespace(const struct layer_question *question)
{
    char cause[sizeof(question->message->cause)];
    enum ck_layer layer = question->layer;
    bool whole = layer == CK_LAYER_NATIVE || layer == CK_LAYER_BWRAP || layer == CK_LAYER_NATIVE_EGRESS ||
                 layer == CK_LAYER_BWRAP_EGRESS || layer == CK_LAYER_GUARD;
    if (!whole || question->user_error == 0 || !question->reason)
        return false;
    /*
     * The same question for the user namespace. The bare error is the answer unless a cause
     * replaces it.
     */
    struct layer_question user = *question;
    user.layer = CK_LAYER_USER;
    user.error = question->user_error;
    (void)answer(&user, "", "%s", strerror(user.error));
    (void)(user_switch(&user) || container(&user) || by_apparmor(&user) || by_selinux(&user) || old_kernel(&user));
    /* A copy, because snprintf must not read from its own destination. */
    (void)snprintf(cause, sizeof(cause), "%s", question->message->cause);
    (void)snprintf(question->message->cause, sizeof(question->message->cause), "it needs a user namespace: %.*s",
                   (int)sizeof(cause) - 32, cause);
    return true;
}

/* The last cause of a jail: its own message. */
static bool not_built(const struct layer_question *question)
{
    return answer(question, "", "%s", question->reason ? question->reason : "not in this version");
}

typedef bool (*cause_fn)(const struct layer_question *question);

/*
 * The first cause that answers is reported. A row ends with NULL, so 8 is one more than its causes.
 */
static const cause_fn causes[][8] = {
    [KERNEL] = {not_held, untried, container, old_kernel},
    [LANDLOCK] = {not_held, untried, landlock, container, old_kernel},
    [SECCOMP] = {not_held, untried, container, old_kernel},
    [USER] = {not_held, user_switch, untried, container, by_apparmor, by_selinux, old_kernel},
    [NAMESPACE] = {not_held, needs_user, untried, container, by_apparmor, by_selinux, old_kernel},
    [CGROUP] = {no_cgroup2, not_delegated, not_held, untried, container, old_kernel},
    [CONTROLLER] = {not_delegated, not_held, untried},
    [JAIL] = {untried, no_user_namespace, not_built},
};

/* For a layer that holds: what is worth knowing about it. */
static void add_detail(enum ck_layer layer, const struct ck_layer_trial *trial, struct ck_layer_message *message)
{
    const char *detail = "";
    if (layers[layer].kind == LANDLOCK)
        (void)snprintf(message->detail, sizeof(message->detail), "Landlock ABI %d", trial->value);
    else if (layers[layer].kind == NAMESPACE)
        detail = trial->value != 0 ? "in a user namespace" : "with the caller's privileges";
    else if (layer == CK_LAYER_NATIVE_DEGRADED)
        detail = "without namespaces: landlock, execs, seccomp, no_capabilities, no_new_privs";
    else if (layer == CK_LAYER_NATIVE_EGRESS || layer == CK_LAYER_BWRAP_EGRESS)
        detail = trial->value != 0 ? "proved from inside: only the proxy is reached; other attempts are reported"
                                   : "proved from inside: only the proxy is reached; other attempts are not reported";
    else if (layer == CK_LAYER_GUARD)
        detail = trial->value != 0
                     ? "every execution in a tree can be decided, named and counted"
                     : "every execution can be decided; carriers can make code in memory (Linux 6.3 refuses it)";
    else if (layers[layer].kind == JAIL)
        detail = trial->value != 0 ? "proved from inside"
                                   : "proved from inside; modules of interpreters load only if 'execs' lists them";
    else if (layers[layer].kind == CONTROLLER)
        detail = trial->cgroup_version == CK_CONTROLLER_V1 ? "cgroup v1" : "cgroup v2";
    if (detail[0] != '\0')
        (void)snprintf(message->detail, sizeof(message->detail), "%s", detail);
}

void ck_layer_explain(enum ck_layer layer, const struct ck_layer_trial *trials, const struct ck_host *host,
                      struct ck_layer_message *ret_message)
{
    const struct ck_layer_trial *trial = &trials[layer];
    *ret_message = (struct ck_layer_message){.name = layers[layer].name, .group = layers[layer].group};
    if (trial->error == 0) {
        add_detail(layer, trial, ret_message);
        return;
    }
    const struct layer_question question = {
        .layer = layer,
        .error = trial->error,
        .no_user = !host->root && trials[CK_LAYER_USER].error != 0,
        .user_error = trials[CK_LAYER_USER].error,
        .host = host,
        .reason = trial->message,
        .message = ret_message,
    };
    for (const cause_fn *cause = causes[layers[layer].kind]; *cause; cause++)
        if ((*cause)(&question))
            return;
    (void)answer(&question, "", "%s", strerror(trial->error));
}
