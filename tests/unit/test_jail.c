/* test_jail.c - which jail a run gets; one that was asked for and is not to be had is a refusal. */
#include "jail/jail.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void auto_falls_back_to_none_and_says_what_it_skipped(void **state)
{
    (void)state;
    struct ck_jail_choice choice;
    struct choke_error error = {0};
    assert_int_equal(ck_jail_choose(&(struct ck_jails){0}, CHOKE_JAIL_AUTO, false, false, &choice, &error), 0);
    assert_string_equal(choice.jail->name, "none");
    assert_string_equal(choice.skipped, "native");
    assert_string_equal(choice.reason, "not_installed");
}

static void none_skips_nothing(void **state)
{
    (void)state;
    struct ck_jail_choice choice;
    struct choke_error error = {0};
    assert_int_equal(ck_jail_choose(&(struct ck_jails){0}, CHOKE_JAIL_NONE, false, false, &choice, &error), 0);
    assert_null(choice.skipped);
    assert_string_equal(choice.jail->layers[0], "no_new_privs");
}

static void a_jail_that_is_not_to_be_had_is_refused(void **state)
{
    static const struct {
        enum choke_jail wanted;
        bool required, egress;
    } cases[] = {
        {CHOKE_JAIL_NATIVE, false, false}, {CHOKE_JAIL_BWRAP, false, false}, {CHOKE_JAIL_AUTO, true, false},
        {CHOKE_JAIL_NONE, true, false},    {CHOKE_JAIL_AUTO, false, true},   {CHOKE_JAIL_NONE, false, true},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct ck_jail_choice choice;
        struct choke_error error = {0};
        assert_true(ck_jail_choose(&(struct ck_jails){0}, cases[i].wanted, cases[i].required, cases[i].egress, &choice, &error) < 0);
        assert_int_equal(error.outcome, CHOKE_JAIL_UNAVAILABLE);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(auto_falls_back_to_none_and_says_what_it_skipped),
        cmocka_unit_test(none_skips_nothing),
        cmocka_unit_test(a_jail_that_is_not_to_be_had_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
