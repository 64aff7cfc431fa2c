/*
 * bwrap.c - see bwrap.h.
 *
 * bwrap makes the directories that lead to a place by itself, has its own /proc and /dev, and knows no noexec: so of the
 * program only links, trees and files matter, and a file that lies in a tree which is there needs no mount of its own.
 * What is code and what is not, `land` sees to; it is left the capabilities for that, and the tool gets none.
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

#define TMP_BYTES "1073741824" /* as in the native jail */
#define LAND "/proc/self/fd/4" /* CK_LAND_IMAGE of run/wire.h */

static const char *const layers[] = {"user_ns", "mount_ns",        "pid_ns",       "net_ns",   "ipc_ns",
                                     "uts_ns",  "cgroup_ns",       "fresh_root",   "landlock", "execs",
                                     "seccomp", "no_capabilities", "no_new_privs", NULL};

const struct ck_jail ck_jail_bwrap = {.name = "bwrap", .layers = layers};

/* Zero-filled with an arena: empty. A first round without words counts them. */
struct line {
    struct ck_arena *arena;
    const char **words;
    size_t count;
};

static void put(struct line *line, const char *word)
{
    if (line->words != NULL)
        line->words[line->count] = word;
    line->count++;
}

static void put3(struct line *line, const char *option, const char *from, const char *to)
{
    put(line, option);
    put(line, from);
    put(line, to);
}

/* ---- what is in it ----------------------------------------------------------------------- */

static const char *text_at(const struct ck_cage_program *program, uint32_t at)
{
    return at != 0 ? (const char *)program + at : NULL;
}

static const struct ck_cage_step *steps_of(const struct ck_cage_program *program)
{
    return (const void *)((const char *)program + program->steps_at);
}

static bool beneath(const char *path, const char *tree)
{
    size_t length = strlen(tree);
    return strncmp(path, tree, length) == 0 && path[length] == '/';
}

/* Is the place in a tree of the program's? */
static bool is_there(const struct ck_cage_program *program, const char *path)
{
    for (uint32_t i = 0; i < program->steps_count; i++) {
        const struct ck_cage_step *step = &steps_of(program)[i];
        if (step->op == CK_CAGE_BIND && beneath(path, text_at(program, step->inside)))
            return true;
    }
    return false;
}

static void put_step(struct line *line, const struct ck_cage_program *program, const struct ck_cage_step *step)
{
    const char *inside = text_at(program, step->inside);
    const char *outside = text_at(program, step->outside);
    const char *place = line->words == NULL ? inside : ck_arena_printf(line->arena, "/%s", inside);
    if (strcmp(inside, "proc") == 0 || beneath(inside, "dev"))
        return;
    switch ((enum ck_cage_op)step->op) {
    case CK_CAGE_DIRECTORY:
    case CK_CAGE_BIND_DEVICE:
        return;
    case CK_CAGE_FILE: /* with a text: a small file of the host's, which the native jail copies */
        if (outside != NULL)
            put3(line, "--ro-bind", place, place);
        return;
    case CK_CAGE_LINK:
        put3(line, "--symlink", outside, place);
        return;
    case CK_CAGE_BIND_CODE:
        if (is_there(program, inside))
            return;
        put3(line, "--ro-bind", outside, place);
        return;
    case CK_CAGE_BIND:
        put3(line, "--ro-bind", outside, place);
        return;
    }
}

static void put_jail(struct line *line, const struct ck_bwrap_wanted *wanted)
{
    static const char *const first[] = {
        "bwrap",      "--unshare-all", "--new-session", "--die-with-parent", "--as-pid-1", "--hostname", "jail",
        "--cap-drop", "ALL",           "--cap-add",     "CAP_SYS_ADMIN",     "--cap-add",  "CAP_SETPCAP"};
    static const char *const own[] = {"--proc",  "/proc",     "--dev",  "/dev",    "--size",  TMP_BYTES,
                                      "--tmpfs", CK_CAGE_TMP, "--size", TMP_BYTES, "--tmpfs", "/dev/shm"};
    for (size_t i = 0; i < sizeof first / sizeof first[0]; i++)
        put(line, first[i]);
    for (uint32_t i = 0; i < wanted->program->steps_count; i++)
        put_step(line, wanted->program, &steps_of(wanted->program)[i]);
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
        put(line, own[i]);
    if (wanted->scratch != NULL) {
        put3(line, "--bind", wanted->scratch, CK_CAGE_SCRATCH);
    } else {
        put(line, "--dir");
        put(line, CK_CAGE_SCRATCH);
    }
    put3(line, wanted->workspace == CK_WORKSPACE_RO ? "--ro-bind" : "--bind", wanted->root, CK_CAGE_WORK);
    put(line, "--remount-ro");
    put(line, "/");
    put(line, "--chdir");
    put(line, wanted->cwd);
    put(line, "--");
    put(line, LAND);
}

/* ---- what is executed -------------------------------------------------------------------- */

static void put_tool(struct line *line, const struct ck_bwrap_wanted *wanted)
{
    static const char *const forms[] = {[CK_BWRAP_FILE] = "file", [CK_BWRAP_PATH] = "path", [CK_BWRAP_COPY] = "copy"};
    put(line, line->words == NULL
                  ? NULL
                  : ck_arena_printf(line->arena, "%s:%s%s", wanted->workspace == CK_WORKSPACE_RO ? "ro" : "rw",
                                    forms[wanted->form], wanted->pwd ? ":pwd" : ""));
    put(line, wanted->tool);
    for (size_t i = 0; wanted->argv[i] != NULL; i++)
        put(line, wanted->argv[i]);
}

static void put_proof(struct line *line, const uint64_t *outside)
{
    put(line, "prove");
    for (uint32_t i = 0; i < CK_WALL_NAMESPACES; i++)
        put(line, line->words == NULL ? NULL : ck_arena_printf(line->arena, "%llu", (unsigned long long)outside[i]));
}

static const char **make(const struct ck_bwrap_wanted *wanted, const uint64_t *outside, struct ck_arena *arena)
{
    struct line line = {.arena = arena};
    for (int round = 0; round < 2; round++) {
        line.count = 0;
        put_jail(&line, wanted);
        if (outside != NULL)
            put_proof(&line, outside);
        else
            put_tool(&line, wanted);
        if (round == 0)
            line.words = ck_arena_array(arena, line.count + 1, sizeof *line.words);
        if (line.words == NULL)
            return NULL;
    }
    for (size_t i = 0; i < line.count; i++)
        if (line.words[i] == NULL)
            return NULL;
    return line.words;
}

const char **ck_bwrap_argv(const struct ck_bwrap_wanted *wanted, struct ck_arena *arena)
{
    return make(wanted, NULL, arena);
}

const char **ck_bwrap_proof(const struct ck_bwrap_wanted *wanted, const uint64_t outside[CK_WALL_NAMESPACES],
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
