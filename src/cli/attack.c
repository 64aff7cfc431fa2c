/*
 * attack.c - "chokepoint doctor --attack": makes the attempts of attack_table.c in each jail; see
 * attack.h.
 */
#include "cli/attack.h"

#include "base/clock.h"
#include "cli/cli.h"
#include "cli/review.h"
#include "front/text.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PROGRAM "chokepoint-attack"
#define TOTAL_MS 25000    /* for both jails together; the help promises at most 30 s */
#define ATTEMPT_MS 5000   /* for one run */
#define OUTPUT_BYTES 4096 /* the attacker prints one line */
#define NO_TIME "no time was left for it"

/* Exit statuses of the attacker: tests/helpers/victims/breach.h. */
#define REFUSED_STATUS 113

static const char *const no_egress[] = {NULL};
static const char *const one_host[] = {"attack.example.org", NULL};

const char *ck_attack_state_name(enum ck_attack_state state)
{
    static const char *const names[] = {
        [CK_ATTACK_HELD] = "held", [CK_ATTACK_NOT_AVAILABLE] = "not_available", [CK_ATTACK_BROKEN] = "broken"};
    return names[state];
}

size_t ck_attack_count(void)
{
    size_t count = 0;
    while (ck_attack_attempts[count].promise)
        count++;
    return count;
}

/* layers may be NULL: nothing ran. */
static bool has_layer(const char *const *layers, const char *wanted)
{
    for (size_t i = 0; layers && layers[i]; i++)
        if (strcmp(layers[i], wanted) == 0)
            return true;
    return false;
}

/* ---- one attempt ---- */

/* What all attempts in one jail have in common. */
struct attack_call {
    struct choke_context *context;
    struct ck_attack_fixture *fixture;
    const struct ck_attack_jail *jail; /* which one, and its layers */
    uint64_t deadline_ms;              /* on CLOCK_MONOTONIC */
};

/*
 * Each run gets the rest of the total time, at most ATTEMPT_MS: one attempt that hangs must not use
 * it up.
 */
static int run_args(const struct attack_call *call, enum ck_attack_entry entry, const char *const *args,
                    struct choke_result **ret_result, struct choke_error *error)
{
    const char *argv[CK_ATTACK_ARGS + 2] = {ck_attack_entries[entry]};
    /* At least 1: the library refuses a timeout of 0. */
    uint64_t now = ck_clock_now_ms(), left_ms = call->deadline_ms > now ? call->deadline_ms - now : 1;
    for (size_t i = 0; i < CK_ATTACK_ARGS && args[i]; i++)
        argv[i + 1] = ck_attack_fixture_expand(call->fixture, args[i]);
    const struct choke_request request = {
        .argv = argv,
        .root = call->fixture->root,
        .cwd = ".",
        .timeout_ms = left_ms < ATTEMPT_MS ? left_ms : ATTEMPT_MS,
        .egress = entry == CK_ATTACK_EGRESS ? one_host : no_egress,
        .stdin_fd = -1,
        .max_output_bytes = OUTPUT_BYTES,
        .jail = call->jail->jail,
    };
    return choke_run(call->context, &request, ret_result, error);
}

/* The detail may quote an error of the library, so it is made safe. */
static void broken(struct ck_attack_result *result, const char *detail)
{
    result->state = CK_ATTACK_BROKEN;
    ck_text_safe(result->detail, sizeof(result->detail), detail);
}

static void not_available(struct ck_attack_result *result, const char *layer, const char *detail)
{
    result->state = CK_ATTACK_NOT_AVAILABLE;
    result->layer = layer;
    ck_text_safe(result->detail, sizeof(result->detail), detail);
}

/* Does the way the attacker ended say that the attempt failed? */
static bool was_refused(const struct ck_attack_attempt *attempt, const struct choke_result *run)
{
    if (run->outcome == CHOKE_SIGNALED)
        /* The filter kills a process that uses another system call ABI. */
        return run->signal == SIGSYS;
    /* A timeout or a refused request says nothing about the attempt. */
    if (run->outcome != CHOKE_EXITED)
        return false;
    return attempt->check == CK_ATTACK_CHECK_FIXTURE || run->exit_code == REFUSED_STATUS ||
           (attempt->check == CK_ATTACK_CHECK_FAILED && run->exit_code != 0);
}

