/* test_plan.c - a plan holds descriptors and strings for exactly what the request named, or names
 * the rule that refused it. */
#include "api/context.h"
#include "api/policyfile.h"
#include "base/error.h"
#include "policy/load.h"
#include "run/plan.h"
#include "sandbox.h"

#include <dirent.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

struct fixture {
    struct sandbox *sandbox;
    struct ck_policy *policy;
    struct ck_trusted place;
    struct ck_binary_search search;
    struct ck_jails jails;
    struct ck_plan_sources sources;
};

static const char policy_format[] =
    "version: 1\nsearch_path: [%s/bin]\ntools:\n"
    "  - {name: tool, why: a test, adr: \"0001\", route: direct, env: [EXTRA], egress: [example.org]}\n"
    "  - {name: caged, why: a test, adr: \"0001\", route: external}\n"
    "  - {name: absent, why: a test, adr: \"0001\", route: direct, install: {apt: absentee}}\n";

static void load_policy(struct fixture *fixture)
{
    char text[1024];
    char *read;
    size_t length;
    struct choke_error error = {0};
    (void)snprintf(text, sizeof(text), policy_format, fixture->sandbox->path);
    make_file(fixture->sandbox, "conf/policy.yaml", 0600, text);
    const struct ck_rulefile file = ck_policyfile(in(fixture->sandbox, "conf/policy.yaml"));
    if (ck_rulefile_read(&file, &read, &length, &fixture->place, &error) < 0 ||
        ck_policy_parse("policy.yaml", read, length, &fixture->policy, &error) < 0)
        fail_msg("%s", error.message);
    free(read);
}

static int setup(void **state)
{
    struct fixture *fixture = calloc(1, sizeof(*fixture));
    if (!fixture || sandbox_new((void **)&fixture->sandbox) < 0)
        return -1;
    make_directory(fixture->sandbox, "bin", 0755);
    make_directory(fixture->sandbox, "conf", 0755);
    make_directory(fixture->sandbox, "repo", 0755);
    make_directory(fixture->sandbox, "repo/deep", 0755);
    make_file(fixture->sandbox, "bin/tool", 0755, "\177ELF");
    make_file(fixture->sandbox, "bin/caged", 0755, "#!/bin/sh\n");
    load_policy(fixture);
    assert_int_equal(
        ck_binary_search_init(&fixture->search, fixture->policy->search_path.items, fixture->policy->search_path.count),
        0);
    fixture->sources = (struct ck_plan_sources){.policy = fixture->policy,
                                                .jails = &fixture->jails,
                                                .policy_place = &fixture->place,
                                                .search = &fixture->search,
                                                .null_fd = open("/dev/null", O_RDWR | O_CLOEXEC)};
    *state = fixture;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *fixture = *state;
    close(fixture->sources.null_fd);
    ck_binary_search_done(&fixture->search);
    ck_trust_done(&fixture->place);
    ck_policy_free(fixture->policy);
    void *sandbox = fixture->sandbox;
    free(fixture);
    return sandbox_free(&sandbox);
}

static struct choke_request request_for(const struct fixture *fixture, const char *const *argv)
{
    return (struct choke_request){.argv = argv, .root = in(fixture->sandbox, "repo"), .cwd = ".", .timeout_ms = 1000};
}

static size_t open_descriptors(void)
{
    size_t count = 0;
    DIR *directory = opendir("/proc/self/fd");
    assert_non_null(directory);
    while (readdir(directory))
        count++;
    closedir(directory);
    return count;
}

static void must_refuse(struct fixture *fixture, const struct choke_request *request, enum choke_outcome outcome,
                        const char *rule)
{
    struct ck_plan plan;
    assert_int_equal(ck_plan_make(&fixture->sources, request, &plan), 0);
    assert_string_equal(choke_outcome_name(plan.verdict.outcome), choke_outcome_name(outcome));
    assert_string_equal(plan.verdict.rule, rule);
    assert_string_not_equal(plan.verdict.error.message, "");
    ck_plan_done(&plan);
}

static void what_is_allowed_is_held_by_descriptor(void **state)
{
    struct fixture *fixture = *state;
    const char *const argv[] = {"tool", "a b", NULL};
    const char *const extras[] = {"EXTRA=1", NULL};
    struct choke_request request = request_for(fixture, argv);
    request.env = extras;
    struct ck_plan plan;
    struct stat held, named;
    assert_int_equal(ck_plan_make(&fixture->sources, &request, &plan), 0);
    assert_int_equal(plan.verdict.outcome, CHOKE_NONE);
    assert_string_equal(plan.tool_path, in(fixture->sandbox, "bin/tool"));
    assert_string_equal(plan.argv[1], "a b");
    assert_string_equal(plan.env[4], "EXTRA=1");
    assert_null(plan.exec_path);
    assert_true(fstat(plan.cwd_fd, &held) == 0 && stat(request.root, &named) == 0);
    assert_int_equal(held.st_ino, named.st_ino);
    assert_int_equal(plan.stdin_fd, fixture->sources.null_fd);
    ck_plan_done(&plan);
}

static void a_script_is_executed_by_its_path(void **state)
{
    struct fixture *fixture = *state;
    const char *const argv[] = {"caged", NULL};
    struct choke_request request = request_for(fixture, argv);
    struct ck_plan plan;
    assert_int_equal(ck_plan_make(&fixture->sources, &request, &plan), 0);
    assert_string_equal(plan.exec_path, in(fixture->sandbox, "bin/caged"));
    assert_string_equal(plan.jail.skips[0].jail, "native");
    ck_plan_done(&plan);
}

