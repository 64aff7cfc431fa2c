/* test_binary.c - a tool comes from a directory that no other user can write, or not at all. */
#include "sandbox.h"
#include "sys/binary.h"

#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/wait.h>

#include <cmocka.h>

#define SCRIPT "#!/bin/sh\n"
#define MAX_PATHS 4

static int setup(void **state)
{
    if (sandbox_new(state) < 0)
        return -1;
    make_directory(*state, "bin", 0755);
    make_directory(*state, "other", 0755);
    make_directory(*state, "repo", 0755);
    make_file(*state, "bin/tool", 0755, "\177ELF");
    return 0;
}

static struct ck_identity identity(const char *path)
{
    struct stat status;
    if (stat(path, &status) < 0)
        abort();
    return (struct ck_identity){.device = status.st_dev, .inode = status.st_ino};
}

/* Looks name up in the directories given (names in the sandbox, NULL-terminated), with repo as the root. */
static int find(const struct sandbox *sandbox, const char *name, const char *const *directories,
                struct ck_binary *binary, struct choke_error *error)
{
    const char *paths[MAX_PATHS];
    uint32_t count = 0;
    for (; directories[count]; count++)
        paths[count] = in(sandbox, directories[count]);
    struct ck_binary_search search;
    assert_int_equal(ck_binary_search_init(&search, paths, count), 0);
    const struct ck_binary_wanted wanted = {.name = name};
    int r = ck_binary_find(&search, &wanted, identity(in(sandbox, "repo")), binary, NULL, error);
    /* A second search uses the cached directories and must agree. */
    struct ck_binary again;
    struct choke_error again_error = {0};
    int second = ck_binary_find(&search, &wanted, identity(in(sandbox, "repo")), &again, NULL, &again_error);
    assert_int_equal(second, r);
    if (second == 0)
        close(again.fd);
    ck_binary_search_done(&search);
    return r;
}

#define DIRECTORIES(...) ((const char *const[]){__VA_ARGS__, NULL})

static void must_refuse(const struct sandbox *sandbox, const char *const *directories, enum choke_outcome outcome)
{
    struct ck_binary binary;
    struct choke_error error = {0};
    assert_true(find(sandbox, "tool", directories, &binary, &error) < 0);
    if (error.outcome != outcome)
        fail_msg("outcome %s, expected %s: %s", choke_outcome_name(error.outcome), choke_outcome_name(outcome),
                 error.message);
}

static void must_find(const struct sandbox *sandbox, const char *const *directories, const char *path)
{
    struct ck_binary binary;
    struct choke_error error = {0};
    if (find(sandbox, "tool", directories, &binary, &error) != 0)
        fail_msg("refused: %s", error.message);
    assert_string_equal(binary.path, in(sandbox, path));
    close(binary.fd);
}

static void a_tool_is_found_in_the_first_directory_that_has_it(void **state)
{
    must_find(*state, DIRECTORIES("other", "bin"), "bin/tool");
    must_find(*state, DIRECTORIES("missing", "bin"), "bin/tool");
    make_file(*state, "other/tool", 0755, "\177ELF");
    must_find(*state, DIRECTORIES("other", "bin"), "other/tool");
}

static void an_absent_tool_is_missing(void **state)
{
    must_refuse(*state, DIRECTORIES("other"), CHOKE_TOOL_MISSING);
}

static void a_directory_that_others_may_write_is_refused(void **state)
{
    make_directory(*state, "other", 0777);
    must_refuse(*state, DIRECTORIES("other", "bin"), CHOKE_DISALLOWED);
    make_directory(*state, "other", 0775);
    must_refuse(*state, DIRECTORIES("other", "bin"), CHOKE_DISALLOWED);
    make_directory(*state, "other", 01777);
    must_refuse(*state, DIRECTORIES("other", "bin"), CHOKE_DISALLOWED);
}

static void a_directory_below_one_that_others_may_write_is_refused(void **state)
{
    make_directory(*state, "other/deep", 0755);
    make_file(*state, "other/deep/tool", 0755, "\177ELF");
    must_find(*state, DIRECTORIES("other/deep"), "other/deep/tool");
    make_directory(*state, "other", 0777);
    must_refuse(*state, DIRECTORIES("other/deep"), CHOKE_DISALLOWED);
}

static void a_file_that_others_may_write_is_refused(void **state)
{
    make_file(*state, "bin/tool", 0757, "\177ELF");
    must_refuse(*state, DIRECTORIES("bin"), CHOKE_DISALLOWED);
    make_file(*state, "bin/tool", 0775, "\177ELF");
    must_refuse(*state, DIRECTORIES("bin"), CHOKE_DISALLOWED);
}

