/* fd.c - closes, reads and writes descriptors. */
#include "base/fd.h"

#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* First buffer for what does not report a size (pipes, /proc). */
#define READ_FIRST ((size_t)4096)

/* Of this thread only: other threads of the host may use other contexts meanwhile. */
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

/*
 * A signal that was pending before belongs to the host program, and stays. It can be pending only
 * if the host had blocked it.
 */
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
    /*
     * The kernel sent the signal to this thread. It is taken off the queue here, or it would be
     * delivered as soon as the mask is restored.
     */
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
    /* unblock looks for EFBIG in errno, and a write that succeeds leaves an old value there */
    errno = 0;
    do
        n = write(fd, data, length);
    while (n < 0 && errno == EINTR);
    int r = n < 0 ? -errno : 0;
    ck_fd_xfsz_unblock(&xfsz);
    return r < 0 ? r : n;
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

int ck_fd_sync(int fd)
{
    return fsync(fd) < 0 && errno != EINVAL ? -errno : 0;
}

/*
 * Reads from offset on, or from the position of the descriptor if offset is negative. A result
 * below length means end of file.
 */
static long read_whole(int fd, char *data, size_t length, off_t offset)
{
    size_t got = 0;
    while (got < length) {
        ssize_t n =
            offset < 0 ? read(fd, data + got, length - got) : pread(fd, data + got, length - got, offset + (off_t)got);
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

long ck_fd_read_all(int fd, void *data, size_t length)
{
    return read_whole(fd, data, length, -1);
}

long ck_fd_read_at(int fd, void *data, size_t length, uint64_t offset)
{
    return read_whole(fd, data, length, (off_t)offset);
}

/*
 * One byte more than a regular file has, so that the first read finds the end of the file. What
 * reports no size is read in growing pieces. Never more than max_bytes + 1, which is enough to see
 * that there is too much.
 */
static size_t first_room(int fd, size_t max_bytes)
{
    struct stat status;
    size_t room = READ_FIRST;
    if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0)
        room = (uint64_t)status.st_size < max_bytes ? (size_t)status.st_size + 1 : max_bytes + 1;
    return room <= max_bytes ? room : max_bytes + 1;
}

int ck_fd_read_text(int fd, size_t max_bytes, char **ret_text, size_t *ret_length)
{
    char *text = NULL;
    size_t room = first_room(fd, max_bytes);
    for (size_t used = 0; used <= max_bytes; room = room <= max_bytes / 2 ? room * 2 : max_bytes + 1) {
        char *grown = realloc(text, room);
        long got = grown ? ck_fd_read_all(fd, grown + used, room - used) : -ENOMEM;
        /* after a failed realloc the old block is still allocated */
        text = grown ? grown : text;
        if (got < 0) {
            free(text);
            return (int)got;
        }
        used += (size_t)got;
        /* a short read is the end of the file, and leaves a byte for the NUL */
        if (used < room) {
            text[used] = '\0';
            *ret_text = text;
            *ret_length = used;
            return 0;
        }
    }
    free(text);
    return -EFBIG;
}
