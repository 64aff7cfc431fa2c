/*
 * host.c - reads facts about the machine, and tries cgroup controllers.
 *
 * A controller of cgroup v2 is active in a child group only if cgroup.subtree_control of the parent
 * names it. If it is missing there, it is switched on for a moment and then off again. This is the
 * only thing doctor does that other processes could notice.
 */
#include "sys/host.h"

#include "base/fd.h"
#include "base/file.h"
#include "sys/cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static long read_number(const char *path)
{
    char text[64];
    return ck_file_read_into(AT_FDCWD, path, 0, text, sizeof(text)) >= 0 ? strtol(text, NULL, 10) : CK_HOST_UNKNOWN;
}

static long read_seccomp_mode(void)
{
    char text[8192];
    if (ck_file_read_into(AT_FDCWD, "/proc/self/status", 0, text, sizeof(text)) < 0)
        return CK_HOST_UNKNOWN;
    const char *line = strstr(text, "\nSeccomp:");
    return line ? strtol(line + strlen("\nSeccomp:"), NULL, 10) : CK_HOST_UNKNOWN;
}

/* Is word an item of text, between the given separators? */
static bool has_word(const char *text, const char *word, const char *separators)
{
    size_t length = strlen(word);
    while (text[0] != '\0') {
        size_t here = strcspn(text, separators);
        if (here == length && strncmp(text, word, length) == 0)
            return true;
        text += here;
        text += strspn(text, separators);
    }
    return false;
}

/* The file has "NAME (MODE)", or "unconfined". */
static void read_apparmor_profile(char *ret_name, size_t size)
{
    char text[CK_HOST_PROFILE_BYTES];
    ret_name[0] = '\0';
    if (ck_file_read_into(AT_FDCWD, "/proc/self/attr/apparmor/current", 0, text, sizeof(text)) < 0)
        return;
    char *mode = strstr(text, " (");
    if (mode)
        (void)snprintf(ret_name, size, "%.*s", (int)(mode - text), text);
}

/*
 * The file has "USER:ROLE:TYPE[:RANGE]" where SELinux fills it; AppArmor, which has the same file, writes its profile
 * with a mode. In permissive mode SELinux only writes what it would deny. A container may hide that switch.
 */
static void read_selinux_context(char *ret_context, size_t size)
{
    char text[512];
    ret_context[0] = '\0';
    if (read_number("/sys/fs/selinux/enforce") == 0 ||
        ck_file_read_into(AT_FDCWD, "/proc/self/attr/current", 0, text, sizeof(text)) < 0)
        return;
    text[strcspn(text, "\n")] = '\0';
    const char *role = strchr(text, ':');
    if (role && strchr(role + 1, ':') && !strchr(text, ' '))
        (void)snprintf(ret_context, size, "%.*s", (int)size - 1, text);
}

void ck_host_inspect(struct ck_host *ret_host)
{
    static const char *const signs[] = {"/.dockerenv", "/run/.containerenv"};
    char text[1024];
    *ret_host = (struct ck_host){
        .root = geteuid() == 0,
        .max_user_namespaces = read_number("/proc/sys/user/max_user_namespaces"),
        .unprivileged_userns = read_number("/proc/sys/kernel/unprivileged_userns_clone"),
        .apparmor_restricts = read_number("/proc/sys/kernel/apparmor_restrict_unprivileged_userns"),
        .seccomp_mode = read_seccomp_mode(),
    };
    read_apparmor_profile(ret_host->apparmor_profile, sizeof(ret_host->apparmor_profile));
    read_selinux_context(ret_host->selinux_context, sizeof(ret_host->selinux_context));
    for (size_t i = 0; i < sizeof(signs) / sizeof(signs[0]) && !ret_host->container; i++)
        if (access(signs[i], F_OK) == 0) {
            ret_host->container = true;
            ret_host->container_sign = signs[i];
        }
    ret_host->lsm_known = ck_file_read_into(AT_FDCWD, "/sys/kernel/security/lsm", 0, text, sizeof(text)) >= 0;
    ret_host->lsm_landlock = ret_host->lsm_known && has_word(text, "landlock", ",\n");
    CK_FD own_fd = ck_cgroup_own();
    ret_host->cgroup2 = own_fd >= 0;
}

bool ck_host_namespaces_off(void)
{
    static const char *const limits[] = {
        "/proc/sys/user/max_user_namespaces",   "/proc/sys/user/max_mnt_namespaces",
        "/proc/sys/user/max_net_namespaces",    "/proc/sys/user/max_ipc_namespaces",
        "/proc/sys/user/max_uts_namespaces",    "/proc/sys/user/max_pid_namespaces",
        "/proc/sys/user/max_cgroup_namespaces",
    };
    for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++)
        if (read_number(limits[i]) == 0)
            return true;
    return false;
}

bool ck_host_has_proc(void)
{
    char text[32];
    ssize_t length = readlink("/proc/self", text, sizeof(text) - 1);
    text[length > 0 ? length : 0] = '\0';
    /*
     * /proc/self is the reader's pid as that /proc numbers it; another pid namespace gives another
     * number.
     */
    return strtol(text, NULL, 10) == (long)getpid();
}

/* ---- cgroups ---- */

