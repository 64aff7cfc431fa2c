/* test_yaml.c - a file into a struct by a table: what is filled, what is refused, and at which line
 * and column. */
#include "base/yaml.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define FILE_BYTES 65536
#define LIST_ENTRIES 3

struct part {
    struct ck_yaml_place place;
    const char *id;
    const char *const *texts;
    uint32_t texts_count;
};

struct pair {
    struct ck_yaml_place place;
    const char *name;
    int colour;
};

struct whole {
    const char *text, *name;
    bool flag;
    unsigned number, one;
    int colour, absent;
    const char *const *texts;
    const int *numbers;
    uint32_t numbers_count;
    struct part inner;
    struct part *parts;
    uint32_t parts_count;
    struct pair *pairs;
    uint32_t pairs_count;
};

static bool is_name(const char *text)
{
    return text[strspn(text, "abc")] == '\0';
}

static const struct ck_yaml_form name_form = {is_name, "made of a, b and c"};
static const char *const colours[] = {"red", "green", NULL};
static const char *const default_texts[] = {"default", NULL};

#define AT(type, member) .offset = offsetof(struct type, member)
#define COUNTED(type, member) AT(type, member), .count_offset = offsetof(struct type, member##_count)

static const struct ck_yaml_key part_keys[] = {
    {"id", CK_YAML_TEXT, .required = true, AT(part, id)},
    {"texts", CK_YAML_TEXTS, COUNTED(part, texts), .max_entries = LIST_ENTRIES},
    {.name = NULL},
};

static const struct ck_yaml_key pair_keys[] = {
    {"name", CK_YAML_TEXT, AT(pair, name)},
    {"colour", CK_YAML_CHOICE, AT(pair, colour), .choices = colours},
};

static const struct ck_yaml_key whole_keys[] = {
    {"text", CK_YAML_TEXT, .required = true, AT(whole, text), .max = 8},
    {"name", CK_YAML_TEXT, AT(whole, name), .form = &name_form},
    {"flag", CK_YAML_FLAG, AT(whole, flag)},
    {"number", CK_YAML_NUMBER, AT(whole, number), .min = 2, .max = 10},
    {"one", CK_YAML_NUMBER, AT(whole, one), .min = 1, .max = 1},
    {"colour", CK_YAML_CHOICE, AT(whole, colour), .choices = colours},
    {"absent", CK_YAML_NUMBER, AT(whole, absent), .max = 1, .absent = -1},
    {"texts", CK_YAML_TEXTS, AT(whole, texts), .absent_texts = default_texts},
    {"numbers", CK_YAML_NUMBERS, COUNTED(whole, numbers), .min = 1, .max = 5, .max_entries = LIST_ENTRIES},
    {"inner", CK_YAML_RECORD, AT(whole, inner), .keys = part_keys},
    {"parts", CK_YAML_RECORDS, COUNTED(whole, parts), .keys = part_keys, .size = sizeof(struct part), .not_empty = true,
     .max_entries = LIST_ENTRIES},
    {"pairs", CK_YAML_PAIRS, COUNTED(whole, pairs), .keys = pair_keys, .size = sizeof(struct pair),
     .max_entries = LIST_ENTRIES},
    {.name = NULL},
};

static const struct ck_yaml_format format = {
    .what = "test", .keys = whole_keys, .max_bytes = FILE_BYTES, .text_max = 16};

static int read_whole(const struct ck_yaml_format *as, const char *text, size_t length, struct choke_error *error)
{
    const struct ck_yaml_source source = {"t.yaml", text, length};
    struct ck_arena arena = {0};
    struct whole whole = {0};
    int r = ck_yaml_read(as, &source, &arena, &whole, error);
    ck_arena_done(&arena);
    return r;
}

