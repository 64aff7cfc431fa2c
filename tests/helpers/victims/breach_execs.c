/*
 * breach_execs.c - attacks on the process that names refused executions.
 *
 * breach_execs WAY [ARG]... See breach.h. PROGRAM is a file that may not be executed.
 *   plain PROGRAM          executes it
 *   swap SELF PROGRAM      a thread exchanges the two paths while the other is read; SELF may be executed
 *   flood COUNT            executes COUNT files that it wrote, each twice, in several threads at once
 *   endless                the same until it is ended
 *   killed PROGRAM         processes are killed while they wait for the answer
 *   signals PROGRAM        signals with handlers come all the time
 *   hidden PROGRAM         the memory of the process cannot be read
 *   edge PROGRAM           the path ends where the memory ends
 *   nowhere                the path is not in memory
 *   fifo                   a pipe with a name, and a script with one as its interpreter
 *   control                a file with control characters in its name
 *   script PROGRAM         a script with PROGRAM as its interpreter
 *   keys PROGRAM COUNT     COUNT other values of the argument that the kernel ignores
 *   reading                process_vm_readv with other values of the part that the kernel ignores
 *   listener               its own filter with a listener
 *   checked PROGRAM        asks whether it could be executed
 *   grab                   looks for the listener among its own descriptors and takes those of init
 *   crowd PROGRAM COUNT    COUNT processes execute it at once, each several times
 */
#include "breach.h"

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>

#define THREADS 4
#define ROUNDS 300

static char *no_env[] = {NULL};

static const char *execute(const char *path, char *word)
{
    char *argv[] = {(char *)(uintptr_t)path, word, NULL};
    (void)execve(path, argv, no_env);
    return "execute";
}

static const char *plain(char **arguments)
{
    return execute(arguments[0], NULL);
}

/* ---- a path that changes ---- */

static char path[4096];
static char *texts[2];
static volatile int stop;

static void *exchange(void *unused)
{
    for (unsigned i = 0; stop == 0; i++) {
        (void)strcpy(path, texts[i % 2]);
    }
    return unused;
}

/*
 * A child shares the memory until it executes (vfork), so that the thread changes its path. SELF
 * ends with 0, PROGRAM with anything else.
 */
static const char *swap(char **arguments)
{
    pthread_t thread;
    texts[0] = arguments[0];
    texts[1] = arguments[1];
    (void)strcpy(path, texts[0]);
    if (pthread_create(&thread, NULL, exchange, NULL) != 0) {
        return "thread";
    }
    int ran = 0;
    for (int i = 0; i < ROUNDS && ran == 0; i++) {
        int status = 0;
        static char word[] = "nothing";
        char *argv[] = {path, word, NULL};
        pid_t pid = vfork();
        if (pid == 0) {
            (void)execve(path, argv, no_env);
            _exit(BREACH_REFUSED);
        }
        (void)waitpid(pid, &status, 0);
        ran = WIFEXITED(status) && (WEXITSTATUS(status) == BREACH_REFUSED || WEXITSTATUS(status) == BREACH_MISUSED) ? 0
                                                                                                                    : 1;
    }
    stop = 1;
    (void)pthread_join(thread, NULL);
    errno = EACCES;
    return ran != 0 ? NULL : "execute";
}

/* ---- many ---- */

static int count;

static void *flood_some(void *argument)
{
    char name[64];
    int first = *(int *)argument;
    for (int i = first; i < count || count < 0; i += THREADS) {
        (void)snprintf(name, sizeof(name), "/tmp/file-%d", i % 100000);
        int fd = open(name, O_WRONLY | O_CREAT | O_CLOEXEC, 0755);
        if (fd >= 0) {
            (void)close(fd);
        }
        (void)execute(name, NULL);
        (void)execute(name, NULL);
        (void)unlink(name);
    }
    return NULL;
}

static const char *flood_all(void)
{
    pthread_t threads[THREADS];
    int numbers[THREADS];
    for (int i = 0; i < THREADS; i++) {
        numbers[i] = i;
        if (pthread_create(&threads[i], NULL, flood_some, &numbers[i]) != 0) {
            return "thread";
        }
    }
    for (int i = 0; i < THREADS; i++) {
        (void)pthread_join(threads[i], NULL);
    }
    errno = EACCES;
    return "execute";
}

static const char *flood(char **arguments)
{
    count = (int)strtol(arguments[0], NULL, 10);
    return flood_all();
}

static const char *endless(char **arguments)
{
    (void)arguments;
    count = -1;
    return flood_all();
}

static const char *killed(char **arguments)
{
    for (int i = 0; i < ROUNDS; i++) {
        pid_t pid = fork();
        while (pid == 0) {
            (void)execute(arguments[0], NULL);
        }
        (void)usleep((useconds_t)(i % 50) * 10);
        (void)kill(pid, SIGKILL);
        (void)waitpid(pid, NULL, 0);
    }
    return execute(arguments[0], NULL);
}

static void on_signal(int number)
{
    (void)number;
}

/* Without SA_RESTART: a signal that comes before init has the question ends it with EINTR. */
static const char *signals(char **arguments)
{
    const struct sigaction action = {.sa_handler = on_signal};
    const struct itimerval often = {{0, 200}, {0, 200}};
    if (sigaction(SIGALRM, &action, NULL) < 0 || setitimer(ITIMER_REAL, &often, NULL) < 0) {
        return "signals";
    }
    for (int i = 0; i < ROUNDS; i++) {
        (void)execute(arguments[0], NULL);
        if (errno != EACCES && errno != EINTR) {
            return "execute";
        }
    }
    errno = EACCES;
    return "execute";
}

