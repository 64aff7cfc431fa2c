/* socks.c - parses SOCKS5 messages. */
#include "egress/socks.h"

#include <errno.h>
#include <string.h>

/* Values of RFC 1928: methods in 3, commands and kinds of address in 4, replies in 6. */
enum { VERSION = 5, METHOD_NONE = 0, COMMAND_CONNECT = 1, COMMAND_BIND = 2, COMMAND_UDP = 3 };
enum { ADDRESS_V4 = 1, ADDRESS_NAME = 3, ADDRESS_V6 = 4 };
enum { CODE_GENERAL = 1, CODE_COMMAND = 7, CODE_ADDRESS = 8, NO_METHOD = 0xff };

static ssize_t fail(struct ck_fault *ret_fault, enum ck_reason reason, uint8_t code, const char *message)
{
    *ret_fault = (struct ck_fault){.reason = reason, .code = code, .message = message};
    return -EPROTO;
}

ssize_t ck_socks_greeting(const uint8_t *data, size_t length, struct ck_fault *ret_fault)
{
    if (length >= 1 && data[0] != VERSION)
        return fail(ret_fault, CK_REASON_UNSUPPORTED, NO_METHOD, "is not SOCKS version 5");
    /* version, number of methods, methods */
    if (length < 2 || length < 2U + data[1])
        return 0;
    if (!memchr(data + 2, METHOD_NONE, data[1]))
        return fail(ret_fault, CK_REASON_UNSUPPORTED, NO_METHOD,
                    "asks for authentication, which the proxy does not offer");
    return 2 + data[1];
}

/*
 * Version, command, a reserved 0, kind of address and its first byte. Each is checked as soon as it
 * is there. 1: all five are.
 */
static ssize_t check_command(const uint8_t *data, size_t length, struct ck_fault *ret_fault)
{
    if (length >= 1 && data[0] != VERSION)
        return fail(ret_fault, CK_REASON_MALFORMED, CODE_GENERAL, "is not a valid SOCKS5 request");
    if (length >= 2 && data[1] == COMMAND_BIND)
        return fail(ret_fault, CK_REASON_UNSUPPORTED, CODE_COMMAND,
                    "asks to listen; incoming connections are never allowed");
    if (length >= 2 && data[1] == COMMAND_UDP)
        return fail(ret_fault, CK_REASON_UNSUPPORTED, CODE_COMMAND, "asks for UDP, which is never allowed");
    if (length >= 2 && data[1] != COMMAND_CONNECT)
        return fail(ret_fault, CK_REASON_UNSUPPORTED, CODE_COMMAND, "has an unknown command");
    if (length >= 3 && data[2] != 0)
        return fail(ret_fault, CK_REASON_MALFORMED, CODE_GENERAL, "is not a valid SOCKS5 request");
    return length >= 5;
}

/* The length of the address, or 0 for an unknown kind. For a name this includes its length byte. */
static size_t address_size(uint8_t kind, uint8_t first)
{
    switch (kind) {
    case ADDRESS_V4:
        return 4;
    case ADDRESS_V6:
        return 16;
    case ADDRESS_NAME:
        return 1U + first;
    default:
        return 0;
    }
}

ssize_t ck_socks_request(const uint8_t *data, size_t length, struct ck_hostname *ret_host, uint16_t *ret_port,
                         struct ck_fault *ret_fault)
{
    ssize_t enough = check_command(data, length, ret_fault);
    if (enough <= 0)
        return enough;
    size_t size = address_size(data[3], data[4]);
    if (size == 0)
        return fail(ret_fault, CK_REASON_UNSUPPORTED, CODE_ADDRESS, "has an unknown kind of address");
    if (length < 4 + size + 2)
        return 0;
    struct ck_hostname host = {.numeric = true, .address = {.length = (uint8_t)size}};
    const char *why = NULL;
    if (data[3] == ADDRESS_NAME) {
        if (ck_destination_parse_host((const char *)data + 5, size - 1, &host, &why) != 0) {
            *ret_fault = (struct ck_fault){.reason = CK_REASON_NAME,
                                           .code = CODE_ADDRESS,
                                           .message = why,
                                           .subject = (const char *)data + 5,
                                           .subject_length = size - 1};
            return -EPROTO;
        }
    } else {
        memcpy(host.address.bytes, data + 4, size);
        (void)ck_destination_address_text(&host.address, host.text);
    }
    *ret_host = host;
    *ret_port = (uint16_t)(data[4 + size] << 8 | data[5 + size]);
    if (*ret_port == 0)
        return fail(ret_fault, CK_REASON_MALFORMED, CODE_GENERAL, "has port 0");
    return (ssize_t)(4 + size + 2);
}
