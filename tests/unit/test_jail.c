/* test_jail.c - which jail a run gets; a requested jail that is not available is a refusal. */
#include "jail/jail.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const struct ck_jail_needs plain;

static void auto_falls_back_to_none_and_says_what_it_skipped(void **state)
{
    (void)state;
    struct ck_jail_choice choice;
    struct choke_error error = {0};
    assert_int_equal(ck_jail_choose(&(struct ck_jails){0}, CHOKE_JAIL_AUTO, plain, &choice, &error), 0);
    assert_string_equal(choice.jail->name, "none");
    assert_int_equal(choice.skip_count, 2);
    assert_string_equal(choice.skips[0].jail, "native");
    assert_string_equal(choice.skips[1].jail, "bwrap");
    assert_string_equal(choice.skips[0].reason, "not_installed");
    assert_string_equal(choice.skips[1].reason, "not_installed");
}

static void none_skips_nothing(void **state)
{
    (void)state;
    struct ck_jail_choice choice;
    struct choke_error error = {0};
    assert_int_equal(ck_jail_choose(&(struct ck_jails){0}, CHOKE_JAIL_NONE, plain, &choice, &error), 0);
    assert_int_equal(choice.skip_count, 0);
    assert_string_equal(choice.jail->layers[0], "no_new_privs");
}

static void an_unavailable_jail_is_refused(void **state)
{
    static const struct {
        enum choke_jail wanted;
        struct ck_jail_needs needs;
    } cases[] = {
        {CHOKE_JAIL_NATIVE, {0}},
        {CHOKE_JAIL_BWRAP, {0}},
        {CHOKE_JAIL_AUTO, {.whole = true}},
        {CHOKE_JAIL_NONE, {.whole = true}},
        {CHOKE_JAIL_AUTO, {.form = {.egress = true}}},
        {CHOKE_JAIL_NATIVE, {.form = {.egress = true}}},
        {CHOKE_JAIL_BWRAP, {.form = {.egress = true}}},
        {CHOKE_JAIL_NONE, {.form = {.egress = true}}},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct ck_jail_choice choice;
        struct choke_error error = {0};
        assert_true(ck_jail_choose(&(struct ck_jails){0}, cases[i].wanted, cases[i].needs, &choice, &error) < 0);
        assert_int_equal(error.outcome, CHOKE_JAIL_UNAVAILABLE);
    }
}

/* ---- the two forms of the native jail ---- */

struct machine {
    bool native, bwrap, native_no_userns;
    unsigned asked, asked_egress;
    int failed; /* for native */
};

static void prove(void *data, const struct ck_jail *jail, struct ck_jail_form form, struct ck_jail_state *ret_state)
{
    struct machine *machine = data;
    machine->asked++;
    machine->asked_egress += form.egress ? 1 : 0;
    ret_state->failed = jail == &ck_jail_native ? machine->failed : 0;
    ret_state->holds = jail == &ck_jail_native  ? machine->native
                       : jail == &ck_jail_bwrap ? machine->bwrap
                                                : machine->native_no_userns;
    ret_state->reason = "not_permitted";
    (void)snprintf(ret_state->message, sizeof(ret_state->message), "no %s", jail->name);
}

static int choose(struct machine *machine, enum choke_jail wanted, bool required, struct ck_jail_choice *ret_choice,
                  struct choke_error *error)
{
    struct ck_jails jails = {.prove = prove, .data = machine};
    *error = (struct choke_error){0};
    return ck_jail_choose(&jails, wanted, (struct ck_jail_needs){.whole = required}, ret_choice, error);
}

