/*
 * document.c - a gather as JSON. The names of members and their order are a contract
 * (docs/gather.schema.json).
 *
 * What differs between runs on the same repository with the same tools is in members named "timing"
 * only: the date, times, memory, and the number of bytes that a tool printed, because some print how long
 * they took.
 */
#include "gather/gather.h"

#include "front/jansson.h"
#include "gather/view/severity.h"

#include <string.h>

#define FORMAT 1 /* of the document; docs/gather.schema.json */

/* The first two are shown in the table only: in a document every probe has ended. */
const char *ck_gather_probe_state_name(enum ck_probe_state state)
{
    static const char *const names[] = {
        [CK_PROBE_STATE_WAITING] = "waiting",
        [CK_PROBE_STATE_RUNNING] = "running",
        [CK_PROBE_STATE_OK] = "ok",
        [CK_PROBE_STATE_FAILED] = "failed",
        [CK_PROBE_STATE_TIMEOUT] = "timeout",
        [CK_PROBE_STATE_TOOL_MISSING] = "tool_missing",
        [CK_PROBE_STATE_SKIPPED] = "skipped",
        [CK_PROBE_STATE_REFUSED] = "refused",
        [CK_PROBE_STATE_CANCELLED] = "cancelled",
    };
    return names[state];
}

/* Takes object. Returns NULL if it could not be filled. */
static json_t *finish(json_t *object, int bad)
{
    if (!bad)
        return object;
    json_decref(object);
    return NULL;
}

/* JSON integers of jansson are signed. */
static json_t *number(uint64_t value)
{
    return json_integer(value > INT64_MAX ? INT64_MAX : (json_int_t)value);
}

/* With a fraction: the clock has microseconds. */
static json_t *milliseconds(uint64_t us)
{
    return json_real((double)us / 1000.0);
}

/* ---- a probe ---- */

/* The number of bytes is here too: see the head of this file. */
static json_t *call_timing(const struct ck_call_report *call)
{
    json_t *object = json_object();
    int bad = 0;

    bad |= json_object_set_new(object, "duration_ms", milliseconds(call->duration_us));
    bad |= json_object_set_new(object, "user_ms", milliseconds(call->user_us));
    bad |= json_object_set_new(object, "system_ms", milliseconds(call->system_us));
    bad |= json_object_set_new(object, "max_rss_kib", number(call->max_rss_kib));
    bad |= json_object_set_new(object, "stdout_bytes", number(call->out_bytes));
    bad |= json_object_set_new(object, "stderr_bytes", number(call->err_bytes));
    return finish(object, bad);
}

static json_t *call_object(const struct ck_call_report *call)
{
    /* Otherwise exit_code is -1, which is not a status. */
    bool exited = call->outcome && strcmp(call->outcome, choke_outcome_name(CHOKE_EXITED)) == 0;
    json_t *object = json_object();
    int bad = 0;

    bad |= json_object_set_new(object, "id", ck_jansson_text(call->id));
    bad |= json_object_set_new(object, "argv", ck_jansson_list((const char *const *)call->argv));
    bad |= json_object_set_new(object, "outcome", ck_jansson_text(call->outcome));
    bad |= json_object_set_new(object, "exit_code", exited ? json_integer(call->exit_code) : json_null());
    bad |= json_object_set_new(object, "rule", ck_jansson_text(call->rule));
    bad |= json_object_set_new(object, "jail", ck_jansson_text(call->jail));
    bad |= json_object_set_new(object, "layers", ck_jansson_list((const char *const *)call->layers));
    bad |= json_object_set_new(object, "truncated", json_boolean(call->truncated));
    bad |= json_object_set_new(object, "timing", call_timing(call));
    return finish(object, bad);
}

/* Only the calls that were made, in their order. */
static json_t *calls_array(const struct ck_probe_report *report)
{
    json_t *array = json_array();
    int bad = 0;

    for (size_t i = 0; i < report->call_count; i++)
        bad |= json_array_append_new(array, call_object(&report->calls[i]));
    return finish(array, bad);
}

