/*
 * table_row.h - one line of the live table, as text without a terminal.
 */
#ifndef CK_GATHER_VIEW_TABLE_ROW_H
#define CK_GATHER_VIEW_TABLE_ROW_H

#include "gather/gather.h"

#define CK_TABLE_ROW_SIZE 512

enum ck_column { CK_COLUMN_PROBE, CK_COLUMN_TOOL, CK_COLUMN_JAIL, CK_COLUMN_STATE, CK_COLUMN_TIME, CK_COLUMN_FOUND };
#define CK_COLUMN_COUNT (CK_COLUMN_FOUND + 1)

struct ck_table_row_widths {
    size_t columns[CK_COLUMN_COUNT]; /* 0: left out */
};

/* As wide as the names need, but within the columns of the terminal. */
void ck_table_row_fit_widths(struct ck_table_row_widths *widths, const struct ck_gathering *gathering, size_t columns);

/* Both return dst; nothing is written after the last cell. */
const char *ck_table_row_head(char dst[CK_TABLE_ROW_SIZE], const struct ck_table_row_widths *widths, bool colour);
const char *ck_table_row_probe(char dst[CK_TABLE_ROW_SIZE], const struct ck_table_row_widths *widths,
                               const struct ck_probe_report *report, uint64_t now_us, bool colour);

#endif
