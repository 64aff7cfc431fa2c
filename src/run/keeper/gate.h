/* gate.h - the listener of a run with egress. */
#ifndef CK_RUN_KEEPER_GATE_H
#define CK_RUN_KEEPER_GATE_H

#include "jail/native_ops.h"

/*
 * In the first process of a run, in a new network namespace: brings loopback up, listens on the
 * port of the program there, and sends the listener to the caller through gate_fd.
 * gate_fd -1: the listener stays open in this process. ret_report_fd: the write end of a
 * pipe to the caller, for the reports of direct_attempts.c; NULL: no pipe is made. 0 or a negative
 * errno.
 */
long ck_gate_make(const struct ck_native_program *program, int gate_fd, int *ret_report_fd);

/* The same for a run with loopback: brings it up, before capabilities are dropped. */
long ck_gate_raise_loopback(void);

#endif
