/*
 * audit_place.c - the default paths of the audit log. See audit_place.h.
 *
 * secure_getenv: a set-user-ID program must not be directed by variables of its caller.
 */
#include "api/audit_place.h"

#include "api/machine.h"
#include "base/error.h"
#include "sys/home.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define IN_STATE "chokepoint/audit.jsonl"
#define IN_HOME ".local/state/" IN_STATE

/* The XDG specification says that a relative path in XDG_STATE_HOME must be ignored. */
int ck_audit_place_usual(char ret_path[PATH_MAX], struct choke_error *error)
{
    const char *state = secure_getenv("XDG_STATE_HOME");
    const char *home = secure_getenv("HOME");
    int length = -1;
    if (state && state[0] == '/')
        length = snprintf(ret_path, PATH_MAX, "%s/" IN_STATE, state);
    else if (home && home[0] == '/')
        length = snprintf(ret_path, PATH_MAX, "%s/" IN_HOME, home);
    if (length > 0 && length < PATH_MAX)
        return 0;
    return ck_error_set(error, CHOKE_INVALID, ENOENT, "no default path for the audit log: %s",
                        length < 0 ? "neither XDG_STATE_HOME nor HOME is an absolute path" : "its path is too long");
}

int ck_audit_place_locked(uid_t uid, char ret_home[PATH_MAX], char ret_path[PATH_MAX], struct choke_error *error)
{
    int r = ck_home_find(uid, ret_home);
    if (r == 0 && snprintf(ret_path, PATH_MAX, "%s/" IN_HOME, ret_home) >= PATH_MAX)
        r = -ENAMETOOLONG;
    if (r == 0)
        return 0;
    bool answer = r == -ENOENT || r == -ENAMETOOLONG;
    (void)ck_error_set(error, answer ? CHOKE_DISALLOWED : CHOKE_SPAWN_FAILED, -r,
                       CK_LOCKED_PREFIX
                       "the password database has no home for user %u%s%s, so calls cannot be recorded",
                       (unsigned)uid, answer ? "" : ": ", answer ? "" : strerror(-r));
    return answer ? -ENOENT : r;
}

int choke_audit_default_path(char *ret_path, size_t size, struct choke_error *error)
{
    char path[PATH_MAX], home[PATH_MAX];
    if (!ret_path)
        return ck_error_set(error, CHOKE_INVALID, EINVAL, "a buffer for the path is required");
    int r = ck_machine_binds_caller(error);
    if (r >= 0)
        r = r > 0 ? ck_audit_place_locked(getuid(), home, path, error) : ck_audit_place_usual(path, error);
    if (r < 0)
        return r;
    if (strlen(path) >= size)
        return ck_error_set(error, CHOKE_INVALID, ENAMETOOLONG, "the path of the audit log does not fit");
    memcpy(ret_path, path, strlen(path) + 1);
    return 0;
}
