/* jail.c - see jail.h. */
#include "jail/jail.h"

#include "base/error.h"

#include <errno.h>
#include <string.h>

static const struct ck_jail *const adapters[] = {&ck_jail_native, &ck_jail_bwrap, &ck_jail_none, &ck_jail_confined};

_Static_assert(sizeof adapters / sizeof adapters[0] <= CK_JAILS_MAX, "each adapter has a state");

/* What auto tries, in this order, before it settles for none: bwrap has more layers than native without namespaces. */
static const struct ck_jail *const preferred[] = {&ck_jail_native, &ck_jail_bwrap, &ck_jail_confined};

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
        state->known = state->failed == 0;
    }
    return state;
}

/* The first of them that holds, into choice; none: choice->jail stays NULL. */
static int first_of(struct ck_jails *jails, const struct ck_jail *const *wanted, size_t count,
                    struct ck_jail_choice *choice, struct choke_error *error)
{
    for (size_t i = 0; i < count && choice->jail == NULL; i++) {
        const struct ck_jail_state *state = ck_jail_look(jails, wanted[i]);
        if (state->failed != 0)
            return ck_error_set(error, CHOKE_SPAWN_FAILED, state->failed, "jail '%s' cannot be tried: %s",
                                wanted[i]->name, strerror(state->failed));
        if (state->holds)
            choice->jail = wanted[i];
        else if (choice->skipped == NULL) {
            choice->skipped = wanted[i]->name;
            choice->reason = state->reason;
        }
    }
    return 0;
}

/* By name: that one or a refusal. */
static int choose_named(struct ck_jails *jails, enum choke_jail wanted, struct ck_jail_choice *choice,
                        struct choke_error *error)
{
    static const struct ck_jail *const forms[] = {&ck_jail_native, &ck_jail_confined};
    const struct ck_jail *jail = wanted == CHOKE_JAIL_NATIVE  ? &ck_jail_native
                                 : wanted == CHOKE_JAIL_BWRAP ? &ck_jail_bwrap
                                                              : &ck_jail_none;
    int result = wanted == CHOKE_JAIL_NATIVE ? first_of(jails, forms, sizeof forms / sizeof forms[0], choice, error)
                                             : first_of(jails, &jail, 1, choice, error);
    if (result < 0 || choice->jail != NULL)
        return result;
    const struct ck_jail_state *state = ck_jail_look(jails, jail);
    return ck_error_set(error, CHOKE_JAIL_UNAVAILABLE, ENOTSUP, "jail '%s' is not to be had here (%s): %s", jail->name,
                        state->reason, state->words);
}

/* A jail was required, and there is less than that. */
static int refuse_less(struct ck_jails *jails, const struct ck_jail *jail, struct choke_error *error)
{
    if (jail == &ck_jail_none)
        return ck_error_set(
            error, CHOKE_JAIL_UNAVAILABLE, ENOTSUP,
            "a jail is required (--require-jail, --sandbox) and none is to be had: the tool would run uncaged");
    return ck_error_set(error, CHOKE_JAIL_UNAVAILABLE, ENOTSUP,
                        "a jail is required (--require-jail, --sandbox), and of the native one there is only the part "
                        "without namespaces: %s",
                        ck_jail_look(jails, &ck_jail_native)->words);
}

int ck_jail_choose(struct ck_jails *jails, enum choke_jail wanted, bool required, bool egress,
                   struct ck_jail_choice *ret_choice, struct choke_error *error)
{
    *ret_choice = (struct ck_jail_choice){0};
    int result = wanted == CHOKE_JAIL_AUTO
                     ? first_of(jails, preferred, sizeof preferred / sizeof preferred[0], ret_choice, error)
                     : choose_named(jails, wanted, ret_choice, error);
    if (result < 0)
        return result;
    if (ret_choice->jail == NULL)
        ret_choice->jail = &ck_jail_none;
    if (egress)
        return ck_error_set(
            error, CHOKE_JAIL_UNAVAILABLE, ENOTSUP,
            "egress cannot be bounded in this version; leave --egress out: a tool in a jail has no network");
    bool less = ret_choice->jail == &ck_jail_none || ret_choice->jail == &ck_jail_confined;
    return required && less ? refuse_less(jails, ret_choice->jail, error) : 0;
}
