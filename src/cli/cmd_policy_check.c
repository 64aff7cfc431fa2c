/*
 * cmd_policy_check.c - "chokepoint policy check": findings in the form of compiler messages, or as
 * JSON.
 */
#include "cli/review.h"
#include "front/text.h"

#define STATUS_BAD 1 /* the policy has at least one error */

/* Notes are not counted. */
struct tally {
    size_t errors;
    size_t warnings;
};

/* Comparisons are 0 or 1, so they can be added. */
static struct tally count(const struct choke_finding *findings, size_t length)
{
    struct tally tally = {0};

    for (size_t i = 0; i < length; i++) {
        tally.errors += findings[i].severity == CHOKE_SEVERITY_ERROR;
        tally.warnings += findings[i].severity == CHOKE_SEVERITY_WARNING;
    }
    return tally;
}

/*
 * Notes are left out: a note says what could not be checked, which helps programs more than people.
 */
static void print_findings(const char *file, const struct choke_finding *findings, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        if (findings[i].severity == CHOKE_SEVERITY_NOTE)
            continue;
        (void)printf("%s:", CK_TEXT_SAFE(file));
        /* line 0: it is not about a place in the file; column 0: only the line is known. */
        if (findings[i].line != 0)
            (void)printf("%u:", findings[i].line);
        if (findings[i].column != 0)
            (void)printf("%u:", findings[i].column);
        (void)printf(" %s: %s (%s)\n", choke_severity_name(findings[i].severity), findings[i].message,
                     findings[i].rule);
    }
}

/* tool, line and column are null if they are not known. */
static json_t *finding_object(const struct choke_finding *finding)
{
    json_t *object = json_object();
    int bad = 0;

    bad |= json_object_set_new(object, "severity", ck_jansson_text(choke_severity_name(finding->severity)));
    bad |= json_object_set_new(object, "tool", ck_jansson_text(finding->tool));
    bad |= json_object_set_new(object, "line", finding->line != 0 ? json_integer(finding->line) : json_null());
    bad |= json_object_set_new(object, "column", finding->column != 0 ? json_integer(finding->column) : json_null());
    bad |= json_object_set_new(object, "rule", ck_jansson_text(finding->rule));
    bad |= json_object_set_new(object, "message", ck_jansson_text(finding->message));
    if (!bad)
        return object;
    json_decref(object);
    return NULL;
}

/* file is null for the embedded policy. */
static json_t *report_object(const char *file, const struct choke_finding *findings, size_t length)
{
    struct tally tally = count(findings, length);
    json_t *object = json_object();
    json_t *list = json_array();
    int bad = 0;

    for (size_t i = 0; i < length; i++)
        bad |= json_array_append_new(list, finding_object(&findings[i]));
    bad |= json_object_set_new(object, "file", ck_jansson_bytes(file));
    bad |= json_object_set_new(object, "good", json_boolean(tally.errors == 0));
    bad |= json_object_set_new(object, "errors", json_integer((json_int_t)tally.errors));
    bad |= json_object_set_new(object, "warnings", json_integer((json_int_t)tally.warnings));
    bad |= json_object_set_new(object, "findings", list);
    if (!bad)
        return object;
    json_decref(object);
    return NULL;
}

/* The JSON form has the notes too. They never change the status. */
static int report(const struct ck_review_options *given, const struct choke_policy *policy,
                  const struct choke_finding *findings, size_t length)
{
    const char *file = choke_policy_file(policy);
    const char *name = file ? file : "default policy";
    struct tally tally = count(findings, length);
    int status = tally.errors > 0 ? STATUS_BAD : 0;

    if (given->json)
        return ck_review_write(report_object(file, findings, length), status);
    print_findings(name, findings, length);
    (void)printf("%s: %s, %zu error%s, %zu warning%s\n", CK_TEXT_SAFE(name), tally.errors > 0 ? "bad" : "good",
                 tally.errors, tally.errors == 1 ? "" : "s", tally.warnings, tally.warnings == 1 ? "" : "s");
    int written = ck_cli_flush_stdout();
    return written != 0 ? written : status;
}

static int run_check(char *const *args)
{
    struct ck_review_options given = {0};
    const char *operands[CK_REVIEW_OPERANDS_MAX];
    struct choke_policy *policy = NULL;
    const struct choke_finding *findings;
    struct choke_error error = {0};
    size_t length;

    int status = ck_review_parse(&ck_command_policy_check, args, 0, 1, &given, operands);
    if (status >= 0)
        return status;
    /* NULL opens the default policy. findings belong to policy. */
    if (choke_policy_open(operands[0], &policy, &error) < 0 ||
        choke_policy_check(policy, &findings, &length, &error) < 0)
        status = ck_review_failure(&given, &error);
    else
        status = report(&given, policy, findings, length);
    choke_policy_free(policy);
    return status;
}

const struct ck_command ck_command_policy_check = {
    .name = "policy check",
    .operands = "[FILE]",
    .summary = "look for mistakes in a policy",
    .details = "Without FILE the default policy is checked. Exit status: 0 good, warnings included; 1 an error was\n"
               "found; 125 the file cannot be read.\n",
    .operand = CK_OPERAND_FILE,
    .options = ck_review_policy_options,
    .run = run_check,
};
