/*
 * keeper.h - the parts of the keeper program.
 *
 * The keeper is a program of its own, embedded in the library and executed from memory. It has no C library: whatever
 * is called here is defined here, and the linker refuses the rest. It allocates nothing.
 *
 * keeper (main.c)   one per context. Makes wardens on request. Is the reaper of last resort: if a warden is killed,
 *                   the keeper adopts what the warden had adopted, and kills it.
 * warden (warden.c) one per run in flight, reused for the next. A child subreaper, so every orphan of its tool
 *                   comes to it, whatever session or group it moved to. Holds the run's deadline, kills, reaps, reports.
 * child (child.c)   the tool's process until exec: a table of named steps.
 * trial (trial.c)   tries one layer of this machine, and ends.
 * tree (tree.c)     all descendants of the calling process, and signals to them.
 * cgroup (cgroup.c) where a cgroup v2 may be made: one directory per warden, for cgroup.kill.
 *
 * Keeper and wardens each watch a pidfd of the caller. When it dies, by SIGKILL or otherwise, each warden kills its
 * own tree; none depends on another to do it.
 */
#ifndef CK_RUN_KEEPER_H
#define CK_RUN_KEEPER_H

#include "run/raw.h"
#include "run/wire.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CK_WARDENS_MAX 16384

/* ---- small things (freestanding.c) ---- */

void *memcpy(void *restrict dst, const void *restrict src, size_t length);
void *memset(void *dst, int byte, size_t length);

/* Appends to a NUL-terminated text; the caller's buffer must be large enough. Return the new end. */
char *ck_put_text(char *at, const char *text);
char *ck_put_number(char *at, long number);

/* The decimal number at *at, which is moved behind it; -1 where there is none. */
long ck_take_number(const char **at, const char *end);

uint64_t ck_now_ns(void);
void ck_close(int fd);
__attribute__((noreturn)) void ck_leave(int status);

/* Takes what a non-blocking signalfd has queued; which children ended is asked of waitid. */
void ck_drain_signals(int signal_fd);

/* One message; descriptors beyond max are closed. Returns bytes (0: the other end is gone) or a negative errno. */
long ck_receive(int socket_fd, void *buffer, size_t size, int *ret_fds, unsigned max_fds, unsigned *ret_fd_count);
long ck_send(int socket_fd, const void *buffer, size_t size, int fd); /* fd: -1 for none */

/* Calls visit for each entry of an open directory. */
void ck_each_entry(int directory_fd, void (*visit)(void *data, const char *name), void *data);

/*
 * Waits for readability of up to three descriptors (-1: absent) until deadline_ns; bit i of the result is set for
 * fds[i].
 */
unsigned ck_wait_readable(const int fds[3], uint64_t deadline_ns);
#define CK_FOREVER UINT64_MAX

/* ---- shared state of one process of the keeper's family ---- */

struct ck_keep {
    int caller_fd;  /* pidfd of the caller: readable when it is dead */
    int sigchld_fd; /* signalfd; stays valid across fork */
    int proc_fd;    /* /proc, or -1 where it is not there or belongs to another pid namespace */
    int cgroup_fd;  /* directory of this context, or -1 */
};

/* ---- tree.c ---- */

/*
 * Sends sig to every descendant of the calling process except the given direct children (and theirs). Returns how
 * many were found, or a negative errno where the tree cannot be read.
 */
long ck_tree_signal(int proc_fd, int sig, const int32_t *except, size_t except_count);

/* ---- cgroup.c ---- */

/* The directory that a warden and its tools are in. */
struct ck_cgroup {
    int kill_fd;  /* its cgroup.kill; -1: there is none */
    int leave_fd; /* cgroup.procs of the context's directory: where a warden steps aside to before it kills */
};

/* Makes the directory "<prefix><our pid>" and returns it, or -1; removes what dead keepers with the same prefix left. */
int ck_cgroup_base(int parent_fd, const char *prefix, int proc_fd);
void ck_cgroup_base_remove(int parent_fd, int base_fd, const char *prefix);

/* One for the warden with this number: a descriptor, or -1. */
int ck_cgroup_make(int base_fd, long number);
void ck_cgroup_remove(int base_fd, long number);

/* In the warden, which was born in directory_fd (-1: in none). */
void ck_cgroup_open(struct ck_cgroup *cgroup, int base_fd, int directory_fd);

/* Kills everything in it but the caller, who is outside then. False: nothing was done. */
bool ck_cgroup_kill(const struct ck_cgroup *cgroup);

/* ---- child.c ---- */

struct ck_child {
    const int *fds; /* CK_WIRE_FDS of them */
    char *const *argv;
    char *const *envp;
    const char *path;     /* NULL: execute fds[CK_WIRE_EXECUTABLE] */
    int ruleset_fd;       /* -1: none */
    bool keep_executable; /* the executable is a script, to be put at CK_SCRIPT_FD */
    bool sealed;          /* nothing is executed but fds[CK_WIRE_EXECUTABLE], once */
    uint32_t failed_stage;
    int32_t failed_errno;
};

/* argument is a struct ck_child; on failure it is filled for the parent, whose memory this is. */
__attribute__((noreturn)) void ck_child_main(void *argument);

/* ---- trial.c ---- */

struct ck_trial_birth {
    int socket_fd; /* to answer on */
    int cgroup_fd; /* directory of the context, or -1 */
    long number;
    uint32_t trial; /* enum ck_trial */
};

/* argument is a struct ck_trial_birth. */
__attribute__((noreturn)) void ck_trial_main(void *argument);

/* ---- warden.c ---- */

/* Serves socket_fd until its other end or the caller is gone, then exits. cgroup_fd: the directory it was born in. */
__attribute__((noreturn)) void ck_warden_main(const struct ck_keep *keep, int socket_fd, int cgroup_fd);

#endif
