/* test_args_shape.c - paths for the plan, commands in commands, sizes and messages of the argument
 * reader. */
#include "args_policy.h"

#define FLAT "tools.flat.args."

/* ---- what the plan must look at ---------------------------------------------------------- */

static void paths_are_listed_for_the_plan(void **state)
{
    (void)state;
    struct ck_arena arena = {0};
    struct ck_parsed_args parsed;
    read_args(A("flat", "--in=a", "x", "--in", "b", "-Ic", "-I=d", "--have=e", "--mount=./f:/work:ro", "-fIg"), &arena,
              &parsed);
    assert_false(parsed.refused);
    /* getopt reads the "=" of a short option's "=d" as part of the value, other parsers do not. */
    static const struct {
        const char *path;
        size_t argument;
        enum ck_type type;
    } wanted[] = {
        {"a", 1, CK_TYPE_INSIDE}, {"b", 4, CK_TYPE_INSIDE},   {"c", 5, CK_TYPE_INSIDE},  {"=d", 6, CK_TYPE_INSIDE},
        {"d", 6, CK_TYPE_INSIDE}, {"e", 7, CK_TYPE_EXISTING}, {"./f", 8, CK_TYPE_MOUNT}, {"g", 9, CK_TYPE_INSIDE},
    };
    assert_int_equal(parsed.paths_count, COUNT(wanted));
    for (size_t i = 0; i < COUNT(wanted); i++) {
        const struct ck_path_use *use = &parsed.paths[i];
        assert_int_equal(use->length, strlen(wanted[i].path));
        assert_memory_equal(use->path, wanted[i].path, use->length);
        assert_int_equal(use->argument, wanted[i].argument);
        assert_int_equal(use->type, wanted[i].type);
        assert_false(use->operand);
        assert_string_equal(use->tool->name, "flat");
    }
    ck_arena_done(&arena);
}

static void assert_operand_paths(const char *const *argv, const char *const *paths)
{
    struct ck_arena arena = {0};
    struct ck_parsed_args parsed;
    read_args(argv, &arena, &parsed);
    if (parsed.refused)
        fail_msg("refused: %s", parsed.message);
    size_t count = 0;
    for (; paths[count]; count++) {
        assert_true(count < parsed.paths_count);
        assert_string_equal(parsed.paths[count].path, paths[count]);
        assert_true(parsed.paths[count].operand);
    }
    assert_int_equal(parsed.paths_count, count);
    ck_arena_done(&arena);
}

static void the_first_operand_is_a_path_only_where_an_option_says_so(void **state)
{
    (void)state;
    assert_operand_paths(A("search", "p", "a", "b"), A("a", "b"));
    assert_operand_paths(A("search", "-e", "p", "a", "b"), A("b", "a")); /* the first is judged last */
    assert_operand_paths(A("search", "a", "b", "-e", "p"), A("b", "a"));
    assert_operand_paths(A("search", "a", "--", "b", "-e"), A("b", "-e"));
    assert_operand_paths(A("search", "--", "p", "-e"), A("-e"));
    assert_operand_paths(A("search", "p"), ((const char *const[]){NULL}));
}

static void many_paths_are_all_listed(void **state)
{
    (void)state;
    enum { MANY = 1000 };
    const char *argv[MANY + 2] = {"paths"};
    for (size_t i = 1; i <= MANY; i++)
        argv[i] = "src";
    struct ck_arena arena = {0};
    struct ck_parsed_args parsed;
    read_args(argv, &arena, &parsed);
    assert_int_equal(parsed.paths_count, MANY);
    for (size_t i = 0; i < MANY; i++)
        assert_int_equal(parsed.paths[i].argument, i + 1);
    ck_arena_done(&arena);
}

/* ---- commands in commands ---------------------------------------------------------------- */

static void a_nested_command_is_read_by_its_own_entry(void **state)
{
    (void)state;
    struct ck_arena arena = {0};
    struct ck_parsed_args parsed;
    read_args(A("trace", "-f", "-e", "open", "tree", "--no-pager", "log", "-p", "src"), &arena, &parsed);
    if (parsed.refused)
        fail_msg("refused: %s", parsed.message);
    const char *const *out = A("trace", "-o", "log", "-f", "-e", "open", "tree", "-c", "core.x=y", "--no-pager", "log",
                               "--no-ext-diff", "--no-textconv", "-p", "src");
    for (size_t i = 0; i <= parsed.argc; i++)
        if (!parsed.argv[i] || !out[i])
            assert_ptr_equal(parsed.argv[i], out[i]);
        else
            assert_string_equal(parsed.argv[i], out[i]);
    assert_int_equal(parsed.nested_count, 1);
    assert_string_equal(parsed.nested[0].tool->name, "tree");
    assert_int_equal(parsed.nested[0].position, 6);
    assert_int_equal(parsed.paths_count, 1);
    assert_int_equal(parsed.paths[0].argument, 8);
    assert_string_equal(parsed.paths[0].tool->name, "tree");
    ck_arena_done(&arena);
}

