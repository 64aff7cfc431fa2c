/*
 * confine.c - see confine.h.
 *
 * A file that can be read can be mapped as code, and with a loader among what may be executed that is as good as
 * executing it. So the directories of programs can be listed and not read: of the system, what libraries, data and
 * settings are kept in can be read, and of the programs those that may be executed.
 *
 * Nothing of /proc that is a process's own can be read, not even by that process: a rule is for a directory that exists,
 * and the process does not yet.
 */
#include "run/confine.h"

#include "base/error.h"
#include "base/fd.h"
#include "base/quote.h"
#include "sys/landlock.h"
#include "sys/seccomp.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define SEALS (F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)

static const char *const words[] = {
    [CK_GRANT_LIST] = "list",     [CK_GRANT_READ] = "read",       [CK_GRANT_WRITE] = "write",
    [CK_GRANT_DEVICE] = "device", [CK_GRANT_EXECUTE] = "execute",
};

struct confining {
    int ruleset_fd;
    const struct ck_cage_program *program;
    struct ck_arena *arena; /* NULL: nobody wants to know */
    const char **grants;
    size_t count, capacity;
};

void ck_confines_init(struct ck_confines *confines)
{
    *confines = (struct ck_confines){.filter_fds = {-1, -1}};
}

void ck_confines_done(struct ck_confines *confines)
{
    ck_fd_close(&confines->filter_fds[0]);
    ck_fd_close(&confines->filter_fds[1]);
}

/* ---- one rule ---------------------------------------------------------------------------- */

/* In words, for those who ask what the plan would do. */
static int note(struct confining *confining, enum ck_landlock_grant grant, const char *path)
{
    if (confining->arena == NULL)
        return 0;
    if (confining->count + 1 >= confining->capacity) {
        size_t capacity = confining->capacity == 0 ? 128 : 2 * confining->capacity;
        const char **larger = ck_arena_array(confining->arena, capacity, sizeof *larger);
        if (larger == NULL)
            return -ENOMEM;
        if (confining->count > 0)
            memcpy(larger, confining->grants, confining->count * sizeof *larger);
        confining->grants = larger;
        confining->capacity = capacity;
    }
    const char *line = ck_arena_printf(confining->arena, "%s %s", words[grant], path);
    confining->grants[confining->count++] = line;
    return line == NULL ? -ENOMEM : 0;
}

static int allow_open(struct confining *confining, int fd, const char *path, enum ck_landlock_grant grant)
{
    int result = ck_landlock_grant(confining->ruleset_fd, fd, grant);
    return result < 0 ? result : note(confining, grant, path);
}

/* What is not there cannot be had, which is no error. */
static int allow(struct confining *confining, const char *path, enum ck_landlock_grant grant)
{
    CK_FD fd = open(path, O_PATH | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT || errno == EACCES || errno == ENOTDIR ? 0 : -errno;
    return allow_open(confining, fd, path, grant);
}

/* ---- the system -------------------------------------------------------------------------- */

static bool holds_programs(const char *name)
{
    return strcmp(name, "bin") == 0 || strcmp(name, "sbin") == 0 || strcmp(name, "games") == 0;
}

/* /usr and /usr/local: what is in them, but for the programs. */
static int allow_usr(struct confining *confining, const char *top)
{
    char path[PATH_MAX];
    DIR *stream = opendir(top);
    if (stream == NULL)
        return -errno;
    int result = allow(confining, top, CK_GRANT_LIST);
    for (const struct dirent *entry; result == 0 && (entry = readdir(stream)) != NULL;) {
        if (entry->d_name[0] == '.' || holds_programs(entry->d_name) ||
            snprintf(path, sizeof path, "%s/%s", top, entry->d_name) >= (int)sizeof path)
            continue;
        result = strcmp(path, "/usr/local") == 0 ? allow_usr(confining, path) : allow(confining, path, CK_GRANT_READ);
    }
    (void)closedir(stream);
    return result;
}

static int allow_tree(struct confining *confining, const char *path)
{
    if (strcmp(path, "/proc") == 0)
        return 0;
    if (strcmp(path, "/usr") == 0)
        return allow_usr(confining, path);
    return allow(confining, path, holds_programs(path + 1) ? CK_GRANT_LIST : CK_GRANT_READ);
}

/* What runtimes ask of the machine, as the whole jail's own /proc would tell it. */
static int allow_facts(struct confining *confining)
{
    static const char *const facts[] = {
        "/proc/cpuinfo", "/proc/meminfo", "/proc/stat",        "/proc/loadavg",
        "/proc/uptime",  "/proc/version", "/proc/filesystems", "/proc/sys/vm/overcommit_memory",
    };
    int result = 0;
    for (size_t i = 0; i < sizeof facts / sizeof facts[0] && result == 0; i++)
        result = allow(confining, facts[i], CK_GRANT_READ);
    return result;
}

/* ---- the program ------------------------------------------------------------------------- */

static const char *text_at(const struct ck_cage_program *program, uint32_t at)
{
    return at != 0 ? (const char *)program + at : NULL;
}

static const struct ck_cage_step *steps_of(const struct ck_cage_program *program)
{
    return (const void *)((const char *)program + program->steps_at);
}

static int allow_step(struct confining *confining, const struct ck_cage_step *step)
{
    const char *inside = text_at(confining->program, step->inside);
    const char *outside = text_at(confining->program, step->outside);
    char path[PATH_MAX];
    switch ((enum ck_cage_op)step->op) {
    case CK_CAGE_BIND:
        return allow_tree(confining, outside);
    case CK_CAGE_BIND_CODE:
        return allow(confining, outside, CK_GRANT_READ);
    case CK_CAGE_BIND_DEVICE:
        return allow(confining, outside, CK_GRANT_DEVICE);
    case CK_CAGE_FILE: /* with a text: a copy of the host's */
        if (outside == NULL)
            return 0;
        (void)snprintf(path, sizeof path, "/%s", inside);
        return allow(confining, path, CK_GRANT_READ);
    case CK_CAGE_DIRECTORY:
    case CK_CAGE_LINK:
        break;
    }
    return 0;
}

/* Where a file that may be executed is on the host. */
static const char *outside_of(const struct ck_cage_program *program, const char *inside)
{
    const struct ck_cage_step *steps = steps_of(program);
    for (uint32_t i = 0; i < program->steps_count; i++)
        if (steps[i].op == CK_CAGE_BIND_CODE && strcmp(text_at(program, steps[i].inside), inside + 1) == 0)
            return text_at(program, steps[i].outside);
    return inside;
}

static int allow_program(struct confining *confining)
{
    const struct ck_cage_program *program = confining->program;
    const struct ck_cage_step *steps = steps_of(program);
    const uint32_t *execs = (const void *)((const char *)program + program->execs_at);
    int result = allow_facts(confining);
    for (uint32_t i = 0; i < program->steps_count && result == 0; i++)
        result = allow_step(confining, &steps[i]);
    for (uint32_t i = 0; i < program->execs_count && result == 0; i++)
        result = allow(confining, outside_of(program, text_at(program, execs[i])), CK_GRANT_EXECUTE);
    return result;
}

/* A new ruleset with all that the program says. */
static int make_ruleset(struct confining *confining, int program_fd)
{
    struct stat status;
    if (fstat(program_fd, &status) < 0)
        return -errno;
    void *program = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, program_fd, 0);
    if (program == MAP_FAILED)
        return -errno;
    confining->program = program;
    confining->ruleset_fd = ck_landlock_new_whole();
    int result = confining->ruleset_fd < 0 ? confining->ruleset_fd : allow_program(confining);
    (void)munmap(program, (size_t)status.st_size);
    if (result < 0)
        ck_fd_close(&confining->ruleset_fd);
    return result;
}

