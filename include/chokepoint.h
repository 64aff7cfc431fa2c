/*
 * chokepoint.h - the whole public interface of libchokepoint, and its manual.
 *
 * chokepoint is the one door through which a program runs other programs: only
 * tools that a reviewed policy lists, with an environment that is built and not
 * inherited, in a directory that cannot be left by a link, for a bounded time,
 * with output captured in bounded memory, and with nothing left running.
 *
 * A BLOCKING RUN
 *
 *   1. choke_context_new()     loads the policy. No process is made yet.
 *   2. choke_run()             judges, runs, waits.
 *   3. read the result, choke_result_free().
 *   4. choke_context_free()    ends whatever still runs.
 *
 * MANY RUNS FROM ONE THREAD
 *
 *   1. choke_start()           as often as you like; returns at once.
 *   2. poll choke_fd() for reading in any event loop.
 *   3. choke_dispatch()        when it is readable; never blocks.
 *   4. choke_next()            takes one finished job after another, NULL at the end.
 *   5. choke_job_result(), choke_job_free().
 *   choke_cancel() ends one job, choke_cancel_all() every one; a cancelled job still
 *   comes out of choke_next().
 *
 * WHAT RETURNS WHAT
 *
 *   A refusal is a result: the call returns 0 and result->outcome says which kind. So is
 *   a tool that cannot be found or started. A call returns a negative errno only when
 *   it could not do its own work: no memory, a context used after fork(), a NULL where
 *   something must stand. Then *error (where given) holds the words.
 *
 * WHAT IT DOES TO YOUR PROGRAM
 *
 *   No signal handler, no thread that outlives a call, no change to your signal mask once a call
 *   returned, no mutable global but the warn-once flags. The first allowed run of a context makes one
 *   child process, the keeper, which creates, adopts and kills the tools. Your program's own
 *   size does not matter, for it is never forked. If you reap the keeper with waitpid(-1)
 *   nothing is lost; a program that waits until it has *no* child must free the context first.
 *   All descriptors are close-on-exec. A program that closes them (closefrom) gets -EBADF from then on,
 *   and can still free the context; nothing that has their numbers by then is closed.
 *
 *   A thread with a stack of 64 KiB is enough for every call. No write raises SIGXFSZ: where
 *   RLIMIT_FSIZE is too small for a call (a run needs at most 128 KiB), it fails with EFBIG, and a run
 *   ends as "spawn_failed".
 *
 *   A context is used by one thread at a time; several threads use several contexts. After
 *   fork() without exec the child must not use the parent's context (it gets -EOWNERDEAD).
 *
 * WHAT A TOOL FINDS
 *
 *   Its arguments, the environment PATH HOME LANG LC_ALL with what the entry sets and grants, the
 *   working directory, stdin as requested (else /dev/null), two pipes, and no other descriptor (a script
 *   whose entry has a sha256 also finds itself, as descriptor 3). A
 *   session of its own without a terminal, default signal dispositions, an empty signal mask, umask
 *   022, and no_new_privs.
 *
 *   User, groups, capabilities, securebits, root directory, namespaces (user, mount, network, IPC),
 *   resource limits, priority, processors and cgroups are those of the thread that starts it, at that
 *   moment. Where they have changed since an earlier run, the context makes another keeper and proves its
 *   jails again; a job in flight goes on as it was started. Not seen, and so as they were when the keeper
 *   was made: a second seccomp filter, the session keyring, the label of a security module, the pid, uts,
 *   time and cgroup namespaces, and a domain of Landlock that is entered without CAP_SYS_PTRACE after
 *   no_new_privs was set. A program that changes one of these frees the context first and makes another.
 *
 *   In a jail stdin is never a descriptor of the caller: with one, a tool could change the mode, owner, times and
 *   attributes of the file. It is the /dev/null of the jail, or a pipe into which what was requested is copied. So the
 *   tool cannot seek in it, and more may have been read from stdin_fd than the tool has read. A source that cannot be
 *   read at all is an empty stream. Where reading fails later, or the process that copies is killed, the run ends as
 *   cancelled: a part of the input is never taken for the whole.
 *
 * WHEN A CALL ENDS
 *
 *   A call ends when the tool's own process has ended. What it left behind (daemons,
 *   double forks, other sessions) is killed then; if any of those still held stdout or
 *   stderr, output_incomplete is true. At the timeout the whole tree gets SIGTERM, and SIGKILL
 *   100 ms later (less for timeouts under 250 ms), so the call has returned by 1.5 times the timeout.
 */
