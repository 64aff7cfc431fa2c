/* test_execs.c - a ruleset matches the current files, however many were made before. */
#include "base/fd.h"
#include "base/heap.h"
#include "run/execs.h"
#include "run/helper_files.h"
#include "sandbox.h"

#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "feature.h"

#define TRUE "#!/bin/true\n"

struct fixture {
    struct sandbox *sandbox;
    const char *directory;
    struct ck_binary_search search;
    struct ck_execs execs;
    struct ck_tool tool;
    const char *helpers[4];
};

static int setup(void **state)
{
    struct fixture *fixture = calloc(1, sizeof(*fixture));
    if (!fixture || sandbox_new((void **)&fixture->sandbox) < 0)
        return -1;
    make_directory(fixture->sandbox, "bin", 0755);
    make_directory(fixture->sandbox, "repo", 0755);
    make_directory(fixture->sandbox, "other", 0755);
    make_file(fixture->sandbox, "bin/tool", 0755, TRUE);
    make_file(fixture->sandbox, "bin/helper", 0755, TRUE);
    fixture->directory = strdup(in(fixture->sandbox, "bin"));
    assert_int_equal(ck_binary_search_init(&fixture->search, &fixture->directory, 1), 0);
    ck_execs_init(&fixture->execs, &fixture->search);
    fixture->helpers[0] = "helper";
    fixture->tool = (struct ck_tool){.name = "tool", .execs = {.items = fixture->helpers, .count = 1}};
    *state = fixture;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *fixture = *state;
    ck_execs_done(&fixture->execs);
    ck_binary_search_done(&fixture->search);
    free((void *)(uintptr_t)fixture->directory);
    void *sandbox = fixture->sandbox;
    free(fixture);
    return sandbox_free(&sandbox);
}

static int make(struct fixture *fixture, const char *root, int *ret_fd, struct choke_error *error)
{
    struct ck_identity identity;
    CK_FD root_fd = open(in(fixture->sandbox, root), O_PATH | O_CLOEXEC);
    CK_FD tool_fd = open(in(fixture->sandbox, "bin/tool"), O_RDONLY | O_CLOEXEC);
    assert_int_equal(ck_trust_identity_of(root_fd, &identity), 0);
    const struct ck_execs_tool tool = {.fd = tool_fd, .path = "tool", .tool = &fixture->tool, .bound = true};
    return ck_execs_make(&fixture->execs, identity, &tool, 1, ret_fd, error);
}

static int make_ruleset(struct fixture *fixture)
{
    struct choke_error error = {0};
    int fd = -1;
    int r = make(fixture, "repo", &fd, &error);
    if (error.outcome == CHOKE_JAIL_UNAVAILABLE)
        skip_without("landlock", error.message);
    if (r < 0)
        fail_msg("%s", error.message);
    return fd;
}

/* The result of executing a file of the sandbox with this ruleset: 0, or errno. */
static int execute(struct fixture *fixture, int ruleset_fd, const char *name)
{
    int status;
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        char word[] = "tool", *argv[] = {word, NULL}, *envp[] = {NULL};
        if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || syscall(SYS_landlock_restrict_self, ruleset_fd, 0) < 0)
            _exit(100);
        (void)execve(in(fixture->sandbox, name), argv, envp);
        _exit(errno);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void must(struct fixture *fixture, const char *name, int expected)
{
    int ruleset_fd = make_ruleset(fixture);
    assert_int_equal(execute(fixture, ruleset_fd, name), expected);
    close(ruleset_fd);
}

static void tool_and_helper_are_allowed_with_their_interpreter(void **state)
{
    struct fixture *fixture = *state;
    make_file(fixture->sandbox, "bin/stranger", 0755, TRUE);
    must(fixture, "bin/tool", 0);
    must(fixture, "bin/helper", 0);
    must(fixture, "bin/stranger", EACCES);
}

static void a_ruleset_is_used_again(void **state)
{
    struct fixture *fixture = *state;
    must(fixture, "bin/tool", 0);
    assert_int_equal(fixture->execs.next, 1);
    must(fixture, "bin/helper", 0);
    assert_int_equal(fixture->execs.next, 1);
}

