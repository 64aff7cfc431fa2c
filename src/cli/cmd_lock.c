/*
 * cmd_lock.c - "chokepoint lock": writes the digests of the tools to a lock file, or reports what
 * has changed since.
 */
#include "cli/review.h"
#include "front/text.h"

#include <errno.h>

#define STATUS_DRIFT 1 /* with --check: at least one tool differs */
#define LOCK_NAME "tools.lock"

/* The command has --policy and --check itself, so review.policy is not used. */
struct lock_options {
    const char *policy;              /* NULL: the default one */
    const char *output;              /* NULL: LOCK_NAME */
    bool check;                      /* compare, write nothing */
    struct ck_review_options review; /* json and help */
};

#define TARGET(field) .offset = offsetof(struct lock_options, field)

static const struct ck_option lock_options[] = {
    {"--policy", "FILE", "use this policy, not the default one", CK_OPTION_STRING, CK_OFFER_FILES, TARGET(policy)},
    {"--output", "FILE", "write to FILE (default: " LOCK_NAME ")", CK_OPTION_STRING, CK_OFFER_FILES, TARGET(output)},
    {"--check", NULL, "write nothing: compare with FILE", CK_OPTION_FLAG, TARGET(check)},
    {"--json", NULL, "print one JSON object", CK_OPTION_FLAG, TARGET(review.json)},
    {"--help", NULL, "show this help", CK_OPTION_FLAG, TARGET(review.help)},
    {.name = NULL},
};

/* before or after is null if the tool or the part exists on one side only. */
static json_t *drift_object(const struct choke_drift *drift)
{
    json_t *object = json_object();
    int bad = 0;

    bad |= json_object_set_new(object, "tool", ck_jansson_text(drift->tool));
    bad |= json_object_set_new(object, "what", ck_jansson_text(drift->what));
    bad |= json_object_set_new(object, "before", ck_jansson_text(drift->before));
    bad |= json_object_set_new(object, "after", ck_jansson_text(drift->after));
    if (!bad)
        return object;
    json_decref(object);
    return NULL;
}

/* file may have any bytes. tools counts those in the lock file, also with drift. */
static json_t *report_object(const char *path, const struct choke_lock_report *report)
{
    json_t *object = json_object();
    json_t *drifts = json_array();
    int bad = 0;

    for (size_t i = 0; i < report->drift_count; i++)
        bad |= json_array_append_new(drifts, drift_object(&report->drifts[i]));
    bad |= json_object_set_new(object, "file", ck_jansson_bytes(path));
    bad |= json_object_set_new(object, "tools", json_integer((json_int_t)report->tool_count));
    bad |= json_object_set_new(object, "same", json_boolean(report->drift_count == 0));
    bad |= json_object_set_new(object, "drifts", drifts);
    if (!bad)
        return object;
    json_decref(object);
    return NULL;
}

/* before is from the lock file, after from this machine; NULL: it has no such part. */
static void print_drift(const struct choke_drift *drift)
{
    (void)printf("%s: %s\n", CK_TEXT_SAFE(drift->tool), CK_TEXT_SAFE(drift->what));
    (void)printf("  before  %s\n", drift->before ? CK_TEXT_SAFE(drift->before) : "(none)");
    (void)printf("  after   %s\n", drift->after ? CK_TEXT_SAFE(drift->after) : "(none)");
}

/* A failed write wins over the status: a truncated report must not look like one. */
static int write_report(const struct lock_options *given, const char *path, const struct choke_lock_report *report)
{
    int status = report->drift_count > 0 ? STATUS_DRIFT : 0;

    if (given->review.json)
        return ck_review_write(report_object(path, report), status);
    for (size_t i = 0; i < report->drift_count; i++)
        print_drift(&report->drifts[i]);
    if (report->drift_count == 0)
        (void)printf("%s: %zu tools, no drift\n", CK_TEXT_SAFE(path), report->tool_count);
    int written = ck_cli_flush_stdout();
    return written != 0 ? written : status;
}

/* The lock file cannot be read: CK_EXIT_REFUSED, which differs from STATUS_DRIFT. */
static int check(const struct lock_options *given, struct choke_context *context, const char *path)
{
    struct choke_lock_report *report = NULL;
    struct choke_error error = {0};

    if (choke_lock_check(context, path, &report, &error) < 0)
        return ck_review_failure(&given->review, &error);
    int status = write_report(given, path, report);
    choke_lock_report_free(report);
    return status;
}

/* choke_lock_write returns the number of tools, or a negative errno. */
static int write_lock(const struct lock_options *given, struct choke_context *context, const char *path)
{
    struct choke_error error = {0};

    int count = choke_lock_write(context, path, &error);
    if (count < 0)
        return ck_review_failure(&given->review, &error);
    if (given->review.json)
        return ck_review_write(json_pack("{s:o,s:i}", "file", ck_jansson_bytes(path), "tools", count), 0);
    (void)printf("%s: %d tools\n", CK_TEXT_SAFE(path), count);
    return ck_cli_flush_stdout();
}

/* --check takes FILE as an operand; without it the default name is compared. */
static int parse(char *const *args, struct lock_options *given, const char **ret_path, struct choke_error *error)
{
    int count = ck_options_parse(lock_options, args, given, error);
    /* With --help the operands are not checked, so that the help can always be shown. */
    if (count < 0 || given->review.help)
        return count;
    const char *operand = args[count];
    *ret_path = given->check && operand ? operand : given->output ? given->output : LOCK_NAME;
    if (operand && (!given->check || args[count + 1]))
        return ck_text_error(error, CHOKE_INVALID, EINVAL, "unexpected argument '%s'; FILE is for --check only",
                             CK_TEXT_SAFE(given->check ? args[count + 1] : operand));
    if (given->check && given->output)
        return ck_text_error(error, CHOKE_INVALID, EINVAL, "--check writes nothing; remove --output");
    return count;
}

/* The context is needed in both cases: it has the policy, which lists the tools. */
static int carry_out(const struct lock_options *given, const char *path)
{
    const struct choke_options options = {.policy_path = given->policy};
    struct choke_context *context = NULL;
    struct choke_error error = {0};

    if (choke_context_new(&options, &context, &error) < 0)
        return ck_review_failure(&given->review, &error);
    int status = given->check ? check(given, context, path) : write_lock(given, context, path);
    choke_context_free(context);
    return status;
}

static int run_lock(char *const *args)
{
    struct lock_options given = {0};
    /* parse sets it, except for --help or after an error. */
    const char *path = LOCK_NAME;
    struct choke_error error = {0};
    int status;

    if (parse(args, &given, &path, &error) < 0) {
        status = ck_review_usage(&ck_command_lock, given.review.json, &error);
    } else if (given.review.help) {
        status = ck_cmd_help_show(&ck_command_lock);
    } else {
        status = carry_out(&given, path);
    }
    ck_options_done(lock_options, &given);
    return status;
}

const struct ck_command ck_command_lock = {
    .name = "lock",
    .operands = "[FILE]",
    .summary = "write a lock file of the tools' contents, or report drift",
    .details = "FILE is the lock file for --check (default: " LOCK_NAME ").\n"
               "Exit status: 0 written, or no drift; 1 drift; 125 a file or the policy cannot be used.\n",
    .operand = CK_OPERAND_FILE,
    .options = lock_options,
    .run = run_lock,
};
