/*
 * bwrap_init.c - the program that bwrap executes: the first process of the bwrap jail.
 *
 *  /proc/self/fd/4 MODE PATH ARGV0 ARG...    runs the tool
 *  /proc/self/fd/4 prove NUMBER...           tries the layers instead; the numbers are those of the
 *                                            namespaces outside, by enum ck_jail_layer
 *
 * bwrap cannot restrict which files a tool may execute, and its exit status does not say clearly
 * how the tool ended. bwrap itself must not be restricted, or it could not mount. So bwrap starts
 * this program. It applies the same layers as the native jail, runs the tool, and reports to the
 * warden through shared memory.
 *
 * MODE is a list of tokens with colons between them. "ro" or "rw" says how the root may be used. Then
 * comes what is executed: "file" (the descriptor; PATH is only there for people to read), "path"
 * (PATH), or "copy" (the descriptor, a script that stays open). "pwd" means that the tool keeps the
 * PWD that bwrap puts into the environment.
 *
 *  Must     find at the place of the root and at /tmp/probe the directories that the plan holds open. bwrap reaches
 *           them by name, and somebody may have replaced them meanwhile.
 *  Must not continue after a step that failed.
 */
#include "run/keeper/keeper.h"

#include "jail/native_ops.h"
#include "run/keeper/child.h"
#include "run/keeper/code_copy.h"
#include "run/keeper/init.h"
#include "run/keeper/native_jail.h"
#include "run/keeper/nolibc.h"
#include "run/keeper/prove.h"
#include "sys/raw.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/limits.h>
#include <linux/mount.h>
#include <linux/prctl.h>
#include <linux/sched.h>
#include <sys/mman.h>
#include <sys/stat.h>

#define MNT_DETACH 2 /* of umount2; its header conflicts with the one of the kernel */
#define ARGUMENTS 4  /* our own arguments, with ARGV0 of the tool */

static bool begins(const char *text, const char *prefix)
{
    while (*prefix != '\0')
        if (*text++ != *prefix++)
            return false;
    return true;
}

/* Moves *at past the next token, which ends at a colon or the end. */
static bool take_token(const char **at, const char *token)
{
    if (!begins(*at, token))
        return false;
    const char *end = *at;
    while (*token++ != '\0')
        end++;
    if (*end != '\0' && *end != ':')
        return false;
    *at = *end == ':' ? end + 1 : end;
    return true;
}

static long read_mode(const char *mode, const char *path, struct ck_init_run *run, bool *ret_pwd)
{
    run->workspace = take_token(&mode, "rw") ? CK_WORKSPACE_RW : CK_WORKSPACE_RO;
    if (run->workspace == CK_WORKSPACE_RO && !take_token(&mode, "ro"))
        return -EINVAL;
    if (take_token(&mode, "path"))
        run->child->path = path;
    else if (take_token(&mode, "copy"))
        run->child->keep_executable = true;
    else if (!take_token(&mode, "file"))
        return -EINVAL;
    *ret_pwd = take_token(&mode, "pwd");
    return *mode == '\0' ? 0 : -EINVAL;
}

static long read_proof(char **numbers, struct ck_init_run *run)
{
    for (uint32_t jail_layer = 0; jail_layer < CK_JAIL_LAYER_NAMESPACES; jail_layer++) {
        const char *at = numbers[jail_layer];
        const char *end = at;
        while (at && *end != '\0')
            end++;
        long number = !at ? -1 : ck_nolibc_parse_number(&at, end);
        if (number < 0)
            return -EINVAL;
        ck_prove_outside(jail_layer, (uint64_t)number);
    }
    ck_prove_inside(run->jail->program);
    run->main = ck_prove_layers;
    run->argument = run->jail->init_status;
    run->gate_fd = -1;
    return 0;
}

/* bwrap always sets PWD. */
static void drop_pwd(char **envp)
{
    char **to = envp;
    for (char **from = envp; *from; from++)
        if (!begins(*from, "PWD="))
            *to++ = *from;
    *to = NULL;
}

