/* look.c - see look.h. */
#include "report/look.h"

#include "front/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FORMAT 1 /* of docs/gather.schema.json */

/* How gather begins the reason of a probe that no file of the repository is for. */
#define NOTHING_REASON "no file matches"

const char *ck_look_severity_name(enum ck_look_severity severity)
{
    static const char *const names[] = {"critical", "high", "medium", "low", "info"};
    return names[severity];
}

/* As gather reads it: what is absent or unknown is info. */
static enum ck_look_severity severity_of(const json_t *object, const char *key)
{
    const char *name = json_string_value(json_object_get(object, key));
    unsigned severity = CK_LOOK_CRITICAL;

    while (severity < CK_LOOK_INFO && (!name || strcmp(name, ck_look_severity_name(severity)) != 0))
        severity++;
    return (enum ck_look_severity)severity;
}

bool ck_look_is_document(const json_t *document)
{
    return json_is_integer(json_object_get(document, "format")) && json_is_array(json_object_get(document, "probes")) &&
           json_is_object(json_object_get(document, "repository"));
}

static uint64_t number(const json_t *object, const char *key)
{
    json_int_t value = json_integer_value(json_object_get(object, key));
    return value > 0 ? (uint64_t)value : 0;
}

static uint64_t milliseconds(const json_t *object, const char *key)
{
    double value = json_number_value(json_object_get(object, key));
    /* A time that no run has; a conversion beyond the type is undefined. */
    return value > 0 && value < 1e12 ? (uint64_t)value : 0;
}

static uint32_t text(struct ck_strings *strings, const json_t *object, const char *key, size_t most)
{
    return ck_strings_json(strings, json_object_get(object, key), most);
}

/* ---- findings ---- */

static uint64_t mix(uint64_t hash, const char *bytes)
{
    do
        hash = (hash ^ (unsigned char)*bytes) * UINT64_C(0x100000001b3);
    while (*bytes++ != '\0');
    return hash;
}

/*
 * A fingerprint survives a move of the line. Without one, the rule, the file and the message: lines
 * move with every change above them. Several of these in one file are counted.
 */
static uint64_t identity_of(const struct ck_look_finding *finding, const struct ck_strings *strings)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);

    if (finding->fingerprint != 0)
        return mix(hash, ck_strings_text(strings, finding->fingerprint));
    hash = mix(hash, ck_strings_text(strings, finding->rule));
    hash = mix(hash, ck_strings_text(strings, finding->path));
    return mix(hash, ck_strings_text(strings, finding->message));
}

/* Who saw it: the names, and what each said where they are several. */
static void read_seen_by(struct ck_look_finding *finding, const json_t *seen_by, struct ck_strings *strings)
{
    char names[CK_STRINGS_SHORT] = "";
    char details[CK_STRINGS_LONG] = "";
    size_t i, names_used = 0, used = 0;
    const json_t *item;

    json_array_foreach(seen_by, i, item)
    {
        uint32_t probe = text(strings, item, "probe", CK_STRINGS_SHORT);
        uint32_t rule = text(strings, item, "id", CK_STRINGS_SHORT);
        uint32_t message = text(strings, item, "message", CK_STRINGS_SHORT);
        int n = snprintf(names + names_used, sizeof(names) - names_used, "%s%s", i > 0 ? ", " : "",
                         ck_strings_text(strings, probe));
        int m = snprintf(details + used, sizeof(details) - used, "%s%s\t%s\t%s", i > 0 ? "\n" : "",
                         ck_strings_text(strings, probe), ck_strings_text(strings, rule),
                         ck_strings_text(strings, message));
        /* Those that do not fit are left out whole. */
        if (n < 0 || (size_t)n >= sizeof(names) - names_used || m < 0 || (size_t)m >= sizeof(details) - used) {
            names[names_used] = details[used] = '\0';
            break;
        }
        names_used += (size_t)n;
        used += (size_t)m;
    }
    finding->seen_by = ck_strings_own(strings, names);
    finding->details = json_array_size(seen_by) > 1 ? ck_strings_own(strings, details) : 0;
}

