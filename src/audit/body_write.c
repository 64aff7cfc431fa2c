/*
 * body_write.c - writes the bodies of records as JSON, each part within its budget. See
 * body_write.h.
 */
#include "audit/body_write.h"

#include <errno.h>
#include <sodium/crypto_generichash.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_MAX ((size_t)8192) /* one path; fits, unless it is mostly control bytes */
/* a list of names or rules */
#define NAMES_MAX ((size_t)4096)
/* the list of what the jail refused */
#define DENIED_MAX ((size_t)16384)
/* What may follow argv: two paths and the policy's, two lists, and members with a fixed maximum. */
#define AFTER_ARGV_MAX (3 * TEXT_MAX + 2 * NAMES_MAX + 6144)
/* What few records have: the arguments as they were asked for, the place of the root, directories. */
#define RARE_MAX (TEXT_MAX + 2 * NAMES_MAX)
/* What the program of a guard has, in the room of its arguments as they were asked for: it has none. */
#define GUARD_LIST_MAX ((size_t)1280)
#define SECRETS_MAX ((size_t)1024) /* hosts and names of the headers that are added */

_Static_assert(2 * GUARD_LIST_MAX + SECRETS_MAX + 512 <= NAMES_MAX, "there is room for a guard");
_Static_assert(AFTER_ARGV_MAX + RARE_MAX + TEXT_MAX + 1024 < CK_AUDIT_BODY_MAX, "there is room for argv");

/* ---- text ---- */

/* False where the text does not fit before end; then nothing is written. */
static bool write_within(struct ck_json *json, const char *key, const char *text, const char *end)
{
    struct ck_json_mark mark = ck_json_mark(json);
    ck_json_text(json, key, text);
    if (!json->full && json->at <= end)
        return true;
    ck_json_rewind(json, mark);
    return false;
}

/*
 * A text of any length. One that is too long is replaced by its length and hash, so that it can
 * still be compared with a known one.
 */
static void write_bounded(struct ck_json *json, const char *key, const char *text)
{
    char hash[CK_AUDIT_HASH_HEX + 1];
    if (!text)
        ck_json_word(json, key, NULL);
    if (!text || write_within(json, key, text, json->at + TEXT_MAX))
        return;
    ck_line_hash(text, strlen(text), hash);
    ck_json_open(json, key, '{');
    ck_json_number(json, "bytes", strlen(text));
    ck_json_word(json, "hash", hash);
    ck_json_close(json, '}');
}

/* Writes the elements that fit, from the first on. Returns how many were left out. */
static size_t write_list(struct ck_json *json, const char *key, const char *const *list, size_t budget)
{
    const char *end = json->at + budget;
    size_t i = 0, count = 0;
    if (!list) {
        ck_json_word(json, key, NULL);
        return 0;
    }
    while (list[count])
        count++;
    ck_json_open(json, key, '[');
    while (i < count && write_within(json, NULL, list[i], end))
        i++;
    ck_json_close(json, ']');
    return count - i;
}

/*
 * The NUL after each string is hashed too: without it {"ab", "c"} and {"a", "bc"} would have one
 * hash.
 */
static void hash_list(const char *const *list, char ret_hex[CK_AUDIT_HASH_HEX + 1])
{
    crypto_generichash_state state;
    unsigned char digest[CK_AUDIT_HASH_BYTES];
    (void)crypto_generichash_init(&state, NULL, 0, sizeof(digest));
    for (size_t i = 0; list[i]; i++)
        (void)crypto_generichash_update(&state, (const unsigned char *)list[i], strlen(list[i]) + 1);
    (void)crypto_generichash_final(&state, digest, sizeof(digest));
    ck_line_hex(digest, ret_hex);
}

/* ---- the call ---- */

/*
 * argv gets all the room that the parts after it cannot need. If arguments are left out, the hash
 * is of all of them, so that the record still identifies the call.
 */
static void write_argv(struct ck_json *json, const struct ck_audit_call *call)
{
    const char *const *argv = call->argv;
    bool is_rare = call->asked || call->root_at || call->shown || call->begins;
    size_t after = AFTER_ARGV_MAX + (is_rare ? RARE_MAX : 0);
    char hash[CK_AUDIT_HASH_HEX + 1];
    size_t room = ck_json_room(json);
    size_t cut = write_list(json, "argv", argv, room > after ? room - after : 0);
    if (cut == 0)
        return;
    hash_list(argv, hash);
    ck_json_number(json, "argv_cut", cut);
    ck_json_word(json, "argv_hash", hash);
}

/* The part of NAME=VALUE before the '='. */
struct env_name {
    const char *text;
    size_t length;
};