/* The fixture is checked first: an attacker that reached something may still report a refusal. */
static void judge(const struct attack_call *call, const struct ck_attack_attempt *attempt,
                  const struct choke_result *run, struct ck_attack_result *result)
{
    const char *reached = ck_attack_fixture_reached(call->fixture);
    if (reached)
        broken(result, reached);
    else if (run->outcome == CHOKE_JAIL_UNAVAILABLE)
        not_available(result, attempt->layer, run->error.message);
    /* On a slow machine the last run had less time than an attempt needs. */
    else if (run->outcome == CHOKE_TIMEOUT && ck_clock_now_ms() >= call->deadline_ms)
        not_available(result, attempt->layer, NO_TIME);
    else if (was_refused(attempt, run))
        /* The result is zero-filled, and 0 is CK_ATTACK_HELD. */
        return;
    else if (run->outcome == CHOKE_EXITED && run->exit_code == 0)
        broken(result, "it was not refused");
    else if (run->outcome == CHOKE_EXITED)
        broken(result, "the attempt ended with an unexpected status");
    else
        broken(result, run->error.message[0] ? run->error.message : choke_outcome_name(run->outcome));
}

static int make_attempt(const struct attack_call *call, const struct ck_attack_attempt *attempt,
                        struct ck_attack_result *result, struct choke_error *error)
{
    struct choke_result *run = NULL;
    /* Runs with egress or workspace_code have another layer than the run that inspect_jail made. */
    if (attempt->entry != CK_ATTACK_EGRESS && attempt->entry != CK_ATTACK_CODE &&
        !has_layer(call->jail->layers, attempt->layer)) {
        not_available(result, attempt->layer, "");
        return 0;
    }
    if (ck_clock_now_ms() >= call->deadline_ms) {
        not_available(result, attempt->layer, NO_TIME);
        return 0;
    }
    int r = 0;
    /* The first run leaves something; its own result does not matter. */
    if (attempt->before[0]) {
        r = run_args(call, attempt->entry, attempt->before, &run, error);
        choke_result_free(run);
        run = NULL;
    }
    if (r == 0)
        r = run_args(call, attempt->entry, attempt->args, &run, error);
    if (r == 0)
        judge(call, attempt, run, result);
    choke_result_free(run);
    return r;
}

/* ---- one jail ---- */

/* A run that does nothing. It shows whether the jail is available and which layers it has. */
static int inspect_jail(const struct attack_call *call, struct ck_attack_jail *jail, struct choke_error *error)
{
    static const char *const args[CK_ATTACK_ARGS + 1] = {"breach_files", "list", "."};
    int r = run_args(call, CK_ATTACK_PLAIN, args, &jail->first, error);
    if (r < 0)
        return r;
    const struct choke_result *run = jail->first;
    jail->available = run->outcome == CHOKE_EXITED && run->exit_code == 0;
    jail->layers = run->layers;
    /* CHOKE_TOOL_MISSING: for example bwrap is not installed. */
    if (jail->available || run->outcome == CHOKE_JAIL_UNAVAILABLE || run->outcome == CHOKE_TOOL_MISSING) {
        (void)snprintf(jail->reason, sizeof(jail->reason), "%s", run->error.message);
        return 0;
    }
    return ck_text_error(error, CHOKE_SPAWN_FAILED, EIO, "the attack program does not run in the %s jail: %s: %s",
                         jail->name, choke_outcome_name(run->outcome), run->error.message);
}

