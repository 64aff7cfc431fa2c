/*
 * sandbox.h - the environment of code that a model or a repository wrote (R14).
 *
 * A struct ck_sandbox is the part of the host's environment, and of the caller's extras, that such
 * code may see. It is made here and nowhere else, and only through the filter: its content is
 * private to sandbox.c.
 *
 *   1. ck_sandbox_make()          filters; an extra that is not allowed is refused with a message.
 *   2. ck_sandbox_environment()   PATH, HOME, LANG and LC_ALL, what entries set, and what passed.
 *
 * Pure: the caller passes the host's environment. All memory is in the arena.
 */
#ifndef CK_POLICY_SANDBOX_H
#define CK_POLICY_SANDBOX_H

#include "chokepoint.h"
#include "policy/model.h"

struct ck_sandbox;

/* NULL-terminated. A name, or a prefix of names and '*'. */
extern const char *const ck_sandbox_allowlist[];

enum ck_sandbox_ruling {
    CK_SANDBOX_PASSES = 1,
    CK_SANDBOX_SECRET,  /* the name indicates a secret: never, whatever the list says */
    CK_SANDBOX_UNLISTED /* not on the list, or not a valid name */
};

/* How a list decides about a name; the filter uses this with ck_sandbox_allowlist. */
enum ck_sandbox_ruling ck_sandbox_rule(const char *const *allowlist, const char *name, size_t length);

/*
 * host and extras are NULL-terminated NAME=VALUE lists, and may be NULL. Variables of host that are
 * not allowed are left out, also if a value looks like a credential or has a control byte. An extra
 * replaces the host's variable. 0; -EPERM with CHOKE_ENV_FORBIDDEN for an extra that is not
 * allowed, -EINVAL with CHOKE_INVALID for one that is malformed or repeated, -ENOMEM.
 */
int ck_sandbox_make(struct ck_arena *arena, const char *const *host, const char *const *extras,
                    const struct ck_sandbox **ret_sandbox, struct choke_error *error);

/* The other sources of an environment. */
struct ck_sandbox_frame {
    const struct ck_policy *policy; /* PATH is its search path */
    /* as for ck_env_build; what they set wins over what passed */
    const struct ck_tool *const *tools;
    const char *home;
    bool offline; /* as in struct ck_host_environment */
};

/*
 * The whole environment, a NULL-terminated NAME=VALUE vector; LANG and LC_ALL are fixed. -EPERM
 * with CHOKE_ENV_FORBIDDEN if an entry sets a value that looks like a credential; -ENOMEM.
 */
int ck_sandbox_environment(struct ck_arena *arena, const struct ck_sandbox *sandbox,
                           const struct ck_sandbox_frame *frame, const char ***ret_env, struct choke_error *error);

#endif
