/*
 * land.c - what bwrap executes: a program of its own, the first process of the jail that bwrap has made.
 *
 *   /proc/self/fd/4 MODE PATH ARGV0 ARG...
 *   /proc/self/fd/4 prove NUMBER...           tries the walls instead; the namespaces outside, by enum ck_cage_wall
 *
 * bwrap can neither hold a tool to the files that it may execute nor say in a way that cannot be mistaken how the tool
 * ended; and it must not be restricted itself, or it could not mount. So it starts this, which raises the same walls as
 * the native jail has, runs the tool, and tells the warden through memory that they share.
 *
 * MODE is words with colons between them: "ro" or "rw", how /work may be used; "file", "path" or "copy", what is
 * executed: the descriptor (PATH is there to be read by people), PATH, or the descriptor as a script that stays open; and
 * "pwd" where the tool is to keep the PWD that bwrap puts into the environment.
 *
 *   Must     find at /work and /tmp/probe the directories that the plan holds open: bwrap reaches them by their names,
 *            and somebody may have put others there meanwhile.
 *   Must not go on after a step that failed.
 */
#include "run/keeper/keeper.h"

#include "jail/cage.h"
#include "run/create.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/mount.h>
#include <linux/prctl.h>
#include <linux/sched.h>
#include <sys/mman.h>
#include <sys/stat.h>

#define ARGUMENTS 4 /* of our own, the tool's name included */

static bool begins(const char *text, const char *prefix)
{
    while (*prefix != '\0')
        if (*text++ != *prefix++)
            return false;
    return true;
}

/* Moves *at behind the next word, which ends at a colon. */
static bool take_word(const char **at, const char *word)
{
    if (!begins(*at, word))
        return false;
    const char *end = *at;
    while (*word++ != '\0')
        end++;
    if (*end != '\0' && *end != ':')
        return false;
    *at = *end == ':' ? end + 1 : end;
    return true;
}

static long read_mode(const char *mode, const char *path, struct ck_cage_run *run, bool *ret_pwd)
{
    run->workspace = take_word(&mode, "rw") ? CK_WORKSPACE_RW : CK_WORKSPACE_RO;
    if (run->workspace == CK_WORKSPACE_RO && !take_word(&mode, "ro"))
        return -EINVAL;
    if (take_word(&mode, "path"))
        run->child->path = path;
    else if (take_word(&mode, "copy"))
        run->child->keep_executable = true;
    else if (!take_word(&mode, "file"))
        return -EINVAL;
    *ret_pwd = take_word(&mode, "pwd");
    return *mode == '\0' ? 0 : -EINVAL;
}

static long read_proof(char **numbers, struct ck_cage_run *run)
{
    for (uint32_t wall = 0; wall < CK_WALL_NAMESPACES; wall++) {
        const char *at = numbers[wall];
        const char *end = at;
        while (at != NULL && *end != '\0')
            end++;
        long number = at == NULL ? -1 : ck_take_number(&at, end);
        if (number < 0)
            return -EINVAL;
        ck_prove_outside(wall, (uint64_t)number);
    }
    ck_prove_inside(run->cage->program);
    run->main = ck_prover;
    run->argument = run->cage->told;
    run->gate_fd = -1;
    return 0;
}

/* bwrap says where it went, whether anybody asked or not. */
static void drop_pwd(char **envp)
{
    char **to = envp;
    for (char **from = envp; *from != NULL; from++)
        if (!begins(*from, "PWD="))
            *to++ = *from;
    *to = NULL;
}

static long map_file(int fd, int protection, int flags)
{
    struct stat status = {0};
    long result = CK_RAW2(fstat, fd, &status);
    return result < 0 ? result : CK_RAW6(mmap, NULL, status.st_size, protection, flags, fd, 0);
}

static bool failed(long memory)
{
    return memory < 0 && memory > -4096;
}

static long check_place(int held_fd, const char *place)
{
    struct stat wanted, found;
    long result = CK_RAW2(fstat, held_fd, &wanted);
    if (result == 0)
        result = CK_RAW4(newfstatat, AT_FDCWD, place, &found, AT_SYMLINK_NOFOLLOW);
    if (result < 0)
        return result;
    return wanted.st_dev == found.st_dev && wanted.st_ino == found.st_ino ? 0 : -ESTALE;
}

/* ---- what bwrap has no word for ---- */

static long set_mount(int fd, const char *path, unsigned flags, uint64_t set, uint64_t clear)
{
    const struct mount_attr attr = {.attr_set = set, .attr_clr = clear};
    return CK_RAW5(mount_setattr, fd, path, flags, &attr, sizeof attr);
}

/* One file that may be code, over itself: where everything else may not. */
static long bind_code(int root_fd, const char *inside)
{
    long tree = CK_RAW3(open_tree, root_fd, inside, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE);
    if (tree < 0)
        return tree;
    long result = set_mount((int)tree, "", AT_EMPTY_PATH | AT_RECURSIVE, 0, MOUNT_ATTR_NOEXEC);
    if (result == 0)
        result = CK_RAW5(move_mount, tree, "", root_fd, inside, MOVE_MOUNT_F_EMPTY_PATH);
    ck_close((int)tree);
    return result;
}

