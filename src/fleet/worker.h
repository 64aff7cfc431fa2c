/*
 * worker.h - gathers one repository of a fleet after another, in a thread with a context of its own.
 *
 * Must: write a document or a failure whole, or nothing. Must not: begin a repository that it has
 * not claimed.
 */
#ifndef CK_FLEET_WORKER_H
#define CK_FLEET_WORKER_H

#include "fleet/area.h"
#include "fleet/claim.h"
#include "gather/probes.h"

#include <pthread.h>
#include <stdatomic.h>

/* What all workers of a process share; nothing of it changes while they work. */
struct ck_fleet_task {
    struct ck_fleet_area *area;
    struct ck_claims claims;
    struct choke_options context; /* of each worker */
    struct ck_probes probes;
    bool own_probes;     /* not the embedded ones */
    const char **only;   /* NULL: all */
    uint64_t timeout_ms; /* of a call */
    unsigned lost_max;   /* a repository with which this number of tasks has died is not tried again; 0: always */
    bool retry;          /* repositories that failed, too */
};

enum ck_fleet_end {
    CK_FLEET_DONE,      /* it has a document */
    CK_FLEET_FAILED,    /* it has a failure */
    CK_FLEET_HELD,      /* another process works on it */
    CK_FLEET_CANCELLED, /* it has neither, and keeps its claim until this process has ended */
    CK_FLEET_BROKEN     /* nothing can be written, or no context can be made: no other will work either */
};

struct ck_fleet_worker {
    const struct ck_fleet_task *task;
    struct choke_context *context; /* made for the first repository */
    unsigned jobs;                 /* probes at once */
    int stop_fd;                   /* an eventfd */
    void *pool;                    /* of pool.c */
    atomic_bool stopped;
};

/* Returns 0 or a negative errno. */
int ck_fleet_worker_init(struct ck_fleet_worker *worker, const struct ck_fleet_task *task, unsigned jobs);

/* From another thread: cancels what it does, and everything that follows. */
void ck_fleet_worker_stop(struct ck_fleet_worker *worker);

/* error: why it is broken, or why the repository failed. */
enum ck_fleet_end ck_fleet_worker_do(struct ck_fleet_worker *worker, const struct ck_fleet_entry *entry,
                                     struct choke_error *error);

/* Frees the context, in the thread of the worker; nothing may follow but the next. */
void ck_fleet_worker_leave(struct ck_fleet_worker *worker);
void ck_fleet_worker_done(struct ck_fleet_worker *worker);

#endif
