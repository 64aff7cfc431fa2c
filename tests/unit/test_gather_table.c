/* test_gather_table.c - what a terminal shows of the live table: a small emulator obeys the bytes
 * that it gets. */
#include "gather_fixture.h"

#include "gather/view/format.h"
#include "gather/view/table_row.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cmocka.h>

#define SCREEN_LINES 64
#define SCREEN_COLUMNS 128
#define FRAME_US 100000
#define MARK '\a' /* the table never sends it */
#define PATIENCE_MS 20000

/* ---- a terminal ---- */

struct terminal {
    int ours, theirs;
    int mark_fd; /* theirs once more, without blocking */
    char cells[SCREEN_LINES][SCREEN_COLUMNS + 1];
    size_t line, column, widest;
    size_t bytes, escapes; /* that came since they were last set to 0 */
};

static void resize(struct terminal *terminal, unsigned short columns, unsigned short lines)
{
    struct winsize size = {.ws_col = columns, .ws_row = lines};
    assert_int_equal(ioctl(terminal->theirs, TIOCSWINSZ, &size), 0);
}

static void terminal_open(struct terminal *terminal, unsigned short columns, unsigned short lines)
{
    *terminal = (struct terminal){.ours = -1};
    assert_int_equal(openpty(&terminal->ours, &terminal->theirs, NULL, NULL, NULL), 0);
    assert_int_equal(fcntl(terminal->ours, F_SETFL, O_NONBLOCK), 0);
    terminal->mark_fd = open(ptsname(terminal->ours), O_WRONLY | O_NONBLOCK | O_NOCTTY);
    assert_true(terminal->mark_fd >= 0);
    resize(terminal, columns, lines);
    (void)setenv("TERM", "xterm", 1);
    (void)setenv("NO_COLOR", "1", 1);
}

static void terminal_close(struct terminal *terminal)
{
    (void)close(terminal->ours);
    (void)close(terminal->theirs);
    (void)close(terminal->mark_fd);
}

static void clear(struct terminal *terminal, size_t line, size_t column)
{
    memset(terminal->cells[line] + column, 0, SCREEN_COLUMNS - column);
}

/* Obeys one of the escapes that may be sent; any other fails the test. Returns its length. */
static size_t apply_escape(struct terminal *terminal, const char *text)
{
    char *end = NULL;
    terminal->escapes++;
    assert_int_equal(text[1], '[');
    unsigned long number = strtoul(text + 2, &end, 10);
    switch (*end) {
    case 'A':
        assert_in_range(number, 1, terminal->line);
        terminal->line -= number;
        break;
    case 'B':
        terminal->line += number;
        assert_in_range(terminal->line, 0, SCREEN_LINES - 1);
        break;
    case 'K':
        clear(terminal, terminal->line, terminal->column);
        break;
    case 'J':
        clear(terminal, terminal->line, terminal->column);
        for (size_t i = terminal->line + 1; i < SCREEN_LINES; i++)
            clear(terminal, i, 0);
        break;
    case 'm':
        break;
    default:
        fail_msg("the terminal was sent an escape '%c'", *end);
    }
    return (size_t)(end + 1 - text);
}

static void take(struct terminal *terminal, const char *text)
{
    while (*text != '\0') {
        if (*text == '\033') {
            text += apply_escape(terminal, text);
            continue;
        }
        if (*text == '\r') {
            terminal->column = 0;
        } else if (*text == '\n') {
            terminal->line++;
        } else {
            assert_in_range((unsigned char)*text, 0x20, 0x7e);
            assert_in_range(terminal->column, 0, SCREEN_COLUMNS - 1);
            terminal->cells[terminal->line][terminal->column++] = *text;
            if (terminal->column > terminal->widest)
                terminal->widest = terminal->column;
        }
        assert_in_range(terminal->line, 0, SCREEN_LINES - 1);
        text++;
    }
}

/* Reads all that was sent so far. The kernel delivers it with a delay, so a mark is sent after it
 * and waited for. */
static void update(struct terminal *terminal)
{
    static char text[1 << 20];
    struct pollfd fd = {.fd = terminal->ours, .events = POLLIN};
    size_t used = 0;
    bool sent = false;

    while (used == 0 || text[used - 1] != MARK) {
        sent = sent || write(terminal->mark_fd, &(char){MARK}, 1) == 1;
        assert_int_equal(poll(&fd, 1, PATIENCE_MS), 1);
        ssize_t length = read(terminal->ours, text + used, sizeof(text) - used);
        used += length > 0 ? (size_t)length : 0;
        assert_in_range(used, 0, sizeof(text) - 1);
    }
    text[--used] = '\0';
    terminal->bytes += used;
    take(terminal, text);
}