/* By bytes; a name comes before a longer one that it begins. */
static int compare_names(const void *left, const void *right)
{
    const struct env_name *a = left;
    const struct env_name *b = right;
    int order = memcmp(a->text, b->text, a->length < b->length ? a->length : b->length);
    return order != 0 ? order : (a->length > b->length) - (a->length < b->length);
}

/* Writes the names that fit, of those that are sorted already. */
static void write_names(struct ck_json *json, const struct env_name *names, size_t count)
{
    const char *end = json->at + NAMES_MAX;
    size_t i = 0;
    ck_json_open(json, "env", '[');
    for (; i < count; i++) {
        struct ck_json_mark mark = ck_json_mark(json);
        ck_json_bytes(json, NULL, names[i].text, names[i].length);
        if (json->full || json->at > end) {
            ck_json_rewind(json, mark);
            break;
        }
    }
    ck_json_close(json, ']');
    if (i < count)
        ck_json_number(json, "env_cut", count - i);
}

/* Sorted by name. A value may be a secret, so it is never written. */
static int write_env(struct ck_json *json, const char *const *env)
{
    struct env_name small[32]; /* an ordinary environment needs no allocation */
    size_t count = 0;
    if (!env) {
        ck_json_word(json, "env", NULL);
        return 0;
    }
    while (env[count])
        count++;
    bool is_small = count <= sizeof(small) / sizeof(small[0]);
    struct env_name *names = is_small ? small : calloc(count, sizeof(*names));
    if (!names)
        return -ENOMEM;
    for (size_t k = 0; k < count; k++)
        names[k] = (struct env_name){.text = env[k], .length = strcspn(env[k], "=")};
    qsort(names, count, sizeof(*names), compare_names);
    write_names(json, names, count);
    if (!is_small)
        free(names);
    return 0;
}

/* sha256 is NULL for a call that was refused before the tool was hashed. */
static void write_tool(struct ck_json *json, const struct ck_audit_call *call)
{
    ck_json_open(json, "tool", '{');
    ck_json_text(json, "name", call->tool_name);
    write_bounded(json, "path", call->tool_path);
    ck_json_word(json, "sha256", call->tool_sha256);
    ck_json_close(json, '}');
}

/* The cached text begins with its comma: the policy always follows other members. */
static void write_policy(struct ck_json *json, struct ck_audit_policy *policy)
{
    if (policy->json) {
        ck_json_raw(json, policy->json, policy->json_length);
        return;
    }
    const char *start = json->at;
    ck_json_open(json, "policy", '{');
    write_bounded(json, "path", policy->path);
    ck_json_word(json, "sha256", policy->sha256);
    ck_json_close(json, '}');
    policy->json_length = (size_t)(json->at - start);
    /* without memory it is written out again the next time */
    policy->json = malloc(policy->json_length);
    if (policy->json)
        memcpy(policy->json, start, policy->json_length);
}

static void write_jail(struct ck_json *json, const struct ck_audit_call *call)
{
    ck_json_word(json, "jail", call->jail);
    ck_json_open(json, "layers", '[');
    for (size_t i = 0; call->layers[i]; i++)
        ck_json_word(json, NULL, call->layers[i]);
    ck_json_close(json, ']');
    ck_json_open(json, "limits", '{');
    for (size_t i = 0; i < call->limits_count; i++)
        ck_json_number(json, call->limits[i].key, call->limits[i].value);
    ck_json_close(json, '}');
}

static void write_caller(struct ck_json *json, const struct ck_audit_caller *caller)
{
    ck_json_word(json, "context", caller->context);
    ck_json_number(json, "pid", caller->pid);
    ck_json_word(json, "probe", caller->probe);
}

/* The spelling of the request; argv has that of the tool. Left out where both are the same. */
static void write_asked(struct ck_json *json, const struct ck_audit_call *call)
{
    const char *end = json->at + NAMES_MAX;
    size_t cut = 0;
    if (!call->asked || call->begins)
        return;
    ck_json_open(json, "asked", '[');
    for (size_t i = 0; call->asked[i]; i++) {
        /* A byte takes at most six in JSON; 64 are for the rest of the entry. */
        if (json->at + 6 * strlen(call->asked[i]) + 64 > end) {
            cut++;
            continue;
        }
        ck_json_open(json, NULL, '{');
        ck_json_number(json, "at", call->asked_at[i]);
        ck_json_text(json, "text", call->asked[i]);
        ck_json_close(json, '}');
    }
    ck_json_close(json, ']');
    if (cut > 0)
        ck_json_number(json, "asked_cut", cut);
}

