/*
 * log.c - appends a record to the log under its lock. See log.h.
 *
 * Theory of operation. A record has the hash of the one before. So to append is to read the end and
 * to write after it, with no one in between. The lock is on the log's own file. Under the lock,
 * three questions are asked before anything is written:
 *
 *   Does the name still lead to this file?  The file may have been rotated while we waited for the
 *     lock. Then the name leads to another file, which is opened instead. If it leads nowhere, the
 *     log was removed; we do not create it again.
 *   Is its size what our last record left?  Then our record is the last. Else read the end.
 *   Does the end continue what we have seen?  A log that went back is not written to.
 *
 * Must: every byte goes in by one append per record, under the lock, after a record that we have
 * read or written.
 * Must not: truncate, overwrite, or continue after a line that was edited.
 *
 * A writer may die at any step. Before its append it leaves nothing. In the middle it leaves a torn
 * tail, and the next writer vouches for it with a repair. After it there is a record. The kernel
 * releases the lock. docs/adr/0027 has the reasons, and tests/unit/test_log_schedules.c goes
 * through every order of the steps of several writers.
 */
#include "audit/log.h"

#include "audit/tail.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/fd.h"
#include "base/quote.h"

#include <errno.h>
#include <sodium/crypto_generichash.h>
#include <stdlib.h>
#include <string.h>

/*
 * A holder needs the lock for one record or one rotation only: after this long something is wrong.
 */
#define LOCK_TIMEOUT_NS (5 * CK_NS_PER_S)
/* With batched durability an append also syncs if the last sync is this long ago. */
#define BATCH_NS CK_NS_PER_S
#define REOPEN_MAX 64 /* each is one rotation by another writer */
/*
 * The small read is enough for an ordinary last record, and is on the stack. The large one has room
 * for a record with the longest torn tail.
 */
#define SMALL_READ_BYTES ((size_t)4096)
#define LARGE_READ_BYTES (CK_AUDIT_TORN_MAX + 2 * CK_AUDIT_LINE_MAX)

/*
 * The result of one step of an append: 0: continue, 1: begin again with the file that the name
 * leads to.
 */
#define RETRY 1

void ck_log_init(struct ck_log *log, const struct ck_audit_file_ops *files, void *data, const char *name)
{
    *log = (struct ck_log){
        .files = files, .data = data, .name = name, .fd = -1, .first_seq = UINT64_MAX, .synced_ns = ck_clock_now_ns()};
}

void ck_log_forget(struct ck_log *log)
{
    if (log->fd >= 0)
        log->files->close(log->data, &log->fd);
    ck_record_done(&log->own);
}

void ck_log_done(struct ck_log *log)
{
    if (log->sync != CHOKE_AUDIT_SYNC_NONE)
        (void)ck_log_sync(log, NULL);
    ck_log_forget(log);
}

static int fail(const struct ck_log *log, struct choke_error *error, int r, const char *why)
{
    return ck_error_set(error, CHOKE_SPAWN_FAILED, -r, "'%s' %s", CK_QUOTE(log->name), why);
}

static int fail_errno(const struct ck_log *log, struct choke_error *error, int r, const char *doing)
{
    return ck_error_set(error, CHOKE_SPAWN_FAILED, -r, "cannot %s '%s': %s", doing, CK_QUOTE(log->name),
                        ck_error_text(-r));
}

/* head and seen stay: the next file must continue them. */
static void close_file(struct ck_log *log)
{
    log->files->close(log->data, &log->fd);
    log->known = false;
    log->rotation_failed = false;
    log->is_swept = false;
    log->first_seq = UINT64_MAX;
}

/* ---- durability ---- */

int ck_log_sync(struct ck_log *log, struct choke_error *error)
{
    if (!log->unsynced || log->fd < 0)
        return 0;
    int r = log->files->sync(log->data, log->fd);
    /* also after a failure: with batched durability the next try comes a batch later */
    log->synced_ns = ck_clock_now_ns();
    if (r < 0)
        return fail_errno(log, error, r, "sync");
    log->unsynced = false;
    return 0;
}

/* There is no timer: what was appended last is synced by a later append, or by ck_log_done. */
static int sync_if_due(struct ck_log *log, struct choke_error *error)
{
    bool due = log->sync == CHOKE_AUDIT_SYNC_BATCHED && ck_clock_now_ns() - log->synced_ns >= BATCH_NS;
    return due ? ck_log_sync(log, error) : 0;
}

/* ---- the end of the log ---- */

/*
 * A log that others write to only grows. One with another name, a lower seq or another hash was
 * replaced.
 */
static int check_continuity(const struct ck_log *log, const struct ck_envelope *last, struct choke_error *error)
{
    if (!log->seen)
        return 0;
    bool same = strcmp(last->log, log->head.log) == 0;
    bool ahead = last->seq > log->head.seq || (last->seq == log->head.seq && strcmp(last->hash, log->head.prev) == 0);
    return same && ahead
               ? 0
               : fail(log, error, -ESTALE,
                      same ? "ends before records that it already had; run 'chokepoint audit verify' to see where"
                           : "was replaced by another log while it was in use");
}

