/*
 * verify.c - the proof of a log.
 *
 * A line proves itself by its own hash, and its place by two members: prev, the hash of the record
 * before, and seq. The first mismatch is the damage, and nothing after it is proven. The kind of
 * damage follows from what does not match:
 *
 *   its own hash                      edited
 *   log                               spliced
 *   prev, or seq, but not both        rebuilt: a record that is changed and hashed again
 *                                     breaks prev of the next one
 *   both, and seq was there before    duplicated
 *   both, and seq is yet to come      the rest of the log is searched for what belongs here:
 *                                     reordered, dropped, or duplicated if this record comes
 *                                     again in its place
 *
 * A line that is not a record can be the rest of an interrupted write. Its length and hash are kept
 * until a repair vouches for it; if another record comes first, it is damage.
 *
 * The first record must be a begin, because a chain must start somewhere. Other places of a begin
 * are not checked: files that were concatenated into one prove the same.
 */
#include "audit/verify.h"

#include "audit/body.h"
#include "base/quote.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void ck_verify_init(struct ck_verify *verify, const struct ck_head_list *heads)
{
    static const struct ck_head_list none = {0};
    *verify = (struct ck_verify){.heads = heads ? heads : &none};
}

static bool same(const char *a, const char *b)
{
    return strcmp(a, b) == 0;
}

__attribute__((format(printf, 3, 4))) static void set_damage(struct ck_damage *damage, enum choke_damage kind,
                                                             const char *format, ...)
{
    va_list args;
    damage->kind = kind;
    va_start(args, format);
    (void)vsnprintf(damage->message, sizeof(damage->message), format, args);
    va_end(args);
}

/* Separate from set_damage, because the kind may be known only later than the line. */
static void set_damage_line(struct ck_damage *damage, const struct ck_line *line)
{
    (void)snprintf(damage->file, sizeof(damage->file), "%s", line->file);
    damage->line = line->number;
}

/* The body is what is between the envelope and the closing. */
static bool is_json(const struct ck_line *line, const struct ck_envelope *envelope)
{
    return ck_body_is_json(line->text + envelope->body, line->length - CK_AUDIT_CLOSING_LENGTH - envelope->body);
}

/* ---- lines that are not records ---- */

/* Several lines in a row are one torn write: the repair has one length and one hash for them. */
static void hold_back(struct ck_torn *torn, const struct ck_line *line)
{
    crypto_generichash_state state;
    if (!torn->is_pending) {
        /* the first line is where the damage is reported */
        *torn = (struct ck_torn){.is_pending = true};
        (void)crypto_generichash_init(&state, NULL, 0, CK_AUDIT_HASH_BYTES);
        set_damage_line(&torn->damage, line);
    } else {
        memcpy(&state, torn->state, sizeof(state));
    }
    (void)crypto_generichash_update(&state, (const unsigned char *)line->text, line->length);
    if (line->has_newline)
        (void)crypto_generichash_update(&state, (const unsigned char *)"\n", 1);
    memcpy(torn->state, &state, sizeof(state));
    torn->bytes += line->length + line->has_newline;
    torn->has_newline = line->has_newline;
    torn->is_too_long = torn->is_too_long || line->is_cut_short || torn->bytes > CK_AUDIT_TORN_MAX;
}

/* No write leaves this much, and no repair can vouch for it. So the rest need not be read. */
static void judge_too_long(struct ck_verify *verify)
{
    verify->damage = verify->torn.damage;
    set_damage(&verify->damage, CHOKE_DAMAGE_MALFORMED, "it is not a record, and longer than a torn write can be");
}

/* At the end of the log the writer may still be at work, or the next one repairs: "torn". */
static void judge_torn(const struct ck_torn *torn, bool at_end, struct ck_damage *ret_damage)
{
    *ret_damage = torn->damage;
    if (at_end && !torn->has_newline)
        set_damage(ret_damage, CHOKE_DAMAGE_TORN,
                   "the log ends with an incomplete line: a write was interrupted, or the end was cut off");
    else
        set_damage(ret_damage, CHOKE_DAMAGE_MALFORMED,
                   "it is not a record, and no repair vouches for it as a torn write");
}

