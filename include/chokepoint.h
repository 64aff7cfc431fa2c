/*
 * chokepoint.h - the whole public interface of libchokepoint, and its manual.
 *
 * chokepoint is the one door through which a program runs other programs. Only tools that a
 * reviewed policy lists are run. A tool gets an environment that is built and not inherited, and a
 * working directory that no symlink can lead out of the repository. Its time is bounded, its output
 * is captured in bounded memory, and nothing is left running.
 *
 * A BLOCKING RUN
 *
 *   1. choke_context_new()     loads the policy. No process is created yet.
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
 *   comes out of choke_next(). choke_pause() lets a tool wait whose output comes too fast.
 *
 * STRUCTS THAT GROW
 *
 *   A struct that the caller fills ends, in its first version, with struct_size. Later versions add
 *   members after it. 0 means the first version, so a zero-filled struct and designated
 *   initialisers are right without it. To use a later member, set struct_size to the sizeof of the
 *   struct. A library that does not know that member refuses the call with -E2BIG, unless it is 0.
 *   Structs that the library returns grow at their end too; never copy one by its size.
 *
 * WHAT RETURNS WHAT
 *
 *   A refusal is a result: the call returns 0, and result->outcome says which kind it is. So is a
 *   tool that cannot be found or started. A call returns a negative errno only when it could not do
 *   its own work: out of memory, a context used after fork(), a NULL where a value is required.
 *   Then *error (if given) has the message.
 *
 * WHAT IT DOES TO YOUR PROGRAM
 *
 *   No signal handler, no thread that outlives a call, no change to your signal mask after a call
 *   has returned, no mutable global except the warn-once flags. The first allowed run of a context
 *   creates one child process, the keeper. The keeper creates, adopts and kills the tools. The size
 *   of your program does not matter, because your program is never forked. If you reap the keeper
 *   with waitpid(-1), nothing is lost. A program that waits until it has *no* child must free the
 *   context first. All descriptors are close-on-exec. After a program has closed them (closefrom),
 *   calls return -EBADF; the context can still be freed, and descriptors that reuse the numbers are
 *   not closed.
 *
 *   A thread with a stack of 64 KiB is enough for every call. No write raises SIGXFSZ: where
 *   RLIMIT_FSIZE is too small for a call (a run needs at most 128 KiB), the call fails with EFBIG,
 *   and a run ends as "spawn_failed".
 *
 *   Use a context in one thread at a time; several threads use several contexts. After fork()
 *   without exec the child must not use the parent's context (it gets -EOWNERDEAD).
 *
 * WHAT A TOOL FINDS
 *
 *   Its arguments; the environment PATH HOME LANG LC_ALL plus what the entry sets and grants; the
 *   working directory; stdin as requested (else /dev/null); two pipes; and no other descriptor. (A
 *   script with a sha256 in its entry also finds itself, as descriptor 3.) It has its own session
 *   without a terminal, default signal dispositions, an empty signal mask, umask 022, no_new_privs.
 *
 *   User, groups, capabilities, securebits, root directory, namespaces (user, mount, network, IPC),
 *   resource limits, priority, processors and cgroups are those of the thread that starts the tool,
 *   at that moment. If they have changed since an earlier run, the context creates another keeper
 *   and proves its jails again; a running job continues as it was started. Some changes are not
 *   seen, so these stay as they were when the keeper was created: a second seccomp filter, the
 *   session keyring, the label of a security module, the pid, uts, time and cgroup namespaces, and
 *   a Landlock domain that is entered without CAP_SYS_PTRACE after no_new_privs was set. A program
 *   that changes one of these frees the context first and makes another.
 *
 *   In a jail, stdin is never a descriptor of the caller: with one, a tool could change the mode,
 *   owner, times and attributes of the file. It is the /dev/null of the jail, or a pipe into which
 *   the requested input is copied. So the tool cannot seek in it, and more may have been read from
 *   stdin_fd than the tool has read. A source that cannot be read at all is an empty stream. If
 *   reading fails later, or the process that copies is killed, the run ends as cancelled: a part of
 *   the input is never taken for the whole.
 *
 * WHEN A CALL ENDS
 *
 *   A call ends when the tool's own process has ended. Processes that it left (daemons, double
 *   forks, other sessions) are killed then. If one of them still held stdout or stderr,
 *   output_incomplete is true. At the timeout the whole tree gets SIGTERM, and SIGKILL 100 ms later
 *   (less for timeouts under 250 ms), so the call has returned by 1.5 times the timeout.
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
 * How a call ended. The names (choke_outcome_name) are stable; scripts may depend on them.
 * Zero is not an outcome, so that a zero-filled struct never reads as success.
 */
