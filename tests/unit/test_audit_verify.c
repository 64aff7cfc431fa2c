/*
 * test_audit_verify.c - in a log of a hundred records every change of a bit and every edit of lines
 * is found, at its first bad line, and named correctly.
 */
#include "audit_log.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define RECORDS 100

static struct made_log whole, other;

static int make_logs(void **state)
{
    (void)state;
    made_usual(&whole, MADE_LOG, RECORDS);
    made_usual(&other, MADE_OTHER, RECORDS);
    return 0;
}

static int free_logs(void **state)
{
    (void)state;
    made_free(&whole);
    made_free(&other);
    return 0;
}

/* ---- edits of the list of lines ---- */

static struct made_log without(const struct made_log *made, size_t index)
{
    struct made_log changed = *made;
    changed.count--;
    memmove(&changed.lines[index], &changed.lines[index + 1], (changed.count - index) * sizeof(*changed.lines));
    return changed;
}

static struct made_log with(const struct made_log *made, size_t index, char *line)
{
    struct made_log changed = *made;
    memmove(&changed.lines[index + 1], &changed.lines[index], (changed.count - index) * sizeof(*changed.lines));
    changed.lines[index] = line;
    changed.count++;
    return changed;
}

static void expect(const struct made_log *made, const struct ck_head_list *heads, enum choke_damage kind, uint64_t line)
{
    struct ck_damage damage = judged(made, heads);
    if (damage.kind != kind || (kind != CHOKE_DAMAGE_NONE && damage.line != line))
        fail_msg("%s at line %" PRIu64 " (%s), not %s at line %" PRIu64, choke_damage_name(damage.kind), damage.line,
                 damage.message, choke_damage_name(kind), line);
    assert_true((kind == CHOKE_DAMAGE_NONE) == (damage.message[0] == '\0'));
}

static struct ck_head_list one_head(struct ck_head *head, const struct made_log *made, size_t index)
{
    *head = made_head(made, index);
    return (struct ck_head_list){.items = head, .count = 1};
}

static void a_whole_log_holds_with_and_without_heads(void **state)
{
    (void)state;
    struct ck_head items[RECORDS];
    expect(&whole, NULL, CHOKE_DAMAGE_NONE, 0);
    for (size_t i = 0; i < RECORDS; i++)
        items[i] = made_head(&whole, i);
    expect(&whole, &(struct ck_head_list){.items = items, .count = RECORDS}, CHOKE_DAMAGE_NONE, 0);
    for (size_t i = 0; i < RECORDS; i++)
        expect(&whole, &(struct ck_head_list){.items = &items[i], .count = 1}, CHOKE_DAMAGE_NONE, 0);
}

/* ---- bits ---- */

/* The bytes from line index on, newlines included. */
static char *text_from(const struct made_log *made, size_t index, size_t *ret_length)
{
    size_t length = 0;
    for (size_t i = index; i < made->count; i++)
        length += strlen(made->lines[i]) + 1;
    char *text = malloc(length + 1), *at = text;
    assert_non_null(text);
    for (size_t i = index; i < made->count; i++)
        at = stpcpy(stpcpy(at, made->lines[i]), "\n");
    *ret_length = length;
    return text;
}

static void feed_text(struct ck_verify *verify, const char *text, size_t length, uint64_t number)
{
    const char *end = text + length;
    while (text < end && !ck_verify_is_over(verify)) {
        const char *newline = memchr(text, '\n', (size_t)(end - text));
        const char *stop = newline ? newline : end;
        feed(verify, text, (size_t)(stop - text), number++, !!newline);
        text = stop + 1;
    }
}

/* A flip of the last newline alone looks like a torn write. */
static enum choke_damage expect_flip(const struct ck_verify *before, const char *text, size_t length, uint64_t number)
{
    struct ck_verify verify = *before;
    struct ck_damage damage;
    feed_text(&verify, text, length, number);
    ck_verify_damage(&verify, &damage);
    assert_int_equal(damage.line, number);
    return damage.kind;
}