/* ---- what cannot be read ---- */

static const char *hidden(char **arguments)
{
    return prctl(PR_SET_DUMPABLE, 0) < 0 ? "prctl" : execute(arguments[0], NULL);
}

static const char *edge(char **arguments)
{
    size_t length = strlen(arguments[0]) + 1;
    char *pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED || munmap(pages + 4096, 4096) < 0) {
        return "map";
    }
    (void)memcpy(pages + 4096 - length, arguments[0], length);
    return execute(pages + 4096 - length, NULL);
}

static const char *nowhere(char **arguments)
{
    (void)arguments;
    (void)syscall(SYS_execve, (void *)8, no_env, no_env);
    return "execute";
}

/* ---- files ---- */

static const char *write_script(const char *name, const char *interpreter)
{
    char text[4096];
    int length = snprintf(text, sizeof(text), "#! %s -e\n", interpreter);
    int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);
    if (fd < 0 || write(fd, text, (size_t)length) != length) {
        return "write";
    }
    (void)close(fd);
    return NULL;
}

static const char *fifo(char **arguments)
{
    (void)arguments;
    if (mkfifo("/tmp/fifo", 0755) < 0) {
        return "mkfifo";
    }
    (void)execute("/tmp/fifo", NULL);
    const char *failed = write_script("/tmp/script", "/tmp/fifo");
    return failed ? failed : execute("/tmp/script", NULL);
}

static const char *control(char **arguments)
{
    static const char name[] = "/tmp/\033[31m\n'denied: x\\";
    (void)arguments;
    const char *failed = write_script(name, "/bin/true");
    return failed ? failed : execute(name, NULL);
}

static const char *script(char **arguments)
{
    const char *failed = write_script("/tmp/script", arguments[0]);
    return failed ? failed : execute("/tmp/script", NULL);
}

/* ---- the key ---- */

static const char *keys(char **arguments)
{
    char *argv[] = {arguments[0], NULL};
    long most = strtol(arguments[1], NULL, 10);
    uint64_t value = 1;
    for (long i = 0; i < most; i++) {
        (void)syscall(SYS_execve, arguments[0], argv, no_env, 0, 0, value);
        (void)syscall(SYS_execveat, AT_FDCWD, arguments[0], argv, no_env, 0, value);
        value = value * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    }
    errno = EACCES;
    return "execute";
}

static const char *reading(char **arguments)
{
    char mine = 'a', copy = 0;
    const struct iovec to = {&copy, 1}, from = {&mine, 1};
    (void)arguments;
    for (uint64_t upper = 0; upper < 100000; upper++) {
        uint64_t pid = (upper * UINT64_C(2654435761)) << 32 | (uint64_t)getpid();
        if (syscall(SYS_process_vm_readv, pid, &to, 1, &from, 1, 0) >= 0) {
            return NULL;
        }
    }
    return "process_vm_readv";
}

static const char *listener(char **arguments)
{
    struct sock_filter code[] = {BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    const struct sock_fprog filter = {1, code};
    (void)arguments;
    long fd = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &filter);
    return fd >= 0 ? NULL : "seccomp";
}

static int is_listener(const char *link)
{
    char target[64] = "";
    return readlink(link, target, sizeof(target) - 1) > 0 && strstr(target, "seccomp");
}

static const char *grab(char **arguments)
{
    char link[64];
    long init = syscall(SYS_pidfd_open, 1, 0);
    (void)arguments;
    for (int fd = 0; fd < 1024; fd++) {
        (void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
        int own = is_listener(link);
        (void)snprintf(link, sizeof(link), "/proc/1/fd/%d", fd);
        if (own || is_listener(link) || syscall(SYS_pidfd_getfd, init, fd, 0) >= 0) {
            return NULL;
        }
    }
    return "pidfd_getfd";
}

/* All start together when the pipe is closed. */
static const char *crowd(char **arguments)
{
    int start[2], refused = 0, status = 0;
    long most = strtol(arguments[1], NULL, 10);
    if (pipe(start) < 0) {
        return "pipe";
    }
    for (long i = 0; i < most; i++) {
        pid_t pid = fork();
        if (pid < 0) {
            return "fork";
        }
        if (pid == 0) {
            char byte;
            (void)close(start[1]);
            (void)read(start[0], &byte, 1);
            for (int k = 0; k < 5; k++) {
                (void)execute(arguments[0], NULL);
            }
            _exit(errno == EACCES ? BREACH_REFUSED : 1);
        }
    }
    (void)close(start[1]);
    while (wait(&status) > 0) {
        refused += WIFEXITED(status) && WEXITSTATUS(status) == BREACH_REFUSED;
    }
    errno = EACCES;
    return refused == most ? "execute" : NULL;
}

static const char *checked(char **arguments)
{
    return access(arguments[0], X_OK) == 0 ? NULL : "access";
}

static const struct breach ways[] = {
    {"plain", 1, plain},     {"swap", 2, swap},       {"flood", 1, flood},       {"endless", 0, endless},
    {"killed", 1, killed},   {"signals", 1, signals}, {"hidden", 1, hidden},     {"edge", 1, edge},
    {"nowhere", 0, nowhere}, {"fifo", 0, fifo},       {"control", 0, control},   {"script", 1, script},
    {"keys", 2, keys},       {"reading", 0, reading}, {"listener", 0, listener}, {"checked", 1, checked},
    {"grab", 0, grab},       {"crowd", 2, crowd},
};

int main(int argc, char **argv)
{
    return BREACH_MAIN(ways);
}
