/* bwrap_plan.c - finds bwrap and builds its part of a plan. See bwrap_plan.h. */
#include "run/bwrap_plan.h"

#include "base/errkind.h"
#include "base/error.h"
#include "base/fd.h"
#include "base/quote.h"
#include "base/sealed.h"
#include "jail/bwrap.h"
#include "policy/grant.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

extern const unsigned char ck_bwrap_init_image_text[];
extern const size_t ck_bwrap_init_image_length;

void ck_bwrap_state_init(struct ck_bwrap_state *bwrap_state)
{
    ck_scratch_pool_init(&bwrap_state->scratch_pool);
}

void ck_bwrap_state_done(struct ck_bwrap_state *bwrap_state)
{
    ck_scratch_pool_done(&bwrap_state->scratch_pool);
}

/* ---- bwrap itself ---- */

static int fail(struct choke_error *error, int errnum, const char *text)
{
    return ck_error_set(error, CHOKE_JAIL_UNAVAILABLE, errnum, "%s", text);
}

/*
 * The descriptor may be O_PATH, of a file that can only be executed. fgetxattr refuses those, so
 * the attribute is read by path.
 */
static bool has_capabilities(int fd)
{
    char self[64];
    (void)snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
    return getxattr(self, "security.capability", NULL, 0) > 0;
}

static int check_privileges(const struct ck_binary *binary, struct choke_error *error)
{
    struct stat status;
    if (fstat(binary->fd, &status) < 0)
        return fail(error, errno, strerror(errno));
    if ((status.st_mode & (S_ISUID | S_ISGID)) == 0 && !has_capabilities(binary->fd))
        return 0;
    return ck_error_set(error, CHOKE_JAIL_UNAVAILABLE, EPERM,
                        "'%s' is setuid or has file capabilities, so it is not used for a jail; remove them (chmod "
                        "u-s, setcap -r): bwrap needs neither where user namespaces work",
                        CK_QUOTE(binary->path));
}

/*
 * Any failure to find bwrap means that this jail is not available, whatever the outcome was for a
 * tool.
 */
static int find_bwrap(const struct ck_plan_sources *sources, struct ck_identity root, int *ret_fd,
                      struct choke_error *error)
{
    const struct ck_tool *entry = ck_grant_bwrap(sources->policy);
    if (!entry)
        return fail(error, ENOENT, "the policy has no entry 'bwrap' with 'route: jail'");
    const struct ck_binary_wanted wanted = {.name = entry->name, .path = entry->path, .sha256 = entry->sha256};
    struct ck_binary binary;
    int r = ck_binary_find(sources->search, &wanted, root, &binary, NULL, error);
    if (r < 0) {
        error->outcome = ck_errkind_is_shortage(-r) ? CHOKE_SPAWN_FAILED : CHOKE_JAIL_UNAVAILABLE;
        return r;
    }
    CK_FD fd = binary.fd;
    if (binary.script)
        return fail(error, ENOEXEC, "bwrap is a script; it must be a binary");
    r = check_privileges(&binary, error);
    if (r == 0)
        *ret_fd = ck_fd_take(&fd);
    return r;
}

/* ---- the plan ---------------------------------------------------------------------------- */

/* bwrap sets PWD itself. If the plan has none, bwrap_init removes it again. */
static bool has_pwd(const char *const *env)
{
    for (size_t i = 0; env && env[i]; i++)
        if (strncmp(env[i], "PWD=", 4) == 0)
            return true;
    return false;
}

