/*
 * complete.c - follows guards, their calls and their executions through a log. See complete.h.
 *
 * Who can append to the log can write any record, so nothing here trusts that records belong
 * together: an end must be of a guard that is open and of the same context, and so must a call. What
 * the guard says of its executions is added up again, and its number of calls is compared with the
 * records.
 */
#include "audit/complete.h"

#include "base/quote.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GUARDS_MAX 4096 /* open at the same time */
#define CALLS_MAX 65536
#define TOOL_MAX 65 /* a tool's name, with its NUL */

struct ck_complete_guard {
    uint64_t seq;
    char time[CK_AUDIT_TIME_LENGTH + 1];
    char context[CK_AUDIT_LOG_HEX + 1];
    char tool[TOOL_MAX];
    uint64_t calls; /* records that name it */
};

struct ck_complete_call {
    uint64_t seq;
    uint64_t guard;
    char tool[TOOL_MAX];
};

/* ---- gaps -------------------------------------------------------------------------------- */

__attribute__((format(printf, 3, 4))) static int add_gap(struct ck_complete *complete, uint64_t seq, const char *format,
                                                         ...)
{
    va_list list;
    if (!complete->gaps)
        complete->gaps = calloc(CK_COMPLETE_GAPS_MAX, sizeof(*complete->gaps));
    if (!complete->gaps)
        return -ENOMEM;
    if (complete->gaps_count == CK_COMPLETE_GAPS_MAX) {
        complete->gaps_more++;
        return 0;
    }
    struct ck_complete_gap *gap = &complete->gaps[complete->gaps_count++];
    gap->seq = seq;
    va_start(list, format);
    (void)vsnprintf(gap->message, sizeof(gap->message), format, list);
    va_end(list);
    return 0;
}

static int add_unended_guard(struct ck_complete *complete, const struct ck_complete_guard *guard)
{
    return add_gap(complete, guard->seq, "the guard of '%s', begun at %s, has no end: it was killed, or still runs",
                   CK_QUOTE(guard->tool), guard->time);
}

static int add_unended_call(struct ck_complete *complete, const struct ck_complete_call *call)
{
    return add_gap(complete, call->seq, "the call of '%s' in the guard of record %" PRIu64 " has no outcome",
                   CK_QUOTE(call->tool), call->guard);
}

/* ---- members of a record ----------------------------------------------------------------- */

/* False: it is not there, or no whole number that is at least 0. */
static bool read_number(const json_t *object, const char *key, uint64_t *ret_number)
{
    const json_t *value = json_object_get(object, key);
    if (!json_is_integer(value) || json_integer_value(value) < 0)
        return false;
    *ret_number = (uint64_t)json_integer_value(value);
    return true;
}

static const char *context_of(const json_t *record)
{
    const char *context = json_string_value(json_object_get(record, "context"));
    return context ? context : "";
}

static void copy_tool(char tool[TOOL_MAX], const json_t *record)
{
    const char *name = json_string_value(json_object_get(json_object_get(record, "tool"), "name"));
    (void)snprintf(tool, TOOL_MAX, "%s", name ? name : "?");
}

/* ---- what is open ------------------------------------------------------------------------ */

/* The array with room for one more; NULL: no memory, and it is as it was. */
static void *make_room(void *array, size_t count, size_t *room, size_t size)
{
    if (count < *room)
        return array;
    size_t wanted = *room > 0 ? 2 * *room : 16;
    void *grown = reallocarray(array, wanted, size);
    if (grown)
        *room = wanted;
    return grown;
}

static struct ck_complete_guard *find_guard(const struct ck_complete *complete, uint64_t seq)
{
    for (size_t i = 0; i < complete->guards_count; i++)
        if (complete->guards[i].seq == seq)
            return &complete->guards[i];
    return NULL;
}

static void drop_guard(struct ck_complete *complete, const struct ck_complete_guard *guard)
{
    size_t index = (size_t)(guard - complete->guards);
    complete->guards_count--;
    memmove(&complete->guards[index], &complete->guards[index + 1],
            (complete->guards_count - index) * sizeof(*complete->guards));
}

/* By seq, which ascends. The index, or calls_count. */
static size_t find_call(const struct ck_complete *complete, uint64_t seq)
{
    size_t low = 0, high = complete->calls_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (complete->calls[middle].seq < seq)
            low = middle + 1;
        else
            high = middle;
    }
    return low < complete->calls_count && complete->calls[low].seq == seq ? low : complete->calls_count;
}

static void drop_call(struct ck_complete *complete, size_t index)
{
    complete->calls_count--;
    memmove(&complete->calls[index], &complete->calls[index + 1],
            (complete->calls_count - index) * sizeof(*complete->calls));
}

