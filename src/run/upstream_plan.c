/*
 * upstream_plan.c - finds the proxy of the site for a run. See upstream_plan.h.
 *
 * Must not let the credentials leave: no message quotes the variable or the file, and nothing here
 * is put into the environment or the arguments of a tool.
 */
#include "run/upstream_plan.h"

#include "base/error.h"
#include "base/fd.h"
#include "base/file.h"
#include "base/quote.h"
#include "base/upstream.h"
#include "jail/native.h"
#include "sys/beneath.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_MAX (CK_UPSTREAM_CREDENTIALS_MAX + 2) /* a line break, and a byte that is too much */

/* ---- the environment --------------------------------------------------------------------- */

/* An empty variable counts as one that is not set, as in every other program. */
static const char *read_environment(const char **ret_name)
{
    const char *value = secure_getenv("HTTPS_PROXY");
    *ret_name = "HTTPS_PROXY";
    if (value && value[0] != '\0')
        return value;
    value = secure_getenv("https_proxy");
    *ret_name = "https_proxy";
    return value && value[0] != '\0' ? value : NULL;
}

const char *ck_upstream_plan_unused(void)
{
    const char *name;
    return read_environment(&name) ? name : NULL;
}

/* Without the variable hosts are dialled directly: the same policy serves in and out of the site. */
static int from_environment(struct ck_upstream *upstream, struct choke_error *error)
{
    const char *name, *reason;
    const char *value = read_environment(&name);
    if (!value || ck_upstream_parse(value, true, upstream, &reason) == 0)
        return 0;
    return ck_error_set(error, CHOKE_INVALID, EINVAL, "the policy has 'upstream: environment', and the variable %s %s",
                        name, reason);
}

/* ---- the policy -------------------------------------------------------------------------- */

static int refuse_file(const char *path, int errnum, const char *why, struct choke_error *error)
{
    return ck_error_set(error, CHOKE_POLICY, errnum, "the file '%s' with the credentials for 'upstream' %s",
                        CK_QUOTE(path), why);
}

/* As ssh has it for keys: what others can read is not a secret any more. */
static int check_file(const struct ck_trusted *trusted, const struct ck_plan *plan, const char *path,
                      struct choke_error *error)
{
    char real[PATH_MAX];
    /* These are shown in a jail, where the tool is the same user. shown.c has the directories of 'reads'. */
    if (ck_beneath_path(trusted->fd, real, sizeof(real)) == 0 && ck_native_is_system(real))
        return refuse_file(path, EPERM, "is in a directory of the system, which every tool can read", error);
    if (ck_trust_passes(trusted, plan->root))
        return refuse_file(path, EPERM, "is inside the root, where the repository could have written it", error);
    if (!S_ISREG(trusted->status.st_mode))
        return refuse_file(path, EINVAL, "is not a regular file", error);
    if (trusted->status.st_uid != geteuid())
        return refuse_file(path, EPERM, "belongs to another user", error);
    if ((trusted->status.st_mode & (S_IRWXG | S_IRWXO)) != 0)
        return refuse_file(path, EPERM, "is accessible to group or others; run chmod 600 on it", error);
    return 0;
}

/* The file that was checked is opened, and no other of its name. */
static int open_file(const struct ck_trusted *trusted, const char *path, int *ret_fd, struct choke_error *error)
{
    struct stat status;
    CK_FD fd = ck_file_open(trusted->parent_fd, trusted->name, O_NOFOLLOW, &status);
    if (fd < 0)
        return refuse_file(path, -fd, strerror(-fd), error);
    if (status.st_dev != trusted->status.st_dev || status.st_ino != trusted->status.st_ino)
        return refuse_file(path, EAGAIN, "was replaced while it was opened", error);
    *ret_fd = ck_fd_take(&fd);
    return 0;
}

/* One line, "USER:PASSWORD". */
static int read_credentials(int fd, const char *path, struct ck_upstream *upstream, struct choke_error *error)
{
    char text[FILE_MAX];
    const char *reason = NULL;
    long length = ck_fd_read_all(fd, text, sizeof(text));
    if (length < 0)
        return refuse_file(path, (int)-length, strerror((int)-length), error);
    size_t line = (size_t)length;
    if (line > 0 && text[line - 1] == '\n')
        line--;
    int r = ck_upstream_set_credentials(upstream, text, line, &reason);
    explicit_bzero(text, sizeof(text));
    return r == 0 ? 0 : refuse_file(path, EINVAL, reason, error);
}

static int take_credentials(const char *path, const struct ck_plan *plan, struct ck_upstream *upstream,
                            struct choke_error *error)
{
    __attribute__((cleanup(ck_trust_done))) struct ck_trusted trusted;
    CK_FD fd = -1;
    int r = ck_trust_walk(path, &trusted, error);
    if (r == -EPERM && error->message[0] != '\0') {
        error->outcome = CHOKE_POLICY;
        return r;
    }
    if (r < 0)
        return refuse_file(path, -r, r == -ENOENT ? "does not exist" : strerror(-r), error);
    r = check_file(&trusted, plan, path, error);
    if (r == 0)
        r = open_file(&trusted, path, &fd, error);
    return r < 0 ? r : read_credentials(fd, path, upstream, error);
}

/* The policy was loaded, so its URL is valid. */
static int from_policy(const struct ck_policy_upstream *named, const struct ck_plan *plan, struct ck_upstream *upstream,
                       struct choke_error *error)
{
    const char *reason;
    int r = ck_upstream_parse(named->url, false, upstream, &reason);
    if (r < 0)
        return ck_error_set(error, CHOKE_POLICY, EINVAL, "'url' in 'upstream' %s", reason);
    return named->credentials_file ? take_credentials(named->credentials_file, plan, upstream, error) : 0;
}

int ck_upstream_plan(const struct ck_policy *policy, struct ck_plan *plan)
{
    const struct ck_policy_upstream *named = &policy->upstream;
    if (plan->verdict.egress_count == 0 || (!named->environment && !named->url))
        return 0;
    struct ck_upstream *upstream = ck_arena_array(&plan->arena, 1, sizeof(*upstream));
    if (!upstream)
        return -ENOMEM;
    int r = named->environment ? from_environment(upstream, &plan->verdict.error)
                               : from_policy(named, plan, upstream, &plan->verdict.error);
    if (r < 0)
        return ck_plan_refuse(plan, NULL, "upstream");
    plan->upstream = upstream->port != 0 ? upstream : NULL;
    return 0;
}
