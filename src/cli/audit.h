/*
 * audit.h - what the commands about the audit log share, and where the log is when nobody says.
 */
#ifndef CK_CLI_AUDIT_H
#define CK_CLI_AUDIT_H

#include "cli/cli.h"

#include <limits.h>

enum ck_audit_exit {
    CK_AUDIT_BROKEN = 1,    /* the log has a damage */
    CK_AUDIT_UNREADABLE = 2 /* it cannot be read, or a head or key is not what it should be */
};

/*
 * $XDG_STATE_HOME/chokepoint/audit.jsonl, or .local/state/... in $HOME. A negative errno and words where neither names a
 * directory.
 */
int ck_audit_default(char ret_path[PATH_MAX], struct choke_error *error);

/* One line on stderr; returns CK_AUDIT_UNREADABLE. */
int ck_audit_unreadable(const struct choke_error *error);

/* FILE:LINE: KIND: what is wrong, on stderr. */
void ck_audit_report_damage(const struct choke_audit_report *report);

/* Those of files; the default log in path where there is none. NULL: see *error. */
const char *const *ck_audit_paths(struct ck_string_list *files, char path[PATH_MAX], struct choke_error *error);

/*
 * A text that was given as it is, or as the name of a file that holds it; begins is how it begins. To be freed; NULL: see
 * *error.
 */
char *ck_audit_text(const char *given, const char *prefix, struct choke_error *error);

#endif
