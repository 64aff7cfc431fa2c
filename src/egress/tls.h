/*
 * tls.h - the name that a TLS client asks for, out of its first message.
 *
 * Nothing is decrypted and nothing is kept: the caller shows what it has read so far, from the first byte on, until the
 * answer is another than CK_HELLO_MORE.
 */
#ifndef CK_EGRESS_TLS_H
#define CK_EGRESS_TLS_H

#include <stddef.h>
#include <stdint.h>

#define CK_HELLO_MAX 16384 /* of the message; browsers with post-quantum keys and tickets stay below 4 KiB */
#define CK_SNI_SIZE 256

enum ck_hello {
    CK_HELLO_MORE = 0,  /* is TLS so far, and not complete */
    CK_HELLO_NAMED,     /* has one name, in the clear */
    CK_HELLO_UNNAMED,   /* has none */
    CK_HELLO_ENCRYPTED, /* has the encrypted form (ECH), whatever name stands outside */
    CK_HELLO_MALFORMED, /* is TLS, but not as it must be */
    CK_HELLO_OTHER,     /* is not TLS */
};

/*
 * With CK_HELLO_NAMED the name is in ret_name, as bytes of the client: it may be anything but NUL. *ret_bytes is how many
 * bytes the message has with the headers of its records; 0 where it could not be read. Its last record ends with it: what
 * else would be in there is a message that nobody has looked at.
 */
enum ck_hello ck_tls_hello_read(const uint8_t *data, size_t length, char ret_name[CK_SNI_SIZE], size_t *ret_bytes);

/*
 * Where the answer is CK_HELLO_MORE: how many bytes there must be at least before it can be another; else 0. Whoever asks
 * again only then reads a message that comes byte by byte some dozens of times, not thousands.
 */
size_t ck_tls_hello_needed(const uint8_t *data, size_t length);

#endif
