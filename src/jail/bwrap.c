/*
 * bwrap.c - the command line of the bwrap jail. See bwrap.h.
 *
 * bwrap makes parent directories itself, has its own /proc and /dev, and cannot mount with noexec.
 * So only the links, trees and files of the program become options, and a file inside a bound tree
 * needs no mount. `bwrap_init` sets noexec afterwards; bwrap leaves it two capabilities for that,
 * and the tool gets none.
 *
 *  --unshare-all      new user, mount, pid, net, ipc, uts and cgroup namespaces
 *  --as-pid-1         `bwrap_init` is the init of the pid namespace: everything ends with it, and
 *                     only it can say how the tool ended
 *  --remount-ro /     must come last: the root that bwrap makes is a writable file system
 */
#include "jail/bwrap.h"

#include "jail/jail.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

#define TMP_BYTES "1073741824"       /* 1 GiB, as in the native jail */
#define BWRAP_INIT "/proc/self/fd/4" /* CK_BWRAP_INIT_IMAGE of run/wire.h */

static const char *const layers[] = {"user_ns", "mount_ns",        "pid_ns",       "net_ns",   "ipc_ns",
                                     "uts_ns",  "cgroup_ns",       "fresh_root",   "landlock", "execs",
                                     "seccomp", "no_capabilities", "no_new_privs", NULL};

const struct ck_jail ck_jail_bwrap = {.name = "bwrap", .layers = layers};

/* Zero-filled with an arena it is empty. While args is NULL, put only counts. */
struct command_line {
    struct ck_arena *arena;
    const char **args;
    size_t count;
};

static void put(struct command_line *line, const char *arg)
{
    if (line->args)
        line->args[line->count] = arg;
    line->count++;
}

static void put3(struct command_line *line, const char *option, const char *from, const char *to)
{
    put(line, option);
    put(line, from);
    put(line, to);
}

/* ---- the content of the jail ---- */

static bool beneath(const char *path, const char *tree)
{
    size_t length = strlen(tree);
    return strncmp(path, tree, length) == 0 && path[length] == '/';
}

/* Whether path is inside a tree that the program binds. */
static bool is_there(const struct ck_native_program *program, const char *path)
{
    for (uint32_t i = 0; i < program->ops_count; i++) {
        const struct ck_native_op *operation = &ck_native_ops(program)[i];
        if (operation->op == CK_NATIVE_OP_BIND && beneath(path, ck_native_text(program, operation->inside)))
            return true;
    }
    return false;
}

