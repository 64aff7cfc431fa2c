/*
 * native_no_userns.c - the Landlock ruleset and the filter of the native jail without user
 * namespaces. See native_no_userns.h.
 *
 * A file that can be read can be mapped as code. If the loader may be executed, that is as good as
 * executing the file. So directories of programs can be listed but not read. Of the system, a tool
 * can read libraries, data and settings, and only those programs that it may execute.
 *
 * A process cannot read its own directory in /proc: a rule needs a directory that exists,
 * and the process does not exist yet when the ruleset is made.
 */
#include "run/native_no_userns.h"

#include "base/error.h"
#include "base/fd.h"
#include "base/quote.h"
#include "base/sealed.h"
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

static const char *const grant_names[] = {
    [CK_LANDLOCK_GRANT_LIST] = "list",     [CK_LANDLOCK_GRANT_READ] = "read",       [CK_LANDLOCK_GRANT_WRITE] = "write",
    [CK_LANDLOCK_GRANT_DEVICE] = "device", [CK_LANDLOCK_GRANT_EXECUTE] = "execute",
};

struct ruleset_builder {
    int ruleset_fd;
    const struct ck_native_program *program;
    struct ck_arena *arena; /* NULL: no list of grants is wanted, as in a proof */
    const char **grants;
    size_t count, capacity;
};

void ck_native_no_userns_init(struct ck_native_no_userns_filters *no_userns_filters)
{
    *no_userns_filters = (struct ck_native_no_userns_filters){.filter_fds = {-1, -1}};
}

void ck_native_no_userns_done(struct ck_native_no_userns_filters *no_userns_filters)
{
    ck_fd_close(&no_userns_filters->filter_fds[0]);
    ck_fd_close(&no_userns_filters->filter_fds[1]);
}

/* ---- one rule ---- */

/* Lists the rule as text, for explain and --dry-run. */
static int note(struct ruleset_builder *ruleset_builder, enum ck_landlock_grant grant, const char *path)
{
    if (!ruleset_builder->arena)
        return 0;
    if (ruleset_builder->count + 1 >= ruleset_builder->capacity) {
        size_t capacity = ruleset_builder->capacity == 0 ? 128 : 2 * ruleset_builder->capacity;
        const char **larger = ck_arena_array(ruleset_builder->arena, capacity, sizeof(*larger));
        if (!larger)
            return -ENOMEM;
        if (ruleset_builder->count > 0)
            memcpy(larger, ruleset_builder->grants, ruleset_builder->count * sizeof(*larger));
        ruleset_builder->grants = larger;
        ruleset_builder->capacity = capacity;
    }
    const char *line = ck_arena_printf(ruleset_builder->arena, "%s %s", grant_names[grant], path);
    ruleset_builder->grants[ruleset_builder->count++] = line;
    return !line ? -ENOMEM : 0;
}

static int allow_open(struct ruleset_builder *ruleset_builder, int fd, const char *path, enum ck_landlock_grant grant)
{
    int r = ck_landlock_grant(ruleset_builder->ruleset_fd, fd, grant);
    return r < 0 ? r : note(ruleset_builder, grant, path);
}

/* A missing path needs no rule. */
static int allow(struct ruleset_builder *ruleset_builder, const char *path, enum ck_landlock_grant grant)
{
    CK_FD fd = open(path, O_PATH | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT || errno == EACCES || errno == ENOTDIR ? 0 : -errno;
    return allow_open(ruleset_builder, fd, path, grant);
}

/* ---- the system ---- */

/* Directories with programs: their files must not be readable, or the loader could run them. */
static bool holds_programs(const char *name)
{
    return strcmp(name, "bin") == 0 || strcmp(name, "sbin") == 0 || strcmp(name, "games") == 0;
}

/* The entries of /usr and /usr/local, except the directories of programs. */
static int allow_usr(struct ruleset_builder *ruleset_builder, const char *top)
{
    char path[PATH_MAX];
    DIR *stream = opendir(top);
    if (!stream)
        return -errno;
    int r = allow(ruleset_builder, top, CK_LANDLOCK_GRANT_LIST);
    errno = 0;
    for (const struct dirent *entry; r == 0 && (entry = readdir(stream)); errno = 0) {
        if (entry->d_name[0] == '.' || holds_programs(entry->d_name) ||
            snprintf(path, sizeof(path), "%s/%s", top, entry->d_name) >= (int)sizeof(path))
            continue;
        r = strcmp(path, "/usr/local") == 0 ? allow_usr(ruleset_builder, path)
                                            : allow(ruleset_builder, path, CK_LANDLOCK_GRANT_READ);
    }
    if (r == 0)
        r = -errno;
    (void)closedir(stream);
    return r;
}

static int allow_tree(struct ruleset_builder *ruleset_builder, const char *path)
{
    /* allow_facts allows single files of /proc; the rest of it stays closed. */
    if (strcmp(path, "/proc") == 0)
        return 0;
    if (strcmp(path, "/usr") == 0)
        return allow_usr(ruleset_builder, path);
    return allow(ruleset_builder, path, holds_programs(path + 1) ? CK_LANDLOCK_GRANT_LIST : CK_LANDLOCK_GRANT_READ);
}

/* Facts about the machine that runtimes read. The /proc of the native jail has them, too. */
static int allow_facts(struct ruleset_builder *ruleset_builder)
{
    static const char *const facts[] = {
        "/proc/cpuinfo", "/proc/meminfo", "/proc/stat",        "/proc/loadavg",
        "/proc/uptime",  "/proc/version", "/proc/filesystems", "/proc/sys/vm/overcommit_memory",
    };
    int r = 0;
    for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]) && r == 0; i++)
        r = allow(ruleset_builder, facts[i], CK_LANDLOCK_GRANT_READ);
    return r;
}