/* Remembers the last record as the head. */
static void take_head(struct ck_log *log, const struct ck_envelope *last, uint64_t size)
{
    memcpy(log->head.log, last->log, sizeof(log->head.log));
    memcpy(log->head.prev, last->hash, sizeof(log->head.prev));
    log->head.seq = last->seq;
    log->size = size;
    log->known = true;
    log->seen = true;
}

/*
 * One append. A partial write is a torn tail; the next append finds it, because it reads the end
 * again.
 */
static int put(struct ck_log *log, const char *text, size_t length, struct choke_error *error)
{
    ssize_t written = log->files->append(log->data, log->fd, text, length);
    if (written == (ssize_t)length) {
        log->size += length;
        log->newline_first = false;
        log->unsynced = true;
        return 0;
    }
    log->known = false;
    if (written < 0)
        return fail_errno(log, error, (int)written, "write to");
    return fail(log, error, -ENOSPC, "was written only in part; is the disk full?");
}

/* Seals a record to follow the head, and makes it the head. */
static int put_record(struct ck_log *log, struct ck_record *record, struct choke_error *error)
{
    struct ck_audit_place place = log->head;
    char hash[CK_AUDIT_HASH_HEX + 1];
    const char *text;
    if (++place.seq > CK_AUDIT_SEQ_MAX)
        return fail(log, error, -EOVERFLOW, "has no number left for another record");
    size_t length = ck_record_seal(record, &place, log->newline_first, &text, hash);
    int r = put(log, text, length, error);
    if (r < 0)
        return r;
    memcpy(place.prev, hash, sizeof(place.prev));
    log->head = place;
    return 0;
}

/* The hash of the torn bytes and of the newline that ends them. */
static void hash_torn(const struct ck_tail *tail, bool ended, char ret_hex[CK_AUDIT_HASH_HEX + 1])
{
    crypto_generichash_state state;
    unsigned char digest[CK_AUDIT_HASH_BYTES];
    (void)crypto_generichash_init(&state, NULL, 0, sizeof(digest));
    (void)crypto_generichash_update(&state, (const unsigned char *)tail->torn, tail->torn_length);
    if (!ended)
        (void)crypto_generichash_update(&state, (const unsigned char *)"\n", 1);
    (void)crypto_generichash_final(&state, digest, sizeof(digest));
    ck_line_hex(digest, ret_hex);
}

/*
 * Appends a repair for the torn tail. If the tail has no newline, the repair writes one first, and
 * vouches for it too.
 */
static int repair(struct ck_log *log, const struct ck_tail *tail, struct choke_error *error)
{
    char hash[CK_AUDIT_HASH_HEX + 1];
    bool ended = tail->torn[tail->torn_length - 1] == '\n';
    size_t length = tail->torn_length + (ended ? 0 : 1);
    hash_torn(tail, ended, hash);
    if (ck_record_start(&log->own, CK_AUDIT_KIND_REPAIR) < 0)
        return ck_error_oom(error);
    ck_json_number(&log->own.body, "torn_bytes", length);
    ck_json_word(&log->own.body, "torn_hash", hash);
    ck_json_word(&log->own.body, "reason", "a write did not get to its end");
    log->newline_first = !ended;
    int r = put_record(log, &log->own, error);
    if (r == 0)
        log->repaired_bytes += length;
    return r;
}

/* Searches the last bytes of the file for the last record. */
static int find_tail(struct ck_log *log, uint64_t size, char *buffer, size_t length, struct ck_tail *ret_tail)
{
    ssize_t got = log->files->read(log->data, log->fd, buffer, length, size - length);
    if (got < 0)
        return (int)got;
    return (size_t)got < length ? -EIO : ck_tail_find(buffer, length, length == size, ret_tail);
}

/* The end of the file is known: checks that it continues what we know, and repairs it if needed. */
static int take_tail(struct ck_log *log, uint64_t size, const struct ck_tail *tail, struct choke_error *error)
{
    int r = check_continuity(log, &tail->last, error);
    if (r < 0)
        return r;
    take_head(log, &tail->last, size);
    log->newline_first = tail->unterminated;
    return tail->torn_length == 0 ? 0 : repair(log, tail, error);
}

/* -EBADMSG and -EAGAIN are results of ck_tail_find; any other is of the read. */
static int fail_tail(const struct ck_log *log, struct choke_error *error, int r)
{
    if (r == -EBADMSG)
        return fail(log, error, r, "ends with an edited record; run 'chokepoint audit verify' on it, and move it away");
    if (r == -EAGAIN)
        return fail(log, error, -EBADMSG,
                    "does not end as an audit log does; name another file, or move this one away");
    return fail_errno(log, error, r, "read");
}

