/* test_layer.c - each error on each kind of machine has its cause, and a cause that can be switched
 * comes first. */
#include "ready/layer.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* A machine without any restriction. */
static const struct ck_host plain = {
    .max_user_namespaces = 15000, .unprivileged_userns = 1, .apparmor_restricts = 0, .cgroup2 = true};

static const struct ck_host as_root = {
    .root = true, .max_user_namespaces = 15000, .unprivileged_userns = 0, .apparmor_restricts = 1, .cgroup2 = true};
static const struct ck_host no_userns = {.max_user_namespaces = 0, .unprivileged_userns = 1, .container_sign = "/x"};
static const struct ck_host debian = {.max_user_namespaces = 15000, .unprivileged_userns = 0};
static const struct ck_host ubuntu = {
    .max_user_namespaces = 15000, .unprivileged_userns = CK_HOST_UNKNOWN, .apparmor_restricts = 1};
static const struct ck_host docker = {
    .max_user_namespaces = 15000, .unprivileged_userns = CK_HOST_UNKNOWN, .container_sign = "/.dockerenv"};
static const struct ck_host filtered = {.max_user_namespaces = 15000, .unprivileged_userns = 1, .seccomp_mode = 2};
static const struct ck_host profiled = {
    .max_user_namespaces = 15000, .unprivileged_userns = CK_HOST_UNKNOWN, .apparmor_profile = "some//profile"};
static const struct ck_host profiled_docker = {.max_user_namespaces = 15000,
                                               .container_sign = "/.dockerenv",
                                               .apparmor_profile = "docker-default",
                                               .unprivileged_userns = 1};
static const struct ck_host labelled = {
    .max_user_namespaces = 15000, .unprivileged_userns = CK_HOST_UNKNOWN, .selinux_context = "user_u:user_r:user_t:s0"};
static const struct ck_host labelled_docker = {.max_user_namespaces = 15000,
                                               .unprivileged_userns = CK_HOST_UNKNOWN,
                                               .container_sign = "/.dockerenv",
                                               .selinux_context = "system_u:system_r:container_t:s0:c1,c2"};
static const struct ck_host without_landlock = {.lsm_known = true, .cgroup2 = true};
static const struct ck_host only_v1 = {.max_user_namespaces = 15000};

