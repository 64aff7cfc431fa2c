/*
 * init_report.c - the report of a run, sent by its init. See init_report.h.
 *
 *  Must     change `speaker` before anything that depends on it; only one side can succeed.
 *  Must not send a second report: the caller may have given the warden its next plan by then.
 */
#include "run/keeper/init_report.h"

#include "run/keeper/init.h"
#include "run/keeper/native_jail.h"
#include "run/keeper/nolibc.h"

static bool change(struct ck_init_report *own, uint32_t from, uint32_t to)
{
    return __atomic_compare_exchange_n(&own->speaker, &from, to, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}

bool ck_init_report_is_possible(const struct ck_wire_plan *plan)
{
    uint64_t limits = 0;
    for (unsigned i = 0; i < CK_LIMITS; i++)
        limits |= plan->limits[i];
    return limits == 0 && (plan->flags & CK_WIRE_PUMP_STDIN) == 0 && plan->workspace != CK_WORKSPACE_OVERLAY;
}

void ck_init_report_allow(struct ck_init_report *own, const struct ck_wire_report *report)
{
    own->report = *report;
    own->sent = 0;
    __atomic_store_n(&own->speaker, CK_SPEAKER_OPEN, __ATOMIC_RELEASE);
}

bool ck_init_report_claim(struct ck_init_report *own)
{
    return change(own, CK_SPEAKER_OPEN, CK_SPEAKER_WARDEN) || !ck_init_report_is_init(own);
}

bool ck_init_report_is_init(const struct ck_init_report *own)
{
    return __atomic_load_n(&own->speaker, __ATOMIC_ACQUIRE) == CK_SPEAKER_INIT;
}

bool ck_init_report_is_sent(const struct ck_init_report *own)
{
    return __atomic_load_n(&own->sent, __ATOMIC_ACQUIRE) != 0;
}

void ck_init_report_take_end(struct ck_wire_report *report, const struct ck_init_status *init_status)
{
    report->code = init_status->code;
    report->status = init_status->status;
    if (init_status->stream_held != 0)
        report->ending |= CK_ENDING_STREAM_HELD;
}

void ck_init_report_take_usage(struct ck_wire_report *report, const struct ck_init_status *init_status)
{
    report->user_us += init_status->user_us;
    report->system_us += init_status->system_us;
    report->max_rss_kib = (uint32_t)init_status->max_rss_kib;
}

/* What the jail refused is sent by the warden, before the report. */
void ck_init_report_send(const struct ck_init_run *run)
{
    struct ck_init_status *init_status = run->jail->init_status;
    struct ck_init_report *own = &init_status->own_report;
    struct ck_wire_report *report = &own->report;
    if (run->report_fd < 0 || init_status->denied_count != 0 || init_status->denied_more != 0 ||
        !change(own, CK_SPEAKER_OPEN, CK_SPEAKER_INIT))
        return;
    ck_init_report_take_end(report, init_status);
    ck_init_report_take_usage(report, init_status);
    report->counts = init_status->counts;
    report->ended_ns = ck_nolibc_now_ns();
    if (ck_nolibc_send(run->report_fd, report, sizeof(*report), -1) >= 0)
        __atomic_store_n(&own->sent, 1, __ATOMIC_RELEASE);
    else
        __atomic_store_n(&own->speaker, CK_SPEAKER_WARDEN, __ATOMIC_RELEASE);
}
