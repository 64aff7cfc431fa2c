/*
 * audit_read.c - the reader's side of the log: verify it, get its head, make keys. No context is
 * needed. The log is never changed; only a new key pair is written.
 */
#include "api/versioned.h"
#include "audit/complete.h"
#include "audit/head.h"
#include "audit/source.h"
#include "audit/tail.h"
#include "audit/verify.h"
#include "base/error.h"
#include "base/fd.h"
#include "base/file.h"
#include "base/heap.h"
#include "base/quote.h"

#include <errno.h>
#include <fcntl.h>
#include <sodium/utils.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

_Static_assert(CK_HEAD_TEXT_MAX == CHOKE_AUDIT_HEAD_MAX && CK_KEY_TEXT_MAX == CHOKE_AUDIT_KEY_MAX,
               "the public header has the same sizes");

/*
 * The public struct is first: freeing the report frees the box. The report points to the other two.
 */
struct report_box {
    struct choke_audit_report report;
    struct ck_damage damage;     /* the first damage, or kind CHOKE_DAMAGE_NONE */
    char head[CK_HEAD_TEXT_MAX]; /* of the last proven record, as text */
    struct ck_complete complete; /* owns the messages of the gaps */
    struct choke_audit_gap gaps[CK_COMPLETE_GAPS_MAX];
};

/* One verification: the query, the source of the lines, and what is proven. */
struct log_reading {
    struct ck_verify verify;               /* the proof so far */
    const struct choke_audit_query *query; /* the caller's; lives as long as the call */
    struct ck_head_list heads;             /* that the log must contain */
    struct ck_audit_source source;         /* gives the lines of all files in order */
    struct ck_complete complete;           /* unused without `complete` of the query */
    bool is_stopped;                       /* by the caller */
    bool no_memory;                        /* for what is open */
};

const char *choke_damage_name(enum choke_damage damage)
{
    static const char *const names[] = {
        [CHOKE_DAMAGE_NONE] = "none",
        [CHOKE_DAMAGE_EDITED] = "edited",
        [CHOKE_DAMAGE_REORDERED] = "reordered",
        [CHOKE_DAMAGE_DROPPED] = "dropped",
        [CHOKE_DAMAGE_DUPLICATED] = "duplicated",
        [CHOKE_DAMAGE_CUT] = "cut",
        [CHOKE_DAMAGE_REBUILT] = "rebuilt",
        [CHOKE_DAMAGE_SPLICED] = "spliced",
        [CHOKE_DAMAGE_TORN] = "torn",
        [CHOKE_DAMAGE_MALFORMED] = "malformed",
    };
    size_t index = (size_t)damage;
    return index < sizeof(names) / sizeof(*names) ? names[index] : "?";
}

/* ---- the report ---- */

/*
 * Signed heads that match, while no public key was given to check the signature. With a key every
 * head was checked when it was parsed.
 */
static size_t unchecked_heads(const struct log_reading *reading)
{
    size_t count = 0;
    /* heads is sorted by seq, so those that were met are the first ones. */
    for (size_t i = 0; !reading->query->public_key && i < reading->verify.heads_met; i++)
        count += reading->heads.items[i].is_signed;
    return count;
}

/* Can be called several times: it only reads the state of the reading. */
static void fill_report(const struct log_reading *reading, struct report_box *box)
{
    const struct ck_verify *verify = &reading->verify;
    struct ck_head head = {.seq = verify->last.seq};
    memcpy(head.log, verify->last.log, sizeof(head.log));
    memcpy(head.hash, verify->last.hash, sizeof(head.hash));
    ck_head_format(&head, box->head);
    if (reading->is_stopped) /* the end was not reached, so nothing is known to be missing */
        box->damage = verify->damage;
    else
        ck_verify_damage(verify, &box->damage);
    bool is_whole = box->damage.kind == CHOKE_DAMAGE_NONE;
    /* Without damage, the last file that was read. */
    if (box->damage.file[0] == '\0')
        memcpy(box->damage.file, reading->source.file, sizeof(box->damage.file));
    box->report = (struct choke_audit_report){
        .damage = box->damage.kind,
        .file = box->damage.file,
        .line = is_whole ? 0 : box->damage.line,
        .message = is_whole ? "" : box->damage.message,
        .files = reading->source.files,
        .records = verify->records,
        .first_seq = verify->first_seq,
        .repairs = verify->repairs,
        .heads = verify->heads_met,
        .unchecked = unchecked_heads(reading),
        .head = verify->has_begun ? box->head : NULL, /* NULL: there is no proven record */
    };
}

/* ---- reading ---- */

