/* test_audit_heads.c - a head has one spelling, a signature covers all of it, and keys are
 * protected from others. */
#include "audit/head.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define HASH "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"
#define HEAD "ckh1.0123456789abcdef.42." HASH

static char place[64];

static int make_place(void **state)
{
    (void)state;
    (void)snprintf(place, sizeof(place), "/tmp/choke-heads-XXXXXX");
    return mkdtemp(place) ? 0 : -1;
}

static const char *in_place(const char *name)
{
    static char path[2][128];
    static unsigned turn;
    (void)snprintf(path[++turn % 2], sizeof(path[0]), "%s/%s", place, name);
    return path[turn % 2];
}

static int remove_place(void **state)
{
    (void)state;
    for (const char *const *name =
             (const char *const[]){"key", "key.pub", "other", "other.pub", "bad", "bad.pub", NULL};
         *name; name++)
        (void)unlink(in_place(*name));
    return rmdir(place);
}

static void a_head_is_read_as_it_was_written(void **state)
{
    (void)state;
    struct ck_head head;
    char text[CK_HEAD_TEXT_MAX];
    assert_int_equal(ck_head_parse(" " HEAD "\n", NULL, &head, NULL), 0);
    assert_int_equal(head.seq, 42);
    assert_string_equal(head.log, "0123456789abcdef");
    assert_string_equal(head.hash, HASH);
    assert_false(head.is_signed);
    ck_head_format(&head, text);
    assert_string_equal(text, HEAD);
}

static void another_spelling_is_not_a_head(void **state)
{
    static const char *const texts[] = {
        "",
        "ckh1",
        "ckh1.",
        "ckh2.0123456789abcdef.42." HASH,
        "ckh1.0123456789abcde.42." HASH,
        "ckh1.0123456789ABCDEF.42." HASH,
        "ckh1.0123456789abcdef.042." HASH,
        "ckh1.0123456789abcdef.-1." HASH,
        "ckh1.0123456789abcdef.." HASH,
        "ckh1.0123456789abcdef.9007199254740992." HASH,
        "ckh1.0123456789abcdef.99999999999999999999999999." HASH,
        HEAD "0",
        HEAD ".",
        HEAD ".AAAA",
        HEAD " " HEAD,
        "x" HEAD,
        "ckh1.0123456789abcdef.42.0011",
    };
    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
        struct ck_head head;
        struct choke_error error = {0};
        assert_int_equal(ck_head_parse(texts[i], NULL, &head, &error), -EINVAL);
        assert_non_null(strstr(error.message, "is not a head"));
    }
}

/* A pair of keys in a file; key is the public one. */
static void make_key(const char *name, char text[CK_KEY_TEXT_MAX], unsigned char key[CK_PUBLIC_BYTES])
{
    assert_int_equal(ck_key_generate(in_place(name), text, NULL), 0);
    assert_int_equal(ck_key_parse_public(text, key, NULL), 0);
}

static void a_signature_is_over_every_character(void **state)
{
    (void)state;
    unsigned char key[CK_PUBLIC_BYTES], other[CK_PUBLIC_BYTES], seed[CK_SEED_BYTES];
    char public[CK_KEY_TEXT_MAX], text[CK_HEAD_TEXT_MAX] = HEAD;
    struct ck_head head;
    make_key("key", public, key);
    assert_int_equal(ck_key_read_secret(in_place("key"), seed, NULL), 0);
    ck_head_sign(text, seed);
    assert_int_equal(ck_head_parse(text, key, &head, NULL), 0);
    assert_true(head.is_signed && head.seq == 42);
    for (size_t i = 0; text[i] != '\0'; i++)
        for (const char *c = "0123456789abcdefghijkAB.-_"; *c != '\0'; c++) {
            char changed[CK_HEAD_TEXT_MAX];
            memcpy(changed, text, sizeof(changed));
            changed[i] = *c;
            assert_true(changed[i] == text[i] || ck_head_parse(changed, key, &head, NULL) < 0);
        }
    make_key("other", public, other);
    assert_int_equal(ck_head_parse(text, other, &head, NULL), -EBADMSG);
    assert_int_equal(ck_head_parse(HEAD, key, &head, NULL), -EINVAL); /* unsigned */
}

