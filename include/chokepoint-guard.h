/*
 * chokepoint-guard.h - the part of chokepoint.h for a program that does not use the library. Include
 * chokepoint.h, which includes this.
 *
 * PROGRAM runs in a cage: what may be executed there are carriers (tools that the policy lets run in
 * it), their helpers, and doors. A door is at the path of every other tool of the policy. Executing
 * one opens a connection, over which it says what it was called with (docs/adr/0100).
 *
 *   1. choke_guard_start()     judges and starts PROGRAM; the context is used for nothing else.
 *   2. on_door                 is called for each connection, with a descriptor.
 *   3. choke_guard_call()      starts the tool that a door stands for, in the tool's own jail.
 *      choke_guard_signal()    passes on what the door received.
 *   4. choke_next()            has ended calls, and PROGRAM itself.
 *   5. choke_guard_counts()    of PROGRAM's job: what became of every execution.
 *   6. choke_guard_changes()   what PROGRAM left that may run later.
 *   7. choke_guard_free()
 */
#ifndef CHOKEPOINT_GUARD_H
#define CHOKEPOINT_GUARD_H

#include "chokepoint.h"

#ifdef __cplusplus
extern "C" {
#endif

struct choke_guard;

/* Of one connection; the callee owns the descriptor. It must not call into the context. */
typedef void (*choke_door_fn)(void *data, int fd);

#define CHOKE_GUARD_RLIMITS 16
#define CHOKE_GUARD_FDS 67 /* of one process */

/* A limit of the kernel; UINT64_MAX: none. Limits are only lowered. */
struct choke_guard_rlimit {
    uint64_t soft, hard;
};

/* What a process gets from the one that called it. */
struct choke_guard_inherited {
    /*
     * The descriptors, and their numbers in the process: the first three are 0, 1 and 2, and must be
     * there. The call takes them, also if it fails, and leaves -1.
     */
    int fds[CHOKE_GUARD_FDS];
    int numbers[CHOKE_GUARD_FDS];
    unsigned fd_count;
    unsigned umask_bits;
    int nice;                                               /* a lower one than that of the library is not applied */
    uint64_t ignored;                                       /* bit i: signal i + 1 is ignored */
    struct choke_guard_rlimit rlimits[CHOKE_GUARD_RLIMITS]; /* the index is the number of the resource */
};

/* Without limits, and without descriptors. */
CHOKE_API void choke_guard_inherited_init(struct choke_guard_inherited *inherited);
CHOKE_API void choke_guard_inherited_done(struct choke_guard_inherited *inherited);

/* PROGRAM. Everything is copied but the descriptors. */
struct choke_guard_request {
    const char *const *argv; /* NULL-terminated; argv[0] is the name of a carrier */
    const char *root;
    const char *cwd;           /* as in struct choke_request */
    const char *profile;       /* NULL: the section `guard` of the policy alone */
    const char *const *egress; /* of the hosts that the profile lists; NULL: all of these */
    uint64_t timeout_ms;       /* 0: none */
    struct choke_guard_inherited *inherited;
    int terminal; /* of 0, 1 and 2: what becomes the controlling terminal of PROGRAM; -1: none */
    choke_door_fn on_door;
    void *door_data;
    void *job_data;
    bool dry_run;       /* nothing is started, and *ret_job is NULL: for choke_guard_tool */
    size_t struct_size; /* see "structs that grow" */
    /*
     * NULL-terminated "HOST[:PORT],HEADER=FILE"; NULL: none. The proxy adds HEADER with the line in
     * FILE to each request that PROGRAM makes to http://HOST:PORT, and sends it over TLS, with the
     * certificate of HOST verified. Without a port it is 443, and http://HOST is meant too. PROGRAM
     * cannot read FILE: it belongs to the caller, has the mode 0600, and is outside of everything
     * that the cage and its tools can see. HOST must be among the hosts of the cage.
     */
    const char *const *secrets;
    const char *secret_ca; /* a PEM file of authorities for these hosts, in place of the system's; NULL: those */
};

/*
 * A refusal is a job, as with choke_start. The guard lives until choke_guard_free, which the caller
 * calls when PROGRAM's job has ended, before the context is freed. *ret_guard is NULL if there is no
 * job.
 */
CHOKE_API int choke_guard_start(struct choke_context *context, const struct choke_guard_request *request,
                                struct choke_guard **ret_guard, struct choke_job **ret_job, struct choke_error *error);
CHOKE_API void choke_guard_free(struct choke_guard *guard); /* NULL is fine */

/*
 * What PROGRAM left that may run later, if its profile has state directories: of the root what
 * runs_later has a reason for, and every change in a state directory. Paths are those of the host.
 * Valid until choke_guard_free. -EBUSY while PROGRAM runs. It reads both again, which takes 3 seconds
 * each at most; *ret_incomplete: there was more, or something could not be read.
 */
CHOKE_API int choke_guard_changes(struct choke_guard *guard, const struct choke_file_change **ret_changes,
                                  size_t *ret_count, bool *ret_incomplete, struct choke_error *error);

/*
 * What the policy and the profile give the cage, as one line of JSON: the keys of the section `guard` in
 * chokepoint-policy(5). choke_guard_store: the directory of the host that holds the state of the
 * profile; NULL: it has none. Both are valid until choke_guard_free.
 */
CHOKE_API const char *choke_guard_description(const struct choke_guard *guard);
CHOKE_API const char *choke_guard_store(const struct choke_guard *guard);

/* A tool in the cage. */
struct choke_guard_tool {
    const char *name;
    const char *file; /* at whose path the door is; NULL: a carrier */
};

/* PROGRAM first, then the other carriers, then the doors; false past the end. */
CHOKE_API bool choke_guard_tool(const struct choke_guard *guard, size_t index, struct choke_guard_tool *ret_tool);

/* A header that the proxy adds. Its value is known to nobody. */
struct choke_guard_secret {
    const char *host;
    const char *header;
    uint64_t requests; /* to which it was added, on connections that have ended */
    uint16_t port;
};

/* False past the end. */
CHOKE_API bool choke_guard_secret(const struct choke_guard *guard, size_t index, struct choke_guard_secret *ret_secret);

/* What a door says. Nothing in it is trusted. */
struct choke_guard_call {
    const char *file;             /* of the door; it stands for the tools of this file */
    const char *executed;         /* the path that was executed: its name chooses among these */
    const char *const *argv;      /* NULL-terminated */
    const char *const *variables; /* NULL-terminated NAME=VALUE; those that the entry grants are used */
    const char *cwd;
    struct choke_guard_inherited *inherited;
    void *job_data;
    size_t struct_size;
};

/* As choke_start. The tool gets the descriptors, so its result has no output. */
CHOKE_API int choke_guard_call(struct choke_guard *guard, const struct choke_guard_call *call,
                               struct choke_job **ret_job, struct choke_error *error);

/*
 * Sends a signal to the tool. What is about its job (SIGINT, SIGQUIT, SIGTSTP, SIGCONT, SIGWINCH) is
 * sent to its whole tree, and a signal that would stop it is sent as SIGSTOP. Nothing if it has ended.
 */
CHOKE_API void choke_guard_signal(struct choke_job *job, int sig);

/*
 * What became of the executions in the cage, PROGRAM's own included. attempts is the sum of door to
 * failed; door, connections and received are the same. Valid when PROGRAM's job has ended and its cage
 * has reported; else all are 0.
 */
struct choke_guard_counts {
    uint64_t attempts;
    uint64_t door;      /* a door that connected */
    uint64_t carrier;   /* a carrier or a helper */
    uint64_t workspace; /* a file beneath the root, with `workspace_code` */
    uint64_t refused;
    uint64_t not_found;
    uint64_t failed; /* the kernel could not, or the process was ended before its program began */
    /*
     * Doors that connected without having been seen; 0, unless a path was changed while it was looked
     * at.
     */
    uint64_t unexpected;
    uint64_t connections; /* of doors, as the cage has counted them: each door once */
    uint64_t received;    /* the same, as the library has */
};

CHOKE_API void choke_guard_counts(const struct choke_job *job, struct choke_guard_counts *ret_counts);

#ifdef __cplusplus
}
#endif

#endif