static long map_file(int fd, int protection, int flags)
{
    struct stat status = {0};
    long r = CK_RAW2(fstat, fd, &status);
    return r < 0 ? r : CK_RAW6(mmap, NULL, status.st_size, protection, flags, fd, 0);
}

static bool failed(long memory)
{
    return memory < 0 && memory > -4096;
}

static long check_place(int held_fd, const char *place)
{
    struct stat wanted, found;
    long r = CK_RAW2(fstat, held_fd, &wanted);
    if (r == 0)
        r = CK_RAW4(newfstatat, AT_FDCWD, place, &found, AT_SYMLINK_NOFOLLOW);
    if (r < 0)
        return r;
    return wanted.st_dev == found.st_dev && wanted.st_ino == found.st_ino ? 0 : -ESTALE;
}

/* bwrap has bound the checked directories by name, too. */
static long check_shown(const struct ck_native_program *program)
{
    const struct ck_native_op *ops = ck_native_ops(program);
    struct stat found;
    long root = CK_RAW4(openat, AT_FDCWD, "/", O_PATH | O_DIRECTORY | O_CLOEXEC, 0);
    long r = root < 0 ? root : 0;
    for (uint32_t i = 0; i < program->ops_count && r == 0; i++) {
        if (ops[i].inode == 0 || ops[i].op == CK_NATIVE_OP_BIND_PLUGIN)
            continue;
        r = CK_RAW4(newfstatat, root, ck_native_text(program, ops[i].inside), &found, AT_SYMLINK_NOFOLLOW);
        if (r == 0 && (found.st_dev != ops[i].device || found.st_ino != ops[i].inode))
            r = -ESTALE;
    }
    if (root >= 0)
        ck_nolibc_close((int)root);
    return r;
}

/* ---- what bwrap has no option for ---- */

static long set_mount(int fd, const char *path, unsigned flags, uint64_t set, uint64_t clear)
{
    const struct mount_attr attr = {.attr_set = set, .attr_clr = clear};
    return CK_RAW5(mount_setattr, fd, path, flags, &attr, sizeof(attr));
}

/* Mounts one file over itself without noexec. Everything else stays noexec. flags: AT_EMPTY_PATH, or 0. */
static long bind_code_from(int from_fd, const char *from, unsigned flags, int root_fd, const char *inside)
{
    long tree = CK_RAW3(open_tree, from_fd, from, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE | flags);
    if (tree < 0)
        return tree;
    long r = set_mount((int)tree, "", AT_EMPTY_PATH | AT_RECURSIVE, 0, MOUNT_ATTR_NOEXEC);
    if (r == 0)
        r = CK_RAW5(move_mount, tree, "", root_fd, inside, MOVE_MOUNT_F_EMPTY_PATH);
    ck_nolibc_close((int)tree);
    return r;
}

/* As in the native jail, a plug-in that was replaced or removed is left out. */
static long bind_plugin(const struct ck_native_op *operation, int root_fd, const char *inside)
{
    struct stat found = {0};
    long fd = CK_RAW4(openat, root_fd, inside, O_PATH | O_NOFOLLOW | O_CLOEXEC, 0);
    long r = fd < 0 ? fd : CK_RAW2(fstat, fd, &found);
    if (r == 0 && (operation->device != found.st_dev || operation->inode != found.st_ino))
        r = -ESTALE;
    if (r == 0)
        r = bind_code_from((int)fd, "", AT_EMPTY_PATH, root_fd, inside);
    if (fd >= 0)
        ck_nolibc_close((int)fd);
    return r == -ENOENT || r == -ENOTDIR || r == -ESTALE ? 0 : r;
}

