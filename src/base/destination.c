/*
 * destination.c - parses, prints and compares destinations.
 *
 * One function reads a host name for both sides, rules and requests, so that the two cannot
 * disagree about what a name is. What is not clearly a name or an address is refused. Only case and
 * a final dot are normalised, which DNS itself does not distinguish.
 */
#include "base/destination.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

/* of DNS (RFC 1035): a label has one byte for its length, and two bits of it are taken */
#define LABEL_MAX 63
/* A network with fewer leading bits than these contains nearly all addresses. */
#define V4_BITS_MIN 8
#define V6_BITS_MIN 16

/* The space belongs to it: a host may be called "opaque". */
static const char opaque_suffix[] = " opaque";
/* ::ffff:0:0/96 (RFC 4291) and 64:ff9b::/96 (RFC 6052): the last four bytes are an IPv4 address. */
static const struct ck_address v4_mapped = {.length = 16, .bytes = {[10] = 0xff, [11] = 0xff}};
static const struct ck_address nat64 = {.length = 16, .bytes = {0, 0x64, 0xff, 0x9b}};
#define NAT64_BITS 96

static int refuse(const char **ret_reason, const char *reason)
{
    *ret_reason = reason;
    return -EINVAL;
}

/* ---- addresses --------------------------------------------------------------------------- */

const char *ck_destination_address_text(const struct ck_address *address, char *buffer)
{
    if (!inet_ntop(address->length == 4 ? AF_INET : AF_INET6, address->bytes, buffer, CK_ADDRESS_TEXT_SIZE))
        buffer[0] = '\0';
    return buffer;
}

bool ck_destination_address_in(const struct ck_address *address, const struct ck_address *network, unsigned bits)
{
    if (address->length != network->length)
        return false;
    unsigned whole = bits / 8;
    unsigned rest = bits % 8;
    if (memcmp(address->bytes, network->bytes, whole) != 0)
        return false;
    /* rest == 0 comes first: with all bits compared, bytes[whole] is after the end */
    return rest == 0 || ((address->bytes[whole] ^ network->bytes[whole]) >> (8 - rest)) == 0;
}

/* Only the strict forms: four decimal numbers, or IPv6 without a zone. */
static bool parse_address(const char *text, size_t length, struct ck_address *ret_address)
{
    char copy[CK_ADDRESS_TEXT_SIZE];
    if (length >= sizeof(copy))
        return false;
    memcpy(copy, text, length);
    copy[length] = '\0';
    bool six = !!memchr(text, ':', length);
    struct ck_address address = {.length = six ? 16 : 4};
    /* a NUL in the text would end it early for inet_pton */
    if (strlen(copy) != length || inet_pton(six ? AF_INET6 : AF_INET, copy, address.bytes) != 1)
        return false;
    *ret_address = address;
    return true;
}

/* ---- names ------------------------------------------------------------------------------- */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/*
 * Upper case is missing because the name is in lower case here. '_' is allowed: host names must not
 * have it, but names in DNS do.
 */
static bool is_name_byte(char c)
{
    return (c >= 'a' && c <= 'z') || is_digit(c) || c == '-' || c == '_';
}

/* Why the text cannot be a host at all, or NULL. */
static const char *text_problem(const char *text, size_t length)
{
    if (length == 0)
        return "is empty";
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c >= 0x80)
            return "is not ASCII; write it in punycode (xn--...)";
        if (c <= 0x20 || c == 0x7f)
            return "has a space or a control byte in it";
        if (c == '@')
            return "contains a user name";
        if (c == '%')
            return "has an IPv6 zone or an escape in it";
    }
    return NULL;
}

/* Why a name in lower case is not valid, or NULL. Each part between dots is a label. */
static const char *labels_problem(const char *name)
{
    for (const char *label = name;; label++) {
        size_t length = strcspn(label, ".");
        if (length == 0)
            return "has an empty label";
        if (length > LABEL_MAX)
            return "has a label of more than 63 bytes";
        if (label[0] == '-' || label[length - 1] == '-')
            return "has a label that begins or ends with '-'";
        for (size_t i = 0; i < length; i++)
            if (!is_name_byte(label[i]))
                return "is not a host name";
        label += length;
        if (*label == '\0')
            return NULL;
    }
}

