/*
 * host_plugins.c - a plug-in that is installed while a context is open: host_plugins POLICY ROOT JAIL
 * FROM TO
 *
 * Runs "python3 maps.py TO" before and after FROM is copied to TO. maps.py exits with 2 if there is
 * no such file, with 1 if it cannot be mapped as code, and with 0 if it can.
 */
#include "host.h"

static int maps(struct choke_context *context, char **argv)
{
    const char *const words[] = {"python3", "maps.py", argv[5], NULL};
    struct choke_request request = host_request(words, argv[2]);
    request.jail = host_jail(argv[3]);
    struct choke_result *result = host_run(context, &request);
    CHECK_SAYING(result->outcome == CHOKE_EXITED, result->error.message);
    int code = result->exit_code;
    choke_result_free(result);
    return code;
}

static void copy(const char *from, const char *to)
{
    static char bytes[1 << 20];
    FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");
    CHECK(in && out);
    size_t length = fread(bytes, 1, sizeof(bytes), in);
    CHECK(length > 0 && length < sizeof(bytes) && fwrite(bytes, 1, length, out) == length);
    CHECK(fclose(out) == 0 && fclose(in) == 0);
}

int main(int argc, char **argv)
{
    CHECK(argc == 6);
    struct choke_context *context = host_context(argv[1]);
    CHECK(maps(context, argv) == 2);
    CHECK(maps(context, argv) == 2);
    copy(argv[4], argv[5]);
    CHECK(maps(context, argv) == 0);
    CHECK(maps(context, argv) == 0);
    choke_context_free(context);
    (void)puts("ok");
    return 0;
}
