/*
 * fuzz_rule.c - any lines as rules and as hosts: the first two are rules, the others hosts.
 *
 * A rule that is read has one spelling, which is read as the same rule. A host that one rule lists
 * is listed by every rule that covers it. Anything but a plain name or address is neither a rule
 * nor a host.
 */
#include "promise.h"

#include "base/destination.h"
#include "egress/address.h"
#include "egress/rule.h"

#include <errno.h>
#include <string.h>

#define LINES_MAX 16

static void check_name(const char *name)
{
    size_t length = strlen(name);
    require(length >= 1 && length <= CK_HOSTNAME_MAX && name[0] != '.' && name[length - 1] != '.');
    require(strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-_.") == length && !strstr(name, ".."));
}

static bool read_rule(const char *line, struct ck_destination *ret_rule)
{
    const char *why = NULL;
    char text[CK_DESTINATION_TEXT_SIZE], again[CK_DESTINATION_TEXT_SIZE];
    int r = ck_destination_parse(line, ret_rule, &why);
    require(r == 0 || (r == -EINVAL && why && why[0] != '\0'));
    if (r != 0)
        return false;
    struct ck_destination second;
    require(ck_destination_parse(ck_destination_text(ret_rule, text), &second, &why) == 0);
    require(strcmp(text, ck_destination_text(&second, again)) == 0);
    require(ck_destination_covers(ret_rule, &second) && ck_destination_covers(&second, ret_rule));
    if (ret_rule->kind != CK_DESTINATION_NETWORK)
        check_name(ret_rule->name);
    if (ret_rule->kind == CK_DESTINATION_SUFFIX)
        require(strchr(ret_rule->name, '.'));
    return true;
}

static void check_host(const char *line, size_t length, const struct ck_destination *outer,
                       const struct ck_destination *inner)
{
    const char *why = NULL;
    struct ck_hostname host, again;
    int r = ck_destination_parse_host(line, length, &host, &why);
    require(r == 0 || (r == -EINVAL && why));
    if (r != 0)
        return;
    require(ck_destination_parse_host(host.text, strlen(host.text), &again, &why) == 0);
    require(strcmp(host.text, again.text) == 0 && host.numeric == again.numeric);
    if (host.numeric)
        require(ck_address_why_refused(&host.address) == ck_address_why_refused(&again.address));
    else
        check_name(host.text);
    struct ck_rule_list list;
    static const uint16_t ports[] = {80, 443};
    for (size_t i = 0; i < 2 && outer; i++) {
        require(ck_rule_list_copy(inner, 1, &list) == 0);
        bool in_inner = !!ck_rule_find(&list, &host, ports[i]);
        ck_rule_list_done(&list);
        require(ck_rule_list_copy(outer, 1, &list) == 0);
        bool in_outer = !!ck_rule_find(&list, &host, ports[i]);
        ck_rule_list_done(&list);
        require(!in_inner || in_outer || !ck_destination_covers(outer, inner));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = calloc(size + 1, 1);
    require(text);
    if (size > 0)
        memcpy(text, data, size);
    struct ck_destination rules[2];
    size_t rules_count = 0, at = 0;
    for (size_t line = 0; line < LINES_MAX && at <= size; line++) {
        char *end = memchr(text + at, '\n', size - at);
        size_t length = end ? (size_t)(end - (text + at)) : size - at;
        text[at + length] = '\0';
        if (line < 2)
            rules_count += read_rule(text + at, &rules[rules_count]);
        else
            check_host(text + at, length, rules_count == 2 ? &rules[0] : NULL, &rules[1]);
        at += length + 1;
    }
    free(text);
    return 0;
}
