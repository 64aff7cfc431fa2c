/*
 * main.c - the table of commands, and how one is chosen.
 */
#include "base/nearest.h"
#include "cli/cli.h"
#include "front/text.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

/* Options before the name of the command. */
struct main_options {
    bool help;
    bool version;
};

const struct ck_option ck_main_options[] = {
    {.name = "--help", .help = "show this help", .offset = offsetof(struct main_options, help)},
    {.name = "--version", .help = "show the version", .offset = offsetof(struct main_options, version)},
    {.name = NULL},
};

/* One per line, so that a new command adds one line. */
/* clang-format off */
const struct ck_command *const ck_commands[] = {
    &ck_command_run,
    &ck_command_policy_check,
    &ck_command_policy_init,
    &ck_command_policy_learn,
    &ck_command_policy_show,
    &ck_command_policy_diff,
    &ck_command_policy_explain,
    &ck_command_doctor,
    &ck_command_lock,
    &ck_command_audit_verify,
    &ck_command_audit_show,
    &ck_command_audit_head,
    &ck_command_audit_keygen,
    &ck_command_audit_report,
    &ck_command_lint,
    &ck_command_gather,
    &ck_command_guard,
    &ck_command_report,
    &ck_command_fleet_run,
    &ck_command_fleet_status,
    &ck_command_fleet_cancel,
    &ck_command_fleet_collect,
    &ck_command_fleet_query,
    &ck_command_fleet_work,
    &ck_command_mcp,
    &ck_command_help,
    &ck_command_completion,
    NULL,
};
/* clang-format on */

int ck_cli_group_length(const struct ck_command *command)
{
    return (int)strcspn(command->name, " ");
}

const char *ck_cli_subcommand(const struct ck_command *command)
{
    const char *blank = strchr(command->name, ' ');
    return blank ? blank + 1 : NULL;
}

/* Is token the first word of the command's name? */
static bool has_first(const struct ck_command *command, const char *token, size_t length)
{
    return (size_t)ck_cli_group_length(command) == length && memcmp(command->name, token, length) == 0;
}

bool ck_cli_starts_group(const struct ck_command *const *command)
{
    return command == ck_commands || !has_first(command[-1], (*command)->name, (size_t)ck_cli_group_length(*command));
}

/* A group has commands with a second word. */
bool ck_cli_is_group(const char *token)
{
    for (const struct ck_command *const *command = ck_commands; *command; command++)
        if (ck_cli_subcommand(*command) && has_first(*command, token, strlen(token)))
            return true;
    return false;
}

/* The name of a group does not select a command: both words must match. */
const struct ck_command *ck_cli_find_command(char *const *args, int *ret_count)
{
    for (const struct ck_command *const *command = ck_commands; *command; command++) {
        const char *second = ck_cli_subcommand(*command);
        if (!has_first(*command, args[0], strlen(args[0])))
            continue;
        if (second && (!args[1] || strcmp(second, args[1]) != 0))
            continue;
        *ret_count = second ? 2 : 1;
        return *command;
    }
    return NULL;
}

/*
 * stdio reports most errors of printf only here. So the commands ignore the result of printf and
 * call this once, at the end.
 */
int ck_cli_flush_stdout(void)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return 0;
    (void)fprintf(stderr, "chokepoint: cannot write to standard output: %s\n", strerror(errno));
    return CK_EXIT_REFUSED;
}

int ck_cli_usage_error(const struct ck_command *command, const struct choke_error *error)
{
    (void)fprintf(stderr, "chokepoint: %s (see 'chokepoint help%s%s')\n", error->message, command ? " " : "",
                  command ? command->name : "");
    return CK_EXIT_REFUSED;
}

/* The command, or the second word of one in the group, that was meant; NULL if none is near. */
static const char *nearest_command(const char *group, const char *token)
{
    struct ck_nearest nearest;

    ck_nearest_begin(&nearest, token, strlen(token));
    for (const struct ck_command *const *command = ck_commands; *command; command++)
        if (!group)
            ck_nearest_offer(&nearest, (*command)->name);
        else if (has_first(*command, group, strlen(group)))
            ck_nearest_offer(&nearest, ck_cli_subcommand(*command));
    return nearest.best;
}

