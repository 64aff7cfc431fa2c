/*
 * chokepoint-ready.h - the part of chokepoint.h about this machine: its tools, and which
 * protections work here. Include chokepoint.h, which includes this.
 */
#ifndef CHOKEPOINT_READY_H
#define CHOKEPOINT_READY_H

#include "chokepoint.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * One tool of the policy, on this machine. The names of state are stable:
 *   ready     found, trusted, and it reported its version (or its entry has no version_args)
 *   missing   not found
 *   refused   found, but a run would be refused: problem says why
 *   failed    found and trusted, but it could not be started, or did not report its version
 *   in_root   its path is ./REL: a file of the repository, which was not looked for
 */
struct choke_tool_report {
    const char *name;
    const char *route;
    bool required;
    const char *state;
    const char *path;    /* NULL if it was not found */
    const char *version; /* NULL if it is not known */
    const char *sha256;  /* of the file; NULL if it was not found or may not be read */
    const char *install; /* one command line that installs it here, or NULL */
    const char *problem; /* NULL for a tool that is ready */
    bool cached;         /* version and digest come from the cache; the tool was not run */
};

/* One layer of protection, tried on this machine. */
struct choke_layer_report {
    const char *name;  /* "execs", "net", ... */
    const char *group; /* "kernel", "namespace", "cgroup", "jail" */
    bool holds;
    const char *detail; /* more about a layer that works, or NULL */
    const char *cause;  /* why it does not work, or NULL */
    const char *remedy; /* what to do about it, or NULL */
};

struct choke_doctor_report {
    bool ready;         /* every required tool is ready */
    const char *policy; /* its file, or "default policy" */
    const char *policy_sha256;
    /* the tools for this platform, in the order of the policy */
    const struct choke_tool_report *tools;
    size_t tool_count;
    const struct choke_layer_report *layers;
    size_t layer_count;
    const char *cache_path;     /* NULL if no cache was used */
    const char *cache_note;     /* why it was ignored, or could not be written; else NULL */
    const char *machine_policy; /* the path of the machine's policy; NULL: it has no policy */
    bool machine_locked;        /* it is locked */
    bool machine_binds;         /* and the caller is not root: runs cannot be weakened */
};

/* Zero-filled: the cache is used, every tool and every layer is checked. */
struct choke_doctor_options {
    bool no_cache;
    bool no_layers;           /* do not check layers */
    const char *const *tools; /* NULL-terminated names: check only these; NULL: all */
    /* May be NULL. Called every few milliseconds while the call works; true ends it: -ECANCELED. */
    bool (*stop)(void *data);
    void *data;
    size_t struct_size; /* see "structs that grow" in chokepoint.h */
};

/*
 * Is the machine's policy, /etc/chokepoint/policy.yaml, locked for this context? 0: no, or its
 * caller is root. -EPERM: yes; the message says that what ("another probes file") is refused. A
 * front end asks before it reads a file of the caller that widens what is run. what NULL: -EPERM
 * only if the context was made with options that are refused; then every run of it is.
 */
CHOKE_API int choke_locked(const struct choke_context *context, const char *what, struct choke_error *error);

/*
 * -EPERM if such a policy binds the caller and its log is in this directory: a file that is replaced
 * there could be the log. A front end asks before it writes a file that the caller named.
 */
CHOKE_API int choke_locked_directory(const struct choke_context *context, int directory_fd, struct choke_error *error);

/*
 * The log that CHOKE_AUDIT_DEFAULT means: $XDG_STATE_HOME/chokepoint/audit.jsonl, else
 * $HOME/.local/state/... For a caller whom a locked policy binds it is the latter, in the home that
 * the password database has for the real user id. -ENAMETOOLONG if size is too small.
 */
CHOKE_API int choke_audit_default_path(char *ret_path, size_t size, struct choke_error *error);

/*
 * Is this machine ready? Each tool is found, hashed and run with its entry's version_args, all of
 * them in parallel, for at most ten seconds each. Each layer is tried by a child of the keeper,
 * never by your program. Blocks; other jobs of the context continue meanwhile.
 *
 * Answers are remembered in $XDG_CACHE_HOME/chokepoint/tools.json (else $HOME/.cache/...) until a
 * file of the tool, or the policy, changes. A cache that is not trusted is ignored; it is never an
 * error.
 *
 * options may be NULL. What is missing is in the report; a negative errno means that there is no
 * report.
 */
CHOKE_API int choke_doctor(struct choke_context *context, const struct choke_doctor_options *options,
                           struct choke_doctor_report **ret_report, struct choke_error *error);
CHOKE_API void choke_doctor_report_free(struct choke_doctor_report *report); /* NULL is fine */

/* One file that runs when a tool runs. */
struct choke_tool_part {
    const char *role; /* "tool"; "interpreter": of a script, and the loader; "library" */
    /* as the file that needs it names it: a path, or the name of a shared object */
    const char *name;
    const char *path; /* NULL: not found, and the tool will not start */
};

struct choke_tool_parts {
    const struct choke_tool_part *items; /* the tool itself first */
    size_t count;
};

/*
 * The files of a tool, for a caller that copies it elsewhere: into an image, or beside a container.
 * The tool is found as for a run, and run for its version. -ENOENT and CHOKE_TOOL_MISSING if it is
 * not installed, -EPERM if a run of it would be refused. Where the loader chooses by the processor,
 * every file that it could choose is listed.
 */
CHOKE_API int choke_tool_parts(struct choke_context *context, const char *name, struct choke_tool_parts **ret_parts,
                               struct choke_error *error);
CHOKE_API void choke_tool_parts_free(struct choke_tool_parts *parts); /* NULL is fine */

/*
 * Writes a lock file: for every tool that is found its path, version and digest, and the path and
 * digest of its interpreters, its loader and the shared objects that the loader would map. No cache
 * is used. The file is replaced as a whole. Returns the number of tools in it, or a negative errno.
 */
CHOKE_API int choke_lock_write(struct choke_context *context, const char *path, struct choke_error *error);

/* A difference between the lock file and this machine. */
struct choke_drift {
    const char *tool;
    const char *what;   /* "tool", "path", "version", "sha256", "library libz.so.1 sha256", ... */
    const char *before; /* in the lock file; NULL for nothing */
    const char *after;  /* on this machine; NULL for nothing */
};

struct choke_lock_report {
    size_t tool_count; /* in the lock file */
    const struct choke_drift *drifts;
    size_t drift_count; /* 0: nothing has changed */
};

/* Compares. -EINVAL or another negative errno if the file cannot be read or is not a lock file. */
CHOKE_API int choke_lock_check(struct choke_context *context, const char *path, struct choke_lock_report **ret_report,
                               struct choke_error *error);
CHOKE_API void choke_lock_report_free(struct choke_lock_report *report); /* NULL is fine */

#ifdef __cplusplus
}
#endif

#endif
