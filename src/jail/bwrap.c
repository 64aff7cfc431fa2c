/*
 * bwrap.c - see bwrap.h.
 *
 * bwrap makes the directories that lead to a place by itself, has its own /proc and /dev, and knows no noexec: so of the
 * program only links, trees and files matter, and a file that lies in a tree which is there needs no mount of its own.
 * What is code and what is not, `bwrap_init` sees to; it is left the capabilities for that, and the tool gets none.
 *
 *   --unshare-all      user, mount, pid, net, ipc, uts and cgroup namespaces
 *   --as-pid-1         what is executed is the init: everything ends with it, and it is the one that can say how
 *   --remount-ro /     the last of the mounts: bwrap's root is a file system that could be written
 */
#include "jail/bwrap.h"

#include "jail/jail.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

#define TMP_BYTES "1073741824"       /* as in the native jail */
#define BWRAP_INIT "/proc/self/fd/4" /* CK_BWRAP_INIT_IMAGE of run/wire.h */

static const char *const layers[] = {"user_ns", "mount_ns",        "pid_ns",       "net_ns",   "ipc_ns",
                                     "uts_ns",  "cgroup_ns",       "fresh_root",   "landlock", "execs",
                                     "seccomp", "no_capabilities", "no_new_privs", NULL};

const struct ck_jail ck_jail_bwrap = {.name = "bwrap", .layers = layers};

/* Zero-filled with an arena: empty. A first round without words counts them. */
struct command_line {
    struct ck_arena *arena;
    const char **args;
    size_t count;
};

static void put(struct command_line *line, const char *arg)
{
    if (line->args != NULL)
        line->args[line->count] = arg;
    line->count++;
}

static void put3(struct command_line *line, const char *option, const char *from, const char *to)
{
    put(line, option);
    put(line, from);
    put(line, to);
}

/* ---- what is in it ----------------------------------------------------------------------- */

static const char *text_at(const struct ck_native_program *program, uint32_t at)
{
    return at != 0 ? (const char *)program + at : NULL;
}

static const struct ck_native_op *ops_of(const struct ck_native_program *program)
{
    return (const void *)((const char *)program + program->ops_at);
}

static bool beneath(const char *path, const char *tree)
{
    size_t length = strlen(tree);
    return strncmp(path, tree, length) == 0 && path[length] == '/';
}

/* Is the place in a tree of the program's? */
static bool is_there(const struct ck_native_program *program, const char *path)
{
    for (uint32_t i = 0; i < program->ops_count; i++) {
        const struct ck_native_op *operation = &ops_of(program)[i];
        if (operation->op == CK_NATIVE_OP_BIND && beneath(path, text_at(program, operation->inside)))
            return true;
    }
    return false;
}

static void put_operation(struct command_line *line, const struct ck_native_program *program,
                          const struct ck_native_op *operation)
{
    const char *inside = text_at(program, operation->inside);
    const char *outside = text_at(program, operation->outside);
    const char *place = line->args == NULL ? inside : ck_arena_printf(line->arena, "/%s", inside);
    if (strcmp(inside, "proc") == 0 || beneath(inside, "dev"))
        return;
    switch ((enum ck_native_op_kind)operation->op) {
    case CK_NATIVE_OP_DIRECTORY:
    case CK_NATIVE_OP_BIND_DEVICE:
        return;
    case CK_NATIVE_OP_FILE: /* with a text: a small file of the host's, which the native jail copies */
        if (outside != NULL)
            put3(line, "--ro-bind", place, place);
        return;
    case CK_NATIVE_OP_LINK:
        put3(line, "--symlink", outside, place);
        return;
    case CK_NATIVE_OP_BIND_CODE:
        if (is_there(program, inside))
            return;
        put3(line, "--ro-bind", outside, place);
        return;
    case CK_NATIVE_OP_BIND:
        put3(line, "--ro-bind", outside, place);
        return;
    }
}

