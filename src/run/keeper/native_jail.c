/*
 * native_jail.c - builds the native jail in a warden, and creates runs in it. jail/native_ops.h has
 * the list of operations, docs/adr/0021 the reasons.
 *
 * The warden of a jail is in new namespaces, with a root that is built once. A run is a process in
 * new pid and ipc namespaces, the init: it drops every privilege, creates the tool, reaps, and ends
 * when the tool has ended. The kernel then kills everything in the pid namespace, also what has
 * moved to another session or group.
 *
 * The mounts of a single run are made in the root of the warden, which has one run at a time. The
 * warden removes them when nothing of the run but its init is left. A copy of all mounts for each run would
 * protect against nothing more, and takes the kernel long to make and remove. To unmount means to
 * wait for a grace period of the kernel. So after the report the mounts are moved out of reach, and
 * unmounted later: when no plan comes for a moment, or when the next tool has been started.
 *
 *  Must     leave no descriptor of the host's tree open in the tool, except those of the plan.
 *  Must not continue after a step that failed: every step is a layer.
 */
#include "run/keeper/native_jail.h"

#include "base/denial.h"
#include "run/create.h"
#include "run/keeper/code_copy.h"
#include "run/keeper/native_tmp.h"
#include "run/keeper/nolibc.h"
#include "run/wire.h"
#include "sys/raw.h"

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

/* Constants of mount(2). Its header cannot be included together with the one of the kernel. */
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
/* A directory below the mount point of the private file system, which hides it from the run. */
#define STALE "stale"
/* Mounted over files that the tool must not see. */
#define COVER ".cover"
/* A directory that exists in every /proc; put_aside moves the private file system there. */
#define PROC_FS "/proc/fs"
/* Where the parts of an overlay are mounted for a moment; the tool never sees it. */
#define OVERLAY_DIR "/" CK_JAIL_OLD_ROOT
#define OVERLAY_UPPER OVERLAY_DIR "/upper"
#define OVERLAY_WORK OVERLAY_DIR "/work"
#define OVERLAY_OPTIONS "mode=0700,size=1g,nr_inodes=200k"
#define ATTR_PLAIN (MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC)
#define ATTR_SHOWN (MOUNT_ATTR_RDONLY | ATTR_PLAIN)
#define ATTR_CODE (MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV)

/* ---- namespaces ---- */

/* Maps one id to itself. Without privileges outside, the kernel allows no other mapping. */
static long map_id(const char *path, uint32_t id)
{
    char text[64];
    char *end = ck_nolibc_append_text(
        ck_nolibc_append_number(ck_nolibc_append_text(ck_nolibc_append_number(text, id), " "), id), " 1");
    return ck_nolibc_write_file(path, text, end);
}

/*
 * The processes of the keeper are not dumpable, so the files in /proc/self belong to root and
 * cannot be written. We are dumpable for a moment. Our descriptors are sockets to the caller, and
 * the caller itself is not better protected.
 */
long ck_native_jail_enter_userns(uint32_t uid, uint32_t gid)
{
    static const char deny[] = "deny";
    (void)CK_RAW5(prctl, PR_SET_DUMPABLE, 1, 0, 0, 0);
    long r = CK_RAW1(unshare, CLONE_NEWUSER);
    if (r == 0) {
        /* The kernel requires "deny" before an unprivileged process may write its gid_map. */
        (void)ck_nolibc_write_file("/proc/self/setgroups", deny, deny + sizeof(deny) - 1);
        r = map_id("/proc/self/uid_map", uid);
    }
    if (r == 0)
        r = map_id("/proc/self/gid_map", gid);
    (void)CK_RAW5(prctl, PR_SET_DUMPABLE, 0, 0, 0, 0);
    return r;
}

/*
 * Two mount namespaces. The first has the tree of the host; it is a slave, so later mounts of the
 * host appear in it, and ours do not appear on the host. The second has the new root, and runs are
 * created in it.
 */
