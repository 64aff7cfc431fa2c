/*
 * test_profile.c - the section `guard` of a policy: what is refused, where; which tools are carriers
 * and doors with a profile and without; and every profile of the build (R9, R90, R91).
 */
#include "api/machine.h"
#include "base/arena.h"
#include "policy/profile.h"
#include "policy/tables.h"

#include "policy_parse.h"

/* Two lines, and `guard` is on the third. */
#define HEAD "version: 1\nsearch_path: [/usr/bin]\n"
#define ENTRY(name, route) "  - {name: " name ", why: w, adr: \"0001\", route: " route "}\n"
#define TOOLS \
    "tools:\n" ENTRY("bash", "external") ENTRY("git", "external") ENTRY("node", "direct") ENTRY("agent", "carrier")
#define GUARD(text) HEAD "guard: {" text "}\n" TOOLS
#define PROFILE(text) HEAD "guard: {profiles: [{name: mine, why: w, adr: \"0001\", " text "}]}\n" TOOLS
#define CARRIER(key) HEAD "tools:\n  - name: agent\n    why: w\n    adr: \"0001\"\n    route: carrier\n    " key "\n"

struct refused {
    const char *text;
    unsigned line, column;
    const char *said;
};

static const struct refused refusals[] = {
    /* what nobody can enforce on a carrier */
    {CARRIER("args: {}"), 8, 11, "'args' in tool 'agent' cannot be enforced on a carrier"},
    {CARRIER("egress: []"), 8, 13, "'egress' in tool 'agent' cannot be enforced on a carrier"},
    {CARRIER("limits: {}"), 8, 13, "'limits' in tool 'agent' cannot be enforced on a carrier"},
    {CARRIER("env: [TZ]"), 8, 10, "'env' in tool 'agent' cannot be enforced on a carrier"},
    {CARRIER("set_env: []"), 8, 14, "'set_env' in tool 'agent' cannot be enforced on a carrier"},
    {CARRIER("workspace: rw"), 8, 16, "'workspace' in tool 'agent' cannot be enforced on a carrier"},
    {CARRIER("loopback: true"), 8, 15, "'loopback' in tool 'agent' cannot be enforced on a carrier"},
    {CARRIER("require_jail: true"), 8, 19, "'require_jail' in tool 'agent' cannot be enforced on a carrier"},
    {CARRIER("credentials: refuse"), 8, 18, "'credentials' in tool 'agent' cannot be enforced on a carrier"},
    {CARRIER("root_at: own"), 8, 14, "'root_at' in tool 'agent' cannot be enforced on a carrier"},
    {CARRIER("workspace_code: true"), 8, 21, "'workspace_code' in tool 'agent' needs 'workspace'"},

    /* keys and types */
    {HEAD "guard: []\ntools: []\n", 3, 8, "'guard' must be a mapping, not a list"},
    {GUARD("carrier: [bash]"), 3, 9, "unknown key 'carrier' in 'guard'; known keys are: why, adr, programs, carriers"},
    {GUARD("workspace: ro"), 3, 20, "'workspace' in 'guard' is 'ro'; it must be one of: rw, overlay"},
    {GUARD("jit: \"true\""), 3, 14, "'jit' in 'guard' is 'true'; it must be one of: false, true (without quotes)"},
    {GUARD("profiles: {}"), 3, 19, "'profiles' in 'guard' must be a list, not a mapping"},
    {GUARD("profiles: [ci]"), 3, 20, "profile number 1 in 'guard' must be a mapping"},
    {GUARD("profiles: [{why: w, adr: \"0001\"}]"), 3, 20, "key 'name' is missing in profile number 1"},
    {GUARD("profiles: [{name: a, adr: \"0001\"}]"), 3, 20, "key 'why' is missing in profile 'a'"},
    {GUARD("profiles: [{name: a, why: w}]"), 3, 20, "key 'adr' is missing in profile 'a'"},
    {PROFILE("shipped: []"), 3, 54, "unknown key 'shipped' in profile 'mine'"},

    /* values */
    {GUARD("why: \" \""), 3, 14, "'why' in 'guard' is blank"},
    {GUARD("adr: \"12\""), 3, 14, "'adr' in 'guard' is '12'"},
    {GUARD("env: [LD_PRELOAD]"), 3, 15, "'LD_PRELOAD' in 'env' in 'guard' may not be granted"},
    {GUARD("env: [OPENAI_API_KEY]"), 3, 15, "'OPENAI_API_KEY' in 'env' in 'guard' looks like the name of a secret"},
    {GUARD("env: [npm_token]"), 3, 15, "'npm_token' in 'env' in 'guard' looks like the name of a secret"},
    {GUARD("env: [SSH_AUTH_SOCK]"), 3, 15, "'SSH_AUTH_SOCK' in 'env' in 'guard' looks like the name of a secret"},
    {GUARD("env: [TZ], set_env: [{name: TZ, value: a}]"), 3, 37, "'TZ' is both set by 'set_env' and granted by 'env'"},
    {GUARD("set_env: [{name: PATH, value: /x}]"), 3, 26, "'PATH' in 'set_env' in 'guard' may not be set"},
    {GUARD("egress: [A.org]"), 3, 18, "'A.org' in 'egress' in 'guard'"},
    {GUARD("state: [/home/me/.codex]"), 3, 17, "'/home/me/.codex' in 'state' in 'guard' is not a plain path"},
    {GUARD("state: [../me]"), 3, 17, "'../me' in 'state' in 'guard' is not a plain path"},
    {GUARD("state: [.config/../..]"), 3, 17, "is not a plain path of a directory beneath HOME"},
    {GUARD("state: [.]"), 3, 17, "is not a plain path of a directory beneath HOME"},
    {GUARD("state: [.codex/]"), 3, 17, "is not a plain path of a directory beneath HOME"},
    {GUARD("state: [.codex, .codex]"), 3, 25, "'.codex' is listed twice in 'state'"},
    {GUARD("state: [.a], state_data: [.a]"), 3, 35,
     "'.a' in 'state_data' in 'guard' is not a path beneath a directory of"},
    {GUARD("state: [.a], state_data: [.b/x]"), 3, 35, "'.b/x' in 'state_data' in 'guard' is not a path beneath"},
    {GUARD("state: [.a], state_data: [.ab/x]"), 3, 35, "'.ab/x' in 'state_data' in 'guard' is not a path beneath"},
    {GUARD("state: [.a], state_data: [.a/../b]"), 3, 35, "'.a/../b' in 'state_data' in 'guard' is not a path"},
    {GUARD("state: [.a], state_data: [.a/../b*]"), 3, 35, "'.a/../b*' in 'state_data' in 'guard' is not a path"},
    {GUARD("state: [.a], state_data: [.a/**/b]"), 3, 35, "'.a/**/b' in 'state_data' in 'guard' is not a path"},
    {GUARD("state: [.a], state_data: [.a/*b*]"), 3, 35, "'.a/*b*' in 'state_data' in 'guard' is not a path"},
    {GUARD("state: [.a*], state_data: [.ab/c]"), 3, 36, "'.ab/c' in 'state_data' in 'guard' is not a path"},
    {GUARD("state: [.a], state_data: [/.a/b]"), 3, 35, "'/.a/b' in 'state_data' in 'guard' is not a path"},
    {GUARD("state_data: [.a/b]"), 3, 22, "'.a/b' in 'state_data' in 'guard' is not a path beneath"},
    {GUARD("read_only: [.git/hooks]"), 3, 21, "'.git/hooks' in 'read_only' in 'guard' is not a name without '/'"},
    {GUARD("read_only: [..]"), 3, 21, "'..' in 'read_only' in 'guard' is not a name without '/'"},
    {GUARD("may_refuse: [/usr/bin/id]"), 3, 22, "'/usr/bin/id' in 'may_refuse' in 'guard' is not a name without"},
    {GUARD("carriers: [bash, bash]"), 3, 26, "'bash' is listed twice in 'carriers'"},
    {GUARD("programs: [/usr/bin/id]"), 3, 20, "'/usr/bin/id' in 'programs' in 'guard' is not a valid tool name"},
    {GUARD("inject: [\"a\\nb\"]"), 3, 18, "an entry of 'inject' in 'guard' has a line break"},
    {GUARD("profiles: [{name: Mine, why: w, adr: \"0001\"}]"), 3, 27, "'Mine' is not a valid name of a profile"},
    {GUARD("profiles: [{name: ../x, why: w, adr: \"0001\"}]"), 3, 27, "'../x' is not a valid name of a profile"},
    {GUARD("profiles: [{name: a, why: w, adr: \"0001\"}, {name: a, why: w, adr: \"0001\"}]"), 3, 59,
     "profile 'a' is listed twice; the first one is on line 3"},
    {GUARD("shipped: [ci], profiles: [{name: ci, why: w, adr: \"0001\"}]"), 3, 42, "profile 'ci' is also in 'shipped'"},
    {PROFILE("env: [GITHUB_TOKEN]"), 3, 60,
     "'GITHUB_TOKEN' in 'env' in profile 'mine' looks like the name of a secret"},

    /* names */
    {GUARD("carriers: [make]"), 3, 20,
     "the carrier 'make' is not in the policy; add an entry, or its name to 'catalog'"},
    {GUARD("carriers: [node]"), 3, 20, "'node' has route 'direct'; a carrier is a tool of route"},
    {GUARD("programs: [git]"), 3, 20, "the program 'git' is not a carrier; add it to 'carriers'"},
    {GUARD("programs: [nobody]"), 3, 20, "the program 'nobody' is not a carrier"},
    {GUARD("catalog: [nope]"), 3, 19, "the catalogue has no entry 'nope'"},
    {GUARD("catalog: [git-clone]"), 3, 19, "'git-clone' adds to 'git', which has no subcommands"},
    {GUARD("shipped: [nope]"), 3, 19, "this build has no profile 'nope'"},
    {PROFILE("carriers: [sh]"), 3, 65, "the carrier 'sh' is not in the policy"},
};

