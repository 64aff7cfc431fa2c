/*
 * audit.c - when a call is recorded in the audit log, and what happens if it cannot be. See
 * audit.h.
 *
 * The first call that has something to record opens the log, so a context that only explains needs
 * none. If that fails, the next call tries again: when a full disk has space again, calls run
 * again.
 */
#include "api/context.h"

#include "api/audit_place.h"
#include "api/readiness.h"
#include "base/error.h"
#include "base/quote.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NO_RECORD_HINT "no record, no run%s"
#define NO_AUDIT_HINT "; --no-audit runs without one"

/* ---- open and close ---- */

/*
 * The log must not move when the program changes its directory: it is opened with the first record.
 * noinline: its callers have paths on the stack, too.
 */
__attribute__((noinline)) static const char *absolute(struct ck_arena *arena, const char *path)
{
    char here[PATH_MAX];
    if (path[0] == '/')
        return ck_arena_strdup(arena, path);
    return getcwd(here, sizeof(here)) ? ck_arena_printf(arena, "%s/%s", strcmp(here, "/") == 0 ? "" : here, path)
                                      : NULL;
}

/* Without a default path the call fails: it must not run silently without a record. */
static int find_usual(char ret_path[PATH_MAX], struct choke_error *error)
{
    struct choke_error cause;
    int r = ck_audit_place_usual(ret_path, &cause);
    return r == 0 ? 0
                  : ck_error_set(error, CHOKE_SPAWN_FAILED, cause.errnum,
                                 "%s; name one with --audit FILE, or run without one with --no-audit", cause.message);
}

/*
 * A caller whom the machine's policy binds has one log. What was asked for in its place refuses
 * every run, and that is recorded here. Without a home there is no log: then nothing runs at all.
 * noinline, as above: two paths fill a frame (base/heap.h).
 */
__attribute__((noinline)) static int find_locked(struct choke_context *context, const struct choke_options *options,
                                                 struct choke_error *error)
{
    struct ck_machine *machine = &context->machine;
    struct ck_audit *audit = &context->audit;
    struct choke_error cause = {0};
    char place[PATH_MAX], home[PATH_MAX];
    int r = ck_audit_place_locked(machine->uid, home, place, &cause);
    if (r == -ENOENT) {
        machine->rules.refusal = cause;
        return 0;
    }
    if (r < 0) {
        if (error)
            *error = cause;
        return r;
    }
    const char *asked = options->audit_path ? absolute(&context->text, options->audit_path) : NULL;
    audit->path = ck_arena_strdup(&context->text, place);
    machine->home = ck_arena_strdup(&context->text, home);
    audit->digests.home = machine->home;
    if (!audit->path || !machine->home || (options->audit_path && !asked))
        return ck_error_oom(error);
    if (options->audit_log == CHOKE_AUDIT_OFF)
        ck_machine_refuse(machine, "to run without an audit log is refused to all but root; leave --no-audit out");
    else if (asked && strcmp(asked, place) != 0)
        ck_machine_refuse(machine, "another audit log is refused to all but root; leave --audit out");
    /* The size at which it is rotated is the caller's: no record is lost by a rotation. */
    else if (options->audit_sync == CHOKE_AUDIT_SYNC_NONE)
        ck_machine_refuse(machine, "records that are never synced are refused to all but root; "
                                   "leave --audit-sync none out");
    return 0;
}

/* audit->path stays NULL where nothing is recorded. */
static int find_path(struct choke_context *context, const struct choke_options *options, struct choke_error *error)
{
    char usual[PATH_MAX];
    const char *path = options->audit_path;
    if (context->machine.bound)
        return find_locked(context, options, error);
    if (options->audit_log == CHOKE_AUDIT_DEFAULT) {
        int r = find_usual(usual, error);
        if (r < 0)
            return r;
        path = usual;
    }
    context->audit.path = path ? absolute(&context->text, path) : NULL;
    return path && !context->audit.path ? ck_error_oom(error) : 0;
}

int ck_audit_init(struct choke_context *context, const struct choke_options *options, struct choke_error *error)
{
    struct ck_audit *audit = &context->audit;
    const char *path = options->audit_path;
    if ((path && (path[0] == '\0' || options->audit_log != CHOKE_AUDIT_NAMED)) ||
        options->audit_log > CHOKE_AUDIT_OFF || options->audit_sync > CHOKE_AUDIT_SYNC_NONE)
        return ck_error_set(error, CHOKE_INVALID, EINVAL,
                            "an audit log needs a path and a valid audit_sync; audit_log is for a context without one");
    int found = find_path(context, options, error);
    if (found < 0 || !audit->path)
        return found;
    audit->sync = options->audit_sync;
    audit->max_bytes = options->audit_max_bytes;
    /* Records of several contexts may be in one log; the random id says which belong together. */
    int r = ck_log_random_hex(audit->id, CK_AUDIT_LOG_HEX);
    return r == 0 ? 0 : ck_error_set(error, CHOKE_SPAWN_FAILED, -r, "cannot get random bytes for the audit log");
}

