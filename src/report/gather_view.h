/*
 * gather_view.h - what the page about documents of gather shows, and the parts of it. Each part
 * writes what page/gather.html has a place for; data is a struct ck_gather_view.
 */
#ifndef CK_REPORT_GATHER_VIEW_H
#define CK_REPORT_GATHER_VIEW_H

#include "report/gaps.h"
#include "report/page.h"
#include "report/tally.h"

#define CK_GATHER_STATIC_MAX 1000 /* rows of a table that is readable without a script */

struct ck_gather_view {
    struct ck_looks *looks;
    const struct ck_look *only; /* the latest look, if there is one repository; else NULL */
    struct ck_found found;
    struct ck_gaps gaps;
    struct ck_tally rules, directories, repositories;
    const uint32_t *names; /* of each look, in the order of looks: short where that is unique */
    size_t left_out;       /* findings that are not among the rows for the script */
    const char *csv;       /* the file of --csv; NULL: none */
};

/* In gather_lead.c: the first screen. */
void ck_gather_lead_title(struct ck_page *page, const void *data);
void ck_gather_lead_heading(struct ck_page *page, const void *data);
void ck_gather_lead_found(struct ck_page *page, const void *data);
void ck_gather_lead_gaps(struct ck_page *page, const void *data);
void ck_gather_lead_date(struct ck_page *page, const struct ck_look *look);

/* In gather_gaps.c. */
void ck_gather_gaps_one(struct ck_page *page, const struct ck_gather_view *view, const struct ck_gap *gap);
void ck_gather_gaps_table(struct ck_page *page, const void *data);

/* In gather_charts.c. */
void ck_gather_charts_rules(struct ck_page *page, const void *data);
void ck_gather_charts_where(struct ck_page *page, const void *data);
void ck_gather_charts_time(struct ck_page *page, const void *data);

/* In gather_tables.c. */
void ck_gather_tables_findings(struct ck_page *page, const void *data);
void ck_gather_tables_repositories(struct ck_page *page, const void *data);
void ck_gather_tables_probes(struct ck_page *page, const void *data);

/* In gather_calls.c. */
void ck_gather_calls_table(struct ck_page *page, const void *data);
void ck_gather_calls_tools(struct ck_page *page, const void *data);

/* In gather_page.c. */
const char *ck_gather_page_text(const struct ck_gather_view *view, uint32_t number);
const char *ck_gather_page_name(const struct ck_gather_view *view, const struct ck_look *look);

/* "1 finding", "2 findings": the ending of the second. */
static inline const char *ck_gather_plural(size_t count)
{
    return count == 1 ? "" : "s";
}

#endif
