/*
 * cmd_policy_learn.c - "chokepoint policy learn": an entry from one call of a tool.
 *
 * Standard output has the entry and nothing else, so that it can be redirected. What the tool prints
 * is on standard error.
 */
#include "base/atomic_file.h"
#include "cli/cli.h"
#include "cli/report.h"
#include "cli/request.h"
#include "front/text.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NOT_ENOUGH 1 /* exit status: an entry was printed, but the call does not pass with it */

struct learn_options {
    const char *root;
    uint64_t timeout_ms;
    const char *adr;
    const char *why;
    const char *into;
    bool help;
};

#define TARGET(field) .offset = offsetof(struct learn_options, field)

static const struct ck_option learn_options[] = {
    {"--root", "DIR", "the only directory the tool sees (default: .)", CK_OPTION_STRING, CK_OFFER_DIRECTORIES,
     TARGET(root)},
    {"--adr", "NNNN", "the decision record of the entry (default: the next free number)", CK_OPTION_STRING,
     TARGET(adr)},
    {"--why", "TEXT", "what the tool is for", CK_OPTION_STRING, TARGET(why)},
    {"--into", "FILE", "add the entry, or what it lacks, to this policy", CK_OPTION_STRING, CK_OFFER_FILES,
     TARGET(into)},
    {"--timeout", "SECONDS", "how long the tool may run (default: 60, or the limit of the entry)", CK_OPTION_SECONDS,
     TARGET(timeout_ms)},
    {"--help", NULL, "show this help", CK_OPTION_FLAG, TARGET(help)},
    {.name = NULL},
};

static void on_output(void *data, enum choke_stream stream, const void *bytes, size_t length)
{
    (void)data;
    (void)stream;
    (void)fwrite(bytes, 1, length, stderr);
}

/* The file keeps its mode. */
static int write_policy(const char *path, const char *text, struct choke_error *error)
{
    struct stat status;
    int r = stat(path, &status) < 0 ? -errno : 0;
    if (r == 0)
        r = ck_atomic_file_write(AT_FDCWD, path, status.st_mode & 0777, text, strlen(text));
    return r == 0 ? 0
                  : ck_text_error(error, CHOKE_INVALID, -r, "cannot write '%s': %s", CK_TEXT_SAFE(path), strerror(-r));
}

/* As comments: standard output stays YAML. */
static void print_record(const struct choke_learned *learned)
{
    (void)printf("# decision record to write, '%s':\n", CK_TEXT_SAFE(learned->record_path));
    for (const char *line = learned->record, *end; *line != '\0'; line = end + 1) {
        end = strchr(line, '\n');
        (void)printf("#%s%.*s\n", end > line ? " " : "", (int)(end - line), line);
    }
}

static int print_learned(const struct learn_options *given, const struct choke_learned *learned,
                         struct choke_error *error)
{
    bool added = given->into && learned->policy_text;
    if (added && write_policy(given->into, learned->policy_text, error) < 0)
        return -EIO;
    if (learned->record)
        print_record(learned);
    if (given->into && !added)
        (void)fprintf(stderr, "chokepoint: '%s' has all that this call needs\n", CK_TEXT_SAFE(given->into));
    else
        (void)printf("%s", learned->entry);
    if (added)
        (void)fprintf(stderr, "chokepoint: added to '%s'; review it with 'chokepoint policy diff' and 'policy check'\n",
                      CK_TEXT_SAFE(given->into));
    if (!learned->passes)
        (void)fprintf(stderr, "chokepoint: the entry is not enough: %s; 'chokepoint run --why' shows more\n",
                      learned->reason ? learned->reason : "the call was not tried with it");
    return 0;
}

/* The exit status. */
static int learn(const struct learn_options *given, struct ck_session *session, char *const *argv)
{
    const struct ck_request_options options = {.root = given->root,
                                               .timeout_ms = given->timeout_ms,
                                               .max_output_bytes = CK_REQUEST_NOT_GIVEN,
                                               .keep_head_bytes = CK_REQUEST_NOT_GIVEN};
    struct choke_learned *learned = NULL;
    struct choke_error error = {0};
    struct ck_request request;
    int status = 0;
    int r = ck_request_build(&request, &options, argv, &error);
    if (r == 0) {
        const struct choke_learn call = {.argv = request.request.argv,
                                         .root = request.request.root,
                                         .timeout_ms = given->timeout_ms,
                                         .policy_path = given->into,
                                         .adr = given->adr,
                                         .why = given->why,
                                         .on_output = on_output};
        r = choke_policy_learn(&call, &learned, &error);
    }
    bool ran = learned && learned->entry;
    if (ran)
        r = print_learned(given, learned, &error);
    else if (learned)
        error = learned->error;
    if (r < 0 || !ran)
        status = ck_report_failure(session, CK_REPORT_TEXT, &error);
    else
        status = learned->passes ? 0 : NOT_ENOUGH;
    choke_learned_free(learned);
    ck_request_done(&request);
    int flushed = ck_cli_flush_stdout();
    return flushed != 0 ? flushed : status;
}

static int parse_and_learn(struct learn_options *given, struct ck_session *session, char *const *args)
{
    struct choke_error error = {0};
    int count = ck_options_parse(learn_options, args, given, &error);
    if (count >= 0 && given->help)
        return ck_cmd_help_show(&ck_command_policy_learn);
    if (count >= 0 && !args[count])
        count = ck_text_error(&error, CHOKE_INVALID, EINVAL, "a tool is required after '--'");
    return count < 0 ? ck_cli_usage_error(&ck_command_policy_learn, &error) : learn(given, session, args + count);
}

static int run_learn(char *const *args)
{
    struct learn_options given = {.timeout_ms = CHOKE_TIMEOUT_FROM_POLICY};
    struct ck_session session;

    ck_session_init(&session);
    int status = parse_and_learn(&given, &session, args);
    ck_options_done(learn_options, &given);
    return status;
}

const struct ck_command ck_command_policy_learn = {
    .name = "policy learn",
    .operands = "-- TOOL [ARG...]",
    .summary = "run a tool in a learning jail, and print the entry that this call needs",
    .details = "The tool need not be in the policy. It has no network, and the repository is not changed. Lines with\n"
               "'# question:' and '# review:' are for you to decide. Exit status: 0 the call passes with the entry;\n"
               "1 it does not, or the tool failed; 125 nothing was run, or the policy cannot be added to.\n",
    .operand = CK_OPERAND_TOOL,
    .options = learn_options,
    .run = run_learn,
};