static void every_flip_of_a_bit_is_found_in_its_line(void **state)
{
    (void)state;
    size_t flips = 0, edited = 0, malformed = 0, torn = 0;
    struct ck_verify verify;
    ck_verify_init(&verify, NULL);
    for (size_t i = 0; i < RECORDS; i++) {
        size_t length, line = strlen(whole.lines[i]) + 1;
        char *text = text_from(&whole, i, &length);
        for (size_t bit = 0; bit < line * 8; bit++) {
            text[bit / 8] = (char)(text[bit / 8] ^ (1 << bit % 8));
            enum choke_damage kind = expect_flip(&verify, text, length, i + 1);
            text[bit / 8] = (char)(text[bit / 8] ^ (1 << bit % 8));
            flips++;
            edited += kind == CHOKE_DAMAGE_EDITED;
            malformed += kind == CHOKE_DAMAGE_MALFORMED;
            torn += kind == CHOKE_DAMAGE_TORN;
        }
        free(text);
        feed(&verify, whole.lines[i], line - 1, i + 1, true);
    }
    assert_int_equal(edited + malformed + torn, flips);
    assert_int_equal(torn, 8); /* of the last newline */
    assert_true(flips > RECORDS * 200 * 8 && edited > malformed);
}

static void every_cut_at_a_byte_is_found_with_a_head(void **state)
{
    (void)state;
    struct ck_head head;
    struct ck_head_list heads = one_head(&head, &whole, RECORDS - 1);
    struct ck_verify verify;
    ck_verify_init(&verify, &heads);
    for (size_t i = 0; i < RECORDS; i++) {
        size_t line = strlen(whole.lines[i]);
        for (size_t cut = 0; cut < line; cut++) {
            struct ck_verify here = verify;
            struct ck_damage damage;
            if (cut > 0)
                feed(&here, whole.lines[i], cut, i + 1, false);
            ck_verify_damage(&here, &damage);
            assert_int_equal(damage.kind, CHOKE_DAMAGE_CUT);
        }
        feed(&verify, whole.lines[i], line, i + 1, true);
    }
    expect(&whole, &heads, CHOKE_DAMAGE_NONE, 0);
}

static void a_cut_in_a_line_is_torn_without_a_head(void **state)
{
    (void)state;
    struct ck_verify verify;
    struct ck_damage damage;
    ck_verify_init(&verify, NULL);
    feed(&verify, whole.lines[0], strlen(whole.lines[0]), 1, true);
    feed(&verify, whole.lines[1], strlen(whole.lines[1]) - 1, 2, false);
    ck_verify_damage(&verify, &damage);
    assert_int_equal(damage.kind, CHOKE_DAMAGE_TORN);
    assert_int_equal(damage.line, 2);
}

/* ---- lines ---- */

static void every_deleted_line_is_found(void **state)
{
    (void)state;
    struct ck_head head;
    struct ck_head_list heads = one_head(&head, &whole, RECORDS - 1);
    for (size_t i = 0; i < RECORDS - 1; i++) {
        struct made_log changed = without(&whole, i);
        expect(&changed, NULL, CHOKE_DAMAGE_DROPPED, i + 1);
    }
    struct made_log changed = without(&whole, RECORDS - 1);
    expect(&changed, NULL, CHOKE_DAMAGE_NONE, 0); /* no chain can tell */
    expect(&changed, &heads, CHOKE_DAMAGE_CUT, RECORDS - 1);
}

static void every_run_of_deleted_lines_is_found(void **state)
{
    (void)state;
    for (size_t first = 0; first < RECORDS - 1; first += 7)
        for (size_t end = first + 1; end < RECORDS; end++) {
            struct made_log changed = whole;
            memmove(&changed.lines[first], &changed.lines[end], (RECORDS - end) * sizeof(*changed.lines));
            changed.count -= end - first;
            expect(&changed, NULL, CHOKE_DAMAGE_DROPPED, first + 1);
        }
}

static void every_copied_line_is_found_wherever_it_goes(void **state)
{
    (void)state;
    for (size_t from = 0; from < RECORDS; from++)
        for (size_t to = 0; to <= RECORDS; to++) {
            struct made_log changed = with(&whole, to, whole.lines[from]);
            expect(&changed, NULL, CHOKE_DAMAGE_DUPLICATED, to == from ? from + 2 : to + 1);
        }
}

static void every_moved_line_is_found_wherever_it_goes(void **state)
{
    (void)state;
    for (size_t from = 0; from < RECORDS; from++)
        for (size_t to = 0; to < RECORDS; to++) {
            struct made_log less = without(&whole, from);
            struct made_log changed = with(&less, to, whole.lines[from]);
            size_t first = from < to ? from : to;
            if (to != from)
                expect(&changed, NULL, CHOKE_DAMAGE_REORDERED, first + 1);
        }
}