/* Some resolvers read "0x7f.1" and "2130706433" as 127.0.0.1. */
static bool looks_numeric(const char *name)
{
    const char *dot = strrchr(name, '.');
    const char *last = dot ? dot + 1 : name;
    if (last[0] == '0' && last[1] == 'x')
        return strspn(last + 2, "0123456789abcdef") == strlen(last + 2);
    return *last != '\0' && strspn(last, "0123456789") == strlen(last);
}

/* IPv6, with or without brackets around it. */
static int parse_bracketed(const char *text, size_t length, struct ck_hostname *ret_host, const char **ret_reason)
{
    if (text[0] == '[') {
        if (length < 2 || text[length - 1] != ']')
            return refuse(ret_reason, "has a bracket that is not closed");
        text++;
        length -= 2;
    }
    struct ck_hostname host = {.numeric = true};
    if (!memchr(text, ':', length) || !parse_address(text, length, &host.address))
        return refuse(ret_reason, "is not an IPv6 address");
    (void)ck_destination_address_text(&host.address, host.text);
    *ret_host = host;
    return 0;
}

int ck_destination_parse_host(const char *text, size_t length, struct ck_hostname *ret_host, const char **ret_reason)
{
    const char *why = text_problem(text, length);
    if (why)
        return refuse(ret_reason, why);
    if (text[0] == '[' || memchr(text, ':', length))
        return parse_bracketed(text, length, ret_host, ret_reason);
    /* "host." is the same name in DNS, only marked as complete */
    if (text[length - 1] == '.')
        length--;
    if (length > CK_HOSTNAME_MAX)
        return refuse(ret_reason, "is longer than a host name can be");
    struct ck_hostname host = {0};
    for (size_t i = 0; i < length; i++)
        host.text[i] = (char)(text[i] >= 'A' && text[i] <= 'Z' ? text[i] - 'A' + 'a' : text[i]);
    why = labels_problem(host.text);
    if (why)
        return refuse(ret_reason, why);
    host.numeric = parse_address(host.text, length, &host.address);
    if (!host.numeric && looks_numeric(host.text))
        return refuse(ret_reason, "looks like an address, but is not four numbers from 0 to 255 with dots between");
    *ret_host = host;
    return 0;
}

uint16_t ck_destination_parse_port(const char *text, size_t length)
{
    /* five digits cannot overflow; a leading zero may mean octal elsewhere */
    if (length < 1 || length > 5 || text[0] == '0')
        return 0;
    unsigned port = 0;
    for (size_t i = 0; i < length; i++) {
        if (!is_digit(text[i]))
            return 0;
        port = port * 10 + (unsigned)(text[i] - '0');
    }
    return port <= UINT16_MAX ? (uint16_t)port : 0;
}

/* ---- rules ------------------------------------------------------------------------------- */

/* The number after the '/'. Three digits at most, of which 128 is the largest valid value. */
static bool parse_bits(const char *text, size_t length, unsigned most, uint8_t *ret_bits)
{
    if (length < 1 || length > 3 || (length > 1 && text[0] == '0'))
        return false;
    unsigned bits = 0;
    for (size_t i = 0; i < length; i++) {
        if (!is_digit(text[i]))
            return false;
        bits = bits * 10 + (unsigned)(text[i] - '0');
    }
    *ret_bits = (uint8_t)bits;
    return bits <= most;
}

/* Is a bit set after the leading ones? "10.0.0.1/8" is probably an error, so it is refused. */
static bool has_stray_bits(const struct ck_address *network, unsigned bits)
{
    for (unsigned i = bits; i < network->length * 8U; i++)
        if ((network->bytes[i / 8] >> (7 - i % 8) & 1) != 0)
            return true;
    return false;
}

/*
 * Is the IPv6 network so large, at the prefix of NAT64, that the IPv4 network inside it would be
 * refused?
 */
