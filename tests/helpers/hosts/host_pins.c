/*
 * host_pins.c - a changed file of a pinned tool is noticed.
 *
 * host_pins POLICY ROOT TOOL FILE - runs TOOL, which is pinned, until its digest is remembered: a run that reads less
 * than FILE has. Then FILE is changed in place, at the same size and with its mtime put back, and is refused; and
 * with its old content back it runs again.
 */
#include "host.h"

#include <fcntl.h>
#include <sys/stat.h>

#define PATIENCE_S 60.0

/* Bytes that this process has read, by whatever call. */
static unsigned long long bytes_read(void)
{
    unsigned long long count = 0;
    FILE *stream = fopen("/proc/self/io", "re");
    CHECK(stream && fscanf(stream, "rchar: %llu", &count) == 1);
    (void)fclose(stream);
    return count;
}

static enum choke_outcome run(struct choke_context *context, const char *tool, const char *root,
                              unsigned long long *ret_read)
{
    struct choke_request request = host_request((const char *const[]){tool, "word", NULL}, root);
    unsigned long long before = bytes_read();
    struct choke_result *result = host_run(context, &request);
    *ret_read = bytes_read() - before;
    enum choke_outcome outcome = result->outcome;
    CHECK_SAYING(outcome == CHOKE_EXITED || outcome == CHOKE_DISALLOWED, result->error.message);
    CHECK(outcome != CHOKE_DISALLOWED || strstr(result->rule, ".sha256"));
    choke_result_free(result);
    return outcome;
}

/* Turns the last byte over. */
static void change(const char *file, const struct stat *status)
{
    char byte;
    const struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, status->st_mtim};
    int fd = open(file, O_RDWR | O_CLOEXEC);
    CHECK_SAYING(fd >= 0, strerror(errno));
    CHECK(pread(fd, &byte, 1, status->st_size - 1) == 1);
    byte = (char)~byte;
    CHECK(pwrite(fd, &byte, 1, status->st_size - 1) == 1);
    CHECK(futimens(fd, times) == 0 && close(fd) == 0);
}

int main(int argc, char **argv)
{
    CHECK(argc == 5);
    struct stat status;
    CHECK(stat(argv[4], &status) == 0 && status.st_size > 65536);
    unsigned long long size = (unsigned long long)status.st_size, count = size;
    struct choke_context *context = host_context(argv[1]);
    CHECK(run(context, argv[3], argv[2], &count) == CHOKE_EXITED);
    CHECK_SAYING(count >= size, "the first run must read the whole file");
    /* A file that has just been made is not remembered. */
    double end = host_now() + PATIENCE_S;
    while (count >= size) {
        CHECK_SAYING(host_now() < end, "the digest is never remembered");
        CHECK(run(context, argv[3], argv[2], &count) == CHOKE_EXITED);
    }
    CHECK(run(context, argv[3], argv[2], &count) == CHOKE_EXITED && count < size);
    change(argv[4], &status);
    CHECK(run(context, argv[3], argv[2], &count) == CHOKE_DISALLOWED);
    change(argv[4], &status);
    CHECK(run(context, argv[3], argv[2], &count) == CHOKE_EXITED);
    choke_context_free(context);
    printf("ok\n");
    return 0;
}
