/* report.c - the order of things: check the targets, read, write, put into place. See report.h. */
#include "report/report.h"

#include "front/text.h"
#include "report/audit_page.h"
#include "report/gather_page.h"
#include "report/target.h"

#include <errno.h>
#include <string.h>

/* Begins, writes and commits one file; write gets its descriptor. */
static int write_target(const struct ck_target *target, int (*write)(const void *data, int fd), const void *data,
                        struct choke_error *error)
{
    struct ck_atomic_file file;

    if (ck_target_begin(target, &file, error) < 0)
        return -error->errnum;
    int r = write(data, file.fd);
    if (r < 0)
        ck_atomic_file_drop(&file);
    else
        r = ck_atomic_file_commit(&file);
    return r < 0 ? ck_target_fail(target, r, error) : 0;
}

static int write_gather(const void *data, int fd)
{
    return ck_gather_page_write(data, fd);
}

static int write_csv(const void *data, int fd)
{
    return ck_gather_csv_write(data, fd);
}

static int write_audit(const void *data, int fd)
{
    return ck_audit_page_write(data, fd);
}

static int write_looks(struct ck_looks *looks, const struct ck_target *out, const struct ck_target *csv,
                       struct choke_error *error)
{
    struct ck_gather_view view;
    int r = ck_gather_page_begin(&view, looks);

    if (r < 0)
        (void)ck_text_error(error, CHOKE_INVALID, -r, "cannot make the report: %s", strerror(-r));
    view.csv = csv->path;
    /* The table first: the page may refer to it. */
    if (r == 0 && csv->path)
        r = write_target(csv, write_csv, &view, error);
    if (r == 0)
        r = write_target(out, write_gather, &view, error);
    ck_gather_page_done(&view);
    return r;
}

int ck_report_gather(const struct ck_report_options *options, struct ck_report_summary *ret_summary,
                     struct choke_error *error)
{
    const struct ck_target out = {.option = "--out",
                                  .path = options->out,
                                  .marker = CK_TARGET_PAGE,
                                  .force = options->force,
                                  .mode = 0666,
                                  .inputs = options->paths};
    const struct ck_target csv = {.option = "--csv",
                                  .path = options->csv,
                                  .marker = CK_TARGET_CSV,
                                  .force = options->force,
                                  .mode = 0666,
                                  .inputs = options->paths};
    struct ck_looks looks = {0};

    if (ck_target_check(&out, error) < 0)
        return -error->errnum;
    if (options->csv && (ck_target_check(&csv, error) < 0 || ck_target_check_differ(&csv, &out, error) < 0))
        return -error->errnum;
    int r = ck_looks_read(&looks, options->paths, error);
    if (r == 0)
        r = write_looks(&looks, &out, &csv, error);
    ret_summary->repositories = looks.repositories;
    ret_summary->losses = looks.loss_count;
    for (size_t i = ck_looks_next(&looks, 0); i < looks.count; i = ck_looks_next(&looks, i + 1))
        ret_summary->findings += looks.items[i].findings.count;
    ck_looks_done(&looks);
    return r;
}

int ck_report_audit(const struct ck_report_options *options, struct ck_report_summary *ret_summary,
                    struct choke_error *error)
{
    /* Only its owner may read a log, so the same holds for what it says. */
    const struct ck_target out = {.option = "--out",
                                  .path = options->out,
                                  .marker = CK_TARGET_PAGE,
                                  .force = options->force,
                                  .mode = 0600,
                                  .inputs = options->paths};
    struct ck_audit_log log = {0};

    if (ck_target_check(&out, error) < 0)
        return -error->errnum;
    int r = ck_audit_log_read(&log, options->paths, options->rotated, error);
    if (r == 0)
        r = write_target(&out, write_audit, &log, error);
    if (r == 0) {
        ret_summary->proof = log.proof;
        log.proof = NULL;
    }
    ck_audit_log_done(&log);
    return r;
}