#ifndef CHOKEPOINT_H
#define CHOKEPOINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define CHOKE_API __attribute__((visibility("default")))
#else
#define CHOKE_API
#endif

#define CHOKE_VERSION_MAJOR 0
#define CHOKE_VERSION_MINOR 1
#define CHOKE_VERSION_PATCH 0
#define CHOKE_VERSION "0.1.0"

/* The version of the library that is linked, "0.1.0". */
CHOKE_API const char *choke_version(void);

/* ---- outcomes ---------------------------------------------------------------------------- */

/*
 * How a call ended. The words (choke_outcome_name) are stable; scripts may depend on them.
 * Zero is no outcome, so that a zero-filled struct never reads as success.
 */
enum choke_outcome {
    CHOKE_NONE = 0,
    CHOKE_EXITED,           /* "exited": the tool ended by itself; exit_code holds */
    CHOKE_SIGNALED,         /* "signaled": a signal that was not ours ended it */
    CHOKE_TIMEOUT,          /* "timeout": killed at its deadline */
    CHOKE_CANCELLED,        /* "cancelled": killed because the caller asked, or its keeper was lost */
    CHOKE_DISALLOWED,       /* "disallowed": the policy says no */
    CHOKE_TOOL_MISSING,     /* "tool_missing": allowed, but not installed */
    CHOKE_INVALID,          /* "invalid": the request itself is malformed */
    CHOKE_CWD,              /* "cwd": not a directory, or outside the root */
    CHOKE_ENV_FORBIDDEN,    /* "env_forbidden": a variable the entry does not grant */
    CHOKE_JAIL_UNAVAILABLE, /* "jail_unavailable": the jail asked for is not to be had */
    CHOKE_POLICY,           /* "policy": the policy cannot be loaded, or lies inside the root */
    CHOKE_SPAWN_FAILED      /* "spawn_failed": found, but could not be started; where that may pass (no process,
                               no memory, no descriptor, no namespace now) the message says "try again" */
};

CHOKE_API const char *choke_outcome_name(enum choke_outcome outcome);

/*
 * What the text looks like if there is a well-known credential in it ("a GitHub token"), or NULL. The library refuses
 * such arguments and variables, and shows none in messages, events and records; this is for what a program itself shows.
 */
CHOKE_API const char *choke_credential_kind(const char *text);

/* ---- errors ------------------------------------------------------------------------------ */

#define CHOKE_MESSAGE_MAX 1024

/*
 * Filled once, by whoever noticed. Untrusted bytes in the message are escaped. line and
 * column count from 1 and are 0 where the error is not about a place in a file.
 */
struct choke_error {
    enum choke_outcome outcome;
    int errnum; /* a positive errno, or 0 */
    unsigned line;
    unsigned column;
    char message[CHOKE_MESSAGE_MAX];
};

/* ---- events ------------------------------------------------------------------------------ */

enum choke_level { CHOKE_DEBUG = 1, CHOKE_INFO, CHOKE_WARNING };

struct choke_field {
    const char *key;
    const char *value; /* control bytes escaped */
};

/*
 * Something worth telling. Names:
 *   subproc.<jail>.wrapped     debug    probe_name, egress
 *   subproc.<jail>.skipped     warning  reason, and what is used instead: jail, layers; probe_name; once per process
 *   subproc.started            info     tool, path, jail, probe_name
 *   subproc.exited             info     tool, outcome, code, duration_ms, probe_name
 *   subproc.timeout            warning  tool, timeout_ms, probe_name
 *   subproc.refused            warning  tool, outcome, rule, message, probe_name
 *   subproc.changes.cut        warning  tool, reason (timeout, cancelled), changes (listed so far), kept (incomplete, or
 *                                       empty), probe_name: the list of changes, or the copy of them, is not whole
 *   subproc.stdout.truncated   warning  probe_name, stream, bytes
 *   audit.repaired             warning  path, bytes: what a write left that did not get to its end is vouched for now
 *   audit.unrecorded           warning  path, tool, outcome, message, probe_name: a refusal, or how a run ended, is not in the log
 *   audit.unrotated            warning  path, message: the log has its size, and could not be rotated; it goes on growing
 *   subproc.egress.allowed     info     tool, host, port, rule, address, protocol, connection, probe_name
 *   subproc.egress.refused     warning  the same, as far as it is known, and reason, message; also what was not asked of
 *                                       the proxy (reason "direct", connection 0), where layers have "egress_named"
 *   subproc.egress.failed      warning  the same: it was allowed, and could not be reached
 *   subproc.egress.closed      info     the same, and sent_bytes, received_bytes; once for each that was allowed
 * Pointers are valid during the callback only. The callback must not call into the same context.
 */
