/*
 * guarded.h - what guard adds to the plan of a run: a cage, or a tool that is called from one
 * (docs/adr/0100).
 *
 * The cage and its tools share the root at its own path, and directories that they may write: /tmp,
 * and the state of the program. Such a run is in the native jail with namespaces, or refused.
 */
#ifndef CK_RUN_GUARDED_H
#define CK_RUN_GUARDED_H

#include "jail/native.h"
#include "policy/model.h"
#include "run/plan.h"

#define CK_GUARDED_CARRIERS_MAX 64

/* A directory beside the root that can be written. */
struct ck_guarded_directory {
    const char *path; /* inside */
    int fd;           /* of the host */
};

/* Of one plan. What it points to lives as long as the context, but for `run` and its descriptors. */
struct ck_guarded {
    struct ck_native_guard native;
    const struct ck_guarded_directory *writable; /* the same directories as native.writable */
    size_t writable_count;
    const struct ck_tool *program;         /* of a cage: the carrier that is executed, as the cage has it; else NULL */
    const struct ck_tool *const *carriers; /* of a cage: the others, NULL-terminated */
    const struct ck_destination *egress;   /* of a cage: what it may reach */
    size_t egress_count;
    const char *home; /* of a cage: HOME, one of the writable directories; NULL: a private one */
    struct ck_guarded_run *run;
    void *guard; /* for the one that makes the job */
};

/*
 * The descriptors of the caller: the first three become 0 to 2, the others have their numbers in
 * inherited. The plan takes them and leaves -1.
 */
struct ck_guarded_run {
    int fds[3 + CK_WIRE_PASSED_MAX];
    unsigned fd_count; /* at least 3 */
    struct ck_wire_inherited inherited;
    const char *const *variables; /* NAME=VALUE, of which the tool gets those that its entry grants; of a cage all */
};

void ck_guarded_run_done(struct ck_guarded_run *run);

/* ---- steps of the plan; each returns 0, -ECANCELED for a refusal, or the errno of a shortage ---- */

/* The verdict of a cage, or of a call with the variables that its entry grants. */
int ck_guarded_judge(const struct ck_guarded *guarded, const struct ck_policy *policy,
                     const struct choke_request *request, struct ck_plan *plan);

/* Takes the descriptors. */
int ck_guarded_take(const struct ck_guarded *guarded, struct ck_plan *plan);

/* The working directory: beneath the root, or beneath another writable directory. */
int ck_guarded_cwd(const struct ck_guarded *guarded, const char *cwd, struct ck_plan *plan);

/*
 * For a path among the arguments that is not beneath the root: is it beneath a writable directory? 0,
 * or as ck_beneath_stays.
 */
int ck_guarded_path_stays(const struct ck_guarded *guarded, const struct ck_plan *plan, const char *path, size_t length,
                          bool must_exist);

/* The program and the carriers, opened: *ret_tools and their descriptors, which the caller closes. */
struct ck_execs_tool;
int ck_guarded_open_carriers(const struct ck_plan_sources *sources, struct ck_plan *plan,
                             struct ck_execs_tool *ret_tools, size_t *ret_count);

#endif