static int make_name(char *name, size_t size)
{
    int length = snprintf(name, size, "chokepoint-doctor-%ld", (long)getpid());
    return length < 0 || (size_t)length >= size ? -ENAMETOOLONG : 0;
}

static int write_word(int directory_fd, const char *file, const char *word)
{
    CK_FD fd = openat(directory_fd, file, O_WRONLY | O_CLOEXEC);
    return fd < 0 ? -errno : ck_fd_write_all(fd, word, strlen(word));
}

int ck_host_try_cgroup(void)
{
    char name[64];
    CK_FD own_fd = ck_cgroup_own();
    if (own_fd < 0)
        return -own_fd;
    if (make_name(name, sizeof(name)) < 0 || mkdirat(own_fd, name, 0755) < 0)
        return errno;
    (void)unlinkat(own_fd, name, AT_REMOVEDIR);
    return 0;
}

/* The file that a group has only while the controller is active in it. */
static const char *limit_file(const char *controller, bool v2)
{
    if (strcmp(controller, "memory") == 0)
        return v2 ? "memory.max" : "memory.limit_in_bytes";
    if (strcmp(controller, "pids") == 0)
        return "pids.max";
    return v2 ? "cpu.max" : "cpu.cfs_quota_us";
}

/*
 * Makes a group in parent_fd, writes a limit back unchanged, and removes the group. Returns 0 or a
 * positive errno.
 */
static int try_group(int parent_fd, const char *controller, bool v2)
{
    char name[64], text[64];
    if (make_name(name, sizeof(name)) < 0 || mkdirat(parent_fd, name, 0755) < 0)
        return errno;
    CK_FD fd = openat(parent_fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const char *file = limit_file(controller, v2);
    int r = fd < 0 ? -errno : (int)ck_file_read_into(fd, file, 0, text, sizeof(text));
    if (r >= 0)
        r = write_word(fd, file, text);
    (void)unlinkat(parent_fd, name, AT_REMOVEDIR);
    return -r;
}

/*
 * The kernel lets a threaded controller (cpu, pids) be enabled in a group that has processes, and
 * then all groups beneath it are "domain invalid": unusable. So only the root cgroup, which has no
 * cgroup.type, and a group without processes may delegate.
 */
static bool may_delegate(int group_fd)
{
    char text[16];
    return faccessat(group_fd, "cgroup.type", F_OK, 0) < 0 ||
           (ck_file_read_into(group_fd, "cgroup.procs", 0, text, sizeof(text)) >= 0 && text[0] == '\0');
}

/* Tries a group in this directory. What is switched on for the trial is switched off again. */
static int try_in(int parent_fd, const char *controller)
{
    char text[1024], word[32];
    long length = ck_file_read_into(parent_fd, "cgroup.controllers", 0, text, sizeof(text));
    if (length < 0)
        return (int)-length;
    if (!has_word(text, controller, " \n"))
        return ENODEV;
    int error = try_group(parent_fd, controller, true);
    if (error != ENOENT)
        return error;
    if (!may_delegate(parent_fd))
        return EBUSY;
    (void)snprintf(word, sizeof(word), "+%s", controller);
    error = -write_word(parent_fd, "cgroup.subtree_control", word);
    if (error != 0)
        return error;
    error = try_group(parent_fd, controller, true);
    word[0] = '-';
    (void)write_word(parent_fd, "cgroup.subtree_control", word);
    return error;
}

/*
 * Does our own group have limits? A group beside it would not have them, so a tool must not run
 * there.
 */
static bool is_bounded(int own_fd)
{
    static const char *const files[] = {"memory.max", "memory.high", "memory.swap.max", "pids.max", "cpu.max"};
    char text[64];
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
        if (ck_file_read_into(own_fd, files[i], 0, text, sizeof(text)) >= 0 && strncmp(text, "max", 3) != 0)
            return true;
    return false;
}

/* The same order as a run (run/keeper/limiter.c): in our own group, then beside it. */
static void try_v2(const char *controller, struct ck_controller *ret)
{
    CK_FD own_fd = ck_cgroup_own();
    ret->cgroup_version = CK_CONTROLLER_V2;
    ret->error = own_fd < 0 ? -own_fd : try_in(own_fd, controller);
    if (own_fd < 0 || ret->error == 0 || is_bounded(own_fd))
        return;
    CK_FD beside_fd = openat(own_fd, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (beside_fd >= 0 && faccessat(beside_fd, "cgroup.subtree_control", F_OK, 0) == 0 &&
        try_in(beside_fd, controller) == 0)
        ret->error = 0;
}

static void try_v1(const char *controller, struct ck_controller *ret)
{
    CK_FD own_fd = ck_cgroup_own_v1(controller);
    ret->cgroup_version = CK_CONTROLLER_V1;
    ret->error = own_fd < 0 ? -own_fd : try_group(own_fd, controller, false);
}

void ck_host_try_controller(const char *name, struct ck_controller *ret_controller)
{
    struct ck_controller v1 = {0};
    *ret_controller = (struct ck_controller){0};
    try_v2(name, ret_controller);
    if (ret_controller->error == 0)
        return;
    try_v1(name, &v1);
    if (v1.error != ENOENT) /* it is mounted as v1, so v1 is where it could be available */
        *ret_controller = v1;
}