/*
 * As in the native jail, nothing can be executed or mapped as code but the files of the program, and neither /proc nor the
 * device nodes, which are the host's, can be changed. For that bwrap leaves us two capabilities, which end here. They are in the user namespace that we are in; for
 * an ordinary user bwrap makes two, one in the other, and the mounts belong to the outer one: so we take a copy of them.
 */
static long seal(const struct ck_cage_program *program)
{
    const struct ck_cage_step *steps = (const void *)((const char *)program + program->steps_at);
    long result = CK_RAW1(unshare, CLONE_NEWNS);
    long root = result < 0 ? result : CK_RAW4(openat, AT_FDCWD, "/", O_PATH | O_DIRECTORY | O_CLOEXEC, 0);
    result = root < 0 ? root : set_mount(AT_FDCWD, "/", AT_RECURSIVE, MOUNT_ATTR_NOEXEC | MOUNT_ATTR_NOSUID, 0);
    for (uint32_t i = 0; i < program->steps_count && result == 0; i++)
        if (steps[i].op == CK_CAGE_BIND_CODE)
            result = bind_code((int)root, (const char *)program + steps[i].inside);
    if (result == 0)
        result = ck_init_cover_keys("/dev/null");
    if (result == 0)
        result = set_mount(AT_FDCWD, "/proc", AT_RECURSIVE, MOUNT_ATTR_RDONLY | MOUNT_ATTR_NODEV, 0);
    if (result == 0)
        result = set_mount(AT_FDCWD, "/dev", AT_RECURSIVE, MOUNT_ATTR_RDONLY, 0);
    if (result == 0)
        result = set_mount(AT_FDCWD, "/dev/shm", 0, 0, MOUNT_ATTR_RDONLY);
    ck_close((int)root);
    ck_init_drop_bounding_set();
    return result;
}

/* ---- the run ---- */

/* The streams are the tool's alone: only where we hold no end of them can be seen who else does. */
static const int streams[CK_WIRE_FDS] = {
    [CK_WIRE_STDIN] = CK_LAND_STDIN,
    [CK_WIRE_STDOUT] = CK_LAND_STDOUT,
    [CK_WIRE_STDERR] = CK_LAND_STDERR,
    [CK_WIRE_CWD] = -1,
    [CK_WIRE_EXECUTABLE] = CK_LAND_TOOL,
    [CK_WIRE_STDOUT_READ] = CK_LAND_STDOUT_READ,
    [CK_WIRE_STDERR_READ] = CK_LAND_STDERR_READ,
};

static long land(struct ck_cage_run *run, char **arguments)
{
    bool pwd = false;
    const char *mode = arguments[1];
    long program = map_file(CK_LAND_PROGRAM, PROT_READ, MAP_PRIVATE);
    if (failed(program))
        return program;
    run->cage->program = (const void *)program;
    long result = take_word(&mode, "prove") ? read_proof(arguments + 2, run) : read_mode(mode, arguments[2], run, &pwd);
    if (result == 0 && !pwd)
        drop_pwd((char **)(uintptr_t)run->child->envp);
    if (result == 0)
        result = check_place(CK_LAND_ROOT, CK_CAGE_WORK);
    if (result == 0 && run->main != ck_prover)
        result = check_place(CK_LAND_SCRATCH, CK_CAGE_SCRATCH);
    if (result == 0)
        result = seal(run->cage->program);
    if (result == 0)
        result = ck_init_open_execs(run->cage);
    if (result == 0)
        result = CK_RAW5(prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (result == 0)
        result = ck_init_restrict_program(run->cage->program);
    ck_close(CK_LAND_PROGRAM);
    ck_close(CK_LAND_IMAGE);
    ck_close(CK_LAND_ROOT);
    ck_close(CK_LAND_SCRATCH);
    ck_close(CK_LAND_TOLD);
    return result;
}

void ck_main(const long *stack)
{
    static struct ck_cage cage;
    static char here[] = ".";
    char **arguments = (char **)(uintptr_t)(stack + 1);
    struct ck_child child = {
        .cwd = here, .fds = streams, .ruleset_fd = -1, .execute_fd = CK_LAND_TOOL, .stdin_fd = CK_LAND_STDIN};
    struct ck_cage_run run = {.cage = &cage,
                              .child = &child,
                              .main = ck_child_main,
                              .argument = &child,
                              .landed = true,
                              .gate_fd = CK_LAND_GATE};
    long told = map_file(CK_LAND_TOLD, PROT_READ | PROT_WRITE, MAP_SHARED);
    if (failed(told) || stack[0] < ARGUMENTS)
        ck_leave(127);
    cage.told = (void *)told;
    memcpy(child.rlimits, cage.told->rlimits, sizeof child.rlimits);
    child.rlimit_count = cage.told->rlimit_count;
    child.null_stdin = cage.told->null_stdin != 0;
    child.sealed = cage.told->sealed != 0;
    child.argv = arguments + ARGUMENTS - 1;
    child.envp = arguments + stack[0] + 1;
    (void)CK_RAW5(prctl, PR_SET_NAME, "choke-init", 0, 0, 0);
    (void)CK_RAW5(prctl, PR_SET_DUMPABLE, 0, 0, 0, 0);
    long result = land(&run, arguments);
    if (result == 0)
        ck_init_serve(&run);
    cage.told->stage = CK_STAGE_CAGE;
    cage.told->error = (int32_t)-result;
    ck_leave(127);
}
