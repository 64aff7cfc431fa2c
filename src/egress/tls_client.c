/*
 * tls_client.c - see tls_client.h.
 *
 * BearSSL is a machine without input and output: it says which of four things can be done (give
 * bytes to the host, take bytes from it, give plaintext, take plaintext), and this file does them
 * with two non-blocking sockets. Everything of the connection is in one piece of protected memory.
 *
 * TLS 1.2, with forward secrecy and authenticated encryption alone. No renegotiation, no session is
 * resumed.
 */
#include "egress/tls_client.h"

#include "egress/host_secret.h"
#include "egress/verifier.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/socket.h>

#define ROUNDS 8                    /* of ck_tls_client_move: a record each */
#define ALERT_UNRECOGNIZED_NAME 112 /* RFC 6066; BearSSL has no name for it */
#define NOWHERE UINT64_MAX

struct ck_tls_client {
    br_ssl_client_context ssl;
    struct ck_verifier verifier;
    enum ck_tls_state state;
    bool wire_ended;  /* no more bytes from the host */
    bool plain_ended; /* no more plaintext to send */
    bool deaf;        /* the host takes no more; it may still have said something */
    bool broken;      /* one of the sockets failed */
    bool unflushed;   /* plaintext that is in no record yet */
    uint64_t taken;   /* bytes of plaintext */
    uint64_t insert_at;
    struct ck_tls_line lines[CK_TLS_LINES_MAX];
    size_t lines_count, line, line_at; /* the next byte */
    uint64_t inserted;
    unsigned char buffer[BR_SSL_BUFSIZE_BIDI];
};

/* ---- making ------------------------------------------------------------------------------ */

static void set_algorithms(struct ck_tls_client *client)
{
    static const uint16_t suites[] = {
        BR_TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256,       BR_TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
        BR_TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384,       BR_TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,
        BR_TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256, BR_TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256};
    static const char *const protocols[] = {"http/1.1"};
    br_ssl_engine_context *engine = &client->ssl.eng;
    br_ssl_client_zero(&client->ssl);
    br_ssl_engine_set_versions(engine, BR_TLS12, BR_TLS12);
    br_ssl_engine_set_suites(engine, suites, sizeof(suites) / sizeof(*suites));
    br_ssl_engine_set_hash(engine, br_sha256_ID, &br_sha256_vtable);
    br_ssl_engine_set_hash(engine, br_sha384_ID, &br_sha384_vtable);
    br_ssl_engine_set_hash(engine, br_sha512_ID, &br_sha512_vtable);
    br_ssl_engine_set_prf_sha256(engine, br_tls12_sha256_prf);
    br_ssl_engine_set_prf_sha384(engine, br_tls12_sha384_prf);
    br_ssl_engine_set_default_aes_gcm(engine);
    br_ssl_engine_set_default_chapol(engine);
    br_ssl_engine_set_default_ec(engine);
    br_ssl_engine_set_default_ecdsa(engine);
    br_ssl_engine_set_default_rsavrfy(engine);
    br_ssl_engine_set_protocol_names(engine, (const char **)(uintptr_t)protocols, 1);
    br_ssl_engine_add_flags(engine, BR_OPT_NO_RENEGOTIATION);
}

struct ck_tls_client *ck_tls_client_new(const struct ck_authorities *authorities, const char *host)
{
    unsigned char seed[32];
    struct ck_tls_client *client = ck_host_secret_memory(sizeof(*client));
    if (!client)
        return NULL;
    client->insert_at = NOWHERE;
    set_algorithms(client);
    ck_verifier_init(&client->verifier, authorities);
    br_ssl_engine_set_x509(&client->ssl.eng, &client->verifier.vtable);
    br_ssl_engine_set_buffer(&client->ssl.eng, client->buffer, sizeof(client->buffer), 1);
    bool seeded = getrandom(seed, sizeof(seed), 0) == (ssize_t)sizeof(seed);
    if (seeded)
        br_ssl_engine_inject_entropy(&client->ssl.eng, seed, sizeof(seed));
    explicit_bzero(seed, sizeof(seed));
    if (seeded && br_ssl_client_reset(&client->ssl, host, 0))
        return client;
    ck_tls_client_free(client);
    return NULL;
}

void ck_tls_client_free(struct ck_tls_client *client)
{
    if (client)
        ck_verifier_done(&client->verifier);
    ck_host_secret_memory_done(client);
}

/* ---- moving ------------------------------------------------------------------------------ */

static bool would_wait(void)
{
    return errno == EAGAIN || errno == EINTR;
}

/* Each of the four returns whether something has moved. */
static bool give_wire(struct ck_tls_client *client, int wire_fd)
{
    size_t length;
    const unsigned char *bytes = br_ssl_engine_sendrec_buf(&client->ssl.eng, &length);
    ssize_t n = send(wire_fd, bytes, length, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n > 0)
        br_ssl_engine_sendrec_ack(&client->ssl.eng, (size_t)n);
    else if (n < 0 && !would_wait())
        client->deaf = true;
    return n > 0;
}