/* In a fork of the owner nothing is synced or unlocked: see ck_log_forget. */
void ck_audit_done(struct choke_context *context, bool owner)
{
    struct ck_audit *audit = &context->audit;
    if (audit->open && owner)
        ck_log_done(&audit->log);
    else if (audit->open)
        ck_log_forget(&audit->log);
    ck_audit_directory_done(&audit->directory);
    ck_record_done(&audit->record);
    free(audit->root);
    free(audit->policy.json);
}

/*
 * The log is only named here; ck_log_append opens or creates the file. What does not change between
 * records is computed once.
 */
static int open_log(struct choke_context *context, struct choke_error *error)
{
    struct ck_audit *audit = &context->audit;
    const char *name;
    /*
     * "" until the first record: hashing the policy is not needed by a context that runs nothing.
     */
    if (audit->policy_sha256[0] == '\0') {
        ck_readiness_policy_digest(context, audit->policy_sha256);
        audit->policy.sha256 = audit->policy_sha256;
        const char *file = context->from_file ? context->policy->file : NULL;
        if (file)
            audit->policy.path = ck_secret_show(audit->policy_shown, file, ck_secret_kind(file));
        ck_line_hash("", 0, audit->empty_hash);
    }
    /* Opens nothing if it is already open, and only returns the name. */
    int r = ck_audit_directory_open(&audit->directory, audit->path, &name, error);
    if (r < 0 || audit->open)
        return r;
    ck_log_init(&audit->log, &ck_audit_real_files, &audit->directory, name);
    audit->log.sync = audit->sync;
    audit->log.max_bytes = audit->max_bytes;
    audit->open = true;
    return 0;
}

bool ck_audit_waits(const struct choke_context *context)
{
    return context->audit.path && context->audit.sync == CHOKE_AUDIT_SYNC_EVERY;
}

/* ---- records ---- */

/* Reports what happened to the log during an append. Each is reported once, so it is cleared. */
static void report_log_events(const struct choke_context *context, struct ck_log *log)
{
    if (log->repaired_bytes != 0)
        ck_event_repaired(context, log->repaired_bytes);
    if (log->rotation_error != 0)
        ck_event_unrotated(context, strerror(-log->rotation_error));
    log->repaired_bytes = 0;
    log->rotation_error = 0;
}

/*
 * Adds the record in audit->record to the log. There is one record buffer per context, so it is
 * filled and appended at once.
 */
static int append(struct choke_context *context, uint64_t *ret_seq, struct choke_error *error)
{
    struct ck_audit *audit = &context->audit;
    int r = ck_log_append(&audit->log, &audit->record, ret_seq, error);
    report_log_events(context, &audit->log);
    return r;
}

/* Writes an intent, or a refusal with its end in the same record: nothing else follows it. */
static int record_call(struct choke_job *job, const struct choke_request *request, struct ck_plan *plan, bool refused,
                       struct choke_error *error)
{
    uint64_t seq;
    int r = open_log(job->context, error);
    if (r < 0)
        return r;
    const char *kind = refused ? CK_AUDIT_KIND_REFUSED : job->guard ? CK_AUDIT_KIND_GUARD_BEGIN : CK_AUDIT_KIND_INTENT;
    if (ck_audit_write_call(job, request, plan, kind) < 0)
        return ck_error_oom(error);
    if (refused)
        ck_audit_write_end(job);
    r = append(job->context, &seq, error);
    if (r == 0 && !refused)
        job->intent = seq;
    if (r == 0 && !refused && job->guard)
        job->context->audit.guard = seq;
    return r;
}

/*
 * The message of the log, and what it means for the call. SPAWN_FAILED, whatever the cause: nothing
 * runs without its record.
 */
static int fail_unrecorded(const struct choke_context *context, const struct choke_error *cause,
                           struct choke_error *error)
{
    return ck_error_set(error, CHOKE_SPAWN_FAILED, cause->errnum,
                        "the call cannot be recorded in '%s': %s (" NO_RECORD_HINT ")", CK_QUOTE(context->audit.path),
                        cause->message, context->machine.bound ? "" : NO_AUDIT_HINT);
}

