/*
 * env.h - the environment of a tool is built here, never inherited (R13).
 *
 * Exactly PATH HOME LANG LC_ALL, then the entry's set_env, then the extras that the entry grants. PATH is the policy's
 * search path. A later name never repeats an earlier one: set_env and extras may not name those four.
 */
#ifndef CK_POLICY_ENV_H
#define CK_POLICY_ENV_H

#include "policy/model.h"

/* What the parent has; NULL or a value with a control byte gets the fixed value. */
struct ck_host_environment {
    const char *home;
    const char *lang;
    const char *lc_all;
};

#define CK_ENV_DEFAULT_HOME "/nonexistent"
#define CK_ENV_DEFAULT_LANG "C.UTF-8"

/* May name be a variable at all: [A-Za-z_][A-Za-z0-9_]*, at most 255 bytes. */
bool ck_env_name_valid(const char *name, size_t length);

/*
 * May any policy grant it? False for the loader's, interpreters' and credential names that would undo a protection
 * (LD_*, ...).
 */
bool ck_env_name_grantable(const char *name, size_t length);

/*
 * What the name would undo ("makes an interpreter load or run code"), or NULL where a policy may grant it to callers.
 * set_env is part of the reviewed policy, so it may set such a name all the same, except where ck_env_name_settable
 * says no: the four base names and those of the dynamic loader.
 */
const char *ck_env_name_danger(const char *name, size_t length);
bool ck_env_name_settable(const char *name, size_t length);

/*
 * NULL-terminated NAME=VALUE vector in arena, or NULL when out of memory. extras were judged before. tools is
 * NULL-terminated: the tool, then the one that it runs for the caller, and so on. Where two of them set the same name
 * the inner one's value holds, also against an extra, in whatever case that is spelled: it is what hardens the program
 * that is run in the end.
 */
const char **ck_env_build(struct ck_arena *arena, const struct ck_policy *policy, const struct ck_tool *const *tools,
                          const struct ck_host_environment *host, const char *const *extras);

/*
 * The same environment with the variables by which tools find a proxy, all of them set to url (an address, without
 * credentials), in the place of any that stood there in whatever case. NULL when out of memory.
 */
const char **ck_env_with_proxy(struct ck_arena *arena, const char *const *env, const char *url);

#endif
