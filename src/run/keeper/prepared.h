/* prepared.h - the init of a native jail and the process of a tool, created before their plan comes. */
#ifndef CK_RUN_KEEPER_PREPARED_H
#define CK_RUN_KEEPER_PREPARED_H

#include "run/keeper/child.h"
#include "run/keeper/keeper.h"
#include "run/keeper/native_jail.h"
#include "run/keeper/receiver.h"

#include <stdbool.h>
#include <stdint.h>

/* Memory that the warden shares with the inits that it prepares. */
struct ck_prepared_memory {
    struct ck_child child;
    int fds[CK_WIRE_FDS_MAX];
    struct ck_receiver receiver; /* of the process of the tool; its descriptors are those of that process */
    _Alignas(16) unsigned char plan[CK_WIRE_INLINE_MAX]; /* the warden receives its plans here */
};

struct ck_prepared {
    struct ck_prepared_memory *memory; /* NULL: nothing can be prepared */
    int start_fds[2];                  /* to the process of the tool: its streams; [0] is the warden's end */
    int rest_fds[2];                   /* to the init: the read ends of the streams; from it: its listener */
    int32_t pid;                       /* of the init; 0: none is prepared */
    uint32_t workspace;                /* enum ck_workspace of the run it is for */
    bool returned;                     /* its process has handed back a message, and now waits for its streams */
    bool spent;                        /* the caller has its listener; it must not be used for another run */
    bool oom_preferred;                /* it was created for a run with a limit on memory */
    uint64_t until_ns;                 /* when it is ended if no plan comes */
};

/* Once, before the warden enters its jail. Without memory or descriptors nothing is prepared. */
void ck_prepared_init(struct ck_prepared *prepared);

/*
 * After a run, when its mounts have been reset: creates the init for another run like it. Nothing is
 * reported if that fails; the next run then creates its own.
 */
void ck_prepared_make(struct ck_prepared *prepared, const struct ck_init_run *like, bool oom_preferred);

/*
 * Gives the plan to the prepared init and returns its pid. 0: none is prepared, or it does not fit
 * this run: create another. Or a negative errno, and run->failed_stage.
 */
long ck_prepared_start(struct ck_prepared *prepared, struct ck_init_run *run, bool oom_preferred);

/*
 * Whether the process of the tool receives the next message of the caller itself (docs/adr/0156). Then
 * the warden does not, and waits with ck_prepared_wait.
 */
bool ck_prepared_receives(const struct ck_prepared *prepared);

/*
 * Waits for that, until until_ns. After CK_RECEIVER_RUNS the init is the caller's, who sets pid to 0, and
 * ret_fds has the read ends of the streams at their places. After CK_RECEIVER_RECEIVED it has the
 * descriptors of the message. CK_RECEIVER_GONE: it must be discarded. CK_RECEIVER_IDLE: nothing came in
 * time.
 */
enum ck_receiver_outcome ck_prepared_wait(struct ck_prepared *prepared, const struct ck_keeper_env *env,
                                          uint64_t until_ns, int ret_fds[CK_WIRE_FDS_MAX], unsigned *ret_count);

/* False: its process has begun to receive a plan, so it must not be ended for lack of one. */
bool ck_prepared_may_end(struct ck_prepared *prepared);

/* Ends the prepared init, if any, and resets the mounts that it has made. 0 or a negative errno. */
long ck_prepared_discard(struct ck_prepared *prepared, struct ck_native_jail *jail);

/* ---- in the init ---- */

/* The process of the tool: waits for its plan. The argument is a struct ck_init_run. */
__attribute__((noreturn)) void ck_prepared_main(void *argument);

/*
 * After that has executed the tool: receives what init needs of the plan. The tool runs already, so a
 * lack of descriptors is no failure: they are -1 then.
 */
void ck_prepared_receive_rest(const struct ck_init_run *run);

#endif
