/*
 * machine.h - the machine's policy, /etc/chokepoint/policy.yaml, and whom its lock binds (R9).
 *
 * docs/adr/0059 has the reasons. run/locked.h has the rules for one request.
 */
#ifndef CK_API_MACHINE_H
#define CK_API_MACHINE_H

#include "policy/model.h"
#include "run/locked.h"
#include "sys/rulefile.h"

#include <sys/types.h>

struct choke_context;
struct ck_caller;

/* Zero-filled: there is no such file. */
struct ck_machine {
    bool exists;
    bool locked;
    bool bound;             /* locked, and the caller is not root */
    bool in_use;            /* the context uses this policy, not one that the caller named */
    uid_t uid;              /* the real user id of the caller who made the context */
    struct ck_locked rules; /* for a caller who is bound */
    const char *home;       /* of that caller, by the password database; NULL: not bound, or none */
};

/*
 * The one look. 1: there is a file, or something else in its place; 0: no file. A negative
 * errno if that is not known: then nothing may run.
 */
int ck_machine_look(struct choke_error *error);

/* policy is the machine's. Notes whether it is locked, and whether it binds the calling thread. */
void ck_machine_bind(struct ck_machine *machine, const struct ck_policy *policy);

/* The context uses the machine's policy: prepares the rules for its requests. */
int ck_machine_use(struct choke_context *context, struct choke_error *error);

/* The rules for a run; NULL if the caller is not bound. */
const struct ck_locked *ck_machine_rules(const struct ck_machine *machine);

/* If the caller is bound, every run of the context is refused, because of what. The first counts. */
void ck_machine_refuse(struct ck_machine *machine, const char *what);

/* -EPERM if every run of the context is refused. */
int ck_machine_check(const struct ck_machine *machine, struct choke_error *error);

/*
 * guard is about to use the profile (NULL: none) of the machine's policy; applied is what
 * ck_profile_apply made of it. -EPERM if the caller is bound, and the policy does not name the
 * profile, or a carrier or the profile cites a decision record that does not exist.
 */
int ck_machine_check_profile(const struct ck_machine *machine, const struct ck_policy *applied, const char *profile,
                             struct choke_error *error);

/* -EPERM if the policy is locked, and the caller is not the one that the context was made by. */
int ck_machine_check_caller(const struct ck_machine *machine, const struct ck_caller *now, struct choke_error *error);

/* Is the calling thread bound? Reads the file. 1, 0, or a negative errno. */
int ck_machine_binds_caller(struct choke_error *error);

#endif