static void every_line_of_another_log_is_found(void **state)
{
    (void)state;
    for (size_t i = 0; i < RECORDS; i++) {
        struct made_log changed = with(&whole, i, other.lines[i]);
        expect(&changed, NULL, CHOKE_DAMAGE_SPLICED, i == 0 ? 2 : i + 1);
        changed = with(&whole, 0, other.lines[i]);
        expect(&changed, NULL, CHOKE_DAMAGE_SPLICED, i == 0 ? 2 : 1);
        changed = whole;
        changed.lines[i] = other.lines[i];
        expect(&changed, NULL, CHOKE_DAMAGE_SPLICED, i == 0 ? 2 : i + 1);
    }
}

/* ---- who can hash anew ---- */

/* The same line with another body and another previous record. */
static char *forged(size_t index, const char *prev)
{
    return made_record(MADE_LOG, index, prev, index == 0 ? "begin" : "intent", ",\"argv\":[\"true\"]");
}

static void every_line_that_was_hashed_anew_is_found_in_the_next(void **state)
{
    (void)state;
    struct ck_head head;
    struct ck_head_list heads = one_head(&head, &whole, RECORDS - 1);
    for (size_t i = 0; i < RECORDS; i++) {
        struct made_log changed = whole;
        char prev[CK_AUDIT_HASH_HEX + 1] = CK_AUDIT_FIRST_PREV;
        if (i > 0)
            memcpy(prev, made_hash(whole.lines[i - 1]), sizeof(prev));
        changed.lines[i] = forged(i, prev);
        if (i + 1 < RECORDS)
            expect(&changed, NULL, CHOKE_DAMAGE_REBUILT, i + 2);
        else
            expect(&changed, &heads, CHOKE_DAMAGE_REBUILT, RECORDS);
        free(changed.lines[i]);
    }
}

static void every_chain_that_was_rebuilt_is_found_with_a_head(void **state)
{
    (void)state;
    struct ck_head head;
    for (size_t i = 0; i < RECORDS; i += 9) {
        struct made_log changed = whole;
        for (size_t k = i; k < RECORDS; k++)
            changed.lines[k] = forged(k, k > 0 ? made_hash(changed.lines[k - 1]) : CK_AUDIT_FIRST_PREV);
        expect(&changed, NULL, CHOKE_DAMAGE_NONE, 0); /* no chain can tell */
        for (size_t at = 0; at < RECORDS; at++) {
            struct ck_head_list heads = one_head(&head, &whole, at);
            expect(&changed, &heads, at < i ? CHOKE_DAMAGE_NONE : CHOKE_DAMAGE_REBUILT, at + 1);
        }
        for (size_t k = i; k < RECORDS; k++)
            free(changed.lines[k]);
    }
}

/* An older head must match even if a newer one comes from what the attacker wrote. */
static void one_head_of_many_that_does_not_hold_is_enough(void **state)
{
    (void)state;
    struct made_log changed = whole;
    for (size_t k = 50; k < RECORDS; k++)
        changed.lines[k] = forged(k, made_hash(changed.lines[k - 1]));
    struct ck_head items[] = {made_head(&whole, 10), made_head(&whole, 60), made_head(&changed, 90)};
    expect(&changed, &(struct ck_head_list){.items = items, .count = 3}, CHOKE_DAMAGE_REBUILT, 61);
    for (size_t k = 50; k < RECORDS; k++)
        free(changed.lines[k]);
}

static void a_record_that_renumbers_itself_is_found(void **state)
{
    (void)state;
    for (uint64_t seq = 0; seq < 20; seq++) {
        struct made_log changed = whole;
        changed.lines[10] = made_record(MADE_LOG, seq, made_hash(whole.lines[9]), "intent", "");
        expect(&changed, NULL, CHOKE_DAMAGE_REBUILT, seq == 10 ? 12 : 11);
        free(changed.lines[10]);
    }
}

static void a_first_record_with_one_before_it_is_found(void **state)
{
    (void)state;
    struct made_log changed = {.log = MADE_LOG, .count = 1};
    changed.lines[0] = made_record(MADE_LOG, 0, made_hash(whole.lines[0]), "begin", "");
    expect(&changed, NULL, CHOKE_DAMAGE_REBUILT, 1);
    made_free(&changed);
}

