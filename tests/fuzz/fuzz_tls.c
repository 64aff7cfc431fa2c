/*
 * fuzz_tls.c - any bytes as the first message of a TLS client, or as what follows it.
 *
 * The result does not change when more bytes come, nor when the same message is cut into records of
 * one byte.
 *
 * An input that begins with the byte 0xf1 is the rest of a handshake: pieces that begin with 0
 * (client) or 1 (server) and two bytes of length. However the pieces are cut, the same bytes pass;
 * and until the server has decided, no hello passes but one that names the host.
 */
#include "promise.h"

#include "egress/handshake.h"

#include <string.h>

static enum ck_hello look(const uint8_t *data, size_t length, char name[CK_SNI_SIZE], size_t *ret_bytes)
{
    uint8_t *exact = malloc(length + 1);
    require(exact);
    if (length > 0)
        memcpy(exact, data, length);
    memset(name, 0, CK_SNI_SIZE);
    enum ck_hello hello = ck_tls_hello_read(exact, length, name, ret_bytes);
    require(hello >= CK_HELLO_MORE && hello <= CK_HELLO_OTHER);
    require(memchr(name, '\0', CK_SNI_SIZE) && (hello == CK_HELLO_NAMED) == (name[0] != '\0'));
    require(*ret_bytes <= length);
    free(exact);
    return hello;
}

/* The first record cut into records of one byte; NULL if it is not complete. */
static uint8_t *cut(const uint8_t *data, size_t length, size_t *ret_length)
{
    size_t bytes = length >= 5 ? (size_t)data[3] << 8 | data[4] : 0;
    if (bytes == 0 || length < 5 + bytes || bytes > 4096)
        return NULL;
    uint8_t *out = malloc(bytes * 6);
    require(out);
    for (size_t i = 0; i < bytes; i++) {
        const uint8_t record[6] = {data[0], data[1], data[2], 0, 1, data[5 + i]};
        memcpy(out + i * 6, record, sizeof(record));
    }
    *ret_length = bytes * 6;
    return out;
}

#define FLIGHTS 0xf1
#define HOST "web.example.org"

struct line {
    struct ck_handshake handshake;
    uint8_t *sent; /* from the client; the first of them have passed */
    size_t length, passed;
    bool refused, over;
};

static bool is_for_host(const struct ck_handshake_hello *found)
{
    return found->hello == CK_HELLO_NAMED && strcmp(found->name, HOST) == 0;
}

static void take_client(struct line *line, const uint8_t *data, size_t length)
{
    enum ck_handshake_progress verdict = CK_HANDSHAKE_HELLO;
    memcpy(line->sent + line->length, data, length);
    line->length += length;
    while (verdict == CK_HANDSHAKE_HELLO && !line->refused && !line->over) {
        struct ck_handshake_hello found = {0};
        size_t pass = 0, rest = line->length - line->passed;
        verdict = ck_handshake_client(&line->handshake, line->sent + line->passed, rest, &pass, &found);
        require(pass <= rest);
        line->refused = verdict == CK_HANDSHAKE_MALFORMED ||
                        (verdict == CK_HANDSHAKE_HELLO && (line->handshake.unrequested || !is_for_host(&found)));
        line->over = verdict == CK_HANDSHAKE_OVER;
        if (!line->refused)
            line->passed += pass;
    }
}

static void play(struct line *line, const uint8_t *data, size_t size, bool cut_up)
{
    while (size >= 3) {
        size_t length = (size_t)data[1] << 8 | data[2];
        bool server = (data[0] & 1) != 0;
        length = length < size - 3 ? length : size - 3;
        size_t step = cut_up || length == 0 ? 1 : length;
        for (size_t at = 0; at < length; at += step) {
            if (server)
                ck_handshake_server(&line->handshake, data + 3 + at, step);
            else
                take_client(line, data + 3 + at, step);
        }
        data += 3 + length;
        size -= 3 + length;
    }
}

/* Every handshake record that has passed is one hello for the host. */
static void check_strict(const struct line *line)
{
    for (size_t at = 0; at + CK_RECORD_HEADER <= line->passed;) {
        const uint8_t *record = line->sent + at;
        size_t bytes = CK_RECORD_HEADER + ((size_t)record[3] << 8 | record[4]);
        struct ck_handshake_hello found = {0};
        if (record[0] == 22) {
            found.hello = ck_tls_hello_read(record, line->passed - at, found.name, &bytes);
            require(is_for_host(&found) && bytes > 0);
        }
        at += bytes;
    }
}

static void handshake(const uint8_t *data, size_t size)
{
    uint8_t *room = malloc(2 * size + 1);
    require(room);
    struct line whole = {.sent = room}, pieces = {.sent = room + size};
    play(&whole, data, size, false);
    play(&pieces, data, size, true);
    /* A hello in pieces is not read again for each: a fault may be noticed later, but it does not
     * pass. */
    bool waits = pieces.handshake.needed > pieces.length - pieces.passed;
    require((whole.refused == pieces.refused || waits) && whole.over == pieces.over);
    require(whole.refused || whole.passed == pieces.passed);
    require(whole.handshake.decided == pieces.handshake.decided && whole.handshake.retried == pieces.handshake.retried);
    require(!whole.over || whole.handshake.decided);
    if (!whole.handshake.decided) {
        check_strict(&whole);
        check_strict(&pieces);
    }
    free(room);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > 0 && data[0] == FLIGHTS) {
        handshake(data + 1, size - 1);
        return 0;
    }
    char name[CK_SNI_SIZE], other[CK_SNI_SIZE];
    size_t bytes = 0;
    enum ck_hello whole = look(data, size, name, &bytes);
    enum ck_hello first = CK_HELLO_MORE;
    for (size_t length = 0; length <= size && length < 2048 && first == CK_HELLO_MORE; length++)
        first = look(data, length, other, &bytes);
    size_t needed = ck_tls_hello_needed(data, size);
    require((needed > size) == (whole == CK_HELLO_MORE) && (needed == 0 || needed > size));
    if (first != CK_HELLO_MORE)
        require(first == whole && strcmp(name, other) == 0);
    size_t length = 0;
    uint8_t *pieces = cut(data, size, &length);
    if (pieces && size == 5 + length / 6) {
        enum ck_hello again = look(pieces, length, other, &bytes);
        /* A message that ends before its record: in pieces, the rest is in separate records. */
        bool shorter = bytes > 0 && bytes < length;
        require(shorter ? whole == CK_HELLO_MALFORMED : again == whole && strcmp(name, other) == 0);
    }
    free(pieces);
    return 0;
}
