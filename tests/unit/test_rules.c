/* test_rules.c - the notation of options, and rules that contradict themselves: refused with line
 * and column. */
#include "policy/rules.h"

#include "policy/load.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "policy_parse.h"

#define PATTERNS_MAX 4

/* ---- the notation ------------------------------------------------------------------------ */

struct notation {
    const char *text;
    const char *name;
    enum ck_form form;
    struct ck_pattern patterns[PATTERNS_MAX]; /* ends with a NULL text */
};

static const struct notation notations[] = {
    {"--x", "--x", CK_FORM_FLAG, {{0}}},
    {"-x", "-x", CK_FORM_FLAG, {{0}}},
    {"-7", "-7", CK_FORM_FLAG, {{0}}},
    {"--max-count", "--max-count", CK_FORM_FLAG, {{0}}},
    {"--a.b_c", "--a.b_c", CK_FORM_FLAG, {{0}}},
    {"-json", "-json", CK_FORM_FLAG, {{0}}},
    {"--x=", "--x", CK_FORM_VALUE, {{"", CK_TYPE_ANY}}},
    {"-x=", "-x", CK_FORM_VALUE, {{"", CK_TYPE_ANY}}},
    {"--x=<any>", "--x", CK_FORM_VALUE, {{"", CK_TYPE_ANY}}},
    {"--x=<inside>", "--x", CK_FORM_VALUE, {{"", CK_TYPE_INSIDE}}},
    {"--x=<existing>", "--x", CK_FORM_VALUE, {{"", CK_TYPE_EXISTING}}},
    {"--x=<mount>", "--x", CK_FORM_VALUE, {{"", CK_TYPE_MOUNT}}},
    {"--x=<number>", "--x", CK_FORM_VALUE, {{"", CK_TYPE_NUMBER}}},
    {"--x=<name>", "--x", CK_FORM_VALUE, {{"", CK_TYPE_NAME}}},
    {"--x=none", "--x", CK_FORM_VALUE, {{"none", CK_TYPE_NONE}}},
    {"--x=a|b|trace=<name>",
     "--x",
     CK_FORM_VALUE,
     {{"a", CK_TYPE_NONE}, {"b", CK_TYPE_NONE}, {"trace=", CK_TYPE_NAME}}},
    {"--x=<number>|all", "--x", CK_FORM_VALUE, {{"", CK_TYPE_NUMBER}, {"all", CK_TYPE_NONE}}},
    {"--x==", "--x", CK_FORM_VALUE, {{"=", CK_TYPE_NONE}}},
    {"--x[=]", "--x", CK_FORM_OPTIONAL, {{"", CK_TYPE_ANY}}},
    {"-x[=]", "-x", CK_FORM_OPTIONAL, {{"", CK_TYPE_ANY}}},
    {"--x[=<number>]", "--x", CK_FORM_OPTIONAL, {{"", CK_TYPE_NUMBER}}},
    {"--x[=a|b]", "--x", CK_FORM_OPTIONAL, {{"a", CK_TYPE_NONE}, {"b", CK_TYPE_NONE}}},
    {"--x <any>", "--x", CK_FORM_ARGUMENTS, {{"", CK_TYPE_ANY}}},
    {"--x <any> <any>", "--x", CK_FORM_ARGUMENTS, {{"", CK_TYPE_ANY}, {"", CK_TYPE_ANY}}},
    {"-x <name> <number> <inside>",
     "-x",
     CK_FORM_ARGUMENTS,
     {{"", CK_TYPE_NAME}, {"", CK_TYPE_NUMBER}, {"", CK_TYPE_INSIDE}}},
    {"-<number>", "-", CK_FORM_NUMBER, {{0}}},
};

