/*
 * attack_report.c - the report of "chokepoint doctor --attack", as text and as JSON; see attack.h.
 */
#include "cli/attack.h"

#include "cli/cli.h"
#include "cli/review.h"
#include "front/text.h"

#include <string.h>
#include <unistd.h>

#define STATUS_BROKEN 1 /* a promise is broken in at least one jail */
#define REPORT_VERSION 1

/* The attempts of one promise, from first to end. */
struct promise {
    size_t first, end;                   /* indexes into the table; end is the one after the last */
    size_t counts[CK_ATTACK_BROKEN + 1]; /* attempts by state */
    enum ck_attack_state state;          /* of the promise as a whole */
};

/*
 * Finds the promise that begins at attempt at; false at the end of the table. One broken attempt
 * makes it broken; else one that held makes it held.
 */
static bool next_promise(const struct ck_attack_jail *jail, size_t at, struct promise *ret_promise)
{
    const char *name = ck_attack_attempts[at].promise;
    struct promise promise = {.first = at, .end = at};
    if (!name)
        return false;
    /* The attempts of a promise are adjacent in the table, and results has the same order. */
    while (ck_attack_attempts[promise.end].promise && strcmp(ck_attack_attempts[promise.end].promise, name) == 0)
        promise.counts[jail->results[promise.end++].state]++;
    promise.state = promise.counts[CK_ATTACK_BROKEN] > 0 ? CK_ATTACK_BROKEN
                    : promise.counts[CK_ATTACK_HELD] > 0 ? CK_ATTACK_HELD
                                                         : CK_ATTACK_NOT_AVAILABLE;
    *ret_promise = promise;
    return true;
}

/* results is never NULL here: the report is made only if ck_attack_jail succeeded for each jail. */
static size_t count_state(const struct ck_attack_jail *jail, enum ck_attack_state state)
{
    size_t count = 0;
    for (size_t i = 0; ck_attack_attempts[i].promise; i++)
        count += jail->results[i].state == state;
    return count;
}

/* ---- as text ---- */

/* layer is set only if the attempt was not made. */
static void print_attempt(const struct ck_attack_attempt *attempt, const struct ck_attack_result *result)
{
    (void)printf("      %s: %s", ck_attack_state_name(result->state), attempt->name);
    if (result->layer)
        (void)printf(" (layer %s)", result->layer);
    (void)printf("%s%s\n", result->detail[0] ? ": " : "", result->detail);
}

/* One line per promise; only attempts that did not hold are listed below it. */
static void print_promise(const struct ck_attack_jail *jail, const struct promise *promise)
{
    static const char *const colours[] = {
        [CK_ATTACK_HELD] = "\033[32m", [CK_ATTACK_NOT_AVAILABLE] = "\033[33m", [CK_ATTACK_BROKEN] = "\033[31m"};
    bool colour = ck_text_colour(STDOUT_FILENO);
    (void)printf("  %s%-13s%s  %3zu %-8s  %s\n", colour ? colours[promise->state] : "",
                 ck_attack_state_name(promise->state), colour ? "\033[0m" : "", promise->end - promise->first,
                 promise->end - promise->first == 1 ? "attempt" : "attempts",
                 ck_attack_attempts[promise->first].promise);
    for (size_t i = promise->first; i < promise->end; i++)
        if (jail->results[i].state != CK_ATTACK_HELD)
            print_attempt(&ck_attack_attempts[i], &jail->results[i]);
}

/*
 * The attempts are made as the calling user: what the user may not do outside of a jail proves
 * little.
 */
static void print_jail(const struct ck_attack_jail *jail)
{
    if (!jail->available) {
        (void)printf("%s: not_available: %s\n", jail->name, jail->reason);
        return;
    }
    (void)printf("%s, as user %ld\n", jail->name, (long)geteuid());
    struct promise promise;
    for (size_t at = 0; next_promise(jail, at, &promise); at = promise.end)
        print_promise(jail, &promise);
}

