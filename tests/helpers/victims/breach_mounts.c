/*
 * breach_mounts.c - attacks on mounts and namespaces.
 *
 * breach_mounts WAY [ARG]... - changes what the file system looks like, or makes namespaces to do it in. See breach.h.
 *   unshare, clone, clone3  a new user namespace
 *   mount DIR               a new file system at DIR
 *   writable DIR            the same tree, mounted again so that it can be written
 *   uncover DIR             takes away what is mounted at DIR
 *   attributes DIR          takes read-only off what is mounted at DIR
 *   pivot DIR, chroot DIR   another root
 *   tree DIR                a copy of a mounted tree, in hand
 *   context                 a new file system, in hand
 *   device PATH             a node of the memory device null at PATH, used
 *   handle PATH DIR         the file at PATH by its handle, without the path, from the mount of DIR
 *   guess INODE DIR         the same, where only its number is known
 * With "+" before its name (+mount) the way is gone in a new user and mount namespace, as an ordinary user would.
 */
#include "breach.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <linux/mount.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>

#define INODE_AND_GENERATION 1 /* the handle type of ext4 and tmpfs */

static const char *unshare_user(char **arguments)
{
    (void)arguments;
    return unshare(CLONE_NEWUSER) < 0 ? "unshare" : NULL;
}

static const char *child_made(long pid, const char *what)
{
    if (pid < 0) {
        return what;
    }
    if (pid == 0) {
        _exit(0);
    }
    (void)waitpid((pid_t)pid, NULL, __WALL);
    return NULL;
}

static const char *clone_user(char **arguments)
{
    (void)arguments;
    return child_made(syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, NULL, NULL, 0), "clone");
}

static const char *clone3_user(char **arguments)
{
    struct clone_args how = {.flags = CLONE_NEWUSER, .exit_signal = SIGCHLD};
    (void)arguments;
    return child_made(syscall(SYS_clone3, &how, sizeof(how)), "clone3");
}

static const char *mount_there(char **arguments)
{
    return mount("choke", arguments[0], "tmpfs", 0, NULL) < 0 ? "mount" : NULL;
}

static const char *writable(char **arguments)
{
    if (mount(NULL, arguments[0], NULL, MS_REMOUNT | MS_BIND, NULL) == 0) {
        return NULL;
    }
    return mount(arguments[0], arguments[0], NULL, MS_BIND, NULL) < 0 ? "mount" : NULL;
}

static const char *uncover(char **arguments)
{
    return umount2(arguments[0], MNT_DETACH) < 0 ? "umount" : NULL;
}

static const char *attributes(char **arguments)
{
    struct mount_attr attr = {.attr_clr = MOUNT_ATTR_RDONLY};
    return syscall(SYS_mount_setattr, AT_FDCWD, arguments[0], 0, &attr, sizeof(attr)) < 0 ? "mount_setattr" : NULL;
}

static const char *pivot(char **arguments)
{
    if (chdir(arguments[0]) < 0) {
        return "chdir";
    }
    return syscall(SYS_pivot_root, ".", ".") < 0 ? "pivot_root" : NULL;
}

static const char *change_root(char **arguments)
{
    return chroot(arguments[0]) < 0 ? "chroot" : NULL;
}

static const char *tree(char **arguments)
{
    return syscall(SYS_open_tree, AT_FDCWD, arguments[0], OPEN_TREE_CLONE) < 0 ? "open_tree" : NULL;
}

static const char *context(char **arguments)
{
    (void)arguments;
    return syscall(SYS_fsopen, "tmpfs", 0) < 0 ? "fsopen" : NULL;
}

static const char *device(char **arguments)
{
    if (mknod(arguments[0], S_IFCHR | 0666, makedev(1, 3)) < 0) {
        return "mknod";
    }
    int fd = open(arguments[0], O_WRONLY);
    (void)unlink(arguments[0]);
    return fd < 0 ? "open" : NULL;
}

static const char *by_handle(struct file_handle *handle, const char *directory)
{
    char byte;
    int mount_fd = open(directory, O_RDONLY | O_DIRECTORY);
    if (mount_fd < 0) {
        return "open";
    }
    int fd = open_by_handle_at(mount_fd, handle, O_RDONLY);
    if (fd < 0) {
        return "open_by_handle_at";
    }
    return read(fd, &byte, 1) == 1 ? NULL : "read";
}

static const char *handle(char **arguments)
{
    static union {
        struct file_handle handle;
        char bytes[sizeof(struct file_handle) + MAX_HANDLE_SZ];
    } named = {.handle.handle_bytes = MAX_HANDLE_SZ};
    int mount_id;
    if (name_to_handle_at(AT_FDCWD, arguments[0], &named.handle, &mount_id, 0) < 0) {
        return "name_to_handle_at";
    }
    return by_handle(&named.handle, arguments[1]);
}

/* Generation 0 matches any. */
static const char *guess(char **arguments)
{
    static union {
        struct file_handle handle;
        char bytes[sizeof(struct file_handle) + 2 * sizeof(uint32_t)];
    } guessed = {.handle.handle_bytes = 2 * sizeof(uint32_t), .handle.handle_type = INODE_AND_GENERATION};
    const uint32_t parts[2] = {(uint32_t)strtoul(arguments[0], NULL, 10), 0};
    (void)memcpy(guessed.bytes + sizeof(struct file_handle), parts, sizeof(parts));
    return by_handle(&guessed.handle, arguments[1]);
}

static const struct breach ways[] = {
    {"unshare", 0, unshare_user}, {"clone", 0, clone_user}, {"clone3", 0, clone3_user},    {"mount", 1, mount_there},
    {"writable", 1, writable},    {"uncover", 1, uncover},  {"attributes", 1, attributes}, {"pivot", 1, pivot},
    {"chroot", 1, change_root},   {"tree", 1, tree},        {"context", 0, context},       {"device", 1, device},
    {"handle", 2, handle},        {"guess", 2, guess},
};

int main(int argc, char **argv)
{
    if (argc > 1 && argv[1][0] == '+') {
        argv[1]++;
        if (unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0) {
            return breach_end("unshare");
        }
    }
    return BREACH_MAIN(ways);
}