struct choke_event {
    enum choke_level level;
    const char *name;
    const struct choke_field *fields;
    size_t field_count;
};

typedef void (*choke_event_fn)(void *data, const struct choke_event *event);

/* ---- context ----------------------------------------------------------------------------- */

struct choke_context;

/* How durable a record is. Each is in the file when a call returns, and survives the end of your program. */
enum choke_audit_sync {
    CHOKE_AUDIT_SYNC_BATCHED =
        0,                  /* on the disk a second later at most, if records go on; and when the context is freed */
    CHOKE_AUDIT_SYNC_EVERY, /* the intent before the tool is started, the outcome before the job is handed out */
    CHOKE_AUDIT_SYNC_NONE   /* when the kernel sees fit */
};

/* Zero-filled: the embedded policy, no events, no audit. */
struct choke_options {
    /*
     * The policy file; NULL means the one embedded in the library. Refused: a file that anyone but
     * its owner may write, one that is owned by someone other than root or the caller, one
     * over 1 MiB, and, for each request, one that lies inside the request's root.
     */
    const char *policy_path;
    choke_event_fn on_event;
    void *event_data;

    /*
     * The audit log, in which every call is recorded, refused ones too: what is about to be run, before it is run, and how
     * it ended. NULL: none. It is made where it is missing (mode 0600), and its directory (0700). Any number of processes
     * and threads may write to one log. A relative path is taken from the working directory as it is now.
     *
     * No record, no run: where the log cannot be written (a full disk, no permission, it was deleted or exchanged while
     * in use, it is a link, another user's, or in a place that is not to be trusted), a call that would be run ends as
     * "spawn_failed" by the rule "audit". So does one whose tool could write to the log: it lies beneath the root, and the
     * entry's workspace is rw. The next call tries again.
     *
     * The first call of a tool reads all of its file, for the digest; that is remembered as choke_doctor's answers are.
     */
    const char *audit_path;
    enum choke_audit_sync audit_sync;
    uint64_t audit_max_bytes; /* a log that has grown to this is rotated: see docs/audit.md; 0: never */
};

/*
 * options may be NULL. On failure *ret_context is untouched; error->outcome is CHOKE_POLICY where the policy is at
 * fault.
 */
CHOKE_API int choke_context_new(const struct choke_options *options, struct choke_context **ret_context,
                                struct choke_error *error);

/*
 * Ends every job as choke_cancel_all does, waits for the end (20 s at most), frees all jobs. NULL is fine. What an ended job
 * has not listed or kept by then is not listed or kept any more; the event subproc.changes.cut says so, and what is there is
 * whole files.
 */
CHOKE_API void choke_context_free(struct choke_context *context);

/* ---- request ----------------------------------------------------------------------------- */

enum choke_jail {
    CHOKE_JAIL_DEFAULT = 0, /* none for a direct tool, auto for an external one, native for a workspace of overlay */
    CHOKE_JAIL_AUTO,        /* native, then bwrap, then none with one warning */
    CHOKE_JAIL_NATIVE,
    CHOKE_JAIL_BWRAP,
    CHOKE_JAIL_NONE
};

enum choke_stdin {
    CHOKE_STDIN_NULL = 0, /* /dev/null */
    CHOKE_STDIN_BYTES,    /* stdin_bytes, stdin_length; copied by the call */
    /* stdin_fd; the caller keeps it and may close it once the call returned. In a jail it is copied into a pipe. */
    CHOKE_STDIN_FD
};

enum choke_stream { CHOKE_STDOUT = 1, CHOKE_STDERR = 2 };

/* Bytes as they arrive, before any truncation. Must not call into the same context. */
typedef void (*choke_output_fn)(void *data, enum choke_stream stream, const void *bytes, size_t length);

#define CHOKE_DEFAULT_OUTPUT_BYTES ((size_t)64 << 20)
#define CHOKE_MIN_OUTPUT_BYTES ((size_t)18)

/*
 * What to run. Zero-filled it is closed: without argv, root, cwd and timeout_ms it is refused as
 * "invalid". Everything is copied; nothing needs to live longer than the call.
 */
struct choke_request {
    const char *const *argv; /* NULL-terminated; argv[0] is a tool's name in the policy, no path */
    const char *root;        /* the repository; nothing that the call names may leave it */
    const char *cwd;         /* a relative path is taken from root; "." is root itself */
    uint64_t timeout_ms;     /* mandatory: 1 ms to 365 days; CHOKE_TIMEOUT_FROM_POLICY for the entry's limit */