static bool has_all_of_nat64(const struct ck_destination *destination)
{
    unsigned bits = destination->bits < NAT64_BITS ? destination->bits : NAT64_BITS;
    return destination->bits < NAT64_BITS + V4_BITS_MIN &&
           ck_destination_address_in(&nat64, &destination->network, bits);
}

/* An address, or an address and "/bits". */
static int parse_network(const char *text, size_t length, struct ck_destination *destination, const char **ret_reason)
{
    const char *slash = memchr(text, '/', length);
    size_t host_length = slash ? (size_t)(slash - text) : length;
    struct ck_hostname host;
    int r = ck_destination_parse_host(text, host_length, &host, ret_reason);
    if (r != 0)
        return r;
    if (!host.numeric)
        return refuse(ret_reason, "has a '/' after something that is not an address");
    unsigned most = host.address.length * 8U;
    destination->kind = CK_DESTINATION_NETWORK;
    destination->network = host.address;
    destination->bits = (uint8_t)most;
    if (slash && !parse_bits(slash + 1, length - host_length - 1, most, &destination->bits))
        return refuse(ret_reason, "has no network length after its '/'");
    if (destination->bits < (most == 32 ? V4_BITS_MIN : V6_BITS_MIN))
        return refuse(ret_reason,
                      "is nearly every address; an IPv4 network needs at least 8 bits, an IPv6 network at least 16");
    if (has_stray_bits(&destination->network, destination->bits))
        return refuse(ret_reason, "has bits set after the length of its network");
    /* An IPv6 rule must not be a second way to allow IPv4 addresses. */
    if (most == 128 && memcmp(host.address.bytes, v4_mapped.bytes, 12) == 0)
        return refuse(ret_reason, "is an IPv4 address written as IPv6; write it as IPv4");
    if (ck_destination_address_in(&v4_mapped, &destination->network, destination->bits))
        return refuse(ret_reason, "contains all IPv4 addresses, written as IPv6; a smaller network is needed");
    if (has_all_of_nat64(destination))
        return refuse(ret_reason,
                      "contains nearly all IPv4 addresses, by NAT64 (64:ff9b::/96); a smaller network is needed");
    return 0;
}

/* A host, a "*." suffix, or an address without a length. */
static int parse_name(const char *text, size_t length, struct ck_destination *destination, const char **ret_reason)
{
    bool wild = text[0] == '*';
    if (wild && (length < 3 || text[1] != '.'))
        return refuse(ret_reason, "would match every host; write '*.domain.tld'");
    struct ck_hostname host;
    int r = ck_destination_parse_host(wild ? text + 2 : text, wild ? length - 2 : length, &host, ret_reason);
    if (r != 0)
        return r;
    if (wild && (host.numeric || !strchr(host.text, '.')))
        return refuse(ret_reason, "would match every host; write '*.domain.tld'");
    if (host.numeric)
        return parse_network(text, length, destination, ret_reason);
    destination->kind = wild ? CK_DESTINATION_SUFFIX : CK_DESTINATION_HOST;
    memcpy(destination->name, host.text, sizeof(destination->name));
    return 0;
}

/* What is left of a rule without its port and " opaque". */
static int parse_target(const char *text, size_t length, struct ck_destination *destination, const char **ret_reason)
{
    if (!memchr(text, '/', length))
        return parse_name(text, length, destination, ret_reason);
    return parse_network(text, length, destination, ret_reason);
}

/*
 * Finds the end of the target: the colon of a port, if there is one. *ret_text is without brackets.
 * Returns the offset of that colon, 0 if there is no port (a colon is never first), or -EINVAL.
 */
