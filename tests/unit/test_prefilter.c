/* test_prefilter.c - a text passes if it has the words of a trigger, and code is never taken for a
 * string. */
#include "lint/prefilter.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static struct ck_prefilter *make(struct ck_arena *arena, const char *const *triggers, bool python)
{
    static const char *const lookups[] = {"getattr"};
    struct ck_prefilter *prefilter;
    struct choke_error error = {0};
    assert_int_equal(ck_prefilter_new(arena, &prefilter, &error), 0);
    for (; *triggers; triggers++)
        assert_int_equal(ck_prefilter_add(prefilter, arena, *triggers, &error), 0);
    if (python)
        assert_int_equal(ck_prefilter_read_python(prefilter, arena, lookups, 1, &error), 0);
    return prefilter;
}

static void check(const char *const *triggers, bool python, const char *text, bool expected)
{
    struct ck_arena arena = {0};
    const struct ck_prefilter *prefilter = make(&arena, triggers, python);
    if (ck_prefilter_may_match(prefilter, text, strlen(text)) != expected)
        fail_msg("'%s' is %s", text, expected ? "not passed" : "passed");
    ck_arena_done(&arena);
}

struct sample {
    const char *text;
    bool expected;
};

static void words_are_whole_and_all_of_one_trigger(void **state)
{
    static const char *const triggers[] = {"os system", "eval", NULL};
    static const struct sample samples[] = {
        {"os.system()", true},     {"system of os", true}, {"eval", true},        {"x=eval(1)", true},
        {"system", false},         {"os", false},          {"os systems", false}, {"evaluate", false},
        {"_eval", false},          {"eval2", false},       {"", false},           {"\303\251val eval\303\251", false},
        {"# eval in prose", true}, {"osystem", false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(samples) / sizeof(samples[0]); i++)
        check(triggers, false, samples[i].text, samples[i].expected);
}

static void a_pair_is_two_words_in_sequence(void **state)
{
    static const char *const triggers[] = {"getattr+os", NULL};
    static const struct sample samples[] = {
        {"getattr(os, x)", true}, {"getattr( os.path", true}, {"getattr(x, os)", false},
        {"os getattr", false},    {"getattr x os", false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(samples) / sizeof(samples[0]); i++)
        check(triggers, false, samples[i].text, samples[i].expected);
}

static void prose_of_python_does_not_count(void **state)
{
    static const char *const triggers[] = {"os system", NULL};
    static const struct sample samples[] = {
        {"import os # the system\n", false},
        {"import os\n'''the system'''\n", false},
        {"import os\nx = 'system'\n", false},
        {"import os\ngetattr(os, 'system')\n", true},
        {"import os\ngetattr(os, 'the system')\n", false},
        {"import os\nx = b'system is \\' down'\n", false},
        {"import os\nx = f'{os.system}'\n", true},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(samples) / sizeof(samples[0]); i++)
        check(triggers, true, samples[i].text, samples[i].expected);
}

/* Each is code that Python runs, after something that could be taken for the beginning of a string. */
static void code_is_never_taken_for_a_string(void **state)
{
    static const char *const triggers[] = {"os system", NULL};
    static const char *const texts[] = {
        "x = '\\''; os.system()",
        "x = \"it's\"; os.system()",
        "x = '''it's'''; os.system()",
        "# it's\nos.system()",
        "# it's\ros.system()",
        "x = r'\\\\'; os.system()",
        "x = 'a\\\nb'; os.system()",
        "x = 'a\\\r\nb'; os.system()",
        "x = f\"{'}' + '\"'}\"; os.system()",
        "x = f\"{'}'\"'\"}\"; os.system()",
        "x = f\"{d[\"'\"]}\"; os.system()",
        "x = f'''{\n'''a'''\n}'''\nos.system()",
        "x = rf'{x}'; os.system()",
        "x = f'{x}' 'a'; os.system()",
        "x = ''; y = \"\"; os.system()",
        "x = ''''''; os.system()",
        "x = 'never closed\nos.system()",
        "x = '''never closed\nos.system()",
        "x = f'a\\\nb'; os.system()",
    };
    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        check(triggers, true, texts[i], true);
}

static void a_star_allows_everything(void **state)
{
    static const char *const triggers[] = {"*", NULL};
    (void)state;
    check(triggers, false, "", true);
    check(triggers, true, "# nothing", true);
}

static void malformed_triggers_are_refused(void **state)
{
    static const char *const wrong[] = {"", " ", "a  b", "a.b", "a+", "+b", "a b ", "na\303\257ve"};
    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        struct ck_arena arena = {0};
        struct ck_prefilter *prefilter;
        struct choke_error error = {0};
        assert_int_equal(ck_prefilter_new(&arena, &prefilter, &error), 0);
        assert_true(ck_prefilter_add(prefilter, &arena, wrong[i], &error) < 0);
        assert_non_null(strstr(error.message, "trigger"));
        ck_arena_done(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_are_whole_and_all_of_one_trigger),
        cmocka_unit_test(a_pair_is_two_words_in_sequence),
        cmocka_unit_test(prose_of_python_does_not_count),
        cmocka_unit_test(code_is_never_taken_for_a_string),
        cmocka_unit_test(a_star_allows_everything),
        cmocka_unit_test(malformed_triggers_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