    /*
     * A probe's name makes this a "run external": env must be empty. NULL: an ordinary run.
     * ^[a-z][a-z0-9_]{0,63}$
     */
    const char *probe;

    /*
     * What the tool may reach, NULL-terminated: "host", "*.domain.tld", an address or a network, each with or without
     * ":port" and " opaque" (see chokepoint-policy(5)), and each within what the entry lists. It needs a jail with a network
     * of its own, and asks for one: without it the request is refused as "jail_unavailable". The tool still has no route
     * out; it finds a proxy, by HTTPS_PROXY and its kin, which is in your program and works while you dispatch. NULL or
     * empty: nothing can be reached.
     */
    const char *const *egress;
    const char *const *env; /* NULL-terminated NAME=VALUE list; names that the entry grants; but see sandbox */

    enum choke_stdin stdin_kind;
    int stdin_fd;
    const void *stdin_bytes;
    size_t stdin_length;

    size_t max_output_bytes; /* per stream; 0 means 64 MiB; under 18 is "invalid" */
    choke_output_fn on_output;
    void *output_data;

    enum choke_jail jail;
    bool require_jail; /* no jail, or only a part of one, is an error and not a warning */

    /*
     * Where a copy of what the tool wrote goes, if the entry's workspace is overlay (else "invalid"): a directory that is
     * empty, the caller's own and closed to the writing of others, or one that is to be made. It must lie outside of the
     * root. NULL: what it wrote is thrown away. A file is there whole or not at all. What was deleted is in the list of changes only.
     */
    const char *keep_path;

    /*
     * For code that a model or a repository wrote ("npm test"). It needs a jail: without one the request is refused as
     * "jail_unavailable". Of your program's own environment NODE_ENV, NPM_CONFIG_* and HTTPS_PROXY are passed on (but
     * not on a probe's call), and env may name these and no others, whatever the entry grants. A name with KEY, TOKEN,
     * SECRET or PASSWORD in it, in any case, never passes, nor does a value that looks like a credential: in env they
     * are "env_forbidden". With egress HTTPS_PROXY is the one of that, whatever stood there. PATH is the policy's, HOME the
     * scratch directory, LANG and LC_ALL are fixed, and what the entry sets holds.
     */
    bool sandbox;
};

#define CHOKE_TIMEOUT_FROM_POLICY UINT64_MAX

/* ---- result ------------------------------------------------------------------------------ */

/*
 * At or under the cap, data is what the tool wrote. Over it, data is "...[TRUNCATED]..." and then the last
 * cap - 17 bytes, exactly cap bytes. Where memory ran out, less is kept, possibly nothing: truncated and the result's
 * output_incomplete are true then. data is never NULL and has a NUL behind it.
 */
struct choke_capture {
    const char *data;
    size_t length;
    uint64_t total_bytes; /* what the tool really wrote, as far as it was read */
    bool truncated;
};

/* A limit, and what held it. */
struct choke_limit {
    /* Its key in the policy: memory_mib, processes, cpu_s, file_size_mib, open_files, egress_mib, egress_connections. */
    const char *name;
    uint64_t value;
    /*
     * "cgroup2" or "cgroup1": for all processes of the run together. "rlimit": for each by itself, and processes
     * together with all others of the user. "proxy": what went through it. "none": it is not known, because what held it
     * was lost.
     */
    const char *mechanism;
};

/*
 * A difference between the repository and what a tool with `workspace: overlay` made of its view of it. A file that
 * has the same bytes and mode as before is none, whatever was done to it in between.
 */
struct choke_file_change {
    const char *path;       /* from the root, any bytes; "." is the root itself */
    const char *kind;       /* "added", "modified" (or it is of another type now), "deleted" with all in it, "mode" */
    const char *type;       /* "file", "dir", "link", "other" (a fifo, a socket); of a deleted one, what it was */
    const char *runs_later; /* why this may come to run if it is taken over, in a word or two: "git hook"; NULL */
};

/* What a run with egress did with it. */
struct choke_egress {
    const char *const *rules; /* NULL-terminated: what it could have reached, each in its one spelling */
    uint64_t allowed;         /* connections, or requests of plain HTTP */
    uint64_t refused;         /* and each way around the proxy, once, as far as events tell of them */
    uint64_t failed;          /* allowed, and not to be reached */
    uint64_t sent_bytes;      /* by the tool */
    uint64_t received_bytes;  /* by the tool */
};

