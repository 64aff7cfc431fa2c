/* pass_signal.h - signals of a door for the tool of its call. */
#ifndef CK_RUN_KEEPER_PASS_SIGNAL_H
#define CK_RUN_KEEPER_PASS_SIGNAL_H

#include <stdint.h>

/* Signals that came before init had made the tool. */
struct ck_pass_signal {
    uint64_t early;    /* bit i: signal i */
    uint64_t again_ns; /* when to look for the tool again; UINT64_MAX: there are none */
};

/* Sends the signal to the tool, whose init has this pid, or keeps it. */
void ck_pass_signal(struct ck_pass_signal *signals, int proc_fd, int32_t init_pid, uint32_t sig);

/* Those that were kept: init has made the tool by now, or it ends. */
void ck_pass_signal_again(struct ck_pass_signal *signals, int proc_fd, int32_t init_pid);

#endif