static void every_form_is_taken_apart(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(notations); i++) {
        const struct notation *row = &notations[i];
        struct ck_arena arena = {0};
        struct ck_arg_option option = {0};
        const char *why = NULL;
        if (ck_notation_parse(&arena, row->text, &option, &why) != 0)
            fail_msg("'%s' is refused: %s", row->text, why);
        assert_string_equal(option.text, row->text);
        assert_string_equal(option.name, row->name);
        assert_int_equal(option.name_length, strlen(row->name));
        assert_int_equal(option.form, row->form);
        uint32_t count = 0;
        while (count < PATTERNS_MAX && row->patterns[count].text)
            count++;
        assert_int_equal(option.patterns_count, count);
        for (uint32_t p = 0; p < count; p++) {
            assert_string_equal(option.patterns[p].text, row->patterns[p].text);
            assert_int_equal(option.patterns[p].type, row->patterns[p].type);
        }
        ck_arena_done(&arena);
    }
}

/* A text that is not understood to its last byte is not an option. */
static const char *const malformed[] = {
    "",
    "x",
    "x=",
    "-",
    "--",
    "---x",
    "-=",
    "--=",
    "--=x",
    "-.x",
    "--_x",
    "--x y",
    "--x ",
    " --x",
    "--x  <any>",
    "--x <any> ",
    "--x <any>  <any>",
    "--x <foo>",
    "--x any",
    "--x <any>y",
    "--x <any>=",
    "--x <any>|<any>",
    "--x a|b",
    "--x[",
    "--x[=",
    "--x[=a",
    "--x[a]",
    "--x[=a]]",
    "--x[=a]b",
    "--x[]",
    "--x]",
    "--x[=|a]",
    "--x[=a|]",
    "--x=<",
    "--x=<>",
    "--x=<any",
    "--x=any>",
    "--x=<none>",
    "--x=<Any>",
    "--x=<foo>",
    "--x=<any>b",
    "--x=<any><any>",
    "--x=a||b",
    "--x=|a",
    "--x=a|",
    "--x=|",
    "--x=[a]",
    "-<number",
    "-<any>",
    "--<number>",
    "-<number>x",
    "-<number>=",
    "--x,-y",
    "--x, -y",
    "-x/--long",
    "--x\n",
    "--x\t",
    "--x@y",
    "--\xc3\xa9",
    "\xe2\x80\x93x",
    "--x:<any>",
    "--x<any>",
    "@x",
    "--x\"",
    "--x=<any> <any>",
    "--x <any> a",
    "--x=a[",
    "--x=a]",
    "--x=<any)",
};

static void what_is_malformed_is_refused_with_a_reason(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(malformed); i++) {
        struct ck_arena arena = {0};
        struct ck_arg_option option = {0};
        const char *why = NULL;
        int r = ck_notation_parse(&arena, malformed[i], &option, &why);
        if (r != -EINVAL)
            fail_msg("'%s' gives %d and not %d", malformed[i], r, -EINVAL);
        assert_non_null(why);
        assert_string_not_equal(why, "");
        assert_null(option.name);
        ck_arena_done(&arena);
    }
}

static void too_little_memory_is_distinguished(void **state)
{
    (void)state;
    struct ck_arena arena = {.max_bytes = 1};
    struct ck_arg_option option;
    const char *why = NULL;
    assert_int_equal(ck_notation_parse(&arena, "--x=a|b", &option, &why), -ENOMEM);
    ck_arena_done(&arena);
}

static void types_have_names(void **state)
{
    (void)state;
    static const char *const names[] = {"none", "any", "inside", "existing", "mount", "number", "name"};
    for (size_t i = 0; i < COUNT(names); i++)
        assert_string_equal(ck_notation_type_name((enum ck_type)i), names[i]);
    assert_null(ck_notation_type_name((enum ck_type)COUNT(names)));
    assert_null(ck_notation_type_name((enum ck_type)1000));
}

/* ---- whole entries ----------------------------------------------------------------------- */

#define HEAD "version: 1\nsearch_path: [/usr/bin]\ntools:\n" ENTRY("rg")
#define ENTRY(name) "  - name: " name "\n    why: w\n    adr: '0001'\n    route: direct\n"

static struct ck_policy *must_parse_args(const char *args)
{
    char text[4096];
    (void)snprintf(text, sizeof(text), HEAD "%s", args);
    return must_parse(text);
}

