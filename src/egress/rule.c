/*
 * rule.c - matches a request against rules. The request is written as a rule for one host and one
 * port; a rule matches if it covers that one.
 */
#include "egress/rule.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int ck_rule_list_copy(const struct ck_destination *rules, size_t count, struct ck_rule_list *ret_list)
{
    if (count > CK_RULES_MAX)
        return -E2BIG;
    /* + 1: calloc of nothing may return NULL */
    struct ck_destination *items = calloc(count + 1, sizeof(*items));
    if (!items)
        return -ENOMEM;
    if (count > 0)
        memcpy(items, rules, count * sizeof(*items));
    *ret_list = (struct ck_rule_list){items, count};
    return 0;
}

void ck_rule_list_done(struct ck_rule_list *list)
{
    free(list->items);
    *list = (struct ck_rule_list){0};
}

/* An opaque rule is preferred: what one rule allows, another one must not take away. */
static const struct ck_destination *find(const struct ck_rule_list *list, const struct ck_destination *wanted)
{
    const struct ck_destination *found = NULL;
    for (size_t i = 0; i < list->count; i++) {
        if (!ck_destination_covers(&list->items[i], wanted))
            continue;
        if (list->items[i].opaque)
            return &list->items[i];
        if (!found)
            found = &list->items[i];
    }
    return found;
}

const struct ck_destination *ck_rule_find(const struct ck_rule_list *list, const struct ck_hostname *host,
                                          uint16_t port)
{
    if (host->numeric)
        return ck_rule_find_address(list, &host->address, port);
    struct ck_destination wanted = {.kind = CK_DESTINATION_HOST, .port = port};
    memcpy(wanted.name, host->text, sizeof(wanted.name));
    return port != 0 ? find(list, &wanted) : NULL;
}

const struct ck_destination *ck_rule_find_address(const struct ck_rule_list *list, const struct ck_address *address,
                                                  uint16_t port)
{
    struct ck_destination wanted = {
        .kind = CK_DESTINATION_NETWORK, .port = port, .network = *address, .bits = (uint8_t)(address->length * 8)};
    return port != 0 ? find(list, &wanted) : NULL;
}
