/*
 * flood.c - writes a known number of known bytes.
 *
 * flood BYTES out|err|both [TEXT] - writes exactly BYTES bytes to each named stream, as fast as a pipe takes them;
 * TEXT is the beginning of them. Apart from TEXT, byte i is 33 + (j * 31 + j / 94) % 94 with j = i % 65536, so a
 * reader can check any part of it.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PERIOD = 65536, PERIODS = 4 };

static char pattern[PERIOD * PERIODS];

static int put(int fd, const char *data, size_t length)
{
    while (length > 0) {
        ssize_t written = write(fd, data, length);
        if (written < 0) {
            return -1;
        }
        data += written;
        length -= (size_t)written;
    }
    return 0;
}

/* The bytes from offset on: at most one buffer, and not beyond total. */
static size_t piece(unsigned long long offset, unsigned long long total)
{
    size_t room = sizeof(pattern) - (size_t)(offset % PERIOD);
    return total - offset < room ? (size_t)(total - offset) : room;
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        return 2;
    }
    unsigned long long total = strtoull(argv[1], NULL, 10);
    const char *text = argc > 3 ? argv[3] : "";
    unsigned long long offset = strlen(text);
    int streams[2] = {strcmp(argv[2], "err") == 0 ? STDERR_FILENO : STDOUT_FILENO, STDERR_FILENO};
    int count = strcmp(argv[2], "both") == 0 ? 2 : 1;
    for (size_t i = 0; i < sizeof(pattern); i++) {
        size_t j = i % PERIOD;
        pattern[i] = (char)(33 + (j * 31 + j / 94) % 94);
    }
    if (offset > total) {
        return 2;
    }
    for (int i = 0; i < count; i++) {
        if (put(streams[i], text, (size_t)offset) != 0) {
            return 1;
        }
    }
    while (offset < total) {
        size_t length = piece(offset, total);
        for (int i = 0; i < count; i++) {
            if (put(streams[i], pattern + offset % PERIOD, length) != 0) {
                return 1;
            }
        }
        offset += length;
    }
    return 0;
}
