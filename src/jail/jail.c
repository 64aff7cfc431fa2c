/* jail.c - the table of jail adapters, and the choice among them. See jail.h. */
#include "jail/jail.h"

#include "base/error.h"

#include <errno.h>
#include <string.h>

static const struct ck_jail *const adapters[] = {&ck_jail_native, &ck_jail_bwrap, &ck_jail_none,
                                                 &ck_jail_native_no_userns};

_Static_assert(sizeof(adapters) / sizeof(adapters[0]) <= CK_JAILS_MAX, "each adapter has a state");

/*
 * What `auto` tries, in this order, before it uses no jail. bwrap comes before the native jail
 * without user namespaces because it has more layers.
 */
static const struct ck_jail *const preferred[] = {&ck_jail_native, &ck_jail_bwrap, &ck_jail_native_no_userns};

const struct ck_jail *ck_jail_find(const char *name)
{
    for (size_t i = 0; i < sizeof(adapters) / sizeof(adapters[0]); i++)
        if (strcmp(adapters[i]->name, name) == 0)
            return adapters[i];
    return NULL;
}

const char *ck_jail_reason(bool on_linux, const char *found)
{
    return on_linux ? found : "not_linux";
}

size_t ck_jail_form_index(struct ck_jail_form form)
{
    return (form.egress ? 1u : 0u) | (form.workspace_code ? 2u : 0u) | (form.loopback ? 4u : 0u) |
           (form.learn ? 8u : 0u);
}

const struct ck_jail_state *ck_jail_look(struct ck_jails *jails, const struct ck_jail *jail, struct ck_jail_form form)
{
    size_t i = 0;
    while (adapters[i] != jail)
        i++;
    if (jail == &ck_jail_none || jail == &ck_jail_native_no_userns)
        form = (struct ck_jail_form){.egress = form.egress};
    struct ck_jail_state *state = &jails->states[ck_jail_form_index(form)][i];
    if (!state->known) {
        *state = (struct ck_jail_state){.reason = ck_jail_reason(CK_JAIL_ON_LINUX, "not_installed")};
        if (jail == &ck_jail_none)
            state->holds = !form.egress;
        else if (jails->prove)
            jails->prove(jails->data, jail, form, state);
        /* A failure for lack of resources is not an answer: the next run proves again. */
        state->known = state->failed == 0;
    }
    return state;
}

/* The native jail has two forms of one name; the first one tried is what the run should have had. */
static void add_skip(struct ck_jail_choice *choice, const struct ck_jail *jail, const char *reason)
{
    for (size_t i = 0; i < choice->skip_count; i++)
        if (strcmp(choice->skips[i].jail, jail->name) == 0)
            return;
    choice->skips[choice->skip_count++] = (struct ck_jail_skip){.jail = jail->name, .reason = reason};
}

/* Sets choice->jail to the first jail that holds; if none does, it stays NULL. */
static int choose_first(struct ck_jails *jails, const struct ck_jail *const *wanted, size_t count,
                        struct ck_jail_form form, struct ck_jail_choice *choice, struct choke_error *error)
{
    for (size_t i = 0; i < count && !choice->jail; i++) {
        const struct ck_jail_state *state = ck_jail_look(jails, wanted[i], form);
        if (state->failed != 0)
            return ck_error_set(error, CHOKE_SPAWN_FAILED, state->failed, "jail '%s' could not be tried: %s",
                                wanted[i]->name,
                                state->message[0] != '\0' ? state->message : ck_error_text(state->failed));
        if (state->holds) {
            choice->jail = wanted[i];
            choice->reports_attempts = state->reports_attempts;
            choice->libraries = state->libraries;
            choice->names_execs = state->names_execs;
        } else {
            add_skip(choice, wanted[i], state->reason);
        }
    }
    return 0;
}