static void what_the_outer_command_saw_does_not_count_for_the_inner(void **state)
{
    (void)state;
    struct ck_arena arena = {0};
    struct ck_parsed_args parsed;
    /* "p" is the pattern of the inner tool, although the outer one has had arguments. */
    read_args(A("wrap", "-w", "--", "search", "p://x", "a"), &arena, &parsed);
    if (parsed.refused)
        fail_msg("refused: %s", parsed.message);
    assert_int_equal(parsed.paths_count, 1);
    read_args(A("wrap", "must", "--network=none"), &arena, &parsed);
    assert_true(parsed.refused);
    assert_string_equal(parsed.rule, "tools.must.args.require");
    assert_int_equal(parsed.line, line_of("name: must\n"));
    /* An option that the outer command requires does not count for the inner one. */
    read_args(A("strict", "-w", "prefix"), &arena, &parsed);
    assert_true(parsed.refused);
    assert_string_equal(parsed.rule, "tools.prefix.args.require");
    ck_arena_done(&arena);
}

static void an_inner_vector_may_be_exact(void **state)
{
    (void)state;
    struct ck_arena arena = {0};
    struct ck_parsed_args parsed;
    read_args(A("wrap", "fixed", "--version"), &arena, &parsed);
    assert_false(parsed.refused);
    assert_int_equal(parsed.argc, 3);
    read_args(A("wrap", "open", "--anything", "-x"), &arena, &parsed);
    assert_false(parsed.refused);
    ck_arena_done(&arena);
}

static void commands_nest_four_deep_and_no_deeper(void **state)
{
    (void)state;
    struct ck_arena arena = {0};
    struct ck_parsed_args parsed;
    read_args(A("wrap", "wrap", "-w", "trace", "-f", "wrap", "open", "x"), &arena, &parsed);
    if (parsed.refused)
        fail_msg("refused: %s", parsed.message);
    static const struct {
        const char *tool;
        size_t position;
    } wanted[] = {{"wrap", 1}, {"trace", 3}, {"wrap", 7}, {"open", 8}};
    assert_int_equal(parsed.nested_count, COUNT(wanted));
    for (size_t i = 0; i < COUNT(wanted); i++) {
        assert_string_equal(parsed.nested[i].tool->name, wanted[i].tool);
        assert_int_equal(parsed.nested[i].position, wanted[i].position);
        assert_string_equal(parsed.argv[wanted[i].position], wanted[i].tool);
    }
    read_args(A("wrap", "wrap", "wrap", "wrap", "wrap", "open"), &arena, &parsed);
    assert_true(parsed.refused);
    assert_string_equal(parsed.rule, "tools.wrap.args.command");
    assert_non_null(strstr(parsed.message, "4 deep"));
    ck_arena_done(&arena);
}

/* ---- sizes ------------------------------------------------------------------------------- */

static void a_hundred_thousand_arguments_are_read(void **state)
{
    (void)state;
    enum { MANY = 100000 };
    static const char *argv[MANY + 2] = {"flat"};
    static const char *const turns[] = {"-fg", "x", "--value=y", "--flag", "-n5"};
    for (size_t i = 1; i <= MANY; i++)
        argv[i] = turns[i % COUNT(turns)];
    struct ck_arena arena = {0};
    struct ck_parsed_args parsed;
    read_args(argv, &arena, &parsed);
    assert_false(parsed.refused);
    assert_int_equal(parsed.argc, MANY + 1);
    for (size_t i = 0; i <= MANY; i++)
        assert_ptr_equal(parsed.argv[i], argv[i]);
    assert_null(parsed.argv[MANY + 1]);
    argv[MANY] = "--pre";
    read_args(argv, &arena, &parsed);
    assert_true(parsed.refused);
    assert_string_equal(parsed.rule, FLAT "deny");
    assert_non_null(strstr(parsed.message, "argument 100000"));
    ck_arena_done(&arena);
}

/* The longest string that execve accepts, as each kind of argument. */
static void the_longest_strings_are_read(void **state)
{
    (void)state;
    enum { LONG = 131071 };
    static const char *const heads[] = {"", "--value=", "-v", "--", "-", "--flag=", "-f", "--name="};
    static const bool good[] = {true, true, true, false, false, false, false, true};
    char *text = test_malloc(LONG + 1);
    for (size_t i = 0; i < COUNT(heads); i++) {
        memset(text, 'a', LONG);
        text[LONG] = '\0';
        memcpy(text, heads[i], strlen(heads[i]));
        struct ck_arena arena = {0};
        struct ck_parsed_args parsed;
        read_args(A("flat", text), &arena, &parsed);
        if (parsed.refused == good[i])
            fail_msg("'%s...': %s", heads[i], parsed.message);
        if (parsed.refused)
            assert_true(strlen(parsed.message) < CHOKE_MESSAGE_MAX - 1 && strlen(parsed.message) < 600);
        ck_arena_done(&arena);
    }
    test_free(text);
}

