/*
 * handshake.c - follows both directions of a TLS handshake until it is encrypted.
 *
 * Until the server has sent a ServerHello that is not a HelloRetryRequest, a client may send
 * nothing in handshake records except the one hello that was requested. Early data, a
 * ChangeCipherSpec for old middleboxes and alerts may come in between. After that answer no server
 * accepts a hello in the clear. A TLS 1.2 client sends its keys, which cannot contain a name, and
 * then a ChangeCipherSpec; a TLS 1.3 client encrypts at once.
 *
 * Must not be lenient because the server is not understood. The strict state is the first one, and
 * only a ServerHello ends it.
 */
#include "egress/handshake.h"

#include <string.h>

/* Content types of RFC 8446, 5.1, and messages of 4 (a HelloRequest exists only up to TLS 1.2). */
enum { RECORD_CHANGE_CIPHER = 20, RECORD_ALERT = 21, RECORD_HANDSHAKE = 22, RECORD_DATA = 23 };
enum { MESSAGE_HELLO_REQUEST = 0, MESSAGE_CLIENT_HELLO = 1, MESSAGE_SERVER_HELLO = 2 };

#define RECORD_MAX (16384 + 2048) /* encrypted records are longer than their text */
#define MESSAGE_HEADER 4          /* its type and three bytes of length */

/* RFC 8446, 4.1.3: a ServerHello with this random is a HelloRetryRequest. */
static const uint8_t retry_random[32] = {0xcf, 0x21, 0xad, 0x74, 0xe5, 0x9a, 0x61, 0x11, 0xbe, 0x1d, 0x8c,
                                         0x02, 0x1e, 0x65, 0xb8, 0x91, 0xc2, 0xa2, 0x11, 0x16, 0x7a, 0xbb,
                                         0x8c, 0x5e, 0x07, 0x9e, 0x09, 0xe2, 0xc8, 0xa8, 0x33, 0x9c};

