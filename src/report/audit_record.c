/* audit_record.c - see audit_record.h. docs/audit.schema.json has the members. */
#include "report/audit_record.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Lines "LABEL<tab>VALUE" while they are collected. */
struct lines {
    FILE *out; /* NULL: no memory */
    char *text;
    size_t size;
    struct ck_strings *strings;
};

/* The names of members as they are said. */
static const struct label {
    const char *member;
    const char *label;
} granted_labels[] = {
    {"rule", "rule of the policy"},
    {"policy", "policy"},
    {"root", "repository"},
    {"cwd", "working directory"},
    {"workspace", "workspace"},
    {"root_at", "repository in the jail"},
    {"reads", "also readable"},
    {"egress", "egress"},
    {"env", "variables"},
    {"limits", "limits"},
    {"timeout_ms", "timeout in ms"},
    {"sandbox", "code that is not trusted"},
    {"workspace_code", "may execute files of the repository"},
    {"loopback", "own loopback"},
    {"learn", "learning run"},
    {"profile", "profile of the guard"},
    {"carriers", "carriers, which run in its cage"},
    {"state", "directories of its state"},
    {"secrets", "headers that the proxy adds"},
    {NULL, NULL},
};

static const struct label held_labels[] = {{"jail", "jail"}, {"layers", "layers"}, {NULL, NULL}};

static const struct label ended_labels[] = {
    {"kill", "its processes were ended by"},
    {"limit_hit", "limit that it reached"},
    {"executions", "executions in its tree"},
    {NULL, NULL},
};

static const struct label end_labels[] = {
    {"exit_code", "exit status"},
    {"signal", "signal"},
    {"error", "error"},
    {"stdout", "standard output"},
    {"stderr", "standard error"},
    {"output_incomplete", "output that was lost"},
    {"user_us", "user time in us"},
    {"system_us", "system time in us"},
    {"max_rss_kib", "memory in KiB"},
    {"changes", "changes in the overlay"},
    {NULL, NULL},
};

/* ---- lines ---- */

static void begin_lines(struct lines *lines, struct ck_strings *strings)
{
    *lines = (struct lines){.strings = strings};
    lines->out = open_memstream(&lines->text, &lines->size);
    if (!lines->out)
        strings->failed = true;
}

static uint32_t end_lines(struct lines *lines)
{
    uint32_t number = 0;

    if (lines->out && fclose(lines->out) == 0 && lines->text)
        number = ck_strings_own(lines->strings, lines->text);
    else
        lines->strings->failed = true;
    free(lines->text);
    return number;
}

/* The value was made safe: it has no tab and no line end. */
static void put_line(struct lines *lines, const char *label, uint32_t value)
{
    if (lines->out && value != 0)
        (void)fprintf(lines->out, "%s%s\t%s", ftell(lines->out) > 0 ? "\n" : "", label,
                      ck_strings_text(lines->strings, value));
}

/* A value of any type, as text: nothing for null, false and what is empty. */
static uint32_t value_text(struct ck_strings *strings, const json_t *value)
{
    if (json_is_string(value) || json_object_get(value, "base64"))
        return ck_strings_json(strings, value, CK_STRINGS_LONG);
    if (json_is_true(value))
        return ck_strings_own(strings, "yes");
    if (json_is_array(value) && (json_array_size(value) == 0 || json_is_string(json_array_get(value, 0))))
        return ck_strings_list(strings, value, " ", CK_STRINGS_LONG);
    if (!value || json_is_null(value) || json_is_false(value) ||
        (json_is_object(value) && json_object_size(value) == 0))
        return 0;
    char *dumped = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
    uint32_t number = dumped ? ck_strings_add(strings, dumped, strlen(dumped), CK_STRINGS_LONG) : 0;
    strings->failed |= !dumped;
    free(dumped);
    return number;
}

/* How many items of a member did not fit into the record; most often the log does not say, which means 0. */
static json_int_t count_cut(const json_t *record, const char *member)
{
    char name[64];

    (void)snprintf(name, sizeof(name), "%s_cut", member);
    return json_integer_value(json_object_get(record, name));
}

/* A list that the log cut must not be taken for the whole. */
static uint32_t note_cut(struct ck_strings *strings, const json_t *record, const char *member, uint32_t shown)
{
    char *text = NULL;
    json_int_t cut = count_cut(record, member);

    if (cut <= 0)
        return shown;
    if (asprintf(&text, "%s … (%lld more are not in the log)", ck_strings_text(strings, shown), (long long)cut) < 0) {
        strings->failed = true;
        return shown;
    }
    uint32_t number = ck_strings_own(strings, text);
    free(text);
    return number;
}

static void put_members(struct lines *lines, const json_t *record, const struct label *labels)
{
    for (; labels->member; labels++) {
        uint32_t shown = value_text(lines->strings, json_object_get(record, labels->member));
        put_line(lines, labels->label, note_cut(lines->strings, record, labels->member, shown));
    }
}

