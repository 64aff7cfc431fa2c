/*
 * body.c - checks JSON and keeps nothing of it.
 *
 * A line with the right hash can be anything: an attacker who rebuilds a chain can hash any text.
 * What the verifier accepts is printed on terminals and read by other programs. So it must be JSON,
 * without a character that a terminal obeys. If an object has a name twice, some readers take the
 * first and some the last. So no object may: what is proven of a record must be what its reader
 * sees.
 */
#include "audit/body.h"

#include "base/glyph.h"
#include "base/hex.h"

#include <endian.h>
#include <string.h>

/* Limits of the format. No writer comes near them, and they bound the recursion and the stack. */
#define DEPTH_MAX 16
#define DIGITS_MAX 18 /* any such number fits into 64 bits with a sign */
#define MEMBERS_MAX 64

/* The part that is not read yet. */
struct json_reader {
    const char *at;
    const char *end;
};

/* The names of an object so far. */
struct members {
    struct {
        const char *text;
        size_t length;
    } names[MEMBERS_MAX];
    size_t count;
    uint64_t marks; /* one bit per name, by its hash: a name with a new bit is new */
};

/* The byte, repeated eight times. */
#define EACH(byte) (UINT64_C(0x0101010101010101) * (byte))

/*
 * The index of the first byte of eight that is not a plain character of a string: a control
 * character, a quote, a backslash, DEL, or beyond ASCII; 8 if all are plain. The subtraction
 * borrows only from bytes above one that is found, so the lowest byte found is right.
 */
static size_t first_special(uint64_t bytes)
{
    uint64_t quotes = bytes ^ EACH('"'), slashes = bytes ^ EACH('\\'), deletes = bytes ^ EACH(0x7f);
    uint64_t found = (bytes - EACH(0x20)) | (quotes - EACH(1)) | (slashes - EACH(1)) | (deletes - EACH(1)) | bytes;
    found &= EACH(0x80);
    return found != 0 ? (size_t)__builtin_ctzll(found) / 8 : sizeof(bytes);
}

/* The end of the plain characters that begin at at. */
static const char *skip_plain(const char *at, const char *end)
{
    uint64_t bytes;
    for (; (size_t)(end - at) >= sizeof(bytes); at += sizeof(bytes)) {
        memcpy(&bytes, at, sizeof(bytes));
        size_t plain = first_special(le64toh(bytes));
        if (plain < sizeof(bytes))
            return at + plain;
    }
    while (at < end && *at >= 0x20 && *at < 0x7f && *at != '"' && *at != '\\')
        at++;
    return at;
}

/*
 * The take functions consume what their name says. After false the position is of no use: the whole
 * body is refused.
 */
static bool take(struct json_reader *reader, char c)
{
    if (reader->at == reader->end || *reader->at != c)
        return false;
    reader->at++;
    return true;
}

static bool take_literal(struct json_reader *reader, const char *literal)
{
    size_t length = strlen(literal);
    if ((size_t)(reader->end - reader->at) < length || memcmp(reader->at, literal, length) != 0)
        return false;
    reader->at += length;
    return true;
}

/* The four digits after \u, or -1. */
static int take_unit(struct json_reader *reader)
{
    int code = 0;
    if (reader->end - reader->at < 4)
        return -1;
    for (int i = 0; i < 4; i++) {
        int value = ck_hex_value(*reader->at++);
        if (value < 0)
            return -1;
        code = code << 4 | value;
    }
    return code;
}

/*
 * A hidden character beyond the first plane is a surrogate pair; any other is written as itself:
 * one spelling each.
 */
static bool take_code(struct json_reader *reader)
{
    int code = take_unit(reader);
    if (code >= 0xd800 && code <= 0xdbff && take_literal(reader, "\\u")) {
        int low = take_unit(reader);
        uint32_t pair = 0x10000U + (((uint32_t)code & 0x3ffU) << 10) + ((uint32_t)low & 0x3ffU);
        return low >= 0xdc00 && low <= 0xdfff && ck_glyph_hidden(pair);
    }
    /* 0 is refused (many readers end a string there), and so is half of a pair */
    return code > 0 && (code < 0xd800 || code > 0xdfff);
}

static bool take_escape(struct json_reader *reader)
{
    if (reader->at == reader->end)
        return false;
    char c = *reader->at++;
    /* strchr also finds the NUL that ends its string */
    return c == 'u' ? take_code(reader) : c != '\0' && strchr("\"\\/bfnrt", c);
}

/* A writer escapes hidden characters; one byte alone would be a control character. */
static bool take_character(struct json_reader *reader)
{
    size_t length = ck_glyph_shown(reader->at, (size_t)(reader->end - reader->at));
    if (length < 2)
        return false;
    reader->at += length;
    return true;
}