/* probe: its name, for a finding in its own list; 0: the finding says who saw it. */
static int add_finding(struct ck_look *look, const json_t *item, uint32_t probe, struct ck_strings *strings)
{
    struct ck_look_finding *finding = &look->findings.items[look->findings.count];

    if (!json_is_object(item))
        return 0;
    *finding = (struct ck_look_finding){
        .severity = severity_of(item, "severity"),
        /* By the document of --baseline, until it is compared with an earlier look. */
        .state = json_is_true(json_object_get(item, "known")) ? CK_LOOK_KNOWN : CK_LOOK_LISTED,
        .line = number(item, "line"),
        .rule = text(strings, item, "id", CK_STRINGS_SHORT),
        .message = text(strings, item, "message", CK_STRINGS_SHORT),
        .path = text(strings, item, "path", CK_STRINGS_LONG),
        .place = text(strings, item, "place", CK_STRINGS_SHORT),
        .source = text(strings, item, "source", CK_STRINGS_SHORT),
        .commit = text(strings, item, "commit", CK_STRINGS_SHORT),
        .fingerprint = text(strings, item, "fingerprint", CK_STRINGS_SHORT),
        .seen_by = probe,
    };
    if (probe == 0)
        read_seen_by(finding, json_object_get(item, "seen_by"), strings);
    finding->identity = identity_of(finding, strings);
    look->by_severity[finding->severity]++;
    look->findings.count++;
    return 0;
}

static int add_findings(struct ck_look *look, const json_t *array, uint32_t probe, struct ck_strings *strings)
{
    size_t i;
    const json_t *item;
    struct ck_look_finding *grown =
        reallocarray(look->findings.items, look->findings.count + json_array_size(array) + 1, sizeof(*grown));

    if (!grown)
        return -ENOMEM;
    look->findings.items = grown;
    json_array_foreach(array, i, item)(void) add_finding(look, item, probe, strings);
    return 0;
}

/* ---- probes ---- */

static void read_evidence(struct ck_look_probe *probe, const json_t *evidence)
{
    probe->listed = json_array_size(json_object_get(evidence, "findings"));
    probe->total = number(evidence, "findings_total");
    probe->files = number(evidence, "files");
    probe->searched = number(evidence, "files_searched");
    if (!json_object_get(evidence, "files_searched"))
        probe->searched = json_object_get(evidence, "parsed") ? number(evidence, "parsed") : probe->files;
    probe->output_cut = json_is_true(json_object_get(evidence, "incomplete"));
    probe->cut = CK_LOOK_SEVERITIES;
    if (probe->listed < probe->total)
        probe->cut =
            json_object_get(evidence, "findings_cut") ? severity_of(evidence, "findings_cut") : CK_LOOK_CRITICAL;
}

static int add_call(struct ck_look *look, uint32_t probe, uint32_t tool, const json_t *call, struct ck_strings *strings)
{
    struct ck_look_call *grown = reallocarray(look->calls.items, look->calls.count + 1, sizeof(*grown));

    if (!grown)
        return -ENOMEM;
    look->calls.items = grown;
    grown[look->calls.count++] = (struct ck_look_call){
        .probe = probe,
        .tool = tool,
        .argv = ck_strings_list(strings, json_object_get(call, "argv"), " ", CK_STRINGS_SHORT),
        .outcome = text(strings, call, "outcome", CK_STRINGS_SHORT),
        .rule = text(strings, call, "rule", CK_STRINGS_SHORT),
        .jail = text(strings, call, "jail", CK_STRINGS_SHORT),
        .layers = ck_strings_list(strings, json_object_get(call, "layers"), " ", CK_STRINGS_LONG),
    };
    return 0;
}

static int add_probe(struct ck_look *look, const json_t *item, struct ck_strings *strings)
{
    const json_t *evidence = json_object_get(item, "evidence");
    const json_t *found = json_object_get(item, "found");
    const json_t *call;
    size_t i;
    struct ck_look_probe *grown = reallocarray(look->probes.items, look->probes.count + 1, sizeof(*grown));

    if (!grown)
        return -ENOMEM;
    look->probes.items = grown;
    struct ck_look_probe *probe = &grown[look->probes.count++];
    *probe = (struct ck_look_probe){
        .name = text(strings, item, "name", CK_STRINGS_SHORT),
        .tool = text(strings, item, "tool", CK_STRINGS_SHORT),
        .layer = text(strings, item, "layer", CK_STRINGS_SHORT),
        .why = text(strings, item, "why", CK_STRINGS_SHORT),
        .state = text(strings, item, "state", CK_STRINGS_SHORT),
        .reason = text(strings, item, "reason", CK_STRINGS_SHORT),
        .install = text(strings, item, "install", CK_STRINGS_SHORT),
        .headline = text(strings, item, "headline", CK_STRINGS_SHORT),
        .has_count = json_is_object(found),
        .count = number(found, "count"),
        .files_cut = json_is_true(json_object_get(item, "files_cut")),
        .duration_ms = milliseconds(json_object_get(item, "timing"), "duration_ms"),
    };
    probe->ok = strcmp(ck_strings_text(strings, probe->state), "ok") == 0;
    probe->nothing = strcmp(ck_strings_text(strings, probe->state), "skipped") == 0 &&
                     strncmp(ck_strings_text(strings, probe->reason), NOTHING_REASON, strlen(NOTHING_REASON)) == 0;
    read_evidence(probe, evidence);
    int r = 0;
    json_array_foreach(json_object_get(item, "calls"), i, call) if (r == 0) r =
        add_call(look, probe->name, probe->tool, call, strings);
    return r;
}

