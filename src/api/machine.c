/*
 * machine.c - finds the machine's policy, and decides whom it binds. See machine.h.
 *
 *   Must     refuse where it is not known whether there is a file, or what is in it.
 *   Must not read the environment, or look in a second place.
 */
#include "api/machine.h"

#include "api/context.h"
#include "api/policyfile.h"
#include "base/errkind.h"
#include "base/error.h"
#include "base/fd.h"
#include "base/file.h"
#include "base/quote.h"
#include "policy/change_list.h"
#include "policy/profile.h"
#include "sys/decision_records.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CANNOT_LOOK "cannot look for the machine's policy '" CK_LOCKED_FILE "': "

/* ---- the file ---- */

/*
 * ENOENT alone means that there is no file. A symlink is ELOOP: with a link in the path, ENOENT could
 * also mean that its target is not mounted yet.
 */
int ck_machine_look(struct choke_error *error)
{
    CK_FD fd = ck_file_resolve(AT_FDCWD, CK_LOCKED_FILE, O_PATH, RESOLVE_NO_SYMLINKS);
    if (fd >= 0)
        return 1;
    if (fd == -ENOENT)
        return 0;
    if (fd == -ELOOP)
        return ck_error_set(error, CHOKE_POLICY, ELOOP,
                            CANNOT_LOOK "there is a symlink in its path; make it a regular file");
    bool transient = ck_error_is_transient(-fd);
    int r = ck_error_set(error, transient ? CHOKE_SPAWN_FAILED : CHOKE_POLICY, -fd, CANNOT_LOOK "%s%s", strerror(-fd),
                         fd == -EACCES   ? "; every user must be able to read it (chmod a+rX)"
                         : fd == -ENOSYS ? " (openat2); this is inside a jail or cage of chokepoint, where it does not "
                                           "run, or before Linux 5.6"
                                         : "");
    if (transient)
        ck_error_add_hint(error);
    return r;
}

/* ---- who is bound ---- */

/*
 * Both ids: a set-user-ID program acts for its real user, and a daemon that lowered its effective id
 * acts for that one. In a user namespace without the host's root the file does not belong to root,
 * so this is not reached.
 */
static bool is_root(uid_t real, uid_t effective)
{
    return real == 0 && effective == 0;
}

void ck_machine_bind(struct ck_machine *machine, const struct ck_policy *policy)
{
    *machine = (struct ck_machine){
        .exists = true,
        .locked = policy->locked,
        .bound = policy->locked && !is_root(getuid(), geteuid()),
        .uid = getuid(),
    };
}

int ck_machine_check_caller(const struct ck_machine *machine, const struct ck_caller *now, struct choke_error *error)
{
    const uint32_t *uids = now->authority.uids;
    if (!machine->locked || (uids[0] == machine->uid && is_root(uids[0], uids[1]) == !machine->bound))
        return 0;
    return ck_error_set(error, CHOKE_DISALLOWED, EPERM,
                        CK_LOCKED_PREFIX "the program has changed its user; free the context and make another");
}

int ck_machine_binds_caller(struct choke_error *error)
{
    const struct ck_rulefile file = ck_policyfile(CK_LOCKED_FILE);
    struct ck_policy *policy = NULL;
    struct ck_machine machine;
    struct ck_trusted place;
    char *text;
    size_t length;
    int r = ck_machine_look(error);
    if (r <= 0)
        return r;
    r = ck_rulefile_read(&file, &text, &length, &place, error);
    if (r < 0)
        return r;
    ck_trust_done(&place);
    r = ck_policy_parse(CK_LOCKED_FILE, text, length, &policy, error);
    free(text);
    if (r < 0)
        return r;
    ck_machine_bind(&machine, policy);
    ck_policy_free(policy);
    return machine.bound;
}

/* ---- the rules ---- */

/* A lack of resources says nothing about a record, so the context is not made. */
static int find_unrecorded(struct choke_context *context, const struct ck_decision_records *records,
                           struct choke_error *error)
{
    const struct ck_policy *policy = context->policy;
    const struct ck_policy_guard *guard = policy->guard;
    struct ck_list *unrecorded = &context->machine.rules.unrecorded;
    struct ck_list *profiles = &context->machine.rules.unrecorded_profiles;
    uint32_t profiles_count = guard ? guard->profiles_count : 0;
    if (records->errnum != 0 && ck_error_is_transient(records->errnum))
        return ck_error_set(error, CHOKE_SPAWN_FAILED, records->errnum,
                            "cannot read the decision records of '" CK_LOCKED_FILE "': %s", strerror(records->errnum));
    unrecorded->items = ck_arena_array(&context->text, policy->tools_count + 1u, sizeof(*unrecorded->items));
    profiles->items = ck_arena_array(&context->text, profiles_count + 1u, sizeof(*profiles->items));
    if (!unrecorded->items || !profiles->items)
        return ck_error_oom(error);
    for (uint32_t i = 0; i < profiles_count; i++)
        if (!ck_decision_records_have(records, guard->profiles[i].adr))
            profiles->items[profiles->count++] = guard->profiles[i].name;
    for (uint32_t i = 0; i < policy->tools_count; i++)
        /* An entry of the build has its record in the build. */
        if (!policy->tools[i].embedded && !ck_decision_records_have(records, policy->tools[i].adr))
            unrecorded->items[unrecorded->count++] = policy->tools[i].name;
    return 0;
}