/* ---- the program ---- */

/* A directory that was checked, if it is still the same. */
static int allow_checked(struct ruleset_builder *ruleset_builder, const struct ck_native_op *operation,
                         const char *outside)
{
    struct stat found;
    CK_FD fd = open(outside, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &found) < 0)
        return -errno;
    if (found.st_dev != operation->device || found.st_ino != operation->inode)
        return -ESTALE;
    return allow_open(ruleset_builder, fd, outside, CK_LANDLOCK_GRANT_READ);
}

static int allow_operation(struct ruleset_builder *ruleset_builder, const struct ck_native_op *operation)
{
    const char *inside = ck_native_text(ruleset_builder->program, operation->inside);
    const char *outside = ck_native_text(ruleset_builder->program, operation->outside);
    char path[PATH_MAX];
    switch ((enum ck_native_op_kind)operation->op) {
    case CK_NATIVE_OP_BIND:
    case CK_NATIVE_OP_BIND_TMP:
        return operation->inode != 0 ? allow_checked(ruleset_builder, operation, outside)
                                     : allow_tree(ruleset_builder, outside);
    case CK_NATIVE_OP_BIND_CODE:
    case CK_NATIVE_OP_BIND_TMP_CODE:
        return allow(ruleset_builder, outside, CK_LANDLOCK_GRANT_READ);
    case CK_NATIVE_OP_BIND_DEVICE:
        return allow(ruleset_builder, outside, CK_LANDLOCK_GRANT_DEVICE);
    case CK_NATIVE_OP_FILE: /* with a text: the native jail has a copy of the host's file */
        if (!outside)
            return 0;
        (void)snprintf(path, sizeof(path), "/%s", inside);
        return allow(ruleset_builder, path, CK_LANDLOCK_GRANT_READ);
    case CK_NATIVE_OP_COPY_CODE: /* this and the next: only with a new root */
    case CK_NATIVE_OP_BIND_PLUGIN:
    case CK_NATIVE_OP_BIND_WRITABLE: /* this and the next two: only for guard, which needs user namespaces */
    case CK_NATIVE_OP_READ_ONLY:
    case CK_NATIVE_OP_DOOR:
    case CK_NATIVE_OP_DIRECTORY:
    case CK_NATIVE_OP_TEXT: /* no file of the host; a run that has one is refused without namespaces */
    case CK_NATIVE_OP_LINK:
        break;
    }
    return 0;
}

/* The path on the host of a file that may be executed. */
static const char *outside_of(const struct ck_native_program *program, const char *inside)
{
    const struct ck_native_op *ops = ck_native_ops(program);
    for (uint32_t i = 0; i < program->ops_count; i++)
        if (ops[i].op == CK_NATIVE_OP_BIND_CODE && strcmp(ck_native_text(program, ops[i].inside), inside + 1) == 0)
            return ck_native_text(program, ops[i].outside);
    return inside;
}

static int allow_program(struct ruleset_builder *ruleset_builder)
{
    const struct ck_native_program *program = ruleset_builder->program;
    const struct ck_native_op *ops = ck_native_ops(program);
    const uint32_t *execs = (const void *)((const char *)program + program->execs_at);
    int r = allow_facts(ruleset_builder);
    for (uint32_t i = 0; i < program->ops_count && r == 0; i++)
        r = allow_operation(ruleset_builder, &ops[i]);
    for (uint32_t i = 0; i < program->execs_count && r == 0; i++)
        r = allow(ruleset_builder, outside_of(program, ck_native_text(program, execs[i])), CK_LANDLOCK_GRANT_EXECUTE);
    return r;
}

