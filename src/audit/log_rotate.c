/*
 * log_rotate.c - new files of a log: the first, and the next one when a file has grown large.
 *
 * A new file gets a temporary name, and its first record. Then one system call gives it the log's
 * name. So the file at the log's name always begins with a begin record. And the name always leads
 * to a file: the old file has its second name before the new one replaces the first. A writer that
 * dies in between leaves an unfinished file, which no one reads and which the next writer that
 * opens the log removes under the lock; or a log with two names, which the next rotation completes.
 */
#include "audit/log.h"

#include "audit/name.h"
#include "base/error.h"
#include "base/quote.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#define RANDOM_DIGITS CK_AUDIT_NEW_DIGITS

/* A byte for each digit; half of its bits are not used. digits is at most RANDOM_DIGITS. */
int ck_log_random_hex(char *ret_hex, size_t digits)
{
    static const char hex[] = "0123456789abcdef";
    unsigned char bytes[RANDOM_DIGITS];
    if (getrandom(bytes, digits, 0) != (ssize_t)digits)
        return -EIO;
    for (size_t i = 0; i < digits; i++)
        ret_hex[i] = hex[bytes[i] & 15];
    ret_hex[digits] = '\0';
    return 0;
}

int ck_log_begin(struct ck_log *log, const struct ck_audit_place *place, const char *continues, const char **ret_text,
                 size_t *ret_length, char ret_hash[CK_AUDIT_HASH_HEX + 1])
{
    int r = ck_record_start(&log->own, CK_AUDIT_KIND_BEGIN);
    if (r < 0)
        return r;
    ck_json_word(&log->own.body, "by", "chokepoint " CHOKE_VERSION);
    ck_json_text(&log->own.body, "continues", continues);
    *ret_length = ck_record_seal(&log->own, place, false, ret_text, ret_hash);
    return 0;
}

/* Creates a file with a begin in it, under a temporary name. */
static int make_new(struct ck_log *log, const struct ck_audit_place *place, const char *continues,
                    char name[NAME_MAX + 1])
{
    char random_hex[RANDOM_DIGITS + 1], hash[CK_AUDIT_HASH_HEX + 1];
    const char *text = NULL;
    size_t length = 0;
    int r = ck_log_random_hex(random_hex, RANDOM_DIGITS);
    if (r == 0)
        r = ck_name_new(log->name, random_hex, name);
    if (r == 0)
        r = ck_log_begin(log, place, continues, &text, &length, hash);
    return r < 0 ? r : log->files->make(log->data, name, text, length, log->sync != CHOKE_AUDIT_SYNC_NONE);
}

/* Makes new names durable. Without it a power failure could undo a rotation. */
static void sync_names(struct ck_log *log)
{
    if (log->sync != CHOKE_AUDIT_SYNC_NONE)
        log->files->sync_names(log->data);
}

int ck_log_create(struct ck_log *log, struct choke_error *error)
{
    struct ck_audit_place place = {.prev = CK_AUDIT_FIRST_PREV};
    char name[NAME_MAX + 1];
    int r = log->files->has_rotated(log->data, log->name);
    if (r > 0)
        return ck_error_set(error, CHOKE_SPAWN_FAILED, ENOENT,
                            "'%s' was deleted or moved away, but files that it was rotated into are still there; "
                            "move them away too, and a new log is begun",
                            CK_QUOTE(log->name));
    if (r == 0)
        r = ck_log_random_hex(place.log, CK_AUDIT_LOG_HEX);
    if (r == 0)
        r = make_new(log, &place, NULL, name);
    bool made = r == 0;
    if (made) {
        /* link and not rename: it fails with EEXIST if another writer was first */
        r = log->files->link(log->data, name, log->name);
        log->files->remove(log->data, name);
        sync_names(log);
    }
    /*
     * -ENOENT: another writer was first and has removed our file. The log that is opened next is
     * the other writer's.
     */
    if (r < 0 && r != -EEXIST && !(made && r == -ENOENT))
        return ck_error_set(error, CHOKE_SPAWN_FAILED, -r, "cannot create '%s': %s", CK_QUOTE(log->name),
                            ck_error_text(-r));
    return 0;
}

/* Finds the seq of the file's first record, which is part of its name after the rotation. */
static int read_first(struct ck_log *log)
{
    char text[CK_AUDIT_BEGIN_MAX];
    struct ck_envelope first;
    ssize_t got = log->files->read(log->data, log->fd, text, sizeof(text), 0);
    if (got < 0)
        return (int)got;
    const char *end = memchr(text, '\n', (size_t)got);
    int r = !end ? -EINVAL : ck_line_read(text, (size_t)(end - text), &first);
    if (r == 0)
        log->first_seq = first.seq;
    return r;
}

/*
 * Gives the old file its second name. It may have it already, from a rotation that was interrupted.
 */
static int add_second_name(struct ck_log *log, const char *second)
{
    struct ck_audit_file_state there;
    int r = log->files->link(log->data, log->name, second);
    if (r != -EEXIST)
        return r;
    r = log->files->stat_name(log->data, second, &there);
    if (r < 0)
        return r;
    bool same = there.identity.device == log->identity.device && there.identity.inode == log->identity.inode;
    return same ? 0 : -EEXIST;
}

/*
 * The old file is synced first, also what other writers wrote: after a power failure no one could
 * repair its end, because a later begin follows it.
 */
static int replace_file(struct ck_log *log)
{
    char second[NAME_MAX + 1], name[NAME_MAX + 1];
    struct ck_audit_place place = log->head;
    place.seq++;
    int r = ck_name_rotated(log->name, log->first_seq, second);
    if (r == 0 && log->sync != CHOKE_AUDIT_SYNC_NONE)
        r = log->files->sync(log->data, log->fd);
    if (r == 0)
        r = add_second_name(log, second);
    if (r == 0)
        r = make_new(log, &place, second, name);
    if (r < 0)
        return r;
    /* From here on other writers find that the name leads to another file, and open that. */
    r = log->files->rename(log->data, name, log->name);
    if (r < 0)
        log->files->remove(log->data, name);
    else
        sync_names(log);
    return r;
}

int ck_log_rotate(struct ck_log *log)
{
    int r = log->first_seq == UINT64_MAX ? read_first(log) : 0;
    if (r == 0 && log->head.seq == log->first_seq)
        return 0; /* the file is still empty */
    if (r == 0 && log->newline_first)
        return 0; /* the next record writes the newline first */
    if (r == 0)
        r = replace_file(log);
    if (r == 0)
        return 1;
    /* Not fatal: the file grows on, and the caller reports the error. */
    log->rotation_failed = true;
    log->rotation_error = r;
    return 0;
}
