/* test_address.c - only public addresses may be dialled unlisted, in every spelling of the others. */
#include "egress/address.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const struct {
    const char *address, *what; /* NULL: public */
} rows[] = {
    {"8.8.8.8", NULL},
    {"93.184.216.34", NULL},
    {"1.0.0.1", NULL},
    {"126.255.255.255", NULL},
    {"128.0.0.1", NULL},
    {"172.15.255.255", NULL},
    {"172.32.0.1", NULL},
    {"100.63.255.255", NULL},
    {"100.128.0.1", NULL},
    {"223.255.255.255", NULL},
    {"0.0.0.0", "this host"},
    {"0.1.2.3", "this host"},
    {"10.0.0.1", "private"},
    {"10.255.255.255", "private"},
    {"100.64.0.1", "provider"},
    {"100.127.255.255", "provider"},
    {"127.0.0.1", "loopback"},
    {"127.255.255.254", "loopback"},
    {"169.254.0.1", "link-local"},
    {"169.254.169.254", "metadata"},
    {"168.63.129.16", "metadata"},
    {"100.100.100.200", "metadata"},
    {"192.0.0.192", "metadata"},
    {"172.16.0.1", "private"},
    {"172.31.255.255", "private"},
    {"192.0.0.1", "reserved"},
    {"192.0.2.1", "reserved"},
    {"192.88.99.1", "6to4"},
    {"192.168.1.1", "private"},
    {"198.18.0.1", "reserved"},
    {"198.19.255.255", "reserved"},
    {"198.51.100.1", "reserved"},
    {"203.0.113.1", "reserved"},
    {"224.0.0.1", "multicast"},
    {"239.255.255.255", "multicast"},
    {"240.0.0.1", "reserved"},
    {"255.255.255.255", "reserved"},
    {"2606:2800:220:1::1", NULL},
    {"2a00:1450:4001::1", NULL},
    {"::", "this host"},
    {"::1", "loopback"},
    {"::2", "as IPv6"},
    {"::ffff:127.0.0.1", "as IPv6"},
    {"::ffff:8.8.8.8", "as IPv6"},
    {"::7f00:1", "as IPv6"},
    {"::ffff:0:127.0.0.1", "reserved"},
    {"64:ff9b::7f00:1", "loopback"},
    {"64:ff9b::a00:1", "private"},
    {"64:ff9b::a9fe:a9fe", "metadata"},
    {"64:ff9b::808:808", NULL},
    {"64:ff9b:1::808:808", "NAT64"},
    {"64:ff9b:0:1::1", "reserved"},
    {"100::1", "reserved"},
    {"fc00::1", "private"},
    {"fdff::1", "private"},
    {"fd00:ec2::254", "metadata"},
    {"fe80::1", "link-local"},
    {"febf::1", "link-local"},
    {"fec0::1", "private"},
    {"ff02::1", "multicast"},
    {"2001::1", "Teredo"},
    {"2001:0:7f00:1::", "Teredo"},
    {"2002:7f00:1::1", "6to4"},
    {"2001:10::1", "reserved"},
    {"2001:db8::1", "reserved"},
    {"3fff:1000::1", NULL},
    {"3fff::1", "reserved"},
    {"4000::1", "reserved"},
    {"e000::1", "reserved"},
};

static void only_public_addresses_may_be_dialled(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct ck_hostname host;
        const char *why = NULL;
        assert_int_equal(ck_destination_parse_host(rows[i].address, strlen(rows[i].address), &host, &why), 0);
        assert_true(host.numeric);
        const char *what = ck_address_why_refused(&host.address);
        bool right = !rows[i].what ? !what : what && strstr(what, rows[i].what);
        if (!right)
            fail_msg("%s is '%s'", rows[i].address, what ? what : "public");
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {cmocka_unit_test(only_public_addresses_may_be_dialled)};
    return cmocka_run_group_tests_name("address", tests, NULL, NULL);
}
