/*
 * audit_log.c - see audit_log.h. The library proves the log while it is read, and passes records
 * after a damage too: whoever looks for the cause needs them most.
 *
 * However long the log is, only the last rows are kept, with their texts: when there are twice as
 * many as are shown, the older half is dropped, and the texts that are still used are copied.
 */
#include "report/audit_log.h"

#include "front/text.h"
#include "report/audit_record.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

const struct ck_bar_scale ck_audit_log_scale = {{"run", "refusal", "denial", "egress", "other"}};

/* ---- memory ---- */

static uint32_t copy(struct ck_strings *to, const struct ck_strings *from, uint32_t number)
{
    return ck_strings_own(to, ck_strings_text(from, number));
}

static void copy_texts(struct ck_audit_log *log)
{
    struct ck_strings kept = {0};

    for (size_t i = 0; i < log->count; i++) {
        struct ck_audit_log_row *row = &log->rows[i];
        uint32_t *const texts[] = {&row->time, &row->tool,    &row->outcome, &row->what,
                                   &row->jail, &row->granted, &row->held,    &row->more};
        for (size_t t = 0; t < sizeof(texts) / sizeof(texts[0]); t++)
            *texts[t] = copy(&kept, &log->strings, *texts[t]);
    }
    for (size_t i = 0; i < log->tool_count; i++)
        log->tools[i].name = copy(&kept, &log->strings, log->tools[i].name);
    ck_strings_done(&log->strings);
    log->strings = kept;
}

static void drop_older(struct ck_audit_log *log)
{
    size_t gone = log->count - CK_AUDIT_LOG_ROWS_MAX, kept = 0;

    memmove(log->rows, log->rows + gone, CK_AUDIT_LOG_ROWS_MAX * sizeof(*log->rows));
    log->count = CK_AUDIT_LOG_ROWS_MAX;
    log->dropped += gone;
    for (size_t i = 0; i < log->open_count; i++)
        if (log->opens[i].row >= log->dropped)
            log->opens[kept++] = log->opens[i];
    log->open_count = kept;
    copy_texts(log);
}

/* A new row at the end, zero-filled; NULL: no memory. */
static struct ck_audit_log_row *add_row(struct ck_audit_log *log)
{
    if (!log->rows)
        log->rows = calloc((size_t)2 * CK_AUDIT_LOG_ROWS_MAX, sizeof(*log->rows));
    if (!log->rows)
        return NULL;
    if (log->count == (size_t)2 * CK_AUDIT_LOG_ROWS_MAX)
        drop_older(log);
    struct ck_audit_log_row *row = &log->rows[log->count++];
    *row = (struct ck_audit_log_row){0};
    return row;
}

/* ---- counts ---- */

static struct ck_audit_log_tool *find_tool(struct ck_audit_log *log, uint32_t name)
{
    size_t i = 0;

    while (i < log->tool_count && log->tools[i].name != name)
        i++;
    if (i == log->tool_count && i < CK_AUDIT_LOG_TOOLS_MAX)
        log->tools[log->tool_count++] = (struct ck_audit_log_tool){.name = name};
    return i < CK_AUDIT_LOG_TOOLS_MAX ? &log->tools[i] : NULL;
}

static void count_row(struct ck_audit_log *log, const struct ck_audit_log_row *row)
{
    struct ck_audit_log_tool *tool = row->tool != 0 ? find_tool(log, row->tool) : NULL;
    const char *time = ck_strings_text(&log->strings, row->time);

    log->counts[row->class]++;
    if (tool) {
        tool->counts[row->class]++;
        tool->total++;
    }
    if (log->first[0] == '\0')
        (void)snprintf(log->first, sizeof(log->first), "%s", time);
    (void)snprintf(log->last, sizeof(log->last), "%s", time);
}

/* ---- records ---- */

static bool add_open(struct ck_audit_log *log, uint64_t seq)
{
    if (log->open_count == log->open_capacity) {
        size_t capacity = log->open_capacity > 0 ? log->open_capacity * 2 : 256;
        struct ck_audit_log_open *opens = reallocarray(log->opens, capacity, sizeof(*opens));
        if (!opens)
            return false;
        log->opens = opens;
        log->open_capacity = capacity;
    }
    log->opens[log->open_count++] = (struct ck_audit_log_open){seq, log->dropped + log->count - 1, false};
    return true;
}

/* From the end: an outcome mostly follows its intent. Numbers rise, unless the log is damaged. */
static struct ck_audit_log_open *find_open(struct ck_audit_log *log, uint64_t seq)
{
    for (size_t i = log->open_count; i > 0 && log->opens[i - 1].seq >= seq; i--)
        if (log->opens[i - 1].seq == seq)
            return &log->opens[i - 1];
    return NULL;
}