struct refused {
    const char *name;
    const char *args;          /* '^' marks the reported position, and is not part of the text */
    const char *expected_text; /* in the message */
};

#define OPTIONS(list) "    args: {options: [" list "]}\n"

static const struct refused refusals[] = {
    {"malformed_option_is_blamed", OPTIONS("--x, ^'--y=<foo>'"), "'--y=<foo>'"},
    {"malformed_option_of_a_subcommand_is_blamed",
     "    args:\n      subcommands:\n        - name: log\n          options: [-a, ^b]\n", "'b' in subcommand 'log'"},
    {"malformed_option_of_a_set_is_blamed_where_it_stands",
     "    args:\n      sets:\n        - {name: s, options: [-a, ^--]}\n      options: ['@s']\n", "'--'"},
    {"set_that_nobody_uses", "    args:\n      sets:\n        - {name: ^s, options: [-a]}\n      options: [-b]\n",
     "'s' is not used"},
    {"option_that_stands_twice", "    args: {options: ^[--x, -y, --x=]}\n", "'--x' is listed twice"},
    {"option_of_a_set_that_stands_twice", "    args: {sets: [{name: s, options: [-a]}], options: ^[-a, '@s']}\n",
     "'-a' is listed twice"},
    {"set_that_is_named_twice", "    args: {sets: [{name: s, options: [-a]}], options: ^['@s', '@s']}\n", "twice"},
    {"unknown_set", OPTIONS("-a, ^'@other'"), "'@other'"},
    {"set_without_a_name", OPTIONS("^'@'"), "'@'"},
    {"set_defined_twice",
     "    args:\n      sets:\n        - {name: s, options: [-a]}\n        - {name: ^s, options: [-b]}\n"
     "      options: ['@s']\n",
     "'s' is defined twice"},
    {"set_with_a_bad_name", "    args: {sets: [{name: ^a b, options: [-a]}]}\n", "'a b'"},
    {"set_in_a_set",
     "    args: {sets: [{name: a, options: [-a]}, {name: b, options: [^'@a']}], options: ['@b', '@a']}\n", "'@a'"},
    {"denied_option_that_is_listed", "    args: {options: [-a, ^--pre=], deny: [--pre]}\n", "'--pre'"},
    {"denied_option_that_a_set_lists", "    args: {sets: [{name: s, options: [^-z]}], options: ['@s'], deny: [-z]}\n",
     "'-z'"},
    {"denied_option_that_a_subcommand_lists",
     "    args:\n      deny: [-c]\n      subcommands:\n        - {name: log, options: [^-c=]}\n", "'-c'"},
    {"option_that_the_subcommand_denies_itself",
     "    args:\n      subcommands:\n        - {name: log, options: [^--output=], deny: [--output]}\n", "'--output'"},
    {"deny_of_three_dashes", "    args: {deny: [^---]}\n", "'---'"},
    {"deny_of_one_dash", "    args: {deny: [^'-']}\n", "'-'"},
    {"deny_with_a_value", "    args: {deny: [^--pre=]}\n", "'--pre='"},
    {"deny_with_an_optional_value", "    args: {deny: [^'--pre[=]']}\n", "'--pre[=]'"},
    {"deny_without_a_dash", "    args: {deny: [-z, ^pre]}\n", "'pre'"},
    {"deny_of_a_dash", "    args: {deny: [^'-']}\n", "'-'"},
    {"deny_of_a_set", "    args: {sets: [{name: s, options: [-a]}], options: ['@s'], deny: [^'@s']}\n", "'@s'"},
    {"required_option_that_is_not_listed", "    args: {options: [-a], require: [^--x=y]}\n", "'--x=y'"},
    {"required_value_that_is_not_listed", "    args: {options: [--x=a|b], require: [^--x=c]}\n", "'--x=c'"},
    {"required_value_that_any_other_could_undo", "    args: {options: [--x=], require: [^--x=c]}\n", "'--x=c'"},
    {"required_value_that_a_typed_one_could_undo", "    args: {options: ['--x=c|<name>'], require: [^--x=c]}\n",
     "'--x=c'"},
    {"required_value_that_another_literal_could_undo", "    args: {options: [--x=c|d], require: [^--x=c]}\n",
     "'--x=c'"},
    {"required_value_that_a_longer_one_could_undo", "    args: {options: [--x=c|cc], require: [^--x=c]}\n", "'--x=c'"},
    {"required_value_that_a_longer_typed_one_could_undo", "    args: {options: ['--x=c<any>'], require: [^--x=c]}\n",
     "'--x=c'"},
    {"required_value_of_a_flag", "    args: {options: [--x], require: [^--x=c]}\n", "'--x=c'"},
    {"required_value_of_an_optional", "    args: {options: ['--x[=c]'], require: [^--x=c]}\n", "'--x=c'"},
    {"required_option_without_its_value", "    args: {options: [--x=c], require: [^--x]}\n", "'--x'"},
    {"required_words", "    args: {options: ['--x <any>'], require: [^--x]}\n", "'--x'"},
    {"required_option_of_the_subcommand_is_not_the_tools",
     "    args:\n      options: [--x=y]\n      subcommands:\n        - {name: log, require: [^--x=y]}\n", "'--x=y'"},
    {"required_option_in_another_spelling", "    args: {options: [--x=y], require: [^'--x y']}\n", "'--x y'"},
    {"first_none", "    args: {operands: any, first: ^none}\n", "'first'"},
    {"schemes_without_existing", "    args: {operands: inside, schemes: ^[dir]}\n", "'operands: existing'"},
    {"scheme_with_its_colon", "    args: {operands: existing, schemes: [^\"dir:\"]}\n", "is not a scheme"},
    {"first_unless_without_first", "    args: {options: [-e=], operands: any, first_unless: ^[-e]}\n", "'first'"},
    {"first_unless_that_is_not_listed", "    args: {options: [-e=], first: any, first_unless: [-e, ^--regexp]}\n",
     "'--regexp'"},
    {"first_unless_with_a_value", "    args: {options: [-e=], first: any, first_unless: [^-e=]}\n", "'-e='"},
    {"inject_with_a_line_break", "    args: {inject: [-c, ^\"a\\nb\"]}\n", "line break"},
    {"command_beside_subcommands", "    args: {command: ^after_options, subcommands: [{name: log}]}\n", "'command'"},
    {"operands_beside_subcommands", "    args: ^{operands: any, subcommands: [{name: log}]}\n", "'operands'"},
    {"operands_beside_a_command", "    args: ^{operands: any, command: after_options}\n", "'operands'"},
    {"first_beside_a_command", "    args: ^{first: any, command: after_options}\n", "'first'"},
    {"subcommand_twice", "    args:\n      subcommands:\n        - {name: log}\n        - {name: ^log}\n",
     "listed twice"},
    {"subcommand_that_is_an_option", "    args: {subcommands: [{name: ^--log}]}\n", "'--log'"},
    {"subcommand_with_two_blanks", "    args: {subcommands: [{name: ^'image  ls'}]}\n", "'image  ls'"},
    {"subcommand_with_a_blank_at_its_end", "    args: {subcommands: [{name: ^'image '}]}\n", "'image '"},
    {"subcommand_of_five_words", "    args: {subcommands: [{name: ^a b c d e}]}\n", "'a b c d e'"},
    {"subcommand_with_a_slash", "    args: {subcommands: [{name: ^../log}]}\n", "'../log'"},
    {"subcommand_without_a_name", "    args: {subcommands: [^{options: [-a]}]}\n", "'name'"},
    {"unknown_type_of_operands", "    args: {operands: ^file}\n", "'file'"},
    {"unknown_order", "    args: {order: ^strict}\n", "'strict'"},
    {"unknown_command", "    args: {command: ^before}\n", "'before'"},
    {"bundles_that_is_no_truth", "    args: {bundles: ^maybe}\n", "'maybe'"},
    {"bundles_in_a_subcommand", "    args: {subcommands: [{name: a, ^bundles: false}]}\n", "'bundles'"},
    {"sets_in_a_subcommand", "    args: {subcommands: [{name: a, ^sets: []}]}\n", "'sets'"},
    {"exact_in_a_subcommand", "    args: {subcommands: [{name: a, ^exact: [[x]]}]}\n", "'exact'"},
    {"exact_that_is_no_list_of_lists", "    args: {exact: [^--version]}\n", "list of lists"},
    {"exact_that_is_a_word", "    args: {exact: ^--version}\n", "list of lists"},
    {"exact_that_is_empty", "    args: {exact: ^[]}\n", "list of lists"},
    {"exact_with_a_mapping", "    args: {exact: [[^{a: b}]]}\n", ""},
    {"args_that_is_a_list", "    args: ^[-a]\n", "'args'"},
    {"args_that_is_a_word", "    args: ^any\n", "'args'"},
    {"options_that_is_a_word", "    args: {options: ^-a}\n", "'options'"},
    {"option_that_is_a_list", "    args: {options: [^[-a]]}\n", "'options'"},
    {"empty_option", "    args: {options: [^'']}\n", "'options'"},
    {"unknown_key", "    args: {^option: [-a]}\n", "'option'"},
    {"long_name_behind_one_dash", OPTIONS("^-json"), "bundle"},
};

