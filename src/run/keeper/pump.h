/* pump.h - a process that copies the caller's stdin into a pipe, for a tool in a jail. */
#ifndef CK_RUN_KEEPER_PUMP_H
#define CK_RUN_KEEPER_PUMP_H

#include <stdbool.h>
#include <stdint.h>

/*
 * In the warden: creates a process that copies source_fd into a pipe. *ret_fd is the read end.
 * source_fd still belongs to the caller. Returns the pid or a negative errno.
 */
long ck_pump_make(int source_fd, int *ret_fd);

/*
 * Ends the process if there is one, and sets *pid to 0. True: it had ended before and cut the
 * stream.
 */
bool ck_pump_end(int32_t *pid);

/*
 * Whether a pump that ended so (si_code and si_status of siginfo_t) left out a part of the stream.
 */
bool ck_pump_cut(int code, int status);

#endif