struct choke_result {
    enum choke_outcome outcome;
    int exit_code; /* CHOKE_EXITED: the tool's status; else -1 */
    int signal;    /* the signal that ended the tool's process, 0 if none */
    struct choke_capture out;
    struct choke_capture err;
    bool output_incomplete; /* something still held a stream when the call ended, or there was no memory for it */
    uint64_t duration_us;
    uint64_t user_us;
    uint64_t system_us;
    uint64_t max_rss_kib;
    const char *jail;          /* "none", ...; NULL where nothing ran */
    const char *const *layers; /* NULL-terminated: what held: "no_new_privs", "execs", ... */
    const char *kill;          /* how the tree would have been killed: pidns cgroup subreaper pgroup; NULL */
    const char *tool_name;     /* NULL where argv[0] names no tool */
    const char *tool_path;     /* NULL where it was not resolved */
    const char *rule;          /* what decided, "tools.git", "search_path", "request.cwd" */
    struct choke_error error;  /* outcome CHOKE_NONE where the tool ran and ended by itself */

    const struct choke_limit *limits; /* those that the policy sets, but for the time; none where nothing ran */
    size_t limit_count;
    /*
     * The limit that the run came up against: "oom", "pids", "cpu", "fsize", "egress"; NULL for none, or none that can be
     * seen. The first two are seen in a cgroup only, "fsize" only where it ended the tool itself.
     */
    const char *limit_hit;

    /*
     * With `workspace: overlay`: what the tool changed, in the order of the paths; NULL with any other workspace, or
     * where nothing ran. Incomplete where there was too much of it to be looked at (100000 changes, 1.45 times the
     * timeout), the job was cancelled, or the warden was lost; what runs later is listed first. kept_incomplete where
     * something that was to be kept is not; what is kept is whole.
     */
    const struct choke_file_change *changes;
    size_t change_count;
    bool changes_incomplete;
    bool kept_incomplete;

    bool unrecorded; /* it was to be in the audit log, and could not be written there; the event says why */
    const struct choke_egress *egress; /* NULL where the request had none, or nothing ran */
};

CHOKE_API void choke_result_free(struct choke_result *result); /* NULL is fine */

/* ---- running ----------------------------------------------------------------------------- */

struct choke_job;

/* Runs and waits. Other jobs of the context move on meanwhile. */
CHOKE_API int choke_run(struct choke_context *context, const struct choke_request *request,
                        struct choke_result **ret_result, struct choke_error *error);

/*
 * Starts and returns. A refused request is a job too: it is finished from the start and comes out of
 * choke_next(). The job belongs to the caller: free it, or leave it to choke_context_free.
 */
CHOKE_API int choke_start(struct choke_context *context, const struct choke_request *request,
                          struct choke_job **ret_job, struct choke_error *error);

/*
 * Readable when choke_dispatch has something to do. Belongs to the context: do not read or close it. It is an epoll
 * descriptor itself; with egress it can be in an epoll of yours, and that in one more, and not deeper.
 */
CHOKE_API int choke_fd(const struct choke_context *context);

/*
 * Does what is due, without blocking: of what an ended run left to be listed, kept and removed, one slice of about a MiB or
 * 256 entries a call, for the jobs in turn. Returns the number of finished jobs waiting in choke_next(), or a negative errno.
 */
CHOKE_API int choke_dispatch(struct choke_context *context, struct choke_error *error);

/* Blocks until a job is finished or timeout_ms has passed (-1: no bound), then as choke_dispatch. */
CHOKE_API int choke_wait(struct choke_context *context, int timeout_ms, struct choke_error *error);

/* The next finished job, each once; NULL when there is none. */
CHOKE_API struct choke_job *choke_next(struct choke_context *context);

/* How many jobs are not finished. */
CHOKE_API size_t choke_running(const struct choke_context *context);

/*
 * SIGTERM to the tree, SIGKILL 50 ms later. Where the tool has ended, what is still being listed or kept is cut. Returns at
 * once; harmless for a finished job.
 */
CHOKE_API void choke_cancel(struct choke_job *job);
CHOKE_API void choke_cancel_all(struct choke_context *context);

/* NULL until the job is finished; belongs to the job. */
CHOKE_API const struct choke_result *choke_job_result(const struct choke_job *job);

/* The timeout that the job has, also where it came from the policy; 0 for one that was refused. */
CHOKE_API uint64_t choke_job_timeout_ms(const struct choke_job *job);

/* A pointer of your own on the job. */
CHOKE_API void choke_job_set_data(struct choke_job *job, void *data);
CHOKE_API void *choke_job_data(const struct choke_job *job);

