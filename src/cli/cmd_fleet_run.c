/*
 * cmd_fleet_run.c - "chokepoint fleet run": gathers every repository of a list into one directory.
 */
#include "base/heap.h"
#include "cli/cli.h"
#include "cli/parse.h"
#include "cli/recording.h"
#include "cli/report.h"
#include "fleet/fleet.h"
#include "front/text.h"

#include <errno.h>

#define STATUS_FAILED 1 /* of some repositories */

struct fleet_run_options {
    struct ck_recording recording;
    const char *out;
    struct ck_string_list only;
    const char *policy; /* NULL: the default one */
    const char *probes; /* NULL: the embedded ones */
    unsigned jobs;      /* 0: ck_machine_jobs() */
    uint64_t timeout_ms;
    unsigned limit; /* 0: none */
    int engine;     /* enum ck_fleet_engine */
    struct ck_slurm_limits tasks;
    unsigned chunk;
    const char *command; /* NULL: the path of this program */
    bool retry;
    bool help;
};

#define TARGET(field) .offset = offsetof(struct fleet_run_options, field)

static const struct ck_choice engines[] = {
    {"local", CK_FLEET_ENGINE_LOCAL}, {"slurm", CK_FLEET_ENGINE_SLURM}, {NULL, 0}};

static const struct ck_option fleet_run_options[] = {
    {"--out", "DIR", "the directory of the fleet, new or of an earlier run (required)", CK_OPTION_STRING,
     CK_OFFER_DIRECTORIES, TARGET(out), .required = true},
    {"--only", "PROBE[,PROBE]...", "run these probes and those they need (default: all)", CK_OPTION_STRINGS,
     TARGET(only)},
    {"--probes", "FILE", "use these probes, not the embedded ones", CK_OPTION_STRING, CK_OFFER_FILES, TARGET(probes)},
    {"--policy", "FILE", "use this policy, not the default one", CK_OPTION_STRING, CK_OFFER_FILES, TARGET(policy)},
    {"--jobs", "N", "run N probes at once, 1 to 256 (default: one more than processors)", CK_OPTION_COUNT,
     TARGET(jobs)},
    {"--timeout", "SECONDS", "limit for each call (default: the probe's limit)", CK_OPTION_SECONDS, TARGET(timeout_ms)},
    {"--limit", "N", "gather at most N repositories this time", CK_OPTION_COUNT, TARGET(limit)},
    {"--retry", NULL, "gather again those that failed", CK_OPTION_FLAG, TARGET(retry)},
    {"--engine", "local|slurm", "what does the work: this machine, or a cluster (default: local)", CK_OPTION_CHOICE,
     TARGET(engine), .choices = engines},
    {"--chunk", "N", "slurm: repositories of a task (default: 20)", CK_OPTION_COUNT, TARGET(chunk)},
    {"--task-time", "MINUTES", "slurm: limit for each task (default: the cluster's)", CK_OPTION_COUNT,
     TARGET(tasks.time_minutes)},
    {"--task-memory", "MIB", "slurm: memory of each task (default: the cluster's)", CK_OPTION_COUNT,
     TARGET(tasks.memory_mib)},
    {"--task-cpus", "N", "slurm: processors of each task (default: 1)", CK_OPTION_COUNT, TARGET(tasks.processors)},
    {"--partition", "NAME", "slurm: where the tasks run", CK_OPTION_STRING, TARGET(tasks.partition)},
    {"--account", "NAME", "slurm: who is charged", CK_OPTION_STRING, TARGET(tasks.charged)},
    {"--qos", "NAME", "slurm: the quality of service", CK_OPTION_STRING, TARGET(tasks.qos)},
    {"--command", "PATH", "slurm: this command on the nodes (default: the same path)", CK_OPTION_STRING, CK_OFFER_FILES,
     TARGET(command)},
    CK_RECORDING_OPTIONS(fleet_run_options, recording),
    {"--help", NULL, "show this help", CK_OPTION_FLAG, TARGET(help)},
    {.name = NULL},
};

static int check_options(const struct fleet_run_options *given, struct choke_error *error)
{
    if (!given->out)
        return ck_text_error(error, CHOKE_INVALID, EINVAL, "--out DIR is missing");
    if (given->jobs > CK_FLEET_JOBS_MAX)
        return ck_text_error(error, CHOKE_INVALID, EINVAL, "--jobs must be at most %d", CK_FLEET_JOBS_MAX);
    if (given->timeout_ms == 0)
        return ck_text_error(error, CHOKE_INVALID, EINVAL, "--timeout must be more than 0 seconds");
    /* A task begins in another directory. */
    if (given->engine == CK_FLEET_ENGINE_SLURM && given->recording.audit && given->recording.audit[0] != '/')
        return ck_text_error(error, CHOKE_INVALID, EINVAL, "--audit must be an absolute path with --engine slurm");
    if (given->command && given->command[0] != '/')
        return ck_text_error(error, CHOKE_INVALID, EINVAL, "--command must be an absolute path");
    return ck_recording_check(&given->recording, error);
}

