/*
 * audit_body.c - what is in a record (docs/audit.schema.json).
 *
 * Of a variable only the name is written. Any other text may hold a credential, and then what it looks like is written
 * in its place. Each list and text has its budget, so that a record always fits into its line: what does not fit is
 * counted, or stands there as its length and hash.
 */
#include "api/context.h"

#include "base/error.h"
#include "policy/secret.h"
#include "sys/beneath.h"

#include <errno.h>
#include <limits.h>
#include <sodium/crypto_generichash.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TEXT_MAX ((size_t)8192) /* one path; all but those full of control bytes fit */
#define NAMES_MAX ((size_t)4096)
/* What may follow argv: two paths and the policy's, two lists, and what has a size of its own. */
#define AFTER_ARGV_MAX (3 * TEXT_MAX + 2 * NAMES_MAX + 6144)

_Static_assert(AFTER_ARGV_MAX + TEXT_MAX + 1024 < CK_AUDIT_BODY_MAX, "there is room for argv");

/* ---- streams ---- */

struct ck_stream_hashes {
    crypto_generichash_state out, err;
    bool has_out, has_err;
};

static void hash_output(struct choke_job *job, enum choke_stream stream, const void *bytes, size_t length)
{
    struct ck_stream_hashes *hashes = job->hashes;
    if (hashes == NULL) {
        hashes = job->hashes_failed ? NULL : aligned_alloc(_Alignof(struct ck_stream_hashes), sizeof *hashes);
        if (hashes == NULL) { /* a hash of a part would be a wrong one */
            job->hashes_failed = true;
            return;
        }
        hashes->has_out = hashes->has_err = false;
        job->hashes = hashes;
    }
    crypto_generichash_state *state = stream == CHOKE_STDOUT ? &hashes->out : &hashes->err;
    bool *has = stream == CHOKE_STDOUT ? &hashes->has_out : &hashes->has_err;
    if (!*has)
        (void)crypto_generichash_init(state, NULL, 0, CK_AUDIT_HASH_BYTES);
    *has = true;
    (void)crypto_generichash_update(state, bytes, length);
}

static void on_output(void *data, enum choke_stream stream, const void *bytes, size_t length)
{
    struct choke_job *job = data;
    hash_output(job, stream, bytes, length);
    if (job->on_output != NULL)
        job->on_output(job->output_data, stream, bytes, length);
}

void ck_audit_hook_output(struct choke_job *job)
{
    job->on_output = job->run.on_output;
    job->output_data = job->run.output_data;
    job->run.on_output = on_output;
    job->run.output_data = job;
}

static void write_stream(struct ck_json *json, const char *key, const struct choke_job *job,
                         const struct choke_capture *capture, crypto_generichash_state *state)
{
    unsigned char digest[CK_AUDIT_HASH_BYTES];
    char hash[CK_AUDIT_HASH_HEX + 1];
    if (state != NULL) {
        (void)crypto_generichash_final(state, digest, sizeof digest);
        ck_line_hex(digest, hash);
    }
    ck_json_open(json, key, '{');
    ck_json_number(json, "bytes", capture->total_bytes);
    ck_json_word(json, "hash", job->hashes_failed ? NULL : state != NULL ? hash : job->context->audit.empty_hash);
    ck_json_bool(json, "truncated", capture->truncated);
    ck_json_close(json, '}');
}

/* ---- text ---- */

/* Without its credential, which is of that kind, if it has one. False where it did not fit, and nothing was written. */
static bool write_within(struct ck_json *json, const char *key, const char *text, const char *kind, const char *end)
{
    char shown[CK_SECRET_SHOWN_MAX];
    struct ck_json_mark mark = ck_json_mark(json);
    ck_json_text(json, key, ck_secret_show(shown, text, kind));
    if (!json->full && json->at <= end)
        return true;
    ck_json_rewind(json, mark);
    return false;
}

