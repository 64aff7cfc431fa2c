/* test_seatbelt.c - profile and command line of sandbox-exec, to the letter. */
#include "jail/seatbelt.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const char *const no_execs[] = {NULL};
static const char *const argv[] = {"rg", "-n", "--", "-p", NULL};

#define HEAD \
    "(version 1)\n" \
    "(deny default)\n" \
    "(allow process-fork)\n" \
    "(allow signal (target same-sandbox))\n" \
    "(allow process-info* (target same-sandbox))\n" \
    "(allow sysctl-read)\n" \
    "(allow mach-lookup\n" \
    "  (global-name \"com.apple.system.logger\")\n" \
    "  (global-name \"com.apple.system.notification_center\")\n" \
    "  (global-name \"com.apple.system.opendirectoryd.libinfo\"))\n" \
    "(allow file-read*\n" \
    "  (literal \"/\")\n" \
    "  (subpath \"/bin\")\n" \
    "  (subpath \"/sbin\")\n" \
    "  (subpath \"/usr\")\n" \
    "  (subpath \"/System\")\n" \
    "  (subpath \"/Library/Apple\")\n" \
    "  (subpath \"/opt/homebrew\")\n" \
    "  (subpath \"/private/etc/ssl\")\n" \
    "  (literal \"/private/etc/localtime\")\n" \
    "  (literal \"/private/etc/passwd\")\n" \
    "  (literal \"/private/etc/group\")\n" \
    "  (subpath \"/private/var/db/dyld\")\n" \
    "  (subpath \"/private/var/db/timezone\"))\n" \
    "(allow file-map-executable\n" \
    "  (subpath \"/usr/lib\")\n" \
    "  (subpath \"/System/Library\")\n" \
    "  (subpath \"/opt/homebrew\"))\n" \
    "(allow file-read* file-write-data\n" \
    "  (literal \"/dev/null\")\n" \
    "  (literal \"/dev/zero\")\n" \
    "  (literal \"/dev/random\")\n" \
    "  (literal \"/dev/urandom\"))\n"
#define TAIL "(deny file-write-setugid)\n(deny network*)\n"

static void a_root_that_is_read_is_this_profile(void **state)
{
    struct ck_arena arena = {0};
    const struct ck_seatbelt_wanted wanted = {.root = "/Users/u/repo",
                                              .scratch = "/private/tmp/s",
                                              .tool = "/opt/homebrew/bin/rg",
                                              .execs = no_execs,
                                              .argv = argv};
    (void)state;
    assert_string_equal(ck_seatbelt_profile(&wanted, &arena),
                        HEAD "(allow file-read-metadata\n"
                             "  (path-ancestors \"/Users/u/repo\")\n"
                             "  (path-ancestors \"/private/tmp/s\"))\n"
                             "(allow file-read* (subpath \"/Users/u/repo\"))\n"
                             "(allow file-read* file-write* (subpath \"/private/tmp/s\"))\n"
                             "(allow file-read* file-map-executable process-exec\n"
                             "  (literal \"/opt/homebrew/bin/rg\"))\n" TAIL);
    ck_arena_done(&arena);
}

static void a_root_that_is_written_and_helpers_are_this_profile(void **state)
{
    static const char *const execs[] = {"/bin/sh", "/usr/bin/git", NULL};
    struct ck_arena arena = {0};
    const struct ck_seatbelt_wanted wanted = {
        .root = "/r \"x\" \\y", .writable = true, .scratch = "/s", .tool = "/t", .execs = execs, .argv = argv};
    (void)state;
    assert_string_equal(ck_seatbelt_profile(&wanted, &arena),
                        HEAD "(allow file-read-metadata\n"
                             "  (path-ancestors \"/r \\\"x\\\" \\\\y\")\n"
                             "  (path-ancestors \"/s\"))\n"
                             "(allow file-read* file-write* (subpath \"/r \\\"x\\\" \\\\y\"))\n"
                             "(allow file-read* file-write* (subpath \"/s\"))\n"
                             "(allow file-read* file-map-executable process-exec\n"
                             "  (literal \"/t\")\n"
                             "  (literal \"/bin/sh\")\n"
                             "  (literal \"/usr/bin/git\"))\n" TAIL);
    ck_arena_done(&arena);
}

static void a_path_that_could_break_out_of_the_profile_has_none(void **state)
{
    static const char *const bad[] = {"relative", "", "/line\nbreak", "/nul\x01", "/del\x7f"};
    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        for (int place = 0; place < 4; place++) {
            struct ck_arena arena = {0};
            const char *const execs[] = {place == 3 ? bad[i] : "/e", NULL};
            const struct ck_seatbelt_wanted wanted = {.root = place == 0 ? bad[i] : "/r",
                                                      .scratch = place == 1 ? bad[i] : "/s",
                                                      .tool = place == 2 ? bad[i] : "/t",
                                                      .execs = execs,
                                                      .argv = argv};
            errno = 0;
            assert_null(ck_seatbelt_profile(&wanted, &arena));
            assert_int_equal(errno, EINVAL);
            ck_arena_done(&arena);
        }
}

static void the_tool_follows_two_dashes_by_its_path(void **state)
{
    static const char *const expected[] = {"sandbox-exec", "-p", "PROFILE", "--", "/opt/rg", "-n", "--", "-p", NULL};
    struct ck_arena arena = {0};
    const struct ck_seatbelt_wanted wanted = {.tool = "/opt/rg", .argv = argv};
    (void)state;
    const char **sandbox_argv = ck_seatbelt_argv(&wanted, "PROFILE", &arena);
    assert_non_null(sandbox_argv);
    for (size_t i = 0; expected[i]; i++)
        assert_string_equal(sandbox_argv[i], expected[i]);
    assert_null(sandbox_argv[8]);
    ck_arena_done(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_root_that_is_read_is_this_profile),
        cmocka_unit_test(a_root_that_is_written_and_helpers_are_this_profile),
        cmocka_unit_test(a_path_that_could_break_out_of_the_profile_has_none),
        cmocka_unit_test(the_tool_follows_two_dashes_by_its_path),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
