/* fd.c - see fd.h. */
#include "base/fd.h"

#include <errno.h>
#include <unistd.h>

void ck_fd_close(int *fd)
{
    if (*fd < 0)
        return;
    int saved = errno;
    (void)close(*fd);
    *fd = -1;
    errno = saved;
}

int ck_fd_write_all(int fd, const void *data, size_t length)
{
    const char *at = data;
    while (length > 0) {
        ssize_t n = write(fd, at, length);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -errno;
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