static void write_bounded(struct ck_json *json, const char *key, const char *text)
{
    char hash[CK_AUDIT_HASH_HEX + 1];
    if (text == NULL)
        ck_json_word(json, key, NULL);
    if (text == NULL || write_within(json, key, text, ck_secret_kind(text), json->at + TEXT_MAX))
        return;
    ck_line_hash(text, strlen(text), hash);
    ck_json_open(json, key, '{');
    ck_json_number(json, "bytes", strlen(text));
    ck_json_word(json, "hash", hash);
    ck_json_close(json, '}');
}

/* As many as fit. Returns how many were left out. */
static size_t write_list(struct ck_json *json, const char *key, const char *const *list, size_t budget)
{
    const char *end = json->at + budget;
    size_t i = 0, count = 0;
    if (list == NULL) {
        ck_json_word(json, key, NULL);
        return 0;
    }
    while (list[count] != NULL)
        count++;
    ck_json_open(json, key, '[');
    while (i < count && write_within(json, NULL, list[i], ck_secret_kind_at(list, i), end))
        i++;
    ck_json_close(json, ']');
    return count - i;
}

/* Of all strings as they would be written if they fitted, each with a NUL behind it. */
static void hash_list(const char *const *list, char ret_hex[CK_AUDIT_HASH_HEX + 1])
{
    crypto_generichash_state state;
    unsigned char digest[CK_AUDIT_HASH_BYTES];
    char shown[CK_SECRET_SHOWN_MAX];
    (void)crypto_generichash_init(&state, NULL, 0, sizeof digest);
    for (size_t i = 0; list[i] != NULL; i++) {
        const char *text = ck_secret_show(shown, list[i], ck_secret_kind_at(list, i));
        (void)crypto_generichash_update(&state, (const unsigned char *)text, strlen(text) + 1);
    }
    (void)crypto_generichash_final(&state, digest, sizeof digest);
    ck_line_hex(digest, ret_hex);
}

/* ---- the call ---- */

static void write_argv(struct ck_json *json, const char *const *argv)
{
    char hash[CK_AUDIT_HASH_HEX + 1];
    size_t room = ck_json_room(json);
    size_t cut = write_list(json, "argv", argv, room > AFTER_ARGV_MAX ? room - AFTER_ARGV_MAX : 0);
    if (cut == 0)
        return;
    hash_list(argv, hash);
    ck_json_number(json, "argv_cut", cut);
    ck_json_word(json, "argv_hash", hash);
}

struct env_name {
    const char *text;
    size_t length;
};

static int compare_names(const void *left, const void *right)
{
    const struct env_name *a = left;
    const struct env_name *b = right;
    int order = memcmp(a->text, b->text, a->length < b->length ? a->length : b->length);
    return order != 0 ? order : (a->length > b->length) - (a->length < b->length);
}

/* The names of NAME=VALUE, in their order. A name has no credential in it: the judge looked at it, or the policy says it. */
static int write_env(struct ck_json *json, struct ck_arena *arena, const char *const *env)
{
    struct env_name small[32];
    const char *end = json->at + NAMES_MAX;
    size_t count = 0, i = 0;
    if (env == NULL) {
        ck_json_word(json, "env", NULL);
        return 0;
    }
    while (env[count] != NULL)
        count++;
    struct env_name *names =
        count > sizeof small / sizeof small[0] ? ck_arena_array(arena, count, sizeof *names) : small;
    if (names == NULL)
        return -ENOMEM;
    for (size_t k = 0; k < count; k++)
        names[k] = (struct env_name){.text = env[k], .length = strcspn(env[k], "=")};
    qsort(names, count, sizeof *names, compare_names);
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
    return 0;
}

static void write_tool(struct ck_json *json, struct ck_audit *audit, const struct ck_plan *plan)
{
    char buffer[CK_DIGEST_SIZE];
    const char *digest =
        plan->execute_fd >= 0 ? ck_tooldigest_find(&audit->digests, plan, audit->policy_sha256, buffer) : NULL;
    ck_json_open(json, "tool", '{');
    ck_json_text(json, "name", plan->tool_name);
    write_bounded(json, "path", plan->tool_path);
    ck_json_word(json, "sha256", digest);
    ck_json_close(json, '}');
}

/*
 * Where the root is. To ask the kernel is a good part of what a record costs; a path that once was the directory's own, and
 * that led to the same directory again, is not asked for twice.
 */