enum choke_outcome {
    CHOKE_NONE = 0,
    CHOKE_EXITED,           /* "exited": the tool ended by itself; exit_code has its status */
    CHOKE_SIGNALED,         /* "signaled": ended by a signal that chokepoint did not send */
    CHOKE_TIMEOUT,          /* "timeout": killed at its deadline */
    CHOKE_CANCELLED,        /* "cancelled": the caller cancelled it, or its keeper was lost */
    CHOKE_DISALLOWED,       /* "disallowed": the policy does not allow it */
    CHOKE_TOOL_MISSING,     /* "tool_missing": allowed, but not installed */
    CHOKE_INVALID,          /* "invalid": the request itself is malformed */
    CHOKE_CWD,              /* "cwd": not a directory, or outside the root */
    CHOKE_ENV_FORBIDDEN,    /* "env_forbidden": a variable the entry does not grant */
    CHOKE_JAIL_UNAVAILABLE, /* "jail_unavailable": the requested jail is not available */
    CHOKE_POLICY,           /* "policy": the policy cannot be loaded, or is inside the root */
    /*
     * "spawn_failed": found, but could not be started. Where this may be temporary (no process, no
     * memory, no descriptor, no namespace now) the message names the limit, if it can be found, and
     * says "try again".
     */
    CHOKE_SPAWN_FAILED
};

CHOKE_API const char *choke_outcome_name(enum choke_outcome outcome);

/*
 * If the text has a well-known credential in it: what kind it looks like ("a GitHub token"). Else
 * NULL. The library refuses such arguments and variables, and shows none in messages, events and
 * records. Use this for text that your program shows.
 */
CHOKE_API const char *choke_credential_kind(const char *text);

/* ---- errors ------------------------------------------------------------------------------ */

#define CHOKE_MESSAGE_MAX 1024

/*
 * Filled once, where the fault is noticed. Untrusted bytes in the message are escaped. line and
 * column count from 1; they are 0 where the error is not about a place in a file.
 */
struct choke_error {
    enum choke_outcome outcome;
    int errnum; /* a positive errno, or 0 */
    unsigned line;
    unsigned column;
    char message[CHOKE_MESSAGE_MAX];
};

/* ---- events ------------------------------------------------------------------------------ */

struct choke_job;

enum choke_level { CHOKE_DEBUG = 1, CHOKE_INFO, CHOKE_WARNING };

struct choke_field {
    const char *key;
    const char *value; /* control bytes escaped */
};

