/*
 * test_log_tail.c - the end of a log is reported correctly wherever it was cut, and a record has
 * one spelling.
 */
#include "audit/name.h"
#include "audit/record.h"
#include "audit/tail.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define RECORDS 3

/* A log of three records; where each ends. */
struct sample {
    char text[4096];
    size_t ends[RECORDS];
    char hashes[RECORDS][CK_AUDIT_HASH_HEX + 1];
};

static void make_sample(struct sample *sample)
{
    struct ck_record record = {0};
    struct ck_audit_place place = {.log = "0123456789abcdef", .prev = CK_AUDIT_FIRST_PREV};
    size_t length = 0;
    for (int i = 0; i < RECORDS; i++) {
        const char *text;
        assert_int_equal(ck_record_start(&record, CK_AUDIT_KIND_INTENT), 0);
        ck_json_text(&record.body, "some", "thing");
        place.seq = (uint64_t)i;
        size_t more = ck_record_seal(&record, &place, false, &text, sample->hashes[i]);
        memcpy(sample->text + length, text, more);
        length += more;
        sample->ends[i] = length;
        memcpy(place.prev, sample->hashes[i], sizeof(place.prev));
    }
    ck_record_done(&record);
}

/* Cut anywhere: the records before are found, and the rest of the next one is torn. */
static void every_cut_leaves_a_tail_that_is_reported_correctly(void **state)
{
    struct sample sample;
    struct ck_tail tail;
    (void)state;
    make_sample(&sample);
    for (size_t length = 0; length <= sample.ends[RECORDS - 1]; length++) {
        size_t whole = 0;
        while (whole < RECORDS && sample.ends[whole] <= length + 1)
            whole++;
        int r = ck_tail_find(sample.text, length, true, &tail);
        assert_int_equal(r, whole == 0 ? -EAGAIN : 0);
        if (whole == 0)
            continue;
        bool lacks = sample.ends[whole - 1] == length + 1;
        assert_int_equal(tail.last.seq, whole - 1);
        assert_string_equal(tail.last.hash, sample.hashes[whole - 1]);
        assert_int_equal(tail.unterminated, lacks);
        assert_int_equal(tail.torn_length, lacks ? 0 : length - sample.ends[whole - 1]);
    }
}

/* Only the end of the log is given: a line without its beginning is not a line. */
static void part_of_a_log_is_enough_where_a_record_is_in_it(void **state)
{
    struct sample sample;
    struct ck_tail tail;
    (void)state;
    make_sample(&sample);
    size_t end = sample.ends[RECORDS - 1];
    for (size_t start = 1; start < end; start++) {
        int r = ck_tail_find(sample.text + start, end - start, false, &tail);
        bool enough = start < sample.ends[RECORDS - 2];
        assert_int_equal(r, enough ? 0 : -EAGAIN);
        if (enough)
            assert_int_equal(tail.last.seq, RECORDS - 1);
    }
}

/* Each bit of the last record: it is never taken for a record, nor for torn if its closing is
 * there. */
static void flipped_bit_in_the_last_record_is_seen(void **state)
{
    struct sample sample;
    struct ck_tail tail;
    (void)state;
    make_sample(&sample);
    size_t start = sample.ends[RECORDS - 2], end = sample.ends[RECORDS - 1];
    for (size_t i = start; i + 1 < end; i++)
        for (int bit = 0; bit < 8; bit++) {
            sample.text[i] = (char)(sample.text[i] ^ 1 << bit);
            int r = ck_tail_find(sample.text, end, true, &tail);
            bool closing = i + 1 + CK_AUDIT_CLOSING_LENGTH >= end;
            if (!closing && sample.text[i] != '\n')
                assert_int_equal(r, -EBADMSG);
            else if (r == 0)
                assert_true(tail.last.seq < RECORDS - 1 && tail.torn_length > 0);
            else
                assert_int_equal(r, -EBADMSG);
            sample.text[i] = (char)(sample.text[i] ^ 1 << bit);
        }
    assert_int_equal(ck_tail_find(sample.text, end, true, &tail), 0);
}

static void several_torn_lines_are_one_tail(void **state)
{
    struct sample sample;
    struct ck_tail tail;
    (void)state;
    make_sample(&sample);
    size_t end = sample.ends[RECORDS - 1];
    static const char torn[] = "{\"v\":1,\"log\n\n{\"v\n";
    memcpy(sample.text + end, torn, sizeof(torn));
    assert_int_equal(ck_tail_find(sample.text, end + sizeof(torn) - 1, true, &tail), 0);
    assert_int_equal(tail.last.seq, RECORDS - 1);
    assert_int_equal(tail.torn_length, sizeof(torn) - 1);
    assert_ptr_equal(tail.torn, sample.text + end);
}

