/*
 * rule.h - the rules of one gate, and which of them lists a target.
 *
 * base/destination.h defines what a rule is and how it is written, because the judge compares rules
 * too (ck_destination_covers). Here they are matched, always before any look-up. An empty list
 * matches nothing.
 */
#ifndef CK_EGRESS_RULE_H
#define CK_EGRESS_RULE_H

#include "base/destination.h"

#define CK_RULES_MAX 256

struct ck_rule_list {
    struct ck_destination *items;
    size_t count;
};

/* A copy of at most CK_RULES_MAX rules. 0, -E2BIG or -ENOMEM. */
int ck_rule_list_copy(const struct ck_destination *rules, size_t count, struct ck_rule_list *ret_list);
void ck_rule_list_done(struct ck_rule_list *list);

/*
 * The rule that lists host and port, or NULL. A name is matched by name, an address by address. If
 * several match, the first opaque one is returned, if there is one: rules add up.
 */
const struct ck_destination *ck_rule_find(const struct ck_rule_list *list, const struct ck_hostname *host,
                                          uint16_t port);

/* The rule that lists this address and port as an address or network, or NULL. */
const struct ck_destination *ck_rule_find_address(const struct ck_rule_list *list, const struct ck_address *address,
                                                  uint16_t port);

#endif