/*
 * Something to report. Names, levels and fields:
 *   subproc.<jail>.wrapped   debug   probe_name, egress
 *   subproc.<jail>.skipped   warning reason (not_installed, not_permitted, not_linux); what is used
 *                                    instead: jail, layers; probe_name; once per process for each
 *                                    jail that was skipped
 *   subproc.git.hidden       warning tool, message, probe_name: the git directory of a worktree or
 *                                    submodule is not proven to be its own, so the jail hides it
 *   subproc.started          info    tool, path, jail, probe_name; workspace_code, loopback ("true")
 *   subproc.workspace.noexec warning tool, mount, probe_name: nothing on this mount is executed
 *   subproc.exited           info    tool, outcome, code, duration_ms, probe_name
 *   subproc.denied           warning tool, kind, path, by, errno, add, probe_name, for each denial;
 *                                    and one with more, the number of the others, if there are any
 *   subproc.timeout          warning tool, timeout_ms, probe_name
 *   subproc.refused          warning tool, outcome, rule, message, probe_name
 *   subproc.changes.cut      warning tool, reason (timeout, cancelled), changes (listed so far),
 *                                    kept (incomplete, or empty), probe_name: some are missing
 *   subproc.stdout.truncated warning probe_name, stream, bytes
 *   tool.missing             warning tool, required ("true"), install (the command that installs it,
 *                                    or a page that says how): see report_missing
 *   audit.repaired           warning path, bytes: those that an interrupted write left are recorded
 *   audit.unrecorded         warning path, tool, outcome, message, probe_name: a refusal, or how a
 *                                    run ended, is not in the log
 *   audit.unrotated          warning path, message: the log has its full size and still grows
 *   subproc.egress.allowed   info    tool, host, port, rule, address, via, protocol, connection,
 *                                    probe_name
 *   subproc.egress.refused   warning the same, as far as it is known, and reason, message; also
 *                                    direct attempts, which did not ask the proxy (reason "direct",
 *                                    connection 0), where layers have "egress_named"
 *   subproc.egress.failed    warning the same: allowed, but could not be reached
 *   subproc.egress.closed    info    the same, and sent_bytes, received_bytes; once for each allowed
 * Pointers are valid during the callback only. The callback is called by the thread that is in a
 * call of the context. It must not call into the same context, except choke_job_data,
 * choke_job_timeout_ms, choke_pause and choke_resume.
 */
struct choke_event {
    enum choke_level level;
    const char *name;
    const struct choke_field *fields;
    size_t field_count;
    /* The job that it is about; NULL for audit.repaired and audit.unrotated. Some events come before
     * choke_start has returned the job: use job_data of the request to know it by then. */
    struct choke_job *job;
};

typedef void (*choke_event_fn)(void *data, const struct choke_event *event);

/* ---- context ----------------------------------------------------------------------------- */

struct choke_context;

/* When a record is on the disk. It is in the file when a call returns, and outlives your program. */
enum choke_audit_sync {
    /* at most a second later if more records follow; and when the context is freed */
    CHOKE_AUDIT_SYNC_BATCHED = 0,
    /* the intent before the tool starts, the outcome before choke_next has the job */
    CHOKE_AUDIT_SYNC_EVERY,
    CHOKE_AUDIT_SYNC_NONE /* when the kernel writes it; a locked policy refuses this */
};

/* Where calls are recorded. */
enum choke_audit_log {
    CHOKE_AUDIT_NAMED = 0, /* in audit_path; without it nowhere */
    CHOKE_AUDIT_DEFAULT,   /* in the default log, choke_audit_default_path(); audit_path is NULL */
    CHOKE_AUDIT_OFF        /* nowhere, which a locked policy refuses; audit_path is NULL */
};

/*
 * Zero-filled: the machine's policy or the embedded one, no events, no audit.
 *
 * If the machine's policy is locked (chokepoint-policy(5)) and the caller is not root, the log is
 * the default one, also if none is named. With another policy_path, another audit_path,
 * CHOKE_AUDIT_OFF or CHOKE_AUDIT_SYNC_NONE every run is refused; choke_locked() says so at once.
 */
struct choke_options {
    /*
     * The policy file; NULL: the machine's, /etc/chokepoint/policy.yaml, else the one embedded in
     * the library. Refused: a file that anyone but its owner may write, one of another user than
     * root or the caller, one over 1 MiB, and, for each request, one inside the request's root.
     */
    const char *policy_path;
    choke_event_fn on_event;
    void *event_data;

