/*
 * findings.c - see findings.h.
 *
 *   sightings  every finding of every probe, sorted by place
 *   merge      adjacent ones of one place become a finding
 *   rank       the findings are sorted again, by what to look at first
 *
 * A finding in the history of a repository has a commit. If the file still has it in the same line,
 * it is the same place; else it is one of its own, without a source line.
 */
#include "gather/findings/findings.h"

#include "front/fingerprint.h"
#include "front/text.h"
#include "gather/evidence/common.h"
#include "gather/findings/place.h"
#include "gather/findings/source_line.h"
#include "gather/view/severity.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SHOWN_BYTES 200 /* of a source line, in the document */
#define LEVELS_GENERATED 3
#define LEVELS_TEST_KEY 2
#define KEYS_OF_A_SET 3      /* private keys in one directory */
#define GENERATED_BYTES 1000 /* nobody writes a line as long as this */

/* One finding of one probe. The strings belong to its evidence; "" where it has none. */
struct sighting {
    const struct ck_probe_report *report;
    size_t report_index;
    const json_t *finding;
    const char *path; /* or its base64 */
    const char *id, *message, *commit;
    uint64_t line; /* 0: none */
    enum ck_place place;
    int severity;  /* enum ck_severity, lowered by the place */
    bool is_plain; /* the path is UTF-8 */
};

struct ranked {
    json_t *finding;
    enum ck_place place;
    int severity;
    size_t order;
};

struct collector {
    const struct ck_findings_options *options;
    struct ck_gathering *gathering;
    struct sighting *sightings;
    size_t sighting_count;
    struct ranked *ranked;
    size_t ranked_count;
    struct ck_source_lines lines;
    json_t *seen; /* by path and line text: how often the file had that line so far */
    const char *seen_path;
    bool stopped;
};

/* ---- sightings ---- */

static const char *text_of(const json_t *finding, const char *member)
{
    const char *text = json_string_value(json_object_get(finding, member));
    return text ? text : "";
}

/*
 * By convention the call of a pattern for credentials has such an id (docs/probes). A private key
 * in a test is nearly always one that was made for it.
 */
static bool is_credential(const struct sighting *sighting)
{
    const char *output = sighting->report->probe->output;
    return (output && strcmp(output, "gitleaks") == 0 && strcmp(sighting->id, "private-key") != 0) ||
           strncmp(sighting->id, "secret", strlen("secret")) == 0;
}

static bool is_private_key(const struct sighting *sighting)
{
    return strcmp(sighting->id, "private_key") == 0 || strcmp(sighting->id, "private-key") == 0;
}

/*
 * Private keys for tests are also in what is no test: in "assertstest/", in "testkeys.go". Names of
 * other findings are not looked at like this: "test" is in "latest", too.
 */
static unsigned levels_of(const struct sighting *sighting)
{
    unsigned levels = ck_place_levels(sighting->is_plain ? sighting->path : NULL, is_credential(sighting));

    return levels == 0 && is_private_key(sighting) && strcasestr(sighting->path, "test") ? LEVELS_TEST_KEY : levels;
}

static int lowered(const struct sighting *sighting, unsigned levels)
{
    int severity = (int)ck_severity_of(sighting->finding) + (int)levels;
    return severity < CK_SEVERITY_INFO ? severity : CK_SEVERITY_INFO;
}

static struct sighting make_sighting(const struct ck_gathering *gathering, size_t index, const json_t *finding)
{
    const json_t *path = json_object_get(finding, "path");
    const char *base64 = json_string_value(json_object_get(path, "base64"));
    struct sighting sighting = {
        .report = &gathering->reports[index],
        .report_index = index,
        .finding = finding,
        .path = base64 ? base64 : text_of(finding, "path"),
        .is_plain = !base64,
        .id = text_of(finding, "id"),
        .message = text_of(finding, "message"),
        .commit = text_of(finding, "commit"),
        .line = ck_evidence_number(json_object_get(finding, "line")),
    };
    sighting.place = sighting.is_plain ? ck_place_of(sighting.path) : CK_PLACE_SOURCE;
    sighting.severity = lowered(&sighting, levels_of(&sighting));
    return sighting;
}

