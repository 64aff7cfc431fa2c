/*
 * launcher.h - the keeper of a context, its wardens, and the plans that are sent to them.
 *
 * Life cycle:
 *
 *  1. ck_launcher_init       nothing exists yet
 *  2. ck_launcher_take       an idle warden, or a new one; the first call makes the keeper
 *  3. ck_launcher_send_plan  sends it a plan; after this the tool may run
 *  4. ck_launcher_give_back  after its report, for the next run
 *     ck_launcher_discard    or, if the warden is lost, closes it; kills it if it may still live
 *  5. ck_launcher_done       closes all; the keeper ends its wardens and itself
 *
 * Nothing here waits for a warden. ck_launcher_take waits up to 0.2 s for a keeper that is busy
 * with earlier requests. ck_launcher_done waits until the keeper has killed what is left, 20 s at
 * most.
 */
#ifndef CK_RUN_LAUNCHER_H
#define CK_RUN_LAUNCHER_H

#include "run/plan.h"
#include "run/wire.h"
#include "sys/caller.h"

/*
 * What a descriptor in the epoll set is. First member of each struct that epoll returns a pointer
 * to.
 */
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
    int pidfd;              /* -1 until its CK_WIRE_HELLO */
    int overlay_fd;         /* came with a report: what the run wrote into its overlay; or -1 */
    int gate_fd;            /* came from the init of its run: the listener inside; -1: none, or taken already */
    int direct_attempts_fd; /* came before that: a pipe of struct ck_direct_attempt; -1 as above */
    bool door_again;        /* with the next: struct ck_wire_door */
    int door_fd;            /* came from the init of a cage: the guard's end of a connection; or -1 */
    char *denied;           /* what came before a report: base/denial.h; NULL: its jail does not name it */
    size_t denied_bytes;    /* 0: nothing came */
    void *owner;            /* the run it serves, or NULL */
    uint64_t native_jail;   /* number of the jail that its runs are in; 0: no jail */
    bool limited;           /* its runs have limits that a cgroup may hold */
    bool sealed;            /* its runs can execute nothing but their tool */
    uint64_t generation;    /* of the keeper that made it */
    bool is_retired;        /* the watch has dropped it; events that still name it are stale */
    bool has_served;        /* it has had a run */
    uint64_t plans;         /* how many it was sent */
    bool prepares;          /* it prepares for another run after this one (keeper/prepared.c) */
    uint64_t idle_ns;       /* since when it is idle */
};

/* The digest of the keeper that this build has. */
extern const char ck_keeper_image_sha256[];

/*
 * A keeper that inherited another state of the caller (sys/caller.h: ids, capabilities, namespaces,
 * resource limits, cgroups). It ends when its runs have ended.
 */
struct ck_retired {
    enum ck_watch_source source;
    struct ck_retired *next;
    int keeper_fd; /* pidfd */
};

struct ck_launcher {
    enum ck_watch_source source; /* of the keeper */
    int epoll_fd;                /* reports the end of the keeper */
    int control_fd;              /* -1: no keeper */
    int keeper_fd;               /* pidfd */
    pid_t keeper_pid;
    struct ck_caller_proc caller_proc;
    struct ck_caller maker; /* state of the caller that the keeper inherited */
    bool keeper_reachable;  /* ck_caller_child_unreachable was false when the keeper was made */
    uint64_t generation;    /* number of keepers retired so far */
    struct ck_retired *retired;
    bool groups_known;          /* group_fds has been filled, for the first run with limits */
    int group_fds[CK_CONTROLS]; /* our own cgroups of v1; each may be -1 */
    struct ck_warden *idle;
    struct ck_warden *early; /* in the namespaces of a native jail, without the program of one yet; or NULL */
    bool has_native;         /* a warden of a native jail was made */
};

/* The pipes of a run: [0] is the read end, [1] the write end. */
struct ck_run_pipes {
    int out[2];
    int err[2];
    int scratch_fd; /* not a pipe: the scratch directory of a run in the bwrap jail; or -1 */
};

struct ck_warden_kind;

void ck_launcher_init(struct ck_launcher *launcher, int epoll_fd);
void ck_launcher_done(struct ck_launcher *launcher);

/*
 * Makes the keeper now if there is none, so that it starts while the caller has other work. A failure
 * is not reported: the first request tries again.
 */
void ck_launcher_begin(struct ck_launcher *launcher);

/*
 * The first run of a context in a native jail: makes a warden that enters its namespaces while the
 * caller still works out what is in the jail. ck_launcher_place_early sends it that; *ret_warden is
 * then idle, and not in the epoll set yet. NULL: there is none of this kind.
 */
void ck_launcher_make_early(struct ck_launcher *launcher, bool limited);
void ck_launcher_place_early(struct ck_launcher *launcher, const struct ck_warden_kind *kind,
                             struct ck_warden **ret_warden);

