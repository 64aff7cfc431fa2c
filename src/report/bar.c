/*
 * bar.c - see bar.h. Whole numbers only: a decimal point would be a comma in some locales.
 */
#include "report/bar.h"

#define WIDTH 1000
#define HEIGHT 100
#define COLUMN_GAP 4
#define COLUMN_MOST 60 /* the width of a column among few; it is in the middle of its part */
#define WIDTH_LEAST 4  /* what is there is seen, however little it is */

const struct ck_bar_scale ck_bar_severities = {{"critical", "high", "medium", "low", "info"}};

void ck_bar_write(struct ck_page *page, const struct ck_bar_scale *scale, const uint64_t counts[CK_BAR_KINDS],
                  uint64_t most, const char *label)
{
    size_t x = 0;

    ck_page_print(page, "<svg class=\"bar\" viewBox=\"0 0 %u 10\" preserveAspectRatio=\"none\" ", (unsigned)WIDTH);
    if (label[0] != '\0')
        ck_page_print(page, "role=\"img\" aria-label=\"%s\">", label);
    else
        ck_page_print(page, "aria-hidden=\"true\">");
    for (unsigned kind = 0; most > 0 && kind < CK_BAR_KINDS; kind++) {
        size_t width = (size_t)(counts[kind] * WIDTH / most);
        if (counts[kind] > 0 && width < WIDTH_LEAST)
            width = WIDTH_LEAST;
        if (width > WIDTH - x)
            width = WIDTH - x;
        if (width > 0)
            ck_page_print(page, "<rect class=\"fill-%s\" x=\"%zu\" width=\"%zu\" height=\"10\"/>", scale->names[kind],
                          x, width);
        x += width;
    }
    ck_page_print(page, "</svg>");
}

void ck_bar_column(struct ck_page *page, const struct ck_bar_scale *scale, const uint64_t counts[CK_BAR_KINDS],
                   uint64_t most, size_t at, size_t columns)
{
    size_t x = at * WIDTH / columns;
    size_t width = (at + 1) * WIDTH / columns - x;
    size_t y = HEIGHT;

    if (width > COLUMN_MOST + COLUMN_GAP) {
        x += (width - COLUMN_MOST) / 2;
        width = COLUMN_MOST;
    } else if (width > 2 * COLUMN_GAP) {
        width -= COLUMN_GAP;
    }
    for (unsigned kind = 0; most > 0 && kind < CK_BAR_KINDS; kind++) {
        size_t height = (size_t)(counts[kind] * HEIGHT / most);
        if (counts[kind] > 0 && height == 0)
            height = 1;
        if (height > y)
            height = y;
        y -= height;
        if (height > 0)
            ck_page_print(page, "<rect class=\"fill-%s\" x=\"%zu\" y=\"%zu\" width=\"%zu\" height=\"%zu\"/>",
                          scale->names[kind], x, y, width, height);
    }
}

void ck_bar_hit(struct ck_page *page, size_t at, size_t columns)
{
    size_t x = at * WIDTH / columns;

    ck_page_print(page, "<rect class=\"hit\" x=\"%zu\" width=\"%zu\" height=\"%u\"/>", x,
                  (at + 1) * WIDTH / columns - x, (unsigned)HEIGHT);
}

void ck_bar_words(struct ck_page *page, const struct ck_bar_scale *scale, const uint64_t counts[CK_BAR_KINDS])
{
    const char *separator = "";

    for (unsigned kind = 0; kind < CK_BAR_KINDS; kind++)
        if (counts[kind] > 0) {
            ck_page_print(page, "%s%'zu %s", separator, (size_t)counts[kind], scale->names[kind]);
            separator = ", ";
        }
    if (separator[0] == '\0')
        ck_page_print(page, "none");
}
