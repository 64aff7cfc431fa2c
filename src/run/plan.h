/*
 * plan.h - everything about a run, resolved and fixed before the process exists.
 *
 * Here names become descriptors, and no later code looks at a name again. A refused plan has
 * outcome, rule and error set and holds nothing open; it never reaches the launcher.
 */
#ifndef CK_RUN_PLAN_H
#define CK_RUN_PLAN_H

#include "jail/jail.h"
#include "jail/native_ops.h"
#include "overlay/keep.h"
#include "policy/env.h"
#include "policy/grant.h"
#include "policy/judge.h"
#include "run/execs.h"
#include "run/wire.h"
#include "sys/binary.h"

#include <limits.h>

#define CK_LAYERS_MAX 18

struct ck_locked;
struct ck_native_directory;
struct ck_native_images;
struct ck_native_no_userns_filters;
struct ck_scratch_pool;
struct ck_bwrap_state;
struct ck_guarded;

/* What plans are made from; it lives as long as the context. */
struct ck_plan;

struct ck_plan_sources {
    const struct ck_policy *policy;
    const struct ck_trusted *policy_place; /* NULL for the embedded policy */
    const struct ck_locked *locked;        /* NULL: no locked policy binds the caller */
    struct ck_binary_search *search;
    struct ck_execs *execs;
    struct ck_native_images *native_images;
    struct ck_native_no_userns_filters *no_userns_filters;
    struct ck_jails *jails;
    struct ck_bwrap_state *bwrap_state;
    int null_fd;
    bool learn;                       /* `policy learn`: plans are for its jail */
    const struct ck_guarded *guarded; /* for guard: a cage, or a call from one (run/guarded.h); NULL: neither */
    bool unchanged;                   /* the same: the repository is not changed; rw is an overlay */
    const char *audit_path;           /* absolute; NULL: no audit log */
    const char *const *secret_files;  /* of guard, absolute, NULL-terminated; NULL: none */
    /* The directory of the state of chokepoint, which may not exist; false: no directory is known. */
    bool (*find_state)(const char *home, char ret_path[PATH_MAX]);
    const char *state_home; /* its argument; NULL: by the environment */
    /*
     * Called as the plan grows: when the tool was found, when the jail is chosen, when it is set up.
     * What the next steps take can be used to make processes ready. NULL: nothing will run.
     */
    void (*ahead)(void *data, const struct ck_plan *plan);
    void *data;
};

/*
 * The program of a native jail as a sealed memory file. No other program of this process ever has
 * the same number.
 */
struct ck_native_image {
    int fd; /* -1: none */
    uint64_t number;
};

/* For the bwrap jail (run/bwrap_plan.h). argv NULL: the run is not in it. */
struct ck_plan_bwrap {
    const char **argv;                    /* arguments of bwrap; plan->argv are those of the tool */
    const char *scratch;                  /* a directory that is made when the run starts; NULL for a proof */
    struct ck_scratch_pool *scratch_pool; /* belongs to the context, as does the next */
    int program_fd;
    int image_fd; /* the program `bwrap_init` */
    int bwrap_fd;
    bool bounded; /* the kernel has Landlock, so execution is restricted */
};

/*
 * For the native jail without user namespaces (run/native_no_userns.h). Its ruleset is
 * plan->ruleset_fd, its scratch directory plan->bwrap.scratch.
 */
struct ck_plan_no_userns {
    int filter_fd;       /* belongs to the context; -1: the run is not in this jail */
    const char **grants; /* what is allowed with which files, as text: "read /usr/lib" */
};

/* What happens with stdin_fd. A tool in a jail gets no descriptor of the caller (docs/adr/0036). */
enum ck_plan_stdin {
    CK_STDIN_PASSED, /* the tool gets the descriptor */
    CK_STDIN_PUMPED, /* copied into a pipe that the tool reads */
    CK_STDIN_NULL,   /* not used: the tool gets the /dev/null of its jail */
};

/* A path among the arguments, in the order of verdict.parsed.paths. */
struct ck_plan_path {
    const char *from_root; /* of an absolute path: where it is from the root; NULL: it is not changed */
    bool from_work;        /* it began with /work and is no path of the host */
};

/* An argument that the tool gets in another spelling than the caller's. */
struct ck_plan_respelled {
    size_t position; /* in plan->argv */
    const char *asked;
};