static void a_hash_over_what_is_not_json_proves_nothing(void **state)
{
    static const char *const bodies[] = {",\"a\":\"\x1b[2J\"", ",\"a\":", ",}", ",\"a\":\"\xff\"", ",\"a\":1.5", " "};
    (void)state;
    for (size_t i = 0; i < sizeof(bodies) / sizeof(*bodies); i++) {
        struct made_log changed = whole;
        changed.lines[RECORDS - 1] =
            made_record(MADE_LOG, RECORDS - 1, made_hash(whole.lines[RECORDS - 2]), "intent", bodies[i]);
        struct ck_damage damage = judged(&changed, NULL);
        assert_true(damage.kind == CHOKE_DAMAGE_MALFORMED || damage.kind == CHOKE_DAMAGE_EDITED);
        assert_int_equal(damage.line, RECORDS);
        free(changed.lines[RECORDS - 1]);
    }
}

/* ---- heads ---- */

static void a_head_of_another_log_is_found(void **state)
{
    (void)state;
    struct ck_head head;
    struct ck_head_list heads = one_head(&head, &other, 5);
    expect(&whole, &heads, CHOKE_DAMAGE_REBUILT, 1);
}

static void a_head_beyond_the_end_is_a_cut(void **state)
{
    (void)state;
    struct ck_head head;
    struct ck_head_list heads = one_head(&head, &whole, RECORDS - 1);
    for (size_t count = 1; count < RECORDS; count++) {
        struct made_log changed = whole;
        changed.count = count;
        expect(&changed, &heads, CHOKE_DAMAGE_CUT, count);
    }
}

/* A file that continues another: it cannot prove what is before it. */
static void a_head_before_the_first_record_asks_for_the_files_before(void **state)
{
    (void)state;
    struct ck_head head;
    struct ck_head_list heads = one_head(&head, &whole, 3);
    struct made_log later = {.log = MADE_LOG, .seq = 50};
    memcpy(later.prev, made_hash(whole.lines[49]), sizeof(later.prev));
    made_add(&later, "begin", ",\"continues\":\"log-000000000000.jsonl\"");
    made_add(&later, "intent", "");
    expect(&later, NULL, CHOKE_DAMAGE_NONE, 0);
    expect(&later, &heads, CHOKE_DAMAGE_DROPPED, 1);
    made_free(&later);
}

static void a_log_without_a_record_is_cut(void **state)
{
    (void)state;
    struct made_log empty = {.log = MADE_LOG};
    expect(&empty, NULL, CHOKE_DAMAGE_CUT, 0);
}

/* ---- torn writes ---- */

static void add_repair(struct made_log *made, const char *torn)
{
    char hash[CK_AUDIT_HASH_HEX + 1], body[256];
    ck_line_hash(torn, strlen(torn), hash);
    (void)snprintf(body, sizeof(body), ",\"torn_bytes\":%zu,\"torn_hash\":\"%s\",\"reason\":\"cut off\"", strlen(torn),
                   hash);
    made_add(made, "repair", body);
}

/* Three records, a torn line of two parts, its repair, and one more. */
static void make_torn(struct made_log *made)
{
    made_usual(made, MADE_LOG, 3);
    made_add_raw(made, "{\"v\":1,\"log\":\"0123");
    made_add_raw(made, "");
    add_repair(made, "{\"v\":1,\"log\":\"0123\n\n");
    made_add(made, "intent", "");
}

static void a_torn_write_that_a_repair_vouches_for_is_no_damage(void **state)
{
    (void)state;
    struct made_log made;
    struct ck_verify verify;
    make_torn(&made);
    expect(&made, NULL, CHOKE_DAMAGE_NONE, 0);
    ck_verify_init(&verify, NULL);
    feed_all(&verify, &made, 0);
    assert_int_equal(verify.repairs, 1);
    assert_int_equal(verify.records, 5);
    made_free(&made);
}

