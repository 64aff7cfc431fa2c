/*
 * host_shortage.c - one call of the kernel fails for lack of resources.
 *
 * host_shortage POLICY ROOT JAIL TOOL - the kernel has no room for one call: the n-th that makes a process, a
 * namespace, a mount or a ruleset, for n = 1, 2, ..., until a whole run meets none. A parent answers for the kernel (a
 * seccomp filter that asks): EAGAIN, ENOMEM or ENOSPC, or it kills the caller of that call, as the kernel does where there
 * is no memory.
 *
 * Every run either is what it is in calm, with the same jail and the same mechanisms for its limits, or it does not take
 * place, and its message says that it may be tried again. The next run of the same context is as in calm.
 */
#include "host.h"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#define MOST 1000
#define EACH 40 /* calls that are each tried; then, for bwrap makes hundreds, one in STRIDE */
#define STRIDE 37
#define KILL (-1)

/* What the host and the parent that answers share. */
struct scene {
    volatile int at;     /* the call that fails, counted from 1; 0: none */
    volatile int how;    /* an errno, or KILL */
    volatile int seen;   /* calls since the scene was set */
    volatile int struck; /* it has failed */
};

static struct scene *scene;
static pid_t host;

/* ---- the parent ---- */

static int asking_filter(void)
{
    static const int calls[] = {__NR_clone,
                                __NR_clone3,
                                __NR_unshare,
                                __NR_fsopen,
                                __NR_fsmount,
                                __NR_pivot_root,
                                __NR_mount,
                                __NR_mkdirat,
                                __NR_landlock_create_ruleset,
                                __NR_landlock_restrict_self};
    enum { COUNT = sizeof(calls) / sizeof(calls[0]) };
    struct sock_filter code[COUNT + 3];
    code[0] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    for (unsigned i = 0; i < COUNT; i++) {
        code[1 + i] =
            (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)calls[i], (uint8_t)(COUNT - i), 0);
    }
    code[COUNT + 1] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    code[COUNT + 2] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF);
    const struct sock_fprog program = {.len = COUNT + 3, .filter = code};
    CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
    return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program);
}

static void answer_one(int listener)
{
    struct seccomp_notif asked = {0};
    struct seccomp_notif_resp answer = {.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE};
    if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &asked) < 0) {
        return; /* who asked is gone */
    }
    answer.id = asked.id;
    bool struck = scene->at != 0 && ++scene->seen == scene->at;
    scene->struck = scene->struck || struck;
    if (struck && scene->how == KILL && (pid_t)asked.pid != host) {
        (void)kill((pid_t)asked.pid, SIGKILL);
    } else if (struck && scene->how != KILL) {
        answer.flags = 0;
        answer.error = -scene->how;
    }
    (void)ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &answer);
}

static int receive(int socket)
{
    char byte;
    union {
        struct cmsghdr header;
        char space[CMSG_SPACE(sizeof(int))];
    } control;
    struct iovec iov = {.iov_base = &byte, .iov_len = 1};
    struct msghdr message = {
        .msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control)};
    CHECK(recvmsg(socket, &message, MSG_CMSG_CLOEXEC) == 1);
    int fd;
    (void)memcpy(&fd, CMSG_DATA(&control.header), sizeof(fd));
    return fd;
}

static void hand_over(int socket, int fd)
{
    union {
        struct cmsghdr header;
        char space[CMSG_SPACE(sizeof(int))];
    } control = {.header = {.cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(sizeof(fd))}};
    char byte = 0;
    struct iovec iov = {.iov_base = &byte, .iov_len = 1};
    struct msghdr message = {
        .msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control)};
    (void)memcpy(CMSG_DATA(&control.header), &fd, sizeof(fd));
    CHECK(sendmsg(socket, &message, 0) == 1);
    (void)close(fd);
}