static void every_kind_is_filled_in(void **state)
{
    static const char text[] = "\xef\xbb\xbftext: 'a b'\nname: abc\nflag: true\nnumber: 10\ncolour: green\n"
                               "texts: [a, 'b', \"c\", d, e]\nnumbers: [1, 5]\ninner: {id: i, texts: []}\n"
                               "parts:\n- id: one\n- {id: two, texts: [x, y, z]}\n- id: three\n"
                               "pairs:\n  b: red\n  a: green\n";
    const struct ck_yaml_source source = {"t.yaml", text, sizeof(text) - 1};
    struct ck_arena arena = {0};
    struct whole whole = {0};
    struct choke_error error = {0};
    (void)state;
    if (ck_yaml_read(&format, &source, &arena, &whole, &error) < 0)
        fail_msg("%s", error.message);
    assert_string_equal(whole.text, "a b");
    assert_string_equal(whole.name, "abc");
    assert_true(whole.flag);
    assert_int_equal(whole.number, 10);
    assert_int_equal(whole.colour, 1);
    assert_int_equal(whole.absent, -1);
    assert_string_equal(whole.texts[4], "e");
    assert_null(whole.texts[5]);
    assert_int_equal(whole.numbers_count, 2);
    assert_int_equal(whole.numbers[1], 5);
    assert_string_equal(whole.inner.id, "i");
    assert_null(whole.inner.texts[0]);
    assert_int_equal(whole.parts_count, 3);
    assert_null(whole.parts[0].texts[0]);
    assert_int_equal(whole.parts[1].texts_count, 3);
    assert_string_equal(whole.parts[1].texts[2], "z");
    assert_int_equal(whole.parts[1].place.line, 11);
    assert_int_equal(whole.parts[1].place.column, 3);
    assert_int_equal(whole.pairs_count, 2);
    assert_string_equal(whole.pairs[1].name, "a");
    assert_int_equal(whole.pairs[1].colour, 1);
    assert_int_equal(whole.pairs[1].place.line, 15);
    ck_arena_done(&arena);
}

static void what_is_absent_has_its_default(void **state)
{
    const struct ck_yaml_source source = {"t.yaml", "text: &anchor !!str a\n", 22};
    struct ck_arena arena = {0};
    struct whole whole = {0};
    struct choke_error error = {0};
    (void)state;
    assert_int_equal(ck_yaml_read(&format, &source, &arena, &whole, &error), 0);
    assert_string_equal(whole.texts[0], "default");
    assert_int_equal(whole.absent, -1);
    assert_null(whole.name);
    assert_null(whole.inner.id);
    assert_null(whole.parts);
    assert_int_equal(whole.parts_count, 0);
    ck_arena_done(&arena);
}

#define A "text: a\n"

