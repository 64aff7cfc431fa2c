/*
 * sandbox.c - filters the environment of a sandbox. See sandbox.h.
 *
 * Two lists, and the second wins: a variable passes if its name is on the allowlist and has none of
 * the secret words in it. The words are searched first, in a function that does not know the list.
 * So a mistake in the allowlist, or a wide pattern in it, cannot let a secret pass. The value is
 * checked last: HTTPS_PROXY is a harmless name, but http://user:password@proxy is not a harmless
 * value.
 */
#include "policy/sandbox.h"

#include "base/error.h"
#include "policy/env.h"
#include "policy/secret.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* A name with one of these words in it, in upper or lower case, indicates a secret. */
static const char *const secret_markers[] = {
    "KEY",
    "TOKEN",
    "SECRET",
    "PASSWORD", /* the rule */
    "PASSWD",
    "PASSPHRASE",
    "CREDENTIAL", /* synonyms */
    /* npm: NPM_CONFIG__AUTH is user and password */
    "_AUTH",
    "_OTP",
};

const char *const ck_sandbox_allowlist[] = {"PATH", "NODE_ENV", "NPM_CONFIG_*", "HTTPS_PROXY", NULL};

struct ck_sandbox {
    const char **variables; /* NULL-terminated NAME=VALUE; no name twice, without case */
    size_t count;
};

/* ---- names ------------------------------------------------------------------------------- */

/* The word that makes the name a secret, or NULL. */
static const char *secret_marker(const char *name, size_t length)
{
    for (size_t i = 0; i < sizeof(secret_markers) / sizeof(secret_markers[0]); i++) {
        size_t wanted = strlen(secret_markers[i]);
        for (size_t at = 0; at + wanted <= length; at++)
            if (strncasecmp(name + at, secret_markers[i], wanted) == 0)
                return secret_markers[i];
    }
    return NULL;
}

/* "PREFIX*" needs at least one byte after the prefix. Case matters. */
static bool matches(const char *pattern, const char *name, size_t length)
{
    size_t wanted = strlen(pattern);
    if (wanted > 0 && pattern[wanted - 1] == '*')
        return length >= wanted && strncmp(pattern, name, wanted - 1) == 0;
    return length == wanted && strncmp(pattern, name, wanted) == 0;
}

enum ck_sandbox_ruling ck_sandbox_rule(const char *const *allowlist, const char *name, size_t length)
{
    /* First, whatever the list says. */
    if (secret_marker(name, length))
        return CK_SANDBOX_SECRET;
    for (; ck_env_name_valid(name, length) && *allowlist; allowlist++)
        if (matches(*allowlist, name, length))
            return CK_SANDBOX_PASSES;
    return CK_SANDBOX_UNLISTED;
}

/* PATH comes from the policy, whatever the host or the caller says. */
static bool is_search_path(const char *variable, size_t length)
{
    return length == strlen("PATH") && strncmp(variable, "PATH", length) == 0;
}

/* ---- values ------------------------------------------------------------------------------ */

/*
 * Has an address user information, the text before '@' in its authority? Parsers of addresses
 * accept one slash, or none, for two, and a backslash for a slash; and "user:password@host" is an
 * address to some.
 */
static bool has_userinfo(const char *value)
{
    for (const char *at = strchr(value, ':'); at; at = strchr(at + 1, ':')) {
        const char *authority = at + 1 + strspn(at + 1, "/\\");
        if (memchr(authority, '@', strcspn(authority, "/\\?#")))
            return true;
    }
    return false;
}

/* In upper or lower case, and with any prefix: npm_config_https_proxy. */
static bool is_about_a_proxy(const char *name, size_t length)
{
    for (size_t at = 0; at + strlen("PROXY") <= length; at++)
        if (strncasecmp(name + at, "PROXY", strlen("PROXY")) == 0)
            return true;
    return false;
}

/*
 * Why a value is not allowed, or NULL. A proxy may be named without a scheme, and no such name
 * needs an '@'.
 */
static const char *secret_value(const char *variable, size_t length)
{
    const char *value = variable + length + 1;
    bool user = has_userinfo(value) || (is_about_a_proxy(variable, length) && strchr(value, '@'));
    const char *kind = ck_secret_kind(variable);
    return kind ? kind : user ? "an address with a user or a password" : NULL;
}

/* ---- filtering --------------------------------------------------------------------------- */

/* Without case: npm reads its options in upper and lower case, and the later one would win. */
static bool has(const struct ck_sandbox *sandbox, const char *variable, size_t length)
{
    for (size_t i = 0; i < sandbox->count; i++)
        if (strncasecmp(sandbox->variables[i], variable, length + 1) == 0)
            return true;
    return false;
}

static bool has_control_byte(const char *text)
{
    for (; *text != '\0'; text++)
        if ((unsigned char)*text < 0x20 || *text == 0x7f)
            return true;
    return false;
}

