/*
 * fleet.h - gathers many repositories, each once, into one directory. src/cli/cmd_fleet_*.c start
 * these functions.
 *
 * What a fleet knows is in the files of its directory (area.h). Any number of processes, on any
 * number of machines, may work on it at the same time; none of them is a server, and each may be
 * killed at any instruction.
 */
#ifndef CK_FLEET_FLEET_H
#define CK_FLEET_FLEET_H

#include "chokepoint.h"
#include "fleet/slurm_call.h"
#include "front/session.h"

#include <stdio.h>

enum ck_fleet_engine { CK_FLEET_ENGINE_LOCAL, CK_FLEET_ENGINE_SLURM };

#define CK_FLEET_JOBS_MAX 256

struct ck_fleet_options {
    const char *list;             /* "-": standard input */
    const char *out;              /* the directory */
    const char *const *only;      /* NULL-terminated, each with commas; NULL: all probes */
    const char *policy;           /* a file; NULL: the default policy */
    const char *probes;           /* a file; NULL: the embedded probes */
    unsigned jobs;                /* probes at once; 0: ck_machine_jobs() */
    uint64_t timeout_ms;          /* of a call; CHOKE_TIMEOUT_FROM_POLICY */
    bool retry;                   /* what failed, too */
    unsigned limit;               /* repositories of this run; 0: all */
    int engine;                   /* enum ck_fleet_engine */
    struct ck_slurm_limits tasks; /* of the engine slurm, as what follows */
    unsigned chunk;               /* repositories of a task; 0: chosen */
    const char *command;          /* on the nodes; NULL: the path of this program */
    const char *more;             /* options of `fleet work`, quoted for a shell */
    struct choke_options context; /* the log; the policy comes from above */
};

/* What a run leaves. */
struct ck_fleet_summary {
    size_t total, done, failed;
    size_t repeated; /* lines of LIST that named a repository again */
    bool cancelled;  /* by `fleet cancel` */
    bool broken;     /* error says why nothing more could be done */
};

/*
 * Prints failures and messages on session->notes. Returns 0 or a negative errno; then nothing was
 * begun. session has not begun.
 */
int ck_fleet_run(const struct ck_fleet_options *options, struct ck_session *session,
                 struct ck_fleet_summary *ret_summary, struct choke_error *error);

/* Prints how far the fleet is. */
int ck_fleet_status(const char *path, bool json, FILE *out, struct choke_error *error);

/* Ends all processes that work on the fleet, and what it has in the queue of Slurm. session has not begun. */
int ck_fleet_cancel(const char *path, struct ck_session *session, struct choke_error *error);

/* What one task of a cluster does. */
struct ck_fleet_work {
    const char *out;     /* the directory */
    unsigned submission; /* slurm/N.json; 0: INDEX of OF parts of the whole index */
    unsigned index, of;  /* index counts from 0 */
    const char *kind;    /* of its claims: "slurm", "index" */
    const char *job;     /* the same for all tasks of one start */
    unsigned restarts;   /* how often the task was started again */
    unsigned jobs;       /* 0: ck_machine_jobs() */
    uint64_t timeout_ms;
    bool retry;
    struct choke_options context;
};

int ck_fleet_work(const struct ck_fleet_work *work, struct ck_session *session, struct ck_fleet_summary *ret_summary,
                  struct choke_error *error);

/* before, then word in single quotes for a shell. */
void ck_fleet_print_word(FILE *out, const char *before, const char *word);

#endif
