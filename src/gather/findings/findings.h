/*
 * findings.h - the findings of all probes as one list: one item for each place, however many probes
 * saw it, and what to look at first at its head.
 *
 *   place        what the path is a part of (place.h). In anything but source the severity is three
 *                levels lower, that of a credential one
 *   fingerprint  of the path, the line as it is written, and which of several such lines it is. It
 *                stays when the line moves, and when another probe sees it. Without a line: of id,
 *                path and message
 *   order        sources first; then the severity, the path, the line
 */
#ifndef CK_GATHER_FINDINGS_FINDINGS_H
#define CK_GATHER_FINDINGS_FINDINGS_H

#include "gather/findings/baseline.h"
#include "gather/gather.h"
#include "gather/view/severity.h"

struct ck_findings_options {
    int root_fd;                        /* the repository; -1: its lines are not read */
    const struct ck_baseline *baseline; /* NULL: none */
    bool (*stop)(void *data);           /* NULL: never. True: no more lines are read */
    void *data;
};

/*
 * May the probe have found something that is this severe or worse, and that no list has? Its list
 * is full, or output of its tool was lost. Whoever writes the repository can bring that about.
 */
bool ck_findings_may_lack(const struct ck_probe_report *report, enum ck_severity severity);

/* Fills findings of the gathering from the evidence of its reports. 0 or -ENOMEM. */
int ck_findings_collect(struct ck_gathering *gathering, const struct ck_findings_options *options,
                        struct choke_error *error);

#endif
