/*
 * lint.c - the linter's entry in the public header. It needs no context, because it runs nothing.
 */
#include "lint/lint.h"

#include "api/versioned.h"
#include "base/error.h"

#include <errno.h>

int choke_lint(const struct choke_lint_options *options, struct choke_lint_report **ret_report,
               struct choke_error *error)
{
    struct choke_lint_options known = {0};
    if (!ret_report)
        return ck_error_set(error, CHOKE_INVALID, EINVAL, "a pointer for the report is required");
    int r = !options
                ? 0
                : ck_versioned_read(CK_VERSIONED(choke_lint_options), options, options->struct_size, &known, error);
    return r < 0 ? r : ck_lint_run(&known, ret_report, error);
}

void choke_lint_report_free(struct choke_lint_report *report)
{
    ck_lint_report_free(report);
}