/* Before ck_launcher_done: all runs have ended. The keeper and its wardens begin to end. */
void ck_launcher_close(struct ck_launcher *launcher);

/* As ck_launcher_done, but does not wait for a keeper that needs longer than a moment. */
void ck_launcher_leave(struct ck_launcher *launcher);

/* After fork(): closes the descriptors of the parent's keeper without ending it. */
void ck_launcher_forget(struct ck_launcher *launcher);

/*
 * Sends a request to the keeper, and makes the keeper first if needed. The first descriptor is the
 * socket for the answer.
 */
int ck_launcher_ask(struct ck_launcher *launcher, const void *request, size_t length, const int *fds,
                    unsigned fd_count);

/* What a warden is for its whole life. It serves no run of another kind. */
struct ck_warden_kind {
    const struct ck_native_image *native_jail; /* the jail of its runs, or NULL */
    bool limited; /* the run has limits that a cgroup may hold: only such a warden has a cgroup for them */
    bool sealed;  /* the run can execute nothing but its tool: such a warden has sealed itself */
};

/* *ret_fresh is true for a new warden: its socket is not in the epoll set yet. */
int ck_launcher_take(struct ck_launcher *launcher, const struct ck_warden_kind *kind, struct ck_warden **ret_warden,
                     bool *ret_fresh, struct choke_error *error);
void ck_launcher_give_back(struct ck_launcher *launcher, struct ck_warden *warden);

/*
 * After a run has begun on a warden that was idle: makes a second one of its kind, if the last run
 * of the first ended just before. Then they take turns: one prepares its next run while the other
 * is in use. *ret_warden is NULL if none was made; else it is idle, and not in the epoll set yet.
 */
void ck_launcher_make_second(struct ck_launcher *launcher, const struct ck_warden_kind *kind,
                             const struct ck_warden *first, struct ck_warden **ret_warden);
void ck_launcher_discard(struct ck_warden *warden, bool kill);

/*
 * After a warden was lost: continues the keeper if it was stopped (SIGCONT), so that it kills what
 * the warden had.
 */
void ck_launcher_wake_keeper(struct ck_launcher *launcher);

/* The keeper was killed: makes another, which first kills what the cgroup of the old one holds. */
void ck_launcher_replace_keeper(struct ck_launcher *launcher);

/* Removes an idle warden that has closed its socket from the list. */
void ck_launcher_drop_idle(struct ck_launcher *launcher, struct ck_warden *warden);

int ck_launcher_send_plan(struct ck_warden *warden, const struct ck_plan *plan, const struct ck_run_pipes *pipes,
                          uint64_t deadline_ns, uint64_t kill_ns, struct choke_error *error);
void ck_launcher_send_cancel(struct ck_warden *warden);
void ck_launcher_send_signal(struct ck_warden *warden, int sig); /* as CK_WIRE_SIGNAL says */

/*
 * Receives one message of the warden. 1: *ret_report is filled. 0: no message, or a hello. 2: the
 * listener of its run is in gate_fd, or -1 if there was no free descriptor for it. 3: the same for a
 * connection of a cage, in door_fd. -EPIPE: the warden is gone.
 */
int ck_launcher_receive(struct ck_warden *warden, struct ck_wire_report *ret_report);

/* ---- retire.c ---- */

/*
 * Must be called before each request. If the state of the caller (sys/caller.h) has changed since
 * the keeper was made, the keeper is retired: its runs continue, it makes no more wardens, and the
 * next request makes another keeper. Idle wardens stay in the list with an older generation; the
 * owner of the epoll set removes them. hidden: the result of ck_retire_is_unreachable, which is
 * asked once per start. 1 if the keeper was retired, else 0; -ENOMEM changes nothing.
 */
int ck_retire_keeper(struct ck_launcher *launcher, const struct ck_caller *now, bool hidden);

/*
 * Whether the caller has entered a Landlock domain since it made the keeper. See
 * ck_caller_child_unreachable.
 */
bool ck_retire_is_unreachable(const struct ck_launcher *launcher, const struct ck_caller *now);

/* A retired keeper has ended. */
void ck_retire_ended(struct ck_launcher *launcher, struct ck_retired *retired);

/*
 * Waits up to 20 s for the end of a keeper with a closed socket, and closes *keeper_fd. True if the
 * keeper is known to have ended by itself, and so has left nothing.
 */
bool ck_retire_await(const struct ck_launcher *launcher, int *keeper_fd);
bool ck_retire_end_all(struct ck_launcher *launcher); /* the same for all retired keepers */
void ck_retire_forget_all(struct ck_launcher *launcher);

/* As ck_retire_await, but waits until the deadline only, and leaves a keeper that needs longer. */
void ck_retire_leave(int *keeper_fd, uint64_t deadline_ns);
void ck_retire_leave_all(struct ck_launcher *launcher, uint64_t deadline_ns);

/* Continues a keeper that was stopped; -1 is allowed. */
void ck_retire_wake(int keeper_fd);

#endif
