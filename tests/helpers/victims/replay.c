/*
 * replay.c - stands in for a scanner that is not installed: prints the recording appended to its
 * executable.
 *
 * The last eight bytes of the file are the length of the recording, in decimal with leading zeros.
 * Its first line is what standard input must hold (empty: anything), and is not printed. Exits with
 * 9 if that is missing.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define INPUT_MAX (1 << 20)

static char *read_recording(size_t *ret_length)
{
    char digits[9] = "";
    int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    struct stat status;

    if (fd < 0 || fstat(fd, &status) < 0 || pread(fd, digits, 8, status.st_size - 8) != 8)
        return NULL;
    *ret_length = (size_t)strtoul(digits, NULL, 10);
    char *text = calloc(*ret_length + 1, 1);
    if (!text || pread(fd, text, *ret_length, status.st_size - 8 - (off_t)*ret_length) != (ssize_t)*ret_length)
        return NULL;
    return text;
}

int main(void)
{
    static char input[INPUT_MAX];
    size_t length = 0;
    char *text = read_recording(&length);
    if (!text)
        return 8;

    size_t used = strcspn(text, "\n");
    text[used] = '\0';
    size_t got = fread(input, 1, sizeof(input) - 1, stdin);
    if (!memmem(input, got, text, used))
        return 9;
    return fwrite(text + used + 1, 1, length - used - 1, stdout) == length - used - 1 ? 0 : 7;
}