/* The evidence is bounded: CK_EVIDENCE_ITEMS_MAX of each probe. */
static int take_sightings(struct collector *collector)
{
    struct ck_gathering *gathering = collector->gathering;
    size_t count = 0;

    for (size_t i = 0; i < gathering->count; i++)
        count += json_array_size(json_object_get(gathering->reports[i].evidence.document, "findings"));
    collector->sightings = calloc(count + 1, sizeof(*collector->sightings));
    collector->ranked = calloc(count + 1, sizeof(*collector->ranked));
    if (!collector->sightings || !collector->ranked)
        return -ENOMEM;
    for (size_t i = 0; i < gathering->count; i++) {
        const json_t *evidence = gathering->reports[i].evidence.document;
        const json_t *findings = json_object_get(evidence, "findings");
        uint64_t total = ck_evidence_number(json_object_get(evidence, "findings_total"));
        gathering->findings_cut = gathering->findings_cut || total > json_array_size(findings);
        for (size_t j = 0; j < json_array_size(findings); j++)
            if (json_is_object(json_array_get(findings, j)))
                collector->sightings[collector->sighting_count++] =
                    make_sighting(gathering, i, json_array_get(findings, j));
    }
    return 0;
}

static size_t directory_length(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? (size_t)(slash - path) : 0;
}

/*
 * Several private keys in one directory are a set that was made for tests. The sightings are sorted
 * by path, so those of a directory are close together, but for its subdirectories.
 */
static void lower_sets_of_keys(struct collector *collector)
{
    json_t *counts = json_object();
    char directory[CK_SOURCE_LINE_MAX];

    for (size_t pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < collector->sighting_count; i++) {
            struct sighting *sighting = &collector->sightings[i];
            bool again = i > 0 && strcmp(sighting->path, sighting[-1].path) == 0 && is_private_key(&sighting[-1]);
            if (!is_private_key(sighting))
                continue;
            (void)snprintf(directory, sizeof(directory), "%.*s/", (int)directory_length(sighting->path),
                           sighting->path);
            json_int_t count = json_integer_value(json_object_get(counts, directory));
            if (pass == 0 && !again)
                (void)json_object_set_new_nocheck(counts, directory, json_integer(count + 1));
            else if (pass == 1 && count >= KEYS_OF_A_SET)
                sighting->severity = CK_SEVERITY_INFO;
        }
    json_decref(counts);
}

static int compare_numbers(uint64_t left, uint64_t right)
{
    return (left > right) - (left < right);
}

/* Those of one place are adjacent: without a line, those that say the same. The worst comes first. */
static int by_place(const void *left, const void *right)
{
    const struct sighting *one = left, *other = right;
    int order = strcmp(one->path, other->path);

    order = order ? order : compare_numbers(one->line, other->line);
    if (order == 0 && one->line == 0) {
        order = strcmp(one->id, other->id);
        order = order ? order : strcmp(one->message, other->message);
    }
    order = order ? order : strcmp(one->commit, other->commit);
    order = order ? order : compare_numbers((uint64_t)one->severity, (uint64_t)other->severity);
    order = order ? order : compare_numbers(one->report_index, other->report_index);
    order = order ? order : strcmp(one->id, other->id);
    return order ? order : strcmp(one->message, other->message);
}

static bool has_id(const struct sighting *group, size_t count, const char *id)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(group[i].id, id) == 0)
            return true;
    return false;
}

/* Is next in the group, which is the count sightings before it? */
static bool belongs(const struct sighting *group, size_t count, const struct sighting *next)
{
    if (strcmp(group->path, next->path) != 0 || group->line != next->line)
        return false;
    if (next->line == 0)
        return strcmp(group->id, next->id) == 0 && strcmp(group->message, next->message) == 0 &&
               strcmp(group->commit, next->commit) == 0;
    return strcmp(group->commit, next->commit) == 0 || has_id(group, count, next->id);
}

/* ---- one finding ---- */

static bool has_credential(const struct sighting *group, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (is_credential(&group[i]))
            return true;
    return false;
}

