/*
 * host_canary.c - find the commands that trigger a canary: host_canary POLICY ROOT CANARY COMMANDS
 * ENOUGH
 *
 * Runs commands in ROOT without a jail, one after another, and prints the numbers of those after
 * which the file CANARY exists; it is removed each time. The search ends after ENOUGH of them; 0:
 * never. POLICY may be "default". COMMANDS is a file with one command per line, its arguments
 * separated by tabs. Before each command some files of the repository and of its submodule are
 * touched, so that git looks at them again.
 */
#include "host.h"

#include <fcntl.h>
#include <sys/stat.h>

#define ARGS_MAX 64
#define LINE_MAX_BYTES 4096

static void stir(const char *root)
{
    static const char *const names[] = {"still.txt", "gone.txt", "sub/still.txt", "sub/gone.txt"};
    int root_fd = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    CHECK(root_fd >= 0);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        CHECK(utimensat(root_fd, names[i], NULL, 0) == 0 || errno == ENOENT || errno == ENOTDIR);
    }
    (void)close(root_fd);
}

static void split(char *line, const char **ret_argv)
{
    size_t count = 0;
    line[strcspn(line, "\n")] = '\0';
    for (char *at = line; at && count < ARGS_MAX - 1; count++) {
        ret_argv[count] = strsep(&at, "\t");
    }
    ret_argv[count] = NULL;
}

/* git itself crashes over an object that it cannot fetch, or a merge driver that merges nothing. */
static void run(struct choke_context *context, const char *root, const char *const *command_argv)
{
    struct choke_request request = host_request(command_argv, root);
    request.jail = CHOKE_JAIL_NONE;
    struct choke_result *result = host_run(context, &request);
    bool ended = result->outcome == CHOKE_EXITED || result->outcome == CHOKE_SIGNALED;
    CHECK_SAYING(ended, result->error.message);
    choke_result_free(result);
}

int main(int argc, char **argv)
{
    CHECK(argc == 6);
    char line[LINE_MAX_BYTES];
    const char *command_argv[ARGS_MAX];
    long enough = strtol(argv[5], NULL, 10), received = 0, number = 0;
    FILE *commands = fopen(argv[4], "re");
    CHECK(!!commands);
    struct choke_context *context = host_context(strcmp(argv[1], "default") == 0 ? NULL : argv[1]);
    for (; (enough == 0 || received < enough) && fgets(line, sizeof(line), commands); number++) {
        split(line, command_argv);
        stir(argv[2]);
        run(context, argv[2], command_argv);
        if (unlink(argv[3]) == 0) {
            printf("%ld ", number);
            received++;
        }
    }
    printf("of %ld\n", number);
    choke_context_free(context);
    (void)fclose(commands);
    return 0;
}