static void the_most_that_holds_is_chosen(void **state)
{
    static const struct {
        bool native, bwrap, native_no_userns;
        enum choke_jail wanted;
        const struct ck_jail *jail; /* NULL: a refusal */
        bool skipped;
    } cases[] = {
        {true, true, true, CHOKE_JAIL_AUTO, &ck_jail_native, false},
        {true, true, true, CHOKE_JAIL_NATIVE, &ck_jail_native, false},
        {false, true, true, CHOKE_JAIL_AUTO, &ck_jail_bwrap, true},
        {false, true, true, CHOKE_JAIL_NATIVE, &ck_jail_native_no_userns, true},
        {false, false, true, CHOKE_JAIL_AUTO, &ck_jail_native_no_userns, true},
        {false, false, true, CHOKE_JAIL_BWRAP, NULL, false},
        {false, true, false, CHOKE_JAIL_NATIVE, NULL, false},
        {false, false, false, CHOKE_JAIL_AUTO, &ck_jail_none, true},
        {false, false, true, CHOKE_JAIL_NONE, &ck_jail_none, false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct machine machine = {
            .native = cases[i].native, .bwrap = cases[i].bwrap, .native_no_userns = cases[i].native_no_userns};
        struct ck_jail_choice choice;
        struct choke_error error;
        int r = choose(&machine, cases[i].wanted, false, &choice, &error);
        assert_int_equal(r < 0, !cases[i].jail);
        if (!cases[i].jail) {
            assert_int_equal(error.outcome, CHOKE_JAIL_UNAVAILABLE);
            continue;
        }
        assert_ptr_equal(choice.jail, cases[i].jail);
        assert_int_equal(choice.skip_count > 0, cases[i].skipped);
        assert_true(choice.skip_count == 0 || strcmp(choice.skips[0].reason, "not_permitted") == 0);
    }
}

/* A jail without a network namespace cannot bound egress, and a jail that holds without egress is
 * tried again with it. */
static void egress_is_bounded_by_a_whole_jail_or_refused(void **state)
{
    static const struct {
        bool native, bwrap;
        enum choke_jail wanted;
        const struct ck_jail *jail; /* NULL: a refusal */
        unsigned asked;
    } cases[] = {
        {true, true, CHOKE_JAIL_AUTO, &ck_jail_native, 1}, {false, true, CHOKE_JAIL_AUTO, &ck_jail_bwrap, 2},
        {false, false, CHOKE_JAIL_AUTO, NULL, 2},          {true, true, CHOKE_JAIL_NATIVE, &ck_jail_native, 1},
        {false, true, CHOKE_JAIL_NATIVE, NULL, 1},         {true, true, CHOKE_JAIL_BWRAP, &ck_jail_bwrap, 1},
        {true, false, CHOKE_JAIL_BWRAP, NULL, 1},          {true, true, CHOKE_JAIL_NONE, NULL, 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct machine machine = {.native = cases[i].native, .bwrap = cases[i].bwrap, .native_no_userns = true};
        struct ck_jails jails = {.prove = prove, .data = &machine};
        struct ck_jail_choice choice;
        struct choke_error error = {0};
        int r =
            ck_jail_choose(&jails, cases[i].wanted, (struct ck_jail_needs){.form = {.egress = true}}, &choice, &error);
        assert_int_equal(r < 0, !cases[i].jail);
        assert_int_equal(error.outcome, !cases[i].jail ? CHOKE_JAIL_UNAVAILABLE : CHOKE_NONE);
        assert_ptr_equal(choice.jail, cases[i].jail);
        assert_int_equal(machine.asked, cases[i].asked);
        assert_int_equal(machine.asked_egress, cases[i].asked);
    }
}

static void a_partial_jail_is_not_the_required_one(void **state)
{
    static const enum choke_jail wanted[] = {CHOKE_JAIL_AUTO, CHOKE_JAIL_NATIVE};
    (void)state;
    for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
        struct machine machine = {.native_no_userns = true};
        struct ck_jail_choice choice;
        struct choke_error error;
        assert_true(choose(&machine, wanted[i], true, &choice, &error) < 0);
        assert_int_equal(error.outcome, CHOKE_JAIL_UNAVAILABLE);
        assert_non_null(strstr(error.message, "namespaces is available: no native"));
        machine = (struct machine){.native = true};
        assert_int_equal(choose(&machine, wanted[i], true, &choice, &error), 0);
        assert_int_equal(machine.asked, 1);
    }
}

static void a_failed_trial_does_not_lower_the_demand(void **state)
{
    static const enum choke_jail wanted[] = {CHOKE_JAIL_AUTO, CHOKE_JAIL_NATIVE};
    (void)state;
    for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
        struct machine machine = {.bwrap = true, .native_no_userns = true, .failed = ENOMEM};
        struct ck_jails jails = {.prove = prove, .data = &machine};
        struct ck_jail_choice choice;
        struct choke_error error = {0};
        assert_int_equal(ck_jail_choose(&jails, wanted[i], plain, &choice, &error), -ENOMEM);
        assert_int_equal(error.outcome, CHOKE_SPAWN_FAILED);
        machine = (struct machine){.native = true};
        assert_int_equal(ck_jail_choose(&jails, wanted[i], plain, &choice, &error), 0);
        assert_ptr_equal(choice.jail, &ck_jail_native);
    }
}

static void both_forms_have_one_name(void **state)
{
    (void)state;
    assert_string_equal(ck_jail_native_no_userns.name, "native");
    assert_ptr_equal(ck_jail_find("native"), &ck_jail_native);
}

static void the_reason_depends_on_the_system(void **state)
{
    (void)state;
    assert_string_equal(ck_jail_reason(true, "not_permitted"), "not_permitted");
    assert_string_equal(ck_jail_reason(true, "not_installed"), "not_installed");
    assert_string_equal(ck_jail_reason(false, "not_permitted"), "not_linux");
    assert_string_equal(ck_jail_reason(false, "not_installed"), "not_linux");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(auto_falls_back_to_none_and_says_what_it_skipped),
        cmocka_unit_test(none_skips_nothing),
        cmocka_unit_test(an_unavailable_jail_is_refused),
        cmocka_unit_test(the_most_that_holds_is_chosen),
        cmocka_unit_test(egress_is_bounded_by_a_whole_jail_or_refused),
        cmocka_unit_test(a_partial_jail_is_not_the_required_one),
        cmocka_unit_test(a_failed_trial_does_not_lower_the_demand),
        cmocka_unit_test(both_forms_have_one_name),
        cmocka_unit_test(the_reason_depends_on_the_system),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