/* The calls of a guard that ends, and have not. */
static int drop_calls_of(struct ck_complete *complete, uint64_t guard)
{
    size_t kept = 0;
    int r = 0;
    for (size_t i = 0; i < complete->calls_count; i++) {
        if (complete->calls[i].guard != guard)
            complete->calls[kept++] = complete->calls[i];
        else if (r == 0)
            r = add_unended_call(complete, &complete->calls[i]);
    }
    complete->calls_count = kept;
    return r;
}

/* ---- records ----------------------------------------------------------------------------- */

/* A context has one guard at a time, because its calls belong to that. */
static int add_begin(struct ck_complete *complete, const struct ck_envelope *envelope, const json_t *record)
{
    struct ck_complete_guard guard = {.seq = envelope->seq};
    memcpy(guard.time, envelope->time, sizeof(guard.time));
    (void)snprintf(guard.context, sizeof(guard.context), "%s", context_of(record));
    copy_tool(guard.tool, record);
    int r = 0;
    for (size_t i = 0; r == 0 && i < complete->guards_count; i++)
        if (strcmp(complete->guards[i].context, guard.context) == 0)
            r = add_gap(complete, envelope->seq,
                        "a guard begins in the context of the guard of record %" PRIu64 ", which has not ended",
                        complete->guards[i].seq);
    if (r == 0 && complete->guards_count == GUARDS_MAX) {
        r = add_unended_guard(complete, &complete->guards[0]);
        drop_guard(complete, &complete->guards[0]);
    }
    struct ck_complete_guard *room =
        make_room(complete->guards, complete->guards_count, &complete->guards_room, sizeof(guard));
    if (r < 0 || !room)
        return -ENOMEM;
    complete->guards = room;
    complete->guards[complete->guards_count++] = guard;
    return 0;
}

/* The guard that the record names, if it is open and of the same context; NULL, and a gap, if not. */
static int take_guard(struct ck_complete *complete, const struct ck_envelope *envelope, const json_t *record,
                      struct ck_complete_guard **ret_guard)
{
    uint64_t seq = 0;
    bool has_number = read_number(record, "guard", &seq);
    struct ck_complete_guard *guard = has_number ? find_guard(complete, seq) : NULL;
    *ret_guard = NULL;
    if (!has_number)
        return add_gap(complete, envelope->seq, "this %s names no guard", envelope->kind);
    if (!guard && seq < complete->first_seq)
        return add_gap(complete, envelope->seq,
                       "this %s is of the guard of record %" PRIu64 ", which is in an earlier file; give that, too",
                       envelope->kind, seq);
    if (!guard)
        return add_gap(complete, envelope->seq,
                       "this %s names record %" PRIu64 " as its guard, which is no guard that is open", envelope->kind,
                       seq);
    if (strcmp(guard->context, context_of(record)) != 0)
        return add_gap(complete, envelope->seq,
                       "this %s was not written by the guard of record %" PRIu64 ", which it names", envelope->kind,
                       seq);
    *ret_guard = guard;
    return 0;
}

static int add_call(struct ck_complete *complete, const struct ck_envelope *envelope, const json_t *record)
{
    struct ck_complete_guard *guard;
    struct ck_complete_call call = {.seq = envelope->seq};
    int r = take_guard(complete, envelope, record, &guard);
    if (r < 0 || !guard)
        return r;
    guard->calls++;
    if (strcmp(envelope->kind, CK_AUDIT_KIND_REFUSED) == 0)
        return 0;
    call.guard = guard->seq;
    copy_tool(call.tool, record);
    if (complete->calls_count == CALLS_MAX) {
        r = add_unended_call(complete, &complete->calls[0]);
        drop_call(complete, 0);
    }
    struct ck_complete_call *room =
        make_room(complete->calls, complete->calls_count, &complete->calls_room, sizeof(call));
    if (r < 0 || !room)
        return -ENOMEM;
    complete->calls = room;
    complete->calls[complete->calls_count++] = call;
    return 0;
}

static void add_outcome(struct ck_complete *complete, const json_t *record)
{
    uint64_t intent;
    if (!read_number(record, "intent", &intent))
        return;
    size_t index = find_call(complete, intent);
    if (index < complete->calls_count)
        drop_call(complete, index);
}

