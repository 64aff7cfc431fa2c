/* test_judge.c - the decision: what is allowed, what is refused, by which rule and with which
 * message. */
#include "policy/judge.h"
#include "policy/load.h"

#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define LIST(...) ((const char *const[]){__VA_ARGS__, NULL})
#define ELSEWHERE (CK_PLATFORM_HERE == CK_PLATFORM_LINUX ? "macos" : "linux")

static const char *const no_strings[] = {NULL};

static struct ck_policy *policy;

static int load_policy(void **state)
{
    (void)state;
    char text[2048];
    (void)snprintf(
        text, sizeof(text),
        "version: 1\nsearch_path: [/usr/bin]\ntools:\n"
        "  - {name: git, why: w, adr: '0001', route: external, env: [FOO, BAR, GITHUB_TOKEN], limits: {timeout_s: 100},\n"
        "     egress: [a.example, '*.b.example', 'c.example:443']}\n"
        "  - {name: node, why: w, adr: '0001', route: direct}\n"
        "  - {name: curl, why: w, adr: '0001', route: direct, env: [TOKEN], credentials: allow}\n"
        "  - {name: bwrap, why: w, adr: '0001', route: jail}\n"
        "  - {name: agent, why: w, adr: '0001', route: carrier}\n"
        "  - {name: foreign, why: w, adr: '0001', route: direct, platforms: [%s]}\n"
        "  - {name: a12345678901234567890123456789012345678901234567890123456789012z, why: w, adr: '0001', route: jail}\n",
        ELSEWHERE);
    struct choke_error error = {0};
    int r = ck_policy_parse("p.yaml", text, strlen(text), &policy, &error);
    if (r < 0)
        print_error("%s\n", error.message);
    return r;
}

static int free_policy(void **state)
{
    (void)state;
    ck_policy_free(policy);
    return 0;
}

#define GOOD .root = "/repo", .cwd = ".", .timeout_ms = 5000

/* Built here so that no text in this file looks like a credential. */
#define TOKEN_BODY "a1B2c3D4e5F6g7H8i9J0kLmNoPqRsTuVwXyZ"
#define TOKEN \
    "gh" \
    "p_" TOKEN_BODY

/* ---- refusals ---------------------------------------------------------------------------- */

struct refused {
    const char *name;
    struct choke_request request;
    enum choke_outcome outcome;
    const char *rule;
    const char *expected_text;
    const char *tool; /* the tool that was named, if any */
};

#define REFUSED(name, outcome, rule, expected_text, tool, ...) \
    { \
        name, {__VA_ARGS__}, outcome, rule, expected_text, tool \
    }

