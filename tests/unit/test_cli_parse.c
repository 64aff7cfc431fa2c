/* test_cli_parse.c - options are anywhere before "--", operands are counted, and a failure is
 * reported in the form that the caller wants. */
#include "cli/parse.h"

#include "cli/review.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define HELP 10
#define USAGE 20
#define USAGE_JSON 21

struct given {
    bool json;
    bool help;
    const char *word;
};

static const struct ck_option options[] = {
    {"--json", NULL, "as JSON", CK_OPTION_FLAG, .offset = offsetof(struct given, json)},
    {"--help", NULL, "this help", CK_OPTION_FLAG, .offset = offsetof(struct given, help)},
    {"--word", "WORD", "a word", CK_OPTION_STRING, .offset = offsetof(struct given, word)},
    {.name = NULL},
};

static const struct ck_command command = {.name = "try", .operands = "A [B]", .options = options};

/* Replaces the functions of the command, which print. */
static char message[CHOKE_MESSAGE_MAX];

int ck_cmd_help_show(const struct ck_command *shown)
{
    assert_ptr_equal(shown, &command);
    return HELP;
}

int ck_review_usage(const struct ck_command *wrong, bool json, const struct choke_error *error)
{
    assert_ptr_equal(wrong, &command);
    assert_int_equal(error->outcome, CHOKE_INVALID);
    (void)snprintf(message, sizeof(message), "%s", error->message);
    return json ? USAGE_JSON : USAGE;
}

static const struct {
    const char *words[8];
    int status;
    const char *operands[4]; /* where the command goes on */
    const char *word;
} rows[] = {
    {{"a"}, -1, {"a"}, NULL},
    {{"a", "b"}, -1, {"a", "b"}, NULL},
    {{"--word", "w", "a"}, -1, {"a"}, "w"},
    {{"a", "--word=w", "b"}, -1, {"a", "b"}, "w"},
    {{"a", "--json", "b", "--word", "w"}, -1, {"a", "b"}, "w"},
    {{"--", "--json"}, -1, {"--json"}, NULL},
    {{"a", "--", "--word=w"}, -1, {"a", "--word=w"}, NULL},
    {{"-"}, -1, {"-"}, NULL},
    {{"--help"}, HELP, {NULL}, NULL},
    {{"a", "b", "c", "--help"}, HELP, {NULL}, NULL},
    {{NULL}, USAGE, {NULL}, NULL},
    {{"--json"}, USAGE_JSON, {NULL}, NULL},
    {{"a", "b", "c"}, USAGE, {NULL}, NULL},
    {{"a", "b", "c", "--json"}, USAGE_JSON, {NULL}, NULL},
    {{"a", "--frob"}, USAGE, {NULL}, NULL},
    {{"--frob", "--nicate", "--json", "a"}, USAGE_JSON, {NULL}, NULL},
};

static void arguments_become_options_and_operands(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct given given = {0};
        struct ck_string_list operands;
        const struct ck_parse parse = {&command, &given, &given.help, &given.json, 1, 2};
        size_t count = 0;
        assert_int_equal(ck_parse_words(&parse, (char *const *)(uintptr_t)rows[i].words, &operands), rows[i].status);
        for (; rows[i].status < 0 && rows[i].operands[count]; count++)
            assert_string_equal(operands.items[count], rows[i].operands[count]);
        assert_true(rows[i].status >= 0 || operands.count == count);
        assert_true(!rows[i].word || (given.word && strcmp(given.word, rows[i].word) == 0));
        ck_options_free_words(&operands);
        assert_null(operands.items);
    }
}

static void the_count_is_reported(void **state)
{
    (void)state;
    struct given given = {0};
    struct ck_string_list operands;
    char *const words[] = {(char[]){"a"}, (char[]){"b"}, (char[]){"c"}, NULL};
    struct ck_parse parse = {&command, &given, &given.help, .least = 1, .most = 2};
    assert_int_equal(ck_parse_words(&parse, words, &operands), USAGE);
    assert_string_equal(message, "'try' takes A [B], but got 3 arguments");
    ck_options_free_words(&operands);
    assert_int_equal(ck_parse_wrong_count(&parse, 1), USAGE);
    assert_string_equal(message, "'try' takes A [B], but got 1 argument");
    parse.most = CK_PARSE_ANY;
    assert_int_equal(ck_parse_words(&parse, words, &operands), -1);
    assert_int_equal(operands.count, 3);
    ck_options_free_words(&operands);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arguments_become_options_and_operands),
        cmocka_unit_test(the_count_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
