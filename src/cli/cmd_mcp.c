/*
 * cmd_mcp.c - "chokepoint mcp": serves the Model Context Protocol on standard input and output.
 */
#include "base/destination.h"
#include "cli/cli.h"
#include "cli/parse.h"
#include "cli/recording.h"
#include "cli/request.h"
#include "front/text.h"
#include "mcp/mcp.h"

#include <errno.h>
#include <unistd.h>

struct mcp_options {
    struct ck_recording recording;
    const char *root;   /* NULL: the working directory */
    const char *policy; /* NULL: the default one */
    int jail;           /* enum choke_jail */
    bool require_jail;
    struct ck_string_list egress;
    bool help;
};

#define TARGET(field) .offset = offsetof(struct mcp_options, field)

static const struct ck_option mcp_options[] = {
    {"--root", "DIR", "the only directory that calls may work in (default: .)", CK_OPTION_STRING, CK_OFFER_DIRECTORIES,
     TARGET(root)},
    {"--policy", "FILE", "use this policy, not the default one", CK_OPTION_STRING, CK_OFFER_FILES, TARGET(policy)},
    {"--jail", "auto|native|bwrap|none", "the jail (default: from the tool's route)", CK_OPTION_CHOICE, TARGET(jail),
     .choices = ck_request_jails},
    {"--require-jail", NULL, "refuse rather than run without a jail", CK_OPTION_FLAG, TARGET(require_jail)},
    {"--egress", "HOST[:PORT]", "a host that calls may ask for (default: none)", CK_OPTION_STRINGS, TARGET(egress)},
    CK_RECORDING_OPTIONS(mcp_options, recording),
    {"--help", NULL, "show this help", CK_OPTION_FLAG, TARGET(help)},
    {.name = NULL},
};

/* A host that is not valid would otherwise be a grant of nothing, and nobody would be told. */
static int check_options(const struct mcp_options *given, struct choke_error *error)
{
    struct ck_destination destination;
    const char *reason;

    for (size_t i = 0; i < given->egress.count; i++)
        if (ck_destination_parse(given->egress.items[i], &destination, &reason) < 0)
            return ck_text_error(error, CHOKE_INVALID, EINVAL, "--egress '%s' %s", CK_TEXT_SAFE(given->egress.items[i]),
                                 reason);
    return ck_recording_check(&given->recording, error);
}

/* Standard output belongs to the protocol; what is wrong goes to standard error. */
static int serve(const struct mcp_options *given)
{
    struct ck_mcp_options options = {
        .context = {.policy_path = given->policy},
        .root = given->root ? given->root : ".",
        .jail = (enum choke_jail)given->jail,
        .require_jail = given->require_jail,
        .egress = given->egress.items,
        .in_fd = STDIN_FILENO,
        .out_fd = STDOUT_FILENO,
    };
    struct choke_error error = {0};

    if (check_options(given, &error) < 0)
        return ck_cli_usage_error(&ck_command_mcp, &error);
    ck_recording_set(&given->recording, &options.context);
    int r = ck_mcp_serve(&options, &error);
    if (r >= 0)
        return r == 0 ? 0 : CK_EXIT_SIGNAL + r;
    (void)fprintf(stderr, "chokepoint: %s\n", error.message);
    return CK_EXIT_REFUSED;
}

static int run_mcp(char *const *args)
{
    struct mcp_options given = {.recording = CK_RECORDING_PRESET};
    const struct ck_parse parse = {&ck_command_mcp, &given, &given.help, .most = 0};
    struct ck_string_list operands;

    int status = ck_parse_words(&parse, args, &operands);
    if (status < 0)
        status = serve(&given);
    ck_options_free_words(&operands);
    ck_options_done(mcp_options, &given);
    return status;
}

const struct ck_command ck_command_mcp = {
    .name = "mcp",
    .operands = "",
    .summary = "serve agents that speak the Model Context Protocol",
    .details = "The protocol is on standard input and output; the server ends with its input. Agents start it\n"
               "themselves: docs/mcp.md has the configuration of the usual ones. Policy, root, jail, egress and\n"
               "audit log are chosen here, and no call can change them.\n"
               "Exit status: 0 the input has ended; 125 the server cannot begin; 128+N ended by signal N.\n",
    .options = mcp_options,
    .run = run_mcp,
};
