/* fd.c - see fd.h. */
#include "base/fd.h"

#include <errno.h>
#include <stdlib.h>
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
