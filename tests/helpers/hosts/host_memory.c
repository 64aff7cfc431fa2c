/*
 * host_memory.c - growth of this process's peak memory during a flood: host_memory POLICY ROOT
 * BYTES
 *
 * A tool writes BYTES to each of both streams, with a cap of 1 MiB. Prints the growth in KiB.
 */
#include "host.h"

static long peak_kib(void)
{
    char line[256];
    long kib = -1;
    FILE *stream = fopen("/proc/self/status", "re");
    CHECK(!!stream);
    while (fgets(line, sizeof(line), stream)) {
        if (strncmp(line, "VmHWM:", 6) == 0) {
            kib = strtol(line + 6, NULL, 10);
        }
    }
    (void)fclose(stream);
    CHECK(kib > 0);
    return kib;
}

static void flood(struct choke_context *context, const char *root, const char *bytes, bool over)
{
    struct choke_request request = host_request((const char *const[]){"flood", bytes, "both", NULL}, root);
    request.max_output_bytes = (size_t)1 << 20;
    request.timeout_ms = 120000;
    struct choke_result *result = host_run(context, &request);
    CHECK_SAYING(result->outcome == CHOKE_EXITED && result->exit_code == 0, result->error.message);
    CHECK(result->out.truncated == over && result->err.truncated == over);
    CHECK(result->out.total_bytes == strtoull(bytes, NULL, 10));
    CHECK(result->err.total_bytes == strtoull(bytes, NULL, 10));
    CHECK(!over || (result->out.length == (size_t)1 << 20 && result->err.length == (size_t)1 << 20));
    choke_result_free(result);
}

int main(int argc, char **argv)
{
    CHECK(argc == 4);
    struct choke_context *context = host_context(argv[1]);
    flood(context, argv[2], "10", false);
    long before = peak_kib();
    flood(context, argv[2], argv[3], true);
    printf("%ld\n", peak_kib() - before);
    choke_context_free(context);
    return 0;
}
