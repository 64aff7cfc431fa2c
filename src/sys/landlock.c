/*
 * landlock.c - builds Landlock rulesets.
 *
 * The kernel checks LANDLOCK_ACCESS_FS_EXECUTE when a file is opened for execution: the program
 * itself, the interpreter of a script, the loader of a dynamic binary. It does not check it when a
 * file is mapped as code, so shared objects need no rule. Files that are not in any directory
 * (memfd) are outside of Landlock: no rule can be made for them, and none is needed.
 *
 * Every ruleset handles LANDLOCK_ACCESS_FS_REFER, even if it does not name it: a file could no
 * longer be renamed to another directory. So the right is granted for everything, where the kernel
 * has a name for it (ABI 2).
 */
#include "sys/landlock.h"

#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ABI_WITH_REFER 2
#define ABI_WITH_TCP 4
#define ABI_WITH_IOCTL 5

/* Rights by the ABI that introduced them; the build's headers may be older than the kernel. */
#define FS_ABI_1 ((UINT64_C(1) << 13) - 1)
#define FS_REFER (UINT64_C(1) << 13)
#define FS_TRUNCATE (UINT64_C(1) << 14)
#define FS_IOCTL_DEV (UINT64_C(1) << 15)
#define READS (LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR)
#define NEVER (LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_BLOCK)
#define OF_FILES \
    (LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE | FS_TRUNCATE | \
     FS_IOCTL_DEV)

struct attributes {
    uint64_t fs, net, scoped;
};

static int add_rule(int ruleset_fd, int fd, uint64_t access)
{
    const struct landlock_path_beneath_attr rule = {.allowed_access = access, .parent_fd = fd};
    long r = syscall(SYS_landlock_add_rule, ruleset_fd, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
    return r < 0 ? -errno : 0;
}

static int allow_renames(int ruleset_fd)
{
    CK_FD top_fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    return top_fd < 0 ? -errno : add_rule(ruleset_fd, top_fd, LANDLOCK_ACCESS_FS_REFER);
}

int ck_landlock_abi(void)
{
    long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
    return abi < 0 ? -errno : (int)abi;
}

int ck_landlock_new(void)
{
    int abi = ck_landlock_abi();
    if (abi < 0)
        return abi;
    uint64_t handled = LANDLOCK_ACCESS_FS_EXECUTE | (abi >= ABI_WITH_REFER ? LANDLOCK_ACCESS_FS_REFER : 0);
    const struct landlock_ruleset_attr attributes = {.handled_access_fs = handled};
    CK_FD ruleset_fd = (int)syscall(SYS_landlock_create_ruleset, &attributes, sizeof(attributes), 0);
    if (ruleset_fd < 0)
        return -errno;
    int r = abi >= ABI_WITH_REFER ? allow_renames(ruleset_fd) : 0;
    return r < 0 ? r : ck_fd_take(&ruleset_fd);
}

int ck_landlock_allow(int ruleset_fd, int file_fd)
{
    int r = add_rule(ruleset_fd, file_fd, LANDLOCK_ACCESS_FS_EXECUTE);
    /* EBADFD: the file is on a file system without paths (memfd), which Landlock does not check. */
    return r == -EBADFD ? 0 : r;
}

/* ---- all rights ---- */

int ck_landlock_new_full(void)
{
    int abi = ck_landlock_abi();
    if (abi < 0)
        return abi;
    if (abi < CK_LANDLOCK_FULL_ABI)
        return -EOPNOTSUPP;
    const struct attributes attributes = {
        .fs = FS_ABI_1 | FS_REFER | FS_TRUNCATE | (abi >= ABI_WITH_IOCTL ? FS_IOCTL_DEV : 0),
        .net = abi >= ABI_WITH_TCP ? UINT64_C(3) : 0,             /* bind, connect */
        .scoped = abi >= CK_LANDLOCK_SCOPE_ABI ? UINT64_C(3) : 0, /* abstract sockets, signals */
    };
    /* A kernel that does not know the last fields accepts them if they are zero. */
    long fd = syscall(SYS_landlock_create_ruleset, &attributes, sizeof(attributes), 0);
    return fd < 0 ? -errno : (int)fd;
}

int ck_landlock_grant(int ruleset_fd, int fd, enum ck_landlock_grant grant)
{
    static const uint64_t rights[] = {
        [CK_LANDLOCK_GRANT_LIST] = LANDLOCK_ACCESS_FS_READ_DIR,
        [CK_LANDLOCK_GRANT_READ] = READS,
        [CK_LANDLOCK_GRANT_WRITE] = (FS_ABI_1 | FS_REFER | FS_TRUNCATE) & ~(uint64_t)NEVER,
        [CK_LANDLOCK_GRANT_DEVICE] = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE | FS_TRUNCATE,
        [CK_LANDLOCK_GRANT_EXECUTE] = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_EXECUTE,
    };
    struct stat status;
    if (fstat(fd, &status) < 0)
        return -errno;
    /* The kernel refuses a rule that gives a file a right of directories (EINVAL). */
    uint64_t access = rights[grant] & (S_ISDIR(status.st_mode) ? UINT64_MAX : (uint64_t)OF_FILES);
    int r = access == 0 ? 0 : add_rule(ruleset_fd, fd, access);
    return r == -EBADFD ? 0 : r;
}