/* A running job is cancelled, and freed once it has ended. NULL is fine. */
CHOKE_API void choke_job_free(struct choke_job *job);

/* ---- looking, not running ---------------------------------------------------------------- */

/*
 * What a request would do. The tool is not run and nothing is written; a jail that is wanted for the first time is tried,
 * by processes of its own. outcome is CHOKE_NONE where the request would be run; else it and error say why not, and fields that were not reached are NULL.
 */
struct choke_decision {
    enum choke_outcome outcome;
    const char *rule;
    const char *tool_name;
    const char *tool_path;
    const char *const *argv;
    const char *const *env; /* NAME=VALUE, exactly what the tool would get */
    const char *root;       /* as resolved */
    const char *cwd;
    uint64_t timeout_ms;
    const char *jail;
    const char *const *layers;
    const char *const *mounts;    /* native: what is in the jail, or what may be done with what; else NULL */
    const char *const *jail_argv; /* bwrap: its whole command line; else NULL */
    struct choke_error error;
    const char *const *egress; /* what could be reached, each rule in its one spelling; NULL: nothing */
};

CHOKE_API int choke_explain(struct choke_context *context, const struct choke_request *request,
                            struct choke_decision **ret_decision, struct choke_error *error);
CHOKE_API void choke_decision_free(struct choke_decision *decision); /* NULL is fine */

/* ---- the policy -------------------------------------------------------------------------- */

struct choke_tool_info {
    const char *name;
    const char *why;
    const char *adr;
    const char *route; /* "direct", "external", "jail" */
    bool required;
    const char *install; /* one command line that installs it here, or NULL */
};

/* Tools in the order of the policy; false past the end. Strings live as long as the context. */
CHOKE_API bool choke_tool(const struct choke_context *context, size_t index, struct choke_tool_info *ret_info);

/*
 * Reads a file that is to decide something, with the distrust that a policy gets: it must be a regular file of at most
 * max_bytes that only root or the caller can have written, by a way that nobody else can redirect, and not inside root (NULL:
 * no such bound). *ret_text has a NUL behind it and is freed with free(). -EPERM and words where it is not to be trusted.
 */
CHOKE_API int choke_read_trusted(const char *path, const char *root, size_t max_bytes, char **ret_text,
                                 size_t *ret_length, struct choke_error *error);

/* ---- reviewing a policy ------------------------------------------------------------------ */

/*
 * A policy that is looked at and not obeyed: no context is needed, and nothing can be run by it.
 *
 *   1. choke_policy_open()     reads a file, or takes the embedded policy.
 *   2. choke_policy_check()    what is wrong with it; choke_policy_json(), all that it says;
 *      choke_policy_diff()     what changed from one to another.
 *   3. choke_policy_free()     frees it, with its findings and its JSON.
 *
 * Use it in one thread at a time.
 */
struct choke_policy;

/*
 * path NULL: the policy embedded in the library. Any regular file of at most 1 MiB will do, wherever it lies and
 * whoever may write it: what choke_context_new would refuse for that is a finding here. Text that is no policy is a
 * finding as well, so this returns 0 for it. A negative errno where the file cannot be read.
 */
CHOKE_API int choke_policy_open(const char *path, struct choke_policy **ret_policy, struct choke_error *error);
CHOKE_API void choke_policy_free(struct choke_policy *policy); /* NULL is fine */

/* The words (choke_severity_name) are "note", "warning" and "error". */
enum choke_severity {
    CHOKE_SEVERITY_NOTE = 1, /* something that could not be looked at */
    CHOKE_SEVERITY_WARNING,  /* allowed, but look twice */
    CHOKE_SEVERITY_ERROR     /* a policy that must not pass review, or that no run would take */
};

struct choke_finding {
    enum choke_severity severity;
    const char *tool;    /* NULL where it is not about one */
    unsigned line;       /* from 1; 0 where it is not about a place in the file */
    unsigned column;     /* from 1; 0 where only the line is known */
    const char *rule;    /* "policy", "file", "adr_dir", "tools.git.adr", "tools.git.args" */
    const char *message; /* one line; untrusted bytes are escaped */
};

CHOKE_API const char *choke_severity_name(enum choke_severity severity);

/*
 * What is wrong, in the order of the file. Errors: what the loader refuses (the first such fault, with its place); a
 * decision record that is not in adr_dir as a regular file NNNN-*.md, or no adr_dir at all. Warnings: a direct tool
 * without argument rules; egress that is opaque; two records with one number; a file that a run would refuse because
 * others may write it.
 * The embedded policy has no file that adr_dir could be relative to, so its records are not looked for: a note.
 *
 * Returns 0 and the findings, which live as long as the policy; a negative errno when out of memory.
 */
