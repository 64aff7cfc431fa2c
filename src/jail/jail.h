/*
 * jail.h - the interface of a jail, and the choice of one for a run.
 *
 * An adapter is one file with one struct ck_jail and a line in the table of jail.c. The jail of a
 * run is chosen here, before anything exists. If a jail was asked for by name and is not available,
 * the run is refused; it never gets a weaker jail instead. Only the native jail has two forms: if
 * the machine has no user namespaces, there is the form without them, and the result reports what
 * was skipped.
 */
#ifndef CK_JAIL_JAIL_H
#define CK_JAIL_JAIL_H

#include "chokepoint.h"

#include <stdbool.h>
#include <stddef.h>

#define CK_JAILS_MAX 4

struct ck_jail {
    const char *name;
    const char *const *layers; /* NULL-terminated names */
};

/* What is known about an adapter on this machine. */
struct ck_jail_state {
    bool known;
    bool holds;
    bool reports_attempts; /* with egress: direct attempts of a tool can be reported */
    bool libraries;        /* library directories can be code: jail/libraries.h */
    bool names_execs;      /* refused executions can be named */
    bool recalled;         /* an earlier process proved it */
    int failed;         /* positive errno: the proof failed for lack of resources (base/errkind.h) and is tried again */
    const char *reason; /* if it does not hold: not_linux, not_installed, not_permitted */
    char message[256];  /* the same as text: what was tried, and what happened */
};

/*
 * What a run opens in a jail. Each form is another program with other layers, so each is proven by
 * itself. Zero-filled: nothing is opened.
 */
struct ck_jail_form {
    bool egress;         /* restricted egress, which only a jail with its own network has */
    bool workspace_code; /* files beneath the root can be executed; needs a mount namespace */
    bool loopback;       /* sockets on loopback; needs a network namespace */
    bool learn;          /* every file of the system can be executed, for `policy learn` */
};

#define CK_JAIL_FORMS 16

/* The number of a form, below CK_JAIL_FORMS. */
size_t ck_jail_form_index(struct ck_jail_form form);

/* What a run needs of a jail. */
struct ck_jail_needs {
    bool whole;           /* all layers: not the native jail without user namespaces */
    const char *whole_by; /* begins the message that no jail holds; "" or NULL: the request said so */
    struct ck_jail_form form;
};

/*
 * The adapters of a context. prove tries a jail. It is called once per adapter and form, when the
 * jail is first needed in that form. Without prove only `none` is available.
 */
struct ck_jails {
    struct ck_jail_state states[CK_JAIL_FORMS][CK_JAILS_MAX]; /* in the order of the table */
    void (*prove)(void *data, const struct ck_jail *jail, struct ck_jail_form form, struct ck_jail_state *ret_state);
    void *data;
};

/* A jail that was wanted and does not hold. */
struct ck_jail_skip {
    const char *jail;   /* its name */
    const char *reason; /* not_linux, not_installed, not_permitted */
};

struct ck_jail_choice {
    const struct ck_jail *jail;
    struct ck_jail_skip skips[CK_JAILS_MAX]; /* in the order in which they were tried; each name once */
    size_t skip_count;
    bool reports_attempts; /* with egress: as in struct ck_jail_state */
    bool libraries;        /* as in struct ck_jail_state */
    bool names_execs;      /* as in struct ck_jail_state */
};

extern const struct ck_jail ck_jail_none;
extern const struct ck_jail ck_jail_native;
extern const struct ck_jail ck_jail_native_no_userns; /* the form without user namespaces; also named "native" */
extern const struct ck_jail ck_jail_bwrap;
extern const struct ck_jail ck_jail_seatbelt; /* macOS only: not in the table of a build for Linux */

/* The adapter with this name; NULL if this build has none. */
const struct ck_jail *ck_jail_find(const char *name);

/*
 * The reason why a jail does not hold, as events have it: `found`, or "not_linux" on another
 * system.
 */
const char *ck_jail_reason(bool on_linux, const char *found);

#ifdef __linux__
#define CK_JAIL_ON_LINUX true
#else
#define CK_JAIL_ON_LINUX false
#endif

/*
 * What is known about an adapter in a form. It is proven now if it was not before, or if that
 * failed. A jail without namespaces has one form; the grant refuses there what it cannot enforce
 * (policy/grant.h).
 */
const struct ck_jail_state *ck_jail_look(struct ck_jails *jails, const struct ck_jail *jail, struct ck_jail_form form);

/*
 * wanted must not be CHOKE_JAIL_DEFAULT. A failure has outcome CHOKE_JAIL_UNAVAILABLE; or
 * CHOKE_SPAWN_FAILED if a proof failed for lack of resources: then no weaker jail is chosen.
 */
int ck_jail_choose(struct ck_jails *jails, enum choke_jail wanted, struct ck_jail_needs needs,
                   struct ck_jail_choice *ret_choice, struct choke_error *error);

#endif