/* A record after the damage is passed on only if the caller asked for unproven ones. */
static bool report_record(const struct log_reading *reading, const struct ck_line *line,
                          const struct ck_envelope *envelope, bool proven)
{
    const struct choke_audit_query *query = reading->query;
    const struct choke_audit_record record = {
        .file = line->file,
        .line = line->number,
        .proven = proven,
        .log = envelope->log,
        .seq = envelope->seq,
        .time = envelope->time,
        .kind = envelope->kind,
        .hash = envelope->hash,
        .text = line->text,
        .length = line->length,
    };
    if (!query->on_record || (!proven && !query->unproven))
        return true;
    return query->on_record(query->data, &record);
}

/*
 * Passes the line on. Returns whether to continue. After the first damage the rest is read only for
 * unproven records, or as long as it can still say what kind of damage it is.
 */
static bool take_line(struct log_reading *reading, const struct ck_line *line)
{
    struct ck_envelope envelope;
    enum ck_line_status step = ck_verify_line(&reading->verify, line, &envelope);
    if (step == CK_LINE_PROVEN && reading->query->complete)
        reading->no_memory = ck_complete_add(&reading->complete, &envelope, line->text, line->length) < 0;
    if (reading->no_memory)
        return false;
    if (step != CK_LINE_NO_RECORD)
        reading->is_stopped = !report_record(reading, line, &envelope, step == CK_LINE_PROVEN);
    return !reading->is_stopped && (reading->query->unproven || !ck_verify_is_over(&reading->verify));
}

/*
 * The report is made anew each time: the log may have grown since. False from the callback ends the
 * reading; it may wait in the callback for the log to grow.
 */
static bool ask_at_end(const struct log_reading *reading)
{
    struct report_box box;
    fill_report(reading, &box);
    return reading->query->on_end(reading->query->data, &box.report);
}

/* At the end of what exists. 1 to continue, 0 to stop, or a negative errno. */
static int reach_end(struct log_reading *reading, struct choke_error *error)
{
    struct ck_line line;
    /*
     * A follower does not ask for the text after the last newline: it may be half of a line that is
     * being written.
     */
    if (reading->query->on_end)
        return ask_at_end(reading);
    int r = ck_audit_source_rest(&reading->source, &line, error);
    /* The writer has completed its line meanwhile: read it as any other. */
    if (r == -EAGAIN)
        return 1;
    /* The last text, without a newline. The result does not matter: nothing follows. */
    if (r > 0)
        (void)take_line(reading, &line);
    return r < 0 ? r : 0;
}

/* Reads until the caller, the end or the damage stops it. 0 or a negative errno. */
static int read_all(struct log_reading *reading, struct choke_error *error)
{
    struct ck_line line;
    bool goes_on = true;
    while (goes_on) {
        int r = ck_audit_source_next(&reading->source, &line, error);
        if (r == 1) {
            goes_on = take_line(reading, &line);
            continue;
        }
        r = r < 0 ? r : reach_end(reading, error);
        if (r < 0)
            return r;
        goes_on = r > 0;
    }
    return 0;
}

/* A log that is damaged or was not read to its end has gaps of other kinds. */
static int take_gaps(struct log_reading *reading, struct report_box *box)
{
    struct choke_audit_report *report = &box->report;
    if (!reading->query->complete || reading->is_stopped || report->damage != CHOKE_DAMAGE_NONE)
        return 0;
    int r = ck_complete_finish(&reading->complete);
    box->complete = reading->complete;
    reading->complete = (struct ck_complete){0};
    for (size_t i = 0; i < box->complete.gaps_count; i++)
        box->gaps[i] =
            (struct choke_audit_gap){.seq = box->complete.gaps[i].seq, .message = box->complete.gaps[i].message};
    report->gaps = box->gaps;
    report->gaps_count = box->complete.gaps_count;
    report->gaps_more = box->complete.gaps_more;
    return r;
}

/* On the heap: its paths would take a good part of a small thread's stack. */
static int read_log(const struct choke_audit_query *query, struct report_box *box, struct choke_error *error)
{
    CK_HEAP struct log_reading *reading = ck_heap_own(malloc(sizeof(*reading)));
    if (!reading)
        return ck_error_oom(error);
    /* source.fd is -1, because ck_audit_source_done is called in any case. */
    *reading = (struct log_reading){.query = query, .source = {.fd = -1}};
    int r = ck_head_list_parse(query->heads, query->public_key, &reading->heads, error);
    if (r == 0 && ck_audit_source_init(&reading->source, query->paths) < 0)
        r = ck_error_oom(error);
    if (r == 0) {
        reading->source.with_rotated = query->rotated;
        reading->source.is_followed = !!query->on_end;
        ck_verify_init(&reading->verify, &reading->heads);
        r = read_all(reading, error);
    }
    if (r == 0)
        fill_report(reading, box);
    if (r == 0 && (reading->no_memory || take_gaps(reading, box) < 0))
        r = ck_error_oom(error);
    ck_complete_done(&reading->complete);
    ck_audit_source_done(&reading->source);
    ck_head_list_done(&reading->heads);
    return r;
}

