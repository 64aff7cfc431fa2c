/* test_fleet_bulk.c - a directory that outgrows its bounds while somebody else writes into it. */
#include "fleet/bulk.h"

#include "base/fd.h"
#include "sandbox.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define MIB ((uint64_t)1 << 20)

static void write_mib(const struct sandbox *sandbox, const char *name, size_t mib)
{
    static const char block[1 << 16] = "not empty";
    CK_FD directory_fd = open(sandbox->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    CK_FD fd = openat(directory_fd, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    assert_true(fd >= 0);
    for (size_t i = 0; i < mib * 16; i++)
        assert_int_equal(ck_fd_write_all(fd, block, sizeof(block)), 0);
}

/* As if nobody had looked before. */
static bool is_exceeded(const struct sandbox *sandbox, uint64_t bytes_max, uint64_t files_max)
{
    struct ck_bulk bulk = {.path = sandbox->path, .bytes_max = bytes_max, .files_max = files_max};
    return ck_bulk_is_exceeded(&bulk);
}

static void bytes_of_all_files_count(void **state)
{
    const struct sandbox *sandbox = *state;
    char deep[PATH_MAX];

    assert_false(is_exceeded(sandbox, MIB, 100));
    (void)snprintf(deep, sizeof(deep), "%s/deep", sandbox->path);
    assert_int_equal(mkdir(deep, 0700), 0);
    write_mib(sandbox, "one", 2);
    write_mib(sandbox, "deep/two", 2);
    assert_false(is_exceeded(sandbox, 5 * MIB, 100));
    assert_true(is_exceeded(sandbox, 3 * MIB, 100));
}

static void names_count_even_if_they_are_empty(void **state)
{
    const struct sandbox *sandbox = *state;
    char name[32];

    for (int i = 0; i < 20; i++) {
        (void)snprintf(name, sizeof(name), "empty%d", i);
        write_mib(sandbox, name, 0);
    }
    assert_false(is_exceeded(sandbox, MIB, 21)); /* with the directory itself */
    assert_true(is_exceeded(sandbox, MIB, 20));
}

static void no_symlink_is_followed(void **state)
{
    const struct sandbox *sandbox = *state;
    char link[PATH_MAX];

    (void)snprintf(link, sizeof(link), "%s/link", sandbox->path);
    assert_int_equal(symlink("/", link), 0);
    assert_false(is_exceeded(sandbox, MIB, 2));
}

static void a_look_is_not_repeated_at_once(void **state)
{
    const struct sandbox *sandbox = *state;
    struct ck_bulk bulk = {.path = sandbox->path, .bytes_max = MIB, .files_max = 100};

    assert_false(ck_bulk_is_exceeded(&bulk));
    write_mib(sandbox, "one", 2);
    assert_false(ck_bulk_is_exceeded(&bulk));
    bulk.next_ms = 0;
    assert_true(ck_bulk_is_exceeded(&bulk));
}

static void a_directory_that_is_not_there_is_not_too_large(void **state)
{
    (void)state;
    struct ck_bulk bulk = {.path = "/nowhere", .bytes_max = 1, .files_max = 0};
    assert_false(ck_bulk_is_exceeded(&bulk));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(bytes_of_all_files_count, sandbox_new, sandbox_free),
        cmocka_unit_test_setup_teardown(names_count_even_if_they_are_empty, sandbox_new, sandbox_free),
        cmocka_unit_test_setup_teardown(no_symlink_is_followed, sandbox_new, sandbox_free),
        cmocka_unit_test_setup_teardown(a_look_is_not_repeated_at_once, sandbox_new, sandbox_free),
        cmocka_unit_test(a_directory_that_is_not_there_is_not_too_large),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
