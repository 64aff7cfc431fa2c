/*
 * launcher.h - the keeper of a context, its wardens, and handing them plans.
 *
 * Life cycle:
 *   1. ck_launcher_init          nothing exists yet
 *   2. ck_launcher_take          an idle warden, or a new one; the first makes the keeper
 *   3. ck_launcher_send_plan                 gives it a plan; from here on the tool may run
 *   4. ck_launcher_give_back     after its report, for the next run
 *      ck_launcher_discard       or, if it is lost, close it; with a kill where it may still live
 *   5. ck_launcher_done          closes all; the keeper ends its wardens and itself
 *
 * Nothing here waits for a warden. ck_launcher_take waits up to 0.2 s for a keeper that is busy with earlier
 * requests, ck_launcher_done for its end: for as long as it still kills, 20 s at most.
 */
#ifndef CK_RUN_LAUNCHER_H
#define CK_RUN_LAUNCHER_H

#include "run/plan.h"
#include "run/wire.h"
#include "sys/caller.h"

/* What a descriptor in the epoll set stands for; first member of whatever epoll hands back. */
enum ck_watch_source {
    CK_WATCH_SOURCE_WARDEN,
    CK_WATCH_SOURCE_STREAM,
    CK_WATCH_SOURCE_TIMER,
    CK_WATCH_SOURCE_KEEPER,
    CK_WATCH_SOURCE_RETIRED,
    CK_WATCH_SOURCE_EVENT
};

struct ck_warden {
    enum ck_watch_source source;
    struct ck_warden *next;
    int socket_fd;
    int pidfd;              /* -1 until it said hello */
    int overlay_fd;         /* came with a report: what the run wrote into an overlay; -1: none */
    int gate_fd;            /* came from the init of its run: the listener inside; -1: none, or taken */
    int direct_attempts_fd; /* came before that: struct ck_direct_attempt from it; the same */
    void *owner;            /* the run it serves, or NULL */
    uint64_t native_jail;   /* the jail that its runs are in, 0 for none */
    bool limited;           /* its runs have limits that a cgroup may hold */
    uint64_t generation;    /* of the keeper that made it */
    bool is_retired;        /* the watch has given it up; events that still name it are stale */
};

/* A keeper that was made by who the caller is no more. It ends when the runs that it has have ended. */
struct ck_retired {
    enum ck_watch_source source;
    struct ck_retired *next;
    int keeper_fd; /* pidfd */
};

struct ck_launcher {
    enum ck_watch_source source; /* the keeper's */
    int epoll_fd;                /* where the keeper's end is to be seen */
    int control_fd;              /* -1: no keeper */
    int keeper_fd;               /* pidfd */
    pid_t keeper_pid;
    struct ck_caller_proc caller_proc;
    struct ck_caller maker; /* who made the keeper */
    bool keeper_reachable;  /* the keeper was not out of reach when it was made: ck_caller_child_unreachable */
    uint64_t generation;    /* counts keepers that were retired */
    struct ck_retired *retired;
    bool groups_known;          /* a run had limits, so the next have been looked for */
    int group_fds[CK_CONTROLS]; /* our own cgroups of version 1; each may be -1 */
    struct ck_warden *idle;
};

/* The pipes of a run, as the caller made them: [0] reading, [1] writing. */
struct ck_run_pipes {
    int out[2];
    int err[2];
    int scratch_fd; /* not a pipe, but made for one run too: its directory in a jail of bwrap's; -1: none */
};

void ck_launcher_init(struct ck_launcher *launcher, int epoll_fd);
void ck_launcher_done(struct ck_launcher *launcher);

/* After fork(): let go of the parent's keeper without ending it. */
void ck_launcher_forget(struct ck_launcher *launcher);

/* Sends the keeper a request; the first descriptor is the socket that its answer comes on; makes the keeper if there is none. */
int ck_launcher_ask(struct ck_launcher *launcher, const void *request, size_t length, const int *fds,
                    unsigned fd_count);

/*
 * cage is the jail of the run, NULL for none: a warden serves the jail that it was made for, and no other. limited: the
 * run has limits that a cgroup may hold; a warden that was made without them has no cgroup to hold them in.
 * *ret_fresh is true for a warden that was just made: its socket is not being watched yet.
 */
int ck_launcher_take(struct ck_launcher *launcher, const struct ck_native_image *native_jail, bool limited,
                     struct ck_warden **ret_warden, bool *ret_fresh, struct choke_error *error);
void ck_launcher_give_back(struct ck_launcher *launcher, struct ck_warden *warden);
void ck_launcher_discard(struct ck_warden *warden, bool kill);

/* After a warden was lost: wakes the keeper, if somebody stopped it, to end what the warden had. */
void ck_launcher_wake_keeper(struct ck_launcher *launcher);

/* The keeper was killed: makes another, which begins by ending what the old one's cgroup holds. */
void ck_launcher_replace_keeper(struct ck_launcher *launcher);

/* Takes an idle warden that has closed its socket out of the list. */
void ck_launcher_drop_idle(struct ck_launcher *launcher, struct ck_warden *warden);

int ck_launcher_send_plan(struct ck_warden *warden, const struct ck_plan *plan, const struct ck_run_pipes *pipes,
                          uint64_t deadline_ns, uint64_t kill_ns, struct choke_error *error);
void ck_launcher_send_cancel(struct ck_warden *warden);

/*
 * One message of the warden's: 1 and *ret_report, 0 for none (or a hello), -EPIPE when it is gone; 2 for the listener of its
 * run, which is in gate_fd now, or -1 there where we had no descriptor left to take it.
 */
int ck_launcher_receive(struct ck_warden *warden, struct ck_wire_report *ret_report);

/* ---- retire.c ---- */

/*
 * Must be called before anything is asked for: where the caller is not who made the keeper, that one is retired. Its runs
 * go on to their end, and it makes no more. The next request makes another. Idle wardens stay in the list, for the owner of
 * the epoll set to take out; they have another generation. hidden: ck_retire_is_unreachable, which is asked once a start. 1 if it
 * was retired, else 0; -ENOMEM leaves all as it was.
 */
int ck_retire_keeper(struct ck_launcher *launcher, const struct ck_caller *now, bool hidden);

/* Has the caller entered a domain of Landlock since it made the keeper? See ck_caller_child_unreachable. */
bool ck_retire_is_unreachable(const struct ck_launcher *launcher, const struct ck_caller *now);

/* A retired keeper has ended. */
void ck_retire_ended(struct ck_launcher *launcher, struct ck_retired *retired);

/*
 * Waits, within a bound, for the end of a keeper whose socket is closed, and closes *keeper_fd. True if it is known to have
 * ended by itself, and so with nothing left.
 */
bool ck_retire_await(const struct ck_launcher *launcher, int *keeper_fd);
bool ck_retire_end_all(struct ck_launcher *launcher); /* the same for all that are retired */
void ck_retire_forget_all(struct ck_launcher *launcher);

/* Lets a keeper go on that somebody stopped; -1 is fine. */
void ck_retire_wake(int keeper_fd);

#endif
