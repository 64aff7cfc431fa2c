/* bar.h - counts of several kinds as a bar of SVG. The colours are classes of the style sheet. */
#ifndef CK_REPORT_BAR_H
#define CK_REPORT_BAR_H

#include "report/page.h"

#define CK_BAR_KINDS 5

/* The kinds in the order in which they are stacked; "fill-NAME" is the class of each. */
struct ck_bar_scale {
    const char *names[CK_BAR_KINDS];
};

extern const struct ck_bar_scale ck_bar_severities;

/* most: the total that fills the width. label: read out in place of the picture; "": not at all. */
void ck_bar_write(struct ck_page *page, const struct ck_bar_scale *scale, const uint64_t counts[CK_BAR_KINDS],
                  uint64_t most, const char *label);

/* Columns next to each other, from the bottom up, all in one picture of 1000 by 100. */
void ck_bar_column(struct ck_page *page, const struct ck_bar_scale *scale, const uint64_t counts[CK_BAR_KINDS],
                   uint64_t most, size_t at, size_t columns);

/* What is clicked for a column: all of its height, because what is drawn may be one line high, or nothing. */
void ck_bar_hit(struct ck_page *page, size_t at, size_t columns);

/* "24 high, 3 low"; "none" if all are 0 */
void ck_bar_words(struct ck_page *page, const struct ck_bar_scale *scale, const uint64_t counts[CK_BAR_KINDS]);

#endif
