/*
 * tls_client.h - one connection of TLS to a host: between a socket with plaintext and the socket of
 * the host (docs/adr/0140).
 *
 * It never waits. It also writes secrets: lines that are put into the stream of plaintext at a
 * place, and that are nowhere but in the memory that the caller keeps them in and in the buffer of
 * TLS, which is as protected, and where they are encrypted in place.
 *
 *   1. ck_tls_client_new
 *   2. ck_tls_client_move   whenever one of the sockets is ready: ck_tls_client_events
 *   3. ck_tls_client_state  OPEN: the certificate is verified, and plaintext is taken
 *   4. ck_tls_client_insert for each head, before the plaintext up to that place is sent
 *   5. ck_tls_client_close, ck_tls_client_free
 */
#ifndef CK_EGRESS_TLS_CLIENT_H
#define CK_EGRESS_TLS_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CK_TLS_LINES_MAX 16

struct ck_authorities;
struct ck_tls_client;

enum ck_tls_state {
    CK_TLS_HANDSHAKE = 0,
    CK_TLS_OPEN,
    CK_TLS_ENDED, /* by the host, or by a fault; nothing more will move */
};

/* What has moved. */
enum { CK_TLS_MOVED_IN = 1, CK_TLS_MOVED_OUT = 2 };

/* Bytes that are not copied. */
struct ck_tls_line {
    const char *text;
    size_t length;
};

/* host is the name that the certificate must have. NULL: no memory, or no random numbers. */
struct ck_tls_client *ck_tls_client_new(const struct ck_authorities *authorities, const char *host);
void ck_tls_client_free(struct ck_tls_client *client); /* NULL is fine */

/* Moves what it can, up to a few records. Returns CK_TLS_MOVED_*. */
unsigned ck_tls_client_move(struct ck_tls_client *client, int wire_fd, int plain_fd);

enum ck_tls_state ck_tls_client_state(const struct ck_tls_client *client);

/* What each socket has to be watched for, as epoll events. */
void ck_tls_client_events(const struct ck_tls_client *client, uint32_t *ret_wire, uint32_t *ret_plain);

/* The lines follow after this many bytes of plaintext, counted from the first one. */
void ck_tls_client_insert(struct ck_tls_client *client, uint64_t after_bytes, const struct ck_tls_line *lines,
                          size_t count);
/* How often all lines were written. */
uint64_t ck_tls_client_inserted(const struct ck_tls_client *client);

/* The host closed without saying so in TLS: someone else could have cut the stream. */
bool ck_tls_client_was_cut(const struct ck_tls_client *client);

/* Why it ended in the handshake. The text follows "'host' port N: ". *ret_certificate: its certificate is at fault. */
const char *ck_tls_client_fault(const struct ck_tls_client *client, bool *ret_certificate);

/* Says goodbye to the host, if that needs no waiting. */
void ck_tls_client_close(struct ck_tls_client *client, int wire_fd);

#endif