static const struct refused refusals[] = {
    REFUSED("zero_filled_request_is_invalid", CHOKE_INVALID, "request.argv", "argv is empty", NULL, 0),
    REFUSED("empty_argv_is_invalid", CHOKE_INVALID, "request.argv", "argv is empty", NULL, .argv = no_strings, GOOD),
    REFUSED("empty_name_is_invalid", CHOKE_INVALID, "request.argv", "the tool's name is empty", NULL, .argv = LIST(""),
            GOOD),
    REFUSED("missing_root_is_invalid", CHOKE_INVALID, "request.root", "root is missing", "git", .argv = LIST("git"),
            .cwd = ".", .timeout_ms = 1),
    REFUSED("empty_root_is_invalid", CHOKE_INVALID, "request.root", "root is missing", "git", .argv = LIST("git"),
            .root = "", .cwd = ".", .timeout_ms = 1),
    REFUSED("missing_cwd_is_invalid", CHOKE_INVALID, "request.cwd", "cwd is missing", "git", .argv = LIST("git"),
            .root = "/r", .timeout_ms = 1),
    REFUSED("empty_cwd_is_invalid", CHOKE_INVALID, "request.cwd", "cwd is missing", "git", .argv = LIST("git"),
            .root = "/r", .cwd = "", .timeout_ms = 1),
    REFUSED("missing_timeout_is_invalid", CHOKE_INVALID, "request.timeout_ms", "it is mandatory", "git",
            .argv = LIST("git"), .root = "/r", .cwd = "."),
    REFUSED("timeout_over_a_year_is_invalid", CHOKE_INVALID, "request.timeout_ms", "1 to 31536000000 ms", "node",
            .argv = LIST("node"), .root = "/r", .cwd = ".", .timeout_ms = CK_TIMEOUT_MAX_MS + 1),
    REFUSED("largest_timeout_but_one_is_invalid", CHOKE_INVALID, "request.timeout_ms", "1 to 31536000000 ms", "node",
            .argv = LIST("node"), .root = "/r", .cwd = ".", .timeout_ms = UINT64_MAX - 1),
    REFUSED("unlisted_tool_is_disallowed", CHOKE_DISALLOWED, "tools",
            "'bash' is not in the policy; allowed tools are: git, node, curl", NULL, .argv = LIST("bash", "-c", "id"),
            GOOD),
    REFUSED("name_is_compared_exactly", CHOKE_DISALLOWED, "tools", "'Git' is not in the policy", NULL,
            .argv = LIST("Git"), GOOD),
    REFUSED("name_with_a_space_is_disallowed", CHOKE_DISALLOWED, "tools", "'git ' is not in the policy", NULL,
            .argv = LIST("git "), GOOD),
    REFUSED("path_to_a_tool_is_disallowed", CHOKE_DISALLOWED, "tools",
            "'/usr/bin/git' is a path; name the tool 'git', not a path", NULL, .argv = LIST("/usr/bin/git", "status"),
            GOOD),
    REFUSED("relative_path_is_disallowed", CHOKE_DISALLOWED, "tools", "name the tool 'git', not a path", NULL,
            .argv = LIST("./git"), GOOD),
    REFUSED("path_to_something_else_is_disallowed", CHOKE_DISALLOWED, "tools",
            "'/bin/sh' is a path, and a tool is called by its name; allowed tools are: git, node, curl", NULL,
            .argv = LIST("/bin/sh"), GOOD),
    REFUSED("path_to_a_jail_helper_does_not_suggest_it", CHOKE_DISALLOWED, "tools",
            "allowed tools are: git, node, curl", NULL, .argv = LIST("/usr/bin/bwrap"), GOOD),
    REFUSED("slash_alone_is_disallowed", CHOKE_DISALLOWED, "tools", "'/' is a path", NULL, .argv = LIST("/"), GOOD),
    REFUSED("untrusted_bytes_are_escaped", CHOKE_DISALLOWED, "tools", "'a\\x1b[2J\\x27b' is not in the policy", NULL,
            .argv = LIST("a\x1b[2J'b"), GOOD),
    REFUSED("jail_helper_is_disallowed", CHOKE_DISALLOWED, "tools.bwrap.route", "'bwrap' has route 'jail'", "bwrap",
            .argv = LIST("bwrap", "true"), GOOD),
    REFUSED(
        "carrier_is_disallowed", CHOKE_DISALLOWED, "tools.agent.route",
        "'agent' has route 'carrier': it runs only in the cage of 'chokepoint guard'; allowed tools are: git, node, curl",
        "agent", .argv = LIST("agent", "true"), GOOD),
    REFUSED("path_to_a_carrier_does_not_suggest_it", CHOKE_DISALLOWED, "tools",
            "'/usr/bin/agent' is a path, and a tool is called by its name", NULL, .argv = LIST("/usr/bin/agent"), GOOD),
    REFUSED("longest_name_fits_its_rule", CHOKE_DISALLOWED,
            "tools.a12345678901234567890123456789012345678901234567890123456789012z.route", "has route 'jail'",
            "a12345678901234567890123456789012345678901234567890123456789012z",
            .argv = LIST("a12345678901234567890123456789012345678901234567890123456789012z"), GOOD),
    REFUSED("tool_of_another_platform_is_disallowed", CHOKE_DISALLOWED, "tools.foreign.platforms",
            "'foreign' is allowed on ", "foreign", .argv = LIST("foreign"), GOOD),
    REFUSED("timeout_over_the_entrys_limit_is_disallowed", CHOKE_DISALLOWED, "tools.git.limits.timeout_s",
            "at most 100 s are allowed", "git", .argv = LIST("git"), .root = "/r", .cwd = ".", .timeout_ms = 100001),
    REFUSED("empty_probe_is_invalid", CHOKE_INVALID, "request.probe", "'' is not a valid probe name", "git",
            .argv = LIST("git"), GOOD, .probe = ""),
    REFUSED("probe_in_capitals_is_invalid", CHOKE_INVALID, "request.probe", "is not a valid probe name", "git",
            .argv = LIST("git"), GOOD, .probe = "Probe"),
    REFUSED("probe_beginning_with_a_digit_is_invalid", CHOKE_INVALID, "request.probe", "is not a valid probe name",
            "git", .argv = LIST("git"), GOOD, .probe = "1p"),
    REFUSED("probe_beginning_with_an_underscore_is_invalid", CHOKE_INVALID, "request.probe",
            "is not a valid probe name", "git", .argv = LIST("git"), GOOD, .probe = "_p"),
    REFUSED("probe_with_a_slash_is_invalid", CHOKE_INVALID, "request.probe", "is not a valid probe name", "git",
            .argv = LIST("git"), GOOD, .probe = "a/../b"),
    REFUSED("probe_of_65_bytes_is_invalid", CHOKE_INVALID, "request.probe", "is not a valid probe name", "git",
            .argv = LIST("git"), GOOD, .probe = "a1234567890123456789012345678901234567890123456789012345678901234"),
    REFUSED("probe_with_environment_is_invalid", CHOKE_INVALID, "request.env",
            "a run of a probe takes no extra environment", "git", .argv = LIST("git"), GOOD, .probe = "p",
            .env = LIST("FOO=1")),
    REFUSED("unknown_stdin_is_invalid", CHOKE_INVALID, "request.stdin", "stdin_kind 3", "git", .argv = LIST("git"),
            GOOD, .stdin_kind = (enum choke_stdin)3),
    REFUSED("negative_descriptor_is_invalid", CHOKE_INVALID, "request.stdin", "stdin_fd is -1", "git",
            .argv = LIST("git"), GOOD, .stdin_kind = CHOKE_STDIN_FD, .stdin_fd = -1),
    REFUSED("missing_bytes_are_invalid", CHOKE_INVALID, "request.stdin", "stdin_bytes is missing", "git",
            .argv = LIST("git"), GOOD, .stdin_kind = CHOKE_STDIN_BYTES, .stdin_length = 1),
    REFUSED("cap_under_18_is_invalid", CHOKE_INVALID, "request.max_output_bytes",
            "an output cap of 17 bytes is too small; at least 18", "git", .argv = LIST("git"), GOOD,
            .max_output_bytes = 17),
    REFUSED("head_without_room_for_marker_and_end_is_invalid", CHOKE_INVALID, "request.keep_head_bytes",
            "a head of 83 bytes is too large for an output cap of 100; at most 82", "git", .argv = LIST("git"), GOOD,
            .max_output_bytes = 100, .keep_head_bytes = 83),
    REFUSED("head_is_compared_with_the_default_cap", CHOKE_INVALID, "request.keep_head_bytes", "at most 67108846",
            "git", .argv = LIST("git"), GOOD, .keep_head_bytes = 67108847),
    REFUSED("largest_head_is_invalid", CHOKE_INVALID, "request.keep_head_bytes", "too large", "git",
            .argv = LIST("git"), GOOD, .max_output_bytes = 18, .keep_head_bytes = SIZE_MAX),
    REFUSED("unknown_jail_is_invalid", CHOKE_INVALID, "request.jail", "jail 5 is not known", "git", .argv = LIST("git"),
            GOOD, .jail = (enum choke_jail)5),
    REFUSED("jail_none_with_a_jail_required_is_invalid", CHOKE_INVALID, "request.jail",
            "a jail is required, but jail is 'none'", "git", .argv = LIST("git"), GOOD, .jail = CHOKE_JAIL_NONE,
            .require_jail = true),
    REFUSED("jail_none_with_a_sandbox_is_invalid", CHOKE_INVALID, "request.jail", "a sandbox needs one", "git",
            .argv = LIST("git"), GOOD, .jail = CHOKE_JAIL_NONE, .sandbox = true),
    REFUSED("grant_of_the_entry_is_none_in_a_sandbox", CHOKE_ENV_FORBIDDEN, "sandbox", "'FOO' may not enter a sandbox",
            "git", .argv = LIST("git"), GOOD, .env = LIST("FOO=1"), .sandbox = true),
    REFUSED("granted_secret_is_forbidden_in_a_sandbox", CHOKE_ENV_FORBIDDEN, "sandbox", "its name has 'TOKEN' in it",
            "curl", .argv = LIST("curl"), GOOD, .env = LIST("NODE_ENV=x", "TOKEN=x"), .sandbox = true),
    REFUSED("credential_is_forbidden_in_a_sandbox_whatever_the_entry_says", CHOKE_ENV_FORBIDDEN, "sandbox",
            "its value looks like a GitHub token", "curl", .argv = LIST("curl"), GOOD, .env = LIST("NODE_ENV=" TOKEN),
            .sandbox = true),
    REFUSED("malformed_variable_for_a_sandbox_is_invalid", CHOKE_INVALID, "request.env", "entry 1 of env", "git",
            .argv = LIST("git"), GOOD, .env = LIST("NODE_ENV"), .sandbox = true),
    REFUSED("listed_variable_is_not_granted_without_a_sandbox", CHOKE_ENV_FORBIDDEN, "tools.git.env", "'NODE_ENV'",
            "git", .argv = LIST("git"), GOOD, .env = LIST("NODE_ENV=x")),
    REFUSED("probe_with_environment_is_invalid_in_a_sandbox_too", CHOKE_INVALID, "request.env",
            "a run of a probe takes no extra environment", "git", .argv = LIST("git"), GOOD, .probe = "p",
            .env = LIST("NODE_ENV=1"), .sandbox = true),
    REFUSED("empty_egress_entry_is_invalid", CHOKE_INVALID, "request.egress", "egress entry '' ", "git",
            .argv = LIST("git"), GOOD, .egress = LIST("a.example", "")),
    REFUSED("egress_that_is_not_granted_is_disallowed", CHOKE_DISALLOWED, "tools.git.egress",
            "'b.example' is not a destination that the policy grants 'git'; the entry grants: a.example, *.b.example",
            "git", .argv = LIST("git"), GOOD, .egress = LIST("a.example", "b.example")),
    REFUSED("egress_to_another_port_is_disallowed", CHOKE_DISALLOWED, "tools.git.egress", "'c.example:80'", "git",
            .argv = LIST("git"), GOOD, .egress = LIST("c.example:80")),
    REFUSED("egress_to_every_port_is_disallowed_where_one_is_granted", CHOKE_DISALLOWED, "tools.git.egress",
            "'c.example'", "git", .argv = LIST("git"), GOOD, .egress = LIST("c.example")),
    REFUSED("egress_that_ends_like_a_granted_name_is_disallowed", CHOKE_DISALLOWED, "tools.git.egress",
            "'evilb.example'", "git", .argv = LIST("git"), GOOD, .egress = LIST("evilb.example")),
    REFUSED("egress_of_an_entry_without_any_is_disallowed", CHOKE_DISALLOWED, "tools.node.egress",
            "'a.example' is not a destination that the policy grants 'node'; the entry grants: none", "node",
            .argv = LIST("node"), GOOD, .egress = LIST("a.example")),
    REFUSED("egress_with_control_bytes_is_invalid", CHOKE_INVALID, "request.egress", "egress entry 'a\\nb' ", "git",
            .argv = LIST("git"), GOOD, .egress = LIST("a\nb")),
    REFUSED("egress_to_a_top_level_domain_is_invalid", CHOKE_INVALID, "request.egress", "egress entry '*.example' ",
            "git", .argv = LIST("git"), GOOD, .egress = LIST("*.example")),
    REFUSED("egress_to_an_address_is_not_granted_by_a_name", CHOKE_DISALLOWED, "tools.git.egress", "'192.0.2.1'", "git",
            .argv = LIST("git"), GOOD, .egress = LIST("192.0.2.1")),
    REFUSED("opaque_egress_is_not_granted_by_an_entry_that_is_not", CHOKE_DISALLOWED, "tools.git.egress",
            "'a.example opaque'", "git", .argv = LIST("git"), GOOD, .egress = LIST("a.example opaque")),
    REFUSED("variable_without_equals_is_invalid", CHOKE_INVALID, "request.env", "entry 1 of env is not NAME=VALUE",
            "git", .argv = LIST("git"), GOOD, .env = LIST("FOO")),
    REFUSED("variable_without_a_name_is_invalid", CHOKE_INVALID, "request.env", "entry 2 of env is not NAME=VALUE",
            "git", .argv = LIST("git"), GOOD, .env = LIST("FOO=1", "=x")),
    REFUSED("variable_with_a_bad_name_is_invalid", CHOKE_INVALID, "request.env", "entry 1 of env", "git",
            .argv = LIST("git"), GOOD, .env = LIST("A B=x")),
    REFUSED("repeated_variable_is_invalid", CHOKE_INVALID, "request.env", "variable 'FOO' is given twice", "git",
            .argv = LIST("git"), GOOD, .env = LIST("FOO=1", "BAR=2", "FOO=1")),
    REFUSED("ungranted_variable_is_forbidden", CHOKE_ENV_FORBIDDEN, "tools.git.env",
            "variable 'QUX' is not granted to 'git'; the entry grants: FOO, BAR, GITHUB_TOKEN", "git",
            .argv = LIST("git"), GOOD, .env = LIST("FOO=1", "QUX=2")),
    REFUSED("variable_of_a_tool_without_grants_is_forbidden", CHOKE_ENV_FORBIDDEN, "tools.node.env",
            "the entry grants: none", "node", .argv = LIST("node"), GOOD, .env = LIST("NODE_OPTIONS=x")),
    REFUSED("path_as_a_variable_is_forbidden", CHOKE_ENV_FORBIDDEN, "tools.git.env", "variable 'PATH'", "git",
            .argv = LIST("git"), GOOD, .env = LIST("PATH=/tmp")),
    REFUSED("longer_name_than_the_granted_is_forbidden", CHOKE_ENV_FORBIDDEN, "tools.git.env", "'FOOD'", "git",
            .argv = LIST("git"), GOOD, .env = LIST("FOOD=1")),
    REFUSED("shorter_name_than_the_granted_is_forbidden", CHOKE_ENV_FORBIDDEN, "tools.git.env", "'FO'", "git",
            .argv = LIST("git"), GOOD, .env = LIST("FO=1")),
    REFUSED("case_matters_in_variables", CHOKE_ENV_FORBIDDEN, "tools.git.env", "'foo'", "git", .argv = LIST("git"),
            GOOD, .env = LIST("foo=1")),
    REFUSED("credential_in_an_argument_is_disallowed", CHOKE_DISALLOWED, "credentials",
            "argument 2 looks like a GitHub token", "git", .argv = LIST("git", "push", TOKEN), GOOD),
    REFUSED("credential_inside_an_argument_is_disallowed", CHOKE_DISALLOWED, "credentials",
            "argument 1 looks like a GitHub token", "node", .argv = LIST("node", "--header=X: " TOKEN), GOOD),
    REFUSED("password_in_a_url_is_disallowed", CHOKE_DISALLOWED, "credentials",
            "argument 2 looks like a URL with a password", "git",
            .argv = LIST("git", "clone",
                         "https://me:"
                         "swordfish@host/r"),
            GOOD),
    REFUSED("credential_in_a_variable_is_forbidden", CHOKE_ENV_FORBIDDEN, "credentials",
            "variable 'GITHUB_TOKEN' looks like a GitHub token", "git", .argv = LIST("git"), GOOD,
            .env = LIST("GITHUB_TOKEN=" TOKEN)),
    REFUSED("credential_as_a_tool_is_not_repeated", CHOKE_DISALLOWED, "tools",
            "'(a GitHub token)' is not in the policy", NULL, .argv = LIST(TOKEN), GOOD),
    REFUSED("credential_as_a_variables_name_is_not_repeated", CHOKE_ENV_FORBIDDEN, "tools.git.env",
            "variable '(a GitHub token)' is not granted", "git", .argv = LIST("git"), GOOD, .env = LIST(TOKEN "=1")),
    REFUSED("credential_without_equals_is_not_repeated", CHOKE_INVALID, "request.env", "entry 1 of env", "git",
            .argv = LIST("git"), GOOD, .env = LIST(TOKEN)),
    REFUSED("credential_as_a_probe_is_not_repeated", CHOKE_INVALID, "request.probe", "'(a GitHub token)'", "git",
            .argv = LIST("git"), GOOD, .probe = TOKEN),
};