static int find_target(const char *text, size_t length, const char **ret_text, size_t *ret_length)
{
    const char *colon = memchr(text, ':', length);
    *ret_text = text;
    *ret_length = length;
    if (text[0] == '[') {
        const char *close = memchr(text, ']', length);
        size_t inner = close ? (size_t)(close - text) : 0;
        if (!close || !memchr(text, ':', inner) || (inner + 1 < length && close[1] != ':'))
            return -EINVAL;
        *ret_text = text + 1;
        *ret_length = inner - 1;
        return inner + 1 < length ? (int)inner + 1 : 0;
    }
    /* two colons or more: an IPv6 address without brackets, which cannot have a port */
    if (!colon || memchr(colon + 1, ':', length - (size_t)(colon + 1 - text)))
        return 0;
    *ret_length = (size_t)(colon - text);
    return (int)*ret_length;
}

int ck_destination_parse(const char *text, struct ck_destination *ret_destination, const char **ret_reason)
{
    size_t length = strnlen(text, CK_DESTINATION_TEXT_SIZE + 1);
    if (length > CK_DESTINATION_TEXT_SIZE)
        return refuse(ret_reason, "is longer than a destination can be");
    if (strstr(text, "://"))
        return refuse(ret_reason, "is a URL; write its host alone");
    struct ck_destination destination = {0};
    size_t word = sizeof(opaque_suffix) - 1;
    destination.opaque = length > word && memcmp(text + length - word, opaque_suffix, word) == 0;
    if (destination.opaque)
        length -= word;
    if (length == 0)
        return refuse(ret_reason, "is empty");
    const char *target;
    size_t target_length;
    int colon = find_target(text, length, &target, &target_length);
    if (colon < 0)
        return refuse(ret_reason, "has brackets, but not an IPv6 address in them and ':port' after them");
    int r = parse_target(target, target_length, &destination, ret_reason);
    if (r != 0)
        return r;
    if (colon > 0) {
        destination.port = ck_destination_parse_port(text + colon + 1, length - (size_t)colon - 1);
        if (destination.port == 0)
            return refuse(ret_reason, "has no port from 1 to 65535 after its ':'");
    }
    *ret_destination = destination;
    return 0;
}

const char *ck_destination_text(const struct ck_destination *destination, char *buffer)
{
    char target[CK_HOSTNAME_MAX + 16];
    char address[CK_ADDRESS_TEXT_SIZE];
    char port[8] = "";
    char bits[8] = "";
    bool network = destination->kind == CK_DESTINATION_NETWORK;
    if (network && destination->bits < destination->network.length * 8U)
        (void)snprintf(bits, sizeof(bits), "/%u", destination->bits);
    bool bracket = network && destination->network.length == 16 && destination->port != 0;
    (void)snprintf(target, sizeof(target), "%s%s%s%s%s", bracket ? "[" : "",
                   destination->kind == CK_DESTINATION_SUFFIX ? "*." : "",
                   network ? ck_destination_address_text(&destination->network, address) : destination->name, bits,
                   bracket ? "]" : "");
    if (destination->port != 0)
        (void)snprintf(port, sizeof(port), ":%u", destination->port);
    (void)snprintf(buffer, CK_DESTINATION_TEXT_SIZE, "%s%s%s", target, port, destination->opaque ? opaque_suffix : "");
    return buffer;
}

/* Does name end in "." and suffix? */
static bool is_below(const char *name, const char *suffix)
{
    size_t length = strlen(name);
    size_t tail = strlen(suffix);
    return length > tail + 1 && name[length - tail - 1] == '.' && memcmp(name + length - tail, suffix, tail) == 0;
}

bool ck_destination_covers(const struct ck_destination *outer, const struct ck_destination *inner)
{
    if ((outer->port != 0 && outer->port != inner->port) || (inner->opaque && !outer->opaque))
        return false;
    if (outer->kind == CK_DESTINATION_NETWORK)
        return inner->kind == CK_DESTINATION_NETWORK && inner->bits >= outer->bits &&
               ck_destination_address_in(&inner->network, &outer->network, outer->bits);
    /* a name never covers an address: what it resolves to can change */
    if (inner->kind == CK_DESTINATION_NETWORK)
        return false;
    if (outer->kind == inner->kind && strcmp(outer->name, inner->name) == 0)
        return true;
    return outer->kind == CK_DESTINATION_SUFFIX && is_below(inner->name, outer->name);
}
