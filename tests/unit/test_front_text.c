/* test_front_text.c - text for people: how untrusted bytes are shown, and errors without
 * credentials. */
#include "front/text.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void hidden_characters_are_escaped_and_quotes_are_not(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *shown;
    } rows[] = {
        {"", ""},
        {"a 'b' \\ c", "a 'b' \\ c"},
        {"a\nb\t\033[31m\x7f", "a\\x0ab\\x09\\x1b[31m\\x7f"},
        {"caf\xc3\xa9", "caf\xc3\xa9"},
        {"\xff\xc3", "\\xff\\xc3"},
        {"\xe2\x80\xae", "\\xe2\\x80\\xae"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        assert_string_equal(CK_TEXT_SAFE(rows[i].text), rows[i].shown);
}

static void what_does_not_fit_ends_in_dots(void **state)
{
    (void)state;
    char dst[16];
    assert_string_equal(ck_text_safe(dst, sizeof(dst), "0123456789abcdef"), "0123456789ab...");
    assert_string_equal(ck_text_safe(dst, sizeof(dst), "0123456789\n\n\n"), "0123456789...");
}

/* What print writes; to be freed by the caller. */
static char *printed(void (*print)(FILE *, const char *), const char *text)
{
    char *bytes = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&bytes, &length);
    assert_non_null(out);
    print(out, text);
    assert_int_equal(fclose(out), 0);
    return bytes;
}

static void print_plain(FILE *out, const char *text)
{
    ck_text_print(out, text, strlen(text));
}

static void a_stream_gets_the_same_without_a_bound(void **state)
{
    (void)state;
    char *text = printed(print_plain, "a'\\\n\xff\xc3\xa9");
    assert_string_equal(text, "a'\\\\x0a\\xff\xc3\xa9");
    free(text);
}

static void an_argument_is_bare_or_in_the_quotes_of_bash(void **state)
{
    (void)state;
    static const struct {
        const char *word;
        const char *shown;
    } rows[] = {
        {"a/b-c.d=1", "a/b-c.d=1"},
        {"", "$''"},
        {"it's \\ a\nword", "$'it\\'s \\\\ a\\x0aword'"},
        {"\xff\xc3\xa9", "$'\\xff\xc3\xa9'"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char *text = printed(ck_text_print_quoted, rows[i].word);
        assert_string_equal(text, rows[i].shown);
        free(text);
    }
}

static void an_error_has_no_credential_and_may_be_nobodys(void **state)
{
    (void)state;
    struct choke_error error;
    assert_int_equal(ck_text_error(&error, CHOKE_INVALID, EINVAL, "no '%s'", "x"), -EINVAL);
    assert_int_equal(error.outcome, CHOKE_INVALID);
    assert_string_equal(error.message, "no 'x'");
    assert_int_equal(ck_text_error(&error, CHOKE_INVALID, ENOENT, "no '%s'", "AKIAIOSFODNN7EXAMPLE"), -ENOENT);
    assert_null(strstr(error.message, "AKIA"));
    assert_int_equal(ck_text_error(NULL, CHOKE_INVALID, EINVAL, "no '%s'", "x"), -EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hidden_characters_are_escaped_and_quotes_are_not),
        cmocka_unit_test(what_does_not_fit_ends_in_dots),
        cmocka_unit_test(a_stream_gets_the_same_without_a_bound),
        cmocka_unit_test(an_argument_is_bare_or_in_the_quotes_of_bash),
        cmocka_unit_test(an_error_has_no_credential_and_may_be_nobodys),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
