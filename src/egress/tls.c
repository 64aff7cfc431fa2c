/*
 * tls.c - parses a ClientHello.
 *
 * A ClientHello may be split into records at any byte, so it is read through a cursor that steps
 * over record headers. The whole message is parsed, not only up to the name: a second name or the
 * encrypted form may come after it. If two programs could read it differently, a name could be
 * smuggled, so lengths must agree to the byte.
 */
#include "egress/tls.h"

#include <stdbool.h>
#include <string.h>

#define RECORD_HANDSHAKE 22
#define RECORD_MAX 16384
#define MESSAGE_CLIENT_HELLO 1
#define EXTENSION_SERVER_NAME 0
#define EXTENSION_ECH 0xfe0d
#define EXTENSION_ESNI 0xffce /* the draft before ECH */

/* A position in the message. Headers of records between its bytes are skipped. */
struct cursor {
    const uint8_t *data;
    size_t length;
    size_t at; /* the next byte of data */
    size_t record_left;
    size_t message_left;
    enum ck_hello verdict; /* why reading stopped */
};

/* What is learned from a hello. */
struct hello_fields {
    bool has_name;
    bool encrypted;
    char name[CK_SNI_SIZE];
};

/* Always false, so that a reader can return it. */
static bool stop(struct cursor *cursor, enum ck_hello verdict)
{
    cursor->verdict = verdict;
    return false;
}

static bool begin_record(struct cursor *cursor)
{
    /*
     * A handshake record of major version 3. Each byte is checked as it arrives: a client of
     * another protocol may send one byte and wait.
     */
    static const uint8_t begin[] = {RECORD_HANDSHAKE, 3};
    size_t have = cursor->length - cursor->at;
    const uint8_t *header = cursor->data + cursor->at;
    for (size_t i = 0; i < sizeof(begin) && i < have; i++)
        if (header[i] != begin[i])
            return stop(cursor, cursor->at == 0 ? CK_HELLO_OTHER : CK_HELLO_MALFORMED);
    if (have < 5)
        return stop(cursor, CK_HELLO_MORE);
    cursor->record_left = (size_t)header[3] << 8 | header[4];
    cursor->at += 5;
    /* RFC 8446, 5.1: a handshake record is not empty. */
    if (cursor->record_left == 0 || cursor->record_left > RECORD_MAX)
        return stop(cursor, CK_HELLO_MALFORMED);
    return true;
}

/* The next byte of the records' content. */
static bool take_byte(struct cursor *cursor, uint8_t *ret_byte)
{
    if (cursor->record_left == 0 && !begin_record(cursor))
        return false;
    if (cursor->at == cursor->length)
        return stop(cursor, CK_HELLO_MORE);
    *ret_byte = cursor->data[cursor->at++];
    cursor->record_left--;
    return true;
}

/* One byte of the message; false after its end. */
static bool take(struct cursor *cursor, uint8_t *ret_byte)
{
    if (cursor->message_left == 0)
        return stop(cursor, CK_HELLO_MALFORMED);
    if (!take_byte(cursor, ret_byte))
        return false;
    cursor->message_left--;
    return true;
}

/* In network order. */
static bool take_number(struct cursor *cursor, unsigned bytes, size_t *ret_number)
{
    size_t number = 0;
    for (unsigned i = 0; i < bytes; i++) {
        uint8_t byte = 0;
        if (!take(cursor, &byte))
            return false;
        number = number << 8 | byte;
    }
    *ret_number = number;
    return true;
}

static bool skip(struct cursor *cursor, size_t count)
{
    uint8_t ignored;
    while (count-- > 0)
        if (!take(cursor, &ignored))
            return false;
    return true;
}

/*
 * A field with its length before it. The length must be between the two limits and a multiple of
 * step.
 */
static bool skip_field(struct cursor *cursor, unsigned bytes, size_t least, size_t most, size_t step)
{
    size_t length = 0;
    if (!take_number(cursor, bytes, &length))
        return false;
    if (length < least || length > most || length % step != 0)
        return stop(cursor, CK_HELLO_MALFORMED);
    return skip(cursor, length);
}