static void each_refusal_names_its_rule(void **state)
{
    struct fixture *fixture = *state;
    const char *const tool[] = {"tool", NULL}, *const absent[] = {"absent", NULL}, *const other[] = {"other", NULL};
    const char *const hosts[] = {"example.org", NULL};
    struct choke_request request = request_for(fixture, other);
    must_refuse(fixture, &request, CHOKE_DISALLOWED, "tools");
    request = request_for(fixture, absent);
    must_refuse(fixture, &request, CHOKE_TOOL_MISSING, "search_path");
    request = request_for(fixture, tool);
    request.root = in(fixture->sandbox, "none");
    must_refuse(fixture, &request, CHOKE_CWD, "request.root");
    request = request_for(fixture, tool);
    request.cwd = "../bin";
    must_refuse(fixture, &request, CHOKE_CWD, "request.cwd");
    request = request_for(fixture, tool);
    request.root = in(fixture->sandbox, "conf");
    must_refuse(fixture, &request, CHOKE_POLICY, "policy.place");
    request = request_for(fixture, tool);
    request.jail = CHOKE_JAIL_NATIVE;
    must_refuse(fixture, &request, CHOKE_JAIL_UNAVAILABLE, "request.jail");
    request = request_for(fixture, tool);
    request.egress = hosts;
    must_refuse(fixture, &request, CHOKE_JAIL_UNAVAILABLE, "request.jail");
}

static void a_missing_tool_comes_with_the_way_to_install_it(void **state)
{
    struct fixture *fixture = *state;
    const char *const argv[] = {"absent", NULL};
    struct choke_request request = request_for(fixture, argv);
    struct ck_plan plan;
    assert_int_equal(ck_plan_make(&fixture->sources, &request, &plan), 0);
    assert_non_null(strstr(plan.verdict.error.message, "apt-get install absentee"));
    ck_plan_done(&plan);
}

static void stdin_bytes_are_readable_and_cannot_be_changed(void **state)
{
    struct fixture *fixture = *state;
    const char *const argv[] = {"tool", NULL};
    struct choke_request request = request_for(fixture, argv);
    request.stdin_kind = CHOKE_STDIN_BYTES;
    request.stdin_bytes = "hello";
    request.stdin_length = 5;
    struct ck_plan plan;
    char text[8] = {0};
    assert_int_equal(ck_plan_make(&fixture->sources, &request, &plan), 0);
    assert_int_equal(read(plan.stdin_fd, text, sizeof(text)), 5);
    assert_string_equal(text, "hello");
    assert_int_equal(write(plan.stdin_fd, "x", 1), -1);
    ck_plan_done(&plan);
}

static void neither_a_plan_nor_a_refusal_leaves_a_descriptor_open(void **state)
{
    struct fixture *fixture = *state;
    const char *const tool[] = {"tool", NULL}, *const absent[] = {"absent", NULL};
    struct choke_request good = request_for(fixture, tool), bad = request_for(fixture, absent);
    struct ck_plan plan;
    assert_int_equal(ck_plan_make(&fixture->sources, &good, &plan),
                     0); /* opens the directories of the search path, once */
    ck_plan_done(&plan);
    size_t before = open_descriptors();
    for (int i = 0; i < 20; i++) {
        assert_int_equal(ck_plan_make(&fixture->sources, &good, &plan), 0);
        ck_plan_done(&plan);
        assert_int_equal(ck_plan_make(&fixture->sources, &bad, &plan), 0);
        ck_plan_done(&plan);
    }
    assert_int_equal(open_descriptors(), before);
}

static void grace_and_kill_fit_into_one_and_a_half_timeouts(void **state)
{
    (void)state;
    for (uint64_t timeout_ms = 1; timeout_ms <= 5000; timeout_ms++) {
        uint64_t grace_ns = ck_plan_grace_ns(timeout_ms);
        assert_true(grace_ns <= 100000000);
        assert_true(grace_ns * 10 <= timeout_ms * 1000000 * 4);
    }
    assert_int_equal(ck_plan_grace_ns(250), 100000000);
    assert_int_equal(ck_plan_grace_ns(60000), 100000000);
}

static void a_failure_says_what_was_short(void **state)
{
    struct choke_error error = {0};
    (void)state;
    assert_int_equal(ck_context_plan_failed(-EMFILE, &error), -EMFILE);
    assert_int_equal(error.outcome, CHOKE_SPAWN_FAILED);
    assert_string_equal(error.message, "the run cannot be prepared: Too many open files");
    assert_int_equal(ck_context_plan_failed(-ENOMEM, &error), -ENOMEM);
    assert_string_equal(error.message, "out of memory");
    assert_int_equal(ck_context_plan_failed(0, &error), -ENOMEM);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_is_allowed_is_held_by_descriptor),
        TEST(a_script_is_executed_by_its_path),
        TEST(each_refusal_names_its_rule),
        TEST(a_missing_tool_comes_with_the_way_to_install_it),
        TEST(stdin_bytes_are_readable_and_cannot_be_changed),
        TEST(neither_a_plan_nor_a_refusal_leaves_a_descriptor_open),
        cmocka_unit_test(grace_and_kill_fit_into_one_and_a_half_timeouts),
        cmocka_unit_test(a_failure_says_what_was_short),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