static void put_operation(struct command_line *line, const struct ck_native_program *program,
                          const struct ck_native_op *operation)
{
    const char *inside = ck_native_text(program, operation->inside);
    const char *outside = ck_native_text(program, operation->outside);
    const char *place = !line->args ? inside : ck_arena_printf(line->arena, "/%s", inside);
    /* bwrap makes these two itself: --proc and --dev below. */
    if (strcmp(inside, "proc") == 0 || beneath(inside, "dev"))
        return;
    switch ((enum ck_native_op_kind)operation->op) {
    case CK_NATIVE_OP_DIRECTORY:
    case CK_NATIVE_OP_BIND_DEVICE:
    case CK_NATIVE_OP_BIND_TMP: /* put_tmp */
    case CK_NATIVE_OP_BIND_TMP_CODE:
    case CK_NATIVE_OP_BIND_PLUGIN:   /* in a tree of the system, which is bound */
    case CK_NATIVE_OP_BIND_WRITABLE: /* this and the next two: only for guard, which needs the native jail */
    case CK_NATIVE_OP_READ_ONLY:
    case CK_NATIVE_OP_DOOR:
        return;
    case CK_NATIVE_OP_FILE: /* with a text: a small file that the native jail copies; bwrap can bind the original */
        if (outside)
            put3(line, "--ro-bind", place, place);
        return;
    case CK_NATIVE_OP_TEXT: /* a mount point; `bwrap_init` makes the file */
        put3(line, "--ro-bind", "/dev/null", place);
        return;
    case CK_NATIVE_OP_LINK:
        put3(line, "--symlink", outside, place);
        return;
    case CK_NATIVE_OP_COPY_CODE: /* `bwrap_init` mounts the copy over the file */
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

/* What is beneath /tmp, after /tmp itself. The code in it needs no mount. */
static void put_tmp(struct command_line *line, const struct ck_native_program *program)
{
    for (uint32_t i = 0; i < program->ops_count; i++) {
        const struct ck_native_op *operation = &ck_native_ops(program)[i];
        const char *inside = ck_native_text(program, operation->inside);
        if (operation->op == CK_NATIVE_OP_BIND_TMP)
            put3(line, "--ro-bind", ck_native_text(program, operation->outside),
                 !line->args ? inside : ck_arena_printf(line->arena, "/%s", inside));
    }
}

static void put_jail(struct command_line *line, const struct ck_bwrap_wanted *wanted)
{
    /*
     * CAP_SYS_ADMIN is for the mounts of `bwrap_init`, CAP_SETPCAP for dropping the bounding set.
     */
    static const char *const first[] = {
        "bwrap",      "--unshare-all", "--new-session", "--die-with-parent", "--as-pid-1", "--hostname", "jail",
        "--cap-drop", "ALL",           "--cap-add",     "CAP_SYS_ADMIN",     "--cap-add",  "CAP_SETPCAP"};
    static const char *const own[] = {"--proc",  "/proc",     "--dev",  "/dev",    "--size",  TMP_BYTES,
                                      "--tmpfs", CK_JAIL_TMP, "--size", TMP_BYTES, "--tmpfs", "/dev/shm"};
    for (size_t i = 0; i < sizeof(first) / sizeof(first[0]); i++)
        put(line, first[i]);
    for (uint32_t i = 0; i < wanted->program->ops_count; i++)
        put_operation(line, wanted->program, &ck_native_ops(wanted->program)[i]);
    for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
        put(line, own[i]);
    if (wanted->scratch) {
        put3(line, "--bind", wanted->scratch, CK_JAIL_SCRATCH);
    } else {
        put(line, "--dir");
        put(line, CK_JAIL_SCRATCH);
    }
    put_tmp(line, wanted->program);
    put3(line, wanted->workspace == CK_WORKSPACE_RO ? "--ro-bind" : "--bind", wanted->root,
         ck_native_root(wanted->program));
    /* Mounts after this one would fail: there is no place to make a mount point. */
    put(line, "--remount-ro");
    put(line, "/");
    put(line, "--chdir");
    put(line, wanted->cwd);
    put(line, "--");
    put(line, BWRAP_INIT);
}

/* ---- what is executed ---- */

static void put_tool(struct command_line *line, const struct ck_bwrap_wanted *wanted)
{
    static const char *const forms[] = {[CK_BWRAP_FILE] = "file", [CK_BWRAP_PATH] = "path", [CK_BWRAP_COPY] = "copy"};
    put(line, !line->args ? NULL
                          : ck_arena_printf(line->arena, "%s:%s%s", wanted->workspace == CK_WORKSPACE_RO ? "ro" : "rw",
                                            forms[wanted->form], wanted->pwd ? ":pwd" : ""));
    put(line, wanted->tool);
    for (size_t i = 0; wanted->argv[i]; i++)
        put(line, wanted->argv[i]);
}

static void put_proof(struct command_line *line, const uint64_t *outside)
{
    put(line, "prove");
    for (uint32_t i = 0; i < CK_JAIL_LAYER_NAMESPACES; i++)
        put(line, !line->args ? NULL : ck_arena_printf(line->arena, "%llu", (unsigned long long)outside[i]));
}

static const char **make(const struct ck_bwrap_wanted *wanted, const uint64_t *outside, struct ck_arena *arena)
{
    struct command_line line = {.arena = arena};
    for (int round = 0; round < 2; round++) {
        line.count = 0;
        put_jail(&line, wanted);
        if (outside)
            put_proof(&line, outside);
        else
            put_tool(&line, wanted);
        if (round == 0)
            line.args = ck_arena_array(arena, line.count + 1, sizeof(*line.args));
        if (!line.args)
            return NULL;
    }
    for (size_t i = 0; i < line.count; i++)
        if (!line.args[i])
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

/* ---- the messages of bwrap ---- */

/*
 * The texts are those of bubblewrap and of strerror. "Invalid argument" and "No such device" come
 * from a kernel that lacks what a mount or a namespace needs.
 */
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
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (strstr(complaint, known[i].text))
            return known[i].errnum;
    return 0;
}
