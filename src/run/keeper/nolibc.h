/* nolibc.h - the few functions that a C library would provide, for programs that have none. */
#ifndef CK_RUN_KEEPER_NOLIBC_H
#define CK_RUN_KEEPER_NOLIBC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/time.h>

/* The compiler may emit calls of these two by itself, so they have their usual names. */
void *memcpy(void *restrict dst, const void *restrict src, size_t length);
void *memset(void *dst, int byte, size_t length);

size_t ck_nolibc_length(const char *text);

/* Append to a NUL-terminated text; the caller's buffer must be large enough. Return the new end. */
char *ck_nolibc_append_text(char *at, const char *text);
char *ck_nolibc_append_number(char *at, long number);

/* The decimal number at *at, which is moved past it; -1 if there is no digit. */
long ck_nolibc_parse_number(const char **at, const char *end);

uint64_t ck_nolibc_now_ns(void);
void ck_nolibc_close(int fd); /* does nothing if fd is negative */

/* Makes all descriptors from this number on close-on-exec. Returns 0 or a negative errno. */
long ck_nolibc_close_on_exec_from(int first);
__attribute__((noreturn)) void ck_nolibc_exit(int status);

/* Opens a path of the calling process, close-on-exec. Returns a descriptor or a negative errno. */
long ck_nolibc_open(const char *path, int flags);

/* Writes the bytes from text to end into an existing file. Returns 0 or a negative errno. */
long ck_nolibc_write_file(const char *path, const char *text, const char *end);

/*
 * For a child that tries something and exits. Closes all descriptors but these, which move to
 * CK_TRIAL_FIRST_FD and the numbers after it, in this order; -1 is skipped. The kernel ends the
 * process when the keeper ends, or after ten seconds. Returns 0 or a negative errno.
 */
#define CK_TRIAL_FIRST_FD 3
#define CK_TRIAL_FDS_MAX 16
long ck_nolibc_enter_trial(int *fds, unsigned count);

/* Microseconds of a time that was used. */
static inline uint64_t ck_nolibc_us(struct timeval time)
{
    return (uint64_t)time.tv_sec * 1000000u + (uint64_t)time.tv_usec;
}

/* Empties a non-blocking signalfd. waitid says afterwards which children ended. */
void ck_nolibc_drain_signals(int signal_fd);

/*
 * Receives one message; descriptors beyond max_fds are closed. Returns the number of bytes (0: the
 * other end is closed) or a negative errno.
 */
long ck_nolibc_receive(int socket_fd, void *buffer, size_t size, int *ret_fds, unsigned max_fds,
                       unsigned *ret_fd_count);
long ck_nolibc_send(int socket_fd, const void *buffer, size_t size, int fd); /* fd: -1 for none */
long ck_nolibc_send_fds(int socket_fd, const void *buffer, size_t size, const int *fds, unsigned fd_count);

/* Calls visit for each entry of an open directory. */
void ck_nolibc_each_entry(int directory_fd, void (*visit)(void *data, const char *name), void *data);

/*
 * Waits until one of the descriptors (-1: absent) is readable, or until deadline_ns. Bit i of the
 * result is set for fds[i].
 */
#define CK_NOLIBC_WAITED 4
unsigned ck_nolibc_wait_readable(const int fds[CK_NOLIBC_WAITED], uint64_t deadline_ns);
#define CK_FOREVER UINT64_MAX

/* Whether a process has the write end of one of these two pipes. -1 counts as such a pipe. */
bool ck_nolibc_is_written(const int read_fds[2]);

#endif
