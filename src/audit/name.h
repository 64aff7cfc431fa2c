/*
 * name.h - pure: the names of the files of a log (format.h).
 */
#ifndef CK_AUDIT_NAME_H
#define CK_AUDIT_NAME_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

/* "audit.jsonl" and 7 give "audit-000000000007.jsonl". -ENAMETOOLONG. */
int ck_name_rotated(const char *name, uint64_t first_seq, char ret_name[NAME_MAX + 1]);

/* Is candidate the name of a file that the log was rotated into? */
bool ck_name_is_rotated(const char *candidate, const char *name);

/*
 * An unfinished file that will become the log: "audit.jsonl" and digits give
 * "audit.jsonl.DIGITS.new". -ENAMETOOLONG.
 */
int ck_name_new(const char *name, const char *digits, char ret_name[NAME_MAX + 1]);
bool ck_name_is_new(const char *candidate, const char *name);

#endif
