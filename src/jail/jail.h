/*
 * jail.h - the port: what a jail is to the rest, and the registry of its adapters.
 *
 * An adapter is one file with one struct ck_jail. To add one: write it, name it in the table of jail.c. Which adapter
 * a run gets is decided here, before anything exists; a jail that was asked for by name and is not to be had is a
 * refusal, never a weaker jail. The native jail alone has two forms: where it cannot have namespaces there is the one
 * without them, and what is then skipped is told.
 */
#ifndef CK_JAIL_JAIL_H
#define CK_JAIL_JAIL_H

#include "chokepoint.h"

#include <stdbool.h>

#define CK_JAILS_MAX 4

struct ck_jail {
    const char *name;
    const char *const *layers; /* NULL-terminated: what holds in it */
};

/* What is known of an adapter on this machine. */
struct ck_jail_state {
    bool known;
    bool holds;
    bool reports_attempts; /* with egress: who tries another way out than the gate can be told of */
    int failed;            /* it could not be found out (base/errkind.h), and is tried again: a positive errno */
    const char *reason;    /* where it does not: not_linux, not_installed, not_permitted */
    char message[256];     /* the same for people: what was tried and what came of it */
};

/* What is asked of a jail. */
struct ck_jail_needs {
    bool whole;  /* all of it, not one that holds in part */
    bool egress; /* with a way out that can be bounded, which only a jail with a network of its own has */
};

/*
 * The adapters as a context sees them. prove finds out by doing, and is called once for an adapter, and once for it with
 * egress, when it is first wanted. Without prove only `none` is to be had.
 */
struct ck_jails {
    struct ck_jail_state states[2][CK_JAILS_MAX]; /* without egress and with it, in the order of the registry */
    void (*prove)(void *data, const struct ck_jail *jail, bool egress, struct ck_jail_state *ret_state);
    void *data;
};

struct ck_jail_choice {
    const struct ck_jail *jail;
    const char *skipped;   /* the first adapter that was wanted and is not to be had, or not whole; or NULL */
    const char *reason;    /* not_linux, not_installed, not_permitted */
    bool reports_attempts; /* with egress: as in its state */
};

extern const struct ck_jail ck_jail_none;
extern const struct ck_jail ck_jail_native;
extern const struct ck_jail
    ck_jail_native_no_userns; /* the native jail where it cannot have namespaces; of the same name */
extern const struct ck_jail ck_jail_bwrap;
extern const struct ck_jail ck_jail_seatbelt; /* not for Linux: not in the registry of a build for it */

/* The adapter of this name; NULL where this build has none. */
const struct ck_jail *ck_jail_find(const char *name);

/* The reason why a jail does not hold, as events have it: what was found, but on another system "not_linux". */
const char *ck_jail_reason(bool on_linux, const char *found);

#ifdef __linux__
#define CK_JAIL_ON_LINUX true
#else
#define CK_JAIL_ON_LINUX false
#endif

/* What is known of an adapter of this build; it is proven now if it was not before, or if that failed. */
const struct ck_jail_state *ck_jail_look(struct ck_jails *jails, const struct ck_jail *jail, bool egress);

/*
 * wanted is never CHOKE_JAIL_DEFAULT. Failures have outcome CHOKE_JAIL_UNAVAILABLE; or CHOKE_SPAWN_FAILED where what a jail
 * is worth could not be found out: a weaker one is no answer to that.
 */
int ck_jail_choose(struct ck_jails *jails, enum choke_jail wanted, struct ck_jail_needs needs,
                   struct ck_jail_choice *ret_choice, struct choke_error *error);

#endif