static void a_directory_inside_the_root_is_refused(void **state)
{
    make_directory(*state, "repo/bin", 0755);
    make_file(*state, "repo/bin/tool", 0755, "\177ELF");
    must_refuse(*state, DIRECTORIES("repo/bin"), CHOKE_DISALLOWED);
    must_refuse(*state, DIRECTORIES("repo", "bin"), CHOKE_DISALLOWED);
}

static void a_link_into_the_root_is_refused(void **state)
{
    make_file(*state, "repo/tool", 0755, "\177ELF");
    make_link(*state, "other/tool", "../repo/tool");
    must_refuse(*state, DIRECTORIES("other"), CHOKE_DISALLOWED);
}

static void a_link_through_a_directory_that_others_may_write_is_refused(void **state)
{
    make_directory(*state, "open", 0755);
    make_link(*state, "open/hop", "../bin/tool");
    make_link(*state, "other/tool", "../open/hop");
    must_find(*state, DIRECTORIES("other"), "other/tool");
    make_directory(*state, "open", 0777);
    must_refuse(*state, DIRECTORIES("other"), CHOKE_DISALLOWED);
}

static void a_loop_of_links_ends(void **state)
{
    make_link(*state, "other/tool", "turn");
    make_link(*state, "other/turn", "tool");
    must_refuse(*state, DIRECTORIES("other"), CHOKE_SPAWN_FAILED);
}

static void what_cannot_be_executed_is_distinguished_from_what_is_missing(void **state)
{
    make_file(*state, "other/tool", 0644, SCRIPT);
    must_refuse(*state, DIRECTORIES("other"), CHOKE_SPAWN_FAILED);
    assert_int_equal(unlink(in(*state, "other/tool")), 0);
    make_directory(*state, "other/tool", 0755);
    must_refuse(*state, DIRECTORIES("other"), CHOKE_SPAWN_FAILED);
}

static void a_script_is_seen_as_one(void **state)
{
    struct ck_binary binary;
    struct choke_error error = {0};
    make_file(*state, "other/tool", 0755, SCRIPT);
    assert_int_equal(find(*state, "tool", DIRECTORIES("other"), &binary, &error), 0);
    assert_true(binary.script);
    close(binary.fd);
    assert_int_equal(find(*state, "tool", DIRECTORIES("bin"), &binary, &error), 0);
    assert_false(binary.script);
    close(binary.fd);
}

/* A directory that was good once is checked again after a change. */
static void a_remembered_directory_that_becomes_writable_is_refused(void **state)
{
    struct sandbox *sandbox = *state;
    const char *paths[] = {in(sandbox, "bin")};
    struct ck_identity root = identity(in(sandbox, "repo"));
    struct ck_binary_search search;
    struct ck_binary binary;
    struct choke_error error = {0};
    assert_int_equal(ck_binary_search_init(&search, paths, 1), 0);
    assert_int_equal(ck_binary_find(&search, &(struct ck_binary_wanted){.name = "tool"}, root, &binary, NULL, &error),
                     0);
    close(binary.fd);
    make_directory(sandbox, "bin", 0777);
    assert_true(ck_binary_find(&search, &(struct ck_binary_wanted){.name = "tool"}, root, &binary, NULL, &error) < 0);
    assert_int_equal(error.outcome, CHOKE_DISALLOWED);
    ck_binary_search_done(&search);
}

/* Looks for the tool at an explicit path, with an empty search path. */
static int find_at(const struct sandbox *sandbox, const struct ck_binary_wanted *wanted, struct ck_binary *binary,
                   enum ck_binary_rule *rule, struct choke_error *error)
{
    struct ck_binary_search search;
    assert_int_equal(ck_binary_search_init(&search, NULL, 0), 0);
    int r = ck_binary_find(&search, wanted, identity(in(sandbox, "repo")), binary, rule, error);
    assert_int_equal(r == 0, binary->fd >= 0);
    ck_binary_search_done(&search);
    return r;
}

static void must_refuse_at(const struct sandbox *sandbox, const struct ck_binary_wanted *wanted,
                           enum choke_outcome outcome, enum ck_binary_rule expected)
{
    struct ck_binary binary;
    struct choke_error error = {0};
    enum ck_binary_rule rule;
    assert_true(find_at(sandbox, wanted, &binary, &rule, &error) < 0);
    if (error.outcome != outcome || rule != expected)
        fail_msg("outcome %s, rule %d: %s", choke_outcome_name(error.outcome), rule, error.message);
}

