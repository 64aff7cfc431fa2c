/*
 * cmd_doctor.c - "chokepoint doctor": prints the report of choke_doctor as text or JSON. "doctor
 * --attack" is in attack.c.
 */
#include "cli/attack.h"
#include "cli/review.h"
#include "front/text.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* A required tool is not ready. A layer that does not work does not change the status. */
#define STATUS_NOT_READY 1
#define REPORT_VERSION 1
#define DIGEST_SHOWN 12 /* digits of the sha256; --json has all 64 */

struct doctor_options {
    const char *policy; /* NULL: the default one */
    bool no_cache;      /* versions and digests are found anew */
    bool attack;        /* attack.c instead of the report */
    struct ck_review_options review;
};

#define TARGET(field) .offset = offsetof(struct doctor_options, field)

static const struct ck_option doctor_options[] = {
    {"--policy", "FILE", "use this policy, not the default one", CK_OPTION_STRING, CK_OFFER_FILES, TARGET(policy)},
    {"--attack", NULL, "try to break out of each jail here; takes up to 30 s", CK_OPTION_FLAG, TARGET(attack)},
    {"--json", NULL, "print one JSON object", CK_OPTION_FLAG, TARGET(review.json)},
    {"--no-cache", NULL, "ask every tool again, and cache nothing", CK_OPTION_FLAG, TARGET(no_cache)},
    {"--help", NULL, "show this help", CK_OPTION_FLAG, TARGET(review.help)},
    {.name = NULL},
};

/* ---- as text ---- */

/* Escapes around a word; empty strings without a terminal or with NO_COLOR. */
struct doctor_colours {
    const char *good;  /* green: a layer that works */
    const char *bad;   /* yellow: an optional tool that is not ready, or a layer that does not work */
    const char *worse; /* red: a required tool that is not ready */
    const char *end;   /* resets the colour */
};

static struct doctor_colours choose_colours(void)
{
    if (!ck_text_colour(STDOUT_FILENO))
        return (struct doctor_colours){"", "", "", ""};
    return (struct doctor_colours){"\033[32m", "\033[33m", "\033[31m", "\033[0m"};
}

/* A dash for what is not known: a tool may print no version, or its file may not be readable. */
static void print_ready(const struct choke_tool_report *tool)
{
    char digest[DIGEST_SHOWN + 1] = "-";

    if (tool->sha256)
        (void)snprintf(digest, sizeof(digest), "%.*s", DIGEST_SHOWN, tool->sha256);
    (void)printf("  %-16s %-15s %-12s  %s\n", tool->name, tool->version ? CK_TEXT_SAFE(tool->version) : "-", digest,
                 CK_TEXT_SAFE(tool->path));
}

/* One line per tool that is not ready. A required tool has the stronger colour. */
static void print_tool(const struct doctor_colours *colours, const struct choke_tool_report *tool)
{
    bool in_root = strcmp(tool->state, "in_root") == 0;
    const char *colour = in_root ? "" : tool->required ? colours->worse : colours->bad;

    if (strcmp(tool->state, "ready") == 0) {
        print_ready(tool);
        return;
    }
    (void)printf("  %-16s %s%-15s%s ", tool->name, colour, tool->state, colours->end);
    /*
     * problem is set for every tool that is not ready; for a missing tool the way to install it
     * says more.
     */
    if (strcmp(tool->state, "missing") != 0)
        (void)printf("%s\n", tool->problem);
    else if (tool->install)
        (void)printf("%s; install it: %s\n", tool->required ? "required" : "optional", CK_TEXT_SAFE(tool->install));
    else
        (void)printf("%s; its entry does not say how to install it\n", tool->required ? "required" : "optional");
}

/*
 * detail is for a layer that works, cause and remedy are for one that does not. Each may be NULL.
 */
