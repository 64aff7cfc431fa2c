/*
 * lock.c - writes the files of a policy's tools to a lock file, and later reports what has changed
 * (R7).
 *
 * Nothing comes from the cache: a lock must detect what a cache could hide.
 */
#include "api/readiness.h"

#include "base/atomic_file.h"
#include "base/error.h"
#include "base/fd.h"
#include "base/file.h"
#include "base/quote.h"
#include "ready/lockfile.h"
#include "sys/statefile.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The public struct is first: freeing the report frees the box. */
struct lock_box {
    struct choke_lock_report report;  /* what the caller gets */
    struct ck_arena text;             /* the array of drifts */
    struct ck_lockfile before, after; /* drifts point into these */
};

/*
 * JSON holds UTF-8 only; other bytes are written escaped. An escaped byte is \xNN, four bytes, so
 * the buffer is always large enough. NULL for NULL, and when out of memory.
 */
static const char *copy_escaped(struct ck_lockfile *lock, const char *text)
{
    size_t length = text ? strlen(text) : 0;
    if (!text || ck_quote_utf8_valid(text, length))
        return text ? ck_arena_memdup(&lock->arena, text, length) : NULL;
    char *escaped = ck_arena_alloc(&lock->arena, length * 4 + 1);
    return escaped ? ck_quote(escaped, length * 4 + 1, text, length) : NULL;
}

/*
 * Copies the parts of one role. A part that was not found has no path; one that cannot be read has
 * no digest. Both are in the lock, so that a later change of that is a drift.
 */
static int take_parts(struct ck_lockfile *lock, const struct ck_readiness_tool *tool, enum ck_part_role role,
                      struct ck_lockfile_files *files)
{
    /* Room for all parts, of which some have the other role: an arena cannot grow an array. */
    files->items = ck_arena_array(&lock->arena, tool->parts_count + 1, sizeof(*files->items));
    if (!files->items)
        return -ENOMEM;
    for (size_t i = 0; i < tool->parts_count; i++) {
        const struct ck_part *part = &tool->parts[i];
        if (part->role != role)
            continue;
        const char *sha256 = part->sha256[0] != '\0' ? part->sha256 : NULL;
        struct ck_lockfile_file *file = &files->items[files->count++];
        *file = (struct ck_lockfile_file){.name = copy_escaped(lock, part->name),
                                          .path = copy_escaped(lock, part->path),
                                          .sha256 = copy_escaped(lock, sha256)};
        if (!file->name || (part->path && !file->path) || (sha256 && !file->sha256))
            return -ENOMEM;
    }
    return 0;
}

/*
 * Copied, because the readiness is freed before the lock is used. path is set for every tool that
 * was opened.
 */
static int take_tool(struct ck_lockfile *lock, const struct ck_readiness_tool *tool)
{
    struct ck_lockfile_tool *entry = &lock->tools[lock->count++];
    *entry = (struct ck_lockfile_tool){
        .name = copy_escaped(lock, tool->tool->name),
        .path = copy_escaped(lock, tool->path),
        .version = copy_escaped(lock, tool->version),
        .sha256 = copy_escaped(lock, tool->sha256),
    };
    if (!entry->name || !entry->path || (tool->version && !entry->version) || (tool->sha256 && !entry->sha256))
        return -ENOMEM;
    int r = take_parts(lock, tool, CK_PART_INTERPRETER, &entry->interpreters);
    return r < 0 ? r : take_parts(lock, tool, CK_PART_LIBRARY, &entry->libraries);
}

/* A tool that was not opened is not in a lock: it is missing, or a run of it would be refused. */
static int make_lock(struct choke_context *context, struct ck_lockfile *lock, struct choke_error *error)
{
    /* cache stays NULL: see above. want_parts: every file is hashed. */
    struct ck_readiness readiness = {.context = context, .want_parts = true};
    int r = ck_readiness_check(&readiness, error);
    if (r == 0) {
        lock->tools = ck_arena_array(&lock->arena, readiness.count + 1, sizeof(*lock->tools));
        r = !lock->tools ? -ENOMEM : 0;
        for (size_t i = 0; r == 0 && i < readiness.count; i++)
            if (readiness.tools[i].parts)
                r = take_tool(lock, &readiness.tools[i]);
        if (r < 0)
            (void)ck_error_oom(error);
    }
    ck_readiness_done(&readiness);
    /*
     * ck_lockfile_format and ck_lockfile_compare need a sorted lock. After a failure it has fewer
     * tools, and is only freed.
     */
    ck_lockfile_sort(lock);
    return r;
}