/* The verdict without its reading, which is freed here. */
static void judge_into(const struct ck_policy *by, const struct choke_request *request, struct ck_verdict *ret_verdict)
{
    struct ck_arena arena = {0};
    assert_int_equal(ck_judge(by, request, &arena, ret_verdict), 0);
    ret_verdict->parsed = (struct ck_parsed_args){0};
    ck_arena_done(&arena);
}

static void check_refusal(void **state)
{
    const struct refused *row = *state;
    struct ck_verdict verdict;
    memset(&verdict, 0xa5, sizeof(verdict));
    judge_into(policy, &row->request, &verdict);
    if (verdict.outcome != row->outcome)
        fail_msg("wanted outcome %d, got %d: %s", (int)row->outcome, (int)verdict.outcome, verdict.error.message);
    assert_string_equal(verdict.rule, row->rule);
    assert_int_equal(verdict.error.outcome, row->outcome);
    if (!strstr(verdict.error.message, row->expected_text))
        fail_msg("wanted '%s', got '%s'", row->expected_text, verdict.error.message);
    assert_null(strstr(verdict.error.message, TOKEN_BODY));
    assert_null(strstr(verdict.error.message, "swordfish"));
    if (!row->tool) {
        assert_null(verdict.tool);
    } else {
        assert_non_null(verdict.tool);
        assert_string_equal(verdict.tool->name, row->tool);
    }
}