    /*
     * The audit log. Every call is recorded in it, refused calls too: what is about to run, before
     * it runs, and how it ended. NULL: no log. A missing log is created (mode 0600), and its
     * directory (0700). Any number of processes and threads may write to one log. A relative path
     * is taken from the working directory as it is now.
     *
     * No record, no run. A call that would run ends as "spawn_failed" by the rule "audit" if the
     * log cannot be written: the disk is full, permission is missing, the log was deleted or
     * exchanged while in use, or it is a symlink, owned by another user or in a place that is not
     * trusted. So does a call with a tool that could write to the log: the log is beneath the root,
     * and the entry's workspace is rw. The next call tries again.
     *
     * The first call of a tool reads its file for the digest, which choke_doctor's cache keeps.
     */
    const char *audit_path;
    enum choke_audit_sync audit_sync;
    uint64_t audit_max_bytes; /* at this size the log is rotated, see docs/audit.md; 0: never */
    enum choke_audit_log audit_log;
    /*
     * Reports each tool of the policy that is not installed once, now, by the event tool.missing.
     * It looks for the files only: nothing is run or hashed.
     */
    bool report_missing;
    size_t struct_size; /* see "structs that grow" */
};

/* options may be NULL. error->outcome is CHOKE_POLICY where the fault is in the policy. */
CHOKE_API int choke_context_new(const struct choke_options *options, struct choke_context **ret_context,
                                struct choke_error *error);

/*
 * Ends every job as choke_cancel_all does, waits for the end (at most 20 s), frees all jobs. NULL
 * is fine. Changes that are not listed or kept by then are not listed or kept any more. The event
 * subproc.changes.cut says so; the files that are kept are complete.
 *
 * In a forked child it is safe, and ends nothing: it releases the memory and the child's copies of
 * the descriptors.
 */
CHOKE_API void choke_context_free(struct choke_context *context);

/*
 * The same for a caller that must not wait, a finalizer for example. Every tree is killed at once,
 * without SIGTERM, and its end is not waited for. Jobs end as "cancelled". No callback is called any
 * more. The audit log gets its records but is not synced. The call waits at most 50 ms for the
 * keeper. A keeper that needs longer to kill everything ends by itself later; its status is then left
 * for your program to reap.
 */
CHOKE_API void choke_context_discard(struct choke_context *context); /* NULL is fine */

/*
 * Events below this level are not made from now on, which saves some microseconds of each run. A new
 * context makes all of them, if it has a callback. To be called between two calls of the context; jobs may
 * run meanwhile.
 */
CHOKE_API void choke_context_set_level(struct choke_context *context, enum choke_level least);

/*
 * The policy that the context uses, as choke_policy_json prints it. The text lives as long as the
 * context. -ENOMEM when out of memory.
 */
CHOKE_API int choke_context_policy_json(struct choke_context *context, const char **ret_text,
                                        struct choke_error *error);

/* ---- request ----------------------------------------------------------------------------- */

enum choke_jail {
    CHOKE_JAIL_DEFAULT = 0, /* direct tool: none; external tool: auto; workspace overlay: native */
    CHOKE_JAIL_AUTO,        /* native, then bwrap, then none with one warning */
    CHOKE_JAIL_NATIVE,
    CHOKE_JAIL_BWRAP,
    CHOKE_JAIL_NONE
};

enum choke_stdin {
    CHOKE_STDIN_NULL = 0, /* /dev/null */
    CHOKE_STDIN_BYTES,    /* stdin_bytes, stdin_length; copied by the call */
    CHOKE_STDIN_FD        /* stdin_fd; the caller may close it after the call; in a jail: by a pipe */
};

enum choke_stream { CHOKE_STDOUT = 1, CHOKE_STDERR = 2 };

