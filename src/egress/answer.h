/*
 * answer.h - why a connection is refused or ended: the reason in events, and the answer in each
 * protocol.
 */
#ifndef CK_EGRESS_ANSWER_H
#define CK_EGRESS_ANSWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CK_ANSWER_SIZE 1536 /* a head, a message and a NUL */

enum ck_reason {
    CK_REASON_NONE = 0,
    /* against the rules */
    CK_REASON_NOT_LISTED,
    CK_REASON_DIRECT,  /* did not go through the proxy */
    CK_REASON_ADDRESS, /* listed by name, but the name resolves to an address that is not public */
    CK_REASON_NAME,    /* not a name or address that could be listed */
    CK_REASON_SNI,     /* TLS for another host */
    CK_REASON_NO_SNI,
    CK_REASON_ENCRYPTED_SNI,
    CK_REASON_NOT_TLS,
    /* not understood */
    CK_REASON_MALFORMED,
    CK_REASON_TOO_LONG,
    CK_REASON_UNSUPPORTED,
    CK_REASON_SLOW,
    /* beyond the budget */
    CK_REASON_CONNECTIONS,
    CK_REASON_BYTES,
    /* listed, but it failed */
    CK_REASON_LOOKUP,
    CK_REASON_CONNECT,
    CK_REASON_TIMEOUT,
    CK_REASON_RESOURCES,
    CK_REASON_BAD_ANSWER,    /* the host does not speak valid HTTP */
    CK_REASON_UPSTREAM,      /* the proxy of the site cannot be reached, or does not make the tunnel */
    CK_REASON_UPSTREAM_AUTH, /* it wants other credentials */
    CK_REASON_CERTIFICATE,   /* of the host, for TLS of the proxy: not valid, or not trusted */
    CK_REASON_TLS,           /* the host does not speak it as it should */
    /* how an opened connection ended */
    CK_REASON_DONE,
    CK_REASON_IDLE,
    CK_REASON_RESET,
    CK_REASON_REFUSED, /* a refusal was reported before */
    CK_REASON_CLOSED,  /* the run has ended */
    CK_REASON_COUNT,
};

/* What is wrong with a message that was read. */
struct ck_fault {
    enum ck_reason reason;
    uint8_t code;        /* of a SOCKS reply */
    const char *message; /* follows its subject, or "the request" without a subject */
    const char *subject; /* bytes of the message, or NULL */
    size_t subject_length;
    bool subject_last; /* the message follows "the request", and the subject comes last */
};

/* The reason in events: "not_listed". */
const char *ck_answer_reason_word(enum ck_reason reason);

/* The code of a SOCKS5 reply (RFC 1928). */
uint8_t ck_answer_socks_code(enum ck_reason reason);

/*
 * A complete HTTP response with the message as its body, in a buffer of CK_ANSWER_SIZE. Returns its
 * length.
 */
size_t ck_answer_http(enum ck_reason reason, const char *message, char *buffer);

/* A SOCKS5 reply of 10 bytes. */
#define CK_SOCKS_REPLY_SIZE 10
void ck_answer_socks(uint8_t code, uint8_t ret_reply[CK_SOCKS_REPLY_SIZE]);

#endif
