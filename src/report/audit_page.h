/* audit_page.h - the page about an audit log. */
#ifndef CK_REPORT_AUDIT_PAGE_H
#define CK_REPORT_AUDIT_PAGE_H

#include "report/audit_log.h"

/* Returns 0 or a negative errno. fd: where to. */
int ck_audit_page_write(const struct ck_audit_log *log, int fd);

#endif