static const char *find_root(struct ck_audit *audit, const struct choke_request *request, const struct ck_plan *plan,
                             char buffer[PATH_MAX])
{
    const struct ck_identity *known = &audit->root_identity;
    if (plan->root_fd < 0)
        return NULL;
    if (audit->root != NULL && known->device == plan->root.device && known->inode == plan->root.inode &&
        strcmp(audit->root, request->root) == 0)
        return audit->root;
    if (ck_beneath_path(plan->root_fd, buffer, PATH_MAX) < 0)
        return NULL;
    if (strcmp(buffer, request->root) == 0) {
        free(audit->root);
        audit->root = strdup(buffer);
        audit->root_identity = plan->root;
    }
    return buffer;
}

static void write_directories(struct ck_json *json, struct ck_audit *audit, const struct choke_request *request,
                              const struct ck_plan *plan)
{
    char root_buffer[PATH_MAX], cwd[PATH_MAX];
    const char *root = find_root(audit, request, plan, root_buffer);
    bool same = plan->cwd_fd == plan->root_fd;
    bool has_cwd = !same && plan->cwd_fd >= 0 && ck_beneath_path(plan->cwd_fd, cwd, sizeof cwd) == 0;
    write_bounded(json, "root", root);
    write_bounded(json, "cwd", same ? root : has_cwd ? cwd : NULL);
}

/* The same in all records of a context, so it is written once and copied. */
static void write_policy(struct ck_json *json, struct choke_context *context)
{
    struct ck_audit *audit = &context->audit;
    if (audit->policy != NULL) {
        ck_json_raw(json, audit->policy, audit->policy_length);
        return;
    }
    const char *start = json->at;
    ck_json_open(json, "policy", '{');
    write_bounded(json, "path", context->from_file ? context->policy->file : NULL);
    ck_json_word(json, "sha256", audit->policy_sha256);
    ck_json_close(json, '}');
    audit->policy_length = (size_t)(json->at - start);
    audit->policy = malloc(audit->policy_length);
    if (audit->policy != NULL)
        memcpy(audit->policy, start, audit->policy_length);
}

static void write_jail(struct ck_json *json, const struct ck_plan *plan)
{
    const struct ck_jail *jail = plan->jail.jail;
    ck_json_word(json, "jail", jail != NULL ? jail->name : NULL);
    ck_json_open(json, "layers", '[');
    for (size_t i = 0; plan->layers[i] != NULL; i++)
        ck_json_word(json, NULL, plan->layers[i]);
    ck_json_close(json, ']');
    ck_json_open(json, "limits", '{');
    for (size_t i = 0; i < CK_LIMIT_KEYS; i++) {
        uint32_t value = ck_policy_limit(&plan->verdict.limits, &ck_limit_keys[i]);
        if (value != 0 && strcmp(ck_limit_keys[i].key, "timeout_s") != 0)
            ck_json_number(json, ck_limit_keys[i].key, value);
    }
    ck_json_close(json, '}');
}

static void write_who(struct ck_json *json, const struct choke_job *job)
{
    ck_json_word(json, "context", job->context->audit.id);
    ck_json_number(json, "pid", (uint64_t)job->context->owner);
    ck_json_word(json, "probe", job->probe[0] != '\0' ? job->probe : NULL);
}

static void write_tool_name(struct ck_json *json, const struct choke_result *result)
{
    ck_json_open(json, "tool", '{');
    ck_json_text(json, "name", result->tool_name);
    ck_json_close(json, '}');
}