/* A damaged log is a result, not a failure: the report says what is wrong. */
int choke_audit_verify(const struct choke_audit_query *query, struct choke_audit_report **ret_report,
                       struct choke_error *error)
{
    if (!query || !ret_report || !query->paths || !query->paths[0])
        return ck_error_set(error, CHOKE_INVALID, EINVAL, "a file and a pointer for the report are required");
    struct choke_audit_query known;
    int r = ck_versioned_read(CK_VERSIONED(choke_audit_query), query, query->struct_size, &known, error);
    if (r < 0)
        return r;
    if (known.complete && known.on_end)
        return ck_error_set(error, CHOKE_INVALID, EINVAL, "a log that is followed has no end, so it is never complete");
    struct report_box *box = calloc(1, sizeof(*box));
    if (!box)
        return ck_error_oom(error);
    r = read_log(&known, box, error);
    if (r < 0)
        choke_audit_report_free(&box->report);
    else
        *ret_report = &box->report;
    return r;
}

void choke_audit_report_free(struct choke_audit_report *report)
{
    struct report_box *box = (struct report_box *)report; /* the first member of its box */
    if (!report)
        return;
    ck_complete_done(&box->complete);
    free(box);
}

/* ---- the head ---- */

static int fail_no_head(const char *path, int errnum, const char *why, struct choke_error *error)
{
    return ck_error_set(error, CHOKE_INVALID, errnum, "cannot get the head of '%s': %s", CK_QUOTE(path), why);
}

/*
 * Doubles the part that is read until it has a whole record. It begins with the size of the longest
 * line. It ends at four times the longest torn write, which bounds the memory for a file that is
 * not a log.
 */
static int find_last(int fd, const char *path, off_t size, struct ck_head *ret_head, struct choke_error *error)
{
    struct ck_tail tail;
    int r = -EAGAIN;
    for (size_t length = CK_AUDIT_LINE_MAX; r == -EAGAIN && length <= 4 * CK_AUDIT_TORN_MAX; length *= 2) {
        bool is_whole = (off_t)length >= size;
        size_t wanted = is_whole ? (size_t)size : length;
        /* One more, because malloc(0) for an empty file may return NULL. */
        char *text = malloc(wanted + 1);
        if (!text)
            return ck_error_oom(error);
        long got = ck_fd_read_at(fd, text, wanted, (uint64_t)(size - (off_t)wanted));
        r = got < 0 ? (int)got : ck_tail_find(text, (size_t)got, is_whole, &tail);
        free(text);
        if (is_whole)
            break;
    }
    if (r < 0)
        return fail_no_head(path, -r, r == -EBADMSG ? "its last line was edited" : "it does not end with a record",
                            error);
    *ret_head = (struct ck_head){.seq = tail.last.seq};
    memcpy(ret_head->log, tail.last.log, sizeof(ret_head->log));
    memcpy(ret_head->hash, tail.last.hash, sizeof(ret_head->hash));
    return 0;
}

/* Only the last record is checked, not the chain: that is choke_audit_verify. */
static int read_head(const char *path, struct ck_head *ret_head, struct choke_error *error)
{
    struct stat status;
    /* -EINVAL: a FIFO, a device or a directory. None of them is waited for, see base/file.h. */
    CK_FD fd = ck_file_open(AT_FDCWD, path, 0, &status);
    if (fd == -EINVAL)
        return fail_no_head(path, EINVAL, "it is not a regular file", error);
    if (fd < 0)
        return fail_no_head(path, -fd, fd == -ENOENT ? "it does not exist" : strerror(-fd), error);
    return find_last(fd, path, status.st_size, ret_head, error);
}

int choke_audit_head(const char *path, const char *secret_key_path, char ret_head[CHOKE_AUDIT_HEAD_MAX],
                     struct choke_error *error)
{
    unsigned char seed[CK_SEED_BYTES];
    struct ck_head head;
    if (!path || !ret_head)
        return ck_error_set(error, CHOKE_INVALID, EINVAL, "a file and a buffer for its head are required");
    /* The key first: without it the log need not be read. */
    int r = secret_key_path ? ck_key_read_secret(secret_key_path, seed, error) : 0;
    if (r == 0)
        r = read_head(path, &head, error);
    if (r == 0) {
        ck_head_format(&head, ret_head);
        if (secret_key_path)
            ck_head_sign(ret_head, seed);
    }
    /* Not memset, which a compiler may drop for memory that is not read again. */
    sodium_memzero(seed, sizeof(seed));
    return r;
}

/* The secret key is written to path; the caller gets the public one. */
int choke_audit_keygen(const char *path, char ret_public_key[CHOKE_AUDIT_KEY_MAX], struct choke_error *error)
{
    if (!path || path[0] == '\0' || !ret_public_key)
        return ck_error_set(error, CHOKE_INVALID, EINVAL, "a path and a buffer for the public key are required");
    return ck_key_generate(path, ret_public_key, error);
}
