/* gather_fixture.h - a gathering made by hand: every state, the longest names, and bytes that a terminal would obey. */
#ifndef CK_TEST_GATHER_FIXTURE_H
#define CK_TEST_GATHER_FIXTURE_H

#include "gather/findings/findings.h"
#include "gather/gather.h"

#include <string.h>

#define FIXTURE_PROBES 9
#define LONG_NAME "a_probe_whose_name_has_exactly_the_sixty_four_letters_it_may_have"
#define LONG_TOOL "a-tool-with-a-name-that-nobody-would-give-to-a-tool"
#define NASTY \
    "\033]0;owned\007\033[2J \xe2\x80\xae turned \xc2\x9b" \
    "7m"
#define NOT_UTF8 "caf\xe9\n"

struct fixture {
    struct ck_probe probes[FIXTURE_PROBES];
    struct ck_probe_report reports[FIXTURE_PROBES];
    struct ck_call_report calls[3];
    struct ck_tool_used tools[2];
    struct ck_gathering gathering;
};

static char fixture_user_ns[] = "user_ns";
static char fixture_git[] = "git";
static char fixture_bytes[] = NOT_UTF8;
static char fixture_rule[] = "tools.git";
static char fixture_jail[] = "native";
static char fixture_nasty[] = NASTY;
static char *fixture_layers[] = {fixture_user_ns, NULL};
static char *fixture_argv[] = {fixture_git, fixture_bytes, fixture_nasty, NULL};
static char fixture_install[] = "pipx install semgrep";

static void fixture_probe(struct fixture *fixture, size_t index, const char *name, const char *tool,
                          enum ck_probe_state state)
{
    fixture->probes[index] =
        (struct ck_probe){.name = name, .tool = tool, .why = "It is a test.", .layer = CK_PROBE_LAYER_STATIC};
    fixture->reports[index] = (struct ck_probe_report){.probe = &fixture->probes[index], .state = state};
}

static void fixture_evidence(struct ck_probe_report *report, const char *json, const char *headline, uint64_t findings)
{
    report->evidence =
        (struct ck_evidence){.document = json_loads(json, 0, NULL), .findings = findings, .noun = "match"};
    (void)snprintf(report->evidence.headline, sizeof(report->evidence.headline), "%s", headline);
}

/* Times are multiples of factor, so that two results differ in nothing else. */
static void fixture_calls(struct fixture *fixture, uint64_t factor)
{
    fixture->calls[0] = (struct ck_call_report){.id = "log",
                                                .argv = fixture_argv,
                                                .outcome = "exited",
                                                .exit_code = 1,
                                                .rule = fixture_rule,
                                                .jail = fixture_jail,
                                                .layers = fixture_layers,
                                                .duration_us = 1500 * factor,
                                                .user_us = 700 * factor,
                                                .system_us = 300 * factor,
                                                .max_rss_kib = 2048 * factor,
                                                .out_bytes = 10 * factor,
                                                .err_bytes = 20 * factor};
    fixture->calls[1] =
        (struct ck_call_report){.id = "scan", .argv = fixture_argv, .outcome = "disallowed", .rule = fixture_rule};
    fixture->calls[2] = fixture->calls[0];
    fixture->calls[2].truncated = true;
    fixture->reports[0].calls = &fixture->calls[0];
    fixture->reports[0].call_count = 2;
    fixture->reports[1].calls = &fixture->calls[2];
    fixture->reports[1].call_count = 1;
    fixture->reports[0].started_us = 1000 * factor;
    fixture->reports[0].ended_us = 5000 * factor;
}

static void fixture_init(struct fixture *fixture, uint64_t factor)
{
    *fixture = (struct fixture){0};
    fixture_probe(fixture, 0, "snapshot", "git", CK_PROBE_STATE_OK);
    fixture->probes[0].layer = CK_PROBE_LAYER_REPOSITORY;
    fixture_probe(fixture, 1, LONG_NAME, LONG_TOOL, CK_PROBE_STATE_FAILED);
    fixture_probe(fixture, 2, "structural_patterns", "ast-grep", CK_PROBE_STATE_OK);
    fixture_probe(fixture, 3, "semgrep", "semgrep", CK_PROBE_STATE_TOOL_MISSING);
    fixture_probe(fixture, 4, "slow", "jq", CK_PROBE_STATE_TIMEOUT);
    fixture_probe(fixture, 5, "other", "npm", CK_PROBE_STATE_SKIPPED);
    fixture_probe(fixture, 6, "another", "npm", CK_PROBE_STATE_SKIPPED);
    fixture_probe(fixture, 7, "forbidden", "docker", CK_PROBE_STATE_REFUSED);
    fixture_probe(fixture, 8, "late", "rg", CK_PROBE_STATE_CANCELLED);
    for (size_t i = 1; i < FIXTURE_PROBES; i++)
        fixture->reports[i].reason = i == 2 ? NULL : fixture_nasty;
    fixture->reports[3].install = fixture_install;
    fixture_evidence(&fixture->reports[0], "{\"commit\": \"0123456789abcdef0123456789abcdef01234567\"}",
                     "main at 0123456", 0);
    fixture->reports[0].evidence.noun = NULL;
    fixture_evidence(&fixture->reports[2], "{\"findings\": []}", NASTY, 1234567);
    fixture_calls(fixture, factor);
    fixture->tools[0] =
        (struct ck_tool_used){.name = "git", .path = fixture_nasty, .version = fixture_nasty, .sha256 = fixture_rule};
    fixture->tools[1] = (struct ck_tool_used){.name = "rg"};
    fixture->gathering = (struct ck_gathering){.root = "/srv/" NOT_UTF8,
                                               .reports = fixture->reports,
                                               .count = FIXTURE_PROBES,
                                               .tools = fixture->tools,
                                               .tool_count = 2,
                                               .file_count = 42,
                                               .duration_us = 3000000 * factor,
                                               .own_cpu_us = 1000 * factor};
}

/* Without a repository, so no finding has a source line. */
static inline void fixture_collect(struct fixture *fixture)
{
    const struct ck_findings_options options = {.root_fd = -1};

    json_decref(fixture->gathering.findings);
    fixture->gathering.findings = NULL;
    (void)ck_findings_collect(&fixture->gathering, &options, NULL);
}

static void fixture_done(struct fixture *fixture)
{
    json_decref(fixture->gathering.findings);
    for (size_t i = 0; i < FIXTURE_PROBES; i++)
        json_decref(fixture->reports[i].evidence.document);
}

#endif
