/*
 * audit_call.c - what a record says about a call: fills the structs of audit/body_write.h.
 *
 * Credentials are hidden here. Of a variable only the name is recorded. Any other text may hold a
 * credential; then what the credential looks like is recorded in its place.
 */
#include "api/context.h"
#include "api/redact.h"

#include "audit/body_write.h"
#include "jail/native.h"
#include "policy/secret.h"
#include "sys/beneath.h"

#include <errno.h>
#include <limits.h>
#include <sodium/crypto_generichash.h>
#include <stdlib.h>
#include <string.h>

/* ---- streams ---- */

/* Hashes of what the tool wrote so far. has_*: the state is initialised. */
struct ck_stream_hashes {
    crypto_generichash_state out, err;
    bool has_out, has_err;
};

/* The hashes are allocated with the first output. */
static void hash_output(struct choke_job *job, enum choke_stream stream, const void *bytes, size_t length)
{
    struct ck_stream_hashes *hashes = job->hashes;
    if (!hashes) {
        /* Not malloc: libsodium's state is aligned to 64 bytes. */
        hashes = job->hashes_failed ? NULL : aligned_alloc(_Alignof(struct ck_stream_hashes), sizeof(*hashes));
        if (!hashes) { /* from now on too: the hash of a part would be wrong for the whole */
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

/* In place of the caller's callback, which is called after it and may be NULL. */
static void on_output(void *data, enum choke_stream stream, const void *bytes, size_t length)
{
    struct choke_job *job = data;
    hash_output(job, stream, bytes, length);
    if (job->on_output)
        job->on_output(job->output_data, stream, bytes, length);
}

void ck_audit_hook_output(struct choke_job *job)
{
    job->on_output = job->run.on_output;
    job->output_data = job->run.output_data;
    job->run.on_output = on_output;
    job->run.output_data = job;
}

/* NULL: the hash is not known. Without output (state NULL) it is the hash of nothing. */
static const char *end_hash(const struct choke_job *job, crypto_generichash_state *state,
                            char buffer[CK_AUDIT_HASH_HEX + 1])
{
    unsigned char digest[CK_AUDIT_HASH_BYTES];
    if (job->hashes_failed)
        return NULL;
    if (!state)
        return job->context->audit.empty_hash;
    (void)crypto_generichash_final(state, digest, sizeof(digest));
    ck_line_hex(digest, buffer);
    return buffer;
}

/* ---- text without credentials ---- */

/* The text itself if it has no credential; else a description in the buffer. NULL for NULL. */
static const char *hide_text(char buffer[CK_SECRET_SHOWN_MAX], const char *text)
{
    return text ? ck_secret_show(buffer, text, ck_secret_kind(text)) : NULL;
}

/* The list itself where it has no credential, which is nearly always; else a copy. 0 or -ENOMEM. */
static int hide_list(struct ck_arena *arena, const char *const *list, const char *const **ret_list)
{
    char shown[CK_SECRET_SHOWN_MAX];
    size_t count = 0;
    const char **copies = NULL;
    *ret_list = list;
    while (list && list[count])
        count++;
    for (size_t i = 0; i < count; i++) {
        const char *kind = ck_secret_kind_at(list, i);
        if (!kind)
            continue;
        if (!copies) {
            copies = ck_arena_array(arena, count + 1, sizeof(*copies));
            if (!copies)
                return -ENOMEM;
            memcpy(copies, list, count * sizeof(*copies));
            *ret_list = copies;
        }
        copies[i] = ck_arena_strdup(arena, ck_secret_show(shown, list[i], kind));
        if (!copies[i])
            return -ENOMEM;
    }
    return 0;
}

/* ---- the call ---- */

/*
 * The path of the root. A system call for it is a good part of what a record costs. So it is not
 * made where the request names the same path as the last one, that path was the directory's real
 * path then, and it still leads to the same directory.
 */
static const char *find_root(struct ck_audit *audit, const struct choke_request *request, const struct ck_plan *plan,
                             char buffer[PATH_MAX])
{
    const struct ck_identity *known = &audit->root_identity;
    /* Refused before the root was opened. */
    if (plan->root_fd < 0)
        return NULL;
    if (audit->root && known->device == plan->root.device && known->inode == plan->root.inode &&
        strcmp(audit->root, request->root) == 0)
        return audit->root;
    if (ck_beneath_path(plan->root_fd, buffer, PATH_MAX) < 0)
        return NULL;
    /*
     * Only a real path is remembered: another spelling could lead elsewhere without a change of its
     * text.
     */
    if (strcmp(buffer, request->root) == 0) {
        free(audit->root);
        audit->root = strdup(buffer);
        audit->root_identity = plan->root;
    }
    return buffer;
}

/* Who made the call: every record of a job has the same. */
static struct ck_audit_caller caller_of(const struct choke_job *job)
{
    return (struct ck_audit_caller){.context = job->context->audit.id,
                                    .pid = (uint64_t)job->context->owner,
                                    .probe = job->probe[0] != '\0' ? job->probe : NULL};
}

/* The time is a member of the record, so it is not among the limits. */
static size_t list_limits(const struct ck_limits *limits, struct ck_audit_limit ret_list[CK_LIMIT_KEYS])
{
    size_t count = 0;
    for (size_t i = 0; i < CK_LIMIT_KEYS; i++) {
        uint32_t value = ck_policy_limit(limits, &ck_limit_keys[i]);
        if (value != 0 && strcmp(ck_limit_keys[i].key, "timeout_s") != 0)
            ret_list[count++] = (struct ck_audit_limit){.key = ck_limit_keys[i].key, .value = value};
    }
    return count;
}

static void fill_jail(struct ck_audit_call *call, const struct ck_plan *plan)
{
    const struct ck_jail *jail = plan->jail.jail;
    call->jail = jail ? jail->name : NULL;
    call->layers = plan->layers;
    /* Without a jail the workspace of the policy has no effect, so it is not recorded. */
    call->workspace_code = plan->workspace_code;
    call->loopback = plan->loopback && plan->verdict.outcome == CHOKE_NONE;
    call->workspace = jail && jail != &ck_jail_none ? ck_policy_workspace_name(plan->workspace) : NULL;
}

/*
 * Not inlined: the two paths must not be on the stack while the tool is hashed. A thread with 64
 * KiB is enough for every call.
 */
__attribute__((noinline)) static int write_in_directories(struct choke_job *job, const struct choke_request *request,
                                                          const struct ck_plan *plan, const char *kind,
                                                          struct ck_audit_call *call)
{
    struct ck_audit *audit = &job->context->audit;
    char root_buffer[PATH_MAX], cwd_buffer[PATH_MAX];
    char root_shown[CK_SECRET_SHOWN_MAX], cwd_shown[CK_SECRET_SHOWN_MAX];
    const char *root = find_root(audit, request, plan, root_buffer);
    const char *cwd = NULL;
    if (plan->cwd_fd == plan->root_fd)
        cwd = root;
    else if (plan->cwd_fd >= 0 && ck_beneath_path(plan->cwd_fd, cwd_buffer, sizeof(cwd_buffer)) == 0)
        cwd = cwd_buffer;
    call->root = hide_text(root_shown, root);
    call->cwd = hide_text(cwd_shown, cwd);
    return ck_body_write_call(&audit->record, kind, call);
}

/* Both spellings of an argument are recorded: argv has that of the tool. */
static int fill_asked(struct ck_audit_call *call, struct ck_plan *plan)
{
    size_t count = plan->respelled_count;
    if (count == 0 || !plan->argv)
        return 0;
    const char **asked = ck_arena_array(&plan->arena, count + 1, sizeof(*asked));
    size_t *asked_at = ck_arena_array(&plan->arena, count, sizeof(*asked_at));
    if (!asked || !asked_at)
        return -ENOMEM;
    for (size_t i = 0; i < count; i++) {
        asked[i] = plan->respelled[i].asked;
        asked_at[i] = plan->respelled[i].position;
    }
    asked[count] = NULL;
    call->asked_at = asked_at;
    return hide_list(&plan->arena, asked, &call->asked);
}

/* Where the root is in the jail, and what it shows too. */
static int fill_places(struct ck_audit_call *call, struct ck_plan *plan)
{
    bool jailed = plan->jail.jail && plan->jail.jail != &ck_jail_none;
    if (jailed && plan->root_inside && strcmp(plan->root_inside, CK_JAIL_WORK) != 0)
        call->root_at = ck_redact_copy(&plan->arena, plan->root_inside);
    if (plan->shown_count == 0)
        return 0;
    const char **shown = ck_arena_array(&plan->arena, plan->shown_count + 1, sizeof(*shown));
    if (!shown)
        return -ENOMEM;
    for (size_t i = 0; i < plan->shown_count; i++)
        shown[i] = plan->shown[i].real;
    shown[plan->shown_count] = NULL;
    return hide_list(&plan->arena, shown, &call->shown);
}

int ck_audit_write_call(struct choke_job *job, const struct choke_request *request, struct ck_plan *plan,
                        const char *kind)
{
    struct ck_audit *audit = &job->context->audit;
    char digest[CK_DIGEST_SIZE], tool_shown[CK_SECRET_SHOWN_MAX];
    struct ck_audit_limit limits[CK_LIMIT_KEYS];
    struct ck_audit_call call = {
        .caller = caller_of(job),
        .tool_name = plan->tool_name,
        .tool_path = hide_text(tool_shown, plan->tool_path),
        /* execute_fd -1: refused before the tool was opened. */
        .tool_sha256 =
            plan->execute_fd >= 0 ? ck_tooldigest_find(&audit->digests, plan, audit->policy_sha256, digest) : NULL,
        .env = plan->env,
        .policy = &audit->policy,
        .rule = job->result->rule,
        .limits = limits,
        .limits_count = list_limits(&plan->verdict.limits, limits),
        .timeout_ms = plan->verdict.timeout_ms,
        .sandbox = request->sandbox,
        .learn = job->context->learn.session,
        .guard = job->guard ? 0 : audit->guard,
        .begins = strcmp(kind, CK_AUDIT_KIND_GUARD_BEGIN) == 0 ? job->guard : NULL,
    };
    fill_jail(&call, plan);
    /*
     * What the tool gets, with what the policy injects; a refused call may have only the request's.
     */
    if (hide_list(&plan->arena, plan->argv ? plan->argv : request->argv, &call.argv) < 0 ||
        hide_list(&plan->arena, request->egress, &call.egress) < 0 || fill_asked(&call, plan) < 0 ||
        fill_places(&call, plan) < 0)
        return -ENOMEM;
    return write_in_directories(job, request, plan, kind, &call);
}

/* ---- what follows ---- */

int ck_audit_write_egress(struct choke_job *job, const struct ck_gate_event *event)
{
    static const char *const verdicts[] = {[CK_GATE_OPENED] = "allowed",
                                           [CK_GATE_REFUSED] = "refused",
                                           [CK_GATE_FAILED] = "failed",
                                           [CK_GATE_CLOSED] = "closed"};
    struct ck_audit_connection connection = {
        .intent = job->intent,
        .caller = caller_of(job),
        .tool_name = job->result->tool_name,
        .verdict = verdicts[event->verdict],
        .connection = event->connection,
        .protocol = event->protocol,
        .host = event->host,
        .port = event->port,
        .rule = event->rule,
        .address = event->via[0] != '\0' ? NULL : event->address,
        .via = event->via[0] != '\0' ? event->via : NULL,
        .reason = event->reason,
        .secret = event->secret[0] != '\0' ? event->secret : NULL,
        .requests = event->requests,
        .sent_bytes = event->up_bytes,
        .received_bytes = event->down_bytes,
    };
    return ck_body_write_egress(&job->context->audit.record, &connection);
}

/* A tool that exited has no error, whatever its status. */
static struct ck_audit_end end_of(const struct choke_result *result, char shown[CK_SECRET_SHOWN_MAX])
{
    bool has_error = result->error.outcome != CHOKE_NONE;
    return (struct ck_audit_end){.outcome = choke_outcome_name(result->outcome),
                                 .code = has_error ? choke_outcome_name(result->error.outcome) : NULL,
                                 .message = has_error ? hide_text(shown, result->error.message) : NULL};
}

void ck_audit_write_end(struct choke_job *job)
{
    char shown[CK_SECRET_SHOWN_MAX];
    struct ck_audit_end end = end_of(job->result, shown);
    ck_body_write_end(&job->context->audit.record, &end);
}

int ck_audit_write_outcome(struct choke_job *job)
{
    struct ck_stream_hashes *hashes = job->hashes;
    char out_hash[CK_AUDIT_HASH_HEX + 1], err_hash[CK_AUDIT_HASH_HEX + 1], shown[CK_SECRET_SHOWN_MAX];
    struct ck_audit_outcome outcome = {
        .intent = job->intent,
        .caller = caller_of(job),
        .result = job->result,
        .out_hash = end_hash(job, hashes && hashes->has_out ? &hashes->out : NULL, out_hash),
        .err_hash = end_hash(job, hashes && hashes->has_err ? &hashes->err : NULL, err_hash),
        .passed_on = !!job->on_output,
        .handed_over = job->context->audit.guard != 0,
        .ends = job->guard,
        .end = end_of(job->result, shown),
    };
    return ck_body_write_outcome(&job->context->audit.record, &outcome);
}
