/* test_certificate.c - what certificates may be used for, by their extensions, however they are written or cut. */
#include "egress/certificate.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define MAX 256

/* Encloses the bytes of inner into an item with this tag, in place. */
static size_t enclose(uint8_t *bytes, size_t length, uint8_t tag)
{
    size_t head = length < 0x80 ? 2 : 3;
    assert_true(length + head <= MAX && length < 0x100);
    memmove(bytes + head, bytes, length);
    bytes[0] = tag;
    bytes[1] = length < 0x80 ? (uint8_t)length : 0x81;
    if (head == 3)
        bytes[2] = (uint8_t)length;
    return length + head;
}

/* A certificate with these extensions, written as a list of items. Returns its length. */
static size_t make(const char *extensions, size_t length, uint8_t bytes[MAX])
{
    memcpy(bytes, extensions, length);
    length = enclose(bytes, length, 0x30);
    length = enclose(bytes, length, 0xa3);
    memmove(bytes + 3, bytes, length);
    memcpy(bytes, "\x02\x01\x07", 3); /* a serial number before it */
    length = enclose(bytes, length + 3, 0x30);
    return enclose(bytes, length, 0x30);
}

#define OF(text) text, sizeof(text) - 1
#define USE "\x06\x03\x55\x1d\x25"
#define NAMES "\x06\x03\x55\x1d\x1e"
#define SERVER "\x06\x08\x2b\x06\x01\x05\x05\x07\x03\x01"
#define CLIENT "\x06\x08\x2b\x06\x01\x05\x05\x07\x03\x02"
#define CRITICAL "\x01\x01\xff"
#define OTHER "\x30\x09\x06\x03\x55\x1d\x0e\x04\x02\x04\x00" /* subjectKeyIdentifier */

static const struct {
    const char *extensions;
    size_t length;
    enum ck_certificate_use use;
} rows[] = {
    {OF(""), CK_CERTIFICATE_HOSTS},
    {OF(OTHER), CK_CERTIFICATE_HOSTS},
    {OF("\x30\x13" USE "\x04\x0c\x30\x0a" SERVER), CK_CERTIFICATE_HOSTS},
    {OF("\x30\x1d" USE "\x04\x16\x30\x14" CLIENT SERVER), CK_CERTIFICATE_HOSTS},
    {OF("\x30\x16" USE CRITICAL "\x04\x0c\x30\x0a" SERVER), CK_CERTIFICATE_HOSTS},
    {OF("\x30\x0f" USE "\x04\x08\x30\x06\x06\x04\x55\x1d\x25\x00"), CK_CERTIFICATE_HOSTS},
    {OF("\x30\x13" USE "\x04\x0c\x30\x0a" CLIENT), CK_CERTIFICATE_OTHER_USES},
    {OF(OTHER "\x30\x16" USE CRITICAL "\x04\x0c\x30\x0a" CLIENT), CK_CERTIFICATE_OTHER_USES},
    {OF("\x30\x09" USE "\x04\x02\x30\x00"), CK_CERTIFICATE_OTHER_USES},
    {OF("\x30\x09" NAMES "\x04\x02\x30\x00"), CK_CERTIFICATE_CERTAIN_NAMES},
    {OF("\x30\x0c" NAMES CRITICAL "\x04\x02\x30\x00"), CK_CERTIFICATE_CERTAIN_NAMES},
    {OF("\x30\x05" USE), CK_CERTIFICATE_UNREADABLE},
    {OF("\x30\x08" USE CRITICAL), CK_CERTIFICATE_UNREADABLE},
    {OF("\x30\x09" USE "\x05\x02\x30\x00"), CK_CERTIFICATE_UNREADABLE},
    {OF("\x30\x09" USE "\x04\x02\x31\x00"), CK_CERTIFICATE_UNREADABLE},
    {OF("\x30\x0b" USE "\x04\x04\x30\x02\x05\x00"), CK_CERTIFICATE_UNREADABLE},
    {OF("\x30\x09" USE "\x04\x80\x30\x00"), CK_CERTIFICATE_UNREADABLE},
    {OF("\x31\x00"), CK_CERTIFICATE_UNREADABLE},
};

static void extensions_say_what_it_is_for(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        uint8_t bytes[MAX];
        size_t length = make(rows[i].extensions, rows[i].length, bytes);
        if (ck_certificate_read_use(bytes, length) != rows[i].use)
            fail_msg("row %zu", i);
    }
}

static void without_extensions_it_is_for_everything(void **state)
{
    (void)state;
    assert_int_equal(ck_certificate_read_use((const uint8_t *)"\x30\x05\x30\x03\x02\x01\x07", 7), CK_CERTIFICATE_HOSTS);
}

/* In a block of its own size, so that a sanitizer sees a read behind its end. */
static enum ck_certificate_use read_copy(const uint8_t *bytes, size_t length)
{
    uint8_t *copy = malloc(length > 0 ? length : 1);
    assert_non_null(copy);
    memcpy(copy, bytes, length);
    enum ck_certificate_use use = ck_certificate_read_use(copy, length);
    free(copy);
    return use;
}

static void beginning_of_one_is_none(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        uint8_t bytes[MAX];
        size_t length = make(rows[i].extensions, rows[i].length, bytes);
        for (size_t cut = 0; cut < length; cut++)
            assert_int_equal(read_copy(bytes, cut), CK_CERTIFICATE_UNREADABLE);
    }
}

static void any_byte_may_be_another(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        uint8_t bytes[MAX];
        size_t length = make(rows[i].extensions, rows[i].length, bytes);
        for (size_t at = 0; at < length; at++)
            for (unsigned value = 0; value < 0x100; value++) {
                uint8_t before = bytes[at];
                bytes[at] = (uint8_t)value;
                (void)read_copy(bytes, length);
                bytes[at] = before;
            }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(extensions_say_what_it_is_for),
        cmocka_unit_test(without_extensions_it_is_for_everything),
        cmocka_unit_test(beginning_of_one_is_none),
        cmocka_unit_test(any_byte_may_be_another),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
