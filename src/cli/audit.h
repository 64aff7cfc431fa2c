/*
 * audit.h - what the audit commands share.
 */
#ifndef CK_CLI_AUDIT_H
#define CK_CLI_AUDIT_H

#include "cli/cli.h"

#include <limits.h>

enum ck_audit_exit {
    CK_AUDIT_BROKEN = 1,    /* the log is damaged */
    CK_AUDIT_UNREADABLE = 2 /* the log cannot be read, or a head or key is not valid */
};

/* Prints one line on stderr and returns CK_AUDIT_UNREADABLE. */
int ck_audit_unreadable(const struct choke_error *error);

/* Prints "FILE:LINE: KIND: what is wrong" on stderr. */
void ck_audit_report_damage(const struct choke_audit_report *report);

/*
 * Returns the paths in files; if there are none, the default log, which is stored in path. NULL:
 * see *error.
 */
const char *const *ck_audit_paths(struct ck_string_list *files, char path[PATH_MAX], struct choke_error *error);

/*
 * given is the text itself if it begins with prefix, else the name of a file that contains it. The
 * caller frees the result. NULL: see *error.
 */
char *ck_audit_text(const char *given, const char *prefix, struct choke_error *error);

#endif
