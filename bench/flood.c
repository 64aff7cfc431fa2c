/*
 * flood.c - a tool that writes much: "flood STREAMS BYTES" writes BYTES to every descriptor named
 * in STREAMS (1, 2, or 12), 64 KiB at a time, alternately. "flood STREAMS BYTES pipe-size" then
 * prints on stderr how much stdout holds: a reader may have enlarged the pipe meanwhile.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHUNK_BYTES ((size_t)64 << 10)

static int write_all(int fd, const char *data, size_t length)
{
    while (length > 0) {
        ssize_t n = write(fd, data, length);
        if (n < 0 && errno != EINTR) {
            return -errno;
        }
        if (n > 0) {
            data += n;
            length -= (size_t)n;
        }
    }
    return 0;
}

int main(int argc, char **argv)
{
    static char chunk[CHUNK_BYTES];
    if (argc < 3) {
        return 2;
    }
    memset(chunk, 'x', sizeof(chunk));
    for (size_t left = strtoul(argv[2], NULL, 10); left > 0;) {
        size_t length = left < sizeof(chunk) ? left : sizeof(chunk);
        for (const char *stream = argv[1]; *stream; stream++) {
            if (write_all(*stream - '0', chunk, length) < 0) {
                return 1;
            }
        }
        left -= length;
    }
    if (argc > 3 && strcmp(argv[3], "pipe-size") == 0) {
        return fprintf(stderr, "%d", fcntl(STDOUT_FILENO, F_GETPIPE_SZ)) > 0 ? 0 : 1;
    }
    return 0;
}