/* Null if there is nothing to count, as for a version. */
static json_t *count_object(const struct ck_evidence *evidence)
{
    if (!evidence->document || !evidence->noun)
        return json_null();
    json_t *object = json_object();
    int bad = json_object_set_new(object, "count", number(evidence->findings));

    bad |= json_object_set_new(object, "noun", ck_jansson_text(evidence->noun));
    return finish(object, bad);
}

/* Null for a probe that did not run: 0 would look like a measured time. */
static json_t *probe_timing(const struct ck_probe_report *report)
{
    if (report->ended_us == 0)
        return json_null();
    json_t *object = json_object();
    int bad = json_object_set_new(object, "started_ms", milliseconds(report->started_us));

    bad |= json_object_set_new(object, "duration_ms", milliseconds(report->ended_us - report->started_us));
    return finish(object, bad);
}

/* All three are null unless the probe is ok. */
static int set_answer(json_t *object, const struct ck_evidence *evidence)
{
    bool answered = !!evidence->document;
    int bad = 0;

    bad |= json_object_set_new(object, "headline", ck_jansson_text(answered ? evidence->headline : NULL));
    bad |= json_object_set_new(object, "found", count_object(evidence));
    /* A second reference: the report keeps its own until ck_gather_done. */
    bad |= json_object_set_new(object, "evidence", answered ? json_incref(evidence->document) : json_null());
    return bad;
}

/* The order of the members is a contract; jansson keeps the order in which they are set. */
static json_t *probe_object(const struct ck_probe_report *report)
{
    json_t *object = json_object();
    int bad = 0;

    bad |= json_object_set_new(object, "name", ck_jansson_text(report->probe->name));
    bad |= json_object_set_new(object, "layer", ck_jansson_text(ck_probes_layer_name(report->probe->layer)));
    bad |= json_object_set_new(object, "tool", ck_jansson_text(report->probe->tool));
    bad |= json_object_set_new(object, "why", ck_jansson_text(report->probe->why));
    bad |= json_object_set_new(object, "state", ck_jansson_text(ck_gather_probe_state_name(report->state)));
    bad |= json_object_set_new(object, "reason", ck_jansson_text(report->reason));
    bad |= json_object_set_new(object, "install", ck_jansson_text(report->install));
    bad |= set_answer(object, &report->evidence);
    bad |= json_object_set_new(object, "files_cut", json_boolean(report->files_cut));
    bad |= json_object_set_new(object, "calls", calls_array(report));
    bad |= json_object_set_new(object, "timing", probe_timing(report));
    return finish(object, bad);
}

static json_t *probes_array(const struct ck_gathering *gathering)
{
    json_t *array = json_array();
    int bad = 0;

    for (size_t i = 0; i < gathering->count; i++)
        bad |= json_array_append_new(array, probe_object(&gathering->reports[i]));
    return finish(array, bad);
}

/* ---- the whole ---- */

/* files_incomplete: the walk reached a limit, or could not read a directory. */
static json_t *repository_object(const struct ck_gathering *gathering)
{
    json_t *object = json_object();
    int bad = json_object_set_new(object, "root", ck_jansson_bytes(gathering->root));

    bad |= json_object_set_new(object, "files", number(gathering->file_count));
    bad |= json_object_set_new(object, "files_incomplete", json_boolean(gathering->files_incomplete));
    return finish(object, bad);
}

/*
 * Every state that a probe can end in has a member, so that a reader needs no list of the states.
 */
static json_t *summary_object(const struct ck_gathering *gathering)
{
    json_t *object = json_object();
    int bad = 0;

    for (enum ck_probe_state state = CK_PROBE_STATE_OK; state <= CK_PROBE_STATE_CANCELLED; state++) {
        json_int_t count = 0;
        for (size_t i = 0; i < gathering->count; i++)
            count += gathering->reports[i].state == state;
        bad |= json_object_set_new(object, ck_gather_probe_state_name(state), json_integer(count));
    }
    return finish(object, bad);
}

