/* test_statefile.c - our file is read only if it can be ours, and replaced whole or not at all. */
#include "sandbox.h"
#include "sys/statefile.h"

#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "feature.h"

#define MAX 100

static int directory(const struct sandbox *sandbox, const char *name, struct choke_error *error)
{
    int fd = -1;
    int r = ck_statefile_directory(in(sandbox, name), &fd, error);
    assert_int_equal(r < 0, fd < 0);
    return r < 0 ? r : fd;
}

static void a_directory_is_made_for_the_owner_alone(void **state)
{
    struct stat status;
    struct choke_error error = {0};
    int fd = directory(*state, "home/chokepoint", &error);
    assert_true(fd >= 0);
    assert_int_equal(fstat(fd, &status), 0);
    assert_int_equal(status.st_mode & 07777, 0700);
    assert_int_equal(stat(in(*state, "home"), &status), 0);
    assert_int_equal(status.st_mode & 07777, 0700);
    (void)close(fd);
    fd = directory(*state, "home/chokepoint", &error); /* and used as it is the next time */
    assert_true(fd >= 0);
    (void)close(fd);
}

static void a_directory_that_others_could_have_planted_is_refused(void **state)
{
    struct choke_error error = {0};
    make_directory(*state, "open", 0777);
    make_directory(*state, "real", 0700);
    make_directory(*state, "home", 0700);
    make_directory(*state, "home/group", 0770);
    make_link(*state, "home/link", in(*state, "real"));
    make_file(*state, "home/file", 0600, "");
    assert_int_equal(directory(*state, "open/chokepoint", &error), -EPERM);
    assert_int_equal(directory(*state, "home/group", &error), -EPERM);
    assert_true(directory(*state, "home/link", &error) < 0);
    assert_true(error.message[0] != '\0');
    assert_true(directory(*state, "home/file", &error) < 0);
    assert_int_equal(ck_statefile_directory("relative/x", &(int){-1}, &error), -EINVAL);
}

static void only_a_file_of_ours_is_read(void **state)
{
    struct choke_error error = {0};
    char *text = NULL;
    size_t length = 0;
    char large[MAX + 2];
    memset(large, 'x', sizeof(large) - 1);
    large[sizeof(large) - 1] = '\0';
    int fd = directory(*state, "d", &error);
    assert_true(fd >= 0);
    assert_int_equal(ck_statefile_read(fd, "f", MAX, &text, &length, &error), -ENOENT);
    assert_string_equal(error.message, "");
    make_file(*state, "d/f", 0600, "hello");
    assert_int_equal(ck_statefile_read(fd, "f", MAX, &text, &length, &error), 0);
    assert_string_equal(text, "hello");
    assert_int_equal(length, 5);
    free(text);
    make_link(*state, "d/l", "f");
    assert_true(ck_statefile_read(fd, "l", MAX, &text, &length, &error) < 0);
    make_file(*state, "d/w", 0620, "hello");
    assert_int_equal(ck_statefile_read(fd, "w", MAX, &text, &length, &error), -EPERM);
    make_file(*state, "d/o", 0602, "hello");
    assert_int_equal(ck_statefile_read(fd, "o", MAX, &text, &length, &error), -EPERM);
    assert_int_equal(mkfifo(in(*state, "d/p"), 0600), 0);
    assert_int_equal(ck_statefile_read(fd, "p", MAX, &text, &length, &error), -EINVAL);
    make_file(*state, "d/big", 0600, large);
    assert_int_equal(ck_statefile_read(fd, "big", MAX, &text, &length, &error), -EFBIG);
    large[MAX] = '\0';
    make_file(*state, "d/full", 0600, large);
    assert_int_equal(ck_statefile_read(fd, "full", MAX, &text, &length, &error), 0);
    assert_int_equal(length, MAX);
    free(text);
    (void)close(fd);
}

static void another_owner_is_refused(void **state)
{
    struct choke_error error = {0};
    char *text = NULL;
    size_t length = 0;
    if (geteuid() != 0)
        skip_without("root", "a file of another user cannot be made");
    int fd = directory(*state, "d", &error);
    make_file(*state, "d/f", 0600, "hello");
    assert_int_equal(chown(in(*state, "d/f"), 65534, 65534), 0);
    assert_int_equal(ck_statefile_read(fd, "f", MAX, &text, &length, &error), -EPERM);
    assert_int_equal(chown(in(*state, "d"), 65534, 65534), 0);
    assert_int_equal(directory(*state, "d", &error), -EPERM);
    (void)close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_directory_is_made_for_the_owner_alone, sandbox_new, sandbox_free),
        cmocka_unit_test_setup_teardown(a_directory_that_others_could_have_planted_is_refused, sandbox_new,
                                        sandbox_free),
        cmocka_unit_test_setup_teardown(only_a_file_of_ours_is_read, sandbox_new, sandbox_free),
        cmocka_unit_test_setup_teardown(another_owner_is_refused, sandbox_new, sandbox_free),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
