/*
 * cmd_fleet_status.c - "chokepoint fleet status" and "chokepoint fleet cancel".
 */
#include "cli/cli.h"
#include "cli/parse.h"
#include "fleet/fleet.h"

struct fleet_status_options {
    bool json;
    bool help;
};

#define TARGET(field) .offset = offsetof(struct fleet_status_options, field)

static const struct ck_option status_options[] = {
    {"--json", NULL, "print it as JSON", CK_OPTION_FLAG, TARGET(json)},
    {"--help", NULL, "show this help", CK_OPTION_FLAG, TARGET(help)},
    {.name = NULL},
};

static const struct ck_option cancel_options[] = {
    {"--help", NULL, "show this help", CK_OPTION_FLAG, TARGET(help)},
    {.name = NULL},
};

static int finish(int r, const struct choke_error *error)
{
    if (r == 0)
        return ck_cli_flush_stdout();
    (void)fprintf(stderr, "chokepoint: %s\n", error->message);
    return CK_EXIT_REFUSED;
}

static int run_status(char *const *args)
{
    struct fleet_status_options given = {0};
    const struct ck_parse parse = {&ck_command_fleet_status, &given, &given.help, &given.json, 1, 1};
    struct ck_string_list directories;
    struct choke_error error = {0};

    int status = ck_parse_words(&parse, args, &directories);
    if (status < 0)
        status = finish(ck_fleet_status(directories.items[0], given.json, stdout, &error), &error);
    ck_options_free_words(&directories);
    return status;
}

static int cancel(const char *directory)
{
    struct ck_session session;
    struct choke_error error = {0};

    ck_session_init(&session);
    return finish(ck_fleet_cancel(directory, &session, &error), &error);
}

static int run_cancel(char *const *args)
{
    struct fleet_status_options given = {0};
    const struct ck_parse parse = {&ck_command_fleet_cancel, &given, &given.help, .least = 1, .most = 1};
    struct ck_string_list directories;

    int status = ck_parse_words(&parse, args, &directories);
    if (status < 0)
        status = cancel(directories.items[0]);
    ck_options_free_words(&directories);
    return status;
}

const struct ck_command ck_command_fleet_status = {
    .name = "fleet status",
    .operands = "DIR",
    .summary = "show how far a fleet is",
    .details = "Exit status: 0; 125 DIR is not the directory of a fleet.\n",
    .operand = CK_OPERAND_FILE,
    .options = status_options,
    .run = run_status,
};

const struct ck_command ck_command_fleet_cancel = {
    .name = "fleet cancel",
    .operands = "DIR",
    .summary = "end everything that works on a fleet",
    .details = "What is finished stays, and 'chokepoint fleet run' goes on from there.\n"
               "Exit status: 0; 125 DIR is not the directory of a fleet.\n",
    .operand = CK_OPERAND_FILE,
    .options = cancel_options,
    .run = run_cancel,
};