static void a_helper_that_was_replaced_is_the_new_one(void **state)
{
    struct fixture *fixture = *state;
    must(fixture, "bin/helper", 0);
    assert_int_equal(rename(in(fixture->sandbox, "bin/helper"), in(fixture->sandbox, "bin/old")), 0);
    make_file(fixture->sandbox, "bin/helper", 0755, TRUE);
    must(fixture, "bin/helper", 0);
    must(fixture, "bin/old", EACCES);
}

static void a_helper_that_is_installed_later_is_allowed(void **state)
{
    struct fixture *fixture = *state;
    fixture->helpers[fixture->tool.execs.count++] = "later";
    must(fixture, "bin/helper", 0);
    make_file(fixture->sandbox, "bin/later", 0755, TRUE);
    must(fixture, "bin/later", 0);
    assert_int_equal(unlink(in(fixture->sandbox, "bin/later")), 0);
    must(fixture, "bin/helper", 0);
}

/* The helper's interpreter is itself a script. */
static void an_interpreter_that_was_replaced_is_the_new_one(void **state)
{
    struct fixture *fixture = *state;
    char text[128];
    (void)snprintf(text, sizeof(text), "#!%s\n", in(fixture->sandbox, "other/reader"));
    make_file(fixture->sandbox, "other/reader", 0755, TRUE);
    make_file(fixture->sandbox, "bin/helper", 0755, text);
    must(fixture, "bin/helper", 0);
    assert_int_equal(rename(in(fixture->sandbox, "other/reader"), in(fixture->sandbox, "other/old")), 0);
    make_file(fixture->sandbox, "other/reader", 0755, TRUE);
    must(fixture, "bin/helper", 0);
    must(fixture, "other/old", EACCES);
}

static void an_interpreter_that_others_may_write_is_refused(void **state)
{
    struct fixture *fixture = *state;
    char text[128];
    struct choke_error error = {0};
    int fd = -1;
    (void)snprintf(text, sizeof(text), "#!%s\n", in(fixture->sandbox, "other/reader"));
    make_file(fixture->sandbox, "other/reader", 0777, TRUE);
    make_file(fixture->sandbox, "bin/helper", 0755, text);
    assert_true(make(fixture, "repo", &fd, &error) < 0);
    assert_int_equal(error.outcome, CHOKE_DISALLOWED);
    assert_int_equal(fd, -1);
}

static void an_interpreter_inside_the_root_is_refused_for_that_root(void **state)
{
    struct fixture *fixture = *state;
    char text[128];
    struct choke_error error = {0};
    int fd = -1;
    (void)snprintf(text, sizeof(text), "#!%s\n", in(fixture->sandbox, "other/reader"));
    make_file(fixture->sandbox, "other/reader", 0755, TRUE);
    make_file(fixture->sandbox, "bin/helper", 0755, text);
    must(fixture, "bin/helper", 0);
    assert_true(make(fixture, "other", &fd, &error) < 0);
    assert_int_equal(error.outcome, CHOKE_DISALLOWED);
}

/* A file that is allowed by its directory is the current file there. */
static void a_relative_interpreter_is_not_allowed(void **state)
{
    struct fixture *fixture = *state;
    make_file(fixture->sandbox, "bin/helper", 0755, "#!tool\n");
    assert_int_equal(chdir(in(fixture->sandbox, "repo")), 0);
    make_file(fixture->sandbox, "repo/tool", 0755, TRUE);
    must(fixture, "bin/helper", EACCES);
    assert_int_equal(chdir("/"), 0);
}

static void a_loop_of_interpreters_ends(void **state)
{
    struct fixture *fixture = *state;
    char text[128];
    (void)snprintf(text, sizeof(text), "#!%s\n", in(fixture->sandbox, "bin/helper"));
    make_file(fixture->sandbox, "bin/helper", 0755, text);
    must(fixture, "bin/tool", 0);
}

/* "env NAME" is looked up by name, so what it means may change without any file changing. */
static void what_env_would_find_is_allowed_and_not_remembered(void **state)
{
    struct fixture *fixture = *state;
    make_file(fixture->sandbox, "bin/reader", 0755, TRUE);
    make_file(fixture->sandbox, "bin/helper", 0755, "#!/usr/bin/env reader\n");
    must(fixture, "bin/reader", 0);
    assert_int_equal(fixture->execs.next, 0);
}