/* ---- the filter -------------------------------------------------------------------------- */

static int write_filter(unsigned options, int *ret_fd)
{
    struct sock_filter *filter = NULL;
    size_t count;
    int result = ck_seccomp_build(options, &filter, &count);
    if (result < 0)
        return result;
    CK_FD fd = memfd_create("filter", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    result = fd < 0 ? -errno : ck_fd_write_all(fd, filter, count * sizeof *filter);
    free(filter);
    if (result == 0 && fcntl(fd, F_ADD_SEALS, SEALS) < 0)
        result = -errno;
    if (result == 0)
        *ret_fd = ck_fd_take(&fd);
    return result;
}

static int find_filter(struct ck_confines *confines, bool tracing, int *ret_fd)
{
    unsigned options = (unsigned)CK_SECCOMP_ALONE | (tracing ? (unsigned)CK_SECCOMP_TRACING : 0);
    int *kept = &confines->filter_fds[tracing ? 1 : 0];
    int result = *kept < 0 ? write_filter(options, kept) : 0;
    *ret_fd = *kept;
    return result;
}

/* ---- the plan ---------------------------------------------------------------------------- */

static int fail(int result, struct choke_error *error)
{
    if (result == -ENOSYS || result == -EOPNOTSUPP)
        return ck_error_set(error, CHOKE_JAIL_UNAVAILABLE, -result,
                            "the kernel has no Landlock that could bound all writing (ABI %d, Linux 6.2)",
                            CK_LANDLOCK_WHOLE_ABI);
    return ck_error_set(error, ck_error_is_passing(-result) ? CHOKE_SPAWN_FAILED : CHOKE_JAIL_UNAVAILABLE, -result,
                        "the native jail cannot be made without namespaces: %s", ck_error_text(-result));
}

int ck_confine_plan(const struct ck_plan_sources *sources, struct ck_plan *plan, bool tracing,
                    struct choke_error *error)
{
    bool writable = plan->workspace == CK_WORKSPACE_RW;
    struct confining confining = {.arena = &plan->arena};
    int result = find_filter(sources->confines, tracing, &plan->confine.filter_fd);
    if (result == 0)
        result = make_ruleset(&confining, plan->cage.fd);
    if (result < 0)
        return fail(result, error);
    plan->ruleset_fd = confining.ruleset_fd;
    plan->cage = (struct ck_cage_image){.fd = -1};
    /* The tool as it was opened, whatever its name has come to mean. */
    result = ck_landlock_grant(plan->ruleset_fd, plan->execute_fd, CK_GRANT_EXECUTE);
    if (result == 0)
        result = allow_open(&confining, plan->root_fd, plan->cage_root, writable ? CK_GRANT_WRITE : CK_GRANT_READ);
    if (result == 0)
        result = note(&confining, CK_GRANT_WRITE, plan->wrap.scratch);
    if (result < 0 || confining.grants == NULL)
        return fail(result, error);
    confining.grants[confining.count] = NULL;
    plan->confine.grants = confining.grants;
    return 0;
}

int ck_confine_scratch(const struct ck_plan *plan, int scratch_fd)
{
    return ck_landlock_grant(plan->ruleset_fd, scratch_fd, CK_GRANT_WRITE);
}

int ck_confine_bare(struct ck_confines *confines, int program_fd, int *ret_ruleset_fd, int *ret_filter_fd,
                    struct choke_error *error)
{
    struct confining confining = {0};
    int result = find_filter(confines, false, ret_filter_fd);
    if (result == 0)
        result = make_ruleset(&confining, program_fd);
    if (result < 0)
        return fail(result, error);
    *ret_ruleset_fd = confining.ruleset_fd;
    return 0;
}