CHOKE_API int choke_policy_check(struct choke_policy *policy, const struct choke_finding **ret_findings,
                                 size_t *ret_count, struct choke_error *error);

/*
 * All that the policy says, as one line of JSON text that lives as long as the policy. -EINVAL where it is no policy.
 *
 *   {"format": 1, "file", "version", "adr_dir", "search_path": [...], "tools": [{...}]}
 *
 * A tool has every key of chokepoint-policy(5) under its own name: null where it is absent and absence has a meaning
 * (args, path, sha256, execs, limits.timeout_s ...), its default where it has one; and "line". In args and
 * its subcommands "options" are the list with the sets put in, and "sets" are given as they stand. format is
 * raised when a member changes its meaning or goes away, not when one is added.
 */
CHOKE_API int choke_policy_json(struct choke_policy *policy, const char **ret_text, struct choke_error *error);

/* The words (choke_change_kind_name) are "neutral", "narrows" and "widens". */
enum choke_change_kind {
    CHOKE_CHANGE_NEUTRAL = 1, /* has no effect on what may be run */
    CHOKE_CHANGE_NARROWS,     /* allows less, and nothing new */
    CHOKE_CHANGE_WIDENS       /* allows something new, or cannot be proven not to */
};

CHOKE_API const char *choke_change_kind_name(enum choke_change_kind kind);

struct choke_change {
    enum choke_change_kind kind;
    const char *tool;   /* NULL: the policy as a whole */
    const char *field;  /* "args.subcommands.log.options", "egress"; "tools" where the entry itself came or went */
    const char *before; /* NULL: it was not there */
    const char *after;  /* NULL: it is gone */
    const char *adr;    /* the record that the tool's entry cites, in the new policy where it is there; NULL */
    bool covered;       /* widens: a new or amended record stands behind it; else true */
    const char *reason; /* why it is not covered; NULL where it is */
    const char *why;    /* what is granted now that was not, where before and after do not show it; or NULL */
};

struct choke_diff {
    const struct choke_change *changes;
    size_t count;
    size_t widens;
    size_t narrows;
    size_t neutral;
    size_t uncovered; /* of those that widen */
};

/*
 * What changed. A widening of a tool is covered when its entry in the new policy cites a decision record that the old
 * policy's adr_dir does not have, or has with other bytes; nor may the directory of that name beside the old policy have it,
 * where the new policy names another one. One of the policy as a whole (search_path) is covered when
 * any record is new or amended. Records are files NNNN-*.md, not empty, in adr_dir relative to each policy's file.
 * Where the old policy names an adr_dir that cannot be read, nothing is covered: a comparison with nothing would
 * make every record a new one.
 *
 * -EINVAL where one of the two is no policy: the message has its first fault. The diff is freed by choke_diff_free
 * and must not outlive the policies.
 */
CHOKE_API int choke_policy_diff(struct choke_policy *old_policy, struct choke_policy *new_policy,
                                struct choke_diff **ret_diff, struct choke_error *error);
CHOKE_API void choke_diff_free(struct choke_diff *diff); /* NULL is fine */

/* ---- reading the record ------------------------------------------------------------------ */

/*
 * An audit log is read without a context, by anybody who may read the file. docs/audit.md has the format, and what a
 * chain of hashes can and cannot prove.
 *
 * What is wrong with a log. The words (choke_damage_name) are stable.
 */
enum choke_damage {
    CHOKE_DAMAGE_NONE = 0,   /* "none" */
    CHOKE_DAMAGE_EDITED,     /* "edited": the line's own hash does not fit its bytes */
    CHOKE_DAMAGE_REORDERED,  /* "reordered": the record that belongs here stands further down */
    CHOKE_DAMAGE_DROPPED,    /* "dropped": the record that belongs here is missing */
    CHOKE_DAMAGE_DUPLICATED, /* "duplicated": a record stands here that has a place elsewhere too */
    CHOKE_DAMAGE_CUT,        /* "cut": the log ends before the record that a head names, or has none at all */
    CHOKE_DAMAGE_REBUILT,    /* "rebuilt": whole in itself, but not what the record before, or a head, vouches for */
    CHOKE_DAMAGE_SPLICED,    /* "spliced": a record of another log */
    CHOKE_DAMAGE_TORN,       /* "torn": the last line is not whole; the next writer repairs that, and says so */
    CHOKE_DAMAGE_MALFORMED   /* "malformed": a line that is no record, and that no repair vouches for */
};

