/*
 * terminal.h - the pseudo-terminal of PROGRAM, in place of the terminal of guard.
 *
 * The cage must not have the caller's terminal: with it a program could read what the caller types
 * later. It has one of its own, with the size of the caller's; the bytes are copied.
 */
#ifndef CK_GUARD_TERMINAL_H
#define CK_GUARD_TERMINAL_H

#include "chokepoint.h"

#include <stdbool.h>
#include <stddef.h>
#include <termios.h>

#define CK_GUARD_TERMINAL_BYTES 4096

struct ck_guard_terminal {
    int outer_in_fd;   /* the caller's terminal, to read from; -1: stdin is no terminal */
    int outer_fd;      /* the same, to write to; -1: there is no terminal */
    bool outer_blocks; /* a write to it may wait for its reader */
    int master_fd;
    bool raw; /* the caller's terminal was changed, and is to be restored */
    struct termios saved;
    char in[CK_GUARD_TERMINAL_BYTES], out[CK_GUARD_TERMINAL_BYTES]; /* not yet written */
    size_t in_at, in_end, out_at, out_end;
};

/*
 * fds: 0 to 2 of PROGRAM; those that are a terminal are replaced, and closed. *ret_terminal: the number
 * of one of them, or -1. 0 or a negative errno and *error.
 */
int ck_guard_terminal_begin(struct ck_guard_terminal *terminal, int *fds, int *ret_terminal, struct choke_error *error);

/* PROGRAM has a terminal, but its caller's has another process group in the foreground. */
bool ck_guard_terminal_is_lent(const struct ck_guard_terminal *terminal);

/* Guard was stopped or in the background: the caller's terminal is ours again, maybe. */
void ck_guard_terminal_continue(struct ck_guard_terminal *terminal);

/* The window of the caller has another size. */
void ck_guard_terminal_resize(const struct ck_guard_terminal *terminal);

/* For poll: 0: nothing is to be done with it. Of outer_in_fd, master_fd and outer_fd. */
short ck_guard_terminal_outer_events(const struct ck_guard_terminal *terminal);
short ck_guard_terminal_master_events(const struct ck_guard_terminal *terminal);
short ck_guard_terminal_output_events(const struct ck_guard_terminal *terminal);

/* What poll has found for the three. Never waits for the one who reads the caller's terminal. */
void ck_guard_terminal_move(struct ck_guard_terminal *terminal, short outer, short master, short output);

/* PROGRAM has ended: what it has still written is copied, and the caller's terminal restored. */
void ck_guard_terminal_end(struct ck_guard_terminal *terminal);

#endif