long ck_native_jail_enter_namespaces(struct ck_native_jail *jail)
{
    /* The caller's, as in the program of the jail: the keeper inherited them. */
    long r = ck_native_jail_enter_userns((uint32_t)CK_RAW0(geteuid), (uint32_t)CK_RAW0(getegid));
    if (r == 0)
        r = CK_RAW1(unshare, NAMESPACES);
    if (r == 0)
        r = CK_RAW2(sethostname, "jail", 4);
    if (r == 0)
        r = CK_RAW5(mount, NULL, "/", NULL, MS_REC | MS_SLAVE, NULL);
    if (r == 0)
        r = ck_nolibc_open("/proc/self/ns/mnt", O_RDONLY);
    if (r < 0)
        return r;
    jail->host_ns_fd = (int)r;
    return CK_RAW1(unshare, CLONE_NEWNS);
}

/* ---- the root ---- */

static long set_attributes(int tree_fd, uint64_t attributes)
{
    const struct mount_attr attr = {.attr_set = attributes};
    return CK_RAW5(mount_setattr, tree_fd, "", AT_EMPTY_PATH | AT_RECURSIVE, &attr, sizeof(attr));
}

/*
 * Opens a directory or plug-in of the host, if it is the one that was checked when the program was
 * made. -ESTALE: somebody has replaced it.
 */
static long open_checked(const struct ck_native_op *operation, const char *outside)
{
    struct stat found = {0};
    bool plugin = operation->op == CK_NATIVE_OP_BIND_PLUGIN;
    long fd = ck_nolibc_open(outside, O_PATH | (plugin ? O_NOFOLLOW : O_DIRECTORY));
    if (fd < 0)
        return fd;
    long r = CK_RAW2(fstat, fd, &found);
    if (r == 0 && (operation->device != found.st_dev || operation->inode != found.st_ino))
        r = -ESTALE;
    if (r < 0)
        ck_nolibc_close((int)fd);
    return r < 0 ? r : fd;
}

/* Copies a tree of the host, sets attributes, and mounts it at a path that exists beneath to_fd. */
long ck_native_jail_bind_tree(int from_fd, const char *from, unsigned flags, uint64_t attributes, int to_fd,
                              const char *to)
{
    long tree = CK_RAW3(open_tree, from_fd, from, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE | flags);
    if (tree < 0)
        return tree;
    long r = set_attributes((int)tree, attributes);
    if (r == 0)
        r = CK_RAW5(move_mount, tree, "", to_fd, to, MOVE_MOUNT_F_EMPTY_PATH);
    ck_nolibc_close((int)tree);
    return r;
}