static void body_as_large_as_it_may_be_fits_into_a_line(void **state)
{
    struct ck_record record = {0};
    struct ck_audit_place place = {.log = "0123456789abcdef", .seq = CK_AUDIT_SEQ_MAX, .prev = CK_AUDIT_FIRST_PREV};
    struct ck_envelope envelope;
    char hash[CK_AUDIT_HASH_HEX + 1];
    const char *text;
    (void)state;
    assert_int_equal(ck_record_start(&record, "abcdefghijklmnop"), 0);
    while (ck_json_room(&record.body) > 8)
        ck_json_raw(&record.body, ",\"a\":111", 8);
    size_t length = ck_record_seal(&record, &place, true, &text, hash);
    assert_true(length <= CK_AUDIT_LINE_MAX + 1);
    assert_int_equal(text[0], '\n');
    assert_int_equal(text[length - 1], '\n');
    assert_int_equal(ck_line_read(text + 1, length - 2, &envelope), 0);
    assert_int_equal(envelope.seq, CK_AUDIT_SEQ_MAX);
    assert_string_equal(envelope.hash, hash);
    ck_record_done(&record);
}

static void rotated_files_are_known_by_their_names(void **state)
{
    char made[NAME_MAX + 1], long_one[NAME_MAX + 1];
    (void)state;
    assert_int_equal(ck_name_rotated("audit.jsonl", 7, made), 0);
    assert_string_equal(made, "audit-000000000007.jsonl");
    assert_true(ck_name_is_rotated(made, "audit.jsonl"));
    assert_int_equal(ck_name_rotated("log", UINT64_C(1234567890123456), made), 0);
    assert_string_equal(made, "log-1234567890123456.jsonl");
    assert_true(ck_name_is_rotated(made, "log"));
    static const char *const others[] = {"audit.jsonl",
                                         "audit-7.jsonl",
                                         "audit-00000000000a.jsonl",
                                         "audit-000000000007.jsonl.new",
                                         "audits-000000000007.jsonl",
                                         "audit",
                                         ""};
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        assert_false(ck_name_is_rotated(others[i], "audit.jsonl"));
    memset(long_one, 'x', NAME_MAX);
    long_one[NAME_MAX] = '\0';
    assert_int_equal(ck_name_rotated(long_one, 0, made), -ENAMETOOLONG);
}

static void files_on_their_way_are_known_by_their_names(void **state)
{
    char made[NAME_MAX + 1], long_one[NAME_MAX + 1];
    (void)state;
    assert_int_equal(ck_name_new("audit.jsonl", "0123456789abcdef", made), 0);
    assert_string_equal(made, "audit.jsonl.0123456789abcdef.new");
    assert_true(ck_name_is_new(made, "audit.jsonl"));
    static const char *const others[] = {"audit.jsonl",
                                         "audit.jsonl.new",
                                         "audit.jsonl.0123456789abcde.new",
                                         "audit.jsonl.0123456789abcdef0.new",
                                         "audit.jsonl.0123456789ABCDEF.new",
                                         "audit.jsonl.0123456789abcdef.new.bak",
                                         "audit.jsonl-0123456789abcdef.new",
                                         "other.jsonl.0123456789abcdef.new",
                                         "audit.jsonl.0123456789abcdef.jsonl",
                                         ""};
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        assert_false(ck_name_is_new(others[i], "audit.jsonl"));
    memset(long_one, 'x', NAME_MAX);
    long_one[NAME_MAX] = '\0';
    assert_int_equal(ck_name_new(long_one, "0123456789abcdef", made), -ENAMETOOLONG);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_cut_leaves_a_tail_that_is_reported_correctly),
        cmocka_unit_test(part_of_a_log_is_enough_where_a_record_is_in_it),
        cmocka_unit_test(flipped_bit_in_the_last_record_is_seen),
        cmocka_unit_test(several_torn_lines_are_one_tail),
        cmocka_unit_test(body_as_large_as_it_may_be_fits_into_a_line),
        cmocka_unit_test(rotated_files_are_known_by_their_names),
        cmocka_unit_test(files_on_their_way_are_known_by_their_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
