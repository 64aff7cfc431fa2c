/* gathering.h - a gathering made by hand: every state, the longest names, and bytes that a terminal would obey. */
#ifndef CK_TEST_GATHERING_H
#define CK_TEST_GATHERING_H

#include "gather/gather.h"

#include <string.h>

#define HAND_PROBES 9
#define LONG_NAME "a_probe_whose_name_has_exactly_the_sixty_four_letters_it_may_have"
#define LONG_TOOL "a-tool-with-a-name-that-nobody-would-give-to-a-tool"
#define NASTY \
    "\033]0;owned\007\033[2J \xe2\x80\xae turned \xc2\x9b" \
    "7m"
#define NOT_UTF8 "caf\xe9\n"

struct hand {
    struct ck_probe probes[HAND_PROBES];
    struct ck_probe_report reports[HAND_PROBES];
    struct ck_call_report calls[3];
    struct ck_tool_used tools[2];
    struct ck_gathering gathering;
};

static char hand_user_ns[] = "user_ns";
static char hand_git[] = "git";
static char hand_bytes[] = NOT_UTF8;
static char hand_rule[] = "tools.git";
static char hand_jail[] = "native";
static char hand_nasty[] = NASTY;
static char *hand_layers[] = {hand_user_ns, NULL};
static char *hand_argv[] = {hand_git, hand_bytes, hand_nasty, NULL};
static char hand_install[] = "pipx install semgrep";

static void hand_probe(struct hand *hand, size_t index, const char *name, const char *tool, enum ck_state state)
{
    hand->probes[index] =
        (struct ck_probe){.name = name, .tool = tool, .why = "It is a test.", .layer = CK_LAYER_STATIC};
    hand->reports[index] = (struct ck_probe_report){.probe = &hand->probes[index], .state = state};
}

static void hand_evidence(struct ck_probe_report *report, const char *json, const char *headline, uint64_t findings)
{
    report->evidence =
        (struct ck_evidence){.document = json_loads(json, 0, NULL), .findings = findings, .noun = "match"};
    (void)snprintf(report->evidence.headline, sizeof(report->evidence.headline), "%s", headline);
}

/* Times are multiples of factor, so that two hands differ in nothing else. */
static void hand_calls(struct hand *hand, uint64_t factor)
{
    hand->calls[0] = (struct ck_call_report){.id = "log",
                                             .argv = hand_argv,
                                             .outcome = "exited",
                                             .exit_code = 1,
                                             .rule = hand_rule,
                                             .jail = hand_jail,
                                             .layers = hand_layers,
                                             .duration_us = 1500 * factor,
                                             .user_us = 700 * factor,
                                             .system_us = 300 * factor,
                                             .max_rss_kib = 2048 * factor,
                                             .out_bytes = 10 * factor,
                                             .err_bytes = 20 * factor};
    hand->calls[1] =
        (struct ck_call_report){.id = "scan", .argv = hand_argv, .outcome = "disallowed", .rule = hand_rule};
    hand->calls[2] = hand->calls[0];
    hand->calls[2].truncated = true;
    hand->reports[0].calls = &hand->calls[0];
    hand->reports[0].call_count = 2;
    hand->reports[1].calls = &hand->calls[2];
    hand->reports[1].call_count = 1;
    hand->reports[0].started_us = 1000 * factor;
    hand->reports[0].ended_us = 5000 * factor;
}

static void hand_init(struct hand *hand, uint64_t factor)
{
    *hand = (struct hand){0};
    hand_probe(hand, 0, "snapshot", "git", CK_STATE_OK);
    hand->probes[0].layer = CK_LAYER_REPOSITORY;
    hand_probe(hand, 1, LONG_NAME, LONG_TOOL, CK_STATE_FAILED);
    hand_probe(hand, 2, "structural_patterns", "ast-grep", CK_STATE_OK);
    hand_probe(hand, 3, "semgrep", "semgrep", CK_STATE_TOOL_MISSING);
    hand_probe(hand, 4, "slow", "jq", CK_STATE_TIMEOUT);
    hand_probe(hand, 5, "other", "npm", CK_STATE_SKIPPED);
    hand_probe(hand, 6, "another", "npm", CK_STATE_SKIPPED);
    hand_probe(hand, 7, "forbidden", "docker", CK_STATE_REFUSED);
    hand_probe(hand, 8, "late", "rg", CK_STATE_CANCELLED);
    for (size_t i = 1; i < HAND_PROBES; i++)
        hand->reports[i].reason = i == 2 ? NULL : hand_nasty;
    hand->reports[3].install = hand_install;
    hand_evidence(&hand->reports[0], "{\"commit\": \"0123456789abcdef0123456789abcdef01234567\"}", "main at 0123456",
                  0);
    hand->reports[0].evidence.noun = NULL;
    hand_evidence(&hand->reports[2], "{\"findings\": []}", NASTY, 1234567);
    hand_calls(hand, factor);
    hand->tools[0] =
        (struct ck_tool_used){.name = "git", .path = hand_nasty, .version = hand_nasty, .sha256 = hand_rule};
    hand->tools[1] = (struct ck_tool_used){.name = "rg"};
    hand->gathering = (struct ck_gathering){.root = "/srv/" NOT_UTF8,
                                            .reports = hand->reports,
                                            .count = HAND_PROBES,
                                            .tools = hand->tools,
                                            .tool_count = 2,
                                            .file_count = 42,
                                            .duration_us = 3000000 * factor,
                                            .own_cpu_us = 1000 * factor};
}

static void hand_done(struct hand *hand)
{
    for (size_t i = 0; i < HAND_PROBES; i++)
        json_decref(hand->reports[i].evidence.document);
}

#endif