/* EEXIST is fine: the place is there, which is all that a mount needs. */
long ck_native_jail_make_file(int root_fd, const char *path, const char *text)
{
    long fd = CK_RAW4(openat, root_fd, path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
    if (fd < 0)
        return fd == -EEXIST ? 0 : fd;
    size_t length = 0;
    while (text && text[length] != '\0')
        length++;
    long r = length > 0 ? CK_RAW3(write, fd, text, length) : 0;
    ck_nolibc_close((int)fd);
    return r < 0 ? r : 0;
}

long ck_native_jail_make_directory(int root_fd, const char *path)
{
    long r = CK_RAW3(mkdirat, root_fd, path, 0755);
    return r == -EEXIST ? 0 : r;
}

long ck_native_jail_bind(const struct ck_native_op *operation, const char *outside, uint64_t attributes, int root_fd,
                         const char *to)
{
    if (operation->inode == 0)
        return ck_native_jail_bind_tree(AT_FDCWD, outside, 0, attributes, root_fd, to);
    long fd = open_checked(operation, outside);
    if (fd < 0)
        return fd;
    long r = ck_native_jail_bind_tree((int)fd, "", AT_EMPTY_PATH, attributes, root_fd, to);
    ck_nolibc_close((int)fd);
    return r;
}

/* A package may be installed or removed meanwhile. What is no longer there cannot be mapped. */
static long bind_plugin(const struct ck_native_op *operation, const char *outside, int root_fd, const char *inside)
{
    long r = ck_native_jail_bind(operation, outside, ATTR_CODE, root_fd, inside);
    return r == -ENOENT || r == -ENOTDIR || r == -ESTALE ? 0 : r;
}

static long run_operation(const struct ck_native_program *program, uint32_t number, int root_fd)
{
    const struct ck_native_op *operation = &ck_native_ops(program)[number];
    const char *inside = ck_native_text(program, operation->inside);
    const char *outside = ck_native_text(program, operation->outside);
    switch ((enum ck_native_op_kind)operation->op) {
    case CK_NATIVE_OP_DIRECTORY:
        return ck_native_jail_make_directory(root_fd, inside);
    case CK_NATIVE_OP_FILE:
    case CK_NATIVE_OP_TEXT:
        return ck_native_jail_make_file(root_fd, inside, outside);
    case CK_NATIVE_OP_LINK:
        return CK_RAW3(symlinkat, outside, root_fd, inside);
    case CK_NATIVE_OP_BIND:
        return ck_native_jail_bind(operation, outside, ATTR_SHOWN, root_fd, inside);
    case CK_NATIVE_OP_BIND_CODE:
        return ck_native_jail_bind(operation, outside, ATTR_CODE, root_fd, inside);
    case CK_NATIVE_OP_BIND_TMP:
        return ck_native_tmp_keep(program, operation, ATTR_SHOWN, root_fd);
    case CK_NATIVE_OP_BIND_TMP_CODE:
        return ck_native_tmp_keep(program, operation, ATTR_CODE, root_fd);
    case CK_NATIVE_OP_BIND_DEVICE:
        /*
         * Read-only protects mode and owner of the node, which belong to the host. The device
         * itself can still be written.
         */
        return ck_native_jail_bind_tree(AT_FDCWD, outside, 0, MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC,
                                        root_fd, inside);
    case CK_NATIVE_OP_BIND_PLUGIN:
        return bind_plugin(operation, outside, root_fd, inside);
    case CK_NATIVE_OP_BIND_WRITABLE:
        return ck_native_jail_bind(operation, outside, ATTR_PLAIN, root_fd, inside);
    case CK_NATIVE_OP_READ_ONLY:
        return 0; /* when the root is there */
    case CK_NATIVE_OP_DOOR:
        return ck_code_copy_mount(root_fd, &CK_JAIL_DOOR[1], root_fd, inside);
    case CK_NATIVE_OP_COPY_CODE:
        return ck_code_copy_place(
            program, number, outside,
            &(struct ck_code_copy_place){.from_fd = AT_FDCWD, .directory_fd = root_fd, .root_fd = root_fd});
    }
    return -EINVAL;
}

/* The root itself: it only holds mount points, small files and copies of loaders. */
static long make_tmpfs(void)
{
    long fs = CK_RAW2(fsopen, "tmpfs", FSOPEN_CLOEXEC);
    if (fs < 0)
        return fs;
    long r = CK_RAW5(fsconfig, fs, FSCONFIG_SET_STRING, "mode", "0755", 0);
    if (r == 0)
        r = CK_RAW5(fsconfig, fs, FSCONFIG_SET_STRING, "size", "32m", 0);
    if (r == 0)
        r = CK_RAW5(fsconfig, fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0);
    if (r == 0)
        r = CK_RAW3(fsmount, fs, FSMOUNT_CLOEXEC, ATTR_PLAIN);
    ck_nolibc_close((int)fs);
    return r;
}

/* A file with mode 0: nobody can open it, because even root has no capability inside. */
static long make_cover(int root_fd)
{
    long fd = CK_RAW4(openat, root_fd, COVER, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0);
    if (fd >= 0)
        ck_nolibc_close((int)fd);
    return fd < 0 ? fd : 0;
}

/* Where the mounts of the last run are put: beneath the place of the private file system. */
static char *stale_path(const struct ck_native_program *program, char path[32])
{
    (void)ck_nolibc_append_text(ck_nolibc_append_text(path, ck_native_private(program)), "/" STALE);
    return path;
}

static long make_stale_place(const struct ck_native_program *program, int root_fd)
{
    char path[32];
    return ck_native_jail_make_directory(root_fd, stale_path(program, path) + 1);
}

/*
 * The new root is mounted over the old one and filled. Then pivot_root swaps them, and the old one
 * is unmounted.
 */
static long build_root(struct ck_native_jail *jail)
{
    const struct ck_native_program *program = jail->program;
    long root = make_tmpfs();
    if (root < 0)
        return root;
    long r = CK_RAW5(move_mount, root, "", AT_FDCWD, "/", MOVE_MOUNT_F_EMPTY_PATH);
    if (r == 0)
        r = ck_native_jail_make_directory((int)root, CK_JAIL_OLD_ROOT);
    if (r == 0 && ck_native_is_cage(program))
        r = ck_code_copy_write((int)root, &CK_JAIL_DOOR[1], (const unsigned char *)program + program->door_at,
                               program->door_bytes);
    for (uint32_t i = 0; i < program->ops_count && r == 0; i++) {
        jail->failed_op = i + 1;
        r = run_operation(program, i, (int)root);
    }
    if (r == 0) {
        jail->failed_op = 0;
        r = make_stale_place(program, (int)root);
    }
    if (r == 0)
        r = make_cover((int)root);
    if (r == 0)
        r = CK_RAW1(fchdir, root);
    if (r == 0)
        r = CK_RAW2(pivot_root, ".", CK_JAIL_OLD_ROOT);
    if (r == 0)
        r = CK_RAW1(chdir, "/");
    if (r == 0)
        r = CK_RAW2(umount2, "/" CK_JAIL_OLD_ROOT, MNT_DETACH);
    if (r == 0) {
        const struct mount_attr attr = {.attr_set = MOUNT_ATTR_RDONLY};
        r = CK_RAW5(mount_setattr, root, "", AT_EMPTY_PATH, &attr, sizeof(attr));
    }
    ck_nolibc_close((int)root);
    return r;
}

/* What init writes and the warden reads. */
static long share_memory(struct ck_native_jail *jail)
{
    bool names_execs = jail->program->exec_key != 0;
    size_t size = CK_INIT_STATUS_BYTES + (names_execs ? CK_DENIALS_BYTES : 0);
    long shared = CK_RAW6(mmap, NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared < 0 && shared > -4096)
        return shared;
    jail->init_status = (void *)shared;
    jail->denials = names_execs ? (char *)shared + CK_INIT_STATUS_BYTES : NULL;
    return 0;
}

long ck_native_jail_build(struct ck_native_jail *jail, int program_fd)
{
    struct stat status = {0};
    long r = CK_RAW2(fstat, program_fd, &status);
    if (r < 0)
        return r;
    long memory = CK_RAW6(mmap, NULL, status.st_size, PROT_READ, MAP_PRIVATE, program_fd, 0);
    if (memory < 0 && memory > -4096)
        return memory;
    jail->program = (const void *)memory;
    /* The user namespace maps one user to itself, and the program was made for that one. */
    bool same = jail->program->uid == (uint32_t)CK_RAW0(geteuid) && jail->program->gid == (uint32_t)CK_RAW0(getegid);
    r = same ? share_memory(jail) : -ESTALE;
    if (r == 0)
        r = build_root(jail);
    if (r == 0)
        r = ck_nolibc_open("/proc/self/ns/mnt", O_RDONLY);
    if (r < 0)
        return r;
    jail->root_ns_fd = (int)r;
    r = ck_nolibc_open(ck_native_private(jail->program), O_PATH | O_DIRECTORY);
    if (r < 0)
        return r;
    jail->below_tmp_fd = (int)r;
    r = ck_init_drop_bounding_set();
    if (r == 0)
        r = ck_init_open_execs(jail);
    if (r == 0)
        r = CK_RAW5(prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    return r < 0 ? r : ck_init_restrict_program(jail);
}

/* ---- the repository ---- */

/*
 * In the namespace with the host's tree: copies the tree at root_path, if that is the directory
 * that root_fd holds open. -ESTALE: somebody has replaced it.
 */
static long copy_tree(const struct ck_init_run *run, const struct stat *held)
{
    struct stat found = {0};
    long fd = ck_nolibc_open(run->root_path, O_PATH | O_DIRECTORY);
    if (fd < 0)
        return fd;
    long r = CK_RAW2(fstat, fd, &found);
    if (r == 0 && (held->st_dev != found.st_dev || held->st_ino != found.st_ino))
        r = -ESTALE;
    if (r == 0)
        r = CK_RAW3(open_tree, fd, "", OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE | AT_EMPTY_PATH);
    ck_nolibc_close((int)fd);
    return r;
}

/*
 * With workspace_code noexec is not set. A mount of the host that has it keeps it: attributes are
 * only added.
 */
static uint64_t work_attributes(const struct ck_init_run *run)
{
    return (run->jail->program->workspace_code != 0 ? MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV : ATTR_PLAIN) |
           (run->workspace != CK_WORKSPACE_RW ? MOUNT_ATTR_RDONLY : 0);
}

/* In the /tmp of guard the cage can replace every directory, so no link on the way is followed. */
static bool is_in_shared_tmp(const struct ck_native_program *program)
{
    return program->guarded != 0 && ck_native_in_tmp(ck_native_root(program));
}

static long move_to_place(const struct ck_native_program *program, int tree_fd)
{
    const char *place = ck_native_root(program);
    if (!is_in_shared_tmp(program))
        return CK_RAW5(move_mount, tree_fd, "", AT_FDCWD, place, MOVE_MOUNT_F_EMPTY_PATH);
    long fd = ck_native_tmp_open(place, true);
    if (fd < 0)
        return fd;
    long r = CK_RAW5(move_mount, tree_fd, "", fd, "", MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH);
    ck_nolibc_close((int)fd);
    return r;
}

/* If something else is there, nothing is unmounted. */
static void unmount_root(const struct ck_native_program *program)
{
    const char *place = ck_native_root(program);
    if (!is_in_shared_tmp(program)) {
        (void)CK_RAW2(umount2, place, MNT_DETACH);
        return;
    }
    long fd = ck_native_tmp_open(place, false);
    if (fd < 0)
        return;
    if (CK_RAW1(fchdir, fd) == 0)
        (void)CK_RAW2(umount2, ".", MNT_DETACH);
    (void)CK_RAW1(chdir, "/");
    ck_nolibc_close((int)fd);
}

/*
 * A mount point cannot be renamed or removed, so the cage cannot put another file in its place. What is
 * not there is left out; a symlink is refused, because its target would stay as it is.
 */
static long make_read_only(int root_fd, const char *name)
{
    struct stat found = {0};
    long fd = CK_RAW3(openat, root_fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return fd == -ENOENT ? 0 : fd;
    long r = CK_RAW2(fstat, fd, &found);
    if (r == 0 && S_ISLNK(found.st_mode))
        r = -ELOOP;
    long tree =
        r < 0 ? r : CK_RAW3(open_tree, fd, "", OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE | AT_EMPTY_PATH);
    if (tree >= 0) {
        r = set_attributes((int)tree, ATTR_SHOWN);
        if (r == 0)
            r = CK_RAW5(move_mount, tree, "", fd, "", MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH);
        ck_nolibc_close((int)tree);
    }
    ck_nolibc_close((int)fd);
    return tree < 0 ? tree : r;
}

static long make_names_read_only(const struct ck_native_program *program)
{
    const struct ck_native_op *ops = ck_native_ops(program);
    const char *place = ck_native_root(program);
    long fd = -1, r = 0;
    for (uint32_t i = 0; i < program->ops_count && r == 0; i++) {
        if (ops[i].op != CK_NATIVE_OP_READ_ONLY)
            continue;
        if (fd < 0)
            fd = is_in_shared_tmp(program) ? ck_native_tmp_open(place, false)
                                           : ck_nolibc_open(place, O_PATH | O_DIRECTORY);
        r = fd < 0 ? fd : make_read_only((int)fd, ck_native_text(program, ops[i].inside));
    }
    if (fd >= 0)
        ck_nolibc_close((int)fd);
    return r;
}

/*
 * The repository stays mounted at its place for the next run if that has the same. A tree of another
 * mount namespace cannot be copied, so the warden enters the namespace of the host for the copy.
 */
long ck_native_jail_place_root(const struct ck_init_run *run)
{
    struct ck_native_jail *jail = run->jail;
    const char *place = ck_native_root(jail->program);
    struct stat held = {0};
    long r = CK_RAW2(fstat, run->root_fd, &held);
    if (r == 0 && ck_native_in_tmp(place) && jail->program->guarded == 0)
        r = ck_native_tmp_make(place);
    if (r < 0)
        return r;
    if (jail->work_mounted && jail->work_device == held.st_dev && jail->work_inode == held.st_ino &&
        jail->work_mode == run->workspace)
        return 0;
    if (jail->work_mounted)
        unmount_root(jail->program);
    jail->work_mounted = false;
    r = CK_RAW2(setns, jail->host_ns_fd, CLONE_NEWNS);
    if (r < 0)
        return r;
    long tree = copy_tree(run, &held);
    r = CK_RAW2(setns, jail->root_ns_fd, CLONE_NEWNS);
    if (r < 0 || tree < 0)
        return r < 0 ? r : tree;
    r = set_attributes((int)tree, work_attributes(run));
    if (r == 0)
        r = move_to_place(jail->program, (int)tree);
    ck_nolibc_close((int)tree);
    jail->work_mounted = r == 0;
    if (r == 0)
        r = make_names_read_only(jail->program);
    jail->work_device = held.st_dev;
    jail->work_inode = held.st_ino;
    jail->work_mode = run->workspace;
    return r;
}

/* ---- the overlay over the repository ---- */

/*
 * The upper directory gets the mode of the repository, because the tool sees it as the mode of
 * /work. It is opened before: the mode may deny access even to the owner.
 */
static long fill_overlay(struct ck_init_run *run)
{
    struct stat held = {0};
    long r = CK_RAW2(fstat, run->root_fd, &held);
    if (r == 0)
        r = CK_RAW3(mkdirat, AT_FDCWD, OVERLAY_UPPER, 0700);
    if (r == 0)
        r = CK_RAW3(mkdirat, AT_FDCWD, OVERLAY_WORK, 0700);
    if (r == 0)
        r = ck_nolibc_open(OVERLAY_UPPER, O_RDONLY | O_DIRECTORY);
    if (r < 0)
        return r;
    run->overlay_fd = (int)r;
    return CK_RAW2(fchmod, run->overlay_fd, held.st_mode & 0777);
}

/*
 * Mounts the overlay with the repository below and the changes above. The kernel stores its marks
 * in user.* attributes (userxattr), the only kind that a user namespace may write.
 */
static long mount_overlay(struct ck_native_jail *jail)
{
    struct statfs found = {0};
    const char *place = ck_native_root(jail->program);
    unsigned long flags = jail->program->workspace_code != 0 ? PLAIN & ~MS_NOEXEC : PLAIN;
    /* By ".": the path of the root may have a comma or a colon, which separate options. */
    long r = CK_RAW1(chdir, place);
    if (r == 0)
        r = CK_RAW5(mount, "work", place, "overlay", flags,
                    "lowerdir=.,upperdir=" OVERLAY_UPPER ",workdir=" OVERLAY_WORK ",userxattr");
    jail->overlay_mounted = r == 0;
    long left = CK_RAW1(chdir, "/");
    if (r == 0)
        r = left < 0 ? left : CK_RAW2(statfs, place, &found);
    return r == 0 && found.f_type != OVERLAYFS_SUPER_MAGIC ? -EPROTO : r;
}

/*
 * An empty file system of limited size for the changes of the run. It is unmounted at once, and
 * only a descriptor remains. When that is closed, the kernel frees all of it.
 */
static long make_overlay(struct ck_init_run *run)
{
    long r = CK_RAW5(mount, "overlay", OVERLAY_DIR, "tmpfs", PLAIN, OVERLAY_OPTIONS);
    if (r < 0)
        return r;
    r = fill_overlay(run);
    if (r == 0)
        r = mount_overlay(run->jail);
    long unmounted = CK_RAW2(umount2, OVERLAY_DIR, MNT_DETACH);
    return r < 0 ? r : unmounted;
}

/* ---- what each run gets new ---- */

static long mount_tmp(struct ck_native_jail *jail)
{
    const struct ck_native_program *program = jail->program;
    if (jail->tmp_mounted)
        return 0;
    bool guarded = program->guarded != 0;
    long r = CK_RAW5(mount, "tmp", ck_native_private(program), "tmpfs", PLAIN,
                     ck_native_text(program, program->tmp_options_at));
    if (r < 0)
        return r;
    jail->tmp_mounted = true;
    r = CK_RAW3(mkdirat, AT_FDCWD, guarded ? CK_JAIL_PRIVATE_SCRATCH : CK_JAIL_SCRATCH, 0700);
    if (r == 0)
        r = CK_RAW3(mkdirat, AT_FDCWD, guarded ? CK_JAIL_PRIVATE_SHM : CK_JAIL_SHM, 0700);
    return r < 0 || guarded ? r : ck_native_tmp_bind_all(program);
}

/* Called by the init: a new /proc shows the pid namespace of the process that mounts it. */
static long mount_proc(struct ck_init_status *init_status)
{
    long r = CK_RAW5(mount, "proc", "/proc", "proc", PLAIN | MS_RDONLY, NULL);
    init_status->proc_mounted = r == 0;
    return r < 0 ? r : ck_init_cover_keys("/" COVER);
}

/*
 * Made before the run, because a ruleset takes longer to make than to apply. Without Landlock there
 * are no rules.
 */
static long make_rules(struct ck_native_jail *jail)
{
    if (jail->program->landlock_fs == 0)
        return 0;
    long fd = ck_init_make_rules(jail);
    jail->rules_ready = fd >= 0;
    jail->rules_fd = (int)fd;
    return fd < 0 ? fd : 0;
}

static long open_null(struct ck_native_jail *jail)
{
    if (jail->null_ready)
        return 0;
    long fd = ck_nolibc_open("/dev/null", O_RDONLY);
    jail->null_ready = fd >= 0;
    jail->null_fd = (int)fd;
    return fd < 0 ? fd : 0;
}

/* The init has its own copies. */
static void close_once(bool *placed, int fd)
{
    if (*placed)
        ck_nolibc_close(fd);
    *placed = false;
}

static long unmount(const char *place, bool *placed)
{
    long r = *placed ? CK_RAW2(umount2, place, MNT_DETACH) : 0;
    *placed = *placed && r < 0;
    return r;
}

static long move(const char *from, const char *to)
{
    return CK_RAW5(mount, from, to, NULL, MS_MOVE, NULL);
}

/*
 * Moves the private file system into /proc and then /proc away: one tree, because each unmounted tree waits for its
 * own grace period.
 */
static long put_aside(struct ck_native_jail *jail)
{
    char path[32];
    long r = move(ck_native_private(jail->program), PROC_FS);
    if (r < 0)
        return r;
    jail->tmp_mounted = false;
    r = move("/proc", stale_path(jail->program, path));
    jail->init_status->proc_mounted = r < 0;
    jail->stale_mounted = r == 0;
    return r;
}

long ck_native_jail_unmount_stale(struct ck_native_jail *jail)
{
    if (!jail->stale_mounted)
        return 0;
    /*
     * The path is below the new mount by now, so it is reached by the descriptor of the directory.
     */
    long r = CK_RAW1(fchdir, jail->below_tmp_fd);
    if (r == 0)
        r = unmount(STALE, &jail->stale_mounted);
    return r < 0 ? r : CK_RAW1(chdir, "/");
}

long ck_native_jail_reset(struct ck_native_jail *jail)
{
    long r = ck_native_jail_unmount_stale(jail);
    if (r == 0)
        r = unmount(ck_native_root(jail->program), &jail->overlay_mounted);
    /* A root in /tmp goes with it. */
    if (jail->program->guarded == 0 && ck_native_in_tmp(ck_native_root(jail->program)))
        jail->work_mounted = false;
    if (r == 0)
        r = jail->init_status->proc_mounted != 0 ? put_aside(jail)
                                                 : unmount(ck_native_private(jail->program), &jail->tmp_mounted);
    if (r < 0)
        return r;
    r = mount_tmp(jail);
    if (r == 0)
        r = open_null(jail);
    return r < 0 ? r : make_rules(jail);
}

/* ---- a run: the init ---- */

static __attribute__((noreturn)) void init_main(void *argument)
{
    struct ck_init_run *run = argument;
    /*
     * If the warden is killed, the kernel kills the init, and with it everything in the pid
     * namespace.
     */
    (void)CK_RAW5(prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    (void)CK_RAW5(prctl, PR_SET_NAME, "choke-init", 0, 0, 0);
    ck_nolibc_close(run->overlay_fd);
    uint32_t stage = CK_STAGE_LIMITS;
    long r = run->enter_fd < 0 ? 0 : CK_RAW3(write, run->enter_fd, "0", 1);
    if (r >= 0) {
        stage = CK_STAGE_JAIL;
        r = mount_proc(run->jail->init_status);
    }
    /*
     * Copies of descriptors of the warden. The init does not need them, and the tool must never
     * reach them.
     */
    ck_nolibc_close(run->jail->host_ns_fd);
    ck_nolibc_close(run->jail->root_ns_fd);
    ck_nolibc_close(run->jail->below_tmp_fd);
    if (r == 0)
        ck_init_serve(run);
    run->jail->init_status->stage = stage;
    run->jail->init_status->error = (int32_t)-r;
    ck_nolibc_exit(127);
}

long ck_native_jail_create_init(struct ck_init_run *run)
{
    *run->jail->init_status = (struct ck_init_status){0};
    long pid = ck_create_in_namespaces(init_main, run, ck_native_has_network(run->jail->program));
    close_once(&run->jail->rules_ready, run->jail->rules_fd);
    close_once(&run->jail->null_ready, run->jail->null_fd);
    return pid;
}

long ck_native_jail_create(struct ck_init_run *run)
{
    run->overlay_fd = -1;
    run->failed_stage = CK_STAGE_JAIL;
    /* The root may be in /tmp. */
    long r = mount_tmp(run->jail);
    if (r == 0)
        r = ck_native_jail_place_root(run);
    if (r == 0 && run->workspace == CK_WORKSPACE_OVERLAY) {
        run->failed_stage = CK_STAGE_WORKSPACE;
        r = make_overlay(run);
    }
    return r < 0 ? r : ck_native_jail_create_init(run);
}
