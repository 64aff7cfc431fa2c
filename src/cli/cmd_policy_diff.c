/*
 * cmd_policy_diff.c - "chokepoint policy diff": one line per change, and a status that can gate a
 * pull request.
 */
#include "cli/review.h"
#include "front/text.h"

#include <unistd.h>

#define STATUS_UNCOVERED 1 /* something widens without a new or amended ADR */
#define VALUE_MAX 1100     /* the loader's longest text, plus room for an escape */

/* Red is only for what makes the command fail: a widening without a new or amended ADR. */
static const char *colour_of(const struct choke_change *change)
{
    /* SGR codes: 2 dim, 32 green, 33 yellow, 31 red. */
    if (change->kind == CHOKE_CHANGE_NEUTRAL)
        return "\033[2m";
    if (change->kind == CHOKE_CHANGE_NARROWS)
        return "\033[32m";
    return change->covered ? "\033[33m" : "\033[31m";
}

/* "+ --foo", "- --foo", "60 -> 90" */
static void print_values(const struct choke_change *change)
{
    char before[VALUE_MAX];
    char after[VALUE_MAX];

    if (!change->before)
        (void)printf("+ %s", ck_text_safe(after, sizeof(after), change->after));
    else if (!change->after)
        (void)printf("- %s", ck_text_safe(before, sizeof(before), change->before));
    else
        (void)printf("%s -> %s", ck_text_safe(before, sizeof(before), change->before),
                     ck_text_safe(after, sizeof(after), change->after));
}

/*
 * tool is NULL for a change of the policy as a whole. reason is set only if the change is not
 * covered.
 */
static void print_change(const struct choke_change *change, bool colour)
{
    (void)printf("%s%s%s %s%s%s: ", colour ? colour_of(change) : "", choke_change_kind_name(change->kind),
                 colour ? "\033[0m" : "", change->tool ? change->tool : "", change->tool ? " " : "", change->field);
    print_values(change);
    if (change->why)
        (void)printf("; %s", change->why);
    if (change->reason)
        (void)printf(" (%s)", change->reason);
    /*
     * adr is NULL for a change of the whole policy, or if no entry with this tool cites a record.
     */
    else if (change->kind == CHOKE_CHANGE_WIDENS)
        (void)printf(" (ADR %s)", change->adr ? change->adr : "new or amended");
    (void)putchar('\n');
}

/* The last line is a summary. It counts the uncovered changes, which decide the status. */
static int print_diff(const struct choke_diff *diff)
{
    bool colour = ck_text_colour(STDOUT_FILENO);

    for (size_t i = 0; i < diff->count; i++)
        print_change(&diff->changes[i], colour);
    if (diff->count == 0)
        (void)puts("no change");
    else
        (void)printf(
            "%zu change%s: %zu widening, %zu narrowing, %zu neutral; %zu widening without a new or amended ADR\n",
            diff->count, diff->count == 1 ? "" : "s", diff->widens, diff->narrows, diff->neutral, diff->uncovered);
    return ck_cli_flush_stdout();
}

/* Values are text of the policy, which the loader has checked. A missing value is null. */
static json_t *change_object(const struct choke_change *change)
{
    json_t *object = json_object();
    int bad = 0;

    bad |= json_object_set_new(object, "kind", ck_jansson_text(choke_change_kind_name(change->kind)));
    bad |= json_object_set_new(object, "tool", ck_jansson_text(change->tool));
    bad |= json_object_set_new(object, "field", ck_jansson_text(change->field));
    bad |= json_object_set_new(object, "before", ck_jansson_text(change->before));
    bad |= json_object_set_new(object, "after", ck_jansson_text(change->after));
    bad |= json_object_set_new(object, "adr", ck_jansson_text(change->adr));
    bad |= json_object_set_new(object, "covered", json_boolean(change->covered));
    bad |= json_object_set_new(object, "reason", ck_jansson_text(change->reason));
    bad |= json_object_set_new(object, "why", ck_jansson_text(change->why));
    if (!bad)
        return object;
    json_decref(object);
    return NULL;
}

/* good is what the exit status says: no change widens without a record. */
static json_t *diff_object(const char *const *files, const struct choke_diff *diff)
{
    json_t *object = json_object();
    json_t *list = json_array();
    int bad = 0;

    for (size_t i = 0; i < diff->count; i++)
        bad |= json_array_append_new(list, change_object(&diff->changes[i]));
    bad |= json_object_set_new(object, "old", ck_jansson_bytes(files[0]));
    bad |= json_object_set_new(object, "new", ck_jansson_bytes(files[1]));
    bad |= json_object_set_new(object, "good", json_boolean(diff->uncovered == 0));
    bad |= json_object_set_new(object, "widens", json_integer((json_int_t)diff->widens));
    bad |= json_object_set_new(object, "narrows", json_integer((json_int_t)diff->narrows));
    bad |= json_object_set_new(object, "neutral", json_integer((json_int_t)diff->neutral));
    bad |= json_object_set_new(object, "uncovered", json_integer((json_int_t)diff->uncovered));
    bad |= json_object_set_new(object, "changes", list);
    if (!bad)
        return object;
    json_decref(object);
    return NULL;
}

static int report(const struct ck_review_options *given, const char *const *files, const struct choke_diff *diff)
{
    int status = diff->uncovered > 0 ? STATUS_UNCOVERED : 0;

    if (given->json)
        return ck_review_write(diff_object(files, diff), status);
    int written = print_diff(diff);
    return written != 0 ? written : status;
}

/* Both files are loaded as policies to review; nothing can be run by them. */
static int run_diff(char *const *args)
{
    struct ck_review_options given = {0};
    const char *operands[CK_REVIEW_OPERANDS_MAX];
    struct choke_policy *before = NULL;
    struct choke_policy *after = NULL;
    struct choke_diff *diff = NULL;
    struct choke_error error = {0};

    /* Exactly two operands. This command has no --policy. */
    int status = ck_review_parse(&ck_command_policy_diff, args, 2, 2, &given, operands);
    if (status >= 0)
        return status;
    if (ck_review_open(operands[0], &before, &error) < 0 || ck_review_open(operands[1], &after, &error) < 0 ||
        choke_policy_diff(before, after, &diff, &error) < 0)
        status = ck_review_failure(&given, &error);
    else
        status = report(&given, operands, diff);
    /* All three accept NULL, so an early failure needs no other path. */
    choke_diff_free(diff);
    choke_policy_free(before);
    choke_policy_free(after);
    return status;
}

const struct ck_command ck_command_policy_diff = {
    .name = "policy diff",
    .operands = "OLD NEW",
    .summary = "show what a change of the policy widens and narrows",
    .details = "The word default is the embedded policy; a file of that name is ./default.\n"
               "Exit status: 0 nothing widens, or only with a decision record that is new or amended; 1 something\n"
               "widens without one; 125 a file cannot be read, or is not a valid policy.\n",
    .operand = CK_OPERAND_FILE,
    .options = ck_review_options,
    .run = run_diff,
};