int ck_attack_jail(struct choke_context *context, struct ck_attack_fixture *fixture, uint64_t deadline_ms,
                   struct ck_attack_jail *jail, struct choke_error *error)
{
    const struct attack_call call = {.context = context, .fixture = fixture, .jail = jail, .deadline_ms = deadline_ms};
    /* Zero-filled: see judge. */
    jail->results = calloc(ck_attack_count(), sizeof(*jail->results));
    if (!jail->results)
        return ck_text_error(error, CHOKE_SPAWN_FAILED, ENOMEM, "out of memory");
    int r = inspect_jail(&call, jail, error);
    for (size_t i = 0; r == 0 && ck_attack_attempts[i].promise; i++) {
        if (jail->available)
            r = make_attempt(&call, &ck_attack_attempts[i], &jail->results[i], error);
        else
            not_available(&jail->results[i], ck_attack_attempts[i].layer, "");
    }
    return r;
}

void ck_attack_jail_done(struct ck_attack_jail *jail)
{
    choke_result_free(jail->first);
    free(jail->results);
    jail->results = NULL;
    jail->first = NULL;
}

/* ---- the whole ---- */

/*
 * Next to the command, as in a build directory; else in its installed place, relative to the
 * command.
 */
static int find_program(char ret_path[PATH_MAX], struct choke_error *error)
{
    static const char *const locations[] = {PROGRAM, "../libexec/chokepoint/" PROGRAM};
    char own[PATH_MAX] = {0}, candidate[2 * PATH_MAX];
    if (readlink("/proc/self/exe", own, sizeof(own) - 1) < 0)
        return ck_text_error(error, CHOKE_SPAWN_FAILED, errno, "cannot find the command's own directory: %s",
                             strerror(errno));
    /* The link of /proc/self/exe is absolute, so it has a slash. */
    *strrchr(own, '/') = '\0';
    for (size_t i = 0; i < sizeof(locations) / sizeof(locations[0]); i++) {
        (void)snprintf(candidate, sizeof(candidate), "%s/%s", own, locations[i]);
        char *real = realpath(candidate, NULL);
        if (!real)
            continue;
        (void)snprintf(ret_path, PATH_MAX, "%s", real);
        free(real);
        return 0;
    }
    return ck_text_error(error, CHOKE_TOOL_MISSING, ENOENT,
                         "the attack program is not installed; it was expected at '%s/%s'", CK_TEXT_SAFE(own),
                         locations[1]);
}

/*
 * A jail that is not available is not an error. An error means that an attempt could not be made at
 * all.
 */
static int attack_all(struct ck_attack_jail jails[CK_ATTACK_JAILS], struct ck_attack_fixture *fixture,
                      struct choke_error *error)
{
    const struct choke_options options = {.policy_path = fixture->policy};
    struct choke_context *context = NULL;
    uint64_t deadline_ms = ck_clock_now_ms() + TOTAL_MS;
    int r = choke_context_new(&options, &context, error);
    /* Every attempt would be refused, and look as if a jail had held. */
    if (r == 0)
        r = choke_locked(context, NULL, error);
    for (size_t i = 0; r == 0 && i < CK_ATTACK_JAILS; i++)
        r = ck_attack_jail(context, fixture, deadline_ms, &jails[i], error);
    choke_context_free(context);
    return r;
}

/* The jails share one fixture: ck_attack_fixture_reached resets it after each attempt. */
int ck_attack(bool json)
{
    struct ck_attack_jail jails[CK_ATTACK_JAILS] = {{.name = "native", .jail = CHOKE_JAIL_NATIVE},
                                                    {.name = "bwrap", .jail = CHOKE_JAIL_BWRAP}};
    const struct ck_review_options review = {.json = json};
    struct ck_attack_fixture fixture = {.top = ""};
    struct choke_error error = {0};
    char program[PATH_MAX];
    int r = find_program(program, &error);
    if (r == 0)
        r = ck_attack_fixture_make(&fixture, program, &error);
    if (r == 0)
        r = attack_all(jails, &fixture, &error);
    /*
     * Before the report: the report needs nothing of it, and nothing is left if it fails. Safe if
     * it was not made, because top is "".
     */
    ck_attack_fixture_done(&fixture);
    int status = r < 0 ? ck_review_failure(&review, &error) : ck_attack_report(jails, json);
    for (size_t i = 0; i < CK_ATTACK_JAILS; i++)
        ck_attack_jail_done(&jails[i]);
    return status;
}
