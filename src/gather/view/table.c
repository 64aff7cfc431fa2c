/*
 * table.c - the live table. Between two frames the cursor is in the line below the table. A frame
 * moves up to each line that changed, rewrites it and comes back. There is no alternate screen:
 * earlier output stays, and so does the table at the end.
 *
 * Must not block: while probes run, SIGINT arrives through a descriptor, and a terminal may be
 * stopped (Ctrl-S) or its other end stuck. So the terminal is opened again with O_NONBLOCK, because
 * other processes share the flags of the given descriptor. What the terminal does not accept of a
 * frame is kept, and there is no new frame before it is written.
 */
#include "gather/view/format.h"
#include "gather/view/table_row.h"

#include "front/outlet.h"
#include "front/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define FRAME_US 100000 /* the shortest time between two frames */
#define COLUMNS_MIN 16  /* nothing is drawn on fewer columns */
#define LINES_MIN 4     /* the head, one row, the line of the rest, and the line of the cursor */
#define END_MS 200      /* to wait for the last frame */

struct table_line {
    char text[CK_TABLE_ROW_SIZE];
};

/*
 * What is drawn next, or was drawn: the head, rows, and perhaps the number of rows that do not fit.
 */
struct table_frame {
    struct table_line *lines;
    size_t count;
};

struct ck_table {
    const struct ck_gathering *gathering; /* not owned */
    int fd;                               /* the terminal, opened again */
    bool colour;
    bool gone;                      /* writing failed */
    bool whole;                     /* also rows that do not fit: the terminal may scroll now */
    size_t columns, rows;           /* of the terminal */
    uint64_t now_us;                /* of the last frame */
    bool drawn;                     /* there was a frame */
    struct table_frame shown, next; /* each has room for all lines */
    char *rest;                     /* of the last frame, and how much of it is written */
    size_t rest_length, rest_done;
};

/* ---- beginning and end ---- */

/*
 * If it cannot be opened, for example by another user, a copy of the descriptor is used, which may
 * block.
 */
