/* test_fleet_machine.c - what a cgroup leaves: memory, where what was read and can be forgotten is free, and processors. */
#include "fleet/machine.h"

#include "base/fd.h"
#include "sandbox.h"

#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static void put(const struct sandbox *sandbox, const char *name, const char *text)
{
    CK_FD directory_fd = open(sandbox->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    CK_FD fd = openat(directory_fd, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(ck_fd_write_all(fd, text, strlen(text)), 0);
}

static void a_cgroup_leaves_what_can_be_reclaimed(void **state)
{
    static const struct {
        const char *most, *used, *stat;
        uint64_t free_mib;
    } rows[] = {
        {"max\n", "1048576\n", "anon 0\ninactive_file 0\n", UINT64_MAX},
        {"1073741824\n", "536870912\n", "anon 536870912\nfile 0\ninactive_file 0\n", 512},
        /* Full of files that were read: all but 100 MiB of it is free. */
        {"1073741824\n", "1073741824\n", "anon 104857600\nfile 968884224\ninactive_file 968884224\nactive_file 0\n",
         924},
        {"1073741824\n", "1073741824\n", "anon 1073741824\nworkingset_inactive_file 5\n", 0},
        {"1073741824\n", "2147483648\n", "anon 0\n", 0},
        {"1073741824\n", "4096\n", "anon 0\ninactive_file 999999999999\n", 1024},
        {"1073741824\n", "536870912\n", "", 512},
    };
    const struct sandbox *sandbox = *state;

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        put(sandbox, "memory.max", rows[i].most);
        put(sandbox, "memory.current", rows[i].used);
        put(sandbox, "memory.stat", rows[i].stat);
        assert_int_equal(ck_machine_cgroup_free_mib(sandbox->path), rows[i].free_mib);
    }
    assert_int_equal(ck_machine_cgroup_free_mib("/nowhere"), UINT64_MAX);
}

static void a_cgroup_gives_the_time_of_processors(void **state)
{
    static const struct {
        const char *text;
        unsigned count;
    } rows[] = {
        {"max 100000\n", UINT_MAX}, {"200000 100000\n", 2},
        {"150000 100000\n", 2},     {"1000 100000\n", 1},
        {"6400000 100000\n", 64},   {"0 100000\n", UINT_MAX},
        {"100000 0\n", UINT_MAX},   {"18446744073709551615 1\n", UINT_MAX},
        {"100000\n", UINT_MAX},     {"", UINT_MAX},
    };
    const struct sandbox *sandbox = *state;

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        put(sandbox, "cpu.max", rows[i].text);
        assert_int_equal(ck_machine_cgroup_processors(sandbox->path), rows[i].count);
    }
    assert_int_equal(ck_machine_cgroup_processors("/nowhere"), UINT_MAX);
    assert_in_range(ck_machine_processors(), 1, (uintmax_t)sysconf(_SC_NPROCESSORS_CONF));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_cgroup_gives_the_time_of_processors, sandbox_new, sandbox_free),
        cmocka_unit_test_setup_teardown(a_cgroup_leaves_what_can_be_reclaimed, sandbox_new, sandbox_free),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