/* ---- what is allowed ---------------------------------------------------------------------- */

struct allowed {
    const char *name;
    struct choke_request request;
    const char *rule;
    uint64_t timeout_ms;
    size_t max_output_bytes;
    enum choke_jail jail;
};

#define MIB64 ((size_t)64 << 20)

#define ALLOWED(name, rule, timeout, cap, jail, ...) \
    { \
        name, {__VA_ARGS__}, rule, timeout, cap, jail \
    }

static const struct allowed allowances[] = {
    ALLOWED("plain_request_is_allowed", "tools.git", 5000, MIB64, CHOKE_JAIL_AUTO, .argv = LIST("git", "status"), GOOD),
    ALLOWED("direct_tool_has_no_jail_by_default", "tools.node", 5000, MIB64, CHOKE_JAIL_NONE,
            .argv = LIST("node", "--version"), GOOD),
    ALLOWED("required_jail_for_a_direct_tool_is_asked_for", "tools.node", 5000, MIB64, CHOKE_JAIL_AUTO,
            .argv = LIST("node"), GOOD, .require_jail = true),
    ALLOWED("sandbox_of_a_direct_tool_has_a_jail", "tools.node", 5000, MIB64, CHOKE_JAIL_AUTO, .argv = LIST("node"),
            GOOD, .sandbox = true),
    ALLOWED("sandbox_keeps_the_asked_jail", "tools.node", 5000, MIB64, CHOKE_JAIL_BWRAP, .argv = LIST("node"), GOOD,
            .jail = CHOKE_JAIL_BWRAP, .sandbox = true),
    ALLOWED("listed_variables_enter_a_sandbox_without_a_grant", "tools.node", 5000, MIB64, CHOKE_JAIL_AUTO,
            .argv = LIST("node"), GOOD, .env = LIST("NODE_ENV=test", "NPM_CONFIG_CACHE=/c", "HTTPS_PROXY=http://p"),
            .sandbox = true),
    ALLOWED("probe_in_a_sandbox_is_allowed", "tools.node", 5000, MIB64, CHOKE_JAIL_AUTO, .argv = LIST("node"), GOOD,
            .probe = "p", .sandbox = true),
    ALLOWED("asked_jail_is_kept", "tools.node", 5000, MIB64, CHOKE_JAIL_BWRAP, .argv = LIST("node"), GOOD,
            .jail = CHOKE_JAIL_BWRAP),
    ALLOWED("native_jail_is_kept", "tools.git", 5000, MIB64, CHOKE_JAIL_NATIVE, .argv = LIST("git"), GOOD,
            .jail = CHOKE_JAIL_NATIVE, .require_jail = true),
    ALLOWED("jail_none_for_an_external_tool_is_kept", "tools.git", 5000, MIB64, CHOKE_JAIL_NONE, .argv = LIST("git"),
            GOOD, .jail = CHOKE_JAIL_NONE),
    ALLOWED("timeout_comes_from_the_entry", "tools.git", 100000, MIB64, CHOKE_JAIL_AUTO, .argv = LIST("git"),
            .root = "/r", .cwd = ".", .timeout_ms = CHOKE_TIMEOUT_FROM_POLICY),
    ALLOWED("timeout_is_60_s_where_the_entry_has_none", "tools.node", 60000, MIB64, CHOKE_JAIL_NONE,
            .argv = LIST("node"), .root = "/r", .cwd = ".", .timeout_ms = CHOKE_TIMEOUT_FROM_POLICY),
    ALLOWED("shortest_timeout_is_allowed", "tools.git", 1, MIB64, CHOKE_JAIL_AUTO, .argv = LIST("git"), .root = "/r",
            .cwd = ".", .timeout_ms = 1),
    ALLOWED("timeout_at_the_entrys_limit_is_allowed", "tools.git", 100000, MIB64, CHOKE_JAIL_AUTO, .argv = LIST("git"),
            .root = "/r", .cwd = ".", .timeout_ms = 100000),
    ALLOWED("longest_timeout_is_allowed_without_a_limit", "tools.node", CK_TIMEOUT_MAX_MS, MIB64, CHOKE_JAIL_NONE,
            .argv = LIST("node"), .root = "/r", .cwd = ".", .timeout_ms = CK_TIMEOUT_MAX_MS),
    ALLOWED("smallest_cap_is_allowed", "tools.git", 5000, 18, CHOKE_JAIL_AUTO, .argv = LIST("git"), GOOD,
            .max_output_bytes = 18),
    ALLOWED("largest_possible_head_is_allowed", "tools.git", 5000, 100, CHOKE_JAIL_AUTO, .argv = LIST("git"), GOOD,
            .max_output_bytes = 100, .keep_head_bytes = 82),
    ALLOWED("probe_is_allowed", "tools.git", 5000, MIB64, CHOKE_JAIL_AUTO, .argv = LIST("git"), GOOD,
            .probe = "semgrep_probe_2", .env = no_strings),
    ALLOWED("probe_of_64_bytes_is_allowed", "tools.git", 5000, MIB64, CHOKE_JAIL_AUTO, .argv = LIST("git"), GOOD,
            .probe = "a123456789012345678901234567890123456789012345678901234567890123"),
    ALLOWED("granted_variables_are_allowed", "tools.git", 5000, MIB64, CHOKE_JAIL_AUTO, .argv = LIST("git"), GOOD,
            .env = LIST("BAR=", "FOO=a=b\n")),
    ALLOWED("granted_egress_is_allowed", "tools.git", 5000, MIB64, CHOKE_JAIL_AUTO, .argv = LIST("git"), GOOD,
            .egress = LIST("a.example", "a.example:443", "*.b.example", "x.y.b.example:8080", "c.example:443")),
    ALLOWED("no_bytes_on_stdin_are_allowed", "tools.git", 5000, MIB64, CHOKE_JAIL_AUTO, .argv = LIST("git"), GOOD,
            .stdin_kind = CHOKE_STDIN_BYTES),
    ALLOWED("descriptor_zero_is_one", "tools.git", 5000, MIB64, CHOKE_JAIL_AUTO, .argv = LIST("git"), GOOD,
            .stdin_kind = CHOKE_STDIN_FD, .stdin_fd = 0),
    ALLOWED("empty_and_odd_arguments_are_allowed", "tools.git", 5000, MIB64, CHOKE_JAIL_AUTO,
            .argv = LIST("git", "", "\n\x01\xff", "-rf", "--"), GOOD),
    ALLOWED("credentials_are_allowed_where_the_entry_says_so", "tools.curl", 5000, MIB64, CHOKE_JAIL_NONE,
            .argv = LIST("curl", "-H", "Authorization: Bearer " TOKEN), GOOD, .env = LIST("TOKEN=" TOKEN)),
};