/* The hash is finished on a copy, because more lines may follow. */
static bool repair_matches(struct ck_torn *torn, const struct ck_line *line, const struct ck_envelope *envelope)
{
    unsigned char digest[CK_AUDIT_HASH_BYTES];
    char hash[CK_AUDIT_HASH_HEX + 1], claimed[CK_AUDIT_HASH_HEX + 1];
    uint64_t bytes;
    crypto_generichash_state state;
    memcpy(&state, torn->state, sizeof(state));
    (void)crypto_generichash_final(&state, digest, sizeof(digest));
    ck_line_hex(digest, hash);
    return same(envelope->kind, CK_AUDIT_KIND_REPAIR) &&
           ck_body_read_repair(line->text + envelope->body, line->length - envelope->body, &bytes, claimed) &&
           bytes == torn->bytes && same(hash, claimed);
}

/* ---- a record and its place ---- */

/* The seq of the record that belongs here. */
static uint64_t next_seq(const struct ck_verify *verify)
{
    return verify->has_begun ? verify->last.seq + 1 : 0;
}

/*
 * A file that was rotated begins with a later seq, and then has the hash of the record before it.
 */
static bool is_first(const struct ck_envelope *envelope)
{
    return same(envelope->kind, CK_AUDIT_KIND_BEGIN) &&
           (envelope->seq > 0 || same(envelope->prev, CK_AUDIT_FIRST_PREV));
}

/*
 * A record comes too early. The rest of the log says why (judge_stray); until then it counts as
 * dropped.
 */
static void look_ahead(struct ck_verify *verify, const struct ck_envelope *stray)
{
    verify->ahead = (struct ck_lookahead){.is_on = true, .stray = *stray};
    set_damage(&verify->damage, CHOKE_DAMAGE_DROPPED, "a record is missing");
}

/* For the first record of all. */
static bool fits_as_first(struct ck_verify *verify, const struct ck_envelope *envelope)
{
    if (is_first(envelope))
        return true;
    if (same(envelope->kind, CK_AUDIT_KIND_BEGIN))
        set_damage(&verify->damage, CHOKE_DAMAGE_REBUILT,
                   "record 0 of a log has no record before it, but this one names one");
    else
        look_ahead(verify, envelope);
    return false;
}

/* For every later record: the table at the top of this file. */
static bool fits_last(struct ck_verify *verify, const struct ck_envelope *envelope)
{
    const struct ck_envelope *last = &verify->last;
    bool seq = envelope->seq == last->seq + 1, prev = same(envelope->prev, last->hash);
    if (!same(envelope->log, last->log))
        set_damage(&verify->damage, CHOKE_DAMAGE_SPLICED, "it is of log %s, but the record before it is of log %s",
                   envelope->log, last->log);
    else if (seq && prev)
        return true;
    else if (prev)
        set_damage(&verify->damage, CHOKE_DAMAGE_REBUILT, "it follows record %" PRIu64 ", but has the number %" PRIu64,
                   last->seq, envelope->seq);
    else if (seq)
        set_damage(&verify->damage, CHOKE_DAMAGE_REBUILT,
                   "it does not follow the record %" PRIu64 ", which is before it: one of the two was rewritten",
                   last->seq);
    else if (envelope->seq <= last->seq)
        set_damage(&verify->damage, CHOKE_DAMAGE_DUPLICATED,
                   "record %" PRIu64 " is repeated here, after record %" PRIu64, envelope->seq, last->seq);
    else
        look_ahead(verify, envelope);
    return false;
}

/* Lines that are not records must be vouched for here, and a repair needs such lines. */
static bool fits_torn(struct ck_verify *verify, const struct ck_line *line, const struct ck_envelope *envelope)
{
    bool repair = same(envelope->kind, CK_AUDIT_KIND_REPAIR);
    if (!verify->torn.is_pending && !repair)
        return true;
    if (verify->torn.is_pending && repair_matches(&verify->torn, line, envelope)) {
        verify->torn.is_pending = false;
        verify->repairs++;
        return true;
    }
    if (verify->torn.is_pending)
        judge_torn(&verify->torn, false, &verify->damage);
    else
        set_damage(&verify->damage, CHOKE_DAMAGE_DROPPED, "the torn write that this repair vouches for is missing");
    return false;
}

