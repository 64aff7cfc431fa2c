/* test_denied_add.c - only a trusted system file that gives no privileges is suggested. */
#include "api/denied_add.h"

#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "feature.h"

static const char *const paths[] = {"/usr/bin", "/bin"};

static void expect_in(struct ck_identity root, const char *path, const char *by, const char *wanted)
{
    struct ck_binary_search search;
    struct ck_arena arena = {0};
    assert_int_equal(ck_binary_search_init(&search, paths, 2), 0);
    const char *line = ck_denied_add_exec(&search, root, path, by, &arena);
    if (wanted)
        assert_string_equal(line, wanted);
    else if (line)
        fail_msg("'%s' is suggested for '%s'", line, path);
    ck_arena_done(&arena);
    ck_binary_search_done(&search);
}

static void expect(const char *path, const char *wanted)
{
    expect_in((struct ck_identity){0}, path, "tool", wanted);
}

static void a_file_of_the_search_path_is_named(void **state)
{
    (void)state;
    expect("/usr/bin/openssl", "execs: [openssl]");
    expect("/usr/bin/dpkg", "execs: [dpkg]");
}

static void a_set_is_named_where_one_has_the_file(void **state)
{
    (void)state;
    expect("/bin/sh", "uses: [shell]");
    expect("/usr/bin/env", "uses: [shell]");
    expect("/usr/bin/gcc", "uses: [c-compiler]");
    expect("/usr/bin/x86_64-linux-gnu-as", "uses: [c-compiler]");
    expect("/usr/bin/python3", "uses: [python-tools]");
    expect("/usr/bin/uname", "uses: [shell]");
    /* Several have it: the set of the program that tried it is meant. */
    expect_in((struct ck_identity){0}, "/bin/sh", "npm", "uses: [node-scripts]");
    expect_in((struct ck_identity){0}, "/usr/bin/uname", "pytest", "uses: [python-tools]");
    expect_in((struct ck_identity){0}, "/usr/bin/uname", "bash", "uses: [shell]");
}

static void a_pattern_of_a_set_is_followed(void **state)
{
    (void)state;
    glob_t found = {0};
    assert_int_equal(glob("/usr/lib/gcc/*/*/cc1", 0, NULL, &found), 0);
    expect(found.gl_pathv[0], "uses: [c-compiler]");
    globfree(&found);
}

static void any_other_system_file_has_its_path(void **state)
{
    (void)state;
    if (access("/usr/lib/git-core/git-daemon", X_OK) != 0)
        skip_without("git", "there is no git-daemon");
    expect("/usr/lib/git-core/git-daemon", "execs: [/usr/lib/git-core/git-daemon]");
}

static void what_gives_privileges_is_not_suggested(void **state)
{
    (void)state;
    /* A missing file is not suggested either, so each must exist. The last two are not set-user-ID. */
    static const char *const files[] = {"/usr/bin/su",    "/usr/bin/passwd", "/usr/bin/newgrp",   "/usr/bin/mount",
                                        "/usr/bin/chage", "/usr/bin/expiry", "/usr/sbin/runuser", "/usr/bin/setpriv"};
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        assert_int_equal(access(files[i], F_OK), 0);
        expect(files[i], NULL);
    }
}

static void what_is_no_system_file_is_not_suggested(void **state)
{
    (void)state;
    char path[] = "/tmp/choke-suggest-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(fchmod(fd, 0755), 0);
    expect(path, NULL);
    (void)close(fd);
    (void)unlink(path);
    expect("/usr/bin", NULL);
    expect("/etc/passwd", NULL);
    expect("/nonexistent/program", NULL);
    expect("relative", NULL);
    expect("", NULL);
    expect("/usr/bin/", NULL);
}

static void text_that_means_something_else_in_yaml_is_not_suggested(void **state)
{
    (void)state;
    expect("/usr/bin/env, sudo", NULL);
    expect("/usr/bin/../bin/env]\n", NULL);
    expect("/usr/bin/[", NULL);
}

static void what_is_beneath_the_root_is_not_suggested(void **state)
{
    (void)state;
    struct stat status;
    assert_int_equal(stat("/usr/bin", &status), 0);
    expect_in((struct ck_identity){.device = status.st_dev, .inode = status.st_ino}, "/usr/bin/env", "tool", NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_of_the_search_path_is_named),
        cmocka_unit_test(a_set_is_named_where_one_has_the_file),
        cmocka_unit_test(a_pattern_of_a_set_is_followed),
        cmocka_unit_test(any_other_system_file_has_its_path),
        cmocka_unit_test(what_gives_privileges_is_not_suggested),
        cmocka_unit_test(what_is_no_system_file_is_not_suggested),
        cmocka_unit_test(text_that_means_something_else_in_yaml_is_not_suggested),
        cmocka_unit_test(what_is_beneath_the_root_is_not_suggested),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