static void check_allowance(void **state)
{
    const struct allowed *row = *state;
    struct ck_verdict verdict;
    memset(&verdict, 0xa5, sizeof(verdict));
    judge_into(policy, &row->request, &verdict);
    if (verdict.outcome != CHOKE_NONE)
        fail_msg("refused: %s", verdict.error.message);
    assert_string_equal(verdict.rule, row->rule);
    assert_int_equal(verdict.timeout_ms, row->timeout_ms);
    assert_int_equal(verdict.max_output_bytes, row->max_output_bytes);
    assert_int_equal(verdict.keep_head_bytes, row->request.keep_head_bytes);
    assert_int_equal(verdict.jail, row->jail);
    assert_int_equal(verdict.error.outcome, CHOKE_NONE);
    assert_string_equal(verdict.error.message, "");
    assert_string_equal(verdict.tool->name, row->request.argv[0]);
}

/* ---- sizes ------------------------------------------------------------------------------- */

static void assert_verdict(const struct choke_request *request, enum choke_outcome outcome, const char *rule,
                           const char *expected_text)
{
    struct ck_verdict verdict;
    judge_into(policy, request, &verdict);
    if (verdict.outcome != outcome || !strstr(verdict.error.message, expected_text))
        fail_msg("wanted %d '%s', got %d '%s'", (int)outcome, expected_text, (int)verdict.outcome,
                 verdict.error.message);
    assert_string_equal(verdict.rule, rule);
}

