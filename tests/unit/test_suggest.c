/* test_suggest.c - what a refusal suggests: only what the policy allows, only if it is near. */
#include "base/arena.h"
#include "policy/suggest.h"

#include "args_policy.h"

static const struct {
    const char *const *argv;
    const char *suggestion; /* NULL: none */
} rows[] = {
    {A("flat", "--vaule=x"), "(did you mean '--value'?)"},
    {A("flat", "--flga"), "(did you mean '--flag'?)"},
    {A("flat", "-flag"), "(did you mean '--flag'?)"}, /* read as letters, of which '-l' is refused */
    {A("flat", "-wehn"), "(did you mean '--when'?)"},
    {A("flat", "--prr"), NULL}, /* --pre is denied, so it is never suggested */
    {A("flat", "--pre-glop"), NULL},
    {A("flat", "--pre"), NULL},
    {A("flat", "-x"), NULL},
    {A("flat", "--frobnicate"), NULL},
    {A("bare", "--flag"), NULL}, /* of another tool */
    {A("tree", "lgo"), "(did you mean 'log'?)"},
    {A("tree", "imgae", "inspect"), "(did you mean 'image inspect'?)"},
    {A("tree", "imag"), "(did you mean 'image'?)"},
    {A("tree", "push"), NULL},
    {A("tree", "-C", "x", "runn"), "(did you mean 'run'?)"},
    {A("tree", "log", "--stta"), "(did you mean '--stat'?)"},
    {A("tree", "log", "--lits"), NULL}, /* of another subcommand */
    {A("trace", "fxied"), "(did you mean 'fixed'?)"},
    {A("trace", "helpr"), NULL}, /* only a jail may call it */
};

static void near_names_are_suggested(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct ck_arena arena = {0};
        struct ck_parsed_args parsed;
        const struct ck_tool *tool = ck_policy_find(policy, rows[i].argv[0]);
        assert_non_null(tool);
        assert_int_equal(ck_args_parse(policy, tool, rows[i].argv, &arena, &parsed), 0);
        if (!parsed.refused)
            fail_msg("row %zu is allowed", i);
        const char *wanted = rows[i].suggestion ? rows[i].suggestion : "";
        if (!strstr(parsed.message, wanted) || !!strstr(parsed.message, "did you mean") != !!rows[i].suggestion)
            fail_msg("row %zu: wanted \"%s\", got \"%s\"", i, wanted, parsed.message);
        ck_arena_done(&arena);
    }
}

static void near_tools_are_suggested(void **state)
{
    (void)state;
    assert_string_equal(CK_SUGGEST_TOOL(policy, "serach"), " (did you mean 'search'?)");
    assert_string_equal(CK_SUGGEST_TOOL(policy, "helpr"), "");
    assert_string_equal(CK_SUGGEST_TOOL(policy, "bash"), "");
    assert_string_equal(CK_SUGGEST_TOOL(policy, ""), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(near_names_are_suggested),
        cmocka_unit_test(near_tools_are_suggested),
    };
    return cmocka_run_group_tests(tests, load_policy, free_policy);
}
