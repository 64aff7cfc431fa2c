/* receiver.c - see receiver.h. */
#include "run/keeper/receiver.h"

#include "base/workspace.h"
#include "run/keeper/child.h"
#include "run/keeper/nolibc.h"

/* Flags of a plan that needs the warden first. */
#define NEEDS_WARDEN ((uint32_t)CK_WIRE_HAS_BWRAP | CK_WIRE_HAS_FILTER | CK_WIRE_PUMP_STDIN | CK_WIRE_HAS_GATE)

bool ck_receiver_change(struct ck_receiver *receiver, uint32_t from, uint32_t to)
{
    return __atomic_compare_exchange_n(&receiver->state, &from, to, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}

void ck_receiver_set(struct ck_receiver *receiver, uint32_t to)
{
    __atomic_store_n(&receiver->state, to, __ATOMIC_RELEASE);
}

uint32_t ck_receiver_state_of(const struct ck_receiver *receiver)
{
    return __atomic_load_n(&receiver->state, __ATOMIC_ACQUIRE);
}

/*
 * What a tool gets from the caller of a door comes in the same message, so a process in a jail can take it. Without a jail no
 * plan has it. The program of a cage, which gets a terminal, is started by the warden.
 */
static bool inherits_plainly(const struct ck_wire_plan *plan, bool jailed)
{
    const struct ck_wire_inherited *inherited = (const void *)((const unsigned char *)plan + plan->inherited_at);
    if (plan->inherited_at == 0)
        return plan->flags >> CK_WIRE_PASSED_SHIFT == 0;
    return jailed && inherited->terminal == 0;
}

bool ck_receiver_is_plain(const struct ck_wire_plan *plan, bool jailed)
{
    uint64_t limits = 0;
    for (unsigned i = 0; i < CK_LIMITS; i++)
        limits |= plan->limits[i];
    return limits == 0 && (plan->flags & NEEDS_WARDEN) == 0 && inherits_plainly(plan, jailed) &&
           plan->workspace != CK_WORKSPACE_OVERLAY;
}

bool ck_receiver_receive(struct ck_receiver *receiver)
{
    const int waited[CK_NOLIBC_WAITED] = {receiver->socket_fd, -1, -1, -1};
    while (ck_nolibc_wait_readable(waited, CK_FOREVER) == 0)
        ;
    if (!ck_receiver_change(receiver, CK_RECEIVER_WAITING, CK_RECEIVER_RECEIVING))
        return false;
    receiver->got = ck_nolibc_receive(receiver->socket_fd, receiver->inbox, CK_WIRE_INLINE_MAX, receiver->fds,
                                      CK_WIRE_FDS_MAX, &receiver->fd_count);
    return true;
}

bool ck_receiver_can_run(const struct ck_receiver *receiver)
{
    const struct ck_wire_plan *plan = (const void *)receiver->inbox;
    return receiver->got >= (long)sizeof(*plan) && plan->kind == CK_WIRE_PLAN &&
           ck_receiver_is_plain(plan, receiver->jailed) &&
           receiver->fd_count == CK_WIRE_FDS + ck_child_extra_fds(plan->flags) &&
           ((plan->flags & CK_WIRE_NATIVE_JAIL) != 0) == receiver->jailed &&
           ((plan->flags & CK_WIRE_SEALED) != 0) == receiver->sealed && ck_nolibc_now_ns() < plan->deadline_ns;
}