static char *text_of(size_t length, const char *start)
{
    char *text = test_malloc(length + 1);
    memset(text, 'x', length);
    memcpy(text, start, strlen(start));
    text[length] = '\0';
    return text;
}

static void overlong_strings_are_invalid(void **state)
{
    (void)state;
    char *longest = text_of(CK_ARG_STRING_MAX, "FOO=");
    char *longer = text_of(CK_ARG_STRING_MAX + 1, "FOO=");
    char *path = text_of(PATH_MAX, "/");
    assert_verdict(&(struct choke_request){.argv = LIST("git", longest), GOOD, .env = LIST(longest)}, CHOKE_NONE,
                   "tools.git", "");
    assert_verdict(&(struct choke_request){.argv = LIST("git", "a", longer), GOOD}, CHOKE_INVALID, "request.argv",
                   "string 2 has more than 131071 bytes");
    assert_verdict(&(struct choke_request){.argv = LIST("git"), GOOD, .env = LIST(longer)}, CHOKE_INVALID,
                   "request.env", "string 0 has more");
    assert_verdict(&(struct choke_request){.argv = LIST("git"), .root = path, .cwd = ".", .timeout_ms = 1},
                   CHOKE_INVALID, "request.root", "root has more");
    assert_verdict(&(struct choke_request){.argv = LIST("git"), .root = "/", .cwd = path, .timeout_ms = 1},
                   CHOKE_INVALID, "request.cwd", "cwd has more");
    assert_verdict(&(struct choke_request){.argv = LIST("git"), GOOD, .egress = LIST(path)}, CHOKE_INVALID,
                   "request.egress", "...' is longer than");
    assert_verdict(&(struct choke_request){.argv = LIST(longer), GOOD}, CHOKE_DISALLOWED, "tools",
                   "...' is not in the policy");
    path[PATH_MAX - 1] = '\0';
    assert_verdict(&(struct choke_request){.argv = LIST("git"), .root = path, .cwd = path, .timeout_ms = 1}, CHOKE_NONE,
                   "tools.git", "");
    test_free(longest);
    test_free(longer);
    test_free(path);
}

