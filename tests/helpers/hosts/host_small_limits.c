/*
 * host_small_limits.c - the whole public interface with a small stack or file size limit.
 *
 * host_small_limits POLICY ROOT PLACE stack|fsize LIMIT - the whole of the public interface in a program that has little: a thread
 * with a stack of LIMIT bytes, or RLIMIT_FSIZE of LIMIT. On the small stack everything succeeds, and what was used of it
 * is printed. With the small limit calls may fail, and say EFBIG; none ends the program. The policy has "true", "cat"
 * with egress, and "sh" with an overlay; PLACE is an empty directory of the caller's.
 */
#include "host.h"

#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>

#define GUARD_BYTES ((size_t)65536)
#define PATTERN 0xa5
#define INPUT_BYTES 20000

static const char *policy, *root, *place;
static bool may_fail;
static int failures;

/* A call that failed; that must be for want of room in files, where it may be at all. A report on a tool has no errno. */
static void failed(const char *what, const struct choke_error *error)
{
    char text[sizeof(error->message) + 64];
    (void)snprintf(text, sizeof(text), "%s: %s (%d)", what, error->message, error->errnum);
    CHECK_SAYING(may_fail && (error->errnum == EFBIG || strstr(error->message, "File too large")), text);
    failures++;
}

static const char *in_place(const char *name)
{
    static char path[4096];
    (void)snprintf(path, sizeof(path), "%s/%s", place, name);
    return path;
}

/* ---- runs ---- */

static void run(struct choke_context *context, struct choke_request request, const char *what)
{
    struct choke_result *result = NULL;
    struct choke_error error = {0};
    request.root = root;
    request.cwd = ".";
    request.timeout_ms = 20000;
    if (choke_run(context, &request, &result, &error) < 0) {
        failed(what, &error);
        return;
    }
    if (result->outcome != CHOKE_EXITED) {
        CHECK_SAYING(result->outcome == CHOKE_SPAWN_FAILED, choke_outcome_name(result->outcome));
        failed(what, &result->error);
    }
    choke_result_free(result);
}

static void run_in_jails(struct choke_context *context)
{
    static const enum choke_jail jails[] = {CHOKE_JAIL_NONE, CHOKE_JAIL_NATIVE, CHOKE_JAIL_BWRAP};
    static char input[INPUT_BYTES];
    for (size_t i = 0; i < sizeof(jails) / sizeof(*jails); i++) {
        run(context, (struct choke_request){.argv = (const char *const[]){"true", "x", NULL}, .jail = jails[i]},
            "true");
        run(context,
            (struct choke_request){.argv = (const char *const[]){"cat", NULL},
                                   .jail = jails[i],
                                   .stdin_kind = CHOKE_STDIN_BYTES,
                                   .stdin_bytes = input,
                                   .stdin_length = sizeof(input)},
            "cat");
        if (jails[i] == CHOKE_JAIL_NONE)
            continue;
        run(context,
            (struct choke_request){.argv = (const char *const[]){"cat", NULL},
                                   .jail = jails[i],
                                   .egress = (const char *const[]){"a.example.org", NULL}},
            "cat with egress");
    }
    run(context,
        (struct choke_request){.argv = (const char *const[]){"sh", "-c", "echo new > new; rm -f package.json", NULL},
                               .keep_path = in_place("kept")},
        "sh with an overlay");
    const char *const argv[] = {"no_such_tool", NULL};
    struct choke_result *result = host_run(context, &(struct choke_request){.argv = argv, .root = root, .cwd = "."});
    choke_result_free(result);
}

static void explain(struct choke_context *context)
{
    struct choke_request request = host_request((const char *const[]){"sh", "-c", "exit", NULL}, root);
    struct choke_decision *decision = NULL;
    struct choke_error error = {0};
    if (choke_explain(context, &request, &decision, &error) < 0)
        failed("explain", &error);
    choke_decision_free(decision);
}

/* ---- readiness ---- */

static void examine(struct choke_context *context)
{
    struct choke_doctor_report *doctor = NULL;
    struct choke_lock_report *lock = NULL;
    struct choke_tool_parts *parts = NULL;
    struct choke_error error = {0};
    if (choke_doctor(context, NULL, &doctor, &error) < 0)
        failed("doctor", &error);
    choke_doctor_report_free(doctor);
    if (choke_lock_write(context, in_place("lock"), &error) < 0)
        failed("lock", &error);
    else if (choke_lock_check(context, in_place("lock"), &lock, &error) < 0)
        failed("lock --check", &error);
    choke_lock_report_free(lock);
    error = (struct choke_error){0};
    if (choke_tool_parts(context, "sh", &parts, &error) < 0)
        failed("parts", &error);
    choke_tool_parts_free(parts);
}

