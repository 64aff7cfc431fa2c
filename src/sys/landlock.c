/*
 * landlock.c - see landlock.h.
 *
 * LANDLOCK_ACCESS_FS_EXECUTE is asked when a file is opened to be executed: the program itself, the interpreter of a
 * script, the loader of a dynamic binary. It is not asked when a file is mapped as code, so shared objects need no
 * rule. Files without a place in any directory (memfd) are outside of Landlock: no rule can be made for them, and
 * none is needed.
 *
 * LANDLOCK_ACCESS_FS_REFER is handled by every ruleset whether it says so or not: a file could not be renamed to
 * another directory any more. So it is given back for everything, where the kernel has a word for that (ABI 2).
 */
#include "sys/landlock.h"

#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ABI_WITH_REFER 2

static int add_rule(int ruleset_fd, int fd, uint64_t access)
{
    const struct landlock_path_beneath_attr rule = {.allowed_access = access, .parent_fd = fd};
    long result = syscall(SYS_landlock_add_rule, ruleset_fd, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
    return result < 0 ? -errno : 0;
}

static int allow_renames(int ruleset_fd)
{
    CK_FD top_fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    return top_fd < 0 ? -errno : add_rule(ruleset_fd, top_fd, LANDLOCK_ACCESS_FS_REFER);
}

int ck_landlock_new(void)
{
    long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
    if (abi < 0)
        return -errno;
    uint64_t handled = LANDLOCK_ACCESS_FS_EXECUTE | (abi >= ABI_WITH_REFER ? LANDLOCK_ACCESS_FS_REFER : 0);
    const struct landlock_ruleset_attr attributes = {.handled_access_fs = handled};
    CK_FD ruleset_fd = (int)syscall(SYS_landlock_create_ruleset, &attributes, sizeof attributes, 0);
    if (ruleset_fd < 0)
        return -errno;
    int result = abi >= ABI_WITH_REFER ? allow_renames(ruleset_fd) : 0;
    return result < 0 ? result : ck_fd_take(&ruleset_fd);
}

int ck_landlock_allow(int ruleset_fd, int file_fd)
{
    int result = add_rule(ruleset_fd, file_fd, LANDLOCK_ACCESS_FS_EXECUTE);
    return result == -EBADFD ? 0 : result;
}
