/*
 * tls.h - reads the server name from the first message of a TLS client.
 *
 * Nothing is decrypted and nothing is stored: the caller passes what it has read so far, from the
 * first byte on, until the result is not CK_HELLO_MORE.
 */
#ifndef CK_EGRESS_TLS_H
#define CK_EGRESS_TLS_H

#include <stddef.h>
#include <stdint.h>

/* of the message; browsers with post-quantum keys and tickets stay below 4 KiB */
#define CK_HELLO_MAX 16384
#define CK_SNI_SIZE 256

enum ck_hello {
    CK_HELLO_MORE = 0,  /* TLS so far, but not complete */
    CK_HELLO_NAMED,     /* one name, in the clear */
    CK_HELLO_UNNAMED,   /* no name */
    CK_HELLO_ENCRYPTED, /* the encrypted form (ECH), whatever the outer name is */
    CK_HELLO_MALFORMED, /* TLS, but invalid */
    CK_HELLO_OTHER,     /* not TLS */
};

/*
 * With CK_HELLO_NAMED ret_name has the name, as bytes of the client: any bytes but NUL. *ret_bytes
 * is the length of the message with its record headers; 0 if it could not be read. The message must
 * end at the end of its last record: anything after it there would be an unchecked message.
 */
enum ck_hello ck_tls_hello_read(const uint8_t *data, size_t length, char ret_name[CK_SNI_SIZE], size_t *ret_bytes);

/*
 * For CK_HELLO_MORE: the number of bytes needed before the result can change; else 0. A caller that
 * waits for them parses a message that arrives byte by byte some dozens of times, not thousands.
 */
size_t ck_tls_hello_needed(const uint8_t *data, size_t length);

#endif