static void what_cannot_hold_is_refused_at_its_place(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(refusals); i++)
        (void)must_refuse(refusals[i].text, strlen(refusals[i].text), refusals[i].line, refusals[i].column,
                          refusals[i].said);
}

static void what_holds_on_a_carrier_is_accepted(void **state)
{
    (void)state;
    struct ck_policy *policy = must_parse(CARRIER("execs: [ls]\n    uses: [shell]\n    reads: [/opt/agent]\n"
                                                  "    path: /opt/agent/bin/agent\n    version_args: [-V]"));
    assert_int_equal(policy->tools[0].route, CK_ROUTE_CARRIER);
    assert_false(ck_policy_tool_is_callable(&policy->tools[0]));
    ck_policy_free(policy);
}

/* ---- grants ------------------------------------------------------------------------------ */

static void nothing_unenforced_is_granted_to_a_carrier(void **state)
{
    static const char base_text[] = HEAD "tools:\n" ENTRY("agent", "carrier");
    static const char *const grants[] = {"egress: [a.org]", "env: [TZ]"};
    (void)state;
    struct ck_policy *base = must_parse(base_text);
    for (size_t i = 0; i < COUNT(grants); i++) {
        struct ck_policy *policy = NULL;
        struct choke_error error = {0};
        char text[128];
        (void)snprintf(text, sizeof(text), "version: 1\nextends: default\ngrant:\n  - {name: agent, %s}\n", grants[i]);
        const struct ck_policy_source source = {.file = "p.yaml", .text = text, .length = strlen(text), .base = base};
        assert_int_equal(ck_policy_parse_source(&source, &policy, &error), -EINVAL);
        assert_non_null(strstr(error.message, "cannot be enforced on tool 'agent', a carrier"));
        assert_int_equal(error.line, 4);
    }
    ck_policy_free(base);
}

