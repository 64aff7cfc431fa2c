/*
 * catalog.h - the catalogue: reviewed entries that a policy takes with `catalog: [NAME...]` (R85).
 *
 * The entries are data: policy/catalog/, compiled into tables when the library is built
 * (tables.h). Pure. docs/adr/0060 has the rules and their reasons.
 */
#ifndef CK_POLICY_CATALOG_H
#define CK_POLICY_CATALOG_H

#include "chokepoint.h"
#include "policy/model.h"
#include "policy/yaml_tree.h"

#define CK_CATALOG_NAME "catalog" /* in messages, for its file */

/*
 * Adds to *base what the list `catalog` of the policy names: entries at the end, and subcommands to
 * entries that it has. base is zero-filled if the policy extends nothing. The policy is as loaded,
 * before anything is merged, and its arena takes the memory. 0, or a negative errno and *error.
 */
int ck_catalog_take(struct ck_policy *policy, const struct ck_policy *catalog, const struct ck_yaml_tree *tree,
                    struct ck_policy *base, struct choke_error *error);

#endif