/* ---- heads ---- */

/* Fails for heads that no later record can match. */
static bool fits_all_heads(struct ck_verify *verify, const struct ck_envelope *first)
{
    for (size_t i = 0; i < verify->heads->count; i++) {
        const struct ck_head *head = &verify->heads->items[i];
        if (!same(head->log, first->log)) {
            set_damage(&verify->damage, CHOKE_DAMAGE_REBUILT,
                       "a head is of log %s, but this is log %s: another log, or a new one in its place", head->log,
                       first->log);
            return false;
        }
        if (head->seq < first->seq) {
            set_damage(&verify->damage, CHOKE_DAMAGE_DROPPED,
                       "a head names record %" PRIu64 ", but record %" PRIu64
                       " is the first here; give the earlier files too",
                       head->seq, first->seq);
            return false;
        }
    }
    return true;
}

/*
 * Heads are sorted by seq, and several may name one record. A head of a missing record stays unmet,
 * and judge_end reports it.
 */
static bool fits_heads(struct ck_verify *verify, const struct ck_envelope *envelope)
{
    if (!verify->has_begun && !fits_all_heads(verify, envelope))
        return false;
    for (; verify->heads_met < verify->heads->count; verify->heads_met++) {
        const struct ck_head *head = &verify->heads->items[verify->heads_met];
        if (head->seq != envelope->seq)
            return true;
        if (!same(head->hash, envelope->hash)) {
            set_damage(&verify->damage, CHOKE_DAMAGE_REBUILT, "it is not the record %" PRIu64 " that a head names",
                       head->seq);
            return false;
        }
    }
    return true;
}

/* ---- one line ---- */

/* After the damage: collects what can still be learned about it. */
static enum ck_line_status check_after_damage(struct ck_verify *verify, const struct ck_line *line,
                                              struct ck_envelope *ret_envelope)
{
    struct ck_lookahead *ahead = &verify->ahead;
    struct ck_envelope envelope;
    if (line->is_cut_short || ck_line_read(line->text, line->length, &envelope) < 0 || !is_json(line, &envelope))
        return CK_LINE_NO_RECORD;
    if (!same(envelope.log, ahead->stray.log))
        ahead->has_other = true;
    else if (same(envelope.hash, ahead->stray.hash))
        ahead->has_stray = true;
    else if (verify->has_begun)
        ahead->has_missing |= envelope.seq == next_seq(verify) && same(envelope.prev, verify->last.hash);
    else
        ahead->has_missing |= envelope.seq < ahead->stray.seq && is_first(&envelope);
    *ret_envelope = envelope;
    return CK_LINE_UNPROVEN;
}

/* The order decides which damage is reported: torn lines before the record come first. */
static bool fits(struct ck_verify *verify, const struct ck_line *line, const struct ck_envelope *envelope)
{
    return fits_torn(verify, line, envelope) &&
           (verify->has_begun ? fits_last(verify, envelope) : fits_as_first(verify, envelope)) &&
           fits_heads(verify, envelope);
}

static void accept(struct ck_verify *verify, const struct ck_envelope *envelope)
{
    if (!verify->has_begun)
        verify->first_seq = envelope->seq;
    verify->has_begun = true;
    verify->last = *envelope;
    verify->records++;
}

/* The line has the closing of a record, but is not a valid record or must not be shown. */
static void judge_bad_line(struct ck_verify *verify, const struct ck_line *line, bool is_edited)
{
    if (verify->torn.is_pending) {
        judge_torn(&verify->torn, false, &verify->damage);
        return;
    }
    set_damage_line(&verify->damage, line);
    if (is_edited)
        set_damage(&verify->damage, CHOKE_DAMAGE_EDITED,
                   "its hash does not match its bytes, or it does not have the form of a record");
    else
        set_damage(&verify->damage, CHOKE_DAMAGE_MALFORMED,
                   "its hash is right, but its body is not valid JSON of a record");
}

/* For judge_end. The name is copied only when it changes: this is called for every line. */
static void remember_line(struct ck_verify *verify, const struct ck_line *line)
{
    if (verify->line == 0 || !same(verify->file, line->file))
        (void)snprintf(verify->file, sizeof(verify->file), "%s", line->file);
    verify->line = line->number;
}