static uint32_t members(struct ck_strings *strings, const json_t *record, const struct label *labels)
{
    struct lines lines;

    begin_lines(&lines, strings);
    put_members(&lines, record, labels);
    return end_lines(&lines);
}

/* ---- rows ---- */

static uint32_t text(struct ck_strings *strings, const json_t *object, const char *key)
{
    return ck_strings_json(strings, json_object_get(object, key), CK_STRINGS_SHORT);
}

/* The tool is an object with a name in the records of calls; a plain string is accepted too. */
static uint32_t tool_of(struct ck_strings *strings, const json_t *record)
{
    const json_t *tool = json_object_get(record, "tool");
    return json_is_object(tool) ? text(strings, tool, "name") : ck_strings_json(strings, tool, CK_STRINGS_SHORT);
}

static void put_place(struct lines *lines, const struct choke_audit_record *record)
{
    char place[64];

    (void)snprintf(place, sizeof(place), "%llu, line %llu%s", (unsigned long long)record->seq,
                   (unsigned long long)record->line, record->proven ? "" : ", after the damage");
    put_line(lines, "record", ck_strings_own(lines->strings, place));
    put_line(lines, "hash", ck_strings_add(lines->strings, record->hash, strlen(record->hash), CK_STRINGS_SHORT));
}

/* All members but those that every record has. */
static void put_all(struct lines *lines, const json_t *record)
{
    static const char *const common[] = {"v", "log", "seq", "time", "kind", "prev", "hash"};
    const char *key;
    json_t *value;

    json_object_foreach((json_t *)(uintptr_t)record, key, value)
    {
        bool is_common = false;
        for (size_t i = 0; i < sizeof(common) / sizeof(common[0]); i++)
            is_common |= strcmp(key, common[i]) == 0;
        if (is_common)
            continue;
        uint32_t label = ck_strings_add(lines->strings, key, strlen(key), CK_STRINGS_SHORT);
        uint32_t shown = value_text(lines->strings, value);
        char *copied = strdup(ck_strings_text(lines->strings, label));
        if (copied)
            put_line(lines, copied, shown);
        free(copied);
    }
}

/* Intents, guard_begins and refusals: what was asked for. */
static void fill_call(struct ck_audit_log_row *row, struct ck_strings *strings, const struct choke_audit_record *record,
                      const json_t *parsed)
{
    struct lines lines;
    bool refused = strcmp(record->kind, "refused") == 0;

    row->class = refused ? CK_AUDIT_REFUSAL : CK_AUDIT_RUN;
    row->what = ck_strings_list(strings, json_object_get(parsed, "argv"), " ", CK_STRINGS_LONG);
    row->what = note_cut(strings, parsed, "argv", row->what);
    row->jail = text(strings, parsed, "jail");
    row->outcome = refused ? text(strings, parsed, "outcome") : ck_strings_own(strings, "unfinished");
    row->granted = refused ? 0 : members(strings, parsed, granted_labels);
    row->held = refused ? 0 : members(strings, parsed, held_labels);
    begin_lines(&lines, strings);
    if (refused) {
        put_line(
            &lines, "why",
            ck_strings_json(strings, json_object_get(json_object_get(parsed, "error"), "message"), CK_STRINGS_LONG));
        put_line(&lines, "rule of the policy", text(strings, parsed, "rule"));
        put_line(&lines, "repository", ck_strings_json(strings, json_object_get(parsed, "root"), CK_STRINGS_LONG));
    }
    put_line(&lines, "asked for in another spelling",
             note_cut(strings, parsed, "asked", value_text(strings, json_object_get(parsed, "asked"))));
    put_line(&lines, "called in the guard of record", value_text(strings, json_object_get(parsed, "guard")));
    put_line(&lines, "probe", text(strings, parsed, "probe"));
    put_line(&lines, "process", value_text(strings, json_object_get(parsed, "pid")));
    put_line(&lines, "executed file",
             ck_strings_json(strings, json_object_get(json_object_get(parsed, "tool"), "path"), CK_STRINGS_LONG));
    put_line(&lines, "its SHA-256", text(strings, json_object_get(parsed, "tool"), "sha256"));
    put_place(&lines, record);
    row->more = end_lines(&lines);
}

static void fill_egress(struct ck_audit_log_row *row, struct ck_strings *strings,
                        const struct choke_audit_record *record, const json_t *parsed)
{
    struct lines lines;
    char where[CK_STRINGS_LONG];
    uint32_t host = text(strings, parsed, "host");

    if (host == 0)
        host = text(strings, parsed, "address");
    (void)snprintf(where, sizeof(where), "%s:%lld", ck_strings_text(strings, host),
                   (long long)json_integer_value(json_object_get(parsed, "port")));
    row->class = CK_AUDIT_EGRESS;
    row->what = ck_strings_own(strings, where);
    row->outcome = text(strings, parsed, "verdict");
    begin_lines(&lines, strings);
    put_all(&lines, parsed);
    put_place(&lines, record);
    row->more = end_lines(&lines);
}