static const struct {
    const char *text;
    unsigned line, column;
    const char *message;
} faults[] = {
    {"", 1, 1, "nothing in the file"},
    {"# nothing\n", 2, 1, "nothing in the file"},
    {"---\n", 2, 1, "a mapping is expected here, not a single value; its keys are: text, name, flag"},
    {"[a]", 1, 1, "a mapping is expected here, not a list"},
    {"flag: true\n", 1, 1, "key 'text' is missing"},
    {A "txet: a\n", 2, 1, "unknown key 'txet'; known keys are: text, name, flag, number"},
    {A "text: b\n", 2, 1, "key 'text' is given twice; the first one is on line 1"},
    {A "\"te\\x78t\": b\n", 2, 1, "key 'text' is given twice"},
    {"text:\n", 1, 6, "'text' has no value here; write one or leave it out"},
    {"text: ~\n", 1, 7, "'text' has no value"},
    {"text: null\n", 1, 7, "'text' has no value"},
    {"text: ''\n", 1, 7, "'text' has 0 bytes here; 1 to 8 bytes are allowed"},
    {"text: 123456789\n", 1, 7, "'text' has 9 bytes here; 1 to 8"},
    {"text: \"a\\0b\"\n", 1, 7, "NUL byte"},
    {"text: [a]\n", 1, 7, "'text': text is expected here, not a list"},
    {"text: {a: b}\n", 1, 7, "not a mapping"},
    {A "name: x\n", 2, 7, "'name' is 'x'; it must be made of a, b and c"},
    {A "name: \"x\\e\"\n", 2, 7, "'x\\x1b'"},
    {A "texts: [12345678901234567]\n", 2, 9, "1 to 16 bytes"},
    {A "flag: yes\n", 2, 7, "'flag' must be true or false"},
    {A "flag: \"true\\0\"\n", 2, 7, "'flag' must be true or false"},
    {A "number: 1\n", 2, 9, "'number' must be a number from 2 to 10"},
    {A "number: 11\n", 2, 9, "from 2 to 10"},
    {A "number: 03\n", 2, 9, "from 2 to 10"},
    {A "number: 0x3\n", 2, 9, "from 2 to 10"},
    {A "number: +3\n", 2, 9, "from 2 to 10"},
    {A "number: -3\n", 2, 9, "from 2 to 10"},
    {A "number: '3'\n", 2, 9, "from 2 to 10"},
    {A "number: 4294967299\n", 2, 9, "from 2 to 10"},
    {A "number:\n", 2, 8, "from 2 to 10"},
    {A "number: [3]\n", 2, 9, "from 2 to 10"},
    {A "one: 2\n", 2, 6, "'one' must be 1"},
    {A "colour: blue\n", 2, 9, "'colour' is 'blue'; it must be one of: red, green"},
    {A "colour: \"red\\0\"\n", 2, 9, "must be one of"},
    {A "colour: [red]\n", 2, 9, "'colour' must be one of: red, green, not a list"},
    {A "texts: a\n", 2, 8, "'texts' must be a list, not a single value"},
    {A "texts: [a, [b]]\n", 2, 12, "text is expected here, not a list"},
    {A "numbers: [1, 2, 3, 4]\n", 2, 20, "'numbers' may have at most 3 entries"},
    {A "numbers: [6]\n", 2, 11, "from 1 to 5"},
    {A "inner: {texts: [a]}\n", 2, 8, "key 'id' is missing"},
    {A "inner: {id: a, idd: b}\n", 2, 16, "unknown key 'idd'; known keys are: id, texts"},
    {A "parts: []\n", 2, 8, "'parts' must not be empty"},
    {A "parts: {id: a}\n", 2, 8, "'parts' must be a list, not a mapping"},
    {A "parts: [a]\n", 2, 9, "a mapping is expected here, not a single value; its keys are: id, texts"},
    {A "parts:\n- id: a\n- texts: [a]\n", 4, 3, "key 'id' is missing"},
    {A "parts: [{id: a}, {id: b}, {id: c}, {id: d}]\n", 2, 36, "at most 3"},
    {A "pairs: [a]\n", 2, 8, "'pairs' must be a mapping, not a list"},
    {A "pairs: {a: red, b: blue}\n", 2, 20, "'colour' is 'blue'"},
    {A "pairs: {a: red, a: red}\n", 2, 17, "'a' is given twice; the first one is on line 2"},
    {A "pairs: {a: red, [b]: red}\n", 2, 17, "text is expected here"},
    {A "pairs: {a: red, b: red, c: red, d: red}\n", 2, 33, "at most 3"},
    {A "name: *anchor\n", 2, 7, "an alias is not allowed; write the value here"},
    {A "*anchor : a\n", 2, 1, "an alias is not allowed"},
    {A "? [a]\n: b\n", 2, 3, "a key must be text"},
    {A "\"text\\0\": a\n", 2, 1, "a key must be text"},
    {A "---\ntext: b\n", 2, 1, "a second document begins here"},
    {A "...\n---\n", 3, 1, "a second document begins here"},
    {"%YAML 1.1\n---\ntext: a\n", 1, 1, "directives are not allowed"},
    {A "...\n%TAG ! a\n---\n", 3, 1, "directives are not allowed"},
    {A "texts: [\n", 3, 1, "not valid YAML"},
    {A "name: \xff\n", 2, 7, "not valid YAML"},
    {A "# \xc3\xa4\r\nname: \xff\n", 3, 7, "not valid YAML"},
    {A "name: a\x01\n", 2, 8, "not valid YAML"},
    {"\xff\xfet\0", 1, 1, "not valid YAML"},
};

