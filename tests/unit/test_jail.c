/* test_jail.c - which jail a run gets; one that was asked for and is not to be had is a refusal. */
#include "jail/jail.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

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
        assert_true(ck_jail_choose(&(struct ck_jails){0}, cases[i].wanted, cases[i].required, cases[i].egress, &choice,
                                   &error) < 0);
        assert_int_equal(error.outcome, CHOKE_JAIL_UNAVAILABLE);
    }
}

/* ---- the two forms of the native jail ---- */

struct machine {
    bool native, bwrap, confined;
    unsigned asked;
    int failed; /* for native */
};

static void prove(void *data, const struct ck_jail *jail, struct ck_jail_state *ret_state)
{
    struct machine *machine = data;
    machine->asked++;
    ret_state->failed = jail == &ck_jail_native ? machine->failed : 0;
    ret_state->holds = jail == &ck_jail_native  ? machine->native
                       : jail == &ck_jail_bwrap ? machine->bwrap
                                                : machine->confined;
    ret_state->reason = "not_permitted";
    (void)snprintf(ret_state->words, sizeof ret_state->words, "no %s", jail->name);
}

static int choose(struct machine *machine, enum choke_jail wanted, bool required, struct ck_jail_choice *ret_choice,
                  struct choke_error *error)
{
    struct ck_jails jails = {.prove = prove, .data = machine};
    *error = (struct choke_error){0};
    return ck_jail_choose(&jails, wanted, required, false, ret_choice, error);
}

static void the_most_that_holds_is_chosen(void **state)
{
    static const struct {
        bool native, bwrap, confined;
        enum choke_jail wanted;
        const struct ck_jail *jail; /* NULL: a refusal */
        bool skipped;
    } cases[] = {
        {true, true, true, CHOKE_JAIL_AUTO, &ck_jail_native, false},
        {true, true, true, CHOKE_JAIL_NATIVE, &ck_jail_native, false},
        {false, true, true, CHOKE_JAIL_AUTO, &ck_jail_bwrap, true},
        {false, true, true, CHOKE_JAIL_NATIVE, &ck_jail_confined, true},
        {false, false, true, CHOKE_JAIL_AUTO, &ck_jail_confined, true},
        {false, false, true, CHOKE_JAIL_BWRAP, NULL, false},
        {false, true, false, CHOKE_JAIL_NATIVE, NULL, false},
        {false, false, false, CHOKE_JAIL_AUTO, &ck_jail_none, true},
        {false, false, true, CHOKE_JAIL_NONE, &ck_jail_none, false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct machine machine = {.native = cases[i].native, .bwrap = cases[i].bwrap, .confined = cases[i].confined};
        struct ck_jail_choice choice;
        struct choke_error error;
        int result = choose(&machine, cases[i].wanted, false, &choice, &error);
        assert_int_equal(result < 0, cases[i].jail == NULL);
        if (cases[i].jail == NULL) {
            assert_int_equal(error.outcome, CHOKE_JAIL_UNAVAILABLE);
            continue;
        }
        assert_ptr_equal(choice.jail, cases[i].jail);
        assert_int_equal(choice.skipped != NULL, cases[i].skipped);
        assert_true(choice.skipped == NULL || strcmp(choice.reason, "not_permitted") == 0);
    }
}

static void a_part_of_a_jail_is_none_that_was_required(void **state)
{
    static const enum choke_jail wanted[] = {CHOKE_JAIL_AUTO, CHOKE_JAIL_NATIVE};
    (void)state;
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        struct machine machine = {.confined = true};
        struct ck_jail_choice choice;
        struct choke_error error;
        assert_true(choose(&machine, wanted[i], true, &choice, &error) < 0);
        assert_int_equal(error.outcome, CHOKE_JAIL_UNAVAILABLE);
        assert_non_null(strstr(error.message, "without namespaces: no native"));
        machine = (struct machine){.native = true};
        assert_int_equal(choose(&machine, wanted[i], true, &choice, &error), 0);
        assert_int_equal(machine.asked, 1);
    }
}

static void a_trial_that_failed_is_no_reason_for_less(void **state)
{
    static const enum choke_jail wanted[] = {CHOKE_JAIL_AUTO, CHOKE_JAIL_NATIVE};
    (void)state;
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        struct machine machine = {.bwrap = true, .confined = true, .failed = ENOMEM};
        struct ck_jails jails = {.prove = prove, .data = &machine};
        struct ck_jail_choice choice;
        struct choke_error error = {0};
        assert_int_equal(ck_jail_choose(&jails, wanted[i], false, false, &choice, &error), -ENOMEM);
        assert_int_equal(error.outcome, CHOKE_SPAWN_FAILED);
        machine = (struct machine){.native = true};
        assert_int_equal(ck_jail_choose(&jails, wanted[i], false, false, &choice, &error), 0);
        assert_ptr_equal(choice.jail, &ck_jail_native);
    }
}

static void both_forms_have_one_name(void **state)
{
    (void)state;
    assert_string_equal(ck_jail_confined.name, "native");
    assert_ptr_equal(ck_jail_find("native"), &ck_jail_native);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(auto_falls_back_to_none_and_says_what_it_skipped),
        cmocka_unit_test(none_skips_nothing),
        cmocka_unit_test(a_jail_that_is_not_to_be_had_is_refused),
        cmocka_unit_test(the_most_that_holds_is_chosen),
        cmocka_unit_test(a_part_of_a_jail_is_none_that_was_required),
        cmocka_unit_test(a_trial_that_failed_is_no_reason_for_less),
        cmocka_unit_test(both_forms_have_one_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
