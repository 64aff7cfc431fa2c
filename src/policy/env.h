/*
 * env.h - the environment of a tool is built here, never inherited (R13).
 *
 * Exactly PATH HOME LANG LC_ALL, then the entry's set_env, then the extras that the entry grants.
 * PATH is the policy's search path. No name comes twice: set_env and extras may not name those
 * four.
 */
#ifndef CK_POLICY_ENV_H
#define CK_POLICY_ENV_H

#include "policy/model.h"

/* The parent's variables. NULL, or a value with a control byte: the fixed value is used. */
struct ck_host_environment {
    const char *home;
    const char *lang;
    const char *lc_all;
    bool offline; /* no host is reached: variables with 'when: offline' are set */
};

#define CK_ENV_DEFAULT_HOME "/nonexistent"
#define CK_ENV_DEFAULT_LANG "C.UTF-8"

/* Is it a valid variable name: [A-Za-z_][A-Za-z0-9_]*, at most 255 bytes? */
bool ck_env_name_valid(const char *name, size_t length);

/*
 * May a policy grant it? False for names that would undo a protection: those of the loader and of
 * interpreters (LD_*, ...).
 */
bool ck_env_name_grantable(const char *name, size_t length);

/*
 * What the name would undo ("makes an interpreter load or run code"), or NULL if a policy may grant
 * it to callers. set_env is part of the reviewed policy. So it may set such a name, except where
 * ck_env_name_settable returns false: the four base names and those of the dynamic loader.
 */
const char *ck_env_name_danger(const char *name, size_t length);
bool ck_env_name_settable(const char *name, size_t length);

/*
 * A NULL-terminated NAME=VALUE vector in arena, or NULL when out of memory. The judge has checked
 * extras. tools is NULL-terminated: the tool, then the one that it runs for the caller, and so on.
 * If two of them set the same name, the value of the inner one is used, also against an extra in
 * upper or lower case: it hardens the program that finally runs.
 */
const char **ck_env_build(struct ck_arena *arena, const struct ck_policy *policy, const struct ck_tool *const *tools,
                          const struct ck_host_environment *host, const char *const *extras);

/*
 * The same environment with the variables by which tools find a proxy. All are set to url (an
 * address, without credentials) and replace existing ones, in upper or lower case. NULL when out of
 * memory.
 */
const char **ck_env_with_proxy(struct ck_arena *arena, const char *const *env, const char *url, bool loopback);

#endif
