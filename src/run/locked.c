/* locked.c - the rules of a locked policy for one request. See locked.h. */
#include "run/locked.h"

#include "base/error.h"
#include "base/fd.h"
#include "base/file.h"
#include "base/quote.h"
#include "policy/change_list.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>

#define LISTED_MAX 400 /* bytes of the roots in a message */

int ck_locked_check_context(const struct ck_locked *locked, struct ck_plan *plan)
{
    if (!locked || locked->refusal.outcome == CHOKE_NONE)
        return 0;
    plan->verdict.error = locked->refusal;
    return ck_plan_refuse(plan, NULL, "locked");
}

bool ck_locked_needs_jail(const struct ck_locked *locked, const struct ck_plan *plan)
{
    return locked && ck_judge_is_external(&plan->verdict);
}

/* A tool without a record was never reviewed, or its record was removed since. */
static int check_record(const struct ck_locked *locked, const struct ck_tool *tool, struct ck_plan *plan)
{
    if (!ck_policy_list_has(&locked->unrecorded, tool->name))
        return 0;
    if (!locked->adr_dir)
        (void)ck_error_set(&plan->verdict.error, CHOKE_DISALLOWED, EPERM,
                           CK_LOCKED_PREFIX "it has no 'adr_dir', so no entry has a decision record; '%s' is refused",
                           tool->name);
    else
        (void)ck_error_set(&plan->verdict.error, CHOKE_DISALLOWED, EPERM,
                           CK_LOCKED_PREFIX "the entry of '%s' cites decision record %s, which is not in '%s'",
                           tool->name, tool->adr, CK_QUOTE(locked->adr_dir));
    return ck_plan_refuse(plan, tool, "adr");
}

int ck_locked_check_call(const struct ck_locked *locked, const struct choke_request *request, struct ck_plan *plan)
{
    const struct ck_verdict *verdict = &plan->verdict;
    if (!locked)
        return 0;
    if (request->jail == CHOKE_JAIL_NONE && ck_judge_is_external(verdict)) {
        (void)ck_error_set(&plan->verdict.error, CHOKE_DISALLOWED, EPERM,
                           CK_LOCKED_PREFIX "'%s' is an external tool and runs in a jail; leave --jail none out",
                           verdict->tool->name);
        return ck_plan_refuse(plan, NULL, "locked");
    }
    int r = check_record(locked, verdict->tool, plan);
    for (size_t i = 0; r == 0 && i < verdict->parsed.nested_count; i++)
        r = check_record(locked, verdict->parsed.nested[i].tool, plan);
    return r;
}

/* The directory is not there, or is no plain directory, or the caller cannot reach it. */
static bool is_answer(int errnum)
{
    return errnum == ENOENT || errnum == ENOTDIR || errnum == ELOOP || errnum == EACCES;
}

/*
 * Is the root in the directory? No symlink is followed on the path of the list: who can write a
 * directory above could lead it anywhere. The root and what is above it are compared by device and
 * inode. 1 or 0, or a negative errno.
 */
static int is_in(const char *directory, int root_fd)
{
    CK_FD fd = ck_file_resolve(AT_FDCWD, directory, O_PATH | O_DIRECTORY, RESOLVE_NO_SYMLINKS);
    struct ck_identity identity;
    if (fd < 0)
        return is_answer(-fd) ? 0 : fd;
    int r = ck_trust_identity_of(fd, &identity);
    return r < 0 ? r : ck_trust_is_above(root_fd, identity);
}

/* As many as fit. */
static const char *list_roots(const struct ck_list *roots, char text[LISTED_MAX])
{
    size_t used = 0;
    text[0] = '\0';
    for (uint32_t i = 0; i < roots->count; i++) {
        const char *shown = CK_QUOTE(roots->items[i]);
        int length = snprintf(text + used, LISTED_MAX - used, "%s'%s'", i > 0 ? ", " : "", shown);
        if (length < 0 || used + (size_t)length >= LISTED_MAX) {
            (void)snprintf(text + used, LISTED_MAX - used, "%.3s", used > 0 ? "..." : "");
            break;
        }
        used += (size_t)length;
    }
    return text;
}

int ck_locked_check_root(const struct ck_locked *locked, const struct choke_request *request, struct ck_plan *plan)
{
    char listed[LISTED_MAX];
    if (!locked || !locked->roots || locked->roots->count == 0)
        return 0;
    for (uint32_t i = 0; i < locked->roots->count; i++) {
        int r = is_in(locked->roots->items[i], plan->root_fd);
        if (r != 0)
            return r < 0 ? r : 0;
    }
    (void)ck_error_set(&plan->verdict.error, CHOKE_DISALLOWED, EPERM,
                       CK_LOCKED_PREFIX "root '%s' is in none of its 'roots': %s", CK_QUOTE(request->root),
                       list_roots(locked->roots, listed));
    return ck_plan_refuse(plan, NULL, "roots");
}