static int answer_all(int listener, pid_t child)
{
    int status = 0;
    struct pollfd polled = {.fd = listener, .events = POLLIN};
    while (waitpid(child, &status, WNOHANG) == 0) {
        if (poll(&polled, 1, 50) > 0 && (polled.revents & POLLIN) != 0) {
            answer_one(listener);
        }
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

/* ---- the host ---- */

struct seen {
    enum choke_outcome outcome;
    char jail[16];
    char limits[256];
    char message[300];
};

static struct seen run(struct choke_context *context, const struct choke_request *request)
{
    struct seen seen = {0};
    struct choke_result *result = host_run(context, request);
    seen.outcome = result->outcome;
    (void)snprintf(seen.jail, sizeof(seen.jail), "%s", result->jail ? result->jail : "-");
    for (size_t i = 0; i < result->limit_count; i++) {
        size_t at = strlen(seen.limits);
        (void)snprintf(seen.limits + at, sizeof(seen.limits) - at, "%s=%s ", result->limits[i].name,
                       result->limits[i].mechanism);
    }
    (void)snprintf(seen.message, sizeof(seen.message), "%.299s", result->error.message);
    if (scene->struck && scene->how != KILL && result->outcome != CHOKE_EXITED) {
        CHECK_SAYING(result->outcome == CHOKE_SPAWN_FAILED, result->error.message);
        CHECK_SAYING(!!strstr(result->error.message, "again"), result->error.message);
        CHECK_SAYING(result->error.errnum == scene->how || strstr(result->error.message, "bwrap"),
                     result->error.message);
    }
    choke_result_free(result);
    return seen;
}

static bool same(const struct seen *a, const struct seen *b)
{
    return a->outcome == b->outcome && strcmp(a->jail, b->jail) == 0 && strcmp(a->limits, b->limits) == 0;
}

static void check(const struct seen *now, const struct seen *calm, int n, const char *when)
{
    char text[1000];
    (void)snprintf(text, sizeof(text), "call %d (%d), %s: %s in '%s' with %s: %s; in calm '%s' with %s", n, scene->how,
                   when, choke_outcome_name(now->outcome), now->jail, now->limits, now->message, calm->jail,
                   calm->limits);
    CHECK_SAYING(same(now, calm) || (scene->struck && now->outcome != CHOKE_EXITED), text);
}

/* True when the scene was over before the n-th call. */
static bool strike(const char *policy, const struct choke_request *request, const struct seen *calm, int n, int how)
{
    struct choke_context *context = host_context(policy);
    *scene = (struct scene){.at = n, .how = how};
    struct seen now = run(context, request);
    check(&now, calm, n, "in want");
    bool over = !scene->struck;
    *scene = (struct scene){.how = how};
    /* What was killed may be noticed by the run that comes next only; that one does not take place either. */
    int more = how == KILL ? 3 : 0;
    do
        now = run(context, request);
    while (now.outcome != CHOKE_EXITED && more-- > 0);
    check(&now, calm, n, "afterwards");
    choke_context_free(context);
    return over;
}

static int be_host(char **argv)
{
    static const int hows[] = {EAGAIN, ENOMEM, ENOSPC, KILL};
    struct choke_request request = host_request((const char *const[]){argv[4], NULL}, argv[2]);
    request.jail = strcmp(argv[3], "auto") == 0 ? CHOKE_JAIL_AUTO : host_jail(argv[3]);
    struct choke_context *context = host_context(argv[1]);
    struct seen calm = run(context, &request);
    choke_context_free(context);
    CHECK_SAYING(calm.outcome == CHOKE_EXITED && strcmp(calm.jail, "none") != 0, calm.jail);
    printf("calm %s %s\n", calm.jail, calm.limits);
    for (size_t i = 0; i < sizeof(hows) / sizeof(hows[0]); i++) {
        int n = 1;
        while (!strike(argv[1], &request, &calm, n, hows[i])) {
            n += n < EACH ? 1 : STRIDE;
            CHECK(n < MOST);
        }
        printf("ok %d\n", n - 1);
    }
    return 0;
}

int main(int argc, char **argv)
{
    int pair[2];
    CHECK(argc == 5);
    scene = mmap(NULL, sizeof(*scene), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(scene != MAP_FAILED && socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == 0);
    host = fork();
    if (host == 0) {
        hand_over(pair[1], asking_filter());
        (void)close(pair[0]);
        (void)close(pair[1]);
        exit(be_host(argv));
    }
    return answer_all(receive(pair[0]), host);
}