static size_t lesser(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Of the message after its header. */
static size_t length_of(const uint8_t *message)
{
    return (size_t)message[1] << 16 | (size_t)message[2] << 8 | message[3];
}

/* ---- the server -------------------------------------------------------------------------- */

/* Encrypted records (RECORD_DATA) cannot come before a ServerHello, so they are not known here. */
static void begin_server_record(struct ck_handshake *handshake)
{
    const uint8_t *header = handshake->record;
    struct ck_handshake_side *side = &handshake->server;
    side->type = header[0];
    side->left = (size_t)header[3] << 8 | header[4];
    handshake->record_have = 0;
    bool known = side->type == RECORD_HANDSHAKE || side->type == RECORD_ALERT || side->type == RECORD_CHANGE_CIPHER;
    /* Major version 3 is TLS in all versions, also 1.3. */
    handshake->server_unreadable = !known || header[1] != 3 || side->left > RECORD_MAX;
}

/* Reads the header of a message, and enough of a hello to see whether it asks for a retry. */
static void take_server_byte(struct ck_handshake *handshake, uint8_t byte)
{
    struct ck_handshake_side *side = &handshake->server;
    uint8_t *message = handshake->message;
    message[side->message_have++] = byte;
    if (side->message_have < MESSAGE_HEADER)
        return;
    size_t length = length_of(message);
    bool hello = message[0] == MESSAGE_SERVER_HELLO && length >= CK_SERVER_HEAD - MESSAGE_HEADER;
    if (!hello && !(message[0] == MESSAGE_HELLO_REQUEST && length == 0))
        handshake->server_unreadable = true;
    if (hello && side->message_have < CK_SERVER_HEAD)
        return;
    side->message_have = 0;
    side->message_left = hello ? length - (CK_SERVER_HEAD - MESSAGE_HEADER) : 0;
    bool retry =
        hello && memcmp(message + CK_SERVER_HEAD - sizeof(retry_random), retry_random, sizeof(retry_random)) == 0;
    /* RFC 8446, 4.1.4: a second HelloRetryRequest is an error. */
    handshake->server_unreadable = handshake->server_unreadable || (retry && handshake->retried);
    handshake->decided = hello && !retry && !handshake->server_unreadable;
    handshake->retried = handshake->retried || retry;
}

void ck_handshake_server(struct ck_handshake *handshake, const uint8_t *data, size_t length)
{
    struct ck_handshake_side *side = &handshake->server;
    for (size_t at = 0; at < length && !handshake->decided && !handshake->server_unreadable;) {
        if (side->left == 0) {
            handshake->record[handshake->record_have++] = data[at++];
            if (handshake->record_have == CK_RECORD_HEADER)
                begin_server_record(handshake);
            continue;
        }
        size_t some = lesser(side->left, length - at);
        /*
         * Alerts and ChangeCipherSpec are skipped as a whole. A message may go on in the next
         * record.
         */
        if (side->type == RECORD_HANDSHAKE) {
            some = side->message_left > 0 ? lesser(some, side->message_left) : 1;
            if (side->message_left > 0)
                side->message_left -= some;
            else
                take_server_byte(handshake, data[at]);
        }
        side->left -= some;
        at += some;
    }
}

/* ---- the client -------------------------------------------------------------------------- */

/*
 * Inside a handshake record after the server's hello: any message except a hello. False: it is a
 * hello.
 */
static bool skip_messages(struct ck_handshake_side *side, const uint8_t *data, size_t length)
{
    while (length > 0) {
        size_t some = 1;
        if (side->message_have == 0 && side->message_left > 0) {
            some = lesser(side->message_left, length);
            side->message_left -= some;
        } else if (side->message_have == 0) {
            if (*data == MESSAGE_CLIENT_HELLO)
                return false;
            side->message_have = 1;
        } else {
            side->message_left = side->message_left << 8 | *data;
            side->message_have = (side->message_have + 1) % MESSAGE_HEADER;
        }
        data += some;
        length -= some;
    }
    return true;
}

/* The record begins with a hello. Returns its length in bytes, or 0 if it is not complete. */
static size_t read_hello(struct ck_handshake *handshake, const uint8_t *data, size_t length,
                         struct ck_handshake_hello *ret_hello)
{
    size_t bytes = 0;
    /* Parsed again only when the result can change (ck_tls_hello_needed). */
    if (length < handshake->needed)
        return 0;
    ret_hello->hello = ck_tls_hello_read(data, length, ret_hello->name, &bytes);
    handshake->needed = ck_tls_hello_needed(data, length);
    if (ret_hello->hello == CK_HELLO_MORE)
        return 0;
    /* one retry allows one hello */
    handshake->unrequested = !handshake->retried || handshake->second_hello_seen;
    handshake->second_hello_seen = true;
    return bytes;
}

/*
 * At the beginning of a record. Returns how many of its bytes are handled; 0 if more must come, or
 * at the end.
 */
static size_t begin_client_record(struct ck_handshake *handshake, const uint8_t *data, size_t length,
                                  enum ck_handshake_progress *verdict, struct ck_handshake_hello *ret_hello)
{
    uint8_t type = data[0];
    bool known = type >= RECORD_CHANGE_CIPHER && type <= RECORD_DATA;
    if (!known || (length > 1 && data[1] != 3)) {
        *verdict = CK_HANDSHAKE_MALFORMED;
        return 0;
    }
    if (length < CK_RECORD_HEADER)
        return 0;
    /* After the ServerHello these begin the encrypted part. */
    if (handshake->decided && (type == RECORD_CHANGE_CIPHER || type == RECORD_DATA)) {
        *verdict = CK_HANDSHAKE_OVER;
        return 0;
    }
    if (!handshake->decided && type == RECORD_HANDSHAKE) {
        size_t bytes = read_hello(handshake, data, length, ret_hello);
        /* complete or malformed: there is a result */
        if (handshake->needed == 0)
            *verdict = CK_HANDSHAKE_HELLO;
        return bytes;
    }
    handshake->client.type = type;
    handshake->client.left = (size_t)data[3] << 8 | data[4];
    if (handshake->client.left > RECORD_MAX)
        *verdict = CK_HANDSHAKE_MALFORMED;
    return CK_RECORD_HEADER;
}

enum ck_handshake_progress ck_handshake_client(struct ck_handshake *handshake, const uint8_t *data, size_t length,
                                               size_t *ret_pass, struct ck_handshake_hello *ret_hello)
{
    enum ck_handshake_progress verdict = CK_HANDSHAKE_MORE;
    struct ck_handshake_side *side = &handshake->client;
    size_t at = 0;
    while (verdict == CK_HANDSHAKE_MORE && at < length) {
        size_t some = lesser(side->left, length - at);
        if (side->left == 0) {
            some = begin_client_record(handshake, data + at, length - at, &verdict, ret_hello);
            at += some;
            if (some == 0)
                break;
        } else if (side->type == RECORD_HANDSHAKE && !skip_messages(side, data + at, some)) {
            verdict = CK_HANDSHAKE_MALFORMED;
        } else {
            side->left -= some;
            at += some;
        }
    }
    *ret_pass = at;
    return verdict;
}