/* Their sum is the attempts, in any order of additions: a number that is forged may be large. */
static int check_sum(struct ck_complete *complete, const struct ck_envelope *envelope, const json_t *executions,
                     uint64_t attempts)
{
    static const char *const parts[] = {"door", "carrier", "workspace", "refused", "not_found", "failed"};
    uint64_t sum = 0;
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        uint64_t number;
        if (!read_number(executions, parts[i], &number) || __builtin_add_overflow(sum, number, &sum))
            return add_gap(complete, envelope->seq, "this guard_end has no number of executions '%s'", parts[i]);
    }
    if (sum == attempts)
        return 0;
    return add_gap(complete, envelope->seq,
                   "%" PRIu64 " executions were attempted, but %" PRIu64
                   " are accounted for: by doors, carriers and the "
                   "workspace, refused, not found, failed",
                   attempts, sum);
}

static int check_executions(struct ck_complete *complete, const struct ck_envelope *envelope, const json_t *record,
                            const struct ck_complete_guard *guard)
{
    const json_t *executions = json_object_get(record, "executions");
    uint64_t attempts, door, connections, calls;
    if (!read_number(executions, "attempts", &attempts) || !read_number(executions, "door", &door) ||
        !read_number(executions, "connections", &connections) || !read_number(executions, "calls", &calls))
        return add_gap(complete, envelope->seq, "this guard_end has no account of executions");
    int r = check_sum(complete, envelope, executions, attempts);
    if (r == 0 && door != connections)
        r = add_gap(complete, envelope->seq,
                    "doors were executed %" PRIu64 " times, but the guard has seen %" PRIu64 " connections", door,
                    connections);
    if (r == 0 && calls > connections)
        r = add_gap(complete, envelope->seq, "the guard judged %" PRIu64 " calls, but has seen %" PRIu64 " connections",
                    calls, connections);
    if (r == 0 && calls != guard->calls)
        r = add_gap(complete, envelope->seq, "the guard judged %" PRIu64 " calls, but %" PRIu64 " records name it",
                    calls, guard->calls);
    return r;
}

static int add_end(struct ck_complete *complete, const struct ck_envelope *envelope, const json_t *record)
{
    struct ck_complete_guard *guard;
    int r = take_guard(complete, envelope, record, &guard);
    if (r < 0 || !guard)
        return r;
    r = check_executions(complete, envelope, record, guard);
    if (r == 0)
        r = drop_calls_of(complete, guard->seq);
    drop_guard(complete, guard);
    return r;
}

/* Most records are of no guard, and need not be parsed. */
static bool concerns(const struct ck_complete *complete, const struct ck_envelope *envelope, const char *text,
                     size_t length)
{
    static const char member[] = "\"guard\":";
    if (strcmp(envelope->kind, CK_AUDIT_KIND_GUARD_BEGIN) == 0 || strcmp(envelope->kind, CK_AUDIT_KIND_GUARD_END) == 0)
        return true;
    if (strcmp(envelope->kind, CK_AUDIT_KIND_OUTCOME) == 0)
        return complete->calls_count > 0;
    return (strcmp(envelope->kind, CK_AUDIT_KIND_INTENT) == 0 || strcmp(envelope->kind, CK_AUDIT_KIND_REFUSED) == 0) &&
           memmem(text, length, member, sizeof(member) - 1);
}

int ck_complete_add(struct ck_complete *complete, const struct ck_envelope *envelope, const char *text, size_t length)
{
    if (!complete->has_first)
        complete->first_seq = envelope->seq;
    complete->has_first = true;
    if (!concerns(complete, envelope, text, length))
        return 0;
    json_t *record = json_loadb(text, length, 0, NULL);
    if (!record)
        return -ENOMEM;
    int r = 0;
    if (strcmp(envelope->kind, CK_AUDIT_KIND_GUARD_BEGIN) == 0)
        r = add_begin(complete, envelope, record);
    else if (strcmp(envelope->kind, CK_AUDIT_KIND_GUARD_END) == 0)
        r = add_end(complete, envelope, record);
    else if (strcmp(envelope->kind, CK_AUDIT_KIND_OUTCOME) == 0)
        add_outcome(complete, record);
    else if (json_object_get(record, "guard"))
        r = add_call(complete, envelope, record);
    json_decref(record);
    return r;
}

int ck_complete_finish(struct ck_complete *complete)
{
    int r = 0;
    for (size_t i = 0; r == 0 && i < complete->guards_count; i++)
        r = add_unended_guard(complete, &complete->guards[i]);
    for (size_t i = 0; r == 0 && i < complete->calls_count; i++)
        r = add_unended_call(complete, &complete->calls[i]);
    complete->guards_count = complete->calls_count = 0;
    return r;
}

void ck_complete_done(struct ck_complete *complete)
{
    free(complete->guards);
    free(complete->calls);
    free(complete->gaps);
    *complete = (struct ck_complete){0};
}