/* Names the variable, never its value. */
static int forbid(struct choke_error *error, const char *name, size_t length, const char *why)
{
    char text[CK_QUOTE_MAX];
    (void)snprintf(text, sizeof(text), "%.*s", (int)(length < sizeof(text) ? length : sizeof(text) - 1), name);
    return ck_error_set(error, CHOKE_ENV_FORBIDDEN, EPERM,
                        "variable '%s' may not enter a sandbox: %s; NODE_ENV, NPM_CONFIG_* and HTTPS_PROXY may",
                        CK_SECRET_QUOTE(text), why);
}

/* What the caller gives explicitly is refused with a message, not left out. */
static int judge_extra(const struct ck_sandbox *sandbox, const char *extra, size_t position, struct choke_error *error)
{
    size_t length = strcspn(extra, "=");
    const char *marker = secret_marker(extra, length);
    char why[128];
    /* also if it is not a valid name, as npm_config_//host/:_auth */
    if (extra[length] == '=' && marker) {
        (void)snprintf(why, sizeof(why), "its name has '%s' in it", marker);
        return forbid(error, extra, length, why);
    }
    if (extra[length] != '=' || !ck_env_name_valid(extra, length))
        return ck_error_set(error, CHOKE_INVALID, EINVAL,
                            "entry %zu of env is not NAME=VALUE with a name of letters, digits and '_'", position + 1);
    const char *kind = secret_value(extra, length);
    if (ck_sandbox_rule(ck_sandbox_allowlist, extra, length) != CK_SANDBOX_PASSES)
        return forbid(error, extra, length, "it is not on the list");
    if (is_search_path(extra, length))
        return forbid(error, extra, length, "in a sandbox it is the search path of the policy");
    if (kind) {
        (void)snprintf(why, sizeof(why), "its value looks like %s", kind);
        return forbid(error, extra, length, why);
    }
    return has(sandbox, extra, length)
               ? ck_error_set(error, CHOKE_INVALID, EINVAL, "variable '%.*s' is given twice", (int)length, extra)
               : 0;
}

/* A variable that the caller did not name is left out without a message. */
static bool host_passes(const struct ck_sandbox *sandbox, const char *variable)
{
    size_t length = strcspn(variable, "=");
    return variable[length] == '=' && !is_search_path(variable, length) &&
           ck_sandbox_rule(ck_sandbox_allowlist, variable, length) == CK_SANDBOX_PASSES &&
           !has(sandbox, variable, length) && !has_control_byte(variable) && !secret_value(variable, length);
}

static size_t count_strings(const char *const *strings)
{
    size_t count = 0;
    while (strings && strings[count])
        count++;
    return count;
}

/* There is room: ck_sandbox_make counted both lists. */
static bool add(struct ck_sandbox *sandbox, struct ck_arena *arena, const char *variable)
{
    sandbox->variables[sandbox->count] = ck_arena_strdup(arena, variable);
    return !!sandbox->variables[sandbox->count++];
}

int ck_sandbox_make(struct ck_arena *arena, const char *const *host, const char *const *extras,
                    const struct ck_sandbox **ret_sandbox, struct choke_error *error)
{
    size_t extra_count = count_strings(extras), host_count = count_strings(host);
    struct ck_sandbox *sandbox = ck_arena_alloc(arena, sizeof(*sandbox));
    if (sandbox)
        sandbox->variables = ck_arena_array(arena, extra_count + host_count + 1, sizeof(*sandbox->variables));
    if (!sandbox || !sandbox->variables)
        return ck_error_oom(error);
    /* Extras first, so that has finds them and the host's variable of that name is left out. */
    for (size_t i = 0; i < extra_count; i++) {
        int r = judge_extra(sandbox, extras[i], i, error);
        if (r < 0)
            return r;
        if (!add(sandbox, arena, extras[i]))
            return ck_error_oom(error);
    }
    for (size_t i = 0; i < host_count; i++)
        if (host_passes(sandbox, host[i]) && !add(sandbox, arena, host[i]))
            return ck_error_oom(error);
    *ret_sandbox = sandbox;
    return 0;
}

/* ---- the whole --------------------------------------------------------------------------- */

int ck_sandbox_environment(struct ck_arena *arena, const struct ck_sandbox *sandbox,
                           const struct ck_sandbox_frame *frame, const char ***ret_env, struct choke_error *error)
{
    /* LANG and LC_ALL stay NULL: the fixed values are used. */
    const struct ck_host_environment fixed = {.home = frame->home, .offline = frame->offline};
    const char **env = ck_env_build(arena, frame->policy, frame->tools, &fixed, sandbox->variables);
    if (!env)
        return ck_error_oom(error);
    for (size_t i = 0; env[i]; i++) {
        /* Once more, for what the entries of the policy set. */
        const char *kind = secret_value(env[i], strcspn(env[i], "="));
        if (kind)
            return ck_error_set(
                error, CHOKE_ENV_FORBIDDEN, EPERM,
                "variable '%.*s' may not enter a sandbox: the policy sets it to a value that looks like %s",
                (int)strcspn(env[i], "="), env[i], kind);
    }
    *ret_env = env;
    return 0;
}
