/*
 * grid.h - the rows of a page as data for its script: page/grid.js reads what is written here.
 *
 * A value is a number, or a text. Texts are written once each, sorted, and rows have their places
 * in that list. So the script sorts by numbers only, and searches each text once.
 */
#ifndef CK_REPORT_GRID_H
#define CK_REPORT_GRID_H

#include "report/page.h"
#include "report/strings.h"

struct ck_grid_column {
    const char *name;
    bool is_text;
};

struct ck_grid {
    const struct ck_grid_column *columns;
    size_t column_count;
    uint64_t *values; /* row after row; of a text its number in strings */
    size_t rows, capacity;
};

/* Room for one more row, with zeros; NULL: no memory. */
uint64_t *ck_grid_add(struct ck_grid *grid);

/* Returns 0 or -ENOMEM; an error of the page is in the page. */
int ck_grid_write(const struct ck_grid *grid, const struct ck_strings *strings, struct ck_page *page);

void ck_grid_done(struct ck_grid *grid);

#endif