int ck_machine_use(struct choke_context *context, struct choke_error *error)
{
    struct ck_machine *machine = &context->machine;
    struct ck_decision_records records = {0};
    struct ck_arena arena = {0};
    machine->in_use = true;
    if (!machine->bound)
        return 0;
    machine->rules.roots = &context->policy->roots;
    machine->rules.adr_dir = context->policy->adr_dir;
    int r = context->policy->adr_dir
                ? ck_decision_records_read(&arena, CK_LOCKED_FILE, context->policy->adr_dir, &records)
                : 0;
    r = r < 0 ? ck_error_oom(error) : find_unrecorded(context, &records, error);
    ck_arena_done(&arena);
    return r;
}

const struct ck_locked *ck_machine_rules(const struct ck_machine *machine)
{
    return machine->bound ? &machine->rules : NULL;
}

void ck_machine_refuse(struct ck_machine *machine, const char *what)
{
    if (machine->bound && machine->rules.refusal.outcome == CHOKE_NONE)
        (void)ck_error_set(&machine->rules.refusal, CHOKE_DISALLOWED, EPERM, CK_LOCKED_PREFIX "%s", what);
}

int ck_machine_check(const struct ck_machine *machine, struct choke_error *error)
{
    if (machine->rules.refusal.outcome == CHOKE_NONE)
        return 0;
    if (error)
        *error = machine->rules.refusal;
    return -EPERM;
}

int ck_machine_check_profile(const struct ck_machine *machine, const struct ck_policy *applied, const char *profile,
                             struct choke_error *error)
{
    const struct ck_locked *rules = &machine->rules;
    if (!machine->bound)
        return 0;
    if (profile && !ck_profile_is_named(applied, profile))
        return ck_error_set(error, CHOKE_DISALLOWED, EPERM,
                            CK_LOCKED_PREFIX "it does not name profile '%s', neither in 'profiles' nor in 'shipped'",
                            CK_QUOTE(profile));
    if (profile && ck_policy_list_has(&rules->unrecorded_profiles, profile))
        return ck_error_set(error, CHOKE_DISALLOWED, EPERM,
                            CK_LOCKED_PREFIX "profile '%s' cites a decision record that does not exist", profile);
    for (uint32_t i = 0; i < applied->tools_count; i++)
        if (ck_profile_is_carrier(applied, &applied->tools[i]) &&
            ck_policy_list_has(&rules->unrecorded, applied->tools[i].name))
            return ck_error_set(error, CHOKE_DISALLOWED, EPERM,
                                CK_LOCKED_PREFIX "the entry of '%s', a carrier, cites decision record %s, which does "
                                                 "not exist",
                                applied->tools[i].name, applied->tools[i].adr);
    return 0;
}

int choke_locked_directory(const struct choke_context *context, int directory_fd, struct choke_error *error)
{
    struct stat log, other;
    char directory[PATH_MAX];
    int r = ck_context_check(context, error);
    if (r < 0 || !context->machine.bound || !context->audit.path)
        return r;
    const char *slash = strrchr(context->audit.path, '/');
    (void)snprintf(directory, sizeof(directory), "%.*s", (int)(slash - context->audit.path), context->audit.path);
    if (fstat(directory_fd, &other) < 0)
        return ck_error_set(error, CHOKE_INVALID, errno, "cannot examine a directory: %s", strerror(errno));
    if (stat(directory, &log) < 0) {
        /* Without the directory there is no log yet. A lack of memory says nothing about it. */
        if (ck_errkind_of(errno) == CK_ERRKIND_ABSENT)
            return 0;
        return ck_error_set(error, CHOKE_SPAWN_FAILED, errno, CK_LOCKED_PREFIX "cannot examine '%s': %s",
                            CK_QUOTE(directory), strerror(errno));
    }
    if (log.st_dev != other.st_dev || log.st_ino != other.st_ino)
        return 0;
    return ck_error_set(error, CHOKE_DISALLOWED, EPERM,
                        CK_LOCKED_PREFIX "nothing but the audit log may be written into '%s'", CK_QUOTE(directory));
}

int choke_locked(const struct choke_context *context, const char *what, struct choke_error *error)
{
    int r = ck_context_check(context, error);
    if (r == 0)
        r = ck_machine_check(&context->machine, error);
    if (r < 0 || !context->machine.bound || !what)
        return r;
    return ck_error_set(error, CHOKE_DISALLOWED, EPERM, CK_LOCKED_PREFIX "%s is refused to all but root",
                        CK_QUOTE(what));
}
