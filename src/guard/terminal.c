/* terminal.c - see terminal.h. */
#include "guard/terminal.h"

#include "base/fd.h"
#include "front/text.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define LAST_BYTES (1 << 20) /* of the output that is left at the end */
#define LAST_MS 1000         /* for a caller's terminal that is not read */
#define FD_TEXT 32

static int open_pair(struct ck_guard_terminal *terminal, int *ret_slave)
{
    char name[64];
    CK_FD master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (master < 0 || grantpt(master) < 0 || unlockpt(master) < 0)
        return -errno;
    int r = ptsname_r(master, name, sizeof(name));
    CK_FD slave = r == 0 ? open(name, O_RDWR | O_NOCTTY | O_CLOEXEC) : -1;
    if (slave < 0 || fcntl(master, F_SETFL, O_NONBLOCK) < 0)
        return r != 0 ? -r : -errno;
    terminal->master_fd = ck_fd_take(&master);
    *ret_slave = ck_fd_take(&slave);
    return 0;
}

void ck_guard_terminal_resize(const struct ck_guard_terminal *terminal)
{
    struct winsize size;
    if (terminal->master_fd >= 0 && ioctl(terminal->outer_fd, TIOCGWINSZ, &size) == 0)
        (void)ioctl(terminal->master_fd, TIOCSWINSZ, &size);
}

/* In the background the caller's terminal is left as it is: to change it, or to read from it, would stop us. */
static void make_raw(struct ck_guard_terminal *terminal)
{
    struct termios raw;
    bool ours = terminal->outer_in_fd >= 0 && tcgetpgrp(terminal->outer_in_fd) == getpgrp();
    if (!ours || tcgetattr(terminal->outer_in_fd, &raw) < 0) {
        terminal->raw = false;
        return;
    }
    /* Whoever stopped us may have left what we had set. */
    if (!terminal->raw)
        terminal->saved = raw;
    cfmakeraw(&raw);
    terminal->raw = tcsetattr(terminal->outer_in_fd, TCSANOW, &raw) == 0;
}

bool ck_guard_terminal_is_lent(const struct ck_guard_terminal *terminal)
{
    return terminal->master_fd >= 0 && terminal->outer_in_fd >= 0 && !terminal->raw;
}

void ck_guard_terminal_continue(struct ck_guard_terminal *terminal)
{
    if (terminal->master_fd >= 0)
        make_raw(terminal);
}

/*
 * Opens the terminal once more, because the flags of the caller's descriptor are shared with other processes.
 * -1: it cannot be, as after su; the other side of a pseudo-terminal would be another one.
 */