/* ---- what needs no context ---- */

static void review(const char *old_path, const char *new_path)
{
    struct choke_policy *old_policy = NULL, *new_policy = NULL;
    const struct choke_finding *findings;
    struct choke_diff *diff = NULL;
    struct choke_error error = {0};
    const char *text;
    size_t count;
    CHECK_SAYING(choke_policy_open(old_path, &old_policy, &error) == 0, error.message);
    CHECK_SAYING(choke_policy_open(new_path, &new_policy, &error) == 0, error.message);
    CHECK_SAYING(choke_policy_check(new_policy, &findings, &count, &error) >= 0, error.message);
    CHECK_SAYING(choke_policy_json(new_policy, &text, &error) == 0, error.message);
    CHECK_SAYING(choke_policy_diff(old_policy, new_policy, &diff, &error) == 0, error.message);
    choke_diff_free(diff);
    choke_policy_free(old_policy);
    choke_policy_free(new_policy);
}

static void lint(void)
{
    const char *const paths[] = {root, NULL};
    struct choke_lint_report *report = NULL;
    struct choke_error error = {0};
    for (unsigned jobs = 1; jobs <= 2; jobs++) {
        const struct choke_lint_options options = {.paths = paths, .jobs = jobs};
        CHECK_SAYING(choke_lint(&options, &report, &error) == 0, error.message);
        choke_lint_report_free(report);
    }
}

static void prove(void)
{
    char public_key[CHOKE_AUDIT_KEY_MAX], head[CHOKE_AUDIT_HEAD_MAX], log[4096];
    struct choke_audit_report *report = NULL;
    struct choke_error error = {0};
    (void)snprintf(log, sizeof(log), "%s/audit.jsonl", place);
    if (access(log, F_OK) < 0)
        return; /* it could not be begun */
    if (choke_audit_keygen(in_place("key"), public_key, &error) < 0) {
        failed("keygen", &error);
        return;
    }
    CHECK_SAYING(choke_audit_head(log, in_place("key"), head, &error) == 0, error.message);
    const struct choke_audit_query query = {.paths = (const char *const[]){log, NULL},
                                            .rotated = true,
                                            .heads = (const char *const[]){head, NULL},
                                            .public_key = public_key};
    CHECK_SAYING(choke_audit_verify(&query, &report, &error) == 0, error.message);
    CHECK_SAYING(report->damage == CHOKE_DAMAGE_NONE, report->message);
    choke_audit_report_free(report);
}

/* ---- the tour ---- */

static void *tour(void *data)
{
    char log[4096];
    struct choke_context *context = NULL;
    struct choke_error error = {0};
    (void)snprintf(log, sizeof(log), "%s/audit.jsonl", place);
    const struct choke_options options = {.policy_path = policy, .audit_path = log, .audit_max_bytes = 8192};
    CHECK_SAYING(choke_context_new(&options, &context, &error) == 0, error.message);
    explain(context);
    run_in_jails(context);
    examine(context);
    choke_context_free(context);
    review(NULL, policy);
    review(policy, NULL);
    lint();
    prove();
    return data;
}

static void on_small_stack(size_t bytes)
{
    pthread_attr_t attributes;
    pthread_t thread;
    unsigned char *area =
        mmap(NULL, GUARD_BYTES + bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    CHECK(area != MAP_FAILED && mprotect(area, GUARD_BYTES, PROT_NONE) == 0);
    unsigned char *stack = area + GUARD_BYTES;
    memset(stack, PATTERN, bytes);
    CHECK(pthread_attr_init(&attributes) == 0 && pthread_attr_setstack(&attributes, stack, bytes) == 0);
    CHECK(pthread_create(&thread, &attributes, tour, NULL) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    size_t untouched = 0;
    while (untouched < bytes && stack[untouched] == PATTERN)
        untouched++;
    (void)printf("used %zu of %zu\n", bytes - untouched, bytes);
}

static void with_small_files(rlim_t bytes)
{
    const struct rlimit limit = {bytes, bytes};
    sigset_t pending, mask;
    CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
    may_fail = true;
    (void)tour(NULL);
    CHECK(sigpending(&pending) == 0 && sigismember(&pending, SIGXFSZ) == 0);
    CHECK(pthread_sigmask(SIG_SETMASK, NULL, &mask) == 0 && sigismember(&mask, SIGXFSZ) == 0);
    (void)printf("failed %d\n", failures);
}

int main(int argc, char **argv)
{
    CHECK(argc == 6);
    policy = argv[1];
    root = argv[2];
    place = argv[3];
    size_t limit = strtoul(argv[5], NULL, 10);
    if (strcmp(argv[4], "stack") == 0)
        on_small_stack(limit);
    else
        with_small_files(limit);
    return 0;
}
