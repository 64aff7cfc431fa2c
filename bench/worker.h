/*
 * worker.h - shared by the parts of the bench worker.
 *
 * The worker is one process that does the work of one side of a comparison on command: a line comes
 * in on stdin, one JSON object goes out on stdout. run.py holds the workers, lets them alternate
 * and does the arithmetic; while one works, all others sleep in read().
 */
#ifndef BENCH_WORKER_H
#define BENCH_WORKER_H

#include "reply.h"

#include <chokepoint.h>

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define WORKER_MAX_ARGS 6

struct worker {
    const char *policy_path;
    const char *root;
    struct choke_context *context;
};

/* The cost of a batch. tool_cpu_ns is what the tools themselves used, according to wait4. */
struct tally {
    uint64_t runs;
    uint64_t wall_ns;
    uint64_t tool_cpu_ns;
};

_Noreturn void fail_errno(const char *what, int errnum);
size_t number(const char *word);
struct choke_context *context_new(const struct worker *worker);

/* A request for argv with everything mandatory filled in; argv must outlive it. */
struct choke_request request_for(const struct worker *worker, const char *const *argv);

/* Ends the worker unless the tool ended by itself with status 0. */
void expect_success(const struct choke_result *result);
void add_result(struct tally *tally, const struct choke_result *result);

/* What the library would execute for argv, so that the peers get the same file and environment. */
struct choke_decision *decision_for(const struct worker *worker, const char *const *argv);

void reply_tally(const struct tally *tally);

/* ---- peers.c: the ways of making a process that the library is compared with ------------------------------------- */

/* The descriptors become the child's 0, 1, 2; -1 leaves the worker's. All others must be
 * close-on-exec. */
pid_t peer_posix_spawn(const struct choke_decision *decision, int in_fd, int out_fd, int err_fd);
pid_t peer_fork_exec(const struct choke_decision *decision);
pid_t peer_command(const char *path, const char *const *argv, const char *const *env);
pid_t peer_reap(pid_t pid, struct tally *tally); /* -1: any child; returns the pid of the child that ended */

/* ---- commands: words[0] is the command itself, and all words that it needs are there ----------------------------- */

void command_spawn(struct worker *worker, const char *const *args);        /* spawn SIDE RUNS */
void command_first(struct worker *worker, const char *const *args);        /* first */
void command_steps(struct worker *worker, const char *const *args);        /* steps RUNS */
void command_explain(struct worker *worker, const char *const *args);      /* explain CALLS */
void command_embedded(struct worker *worker, const char *const *args);     /* embedded CONTEXTS */
void command_pipe_size(struct worker *worker, const char *const *args);    /* pipe-size */
void command_flood(struct worker *worker, const char *const *args);        /* flood SIDE STREAMS BYTES CAP PIPE_BYTES */
void command_hold(struct worker *worker, const char *const *args);         /* hold SIDE WIDTH CYCLES */
void command_window(struct worker *worker, const char *const *args);       /* window SIDE WIDTH RUNS */
void command_jailed(struct worker *worker, const char *const *args);       /* jailed SIDE TOOL RUNS */
void command_traced(struct worker *worker, const char *const *args);       /* traced SIDE TOOL RUNS */
void command_first_jailed(struct worker *worker, const char *const *args); /* first-jailed SIDE TOOL */
void command_audited(struct worker *worker, const char *const *args);      /* audited SIDE RUNS */
void command_audited_together(struct worker *worker, const char *const *args); /* audited-together SIDE RUNS */
void command_dispatch(struct worker *worker, const char *const *args);         /* dispatch FILES BYTES */
void command_threads(struct worker *worker, const char *const *args);          /* threads SIDE THREADS RUNS */
void command_latencies(struct worker *worker, const char *const *args);        /* latencies SIDE WIDTH RUNS */
void command_open(struct worker *worker, const char *const *args);             /* open SIDE MOST */
void command_shut(struct worker *worker, const char *const *args);             /* shut */
void command_contexts(struct worker *worker, const char *const *args);         /* contexts SIDE COUNT */

#endif