/* The text without its '^', and the position of that. */
static void take_mark(const char *marked, char *text, size_t size, unsigned *ret_line, unsigned *ret_column)
{
    const char *mark = strchr(marked, '^');
    assert_non_null(mark);
    size_t length = (size_t)(mark - marked);
    assert_true(strlen(marked) < size);
    memcpy(text, marked, length);
    memcpy(text + length, mark + 1, strlen(mark));
    *ret_line = *ret_column = 1;
    for (size_t i = 0; i < length; i++) {
        *ret_line += text[i] == '\n';
        *ret_column = text[i] == '\n' ? 1 : *ret_column + 1;
    }
}

static void check_refusal(void **state)
{
    const struct refused *row = *state;
    char marked[4096];
    char text[4096];
    unsigned line = 0;
    unsigned column = 0;
    (void)snprintf(marked, sizeof(marked), HEAD "%s", row->args);
    take_mark(marked, text, sizeof(text), &line, &column);
    const struct choke_error error = must_refuse(text, strlen(text), line, column, row->expected_text);
    if (!strstr(error.message, "'rg'") && !strstr(error.message, "is not a ") && !strstr(error.message, "set 's' is "))
        fail_msg("does not name the tool: %s", error.message);
}

/* ---- what a compiled entry holds --------------------------------------------------------- */