static long bind_code(const struct ck_native_program *program, const struct ck_native_op *operation, int root_fd)
{
    const char *inside = ck_native_text(program, operation->inside);
    if (operation->op == CK_NATIVE_OP_BIND_PLUGIN)
        return bind_plugin(operation, root_fd, inside);
    if (operation->op != CK_NATIVE_OP_BIND_CODE && operation->op != CK_NATIVE_OP_BIND_TMP_CODE)
        return 0;
    return bind_code_from(root_fd, inside, 0, root_fd, inside);
}

/* The whole text, into a new file. */
static long write_text(int directory_fd, const char *name, const char *text)
{
    const char *end = text;
    while (*end != '\0')
        end++;
    long fd = CK_RAW4(openat, directory_fd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0444);
    if (fd < 0)
        return fd;
    long written = CK_RAW3(write, fd, text, end - text);
    ck_nolibc_close((int)fd);
    return written < 0 ? written : written != end - text ? -EIO : 0;
}

/*
 * A file with a text of the program, over the mount point that bwrap made. It is written to the
 * directory and mounted from there, read-only, as every file of the system is. The kernel mounts no
 * file that has no name, so its name is removed afterwards.
 */
static long place_text(const struct ck_native_program *program, const struct ck_native_op *operation, int directory_fd,
                       int root_fd)
{
    static const char name[] = "text";
    long r = write_text(directory_fd, name, ck_native_text(program, operation->outside));
    if (r < 0)
        return r;
    long tree = CK_RAW3(open_tree, directory_fd, name, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
    if (tree < 0)
        return tree;
    r = set_mount((int)tree, "", AT_EMPTY_PATH, MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOEXEC | MOUNT_ATTR_NOSUID, 0);
    if (r == 0)
        r = CK_RAW5(move_mount, tree, "", root_fd, ck_native_text(program, operation->inside), MOVE_MOUNT_F_EMPTY_PATH);
    ck_nolibc_close((int)tree);
    return r < 0 ? r : CK_RAW3(unlinkat, directory_fd, name, 0);
}

static long place_made(const struct ck_native_program *program, uint32_t number, int directory_fd, int root_fd)
{
    const struct ck_native_op *operation = &ck_native_ops(program)[number];
    if (operation->op == CK_NATIVE_OP_TEXT)
        return place_text(program, operation, directory_fd, root_fd);
    return ck_code_copy_place(
        program, number, ck_native_text(program, operation->inside),
        &(struct ck_code_copy_place){.from_fd = root_fd, .directory_fd = directory_fd, .root_fd = root_fd});
}

static bool is_made(const struct ck_native_op *operation)
{
    return operation->op == CK_NATIVE_OP_COPY_CODE || operation->op == CK_NATIVE_OP_TEXT;
}

/*
 * Files that are made here need a file system that the tool cannot reach. It is mounted over /tmp
 * for a moment, and only the mounts of the files remain.
 */
static long place_files(const struct ck_native_program *program, int root_fd)
{
    const struct ck_native_op *ops = ck_native_ops(program);
    uint32_t i = 0;
    while (i < program->ops_count && !is_made(&ops[i]))
        i++;
    if (i == program->ops_count)
        return 0;
    long r = CK_RAW5(mount, "made", CK_JAIL_TMP, "tmpfs", MS_NOSUID | MS_NODEV, "mode=0755,size=32m");
    if (r < 0)
        return r;
    long directory = ck_nolibc_open(CK_JAIL_TMP, O_PATH | O_DIRECTORY);
    r = directory < 0 ? directory : 0;
    for (; i < program->ops_count && r == 0; i++)
        if (is_made(&ops[i]))
            r = place_made(program, i, (int)directory, root_fd);
    ck_nolibc_close((int)directory);
    long unmounted = CK_RAW2(umount2, CK_JAIL_TMP, MNT_DETACH);
    return r < 0 ? r : unmounted;
}

/*
 * With workspace_code: a copy of the mounts of the root, from before noexec is set everywhere. A
 * mount of the host that has noexec keeps it. *ret_fd is -1 without workspace_code.
 */
static long copy_work(const struct ck_native_program *program, int *ret_fd)
{
    *ret_fd = -1;
    if (program->workspace_code == 0)
        return 0;
    long tree =
        CK_RAW3(open_tree, AT_FDCWD, ck_native_root(program), OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE);
    if (tree < 0)
        return tree;
    *ret_fd = (int)tree;
    return set_mount((int)tree, "", AT_EMPTY_PATH | AT_RECURSIVE, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV, 0);
}

/* The working directory is then on the mount below, which is noexec, so it is entered again. */
static long place_work(const struct ck_native_program *program, int tree_fd)
{
    static char cwd[PATH_MAX];
    if (tree_fd < 0)
        return 0;
    long r = CK_RAW2(getcwd, cwd, sizeof(cwd));
    if (r >= 0)
        r = CK_RAW5(move_mount, tree_fd, "", AT_FDCWD, ck_native_root(program), MOVE_MOUNT_F_EMPTY_PATH);
    ck_nolibc_close(tree_fd);
    return r < 0 ? r : CK_RAW1(chdir, cwd);
}

/*
 * As in the native jail, nothing but the files of the program can be executed or mapped as code,
 * and neither /proc nor the device nodes of the host can be changed. bwrap leaves us two
 * capabilities for that, which are dropped here.
 *
 * The capabilities are in our user namespace. For an ordinary user bwrap makes two nested user
 * namespaces, and the mounts belong to the outer one. So we work on a copy of the mounts, in a new
 * mount namespace.
 */
static long seal(const struct ck_native_program *program)
{
    const struct ck_native_op *ops = ck_native_ops(program);
    int work_fd = -1;
    long r = CK_RAW1(unshare, CLONE_NEWNS);
    if (r == 0)
        r = copy_work(program, &work_fd);
    long root = r < 0 ? r : CK_RAW4(openat, AT_FDCWD, "/", O_PATH | O_DIRECTORY | O_CLOEXEC, 0);
    r = root < 0 ? root : set_mount(AT_FDCWD, "/", AT_RECURSIVE, MOUNT_ATTR_NOEXEC | MOUNT_ATTR_NOSUID, 0);
    for (uint32_t i = 0; i < program->ops_count && r == 0; i++)
        r = bind_code(program, &ops[i], (int)root);
    if (r == 0)
        r = place_files(program, (int)root);
    if (r == 0)
        r = place_work(program, work_fd);
    if (r == 0)
        r = ck_init_cover_keys("/dev/null");
    if (r == 0)
        r = set_mount(AT_FDCWD, "/proc", AT_RECURSIVE, MOUNT_ATTR_RDONLY | MOUNT_ATTR_NODEV, 0);
    if (r == 0)
        r = set_mount(AT_FDCWD, "/dev", AT_RECURSIVE, MOUNT_ATTR_RDONLY, 0);
    if (r == 0)
        r = set_mount(AT_FDCWD, "/dev/shm", 0, 0, MOUNT_ATTR_RDONLY);
    ck_nolibc_close((int)root);
    return r < 0 ? r : ck_init_drop_bounding_set();
}

/* ---- the run ---- */

/*
 * We hold no end of the streams as our own 0 to 2, so that stream_held of init.c can see which
 * other process does.
 */
static const int streams[CK_WIRE_FDS] = {
    [CK_WIRE_STDIN] = CK_BWRAP_INIT_STDIN,
    [CK_WIRE_STDOUT] = CK_BWRAP_INIT_STDOUT,
    [CK_WIRE_STDERR] = CK_BWRAP_INIT_STDERR,
    [CK_WIRE_CWD] = -1,
    [CK_WIRE_EXECUTABLE] = CK_BWRAP_INIT_TOOL,
    [CK_WIRE_STDOUT_READ] = CK_BWRAP_INIT_STDOUT_READ,
    [CK_WIRE_STDERR_READ] = CK_BWRAP_INIT_STDERR_READ,
};

static long set_up(struct ck_init_run *run, char **arguments)
{
    bool pwd = false;
    const char *mode = arguments[1];
    long program = map_file(CK_BWRAP_INIT_PROGRAM, PROT_READ, MAP_PRIVATE);
    if (failed(program))
        return program;
    run->jail->program = (const void *)program;
    long r = take_token(&mode, "prove") ? read_proof(arguments + 2, run) : read_mode(mode, arguments[2], run, &pwd);
    if (r == 0 && !pwd)
        drop_pwd((char **)(uintptr_t)run->child->envp);
    if (r == 0)
        r = check_place(CK_BWRAP_INIT_ROOT, ck_native_root(run->jail->program));
    if (r == 0)
        r = check_shown(run->jail->program);
    if (r == 0 && run->main != ck_prove_layers)
        r = check_place(CK_BWRAP_INIT_SCRATCH, CK_JAIL_SCRATCH);
    /* No second execution, by a link to /proc/self/exe in place of the tool: see launcher.c. */
    if (r == 0)
        r = CK_RAW2(fchmod, CK_BWRAP_INIT_IMAGE, 0);
    if (r == 0)
        r = seal(run->jail->program);
    if (r == 0)
        r = ck_init_open_execs(run->jail);
    if (r == 0)
        r = CK_RAW5(prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (r == 0)
        r = ck_init_restrict_program(run->jail);
    ck_nolibc_close(CK_BWRAP_INIT_PROGRAM);
    ck_nolibc_close(CK_BWRAP_INIT_IMAGE);
    ck_nolibc_close(CK_BWRAP_INIT_ROOT);
    ck_nolibc_close(CK_BWRAP_INIT_SCRATCH);
    ck_nolibc_close(CK_BWRAP_INIT_STATUS);
    return r;
}

void ck_keeper_start(const long *stack)
{
    static struct ck_native_jail jail;
    static char here[] = ".";
    char **arguments = (char **)(uintptr_t)(stack + 1);
    struct ck_child child = {.cwd = here,
                             .fds = streams,
                             .ruleset_fd = -1,
                             .execute_fd = CK_BWRAP_INIT_TOOL,
                             .stdin_fd = CK_BWRAP_INIT_STDIN};
    struct ck_init_run run = {.jail = &jail,
                              .child = &child,
                              .main = ck_child_main,
                              .argument = &child,
                              .in_bwrap = true,
                              .ended_fd = -1,
                              .alone_fd = -1,
                              .report_fd = -1,
                              .gate_fd = CK_BWRAP_INIT_GATE};
    long init_status = map_file(CK_BWRAP_INIT_STATUS, PROT_READ | PROT_WRITE, MAP_SHARED);
    if (failed(init_status) || stack[0] < ARGUMENTS)
        ck_nolibc_exit(127);
    jail.init_status = (void *)init_status;
    memcpy(child.rlimits, jail.init_status->rlimits, sizeof(child.rlimits));
    child.rlimit_count = jail.init_status->rlimit_count;
    child.null_stdin = jail.init_status->null_stdin != 0;
    child.sealed = jail.init_status->sealed != 0;
    child.argv = arguments + ARGUMENTS - 1;
    child.envp = arguments + stack[0] + 1;
    (void)CK_RAW5(prctl, PR_SET_NAME, "choke-init", 0, 0, 0);
    /* The tool has the same uid. Not dumpable, it cannot trace us or write to our memory. */
    (void)CK_RAW5(prctl, PR_SET_DUMPABLE, 0, 0, 0, 0);
    long r = set_up(&run, arguments);
    if (r == 0 && child.sealed)
        r = ck_create_seal(&child.seal_key);
    if (r == 0)
        ck_init_serve(&run);
    jail.init_status->stage = CK_STAGE_JAIL;
    jail.init_status->error = (int32_t)-r;
    ck_nolibc_exit(127);
}
