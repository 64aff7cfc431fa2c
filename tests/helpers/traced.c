/*
 * traced.c - what runs in a container under a trace. Does what its arguments say, one after the other; linked statically,
 * for an image that holds nothing else.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define FORGED_LINE "1 execve(\"/forged\", [\"forged\"], 0x0 /* 0 vars */) = 0\n"

static void tell(const char *what, long result)
{
    printf("%s: %s\n", what, result < 0 ? strerror(errno) : "done");
    (void)fflush(stdout);
}

static void look(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    tell(path, fd);
    if (fd >= 0)
        (void)close(fd);
}

static void change(const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    tell(path, fd);
    if (fd >= 0)
        (void)close(fd);
}

static void connect_to(const char *address)
{
    struct sockaddr_in peer = {.sin_family = AF_INET, .sin_port = htons(443)};
    (void)inet_pton(AF_INET, address, &peer.sin_addr);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    tell(address, connect(fd, (const struct sockaddr *)&peer, sizeof peer));
    (void)close(fd);
}

static void connect_to_path(const char *path)
{
    struct sockaddr_un peer = {.sun_family = AF_UNIX};
    (void)snprintf(peer.sun_path, sizeof peer.sun_path, "%s", path);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    tell(path, connect(fd, (const struct sockaddr *)&peer, sizeof peer));
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

/* Lines as strace writes them, wherever this process can write. */
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
        (void)snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)pid, fd);
        int held = open(path, O_WRONLY | O_CLOEXEC);
        if (held >= 0) {
            (void)write(held, FORGED_LINE, strlen(FORGED_LINE));
            (void)close(held);
            opened++;
        }
    }
    return opened;
}

/* The first process of the container, and the one that traces this one. */
static void attack(const char *unused)
{
    const pid_t others[] = {1, getppid()};
    (void)unused;
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        printf("opened %d\n", forge_into(others[i]));
    (void)fflush(stdout);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        tell("attach", ptrace(PTRACE_SEIZE, others[i], NULL, NULL));
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        tell("kill", kill(others[i], SIGKILL));
}

static void stay(const char *unused)
{
    (void)unused;
    (void)signal(SIGTERM, SIG_IGN);
    for (;;)
        (void)pause();
}

static const struct {
    const char *name;
    void (*act)(const char *argument);
} acts[] = {
    {"read=", look},  {"write=", change}, {"connect=", connect_to}, {"path=", connect_to_path},
    {"exec=", start}, {"forge=", forge},  {"attack=", attack},      {"stay=", stay},
};

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        for (size_t j = 0; j < sizeof acts / sizeof acts[0]; j++)
            if (strncmp(argv[i], acts[j].name, strlen(acts[j].name)) == 0)
                acts[j].act(argv[i] + strlen(acts[j].name));
    return 3;
}
