/*
 * traced.c - runs in a container under a trace and does what its arguments say, one after the
 * other. It is linked statically, for an image that holds nothing else.
 */
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <linux/sched.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define FORGED_LINE "1 execve(\"/forged\", [\"forged\"], 0x0 /* 0 vars */) = 0\n"

static void report(const char *what, long r)
{
    printf("%s: %s\n", what, r < 0 ? strerror(errno) : "done");
    (void)fflush(stdout);
}

static void look(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    report(path, fd);
    if (fd >= 0)
        (void)close(fd);
}

static void change(const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    report(path, fd);
    if (fd >= 0)
        (void)close(fd);
}

static void connect_to(const char *address)
{
    struct sockaddr_in peer = {.sin_family = AF_INET, .sin_port = htons(443)};
    (void)inet_pton(AF_INET, address, &peer.sin_addr);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    report(address, connect(fd, (const struct sockaddr *)&peer, sizeof(peer)));
    (void)close(fd);
}

static void connect_to_path(const char *path)
{
    struct sockaddr_un peer = {.sun_family = AF_UNIX};
    (void)snprintf(peer.sun_path, sizeof(peer.sun_path), "%s", path);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    report(path, connect(fd, (const struct sockaddr *)&peer, sizeof(peer)));
    (void)close(fd);
}

static void start(const char *program)
{
    pid_t pid = fork();
    if (pid == 0) {
        (void)execl(program, program, "nothing", "a \"quoted\"\nword", (char *)NULL);
        _exit(1);
    }
    (void)waitpid(pid, NULL, 0);
}

/* Writes lines in the format of strace to every descriptor that this process can write. */
static void forge(const char *unused)
{
    (void)unused;
    for (int fd = 0; fd < 64; fd++)
        (void)write(fd, FORGED_LINE, strlen(FORGED_LINE));
}

static int forge_into(pid_t pid)
{
    char path[64];
    int opened = 0;
    for (int fd = 0; fd < 64; fd++) {
        (void)snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)pid, fd);
        int held = open(path, O_WRONLY | O_CLOEXEC);
        if (held >= 0) {
            (void)write(held, FORGED_LINE, strlen(FORGED_LINE));
            (void)close(held);
            opened++;
        }
    }
    return opened;
}

/* The first process of the container, and the tracer of this process. */
static void attack(const char *unused)
{
    const pid_t others[] = {1, getppid()};
    (void)unused;
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        printf("opened %d\n", forge_into(others[i]));
    (void)fflush(stdout);
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        report("attach", ptrace(PTRACE_SEIZE, others[i], NULL, NULL));
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        report("kill", kill(others[i], SIGKILL));
}

/* ---- out of the trace ---- */

/* Direct system calls: the C library does not pass these flags on. pid: a child that opens path. */
static void let_look(const char *what, long pid, const char *path)
{
    if (pid == 0) {
        look(path);
        _exit(0);
    }
    report(what, pid);
    if (pid > 0)
        (void)waitpid((pid_t)pid, NULL, __WALL);
}

static void look_untraced(const char *path)
{
    let_look("clone", syscall(SYS_clone, CLONE_UNTRACED | SIGCHLD, 0, 0, 0, 0), path);
}

static void look_untraced_by_args(const char *path)
{
    struct clone_args args = {.flags = CLONE_UNTRACED, .exit_signal = SIGCHLD};
    let_look("clone3", syscall(SYS_clone3, &args, sizeof(args)), path);
}

/* The same by the number of the other ABI, if this processor has one. */
static void look_untraced_by_32_bits(const char *path)
{
#if defined(__x86_64__)
    long r;
    __asm__ volatile("int $0x80"
                     : "=a"(r)
                     : "a"(120), "b"(CLONE_UNTRACED | SIGCHLD), "c"(0), "d"(0), "S"(0), "D"(0)
                     : "r8", "r9", "r10", "r11", "memory");
    let_look("clone of 32 bits", (int)r, path);
#else
    look_untraced(path);
#endif
}

/* Makes its memory unreadable, so that the tracer cannot read the name. */
static void look_hidden(const char *path)
{
    report("undumpable", prctl(PR_SET_DUMPABLE, 0, 0, 0, 0));
    look(path);
}

static void make_ring(const char *unused)
{
    struct io_uring_params params = {.flags = 0};
    (void)unused;
    report("ring", syscall(SYS_io_uring_setup, 4, &params));
}

static void look_in_namespace(const char *path)
{
    report("namespaces", syscall(SYS_unshare, CLONE_NEWUSER | CLONE_NEWPID));
    let_look("fork", fork(), path);
}

/* The loader of the tracer can load other programs, too. */
static void start_by_loader(const char *program)
{
    char loader[512] = "";
    DIR *root = opendir("/");
    for (const struct dirent *entry; root && (entry = readdir(root));)
        if (strncmp(entry->d_name, ".chokepoint", strlen(".chokepoint")) == 0)
            (void)snprintf(loader, sizeof(loader), "/%s/loader", entry->d_name);
    if (root)
        (void)closedir(root);
    pid_t pid = fork();
    if (pid == 0) {
        (void)execl(loader, loader, program, (char *)NULL);
        _exit(1);
    }
    (void)waitpid(pid, NULL, 0);
}

/* ---- many ---- */

static void *execute_self(void *unused)
{
    (void)unused;
    (void)execl("/proc/self/exe", "traced", "read=/by_a_thread", (char *)NULL);
    return NULL;
}

/* Children that leave children, and one with a thread that calls execve and replaces it. */
static void crowd(const char *count)
{
    for (char left = count[0]; left > '0'; left--)
        if (fork() == 0) {
            (void)fork();
            _exit(0);
        }
    pid_t pid = fork();
    pthread_t thread;
    if (pid == 0 && pthread_create(&thread, NULL, execute_self, NULL) == 0)
        for (;;)
            (void)pause();
    while (wait(NULL) > 0) {
    }
}

static void stay(const char *unused);

/* A child stays, and this process continues. */
static void leave(const char *path)
{
    if (fork() == 0)
        stay(path);
    look(path);
}

static void stay(const char *unused)
{
    (void)unused;
    (void)signal(SIGTERM, SIG_IGN);
    for (;;)
        (void)pause();
}

/* A child and then this program end by a signal, as after a crash or a request to stop. */
static void die(const char *argument)
{
    int number = argument[0] == 's' ? SIGSEGV : SIGKILL;
    pid_t child = fork();
    if (child == 0)
        (void)pause();
    (void)kill(child, SIGTERM);
    (void)waitpid(child, NULL, 0);
    (void)kill(getpid(), number);
}

static const struct {
    const char *name;
    void (*act)(const char *argument);
} acts[] = {
    {"read=", look},
    {"write=", change},
    {"connect=", connect_to},
    {"path=", connect_to_path},
    {"exec=", start},
    {"forge=", forge},
    {"attack=", attack},
    {"stay=", stay},
    {"die=", die},
    {"untraced=", look_untraced},
    {"untraced3=", look_untraced_by_args},
    {"untraced32=", look_untraced_by_32_bits},
    {"hidden=", look_hidden},
    {"ring=", make_ring},
    {"namespace=", look_in_namespace},
    {"loader=", start_by_loader},
    {"crowd=", crowd},
    {"leave=", leave},
};

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        for (size_t j = 0; j < sizeof(acts) / sizeof(acts[0]); j++)
            if (strncmp(argv[i], acts[j].name, strlen(acts[j].name)) == 0)
                acts[j].act(argv[i] + strlen(acts[j].name));
    return 3;
}