static void print_layer(const struct doctor_colours *colours, const struct choke_layer_report *layer)
{
    const char *more = layer->holds ? layer->detail : layer->cause;

    (void)printf("  %-16s %s%-3s%s", layer->name, layer->holds ? colours->good : colours->bad,
                 layer->holds ? "yes" : "no", colours->end);
    (void)printf("%s%s\n", more ? "  " : "", more ? more : "");
    if (!layer->holds && layer->remedy)
        /* 24 columns: the remedy begins where the cause begins. */
        (void)printf("%24s%s\n", "", layer->remedy);
}

/* Repeats what is missing at the end, where it is seen. */
static void print_required(const struct doctor_colours *colours, const struct choke_doctor_report *report)
{
    for (size_t i = 0; i < report->tool_count; i++) {
        const struct choke_tool_report *tool = &report->tools[i];
        if (!tool->required || strcmp(tool->state, "ready") == 0 || strcmp(tool->state, "in_root") == 0)
            continue;
        (void)printf("\n%snot ready:%s %s is required and %s", colours->worse, colours->end, tool->name, tool->state);
        if (strcmp(tool->state, "missing") == 0 && tool->install)
            (void)printf("; install it: %s", CK_TEXT_SAFE(tool->install));
        (void)putchar('\n');
    }
}

/* Layers of one group are adjacent, so a heading is printed at each change of the group. */
static void print_report(const struct choke_doctor_report *report)
{
    struct doctor_colours colours = choose_colours();
    const char *group = "";

    if (report->machine_policy)
        (void)printf("machine policy %s: %s\n\n", report->machine_policy,
                     !report->machine_locked ? "not locked"
                     : report->machine_binds ? "locked; runs of this user cannot be weakened"
                                             : "locked, but not for root");
    (void)printf("tools (%s)\n", CK_TEXT_SAFE(report->policy));
    for (size_t i = 0; i < report->tool_count; i++)
        print_tool(&colours, &report->tools[i]);
    for (size_t i = 0; i < report->layer_count; i++) {
        if (strcmp(group, report->layers[i].group) != 0)
            (void)printf("\n%s\n", report->layers[i].group);
        group = report->layers[i].group;
        print_layer(&colours, &report->layers[i]);
    }
    print_required(&colours, report);
    /* On stderr: it is about this run, not about the machine. */
    if (report->cache_note)
        (void)fprintf(stderr, "chokepoint: the cache is not used: %s\n", report->cache_note);
}

/* ---- as JSON ---- */

/* install is one command line for this platform, or null. */
static json_t *tool_object(const struct choke_tool_report *tool)
{
    json_t *object = json_object();
    int bad = 0;

    bad |= json_object_set_new(object, "name", ck_jansson_text(tool->name));
    bad |= json_object_set_new(object, "route", ck_jansson_text(tool->route));
    bad |= json_object_set_new(object, "required", json_boolean(tool->required));
    bad |= json_object_set_new(object, "state", ck_jansson_text(tool->state));
    bad |= json_object_set_new(object, "path", ck_jansson_bytes(tool->path));
    bad |= json_object_set_new(object, "version", ck_jansson_text(tool->version));
    bad |= json_object_set_new(object, "sha256", ck_jansson_text(tool->sha256));
    bad |= json_object_set_new(object, "cached", json_boolean(tool->cached));
    bad |= json_object_set_new(object, "install", ck_jansson_text(tool->install));
    bad |= json_object_set_new(object, "problem", ck_jansson_text(tool->problem));
    if (!bad)
        return object;
    json_decref(object);
    return NULL;
}

static json_t *layer_object(const struct choke_layer_report *layer)
{
    json_t *object = json_object();
    int bad = 0;

    bad |= json_object_set_new(object, "name", ck_jansson_text(layer->name));
    bad |= json_object_set_new(object, "group", ck_jansson_text(layer->group));
    bad |= json_object_set_new(object, "holds", json_boolean(layer->holds));
    bad |= json_object_set_new(object, "detail", ck_jansson_text(layer->detail));
    bad |= json_object_set_new(object, "cause", ck_jansson_text(layer->cause));
    bad |= json_object_set_new(object, "remedy", ck_jansson_text(layer->remedy));
    if (!bad)
        return object;
    json_decref(object);
    return NULL;
}

