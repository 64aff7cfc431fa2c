/*
 * keeper.h - the keeper program: its processes, its files, and what they all share.
 *
 * The keeper is a separate program, embedded in the library and executed from memory. It has no C
 * library: each function that it calls is defined in this directory, and the linker refuses any
 * other. It allocates no memory.
 *
 * Its processes:
 *
 * keeper  main.c       One per context. Makes wardens on request. It is the reaper of last resort:
 *                      if a warden is killed, its orphans come to the keeper, which kills them.
 * warden  warden.c     One per run in progress, used again for the next run. It is a child
 *                      subreaper, so each orphan of its tool comes to it, also after setsid or
 *                      setpgid. It enforces the deadline of the run, kills, reaps and reports.
 * init    init.c       The first process of a run in a jail: it applies the layers, creates the
 *                      tool and reaps. native_jail.c builds the native jail for it.
 * child   child.c      The process of the tool until exec: a table of named steps.
 * ready   ready.c      The process of the next tool, without a jail: it waits for its plan and is a
 *                      child then.
 * pump    pump.c       Copies the caller's stdin into a pipe, for a tool in a jail.
 * bwrap   bwrap.c      The process of bwrap until exec.
 *
 * What they use:
 *
 * receiver.c           The process of the next tool receives its plan in place of the warden.
 * init_report.c        The report of a run, sent by its init.
 * gate.c               The one way out of a run with egress: a listener that the caller accepts on.
 * direct_attempts.c    Reports to the caller which connections the tool tried without the gate.
 * prove.c              Tries to get out of a jail before the first run in it.
 * prove_no_userns.c    The same for the native jail without user namespaces.
 * trial.c              Tries one layer on this machine, for doctor.
 * pass_signal.c        Keeps signals of a door that come before its tool exists.
 * tree.c               Finds all descendants of a process, and sends them signals.
 * cgroup.c             One cgroup v2 directory per warden, for cgroup.kill.
 * limiter.c            Limits on memory, processes and CPU time.
 * nolibc.c             The entry point, and the few functions that a C library would provide.
 *
 * Three more programs are made of these files: bwrap_init.c, which bwrap executes, witness.c, the
 * first process of a container that is traced, and door.c, what is at the path of a tool in the
 * cage of guard.
 *
 * The keeper and each warden watch a pidfd of the caller. When the caller dies, by SIGKILL or
 * otherwise, each warden kills its own tree. No warden depends on another process for that.
 */
#ifndef CK_RUN_KEEPER_H
#define CK_RUN_KEEPER_H

#include "run/wire.h"

/*
 * Where a program begins: main.c, bwrap_init.c, witness.c and door.c define one each. The stack is
 * as the kernel made it: the number of arguments, the arguments, NULL, the environment, NULL.
 */
__attribute__((noreturn, used)) void ck_keeper_start(const long *stack);

/* What the keeper opens once; its wardens inherit it. */
struct ck_keeper_env {
    int caller_fd;              /* pidfd of the caller: readable when the caller is dead */
    int sigchld_fd;             /* signalfd for SIGCHLD; each process reads its own signals from it, also after fork */
    int proc_fd;                /* /proc; -1 if it is missing or belongs to another pid namespace */
    int cgroup_fd;              /* directory of this context, or -1 */
    int group_fds[CK_CONTROLS]; /* the same in the hierarchies of cgroup v1, for limits; each may be -1 */
};

#endif
