/*
 * format.c - text and durations in a limited number of columns; see format.h.
 *
 * Columns are counted without a locale: the command sets none, and a terminal may use other widths
 * anyway.
 */
#include "gather/view/format.h"

#include "front/text.h"

#include <string.h>

#define DOTS "..."
#define SAFE_SIZE 1024 /* longer texts are cut before their columns are counted */

/*
 * The width of the character that begins with this byte; 0 in the middle of one. A character of
 * three bytes or more may be wide.
 */
static size_t width_of(unsigned char byte)
{
    if ((byte & 0xc0) == 0x80)
        return 0;
    /* 0xe0 begins a character of three bytes. */
    return byte < 0xe0 ? 1 : 2;
}

size_t ck_view_columns(const char *text)
{
    size_t columns = 0;

    for (; *text != '\0'; text++)
        columns += width_of((unsigned char)*text);
    return columns;
}

size_t ck_view_fitting(const char *text, size_t columns)
{
    size_t at = 0;

    for (size_t used = 0; text[at] != '\0'; at++) {
        used += width_of((unsigned char)text[at]);
        if (used > columns)
            break;
    }
    return at;
}

const char *ck_view_cut(char *dst, size_t dst_size, const char *text, size_t columns)
{
    char safe[SAFE_SIZE];
    /* Fewer dots on less than three columns. */
    size_t dots = columns < strlen(DOTS) ? columns : strlen(DOTS);

    (void)ck_text_safe(safe, sizeof(safe), text);
    if (ck_view_columns(safe) <= columns)
        (void)snprintf(dst, dst_size, "%s", safe);
    else
        (void)snprintf(dst, dst_size, "%.*s%.*s", (int)ck_view_fitting(safe, columns - dots), safe, (int)dots, DOTS);
    return dst;
}

const char *ck_view_duration(char dst[CK_VIEW_DURATION_SIZE], uint64_t us)
{
    unsigned long long seconds = us / 1000000;

    /* Each form has at most six columns, the width of the table's column. */
    if (seconds < 100)
        (void)snprintf(dst, CK_VIEW_DURATION_SIZE, "%llu.%llus", seconds, (unsigned long long)us / 100000 % 10);
    else if (seconds < 6000)
        (void)snprintf(dst, CK_VIEW_DURATION_SIZE, "%llum%02llus", seconds / 60, seconds % 60);
    else if (seconds < 100 * 3600)
        (void)snprintf(dst, CK_VIEW_DURATION_SIZE, "%lluh%02llum", seconds / 3600, seconds / 60 % 60);
    else
        (void)snprintf(dst, CK_VIEW_DURATION_SIZE, "days");
    return dst;
}

const char *ck_view_state_colour(enum ck_probe_state state)
{
    switch (state) {
    case CK_PROBE_STATE_RUNNING:
        /* Cyan, green, red, yellow. */
        return "\033[36m";
    case CK_PROBE_STATE_OK:
        return "\033[32m";
    case CK_PROBE_STATE_FAILED:
    case CK_PROBE_STATE_TIMEOUT:
    case CK_PROBE_STATE_REFUSED:
        return "\033[31m";
    case CK_PROBE_STATE_TOOL_MISSING:
    case CK_PROBE_STATE_CANCELLED:
        return "\033[33m";
    case CK_PROBE_STATE_WAITING:
    case CK_PROBE_STATE_SKIPPED:
        return CK_VIEW_DIM;
    }
    return "";
}
