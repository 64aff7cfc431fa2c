/*
 * first_process.c - the first process of a virtual machine: loads modules, makes /dev/vda the root,
 * runs /job/run from /dev/vdb, writes /results to /dev/vdc as a tar archive, and switches off.
 *
 * It is static and alone in the initial file system. What it cannot do is printed on the console, and
 * the machine is switched off without results; the test reads that.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define DISK_TRIES 400 /* of 50 ms: the kernel finds disks while we run */

static void switch_off(void)
{
    sync();
    (void)reboot(RB_POWER_OFF);
    for (;;)
        (void)pause();
}

static void need(int succeeded, const char *what)
{
    if (succeeded)
        return;
    printf("first_process: %s: %s\n", what, strerror(errno));
    switch_off();
}

static void open_console(void)
{
    int fd = open("/dev/console", O_RDWR);
    for (int target = 0; target <= 2 && fd >= 0; target++)
        (void)dup2(fd, target);
    (void)setvbuf(stdout, NULL, _IOLBF, 0);
}

/* /modules/order names them, what a module needs before it. A kernel may have some of them built in. */
static void load_modules(void)
{
    char name[128], path[160];
    FILE *order = fopen("/modules/order", "re");
    need(!!order, "/modules/order");
    while (fscanf(order, "%127s", name) == 1) {
        (void)snprintf(path, sizeof(path), "/modules/%s", name);
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        need(fd >= 0, path);
        need(syscall(SYS_finit_module, fd, "", 0) == 0 || errno == EEXIST, path);
        (void)close(fd);
    }
    (void)fclose(order);
}

static void mount_on(const char *source, const char *target, const char *type, const char *options)
{
    (void)mkdir(target, 0755);
    need(mount(source, target, type, 0, options) == 0, target);
}

static void enter_root(void)
{
    for (int i = 0; i < DISK_TRIES && access("/dev/vdc", F_OK) < 0; i++)
        (void)usleep(50000);
    mount_on("/dev/vda", "/new", "ext4", NULL);
    need(mount("/dev", "/new/dev", NULL, MS_MOVE, NULL) == 0, "/new/dev");
    need(chdir("/new") == 0 && mount(".", "/", NULL, MS_MOVE, NULL) == 0 && chroot(".") == 0 && chdir("/") == 0,
         "/new");
}

/* What udev and the usual init make. */
static void fill_root(void)
{
    static const char *const links[][2] = {{"/proc/self/fd", "/dev/fd"},
                                           {"/proc/self/fd/0", "/dev/stdin"},
                                           {"/proc/self/fd/1", "/dev/stdout"},
                                           {"/proc/self/fd/2", "/dev/stderr"}};
    for (size_t i = 0; i < sizeof(links) / sizeof(links[0]); i++)
        (void)symlink(links[i][0], links[i][1]);
    mount_on("proc", "/proc", "proc", NULL);
    mount_on("sysfs", "/sys", "sysfs", NULL);
    mount_on("devpts", "/dev/pts", "devpts", "gid=5,mode=620,ptmxmode=666");
    mount_on("tmpfs", "/dev/shm", "tmpfs", "mode=1777");
    mount_on("tmpfs", "/tmp", "tmpfs", "mode=1777");
    mount_on("tmpfs", "/run", "tmpfs", "mode=755");
    mount_on("tmpfs", "/results", "tmpfs", NULL);
    mount_on("cgroup2", "/sys/fs/cgroup", "cgroup2", NULL);
    (void)mount("securityfs", "/sys/kernel/security", "securityfs", 0, NULL);
    mount_on("/dev/vdb", "/job", "ext4", NULL);
}

/* Orphans are reaped too. */
static int run(const char *const argv[])
{
    static const char *const envp[] = {"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
                                       "HOME=/root", "LANG=C.UTF-8", NULL};
    int status = -1;
    pid_t child = fork();
    if (child == 0) {
        (void)setsid();
        (void)execve(argv[0], (char *const *)argv, (char *const *)envp);
        _exit(127);
    }
    for (pid_t ended = 0; ended != child && !(ended < 0 && errno == ECHILD);)
        ended = wait(&status);
    return status;
}

int main(void)
{
    static const char *const job[] = {"/job/run", NULL};
    static const char *const tar[] = {"/usr/bin/tar", "-cf", "/dev/vdc", "-C", "/results", ".", NULL};

    need(mkdir("/dev", 0755) == 0 || errno == EEXIST, "/dev");
    need(mount("devtmpfs", "/dev", "devtmpfs", 0, NULL) == 0 || errno == EBUSY, "/dev");
    open_console();
    load_modules();
    enter_root();
    fill_root();
    printf("first_process: the job ended with status %d\n", run(job));
    need(run(tar) == 0, "the results");
    switch_off();
}