static bool take_wire(struct ck_tls_client *client, int wire_fd)
{
    size_t length;
    unsigned char *room = br_ssl_engine_recvrec_buf(&client->ssl.eng, &length);
    ssize_t n = recv(wire_fd, room, length, MSG_DONTWAIT);
    if (n > 0)
        br_ssl_engine_recvrec_ack(&client->ssl.eng, (size_t)n);
    else if (n == 0)
        client->wire_ended = true;
    else if (!would_wait())
        client->broken = true;
    return n > 0;
}

static bool give_plain(struct ck_tls_client *client, int plain_fd)
{
    size_t length;
    const unsigned char *bytes = br_ssl_engine_recvapp_buf(&client->ssl.eng, &length);
    ssize_t n = send(plain_fd, bytes, length, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n > 0)
        br_ssl_engine_recvapp_ack(&client->ssl.eng, (size_t)n);
    else if (n < 0 && !would_wait())
        client->broken = true;
    return n > 0;
}

/* The lines that belong here. */
static bool insert(struct ck_tls_client *client, unsigned char *room, size_t length)
{
    const struct ck_tls_line *line = &client->lines[client->line];
    size_t left = line->length - client->line_at;
    size_t some = left < length ? left : length;
    memcpy(room, line->text + client->line_at, some);
    br_ssl_engine_sendapp_ack(&client->ssl.eng, some);
    client->line_at += some;
    client->unflushed = true;
    if (client->line_at < line->length)
        return true;
    client->line_at = 0;
    if (++client->line == client->lines_count) {
        client->insert_at = NOWHERE;
        client->inserted++;
    }
    return true;
}

/* Plaintext that is in no record yet becomes one. */
static bool flush(struct ck_tls_client *client)
{
    bool any = client->unflushed;
    if (any)
        br_ssl_engine_flush(&client->ssl.eng, 0);
    client->unflushed = false;
    return any;
}

/* Many small pieces become one record, but nothing waits for a piece that is not there yet. */
static bool take_plain(struct ck_tls_client *client, int plain_fd)
{
    size_t length;
    unsigned char *room = br_ssl_engine_sendapp_buf(&client->ssl.eng, &length);
    uint64_t before = client->insert_at - client->taken;
    if (before == 0)
        return insert(client, room, length);
    ssize_t n = client->plain_ended ? 0 : recv(plain_fd, room, before < length ? (size_t)before : length, MSG_DONTWAIT);
    if (n > 0) {
        br_ssl_engine_sendapp_ack(&client->ssl.eng, (size_t)n);
        client->taken += (uint64_t)n;
        client->unflushed = true;
        return true;
    }
    client->plain_ended = client->plain_ended || n == 0 || !would_wait();
    return flush(client);
}

/* Has it ended? Everything that the host has said is with the reader by then. */
static bool has_ended(const struct ck_tls_client *client, unsigned can)
{
    if ((can & BR_SSL_CLOSED) != 0 || client->broken)
        return true;
    return client->wire_ended && (can & BR_SSL_RECVAPP) == 0;
}

/* One round: each of the four that can be done. Returns CK_TLS_MOVED_*; *ret_any: there may be more. */
static unsigned move_once(struct ck_tls_client *client, int wire_fd, int plain_fd, bool *ret_any)
{
    unsigned can = br_ssl_engine_current_state(&client->ssl.eng), moved = 0;
    *ret_any = true;
    if (has_ended(client, can)) {
        client->state = CK_TLS_ENDED;
        (void)shutdown(plain_fd, SHUT_WR);
        return CK_TLS_MOVED_IN;
    }
    if ((can & BR_SSL_SENDAPP) != 0)
        client->state = CK_TLS_OPEN;
    if ((can & BR_SSL_RECVAPP) != 0 && give_plain(client, plain_fd))
        moved |= CK_TLS_MOVED_IN;
    if ((can & BR_SSL_SENDAPP) != 0 && take_plain(client, plain_fd))
        moved |= CK_TLS_MOVED_OUT;
    can = br_ssl_engine_current_state(&client->ssl.eng);
    bool wrote = (can & BR_SSL_SENDREC) != 0 && !client->deaf && give_wire(client, wire_fd);
    bool read = (can & BR_SSL_RECVREC) != 0 && !client->wire_ended && take_wire(client, wire_fd);
    *ret_any = wrote || read || moved != 0 || has_ended(client, br_ssl_engine_current_state(&client->ssl.eng));
    return moved;
}

unsigned ck_tls_client_move(struct ck_tls_client *client, int wire_fd, int plain_fd)
{
    unsigned moved = 0;
    bool any = true;
    for (int round = 0; round < ROUNDS && any && client->state != CK_TLS_ENDED; round++)
        moved |= move_once(client, wire_fd, plain_fd, &any);
    /* After the last round nothing of what was taken may be left: no event would come for it. */
    if (client->state == CK_TLS_OPEN && (br_ssl_engine_current_state(&client->ssl.eng) & BR_SSL_SENDAPP) != 0 &&
        flush(client) && !client->deaf && (br_ssl_engine_current_state(&client->ssl.eng) & BR_SSL_SENDREC) != 0)
        (void)give_wire(client, wire_fd);
    return moved;
}

