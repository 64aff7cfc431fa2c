/*
 * chokepoint-ready.h - the part of chokepoint.h that is about this machine: its tools, and what holds here. Include
 * chokepoint.h: it has this.
 */
#ifndef CHOKEPOINT_READY_H
#define CHOKEPOINT_READY_H

#include "chokepoint.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * One tool of the policy, on this machine. The words of state are stable:
 *   ready     found, trusted, and it told its version (or its entry has no version_args)
 *   missing   not found
 *   refused   found, but a run would be refused: problem says why
 *   failed    found and trusted, but it could not be started, or did not tell its version
 */
struct choke_tool_report {
    const char *name;
    const char *route;
    bool required;
    const char *state;
    const char *path;    /* NULL where it was not found */
    const char *version; /* NULL where it is not known */
    const char *sha256;  /* of the file; NULL where it was not found or may not be read */
    const char *install; /* one command line that installs it here, or NULL */
    const char *problem; /* NULL for a tool that is ready */
    bool cached;         /* version and digest were remembered; the tool was not run */
};

/* One layer of protection, tried on this machine. */
struct choke_layer_report {
    const char *name;  /* "execs", "net", ... */
    const char *group; /* "kernel", "namespace", "cgroup", "jail" */
    bool holds;
    const char *detail; /* more about one that holds, or NULL */
    const char *cause;  /* why it does not hold, or NULL */
    const char *remedy; /* what to do about it, or NULL */
};

struct choke_doctor_report {
    bool ready;         /* every required tool is */
    const char *policy; /* its file, or "default policy" */
    const char *policy_sha256;
    const struct choke_tool_report *tools; /* those for this platform, in the order of the policy */
    size_t tool_count;
    const struct choke_layer_report *layers;
    size_t layer_count;
    const char *cache_path; /* NULL where none was used */
    const char *cache_note; /* why it was ignored, or could not be written; else NULL */
};

/* Zero-filled: the cache is used, every tool and every layer looked at. */
struct choke_doctor_options {
    bool no_cache;
    bool no_layers;           /* the report has none */
    const char *const *tools; /* NULL-terminated names: no others; NULL: all */
    /* May be NULL. Asked every few milliseconds, while a tool is hashed or waited for: true ends it, -ECANCELED. */
    bool (*stop)(void *data);
    void *data;
};

/*
 * Is this machine ready? Each tool is found, hashed and asked for its version by its entry's version_args, side by
 * side, for at most ten seconds each. Each layer is tried by a child of the keeper, never by your program. Blocks;
 * other jobs of the context move on meanwhile.
 *
 * What was found is remembered in $XDG_CACHE_HOME/chokepoint/tools.json (else $HOME/.cache/...) until a file of the
 * tool, or the policy, changes. A cache that is not to be trusted is ignored, and is never an error.
 *
 * options may be NULL. What is missing is in the report; a negative errno means that there is no report.
 */
CHOKE_API int choke_doctor(struct choke_context *context, const struct choke_doctor_options *options,
                           struct choke_doctor_report **ret_report, struct choke_error *error);
CHOKE_API void choke_doctor_report_free(struct choke_doctor_report *report); /* NULL is fine */

/* One file that runs when a tool runs. */
struct choke_tool_part {
    const char *role; /* "tool"; "interpreter": of a script, and the loader; "library" */
    const char *name; /* as it is asked for: a path, or the name of a shared object */
    const char *path; /* where it is; NULL: nowhere, and the tool will not start */
};

struct choke_tool_parts {
    const struct choke_tool_part *items; /* the tool itself first */
    size_t count;
};

/*
 * What a tool is made of, for a caller that takes it elsewhere: into an image, or beside a container. Found as for a run,
 * and asked for its version. -ENOENT and CHOKE_TOOL_MISSING where it is not installed, -EPERM where a run of it would be
 * refused. Where the loader chooses by the processor, every file that it could choose is listed.
 */
CHOKE_API int choke_tool_parts(struct choke_context *context, const char *name, struct choke_tool_parts **ret_parts,
                               struct choke_error *error);
CHOKE_API void choke_tool_parts_free(struct choke_tool_parts *parts); /* NULL is fine */

/*
 * Writes a lock file: for every tool that is found its path, version and digest, and path and digest of its
 * interpreters, its loader and the shared objects that the loader would map. No cache is used. The file is replaced
 * as a whole. Returns the number of tools in it, or a negative errno.
 */
CHOKE_API int choke_lock_write(struct choke_context *context, const char *path, struct choke_error *error);

/* What is not as the lock file says. */
struct choke_drift {
    const char *tool;
    const char *what;   /* "tool", "path", "version", "sha256", "library libz.so.1 sha256", ... */
    const char *before; /* what the file says; NULL for nothing */
    const char *after;  /* what is there; NULL for nothing */
};

struct choke_lock_report {
    size_t tool_count; /* in the lock file */
    const struct choke_drift *drifts;
    size_t drift_count; /* 0: all is as it was */
};

/* Compares; a file that cannot be read, or is no lock file, is -EINVAL or another negative errno. */
CHOKE_API int choke_lock_check(struct choke_context *context, const char *path, struct choke_lock_report **ret_report,
                               struct choke_error *error);
CHOKE_API void choke_lock_report_free(struct choke_lock_report *report); /* NULL is fine */

#ifdef __cplusplus
}
#endif

#endif