struct ck_plan {
    struct ck_arena arena;
    struct ck_verdict verdict; /* outcome CHOKE_NONE: allowed */
    const char *tool_name;     /* NULL if argv[0] names no tool */
    const char *tool_path;
    const char **argv;
    const char **env;
    const char *exec_path; /* for a script; NULL: execute_fd */
    /* of a tool beneath the root: its path from there, which is executed; else NULL */
    const char *workspace_tool;
    const char *workspace_link; /* if it is a link: the file of the system that it led to; else NULL */
    const char *inside;         /* in a jail with its own root: path of the tool in it */
    bool tool_in_workspace;     /* its file is beneath the root, too: it is no link to a file of the system */
    bool keep_executable;       /* execute_fd stays open in the tool, for the interpreter to read */
    bool why;                   /* of the request: everything that the jail refuses is named */
    bool overlay;               /* of the request: an overlay in place of rw */
    bool learn;                 /* for `policy learn`: what the tool executes is noted, and not refused */
    struct ck_jail_choice jail;
    const char *layers[CK_LAYERS_MAX + 1]; /* the layers of the run; constants */
    struct ck_native_image native_jail;    /* its descriptor belongs to the context */
    struct ck_plan_bwrap bwrap;
    struct ck_plan_no_userns no_userns;
    const char *host_root; /* path of the root on the host */
    const char *jail_cwd;  /* the working directory inside */
    /* path of the root for the tool: in a jail /work, or as on the host; without a jail maybe NULL */
    const char *root_inside;
    struct ck_plan_path *paths;
    struct ck_plan_respelled *respelled;
    size_t respelled_count;
    struct ck_native_directory *shown; /* directories that the jail shows too */
    size_t shown_count;
    bool git_shown;                     /* the first of them is the git directory of the root */
    const char *git_message;            /* why the git directory outside the root is not shown; or NULL */
    const struct ck_upstream *upstream; /* the proxy of the site that egress goes through; NULL: none */
    enum ck_workspace workspace;
    bool workspace_code;        /* files beneath the root can be executed */
    bool loopback;              /* the run has its own loopback */
    const char *noexec_mount;   /* with 'workspace_code' in the entry: a mount of the host that forbids it; or NULL */
    struct ck_keep_target keep; /* where the changes of an overlay are copied to */
    uint64_t limits[CK_LIMITS]; /* as they are sent; 0: no limit */
    bool limited;               /* at least one limit may be held by a cgroup */
    struct ck_identity root;
    int root_fd;
    int cwd_fd; /* same number as root_fd if cwd is "." */
    int execute_fd;
    struct ck_version tool_version; /* of the file of the tool when it was opened */
    int ruleset_fd; /* Landlock ruleset: what the run may execute, or all file access; -1: not restricted */
    int stdin_fd;
    enum ck_plan_stdin stdin_form;
    int out_fd, err_fd;    /* of guard: what the tool gets, and nothing is captured */
    int guarded_top_fd;    /* with guarded_cwd: the directory of the context that it is beneath */
    unsigned passed_count; /* of the next */
    int *passed_fds;       /* other descriptors, in the order of their numbers in inherited */
    const struct ck_wire_inherited *inherited;
    const char *guarded_cwd;      /* inside, if it is not beneath the root; NULL: it is */
    const char *const *extra_env; /* in place of those of the request */
    bool guarded;                 /* it is of guard */
    bool cage;                    /* it is the program of guard itself */
    bool stdin_owned;             /* false: it is the /dev/null of the context */
    bool sealed;                  /* the tool may execute nothing, not even itself */
};

/* 0, also for a refusal; the negative errno of a shortage. ret needs ck_plan_done in any case. */
int ck_plan_make(const struct ck_plan_sources *sources, const struct choke_request *request, struct ck_plan *ret);
void ck_plan_done(struct ck_plan *plan);

/* The grant of the verdict, with what sources change about it. */
void ck_plan_grant(const struct ck_plan_sources *sources, const struct ck_plan *plan, struct ck_grant *ret_grant);

/*
 * For a step of the plan that refuses, after it has filled the error of the verdict: sets the
 * outcome and the rule, that of the key of the tool, or KEY if tool is NULL. Returns -ECANCELED.
 */
int ck_plan_refuse(struct ck_plan *plan, const struct ck_tool *tool, const char *key);

/*
 * Moves the plan to the heap and leaves an empty one. The caller ends it with ck_plan_done and
 * free. verdict.parsed still points to strings of the request and must not be used any more. NULL:
 * no memory.
 */
struct ck_plan *ck_plan_take(struct ck_plan *plan);

/*
 * The time between SIGTERM and SIGKILL: 100 ms, or less for a short timeout, so that the call
 * returns within 1.5 times the timeout.
 */
uint64_t ck_plan_grace_ns(uint64_t timeout_ms);

#endif
