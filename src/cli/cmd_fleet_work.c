/*
 * cmd_fleet_work.c - "chokepoint fleet work": one task of a fleet on a cluster. The engine slurm
 * writes a script that calls it; a pod of an indexed job of Kubernetes calls it too.
 */
#include "cli/cli.h"
#include "cli/parse.h"
#include "cli/recording.h"
#include "fleet/fleet.h"
#include "front/text.h"

#include <errno.h>
#include <string.h>

#define STATUS_FAILED 1 /* of some repositories */
#define INDEX_MAX 1000000

struct fleet_work_options {
    struct ck_recording recording;
    unsigned submission; /* 0: none */
    size_t index;
    unsigned of;
    const char *job;
    size_t restarts;
    unsigned jobs;
    uint64_t timeout_ms;
    bool help;
};

#define TARGET(field) .offset = offsetof(struct fleet_work_options, field)

static const struct ck_option fleet_work_options[] = {
    {"--index", "I", "the number of this task, from 0 (default: 0)", CK_OPTION_BYTES, TARGET(index)},
    {"--of", "N", "gather each N-th repository of the fleet", CK_OPTION_COUNT, TARGET(of)},
    {"--submission", "N", "gather what DIR/slurm/N.json has for this task", CK_OPTION_COUNT, TARGET(submission)},
    {"--job", "NAME", "what all tasks of one start have in common (required)", CK_OPTION_STRING, TARGET(job),
     .required = true},
    {"--restarts", "N", "how often this task was started again (default: 0)", CK_OPTION_BYTES, TARGET(restarts)},
    {"--jobs", "N", "run N probes at once, 1 to 256 (default: one more than processors)", CK_OPTION_COUNT,
     TARGET(jobs)},
    {"--timeout", "SECONDS", "limit for each call (default: the probe's limit)", CK_OPTION_SECONDS, TARGET(timeout_ms)},
    CK_RECORDING_OPTIONS(fleet_work_options, recording),
    {"--help", NULL, "show this help", CK_OPTION_FLAG, TARGET(help)},
    {.name = NULL},
};

static int check_options(const struct fleet_work_options *given, struct choke_error *error)
{
    if ((given->of == 0) == (given->submission == 0))
        return ck_text_error(error, CHOKE_INVALID, EINVAL, "one of --of and --submission is needed");
    if (!given->job || strpbrk(given->job, " \n"))
        return ck_text_error(error, CHOKE_INVALID, EINVAL, "--job NAME is missing, or has a blank");
    if (given->index > INDEX_MAX || given->restarts > INDEX_MAX || (given->of > 0 && given->index >= given->of))
        return ck_text_error(error, CHOKE_INVALID, EINVAL, "--index must be less than --of, and both less than %d",
                             INDEX_MAX);
    if (given->jobs > CK_FLEET_JOBS_MAX)
        return ck_text_error(error, CHOKE_INVALID, EINVAL, "--jobs must be at most %d", CK_FLEET_JOBS_MAX);
    if (given->timeout_ms == 0)
        return ck_text_error(error, CHOKE_INVALID, EINVAL, "--timeout must be more than 0 seconds");
    return ck_recording_check(&given->recording, error);
}

static int gather(const struct fleet_work_options *given, const char *directory)
{
    struct ck_fleet_work work = {
        .out = directory,
        .submission = given->submission,
        .index = (unsigned)given->index,
        .of = given->of,
        .kind = given->submission > 0 ? "slurm" : "index",
        .job = given->job,
        .restarts = (unsigned)given->restarts,
        .jobs = given->jobs,
        .timeout_ms = given->timeout_ms,
    };
    struct ck_session session;
    struct ck_fleet_summary summary;
    struct choke_error error = {0};

    if (check_options(given, &error) < 0)
        return ck_cli_usage_error(&ck_command_fleet_work, &error);
    ck_recording_set(&given->recording, &work.context);
    ck_session_init(&session);
    if (ck_fleet_work(&work, &session, &summary, &error) < 0) {
        ck_outlet_print(&session.notes, "chokepoint: %s\n", error.message);
        return CK_EXIT_REFUSED;
    }
    if (session.signal != 0)
        return CK_EXIT_SIGNAL + session.signal;
    return summary.broken || summary.cancelled ? STATUS_FAILED : 0;
}

static int run_fleet_work(char *const *args)
{
    struct fleet_work_options given = {.recording = CK_RECORDING_PRESET, .timeout_ms = CHOKE_TIMEOUT_FROM_POLICY};
    const struct ck_parse parse = {&ck_command_fleet_work, &given, &given.help, .least = 1, .most = 1};
    struct ck_string_list directories;

    int status = ck_parse_words(&parse, args, &directories);
    if (status < 0)
        status = gather(&given, directories.items[0]);
    ck_options_free_words(&directories);
    ck_options_done(fleet_work_options, &given);
    return status;
}

const struct ck_command ck_command_fleet_work = {
    .name = "fleet work",
    .operands = "DIR",
    .summary = "do one task of a fleet, on a node of a cluster",
    .details = "Scripts call it: 'fleet run --engine slurm' writes one. It needs DIR and nothing else.\n"
               "Exit status: 0 what nobody else works on has a document or a failure; 1 it has not; 125 it cannot\n"
               "begin; 128+N ended by signal N.\n",
    .operand = CK_OPERAND_FILE,
    .options = fleet_work_options,
    .run = run_fleet_work,
};