/* The hint is the help of the group. */
static int unknown_subcommand(char *const *args)
{
    const char *near = nearest_command(args[0], args[1]);
    struct choke_error error;

    if (near)
        (void)ck_text_error(&error, CHOKE_INVALID, EINVAL, "unknown command '%s %s'; did you mean '%s'?", args[0],
                            CK_TEXT_SAFE(args[1]), near);
    else
        (void)ck_text_error(&error, CHOKE_INVALID, EINVAL, "unknown command '%s %s'", args[0], CK_TEXT_SAFE(args[1]));
    (void)fprintf(stderr, "chokepoint: %s (see 'chokepoint help %s')\n", error.message, args[0]);
    return CK_EXIT_REFUSED;
}

/* A word that is near no command may be meant as a tool. */
int ck_cli_unknown_command(char *const *args)
{
    struct choke_error error;

    if (ck_cli_is_group(args[0]) && args[1])
        return unknown_subcommand(args);
    const char *near = nearest_command(NULL, args[0]);
    if (near)
        (void)ck_text_error(&error, CHOKE_INVALID, EINVAL, "unknown command '%s'; did you mean '%s'?",
                            CK_TEXT_SAFE(args[0]), near);
    else
        (void)ck_text_error(&error, CHOKE_INVALID, EINVAL,
                            "unknown command '%s'; a tool is run by 'chokepoint run -- TOOL'", CK_TEXT_SAFE(args[0]));
    return ck_cli_usage_error(NULL, &error);
}

/*
 * If descriptor 0, 1 or 2 were closed, the next opened file would get its number, and output would
 * be written into that file. /dev/null is opened in the wrong mode, so that using it is an error
 * and not silent.
 */
static int occupy_standard_descriptors(void)
{
    for (int fd = 0; fd <= 2; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", (fd == 0 ? O_WRONLY : O_RDONLY) | O_CLOEXEC) != fd)
            return -1;
    return 0;
}

/*
 * Beyond RLIMIT_FSIZE the kernel sends SIGXFSZ and write() fails with EFBIG. With the signal
 * ignored only the error remains, and it is reported. Tools do not inherit this: they start with
 * default signals.
 */
static void ignore_file_limit_signal(void)
{
    const struct sigaction ignore = {.sa_handler = SIG_IGN};
    (void)sigaction(SIGXFSZ, &ignore, NULL);
}

/* The name of a group alone is an error, with its help on stderr; with --help it is not. */
static int run_command(char *const *args)
{
    int count;
    const struct ck_command *command = ck_cli_find_command(args, &count);

    if (command)
        return command->run(args + count);
    if (!ck_cli_is_group(args[0]) || (args[1] && strcmp(args[1], "--help") != 0))
        return ck_cli_unknown_command(args);
    ck_cli_help_group(args[1] ? stdout : stderr, args[0]);
    return args[1] ? ck_cli_flush_stdout() : CK_EXIT_REFUSED;
}

int main(int argc, char **argv)
{
    struct main_options given = {0};
    struct choke_error error;

    if (occupy_standard_descriptors() < 0)
        return CK_EXIT_REFUSED;
    ignore_file_limit_signal();
    /* argc can be 0 before Linux 5.18: execve accepted an empty argv. */
    char *const *args = argv + (argc > 0);
    /* Ends at the first argument that is not an option: the name of the command. */
    int count = ck_options_parse(ck_main_options, args, &given, &error);
    if (count < 0)
        return ck_cli_usage_error(NULL, &error);
    if (given.help) {
        ck_cli_help_overview(stdout);
        return ck_cli_flush_stdout();
    }
    if (given.version) {
        (void)printf("chokepoint %s\n", choke_version());
        return ck_cli_flush_stdout();
    }
    if (args[count])
        return run_command(args + count);
    /* No command: the help, but as an error. */
    ck_cli_help_overview(stderr);
    return CK_EXIT_REFUSED;
}
