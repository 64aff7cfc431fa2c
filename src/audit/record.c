/* record.c - begins a record, and seals it with envelope and closing. See record.h. */
#include "audit/record.h"

#include "base/clock.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define ENVELOPE_MAX ((size_t)256) /* with the newline in front */

_Static_assert(ENVELOPE_MAX + CK_AUDIT_BODY_MAX + CK_AUDIT_CLOSING_LENGTH + 1 <= CK_AUDIT_LINE_MAX,
               "envelope, body and closing fit into a line");

/*
 * The buffer is kept for the next record. The body begins at a fixed offset, with room for the
 * envelope before it.
 */
int ck_record_start(struct ck_record *record, const char *kind)
{
    if (!record->buffer)
        record->buffer = malloc(CK_AUDIT_LINE_MAX);
    if (!record->buffer)
        return -ENOMEM;
    record->kind = kind;
    ck_json_init(&record->body, record->buffer + ENVELOPE_MAX, CK_AUDIT_BODY_MAX, true);
    return 0;
}

void ck_record_done(struct ck_record *record)
{
    free(record->buffer);
    *record = (struct ck_record){0};
}

/* Exactly count digits, with leading zeros and without a NUL. */
static void put_digits(char *at, unsigned number, size_t count)
{
    while (count-- > 0) {
        at[count] = (char)('0' + number % 10);
        number /= 10;
    }
}

/* In UTC, to the microsecond. Four digits are enough for the year. */
static void write_time(char text[CK_AUDIT_TIME_LENGTH + 1])
{
    const struct timespec now = ck_clock_real_time();
    struct tm parts = {0};
    (void)gmtime_r(&now.tv_sec, &parts);
    memcpy(text, "0000-00-00T00:00:00.000000Z", CK_AUDIT_TIME_LENGTH + 1);
    put_digits(text, (unsigned)(parts.tm_year + 1900), 4);
    put_digits(text + 5, (unsigned)(parts.tm_mon + 1), 2);
    put_digits(text + 8, (unsigned)parts.tm_mday, 2);
    put_digits(text + 11, (unsigned)parts.tm_hour, 2);
    put_digits(text + 14, (unsigned)parts.tm_min, 2);
    put_digits(text + 17, (unsigned)parts.tm_sec, 2);
    put_digits(text + 20, (unsigned)(now.tv_nsec / 1000), 6);
}

/* The order of the members is part of the format: the verifier compares, it does not parse. */
static size_t write_envelope(const struct ck_record *record, const struct ck_audit_place *place,
                             char text[ENVELOPE_MAX])
{
    struct ck_json json;
    char time[CK_AUDIT_TIME_LENGTH + 1];
    write_time(time);
    ck_json_init(&json, text, ENVELOPE_MAX, false);
    ck_json_open(&json, NULL, '{');
    ck_json_number(&json, "v", CK_AUDIT_VERSION);
    ck_json_word(&json, "log", place->log);
    ck_json_number(&json, "seq", place->seq);
    ck_json_word(&json, "time", time);
    ck_json_word(&json, "kind", record->kind);
    ck_json_word(&json, "prev", place->prev);
    assert(!json.full);
    return ck_json_length(&json);
}

size_t ck_record_seal(struct ck_record *record, const struct ck_audit_place *place, bool newline_first,
                      const char **ret_text, char ret_hash[CK_AUDIT_HASH_HEX + 1])
{
    char envelope[ENVELOPE_MAX];
    assert(!record->body.full);
    /* The body is not moved: the envelope ends where it begins, in the space reserved for it. */
    size_t length = write_envelope(record, place, envelope);
    char *start = record->body.start - length;
    char *end = record->body.at;
    memcpy(start, envelope, length);
    ck_line_hash(start, (size_t)(end - start), ret_hash);
    memcpy(end, CK_AUDIT_CLOSING, sizeof(CK_AUDIT_CLOSING) - 1);
    end += sizeof(CK_AUDIT_CLOSING) - 1;
    memcpy(end, ret_hash, CK_AUDIT_HASH_HEX);
    end += CK_AUDIT_HASH_HEX;
    memcpy(end, CK_AUDIT_END "\n", sizeof(CK_AUDIT_END));
    end += sizeof(CK_AUDIT_END);
    if (newline_first)
        *--start = '\n';
    *ret_text = start;
    return (size_t)(end - start);
}