CHOKE_API const char *choke_damage_name(enum choke_damage damage);

/* One record, as it stands in the log. Pointers are valid during the callback only. */
struct choke_audit_record {
    const char *file;
    uint64_t line;    /* in this file, from 1 */
    bool proven;      /* false: it stands behind the first damage, and only its own hash is right */
    const char *log;  /* the name of the log, 16 hexadecimal digits */
    uint64_t seq;     /* from 0, through all files of the log */
    const char *time; /* "2026-11-15T16:38:18.123456Z" */
    const char *kind; /* "begin", "intent", "outcome", "refused", "repair", ... */
    const char *hash;
    const char *text; /* the whole line, JSON, without control characters and without the newline; no NUL behind it */
    size_t length;
};

struct choke_audit_report {
    enum choke_damage damage; /* the first that was found; CHOKE_DAMAGE_NONE: all that was looked at holds */
    const char *file;         /* of the damage, or the last that was read; "" for none */
    uint64_t line;            /* of the damage; 0 where there is none, or no line to blame */
    const char *message;      /* what is wrong with it, one line; "" where nothing is */
    size_t files;             /* that were read */
    uint64_t records;         /* that are proven: the chain holds up to the last of them */
    uint64_t first_seq;       /* of these; not 0 where the files before were not given */
    uint64_t repairs;         /* torn writes that a later writer found, and vouches for */
    size_t heads;             /* of those given, how many hold */
    size_t unchecked;         /* of these, how many are signed while no key was given */
    const char *head;         /* the last proven record as the text of a head; NULL where there is none */
};

/* Zero-filled: no file, which is an error. */
struct choke_audit_query {
    const char *const *paths; /* ends with NULL; the files of one log, in their order; "-" is standard input */
    bool rotated; /* each path stands for the files that it was rotated into too, which are read before it */
    /*
     * NULL, or a list that ends with NULL: heads of this log that were kept elsewhere. The log must have the record that
     * each names, with its hash. Where public_key is given, the text of one, each must be signed with it.
     */
    const char *const *heads;
    const char *public_key;
    bool unproven; /* go on behind the first damage, with all lines that are records by themselves */
    /*
     * May be NULL. A record that is handed out as proven follows those before it; whether the heads hold is in the report.
     * Returns false to end here: then the report is about what was read so far.
     */
    bool (*on_record)(void *data, const struct choke_audit_record *record);
    /*
     * NULL: at the end of the last file is the end. Else it is asked there, with the report as of now, valid during the
     * call: true to look again, after a wait of its own. What was appended since is read, also across a rotation.
     */
    bool (*on_end)(void *data, const struct choke_audit_report *report);
    void *data;
};

/*
 * Reads a log from its first line to its last, in constant memory, and proves each record: by its own hash, and by the
 * record before. Damage is in the report, and so is the first line that has it; 0 is returned for it all the same. A
 * negative errno where a file cannot be read, or a head is none or not signed by the key: nothing is proven then.
 *
 * Without a head the chain proves that nothing in it was altered, but not that its end is there, nor that it was not
 * written anew as a whole. A line that is being written while it is read is waited for.
 */
CHOKE_API int choke_audit_verify(const struct choke_audit_query *query, struct choke_audit_report **ret_report,
                                 struct choke_error *error);
CHOKE_API void choke_audit_report_free(struct choke_audit_report *report); /* NULL is fine */

#define CHOKE_AUDIT_HEAD_MAX 256
#define CHOKE_AUDIT_KEY_MAX 64

/*
 * The head of the log at path: its last whole record, as text to be kept where who can write the log cannot. Only this
 * record is looked at, so it takes no longer for a long log. secret_key_path: sign it with this key; NULL: do not.
 */
CHOKE_API int choke_audit_head(const char *path, const char *secret_key_path, char ret_head[CHOKE_AUDIT_HEAD_MAX],
                               struct choke_error *error);

/* A new key pair: path, for its owner alone, and path.pub. Neither may exist. ret_public_key gets the text of the latter. */
CHOKE_API int choke_audit_keygen(const char *path, char ret_public_key[CHOKE_AUDIT_KEY_MAX], struct choke_error *error);

#ifdef __cplusplus
}
#endif

#include "chokepoint-lint.h"  /* choke_lint */
#include "chokepoint-ready.h" /* choke_doctor, choke_lock_write, choke_lock_check */

#endif