/* Is there a line with both strings? */
static bool shows(const struct terminal *terminal, const char *name, const char *fragment)
{
    for (size_t i = 0; i < SCREEN_LINES; i++)
        if (strstr(terminal->cells[i], name) && strstr(terminal->cells[i], fragment))
            return true;
    return false;
}

static size_t lines_shown(const struct terminal *terminal)
{
    size_t count = 0;
    for (size_t i = 0; i < SCREEN_LINES; i++)
        count += terminal->cells[i][0] != '\0';
    return count;
}

static struct ck_table *table_on(const struct terminal *terminal, const struct fixture *fixture)
{
    struct ck_table *table = NULL;
    struct choke_error error;
    assert_int_equal(ck_table_new(&fixture->gathering, terminal->theirs, &table, &error), 0);
    return table;
}

/* A terminal of 80 columns with a table of the probes on it. */
static struct ck_table *begin(struct terminal *terminal, struct fixture *fixture, unsigned short lines)
{
    terminal_open(terminal, 80, lines);
    fixture_init(fixture, 1);
    return table_on(terminal, fixture);
}

static void end(struct terminal *terminal, struct fixture *fixture)
{
    fixture_done(fixture);
    terminal_close(terminal);
}

static void draw(struct ck_table *table, struct terminal *terminal, uint64_t now_us)
{
    ck_table_draw(table, now_us);
    update(terminal);
}

/* ---- rows ---- */

static void rows_fit_any_terminal(void **state)
{
    struct fixture fixture;
    (void)state;
    fixture_init(&fixture, 1);
    for (size_t columns = 16; columns <= 200; columns++) {
        size_t most = (columns < 80 ? columns : 80) - 1;
        struct ck_table_row_widths widths;
        char text[CK_TABLE_ROW_SIZE];
        ck_table_row_fit_widths(&widths, &fixture.gathering, columns);
        assert_in_range(ck_view_columns(ck_table_row_head(text, &widths, false)), 1, most);
        for (size_t i = 0; i < FIXTURE_PROBES; i++) {
            (void)ck_table_row_probe(text, &widths, &fixture.reports[i], 0, false);
            assert_in_range(ck_view_columns(text), 1, most);
            assert_null(strchr(text, '\033'));
        }
    }
    fixture_done(&fixture);
}

static void every_column_is_there_at_80(void **state)
{
    struct fixture fixture;
    struct ck_table_row_widths widths;
    char text[CK_TABLE_ROW_SIZE];
    (void)state;
    fixture_init(&fixture, 1);
    ck_table_row_fit_widths(&widths, &fixture.gathering, 80);
    assert_string_equal(ck_table_row_probe(text, &widths, &fixture.reports[2], 0, false),
                        "structural_patterns           ast-grep            ok                    1234567");
    fixture_done(&fixture);
}

static void a_name_with_escapes_is_harmless(void **state)
{
    struct fixture fixture;
    struct ck_table_row_widths widths;
    char text[CK_TABLE_ROW_SIZE];
    (void)state;
    fixture_init(&fixture, 1);
    fixture.probes[0].tool = "\033[2J\xe2\x80\xae";
    ck_table_row_fit_widths(&widths, &fixture.gathering, 80);
    (void)ck_table_row_probe(text, &widths, &fixture.reports[0], 0, false);
    for (const char *at = text; *at != '\0'; at++)
        assert_in_range((unsigned char)*at, 0x20, 0x7e);
    fixture_done(&fixture);
}

static void times_take_six_columns(void **state)
{
    static const struct {
        uint64_t us;
        const char *text;
    } cases[] = {{0, "0.0s"},          {49999, "0.0s"},        {1250000, "1.2s"},     {99999999, "99.9s"},
                 {100000000, "1m40s"}, {5999000000, "99m59s"}, {6000000000, "1h40m"}, {UINT64_MAX, "days"}};
    char text[CK_VIEW_DURATION_SIZE];
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_string_equal(ck_view_duration(text, cases[i].us), cases[i].text);
}

