/*
 * say_cause.c - stands in for a tool that fails: prints what no reader understands, and the cause
 * as the last line of stderr. The last eight bytes of its file are its exit status, in decimal.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(void)
{
    char digits[9] = "";
    int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    off_t end = fd < 0 ? -1 : lseek(fd, 0, SEEK_END);

    (void)puts("] this is {no answer");
    (void)fputs("a warning\ncause: the moon is full\n\n", stderr);
    return end > 8 && pread(fd, digits, 8, end - 8) == 8 ? (int)strtol(digits, NULL, 10) : 99;
}
