/*
 * cgroup.c - one cgroup v2 directory per warden, for cgroup.kill.
 *
 * A tool is born in its warden's directory (clone3), so even a fork bomb dies by one write. No controller is used
 * here. The directory of a context is named after the keeper's pid namespace and pid; a keeper that was itself killed
 * leaves it behind, and the next keeper that starts kills what is in it and removes it.
 */
#include "run/keeper/keeper.h"

#include <errno.h>
#include <fcntl.h>

static int open_directory(int parent_fd, const char *name)
{
    return (int)CK_RAW4(openat, parent_fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW, 0);
}

static void write_kill(int directory_fd)
{
    long fd = CK_RAW4(openat, directory_fd, "cgroup.kill", O_WRONLY | O_CLOEXEC, 0);
    if (fd < 0)
        return;
    (void)CK_RAW3(write, fd, "1", 1);
    ck_close((int)fd);
}

static void remove_child(int base_fd, const char *name)
{
    int fd = open_directory(base_fd, name);
    if (fd < 0)
        return;
    write_kill(fd);
    ck_close(fd);
    (void)CK_RAW3(unlinkat, base_fd, name, AT_REMOVEDIR);
}

static void visit_warden(void *data, const char *name)
{
    const int *base_fd = data;
    if (name[0] == 'w')
        remove_child(*base_fd, name);
}

struct sweep {
    int parent_fd;
    int proc_fd;
    const char *prefix;
};

/* The number behind the prefix is a keeper's pid: if that process is gone, so should its directory be. */
static void visit_context(void *data, const char *name)
{
    const struct sweep *sweep = data;
    size_t length = 0;
    while (sweep->prefix[length] != '\0' && name[length] == sweep->prefix[length])
        length++;
    const char *at = name + length;
    const char *end = at;
    while (*end != '\0')
        end++;
    long pid = sweep->prefix[length] == '\0' ? ck_take_number(&at, end) : -1;
    char path[32];
    if (pid <= 0 || at != end)
        return;
    (void)ck_put_number(path, pid);
    if (CK_RAW3(faccessat, sweep->proc_fd, path, 0) != -ENOENT)
        return;
    int fd = open_directory(sweep->parent_fd, name);
    if (fd < 0)
        return;
    ck_each_entry(fd, visit_warden, &fd);
    ck_close(fd);
    (void)CK_RAW3(unlinkat, sweep->parent_fd, name, AT_REMOVEDIR);
}

static void sweep_stale(int parent_fd, const char *prefix, int proc_fd)
{
    int fd = open_directory(parent_fd, ".");
    if (fd >= 0 && proc_fd >= 0) {
        struct sweep sweep = {.parent_fd = parent_fd, .proc_fd = proc_fd, .prefix = prefix};
        ck_each_entry(fd, visit_context, &sweep);
    }
    ck_close(fd);
}

static void context_name(char *name, const char *prefix)
{
    (void)ck_put_number(ck_put_text(name, prefix), CK_RAW0(getpid));
}

int ck_cgroup_base(int parent_fd, const char *prefix, int proc_fd)
{
    char name[128];
    sweep_stale(parent_fd, prefix, proc_fd);
    context_name(name, prefix);
    if (CK_RAW3(mkdirat, parent_fd, name, 0755) < 0)
        return -1;
    int base_fd = open_directory(parent_fd, name);
    if (base_fd >= 0 && CK_RAW3(faccessat, base_fd, "cgroup.kill", 0) == 0)
        return base_fd;
    ck_close(base_fd);
    (void)CK_RAW3(unlinkat, parent_fd, name, AT_REMOVEDIR);
    return -1;
}

/* A warden's directory whose processes were still dying when it was first tried is empty now. */
void ck_cgroup_base_remove(int parent_fd, int base_fd, const char *prefix)
{
    char name[128];
    ck_each_entry(base_fd, visit_warden, &base_fd);
    context_name(name, prefix);
    (void)CK_RAW3(unlinkat, parent_fd, name, AT_REMOVEDIR);
}

static void warden_name(char *name, int32_t warden)
{
    (void)ck_put_number(ck_put_text(name, "w"), warden);
}

void ck_cgroup_close(struct ck_cgroup *cgroup)
{
    ck_close(cgroup->directory_fd);
    ck_close(cgroup->kill_fd);
    *cgroup = (struct ck_cgroup){.directory_fd = -1, .kill_fd = -1};
}

void ck_cgroup_open(struct ck_cgroup *cgroup, int base_fd, int32_t warden)
{
    char name[32];
    *cgroup = (struct ck_cgroup){.directory_fd = -1, .kill_fd = -1};
    if (base_fd < 0)
        return;
    warden_name(name, warden);
    if (CK_RAW3(mkdirat, base_fd, name, 0755) < 0)
        return;
    cgroup->directory_fd = open_directory(base_fd, name);
    if (cgroup->directory_fd >= 0)
        cgroup->kill_fd = (int)CK_RAW4(openat, cgroup->directory_fd, "cgroup.kill", O_WRONLY | O_CLOEXEC, 0);
    if (cgroup->kill_fd < 0)
        ck_cgroup_close(cgroup);
}

void ck_cgroup_remove(int base_fd, int32_t warden)
{
    char name[32];
    if (base_fd < 0)
        return;
    warden_name(name, warden);
    remove_child(base_fd, name);
}

void ck_cgroup_kill(struct ck_cgroup *cgroup)
{
    if (cgroup->kill_fd < 0)
        return;
    (void)CK_RAW3(write, cgroup->kill_fd, "1", 1);
    cgroup->spent = true;
}

/*
 * The kernel numbers the kills of a cgroup and compares that number across a fork, so that no fork escapes a kill.
 * Kernels that take the number from the parent's cgroup and not from the one given to clone3 then kill everything
 * that is born into a directory that was ever killed. A new directory starts from zero again.
 */
void ck_cgroup_renew(struct ck_cgroup *cgroup, int base_fd, int32_t warden)
{
    if (!cgroup->spent)
        return;
    ck_cgroup_close(cgroup);
    ck_cgroup_remove(base_fd, warden);
    ck_cgroup_open(cgroup, base_fd, warden);
}