static void wide_characters_count_for_two(void **state)
{
    char text[64];
    (void)state;
    assert_int_equal(ck_view_columns("caf\xc3\xa9"), 4);
    assert_int_equal(ck_view_columns("\xe6\xbc\xa2\xe5\xad\x97"), 4);
    assert_string_equal(ck_view_cut(text, sizeof(text), "\xe6\xbc\xa2\xe5\xad\x97\xe6\xbc\xa2", 5), "\xe6\xbc\xa2...");
    assert_string_equal(ck_view_cut(text, sizeof(text), "abcdef", 2), "..");
    assert_string_equal(ck_view_cut(text, sizeof(text), "abcdef", 0), "");
}

/* ---- frames ---- */

static void the_table_follows_the_probes(void **state)
{
    struct terminal terminal;
    struct fixture fixture;
    (void)state;
    struct ck_table *table = begin(&terminal, &fixture, 40);
    fixture.reports[8].state = CK_PROBE_STATE_WAITING;

    draw(table, &terminal, 0);
    assert_true(shows(&terminal, "late", "waiting"));
    fixture.reports[8].state = CK_PROBE_STATE_RUNNING;
    fixture.reports[8].started_us = 50000;
    draw(table, &terminal, 10050000);
    assert_true(shows(&terminal, "late", "running"));
    assert_true(shows(&terminal, "late", "10.0s"));
    fixture.reports[8].state = CK_PROBE_STATE_OK;
    fixture.reports[8].ended_us = 3050000;
    ck_table_free(table);
    update(&terminal);
    assert_true(shows(&terminal, "late", "ok"));
    assert_true(shows(&terminal, "late", "3.0s"));
    assert_false(shows(&terminal, "late", "running"));
    assert_int_equal(lines_shown(&terminal), FIXTURE_PROBES + 1);
    assert_in_range(terminal.widest, 1, 79);
    end(&terminal, &fixture);
}

static void only_what_changed_is_drawn_and_not_too_often(void **state)
{
    struct terminal terminal;
    struct fixture fixture;
    (void)state;
    struct ck_table *table = begin(&terminal, &fixture, 40);

    draw(table, &terminal, 0);
    terminal.bytes = 0;
    draw(table, &terminal, FRAME_US);
    assert_int_equal(terminal.bytes, 0);
    fixture.reports[4].state = CK_PROBE_STATE_OK;
    draw(table, &terminal, FRAME_US + FRAME_US / 2);
    assert_int_equal(terminal.bytes, 0);
    draw(table, &terminal, 2 * FRAME_US);
    assert_in_range(terminal.bytes, 1, 120);
    assert_true(shows(&terminal, "slow", "ok"));
    ck_table_free(table);
    end(&terminal, &fixture);
}

static void a_low_terminal_shows_what_runs_and_all_at_the_end(void **state)
{
    struct terminal terminal;
    struct fixture fixture;
    (void)state;
    struct ck_table *table = begin(&terminal, &fixture, 6);
    fixture.reports[7].state = CK_PROBE_STATE_RUNNING;
    fixture.reports[8].state = CK_PROBE_STATE_RUNNING;

    draw(table, &terminal, 0);
    assert_int_equal(lines_shown(&terminal), 5);
    assert_true(shows(&terminal, "forbidden", "running"));
    assert_true(shows(&terminal, "late", "running"));
    assert_true(shows(&terminal, "(6 more)", ""));
    ck_table_free(table);
    update(&terminal);
    assert_int_equal(lines_shown(&terminal), FIXTURE_PROBES + 1);
    end(&terminal, &fixture);
}

static void a_terminal_may_change_its_size(void **state)
{
    struct terminal terminal;
    struct fixture fixture;
    (void)state;
    struct ck_table *table = begin(&terminal, &fixture, 40);

    draw(table, &terminal, 0);
    resize(&terminal, 100, 40);
    draw(table, &terminal, FRAME_US);
    assert_int_equal(lines_shown(&terminal), FIXTURE_PROBES + 1);
    for (unsigned short columns = 79; columns > 0; columns--) {
        /* The screen is cleared first, so the test need not know how the terminal wraps its lines. */
        resize(&terminal, columns, 40);
        for (size_t i = 0; i < SCREEN_LINES; i++)
            clear(&terminal, i, 0);
        terminal.line = SCREEN_LINES / 2 + 10;
        terminal.widest = 0;
        draw(table, &terminal, (uint64_t)(100 - columns) * 2 * FRAME_US);
        assert_in_range(terminal.widest, 0, columns - 1);
    }
    ck_table_free(table);
    end(&terminal, &fixture);
}