static const struct ck_native_program *map_program(int fd, size_t *ret_size)
{
    struct stat status;
    if (fstat(fd, &status) < 0)
        return NULL;
    *ret_size = (size_t)status.st_size;
    void *memory = mmap(NULL, *ret_size, PROT_READ, MAP_PRIVATE, fd, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

/* The command line points into the mapped program, so it is copied before that is unmapped. */
static int make_argv(struct ck_plan *plan, struct ck_bwrap_wanted *wanted, const uint64_t *outside)
{
    size_t size;
    struct ck_arena arena = {0};
    const struct ck_native_program *program = map_program(plan->native_jail.fd, &size);
    if (!program)
        return -errno;
    wanted->program = program;
    plan->bwrap.bounded = program->landlock_fs != 0;
    const char **args = outside ? ck_bwrap_proof(wanted, outside, &arena) : ck_bwrap_argv(wanted, &arena);
    plan->bwrap.argv = !args ? NULL : ck_arena_strv(&plan->arena, args);
    ck_arena_done(&arena);
    (void)munmap((void *)(uintptr_t)program, size);
    return !plan->bwrap.argv ? -ENOMEM : 0;
}

static int check_length(const char *const *argv, struct choke_error *error)
{
    size_t count = 0;
    while (argv[count])
        count++;
    return count <= CK_BWRAP_ARGS_MAX ? 0
                                      : ck_error_set(error, CHOKE_JAIL_UNAVAILABLE, E2BIG,
                                                     "bwrap takes at most %d arguments, and this command line has %zu",
                                                     CK_BWRAP_ARGS_MAX, count);
}

/*
 * bwrap builds the jail, not the warden: the program travels with the plan, and plan->native_jail
 * is cleared so that a warden without a jail is taken.
 */
static int finish_plan(const struct ck_plan_sources *sources, struct ck_plan *plan, struct choke_error *error)
{
    /* One for each run: bwrap_init makes it no longer executable. */
    int r = ck_sealed_write("chokepoint-bwrap-init", CK_SEALED_PROGRAM, ck_bwrap_init_image_text,
                            ck_bwrap_init_image_length);
    plan->bwrap.image_fd = r;
    if (r < 0)
        return ck_error_set(error, CHOKE_SPAWN_FAILED, -r, "cannot write the init program for bwrap: %s",
                            ck_error_text(-r));
    plan->bwrap.program_fd = plan->native_jail.fd;
    plan->bwrap.scratch_pool = &sources->bwrap_state->scratch_pool;
    plan->native_jail = (struct ck_native_image){.fd = -1};
    return 0;
}

int ck_bwrap_plan_run(const struct ck_plan_sources *sources, struct ck_plan *plan, const char *tool, const char *label,
                      struct choke_error *error)
{
    int r = find_bwrap(sources, plan->root, &plan->bwrap.bwrap_fd, error);
    if (r < 0)
        return r;
    struct ck_bwrap_wanted wanted = {
        .root = plan->host_root,
        .scratch = ck_scratch_name(&sources->bwrap_state->scratch_pool, label, &plan->arena),
        .cwd = plan->jail_cwd,
        .workspace = plan->workspace,
        .form = plan->keep_executable ? CK_BWRAP_COPY
                : plan->exec_path     ? CK_BWRAP_PATH
                                      : CK_BWRAP_FILE,
        .tool = tool,
        .argv = plan->argv,
        .pwd = has_pwd(plan->env),
    };
    plan->bwrap.scratch = wanted.scratch;
    r = !wanted.scratch ? -ENOMEM : make_argv(plan, &wanted, NULL);
    if (r < 0)
        return ck_error_set(error, CHOKE_SPAWN_FAILED, -r, "cannot build the command line of bwrap: %s", strerror(-r));
    r = check_length(plan->bwrap.argv, error);
    return r < 0 ? r : finish_plan(sources, plan, error);
}

/* ---- the proof ---- */

/* The numbers of our namespaces. Inside, a proof compares them with its own. */
static void read_namespaces(uint64_t ret_numbers[CK_JAIL_LAYER_NAMESPACES])
{
    static const char *const links[CK_JAIL_LAYER_NAMESPACES] = {
        [CK_JAIL_LAYER_USER_NS] = "user",     [CK_JAIL_LAYER_MOUNT_NS] = "mnt", [CK_JAIL_LAYER_PID_NS] = "pid",
        [CK_JAIL_LAYER_NET_NS] = "net",       [CK_JAIL_LAYER_IPC_NS] = "ipc",   [CK_JAIL_LAYER_UTS_NS] = "uts",
        [CK_JAIL_LAYER_CGROUP_NS] = "cgroup",
    };
    char path[64];
    struct stat status;
    for (uint32_t i = 0; i < CK_JAIL_LAYER_NAMESPACES; i++) {
        (void)snprintf(path, sizeof(path), "/proc/self/ns/%s", links[i]);
        ret_numbers[i] = stat(path, &status) < 0 ? 0 : (uint64_t)status.st_ino;
    }
}

int ck_bwrap_plan_proof(const struct ck_plan_sources *sources, struct ck_plan *plan, struct choke_error *error)
{
    uint64_t outside[CK_JAIL_LAYER_NAMESPACES];
    int r = find_bwrap(sources, plan->root, &plan->bwrap.bwrap_fd, error);
    if (r < 0)
        return r;
    read_namespaces(outside);
    struct ck_bwrap_wanted wanted = {.root = plan->host_root, .cwd = CK_JAIL_WORK};
    r = make_argv(plan, &wanted, outside);
    if (r < 0)
        return ck_error_set(error, CHOKE_SPAWN_FAILED, -r, "cannot build the command line of bwrap: %s", strerror(-r));
    return finish_plan(sources, plan, error);
}
