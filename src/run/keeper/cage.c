/*
 * cage.c - the native jail in the keeper's family (jail/cage.h has the list, docs/adr/0021 the reasons).
 *
 * A warden of a jail is in namespaces of its own, with a root that is built once. A run is a process in pid and ipc
 * namespaces of its own, the init: it lets go of every privilege, creates the tool, reaps what comes to it, and ends
 * when the tool has ended. With it the kernel ends everything in the pid namespace, whatever session or group it moved to.
 *
 * The mounts that differ from run to run are made in the warden's own root: it has one run at a time, and takes them
 * away when everything in the run is dead. A copy of the whole tree of mounts for each run would be safer against nothing,
 * and the kernel is long in making and unmaking it. To let go of a mount means to wait for a grace period of the kernel's:
 * so the mounts of a run are put out of reach behind its report, and let go of when there is time, be it that no plan comes
 * for a moment or that the next tool has been started.
 *
 *   Must     leave no descriptor of the host's tree open in the tool, but those of the plan.
 *   Must not go on after a step that failed: every step is a wall.
 */
#include "run/keeper/keeper.h"

#include "jail/cage.h"
#include "run/create.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/mount.h>
#include <linux/prctl.h>
#include <linux/sched.h>
#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#define NAMESPACES (CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP)

/* Of mount(2), whose header and the kernel's cannot be included together. */
#define MS_RDONLY 1
#define MS_NOSUID 2
#define MS_NODEV 4
#define MS_NOEXEC 8
#define MS_MOVE 8192
#define MS_REC 16384
#ifndef MS_SLAVE
#define MS_SLAVE (1 << 19)
#endif
#define MNT_DETACH 2
#define PLAIN (MS_NOSUID | MS_NODEV | MS_NOEXEC)
/* In the directory that /tmp is mounted on, so that nothing inside can come to it. */
#define GONE "gone"
#define GONE_PLACE CK_CAGE_TMP "/" GONE
/* Put over what the tool is not to see. */
#define COVER ".cover"
/* A directory that every /proc has. */
#define PROC_FS "/proc/fs"
/* Where a layer stands for a moment; the tool never sees it. */
#define LAYER "/" CK_CAGE_OLD
#define LAYER_UPPER LAYER "/upper"
#define LAYER_WORK LAYER "/work"
#define LAYER_OPTIONS "mode=0700,size=1g,nr_inodes=200k"
#define ATTR_PLAIN (MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC)

/* ---- namespaces -------------------------------------------------------------------------- */

/* One id, the same inside and outside. */
static long map_id(const char *path, uint32_t id)
{
    char text[64];
    char *end = ck_put_text(ck_put_number(ck_put_text(ck_put_number(text, id), " "), id), " 1");
    return ck_write_text(path, text, end);
}

/*
 * The keeper's family is not dumpable, so its own maps belong to root; it has to be for a moment. Its descriptors are
 * sockets to the caller, and the caller is no better protected than this.
 */
long ck_user_enter(uint32_t uid, uint32_t gid)
{
    static const char deny[] = "deny";
    (void)CK_RAW5(prctl, PR_SET_DUMPABLE, 1, 0, 0, 0);
    long result = CK_RAW1(unshare, CLONE_NEWUSER);
    if (result == 0) {
        (void)ck_write_text("/proc/self/setgroups", deny, deny + sizeof deny - 1);
        result = map_id("/proc/self/uid_map", uid);
    }
    if (result == 0)
        result = map_id("/proc/self/gid_map", gid);
    (void)CK_RAW5(prctl, PR_SET_DUMPABLE, 0, 0, 0, 0);
    return result;
}

/*
 * Two mount namespaces: one with the host's tree, in which a mount that comes later on the host is seen, and none of
 * ours there; and one for the new root alone, in which runs are made.
 */
static long enter_namespaces(struct ck_cage *cage)
{
    long result = ck_user_enter(cage->program->uid, cage->program->gid);
    if (result == 0)
        result = CK_RAW1(unshare, NAMESPACES);
    if (result == 0)
        result = CK_RAW2(sethostname, "jail", 4);
    if (result == 0)
        result = CK_RAW5(mount, NULL, "/", NULL, MS_REC | MS_SLAVE, NULL);
    if (result == 0)
        result = ck_open_path("/proc/self/ns/mnt", O_RDONLY);
    if (result < 0)
        return result;
    cage->host_ns_fd = (int)result;
    return CK_RAW1(unshare, CLONE_NEWNS);
}

