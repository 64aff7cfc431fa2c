/* fd.c - see fd.h. */
#include "base/fd.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static _Thread_local bool forget_only;

void ck_fd_forget_only(bool on)
{
    forget_only = on;
}

void ck_fd_close(int *fd)
{
    if (*fd < 0)
        return;
    int saved = errno;
    if (!forget_only)
        (void)close(*fd);
    *fd = -1;
    errno = saved;
}

static void only_xfsz(sigset_t *set)
{
    (void)sigemptyset(set);
    (void)sigaddset(set, SIGXFSZ);
}

/* One that was pending before is the host's, and stays. It can only have been where the host had it blocked. */
void ck_fd_xfsz_block(struct ck_fd_xfsz_block *ret_xfsz)
{
    sigset_t set;
    only_xfsz(&set);
    (void)pthread_sigmask(SIG_BLOCK, &set, &ret_xfsz->before);
    bool blocked = sigismember(&ret_xfsz->before, SIGXFSZ) == 1;
    ret_xfsz->was_pending = blocked && sigpending(&set) == 0 && sigismember(&set, SIGXFSZ) == 1;
}

void ck_fd_xfsz_unblock(const struct ck_fd_xfsz_block *xfsz)
{
    static const struct timespec at_once = {0};
    int saved = errno;
    sigset_t set;
    only_xfsz(&set);
    if (saved == EFBIG && !xfsz->was_pending)
        while (sigtimedwait(&set, NULL, &at_once) < 0 && errno == EINTR)
            ;
    (void)pthread_sigmask(SIG_SETMASK, &xfsz->before, NULL);
    errno = saved;
}

ssize_t ck_fd_write(int fd, const void *data, size_t length)
{
    struct ck_fd_xfsz_block xfsz;
    ssize_t n;
    ck_fd_xfsz_block(&xfsz);
    errno = 0;
    do
        n = write(fd, data, length);
    while (n < 0 && errno == EINTR);
    int result = n < 0 ? -errno : 0;
    ck_fd_xfsz_unblock(&xfsz);
    return result < 0 ? result : n;
}

int ck_fd_write_all(int fd, const void *data, size_t length)
{
    const char *at = data;
    while (length > 0) {
        ssize_t n = ck_fd_write(fd, at, length);
        if (n < 0)
            return (int)n;
        at += n;
        length -= (size_t)n;
    }
    return 0;
}

long ck_fd_read_all(int fd, void *data, size_t length)
{
    size_t got = 0;
    while (got < length) {
        ssize_t n = read(fd, (char *)data + got, length - got);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -errno;
        if (n == 0)
            break;
        got += (size_t)n;
    }
    return (long)got;
}

int ck_fd_read_text(int fd, size_t max_bytes, char **ret_text, size_t *ret_length)
{
    char *text = malloc(max_bytes + 1);
    if (text == NULL)
        return -ENOMEM;
    long got = ck_fd_read_all(fd, text, max_bytes + 1);
    if (got < 0 || (size_t)got > max_bytes) {
        free(text);
        return got < 0 ? (int)got : -EFBIG;
    }
    text[got] = '\0';
    *ret_text = text;
    *ret_length = (size_t)got;
    return 0;
}
