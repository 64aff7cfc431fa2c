/* warden_jail.h - the native jail of a warden: at its start, at a run, and between runs. */
#ifndef CK_RUN_KEEPER_WARDEN_JAIL_H
#define CK_RUN_KEEPER_WARDEN_JAIL_H

#include "run/keeper/keeper.h"
#include "run/keeper/native_jail.h"
#include "run/keeper/prepared.h"

#include <stdbool.h>
#include <stdint.h>

/* Zero-filled: the runs of the warden are in no jail, and of the functions only those about idle time may be called. */
struct ck_warden_jail {
    bool entered;     /* the runs of the warden are in it */
    bool own_userns;  /* it has a user namespace of its own */
    long error;       /* 0; a negative errno: it could not be built, and nothing may run */
    bool needs_reset; /* it still has mounts of the last run, which must be reset before the next */
    bool resets_idle; /* with needs_reset: that is done when no plan comes for a moment */
    bool has_served;  /* it has had a run */
    struct ck_native_jail native;
    struct ck_prepared prepared;
};

/*
 * Enters the namespaces and builds the root. program_fd is closed. -1: the program comes through
 * the socket (CK_WIRE_JAIL), and is waited for in the namespaces; the warden ends if it does not come.
 */
void ck_warden_jail_enter(struct ck_warden_jail *jail, const struct ck_keeper_env *env, int socket_fd, int program_fd);

/* Starts a run: by the prepared init if it fits, else by a new one. As ck_native_jail_create. */
long ck_warden_jail_start(struct ck_warden_jail *jail, struct ck_init_run *run, bool oom_preferred);

/* Before the report: what the jail refused. Everything in the run is dead, so nobody writes it. */
void ck_warden_jail_send_denials(const struct ck_warden_jail *jail, int socket_fd);

/*
 * Whether the process of a prepared run receives the next plan, and the wait for that: prepared.h. What
 * needs idle time is done there. CK_RECEIVER_LOST: the warden must end.
 */
bool ck_warden_jail_receives(const struct ck_warden_jail *jail);
enum ck_receiver_outcome ck_warden_jail_wait(struct ck_warden_jail *jail, const struct ck_keeper_env *env,
                                             int ret_fds[CK_WIRE_FDS_MAX], unsigned *ret_count);

/* After the report of a run; nothing of it is left but its init. */
void ck_warden_jail_reset(struct ck_warden_jail *jail);

/* After that, when the init has ended: prepares another run like this one. */
void ck_warden_jail_prepare(struct ck_warden_jail *jail, const struct ck_init_run *like, bool oom_preferred);

/* Until when to wait for a plan; if none has come, ck_warden_jail_use_idle_time. False: the warden must end. */
uint64_t ck_warden_jail_idle_until(const struct ck_warden_jail *jail);
bool ck_warden_jail_use_idle_time(struct ck_warden_jail *jail);

#endif
