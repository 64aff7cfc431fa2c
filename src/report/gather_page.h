/* gather_page.h - the page about documents of gather, and the same findings as CSV. */
#ifndef CK_REPORT_GATHER_PAGE_H
#define CK_REPORT_GATHER_PAGE_H

#include "report/gather_view.h"

#define CK_GATHER_ROWS_MAX 200000 /* findings that the script of the page has */

/* Both return 0 or a negative errno. fd: where to. */
int ck_gather_page_write(const struct ck_gather_view *view, int fd);
int ck_gather_csv_write(const struct ck_gather_view *view, int fd);

/* Fills view from looks; ck_gather_page_done in either case. */
int ck_gather_page_begin(struct ck_gather_view *view, struct ck_looks *looks);
void ck_gather_page_done(struct ck_gather_view *view);

#endif
