/*
 * warden_jail.c - the native jail of a warden: at its start, at a run, and between runs.
 *
 * After a report nobody waits for the warden, as long as no plan comes. So the mounts of the run are
 * reset then, and the next init is prepared. Where that receives its plan itself, the last mounts are
 * unmounted at once, else when no plan has come for a moment, or when the next tool runs: the kernel lets
 * us wait for that, and a plan with us. So it is with undoing a preparation.
 */
#include "run/keeper/warden_jail.h"

#include "base/denial.h"
#include "run/keeper/init.h"
#include "run/keeper/nolibc.h"
#include "run/wire.h"
#include "sys/raw.h"

#include <sys/stat.h>

#define RESET_NS 250000u    /* if no plan comes for this long, there is time for the reset after the first run */
#define UNMOUNT_NS 3000000u /* and to unmount what the last run had: the kernel lets us wait, and a plan with us */

/* The number of our user namespace. */
static uint64_t userns_of(const struct ck_keeper_env *env)
{
    struct stat status = {0};
    (void)CK_RAW4(newfstatat, env->proc_fd, "self/ns/user", &status, 0);
    return status.st_ino;
}

/* Ends the warden if something else comes, or nobody is left to send it. */
static int receive_program(const struct ck_keeper_env *env, int socket_fd)
{
    const int waited[CK_NOLIBC_WAITED] = {socket_fd, env->caller_fd, -1, -1};
    struct ck_wire_simple message = {0};
    int fd = -1;
    unsigned count = 0;
    unsigned ready = ck_nolibc_wait_readable(waited, CK_FOREVER);
    if (ready == 1)
        (void)ck_nolibc_receive(socket_fd, &message, sizeof(message), &fd, 1, &count);
    if (message.kind != CK_WIRE_JAIL || count != 1)
        ck_nolibc_exit(0);
    return fd;
}

/* The namespaces come first: if the program comes later, they are ready by then. */
void ck_warden_jail_enter(struct ck_warden_jail *jail, const struct ck_keeper_env *env, int socket_fd, int program_fd)
{
    uint64_t users = userns_of(env);
    jail->entered = true;
    ck_prepared_init(&jail->prepared);
    jail->error = ck_native_jail_enter_namespaces(&jail->native);
    jail->own_userns = userns_of(env) != users;
    if (program_fd < 0)
        program_fd = receive_program(env, socket_fd);
    if (jail->error == 0)
        jail->error = ck_native_jail_build(&jail->native, program_fd);
    ck_nolibc_close(program_fd);
}

long ck_warden_jail_start(struct ck_warden_jail *jail, struct ck_init_run *run, bool oom_preferred)
{
    if (jail->needs_reset)
        jail->error = ck_native_jail_reset(&jail->native);
    jail->needs_reset = jail->resets_idle = false;
    if (jail->error < 0)
        return jail->error;
    long pid = ck_prepared_start(&jail->prepared, run, oom_preferred);
    if (pid != 0)
        return pid;
    jail->error = ck_prepared_discard(&jail->prepared, &jail->native);
    return jail->error < 0 ? jail->error : ck_native_jail_create(run);
}

/*
 * The first run may be the only one: then the caller waits for our end, so its mounts are reset
 * later. We do not end if a reset fails: the next plan may have been sent already.
 */
void ck_warden_jail_reset(struct ck_warden_jail *jail)
{
    if (!jail->entered)
        return;
    jail->resets_idle = !jail->has_served;
    jail->has_served = true;
    jail->needs_reset = jail->resets_idle || ck_native_jail_reset(&jail->native) < 0;
}

void ck_warden_jail_prepare(struct ck_warden_jail *jail, const struct ck_init_run *like, bool oom_preferred)
{
    if (!jail->needs_reset)
        ck_prepared_make(&jail->prepared, like, oom_preferred);
    /* The next plan does not wait for the warden then. Later this work would take the processor from a tool. */
    if (ck_prepared_receives(&jail->prepared))
        (void)ck_native_jail_unmount_stale(&jail->native);
}

void ck_warden_jail_send_denials(const struct ck_warden_jail *jail, int socket_fd)
{
    const struct ck_init_status *init_status = jail->native.init_status;
    if (!jail->native.denials || (init_status->denied_count == 0 && init_status->denied_more == 0))
        return;
    const struct ck_denials_head head = {.wire_kind = CK_WIRE_DENIED,
                                         .bytes = init_status->denied_bytes,
                                         .count = init_status->denied_count,
                                         .more = init_status->denied_more};
    memcpy(jail->native.denials, &head, sizeof(head));
    (void)ck_nolibc_send(socket_fd, jail->native.denials, sizeof(head) + head.bytes, -1);
}

bool ck_warden_jail_receives(const struct ck_warden_jail *jail)
{
    return jail->entered && ck_prepared_receives(&jail->prepared);
}

enum ck_receiver_outcome ck_warden_jail_wait(struct ck_warden_jail *jail, const struct ck_keeper_env *env,
                                             int ret_fds[CK_WIRE_FDS_MAX], unsigned *ret_count)
{
    enum ck_receiver_outcome outcome =
        ck_prepared_wait(&jail->prepared, env, ck_warden_jail_idle_until(jail), ret_fds, ret_count);
    if (outcome == CK_RECEIVER_IDLE)
        return ck_warden_jail_use_idle_time(jail) ? CK_RECEIVER_STAYS : CK_RECEIVER_LOST;
    if (outcome != CK_RECEIVER_GONE)
        return outcome;
    long r = ck_prepared_discard(&jail->prepared, &jail->native);
    ck_nolibc_drain_signals(env->sigchld_fd);
    return r < 0 ? CK_RECEIVER_LOST : CK_RECEIVER_STAYS;
}

uint64_t ck_warden_jail_idle_until(const struct ck_warden_jail *jail)
{
    if (jail->native.stale_mounted || jail->resets_idle)
        return ck_nolibc_now_ns() + (jail->resets_idle ? RESET_NS : UNMOUNT_NS);
    return jail->prepared.pid != 0 ? jail->prepared.until_ns : CK_FOREVER;
}

bool ck_warden_jail_use_idle_time(struct ck_warden_jail *jail)
{
    if (jail->resets_idle) {
        jail->resets_idle = false;
        jail->needs_reset = ck_native_jail_reset(&jail->native) < 0;
        return true;
    }
    if (jail->native.stale_mounted)
        return ck_native_jail_unmount_stale(&jail->native) == 0;
    /* Its process may be receiving a plan in this moment. */
    return !ck_prepared_may_end(&jail->prepared) || ck_prepared_discard(&jail->prepared, &jail->native) == 0;
}