/* ---- who is what ------------------------------------------------------------------------- */

static const char whole[] = HEAD "guard:\n"
                                 "  carriers: [bash]\n"
                                 "  state: [.section]\n"
                                 "  env: [TZ]\n"
                                 "  profiles:\n"
                                 "    - name: mine\n"
                                 "      why: w\n"
                                 "      adr: \"0001\"\n"
                                 "      programs: [agent]\n"
                                 "      carriers: [git, make]\n"
                                 "      catalog: [make]\n"
                                 "      state: [.mine]\n"
                                 "      workspace: overlay\n"
                                 "      jit: true\n"
                                 "    - {name: ci, why: w, adr: \"0001\"}\n" TOOLS
                                 "  - {name: mac, why: w, adr: \"0001\", route: carrier, platforms: [macos]}\n"
                                 "  - {name: bwrap, why: w, adr: \"0001\", route: jail}\n";

static bool is_carrier(const struct ck_policy *policy, const char *name)
{
    const struct ck_tool *tool = ck_policy_find(policy, name);
    bool carrier = tool && ck_profile_is_carrier(policy, tool);
    assert_false(carrier && ck_profile_is_door(policy, tool));
    return carrier;
}

static bool is_door(const struct ck_policy *policy, const char *name)
{
    const struct ck_tool *tool = ck_policy_find(policy, name);
    return tool && ck_profile_is_door(policy, tool);
}

