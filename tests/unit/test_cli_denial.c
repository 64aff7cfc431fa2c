/* test_cli_denial.c - what a jail refused, as lines and as JSON. */
#include "cli/denial.h"

#include "front/result_json.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define CC1 "/usr/lib/gcc/x86_64-linux-gnu/12/cc1"

/* As the result has it. */
static json_t *denied_array(const struct choke_result *result)
{
    json_t *object = ck_result_json_make(result, json_null(), json_null());
    json_t *array = json_incref(json_object_get(object, "denied"));
    json_decref(object);
    return array;
}

static const struct choke_denial denials[] = {
    {"exec", CC1, "gcc", 13, "execs: [" CC1 "]"},
    {"exec", "/usr/bin/sudo", "make", 13, NULL},
    {"exec", "", "gcc", 13, NULL},
    {"exec", "/bin/sh", "make", 13, "execs: [sh]"},
    {"exec", "/bin/ls", "make", 13, NULL},
};

#define CC1_LINE "denied: gcc tried to execute " CC1 " (not in execs); add  execs: [" CC1 "]\n"
#define OFFER "denied: run with --why to see everything that was refused\n"
#define SUDO_LINE "denied: make tried to execute /usr/bin/sudo (not in execs); ask the owner of the policy\n"

static struct choke_result result_of(size_t count, uint64_t more)
{
    return (struct choke_result){
        .outcome = CHOKE_EXITED, .exit_code = 1, .denied = denials, .denied_count = count, .denied_more = more};
}

static void expect_text(const struct choke_result *result, bool why, const char *wanted)
{
    char *text = ck_denial_text(result, why);
    assert_non_null(text);
    assert_string_equal(text, wanted);
    free(text);
}

static void expect(const struct choke_result *result, const char *wanted)
{
    expect_text(result, false, wanted);
}

static void a_line_says_who_what_and_which_line_helps(void **state)
{
    (void)state;
    struct choke_result result = result_of(1, 0);
    expect(&result, CC1_LINE OFFER);
    result = result_of(2, 0);
    expect(&result, CC1_LINE SUDO_LINE OFFER);
}

static void a_name_that_could_not_be_read_is_said(void **state)
{
    (void)state;
    struct choke_result result = {.outcome = CHOKE_EXITED, .exit_code = 1, .denied = denials + 2, .denied_count = 1};
    expect(&result, "denied: gcc tried to execute a file whose name could not be read "
                    "(not in execs); ask the owner of the policy\n" OFFER);
}

static void there_are_at_most_three_lines(void **state)
{
    (void)state;
    struct choke_result result = result_of(5, 0);
    expect(&result, CC1_LINE SUDO_LINE "denied: 3 more; run with --why to see everything that was refused\n");
    result = result_of(3, 7);
    expect(&result, CC1_LINE SUDO_LINE "denied: 8 more; run with --why to see everything that was refused\n");
    result = result_of(1, 7);
    expect(&result, CC1_LINE "denied: 7 more; run with --why to see everything that was refused\n");
    result = result_of(0, 2);
    expect(&result, "denied: 2 more; run with --why to see everything that was refused\n");
}

static void a_tool_that_succeeded_needs_no_line(void **state)
{
    (void)state;
    struct choke_result result = result_of(2, 1);
    result.exit_code = 0;
    expect(&result, "");
    result.outcome = CHOKE_SIGNALED;
    result.exit_code = -1;
    result.denied = NULL;
    expect(&result, "");
}

static void a_caller_who_asks_gets_everything(void **state)
{
    (void)state;
    static const struct choke_denial kinds[] = {
        {"map", "/work/a.so", "python3", EPERM, NULL},
        {"open", "/home/a", "cat", ENOENT, NULL},
        {"open", "/work/a", "cat", EACCES, NULL},
        {"write", "/usr/a", "cp", EROFS, NULL},
        {"write", "/work/a", "cp", EACCES, NULL},
        {"connect", "IPv4 socket", "curl", EAFNOSUPPORT, NULL},
        {"connect", "192.0.2.1:80", "curl", ENETUNREACH, NULL},
    };
    struct choke_result result = {
        .outcome = CHOKE_EXITED, .denied = kinds, .denied_count = sizeof(kinds) / sizeof(kinds[0]), .denied_more = 2};
#define ASK "; ask the owner of the policy\n"
    expect_text(&result, true,
                "denied: python3 tried to map as code /work/a.so (not code in the jail)" ASK
                "denied: cat tried to open /home/a (not shown in the jail)" ASK
                "denied: cat tried to open /work/a (Permission denied)" ASK
                "denied: cp tried to write /usr/a (read-only in the jail)" ASK
                "denied: cp tried to write /work/a (Permission denied)" ASK
                "denied: curl tried to use the network: IPv4 socket (not in the jail)" ASK
                "denied: curl tried to connect to 192.0.2.1:80 (not by the proxy of --egress)" ASK
                "denied: 2 more, which are not listed\n");
    result.denied_count = result.denied_more = 0;
    expect_text(&result, true, "denied: nothing\n");
}

static void json_is_null_where_nobody_watched(void **state)
{
    (void)state;
    struct choke_result result = {0};
    json_t *array = denied_array(&result);
    assert_true(json_is_null(array));
    json_decref(array);
    result = result_of(0, 0);
    array = denied_array(&result);
    assert_int_equal(json_array_size(array), 0);
    json_decref(array);
}

static void json_has_every_member(void **state)
{
    (void)state;
    struct choke_result result = result_of(2, 0);
    json_t *array = denied_array(&result);
    char *text = json_dumps(array, JSON_COMPACT);
    assert_string_equal(text, "[{\"kind\":\"exec\",\"path\":\"" CC1 "\",\"by\":\"gcc\",\"errno\":13,"
                              "\"add\":\"execs: [" CC1 "]\"},{\"kind\":\"exec\",\"path\":\"/usr/bin/sudo\","
                              "\"by\":\"make\",\"errno\":13,\"add\":null}]");
    free(text);
    json_decref(array);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_says_who_what_and_which_line_helps),
        cmocka_unit_test(a_name_that_could_not_be_read_is_said),
        cmocka_unit_test(there_are_at_most_three_lines),
        cmocka_unit_test(a_tool_that_succeeded_needs_no_line),
        cmocka_unit_test(a_caller_who_asks_gets_everything),
        cmocka_unit_test(json_is_null_where_nobody_watched),
        cmocka_unit_test(json_has_every_member),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