/* Reads the end of the file: first a little, then as much as can be torn. */
static int read_tail(struct ck_log *log, uint64_t size, struct choke_error *error)
{
    char small_buffer[SMALL_READ_BYTES];
    struct ck_tail tail;
    int r = find_tail(log, size, small_buffer, size < SMALL_READ_BYTES ? (size_t)size : SMALL_READ_BYTES, &tail);
    if (r == 0)
        return take_tail(log, size, &tail, error);
    if (r != -EAGAIN || size <= SMALL_READ_BYTES)
        return fail_tail(log, error, r);
    char *large_buffer = malloc(LARGE_READ_BYTES);
    if (!large_buffer)
        return ck_error_oom(error);
    r = find_tail(log, size, large_buffer, size < LARGE_READ_BYTES ? (size_t)size : LARGE_READ_BYTES, &tail);
    r = r == 0 ? take_tail(log, size, &tail, error) : fail_tail(log, error, r);
    free(large_buffer);
    return r;
}

/* ---- the steps ---- */

/*
 * RETRY after a log was created: it is opened by its name, because another writer may have been
 * first.
 */
static int open_file(struct ck_log *log, struct choke_error *error)
{
    struct ck_audit_file_state state;
    int r = log->files->open(log->data, log->name, &log->fd, &state, error);
    if (r == 0)
        log->identity = state.identity;
    if (r != -ENOENT)
        return r;
    if (log->seen)
        return fail(log, error, -ENOENT, "was deleted or moved away while it was in use");
    r = ck_log_create(log, error);
    return r < 0 ? r : RETRY;
}

/* The clock is read only if the lock is not free at once. */
static int take_lock(struct ck_log *log, struct choke_error *error)
{
    int r = log->files->lock(log->data, log->fd);
    uint64_t deadline = r == 0 ? 0 : ck_clock_now_ns() + LOCK_TIMEOUT_NS;
    for (unsigned tried = 0; r == -EWOULDBLOCK && ck_clock_now_ns() < deadline; tried++) {
        log->files->backoff(log->data, tried);
        r = log->files->lock(log->data, log->fd);
    }
    if (r == -EWOULDBLOCK)
        return fail(log, error, r, "is locked by another process; try again");
    return r < 0 ? fail_errno(log, error, r, "lock") : 0;
}

/*
 * A file that an administrator created empty, to set the append-only attribute before the first
 * record.
 */
static int begin_empty(struct ck_log *log, struct choke_error *error)
{
    struct ck_audit_place place = {.prev = CK_AUDIT_FIRST_PREV};
    const char *text = NULL;
    size_t length = 0;
    if (log->seen)
        return fail(log, error, -ESTALE, "was emptied while it was in use");
    log->size = 0;
    log->newline_first = false;
    int r = ck_log_random_hex(place.log, CK_AUDIT_LOG_HEX);
    if (r == 0)
        r = ck_log_begin(log, &place, NULL, &text, &length, place.prev);
    if (r < 0)
        return fail_errno(log, error, r, "begin");
    r = put(log, text, length, error);
    if (r < 0)
        return r;
    log->head = place;
    log->known = log->seen = true;
    return 0;
}

/* Under the lock: the name leads to this file, and its end is known. */
static int prepare_file(struct ck_log *log, struct choke_error *error)
{
    struct ck_audit_file_state now;
    int r = log->files->stat_name(log->data, log->name, &now);
    if (r < 0 && r != -ENOENT)
        return fail_errno(log, error, r, "look at");
    bool same = r == 0 && now.identity.device == log->identity.device && now.identity.inode == log->identity.inode;
    if (!same)
        return RETRY;
    if (!log->is_swept)
        log->files->sweep(log->data, log->name);
    log->is_swept = true;
    if (now.size == 0)
        return begin_empty(log, error);
    r = log->known && now.size == log->size ? 0 : read_tail(log, now.size, error);
    if (r < 0)
        return r;
    bool large = log->max_bytes != 0 && log->size >= log->max_bytes && !log->rotation_failed;
    return large && ck_log_rotate(log) > 0 ? RETRY : 0;
}

/*
 * Changes to the file that the name leads to now. First makes the old file as durable as it would
 * have been.
 */
static int leave_file(struct ck_log *log, struct choke_error *error)
{
    int r = log->sync != CHOKE_AUDIT_SYNC_NONE ? ck_log_sync(log, error) : 0;
    log->unsynced = false;
    close_file(log);
    return r < 0 ? r : RETRY;
}

/* One try. The lock is released before another file is opened: a writer never holds two locks. */
static int append_once(struct ck_log *log, struct ck_record *record, struct choke_error *error)
{
    int r = log->fd < 0 ? open_file(log, error) : 0;
    if (r != 0)
        return r;
    r = take_lock(log, error);
    if (r < 0)
        return r;
    r = prepare_file(log, error);
    if (r == 0)
        r = put_record(log, record, error);
    log->files->unlock(log->data, log->fd);
    return r == RETRY ? leave_file(log, error) : r;
}

int ck_log_append(struct ck_log *log, struct ck_record *record, uint64_t *ret_seq, struct choke_error *error)
{
    int r = RETRY;
    for (int i = 0; r == RETRY && i < REOPEN_MAX; i++)
        r = append_once(log, record, error);
    if (r == RETRY)
        return fail(log, error, -EBUSY, "was replaced too many times; try again");
    if (r < 0)
        return r;
    uint64_t seq = log->head.seq;
    r = sync_if_due(log, error);
    if (r < 0)
        return r;
    *ret_seq = seq;
    return 0;
}