/* False: there is no line to show. */
static bool read_line(struct collector *collector, const struct sighting *group, size_t count,
                      char line[CK_SOURCE_LINE_MAX])
{
    const struct ck_findings_options *options = collector->options;

    collector->stopped = collector->stopped || (options->stop && options->stop(options->data));
    if (collector->stopped || !group->is_plain || group->commit[0] != '\0' ||
        !ck_source_lines_get(&collector->lines, group->path, group->line, line))
        return false;
    if (has_credential(group, count) || choke_credential_kind(line))
        ck_source_line_mask(line);
    return true;
}

/* How often the path has had this text before. A failed allocation only makes two names equal. */
static json_int_t count_again(struct collector *collector, const char *path, const char *text)
{
    if (!collector->seen_path || strcmp(collector->seen_path, path) != 0)
        (void)json_object_clear(collector->seen);
    collector->seen_path = path;
    json_int_t before = json_integer_value(json_object_get(collector->seen, text));
    /* The text may be no UTF-8; jansson only compares keys. */
    (void)json_object_set_new_nocheck(collector->seen, text, json_integer(before + 1));
    return before;
}

/* line NULL: there is none. */
static void name(struct collector *collector, const struct sighting *group, const char *line,
                 char dst[CK_FINGERPRINT_SIZE])
{
    char text[CK_SOURCE_LINE_MAX], again[32];
    const char *parts[] = {"gather 1",    group->path, line ? "line" : group->id, line ? text : group->message,
                           group->commit, again};

    if (line)
        (void)ck_fingerprint_line(text, sizeof(text), line);
    (void)snprintf(again, sizeof(again), "%lld",
                   (long long)count_again(collector, group->path, line ? text : group->message));
    ck_fingerprint_make(dst, parts, sizeof(parts) / sizeof(parts[0]));
}

static json_t *seen_by(const struct sighting *group, size_t count)
{
    json_t *list = json_array();
    int bad = 0;

    for (size_t i = 0; i < count; i++) {
        bool again = false;
        for (size_t j = 0; j < i && !again; j++)
            again = group[j].report == group[i].report && strcmp(group[j].id, group[i].id) == 0;
        if (again)
            continue;
        json_t *item = json_object();
        bad |= json_object_set_new(item, "probe", json_string(group[i].report->probe->name));
        bad |= json_object_set_new(item, "id", json_string(group[i].id));
        bad |= json_object_set_new(item, "severity", json_string(ck_severity_name(ck_severity_of(group[i].finding))));
        bad |= json_object_set_new(item, "message", json_string(group[i].message));
        bad |= json_array_append_new(list, item);
    }
    if (!bad)
        return list;
    json_decref(list);
    return NULL;
}

/* Continuation bytes of UTF-8 are not separated from their first. */
static json_t *shown_line(const char *line)
{
    size_t length = strlen(line);

    if (length > SHOWN_BYTES) {
        length = SHOWN_BYTES;
        while (length > SHOWN_BYTES - 4 && ((unsigned char)line[length] & 0xc0) == 0x80)
            length--;
    }
    return ck_evidence_text(line, length);
}

static json_t *copy_path(const struct sighting *sighting)
{
    json_t *path = json_object_get(sighting->finding, "path");
    return path ? json_incref(path) : json_null();
}

/* The worst one first; it gives its id and its message to the whole. */
static const struct sighting *worst_of(const struct sighting *group, size_t count)
{
    const struct sighting *worst = group;

    for (size_t i = 1; i < count; i++)
        if (group[i].severity < worst->severity)
            worst = &group[i];
    return worst;
}

/* By its line: names do not tell that a script was made smaller by a program. */
static void mark_generated(struct sighting *group, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (group[i].place != CK_PLACE_SOURCE)
            return;
        group[i].place = CK_PLACE_VENDORED;
        group[i].severity = lowered(&group[i], is_credential(&group[i]) ? 1 : LEVELS_GENERATED);
    }
}

