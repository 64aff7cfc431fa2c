/*
 * error.c - fills struct choke_error. Nothing here allocates, so that a lack of memory can be
 * reported.
 */
#include "base/error.h"

#include "base/errkind.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

int ck_error_set_args(struct choke_error *error, enum choke_outcome outcome, int errnum, const char *format,
                      va_list args)
{
    if (error) {
        *error = (struct choke_error){.outcome = outcome, .errnum = errnum};
        (void)vsnprintf(error->message, sizeof(error->message), format, args);
    }
    return errnum != 0 ? -errnum : -EINVAL;
}

int ck_error_set(struct choke_error *error, enum choke_outcome outcome, int errnum, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int r = ck_error_set_args(error, outcome, errnum, format, args);
    va_end(args);
    return r;
}

int ck_error_at(struct choke_error *error, unsigned line, unsigned column, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int r = ck_error_set_args(error, CHOKE_POLICY, EINVAL, format, args);
    va_end(args);
    if (error) {
        error->line = line;
        error->column = column;
    }
    return r;
}

int ck_error_oom(struct choke_error *error)
{
    return ck_error_set(error, CHOKE_SPAWN_FAILED, ENOMEM, "out of memory");
}

const char *ck_error_text(int errnum)
{
    return errnum == EFBIG ? "File too large; is the limit on the size of files (RLIMIT_FSIZE, ulimit -f) too small?"
                           : strerror(errnum);
}

bool ck_error_is_transient(int errnum)
{
    return errnum != 0 && ck_errkind_of(errnum) == CK_ERRKIND_TRANSIENT;
}

void ck_error_add_hint(struct choke_error *error)
{
    static const char hint[] = "; this may be temporary: try again";
    /* sizeof(hint) counts the NUL too */
    size_t length = strlen(error->message);
    if (length > sizeof(error->message) - sizeof(hint))
        length = sizeof(error->message) - sizeof(hint);
    memcpy(error->message + length, hint, sizeof(hint));
}
