/*
 * sandbox.h - the environment of code that a model or a repository wrote (R14).
 *
 * A struct ck_sandbox is what of the host's environment, and of the caller's extras, such code may see. It is made
 * here and nowhere else, and only through the filter: nobody outside of sandbox.c knows what is in it.
 *
 *   1. ck_sandbox_make()          filters; an extra that may not pass is refused, loudly.
 *   2. ck_sandbox_environment()   PATH, HOME, LANG and LC_ALL, what the entries set, and what passed.
 *
 * Pure: the host's environment is handed in. What lies in the arena goes with it.
 */
#ifndef CK_POLICY_SANDBOX_H
#define CK_POLICY_SANDBOX_H

#include "chokepoint.h"
#include "policy/model.h"

struct ck_sandbox;

/* NULL-terminated. A name, or the beginning of names and '*'. */
extern const char *const ck_sandbox_allowlist[];

enum ck_sandbox_ruling {
    CK_SANDBOX_PASSES = 1,
    CK_SANDBOX_SECRET,  /* the name tells of a secret: never, whatever the list says */
    CK_SANDBOX_UNLISTED /* not on the list, or no name at all */
};

/* What a list would make of a name; the filter asks this about ck_sandbox_allowlist. */
enum ck_sandbox_ruling ck_sandbox_rule(const char *const *allowlist, const char *name, size_t length);

/*
 * host and extras are NULL-terminated NAME=VALUE lists, and may be NULL. Of host, what may not pass is left out, also
 * where a value looks like a credential or has a control byte. An extra stands in the place of the host's variable.
 * 0; -EPERM with CHOKE_ENV_FORBIDDEN for an extra that may not pass, -EINVAL with CHOKE_INVALID for one that is
 * malformed or repeated, -ENOMEM.
 */
int ck_sandbox_make(struct ck_arena *arena, const char *const *host, const char *const *extras,
                    const struct ck_sandbox **ret_sandbox, struct choke_error *error);

/* What else an environment is made of. */
struct ck_sandbox_frame {
    const struct ck_policy *policy;     /* PATH is its search path */
    const struct ck_tool *const *tools; /* as for ck_env_build; what they set holds against what passed */
    const char *home;
};

/*
 * The whole environment, a NULL-terminated NAME=VALUE vector; LANG and LC_ALL are fixed. -EPERM with
 * CHOKE_ENV_FORBIDDEN where an entry sets something that looks like a credential; -ENOMEM.
 */
int ck_sandbox_environment(struct ck_arena *arena, const struct ck_sandbox *sandbox,
                           const struct ck_sandbox_frame *frame, const char ***ret_env, struct choke_error *error);

#endif