static int report(const struct fleet_run_options *given, const struct ck_session *session,
                  const struct ck_fleet_summary *summary)
{
    size_t left = summary->total - summary->done - summary->failed;

    (void)printf("%s: %zu %s, %zu done, %zu failed, %zu left\n", CK_TEXT_SAFE(given->out), summary->total,
                 summary->total == 1 ? "repository" : "repositories", summary->done, summary->failed, left);
    int written = ck_cli_flush_stdout();
    if (session->signal != 0)
        return CK_EXIT_SIGNAL + session->signal;
    if (written != 0)
        return written;
    return summary->failed > 0 || summary->broken || summary->cancelled ? STATUS_FAILED : 0;
}

/* The options that each task gets, for a shell. NULL: out of memory. */
static char *task_options(const struct fleet_run_options *given)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    if (!out)
        return NULL;
    /* Without --task-cpus a task has one processor, whatever its node has. */
    if (given->jobs > 0)
        (void)fprintf(out, " --jobs %u", given->jobs);
    else
        (void)fputs(" --jobs \"${SLURM_CPUS_PER_TASK:-1}\"", out);
    if (given->timeout_ms != CHOKE_TIMEOUT_FROM_POLICY)
        (void)fprintf(out, " --timeout %llu.%03u", (unsigned long long)(given->timeout_ms / 1000),
                      (unsigned)(given->timeout_ms % 1000));
    if (given->recording.no_audit)
        (void)fputs(" --no-audit", out);
    if (given->recording.audit)
        ck_fleet_print_word(out, " --audit ", given->recording.audit);
    for (const struct ck_choice *sync = ck_recording_syncs; sync->token; sync++)
        if (sync->value == given->recording.audit_sync && sync->value != 0)
            (void)fprintf(out, " --audit-sync %s", sync->token);
    (void)fprintf(out, " --audit-max %zu", given->recording.audit_max_bytes);
    (void)fclose(out);
    return text;
}

static int gather(const struct fleet_run_options *given, const char *list)
{
    struct ck_fleet_options options = {
        .list = list,
        .out = given->out,
        .only = given->only.items,
        .policy = given->policy,
        .probes = given->probes,
        .jobs = given->jobs,
        .timeout_ms = given->timeout_ms,
        .retry = given->retry,
        .limit = given->limit,
        .engine = given->engine,
        .tasks = given->tasks,
        .chunk = given->chunk,
        .command = given->command,
    };
    struct ck_session session;
    struct ck_fleet_summary summary;
    struct choke_error error = {0};

    if (check_options(given, &error) < 0)
        return ck_cli_usage_error(&ck_command_fleet_run, &error);
    ck_recording_set(&given->recording, &options.context);
    ck_session_init(&session);
    CK_HEAP char *more = ck_heap_own(task_options(given));
    options.more = more;
    if (ck_fleet_run(&options, &session, &summary, &error) < 0) {
        ck_outlet_print(&session.notes, "chokepoint: %s\n", error.message);
        return CK_EXIT_REFUSED;
    }
    return report(given, &session, &summary);
}

static int run_fleet_run(char *const *args)
{
    struct fleet_run_options given = {.recording = CK_RECORDING_PRESET, .timeout_ms = CHOKE_TIMEOUT_FROM_POLICY};
    const struct ck_parse parse = {&ck_command_fleet_run, &given, &given.help, .least = 1, .most = 1};
    struct ck_string_list lists;

    int status = ck_parse_words(&parse, args, &lists);
    if (status < 0)
        status = gather(&given, lists.items[0]);
    ck_options_free_words(&lists);
    ck_options_done(fleet_run_options, &given);
    return status;
}

const struct ck_command ck_command_fleet_run = {
    .name = "fleet run",
    .operands = "LIST",
    .summary = "gather every repository of a list into one directory",
    .details =
        "LIST has one repository a line: a path, or https://HOST/PATH, which git clones as a call of the policy if\n"
        "the policy grants it; '-' reads standard input. The same command goes on where an earlier one ended.\n"
        "Exit status: 0 all are done; 1 some are not, and are named; 125 it cannot begin; 128+N ended by\n"
        "signal N.\n",
    .operand = CK_OPERAND_FILE,
    .options = fleet_run_options,
    .run = run_fleet_run,
};