/* A jail that was asked for by name is used or refused. Only native has a second form. */
static int choose_by_name(struct ck_jails *jails, enum choke_jail wanted, struct ck_jail_form form,
                          struct ck_jail_choice *choice, struct choke_error *error)
{
    static const struct ck_jail *const native_forms[] = {&ck_jail_native, &ck_jail_native_no_userns};
    const struct ck_jail *jail = wanted == CHOKE_JAIL_NATIVE  ? &ck_jail_native
                                 : wanted == CHOKE_JAIL_BWRAP ? &ck_jail_bwrap
                                                              : &ck_jail_none;
    int r = wanted == CHOKE_JAIL_NATIVE
                ? choose_first(jails, native_forms, sizeof(native_forms) / sizeof(native_forms[0]), form, choice, error)
                : choose_first(jails, &jail, 1, form, choice, error);
    if (r < 0 || choice->jail)
        return r;
    /* For native this is the reason of the full form, not of the one without user namespaces. */
    const struct ck_jail_state *state = ck_jail_look(jails, jail, form);
    return ck_error_set(error, CHOKE_JAIL_UNAVAILABLE, ENOTSUP, "jail '%s' is not available here (%s): %s", jail->name,
                        state->reason, state->message);
}

/* A jail was required, and only a weaker one is available. */
static int refuse_weaker(struct ck_jails *jails, const struct ck_jail *jail, const struct ck_jail_needs *needs,
                         struct choke_error *error)
{
    bool other = needs->whole_by && needs->whole_by[0] != '\0';
    const char *by = other ? needs->whole_by : "";
    const char *options = other ? "" : " (--require-jail, --sandbox)";
    if (jail == &ck_jail_none)
        return ck_error_set(error, CHOKE_JAIL_UNAVAILABLE, ENOTSUP,
                            "%sa jail is required%s, and none is available: the tool would run without one", by,
                            options);
    return ck_error_set(error, CHOKE_JAIL_UNAVAILABLE, ENOTSUP,
                        "%sa jail is required%s, and only the native jail without user namespaces is available: %s", by,
                        options, ck_jail_look(jails, &ck_jail_native, needs->form)->message);
}

/* Without a network namespace a tool could connect without the proxy. */
static int choose_with_egress(struct ck_jails *jails, enum choke_jail wanted, struct ck_jail_form form,
                              struct ck_jail_choice *choice, struct choke_error *error)
{
    static const struct ck_jail *const able[] = {&ck_jail_native, &ck_jail_bwrap};
    size_t first = wanted == CHOKE_JAIL_BWRAP ? 1 : 0;
    size_t count = wanted == CHOKE_JAIL_NONE ? 0 : wanted == CHOKE_JAIL_AUTO ? 2 : 1;
    int r = choose_first(jails, able + first, count, form, choice, error);
    if (r < 0 || choice->jail)
        return r;
    if (count == 0)
        return ck_error_set(
            error, CHOKE_JAIL_UNAVAILABLE, ENOTSUP,
            "egress can be restricted only in a jail, and this run has none; use --jail auto, or leave --egress out");
    const struct ck_jail_state *state = ck_jail_look(jails, able[first], form);
    return ck_error_set(error, CHOKE_JAIL_UNAVAILABLE, ENOTSUP,
                        "egress cannot be restricted here: jail '%s' with its own network is not available (%s): %s",
                        able[first]->name, state->reason, state->message);
}

int ck_jail_choose(struct ck_jails *jails, enum choke_jail wanted, struct ck_jail_needs needs,
                   struct ck_jail_choice *ret_choice, struct choke_error *error)
{
    *ret_choice = (struct ck_jail_choice){0};
    if (needs.form.egress)
        return choose_with_egress(jails, wanted, needs.form, ret_choice, error);
    int r = wanted == CHOKE_JAIL_AUTO ? choose_first(jails, preferred, sizeof(preferred) / sizeof(preferred[0]),
                                                     needs.form, ret_choice, error)
                                      : choose_by_name(jails, wanted, needs.form, ret_choice, error);
    if (r < 0)
        return r;
    if (!ret_choice->jail)
        ret_choice->jail = &ck_jail_none;
    bool weaker = ret_choice->jail == &ck_jail_none || ret_choice->jail == &ck_jail_native_no_userns;
    return needs.whole && weaker ? refuse_weaker(jails, ret_choice->jail, &needs, error) : 0;
}