static void put_jail(struct command_line *line, const struct ck_bwrap_wanted *wanted)
{
    static const char *const first[] = {
        "bwrap",      "--unshare-all", "--new-session", "--die-with-parent", "--as-pid-1", "--hostname", "jail",
        "--cap-drop", "ALL",           "--cap-add",     "CAP_SYS_ADMIN",     "--cap-add",  "CAP_SETPCAP"};
    static const char *const own[] = {"--proc",  "/proc",     "--dev",  "/dev",    "--size",  TMP_BYTES,
                                      "--tmpfs", CK_JAIL_TMP, "--size", TMP_BYTES, "--tmpfs", "/dev/shm"};
    for (size_t i = 0; i < sizeof first / sizeof first[0]; i++)
        put(line, first[i]);
    for (uint32_t i = 0; i < wanted->program->ops_count; i++)
        put_operation(line, wanted->program, &ops_of(wanted->program)[i]);
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
        put(line, own[i]);
    if (wanted->scratch != NULL) {
        put3(line, "--bind", wanted->scratch, CK_JAIL_SCRATCH);
    } else {
        put(line, "--dir");
        put(line, CK_JAIL_SCRATCH);
    }
    put3(line, wanted->workspace == CK_WORKSPACE_RO ? "--ro-bind" : "--bind", wanted->root, CK_JAIL_WORK);
    put(line, "--remount-ro");
    put(line, "/");
    put(line, "--chdir");
    put(line, wanted->cwd);
    put(line, "--");
    put(line, BWRAP_INIT);
}

/* ---- what is executed -------------------------------------------------------------------- */

static void put_tool(struct command_line *line, const struct ck_bwrap_wanted *wanted)
{
    static const char *const forms[] = {[CK_BWRAP_FILE] = "file", [CK_BWRAP_PATH] = "path", [CK_BWRAP_COPY] = "copy"};
    put(line, line->args == NULL
                  ? NULL
                  : ck_arena_printf(line->arena, "%s:%s%s", wanted->workspace == CK_WORKSPACE_RO ? "ro" : "rw",
                                    forms[wanted->form], wanted->pwd ? ":pwd" : ""));
    put(line, wanted->tool);
    for (size_t i = 0; wanted->argv[i] != NULL; i++)
        put(line, wanted->argv[i]);
}

static void put_proof(struct command_line *line, const uint64_t *outside)
{
    put(line, "prove");
    for (uint32_t i = 0; i < CK_JAIL_LAYER_NAMESPACES; i++)
        put(line, line->args == NULL ? NULL : ck_arena_printf(line->arena, "%llu", (unsigned long long)outside[i]));
}

static const char **make(const struct ck_bwrap_wanted *wanted, const uint64_t *outside, struct ck_arena *arena)
{
    struct command_line line = {.arena = arena};
    for (int round = 0; round < 2; round++) {
        line.count = 0;
        put_jail(&line, wanted);
        if (outside != NULL)
            put_proof(&line, outside);
        else
            put_tool(&line, wanted);
        if (round == 0)
            line.args = ck_arena_array(arena, line.count + 1, sizeof *line.args);
        if (line.args == NULL)
            return NULL;
    }
    for (size_t i = 0; i < line.count; i++)
        if (line.args[i] == NULL)
            return NULL;
    return line.args;
}

const char **ck_bwrap_argv(const struct ck_bwrap_wanted *wanted, struct ck_arena *arena)
{
    return make(wanted, NULL, arena);
}

const char **ck_bwrap_proof(const struct ck_bwrap_wanted *wanted, const uint64_t outside[CK_JAIL_LAYER_NAMESPACES],
                            struct ck_arena *arena)
{
    return make(wanted, outside, arena);
}

/* ---- what it says ------------------------------------------------------------------------ */

int ck_bwrap_cause(const char *complaint)
{
    static const struct {
        const char *text;
        int errnum;
    } known[] = {
        {"max_*_namespaces exceeded", ENOSPC},
        {"No space left on device", ENOSPC},
        {"Operation not permitted", EPERM},
        {"Permission denied", EPERM},
        {"No permissions to", EPERM},
        {"Unexpected setuid user", EPERM},
        {"Read-only file system", EPERM},
        {"does not support", ENOSYS},
        {"Function not implemented", ENOSYS},
        {"Operation not supported", ENOSYS},
        {"Invalid argument", ENOSYS},
        {"No such device", ENOSYS},
        {"Unknown option", ENOSYS},
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strstr(complaint, known[i].text) != NULL)
            return known[i].errnum;
    return 0;
}