static const struct {
    enum ck_layer layer;
    int error;
    const struct ck_host *host;
    const char *cause; /* a part of it */
    const char *remedy;
} cases[] = {
    {CK_LAYER_USER, EPERM, &no_userns, "user.max_user_namespaces is 0", "sysctl -w user.max_user_namespaces"},
    {CK_LAYER_USER, ENOSPC, &plain, "limit on user namespaces", "raise sysctl"},
    {CK_LAYER_USER, EPERM, &debian, "kernel.unprivileged_userns_clone is 0", "unprivileged_userns_clone=1"},
    {CK_LAYER_USER, EPERM, &ubuntu, "AppArmor", "apparmor_restrict_unprivileged_userns=0"},
    {CK_LAYER_MOUNT, EACCES, &ubuntu, "AppArmor", "apparmor_restrict_unprivileged_userns=0"},
    {CK_LAYER_USER, EACCES, &profiled, "the AppArmor profile 'some//profile'", "'userns,'"},
    {CK_LAYER_MOUNT, EPERM, &profiled, "the AppArmor profile 'some//profile'", "the capabilities"},
    {CK_LAYER_MOUNT, EINVAL, &profiled, "too old", "Linux 3.8"},
    {CK_LAYER_USER, EACCES, &labelled, "the SELinux context 'user_u:user_r:user_t:s0'", "user_namespace create"},
    {CK_LAYER_MOUNT, EPERM, &labelled, "the SELinux context", "cap_userns"},
    {CK_LAYER_MOUNT, EINVAL, &labelled, "too old", "Linux 3.8"},
    {CK_LAYER_USER, EACCES, &labelled_docker, "/.dockerenv", "container's settings"},
    {CK_LAYER_USER, EPERM, &profiled_docker, "/.dockerenv", "container's settings"},
    {CK_LAYER_USER, EPERM, &docker, "/.dockerenv", "container's settings"},
    {CK_LAYER_USER, EPERM, &filtered, "seccomp filter", "that filter"},
    {CK_LAYER_USER, EPERM, &as_root, "Operation not permitted", ""},
    {CK_LAYER_USER, EINVAL, &plain, "too old, or was built without it", "Linux 3.8"},
    {CK_LAYER_USER, EPROTO, &ubuntu, "does not enforce", "security module"},
    {CK_LAYER_NET, EINVAL, &plain, "too old", "Linux 3.8"},
    {CK_LAYER_EXECS, ENOSYS, &plain, "too old", "Linux 5.13"},
    {CK_LAYER_EXECS, EOPNOTSUPP, &plain, "not among the kernel's security modules", "lsm=landlock"},
    {CK_LAYER_EXECS, ENOSYS, &without_landlock, "too old, or was built without it", "Linux 5.13"},
    {CK_LAYER_EXECS, ENOSYS, &docker, "/.dockerenv", "container's settings"},
    {CK_LAYER_OPENAT2, ENOSYS, &plain, "too old", "Linux 5.6"},
    {CK_LAYER_PIDFD, ETIMEDOUT, &plain, "before it could answer", "try again"},
    {CK_LAYER_USER, EAGAIN, &docker, "not tried: Resource temporarily unavailable", "try again"},
    {CK_LAYER_NET, ENOMEM, &filtered, "not tried: Cannot allocate memory", "try again"},
    {CK_LAYER_NATIVE, EAGAIN, &plain, "not tried: Resource temporarily unavailable", "try again"},
    {CK_LAYER_CGROUP_KILL, ENOENT, &only_v1, "no cgroup v2", "mount -t cgroup2"},
    {CK_LAYER_CGROUP_KILL, EACCES, &plain, "may not make a group", "Delegate=yes"},
    {CK_LAYER_CGROUP_KILL, EROFS, &plain, "may not make a group", "Delegate=yes"},
    {CK_LAYER_CGROUP_KILL, ENOSYS, &plain, "too old", "Linux 5.14"},
    {CK_LAYER_MEMORY, ENODEV, &plain, "not delegated", "Delegate=yes"},
    {CK_LAYER_PIDS, EBUSY, &plain, "has processes in it", "Delegate=yes"},
    {CK_LAYER_CPU, ENOENT, &plain, "no cgroup hierarchy with it", "mount"},
    {CK_LAYER_CPU, EIO, &plain, "not tried: Input/output error", "try again"},
    {CK_LAYER_NATIVE, ENOTSUP, &plain, "not in this version", ""},
};

static void every_error_has_its_cause(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct ck_layer_trial trials[CK_LAYERS] = {0};
        struct ck_layer_message message;
        trials[cases[i].layer].error = cases[i].error;
        ck_layer_explain(cases[i].layer, trials, cases[i].host, &message);
        if (!strstr(message.cause, cases[i].cause) || !strstr(message.remedy, cases[i].remedy) ||
            (cases[i].remedy[0] == '\0' && message.remedy[0] != '\0'))
            fail_msg("case %zu: '%s', '%s'", i, message.cause, message.remedy);
        assert_string_equal(message.detail, "");
    }
}

static void a_namespace_without_a_user_namespace_points_there(void **state)
{
    struct ck_layer_trial trials[CK_LAYERS] = {0};
    struct ck_layer_message message;
    (void)state;
    trials[CK_LAYER_USER].error = EPERM;
    trials[CK_LAYER_MOUNT].error = EPERM;
    ck_layer_explain(CK_LAYER_MOUNT, trials, &docker, &message);
    assert_non_null(strstr(message.cause, "needs a user namespace"));
    ck_layer_explain(CK_LAYER_MOUNT, trials, &as_root, &message);
    assert_string_equal(message.cause, "Operation not permitted");
}

