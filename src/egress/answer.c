/* answer.c - the table of reasons. There is one table, so that an event and an answer agree. */
#include "egress/answer.h"

#include <stdio.h>
#include <string.h>

/* Replies of RFC 1928, 6. Its TTL expired (6) is used for a timeout, which SOCKS does not have. */
enum { SOCKS_GENERAL = 1, SOCKS_NOT_ALLOWED = 2, SOCKS_HOST = 4, SOCKS_CONNECT = 5, SOCKS_TIME = 6, SOCKS_COMMAND = 7 };

static const struct {
    const char *word; /* in events */
    uint8_t socks;    /* the reply of SOCKS5 */
    int status;       /* of HTTP, with its phrase */
    const char *phrase;
} reasons[CK_REASON_COUNT] = {
    [CK_REASON_NONE] = {"", SOCKS_GENERAL, 500, "Internal Server Error"},
    [CK_REASON_NOT_LISTED] = {"not_listed", SOCKS_NOT_ALLOWED, 403, "Forbidden"},
    [CK_REASON_DIRECT] = {"direct", SOCKS_NOT_ALLOWED, 403, "Forbidden"},
    [CK_REASON_ADDRESS] = {"address", SOCKS_NOT_ALLOWED, 403, "Forbidden"},
    [CK_REASON_NAME] = {"name", SOCKS_NOT_ALLOWED, 400, "Bad Request"},
    [CK_REASON_SNI] = {"sni", SOCKS_NOT_ALLOWED, 403, "Forbidden"},
    [CK_REASON_NO_SNI] = {"no_sni", SOCKS_NOT_ALLOWED, 403, "Forbidden"},
    [CK_REASON_ENCRYPTED_SNI] = {"encrypted_sni", SOCKS_NOT_ALLOWED, 403, "Forbidden"},
    [CK_REASON_NOT_TLS] = {"not_tls", SOCKS_NOT_ALLOWED, 403, "Forbidden"},
    [CK_REASON_MALFORMED] = {"malformed", SOCKS_GENERAL, 400, "Bad Request"},
    [CK_REASON_TOO_LONG] = {"too_long", SOCKS_GENERAL, 431, "Request Header Fields Too Large"},
    [CK_REASON_UNSUPPORTED] = {"unsupported", SOCKS_COMMAND, 501, "Not Implemented"},
    [CK_REASON_SLOW] = {"slow", SOCKS_TIME, 408, "Request Timeout"},
    [CK_REASON_CONNECTIONS] = {"connections", SOCKS_NOT_ALLOWED, 503, "Service Unavailable"},
    [CK_REASON_BYTES] = {"bytes", SOCKS_NOT_ALLOWED, 403, "Forbidden"},
    [CK_REASON_LOOKUP] = {"lookup", SOCKS_HOST, 502, "Bad Gateway"},
    [CK_REASON_CONNECT] = {"connect", SOCKS_CONNECT, 502, "Bad Gateway"},
    [CK_REASON_TIMEOUT] = {"timeout", SOCKS_TIME, 504, "Gateway Timeout"},
    [CK_REASON_RESOURCES] = {"resources", SOCKS_GENERAL, 503, "Service Unavailable"},
    [CK_REASON_BAD_ANSWER] = {"bad_answer", SOCKS_GENERAL, 502, "Bad Gateway"},
    [CK_REASON_UPSTREAM] = {"upstream", SOCKS_GENERAL, 502, "Bad Gateway"},
    [CK_REASON_UPSTREAM_AUTH] = {"upstream_auth", SOCKS_GENERAL, 502, "Bad Gateway"},
    [CK_REASON_CERTIFICATE] = {"certificate", SOCKS_GENERAL, 502, "Bad Gateway"},
    [CK_REASON_TLS] = {"tls", SOCKS_GENERAL, 502, "Bad Gateway"},
    [CK_REASON_DONE] = {"done", SOCKS_GENERAL, 500, "Internal Server Error"},
    [CK_REASON_IDLE] = {"idle", SOCKS_TIME, 504, "Gateway Timeout"},
    [CK_REASON_RESET] = {"reset", SOCKS_GENERAL, 502, "Bad Gateway"},
    [CK_REASON_REFUSED] = {"refused", SOCKS_NOT_ALLOWED, 403, "Forbidden"},
    [CK_REASON_CLOSED] = {"closed", SOCKS_GENERAL, 503, "Service Unavailable"},
};

const char *ck_answer_reason_word(enum ck_reason reason)
{
    return reasons[reason].word;
}

uint8_t ck_answer_socks_code(enum ck_reason reason)
{
    return reasons[reason].socks;
}

size_t ck_answer_http(enum ck_reason reason, const char *message, char *buffer)
{
    /* 512: room for the head */
    char body[CK_ANSWER_SIZE - 512];
    int body_length = snprintf(body, sizeof(body), "chokepoint: %s (%s)\n", message, reasons[reason].word);
    /* a long message is cut; Content-Length must be what is sent */
    if (body_length >= (int)sizeof(body))
        body_length = (int)sizeof(body) - 1;
    int length = snprintf(buffer, CK_ANSWER_SIZE,
                          "HTTP/1.1 %d %s\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: %d\r\n"
                          "Cache-Control: no-store\r\nConnection: close\r\nProxy-Connection: close\r\n\r\n%s",
                          reasons[reason].status, reasons[reason].phrase, body_length, body);
    return length < CK_ANSWER_SIZE ? (size_t)length : CK_ANSWER_SIZE - 1;
}

void ck_answer_socks(uint8_t code, uint8_t ret_reply[CK_SOCKS_REPLY_SIZE])
{
    /*
     * Version 5, then reserved 0, then an IPv4 address and a port that are zero: the address that
     * the proxy uses stays hidden from the tool.
     */
    static const uint8_t reply[CK_SOCKS_REPLY_SIZE] = {5, 0, 0, 1};
    memcpy(ret_reply, reply, sizeof(reply));
    ret_reply[1] = code;
}
