/* jail.c - see jail.h. */
#include "jail/jail.h"

#include "base/error.h"

#include <errno.h>
#include <string.h>

static const struct ck_jail *const adapters[] = {&ck_jail_native, &ck_jail_bwrap, &ck_jail_none};

/* What auto tries, in this order, before it settles for none. */
static const char *const preferred[] = {"native", "bwrap"};

const struct ck_jail *ck_jail_find(const char *name)
{
    for (size_t i = 0; i < sizeof adapters / sizeof adapters[0]; i++)
        if (strcmp(adapters[i]->name, name) == 0)
            return adapters[i];
    return NULL;
}

const struct ck_jail_state *ck_jail_look(struct ck_jails *jails, const struct ck_jail *jail)
{
    size_t i = 0;
    while (adapters[i] != jail)
        i++;
    struct ck_jail_state *state = &jails->states[i];
    if (!state->known) {
        *state = (struct ck_jail_state){.reason = "not_installed"};
        if (jail == &ck_jail_none)
            state->holds = true;
        else if (jails->prove != NULL)
            jails->prove(jails->data, jail, state);
        state->known = true;
    }
    return state;
}

static const struct ck_jail *choose_auto(struct ck_jails *jails, struct ck_jail_choice *choice)
{
    for (size_t i = 0; i < sizeof preferred / sizeof preferred[0]; i++) {
        const struct ck_jail *jail = ck_jail_find(preferred[i]);
        const struct ck_jail_state *state = jail != NULL ? ck_jail_look(jails, jail) : NULL;
        if (state != NULL && state->holds)
            return jail;
        if (choice->skipped == NULL) {
            choice->skipped = preferred[i];
            choice->reason = state != NULL ? state->reason : "not_installed";
        }
    }
    return &ck_jail_none;
}

static const char *wanted_name(enum choke_jail wanted)
{
    return wanted == CHOKE_JAIL_NATIVE ? "native" : wanted == CHOKE_JAIL_BWRAP ? "bwrap" : "none";
}

int ck_jail_choose(struct ck_jails *jails, enum choke_jail wanted, bool required, bool egress, struct ck_jail_choice *ret_choice,
                   struct choke_error *error)
{
    *ret_choice = (struct ck_jail_choice){0};
    ret_choice->jail = wanted == CHOKE_JAIL_AUTO ? choose_auto(jails, ret_choice) : ck_jail_find(wanted_name(wanted));
    if (ret_choice->jail == NULL)
        return ck_error_set(error, CHOKE_JAIL_UNAVAILABLE, ENOTSUP,
                            "jail '%s' is not in this build", wanted_name(wanted));
    const struct ck_jail_state *state = ck_jail_look(jails, ret_choice->jail);
    if (!state->holds)
        return ck_error_set(error, CHOKE_JAIL_UNAVAILABLE, ENOTSUP, "jail '%s' is not to be had here (%s): %s",
                            ret_choice->jail->name, state->reason, state->words);
    if (egress)
        return ck_error_set(error, CHOKE_JAIL_UNAVAILABLE, ENOTSUP,
                            "egress cannot be bounded in this version; leave --egress out: a tool in a jail has no network");
    if (ret_choice->jail == &ck_jail_none && required)
        return ck_error_set(
            error, CHOKE_JAIL_UNAVAILABLE, ENOTSUP,
            "a jail is required and none is to be had; without --require-jail the tool would run uncaged");
    return 0;
}
