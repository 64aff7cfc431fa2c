/* jail.c - see jail.h. */
#include "jail/jail.h"

#include "base/error.h"

#include <errno.h>
#include <string.h>

static const struct ck_jail *const adapters[] = {&ck_jail_native, &ck_jail_none};

/* What auto tries, in this order, before it settles for none. */
static const char *const preferred[] = {"native", "bwrap"};

const struct ck_jail *ck_jail_find(const char *name)
{
    for (size_t i = 0; i < sizeof adapters / sizeof adapters[0]; i++)
        if (strcmp(adapters[i]->name, name) == 0)
            return adapters[i];
    return NULL;
}

static const struct ck_jail *choose_auto(struct ck_jail_choice *choice)
{
    for (size_t i = 0; i < sizeof preferred / sizeof preferred[0]; i++) {
        const struct ck_jail *jail = ck_jail_find(preferred[i]);
        if (jail != NULL)
            return jail;
        if (choice->skipped == NULL) {
            choice->skipped = preferred[i];
            choice->reason = "not_installed";
        }
    }
    return &ck_jail_none;
}

static const char *wanted_name(enum choke_jail wanted)
{
    return wanted == CHOKE_JAIL_NATIVE ? "native" : wanted == CHOKE_JAIL_BWRAP ? "bwrap" : "none";
}

int ck_jail_choose(enum choke_jail wanted, bool required, bool egress, struct ck_jail_choice *ret_choice,
                   struct choke_error *error)
{
    *ret_choice = (struct ck_jail_choice){0};
    ret_choice->jail = wanted == CHOKE_JAIL_AUTO ? choose_auto(ret_choice) : ck_jail_find(wanted_name(wanted));
    if (ret_choice->jail == NULL)
        return ck_error_set(error, CHOKE_JAIL_UNAVAILABLE, ENOTSUP,
                            "jail '%s' is not in this build; the jails it has are: none", wanted_name(wanted));
    if (ret_choice->jail != &ck_jail_none)
        return 0;
    if (required)
        return ck_error_set(
            error, CHOKE_JAIL_UNAVAILABLE, ENOTSUP,
            "a jail is required and none is to be had; without --require-jail the tool would run uncaged");
    if (egress)
        return ck_error_set(
            error, CHOKE_JAIL_UNAVAILABLE, ENOTSUP,
            "egress can be bounded in a jail only, and none is to be had; leave --egress out to run without a bound");
    return 0;
}
