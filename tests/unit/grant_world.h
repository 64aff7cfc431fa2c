/*
 * grant_world.h - what two policies grant the same request, on every kind of machine.
 *
 * A grant is computed with the code that runs tools: the judge, the choice of the jail, ck_grant_of and the builders of
 * the environment. Only the machine is made up: its platform, the jails that hold on it, and which files it has.
 */
#ifndef TEST_GRANT_WORLD_H
#define TEST_GRANT_WORLD_H

#include "chokepoint.h"
#include "policy/model.h"

#include <stdint.h>

struct world {
    const struct ck_policy *before;
    const struct ck_policy *after;
    uint64_t seed;   /* decides which files a machine has, and with which content */
    size_t granted;  /* how often the second policy granted a request on a machine: 0 would prove nothing */
    size_t compared; /* how often they were compared at all */
};

/*
 * NULL: on no machine the second policy grants the request more than the first. Else what is more,
 * and where: a text that is valid until the next call.
 */
const char *world_excess(struct world *world, const struct choke_request *request);

/* The same with platforms swapped: linux for macos. The judge knows only the platform it was built
 * for. */
void world_swap_platforms(struct ck_policy *policy);

#endif