/* A new ruleset with everything that the program allows. */
static int make_ruleset(struct ruleset_builder *ruleset_builder, int program_fd)
{
    struct stat status;
    if (fstat(program_fd, &status) < 0)
        return -errno;
    void *program = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, program_fd, 0);
    if (program == MAP_FAILED)
        return -errno;
    ruleset_builder->program = program;
    ruleset_builder->ruleset_fd = ck_landlock_new_full();
    int r = ruleset_builder->ruleset_fd < 0 ? ruleset_builder->ruleset_fd : allow_program(ruleset_builder);
    (void)munmap(program, (size_t)status.st_size);
    if (r < 0)
        ck_fd_close(&ruleset_builder->ruleset_fd);
    return r;
}

/* ---- the filter ---- */

static int write_filter(unsigned options, int *ret_fd)
{
    struct sock_filter *filter = NULL;
    size_t count;
    int r = ck_seccomp_build(options, 0, &filter, &count);
    if (r < 0)
        return r;
    int fd = ck_sealed_write("filter", CK_SEALED_DATA, filter, count * sizeof(*filter));
    free(filter);
    if (fd < 0)
        return fd;
    *ret_fd = fd;
    return 0;
}

static int find_filter(struct ck_native_no_userns_filters *no_userns_filters, bool tracing, int *ret_fd)
{
    /* The filter depends only on tracing, so a context has at most two of them. */
    unsigned options = (unsigned)CK_SECCOMP_NO_USERNS | (tracing ? (unsigned)CK_SECCOMP_TRACING : 0);
    int *slot = &no_userns_filters->filter_fds[tracing ? 1 : 0];
    int r = *slot < 0 ? write_filter(options, slot) : 0;
    *ret_fd = *slot;
    return r;
}

/* ---- the plan ---- */

static int fail(int r, struct choke_error *error)
{
    if (r == -ENOSYS || r == -EOPNOTSUPP)
        return ck_error_set(error, CHOKE_JAIL_UNAVAILABLE, -r,
                            "Landlock of this kernel cannot restrict all writes; that needs ABI %d (Linux 6.2)",
                            CK_LANDLOCK_FULL_ABI);
    return ck_error_set(error, ck_error_is_transient(-r) ? CHOKE_SPAWN_FAILED : CHOKE_JAIL_UNAVAILABLE, -r,
                        "cannot build the native jail without user namespaces: %s", ck_error_text(-r));
}

int ck_native_no_userns_plan(const struct ck_plan_sources *sources, struct ck_plan *plan, bool tracing,
                             struct choke_error *error)
{
    bool writable = plan->workspace == CK_WORKSPACE_RW;
    struct ruleset_builder ruleset_builder = {.arena = &plan->arena};
    int r = find_filter(sources->no_userns_filters, tracing, &plan->no_userns.filter_fd);
    if (r == 0)
        r = make_ruleset(&ruleset_builder, plan->native_jail.fd);
    if (r < 0)
        return fail(r, error);
    plan->ruleset_fd = ruleset_builder.ruleset_fd;
    plan->native_jail = (struct ck_native_image){.fd = -1};
    /* The file that was opened, also if its path now names another file. */
    r = ck_landlock_grant(plan->ruleset_fd, plan->execute_fd, CK_LANDLOCK_GRANT_EXECUTE);
    if (r == 0)
        r = allow_open(&ruleset_builder, plan->root_fd, plan->host_root,
                       writable ? CK_LANDLOCK_GRANT_WRITE : CK_LANDLOCK_GRANT_READ);
    if (r == 0)
        r = note(&ruleset_builder, CK_LANDLOCK_GRANT_WRITE, plan->bwrap.scratch);
    if (r < 0 || !ruleset_builder.grants)
        return fail(r, error);
    ruleset_builder.grants[ruleset_builder.count] = NULL;
    plan->no_userns.grants = ruleset_builder.grants;
    return 0;
}

int ck_native_no_userns_allow_scratch(const struct ck_plan *plan, int scratch_fd)
{
    return ck_landlock_grant(plan->ruleset_fd, scratch_fd, CK_LANDLOCK_GRANT_WRITE);
}

int ck_native_no_userns_proof(struct ck_native_no_userns_filters *no_userns_filters, int program_fd,
                              int *ret_ruleset_fd, int *ret_filter_fd, struct choke_error *error)
{
    struct ruleset_builder ruleset_builder = {0};
    int r = find_filter(no_userns_filters, false, ret_filter_fd);
    if (r == 0)
        r = make_ruleset(&ruleset_builder, program_fd);
    if (r < 0)
        return fail(r, error);
    *ret_ruleset_fd = ruleset_builder.ruleset_fd;
    return 0;
}