static void a_long_bundle_is_read_to_its_end(void **state)
{
    (void)state;
    enum { LONG = 131071 };
    char *text = test_malloc(LONG + 1);
    memset(text, 'f', LONG);
    text[0] = '-';
    text[LONG] = '\0';
    struct ck_arena arena = {0};
    struct ck_parsed_args parsed;
    read_args(A("flat", text), &arena, &parsed);
    assert_false(parsed.refused);
    text[LONG - 1] = 'z';
    read_args(A("flat", text), &arena, &parsed);
    assert_true(parsed.refused);
    assert_string_equal(parsed.rule, FLAT "deny");
    ck_arena_done(&arena);
    test_free(text);
}

static void too_little_memory_is_no_refusal(void **state)
{
    (void)state;
    struct ck_parsed_args parsed;
    size_t failures = 0;
    for (size_t max = 1; max < 16384; max += 64) {
        struct ck_arena arena = {.max_bytes = max};
        const struct ck_tool *tool = ck_policy_find(policy, "paths");
        int r =
            ck_args_parse(policy, tool, A("paths", "a", "b", "c", "d", "e", "f", "g", "h", "i", "j"), &arena, &parsed);
        assert_true(r == 0 || r == -ENOMEM);
        failures += r != 0;
        assert_false(parsed.refused);
        ck_arena_done(&arena);
    }
    assert_true(failures > 0);
}

/* ---- words ------------------------------------------------------------------------------- */

static void a_refusal_names_argument_rule_and_line(void **state)
{
    (void)state;
    struct ck_arena arena = {0};
    struct ck_parsed_args parsed;
    read_args(A("tree", "--no-pager", "log", "-p", "--ext-diff"), &arena, &parsed);
    assert_true(parsed.refused);
    char message[64];
    (void)snprintf(message, sizeof(message), "line %u of p.yaml", line_of("name: log"));
    if (!strstr(parsed.message, "argument 4 '--ext-diff'"))
        fail_msg("%s", parsed.message);
    assert_non_null(strstr(parsed.message, "'tree log'"));
    assert_non_null(strstr(parsed.message, message));
    ck_arena_done(&arena);
}

static void untrusted_bytes_are_escaped(void **state)
{
    (void)state;
    static const char *const bad[] = {"--x\x1b[2J'\n", "-\xff", "-f\x1b", "--num=\x1b", "--value"};
    for (size_t i = 0; i < COUNT(bad); i++) {
        struct ck_arena arena = {0};
        struct ck_parsed_args parsed;
        read_args(A("flat", bad[i], "-\x07"), &arena, &parsed);
        assert_true(parsed.refused);
        for (const char *at = parsed.message; *at != '\0'; at++)
            assert_in_range(*at, 0x20, 0x7e);
        ck_arena_done(&arena);
    }
}

/* Built here so that no text in this file looks like a credential. */
#define TOKEN_BODY "a1B2c3D4e5F6g7H8i9J0kLmNoPqRsTuVwXyZ"
#define TOKEN \
    "gh" \
    "p_" TOKEN_BODY

static void a_credential_is_not_repeated(void **state)
{
    (void)state;
    static const char *const arguments[][2] = {
        {"closed", TOKEN}, {"closed", "--x=" TOKEN}, {"flat", "--num=" TOKEN},
        {"tree", TOKEN},   {"trace", TOKEN},         {"flat", "--" TOKEN},
    };
    for (size_t i = 0; i < COUNT(arguments); i++) {
        struct ck_arena arena = {0};
        struct ck_parsed_args parsed;
        read_args(A(arguments[i][0], arguments[i][1]), &arena, &parsed);
        assert_true(parsed.refused);
        if (strstr(parsed.message, TOKEN_BODY))
            fail_msg("%s", parsed.message);
        ck_arena_done(&arena);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(paths_are_listed_for_the_plan),
        cmocka_unit_test(the_first_operand_is_a_path_only_where_an_option_says_so),
        cmocka_unit_test(many_paths_are_all_listed),
        cmocka_unit_test(a_nested_command_is_read_by_its_own_entry),
        cmocka_unit_test(what_the_outer_command_saw_does_not_count_for_the_inner),
        cmocka_unit_test(an_inner_vector_may_be_exact),
        cmocka_unit_test(commands_nest_four_deep_and_no_deeper),
        cmocka_unit_test(a_hundred_thousand_arguments_are_read),
        cmocka_unit_test(the_longest_strings_are_read),
        cmocka_unit_test(a_long_bundle_is_read_to_its_end),
        cmocka_unit_test(too_little_memory_is_no_refusal),
        cmocka_unit_test(a_refusal_names_argument_rule_and_line),
        cmocka_unit_test(untrusted_bytes_are_escaped),
        cmocka_unit_test(a_credential_is_not_repeated),
    };
    return cmocka_run_group_tests_name("args_shape", tests, load_policy, free_policy);
}