static int fail_write(const char *path, int errnum, struct choke_error *error)
{
    return ck_error_set(error, CHOKE_INVALID, errnum, "cannot write lock file '%s': %s", CK_QUOTE(path),
                        strerror(errnum));
}

/* Replaces the file as a whole. 0666 is cut by the umask. */
static int write_text(const struct ck_lockfile *lock, const char *path, struct choke_error *error)
{
    char *text = ck_lockfile_format(lock);
    if (!text)
        return ck_error_oom(error);
    size_t length = strlen(text);
    text[length] = '\n'; /* replaces the NUL: from here on only the length is used */
    int r = ck_atomic_file_write(AT_FDCWD, path, 0666, text, length + 1);
    free(text);
    return r < 0 ? fail_write(path, -r, error) : 0;
}

/* The file is replaced, whatever it is: it must not be the log of a caller who is bound. */
static int check_place(const struct choke_context *context, const char *path, struct choke_error *error)
{
    CK_FD fd = ck_file_open_parent(AT_FDCWD, path);
    return fd < 0 ? fail_write(path, -fd, error) : choke_locked_directory(context, fd, error);
}

/* The number of tools in the lock, or a negative errno. */
int choke_lock_write(struct choke_context *context, const char *path, struct choke_error *error)
{
    struct ck_lockfile lock = {0};
    int r = ck_context_renew(context, error);
    if (r < 0)
        return r;
    if (!path || path[0] == '\0')
        return ck_error_set(error, CHOKE_INVALID, EINVAL, "a path for the lock file is required");
    r = make_lock(context, &lock, error);
    if (r == 0)
        r = check_place(context, path, error);
    if (r == 0)
        r = write_text(&lock, path, error);
    int count = lock.count > INT_MAX ? INT_MAX : (int)lock.count;
    /* count is read first; this clears the lock. */
    ck_lockfile_done(&lock);
    return r < 0 ? r : count;
}

/* Any owner is accepted, because a lock allows nothing: it is only compared with. */
static int read_lock(const char *path, struct ck_lockfile *ret_lock, struct choke_error *error)
{
    struct choke_error found = {0};
    char *text = NULL;
    size_t length = 0;
    int r = ck_statefile_read_named(path, CK_LOCKFILE_MAX_BYTES, &text, &length, &found);
    if (r < 0)
        return ck_error_set(error, CHOKE_INVALID, -r, "cannot read lock file: %s", found.message);
    r = ck_lockfile_parse(text, length, ret_lock, &found);
    free(text);
    if (r < 0)
        return ck_error_set(error, CHOKE_INVALID, -r, "cannot use lock file '%s': %s", CK_QUOTE(path), found.message);
    return 0;
}

/* The file is read first: if it is not valid, no tool is run for its version. */
static int check(struct choke_context *context, const char *path, struct lock_box *box, struct choke_error *error)
{
    struct choke_drift *drifts = NULL;
    int r = read_lock(path, &box->before, error);
    if (r == 0)
        r = make_lock(context, &box->after, error);
    if (r < 0)
        return r;
    r = ck_lockfile_compare(&box->before, &box->after, &box->text, &drifts, &box->report.drift_count);
    box->report.drifts = drifts;
    /* those of the lock, not those that are here now */
    box->report.tool_count = box->before.count;
    return r < 0 ? ck_error_oom(error) : 0;
}

int choke_lock_check(struct choke_context *context, const char *path, struct choke_lock_report **ret_report,
                     struct choke_error *error)
{
    int r = ck_context_renew(context, error);
    if (r < 0)
        return r;
    if (!path || !ret_report)
        return ck_error_set(error, CHOKE_INVALID, EINVAL, "a lock file and a pointer for the report are required");
    struct lock_box *box = calloc(1, sizeof(*box));
    if (!box)
        return ck_error_oom(error);
    r = check(context, path, box, error);
    if (r < 0)
        choke_lock_report_free(&box->report);
    else
        *ret_report = &box->report;
    return r;
}

void choke_lock_report_free(struct choke_lock_report *report)
{
    if (!report)
        return;
    struct lock_box *box = (struct lock_box *)report;
    ck_lockfile_done(&box->before);
    ck_lockfile_done(&box->after);
    ck_arena_done(&box->text);
    free(box);
}