static void sets_are_put_in_and_names_are_in_order(void **state)
{
    (void)state;
    struct ck_policy *policy =
        must_parse_args("    args: {sets: [{name: s, options: [-b=, --zoo]}], options: [--alpha, '@s', -a, --al]}\n");
    const struct ck_rules *rules = &policy->tools[0].args->rules;
    static const char *const names[] = {"--al", "--alpha", "--zoo", "-a", "-b"};
    assert_int_equal(rules->table_count, COUNT(names));
    for (size_t i = 0; i < COUNT(names); i++) {
        assert_string_equal(rules->table[i].name, names[i]);
        assert_ptr_equal(ck_rules_find(rules, names[i], strlen(names[i])), &rules->table[i]);
    }
    static const char *const others[] = {"", "-", "--", "--a", "--alp", "--alphabet", "--zo", "-c", "--Zoo", "~"};
    for (size_t i = 0; i < COUNT(others); i++)
        assert_null(ck_rules_find(rules, others[i], strlen(others[i])));
    ck_policy_free(policy);
}

static void nothing_is_found_in_an_empty_table(void **state)
{
    (void)state;
    assert_null(ck_rules_find(&(struct ck_rules){0}, "-a", 2));
}

static void every_key_arrives_where_it_belongs(void **state)
{
    (void)state;
    struct ck_policy *policy = must_parse_args("    args:\n"
                                               "      options: [-e=]\n"
                                               "      inject: [-c, x]\n"
                                               "      deny: [-z]\n"
                                               "      operands: existing\n"
                                               "      first: name\n"
                                               "      first_unless: [-e]\n"
                                               "      order: options_first\n"
                                               "      bundles: false\n"
                                               "      exact: [[a, b], []]\n");
    const struct ck_args *args = policy->tools[0].args;
    assert_true(args->no_bundles && args->rules.options_first && args->rules.has_first);
    assert_false(args->command || args->only_exact);
    assert_int_equal(args->rules.operands, CK_TYPE_EXISTING);
    assert_int_equal(args->rules.first, CK_TYPE_NAME);
    assert_int_equal(args->exact_count, 2);
    assert_int_equal(args->exact[0].count, 2);
    assert_string_equal(args->exact[0].items[1], "b");
    assert_int_equal(args->exact[1].count, 0);
    assert_string_equal(args->rules.inject.items[1], "x");
    assert_string_equal(args->rules.deny.items[0], "-z");
    ck_policy_free(policy);
}

