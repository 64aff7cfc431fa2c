/* test_audit_body.c - a body that passes is JSON without control bytes; everything that writers
 * write passes. */
#include "audit/body.h"
#include "base/json.h"

#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* The members of an object in full; other values unchanged. */
static bool passes(const char *text)
{
    char body[256];
    size_t length = strlen(text);
    if (length < 3 || text[0] != '{' || text[length - 1] != '}')
        return strcmp(text, "{}") == 0 ? ck_body_is_json("", 0) : ck_body_is_json(text, length);
    body[0] = ',';
    memcpy(body + 1, text + 1, length - 2);
    return ck_body_is_json(body, length - 1);
}

static void json_passes(void **state)
{
    static const char *const texts[] = {
        "{}",
        "{\"a\":1}",
        "{\"a\":-1,\"b\":0,\"c\":123456789012345678}",
        "{\"a\":[],\"b\":{},\"c\":[1,\"x\",null,true,false,{\"d\":[[]]}]}",
        "{\"a\":\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u001b\\u202e\\uffff\"}",
        "{\"a\":\"\\udb40\\udc41\"}",
        "{\"a\":\"\xc3\xa4\xe2\x82\xac\xf0\x9f\x92\xa9\"}",
        "{\"a\":\"\",\"ab\":{\"a\":1,\"v\":2,\"seq\":3},\"b\":[{\"a\":1},{\"a\":1}]}",
    };
    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
        assert_true(passes(texts[i]));
        json_t *parsed = json_loads(texts[i], 0, NULL);
        assert_non_null(parsed);
        json_decref(parsed);
    }
}

static void invalid_json_and_another_format_do_not_pass(void **state)
{
    static const char *const texts[] = {
        ",",
        "{",
        "}",
        "[]",
        "1",
        "\"a\"",
        "{}x",
        "{}{}",
        "{\"a\"}",
        "{\"a\":}",
        "{\"a\":1,}",
        "{,}",
        "{\"a\":1 }",
        " {}",
        "{\"a\":[1,]}",
        "{\"a\":[}",
        "{\"a\":tru}",
        "{\"a\":01}",
        "{\"a\":-}",
        "{\"a\":1.5}",
        "{\"a\":1e3}",
        "{\"a\":+1}",
        "{\"a\":1234567890123456789}",
        "{\"a\":\"}",
        "{\"a\":\"\\\"}",
        "{\"a\":\"\\x\"}",
        "{\"a\":\"\\u12\"}",
        "{\"a\":\"\\u0000\"}",
        "{\"a\":\"\\ud83d\\udca9\"}",
        "{\"a\":\"\\udca9\"}",
        "{\"a\":\"\\udb40\"}",
        "{\"a\":\"\\udb40\\u0041\"}",
        "{\"a\":\"\xf3\xa0\x81\x81\"}",
        "{a:1}",
        "{\"a\":\"\x01\"}",
        "{\"a\":\"\x1b[2J\"}",
        "{\"a\":\"\x7f\"}",
        "{\"a\":\"\xc2\x9b\"}",
        "{\"a\":\"\xe2\x80\xae\"}",
        "{\"a\":\"\xe2\x80\xa8\"}",
        "{\"a\":\"\xe2\x81\xa6\"}",
        "{\"a\":\"\xd8\x9c\"}",
        "{\"a\":\"\xff\"}",
        "{\"a\":\"\xc3\"}",
        "{\"a\":\"\xed\xa0\x80\"}",
        "{\"a\":\"\t\"}",
        "{\"a\":'b'}",
        "{\"a\":NaN}",
        "{\"a\":-0}",
        "{\"\":1}",
        "{\"\\u0061\":1}",
        "{\"\xc3\xa4\":1}",
        "{\"a\":1,\"b\":2,\"a\":3}",
        "{\"a\":{\"b\":1,\"b\":1}}",
        "{\"a\":[{\"b\":1,\"c\":1,\"b\":1}]}",
        "{\"seq\":1}",
        "{\"a\":1,\"kind\":\"intent\"}",
        "{\"hash\":\"\"}",
        "{\"a\":[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]}",
    };
    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
        if (passes(texts[i]))
            fail_msg("'%s' passes", texts[i]);
}

/* Every byte, and every pair with a lead byte of UTF-8, as a writer writes it. */
static void whatever_the_writer_writes_passes(void **state)
{
    (void)state;
    for (unsigned first = 1; first < 256; first++)
        for (unsigned second = first < 0xc0 ? 255 : 1; second < 256; second++) {
            const char text[] = {'a', (char)first, (char)second, (char)0x8e, '\0'};
            char buffer[256];
            struct ck_json json;
            ck_json_init(&json, buffer, sizeof(buffer), true);
            ck_json_text(&json, "a", text);
            ck_json_number(&json, "n", UINT64_C(1) << 53);
            ck_json_integer(&json, "i", -(INT64_C(1) << 53));
            ck_json_bool(&json, "t", true);
            ck_json_text(&json, "none", NULL);
            assert_true(ck_body_is_json(buffer, ck_json_length(&json)));
        }
}

static void a_repair_reports_what_it_vouches_for(void **state)
{
    static const char hash[] = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";
    char repair_hash[CK_AUDIT_HASH_HEX + 1], body[256];
    uint64_t bytes;
    (void)state;
    (void)snprintf(body, sizeof(body), ",\"torn_bytes\":4711,\"torn_hash\":\"%s\",\"reason\":\"x\"", hash);
    assert_true(ck_body_read_repair(body, strlen(body), &bytes, repair_hash));
    assert_int_equal(bytes, 4711);
    assert_string_equal(repair_hash, hash);
    for (size_t length = 0; length < strlen(body) - strlen("\",\"reason\":\"x\""); length++)
        assert_false(ck_body_read_repair(body, length, &bytes, repair_hash));
    (void)snprintf(body, sizeof(body), ",\"torn_bytes\":-1,\"torn_hash\":\"%s\"", hash);
    assert_false(ck_body_read_repair(body, strlen(body), &bytes, repair_hash));
    (void)snprintf(body, sizeof(body), ",\"torn_hash\":\"%s\",\"torn_bytes\":1", hash);
    assert_false(ck_body_read_repair(body, strlen(body), &bytes, repair_hash));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(json_passes),
        cmocka_unit_test(invalid_json_and_another_format_do_not_pass),
        cmocka_unit_test(whatever_the_writer_writes_passes),
        cmocka_unit_test(a_repair_reports_what_it_vouches_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