/*
 * Bytes as they arrive, before any truncation, by the thread that dispatches. Must not call into the
 * same context, except choke_job_data, choke_job_timeout_ms, choke_pause and choke_resume. If it
 * waits, the tool waits too, and is still ended at its timeout.
 */
typedef void (*choke_output_fn)(void *data, enum choke_stream stream, const void *bytes, size_t length);

#define CHOKE_DEFAULT_OUTPUT_BYTES ((size_t)64 << 20)
#define CHOKE_MIN_OUTPUT_BYTES ((size_t)18)

/*
 * What to run. A zero-filled request is refused: without argv, root, cwd and timeout_ms it is
 * "invalid". Everything is copied; nothing needs to live longer than the call.
 */
struct choke_request {
    const char *const *argv; /* NULL-terminated; argv[0] is the name of a tool, not a path */
    const char *root;        /* the repository; no path of the call may leave it */
    const char *cwd;         /* a relative path is taken from root; "." is root itself */
    uint64_t timeout_ms;     /* 1 ms to 365 days; or CHOKE_TIMEOUT_FROM_POLICY: the entry's limit */

    /* ^[a-z][a-z0-9_]{0,63}$: makes it a "run external" with an empty env. NULL: an ordinary run. */
    const char *probe;

    /*
     * What the tool may reach, NULL-terminated: "host", "*.domain.tld", an address or a network,
     * each with or without ":port" and " opaque" (see chokepoint-policy(5)), and each within what
     * the entry lists. This needs a jail with a network namespace, and requests one: without it the
     * request is refused as "jail_unavailable". The tool still has no route out. It finds a proxy
     * by HTTPS_PROXY and similar variables; the proxy is in your program and works while you
     * dispatch. NULL or empty: nothing can be reached.
     */
    const char *const *egress;
    const char *const *env; /* NULL-terminated NAME=VALUE; what the entry grants; see sandbox */

    enum choke_stdin stdin_kind;
    int stdin_fd;
    const void *stdin_bytes;
    size_t stdin_length;

    size_t max_output_bytes; /* per stream; 0 means 64 MiB; under 18 is "invalid" */
    choke_output_fn on_output;
    void *output_data;

    enum choke_jail jail;
    bool require_jail; /* no jail, or only a part of one: an error, not a warning */

    /*
     * The directory that gets a copy of what the tool wrote, if the entry's workspace is overlay
     * (else "invalid"). It must be empty, owned by the caller and not writable by others; it is
     * created if it is missing. It must be outside the root. NULL: what the tool wrote is
     * discarded. A file is there complete or not at all. Deleted files are only in the changes.
     */
    const char *keep_path;

    /*
     * For code that a model or a repository wrote ("npm test"). It needs a jail: without one the
     * request is refused as "jail_unavailable". From your program's environment NODE_ENV,
     * NPM_CONFIG_* and HTTPS_PROXY are passed on (but not in a probe's call). env may name these
     * and no others, whatever the entry grants. A name with KEY, TOKEN, SECRET or PASSWORD in it,
     * in upper or lower case, is never passed on, nor is a value that looks like a credential; in
     * env they are "env_forbidden". With egress, HTTPS_PROXY is always the proxy of this run. PATH
     * comes from the policy, HOME is the scratch directory, LANG and LC_ALL are fixed, and what the
     * entry sets is set.
     */
    bool sandbox;
    size_t keep_head_bytes; /* over the cap, also keep the first bytes; at most the cap - 18 */
    /*
     * Name everything that the native jail refuses, not only executions: files that were not mapped
     * as code, opened or written, and connections. Such a run takes longer. Other jails name
     * nothing.
     */
    bool why;
    void *job_data;     /* choke_job_data of the job from its first event on */
    size_t struct_size; /* see "structs that grow" */
    /*
     * Where the entry's workspace is rw, take an overlay in its place: the repository stays as it
     * is, and the result lists what the tool wrote and what of it would run later. Needs the native
     * jail.
     */
    bool overlay;
};

