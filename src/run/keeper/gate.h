/* gate.h - the listener of a run with egress. */
#ifndef CK_RUN_KEEPER_GATE_H
#define CK_RUN_KEEPER_GATE_H

#include <stdint.h>

/*
 * In the first process of a run, in a new network namespace: brings loopback up, listens on port
 * there, and sends the listener to the caller through gate_fd, which is then closed. gate_fd -1:
 * the listener stays open in this process. ret_report_fd: the write end of a pipe to the caller,
 * for the reports of direct_attempts.c; NULL: no pipe is made. 0 or a negative errno.
 */
long ck_gate_make(uint32_t port, int gate_fd, int *ret_report_fd);

#endif