/* The program of a guard is a run like any other. */
static bool begins_run(const struct choke_audit_record *record)
{
    return strcmp(record->kind, "intent") == 0 || strcmp(record->kind, "guard_begin") == 0;
}

static bool add_plain(struct ck_audit_log *log, const struct choke_audit_record *record, const json_t *parsed)
{
    struct ck_audit_log_row *row = add_row(log);

    if (!row)
        return false;
    ck_audit_record_row(row, &log->strings, record, parsed);
    count_row(log, row);
    if (!begins_run(record))
        return true;
    log->unfinished_runs++;
    if (strcmp(ck_strings_text(&log->strings, row->jail), "none") == 0)
        log->unconfined_runs++;
    return add_open(log, record->seq);
}

static bool add_denials(struct ck_audit_log *log, const struct choke_audit_record *record, const json_t *parsed)
{
    size_t i;
    const json_t *denial;

    json_array_foreach(json_object_get(parsed, "denied"), i, denial)
    {
        struct ck_audit_log_row *row = add_row(log);
        if (!row)
            return false;
        ck_audit_record_denial(row, &log->strings, record, parsed, denial);
        count_row(log, row);
    }
    json_int_t unlisted = json_integer_value(json_object_get(parsed, "denied_more"));
    log->unlisted_denials += unlisted > 0 ? (uint64_t)unlisted : 0;
    return true;
}

/* member: which has the number of the record that the run began with. */
static bool add_end(struct ck_audit_log *log, const struct choke_audit_record *record, const json_t *parsed,
                    const char *member)
{
    json_int_t intent = json_integer_value(json_object_get(parsed, member));
    struct ck_audit_log_open *open = intent >= 0 ? find_open(log, (uint64_t)intent) : NULL;

    /* Its intent is in a file that was not given, or lost. */
    if (!open || open->ended || open->row < log->dropped)
        return add_plain(log, record, parsed) && add_denials(log, record, parsed);
    open->ended = true;
    log->unfinished_runs--;
    if (ck_audit_record_end(&log->rows[open->row - log->dropped], &log->strings, record, parsed))
        log->failed_runs++;
    return add_denials(log, record, parsed);
}

/* False stops the reading. */
static bool take(void *data, const struct choke_audit_record *record)
{
    struct ck_audit_log *log = data;
    json_t *parsed = json_loadb(record->text, record->length, JSON_ALLOW_NUL, NULL);
    bool ok = parsed;

    /* The library passes JSON only, so a failure to load means out of memory. */
    if (ok && strcmp(record->kind, "outcome") == 0)
        ok = add_end(log, record, parsed, "intent");
    else if (ok && strcmp(record->kind, "guard_end") == 0)
        ok = add_end(log, record, parsed, "guard");
    else if (ok)
        ok = add_plain(log, record, parsed);
    if (ok && strcmp(record->kind, "egress") == 0) {
        const char *verdict = json_string_value(json_object_get(parsed, "verdict"));
        log->egress_refused += verdict && strcmp(verdict, "refused") == 0 ? 1 : 0;
    }
    json_decref(parsed);
    log->out_of_memory = !ok || log->strings.failed;
    return !log->out_of_memory;
}

/* The rows that are shown: their number is bounded. */
static void keep_last(struct ck_audit_log *log)
{
    if (log->count > CK_AUDIT_LOG_ROWS_MAX)
        drop_older(log);
}

int ck_audit_log_read(struct ck_audit_log *log, const char *const *paths, bool rotated, struct choke_error *error)
{
    const struct choke_audit_query query = {.paths = paths,
                                            .rotated = rotated,
                                            .unproven = true,
                                            .on_record = take,
                                            .data = log,
                                            .struct_size = sizeof(query)};

    int r = choke_audit_verify(&query, &log->proof, error);
    if (r < 0)
        return r;
    keep_last(log);
    for (; *paths; paths++)
        log->file = ck_strings_add(&log->strings, *paths, strlen(*paths), CK_STRINGS_LONG);
    log->damaged_file = ck_strings_add(&log->strings, log->proof->file, strlen(log->proof->file), CK_STRINGS_LONG);
    log->damage = ck_strings_add(&log->strings, log->proof->message, strlen(log->proof->message), CK_STRINGS_LONG);
    if (log->out_of_memory || log->strings.failed)
        return ck_text_error(error, CHOKE_INVALID, ENOMEM, "out of memory");
    return 0;
}

void ck_audit_log_done(struct ck_audit_log *log)
{
    free(log->rows);
    free(log->opens);
    ck_strings_done(&log->strings);
    choke_audit_report_free(log->proof);
    log->rows = NULL;
    log->opens = NULL;
    log->proof = NULL;
}