static const struct ck_policy *must_apply(const struct ck_policy *policy, const char *name, struct ck_arena *arena)
{
    const struct ck_policy *applied = NULL;
    struct choke_error error = {0};
    if (ck_profile_apply(policy, name, arena, &applied, &error) != 0)
        fail_msg("%s", error.message);
    return applied;
}

static void without_a_profile_the_section_holds(void **state)
{
    (void)state;
    struct ck_arena arena = {0};
    struct ck_policy *policy = must_parse(whole);
    const struct ck_policy *applied = must_apply(policy, NULL, &arena);
    assert_true(is_carrier(applied, "bash") && is_carrier(applied, "agent") && is_door(applied, "git"));
    assert_true(is_door(applied, "node"));
    assert_null(ck_policy_find(applied, "make"));
    /* of another platform, or of a jail */
    assert_false(is_carrier(applied, "mac") || is_door(applied, "mac"));
    assert_false(is_carrier(applied, "bwrap") || is_door(applied, "bwrap"));
    assert_string_equal(applied->guard->own.state.items[0], ".section");
    assert_int_equal(applied->guard->own.workspace, CK_WORKSPACE_RW);
    assert_false(applied->guard->own.jit);
    assert_true(ck_profile_is_program(applied, ck_policy_find(applied, "bash")));
    assert_false(ck_profile_is_program(applied, ck_policy_find(applied, "git")));
    ck_arena_done(&arena);
    ck_policy_free(policy);
}

static void with_a_profile_carriers_join_and_the_rest_is_its_own(void **state)
{
    (void)state;
    struct ck_arena arena = {0};
    struct ck_policy *policy = must_parse(whole);
    const struct ck_policy *applied = must_apply(policy, "mine", &arena);
    const struct ck_profile *own = &applied->guard->own;
    assert_true(is_carrier(applied, "bash") && is_carrier(applied, "git") && is_carrier(applied, "make"));
    assert_true(is_carrier(applied, "agent") && is_door(applied, "node"));
    assert_int_equal(own->state.count, 1);
    assert_string_equal(own->state.items[0], ".mine");
    assert_int_equal(own->env.count, 0);
    assert_int_equal(own->workspace, CK_WORKSPACE_OVERLAY);
    assert_true(own->jit && !own->workspace_code);
    assert_true(ck_profile_is_program(applied, ck_policy_find(applied, "agent")));
    assert_false(ck_profile_is_program(applied, ck_policy_find(applied, "bash")));
    /* The policy itself, by which everything outside of guard is judged, is as it was. */
    assert_null(ck_policy_find(policy, "make"));
    assert_int_equal(policy->guard->own.carriers.count, 1);
    ck_arena_done(&arena);
    ck_policy_free(policy);
}

