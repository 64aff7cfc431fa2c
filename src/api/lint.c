/* lint.c - the linter behind the public header; it needs no context, for it runs nothing. */
#include "lint/lint.h"

#include "base/error.h"

#include <errno.h>

int choke_lint(const struct choke_lint_options *options, struct choke_lint_report **ret_report,
               struct choke_error *error)
{
    static const struct choke_lint_options usual;
    if (ret_report == NULL)
        return ck_error_set(error, CHOKE_INVALID, EINVAL, "no place for the report was given");
    return ck_lint_run(options != NULL ? options : &usual, ret_report, error);
}

void choke_lint_report_free(struct choke_lint_report *report)
{
    ck_lint_report_free(report);
}