static void no_key_means_the_strictest(void **state)
{
    (void)state;
    struct ck_policy *policy = must_parse_args("    args: {}\n" ENTRY("jq"));
    const struct ck_args *args = policy->tools[0].args;
    assert_non_null(args);
    assert_int_equal(args->rules.table_count, 0);
    assert_int_equal(args->rules.operands, CK_TYPE_NONE);
    assert_false(args->no_bundles || args->rules.options_first || args->rules.has_first || args->only_exact);
    assert_null(policy->tools[1].args);
    ck_policy_free(policy);
}

static void a_subcommand_knows_its_line(void **state)
{
    (void)state;
    struct ck_policy *policy =
        must_parse_args("    args:\n      subcommands:\n        - name: log\n          options: [-a]\n"
                        "        - name: image inspect\n");
    const struct ck_args *args = policy->tools[0].args;
    assert_int_equal(args->subcommands_count, 2);
    assert_int_equal(args->subcommands[0].line, 10);
    assert_int_equal(args->subcommands[1].line, 12);
    assert_true(args->rules.options_first); /* the subcommand is the first operand */
    ck_policy_free(policy);
}

static void only_exact_is_nothing_but_exact(void **state)
{
    (void)state;
    static const struct {
        const char *args;
        bool only;
    } rows[] = {
        {"    args: {exact: [[--version]]}\n", true},
        {"    args: {exact: [[--version]], deny: [-x]}\n", true},
        {"    args: {exact: [[--version]], options: [-x]}\n", false},
        {"    args: {exact: [[--version]], operands: any}\n", false},
        {"    args: {exact: [[--version]], first: any}\n", false},
        {"    args: {exact: [[--version]], command: after_options}\n", false},
        {"    args: {exact: [[--version]], subcommands: [{name: a}]}\n", false},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct ck_policy *policy = must_parse_args(rows[i].args);
        if (policy->tools[0].args->only_exact != rows[i].only)
            fail_msg("%s", rows[i].args);
        ck_policy_free(policy);
    }
}

static void a_long_name_after_one_dash_needs_bundles_false(void **state)
{
    (void)state;
    struct ck_policy *policy = must_parse_args("    args: {bundles: false, options: [-json, -e=]}\n");
    assert_non_null(ck_rules_find(&policy->tools[0].args->rules, "-json", 5));
    ck_policy_free(policy);
}

/* Generated lists: the text of count entries, each made from its number. */
static char *list_of(const char *before, const char *each, unsigned count, const char *after)
{
    size_t size = strlen(before) + strlen(after) + (size_t)count * 24 + 1;
    char *text = test_malloc(size);
    size_t at = (size_t)snprintf(text, size, "%s", before);
    for (unsigned i = 0; i < count; i++)
        at += (size_t)snprintf(text + at, size - at, "%s%s%u", i > 0 ? ", " : "", each, i);
    (void)snprintf(text + at, size - at, "%s", after);
    return text;
}

