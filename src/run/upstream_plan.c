/*
 * upstream_plan.c - finds the proxy of the site for a run. See upstream_plan.h.
 *
 * Must not let the credentials leave: no message quotes the variable or the file, and nothing here
 * is put into the environment or the arguments of a tool.
 */
#include "run/upstream_plan.h"

#include "base/error.h"
#include "base/fd.h"
#include "base/upstream.h"
#include "run/secret_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

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

/* One line, "USER:PASSWORD". */
static int read_credentials(int fd, const struct ck_secret_file *file, struct ck_upstream *upstream,
                            struct choke_error *error)
{
    char text[FILE_MAX];
    const char *reason = NULL;
    long length = ck_fd_read_all(fd, text, sizeof(text));
    if (length < 0)
        return ck_secret_file_refuse(file, (int)-length, strerror((int)-length), error);
    size_t line = (size_t)length;
    if (line > 0 && text[line - 1] == '\n')
        line--;
    int r = ck_upstream_set_credentials(upstream, text, line, &reason);
    explicit_bzero(text, sizeof(text));
    return r == 0 ? 0 : ck_secret_file_refuse(file, EINVAL, reason, error);
}

static int take_credentials(const char *path, const struct ck_plan *plan, struct ck_upstream *upstream,
                            struct choke_error *error)
{
    CK_FD fd = -1;
    const struct ck_secret_file file = {
        .path = path, .what = "the credentials for 'upstream'", .fault = CHOKE_POLICY, .root = plan->root};
    int r = ck_secret_file_open(&file, &fd, error);
    return r < 0 ? r : read_credentials(fd, &file, upstream, error);
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