/* What differs from the usual content of a jail. */
static void write_places(struct ck_json *json, const struct ck_audit_call *call)
{
    if (call->root_at)
        write_bounded(json, "root_at", call->root_at);
    size_t cut = call->shown ? write_list(json, "reads", call->shown, NAMES_MAX) : 0;
    if (cut > 0)
        ck_json_number(json, "reads_cut", cut);
}

static void write_guard(struct ck_json *json, const struct ck_audit_guard *guard)
{
    static const char *const nothing[] = {NULL};
    ck_json_word(json, "profile", guard->profile);
    size_t cut = write_list(json, "carriers", guard->carriers, GUARD_LIST_MAX);
    if (cut > 0)
        ck_json_number(json, "carriers_cut", cut);
    cut = write_list(json, "state", guard->state ? guard->state : nothing, GUARD_LIST_MAX);
    if (cut > 0)
        ck_json_number(json, "state_cut", cut);
    cut = guard->secrets ? write_list(json, "secrets", guard->secrets, SECRETS_MAX) : 0;
    if (cut > 0)
        ck_json_number(json, "secrets_cut", cut);
}

int ck_body_write_call(struct ck_record *record, const char *kind, const struct ck_audit_call *call)
{
    struct ck_json *json = &record->body;
    if (ck_record_start(record, kind) < 0)
        return -ENOMEM;
    write_caller(json, &call->caller);
    write_tool(json, call);
    write_argv(json, call);
    if (write_env(json, call->env) < 0)
        return -ENOMEM;
    write_bounded(json, "root", call->root);
    write_bounded(json, "cwd", call->cwd);
    write_policy(json, call->policy);
    ck_json_text(json, "rule", call->rule);
    write_jail(json, call);
    if (call->timeout_ms != 0)
        ck_json_number(json, "timeout_ms", call->timeout_ms);
    else
        ck_json_word(json, "timeout_ms", NULL);
    ck_json_bool(json, "sandbox", call->sandbox);
    ck_json_word(json, "workspace", call->workspace);
    size_t cut = write_list(json, "egress", call->egress, NAMES_MAX);
    if (cut > 0)
        ck_json_number(json, "egress_cut", cut);
    write_asked(json, call);
    write_places(json, call);
    /* Only where it is so: most calls have none of these. */
    if (call->workspace_code)
        ck_json_bool(json, "workspace_code", true);
    if (call->loopback)
        ck_json_bool(json, "loopback", true);
    if (call->learn)
        ck_json_bool(json, "learn", true);
    if (call->guard != 0)
        ck_json_number(json, "guard", call->guard);
    if (call->begins)
        write_guard(json, call->begins);
    return 0;
}

/* ---- what follows an intent ---- */

static void write_tool_name(struct ck_json *json, const char *name)
{
    ck_json_open(json, "tool", '{');
    ck_json_text(json, "name", name);
    ck_json_close(json, '}');
}

int ck_body_write_egress(struct ck_record *record, const struct ck_audit_connection *connection)
{
    struct ck_json *json = &record->body;
    if (ck_record_start(record, CK_AUDIT_KIND_EGRESS) < 0)
        return -ENOMEM;
    ck_json_number(json, "intent", connection->intent);
    write_caller(json, &connection->caller);
    write_tool_name(json, connection->tool_name);
    ck_json_word(json, "verdict", connection->verdict);
    ck_json_number(json, "connection", connection->connection);
    ck_json_word(json, "protocol", connection->protocol);
    ck_json_text(json, "host", connection->host);
    ck_json_number(json, "port", connection->port);
    ck_json_text(json, "rule", connection->rule);
    ck_json_word(json, "address", connection->address);
    ck_json_word(json, "reason", connection->reason);
    ck_json_number(json, "sent_bytes", connection->sent_bytes);
    ck_json_number(json, "received_bytes", connection->received_bytes);
    if (connection->via)
        ck_json_text(json, "via", connection->via);
    if (connection->secret) {
        ck_json_text(json, "secret", connection->secret);
        ck_json_number(json, "requests", connection->requests);
    }
    return 0;
}

static void write_stream(struct ck_json *json, const char *key, const struct choke_capture *capture, const char *hash,
                         bool passed_on)
{
    ck_json_open(json, key, '{');
    ck_json_number(json, "bytes", capture->total_bytes);
    ck_json_word(json, "hash", hash);
    ck_json_bool(json, "truncated", capture->truncated && !passed_on);
    ck_json_close(json, '}');
}

