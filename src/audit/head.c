/*
 * head.c - heads as text. A head has exactly one spelling, and the signature is over this text, so
 * what is verified is what was read.
 */
#include "audit/head.h"

#include "audit/cursor.h"
#include "base/error.h"
#include "base/quote.h"

#include <errno.h>
#include <inttypes.h>
#include <sodium/crypto_sign_ed25519.h>
#include <sodium/utils.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* No '+', '/' or '=', so a head can be an argument or a part of a URL as it is. */
#define VARIANT sodium_base64_VARIANT_URLSAFE_NO_PADDING
#define PREFIX "ckh1."
#define BLANKS " \t\r\n"

_Static_assert(crypto_sign_ed25519_SEEDBYTES == CK_SEED_BYTES, "a secret key is a seed");
_Static_assert(crypto_sign_ed25519_PUBLICKEYBYTES == CK_PUBLIC_BYTES, "keys");
_Static_assert(crypto_sign_ed25519_BYTES == CK_SIGNATURE_BYTES, "signatures");

void ck_head_format(const struct ck_head *head, char ret_text[CK_HEAD_TEXT_MAX])
{
    (void)snprintf(ret_text, CK_HEAD_TEXT_MAX, PREFIX "%s.%" PRIu64 ".%s", head->log, head->seq, head->hash);
}

/* The text with its NUL and the signature fit: CK_HEAD_TEXT_MAX has room for the longest head. */
void ck_head_sign(char text[CK_HEAD_TEXT_MAX], const unsigned char seed[CK_SEED_BYTES])
{
    unsigned char public[crypto_sign_ed25519_PUBLICKEYBYTES];
    unsigned char secret[crypto_sign_ed25519_SECRETKEYBYTES];
    unsigned char signature[crypto_sign_ed25519_BYTES];
    size_t length = strlen(text);
    /*
     * libsodium's secret key is the seed and the public key together, so it is derived each time.
     */
    (void)crypto_sign_ed25519_seed_keypair(public, secret, seed);
    (void)crypto_sign_ed25519_detached(signature, NULL, (const unsigned char *)text, length, secret);
    sodium_memzero(secret, sizeof(secret));
    text[length] = '.';
    (void)sodium_bin2base64(text + length + 1, CK_HEAD_TEXT_MAX - length - 1, signature, sizeof(signature), VARIANT);
}

/* ---- reading ---- */

/*
 * All that is left. libsodium refuses other characters and unused bits that are set, so a signature
 * has one spelling.
 */
static bool take_signature(struct ck_cursor *cursor, unsigned char ret_signature[CK_SIGNATURE_BYTES])
{
    size_t length;
    int bad = sodium_base642bin(ret_signature, CK_SIGNATURE_BYTES, cursor->at, (size_t)(cursor->end - cursor->at), NULL,
                                &length, NULL, VARIANT);
    return bad == 0 && length == CK_SIGNATURE_BYTES;
}

static int refuse_head(const struct ck_cursor *whole, struct choke_error *error)
{
    char quoted[CK_QUOTE_MAX];
    return ck_error_set(error, CHOKE_INVALID, EINVAL, "'%s' is not a head; a head is " CK_HEAD_FORM,
                        ck_quote(quoted, sizeof(quoted), whole->at, (size_t)(whole->end - whole->at)));
}

/* A head that was copied from a file or a mail may have blanks around it. */
static struct ck_cursor without_blanks(const char *text)
{
    struct ck_cursor cursor = {.at = text + strspn(text, BLANKS)};
    cursor.end = cursor.at + strlen(cursor.at);
    while (cursor.end > cursor.at && strchr(BLANKS, cursor.end[-1]))
        cursor.end--;
    return cursor;
}

/* All parts have a fixed length or one spelling, so two different texts are never the same head. */
int ck_head_parse(const char *text, const unsigned char *key, struct ck_head *ret_head, struct choke_error *error)
{
    struct ck_cursor cursor = without_blanks(text), whole = cursor;
    unsigned char signature[CK_SIGNATURE_BYTES];
    struct ck_head head = {0};
    if ((size_t)(whole.end - whole.at) < sizeof(PREFIX) - 1 || memcmp(whole.at, PREFIX, sizeof(PREFIX) - 1) != 0)
        return refuse_head(&whole, error);
    cursor.at += sizeof(PREFIX) - 1;
    if (!ck_cursor_take_hex(&cursor, CK_AUDIT_LOG_HEX, head.log) || !ck_cursor_take_text(&cursor, ".") ||
        !ck_cursor_take_number(&cursor, &head.seq) || !ck_cursor_take_text(&cursor, ".") ||
        !ck_cursor_take_hex(&cursor, CK_AUDIT_HASH_HEX, head.hash))
        return refuse_head(&whole, error);
    /* The signature covers the text up to here, without the dot before the signature. */
    size_t covered = (size_t)(cursor.at - whole.at);
    head.is_signed = ck_cursor_take_text(&cursor, ".");
    /* the form of a signature is checked also without a key */
    if (head.is_signed ? !take_signature(&cursor, signature) : cursor.at != cursor.end)
        return refuse_head(&whole, error);
    if (key && !head.is_signed)
        return ck_error_set(error, CHOKE_INVALID, EINVAL,
                            "the head of record %" PRIu64 " is not signed, but a public key is given", head.seq);
    if (key && crypto_sign_ed25519_verify_detached(signature, (const unsigned char *)whole.at, covered, key) != 0)
        return ck_error_set(error, CHOKE_INVALID, EBADMSG,
                            "the head of record %" PRIu64 " was not signed by this key, or was changed since",
                            head.seq);
    *ret_head = head;
    return 0;
}

static int by_seq(const void *a, const void *b)
{
    uint64_t first = ((const struct ck_head *)a)->seq, second = ((const struct ck_head *)b)->seq;
    return (first > second) - (first < second);
}

int ck_head_list_parse(const char *const *texts, const char *key, struct ck_head_list *ret_heads,
                       struct choke_error *error)
{
    unsigned char public[CK_PUBLIC_BYTES];
    size_t count = 0;
    *ret_heads = (struct ck_head_list){0};
    /* A caller who gives a key expects a check. Without a head nothing would be checked. */
    while (texts && texts[count])
        count++;
    if (count > CK_HEAD_LIST_MAX)
        return ck_error_set(error, CHOKE_INVALID, E2BIG, "more than %d heads are given", CK_HEAD_LIST_MAX);
    if (key && count == 0)
        return ck_error_set(error, CHOKE_INVALID, EINVAL, "a public key is given, but no head that it could verify");
    if (key && ck_key_parse_public(key, public, error) < 0)
        return -EINVAL;
    /* + 1: calloc of nothing may return NULL */
    ret_heads->items = calloc(count + 1, sizeof(*ret_heads->items));
    if (!ret_heads->items)
        return ck_error_oom(error);
    for (size_t i = 0; i < count; i++) {
        int r = ck_head_parse(texts[i], key ? public : NULL, &ret_heads->items[i], error);
        if (r < 0)
            return r;
    }
    ret_heads->count = count;
    qsort(ret_heads->items, count, sizeof(*ret_heads->items), by_seq);
    return 0;
}

void ck_head_list_done(struct ck_head_list *heads)
{
    free(heads->items);
    *heads = (struct ck_head_list){0};
}
