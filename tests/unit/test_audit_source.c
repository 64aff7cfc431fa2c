/*
 * test_audit_source.c - the lines of a log, of any length, from all its files in order, also while
 * the log is rotated.
 */
#include "audit/source.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include <cmocka.h>

static char place[64];

static int make_place(void **state)
{
    (void)state;
    (void)snprintf(place, sizeof(place), "/tmp/choke-source-XXXXXX");
    return mkdtemp(place) && chdir(place) == 0 ? 0 : -1;
}

static const char *const names[] = {"a.jsonl",
                                    "b.jsonl",
                                    "a-000000000000.jsonl",
                                    "a-000000000005.jsonl",
                                    "a-000000000010.jsonl",
                                    "a-1000000000000.jsonl",
                                    "a-00000000000x.jsonl",
                                    "a-5.jsonl",
                                    "ab-000000000007.jsonl",
                                    "plain",
                                    "plain-000000000000.jsonl"};

static int clear_place(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        (void)unlink(names[i]);
    return 0;
}

static int remove_place(void **state)
{
    (void)clear_place(state);
    return rmdir(place);
}

static void append_bytes(const char *name, const void *bytes, size_t length)
{
    int fd = open(name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    assert_true(fd >= 0 && write(fd, bytes, length) == (ssize_t)length);
    (void)close(fd);
}

static void append(const char *name, const char *text)
{
    append_bytes(name, text, strlen(text));
}

static void start(struct ck_audit_source *source, const char *const *paths, bool with_rotated)
{
    assert_int_equal(ck_audit_source_init(source, paths), 0);
    source->with_rotated = with_rotated;
}

/* All lines that exist now, joined by '|'; one without a newline is not returned. */
static const char *lines_of(struct ck_audit_source *source)
{
    static char text[4096];
    struct ck_line line;
    struct choke_error error = {0};
    int r;
    text[0] = '\0';
    while ((r = ck_audit_source_next(source, &line, &error)) == 1) {
        size_t used = strlen(text);
        (void)snprintf(text + used, sizeof(text) - used, "%.*s%s|", (int)line.length, line.text,
                       line.has_newline ? "" : "~");
    }
    assert_int_equal(r, 0);
    return text;
}

#define PATHS(...) \
    (const char *const[]) \
    { \
        __VA_ARGS__, NULL \
    }

static void lines_have_numbers_in_each_file(void **state)
{
    (void)state;
    struct ck_audit_source source;
    struct ck_line line;
    append("a.jsonl", "one\ntwo\nthree");
    append("b.jsonl", "\nfour\n");
    start(&source, PATHS("a.jsonl", "b.jsonl"), false);
    static const struct {
        const char *file, *text;
        uint64_t number;
        bool has_newline;
    } expected[] = {{"a.jsonl", "one", 1, true},
                    {"a.jsonl", "two", 2, true},
                    {"a.jsonl", "three", 3, false},
                    {"b.jsonl", "", 1, true},
                    {"b.jsonl", "four", 2, true}};
    for (size_t i = 0; i < sizeof(expected) / sizeof(*expected); i++) {
        assert_int_equal(ck_audit_source_next(&source, &line, NULL), 1);
        assert_int_equal(line.length, strlen(expected[i].text));
        assert_memory_equal(line.text, expected[i].text, line.length);
        assert_string_equal(line.file, expected[i].file);
        assert_int_equal(line.number, expected[i].number);
        assert_int_equal(line.has_newline, expected[i].has_newline);
    }
    assert_int_equal(ck_audit_source_next(&source, &line, NULL), 0);
    assert_int_equal(source.files, 2);
    ck_audit_source_done(&source);
}

static void the_rest_of_the_last_file_is_asked_for(void **state)
{
    (void)state;
    struct ck_audit_source source;
    struct ck_line line;
    append("a.jsonl", "one\ntw");
    start(&source, PATHS("a.jsonl"), false);
    assert_string_equal(lines_of(&source), "one|");
    append("a.jsonl", "o\n"); /* the writer was only slow */
    assert_int_equal(ck_audit_source_rest(&source, &line, NULL), -EAGAIN);
    assert_string_equal(lines_of(&source), "two|");
    assert_int_equal(ck_audit_source_rest(&source, &line, NULL), 0);
    append("a.jsonl", "thr");
    assert_string_equal(lines_of(&source), "");
    assert_int_equal(ck_audit_source_rest(&source, &line, NULL), 1);
    assert_true(line.length == 3 && !line.has_newline && line.number == 3);
    ck_audit_source_done(&source);
}

/* The holder of the lock is in the middle of its line. The reader waits, with a limit. */
static void a_writer_that_never_ends_does_not_hold_the_reader(void **state)
{
    (void)state;
    struct ck_audit_source source;
    struct ck_line line;
    append("a.jsonl", "one\ntw");
    int fd = open("a.jsonl", O_RDWR | O_CLOEXEC);
    assert_int_equal(flock(fd, LOCK_EX), 0);
    start(&source, PATHS("a.jsonl"), false);
    assert_string_equal(lines_of(&source), "one|");
    assert_int_equal(ck_audit_source_rest(&source, &line, NULL), 1);
    (void)close(fd);
    ck_audit_source_done(&source);
}

static void a_line_that_is_too_long_ends_its_file(void **state)
{
    static const size_t lengths[] = {CK_AUDIT_LINE_MAX,         CK_AUDIT_TORN_MAX,         2 * CK_AUDIT_TORN_MAX - 1,
                                     2 * CK_AUDIT_TORN_MAX,     2 * CK_AUDIT_TORN_MAX + 1, 5 * CK_AUDIT_TORN_MAX + 7,
                                     6 * CK_AUDIT_TORN_MAX - 1, 6 * CK_AUDIT_TORN_MAX};
    (void)state;
    char *bytes = calloc(1, 6 * CK_AUDIT_TORN_MAX);
    assert_non_null(bytes);
    for (size_t i = 0; i < sizeof(lengths) / sizeof(*lengths); i++) {
        struct ck_audit_source source;
        struct ck_line line;
        append("a.jsonl", "one\n");
        append_bytes("a.jsonl", bytes, lengths[i]);
        append("a.jsonl", "\nthree\n");
        append("b.jsonl", "other\n");
        start(&source, PATHS("a.jsonl", "b.jsonl"), false);
        assert_int_equal(ck_audit_source_next(&source, &line, NULL), 1);
        assert_int_equal(ck_audit_source_next(&source, &line, NULL), 1);
        bool is_cut_short = lengths[i] >= 2 * CK_AUDIT_TORN_MAX;
        assert_int_equal(line.is_cut_short, is_cut_short);
        assert_int_equal(line.length, is_cut_short ? 2 * CK_AUDIT_TORN_MAX : lengths[i]);
        assert_int_equal(line.number, 2);
        assert_int_equal(ck_audit_source_next(&source, &line, NULL), 1);
        if (!is_cut_short) {
            assert_true(line.number == 3 && line.length == 5 && memcmp(line.text, "three", 5) == 0);
            assert_int_equal(ck_audit_source_next(&source, &line, NULL), 1);
        }
        assert_true(line.number == 1 && line.length == 5 && memcmp(line.text, "other", 5) == 0);
        assert_int_equal(ck_audit_source_next(&source, &line, NULL), 0);
        assert_int_equal(ck_audit_source_rest(&source, &line, NULL), 0);
        ck_audit_source_done(&source);
        (void)unlink("a.jsonl");
        (void)unlink("b.jsonl");
    }
    free(bytes);
}

/* ---- rotation ---- */

static void rotated_files_come_first_by_their_number(void **state)
{
    (void)state;
    struct ck_audit_source source;
    append("a-000000000010.jsonl", "ten\n");
    append("a-1000000000000.jsonl", "many\n");
    append("a-000000000000.jsonl", "zero\n");
    append("a-000000000005.jsonl", "five\n");
    append("a-00000000000x.jsonl", "no\n");
    append("a-5.jsonl", "no\n");
    append("ab-000000000007.jsonl", "no\n");
    append("a.jsonl", "now\n");
    start(&source, PATHS("a.jsonl"), true);
    assert_string_equal(lines_of(&source), "zero|five|ten|many|now|");
    ck_audit_source_done(&source);
    char path[PATH_MAX]; /* also where the path has a directory */
    (void)snprintf(path, sizeof(path), "%s/a.jsonl", place);
    start(&source, PATHS(path), true);
    assert_string_equal(lines_of(&source), "zero|five|ten|many|now|");
    ck_audit_source_done(&source);
    start(&source, PATHS("a.jsonl"), false);
    assert_string_equal(lines_of(&source), "now|");
    ck_audit_source_done(&source);
}

static void a_name_without_the_ending_gets_it(void **state)
{
    (void)state;
    struct ck_audit_source source;
    append("plain-000000000000.jsonl", "zero\n");
    append("plain", "now\n");
    start(&source, PATHS("plain"), true);
    assert_string_equal(lines_of(&source), "zero|now|");
    ck_audit_source_done(&source);
}

/* For a moment, or for ever if the writer died then, a file has both names. */
static void a_file_with_two_names_is_read_once(void **state)
{
    (void)state;
    struct ck_audit_source source;
    append("a-000000000000.jsonl", "zero\n");
    append("a.jsonl", "now\n");
    assert_int_equal(link("a.jsonl", "a-000000000005.jsonl"), 0);
    start(&source, PATHS("a.jsonl"), true);
    assert_string_equal(lines_of(&source), "zero|now|");
    ck_audit_source_done(&source);
}

static void rotate(const char *name)
{
    assert_int_equal(link("a.jsonl", name), 0);
    append("b.jsonl", "begin\n");
    assert_int_equal(rename("b.jsonl", "a.jsonl"), 0);
}

static void a_log_is_followed_through_several_rotations_at_once(void **state)
{
    (void)state;
    struct ck_audit_source source;
    append("a.jsonl", "one\n");
    start(&source, PATHS("a.jsonl"), false);
    source.is_followed = true;
    assert_string_equal(lines_of(&source), "one|");
    append("a.jsonl", "two\n");
    rotate("a-000000000000.jsonl");
    append("a.jsonl", "three\n");
    rotate("a-000000000005.jsonl");
    rotate("a-000000000010.jsonl");
    append("a.jsonl", "four\nfi");
    assert_string_equal(lines_of(&source), "two|begin|three|begin|begin|four|");
    append("a.jsonl", "ve\n");
    assert_string_equal(lines_of(&source), "five|");
    assert_int_equal(source.files, 4);
    ck_audit_source_done(&source);
}

static void a_log_that_is_not_followed_ends_where_it_ends(void **state)
{
    (void)state;
    struct ck_audit_source source;
    append("a.jsonl", "one\n");
    start(&source, PATHS("a.jsonl"), false);
    assert_string_equal(lines_of(&source), "one|");
    rotate("a-000000000000.jsonl");
    assert_string_equal(lines_of(&source), "");
    ck_audit_source_done(&source);
}

static void a_file_that_became_shorter_is_reported(void **state)
{
    (void)state;
    struct ck_audit_source source;
    struct ck_line line;
    struct choke_error error = {0};
    append("a.jsonl", "one\ntwo\n");
    start(&source, PATHS("a.jsonl"), false);
    source.is_followed = true;
    assert_string_equal(lines_of(&source), "one|two|");
    assert_int_equal(truncate("a.jsonl", 4), 0);
    assert_int_equal(ck_audit_source_next(&source, &line, &error), -ESTALE);
    assert_non_null(strstr(error.message, "shorter"));
    ck_audit_source_done(&source);
}

static void what_cannot_be_read_is_reported(void **state)
{
    (void)state;
    static const struct {
        const char *path;
        int expected;
    } cases[] = {{"absent.jsonl", -ENOENT}, {".", -EISDIR}, {"/dev/null/x", -ENOTDIR}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        for (int rotated = 0; rotated < 2; rotated++) {
            struct ck_audit_source source;
            struct ck_line line;
            struct choke_error error = {0};
            start(&source, PATHS(cases[i].path), rotated);
            assert_int_equal(ck_audit_source_next(&source, &line, &error), cases[i].expected);
            assert_non_null(strstr(error.message, cases[i].path));
            ck_audit_source_done(&source);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(lines_have_numbers_in_each_file, clear_place),
        cmocka_unit_test_teardown(the_rest_of_the_last_file_is_asked_for, clear_place),
        cmocka_unit_test_teardown(a_writer_that_never_ends_does_not_hold_the_reader, clear_place),
        cmocka_unit_test_teardown(a_line_that_is_too_long_ends_its_file, clear_place),
        cmocka_unit_test_teardown(rotated_files_come_first_by_their_number, clear_place),
        cmocka_unit_test_teardown(a_name_without_the_ending_gets_it, clear_place),
        cmocka_unit_test_teardown(a_file_with_two_names_is_read_once, clear_place),
        cmocka_unit_test_teardown(a_log_is_followed_through_several_rotations_at_once, clear_place),
        cmocka_unit_test_teardown(a_log_that_is_not_followed_ends_where_it_ends, clear_place),
        cmocka_unit_test_teardown(a_file_that_became_shorter_is_reported, clear_place),
        cmocka_unit_test_teardown(what_cannot_be_read_is_reported, clear_place),
    };
    return cmocka_run_group_tests(tests, make_place, remove_place);
}
