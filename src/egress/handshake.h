/*
 * handshake.h - a TLS handshake after its first ClientHello, for as long as it is in the clear.
 *
 * A server may ask for a second ClientHello (HelloRetryRequest, TLS 1.3), and goes by the name in that one. So both
 * directions are read until nothing in the clear can name a host any more: that is when the server has answered with its
 * ServerHello, and the client has begun to encrypt. Nothing is decrypted.
 *
 *   1. Zero-filled: the first ClientHello was read by ck_tls_hello_read, and ends where what follows begins.
 *   2. ck_handshake_server for every byte of the server, in order, before the client has it.
 *   3. ck_handshake_client for what the client sends: bytes that may pass, and a second hello to be judged.
 */
#ifndef CK_EGRESS_HANDSHAKE_H
#define CK_EGRESS_HANDSHAKE_H

#include "egress/tls.h"

#include <stdbool.h>

#define CK_RECORD_HEADER 5
#define CK_SERVER_HEAD (4 + 2 + 32) /* of its hello: type and length, version, random */

/* Where one direction stands between and within records. */
struct ck_handshake_side {
    uint8_t type;
    size_t left;         /* of the record */
    size_t message_have; /* bytes of the message's header; of the server's hello up to its random */
    size_t message_left; /* after these, that are not looked at */
};

struct ck_handshake {
    bool retried;           /* the server asked for a second hello */
    bool decided;           /* the server has said its own hello */
    bool server_unreadable; /* what the server says is not understood: it stays as if it had not answered */
    bool unrequested;       /* the hello that was found has not been asked for */
    bool second_hello_seen; /* a second hello has come */
    size_t needed;
    struct ck_handshake_side client, server;
    uint8_t record[CK_RECORD_HEADER]; /* of the server; its header as far as it has come */
    size_t record_have;
    uint8_t message[CK_SERVER_HEAD]; /* of the server */
};

enum ck_handshake_progress {
    CK_HANDSHAKE_MORE = 0,
    CK_HANDSHAKE_HELLO,     /* another hello: ret_hello says what it is; it is among the bytes that would pass */
    CK_HANDSHAKE_MALFORMED, /* what cannot come there in the clear */
    CK_HANDSHAKE_OVER,      /* the rest is encrypted, and is not looked at */
};

struct ck_handshake_hello {
    enum ck_hello hello;
    char name[CK_SNI_SIZE];
};

/*
 * Of the client's bytes from the last that passed on: *ret_pass of them may pass. With CK_HANDSHAKE_MORE the others are shown
 * again when more has come.
 */
enum ck_handshake_progress ck_handshake_client(struct ck_handshake *handshake, const uint8_t *data, size_t length,
                                               size_t *ret_pass, struct ck_handshake_hello *ret_hello);

void ck_handshake_server(struct ck_handshake *handshake, const uint8_t *data, size_t length);

#endif