int ck_audit_write_egress(struct choke_job *job, const struct ck_gate_event *event)
{
    static const char *const verdicts[] = {[CK_GATE_OPENED] = "allowed",
                                           [CK_GATE_REFUSED] = "refused",
                                           [CK_GATE_FAILED] = "failed",
                                           [CK_GATE_CLOSED] = "closed"};
    struct ck_json *json = &job->context->audit.record.body;
    if (ck_record_start(&job->context->audit.record, CK_AUDIT_KIND_EGRESS) < 0)
        return -ENOMEM;
    ck_json_number(json, "intent", job->intent);
    write_who(json, job);
    write_tool_name(json, job->result);
    ck_json_word(json, "verdict", verdicts[event->verdict]);
    ck_json_number(json, "connection", event->connection);
    ck_json_word(json, "protocol", event->protocol);
    ck_json_text(json, "host", event->host);
    ck_json_number(json, "port", event->port);
    ck_json_text(json, "rule", event->rule);
    ck_json_word(json, "address", event->address);
    ck_json_word(json, "reason", event->reason);
    ck_json_number(json, "sent_bytes", event->up_bytes);
    ck_json_number(json, "received_bytes", event->down_bytes);
    return 0;
}

/* Where a refusal came first, what was not reached is null. */
int ck_audit_write_call(struct choke_job *job, const struct choke_request *request, struct ck_plan *plan,
                        const char *kind)
{
    struct choke_context *context = job->context;
    struct ck_json *json = &context->audit.record.body;
    bool is_jailed = plan->jail.jail != NULL && plan->jail.jail != &ck_jail_none;
    if (ck_record_start(&context->audit.record, kind) < 0)
        return -ENOMEM;
    write_who(json, job);
    write_tool(json, &context->audit, plan);
    write_argv(json, plan->argv != NULL ? plan->argv : request->argv);
    if (write_env(json, &plan->arena, plan->env) < 0)
        return -ENOMEM;
    write_directories(json, &context->audit, request, plan);
    write_policy(json, context);
    ck_json_text(json, "rule", job->result->rule);
    write_jail(json, plan);
    if (plan->verdict.timeout_ms != 0)
        ck_json_number(json, "timeout_ms", plan->verdict.timeout_ms);
    else
        ck_json_word(json, "timeout_ms", NULL);
    ck_json_bool(json, "sandbox", request->sandbox);
    ck_json_word(json, "workspace", is_jailed ? ck_policy_workspace_name(plan->workspace) : NULL);
    size_t cut = write_list(json, "egress", request->egress, NAMES_MAX);
    if (cut > 0)
        ck_json_number(json, "egress_cut", cut);
    return 0;
}

/* ---- the end ---- */

void ck_audit_write_end(struct choke_job *job)
{
    struct ck_json *json = &job->context->audit.record.body;
    const struct choke_result *result = job->result;
    ck_json_word(json, "outcome", choke_outcome_name(result->outcome));
    if (result->error.outcome == CHOKE_NONE) {
        ck_json_word(json, "error", NULL);
        return;
    }
    ck_json_open(json, "error", '{');
    ck_json_word(json, "code", choke_outcome_name(result->error.outcome));
    write_bounded(json, "message", result->error.message);
    ck_json_close(json, '}');
}

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

int ck_audit_write_outcome(struct choke_job *job)
{
    struct ck_record *record = &job->context->audit.record;
    struct ck_json *json = &record->body;
    const struct choke_result *result = job->result;
    struct ck_stream_hashes *hashes = job->hashes;
    if (ck_record_start(record, CK_AUDIT_KIND_OUTCOME) < 0)
        return -ENOMEM;
    ck_json_number(json, "intent", job->intent);
    write_who(json, job);
    write_tool_name(json, result);
    write_ending(json, result);
    write_stream(json, "stdout", job, &result->out, hashes != NULL && hashes->has_out ? &hashes->out : NULL);
    write_stream(json, "stderr", job, &result->err, hashes != NULL && hashes->has_err ? &hashes->err : NULL);
    ck_json_bool(json, "output_incomplete", result->output_incomplete);
    ck_json_number(json, "duration_us", result->duration_us);
    ck_json_number(json, "user_us", result->user_us);
    ck_json_number(json, "system_us", result->system_us);
    ck_json_number(json, "max_rss_kib", result->max_rss_kib);
    ck_json_word(json, "kill", result->kill);
    ck_json_word(json, "limit_hit", result->limit_hit);
    if (result->changes != NULL)
        ck_json_number(json, "changes", result->change_count);
    else
        ck_json_word(json, "changes", NULL);
    ck_audit_write_end(job);
    return 0;
}
