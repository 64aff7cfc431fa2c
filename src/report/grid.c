/*
 * grid.c - see grid.h. Script elements that hold data are not executed, so the policy of the page
 * (CSP) does not apply to them. They are small, because the script parses each in one go, and must
 * not keep the page from answering.
 */
#include "report/grid.h"

#include "base/heap.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define ROWS_EACH 4000               /* of one element */
#define BYTES_EACH ((size_t)1 << 17) /* of texts */

uint64_t *ck_grid_add(struct ck_grid *grid)
{
    if (grid->rows == grid->capacity) {
        size_t capacity = grid->capacity > 0 ? grid->capacity * 2 : 256;
        uint64_t *values = reallocarray(grid->values, capacity, grid->column_count * sizeof(*values));
        if (!values)
            return NULL;
        grid->values = values;
        grid->capacity = capacity;
    }
    uint64_t *row = grid->values + grid->rows++ * grid->column_count;
    memset(row, 0, grid->column_count * sizeof(*row));
    return row;
}

void ck_grid_done(struct ck_grid *grid)
{
    free(grid->values);
    grid->values = NULL;
    grid->rows = grid->capacity = 0;
}

/* As people read a list: without regard to case, and the same order every time. */
static int compare_texts(const void *left, const void *right, void *data)
{
    uint32_t l, r;
    memcpy(&l, left, sizeof(l));
    memcpy(&r, right, sizeof(r));
    const char *a = ck_strings_text(data, l);
    const char *b = ck_strings_text(data, r);
    int order = strcasecmp(a, b);

    return order != 0 ? order : strcmp(a, b);
}

/* The numbers of all texts that a row has, sorted by text. ret_places: of each, by its number. */
static size_t list_texts(const struct ck_grid *grid, struct ck_strings *strings, uint32_t *list, uint32_t *ret_places)
{
    size_t count = 0;

    for (size_t i = 0; i < grid->rows * grid->column_count; i++)
        if (grid->columns[i % grid->column_count].is_text)
            ret_places[grid->values[i]] = 1;
    for (uint32_t i = 0; i < strings->count; i++)
        if (ret_places[i] != 0)
            list[count++] = i;
    qsort_r(list, count, sizeof(*list), compare_texts, strings);
    for (uint32_t i = 0; i < count; i++)
        ret_places[list[i]] = i;
    return count;
}

static void write_texts(const struct ck_strings *strings, const uint32_t *list, size_t count, struct ck_page *page)
{
    for (size_t i = 0; i < count;) {
        size_t bytes = 0;
        ck_page_print(page, "<script type=\"application/json\" class=\"data-texts\">[");
        for (size_t first = i; i < count && bytes < BYTES_EACH; i++) {
            const char *text = ck_strings_text(strings, list[i]);
            bytes += strlen(text);
            ck_page_print(page, i > first ? "," : "");
            ck_page_json(page, text);
        }
        ck_page_print(page, "]</script>\n");
    }
}

/* A column with one value in all rows of the element is that value. */
static void write_column(const struct ck_grid *grid, const uint32_t *places, size_t column, size_t first, size_t end,
                         struct ck_page *page)
{
    const uint64_t *at = grid->values + column;
    bool same = true;

    for (size_t row = first + 1; same && row < end; row++)
        same = at[row * grid->column_count] == at[first * grid->column_count];
    ck_page_print(page, same ? "" : "[");
    for (size_t row = first; row < (same ? first + 1 : end); row++) {
        uint64_t value = at[row * grid->column_count];
        ck_page_print(page, row > first ? ",%zu" : "%zu",
                      grid->columns[column].is_text ? places[value] : (size_t)value);
    }
    ck_page_print(page, same ? "" : "]");
}

static void write_rows(const struct ck_grid *grid, const uint32_t *places, struct ck_page *page)
{
    for (size_t first = 0; first < grid->rows; first += ROWS_EACH) {
        size_t end = first + ROWS_EACH < grid->rows ? first + ROWS_EACH : grid->rows;
        ck_page_print(page, "<script type=\"application/json\" class=\"data-rows\">{\"rows\":%zu,\"columns\":[",
                      end - first);
        for (size_t column = 0; column < grid->column_count; column++) {
            ck_page_print(page, column > 0 ? "," : "");
            write_column(grid, places, column, first, end, page);
        }
        ck_page_print(page, "]}</script>\n");
    }
}

int ck_grid_write(const struct ck_grid *grid, const struct ck_strings *strings, struct ck_page *page)
{
    CK_HEAP uint32_t *list = ck_heap_own(calloc((size_t)strings->count + 1, sizeof(*list)));
    CK_HEAP uint32_t *places = ck_heap_own(calloc((size_t)strings->count + 1, sizeof(*places)));
    struct ck_strings view = *strings; /* qsort_r wants a pointer that is not const */

    if (!list || !places)
        return -ENOMEM;
    size_t count = list_texts(grid, &view, list, places);
    ck_page_print(page, "<script type=\"application/json\" id=\"data\">{\"rows\":%zu,\"texts\":%zu,\"columns\":[",
                  grid->rows, count);
    for (size_t i = 0; i < grid->column_count; i++) {
        ck_page_print(page, i > 0 ? ",[" : "[");
        ck_page_json(page, grid->columns[i].name);
        ck_page_print(page, grid->columns[i].is_text ? ",true]" : ",false]");
    }
    ck_page_print(page, "]}</script>\n");
    write_texts(strings, list, count, page);
    write_rows(grid, places, page);
    return 0;
}