static void a_profile_of_the_policy_comes_before_one_of_the_build(void **state)
{
    (void)state;
    struct ck_arena arena = {0};
    struct ck_policy *policy = must_parse(whole), *other = must_parse(HEAD TOOLS);
    const struct ck_profile *profile = NULL;
    struct choke_error error = {0};
    assert_int_equal(ck_profile_find(policy, "ci", &arena, &profile, &error), 0);
    assert_false(profile->shipped);
    assert_int_equal(ck_profile_find(other, "ci", &arena, &profile, &error), 0);
    assert_true(profile->shipped);
    assert_int_equal(ck_profile_find(other, "mine", &arena, &profile, &error), -ENOENT);
    assert_non_null(strstr(error.message, "neither the policy 'p.yaml' nor this build has a profile 'mine'"));
    assert_int_equal(ck_profile_find(policy, "mnie", &arena, &profile, &error), -ENOENT);
    assert_non_null(strstr(error.message, "did you mean 'mine'?"));
    ck_arena_done(&arena);
    ck_policy_free(policy);
    ck_policy_free(other);
}

/* The policy's own entry of a tool stays, whatever the profile takes from the catalogue. */
static void a_profile_leaves_the_entries_of_the_policy_alone(void **state)
{
    (void)state;
    struct ck_arena arena = {0};
    struct ck_policy *policy = must_parse(HEAD TOOLS);
    const struct ck_policy *applied = must_apply(policy, "ci", &arena);
    assert_true(is_carrier(applied, "bash") && is_carrier(applied, "sh") && is_carrier(applied, "make"));
    assert_string_equal(ck_policy_find(applied, "bash")->why, "w");
    assert_true(ck_policy_find(applied, "sh")->embedded);
    assert_true(applied->guard->own.workspace_code);
    ck_arena_done(&arena);
    ck_policy_free(policy);
}

static void a_profile_that_the_policy_contradicts_is_refused(void **state)
{
    (void)state;
    struct ck_arena arena = {0};
    struct ck_policy *policy = must_parse(HEAD "tools:\n" ENTRY("bash", "direct"));
    const struct ck_policy *applied = NULL;
    struct choke_error error = {0};
    assert_int_equal(ck_profile_apply(policy, "ci", &arena, &applied, &error), -EINVAL);
    assert_non_null(strstr(error.message, "cannot be used with profile 'ci': 'bash' has route 'direct'"));
    assert_null(applied);
    ck_arena_done(&arena);
    ck_policy_free(policy);
}

static const struct ck_subcommand *find_subcommand(const struct ck_tool *tool, const char *name)
{
    for (uint32_t i = 0; i < tool->args->subcommands_count; i++)
        if (strcmp(tool->args->subcommands[i].name, name) == 0)
            return &tool->args->subcommands[i];
    return NULL;
}

/* git of the policy gets what git-commit has; git of the default policy stays as it is. */
static void a_profile_adds_subcommands_to_a_copy(void **state)
{
    (void)state;
    struct ck_arena arena = {0};
    const struct ck_policy *base = ck_policy_default(&arena);
    const struct ck_policy *applied = must_apply(base, "codex", &arena);
    const struct ck_tool *git = ck_policy_find(applied, "git");
    assert_non_null(find_subcommand(git, "commit"));
    assert_non_null(find_subcommand(git, "log"));
    assert_null(find_subcommand(ck_policy_find(base, "git"), "commit"));
    assert_null(ck_policy_find(applied, "git-commit"));
    /* what the policy has already is its own */
    const struct ck_policy *twice = must_apply(applied, "opencode", &arena);
    assert_int_equal(ck_policy_find(twice, "git")->args->subcommands_count, git->args->subcommands_count);
    ck_arena_done(&arena);
}

/* ---- what the build has ------------------------------------------------------------------ */