/* An attempt that could not be made is counted as not_available, never as held. */
static int print_report(const struct ck_attack_jail jails[CK_ATTACK_JAILS])
{
    size_t counts[CK_ATTACK_BROKEN + 1] = {0};
    for (size_t i = 0; i < CK_ATTACK_JAILS; i++) {
        print_jail(&jails[i]);
        (void)putchar('\n');
        for (enum ck_attack_state state = CK_ATTACK_HELD; state <= CK_ATTACK_BROKEN; state++)
            counts[state] += count_state(&jails[i], state);
    }
    (void)printf("%zu held, %zu broken, %zu not_available\n", counts[CK_ATTACK_HELD], counts[CK_ATTACK_BROKEN],
                 counts[CK_ATTACK_NOT_AVAILABLE]);
    return ck_cli_flush_stdout();
}

/* ---- as JSON ---- */

static json_t *attempt_object(const struct ck_attack_attempt *attempt, const struct ck_attack_result *result)
{
    json_t *object = json_object();
    int bad = 0;

    bad |= json_object_set_new(object, "attempt", ck_jansson_text(attempt->name));
    bad |= json_object_set_new(object, "state", ck_jansson_text(ck_attack_state_name(result->state)));
    bad |= json_object_set_new(object, "layer", ck_jansson_text(attempt->layer));
    bad |= json_object_set_new(object, "entry", ck_jansson_text(ck_attack_entries[attempt->entry]));
    /* With its placeholders, as in the table: values of the fixture differ in each run. */
    bad |= json_object_set_new(object, "argv", ck_jansson_list(attempt->args));
    bad |= json_object_set_new(object, "detail", ck_jansson_text(result->detail[0] ? result->detail : NULL));
    if (!bad)
        return object;
    json_decref(object);
    return NULL;
}

static json_t *promise_object(const struct ck_attack_jail *jail, const struct promise *promise)
{
    json_t *object = json_object();
    json_t *attempts = json_array();
    int bad = 0;

    for (size_t i = promise->first; i < promise->end; i++)
        bad |= json_array_append_new(attempts, attempt_object(&ck_attack_attempts[i], &jail->results[i]));
    bad |= json_object_set_new(object, "promise", ck_jansson_text(ck_attack_attempts[promise->first].promise));
    bad |= json_object_set_new(object, "state", ck_jansson_text(ck_attack_state_name(promise->state)));
    bad |= json_object_set_new(object, "attempts", attempts);
    if (!bad)
        return object;
    json_decref(object);
    return NULL;
}

/* A jail that is not available still lists all promises, as not_available. */
static json_t *jail_object(const struct ck_attack_jail *jail)
{
    json_t *object = json_object();
    json_t *promises = json_array();
    struct promise promise;
    int bad = 0;

    for (size_t at = 0; next_promise(jail, at, &promise); at = promise.end)
        bad |= json_array_append_new(promises, promise_object(jail, &promise));
    bad |= json_object_set_new(object, "jail", ck_jansson_text(jail->name));
    bad |= json_object_set_new(object, "available", json_boolean(jail->available));
    bad |= json_object_set_new(object, "reason", ck_jansson_text(jail->available ? NULL : jail->reason));
    bad |= json_object_set_new(object, "layers", ck_jansson_list(jail->available ? jail->layers : NULL));
    bad |= json_object_set_new(object, "promises", promises);
    if (!bad)
        return object;
    json_decref(object);
    return NULL;
}

static json_t *report_object(const struct ck_attack_jail jails[CK_ATTACK_JAILS], bool held)
{
    json_t *object = json_object();
    json_t *list = json_array();
    int bad = 0;

    for (size_t i = 0; i < CK_ATTACK_JAILS; i++)
        bad |= json_array_append_new(list, jail_object(&jails[i]));
    bad |= json_object_set_new(object, "version", json_integer(REPORT_VERSION));
    bad |= json_object_set_new(object, "held", json_boolean(held));
    bad |= json_object_set_new(object, "uid", json_integer((json_int_t)geteuid()));
    bad |= json_object_set_new(object, "jails", list);
    if (!bad)
        return object;
    json_decref(object);
    return NULL;
}

int ck_attack_report(const struct ck_attack_jail jails[CK_ATTACK_JAILS], bool json)
{
    size_t broken = 0;
    for (size_t i = 0; i < CK_ATTACK_JAILS; i++)
        broken += count_state(&jails[i], CK_ATTACK_BROKEN);
    int status = broken > 0 ? STATUS_BROKEN : 0;
    if (json)
        return ck_review_write(report_object(jails, broken == 0), status);
    int written = print_report(jails);
    return written != 0 ? written : status;
}
