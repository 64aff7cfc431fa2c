/*
 * cmd_guard.c - "chokepoint guard": runs a program that does not use the library, and lets the policy
 * decide about every execution in its tree.
 */
#include "cli/cli.h"
#include "cli/recording.h"
#include "cli/request.h"
#include "front/text.h"
#include "guard/guard.h"

#include <errno.h>
#include <string.h>

struct guard_command_options {
    struct ck_recording recording;
    const char *policy;  /* NULL: the default one */
    const char *root;    /* NULL: cwd */
    const char *cwd;     /* NULL: "." */
    const char *profile; /* NULL: none */
    const char *report;
    struct ck_string_list egress;
    struct ck_string_list secrets;
    const char *secret_ca;
    uint64_t timeout_ms; /* CHOKE_TIMEOUT_FROM_POLICY: none */
    bool quiet;
    bool dry_run;
    bool help;
};

#define TARGET(field) .offset = offsetof(struct guard_command_options, field)

static const struct ck_option guard_options[] = {
    {"--policy", "FILE", "use this policy, not the default one", CK_OPTION_STRING, CK_OFFER_FILES, TARGET(policy)},
    {"--profile", "NAME", "give the cage what this profile has", CK_OPTION_STRING, TARGET(profile)},
    {"--root", "DIR", "the directory that the program works in (default: --cwd)", CK_OPTION_STRING,
     CK_OFFER_DIRECTORIES, TARGET(root)},
    {"--cwd", "DIR", "run the program in DIR (default: .)", CK_OPTION_STRING, CK_OFFER_DIRECTORIES, TARGET(cwd)},
    {"--egress", "HOST[:PORT]", "only this host of those that the profile lists", CK_OPTION_STRINGS, TARGET(egress)},
    {"--secret", "HOST[:PORT],HEADER=FILE",
     "let the proxy add HEADER, with the line in FILE, to requests for http://HOST, and send them over TLS",
     CK_OPTION_STRINGS, TARGET(secrets)},
    {"--secret-ca", "FILE", "verify these hosts with the authorities in FILE, not with those of the system",
     CK_OPTION_STRING, CK_OFFER_FILES, TARGET(secret_ca)},
    {"--timeout", "SECONDS", "end the program after this time (default: never)", CK_OPTION_SECONDS, TARGET(timeout_ms)},
    {"--report", "FILE", "write the summary to FILE, as JSON", CK_OPTION_STRING, CK_OFFER_FILES, TARGET(report)},
    {"--quiet", NULL, "print no summary", CK_OPTION_FLAG, TARGET(quiet)},
    {"--dry-run", NULL, "show what the cage would have and run nothing", CK_OPTION_FLAG, TARGET(dry_run)},
    CK_RECORDING_OPTIONS(guard_command_options, recording),
    {"--help", NULL, "show this help", CK_OPTION_FLAG, TARGET(help)},
    {.name = NULL},
};

/* The directories as a request has them: absolute, and the root is that of the working directory. */
static int find_directories(struct ck_request *request, const struct guard_command_options *given, char *const *argv,
                            struct choke_error *error)
{
    const struct ck_request_options directories = {.cwd = given->cwd,
                                                   .root = given->root,
                                                   .timeout_ms = CHOKE_TIMEOUT_FROM_POLICY,
                                                   .max_output_bytes = CK_REQUEST_NOT_GIVEN,
                                                   .keep_head_bytes = CK_REQUEST_NOT_GIVEN};
    return ck_request_build(request, &directories, argv, error);
}

static int guard_program(const struct guard_command_options *given, char *const *argv)
{
    struct choke_error error = {0};
    struct ck_request request = {.stdin_fd = -1};
    struct ck_guard_options options = {.context = {.policy_path = given->policy},
                                       .argv = (const char *const *)argv,
                                       .profile = given->profile,
                                       .egress = given->egress.items,
                                       .secrets = given->secrets.items,
                                       .secret_ca = given->secret_ca,
                                       .timeout_ms =
                                           given->timeout_ms == CHOKE_TIMEOUT_FROM_POLICY ? 0 : given->timeout_ms,
                                       .report = given->report,
                                       .quiet = given->quiet,
                                       .dry_run = given->dry_run};
    if (!argv[0])
        (void)ck_text_error(&error, CHOKE_INVALID, EINVAL, "guard needs a program: guard -- PROGRAM [ARG...]");
    if (!argv[0] || ck_recording_check(&given->recording, &error) < 0)
        return ck_cli_usage_error(&ck_command_guard, &error);
    ck_recording_set(&given->recording, &options.context);
    int r = find_directories(&request, given, argv, &error);
    options.root = request.request.root;
    options.cwd = request.request.cwd;
    if (r == 0)
        r = ck_guard_run(&options, &error);
    ck_request_done(&request);
    if (r >= 0)
        return r;
    (void)fprintf(stderr, "chokepoint: %s\n", error.message);
    return CK_EXIT_REFUSED;
}

static int run_guard(char *const *args)
{
    struct guard_command_options given = {.recording = CK_RECORDING_PRESET, .timeout_ms = CHOKE_TIMEOUT_FROM_POLICY};
    struct choke_error error = {0};
    int count = ck_options_parse(guard_options, args, &given, &error);
    int status = count < 0    ? ck_cli_usage_error(&ck_command_guard, &error)
                 : given.help ? ck_cmd_help_show(&ck_command_guard)
                              : guard_program(&given, args + count);
    ck_options_done(guard_options, &given);
    return status;
}

const struct ck_command ck_command_guard = {
    .name = "guard",
    .operands = "-- PROGRAM [ARG...]",
    .summary = "run a program, and decide about every execution in its tree",
    .details = "PROGRAM is a carrier of the policy. It runs in a cage; every tool of the policy that it or its\n"
               "children execute runs in its own jail, as 'chokepoint run' would run it. Nothing else can be\n"
               "executed: docs/guard.md.\n"
               "Exit status: PROGRAM's own; 124 ended at --timeout; 125 refused, or not every execution is\n"
               "accounted for; 128+N ended by signal N.\n",
    .operand = CK_OPERAND_TOOL,
    .options = guard_options,
    .run = run_guard,
};
