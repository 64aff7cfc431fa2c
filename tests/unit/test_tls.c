/* test_tls.c - the name in a ClientHello, however it is cut, and names that are not valid. */
#include "egress/tls.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

struct bytes {
    uint8_t data[CK_HELLO_MAX + 1024];
    size_t length;
};

static void put(struct bytes *bytes, const void *data, size_t length)
{
    assert_true(bytes->length + length <= sizeof(bytes->data));
    memcpy(bytes->data + bytes->length, data, length);
    bytes->length += length;
}

static void put_number(struct bytes *bytes, size_t number, unsigned size)
{
    for (unsigned i = size; i-- > 0;)
        put(bytes, &(uint8_t){(uint8_t)(number >> (8 * i))}, 1);
}

static void put_extension(struct bytes *bytes, size_t type, const void *data, size_t length)
{
    put_number(bytes, type, 2);
    put_number(bytes, length, 2);
    put(bytes, data, length);
}

static void put_name(struct bytes *bytes, const char *name, size_t length)
{
    struct bytes body = {.length = 0};
    put_number(&body, length + 3, 2);
    put_number(&body, 0, 1);
    put_number(&body, length, 2);
    put(&body, name, length);
    put_extension(bytes, 0, body.data, body.length);
}

/* The message around the extensions. */
static void put_hello(struct bytes *bytes, const struct bytes *extensions)
{
    static const uint8_t random[32];
    static const uint8_t suites[] = {0x0a, 0x0a, 0x13, 0x01}; /* the first is GREASE */
    size_t length = 2 + 32 + 1 + 2 + sizeof(suites) + 2 + 2 + extensions->length;
    put_number(bytes, 1, 1);
    put_number(bytes, length, 3);
    put_number(bytes, 0x0303, 2);
    put(bytes, random, sizeof(random));
    put_number(bytes, 0, 1);
    put_number(bytes, sizeof(suites), 2);
    put(bytes, suites, sizeof(suites));
    put_number(bytes, 0x0100, 2);
    put_number(bytes, extensions->length, 2);
    put(bytes, extensions->data, extensions->length);
}

/* In records of this number of bytes each. */
static void put_records(struct bytes *bytes, const struct bytes *message, size_t each)
{
    for (size_t at = 0; at < message->length; at += each) {
        size_t some = message->length - at < each ? message->length - at : each;
        put_number(bytes, 22, 1);
        put_number(bytes, 0x0301, 2);
        put_number(bytes, some, 2);
        put(bytes, message->data + at, some);
    }
}

static enum ck_hello look(const struct bytes *extensions, size_t each, char name[CK_SNI_SIZE])
{
    struct bytes message = {.length = 0}, records = {.length = 0};
    put_hello(&message, extensions);
    put_records(&records, &message, each);
    return ck_tls_hello_read(records.data, records.length, name, &(size_t){0});
}

static void the_name_is_found_however_it_is_cut(void **state)
{
    (void)state;
    struct bytes extensions = {.length = 0};
    put_extension(&extensions, 0x1a1a, "", 0); /* GREASE */
    put_name(&extensions, "www.example.org", 15);
    put_extension(&extensions, 43, "\x04\x03\x04\x03\x03", 5);
    static const size_t sizes[] = {1, 2, 5, 47, 48, 49, 1000};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
        char name[CK_SNI_SIZE] = "";
        assert_int_equal(look(&extensions, sizes[i], name), CK_HELLO_NAMED);
        assert_string_equal(name, "www.example.org");
    }
}

static void half_a_message_is_not_judged(void **state)
{
    (void)state;
    struct bytes extensions = {.length = 0}, message = {.length = 0}, records = {.length = 0};
    char name[CK_SNI_SIZE] = "";
    put_name(&extensions, "a.org", 5);
    put_hello(&message, &extensions);
    put_records(&records, &message, 10);
    for (size_t length = 0; length < records.length; length++)
        assert_int_equal(ck_tls_hello_read(records.data, length, name, &(size_t){0}), CK_HELLO_MORE);
    assert_int_equal(ck_tls_hello_read(records.data, records.length, name, &(size_t){0}), CK_HELLO_NAMED);
    put(&records, "\x17\x03\x03\x00\x01x", 6); /* early data after it */
    assert_int_equal(ck_tls_hello_read(records.data, records.length, name, &(size_t){0}), CK_HELLO_NAMED);
}

static void a_message_in_single_bytes_is_looked_at_some_dozens_of_times(void **state)
{
    (void)state;
    static char filler[4000];
    struct bytes extensions = {.length = 0}, message = {.length = 0};
    static struct bytes records;
    char name[CK_SNI_SIZE] = "";
    records.length = 0;
    put_extension(&extensions, 21, filler, sizeof(filler));
    put_name(&extensions, "a.org", 5);
    put_hello(&message, &extensions);
    message.length = message.length < 2800 ? message.length : 2800;
    put_records(&records, &message, 1);
    unsigned looks = 0;
    for (size_t length = 1; length < records.length;) {
        size_t needed = ck_tls_hello_needed(records.data, length);
        assert_true(needed > length);
        assert_int_equal(
            ck_tls_hello_read(records.data, needed - 1 < records.length ? needed - 1 : length, name, &(size_t){0}),
            CK_HELLO_MORE);
        length = needed;
        looks++;
    }
    assert_true(looks < 100);
    assert_int_equal(ck_tls_hello_needed((const uint8_t *)"GET ", 4), 0);
}

