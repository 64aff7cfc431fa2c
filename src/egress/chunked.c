/*
 * chunked.c - a state machine over a chunked body.
 *
 * There is one state per position in the framing. Every line has a maximum, so that nothing can be
 * hidden in an endless extension.
 */
#include "egress/chunked.h"

#include "base/hex.h"
#include "egress/host_secret.h"
#include "egress/token.h"

#include <errno.h>
#include <strings.h>

/* Of a size with its extension; of all trailers; of a size (15 digits cannot overflow 64 bits). */
#define LINE_MAX_BYTES 1024
#define TAIL_MAX_BYTES 16384
#define SIZE_MAX_DIGITS 15

/* What the next byte belongs to. SIZE is 0, so that a zero-filled struct is at the beginning. */
enum {
    SIZE = 0,
    BLANK,
    EXTENSION,
    SIZE_LF,
    DATA,
    DATA_CR,
    DATA_LF,
    TRAILER_START,
    TRAILER_NAME,
    TRAILER_VALUE,
    TRAILER_LF,
    END_LF
};

/* What a field value may have: no control byte except a tab; bytes beyond ASCII are allowed. */
static bool is_text(char c)
{
    return (unsigned char)c >= 0x20 ? c != 0x7f : c == '\t';
}

/* After a size. A second number is refused: another program might take it for the size. */
static bool step_blank(struct ck_chunked *chunked, char c)
{
    bool blank = c == ' ' || c == '\t';
    chunked->state = c == '\r' ? SIZE_LF : blank ? BLANK : EXTENSION;
    return c == '\r' || c == ';' || (blank && ++chunked->line_bytes <= LINE_MAX_BYTES);
}

/* Hexadecimal digits, at least one. */
static bool step_size(struct ck_chunked *chunked, char c)
{
    int digit = ck_hex_value(c);
    if (digit >= 0) {
        chunked->left = chunked->left << 4 | (unsigned)digit;
        return ++chunked->digits <= SIZE_MAX_DIGITS;
    }
    if (chunked->digits == 0)
        return false;
    return step_blank(chunked, c);
}

/* Skipped up to the CR. The LF must follow: a bare CR or LF would be read differently elsewhere. */
static bool step_extension(struct ck_chunked *chunked, char c)
{
    if (c == '\r')
        chunked->state = SIZE_LF;
    return c == '\r' || (is_text(c) && ++chunked->line_bytes <= LINE_MAX_BYTES);
}

/* Where only one byte is valid. */
static bool step_fixed(struct ck_chunked *chunked, char c, char wanted, int next)
{
    chunked->state = next;
    return c == wanted;
}

/*
 * RFC 9110, 6.5.1: fields that must be known before the body, or are for one hop only, are not
 * allowed.
 */
static bool may_be_trailer(const struct ck_chunked *chunked)
{
    static const char *const forbidden[] = {
        "transfer-encoding",
        "content-length",
        "content-encoding",
        "content-type",
        "content-range",
        "host",
        "connection",
        "keep-alive",
        "proxy-connection",
        "te",
        "trailer",
        "upgrade",
        "http2-settings",
        "expect",
        "max-forwards",
        "authorization",
        "www-authenticate",
        "proxy-authorization",
        "proxy-authenticate",
        "proxy-authentication-info",
        "cookie",
        "set-cookie",
        "cache-control",
        "range",
        "location",
    };
    for (size_t i = 0; i < sizeof(forbidden) / sizeof(*forbidden); i++)
        if (strlen(forbidden[i]) == chunked->name_bytes &&
            strncasecmp(forbidden[i], chunked->name, chunked->name_bytes) == 0)
            return false;
    for (size_t i = 0; chunked->secrets && i < chunked->secrets->count; i++)
        if (ck_host_secret_is_named(&chunked->secrets->items[i], chunked->name, chunked->name_bytes))
            return false;
    return chunked->name_bytes > 0;
}

/*
 * A longer name is cut to 64 bytes. It is compared by its length too, so it equals no forbidden
 * one.
 */
static bool step_name(struct ck_chunked *chunked, char c)
{
    if (c == ':') {
        chunked->state = TRAILER_VALUE;
        return may_be_trailer(chunked);
    }
    if (chunked->name_bytes < sizeof(chunked->name))
        chunked->name[chunked->name_bytes++] = c;
    return ck_token_has(c);
}

/* A CR where a trailer could begin ends the body. Within a name it is not valid. */
static bool step_trailer(struct ck_chunked *chunked, char c)
{
    bool start = chunked->state == TRAILER_START;
    if (++chunked->tail_bytes > TAIL_MAX_BYTES)
        return false;
    if (c == '\r' && chunked->state != TRAILER_NAME) {
        chunked->state = start ? END_LF : TRAILER_LF;
        return true;
    }
    if (chunked->state == TRAILER_VALUE)
        return is_text(c);
    if (start)
        chunked->name_bytes = 0;
    chunked->state = TRAILER_NAME;
    return step_name(chunked, c);
}

/* One byte of framing. False: it is malformed. */
static bool step(struct ck_chunked *chunked, char c)
{
    switch (chunked->state) {
    case SIZE:
        return step_size(chunked, c);
    case BLANK:
        return step_blank(chunked, c);
    case EXTENSION:
        return step_extension(chunked, c);
    case SIZE_LF:
        return step_fixed(chunked, c, '\n', chunked->left > 0 ? DATA : TRAILER_START);
    case DATA_CR:
        return step_fixed(chunked, c, '\r', DATA_LF);
    /* the next chunk begins: left is 0 here */
    case DATA_LF:
        chunked->digits = 0;
        chunked->line_bytes = 0;
        return step_fixed(chunked, c, '\n', SIZE);
    case TRAILER_LF:
        return step_fixed(chunked, c, '\n', TRAILER_START);
    case END_LF:
        chunked->done = true;
        return c == '\n';
    default:
        return step_trailer(chunked, c);
    }
}

ssize_t ck_chunked_scan(struct ck_chunked *chunked, const char *data, size_t length)
{
    size_t at = 0;
    while (at < length && !chunked->done) {
        /* data is skipped as a whole; all else is framing, byte by byte */
        if (chunked->state == DATA) {
            size_t some = length - at < chunked->left ? length - at : (size_t)chunked->left;
            chunked->left -= some;
            at += some;
            if (chunked->left == 0)
                chunked->state = DATA_CR;
        } else if (!step(chunked, data[at++])) {
            return -EPROTO;
        }
    }
    return (ssize_t)at;
}