#define CHOKE_TIMEOUT_FROM_POLICY UINT64_MAX

/* ---- result ------------------------------------------------------------------------------ */

/*
 * Up to the cap, data is what the tool wrote. Over the cap, data is the first keep_head_bytes,
 * "...[TRUNCATED]..." and then the last cap - 17 - keep_head_bytes bytes, exactly cap bytes in all.
 * If memory ran out, less is kept, possibly nothing, and possibly no head; then truncated and the
 * result's output_incomplete are true. data is never NULL and is NUL-terminated.
 */
struct choke_capture {
    const char *data;
    size_t length;
    uint64_t total_bytes; /* what the tool really wrote, as far as it was read */
    bool truncated;
};

/* A limit, and what enforced it. */
struct choke_limit {
    const char *name; /* its key in `limits` of the policy: "memory_mib", "processes", ... */
    uint64_t value;
    /*
     * "cgroup2" or "cgroup1": for all processes of the run together. "rlimit": for each process,
     * but processes are counted together with all others of the user. "proxy": for what went
     * through the proxy. "none": not known, because what enforced it was lost.
     */
    const char *mechanism;
};

/*
 * A difference between the repository and the view of it that a tool with `workspace: overlay`
 * left. A file that has the same bytes and mode as before is not listed.
 */
struct choke_file_change {
    const char *path; /* from the root, any bytes; "." is the root itself */
    /* "added", "modified" (or it has another type now), "deleted" with all in it, "mode" */
    const char *kind;
    /* "file", "dir", "link", "other" (a fifo, a socket); of a deleted one, what it was */
    const char *type;
    const char *runs_later; /* why it may run if you copy it, in a word or two: "git hook"; NULL */
};

/* How a run with egress used it. */
struct choke_egress {
    const char *const *rules; /* NULL-terminated: what it could reach, in canonical form */
    uint64_t allowed;         /* connections, or requests of plain HTTP */
    uint64_t refused;         /* with each direct attempt once, as far as events report them */
    uint64_t failed;          /* allowed, but could not be reached */
    uint64_t sent_bytes;      /* by the tool */
    uint64_t received_bytes;  /* by the tool */
};

/* What the jail of a run refused. The names are the tool's: it can show a wrong one, no more. */
struct choke_denial {
    const char *kind; /* "exec"; with why of the request also "map", "open", "write", "connect" */
    const char *path; /* escaped; "": it could not be read; of "connect" an address or a kind of socket */
    const char *by;   /* the tool, or the program that it had started; escaped */
    int errnum;       /* what the tool got */
    const char *add;  /* a line for the policy, "uses: [shell]"; NULL: ask the owner of the policy */
};

struct choke_result {
    enum choke_outcome outcome;
    int exit_code; /* CHOKE_EXITED: the tool's status; else -1 */
    int signal;    /* the signal that ended the tool's process; 0: none */
    struct choke_capture out;
    struct choke_capture err;
    bool output_incomplete; /* a process still held a stream at the end, or memory ran out */
    uint64_t duration_us;
    uint64_t user_us;
    uint64_t system_us;
    uint64_t max_rss_kib;
    const char *jail;          /* "none", ...; NULL if nothing ran */
    const char *const *layers; /* NULL-terminated: active layers: "no_new_privs", ... */
    const char *kill;          /* how the tree is killed: pidns cgroup subreaper pgroup; NULL */
    const char *tool_name;     /* NULL if argv[0] does not name a tool */
    const char *tool_path;     /* NULL if it was not resolved */
    const char *rule;          /* what decided: "tools.git", "search_path", "request.cwd" */
    struct choke_error error;  /* outcome CHOKE_NONE if the tool ran and ended by itself */

    const struct choke_limit *limits; /* set by the policy, except the time; none if nothing ran */
    size_t limit_count;
    /*
     * The limit that the run reached: "oom", "pids", "cpu", "fsize", "egress"; NULL for none, or
     * none that can be detected. The first two are detected in a cgroup only, "fsize" only where it
     * ended the tool itself.
     */
    const char *limit_hit;

