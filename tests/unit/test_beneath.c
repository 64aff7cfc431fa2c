/* test_beneath.c - a working directory cannot be outside its root, whatever its name. */
#include "sandbox.h"
#include "sys/beneath.h"

#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* root/inner, root/file, outside; links in root that lead in and out. */
static int setup(void **state)
{
    if (sandbox_new(state) < 0)
        return -1;
    struct sandbox *sandbox = *state;
    make_directory(sandbox, "root", 0755);
    make_directory(sandbox, "root/inner", 0755);
    make_directory(sandbox, "outside", 0755);
    make_file(sandbox, "root/file", 0644, "");
    make_link(sandbox, "root/in", "inner");
    make_link(sandbox, "root/out", "../outside");
    make_link(sandbox, "root/absolute", "/");
    make_link(sandbox, "root/self", "/proc/self/cwd");
    make_link(sandbox, "way", "root");
    return 0;
}

static int open_cwd(const struct sandbox *sandbox, const char *root, const char *cwd, struct choke_error *error)
{
    int root_fd = -1, cwd_fd = -1;
    int r = ck_beneath_root(in(sandbox, root), &root_fd, error);
    if (r < 0)
        return r;
    r = ck_beneath_directory(root_fd, cwd, &cwd_fd, error);
    close(root_fd);
    if (r == 0)
        close(cwd_fd);
    return r;
}

static void must_open(const struct sandbox *sandbox, const char *root, const char *cwd)
{
    struct choke_error error = {0};
    if (open_cwd(sandbox, root, cwd, &error) != 0)
        fail_msg("'%s' in '%s' was refused: %s", cwd, root, error.message);
}

static void must_refuse(const struct sandbox *sandbox, const char *root, const char *cwd)
{
    struct choke_error error = {0};
    if (open_cwd(sandbox, root, cwd, &error) == 0)
        fail_msg("'%s' in '%s' was opened", cwd, root);
    assert_int_equal(error.outcome, CHOKE_CWD);
    assert_string_not_equal(error.message, "");
}

static void directories_inside_are_opened(void **state)
{
    must_open(*state, "root", ".");
    must_open(*state, "root", "inner");
    must_open(*state, "root", "inner/..");
    must_open(*state, "root", "in");
    must_open(*state, "root", in(*state, "root/inner"));
    must_open(*state, "root", in(*state, "root"));
}

static void an_absolute_path_may_come_by_a_link_that_ends_inside(void **state)
{
    must_open(*state, "root", in(*state, "way/inner"));
    must_open(*state, "way", in(*state, "root/inner"));
}

static void cwd_dotdot_is_refused(void **state)
{
    must_refuse(*state, "root", "..");
    must_refuse(*state, "root", "inner/../..");
    must_refuse(*state, "root", in(*state, "root/.."));
}

static void cwd_by_link_out_is_refused(void **state)
{
    must_refuse(*state, "root", "out");
    must_refuse(*state, "root", "absolute");
    must_refuse(*state, "root", "self");
    must_refuse(*state, "root", in(*state, "root/out"));
}

static void an_absolute_path_elsewhere_is_refused(void **state)
{
    must_refuse(*state, "root", "/");
    must_refuse(*state, "root", in(*state, "outside"));
}

/* "/x/root" is a prefix of "/x/root2" only as text. */
static void a_sibling_with_the_same_beginning_is_refused(void **state)
{
    make_directory(*state, "root2", 0755);
    must_refuse(*state, "root", in(*state, "root2"));
}

static void anything_but_a_directory_is_refused(void **state)
{
    must_refuse(*state, "root", "file");
    must_refuse(*state, "root", "missing");
    must_refuse(*state, "root", "");
    must_refuse(*state, "nowhere", ".");
    must_refuse(*state, "root/file", ".");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(directories_inside_are_opened, setup, sandbox_free),
        cmocka_unit_test_setup_teardown(an_absolute_path_may_come_by_a_link_that_ends_inside, setup, sandbox_free),
        cmocka_unit_test_setup_teardown(cwd_dotdot_is_refused, setup, sandbox_free),
        cmocka_unit_test_setup_teardown(cwd_by_link_out_is_refused, setup, sandbox_free),
        cmocka_unit_test_setup_teardown(an_absolute_path_elsewhere_is_refused, setup, sandbox_free),
        cmocka_unit_test_setup_teardown(a_sibling_with_the_same_beginning_is_refused, setup, sandbox_free),
        cmocka_unit_test_setup_teardown(anything_but_a_directory_is_refused, setup, sandbox_free),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