static int add_finding(struct collector *collector, struct sighting *group, size_t count)
{
    const struct sighting *worst;
    char line[CK_SOURCE_LINE_MAX], fingerprint[CK_FINGERPRINT_SIZE];
    bool has_line = read_line(collector, group, count, line);
    json_t *finding = json_object();
    int bad = 0;

    if (has_line && strlen(line) > GENERATED_BYTES && ck_place_may_be_generated(group->path))
        mark_generated(group, count);
    worst = worst_of(group, count);
    name(collector, group, has_line ? line : NULL, fingerprint);
    bool known = ck_baseline_has(collector->options->baseline, fingerprint, worst->severity);
    bad |= json_object_set_new(finding, "fingerprint", json_string(fingerprint));
    bad |= json_object_set_new(finding, "severity", json_string(ck_severity_name((enum ck_severity)worst->severity)));
    bad |= json_object_set_new(finding, "id", json_string(worst->id));
    bad |= json_object_set_new(finding, "message", json_string(worst->message));
    bad |= json_object_set_new(finding, "path", copy_path(group));
    bad |= json_object_set_new(finding, "line", group->line ? json_integer((json_int_t)group->line) : json_null());
    bad |= json_object_set_new(finding, "commit", group->commit[0] ? json_string(group->commit) : json_null());
    bad |= json_object_set_new(finding, "place", json_string(ck_place_name(group->place)));
    bad |= json_object_set_new(finding, "source", has_line ? shown_line(line) : json_null());
    bad |= json_object_set_new(finding, "known", json_boolean(known));
    bad |= json_object_set_new(finding, "seen_by", seen_by(group, count));
    collector->gathering->findings_known += known;
    collector->ranked[collector->ranked_count] = (struct ranked){
        .finding = finding, .place = group->place, .severity = worst->severity, .order = collector->ranked_count};
    collector->ranked_count++;
    return bad ? -ENOMEM : 0;
}

static int merge(struct collector *collector)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < collector->sighting_count;) {
        struct sighting *group = &collector->sightings[i];
        size_t count = 1;
        while (i + count < collector->sighting_count && belongs(group, count, &group[count]))
            count++;
        r = add_finding(collector, group, count);
        i += count;
    }
    return r;
}

/* ---- the list ---- */

static int by_rank(const void *left, const void *right)
{
    const struct ranked *one = left, *other = right;
    int order = (one->place != CK_PLACE_SOURCE) - (other->place != CK_PLACE_SOURCE);

    order = order ? order : (one->severity > other->severity) - (one->severity < other->severity);
    return order ? order : compare_numbers(one->order, other->order);
}

static int list(struct collector *collector)
{
    json_t *findings = json_array();
    int bad = 0;

    qsort(collector->ranked, collector->ranked_count, sizeof(*collector->ranked), by_rank);
    for (size_t i = 0; i < collector->ranked_count; i++)
        bad |= json_array_append(findings, collector->ranked[i].finding);
    collector->gathering->findings = findings;
    return bad || !findings ? -ENOMEM : 0;
}

bool ck_findings_may_lack(const struct ck_probe_report *report, enum ck_severity severity)
{
    const json_t *evidence = report->evidence.document;
    const char *cut = json_string_value(json_object_get(evidence, "findings_cut"));
    enum ck_severity worst = CK_SEVERITY_INFO;

    if (!json_object_get(evidence, "findings"))
        return false;
    if (json_is_true(json_object_get(evidence, "incomplete")))
        return true;
    return cut && ck_severity_find(cut, &worst) && worst <= severity;
}

int ck_findings_collect(struct ck_gathering *gathering, const struct ck_findings_options *options,
                        struct choke_error *error)
{
    struct collector collector = {
        .options = options, .gathering = gathering, .lines = {.root_fd = options->root_fd}, .seen = json_object()};
    gathering->has_baseline = !!options->baseline;
    int r = collector.seen ? take_sightings(&collector) : -ENOMEM;

    if (r == 0 && collector.sighting_count > 0)
        qsort(collector.sightings, collector.sighting_count, sizeof(*collector.sightings), by_place);
    if (r == 0)
        lower_sets_of_keys(&collector);
    if (r == 0)
        r = merge(&collector);
    if (r == 0)
        r = list(&collector);
    for (size_t i = 0; i < collector.ranked_count; i++)
        json_decref(collector.ranked[i].finding);
    ck_source_lines_done(&collector.lines);
    json_decref(collector.seen);
    free(collector.ranked);
    free(collector.sightings);
    return r < 0 ? ck_text_error(error, CHOKE_NONE, -r, "out of memory") : 0;
}
