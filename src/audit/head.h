/*
 * head.h - a head of a log as text, and keys to sign it with (docs/adr/0028).
 *
 *   ckh1.<log>.<seq>.<hash>                          a head: the last record of a log at that time
 *   ckh1.<log>.<seq>.<hash>.<signature, base64url>   the same, signed: Ed25519 over the text before
 *                                                    the last dot
 *   cks1.<seed, base64url>                           a secret key
 *   ckp1.<public key, base64url>                     a public key
 */
#ifndef CK_AUDIT_HEAD_H
#define CK_AUDIT_HEAD_H

#include "audit/format.h"

#include "chokepoint.h"

#define CK_SEED_BYTES 32
#define CK_PUBLIC_BYTES 32
#define CK_SIGNATURE_BYTES 64
#define CK_KEY_TEXT_MAX 64     /* either key as text, with its NUL */
#define CK_HEAD_TEXT_MAX 256   /* a head with its signature and NUL */
#define CK_HEAD_LIST_MAX 65536 /* heads in one verification */
#define CK_HEAD_FORM "ckh1.LOG.SEQ.HASH, or that with a dot and a signature"

struct ck_head {
    char log[CK_AUDIT_LOG_HEX + 1];
    uint64_t seq;
    char hash[CK_AUDIT_HASH_HEX + 1];
    bool is_signed; /* it has a signature, checked or not */
};

/* The heads that a log is checked against, sorted by seq. Zero-filled: none. */
struct ck_head_list {
    struct ck_head *items;
    size_t count;
};

/* The text without a signature. */
void ck_head_format(const struct ck_head *head, char ret_text[CK_HEAD_TEXT_MAX]);

/* Appends the signature to a head's text. */
void ck_head_sign(char text[CK_HEAD_TEXT_MAX], const unsigned char seed[CK_SEED_BYTES]);

/*
 * Blanks around the text are ignored. With a key the head must be signed by it. -EINVAL and a
 * message if it is not a valid head, -EBADMSG if the signature was not made with the key.
 */
int ck_head_parse(const char *text, const unsigned char *key, struct ck_head *ret_head, struct choke_error *error);

/*
 * texts is NULL or NULL-terminated; key is the text of a public key, or NULL. ck_head_list_done in
 * either case.
 */
int ck_head_list_parse(const char *const *texts, const char *key, struct ck_head_list *ret_heads,
                       struct choke_error *error);
void ck_head_list_done(struct ck_head_list *heads);

/* ---- key.c ---- */

int ck_key_parse_public(const char *text, unsigned char ret_key[CK_PUBLIC_BYTES], struct choke_error *error);

/*
 * Refused: a file that others may read or write, one that the caller does not own, a dangling
 * symlink.
 */
int ck_key_read_secret(const char *path, unsigned char ret_seed[CK_SEED_BYTES], struct choke_error *error);

/*
 * Writes path (0600) and path.pub; neither may exist. ret_public gets the text of the public key.
 */
int ck_key_generate(const char *path, char ret_public[CK_KEY_TEXT_MAX], struct choke_error *error);

#endif
