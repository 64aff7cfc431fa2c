/*
 * plan.h - everything about a run, resolved and frozen before the process exists.
 *
 * Names become descriptors here, and nothing downstream looks at a name again. A plan that is refused says so in
 * outcome, rule and error, and holds nothing open; it never gets to the launcher.
 */
#ifndef CK_RUN_PLAN_H
#define CK_RUN_PLAN_H

#include "jail/jail.h"
#include "jail/native_ops.h"
#include "overlay/keep.h"
#include "policy/env.h"
#include "policy/judge.h"
#include "run/execs.h"
#include "run/wire.h"
#include "sys/binary.h"

#define CK_LAYERS_MAX 16

struct ck_native_images;
struct ck_native_no_userns_filters;
struct ck_scratch_pool;
struct ck_bwrap_state;

/* What plans are made from; lives as long as the context. */
struct ck_plan_sources {
    const struct ck_policy *policy;
    const struct ck_trusted *policy_place; /* NULL for the embedded policy */
    struct ck_binary_search *search;
    struct ck_execs *execs;
    struct ck_native_images *native_images;
    struct ck_native_no_userns_filters *no_userns_filters;
    struct ck_jails *jails;
    struct ck_bwrap_state *bwrap_state;
    int null_fd;
};

/* A jail's program as a sealed memory file; the number stands for it as long as the process lives. */
struct ck_native_image {
    int fd; /* -1: none */
    uint64_t number;
};

/* For the jail that bwrap makes (run/bwrap_plan.h); without argv the run is not in it. */
struct ck_plan_bwrap {
    const char **argv;                    /* of bwrap; the plan's own are the tool's */
    const char *scratch;                  /* a directory that is made when the run starts, and NULL for a proof */
    struct ck_scratch_pool *scratch_pool; /* the context's, as the next two */
    int image_fd, program_fd;
    int bwrap_fd;
    bool bounded; /* the kernel has Landlock: what may be executed is bounded */
};

/* For the native jail without namespaces (run/native_no_userns.h); the ruleset is the plan's own, the scratch directory wrap's. */
struct ck_plan_no_userns {
    int filter_fd;       /* the context's; -1: the run is not in it */
    const char **grants; /* what may be done with which files, in words: "read /usr/lib" */
};

/* What becomes of stdin_fd. A tool in a jail gets no descriptor of the caller's (docs/adr/0036). */
enum ck_plan_stdin {
    CK_STDIN_PASSED, /* the tool's own */
    CK_STDIN_PUMPED, /* copied into a pipe, which is the tool's */
    CK_STDIN_NULL,   /* left alone: the tool has the /dev/null of its jail */
};

struct ck_plan {
    struct ck_arena arena;
    struct ck_verdict verdict; /* outcome CHOKE_NONE: go */
    const char *tool_name;     /* NULL where argv[0] names none */
    const char *tool_path;
    const char **argv;
    const char **env;
    const char *exec_path; /* for a script; NULL: execute_fd */
    bool keep_executable;  /* execute_fd stays open in the tool, for the interpreter to read */
    struct ck_jail_choice jail;
    const char *layers[CK_LAYERS_MAX + 1]; /* what will hold; the words are constants */
    struct ck_native_image native_jail;    /* the native jail; its descriptor belongs to the context */
    struct ck_plan_bwrap bwrap;
    struct ck_plan_no_userns no_userns;
    const char *host_root; /* where the root is on the host */
    const char *jail_cwd;  /* the working directory inside */
    enum ck_workspace workspace;
    struct ck_keep_target keep; /* where what is written into an overlay goes */
    uint64_t limits[CK_LIMITS]; /* as they travel; 0: none */
    bool limited;               /* there is one that a cgroup may hold */
    struct ck_identity root;
    int root_fd;
    int cwd_fd; /* the same descriptor where the root itself is worked in */
    int execute_fd;
    struct ck_version tool_version; /* of the tool's file when it was opened */
    int ruleset_fd;                 /* what the run may execute, or all that it may do with files; -1: not restricted */
    int stdin_fd;
    enum ck_plan_stdin stdin_form;
    bool stdin_owned; /* else it is the context's /dev/null */
    bool sealed;      /* the tool executes nothing, not even itself */
};

/* 0, also for a refusal; -ENOMEM. ret is done with ck_plan_done in any case. */
int ck_plan_make(const struct ck_plan_sources *sources, const struct choke_request *request, struct ck_plan *ret);
void ck_plan_done(struct ck_plan *plan);

/*
 * For a step of the plan that refuses, after it has filled the error of the verdict: sets the outcome
 * and the rule, "tools.TOOL.KEY", or KEY if tool is NULL. Returns -ECANCELED.
 */
int ck_plan_refuse(struct ck_plan *plan, const char *tool, const char *key);

/*
 * The plan on the heap, to be done with and freed; the one given is empty then. What it says of the request's own
 * strings (verdict.reading) is not to be looked at any more. NULL: no memory.
 */
struct ck_plan *ck_plan_take(struct ck_plan *plan);

/*
 * SIGKILL follows SIGTERM after this long: 100 ms, or as much of half the timeout as leaves time to return within 1.5
 * times the timeout.
 */
uint64_t ck_plan_grace_ns(uint64_t timeout_ms);

#endif