static void lines_that_were_broken_are_counted(void **state)
{
    struct terminal terminal;
    struct fixture fixture;
    (void)state;
    struct ck_table *table = begin(&terminal, &fixture, 40);

    draw(table, &terminal, 0);
    size_t rows = 0;
    for (size_t i = 0; i < SCREEN_LINES; i++)
        rows += (strlen(terminal.cells[i]) + 39) / 40;
    resize(&terminal, 40, 40);
    terminal.line = rows; /* where a terminal that breaks its lines has the cursor now */
    draw(table, &terminal, FRAME_US);
    assert_int_equal(lines_shown(&terminal), FIXTURE_PROBES + 1);
    assert_non_null(strstr(terminal.cells[0], "PROBE"));
    ck_table_free(table);
    end(&terminal, &fixture);
}

/* No reader: a blocking write would hang the test, and with it the clean-up. */
static void a_stuck_terminal_does_not_block(void **state)
{
    struct terminal terminal;
    struct fixture fixture;
    (void)state;
    struct ck_table *table = begin(&terminal, &fixture, 40);

    for (uint64_t frame = 0; frame < 2000; frame++) {
        fixture.reports[frame % FIXTURE_PROBES].state = frame % 2 == 0 ? CK_PROBE_STATE_OK : CK_PROBE_STATE_FAILED;
        ck_table_draw(table, frame * FRAME_US);
    }
    update(&terminal); /* it reads again, and the kept bytes complete the picture */
    ck_table_draw(table, 3000 * FRAME_US);
    draw(table, &terminal, 3001 * FRAME_US);
    assert_int_equal(lines_shown(&terminal), FIXTURE_PROBES + 1);
    for (uint64_t frame = 4000; frame < 6000; frame++) {
        fixture.reports[frame % FIXTURE_PROBES].state = frame % 2 == 0 ? CK_PROBE_STATE_OK : CK_PROBE_STATE_FAILED;
        ck_table_draw(table, frame * FRAME_US);
    }
    ck_table_free(table);
    end(&terminal, &fixture);
}

static void colours_are_for_who_wants_them(void **state)
{
    struct terminal terminal;
    struct fixture fixture;
    (void)state;
    fixture_init(&fixture, 1);
    for (int colour = 0; colour < 2; colour++) {
        terminal_open(&terminal, 80, 40);
        (void)setenv("NO_COLOR", colour == 0 ? "1" : "", 1);
        struct ck_table *table = table_on(&terminal, &fixture);
        draw(table, &terminal, 0);
        assert_int_equal(terminal.escapes > 1, colour); /* the one that clears */
        assert_in_range(terminal.widest, 1, 79);
        ck_table_free(table);
        terminal_close(&terminal);
    }
    fixture_done(&fixture);
}

static void there_is_no_table_without_a_cursor(void **state)
{
    static const char *const terms[] = {"dumb", ""};
    struct ck_table *table = NULL;
    struct choke_error error;
    struct terminal terminal;
    struct fixture fixture;
    int ends[2];
    (void)state;
    terminal_open(&terminal, 80, 40);
    fixture_init(&fixture, 1);
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(ck_table_new(&fixture.gathering, ends[1], &table, &error), 0);
    assert_null(table);
    for (size_t i = 0; i < 2; i++) {
        (void)setenv("TERM", terms[i], 1);
        assert_null(table_on(&terminal, &fixture));
    }
    ck_table_draw(NULL, 0);
    ck_table_free(NULL);
    (void)close(ends[0]);
    (void)close(ends[1]);
    end(&terminal, &fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_fit_any_terminal),
        cmocka_unit_test(every_column_is_there_at_80),
        cmocka_unit_test(a_name_with_escapes_is_harmless),
        cmocka_unit_test(times_take_six_columns),
        cmocka_unit_test(wide_characters_count_for_two),
        cmocka_unit_test(the_table_follows_the_probes),
        cmocka_unit_test(only_what_changed_is_drawn_and_not_too_often),
        cmocka_unit_test(a_low_terminal_shows_what_runs_and_all_at_the_end),
        cmocka_unit_test(a_terminal_may_change_its_size),
        cmocka_unit_test(lines_that_were_broken_are_counted),
        cmocka_unit_test(a_stuck_terminal_does_not_block),
        cmocka_unit_test(colours_are_for_who_wants_them),
        cmocka_unit_test(there_is_no_table_without_a_cursor),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