static bool take_string(struct json_reader *reader)
{
    if (!take(reader, '"'))
        return false;
    for (;;) {
        reader->at = skip_plain(reader->at, reader->end);
        if (take(reader, '"'))
            return true;
        if (!(take(reader, '\\') ? take_escape(reader) : take_character(reader)))
            return false;
    }
}

/*
 * False if the object has the name already, or too many. The mark avoids the comparisons for most
 * names; two names with one mark are only compared.
 */
static bool add_member(struct members *members, const char *text, size_t length)
{
    uint64_t mark =
        UINT64_C(1) << (((size_t)(unsigned char)text[0] + 3 * (size_t)(unsigned char)text[length / 2] + 7 * length) &
                        63);
    for (size_t i = 0; (members->marks & mark) != 0 && i < members->count; i++)
        if (members->names[i].length == length && memcmp(members->names[i].text, text, length) == 0)
            return false;
    if (members->count == MEMBERS_MAX)
        return false;
    members->marks |= mark;
    members->names[members->count].text = text;
    members->names[members->count++].length = length;
    return true;
}

/*
 * The name of a member and the colon. Escapes are not allowed in it, so that it has one spelling.
 */
static bool take_name(struct json_reader *reader, struct members *members)
{
    if (!take(reader, '"'))
        return false;
    const char *start = reader->at;
    reader->at = skip_plain(start, reader->end);
    size_t length = (size_t)(reader->at - start);
    return length > 0 && take(reader, '"') && take(reader, ':') && add_member(members, start, length);
}

/* A whole number. Fractions and exponents have several spellings, and no record needs them. */
static bool take_number(struct json_reader *reader)
{
    bool negative = take(reader, '-');
    const char *start = reader->at;
    while (reader->at < reader->end && *reader->at >= '0' && *reader->at <= '9')
        reader->at++;
    size_t digits = (size_t)(reader->at - start);
    /* no leading zero and no -0: one spelling for each number */
    return digits > 0 && digits <= DIGITS_MAX && (*start != '0' || (digits == 1 && !negative));
}

static bool take_value(struct json_reader *reader, int depth);

/* From its opening bracket on. */
static bool take_array(struct json_reader *reader, int depth)
{
    reader->at++;
    if (depth == DEPTH_MAX || take(reader, ']'))
        return depth < DEPTH_MAX;
    do
        if (!take_value(reader, depth + 1))
            return false;
    while (take(reader, ','));
    return take(reader, ']');
}

/* From its opening brace on, as take_array. */
static bool take_object(struct json_reader *reader, int depth)
{
    struct members members;
    members.count = 0;
    members.marks = 0;
    reader->at++;
    if (depth == DEPTH_MAX || take(reader, '}'))
        return depth < DEPTH_MAX;
    do
        if (!take_name(reader, &members) || !take_value(reader, depth + 1))
            return false;
    while (take(reader, ','));
    return take(reader, '}');
}

static bool take_value(struct json_reader *reader, int depth)
{
    switch (reader->at < reader->end ? *reader->at : '\0') {
    case '"':
        return take_string(reader);
    case '{':
        return take_object(reader, depth);
    case '[':
        return take_array(reader, depth);
    case 't':
        return take_literal(reader, "true");
    case 'f':
        return take_literal(reader, "false");
    case 'n':
        return take_literal(reader, "null");
    default:
        return take_number(reader);
    }
}

bool ck_body_is_json(const char *body, size_t length)
{
    /*
     * Names of the envelope and the closing: with one of them in the body, the record would have it
     * twice.
     */
    static const char *const fixed[] = {"v", "log", "seq", "time", "kind", "prev", "hash"};
    struct json_reader reader = {.at = body, .end = body + length};
    struct members members;
    members.count = 0;
    members.marks = 0;
    for (size_t i = 0; i < sizeof(fixed) / sizeof(*fixed); i++)
        (void)add_member(&members, fixed[i], strlen(fixed[i]));
    while (reader.at < reader.end)
        if (!take(&reader, ',') || !take_name(&reader, &members) || !take_value(&reader, 0))
            return false;
    return true;
}

/* The body was checked before, so the text after the two members needs no check here. */
bool ck_body_read_repair(const char *body, size_t length, uint64_t *ret_bytes, char ret_hash[CK_AUDIT_HASH_HEX + 1])
{
    struct json_reader reader = {.at = body, .end = body + length};
    uint64_t bytes = 0;
    if (!take_literal(&reader, ",\"torn_bytes\":"))
        return false;
    const char *start = reader.at;
    if (!take_number(&reader) || *start == '-')
        return false;
    for (const char *at = start; at < reader.at; at++)
        bytes = bytes * 10 + (uint64_t)(*at - '0');
    if (!take_literal(&reader, ",\"torn_hash\":\"") || reader.end - reader.at < CK_AUDIT_HASH_HEX)
        return false;
    memcpy(ret_hash, reader.at, CK_AUDIT_HASH_HEX);
    ret_hash[CK_AUDIT_HASH_HEX] = '\0';
    *ret_bytes = bytes;
    return true;
}
