/*
 * watch.h - the runs of a context, from launch to their end.
 *
 * One epoll descriptor holds every warden's socket, every stream and one timer. It is what the public choke_fd is, so
 * any event loop can wait for it. Nothing here blocks but ck_watch_wait.
 *
 * Deadlines are the wardens' business. The watch has a second, later one per run, for the case that a hostile tool
 * has stopped or killed its warden: then the warden is killed, the keeper ends what is left, and the run ends with
 * what was read so far.
 */
#ifndef CK_RUN_WATCH_H
#define CK_RUN_WATCH_H

#include "run/capture.h"
#include "run/launcher.h"
#include "sys/scratch.h"

struct ck_run;

struct ck_run_stream {
    enum ck_watch_source source;
    struct ck_run *run;
    int fd; /* -1 after its end */
    enum choke_stream which;
    bool enlarged; /* a flood was seen, and the pipe made larger for it */
    struct ck_capture capture;
};

/* A repository that is written to by way of an overlay. */
struct ck_overlay {
    bool wanted;
    int upper_fd; /* what was written; -1 until the warden's report, or where that got lost */
    int lower_fd; /* the repository */
    int keep_fd;  /* where a copy of what was written goes; -1: nowhere */
};

#define CK_OVERLAY_NONE \
    { \
        .upper_fd = -1, .lower_fd = -1, .keep_fd = -1 \
    }

struct ck_run {
    struct ck_run *next, *previous; /* among the running */
    struct ck_warden *warden;
    struct ck_run_stream out, err;
    choke_output_fn on_output;
    void *output_data;
    uint64_t started_ns;
    uint64_t ended_ns;
    uint64_t deadline_ns;
    uint64_t last_resort_ns;
    uint64_t collect_until_ns; /* when the caller has its answer, also about what the run left */
    bool cancelled;
    bool lost; /* the warden is gone without a report */
    bool incomplete;
    struct ck_wire_report report;
    struct ck_scratch scratch; /* of a run that has one */
    struct ck_overlay overlay;
    void *owner;
};

/*
 * Called once for each run, when it has ended. The run may not be freed inside, but is no longer known to the watch. Its
 * scratch directory and its layer are the callee's to be emptied.
 */
typedef void (*ck_run_ended_fn)(void *data, struct ck_run *run);

/*
 * Called for a run with egress before its tool exists, as a rule: the listener inside, and where ways around it are told
 * a pipe of struct ck_direct_attempt. The callee takes both over; -1: there is none, or it was lost for want of a descriptor.
 */
typedef void (*ck_run_gate_fn)(void *data, struct ck_run *run, int listen_fd, int direct_attempts_fd);

/* Another descriptor in the set, of somebody who is called when it is readable. */
struct ck_event_source {
    enum ck_watch_source source; /* set by ck_watch_add_event_source */
    void (*dispatch)(void *data);
    void *data;
};

struct ck_watch {
    enum ck_watch_source source; /* the timer's */
    int epoll_fd;
    int timer_fd;
    int anchor_fd;     /* a socket that is in the set for nothing but to be found there: ck_watch_is_intact */
    uint64_t anchor;   /* its cookie, which the kernel gives to no other socket */
    uint64_t armed_ns; /* what the timer is set to; UINT64_MAX: not */
    struct ck_launcher launcher;
    struct ck_run *running;
    size_t running_count;
    char *stage;            /* where a flood is read to first; NULL until there is one */
    char spare[1024];       /* the same when there is no memory: a tool must not hang because we have none */
    struct ck_warden *dead; /* to be freed when no event of this round can name them any more */
    ck_run_ended_fn on_ended;
    ck_run_gate_fn on_gate; /* may be NULL: then there is no egress */
    void *data;
};

int ck_watch_init(struct ck_watch *watch, ck_run_ended_fn on_ended, void *data);

/*
 * Kills what runs (without waiting for its end beyond the keeper's) and closes everything. Runs must have been taken
 * off before.
 */
void ck_watch_done(struct ck_watch *watch);
void ck_watch_forget(struct ck_watch *watch);

/*
 * Are the descriptors still ours? A program that closes all it does not know closes these too, and may have got their
 * numbers for others since, among them those of another context. A socket is known by its cookie; and the kernel finds a
 * file in an epoll set by number and file, so the set that has our socket in it is ours.
 */
bool ck_watch_is_intact(const struct ck_watch *watch);

/*
 * Before a start: where the caller is not who made the keeper, keeper and idle wardens are let go of, and the next start
 * makes others. What runs goes on. hidden is ck_retire_is_unreachable. 0 or -ENOMEM.
 */
int ck_watch_renew(struct ck_watch *watch, const struct ck_caller *now, bool hidden);

/*
 * Makes pipes, takes a warden, hands it the plan. On failure the run is as if never started; *error has outcome
 * CHOKE_SPAWN_FAILED.
 */
int ck_watch_start(struct ck_watch *watch, struct ck_run *run, const struct ck_plan *plan, struct choke_error *error);

/* One round of events; timeout as for poll. 0 or a negative errno. */
int ck_watch_wait(struct ck_watch *watch, int timeout_ms);

/* guest stays where it is for as long as the watch lives. 0 or a negative errno. */
int ck_watch_add_event_source(struct ck_watch *watch, struct ck_event_source *event_source, int fd);

/* Makes the epoll descriptor readable, for something that ended without an event. */
void ck_watch_wake(struct ck_watch *watch);

void ck_watch_cancel(struct ck_watch *watch, struct ck_run *run);

/* Ends a run at once, whatever its warden says later. */
void ck_watch_abandon(struct ck_watch *watch, struct ck_run *run);

/* Frees what a run holds that has ended or never started. */
void ck_run_done(struct ck_run *run);

#endif
