/*
 * report.h - pages for people: one self-contained HTML file about documents of gather, or about an
 * audit log.
 *
 *   looks.c, look.c      read documents; compare.c says what is new and what is gone
 *   log.c                reads an audit log, which the library proves meanwhile
 *   gather_*.c, audit_*.c  write the parts of the two pages; page/ has their HTML, CSS and scripts
 *   grid.c               writes the rows for the script
 *
 * What is shown comes from repositories and from those who ask for calls, so all of it is untrusted.
 * It is text from end to end: strings.c makes it safe to show, page.c escapes it, the script sets it
 * as text content, and the policy of the page (CSP) allows no script and no style but the page's own
 * two, by their hashes, and no request at all.
 */
#ifndef CK_REPORT_REPORT_H
#define CK_REPORT_REPORT_H

#include "chokepoint.h"

#include <stdbool.h>

struct ck_report_options {
    const char *const *paths; /* NULL-terminated */
    const char *out;
    const char *csv; /* NULL: none; documents only */
    bool force;      /* replace files that are not reports */
    bool rotated;    /* logs only: also the files that each was rotated into */
};

/* What was written, for a line on the terminal. */
struct ck_report_summary {
    size_t repositories, findings;    /* of documents */
    size_t losses;                    /* documents or repositories that could not be read */
    struct choke_audit_report *proof; /* of a log; the caller frees it */
};

/* Both return 0 or a negative errno. The files are complete or not there. */
int ck_report_gather(const struct ck_report_options *options, struct ck_report_summary *ret_summary,
                     struct choke_error *error);
int ck_report_audit(const struct ck_report_options *options, struct ck_report_summary *ret_summary,
                    struct choke_error *error);

#endif