static void programs_of_a_directory_are_allowed(void **state)
{
    struct fixture *fixture = *state;
    make_directory(fixture->sandbox, "tools", 0755);
    make_directory(fixture->sandbox, "tools/beneath", 0755);
    make_file(fixture->sandbox, "tools/one", 0755, TRUE);
    make_file(fixture->sandbox, "tools/plugin.so", 0755, TRUE);
    make_file(fixture->sandbox, "tools/plugin.so.1", 0755, TRUE);
    make_file(fixture->sandbox, "tools/note", 0644, TRUE);
    make_file(fixture->sandbox, "tools/beneath/two", 0755, TRUE);
    CK_HEAP char *directory = ck_heap_own(strdup(in(fixture->sandbox, "tools")));
    fixture->helpers[0] = directory;
    must(fixture, "tools/one", 0);
    must(fixture, "tools/plugin.so", EACCES);
    must(fixture, "tools/plugin.so.1", EACCES);
    must(fixture, "tools/note", EACCES);
    must(fixture, "tools/beneath/two", EACCES);
    must(fixture, "bin/helper", EACCES);
}

/* One file of it that others may write is enough. */
static void a_directory_with_an_untrusted_program_is_refused(void **state)
{
    struct fixture *fixture = *state;
    struct choke_error error = {0};
    int fd = -1;
    make_directory(fixture->sandbox, "tools", 0755);
    make_file(fixture->sandbox, "tools/one", 0755, TRUE);
    make_file(fixture->sandbox, "tools/two", 0777, TRUE);
    CK_HEAP char *directory = ck_heap_own(strdup(in(fixture->sandbox, "tools")));
    fixture->helpers[0] = directory;
    assert_true(make(fixture, "repo", &fd, &error) < 0);
    assert_int_equal(error.outcome, CHOKE_DISALLOWED);
    assert_non_null(strstr(error.message, "tools/two"));
}

/* The members are names here, of which the sandbox has one. */
static void members_of_a_set_are_allowed(void **state)
{
    struct fixture *fixture = *state;
    const char *set = "node-scripts";
    make_file(fixture->sandbox, "bin/npx", 0755, TRUE);
    make_file(fixture->sandbox, "bin/other", 0755, TRUE);
    fixture->tool.uses = (struct ck_list){.items = &set, .count = 1};
    must(fixture, "bin/npx", 0);
    must(fixture, "bin/helper", 0);
    must(fixture, "bin/other", EACCES);
}

static void many_files_are_refused_and_not_cut_off(void **state)
{
    struct fixture *fixture = *state;
    struct choke_error error = {0};
    int fd = -1;
    make_directory(fixture->sandbox, "tools", 0755);
    for (unsigned i = 0; i < CK_HELPER_FILES_MAX; i++) {
        char name[32];
        (void)snprintf(name, sizeof(name), "tools/t%u", i);
        make_file(fixture->sandbox, name, 0755, TRUE);
    }
    CK_HEAP char *directory = ck_heap_own(strdup(in(fixture->sandbox, "tools")));
    fixture->helpers[0] = directory;
    assert_true(make(fixture, "repo", &fd, &error) < 0);
    assert_int_equal(error.outcome, CHOKE_DISALLOWED);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(tool_and_helper_are_allowed_with_their_interpreter),
        TEST(programs_of_a_directory_are_allowed),
        TEST(a_directory_with_an_untrusted_program_is_refused),
        TEST(members_of_a_set_are_allowed),
        TEST(a_ruleset_is_used_again),
        TEST(a_helper_that_was_replaced_is_the_new_one),
        TEST(a_helper_that_is_installed_later_is_allowed),
        TEST(an_interpreter_that_was_replaced_is_the_new_one),
        TEST(an_interpreter_that_others_may_write_is_refused),
        TEST(an_interpreter_inside_the_root_is_refused_for_that_root),
        TEST(a_relative_interpreter_is_not_allowed),
        TEST(a_loop_of_interpreters_ends),
        TEST(what_env_would_find_is_allowed_and_not_remembered),
        TEST(many_files_are_refused_and_not_cut_off),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
