/*
 * leave.c - a tool that leaves FILES files of BYTES bytes in its working directory: leave FILES
 * BYTES
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    static char bytes[1 << 16];
    if (argc != 3) {
        return 2;
    }
    long files = strtol(argv[1], NULL, 10);
    for (long i = 0; i < files; i++) {
        char name[32];
        (void)snprintf(name, sizeof(name), "f%ld", i);
        int fd = open(name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
        for (size_t left = strtoul(argv[2], NULL, 10), put; fd >= 0 && left > 0; left -= put) {
            put = left < sizeof(bytes) ? left : sizeof(bytes);
            if (write(fd, bytes, put) != (ssize_t)put) {
                return 1;
            }
        }
        if (fd < 0 || close(fd) < 0) {
            return 1;
        }
    }
    return 0;
}
