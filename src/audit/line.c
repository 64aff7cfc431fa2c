/*
 * line.c - one line of the log, taken apart (format.h).
 *
 * The envelope is fixed text with fixed places, so it is compared and not parsed: a line has one spelling, and whatever
 * is spelled otherwise is no record. sodium_init is not called, as in sys/digest.c.
 */
#include "audit/format.h"

#include <errno.h>
#include <sodium/crypto_generichash.h>
#include <stdbool.h>
#include <string.h>

_Static_assert(crypto_generichash_BYTES == CK_AUDIT_HASH_BYTES, "the hash of the format is libsodium's default");

struct cursor {
    const char *at;
    const char *end;
};

void ck_line_hex(const unsigned char digest[CK_AUDIT_HASH_BYTES], char ret_hex[CK_AUDIT_HASH_HEX + 1])
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < CK_AUDIT_HASH_BYTES; i++) {
        ret_hex[2 * i] = digits[digest[i] >> 4];
        ret_hex[2 * i + 1] = digits[digest[i] & 15];
    }
    ret_hex[CK_AUDIT_HASH_HEX] = '\0';
}

void ck_line_hash(const void *bytes, size_t length, char ret_hex[CK_AUDIT_HASH_HEX + 1])
{
    unsigned char digest[CK_AUDIT_HASH_BYTES];
    (void)crypto_generichash(digest, sizeof digest, bytes, length, NULL, 0);
    ck_line_hex(digest, ret_hex);
}

static bool take_text(struct cursor *cursor, const char *text)
{
    size_t length = strlen(text);
    if ((size_t)(cursor->end - cursor->at) < length || memcmp(cursor->at, text, length) != 0)
        return false;
    cursor->at += length;
    return true;
}

/* Without a branch: a verifier does little else but this and the hash itself. */
static bool is_hex(const char *text, size_t length)
{
    static const unsigned char digits[256] = {['0' ... '9'] = 1, ['a' ... 'f'] = 1};
    unsigned good = 1;
    for (size_t i = 0; i < length; i++)
        good &= digits[(unsigned char)text[i]];
    return good != 0;
}

static bool take_hex(struct cursor *cursor, size_t length, char *ret_text)
{
    if ((size_t)(cursor->end - cursor->at) < length || !is_hex(cursor->at, length))
        return false;
    memcpy(ret_text, cursor->at, length);
    ret_text[length] = '\0';
    cursor->at += length;
    return true;
}

/* Digits without a zero in front, so that a number has one spelling. */
static bool take_number(struct cursor *cursor, uint64_t *ret_number)
{
    const char *start = cursor->at;
    uint64_t number = 0;
    while (cursor->at < cursor->end && *cursor->at >= '0' && *cursor->at <= '9') {
        number = number * 10 + (uint64_t)(*cursor->at++ - '0');
        if (number > CK_AUDIT_SEQ_MAX)
            return false;
    }
    size_t length = (size_t)(cursor->at - start);
    *ret_number = number;
    return length == 1 || (length > 1 && *start != '0');
}

static bool take_time(struct cursor *cursor, char ret_text[CK_AUDIT_TIME_LENGTH + 1])
{
    static const char shape[] = "0000-00-00T00:00:00.000000Z";
    if (cursor->end - cursor->at < CK_AUDIT_TIME_LENGTH)
        return false;
    for (size_t i = 0; i < CK_AUDIT_TIME_LENGTH; i++) {
        char c = cursor->at[i];
        if (shape[i] == '0' ? c < '0' || c > '9' : c != shape[i])
            return false;
    }
    memcpy(ret_text, cursor->at, CK_AUDIT_TIME_LENGTH);
    ret_text[CK_AUDIT_TIME_LENGTH] = '\0';
    cursor->at += CK_AUDIT_TIME_LENGTH;
    return true;
}

static bool take_kind(struct cursor *cursor, char ret_text[CK_AUDIT_KIND_MAX + 1])
{
    size_t length = 0;
    while (cursor->at + length < cursor->end && cursor->at[length] >= 'a' && cursor->at[length] <= 'z')
        length++;
    if (length == 0 || length > CK_AUDIT_KIND_MAX)
        return false;
    memcpy(ret_text, cursor->at, length);
    ret_text[length] = '\0';
    cursor->at += length;
    return true;
}

static bool take_envelope(struct cursor *cursor, struct ck_envelope *envelope)
{
    _Static_assert(CK_AUDIT_VERSION == 1, "the text below");
    return take_text(cursor, "{\"v\":1,\"log\":\"") && take_hex(cursor, CK_AUDIT_LOG_HEX, envelope->log) &&
           take_text(cursor, "\",\"seq\":") && take_number(cursor, &envelope->seq) &&
           take_text(cursor, ",\"time\":\"") && take_time(cursor, envelope->time) &&
           take_text(cursor, "\",\"kind\":\"") && take_kind(cursor, envelope->kind) &&
           take_text(cursor, "\",\"prev\":\"") && take_hex(cursor, CK_AUDIT_HASH_HEX, envelope->prev) &&
           take_text(cursor, "\"");
}

static bool take_closing(struct cursor *cursor, char ret_hash[CK_AUDIT_HASH_HEX + 1])
{
    return take_text(cursor, CK_AUDIT_CLOSING) && take_hex(cursor, CK_AUDIT_HASH_HEX, ret_hash) &&
           take_text(cursor, CK_AUDIT_END) && cursor->at == cursor->end;
}

int ck_line_read(const char *line, size_t length, struct ck_envelope *ret_envelope)
{
    struct ck_envelope envelope;
    char hash[CK_AUDIT_HASH_HEX + 1];
    if (length < CK_AUDIT_CLOSING_LENGTH || length >= CK_AUDIT_LINE_MAX)
        return -EINVAL;
    size_t covered = length - CK_AUDIT_CLOSING_LENGTH;
    struct cursor closing = {.at = line + covered, .end = line + length};
    if (!take_closing(&closing, envelope.hash))
        return -EINVAL;
    struct cursor cursor = {.at = line, .end = line + covered};
    if (!take_envelope(&cursor, &envelope) || (cursor.at < cursor.end && *cursor.at != ','))
        return -EBADMSG;
    ck_line_hash(line, covered, hash);
    if (memcmp(hash, envelope.hash, sizeof hash) != 0)
        return -EBADMSG;
    envelope.body = (size_t)(cursor.at - line);
    *ret_envelope = envelope;
    return 0;
}
