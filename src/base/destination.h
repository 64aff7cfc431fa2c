/*
 * destination.h - where a tool may connect to: one rule in text form, parsed once into a struct.
 *
 *   host                      exactly that name
 *   *.example.com             every name below example.com, not example.com itself;
 *                             "*" and "*.com" are refused
 *   192.0.2.7, 192.0.2.0/24   an address or a network; only these allow an address that is not
 *                             public
 *   2001:db8::1, 2001:db8::/32
 *
 * Each may have a ":port"; without it every port is meant. An IPv6 address with a port is in
 * brackets: "[2001:db8::1]:443", "[2001:db8::/32]:443". " opaque" may follow: then a tunnel may
 * carry anything. Otherwise it must be TLS that names the host in the clear.
 *
 * Names are ASCII; other names must be written in punycode. Upper case and a final dot are
 * normalised away. A name that ends in a numeric label is an address or is refused: "127.1",
 * "0x7f.1" and "017700000001" are refused, because programs disagree on what they mean.
 *
 * Pure: nothing outside is looked at. Reasons are static text that begins in lower case and can
 * follow "'...' ".
 */
#ifndef CK_BASE_DESTINATION_H
#define CK_BASE_DESTINATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CK_HOSTNAME_MAX 253
/* the longest IPv6 address and a NUL, and a margin */
#define CK_ADDRESS_TEXT_SIZE 48
#define CK_DESTINATION_TEXT_SIZE (CK_HOSTNAME_MAX + 32) /* "*." ":65535" " opaque", and a margin */

/* An address in network order. length is 4 or 16, and 0 where there is no address. */
struct ck_address {
    uint8_t length;
    uint8_t bytes[16];
};

/* What a client requests. */
struct ck_hostname {
    bool numeric;
    struct ck_address address;      /* if numeric */
    char text[CK_HOSTNAME_MAX + 1]; /* canonical; an address in its usual form, without brackets */
};

enum ck_destination_kind {
    CK_DESTINATION_HOST = 1,
    CK_DESTINATION_SUFFIX,
    CK_DESTINATION_NETWORK,
};

struct ck_destination {
    enum ck_destination_kind kind;
    bool opaque;
    uint16_t port;                  /* 0: every port */
    uint8_t bits;                   /* of a network: the leading bits that count */
    struct ck_address network;      /* the bits that do not count are 0 */
    char name[CK_HOSTNAME_MAX + 1]; /* of a host; of a suffix, the part after "*." */
};

/* Parses one rule. Returns 0, or -EINVAL and in *ret_reason why it is not valid. */
int ck_destination_parse(const char *text, struct ck_destination *ret_destination, const char **ret_reason);

/* The canonical text of a rule, in a buffer of CK_DESTINATION_TEXT_SIZE. Returns buffer. */
const char *ck_destination_text(const struct ck_destination *destination, char *buffer);

/* Does outer allow everything that inner does? True only if that is proven. */
bool ck_destination_covers(const struct ck_destination *outer, const struct ck_destination *inner);

/*
 * A name or an address as a client writes it; IPv6 with or without brackets, never with a zone.
 * Returns 0, or -EINVAL and in *ret_reason why not.
 */
int ck_destination_parse_host(const char *text, size_t length, struct ck_hostname *ret_host, const char **ret_reason);

/* 1 to 65535 in digits without a sign or a leading zero; 0 for anything else. */
uint16_t ck_destination_parse_port(const char *text, size_t length);

/* The usual form, in a buffer of CK_ADDRESS_TEXT_SIZE. Returns buffer. */
const char *ck_destination_address_text(const struct ck_address *address, char *buffer);

/* Are both of one family, with the same leading bits? */
bool ck_destination_address_in(const struct ck_address *address, const struct ck_address *network, unsigned bits);

#endif