/* ready depends on the required tools only. */
static json_t *report_object(const struct choke_doctor_report *report)
{
    json_t *object = json_object();
    json_t *tools = json_array();
    json_t *layers = json_array();
    int bad = 0;

    for (size_t i = 0; i < report->tool_count; i++)
        bad |= json_array_append_new(tools, tool_object(&report->tools[i]));
    for (size_t i = 0; i < report->layer_count; i++)
        bad |= json_array_append_new(layers, layer_object(&report->layers[i]));
    bad |= json_object_set_new(object, "version", json_integer(REPORT_VERSION));
    bad |= json_object_set_new(object, "ready", json_boolean(report->ready));
    bad |= json_object_set_new(object, "policy", ck_jansson_bytes(report->policy));
    bad |= json_object_set_new(object, "policy_sha256", ck_jansson_text(report->policy_sha256));
    bad |= json_object_set_new(object, "machine_policy", ck_jansson_bytes(report->machine_policy));
    bad |= json_object_set_new(object, "machine_locked", json_boolean(report->machine_locked));
    bad |= json_object_set_new(object, "machine_binds", json_boolean(report->machine_binds));
    bad |= json_object_set_new(object, "tools", tools);
    bad |= json_object_set_new(object, "layers", layers);
    bad |= json_object_set_new(object, "cache", ck_jansson_bytes(report->cache_path));
    bad |= json_object_set_new(object, "cache_note", ck_jansson_text(report->cache_note));
    if (!bad)
        return object;
    json_decref(object);
    return NULL;
}

static int write_report(const struct doctor_options *given, const struct choke_doctor_report *report)
{
    int status = report->ready ? 0 : STATUS_NOT_READY;

    if (given->review.json)
        return ck_review_write(report_object(report), status);
    print_report(report);
    int written = ck_cli_flush_stdout();
    return written != 0 ? written : status;
}

/* choke_doctor may run each tool for its version; the cache avoids that. */
static int examine(const struct doctor_options *given)
{
    const struct choke_options options = {.policy_path = given->policy};
    const struct choke_doctor_options how = {.no_cache = given->no_cache};
    struct choke_doctor_report *report = NULL;
    struct choke_context *context = NULL;
    struct choke_error error = {0};
    int status;

    if (choke_context_new(&options, &context, &error) < 0 || choke_doctor(context, &how, &report, &error) < 0)
        status = ck_review_failure(&given->review, &error);
    else
        status = write_report(given, report);
    choke_doctor_report_free(report);
    choke_context_free(context);
    return status;
}

/* --attack has its own policy (attack_fixture.c), so --policy has no meaning there. */
static int run_doctor(char *const *args)
{
    struct doctor_options given = {0};
    struct choke_error error = {0};

    int count = ck_options_parse(doctor_options, args, &given, &error);
    /* --help is checked before the operands, so that it always works. */
    if (count >= 0 && !given.review.help && args[count])
        count = ck_text_error(&error, CHOKE_INVALID, EINVAL, "unexpected argument '%s'; doctor takes options only",
                              CK_TEXT_SAFE(args[count]));
    if (count >= 0 && given.attack && (given.policy || given.no_cache))
        count = ck_text_error(&error, CHOKE_INVALID, EINVAL,
                              "--attack can be combined with --json only: it uses neither --policy nor the cache");
    int status;
    if (count < 0) {
        status = ck_review_usage(&ck_command_doctor, given.review.json, &error);
    } else if (given.review.help) {
        status = ck_cmd_help_show(&ck_command_doctor);
    } else {
        status = given.attack ? ck_attack(given.review.json) : examine(&given);
    }
    ck_options_done(doctor_options, &given);
    return status;
}

const struct ck_command ck_command_doctor = {
    .name = "doctor",
    .operands = "",
    .summary = "show which tools are installed and which protections work here",
    .details = "Exit status: 0 every required tool is ready; 1 one is not; 125 the policy cannot be used.\n"
               "With --attack: 0 no promise is broken; 1 one is; 125 the attempts could not be made.\n",
    .options = doctor_options,
    .run = run_doctor,
};