/* null: the tool wrote to descriptors of the caller, so nobody has counted. */
static void write_streams(struct ck_json *json, const struct ck_audit_outcome *outcome)
{
    const struct choke_result *result = outcome->result;
    if (outcome->handed_over) {
        ck_json_word(json, "stdout", NULL);
        ck_json_word(json, "stderr", NULL);
        return;
    }
    write_stream(json, "stdout", &result->out, outcome->out_hash, outcome->passed_on);
    write_stream(json, "stderr", &result->err, outcome->err_hash, outcome->passed_on);
}

static void write_executions(struct ck_json *json, const struct ck_audit_executions *executions)
{
    ck_json_open(json, "executions", '{');
    ck_json_number(json, "attempts", executions->attempts);
    ck_json_number(json, "door", executions->door);
    ck_json_number(json, "carrier", executions->carrier);
    ck_json_number(json, "workspace", executions->workspace);
    ck_json_number(json, "refused", executions->refused);
    ck_json_number(json, "not_found", executions->not_found);
    ck_json_number(json, "failed", executions->failed);
    ck_json_number(json, "connections", executions->connections);
    ck_json_number(json, "calls", executions->calls);
    ck_json_close(json, '}');
}

/* Exit code or signal; what does not apply is null, because 0 is a valid exit code. */
static void write_ending(struct ck_json *json, const struct choke_result *result)
{
    if (result->outcome == CHOKE_EXITED)
        ck_json_integer(json, "exit_code", result->exit_code);
    else
        ck_json_word(json, "exit_code", NULL);
    if (result->signal != 0)
        ck_json_integer(json, "signal", result->signal);
    else
        ck_json_word(json, "signal", NULL);
}

static void write_denial(struct ck_json *json, const struct choke_denial *denial)
{
    ck_json_open(json, NULL, '{');
    ck_json_word(json, "kind", denial->kind);
    ck_json_text(json, "path", denial->path);
    ck_json_text(json, "by", denial->by);
    ck_json_integer(json, "errno", denial->errnum);
    ck_json_text(json, "add", denial->add);
    ck_json_close(json, '}');
}

/* Those that fit, from the first on; the rest is counted with what the result does not list. */
static void write_denied(struct ck_json *json, const struct choke_result *result)
{
    const char *end = json->at + DENIED_MAX;
    size_t i = 0;
    if (!result->denied) {
        ck_json_word(json, "denied", NULL);
        ck_json_number(json, "denied_more", 0);
        return;
    }
    ck_json_open(json, "denied", '[');
    for (; i < result->denied_count; i++) {
        struct ck_json_mark mark = ck_json_mark(json);
        write_denial(json, &result->denied[i]);
        if (json->full || json->at > end) {
            ck_json_rewind(json, mark);
            break;
        }
    }
    ck_json_close(json, ']');
    ck_json_number(json, "denied_more", result->denied_more + (result->denied_count - i));
}

void ck_body_write_end(struct ck_record *record, const struct ck_audit_end *end)
{
    struct ck_json *json = &record->body;
    ck_json_word(json, "outcome", end->outcome);
    if (!end->code) {
        ck_json_word(json, "error", NULL);
        return;
    }
    ck_json_open(json, "error", '{');
    ck_json_word(json, "code", end->code);
    write_bounded(json, "message", end->message);
    ck_json_close(json, '}');
}

int ck_body_write_outcome(struct ck_record *record, const struct ck_audit_outcome *outcome)
{
    struct ck_json *json = &record->body;
    const struct choke_result *result = outcome->result;
    const struct ck_audit_guard *guard = outcome->ends;
    if (ck_record_start(record, guard ? CK_AUDIT_KIND_GUARD_END : CK_AUDIT_KIND_OUTCOME) < 0)
        return -ENOMEM;
    ck_json_number(json, guard ? "guard" : "intent", outcome->intent);
    write_caller(json, &outcome->caller);
    write_tool_name(json, result->tool_name);
    write_ending(json, result);
    if (guard)
        write_executions(json, &guard->executions);
    else
        write_streams(json, outcome);
    ck_json_bool(json, "output_incomplete", result->output_incomplete);
    ck_json_number(json, "duration_us", result->duration_us);
    ck_json_number(json, "user_us", result->user_us);
    ck_json_number(json, "system_us", result->system_us);
    ck_json_number(json, "max_rss_kib", result->max_rss_kib);
    ck_json_word(json, "kill", result->kill);
    ck_json_word(json, "limit_hit", result->limit_hit);
    if (result->changes)
        ck_json_number(json, "changes", result->change_count);
    else
        ck_json_word(json, "changes", NULL);
    write_denied(json, result);
    ck_body_write_end(record, &outcome->end);
    return 0;
}