static void too_many_strings_are_invalid(void **state)
{
    (void)state;
    size_t count = CK_ARG_COUNT_MAX + 1;
    const char **argv = test_malloc((count + 1) * sizeof(*argv));
    for (size_t i = 0; i < count; i++)
        argv[i] = i == 0 ? "git" : "";
    argv[count] = NULL;
    assert_verdict(&(struct choke_request){.argv = argv, GOOD}, CHOKE_INVALID, "request.argv",
                   "more than 262144 strings");
    argv[count - 1] = NULL;
    assert_verdict(&(struct choke_request){.argv = argv, GOOD}, CHOKE_NONE, "tools.git", "");
    test_free(argv);

    const char *hosts[258];
    for (size_t i = 0; i < COUNT(hosts); i++)
        hosts[i] = i == COUNT(hosts) - 1 ? NULL : "a.example";
    assert_verdict(&(struct choke_request){.argv = LIST("git"), GOOD, .egress = hosts}, CHOKE_INVALID, "request.egress",
                   "more than 256 egress entries");
    hosts[256] = NULL;
    assert_verdict(&(struct choke_request){.argv = LIST("git"), GOOD, .egress = hosts}, CHOKE_NONE, "tools.git", "");
}

static void arguments_and_environment_count_together(void **state)
{
    (void)state;
    char *text = text_of(CK_ARG_STRING_MAX, "");
    char *variable = text_of(CK_ARG_STRING_MAX, "FOO=");
    const char *argv[64] = {"git"};
    size_t full = CK_ARG_TOTAL_MAX / (CK_ARG_STRING_MAX + 1 + sizeof(char *));
    for (size_t i = 1; i <= full; i++)
        argv[i] = text;
    assert_verdict(&(struct choke_request){.argv = argv, GOOD}, CHOKE_NONE, "tools.git", "");
    assert_verdict(&(struct choke_request){.argv = argv, GOOD, .env = LIST(variable)}, CHOKE_INVALID, "request.env",
                   "more than 6291456 bytes together");
    argv[full + 1] = text;
    assert_verdict(&(struct choke_request){.argv = argv, GOOD}, CHOKE_INVALID, "request.argv",
                   "more than 6291456 bytes together");
    test_free(text);
    test_free(variable);
}

