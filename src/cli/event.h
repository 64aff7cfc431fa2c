/*
 * event.h - prints the library's events on standard error: one line of text or one JSON object
 * each.
 */
#ifndef CK_CLI_EVENT_H
#define CK_CLI_EVENT_H

#include "chokepoint.h"
#include "cli/report.h"

struct ck_event_printer {
    struct ck_outlet *notes;  /* where the lines go */
    enum ck_report_form form; /* JSON or text */
    bool verbose;             /* also debug and info, not only warnings */
};

/* A choke_event_fn; data is a struct ck_event_printer. */
void ck_event_print(void *data, const struct choke_event *event);

#endif
