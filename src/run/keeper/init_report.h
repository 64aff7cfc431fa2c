/*
 * init_report.h - the report of a run, sent by its init (docs/adr/0097).
 *
 * The init of a native jail knows first that a run is over. If there is nothing that only the warden
 * knows, it sends the report itself, and the caller does not wait until the warden is woken. One of
 * the two reports: whoever changes `speaker` first. Only if init is killed while it sends, the warden
 * reports as well; the caller knows by the number of the plan which report it has had.
 */
#ifndef CK_RUN_KEEPER_INIT_REPORT_H
#define CK_RUN_KEEPER_INIT_REPORT_H

#include "run/wire.h"

#include <stdbool.h>
#include <stdint.h>

struct ck_init_run;
struct ck_init_status;

enum ck_speaker {
    CK_SPEAKER_WARDEN, /* also at the beginning */
    CK_SPEAKER_OPEN,   /* the first that has something to report */
    CK_SPEAKER_INIT,
};

/* In the memory that the warden shares with init. */
struct ck_init_report {
    uint32_t speaker; /* enum ck_speaker */
    uint32_t sent;    /* by init */
    struct ck_wire_report report;
};

/* ---- in the warden ---- */

/*
 * Whether init knows all of the report. It does not know what a cgroup counted, whether stdin was
 * copied completely, and the overlay.
 */
bool ck_init_report_is_possible(const struct ck_wire_plan *plan);

/*
 * When the warden has closed its copies of the streams: init may send this report, with what it adds
 * of the end of the tool.
 */
void ck_init_report_allow(struct ck_init_report *own, const struct ck_wire_report *report);

/* The warden wants to end the run, or has its report. False: init has sent one, or is about to. */
bool ck_init_report_claim(struct ck_init_report *own);

bool ck_init_report_is_init(const struct ck_init_report *own);

/* After the end of init. False: it was killed while it sent the report, so the report may be there or not. */
bool ck_init_report_is_sent(const struct ck_init_report *own);

/* ---- in both ---- */

/* What init has written about the end of the tool, and what all processes of its jail used. */
void ck_init_report_take_end(struct ck_wire_report *report, const struct ck_init_status *init_status);
void ck_init_report_take_usage(struct ck_wire_report *report, const struct ck_init_status *init_status);

/* ---- in the init ---- */

/* The tool has ended, and nothing else is left in the pid namespace. */
void ck_init_report_send(const struct ck_init_run *run);

#endif