static void fill_other(struct ck_audit_log_row *row, struct ck_strings *strings,
                       const struct choke_audit_record *record, const json_t *parsed)
{
    struct lines lines;

    row->class = CK_AUDIT_OTHER;
    row->outcome = ck_strings_add(strings, record->kind, strlen(record->kind), CK_STRINGS_SHORT);
    row->what = ck_strings_list(strings, json_object_get(parsed, "argv"), " ", CK_STRINGS_LONG);
    if (row->what == 0 && json_object_get(parsed, "by"))
        row->what = text(strings, parsed, "by");
    if (row->what == 0)
        row->what = text(strings, parsed, "reason");
    begin_lines(&lines, strings);
    put_all(&lines, parsed);
    put_place(&lines, record);
    row->more = end_lines(&lines);
}

void ck_audit_record_row(struct ck_audit_log_row *row, struct ck_strings *strings,
                         const struct choke_audit_record *record, const json_t *parsed)
{
    row->seq = record->seq;
    row->proven = record->proven;
    row->time = ck_strings_add(strings, record->time, strlen(record->time), CK_STRINGS_SHORT);
    row->tool = tool_of(strings, parsed);
    if (strcmp(record->kind, "intent") == 0 || strcmp(record->kind, "guard_begin") == 0 ||
        strcmp(record->kind, "refused") == 0)
        fill_call(row, strings, record, parsed);
    else if (strcmp(record->kind, "egress") == 0)
        fill_egress(row, strings, record, parsed);
    else
        fill_other(row, strings, record, parsed);
}

/* What was there, a line end if both are, and what comes. */
static uint32_t join(struct ck_strings *strings, uint32_t first, uint32_t second)
{
    char *text = NULL;

    if (first == 0 || second == 0)
        return first != 0 ? first : second;
    if (asprintf(&text, "%s\n%s", ck_strings_text(strings, first), ck_strings_text(strings, second)) < 0) {
        strings->failed = true;
        return first;
    }
    uint32_t number = ck_strings_own(strings, text);
    free(text);
    return number;
}

bool ck_audit_record_end(struct ck_audit_log_row *row, struct ck_strings *strings,
                         const struct choke_audit_record *record, const json_t *parsed)
{
    char words[96];
    const char *outcome = json_string_value(json_object_get(parsed, "outcome"));
    const json_t *code = json_object_get(parsed, "exit_code");
    json_int_t duration = json_integer_value(json_object_get(parsed, "duration_us"));
    size_t denied = json_array_size(json_object_get(parsed, "denied"));
    json_int_t unlisted = json_integer_value(json_object_get(parsed, "denied_more"));
    bool exited = outcome && strcmp(outcome, "exited") == 0;

    row->proven = row->proven && record->proven;
    row->duration_ms = duration > 0 ? (uint64_t)duration / 1000 : 0;
    if (exited && json_is_integer(code))
        (void)snprintf(words, sizeof(words), "exited %lld", (long long)json_integer_value(code));
    row->outcome = exited && json_is_integer(code) ? ck_strings_own(strings, words) : text(strings, parsed, "outcome");
    row->held = join(strings, row->held, members(strings, parsed, ended_labels));
    if (denied > 0 || unlisted > 0) {
        (void)snprintf(words, sizeof(words), "denied by the jail\t%zu", denied);
        if (unlisted > 0)
            (void)snprintf(words, sizeof(words), "denied by the jail\t%zu, and %lld that the log does not list", denied,
                           (long long)unlisted);
        row->held = join(strings, row->held, ck_strings_own(strings, words));
    }
    row->more = join(strings, members(strings, parsed, end_labels), row->more);
    return !exited || json_integer_value(code) != 0;
}

void ck_audit_record_denial(struct ck_audit_log_row *row, struct ck_strings *strings,
                            const struct choke_audit_record *record, const json_t *parsed, const json_t *denial)
{
    char words[CK_STRINGS_LONG];
    struct lines lines;

    uint32_t kind = text(strings, denial, "kind");
    uint32_t path = ck_strings_json(strings, json_object_get(denial, "path"), CK_STRINGS_LONG / 2);
    (void)snprintf(words, sizeof(words), "%s %s", ck_strings_text(strings, kind), ck_strings_text(strings, path));
    *row = (struct ck_audit_log_row){.class = CK_AUDIT_DENIAL, .seq = record->seq, .proven = record->proven};
    row->time = ck_strings_add(strings, record->time, strlen(record->time), CK_STRINGS_SHORT);
    row->tool = tool_of(strings, parsed);
    row->outcome = ck_strings_own(strings, "denied");
    row->what = ck_strings_own(strings, words);
    begin_lines(&lines, strings);
    put_all(&lines, denial);
    put_line(&lines, "run", value_text(strings, json_object_get(parsed, "intent")));
    put_place(&lines, record);
    row->more = end_lines(&lines);
}