    /*
     * With `workspace: overlay`: what the tool changed, sorted by path; NULL with any other
     * workspace, or if nothing ran. changes_incomplete: there was too much to look at (100000
     * changes, 1.45 times the timeout), the job was cancelled, or the warden was lost; files that
     * run later are listed first. kept_incomplete: something that should be kept is not; what is
     * kept is complete.
     */
    const struct choke_file_change *changes;
    size_t change_count;
    bool changes_incomplete;
    bool kept_incomplete;

    bool unrecorded;                   /* not in the audit log; the event says why */
    const struct choke_egress *egress; /* NULL if the request had none, or nothing ran */
    bool workspace_code;               /* files beneath the root could be executed */
    bool loopback;                     /* the run had its own 127.0.0.1 and ::1 */

    /* Each refusal once, 64 at most. NULL: nobody watched (layers lack "execs_named"). */
    const struct choke_denial *denied;
    size_t denied_count;
    uint64_t denied_more; /* how many more */

    uint64_t timeout_ms; /* that applied, also if it came from the policy; 0 if the call was refused */

    /*
     * The run was in a jail without a network, and the entry would have let the request ask for
     * these rules in egress, NULL-terminated. NULL if it asked for some, or may ask for none.
     */
    const char *const *egress_offer;
};

CHOKE_API void choke_result_free(struct choke_result *result); /* NULL is fine */

/* ---- running ----------------------------------------------------------------------------- */

/* Runs and waits. Other jobs of the context continue meanwhile. */
CHOKE_API int choke_run(struct choke_context *context, const struct choke_request *request,
                        struct choke_result **ret_result, struct choke_error *error);

/*
 * Starts and returns. A refused request is a job too: it is finished from the start and comes out
 * of choke_next(). The job belongs to the caller: free it, or leave it to choke_context_free.
 */
CHOKE_API int choke_start(struct choke_context *context, const struct choke_request *request,
                          struct choke_job **ret_job, struct choke_error *error);

/*
 * Readable when choke_dispatch has something to do. Belongs to the context: do not read or close
 * it. It is itself an epoll descriptor. With egress it can be in an epoll of yours, and that one in
 * one more, but not deeper: the kernel limits the nesting.
 *
 * It is level-triggered: it stays readable until a dispatch has done what is due. It is readable
 * after a start that was refused. Another thread may poll it while its owner dispatches, as long as
 * the context is not freed. It is the same descriptor for the whole life of the context.
 */
CHOKE_API int choke_fd(const struct choke_context *context);

/*
 * Does what is due, without blocking. What an ended run left is listed, kept and removed in slices:
 * one slice of about a MiB or 256 entries per call, for one job after the other. Returns the number
 * of finished jobs that wait in choke_next(), or a negative errno.
 */
CHOKE_API int choke_dispatch(struct choke_context *context, struct choke_error *error);

/*
 * The same for a loop that has other work too: begins nothing new after budget_us microseconds. What
 * is left stays readable in choke_fd. The streams take turns, over calls too. One read (128 KiB), one
 * slice or one sync of the audit log can exceed the budget. 0: one thing at most.
 */
CHOKE_API int choke_dispatch_for(struct choke_context *context, uint64_t budget_us, struct choke_error *error);

/* Waits until a job is finished or timeout_ms has passed (-1: no limit); then as choke_dispatch. */
CHOKE_API int choke_wait(struct choke_context *context, int timeout_ms, struct choke_error *error);

/* The next finished job, each one once; NULL if there is none. */
CHOKE_API struct choke_job *choke_next(struct choke_context *context);

/* The number of jobs that are not finished. */
CHOKE_API size_t choke_running(const struct choke_context *context);