static int open_without_waiting(int fd)
{
    char path[FD_TEXT];
    unsigned number;
    if (ioctl(fd, TIOCGPTN, &number) == 0)
        return -1;
    (void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    return open(path, O_WRONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
}

static int take_outer(struct ck_guard_terminal *terminal, const int *fds)
{
    for (int i = 2; i >= 0; i--) {
        if (!isatty(fds[i]))
            continue;
        ck_fd_close(&terminal->outer_fd);
        terminal->outer_fd = open_without_waiting(fds[i]);
        terminal->outer_blocks = terminal->outer_fd < 0;
        if (terminal->outer_blocks)
            terminal->outer_fd = fcntl(fds[i], F_DUPFD_CLOEXEC, 3);
        if (terminal->outer_fd < 0)
            return -errno;
    }
    terminal->outer_in_fd = isatty(fds[0]) ? fcntl(fds[0], F_DUPFD_CLOEXEC, 3) : -1;
    return isatty(fds[0]) && terminal->outer_in_fd < 0 ? -errno : 0;
}

int ck_guard_terminal_begin(struct ck_guard_terminal *terminal, int *fds, int *ret_terminal, struct choke_error *error)
{
    struct termios settings;
    *terminal = (struct ck_guard_terminal){.outer_in_fd = -1, .outer_fd = -1, .master_fd = -1};
    *ret_terminal = -1;
    int r = take_outer(terminal, fds);
    if (r == 0 && terminal->outer_fd < 0)
        return 0;
    CK_FD slave = -1;
    if (r == 0)
        r = open_pair(terminal, &slave);
    for (int i = 0; r == 0 && i < 3; i++) {
        if (!isatty(fds[i]))
            continue;
        int copy = fcntl(slave, F_DUPFD_CLOEXEC, 3);
        if (copy < 0) {
            r = -errno;
            break;
        }
        (void)close(fds[i]);
        fds[i] = copy;
        *ret_terminal = *ret_terminal < 0 ? i : *ret_terminal;
    }
    if (r < 0) {
        ck_guard_terminal_end(terminal);
        return ck_text_error(error, CHOKE_SPAWN_FAILED, -r, "cannot make a terminal for the program: %s", strerror(-r));
    }
    if (terminal->outer_in_fd >= 0 && tcgetattr(terminal->outer_in_fd, &settings) == 0)
        (void)tcsetattr(slave, TCSANOW, &settings);
    ck_guard_terminal_resize(terminal);
    make_raw(terminal);
    return 0;
}

short ck_guard_terminal_outer_events(const struct ck_guard_terminal *terminal)
{
    return terminal->raw && terminal->in_at == terminal->in_end ? POLLIN : 0;
}

short ck_guard_terminal_master_events(const struct ck_guard_terminal *terminal)
{
    bool reads = terminal->out_at == terminal->out_end, writes = terminal->in_at < terminal->in_end;
    return (short)((reads ? POLLIN : 0) | (writes ? POLLOUT : 0));
}

short ck_guard_terminal_output_events(const struct ck_guard_terminal *terminal)
{
    return terminal->out_at < terminal->out_end ? POLLOUT : 0;
}

static void fill(int fd, char *buffer, size_t *at, size_t *end)
{
    ssize_t got = read(fd, buffer, CK_GUARD_TERMINAL_BYTES);
    *at = 0;
    *end = got > 0 ? (size_t)got : 0;
}

/* Bytes that the reader does not take now stay; those of a reader that is gone do not. */
static void flush(int fd, const char *buffer, size_t *at, const size_t *end, size_t most)
{
    size_t left = *end - *at;
    ssize_t written = left > 0 ? ck_fd_write(fd, buffer + *at, left < most ? left : most) : 0;
    if (written < 0 && written != -EAGAIN)
        *at = *end;
    if (written > 0)
        *at += (size_t)written;
}

/*
 * Must not wait: deadlines, signals and every door would wait, too, and Ctrl-S would keep a guard alive that is to
 * end. poll only says that there is room for one byte.
 */
static void flush_output(struct ck_guard_terminal *terminal, bool has_room)
{
    if (has_room || !terminal->outer_blocks)
        flush(terminal->outer_fd, terminal->out, &terminal->out_at, &terminal->out_end,
              terminal->outer_blocks ? 1 : CK_GUARD_TERMINAL_BYTES);
}

void ck_guard_terminal_move(struct ck_guard_terminal *terminal, short outer, short master, short output)
{
    if ((outer & POLLIN) != 0 && terminal->in_at == terminal->in_end)
        fill(terminal->outer_in_fd, terminal->in, &terminal->in_at, &terminal->in_end);
    if ((master & POLLIN) != 0 && terminal->out_at == terminal->out_end)
        fill(terminal->master_fd, terminal->out, &terminal->out_at, &terminal->out_end);
    flush(terminal->master_fd, terminal->in, &terminal->in_at, &terminal->in_end, CK_GUARD_TERMINAL_BYTES);
    flush_output(terminal, output != 0);
}

/* What is left when PROGRAM has ended. */
static void copy_rest(struct ck_guard_terminal *terminal)
{
    for (size_t bytes = 0; terminal->master_fd >= 0 && bytes < LAST_BYTES;) {
        struct pollfd outer = {.fd = terminal->outer_fd, .events = POLLOUT};
        if (terminal->out_at == terminal->out_end) {
            fill(terminal->master_fd, terminal->out, &terminal->out_at, &terminal->out_end);
            bytes += terminal->out_end;
        }
        if (terminal->out_end == 0 || poll(&outer, 1, LAST_MS) <= 0)
            return;
        flush_output(terminal, true);
    }
}

void ck_guard_terminal_end(struct ck_guard_terminal *terminal)
{
    copy_rest(terminal);
    if (terminal->raw)
        (void)tcsetattr(terminal->outer_in_fd, TCSADRAIN, &terminal->saved);
    terminal->raw = false;
    ck_fd_close(&terminal->master_fd);
    ck_fd_close(&terminal->outer_fd);
    ck_fd_close(&terminal->outer_in_fd);
}