/* Is the log beneath the directory of --keep? A file that the tool made could replace it. */
static bool is_kept_over(const struct ck_audit *audit, const struct ck_keep_target *keep)
{
    struct stat status;
    /* Without a name the directory exists; a new one may have been made with the log. */
    int r = keep->name ? fstatat(keep->fd, keep->name, &status, AT_SYMLINK_NOFOLLOW) : fstat(keep->fd, &status);
    const struct ck_identity identity = {.device = status.st_dev, .inode = status.st_ino};
    return r == 0 && ck_trust_passes(&audit->directory.place, identity);
}

/*
 * A log that the tool could write to proves nothing about the tool. Without a jail the tool can
 * write wherever the caller can, so the place does not matter. With ro and overlay it writes
 * nothing into the root itself.
 */
static int check_place(const struct choke_context *context, const struct ck_plan *plan,
                       const struct ck_audit_guard *guard, struct choke_error *error)
{
    const struct ck_audit *audit = &context->audit;
    if (plan->keep.fd >= 0 && is_kept_over(audit, &plan->keep))
        return ck_error_set(error, CHOKE_SPAWN_FAILED, EPERM,
                            "the audit log '%s' is where changes would be kept; name another directory with --keep",
                            CK_QUOTE(audit->path));
    for (size_t i = 0; guard && i < guard->writable_count; i++)
        if (ck_trust_passes(&audit->directory.place, guard->writable[i]))
            return ck_error_set(error, CHOKE_SPAWN_FAILED, EPERM,
                                "the audit log '%s' is in a directory that '%s' may write; move it elsewhere",
                                CK_QUOTE(audit->path), plan->tool_name);
    bool writable = plan->jail.jail != &ck_jail_none && plan->workspace == CK_WORKSPACE_RW;
    if (!writable || !ck_trust_passes(&audit->directory.place, plan->root))
        return 0;
    return ck_error_set(error, CHOKE_SPAWN_FAILED, EPERM,
                        "the audit log '%s' is inside the root, where '%s' may write; move it elsewhere",
                        CK_QUOTE(audit->path), plan->tool_name);
}

int ck_audit_intent(struct choke_job *job, const struct choke_request *request, struct ck_plan *plan,
                    struct choke_error *error)
{
    struct choke_error cause;
    struct choke_context *context = job->context;
    if (!context->audit.path)
        return 0;
    int r = open_log(context, &cause);
    /* unrecorded is not set for this one: the log works, so the refusal can be recorded. */
    if (r == 0 && check_place(context, plan, job->guard, error) < 0)
        return -EPERM;
    if (r == 0)
        r = record_call(job, request, plan, false, &cause);
    if (r < 0) {
        job->result->unrecorded = true;
        return fail_unrecorded(context, &cause, error);
    }
    /* From here on the job owes the log an outcome. */
    job->has_intent = true;
    /* Only for recorded runs: the hashes go into the outcome. */
    ck_audit_hook_output(job);
    return 0;
}

void ck_audit_unrecorded(struct choke_job *job, const struct choke_error *error)
{
    job->result->unrecorded = true;
    ck_event_unrecorded(job, error->message);
}

void ck_audit_refused(struct choke_job *job, const struct choke_request *request, struct ck_plan *plan)
{
    struct choke_error error = {0};
    if (job->context->audit.path && record_call(job, request, plan, true, &error) < 0)
        ck_audit_unrecorded(job, &error);
}

/*
 * Appends a record that follows an intent. It is too late to refuse, because the tool may have run.
 * So a failure is only reported.
 */
static void record_after_intent(struct choke_job *job, int written)
{
    struct choke_error error;
    uint64_t seq;
    int r = written < 0 ? ck_error_oom(&error) : append(job->context, &seq, &error);
    if (r < 0)
        ck_audit_unrecorded(job, &error);
}

void ck_audit_outcome(struct choke_job *job)
{
    if (job->has_intent)
        record_after_intent(job, ck_audit_write_outcome(job));
    /* A call that is made now would be of no guard that is open. */
    if (job->guard)
        job->context->audit.guard = 0;
}

void ck_audit_egress(struct choke_job *job, const struct ck_gate_event *event)
{
    if (job->has_intent)
        record_after_intent(job, ck_audit_write_egress(job, event));
}

int ck_audit_sync(struct choke_context *context, struct choke_error *error)
{
    struct choke_error cause = {0};
    /* Not open: nothing was recorded yet. */
    int r = context->audit.open ? ck_log_sync(&context->audit.log, &cause) : 0;
    return r < 0 ? fail_unrecorded(context, &cause, error) : 0;
}
