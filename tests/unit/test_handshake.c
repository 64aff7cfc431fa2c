/* test_handshake.c - what may follow a first ClientHello in clear text, however it is cut, and
 * where the inspection ends. */
#include "egress/handshake.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define ROWS(array) (sizeof(array) / sizeof(array)[0])
#define SIZE 4096

struct bytes {
    uint8_t data[SIZE];
    size_t length;
};

static void put(struct bytes *bytes, const void *data, size_t length)
{
    assert_true(bytes->length + length <= SIZE);
    memcpy(bytes->data + bytes->length, data, length);
    bytes->length += length;
}

static void put_record(struct bytes *bytes, uint8_t type, const void *data, size_t length)
{
    const uint8_t header[] = {type, 3, 3, (uint8_t)(length >> 8), (uint8_t)length};
    put(bytes, header, sizeof(header));
    put(bytes, data, length);
}

/* A ClientHello that names a host. */
static void put_client_hello(struct bytes *bytes, const char *name)
{
    struct bytes message = {0};
    size_t length = strlen(name);
    const uint8_t head[] = {1, 0, 0, (uint8_t)(2 + 32 + 1 + 4 + 2 + 2 + 9 + length), 3, 3};
    const uint8_t middle[] = {0, 0, 2, 0x13, 1, 1, 0, 0, (uint8_t)(9 + length)};
    const uint8_t extension[] = {0, 0, 0, (uint8_t)(5 + length), 0, (uint8_t)(3 + length), 0, 0, (uint8_t)length};
    put(&message, head, sizeof(head));
    put(&message, (const uint8_t[32]){0}, 32);
    put(&message, middle, sizeof(middle));
    put(&message, extension, sizeof(extension));
    put(&message, name, length);
    put_record(bytes, 22, message.data, message.length);
}

static void put_server_hello(struct bytes *bytes, bool retry)
{
    static const uint8_t retry_random[] = "\xcf\x21\xad\x74\xe5\x9a\x61\x11\xbe\x1d\x8c\x02\x1e\x65\xb8\x91"
                                          "\xc2\xa2\x11\x16\x7a\xbb\x8c\x5e\x07\x9e\x09\xe2\xc8\xa8\x33\x9c";
    static const uint8_t head[] = {2, 0, 0, 2 + 32 + 4, 3, 3}, rest[] = {0, 0x13, 1, 0};
    struct bytes message = {0};
    put(&message, head, sizeof(head));
    put(&message, retry ? retry_random : (const uint8_t[32]){0}, 32);
    put(&message, rest, sizeof(rest));
    put_record(bytes, 22, message.data, message.length);
}

/* One letter for each message of either side. */
static void spell(struct bytes *bytes, const char *letters)
{
    for (; *letters != '\0'; letters++) {
        if (*letters == 'h' || *letters == 'o')
            put_client_hello(bytes, *letters == 'h' ? "host" : "other");
        else if (*letters == 'R' || *letters == 'S')
            put_server_hello(bytes, *letters == 'R');
        else if (*letters == 'k') /* keys, in two messages and a bit */
            put_record(bytes, 22, "\x0b\0\0\0\x10\0\0\2\1\1\x0f\0", 12);
        else if (*letters == 'l') /* and the rest of the third */
            put_record(bytes, 22, "\0\1\1", 3);
        else if (*letters == 'c')
            put_record(bytes, 20, "\1", 1);
        else if (*letters == 'a')
            put_record(bytes, 21, "\1\x5a", 2);
        else if (*letters == 'd')
            put_record(bytes, 23, "0123456789", 10);
        else if (*letters == 'x')
            put(bytes, "220 ready\r\n", 11);
    }
}

/* Sends all, and returns the end: '.' it goes on, 'n' another name, 'u' unasked, 'm' malformed, '>'
 * over. */
