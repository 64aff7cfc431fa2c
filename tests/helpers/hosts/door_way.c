/*
 * door_way.c - a program in whose tree the system call of a door is notified, as in the cage of guard.
 *
 * door_way SOCKET PROGRAM [ARG]... - sends the listener over descriptor SOCKET, and executes PROGRAM.
 */
#include "base/door_wire.h"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CANNOT 111

static int install(void)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, CK_DOOR_CONNECT, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {.len = sizeof(code) / sizeof(code[0]), .filter = code};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0) {
        return -1;
    }
    return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program);
}

static int send_listener(int socket_fd, int fd)
{
    char byte = 'l';
    union {
        struct cmsghdr header;
        char space[CMSG_SPACE(sizeof(int))];
    } control = {.header = {.cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(sizeof(int))}};
    struct iovec data = {.iov_base = &byte, .iov_len = 1};
    struct msghdr message = {
        .msg_iov = &data, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control)};
    (void)memcpy(CMSG_DATA(&control.header), &fd, sizeof(fd));
    return sendmsg(socket_fd, &message, 0) == 1 ? 0 : -1;
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        return CANNOT;
    }
    int socket_fd = atoi(argv[1]);
    int listener = install();
    if (listener < 0 || send_listener(socket_fd, listener) < 0) {
        perror("door_way");
        return CANNOT;
    }
    (void)close(listener);
    (void)close(socket_fd);
    (void)execv(argv[2], argv + 2);
    perror(argv[2]);
    return CANNOT;
}
