/* listener.h - system calls that the filter of a run notifies its first process of. */
#ifndef CK_RUN_KEEPER_LISTENER_H
#define CK_RUN_KEEPER_LISTENER_H

#include <stdbool.h>
#include <stdint.h>

struct ck_direct_attempts;
struct ck_exec_names;
struct ck_native_jail;
struct seccomp_notif;

struct ck_listener {
    int fd;                              /* -1: the filter notifies nobody */
    int ended_fd;                        /* signalfd for SIGCHLD; -1: none yet */
    struct ck_direct_attempts *attempts; /* answers what is about sockets */
    struct ck_exec_names *exec_names;    /* answers what is about executions */
    const struct ck_native_jail *jail;
    int caller_fd; /* of a cage: a socket to the caller, for connections */
    bool sealed;   /* the tool may execute nothing */
    uint32_t tool; /* its pid */
    /*
     * There was a notification about an execution. Most runs have none; they do not touch
     * exec_names, which has several pages.
     */
    bool executed;
};

/*
 * Applies the filter of `count` struct sock_filter to the calling process, with a listener for its
 * notifications. The descriptor of the listener, or a negative errno: the kernel cannot do it, or a
 * filter of this process already has a listener.
 */
long ck_listener_install(const void *code, uint32_t count);

/* Makes ended_fd, unless it exists. 0 or a negative errno. */
long ck_listener_begin(struct ck_listener *listener);

/*
 * Answers notifications until a child has ended. ck_listener_drain before the last look for ended
 * children that finds none: else the next wait returns at once.
 */
void ck_listener_wait(struct ck_listener *listener);
void ck_listener_drain(const struct ck_listener *listener);

/* When the tool has ended: files that were only looked for are named. */
void ck_listener_end(const struct ck_listener *listener);

/*
 * Whether the process of a notification still waits for its answer. If not, its pid may belong to
 * another process, and what was read with it is not about this one.
 */
bool ck_listener_still_asks(int listener_fd, const struct seccomp_notif *asked);

#endif