static int parse_status(char *text, struct choke_error *ret_error)
{
    struct ck_policy *policy = NULL;
    int r = ck_policy_parse("p.yaml", text, strlen(text), &policy, ret_error);
    ck_policy_free(policy);
    test_free(text);
    return r;
}

static void a_list_of_options_has_a_bound(void **state)
{
    (void)state;
    struct choke_error error = {0};
    assert_int_equal(parse_status(list_of(HEAD "    args: {options: [", "--o", 1024, "]}\n"), &error), 0);
    assert_int_equal(parse_status(list_of(HEAD "    args: {options: [", "--o", 1025, "]}\n"), &error), -EINVAL);
    assert_int_equal(error.line, 8);
    assert_non_null(strstr(error.message, "'options'"));
}

/* Five sets of 1,024 options are more than a table may have. */
static void a_table_made_of_sets_has_a_bound(void **state)
{
    (void)state;
    char *text = test_malloc(5 * 1024 * 24);
    size_t size = 5 * 1024 * 24;
    size_t at = (size_t)snprintf(text, size, HEAD "    args:\n      sets:\n");
    for (unsigned s = 0; s < 5; s++) {
        at += (size_t)snprintf(text + at, size - at, "        - {name: s%u, options: [", s);
        for (unsigned i = 0; i < 1000; i++)
            at += (size_t)snprintf(text + at, size - at, "%s--%u-%u", i > 0 ? ", " : "", s, i);
        at += (size_t)snprintf(text + at, size - at, "]}\n");
    }
    (void)snprintf(text + at, size - at, "      options: ['@s0', '@s1', '@s2', '@s3', '@s4']\n");
    struct choke_error error = {0};
    assert_int_equal(parse_status(text, &error), -EINVAL);
    assert_non_null(strstr(error.message, "more than 4096 options"));
}

static void subcommands_have_a_bound(void **state)
{
    (void)state;
    for (unsigned count = 256; count <= 257; count++) {
        size_t size = 16384;
        char *text = test_malloc(size);
        size_t at = (size_t)snprintf(text, size, HEAD "    args:\n      subcommands:\n");
        for (unsigned i = 0; i < count; i++)
            at += (size_t)snprintf(text + at, size - at, "        - {name: sub%u}\n", i);
        struct choke_error error = {0};
        assert_int_equal(parse_status(text, &error), count == 256 ? 0 : -EINVAL);
        if (count == 257)
            assert_non_null(strstr(error.message, "'subcommands'"));
    }
}

int main(void)
{
    static const struct CMUnitTest others[] = {
        cmocka_unit_test(every_form_is_taken_apart),
        cmocka_unit_test(what_is_malformed_is_refused_with_a_reason),
        cmocka_unit_test(too_little_memory_is_distinguished),
        cmocka_unit_test(types_have_names),
        cmocka_unit_test(sets_are_put_in_and_names_are_in_order),
        cmocka_unit_test(nothing_is_found_in_an_empty_table),
        cmocka_unit_test(every_key_arrives_where_it_belongs),
        cmocka_unit_test(no_key_means_the_strictest),
        cmocka_unit_test(a_subcommand_knows_its_line),
        cmocka_unit_test(only_exact_is_nothing_but_exact),
        cmocka_unit_test(a_long_name_after_one_dash_needs_bundles_false),
        cmocka_unit_test(a_list_of_options_has_a_bound),
        cmocka_unit_test(a_table_made_of_sets_has_a_bound),
        cmocka_unit_test(subcommands_have_a_bound),
    };
    static struct CMUnitTest tests[COUNT(refusals) + COUNT(others)];
    size_t at = 0;
    for (size_t i = 0; i < COUNT(refusals); i++)
        tests[at++] = (struct CMUnitTest){
            .name = refusals[i].name, .test_func = check_refusal, .initial_state = (void *)(uintptr_t)&refusals[i]};
    for (size_t i = 0; i < COUNT(others); i++)
        tests[at++] = others[i];
    return cmocka_run_group_tests_name("rules", tests, NULL, NULL);
}
