/*
 * host_locked.c - a program on a machine with a locked policy: host_locked POLICY ROOT MODE [UID]
 *
 *   bound     an ordinary user: every option that would weaken a run is refused
 *   dropped   root makes a context with what only root may use, and then becomes UID
 *   ids       which of the user ids count: UID as the real one, as the effective one
 *
 * POLICY is another policy than the machine's, which has the tools say_args (direct) and rg
 * (external).
 */
#include "host.h"

#include <limits.h>

#define LOCKED "the machine's policy '/etc/chokepoint/policy.yaml' is locked"

static const char *policy, *root;

static struct choke_context *make(const struct choke_options *options)
{
    struct choke_context *context = NULL;
    struct choke_error error = {0};
    int status = choke_context_new(options, &context, &error);
    CHECK_SAYING(status == 0, error.message);
    return context;
}

static void expect(struct choke_context *context, const char *tool, enum choke_jail jail, enum choke_outcome outcome)
{
    struct choke_request request = host_request((const char *const[]){tool, "--version", NULL}, root);
    request.jail = jail;
    struct choke_result *result = host_run(context, &request);
    CHECK_SAYING(result->outcome == outcome, result->error.message);
    CHECK(!result->unrecorded);
    if (outcome == CHOKE_DISALLOWED) {
        CHECK_SAYING(!!strstr(result->error.message, LOCKED), result->error.message);
        CHECK_SAYING(strcmp(result->rule, "locked") == 0, result->rule);
    }
    choke_result_free(result);
}

/* Nothing runs by such a context, by any call; but it can explain. */
static void expect_refused(const struct choke_options *options)
{
    struct choke_context *context = make(options);
    struct choke_error error = {0};
    struct choke_doctor_report *report = NULL;
    struct choke_tool_parts *parts = NULL;
    struct choke_decision *decision = NULL;
    struct choke_request request = host_request((const char *const[]){"say_args", NULL}, root);
    struct choke_request bad = {0};
    expect(context, "say_args", CHOKE_JAIL_DEFAULT, CHOKE_DISALLOWED);
    struct choke_job *job = host_start(context, &bad);
    CHECK(choke_job_result(job)->outcome == CHOKE_DISALLOWED);
    CHECK(choke_locked(context, NULL, &error) == -EPERM && strstr(error.message, LOCKED));
    CHECK(choke_doctor(context, NULL, &report, &error) == -EPERM && strstr(error.message, LOCKED));
    CHECK(choke_tool_parts(context, "say_args", &parts, &error) == -EPERM && strstr(error.message, LOCKED));
    CHECK(choke_lock_write(context, "/nonexistent/lock", &error) < 0);
    CHECK_SAYING(choke_explain(context, &request, &decision, &error) == 0, error.message);
    CHECK_SAYING(decision->outcome == CHOKE_NONE, decision->error.message);
    choke_decision_free(decision);
    choke_context_free(context);
}

static void bound(void)
{
    char log[PATH_MAX], other[PATH_MAX];
    struct choke_error error = {0};
    CHECK_SAYING(choke_audit_default_path(log, sizeof(log), &error) == 0, error.message);
    CHECK(choke_audit_default_path(log, 3, NULL) == -ENAMETOOLONG);
    CHECK(access(log, F_OK) < 0);
    (void)snprintf(other, sizeof(other), "%s/other.jsonl", root);

    const struct choke_options allowed[] = {
        {0},
        {.audit_path = log},
        {.audit_log = CHOKE_AUDIT_DEFAULT},
        {.policy_path = "/etc/chokepoint/policy.yaml", .audit_sync = CHOKE_AUDIT_SYNC_EVERY},
    };
    for (size_t i = 0; i < sizeof(allowed) / sizeof(allowed[0]); i++) {
        struct choke_context *context = make(&allowed[i]);
        expect(context, "say_args", CHOKE_JAIL_DEFAULT, CHOKE_EXITED);
        expect(context, "say_args", CHOKE_JAIL_NONE, CHOKE_EXITED);
        expect(context, "rg", CHOKE_JAIL_DEFAULT, CHOKE_EXITED);
        expect(context, "rg", CHOKE_JAIL_NONE, CHOKE_DISALLOWED);
        CHECK(choke_locked(context, NULL, &error) == 0);
        CHECK(choke_locked(context, "a thing", &error) == -EPERM && strstr(error.message, "a thing"));
        choke_context_free(context);
        CHECK(access(log, F_OK) == 0); /* a caller that named none has this one */
    }
    const struct choke_options refused[] = {
        {.policy_path = policy},        {.policy_path = policy, .audit_path = log}, {.audit_path = other},
        {.audit_log = CHOKE_AUDIT_OFF}, {.audit_sync = CHOKE_AUDIT_SYNC_NONE},
    };
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
        expect_refused(&refused[i]);
    CHECK(access(other, F_OK) < 0);
    struct choke_context *context = NULL;
    CHECK(choke_context_new(&(struct choke_options){.audit_path = log, .audit_log = CHOKE_AUDIT_OFF}, &context,
                            &error) == -EINVAL);
    (void)printf("%s\n", log);
}

/* A call of a context that was made by another user fails, and says what to do. */
static void expect_other_user(struct choke_context *context)
{
    struct choke_request request = host_request((const char *const[]){"say_args", NULL}, root);
    struct choke_result *result = NULL;
    struct choke_error error = {0};
    CHECK(choke_run(context, &request, &result, &error) == -EPERM);
    CHECK_SAYING(strstr(error.message, LOCKED) && strstr(error.message, "make another"), error.message);
    choke_context_free(context);
}

static void dropped(uid_t uid)
{
    struct choke_context *weak = make(&(struct choke_options){.policy_path = policy, .audit_log = CHOKE_AUDIT_OFF});
    struct choke_context *plain = make(NULL);
    expect(weak, "say_args", CHOKE_JAIL_NONE, CHOKE_EXITED);
    expect(plain, "rg", CHOKE_JAIL_NONE, CHOKE_EXITED);
    CHECK(setresgid(uid, uid, uid) == 0 && setresuid(uid, uid, uid) == 0);
    expect_other_user(weak);
    expect_other_user(plain);
    expect_refused(&(struct choke_options){.policy_path = policy});
}

static void ids(uid_t uid)
{
    const uid_t cases[][3] = {{uid, 0, 0}, {0, uid, 0}};
    for (size_t i = 0; i < 2; i++) {
        struct choke_error error = {0};
        CHECK(setresuid(cases[i][0], cases[i][1], cases[i][2]) == 0);
        struct choke_context *context = make(&(struct choke_options){.policy_path = policy});
        CHECK(choke_locked(context, NULL, &error) == -EPERM);
        CHECK(setresuid(0, 0, 0) == 0);
        expect_other_user(context);
    }
    struct choke_context *context = make(&(struct choke_options){.policy_path = policy});
    CHECK(choke_locked(context, NULL, NULL) == 0);
    choke_context_free(context);
}

int main(int argc, char **argv)
{
    CHECK(argc >= 4);
    policy = argv[1];
    root = argv[2];
    uid_t uid = argc > 4 ? (uid_t)strtoul(argv[4], NULL, 10) : 0;
    if (strcmp(argv[3], "bound") == 0)
        bound();
    else if (strcmp(argv[3], "dropped") == 0)
        dropped(uid);
    else if (strcmp(argv[3], "ids") == 0)
        ids(uid);
    else
        CHECK_SAYING(false, argv[3]);
    return 0;
}
