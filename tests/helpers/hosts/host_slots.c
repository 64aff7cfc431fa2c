/*
 * host_slots.c - a user without free process slots.
 *
 * host_slots POLICY ROOT TOOL FREE - the user has FREE process slots at the first run of a context (RLIMIT_NPROC), and
 * enough of them at the second. The first runs in the jail or not at all; the second runs in the jail.
 */
#include "host.h"

#include <sys/resource.h>

/* Threads of this user; the kernel counts them. */
static unsigned long count_own(void)
{
    unsigned long count = 0;
    DIR *directory = opendir("/proc");
    CHECK(!!directory);
    for (struct dirent *entry = readdir(directory); entry; entry = readdir(directory)) {
        char path[300];
        char line[200];
        unsigned uid = 0;
        unsigned long threads = 0;
        (void)snprintf(path, sizeof(path), "/proc/%s/status", entry->d_name);
        FILE *stream = entry->d_name[0] >= '1' && entry->d_name[0] <= '9' ? fopen(path, "re") : NULL;
        while (stream && fgets(line, sizeof(line), stream)) {
            (void)(sscanf(line, "Uid: %u", &uid) == 1 || sscanf(line, "Threads: %lu", &threads) == 1);
        }
        if (stream) {
            (void)fclose(stream);
            count += uid == getuid() ? threads : 0;
        }
    }
    (void)closedir(directory);
    return count;
}

int main(int argc, char **argv)
{
    struct rlimit plenty;
    CHECK(argc == 5 && getuid() != 0);
    struct choke_request request = host_request((const char *const[]){argv[3], NULL}, argv[2]);
    request.jail = CHOKE_JAIL_AUTO;
    struct choke_context *context = host_context(argv[1]);
    CHECK(getrlimit(RLIMIT_NPROC, &plenty) == 0);
    const struct rlimit few = {.rlim_cur = count_own() + strtoul(argv[4], NULL, 10), .rlim_max = plenty.rlim_max};
    CHECK(setrlimit(RLIMIT_NPROC, &few) == 0);
    struct choke_result *result = host_run(context, &request);
    printf("%s %s\n", choke_outcome_name(result->outcome), result->error.message);
    if (result->outcome == CHOKE_EXITED) {
        CHECK_SAYING(strcmp(result->jail, "none") != 0, "it ran outside of the jail");
    } else {
        CHECK_SAYING(result->outcome == CHOKE_SPAWN_FAILED, choke_outcome_name(result->outcome));
        CHECK_SAYING(!!strstr(result->error.message, "again"), result->error.message);
    }
    choke_result_free(result);
    CHECK(setrlimit(RLIMIT_NPROC, &plenty) == 0);
    result = host_run(context, &request);
    CHECK_SAYING(result->outcome == CHOKE_EXITED, result->error.message);
    CHECK_SAYING(strcmp(result->jail, "native") == 0, result->jail);
    choke_result_free(result);
    choke_context_free(context);
    printf("ok\n");
    return 0;
}