enum ck_line_status ck_verify_line(struct ck_verify *verify, const struct ck_line *line,
                                   struct ck_envelope *ret_envelope)
{
    struct ck_envelope envelope;
    remember_line(verify, line);
    if (verify->damage.kind != CHOKE_DAMAGE_NONE)
        return check_after_damage(verify, line, ret_envelope);
    int r = line->is_cut_short ? -EINVAL : ck_line_read(line->text, line->length, &envelope);
    if (r == -EINVAL) {
        hold_back(&verify->torn, line);
        if (verify->torn.is_too_long)
            judge_too_long(verify);
        return CK_LINE_NO_RECORD;
    }
    if (r < 0 || !is_json(line, &envelope)) {
        judge_bad_line(verify, line, r < 0);
        return CK_LINE_NO_RECORD;
    }
    bool good = fits(verify, line, &envelope);
    if (good)
        accept(verify, &envelope);
    else if (verify->damage.line == 0) /* else it is about lines before this one */
        set_damage_line(&verify->damage, line);
    *ret_envelope = envelope;
    return good ? CK_LINE_PROVEN : CK_LINE_UNPROVEN;
}

bool ck_verify_is_over(const struct ck_verify *verify)
{
    return verify->damage.kind != CHOKE_DAMAGE_NONE && !verify->ahead.is_on;
}

/* ---- the verdict ---- */

/* The end of the log is reached, so it is known what was found further down. */
static void judge_stray(const struct ck_verify *verify, struct ck_damage *damage)
{
    const struct ck_lookahead *ahead = &verify->ahead;
    uint64_t stray = ahead->stray.seq, wanted = next_seq(verify);
    if (ahead->has_stray)
        set_damage(damage, CHOKE_DAMAGE_DUPLICATED, "record %" PRIu64 " is here, and again further down", stray);
    else if (ahead->has_missing)
        set_damage(damage, CHOKE_DAMAGE_REORDERED,
                   "record %" PRIu64 " is here, and the one that belongs here is further down", stray);
    else if (!verify->has_begun && ahead->has_other)
        set_damage(damage, CHOKE_DAMAGE_SPLICED, "it is of log %s, but what follows is not", ahead->stray.log);
    else if (!verify->has_begun)
        set_damage(damage, CHOKE_DAMAGE_DROPPED,
                   "a file must begin with a record of kind begin, but this is record %" PRIu64, stray);
    else if (stray == wanted + 1)
        set_damage(damage, CHOKE_DAMAGE_DROPPED, "record %" PRIu64 " is missing before it", wanted);
    else
        set_damage(damage, CHOKE_DAMAGE_DROPPED, "records %" PRIu64 " to %" PRIu64 " are missing before it", wanted,
                   stray - 1);
}

static bool has_met_heads(const struct ck_verify *verify)
{
    return verify->heads_met == verify->heads->count;
}

/* Nothing is wrong in the log itself: is its end where it should be? */
static void judge_end(const struct ck_verify *verify, struct ck_damage *damage)
{
    (void)snprintf(damage->file, sizeof(damage->file), "%s", verify->file);
    damage->line = verify->line;
    if (!verify->has_begun)
        set_damage(damage, CHOKE_DAMAGE_CUT, "the log has no record; a log has at least one");
    else if (!has_met_heads(verify))
        set_damage(damage, CHOKE_DAMAGE_CUT, "the log ends with record %" PRIu64 ", but a head names record %" PRIu64,
                   verify->last.seq, verify->heads->items[verify->heads->count - 1].seq);
}

void ck_verify_damage(const struct ck_verify *verify, struct ck_damage *ret_damage)
{
    *ret_damage = verify->damage;
    if (verify->damage.kind != CHOKE_DAMAGE_NONE) {
        if (verify->ahead.is_on)
            judge_stray(verify, ret_damage);
        return;
    }
    if (verify->torn.is_pending)
        judge_torn(&verify->torn, true, ret_damage);
    /* A torn end is no excuse for a missing record that a head names: then the log was cut. */
    if (!verify->torn.is_pending || (ret_damage->kind == CHOKE_DAMAGE_TORN && !has_met_heads(verify)))
        judge_end(verify, ret_damage);
}
