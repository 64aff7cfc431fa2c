/* pass_signal.c - see pass_signal.h. */
#include "run/keeper/pass_signal.h"

#include "run/keeper/nolibc.h"
#include "run/keeper/tree.h"

#define AGAIN_NS 1000000u

void ck_pass_signal(struct ck_pass_signal *signals, int proc_fd, int32_t init_pid, uint32_t sig)
{
    if (ck_tree_pass_signal(proc_fd, sig, init_pid) != 0)
        return;
    signals->early |= UINT64_C(1) << sig;
    signals->again_ns = ck_nolibc_now_ns() + AGAIN_NS;
}

void ck_pass_signal_again(struct ck_pass_signal *signals, int proc_fd, int32_t init_pid)
{
    uint64_t early = signals->early;
    *signals = (struct ck_pass_signal){.again_ns = UINT64_MAX};
    for (uint32_t sig = 1; early >> sig != 0; sig++)
        if ((early >> sig & 1) != 0)
            ck_pass_signal(signals, proc_fd, init_pid, sig);
}
