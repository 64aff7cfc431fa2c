/*
 * watch.h - the runs of a context, from launch to their end.
 *
 * One epoll descriptor holds the socket of every warden, every stream and one timer. The public
 * choke_fd is this descriptor, so any event loop can wait for it. Nothing here blocks but
 * ck_watch_wait.
 *
 * Wardens enforce the deadlines. The watch has a second, later deadline per run, in case a hostile
 * tool has stopped or killed its warden. Then the watch kills the warden, the keeper kills what is
 * left, and the run ends with what was read so far.
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
    int fd; /* -1 after the end of the stream */
    enum choke_stream which;
    bool enlarged; /* much output was seen, and the pipe was made larger */
    struct ck_capture capture;
};

/* The overlay over the repository, for a run with `workspace: overlay`. */
struct ck_overlay {
    bool wanted;
    int upper_fd; /* the changes; -1 until the report of the warden, or if that was lost */
    int lower_fd; /* the repository */
    int keep_fd;  /* where the changes are copied to; -1: nowhere */
};

#define CK_OVERLAY_NONE \
    { \
        .upper_fd = -1, .lower_fd = -1, .keep_fd = -1 \
    }

struct ck_run {
    struct ck_run *next, *previous; /* in the list of running runs */
    struct ck_warden *warden;
    struct ck_run_stream out, err;
    choke_output_fn on_output;
    void *output_data;
    uint64_t started_ns;
    uint64_t ended_ns;
    uint64_t deadline_ns;
    uint64_t last_resort_ns;
    uint64_t collect_until_ns; /* the caller must have its answer by then, with the changes of the run */
    bool cancelled;
    unsigned paused; /* the streams that are not read, of enum choke_stream */
    bool lost;       /* the warden ended without a report */
    bool incomplete;
    struct ck_wire_report report;
    const char *denied; /* for on_ended, with the report: what the jail refused (base/denial.h); NULL: nothing */
    size_t denied_bytes;
    struct ck_scratch scratch; /* if the run has a scratch directory */
    struct ck_overlay overlay;
    void *owner;
};

/*
 * Called once for each run, when it has ended. The callee must not free the run, but the watch does
 * not know it any more. The callee has to clear its scratch directory and its overlay.
 */
typedef void (*ck_run_ended_fn)(void *data, struct ck_run *run);

/*
 * Called for a run with egress, usually before its tool exists: the listener inside, and a pipe of
 * struct ck_direct_attempt if direct attempts are reported. The callee owns both. -1: there is
 * none, or there was no free descriptor for it.
 */
typedef void (*ck_run_gate_fn)(void *data, struct ck_run *run, int listen_fd, int direct_attempts_fd);

/* The same for a connection of a cage, each once. The callee owns it. -1: there was no free descriptor for it. */
typedef void (*ck_run_door_fn)(void *data, struct ck_run *run, int fd, bool again);

/* Another descriptor in the epoll set; dispatch is called when it is readable. */
struct ck_event_source {
    enum ck_watch_source source; /* set by ck_watch_add_event_source */
    void (*dispatch)(void *data);
    void *data;
};

struct ck_watch {
    enum ck_watch_source source; /* of the timer */
    int epoll_fd;
    int timer_fd;
    int anchor_fd;     /* a socket that is only in the set to be found there: ck_watch_is_intact */
    uint64_t anchor;   /* its cookie; the kernel gives it to no other socket */
    uint64_t armed_ns; /* when the timer fires; UINT64_MAX: it is not set */
    uint64_t until_ns; /* of the current round: nothing new is begun after it; 0: no limit */
    struct ck_launcher launcher;
    struct ck_run *running;
    size_t running_count;
    char *stage;            /* where fast streams are read to first; NULL until needed */
    char spare[1024];       /* the same if there is no memory: the tool must not hang for that */
    struct ck_warden *dead; /* freed after the round, when no event can point to them any more */
    ck_run_ended_fn on_ended;
    ck_run_gate_fn on_gate; /* NULL: no egress */
    ck_run_door_fn on_door; /* NULL: no cages */
    int ended_fd;           /* a stream that has ended, for runs that are not captured; -1: none yet */
    void *data;
};

int ck_watch_init(struct ck_watch *watch, ck_run_ended_fn on_ended, void *data);

/*
 * Kills what runs, waits for the end of the keeper, and closes everything. The caller must have
 * removed all runs before.
 */
void ck_watch_done(struct ck_watch *watch);
void ck_watch_forget(struct ck_watch *watch);

/* As ck_watch_done, but waits for the keeper for a moment only: it ends by itself. */
void ck_watch_leave(struct ck_watch *watch);

/*
 * Whether the descriptors are still ours. A program that closes all descriptors that it does not
 * know closes these too. Their numbers may since belong to other files, even to those of another
 * context. A socket is identified by its cookie. The kernel finds a file in an epoll set by number
 * and file, so the set that has our socket in it is ours.
 */
bool ck_watch_is_intact(const struct ck_watch *watch);

/*
 * Before a start: if the state of the caller (sys/caller.h) has changed since the keeper was made,
 * the keeper and its idle wardens are retired, and the next start makes others. Runs in progress
 * continue. hidden: the result of ck_retire_is_unreachable. 0 or -ENOMEM.
 */
int ck_watch_renew(struct ck_watch *watch, const struct ck_caller *now, bool hidden);

/*
 * Creates pipes, takes a warden, and sends it the plan. After a failure the run is as if never
 * started, and *error has outcome CHOKE_SPAWN_FAILED.
 */
/*
 * For a plan that is not complete yet: makes what its run will need, while the caller plans on. A
 * failure is not reported: ck_watch_start tries again.
 */
void ck_watch_work_ahead(struct ck_watch *watch, const struct ck_plan *plan);

int ck_watch_start(struct ck_watch *watch, struct ck_run *run, const struct ck_plan *plan, struct choke_error *error);

/* One round of events; timeout as for poll. 0 or a negative errno. */
int ck_watch_wait(struct ck_watch *watch, int timeout_ms);

/* Events that are there, one after the other, until there is none or the time is over. */
int ck_watch_work_until(struct ck_watch *watch, uint64_t until_ns);

/* event_source must stay valid as long as the watch. 0 or a negative errno. */
int ck_watch_add_event_source(struct ck_watch *watch, struct ck_event_source *event_source, int fd);

/* Makes the epoll descriptor readable, for something that ended without an event. */
void ck_watch_wake(struct ck_watch *watch);

void ck_watch_cancel(struct ck_watch *watch, struct ck_run *run);

/* For a run of guard; nothing if it has ended. */
void ck_watch_signal(struct ck_run *run, int sig);

/* Of a run that is not yet started, too. streams: of enum choke_stream. */
void ck_watch_pause(struct ck_watch *watch, struct ck_run *run, unsigned streams);
void ck_watch_resume(struct ck_watch *watch, struct ck_run *run, unsigned streams);

/* Ends a run now; a later report of its warden is ignored. */
void ck_watch_abandon(struct ck_watch *watch, struct ck_run *run);

/* Frees what a run holds that has ended or was never started. */
void ck_run_done(struct ck_run *run);

#endif