static void an_encrypted_name_is_distinguished(void **state)
{
    (void)state;
    char name[CK_SNI_SIZE];
    struct bytes before = {.length = 0}, after = {.length = 0}, esni_draft = {.length = 0};
    put_extension(&before, 0xfe0d, "xxxx", 4);
    put_name(&before, "outer.example", 13);
    put_name(&after, "outer.example", 13);
    put_extension(&after, 0xfe0d, "xxxx", 4);
    put_extension(&esni_draft, 0xffce, "xxxx", 4);
    assert_int_equal(look(&before, 1000, name), CK_HELLO_ENCRYPTED);
    assert_int_equal(look(&after, 1000, name), CK_HELLO_ENCRYPTED);
    assert_int_equal(look(&esni_draft, 1000, name), CK_HELLO_ENCRYPTED);
}

static void a_message_without_a_name_says_so(void **state)
{
    (void)state;
    char name[CK_SNI_SIZE];
    struct bytes none = {.length = 0}, other = {.length = 0};
    put_extension(&other, 43, "\x02\x03\x04", 3);
    assert_int_equal(look(&none, 1000, name), CK_HELLO_UNNAMED);
    assert_int_equal(look(&other, 1000, name), CK_HELLO_UNNAMED);
}

static void two_names_and_odd_names_are_malformed(void **state)
{
    (void)state;
    char name[CK_SNI_SIZE], many[300];
    struct bytes twice = {.length = 0}, nul = {.length = 0}, list = {.length = 0}, kind = {.length = 0};
    struct bytes empty = {.length = 0}, wide = {.length = 0};
    memset(many, 'a', sizeof(many));
    put_name(&twice, "a.org", 5);
    put_name(&twice, "b.org", 5);
    put_name(&nul, "a.org\0b.org", 11);
    put_extension(&list, 0,
                  "\x00\x10\x00\x00\x05"
                  "a.org\x00\x00\x05"
                  "b.org",
                  18);
    put_extension(&kind, 0,
                  "\x00\x08\x01\x00\x05"
                  "a.org",
                  10);
    put_extension(&empty, 0, "\x00\x03\x00\x00\x00", 5);
    put_name(&wide, many, sizeof(many));
    const struct bytes *const rows[] = {&twice, &nul, &list, &kind, &empty, &wide};
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        if (look(rows[i], 1000, name) != CK_HELLO_MALFORMED)
            fail_msg("row %zu", i);
}

static void other_protocols_are_detected_by_their_first_bytes(void **state)
{
    static const struct {
        const char *data;
        size_t length;
        enum ck_hello hello;
    } rows[] = {
        {"", 0, CK_HELLO_MORE},
        {"\x16", 1, CK_HELLO_MORE},
        {"\x16\x03", 2, CK_HELLO_MORE},
        {"\x16\x02", 2, CK_HELLO_OTHER},
        {"G", 1, CK_HELLO_OTHER},
        {"SSH-2.0-x\r\n", 11, CK_HELLO_OTHER},
        {"\x80\x2e\x01\x03\x01", 5, CK_HELLO_OTHER},
        {"\x15\x03\x01\x00\x02\x02\x28", 7, CK_HELLO_OTHER},
        {"\x16\x03\x01\x00\x00", 5, CK_HELLO_MALFORMED},
        {"\x16\x03\x01\x40\x01", 5, CK_HELLO_MALFORMED},
        {"\x16\x03\x01\x00\x04\x02", 6, CK_HELLO_MALFORMED},             /* another message */
        {"\x16\x03\x01\x00\x04\x01\x00\x40\x01", 9, CK_HELLO_MALFORMED}, /* longer than any allowed */
        {"\x16\x03\x01\x00\x01\x01\x17\x03\x03\x00\x01x", 12, CK_HELLO_MALFORMED},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        char name[CK_SNI_SIZE];
        if (ck_tls_hello_read((const uint8_t *)rows[i].data, rows[i].length, name, &(size_t){0}) != rows[i].hello)
            fail_msg("row %zu", i);
    }
}

static void lengths_must_agree_to_the_byte(void **state)
{
    (void)state;
    struct bytes extensions = {.length = 0}, message = {.length = 0}, records = {.length = 0};
    char name[CK_SNI_SIZE];
    put_name(&extensions, "a.org", 5);
    put_hello(&message, &extensions);
    message.data[message.length - extensions.length - 1]--; /* of all extensions */
    put_records(&records, &message, 1000);
    assert_int_equal(ck_tls_hello_read(records.data, records.length, name, &(size_t){0}), CK_HELLO_MALFORMED);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_name_is_found_however_it_is_cut),
        cmocka_unit_test(half_a_message_is_not_judged),
        cmocka_unit_test(a_message_in_single_bytes_is_looked_at_some_dozens_of_times),
        cmocka_unit_test(an_encrypted_name_is_distinguished),
        cmocka_unit_test(a_message_without_a_name_says_so),
        cmocka_unit_test(two_names_and_odd_names_are_malformed),
        cmocka_unit_test(other_protocols_are_detected_by_their_first_bytes),
        cmocka_unit_test(lengths_must_agree_to_the_byte),
    };
    return cmocka_run_group_tests_name("tls", tests, NULL, NULL);
}
