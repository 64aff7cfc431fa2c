/* test_noexec.c - which mount of a mountinfo file forbids execution at or beneath a root. */
#include "sys/noexec.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define LINE(place, options) "36 35 98:0 / " place " " options " master:1 - ext4 /dev/x rw,noexec\n"

static const char mounts[] = LINE("/", "rw") LINE("/srv", "rw,noexec") LINE("/srv/a\\040b", "rw,noexec,nosuid")
    LINE("/home", "rw,noexecx") LINE("/home/u/r/x", "ro,noexec") LINE("/home/u/r/y", "noexec") "short line\n";

static const char *found(const char *root, bool at_root)
{
    static char text[sizeof(mounts)];
    memcpy(text, mounts, sizeof(mounts));
    return ck_noexec_search(text, root, at_root);
}

static void the_mount_of_the_root_is_named(void **state)
{
    (void)state;
    assert_string_equal(found("/srv/r", true), "/srv");
    assert_string_equal(found("/srv/a b/r", true), "/srv/a b");
    assert_null(found("/srvx", true));
    assert_null(found("/home/u/r", true));
}

static void the_first_mount_beneath_the_root_is_named(void **state)
{
    (void)state;
    assert_string_equal(found("/home/u/r", false), "/home/u/r/x");
    assert_null(found("/home/u/rr", false));
    assert_null(found("/home/u/r/x", false));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_mount_of_the_root_is_named),
        cmocka_unit_test(the_first_mount_beneath_the_root_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
