/*
 * setup.h - what a process needs before it works on a fleet: the probes, the policy, its claims.
 */
#ifndef CK_FLEET_SETUP_H
#define CK_FLEET_SETUP_H

#include "fleet/fleet.h"
#include "fleet/worker.h"

/* The names of --only, one by one; into text. */
struct ck_fleet_only {
    char *text;
    const char **names; /* NULL-terminated; NULL: all */
};

/* Splits at commas, and checks that each is a probe. Also sorts: the order does not matter. */
int ck_fleet_only_make(const char *const *given, const struct ck_probes *probes, struct ck_fleet_only *ret_only,
                       struct choke_error *error);
void ck_fleet_only_done(struct ck_fleet_only *only);

/*
 * Before the directory is made, so that a refused start leaves nothing, and the next one may have another policy: is
 * the policy valid, and does it let the URLs of the list be cloned?
 */
int ck_fleet_setup_check_policy(const struct choke_options *options, const struct ck_fleet_list *list,
                                struct choke_error *error);

/* With the directory and its copy of the policy: may this machine use them? */
int ck_fleet_setup_check(const struct ck_fleet_task *task, struct choke_error *error);

/* The entries of list without a result; of those that failed only with retry. NULL: out of memory. */
const struct ck_fleet_entry **ck_fleet_setup_pending(const struct ck_fleet_task *task, const struct ck_fleet_list *list,
                                                     struct ck_fleet_summary *counts, size_t *ret_count);

#endif