static void an_explicit_path_is_the_only_one_searched(void **state)
{
    struct sandbox *sandbox = *state;
    struct ck_binary binary;
    struct choke_error error = {0};
    struct ck_binary_wanted wanted = {.name = "tool", .path = in(sandbox, "bin/tool")};
    assert_int_equal(find_at(sandbox, &wanted, &binary, NULL, &error), 0);
    assert_string_equal(binary.path, in(sandbox, "bin/tool"));
    assert_false(binary.script);
    close(binary.fd);
    wanted.path = in(sandbox, "other/tool");
    must_refuse_at(sandbox, &wanted, CHOKE_TOOL_MISSING, CK_BINARY_RULE_PATH);
    wanted.path = in(sandbox, "bin");
    must_refuse_at(sandbox, &wanted, CHOKE_SPAWN_FAILED, CK_BINARY_RULE_PATH);
}

static void an_explicit_path_is_held_to_the_same_trust(void **state)
{
    struct sandbox *sandbox = *state;
    make_file(sandbox, "repo/tool", 0755, "\177ELF");
    make_link(sandbox, "other/tool", "../repo/tool");
    must_refuse_at(sandbox, &(struct ck_binary_wanted){.name = "tool", .path = in(sandbox, "repo/tool")},
                   CHOKE_DISALLOWED, CK_BINARY_RULE_PATH);
    must_refuse_at(sandbox, &(struct ck_binary_wanted){.name = "tool", .path = in(sandbox, "other/tool")},
                   CHOKE_DISALLOWED, CK_BINARY_RULE_PATH);
    make_file(sandbox, "bin/open", 0757, "\177ELF");
    must_refuse_at(sandbox, &(struct ck_binary_wanted){.name = "tool", .path = in(sandbox, "bin/open")},
                   CHOKE_DISALLOWED, CK_BINARY_RULE_PATH);
    make_directory(sandbox, "bin", 0777);
    must_refuse_at(sandbox, &(struct ck_binary_wanted){.name = "tool", .path = in(sandbox, "bin/tool")},
                   CHOKE_DISALLOWED, CK_BINARY_RULE_PATH);
}

#define ABC_SHA256 "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"

static void another_digest_is_refused_by_its_own_rule(void **state)
{
    struct sandbox *sandbox = *state;
    struct ck_binary binary;
    struct choke_error error = {0};
    struct ck_binary_wanted wanted = {.name = "tool", .path = in(sandbox, "bin/abc"), .sha256 = ABC_SHA256};
    make_file(sandbox, "bin/abc", 0755, "abc");
    assert_int_equal(find_at(sandbox, &wanted, &binary, NULL, &error), 0);
    assert_false(binary.copied);
    close(binary.fd);
    make_file(sandbox, "bin/abc", 0755, "abcd");
    must_refuse_at(sandbox, &wanted, CHOKE_DISALLOWED, CK_BINARY_RULE_SHA256);
    make_file(sandbox, "bin/abc", 0755, SCRIPT);
    must_refuse_at(sandbox, &wanted, CHOKE_DISALLOWED, CK_BINARY_RULE_SHA256);
}

/* Root reads everything, so this is done as an ordinary user, in a child that gives up root. */
static void a_pinned_file_that_cannot_be_read_is_refused(void **state)
{
    struct sandbox *sandbox = *state;
    int status;
    make_directory(sandbox, "", 0755);
    make_file(sandbox, "bin/abc", 0711, "abc");
    struct ck_binary_wanted wanted = {.name = "tool", .path = in(sandbox, "bin/abc"), .sha256 = ABC_SHA256};
    if (geteuid() != 0)
        assert_int_equal(chmod(wanted.path, 0111), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        struct ck_binary binary;
        struct choke_error error = {0};
        enum ck_binary_rule rule = CK_BINARY_RULE_PATH;
        if (geteuid() == 0 && setresuid(65534, 65534, 65534) < 0)
            _exit(1);
        int r = find_at(sandbox, &wanted, &binary, &rule, &error);
        bool right = r == -EACCES && rule == CK_BINARY_RULE_SHA256 && error.outcome == CHOKE_DISALLOWED &&
                     strstr(error.message, "not read");
        _exit(right ? 0 : 2);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, sandbox_free)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_tool_is_found_in_the_first_directory_that_has_it),
        TEST(an_absent_tool_is_missing),
        TEST(a_directory_that_others_may_write_is_refused),
        TEST(a_directory_below_one_that_others_may_write_is_refused),
        TEST(a_file_that_others_may_write_is_refused),
        TEST(a_directory_inside_the_root_is_refused),
        TEST(a_link_into_the_root_is_refused),
        TEST(a_link_through_a_directory_that_others_may_write_is_refused),
        TEST(a_loop_of_links_ends),
        TEST(what_cannot_be_executed_is_distinguished_from_what_is_missing),
        TEST(a_script_is_seen_as_one),
        TEST(a_remembered_directory_that_becomes_writable_is_refused),
        TEST(an_explicit_path_is_the_only_one_searched),
        TEST(an_explicit_path_is_held_to_the_same_trust),
        TEST(another_digest_is_refused_by_its_own_rule),
        TEST(a_pinned_file_that_cannot_be_read_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