static void faults_have_line_and_column(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(faults); i++) {
        struct choke_error error = {0};
        int r = read_whole(&format, faults[i].text, strlen(faults[i].text), &error);
        if (r != -EINVAL || error.line != faults[i].line || error.column != faults[i].column ||
            !strstr(error.message, faults[i].message))
            fail_msg("row %zu: %d, %u:%u, '%s'", i, r, error.line, error.column, error.message);
        assert_non_null(strstr(error.message, "test 't.yaml': line "));
        assert_int_equal(error.outcome, CHOKE_INVALID);
    }
}

static void a_format_may_allow_an_empty_file(void **state)
{
    struct ck_yaml_format lenient = format;
    struct choke_error error = {0};
    (void)state;
    lenient.may_be_empty = true;
    assert_int_equal(read_whole(&lenient, "", 0, &error), 0);
    assert_int_equal(read_whole(&lenient, "# nothing\n", 10, &error), 0);
    assert_int_equal(read_whole(&lenient, "---\n", 4, &error), -EINVAL);
}

/* Each has the largest allowed size, and is refused at its first byte or entry beyond a bound. */
static void hostile_files_are_refused_soon(void **state)
{
    static const struct {
        const char *head, *repeated;
    } cases[] = {
        {"", "["},
        {"", "- "},
        {"", "{a: "},
        {"", "? "},
        {A "texts: ", "["},
        {A "texts: &a [", "[*a],"},
        {A "parts: [", "{id: a, texts: [a, a, a]},"},
        {A "pairs: {", "a: red, "},
        {A "texts: [", "a,"},
        {"", "%TAG !a! b\n"},
    };
    char *text = malloc(FILE_BYTES + 1);
    (void)state;
    assert_non_null(text);
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct choke_error error = {0};
        size_t used = strlen(cases[i].head), step = strlen(cases[i].repeated);
        memcpy(text, cases[i].head, used);
        for (; used + step <= FILE_BYTES; used += step)
            memcpy(text + used, cases[i].repeated, step);
        assert_int_equal(read_whole(&format, text, used, &error), -EINVAL);
        assert_true(error.line >= 1 && error.column >= 1);
    }
    memset(text, '#', FILE_BYTES + 1);
    struct choke_error error = {0};
    assert_int_equal(read_whole(&format, text, FILE_BYTES + 1, &error), -EINVAL);
    assert_non_null(strstr(error.message, "larger than 65536 bytes"));
    free(text);
}

/* A full arena is reported as out of memory, wherever that happens. */
static void a_full_arena_is_reported(void **state)
{
    static const char text[] = A "texts: [a, b, c, d, e, f]\nparts: [{id: a}]\npairs: {a: red}\n";
    const struct ck_yaml_source source = {"t.yaml", text, sizeof(text) - 1};
    (void)state;
    for (size_t max = 1; max < 8192; max += 512) {
        struct ck_arena arena = {.max_bytes = max};
        struct whole whole = {0};
        struct choke_error error = {0};
        int r = ck_yaml_read(&format, &source, &arena, &whole, &error);
        assert_true(r == 0 || (r == -ENOMEM && error.errnum == ENOMEM));
        assert_int_equal(r, max < 2048 ? -ENOMEM : 0);
        ck_arena_done(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_is_filled_in),        cmocka_unit_test(what_is_absent_has_its_default),
        cmocka_unit_test(faults_have_line_and_column),    cmocka_unit_test(a_format_may_allow_an_empty_file),
        cmocka_unit_test(hostile_files_are_refused_soon), cmocka_unit_test(a_full_arena_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