enum ck_tls_state ck_tls_client_state(const struct ck_tls_client *client)
{
    return client->state;
}

void ck_tls_client_events(const struct ck_tls_client *client, uint32_t *ret_wire, uint32_t *ret_plain)
{
    unsigned can = br_ssl_engine_current_state(&client->ssl.eng);
    *ret_wire = *ret_plain = 0;
    if (client->state == CK_TLS_ENDED)
        return;
    *ret_wire |= (can & BR_SSL_SENDREC) != 0 && !client->deaf ? (uint32_t)EPOLLOUT : 0;
    *ret_wire |= (can & BR_SSL_RECVREC) != 0 && !client->wire_ended ? (uint32_t)EPOLLIN : 0;
    *ret_plain |= (can & BR_SSL_RECVAPP) != 0 ? (uint32_t)EPOLLOUT : 0;
    *ret_plain |= (can & BR_SSL_SENDAPP) != 0 && !client->plain_ended ? (uint32_t)EPOLLIN : 0;
}

/* ---- secrets ----------------------------------------------------------------------------- */

void ck_tls_client_insert(struct ck_tls_client *client, uint64_t after_bytes, const struct ck_tls_line *lines,
                          size_t count)
{
    client->lines_count = count < CK_TLS_LINES_MAX ? count : CK_TLS_LINES_MAX;
    memcpy(client->lines, lines, client->lines_count * sizeof(*lines));
    client->line = client->line_at = 0;
    client->insert_at = count > 0 ? after_bytes : NOWHERE;
}

uint64_t ck_tls_client_inserted(const struct ck_tls_client *client)
{
    return client->inserted;
}

/* ---- ends -------------------------------------------------------------------------------- */

bool ck_tls_client_was_cut(const struct ck_tls_client *client)
{
    return client->state == CK_TLS_ENDED &&
           (client->wire_ended || client->broken || br_ssl_engine_last_error(&client->ssl.eng) != BR_ERR_OK);
}

/* Alerts of RFC 5246, 7.2. */
static const char *word_alert(int alert)
{
    return alert == BR_ALERT_PROTOCOL_VERSION    ? "it does not accept TLS 1.2"
           : alert == BR_ALERT_HANDSHAKE_FAILURE ? "it accepts none of the ciphers that are offered"
           : alert == ALERT_UNRECOGNIZED_NAME    ? "it does not know its name"
                                                 : "it ended the handshake with an alert";
}

static const char *word_certificate(int error, enum ck_certificate_use use)
{
    if (use == CK_CERTIFICATE_OTHER_USES)
        return "its certificate, or one above it, is not for hosts";
    if (use == CK_CERTIFICATE_CERTAIN_NAMES)
        return "its certificate, or one above it, is limited to certain names, which are not compared here";
    switch (error) {
    case BR_ERR_X509_EXPIRED:
        return "its certificate has expired, or is not valid yet";
    case BR_ERR_X509_BAD_SERVER_NAME:
        return "its certificate is for another name";
    case BR_ERR_X509_NOT_TRUSTED:
        return "its certificate is not from an authority that is trusted here";
    case BR_ERR_X509_WEAK_PUBLIC_KEY:
        return "its certificate has a key that is too short";
    default:
        return "its certificate cannot be verified";
    }
}

const char *ck_tls_client_fault(const struct ck_tls_client *client, bool *ret_certificate)
{
    int error = br_ssl_engine_last_error(&client->ssl.eng);
    *ret_certificate = error >= BR_ERR_X509_INVALID_VALUE && error <= BR_ERR_X509_NOT_TRUSTED;
    if (*ret_certificate)
        return word_certificate(error, client->verifier.use);
    if (error >= BR_ERR_RECV_FATAL_ALERT)
        return word_alert(error & 0xff);
    if (error == BR_ERR_BAD_VERSION || error == BR_ERR_UNSUPPORTED_VERSION || error == BR_ERR_INVALID_ALGORITHM)
        return "it does not speak TLS 1.2 there";
    return error == BR_ERR_OK ? "it closed the connection within the handshake" : "its handshake is not valid TLS";
}

void ck_tls_client_close(struct ck_tls_client *client, int wire_fd)
{
    br_ssl_engine_context *engine = &client->ssl.eng;
    if (client->state != CK_TLS_OPEN || client->broken || client->deaf)
        return;
    br_ssl_engine_close(engine);
    for (int i = 0; i < 2 && (br_ssl_engine_current_state(engine) & BR_SSL_SENDREC) != 0; i++)
        if (!give_wire(client, wire_fd))
            return;
}
