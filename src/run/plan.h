/*
 * plan.h - everything about a run, resolved and frozen before the process exists.
 *
 * Names become descriptors here, and nothing downstream looks at a name again. A plan that is refused says so in
 * outcome, rule and error, and holds nothing open; it never gets to the launcher.
 */
#ifndef CK_RUN_PLAN_H
#define CK_RUN_PLAN_H

#include "jail/jail.h"
#include "policy/environment.h"
#include "policy/judge.h"
#include "run/execs.h"
#include "sys/binary.h"

#define CK_LAYERS_MAX 16

/* What plans are made from; lives as long as the context. */
struct ck_plan_sources {
    const struct ck_policy *policy;
    const struct ck_trusted *policy_place; /* NULL for the embedded policy */
    struct ck_search *search;
    struct ck_execs *execs;
    int null_fd;
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
    struct ck_identity root;
    int root_fd;
    int cwd_fd; /* the same descriptor where the root itself is worked in */
    int execute_fd;
    int ruleset_fd; /* what the run may execute; -1: not restricted */
    bool sealed;    /* the tool executes nothing, not even itself */
    int stdin_fd;
    bool stdin_owned; /* else it is the context's /dev/null */
};

/* 0, also for a refusal; -ENOMEM. ret is done with ck_plan_done in any case. */
int ck_plan_make(const struct ck_plan_sources *sources, const struct choke_request *request, struct ck_plan *ret);
void ck_plan_done(struct ck_plan *plan);

/*
 * SIGKILL follows SIGTERM after this long: 100 ms, or as much of half the timeout as leaves time to return within 1.5
 * times the timeout.
 */
uint64_t ck_plan_grace_ns(uint64_t timeout_ms);

#endif
