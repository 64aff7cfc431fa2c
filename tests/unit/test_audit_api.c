/* test_audit_api.c - the public functions that read a log: what they promise, and what they refuse. */
#include "audit_log.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <unistd.h>

#include <cmocka.h>

static char path[64];
static struct made_log made;

static void append_line(const char *text)
{
    FILE *out = fopen(path, "ae");
    assert_non_null(out);
    assert_true(fprintf(out, "%s\n", text) > 0);
    assert_int_equal(fclose(out), 0);
}

static int make_log(void **state)
{
    (void)state;
    (void)snprintf(path, sizeof(path), "/tmp/choke-audit-XXXXXX");
    int fd = mkstemp(path);
    if (fd < 0)
        return -1;
    (void)close(fd);
    made_usual(&made, MADE_LOG, 10);
    for (size_t i = 0; i < made.count; i++)
        append_line(made.lines[i]);
    return 0;
}

static int remove_log(void **state)
{
    (void)state;
    made_free(&made);
    return unlink(path);
}

struct listener {
    size_t records;
    size_t stop_at;
    unsigned ends;
};

static bool count_record(void *data, const struct choke_audit_record *record)
{
    struct listener *listener = data;
    assert_true(record->proven && record->seq == listener->records && record->line == listener->records + 1);
    assert_string_equal(record->file, path);
    assert_string_equal(record->log, MADE_LOG);
    assert_string_equal(record->kind, listener->records == 0 ? "begin" : "intent");
    assert_int_equal(record->length, strlen(made.lines[record->seq]));
    assert_memory_equal(record->text, made.lines[record->seq], record->length);
    assert_string_equal(record->hash, made_hash(made.lines[record->seq]));
    listener->records++;
    return listener->records != listener->stop_at;
}

static struct choke_audit_query query_of(struct listener *listener)
{
    static const char *paths[2];
    paths[0] = path;
    return (struct choke_audit_query){.paths = paths, .on_record = count_record, .data = listener};
}

static void every_record_is_returned_once_with_its_position(void **state)
{
    (void)state;
    struct listener listener = {0};
    struct choke_audit_query query = query_of(&listener);
    struct choke_audit_report *report = NULL;
    assert_int_equal(choke_audit_verify(&query, &report, NULL), 0);
    assert_int_equal(report->damage, CHOKE_DAMAGE_NONE);
    assert_true(report->records == 10 && listener.records == 10 && report->first_seq == 0 && report->files == 1);
    assert_true(report->line == 0 && report->message[0] == '\0' && report->repairs == 0 && report->heads == 0);
    char head[CHOKE_AUDIT_HEAD_MAX];
    assert_int_equal(choke_audit_head(path, NULL, head, NULL), 0);
    assert_string_equal(report->head, head);
    choke_audit_report_free(report);
}

/* A caller that stops early did not ask whether the end is there. */
static void a_caller_that_stops_is_not_reported_of_a_cut(void **state)
{
    (void)state;
    struct listener listener = {.stop_at = 4};
    struct choke_audit_query query = query_of(&listener);
    struct choke_audit_report *report = NULL;
    char head[CHOKE_AUDIT_HEAD_MAX];
    assert_int_equal(choke_audit_head(path, NULL, head, NULL), 0);
    query.heads = (const char *const[]){head, NULL};
    assert_int_equal(choke_audit_verify(&query, &report, NULL), 0);
    assert_true(report->damage == CHOKE_DAMAGE_NONE && report->records == 4 && report->heads == 0);
    choke_audit_report_free(report);
}

/* One more record on each of two calls; then the log ends. */
static bool add_at_end(void *data, const struct choke_audit_report *report)
{
    struct listener *listener = data;
    assert_true(report->damage == CHOKE_DAMAGE_NONE && report->records == listener->records);
    if (listener->ends++ == 2)
        return false;
    made_add(&made, "intent", "");
    append_line(made.lines[made.count - 1]);
    return true;
}

static void a_log_is_read_on_as_long_as_the_caller_wants(void **state)
{
    (void)state;
    struct listener listener = {0};
    struct choke_audit_query query = query_of(&listener);
    struct choke_audit_report *report = NULL;
    query.on_end = add_at_end;
    assert_int_equal(choke_audit_verify(&query, &report, NULL), 0);
    assert_true(listener.records == 12 && report->records == 12 && listener.ends == 3);
    choke_audit_report_free(report);
}

static void what_is_missing_is_refused(void **state)
{
    (void)state;
    struct listener listener = {0};
    struct choke_audit_query query = query_of(&listener), none = {0};
    struct choke_audit_report *report = NULL;
    struct choke_error error = {0};
    char text[CHOKE_AUDIT_HEAD_MAX];
    assert_int_equal(choke_audit_verify(NULL, &report, &error), -EINVAL);
    assert_int_equal(choke_audit_verify(&query, NULL, &error), -EINVAL);
    assert_int_equal(choke_audit_verify(&none, &report, &error), -EINVAL);
    none.paths = (const char *const[]){NULL};
    assert_int_equal(choke_audit_verify(&none, &report, &error), -EINVAL);
    query.public_key = "ckp1.AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
    assert_int_equal(choke_audit_verify(&query, &report, &error), -EINVAL); /* a key and no head */
    assert_int_equal(choke_audit_head(NULL, NULL, text, &error), -EINVAL);
    assert_int_equal(choke_audit_head(path, NULL, NULL, &error), -EINVAL);
    assert_int_equal(choke_audit_head(path, "/nowhere", text, &error), -ENOENT);
    assert_int_equal(choke_audit_keygen(NULL, text, &error), -EINVAL);
    assert_int_equal(choke_audit_keygen("", text, &error), -EINVAL);
    assert_null(report);
    assert_int_equal(listener.records, 0);
    choke_audit_report_free(NULL);
}

static void every_damage_has_its_own_name(void **state)
{
    (void)state;
    for (int a = CHOKE_DAMAGE_NONE; a <= CHOKE_DAMAGE_MALFORMED; a++)
        for (int b = CHOKE_DAMAGE_NONE; b <= CHOKE_DAMAGE_MALFORMED; b++)
            assert_true((a == b) == (strcmp(choke_damage_name((enum choke_damage)a),
                                            choke_damage_name((enum choke_damage)b)) == 0));
    assert_string_equal(choke_damage_name((enum choke_damage)99), "?");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_record_is_returned_once_with_its_position),
        cmocka_unit_test(a_caller_that_stops_is_not_reported_of_a_cut),
        cmocka_unit_test(a_log_is_read_on_as_long_as_the_caller_wants),
        cmocka_unit_test(what_is_missing_is_refused),
        cmocka_unit_test(every_damage_has_its_own_name),
    };
    return cmocka_run_group_tests(tests, make_log, remove_log);
}
