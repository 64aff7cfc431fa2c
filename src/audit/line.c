/*
 * line.c - parses one line of the log (format.h).
 *
 * The envelope is fixed text at fixed offsets, so it is compared and not parsed: a line has one
 * spelling, and any other spelling is not a record. sodium_init is not called, as in sys/digest.c:
 * only hashes are used here.
 */
#include "audit/cursor.h"

#include "base/hex.h"

#include <errno.h>
#include <sodium/crypto_generichash.h>
#include <stdbool.h>
#include <string.h>

_Static_assert(crypto_generichash_BYTES == CK_AUDIT_HASH_BYTES, "the hash of the format is libsodium's default");

void ck_line_hex(const unsigned char digest[CK_AUDIT_HASH_BYTES], char ret_hex[CK_AUDIT_HASH_HEX + 1])
{
    ck_hex_encode(ret_hex, digest, CK_AUDIT_HASH_BYTES);
}

void ck_line_hash(const void *bytes, size_t length, char ret_hex[CK_AUDIT_HASH_HEX + 1])
{
    unsigned char digest[CK_AUDIT_HASH_BYTES];
    (void)crypto_generichash(digest, sizeof(digest), bytes, length, NULL, 0);
    ck_line_hex(digest, ret_hex);
}

/* Only the form: a wrong clock can write any time, and no proof depends on it. */
static bool take_time(struct ck_cursor *cursor, char ret_text[CK_AUDIT_TIME_LENGTH + 1])
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

/* Any word of lower case and '_'; whether the kind is known is not checked here. */
static bool take_kind(struct ck_cursor *cursor, char ret_text[CK_AUDIT_KIND_MAX + 1])
{
    size_t length = 0;
    while (cursor->at + length < cursor->end &&
           ((cursor->at[length] >= 'a' && cursor->at[length] <= 'z') || cursor->at[length] == '_'))
        length++;
    if (length == 0 || length > CK_AUDIT_KIND_MAX)
        return false;
    memcpy(ret_text, cursor->at, length);
    ret_text[length] = '\0';
    cursor->at += length;
    return true;
}

static bool take_envelope(struct ck_cursor *cursor, struct ck_envelope *envelope)
{
    _Static_assert(CK_AUDIT_VERSION == 1, "the text below");
    return ck_cursor_take_text(cursor, "{\"v\":1,\"log\":\"") &&
           ck_cursor_take_hex(cursor, CK_AUDIT_LOG_HEX, envelope->log) && ck_cursor_take_text(cursor, "\",\"seq\":") &&
           ck_cursor_take_number(cursor, &envelope->seq) && ck_cursor_take_text(cursor, ",\"time\":\"") &&
           take_time(cursor, envelope->time) && ck_cursor_take_text(cursor, "\",\"kind\":\"") &&
           take_kind(cursor, envelope->kind) && ck_cursor_take_text(cursor, "\",\"prev\":\"") &&
           ck_cursor_take_hex(cursor, CK_AUDIT_HASH_HEX, envelope->prev) && ck_cursor_take_text(cursor, "\"");
}

static bool take_closing(struct ck_cursor *cursor, char ret_hash[CK_AUDIT_HASH_HEX + 1])
{
    return ck_cursor_take_text(cursor, CK_AUDIT_CLOSING) && ck_cursor_take_hex(cursor, CK_AUDIT_HASH_HEX, ret_hash) &&
           ck_cursor_take_text(cursor, CK_AUDIT_END) && cursor->at == cursor->end;
}

int ck_line_read(const char *line, size_t length, struct ck_envelope *ret_envelope)
{
    struct ck_envelope envelope;
    char hash[CK_AUDIT_HASH_HEX + 1];
    if (length < CK_AUDIT_CLOSING_LENGTH || length >= CK_AUDIT_LINE_MAX)
        return -EINVAL;
    size_t covered = length - CK_AUDIT_CLOSING_LENGTH;
    /*
     * The closing first: without it the line is torn (-EINVAL), with it any other fault means
     * edited (-EBADMSG).
     */
    struct ck_cursor closing = {.at = line + covered, .end = line + length};
    if (!take_closing(&closing, envelope.hash))
        return -EINVAL;
    struct ck_cursor cursor = {.at = line, .end = line + covered};
    if (!take_envelope(&cursor, &envelope) || (cursor.at < cursor.end && *cursor.at != ','))
        return -EBADMSG;
    ck_line_hash(line, covered, hash);
    if (memcmp(hash, envelope.hash, sizeof(hash)) != 0)
        return -EBADMSG;
    envelope.body = (size_t)(cursor.at - line);
    *ret_envelope = envelope;
    return 0;
}