static int add_probes(struct ck_look *look, const json_t *document, bool merged, struct ck_strings *strings)
{
    size_t i;
    const json_t *item;
    int r = 0;

    json_array_foreach(json_object_get(document, "probes"), i, item)
    {
        r = add_probe(look, item, strings);
        /* Without the merged list, what each probe found by itself. */
        if (r == 0 && !merged)
            r = add_findings(look, json_object_get(json_object_get(item, "evidence"), "findings"),
                             look->probes.items[look->probes.count - 1].name, strings);
        if (r < 0)
            break;
    }
    return r;
}

/* ---- the whole ---- */

static int add_tools(struct ck_look *look, const json_t *array, struct ck_strings *strings)
{
    size_t i;
    const json_t *item;
    look->tools.items = calloc(json_array_size(array) + 1, sizeof(*look->tools.items));

    if (!look->tools.items)
        return -ENOMEM;
    json_array_foreach(array, i, item) look->tools.items[look->tools.count++] = (struct ck_look_tool){
        .name = text(strings, item, "name", CK_STRINGS_SHORT),
        .version = text(strings, item, "version", CK_STRINGS_SHORT),
        .path = text(strings, item, "path", CK_STRINGS_LONG),
        .sha256 = text(strings, item, "sha256", CK_STRINGS_SHORT),
    };
    return 0;
}

/* A date of another form would be compared wrongly with others. */
static bool is_date(const char *date)
{
    static const char form[] = "0000-00-00T00:00:00Z";
    size_t i = 0;

    for (; date && form[i] != '\0'; i++)
        if (form[i] == '0' ? date[i] < '0' || date[i] > '9' : date[i] != form[i])
            return false;
    return date && date[i] == '\0';
}

int ck_look_read(struct ck_look *look, const json_t *document, struct ck_strings *strings, struct choke_error *error)
{
    const json_t *repository = json_object_get(document, "repository");
    const json_t *merged = json_object_get(document, "findings");
    const char *date = json_string_value(json_object_get(json_object_get(document, "timing"), "date"));

    if (json_integer_value(json_object_get(document, "format")) != FORMAT)
        return ck_text_error(error, CHOKE_INVALID, EPROTO, "its format is %lld, and this version reads format %d",
                             (long long)json_integer_value(json_object_get(document, "format")), FORMAT);
    look->root = text(strings, repository, "root", CK_STRINGS_LONG);
    look->files = number(repository, "files");
    look->files_incomplete = json_is_true(json_object_get(repository, "files_incomplete"));
    look->commit = text(strings, document, "commit", CK_STRINGS_SHORT);
    look->version = text(strings, document, "chokepoint", CK_STRINGS_SHORT);
    look->cancelled = json_is_true(json_object_get(document, "cancelled"));
    look->date_is_files = !is_date(date);
    if (!look->date_is_files)
        (void)snprintf(look->date, sizeof(look->date), "%s", date);
    int r = add_tools(look, json_object_get(document, "tools"), strings);
    if (r == 0 && json_is_array(merged))
        r = add_findings(look, merged, 0, strings);
    if (r == 0)
        r = add_probes(look, document, json_is_array(merged), strings);
    if (r < 0 || strings->failed)
        return ck_text_error(error, CHOKE_INVALID, ENOMEM, "out of memory");
    return 0;
}

void ck_look_done(struct ck_look *look)
{
    free(look->findings.items);
    free(look->probes.items);
    free(look->calls.items);
    free(look->tools.items);
    *look = (struct ck_look){0};
}