static void what_a_repair_does_not_vouch_for_is_damage(void **state)
{
    (void)state;
    struct made_log made, changed;
    make_torn(&made);
    changed = made; /* another byte, or one more */
    changed.lines[3] = (char[]){"{\"v\":1,\"log\":\"0124"};
    expect(&changed, NULL, CHOKE_DAMAGE_MALFORMED, 4);
    changed.lines[3] = (char[]){"{\"v\":1,\"log\":\"01234"};
    expect(&changed, NULL, CHOKE_DAMAGE_MALFORMED, 4);
    changed = without(&made, 4);
    expect(&changed, NULL, CHOKE_DAMAGE_MALFORMED, 4);
    changed = without(&made, 3);
    expect(&changed, NULL, CHOKE_DAMAGE_MALFORMED, 4);
    changed = without(&changed, 3); /* all of it */
    expect(&changed, NULL, CHOKE_DAMAGE_DROPPED, 4);
    changed = without(&made, 5); /* the repair */
    expect(&changed, NULL, CHOKE_DAMAGE_MALFORMED, 4);
    changed = with(&made, 2, made.lines[3]); /* in another place */
    expect(&changed, NULL, CHOKE_DAMAGE_MALFORMED, 3);
    changed = made;
    changed.count = 5; /* not yet repaired, but the writer ended its line */
    expect(&changed, NULL, CHOKE_DAMAGE_MALFORMED, 4);
    made_free(&made);
}

static void a_repair_that_is_wrong_about_the_length_vouches_for_nothing(void **state)
{
    (void)state;
    struct made_log made;
    char hash[CK_AUDIT_HASH_HEX + 1], body[256];
    made_usual(&made, MADE_LOG, 3);
    made_add_raw(&made, "{\"v\":1");
    ck_line_hash("{\"v\":1\n", 7, hash);
    (void)snprintf(body, sizeof(body), ",\"torn_bytes\":6,\"torn_hash\":\"%s\",\"reason\":\"cut off\"", hash);
    made_add(&made, "repair", body);
    expect(&made, NULL, CHOKE_DAMAGE_MALFORMED, 4);
    made_free(&made);
}

/* Otherwise whoever appends a repair could pass off an edited record as a torn one. */
static void a_line_with_the_closing_of_a_record_is_never_a_torn_write(void **state)
{
    (void)state;
    struct made_log made;
    made_usual(&made, MADE_LOG, 3);
    char *edited = strdup(made.lines[2]);
    assert_non_null(edited);
    edited[strlen(edited) - CK_AUDIT_CLOSING_LENGTH - 3] ^= 1;
    made_add_raw(&made, edited);
    char *with_newline = NULL;
    assert_true(asprintf(&with_newline, "%s\n", edited) > 0);
    add_repair(&made, with_newline);
    expect(&made, NULL, CHOKE_DAMAGE_EDITED, 4);
    free(with_newline);
    free(edited);
    made_free(&made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_whole_log_holds_with_and_without_heads),
        cmocka_unit_test(every_flip_of_a_bit_is_found_in_its_line),
        cmocka_unit_test(every_cut_at_a_byte_is_found_with_a_head),
        cmocka_unit_test(a_cut_in_a_line_is_torn_without_a_head),
        cmocka_unit_test(every_deleted_line_is_found),
        cmocka_unit_test(every_run_of_deleted_lines_is_found),
        cmocka_unit_test(every_copied_line_is_found_wherever_it_goes),
        cmocka_unit_test(every_moved_line_is_found_wherever_it_goes),
        cmocka_unit_test(every_line_of_another_log_is_found),
        cmocka_unit_test(every_line_that_was_hashed_anew_is_found_in_the_next),
        cmocka_unit_test(every_chain_that_was_rebuilt_is_found_with_a_head),
        cmocka_unit_test(one_head_of_many_that_does_not_hold_is_enough),
        cmocka_unit_test(a_record_that_renumbers_itself_is_found),
        cmocka_unit_test(a_first_record_with_one_before_it_is_found),
        cmocka_unit_test(a_hash_over_what_is_not_json_proves_nothing),
        cmocka_unit_test(a_head_of_another_log_is_found),
        cmocka_unit_test(a_head_beyond_the_end_is_a_cut),
        cmocka_unit_test(a_head_before_the_first_record_asks_for_the_files_before),
        cmocka_unit_test(a_log_without_a_record_is_cut),
        cmocka_unit_test(a_torn_write_that_a_repair_vouches_for_is_no_damage),
        cmocka_unit_test(what_a_repair_does_not_vouch_for_is_damage),
        cmocka_unit_test(a_repair_that_is_wrong_about_the_length_vouches_for_nothing),
        cmocka_unit_test(a_line_with_the_closing_of_a_record_is_never_a_torn_write),
    };
    return cmocka_run_group_tests(tests, make_logs, free_logs);
}
