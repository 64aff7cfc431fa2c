/*
 * say_state.c - prints what a process inherits besides its arguments and environment, one
 * "key=value" per line: descriptors, directory, session, terminal, signals, privileges, restrictions.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <unistd.h>

static void say_descriptors(void)
{
    DIR *directory = opendir("/proc/self/fd");
    if (!directory) {
        exit(1);
    }
    for (struct dirent *entry = readdir(directory); entry; entry = readdir(directory)) {
        char *end = NULL;
        long number = strtol(entry->d_name, &end, 10);
        if (end == entry->d_name || number == dirfd(directory)) {
            continue;
        }
        char target[4096] = "?";
        ssize_t length = readlinkat(dirfd(directory), entry->d_name, target, sizeof(target) - 1);
        target[length > 0 ? length : 0] = '\0';
        printf("fd.%ld=%s\n", number, target);
    }
    (void)closedir(directory);
}

static void say_signals(void)
{
    sigset_t blocked;
    if (sigprocmask(SIG_SETMASK, NULL, &blocked) != 0) {
        exit(1);
    }
    for (int number = 1; number < NSIG; number++) {
        struct sigaction action;
        if (sigismember(&blocked, number) == 1) {
            printf("blocked=%d\n", number);
        }
        if (sigaction(number, NULL, &action) == 0 && action.sa_handler != SIG_DFL) {
            printf("ignored=%d\n", number);
        }
    }
}

/* Capabilities and filters, as the kernel reports them. */
static void say_status(void)
{
    char line[256];
    FILE *status = fopen("/proc/self/status", "re");
    while (status && fgets(line, sizeof(line), status)) {
        if (strncmp(line, "Cap", 3) == 0 || strncmp(line, "Seccomp", 7) == 0) {
            printf("status.%.*s=%s", (int)strcspn(line, ":"), line, line + strcspn(line, "\t") + 1);
        }
    }
    if (status) {
        (void)fclose(status);
    }
}

/* Landlock refuses this with EACCES, from its ABI 5 on; without it the errno is ENOTTY. */
static void say_device(void)
{
    char settings[256];
    int device = open("/dev/zero", O_RDONLY | O_CLOEXEC);
    printf("device_ioctl=%d\n", device >= 0 && ioctl(device, TCGETS, settings) < 0 ? errno : 0);
}

int main(void)
{
    char directory[4096];
    printf("cwd=%s\n", getcwd(directory, sizeof(directory)) ? directory : "?");
    say_descriptors();
    say_signals();
    printf("pid=%d\nppid=%d\npgid=%d\nsid=%d\n", getpid(), getppid(), getpgid(0), getsid(0));
    printf("uid=%u\neuid=%u\ngid=%u\negid=%u\n", getuid(), geteuid(), getgid(), getegid());
    printf("no_new_privs=%d\n", prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0));
    int terminal = open("/dev/tty", O_RDWR | O_CLOEXEC);
    printf("tty=%s\n", terminal >= 0 ? "yes" : "no");
    say_status();
    say_device();
    return fflush(stdout) == 0 ? 0 : 1;
}