/*
 * SIGTERM to the tree, SIGKILL 50 ms later. If the tool has already ended, listing and keeping of
 * its changes stop. Returns at once; harmless for a finished job.
 */
CHOKE_API void choke_cancel(struct choke_job *job);
CHOKE_API void choke_cancel_all(struct choke_context *context);

/*
 * Stops reading the streams of a job, CHOKE_STDOUT | CHOKE_STDERR or one of them, so that memory
 * stays bounded if its consumer is slow: the tool waits as soon as its pipe is full. Its timeout goes
 * on. When it has ended, what is left in its pipes (at most 1 MiB in each) is read nevertheless. A
 * call from the output callback stops the stream after the bytes of that callback. Harmless for a
 * finished job.
 */
CHOKE_API void choke_pause(struct choke_job *job, unsigned streams);
CHOKE_API void choke_resume(struct choke_job *job, unsigned streams);

/* NULL until the job is finished; belongs to the job. */
CHOKE_API const struct choke_result *choke_job_result(const struct choke_job *job);

/* The timeout of the job, also if it came from the policy; 0 for a refused job. */
CHOKE_API uint64_t choke_job_timeout_ms(const struct choke_job *job);

/* Your own pointer, stored with the job; at first job_data of the request. */
CHOKE_API void choke_job_set_data(struct choke_job *job, void *data);
CHOKE_API void *choke_job_data(const struct choke_job *job);

/* A running job is cancelled, and freed once it has ended. NULL is fine. */
CHOKE_API void choke_job_free(struct choke_job *job);

/* ---- explaining --------------------------------------------------------------------------- */

/*
 * What a request would do. The tool is not run and nothing is written. A jail that is needed for
 * the first time is proven, by processes of the library. outcome is CHOKE_NONE if the request would
 * run; else outcome and error say why not, and fields that were not reached are NULL.
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
    const char *const *mounts;    /* native: the mounts, or the rights on paths; else NULL */
    const char *const *jail_argv; /* bwrap: its whole command line; else NULL */
    struct choke_error error;
    const char *const *egress; /* what could be reached, in canonical form; NULL: nothing */
    bool workspace_code;       /* files beneath the root could be executed */
    bool loopback;             /* the run would have its own 127.0.0.1 and ::1 */
    const char *via;           /* the proxy of the site that egress goes through: its URL; NULL: none */
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
 * Reads a file that decides something, and checks it as a policy is checked: it must be a regular
 * file of at most max_bytes that only root or the caller can have written, on a path that no one
 * else can redirect, and not inside root (NULL: anywhere). *ret_text is NUL-terminated; free it
 * with free(). -EPERM and a message if the file is not trusted.
 */
CHOKE_API int choke_read_trusted(const char *path, const char *root, size_t max_bytes, char **ret_text,
                                 size_t *ret_length, struct choke_error *error);

/* ---- findings ---------------------------------------------------------------------------- */

/* Of what a review or lint finds. The names (choke_severity_name) are "note", "warning" and "error". */
enum choke_severity {
    CHOKE_SEVERITY_NOTE = 1, /* something could not be checked */
    CHOKE_SEVERITY_WARNING,  /* allowed, but review it with care */
    CHOKE_SEVERITY_ERROR     /* must not pass review, or no run would accept the policy */
};

CHOKE_API const char *choke_severity_name(enum choke_severity severity);

#ifdef __cplusplus
}
#endif

#include "chokepoint-audit.h"  /* choke_audit_verify, choke_audit_head, choke_audit_keygen */
#include "chokepoint-guard.h"  /* choke_guard_start, choke_guard_call */
#include "chokepoint-lint.h"   /* choke_lint */
#include "chokepoint-ready.h"  /* choke_doctor, choke_lock_write, choke_lock_check */
#include "chokepoint-review.h" /* choke_policy_open, _open_embedded, _file, _check, _json, _yaml, _diff, _learn */

#endif