static char play(const char *server, const char *client, bool cut)
{
    struct ck_handshake handshake = {0};
    struct bytes says = {0}, sends = {0};
    size_t passed = 0;
    spell(&says, server);
    spell(&sends, client);
    for (size_t at = 0; at < says.length; at += cut ? 1 : says.length)
        ck_handshake_server(&handshake, says.data + at, cut ? 1 : says.length);
    for (size_t length = cut ? 1 : sends.length; length <= sends.length; length++) {
        enum ck_handshake_progress verdict = CK_HANDSHAKE_HELLO;
        while (verdict == CK_HANDSHAKE_HELLO) {
            struct ck_handshake_hello found = {0};
            size_t pass = 0;
            verdict = ck_handshake_client(&handshake, sends.data + passed, length - passed, &pass, &found);
            if (verdict == CK_HANDSHAKE_HELLO && (found.hello != CK_HELLO_NAMED || strcmp(found.name, "host") != 0))
                return 'n';
            if (verdict == CK_HANDSHAKE_HELLO && handshake.unrequested)
                return 'u';
            passed += pass;
        }
        if (verdict != CK_HANDSHAKE_MORE)
            return verdict == CK_HANDSHAKE_OVER ? '>' : 'm';
    }
    assert_int_equal(passed, sends.length);
    return '.';
}

static void what_may_follow_a_first_hello(void **state)
{
    (void)state;
    static const struct {
        const char *server, *client;
        char end;
    } rows[] = {
        {"", "", '.'},    {"", "a", '.'},     {"", "cd", '.'},    {"", "h", 'u'},     {"", "o", 'n'},
        {"", "k", 'n'},   {"", "x", 'm'},     {"R", "h", '.'},    {"R", "o", 'n'},    {"R", "ch", '.'},
        {"R", "co", 'n'}, {"R", "cddh", '.'}, {"R", "cddo", 'n'}, {"R", "ah", '.'},   {"R", "hh", 'u'},
        {"R", "ho", 'n'}, {"R", "k", 'n'},    {"R", "hcd", '.'},  {"RcS", "hd", 'm'}, {"S", "cd", '>'},
        {"S", "d", '>'},  {"S", "h", 'm'},    {"S", "o", 'm'},    {"S", "klc", '>'},  {"S", "klo", 'm'},
        {"S", "a", '.'},  {"aS", "klc", '>'}, {"aR", "h", '.'},   {"RR", "h", '.'},   {"RR", "hc", '.'},
        {"x", "h", 'u'},  {"x", "cd", '.'},   {"d", "h", 'u'},    {"Rd", "h", '.'},   {"k", "h", 'u'},
    };
    for (size_t i = 0; i < ROWS(rows); i++) {
        char whole = play(rows[i].server, rows[i].client, false), cut = play(rows[i].server, rows[i].client, true);
        if (whole != rows[i].end || cut != rows[i].end)
            fail_msg("server '%s', client '%s': '%c' and in pieces '%c'", rows[i].server, rows[i].client, whole, cut);
    }
}

/* The answer of the host counts from the moment it is sent. */
static void an_incomplete_answer_is_invalid(void **state)
{
    (void)state;
    struct bytes says = {0}, sends = {0};
    put_server_hello(&says, true);
    put_client_hello(&sends, "host");
    for (size_t length = 0; length < 5 + CK_SERVER_HEAD; length++) {
        struct ck_handshake handshake = {0};
        struct ck_handshake_hello found = {0};
        size_t pass = 0;
        ck_handshake_server(&handshake, says.data, length);
        assert_int_equal(ck_handshake_client(&handshake, sends.data, sends.length, &pass, &found), CK_HANDSHAKE_HELLO);
        assert_true(handshake.unrequested && !handshake.retried);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_may_follow_a_first_hello),
        cmocka_unit_test(an_incomplete_answer_is_invalid),
    };
    return cmocka_run_group_tests_name("follow", tests, NULL, NULL);
}