static void heads_are_put_in_order_and_all_must_be_right(void **state)
{
    static const char *const good[] = {HEAD, "ckh1.0123456789abcdef.7." HASH, "ckh1.0123456789abcdef.900." HASH, NULL};
    static const char *const bad[] = {HEAD, "ckh1.0123456789abcdef.7", NULL};
    (void)state;
    struct ck_head_list heads;
    assert_int_equal(ck_head_list_parse(good, NULL, &heads, NULL), 0);
    assert_int_equal(heads.count, 3);
    assert_true(heads.items[0].seq == 7 && heads.items[1].seq == 42 && heads.items[2].seq == 900);
    ck_head_list_done(&heads);
    assert_int_equal(ck_head_list_parse(bad, NULL, &heads, NULL), -EINVAL);
    ck_head_list_done(&heads);
    assert_int_equal(ck_head_list_parse(NULL, NULL, &heads, NULL), 0);
    assert_int_equal(heads.count, 0);
    ck_head_list_done(&heads);
    /* A caller with a key and without a head could believe that something was proven. */
    assert_int_equal(ck_head_list_parse(NULL, "ckp1.x", &heads, NULL), -EINVAL);
    ck_head_list_done(&heads);
}

static void keys_are_for_their_owner_and_never_written_over(void **state)
{
    (void)state;
    char public[CK_KEY_TEXT_MAX];
    struct stat status;
    struct choke_error error = {0};
    assert_int_equal(stat(in_place("key"), &status), 0);
    assert_int_equal(status.st_mode & 0777, 0600);
    assert_int_equal(ck_key_generate(in_place("key"), public, &error), -EEXIST);
    assert_non_null(strstr(error.message, "never overwritten"));
    assert_int_equal(unlink(in_place("other")), 0); /* other.pub stays */
    assert_int_equal(ck_key_generate(in_place("other"), public, &error), -EEXIST);
    assert_int_equal(access(in_place("other"), F_OK), -1); /* not half a pair */
    assert_int_equal(ck_key_generate(in_place("missing/key"), public, &error), -ENOENT);
}

static void a_secret_key_that_others_can_read_is_refused(void **state)
{
    (void)state;
    unsigned char seed[CK_SEED_BYTES];
    struct choke_error error = {0};
    for (const mode_t *mode = (const mode_t[]){0640, 0604, 0620, 0601, 0}; *mode != 0; mode++) {
        assert_int_equal(chmod(in_place("key"), *mode), 0);
        assert_int_equal(ck_key_read_secret(in_place("key"), seed, &error), -EPERM);
    }
    assert_int_equal(chmod(in_place("key"), 0600), 0);
    assert_int_equal(ck_key_read_secret(in_place("key"), seed, &error), 0);
    assert_int_equal(ck_key_read_secret("/dev/zero", seed, &error), -EINVAL);
    assert_int_equal(ck_key_read_secret(in_place("absent"), seed, &error), -ENOENT);
    assert_int_equal(chmod(in_place("key.pub"), 0600), 0);
    assert_int_equal(ck_key_read_secret(in_place("key.pub"), seed, &error), -EINVAL);
}

/* A secret key on a command line by mistake must not appear in a message. */
static void a_secret_key_given_as_a_public_one_is_not_shown(void **state)
{
    (void)state;
    unsigned char key[CK_PUBLIC_BYTES];
    struct choke_error error = {0};
    assert_int_equal(ck_key_parse_public("\ncks1.AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", key, &error), -EINVAL);
    assert_null(strstr(error.message, "AAAA"));
    assert_int_equal(ck_key_parse_public("ckp1.AAAA", key, &error), -EINVAL);
    assert_int_equal(ck_key_parse_public("", key, &error), -EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_head_is_read_as_it_was_written),
        cmocka_unit_test(another_spelling_is_not_a_head),
        cmocka_unit_test(a_signature_is_over_every_character),
        cmocka_unit_test(heads_are_put_in_order_and_all_must_be_right),
        cmocka_unit_test(keys_are_for_their_owner_and_never_written_over),
        cmocka_unit_test(a_secret_key_that_others_can_read_is_refused),
        cmocka_unit_test(a_secret_key_given_as_a_public_one_is_not_shown),
    };
    return cmocka_run_group_tests(tests, make_place, remove_place);
}
