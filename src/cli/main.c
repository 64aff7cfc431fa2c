/*
 * main.c - a table of commands, and how one is chosen.
 */
#include "cli/cli.h"
#include "cli/text.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

struct main_options {
    bool help;
    bool version;
};

const struct ck_option ck_main_options[] = {
    {.name = "--help", .help = "show this help", .offset = offsetof(struct main_options, help)},
    {.name = "--version", .help = "show the version", .offset = offsetof(struct main_options, version)},
    {.name = NULL},
};

const struct ck_command *const ck_commands[] = {&ck_command_run, &ck_command_help, &ck_command_completion, NULL};

const struct ck_command *ck_command_find(const char *name)
{
    for (const struct ck_command *const *command = ck_commands; *command; command++)
        if (strcmp((*command)->name, name) == 0)
            return *command;
    return NULL;
}

int ck_finish_stdout(void)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return 0;
    (void)fprintf(stderr, "chokepoint: cannot write to standard output: %s\n", strerror(errno));
    return CK_EXIT_REFUSED;
}

int ck_usage_error(const struct ck_command *command, const struct choke_error *error)
{
    (void)fprintf(stderr, "chokepoint: %s (see 'chokepoint help%s%s')\n", error->message, command ? " " : "",
                  command ? command->name : "");
    return CK_EXIT_REFUSED;
}

/*
 * A closed 0, 1 or 2 would be given to the next file that is opened, and output would be written into it. The
 * stand-in is opened the wrong way round, so that using it is an error and not silence.
 */
static int occupy_standard_descriptors(void)
{
    for (int fd = 0; fd <= 2; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", (fd == 0 ? O_WRONLY : O_RDONLY) | O_CLOEXEC) != fd)
            return -1;
    return 0;
}

static int run_command(char *const *words)
{
    struct choke_error error;
    const struct ck_command *command = ck_command_find(words[0]);

    if (command)
        return command->run(words + 1);
    (void)ck_text_error(&error, CHOKE_INVALID, EINVAL, "there is no command '%s'", CK_TEXT_SAFE(words[0]));
    return ck_usage_error(NULL, &error);
}

int main(int argc, char **argv)
{
    struct main_options given = {0};
    struct choke_error error;

    if (occupy_standard_descriptors() < 0)
        return CK_EXIT_REFUSED;
    char *const *words = argv + (argc > 0);
    int count = ck_options_parse(ck_main_options, words, &given, &error);
    if (count < 0)
        return ck_usage_error(NULL, &error);
    if (given.help) {
        ck_help_overview(stdout);
        return ck_finish_stdout();
    }
    if (given.version) {
        (void)printf("chokepoint %s\n", choke_version());
        return ck_finish_stdout();
    }
    if (words[count])
        return run_command(words + count);
    ck_help_overview(stderr);
    return CK_EXIT_REFUSED;
}
