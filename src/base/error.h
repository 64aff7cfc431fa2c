/*
 * error.h - fills one struct choke_error, once, where the failure is noticed.
 *
 * The setters return -errnum (or -EINVAL for errnum 0), so that "return ck_error_set(...)" is the
 * idiom. error may be NULL. Messages: lower case, what failed, the subject in single quotes (escape
 * untrusted bytes with ck_quote), and what would be right.
 */
#ifndef CK_BASE_ERROR_H
#define CK_BASE_ERROR_H

#include "chokepoint.h"

#include <stdarg.h>
#include <stdbool.h>

int ck_error_set(struct choke_error *error, enum choke_outcome outcome, int errnum, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

int ck_error_set_args(struct choke_error *error, enum choke_outcome outcome, int errnum, const char *format,
                      va_list args) __attribute__((format(printf, 4, 0)));

/* The same with a place in a file; line and column count from 1. */
int ck_error_at(struct choke_error *error, unsigned line, unsigned column, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Out of memory: returns -ENOMEM. */
int ck_error_oom(struct choke_error *error);

/* strerror, with advice where the kernel's text says too little. */
const char *ck_error_text(int errnum);

/* May another try succeed: no memory, no process, no time (base/errkind.h)? False for 0. */
bool ck_error_is_transient(int errnum);

/* Appends "; this may be temporary: try again". The end of a long message may be cut off for it. */
void ck_error_add_hint(struct choke_error *error);

#endif