static void each_profile_of_the_build_works_with_the_default_policy(void **state)
{
    (void)state;
    struct ck_arena arena = {0};
    const struct ck_policy *catalog = ck_policy_catalog(&arena);
    const struct ck_policy *base = ck_policy_default(&arena);
    assert_non_null(catalog);
    assert_non_null(base);
    assert_non_null(catalog->guard);
    assert_true(catalog->guard->profiles_count > 0);
    assert_null(base->guard);
    for (uint32_t i = 0; i < catalog->guard->profiles_count; i++) {
        const struct ck_profile *profile = &catalog->guard->profiles[i];
        const struct ck_policy *applied = must_apply(base, profile->name, &arena);
        assert_true(profile->shipped && profile->why && profile->adr && profile->line > 0);
        for (uint32_t k = 0; k < profile->carriers.count; k++)
            assert_true(is_carrier(applied, profile->carriers.items[k]));
        assert_true(is_door(applied, "git") && is_door(applied, "rg"));
    }
    ck_arena_done(&arena);
}

/* ---- a locked policy --------------------------------------------------------------------- */

static void a_locked_policy_decides_which_profiles_there_are(void **state)
{
    (void)state;
    struct ck_arena arena = {0};
    const char *bash[] = {"bash"}, *mine[] = {"mine"};
    struct choke_error error = {0};
    struct ck_policy *policy = must_parse(whole);
    struct ck_policy *listing = must_parse(GUARD("shipped: [ci]"));
    struct ck_policy *silent = must_parse(HEAD TOOLS);
    struct ck_machine machine = {.bound = true};
    assert_int_equal(ck_machine_check_profile(&machine, must_apply(policy, "mine", &arena), "mine", &error), 0);
    assert_int_equal(ck_machine_check_profile(&machine, must_apply(listing, "ci", &arena), "ci", &error), 0);
    assert_int_equal(ck_machine_check_profile(&machine, must_apply(silent, NULL, &arena), NULL, &error), 0);
    assert_int_equal(ck_machine_check_profile(&machine, must_apply(silent, "ci", &arena), "ci", &error), -EPERM);
    assert_non_null(strstr(error.message, "is locked: it does not name profile 'ci'"));
    assert_int_equal(error.outcome, CHOKE_DISALLOWED);
    machine.bound = false;
    assert_int_equal(ck_machine_check_profile(&machine, must_apply(silent, "ci", &arena), "ci", &error), 0);

    /* what cites a record that does not exist */
    machine = (struct ck_machine){.bound = true, .rules = {.unrecorded = {bash, 1}}};
    assert_int_equal(ck_machine_check_profile(&machine, must_apply(policy, NULL, &arena), NULL, &error), -EPERM);
    assert_non_null(strstr(error.message, "the entry of 'bash', a carrier, cites decision record 0001"));
    machine = (struct ck_machine){.bound = true, .rules = {.unrecorded_profiles = {mine, 1}}};
    assert_int_equal(ck_machine_check_profile(&machine, must_apply(policy, "mine", &arena), "mine", &error), -EPERM);
    assert_non_null(strstr(error.message, "profile 'mine' cites a decision record that does not exist"));
    assert_int_equal(ck_machine_check_profile(&machine, must_apply(policy, "ci", &arena), "ci", &error), 0);
    ck_arena_done(&arena);
    ck_policy_free(policy);
    ck_policy_free(listing);
    ck_policy_free(silent);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_cannot_hold_is_refused_at_its_place),
        cmocka_unit_test(what_holds_on_a_carrier_is_accepted),
        cmocka_unit_test(nothing_unenforced_is_granted_to_a_carrier),
        cmocka_unit_test(without_a_profile_the_section_holds),
        cmocka_unit_test(with_a_profile_carriers_join_and_the_rest_is_its_own),
        cmocka_unit_test(a_profile_of_the_policy_comes_before_one_of_the_build),
        cmocka_unit_test(a_profile_leaves_the_entries_of_the_policy_alone),
        cmocka_unit_test(a_profile_adds_subcommands_to_a_copy),
        cmocka_unit_test(a_profile_that_the_policy_contradicts_is_refused),
        cmocka_unit_test(each_profile_of_the_build_works_with_the_default_policy),
        cmocka_unit_test(a_locked_policy_decides_which_profiles_there_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