/* The extension has a list (2 bytes of length) of entries: a type, 2 bytes of length, a name. */
static bool read_server_name(struct cursor *cursor, size_t size, struct hello_fields *found)
{
    size_t list = 0, type = 0, length = 0;
    if (size < 2 + 3 + 1)
        return stop(cursor, CK_HELLO_MALFORMED);
    if (!take_number(cursor, 2, &list) || !take_number(cursor, 1, &type) || !take_number(cursor, 2, &length))
        return false;
    /* Exactly one name of type host_name (RFC 6066, 3): a list of several would be ambiguous. */
    bool exact = list == size - 2 && type == 0 && length == list - 3 && length < CK_SNI_SIZE;
    if (!exact || found->has_name)
        return stop(cursor, CK_HELLO_MALFORMED);
    for (size_t i = 0; i < length; i++) {
        uint8_t byte = 0;
        if (!take(cursor, &byte))
            return false;
        /* a C string elsewhere would end here and be another name */
        if (byte == 0)
            return stop(cursor, CK_HELLO_MALFORMED);
        found->name[i] = (char)byte;
    }
    found->has_name = true;
    return true;
}

static bool read_extensions(struct cursor *cursor, struct hello_fields *found)
{
    /* Before TLS 1.3 a ClientHello may end without extensions. */
    size_t total = 0;
    if (cursor->message_left == 0)
        return true;
    if (!take_number(cursor, 2, &total))
        return false;
    /* nothing may follow the extensions */
    if (total != cursor->message_left)
        return stop(cursor, CK_HELLO_MALFORMED);
    while (cursor->message_left > 0) {
        size_t type = 0, size = 0;
        if (!take_number(cursor, 2, &type) || !take_number(cursor, 2, &size))
            return false;
        if (size > cursor->message_left)
            return stop(cursor, CK_HELLO_MALFORMED);
        found->encrypted = found->encrypted || type == EXTENSION_ECH || type == EXTENSION_ESNI;
        if (type == EXTENSION_SERVER_NAME ? !read_server_name(cursor, size, found) : !skip(cursor, size))
            return false;
    }
    return true;
}

/* RFC 8446, 4.1.2. The limits of the fields are those of the RFC. */
static bool read_hello(struct cursor *cursor, struct hello_fields *found)
{
    size_t type = 0, length = 0;
    /* The header of the message: type and length. */
    cursor->message_left = 4;
    if (!take_number(cursor, 1, &type))
        return false;
    if (type != MESSAGE_CLIENT_HELLO)
        return stop(cursor, CK_HELLO_MALFORMED);
    if (!take_number(cursor, 3, &length))
        return false;
    if (length > CK_HELLO_MAX)
        return stop(cursor, CK_HELLO_MALFORMED);
    cursor->message_left = length;
    return skip(cursor, 2 + 32) &&                    /* version, random */
           skip_field(cursor, 1, 0, 32, 1) &&         /* session */
           skip_field(cursor, 2, 2, UINT16_MAX, 2) && /* cipher suites */
           skip_field(cursor, 1, 1, UINT8_MAX, 1) &&  /* compression */
           read_extensions(cursor, found) && (cursor->record_left == 0 || stop(cursor, CK_HELLO_MALFORMED));
}

enum ck_hello ck_tls_hello_read(const uint8_t *data, size_t length, char ret_name[CK_SNI_SIZE], size_t *ret_bytes)
{
    struct cursor cursor = {.data = data, .length = length};
    struct hello_fields found = {0};
    *ret_bytes = 0;
    if (!read_hello(&cursor, &found))
        return cursor.verdict;
    *ret_bytes = cursor.at;
    if (found.encrypted)
        return CK_HELLO_ENCRYPTED;
    if (!found.has_name)
        return CK_HELLO_UNNAMED;
    memcpy(ret_name, found.name, sizeof(found.name));
    return CK_HELLO_NAMED;
}

size_t ck_tls_hello_needed(const uint8_t *data, size_t length)
{
    struct cursor cursor = {.data = data, .length = length};
    struct hello_fields found = {0};
    if (read_hello(&cursor, &found) || cursor.verdict != CK_HELLO_MORE)
        return 0;
    return length + (cursor.message_left > 0 ? cursor.message_left : 1);
}
