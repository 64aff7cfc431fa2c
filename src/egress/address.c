/*
 * address.c - the tables of addresses that are not public.
 *
 * The tables are searched in order, so a narrower network comes before a wider one. In IPv6 only
 * 2000::/3 is assigned to hosts. A network in it that embeds an IPv4 address is refused as a whole:
 * with 6to4, Teredo or a mapped form a name could lead to 127.0.0.1 past the IPv4 table. The NAT64
 * prefix is in daily use in networks without IPv4, so for it the embedded address is checked.
 */
#include "egress/address.h"

#include <string.h>

struct range {
    struct ck_address network;
    unsigned bits;    /* the leading bits that count */
    const char *what; /* for the message */
};

#define V4(a, b, c, d) \
    { \
        .length = 4, .bytes = { a, b, c, d } \
    }
#define V6(...) \
    { \
        .length = 16, .bytes = { __VA_ARGS__ } \
    }
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/*
 * First the metadata services of AWS, GCP and Azure (169.254.169.254; Azure also 168.63.129.16),
 * Alibaba and Oracle, which give credentials to any client. Then mostly IANA's registry of
 * special-purpose addresses.
 */
static const struct range v4_ranges[] = {
    {V4(169, 254, 169, 254), 32, "a cloud metadata address"},
    {V4(168, 63, 129, 16), 32, "a cloud metadata address"},
    {V4(100, 100, 100, 200), 32, "a cloud metadata address"},
    {V4(192, 0, 0, 192), 32, "a cloud metadata address"},
    {V4(0, 0, 0, 0), 8, "an address of this host"},
    {V4(10, 0, 0, 0), 8, "a private address"},
    {V4(100, 64, 0, 0), 10, "a shared address of a provider's network"},
    {V4(127, 0, 0, 0), 8, "a loopback address"},
    {V4(169, 254, 0, 0), 16, "a link-local address"},
    {V4(172, 16, 0, 0), 12, "a private address"},
    {V4(192, 0, 0, 0), 24, "a reserved address"},
    {V4(192, 0, 2, 0), 24, "a reserved address"},
    {V4(192, 88, 99, 0), 24, "an address of a 6to4 relay"},
    {V4(192, 168, 0, 0), 16, "a private address"},
    {V4(198, 18, 0, 0), 15, "a reserved address"},
    {V4(198, 51, 100, 0), 24, "a reserved address"},
    {V4(203, 0, 113, 0), 24, "a reserved address"},
    {V4(224, 0, 0, 0), 4, "a multicast address"},
    {V4(240, 0, 0, 0), 4, "a reserved address"},
};

static const struct range v6_ranges[] = {
    {V6(0xfd, 0, 0x0e, 0xc2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x02, 0x54), 128, "a cloud metadata address"},
    {V6(0), 128, "an address of this host"},
    {V6(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1), 128, "a loopback address"},
    {V6(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff), 96, "an IPv4 address written as IPv6"},
    {V6(0), 96, "an IPv4 address written as IPv6"},
    {V6(0, 0x64, 0xff, 0x9b, 0, 1), 48, "an IPv4 address in a local NAT64 network"},
    {V6(0xfc), 7, "a private address"},
    {V6(0xfe, 0x80), 10, "a link-local address"},
    {V6(0xfe, 0xc0), 10, "a private address"},
    {V6(0xff), 8, "a multicast address"},
    {V6(0x20, 0x01, 0, 0), 32, "an IPv4 address in a Teredo tunnel"},
    {V6(0x20, 0x02), 16, "an IPv4 address in a 6to4 tunnel"},
    {V6(0x20, 0x01, 0, 0), 23, "a reserved address"},
    {V6(0x20, 0x01, 0x0d, 0xb8), 32, "a reserved address"},
    {V6(0x3f, 0xff), 20, "a reserved address"},
};

static const struct ck_address global_unicast = V6(0x20);
static const struct ck_address nat64 = V6(0, 0x64, 0xff, 0x9b);

/* What the address is, or NULL if no range has it. */
static const char *look_up(const struct range *ranges, size_t count, const struct ck_address *address)
{
    for (size_t i = 0; i < count; i++)
        if (ck_destination_address_in(address, &ranges[i].network, ranges[i].bits))
            return ranges[i].what;
    return NULL;
}

const char *ck_address_why_refused(const struct ck_address *address)
{
    if (address->length == 4)
        return look_up(v4_ranges, COUNT(v4_ranges), address);
    /* before the table: 64:ff9b::/96 is outside 2000::/3 and would be refused */
    if (ck_destination_address_in(address, &nat64, 96)) {
        struct ck_address inside = {.length = 4};
        memcpy(inside.bytes, address->bytes + 12, 4);
        return look_up(v4_ranges, COUNT(v4_ranges), &inside);
    }
    const char *what = look_up(v6_ranges, COUNT(v6_ranges), address);
    if (what)
        return what;
    return ck_destination_address_in(address, &global_unicast, 3) ? NULL : "a reserved address";
}
