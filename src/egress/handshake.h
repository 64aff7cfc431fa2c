/*
 * handshake.h - the unencrypted part of a TLS handshake after its first ClientHello.
 *
 * A server may ask for a second ClientHello (HelloRetryRequest, TLS 1.3), and uses the name in that
 * one. So both directions are read until nothing in the clear can name a host any more: the server
 * has sent its ServerHello, and the client has begun to encrypt. Nothing is decrypted.
 *
 *   1. Zero-filled: ck_tls_hello_read has read the first ClientHello; what follows begins after it.
 *   2. ck_handshake_server for every byte of the server, in order, before the client gets it.
 *   3. ck_handshake_client for what the client sends: bytes that may pass, and a second hello to
 *      check.
 */
#ifndef CK_EGRESS_HANDSHAKE_H
#define CK_EGRESS_HANDSHAKE_H

#include "egress/tls.h"

#include <stdbool.h>

#define CK_RECORD_HEADER 5
#define CK_SERVER_HEAD (4 + 2 + 32) /* of its hello: type and length, version, random */

/* The position of one direction, between and within records. */
struct ck_handshake_side {
    uint8_t type;        /* of the record */
    size_t left;         /* of the record */
    size_t message_have; /* bytes of the message's header; of the server's hello up to its random */
    size_t message_left; /* bytes after these, which are not read */
};

struct ck_handshake {
    bool retried;           /* the server asked for a second hello */
    bool decided;           /* the server has sent its ServerHello */
    bool server_unreadable; /* the server is not understood: treated as if it had not answered */
    bool unrequested;       /* the hello that was found was not requested */
    bool second_hello_seen; /* a second hello has arrived */
    size_t needed;          /* bytes before the hello is read again */
    struct ck_handshake_side client, server;
    uint8_t record[CK_RECORD_HEADER]; /* of the server: the bytes of its header so far */
    size_t record_have;
    uint8_t message[CK_SERVER_HEAD]; /* of the server */
};

enum ck_handshake_progress {
    CK_HANDSHAKE_MORE = 0,
    /* another hello, described by ret_hello; it is among the bytes that would pass */
    CK_HANDSHAKE_HELLO,
    CK_HANDSHAKE_MALFORMED, /* not valid there in the clear */
    CK_HANDSHAKE_OVER,      /* the rest is encrypted, and is not read */
};

struct ck_handshake_hello {
    enum ck_hello hello;
    char name[CK_SNI_SIZE];
};

/*
 * data are the client's bytes after the last that passed; *ret_pass of them may pass. With
 * CK_HANDSHAKE_MORE the others must be given again when more have arrived.
 */
enum ck_handshake_progress ck_handshake_client(struct ck_handshake *handshake, const uint8_t *data, size_t length,
                                               size_t *ret_pass, struct ck_handshake_hello *ret_hello);

void ck_handshake_server(struct ck_handshake *handshake, const uint8_t *data, size_t length);

#endif