/* ---- long lists -------------------------------------------------------------------------- */

static void a_long_list_of_tools_is_cut(void **state)
{
    (void)state;
    size_t size = 100 * 1000;
    char *text = test_malloc(size);
    size_t at = (size_t)snprintf(text, size, "version: 1\nsearch_path: [/bin]\ntools:\n");
    for (unsigned i = 0; i < 1000; i++)
        at += (size_t)snprintf(text + at, size - at, "  - {name: tool-%u, why: w, adr: '0001', route: direct}\n", i);
    struct ck_policy *large = NULL;
    assert_int_equal(ck_policy_parse("p", text, at, &large, NULL), 0);
    test_free(text);
    struct ck_verdict verdict;
    judge_into(large, &(struct choke_request){.argv = LIST("bash"), GOOD}, &verdict);
    assert_int_equal(verdict.outcome, CHOKE_DISALLOWED);
    size_t length = strlen(verdict.error.message);
    assert_true(length < CHOKE_MESSAGE_MAX - 1);
    assert_string_equal(verdict.error.message + length - 5, ", ...");
    ck_policy_free(large);
}

static void a_policy_without_tools_says_so(void **state)
{
    (void)state;
    static const char text[] = "version: 1\nsearch_path: [/bin]\ntools: []\n";
    struct ck_policy *empty = NULL;
    assert_int_equal(ck_policy_parse("p", text, strlen(text), &empty, NULL), 0);
    struct ck_verdict verdict;
    judge_into(empty, &(struct choke_request){.argv = LIST("git"), GOOD}, &verdict);
    assert_int_equal(verdict.outcome, CHOKE_DISALLOWED);
    assert_non_null(strstr(verdict.error.message, "allowed tools are: (none)"));
    ck_policy_free(empty);
}

static size_t add(struct CMUnitTest *tests, size_t at, const char *name, CMUnitTestFunction function, const void *state)
{
    tests[at] = (struct CMUnitTest){.name = name, .test_func = function, .initial_state = (void *)(uintptr_t)state};
    return at + 1;
}

int main(void)
{
    static const struct CMUnitTest others[] = {
        cmocka_unit_test(overlong_strings_are_invalid),
        cmocka_unit_test(too_many_strings_are_invalid),
        cmocka_unit_test(arguments_and_environment_count_together),
        cmocka_unit_test(a_long_list_of_tools_is_cut),
        cmocka_unit_test(a_policy_without_tools_says_so),
    };
    static struct CMUnitTest tests[COUNT(refusals) + COUNT(allowances) + COUNT(others)];
    size_t at = 0;
    for (size_t i = 0; i < COUNT(refusals); i++)
        at = add(tests, at, refusals[i].name, check_refusal, &refusals[i]);
    for (size_t i = 0; i < COUNT(allowances); i++)
        at = add(tests, at, allowances[i].name, check_allowance, &allowances[i]);
    for (size_t i = 0; i < COUNT(others); i++)
        tests[at++] = others[i];
    return cmocka_run_group_tests_name("judge", tests, load_policy, free_policy);
}