static int reopen(int fd)
{
    char path[64];

    (void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    int own_fd = open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    return own_fd >= 0 ? own_fd : fcntl(fd, F_DUPFD_CLOEXEC, 3);
}

/* Accepts a table that is only partly made. */
static void drop(struct ck_table *table)
{
    if (table->fd >= 0)
        (void)close(table->fd);
    free(table->shown.lines);
    free(table->next.lines);
    free(table->rest);
    free(table);
}

int ck_table_new(const struct ck_gathering *gathering, int fd, struct ck_table **ret_table, struct choke_error *error)
{
    if (!ck_text_cursor(fd)) {
        *ret_table = NULL;
        return 0;
    }
    struct ck_table *table = calloc(1, sizeof(*table));
    if (!table)
        return ck_text_error(error, CHOKE_SPAWN_FAILED, ENOMEM, "out of memory for the table");

    table->gathering = gathering;
    table->colour = ck_text_colour(fd);
    table->fd = reopen(fd);
    /* Two more: the head, and the line with the number of rows that are left out. */
    table->shown.lines = calloc(gathering->count + 2, sizeof(*table->shown.lines));
    table->next.lines = calloc(gathering->count + 2, sizeof(*table->next.lines));
    if (!table->shown.lines || !table->next.lines || table->fd < 0) {
        drop(table);
        return ck_text_error(error, CHOKE_SPAWN_FAILED, ENOMEM, "out of memory for the table");
    }
    *ret_table = table;
    return 0;
}

/* ---- what is drawn ---- */

/* True if the size of the terminal has changed. */
static bool measure(struct ck_table *table)
{
    struct winsize size = {0};
    size_t columns = table->columns;
    size_t rows = table->rows;

    (void)ioctl(table->fd, TIOCGWINSZ, &size);
    /* Some terminals, such as serial lines, report 0; then 80 by 24 is assumed. */
    table->columns = size.ws_col > 0 ? size.ws_col : CK_VIEW_COLUMNS;
    table->rows = size.ws_row > 0 ? size.ws_row : 24;
    return table->columns != columns || table->rows != rows;
}

/*
 * Which probes are shown if not all fit: those that run, then those that wait, then those that
 * ended.
 */
static unsigned rank(const struct ck_probe_report *report)
{
    return report->state == CK_PROBE_STATE_RUNNING ? 0 : report->state == CK_PROBE_STATE_WAITING ? 1 : 2;
}

/* Is the probe among the first most by rank, and then by file order? */
static bool is_among(const struct ck_gathering *gathering, size_t index, size_t most)
{
    size_t before = 0;

    for (size_t i = 0; i < gathering->count; i++) {
        unsigned other = rank(&gathering->reports[i]);
        unsigned own = rank(&gathering->reports[index]);
        before += other < own || (other == own && i < index);
    }
    return before < most;
}

/* If not all rows fit, one line says how many are missing. */
static void compose(struct ck_table *table)
{
    const struct ck_gathering *gathering = table->gathering;
    struct table_frame *next = &table->next;
    struct ck_table_row_widths widths;
    size_t most = gathering->count;

    next->count = 0;
    if (table->columns < COLUMNS_MIN || (table->rows < LINES_MIN && !table->whole))
        return;
    if (!table->whole && most + 2 > table->rows) /* the head, and the line of the cursor */
        /* The head, the line of the cursor, and the line with the number of the rest. */
        most = table->rows - 3;
    ck_table_row_fit_widths(&widths, gathering, table->columns);
    (void)ck_table_row_head(next->lines[next->count++].text, &widths, table->colour);
    for (size_t i = 0; i < gathering->count; i++)
        if (is_among(gathering, i, most))
            (void)ck_table_row_probe(next->lines[next->count++].text, &widths, &gathering->reports[i], table->now_us,
                                     table->colour);
    if (most < gathering->count)
        (void)snprintf(next->lines[next->count++].text, CK_TABLE_ROW_SIZE, "(%zu more)", gathering->count - most);
}

/* ---- frames ---- */

/* The columns of a line with colour escapes in it. */
static size_t visible_columns(const char *text)
{
    size_t columns = 0;

    while (*text != '\0') {
        /* An escape ends at its "m": only colours occur here. */
        size_t plain = strcspn(text, "\033");
        columns += ck_view_columns(text) - ck_view_columns(text + plain);
        text += plain;
        text += strcspn(text, "m");
        text += *text != '\0';
    }
    return columns;
}

/*
 * Moves to the first line of the table and clears from there. A terminal that became narrower has
 * broken long lines into several, so they are counted with the new width.
 */
static void erase(struct ck_table *table, FILE *frame)
{
    size_t up = 0;

    for (size_t i = 0; i < table->shown.count; i++) {
        size_t columns = visible_columns(table->shown.lines[i].text);
        up += columns > table->columns ? (columns + table->columns - 1) / table->columns : 1;
    }
    if (up > 0)
        (void)fprintf(frame, "\033[%zuA", up);
    /* CSI J clears to the end of the screen. */
    (void)fputs("\r\033[J", frame);
    table->shown.count = 0;
}

/*
 * The first frame is written line by line. Later frames move up (CSI A), rewrite and clear a
 * changed line (CSI K), and move down again (CSI B).
 */
static void write_changes(const struct ck_table *table, FILE *frame)
{
    const struct table_frame *next = &table->next;

    for (size_t i = 0; i < next->count; i++) {
        const char *text = next->lines[i].text;
        if (table->shown.count == 0)
            (void)fprintf(frame, "%s\r\n", text);
        else if (strcmp(table->shown.lines[i].text, text) != 0)
            (void)fprintf(frame, "\033[%zuA\r%s\033[K\033[%zuB\r", next->count - i, text, next->count - i);
    }
}

/* Writes the bytes that turn shown into next to rest. False when out of memory. */
static bool make_frame(struct ck_table *table, bool redraw_all)
{
    FILE *frame = open_memstream(&table->rest, &table->rest_length);
    if (!frame)
        return false;

    /* Rows were added or removed, so no line can be compared with its old one. */
    if (redraw_all || table->shown.count != table->next.count)
        erase(table, frame);
    write_changes(table, frame);
    if (table->whole && table->next.count > 0)
        (void)fputs("\r\n", frame); /* later output starts on its own line */
    bool bad = ferror(frame) != 0;
    if (fclose(frame) != 0 || bad)
        return false;
    /* The two arrays change places; the old one is filled again by the next compose. */
    struct table_frame last = table->shown;
    table->shown = table->next;
    table->next = last;
    return true;
}

/* True if nothing is left to write. */
static bool flush(struct ck_table *table)
{
    while (table->rest_done < table->rest_length && !table->gone) {
        ssize_t written = write(table->fd, table->rest + table->rest_done, table->rest_length - table->rest_done);
        if (written >= 0)
            table->rest_done += (size_t)written;
        else if (errno == EAGAIN)
            return false;
        else
            table->gone = errno != EINTR;
    }
    /* Also if the terminal is gone: the rest is dropped. */
    free(table->rest);
    table->rest = NULL;
    table->rest_length = table->rest_done = 0;
    return true;
}

/*
 * A command in the background must not draw. If the terminal has no foreground group for us (-1),
 * it draws.
 */
static bool is_in_background(const struct ck_table *table)
{
    pid_t foreground = tcgetpgrp(table->fd);
    return foreground >= 0 && foreground != getpgrp();
}

/* A frame that could not be made ends the drawing for good. */
static void draw(struct ck_table *table)
{
    bool redraw_all = measure(table) || table->whole;

    compose(table);
    table->gone = table->gone || !make_frame(table, redraw_all);
}

/* No new frame before the last one is written, and at most one per FRAME_US. */
void ck_table_draw(struct ck_table *table, uint64_t now_us)
{
    if (!table || table->gone || is_in_background(table) || !flush(table) ||
        (table->drawn && now_us - table->now_us < FRAME_US))
        return;
    table->now_us = now_us;
    table->drawn = true;
    draw(table);
    (void)flush(table);
}

/* Waits a short time for the terminal to accept the last frame. */
static void flush_waiting(struct ck_table *table)
{
    struct ck_outlet outlet = CK_OUTLET(table->fd);

    ck_outlet_deadline(&outlet, END_MS);
    ck_outlet_write(&outlet, table->rest + table->rest_done, table->rest_length - table->rest_done);
    /* The bytes are written or lost; nothing of this frame is tried again. */
    table->gone = outlet.cut || outlet.error != 0;
    table->rest_done = table->rest_length;
    (void)flush(table);
}

/* The last frame shows all rows and may scroll, because nothing is redrawn after it. */
void ck_table_free(struct ck_table *table)
{
    if (!table)
        return;
    /* Writing from the background could stop the process with SIGTTOU. */
    table->gone = table->gone || is_in_background(table);
    if (!table->gone && !flush(table))
        flush_waiting(table);
    if (!table->gone) {
        table->whole = true;
        draw(table);
    }
    if (!table->gone)
        flush_waiting(table);
    drop(table);
}