/* ---- the root ---------------------------------------------------------------------------- */

static long set_attributes(int tree_fd, uint64_t attributes)
{
    const struct mount_attr attr = {.attr_set = attributes};
    return CK_RAW5(mount_setattr, tree_fd, "", AT_EMPTY_PATH | AT_RECURSIVE, &attr, sizeof attr);
}

/* A tree of the host's, with attributes, at a place that exists beneath to_fd. */
static long graft(int from_fd, const char *from, unsigned flags, uint64_t attributes, int to_fd, const char *to)
{
    long tree = CK_RAW3(open_tree, from_fd, from, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE | flags);
    if (tree < 0)
        return tree;
    long result = set_attributes((int)tree, attributes);
    if (result == 0)
        result = CK_RAW5(move_mount, tree, "", to_fd, to, MOVE_MOUNT_F_EMPTY_PATH);
    ck_close((int)tree);
    return result;
}

static long make_file(int root_fd, const char *path, const char *text)
{
    long fd = CK_RAW4(openat, root_fd, path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
    if (fd < 0)
        return fd == -EEXIST ? 0 : fd;
    size_t length = 0;
    while (text != NULL && text[length] != '\0')
        length++;
    long result = length > 0 ? CK_RAW3(write, fd, text, length) : 0;
    ck_close((int)fd);
    return result < 0 ? result : 0;
}

static long make_directory(int root_fd, const char *path)
{
    long result = CK_RAW3(mkdirat, root_fd, path, 0755);
    return result == -EEXIST ? 0 : result;
}

static long carry_out(const struct ck_cage_program *program, const struct ck_cage_step *step, int root_fd)
{
    const char *inside = ck_cage_text(program, step->inside);
    const char *outside = ck_cage_text(program, step->outside);
    switch ((enum ck_cage_op)step->op) {
    case CK_CAGE_DIRECTORY:
        return make_directory(root_fd, inside);
    case CK_CAGE_FILE:
        return make_file(root_fd, inside, outside);
    case CK_CAGE_LINK:
        return CK_RAW3(symlinkat, outside, root_fd, inside);
    case CK_CAGE_BIND:
        return graft(AT_FDCWD, outside, 0, MOUNT_ATTR_RDONLY | ATTR_PLAIN, root_fd, inside);
    case CK_CAGE_BIND_CODE:
        return graft(AT_FDCWD, outside, 0, MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV, root_fd, inside);
    case CK_CAGE_BIND_DEVICE:
        /* Read-only is about the node, whose mode and owner are the host's; a device can be written all the same. */
        return graft(AT_FDCWD, outside, 0, MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC, root_fd, inside);
    }
    return -EINVAL;
}

static long make_tmpfs(void)
{
    long fs = CK_RAW2(fsopen, "tmpfs", FSOPEN_CLOEXEC);
    if (fs < 0)
        return fs;
    long result = CK_RAW5(fsconfig, fs, FSCONFIG_SET_STRING, "mode", "0755", 0);
    if (result == 0)
        result = CK_RAW5(fsconfig, fs, FSCONFIG_SET_STRING, "size", "1m", 0);
    if (result == 0)
        result = CK_RAW5(fsconfig, fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0);
    if (result == 0)
        result = CK_RAW3(fsmount, fs, FSMOUNT_CLOEXEC, ATTR_PLAIN);
    ck_close((int)fs);
    return result;
}

/* A file that nobody may open: root has no capability inside. */
static long make_cover(int root_fd)
{
    long fd = CK_RAW4(openat, root_fd, COVER, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0);
    if (fd >= 0)
        ck_close((int)fd);
    return fd < 0 ? fd : 0;
}

/* The new root is put over the old one, filled, and then they change places. */
static long build_root(struct ck_cage *cage)
{
    const struct ck_cage_program *program = cage->program;
    const struct ck_cage_step *steps = (const void *)((const char *)program + program->steps_at);
    long root = make_tmpfs();
    if (root < 0)
        return root;
    long result = CK_RAW5(move_mount, root, "", AT_FDCWD, "/", MOVE_MOUNT_F_EMPTY_PATH);
    if (result == 0)
        result = make_directory((int)root, CK_CAGE_OLD);
    for (uint32_t i = 0; i < program->steps_count && result == 0; i++) {
        cage->failed_step = i + 1;
        result = carry_out(program, &steps[i], (int)root);
    }
    if (result == 0) {
        cage->failed_step = 0;
        result = make_directory((int)root, "." GONE_PLACE);
    }
    if (result == 0)
        result = make_cover((int)root);
    if (result == 0)
        result = CK_RAW1(fchdir, root);
    if (result == 0)
        result = CK_RAW2(pivot_root, ".", CK_CAGE_OLD);
    if (result == 0)
        result = CK_RAW1(chdir, "/");
    if (result == 0)
        result = CK_RAW2(umount2, "/" CK_CAGE_OLD, MNT_DETACH);
    if (result == 0) {
        const struct mount_attr attr = {.attr_set = MOUNT_ATTR_RDONLY};
        result = CK_RAW5(mount_setattr, root, "", AT_EMPTY_PATH, &attr, sizeof attr);
    }
    ck_close((int)root);
    return result;
}

long ck_cage_enter(struct ck_cage *cage, int program_fd)
{
    struct stat status = {0};
    long result = CK_RAW2(fstat, program_fd, &status);
    if (result < 0)
        return result;
    long memory = CK_RAW6(mmap, NULL, status.st_size, PROT_READ, MAP_PRIVATE, program_fd, 0);
    if (memory < 0 && memory > -4096)
        return memory;
    cage->program = (const void *)memory;
    long shared = CK_RAW6(mmap, NULL, sizeof *cage->told, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared < 0 && shared > -4096)
        return shared;
    cage->told = (void *)shared;
    result = enter_namespaces(cage);
    if (result == 0)
        result = build_root(cage);
    if (result == 0)
        result = ck_open_path("/proc/self/ns/mnt", O_RDONLY);
    if (result < 0)
        return result;
    cage->root_ns_fd = (int)result;
    result = ck_open_path(CK_CAGE_TMP, O_PATH | O_DIRECTORY);
    if (result < 0)
        return result;
    cage->under_fd = (int)result;
    ck_init_drop_bounding_set();
    result = ck_init_open_execs(cage);
    if (result == 0)
        result = CK_RAW5(prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    return result < 0 ? result : ck_init_restrict_program(cage->program);
}

/* ---- the repository ---------------------------------------------------------------------- */

/* In the namespace of the host's tree: a copy of the tree at root_path, if it is what root_fd holds open. */
static long copy_tree(const struct ck_cage_run *run, const struct stat *held)
{
    struct stat found = {0};
    long fd = ck_open_path(run->root_path, O_PATH | O_DIRECTORY);
    if (fd < 0)
        return fd;
    long result = CK_RAW2(fstat, fd, &found);
    if (result == 0 && (held->st_dev != found.st_dev || held->st_ino != found.st_ino))
        result = -ESTALE;
    if (result == 0)
        result = CK_RAW3(open_tree, fd, "", OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE | AT_EMPTY_PATH);
    ck_close((int)fd);
    return result;
}

/*
 * The repository is at its place in the warden's own root, and stays there for the next run if that has the same.
 * A tree of another namespace cannot be copied, so it is fetched from there.
 */
static long place_work(const struct ck_cage_run *run)
{
    struct ck_cage *cage = run->cage;
    struct stat held = {0};
    long result = CK_RAW2(fstat, run->root_fd, &held);
    if (result < 0)
        return result;
    if (cage->work_placed && cage->work_device == held.st_dev && cage->work_inode == held.st_ino &&
        cage->work_space == run->workspace)
        return 0;
    if (cage->work_placed)
        (void)CK_RAW2(umount2, CK_CAGE_WORK, MNT_DETACH);
    cage->work_placed = false;
    result = CK_RAW2(setns, cage->host_ns_fd, CLONE_NEWNS);
    if (result < 0)
        return result;
    long tree = copy_tree(run, &held);
    result = CK_RAW2(setns, cage->root_ns_fd, CLONE_NEWNS);
    if (result < 0 || tree < 0)
        return result < 0 ? result : tree;
    result = set_attributes((int)tree, ATTR_PLAIN | (run->workspace != CK_WORKSPACE_RW ? MOUNT_ATTR_RDONLY : 0));
    if (result == 0)
        result = CK_RAW5(move_mount, tree, "", AT_FDCWD, CK_CAGE_WORK, MOVE_MOUNT_F_EMPTY_PATH);
    ck_close((int)tree);
    cage->work_placed = result == 0;
    cage->work_device = held.st_dev;
    cage->work_inode = held.st_ino;
    cage->work_space = run->workspace;
    return result;
}

/* ---- a layer over the repository --------------------------------------------------------- */

/*
 * The upper directory begins with the mode of the repository's, or the tool would see another one on it. It is opened
 * before that, for the mode may keep even its owner out.
 */
static long fill_layer(struct ck_cage_run *run)
{
    struct stat held = {0};
    long result = CK_RAW2(fstat, run->root_fd, &held);
    if (result == 0)
        result = CK_RAW3(mkdirat, AT_FDCWD, LAYER_UPPER, 0700);
    if (result == 0)
        result = CK_RAW3(mkdirat, AT_FDCWD, LAYER_WORK, 0700);
    if (result == 0)
        result = ck_open_path(LAYER_UPPER, O_RDONLY | O_DIRECTORY);
    if (result < 0)
        return result;
    run->layer_fd = (int)result;
    return CK_RAW2(fchmod, run->layer_fd, held.st_mode & 0777);
}

/*
 * The repository below, the layer above, and only the two together to be seen. The kernel's notes are in user.*
 * attributes ("userxattr"), the only kind that a user namespace may write.
 */
static long lay_over(struct ck_cage *cage)
{
    struct statfs found = {0};
    long result = CK_RAW5(mount, "work", CK_CAGE_WORK, "overlay", PLAIN,
                          "lowerdir=" CK_CAGE_WORK ",upperdir=" LAYER_UPPER ",workdir=" LAYER_WORK ",userxattr");
    if (result < 0)
        return result;
    cage->layer_placed = true;
    result = CK_RAW2(statfs, CK_CAGE_WORK, &found);
    return result == 0 && found.f_type != OVERLAYFS_SUPER_MAGIC ? -EPROTO : result;
}

/*
 * An empty filesystem of bounded size for what the run writes. We keep nothing but a descriptor, and when that is closed
 * the kernel throws all of it away.
 */
static long place_layer(struct ck_cage_run *run)
{
    long result = CK_RAW5(mount, "layer", LAYER, "tmpfs", PLAIN, LAYER_OPTIONS);
    if (result < 0)
        return result;
    result = fill_layer(run);
    if (result == 0)
        result = lay_over(run->cage);
    long gone = CK_RAW2(umount2, LAYER, MNT_DETACH);
    return result < 0 ? result : gone;
}

/* ---- what each run has anew -------------------------------------------------------------- */

static long place_tmp(struct ck_cage *cage)
{
    const struct ck_cage_program *program = cage->program;
    if (cage->tmp_placed)
        return 0;
    long result = CK_RAW5(mount, "tmp", CK_CAGE_TMP, "tmpfs", PLAIN, ck_cage_text(program, program->tmp_options_at));
    if (result < 0)
        return result;
    cage->tmp_placed = true;
    result = CK_RAW3(mkdirat, AT_FDCWD, CK_CAGE_SCRATCH, 0700);
    return result < 0 ? result : CK_RAW3(mkdirat, AT_FDCWD, CK_CAGE_SHM, 0700);
}

/* Only from inside: a /proc is of the pid namespace that mounts it. */
static long place_proc(struct ck_cage_told *told)
{
    long result = CK_RAW5(mount, "proc", "/proc", "proc", PLAIN | MS_RDONLY, NULL);
    told->proc_placed = result == 0;
    return result < 0 ? result : ck_init_cover_keys("/" COVER);
}

/* Naming what may be done costs more than taking it on. Without Landlock there is nothing to be named. */
static long place_rules(struct ck_cage *cage)
{
    if (cage->program->landlock_fs == 0)
        return 0;
    long fd = ck_init_make_rules(cage);
    cage->rules_placed = fd >= 0;
    cage->rules_fd = (int)fd;
    return fd < 0 ? fd : 0;
}

static long place_null(struct ck_cage *cage)
{
    if (cage->null_placed)
        return 0;
    long fd = ck_open_path("/dev/null", O_RDONLY);
    cage->null_placed = fd >= 0;
    cage->null_fd = (int)fd;
    return fd < 0 ? fd : 0;
}

/* The init has copies. */
static void use_up(bool *placed, int fd)
{
    if (*placed)
        ck_close(fd);
    *placed = false;
}

static long take_away(const char *place, bool *placed)
{
    long result = *placed ? CK_RAW2(umount2, place, MNT_DETACH) : 0;
    *placed = *placed && result < 0;
    return result;
}

static long move(const char *from, const char *to)
{
    return CK_RAW5(mount, from, to, NULL, MS_MOVE, NULL);
}

/* Both as one tree, for each tree that is let go of has a grace period of its own. */
static long put_aside(struct ck_cage *cage)
{
    long result = move(CK_CAGE_TMP, PROC_FS);
    if (result < 0)
        return result;
    cage->tmp_placed = false;
    result = move("/proc", GONE_PLACE);
    cage->told->proc_placed = result < 0;
    cage->gone_placed = result == 0;
    return result;
}

long ck_cage_let_go(struct ck_cage *cage)
{
    if (!cage->gone_placed)
        return 0;
    long result = CK_RAW1(fchdir, cage->under_fd);
    if (result == 0)
        result = take_away(GONE, &cage->gone_placed);
    return result < 0 ? result : CK_RAW1(chdir, "/");
}

long ck_cage_clear(struct ck_cage *cage)
{
    long result = ck_cage_let_go(cage);
    if (result == 0)
        result = take_away(CK_CAGE_WORK, &cage->layer_placed);
    if (result == 0)
        result = cage->told->proc_placed != 0 ? put_aside(cage) : take_away(CK_CAGE_TMP, &cage->tmp_placed);
    if (result < 0)
        return result;
    result = place_tmp(cage);
    if (result == 0)
        result = place_null(cage);
    return result < 0 ? result : place_rules(cage);
}

/* ---- a run: the init --------------------------------------------------------------------- */

static __attribute__((noreturn)) void init_main(void *argument)
{
    struct ck_cage_run *run = argument;
    (void)CK_RAW5(prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    (void)CK_RAW5(prctl, PR_SET_NAME, "choke-init", 0, 0, 0);
    ck_close(run->layer_fd);
    uint32_t stage = CK_STAGE_LIMITS;
    long result = run->enter_fd < 0 ? 0 : CK_RAW3(write, run->enter_fd, "0", 1);
    if (result >= 0) {
        stage = CK_STAGE_CAGE;
        result = place_proc(run->cage->told);
    }
    /* The warden's own, of which ours are copies: what an init has no use for, it does not have. */
    ck_close(run->cage->host_ns_fd);
    ck_close(run->cage->root_ns_fd);
    ck_close(run->cage->under_fd);
    if (result == 0)
        ck_init_serve(run);
    run->cage->told->stage = stage;
    run->cage->told->error = (int32_t)-result;
    ck_leave(127);
}

long ck_cage_create(struct ck_cage_run *run)
{
    *run->cage->told = (struct ck_cage_told){0};
    run->layer_fd = -1;
    run->failed_stage = CK_STAGE_CAGE;
    long result = place_work(run);
    if (result == 0)
        result = place_tmp(run->cage);
    if (result == 0 && run->workspace == CK_WORKSPACE_OVERLAY) {
        run->failed_stage = CK_STAGE_WORKSPACE;
        result = place_layer(run);
    }
    if (result == 0)
        result = ck_create_caged(init_main, run, run->cage->program->gate_port != 0);
    use_up(&run->cage->rules_placed, run->cage->rules_fd);
    use_up(&run->cage->null_placed, run->cage->null_fd);
    return result;
}