static void a_jail_without_a_user_namespace_says_why_there_is_none(void **state)
{
    struct ck_layer_trial trials[CK_LAYERS] = {0};
    struct ck_layer_message message;
    (void)state;
    trials[CK_LAYER_USER].error = ENOSPC;
    trials[CK_LAYER_NATIVE] = (struct ck_layer_trial){.error = ENOTSUP, .message = "building it failed"};
    ck_layer_explain(CK_LAYER_NATIVE, trials, &no_userns, &message);
    assert_string_equal(message.cause, "it needs a user namespace: sysctl user.max_user_namespaces is 0");
    assert_string_equal(message.remedy, "sysctl -w user.max_user_namespaces=15000");
    ck_layer_explain(CK_LAYER_NATIVE_DEGRADED, trials, &no_userns, &message);
    assert_non_null(strstr(message.detail, "without namespaces: landlock, execs, seccomp"));
    trials[CK_LAYER_NATIVE_DEGRADED] = trials[CK_LAYER_NATIVE];
    ck_layer_explain(CK_LAYER_NATIVE_DEGRADED, trials, &no_userns, &message);
    assert_string_equal(message.cause, "building it failed");
    trials[CK_LAYER_USER].error = 0;
    ck_layer_explain(CK_LAYER_NATIVE, trials, &plain, &message);
    assert_string_equal(message.cause, "building it failed");
}

static void what_holds_says_how(void **state)
{
    struct ck_layer_trial trials[CK_LAYERS] = {0};
    struct ck_layer_message message;
    (void)state;
    trials[CK_LAYER_EXECS].value = 6;
    trials[CK_LAYER_NET].value = 1;
    trials[CK_LAYER_MEMORY].cgroup_version = CK_CONTROLLER_V1;
    ck_layer_explain(CK_LAYER_EXECS, trials, &plain, &message);
    assert_string_equal(message.name, "execs");
    assert_string_equal(message.detail, "Landlock ABI 6");
    assert_string_equal(message.cause, "");
    ck_layer_explain(CK_LAYER_NET, trials, &plain, &message);
    assert_string_equal(message.detail, "in a user namespace");
    ck_layer_explain(CK_LAYER_IPC, trials, &plain, &message);
    assert_string_equal(message.detail, "with the caller's privileges");
    ck_layer_explain(CK_LAYER_MEMORY, trials, &plain, &message);
    assert_string_equal(message.detail, "cgroup v1");
    ck_layer_explain(CK_LAYER_GUARD, trials, &plain, &message);
    assert_non_null(strstr(message.detail, "carriers can make code in memory (Linux 6.3 refuses it)"));
    trials[CK_LAYER_GUARD].value = 1;
    ck_layer_explain(CK_LAYER_GUARD, trials, &plain, &message);
    assert_string_equal(message.detail, "every execution in a tree can be decided, named and counted");
}

static void every_layer_has_a_name_and_a_cause_for_any_error(void **state)
{
    (void)state;
    for (int layer = 0; layer < CK_LAYERS; layer++)
        for (int error = 1; error < 134; error++) {
            struct ck_layer_trial trials[CK_LAYERS] = {0};
            struct ck_layer_message message;
            trials[layer].error = error;
            ck_layer_explain((enum ck_layer)layer, trials, &plain, &message);
            assert_non_null(message.name);
            assert_non_null(message.group);
            assert_true(message.cause[0] != '\0');
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_error_has_its_cause),
        cmocka_unit_test(a_namespace_without_a_user_namespace_points_there),
        cmocka_unit_test(a_jail_without_a_user_namespace_says_why_there_is_none),
        cmocka_unit_test(what_holds_says_how),
        cmocka_unit_test(every_layer_has_a_name_and_a_cause_for_any_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