/* Only tools that were found. A version or digest may be null. */
static json_t *tools_array(const struct ck_gathering *gathering)
{
    json_t *array = json_array();
    int bad = 0;

    for (size_t i = 0; i < gathering->tool_count; i++) {
        const struct ck_tool_used *tool = &gathering->tools[i];
        json_t *object = ck_jansson_tool(tool->name, tool->path);
        bad |= json_object_set_new(object, "version", ck_jansson_bytes(tool->version));
        bad |= json_object_set_new(object, "sha256", ck_jansson_text(tool->sha256));
        bad |= json_array_append_new(array, object);
    }
    return finish(array, bad);
}

/* How many of the list have which severity; every severity has a member. */
static json_t *severities_object(const json_t *findings)
{
    json_t *object = json_object();
    json_int_t counts[CK_SEVERITY_INFO + 1] = {0};
    int bad = 0;

    for (size_t i = 0; i < json_array_size(findings); i++)
        counts[ck_severity_of(json_array_get(findings, i))]++;
    for (unsigned i = 0; i <= CK_SEVERITY_INFO; i++)
        bad |= json_object_set_new(object, ck_severity_name((enum ck_severity)i), json_integer(counts[i]));
    return finish(object, bad);
}

static json_t *findings_summary_object(const struct ck_gathering *gathering)
{
    json_t *object = json_object();
    int bad = json_object_set_new(object, "total", number(json_array_size(gathering->findings)));

    bad |= json_object_set_new(object, "known", number(gathering->findings_known));
    bad |= json_object_set_new(object, "cut", json_boolean(gathering->findings_cut));
    bad |= json_object_set_new(object, "by_severity", severities_object(gathering->findings));
    return finish(object, bad);
}

/* "2026-11-18T21:30:05Z"; null if the clock of the machine has no such year. */
static json_t *date_string(time_t at)
{
    char text[sizeof("2026-11-18T21:30:05Z") + 8];
    struct tm parts;

    if (!gmtime_r(&at, &parts) || strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &parts) == 0)
        return json_null();
    return json_string(text);
}

/*
 * own_cpu_ms is the time of this process, without the tools. The date is here because it differs
 * from run to run.
 */
static json_t *timing_object(const struct ck_gathering *gathering)
{
    json_t *object = json_object();
    int bad = json_object_set_new(object, "date", date_string(gathering->started_at));

    bad |= json_object_set_new(object, "duration_ms", milliseconds(gathering->duration_us));
    bad |= json_object_set_new(object, "own_cpu_ms", milliseconds(gathering->own_cpu_us));
    return finish(object, bad);
}

/* Only a probe of the layer "repository" may say which commit it is. */
const char *ck_gather_commit(const struct ck_gathering *gathering)
{
    for (size_t i = 0; i < gathering->count; i++) {
        const struct ck_probe_report *report = &gathering->reports[i];
        const json_t *commit = json_object_get(report->evidence.document, "commit");
        if (report->probe->layer == CK_PROBE_LAYER_REPOSITORY && json_is_string(commit))
            return json_string_value(commit);
    }
    return NULL;
}

/* Every NULL from above is an error of its set, so one check at the end is enough. */
json_t *ck_document_make(const struct ck_gathering *gathering)
{
    json_t *object = json_object();
    int bad = json_object_set_new(object, "format", json_integer(FORMAT));

    bad |= json_object_set_new(object, "chokepoint", ck_jansson_text(choke_version()));
    bad |= json_object_set_new(object, "repository", repository_object(gathering));
    bad |= json_object_set_new(object, "commit", ck_jansson_text(ck_gather_commit(gathering)));
    bad |= json_object_set_new(object, "cancelled", json_boolean(gathering->cancelled));
    bad |= json_object_set_new(object, "summary", summary_object(gathering));
    /* A second reference, as for the evidence. */
    bad |=
        json_object_set_new(object, "findings", gathering->findings ? json_incref(gathering->findings) : json_array());
    bad |= json_object_set_new(object, "findings_summary", findings_summary_object(gathering));
    bad |= json_object_set_new(object, "tools", tools_array(gathering));
    bad |= json_object_set_new(object, "probes", probes_array(gathering));
    bad |= json_object_set_new(object, "timing", timing_object(gathering));
    return finish(object, bad);
}
