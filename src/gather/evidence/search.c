/*
 * search.c - reads matches by text (rg) and by structure (ast-grep).
 *
 * Each pattern is one call, and the id of the call is the id of the finding. rg prints what the
 * call's --replace says, "SEVERITY MESSAGE", instead of the line. So severity and message are next
 * to the pattern in the probe, and a secret that matched never leaves rg (rg.h has the records).
 */
#include "gather/evidence/common.h"
#include "gather/evidence/rg.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The calls that count files and do not search. */
#define ALL_FILES "all_files"
#define SEARCHED_FILES "searched_files"

struct evidence_search {
    struct ck_evidence_list findings; /* bounded */
    json_t *counts;                   /* by id */
    uint64_t problems;                /* what could not be read or parsed */
    json_int_t passed_over;           /* files; below 0: unknown */
    bool incomplete;                  /* output was lost */
};

/*
 * "12 matches of 3 rules", and what is missing: a person who reads only this line must not take it
 * for everything.
 */
static void write_headline(const struct evidence_search *search, struct ck_evidence *ret_evidence)
{
    unsigned long long total = search->findings.total;
    size_t kinds = json_object_size(search->counts);
    char found[48] = "nothing found", over[48] = "";

    if (total > 0)
        (void)snprintf(found, sizeof(found), "%llu match%s of %zu rule%s", total, total == 1 ? "" : "es", kinds,
                       kinds == 1 ? "" : "s");
    if (search->passed_over > 0)
        (void)snprintf(over, sizeof(over), "; %lld file%s skipped", (long long)search->passed_over,
                       search->passed_over == 1 ? "" : "s");
    ck_evidence_headline(ret_evidence, "%s%s%s", found,
                         search->incomplete || search->problems > 0 ? ", as far as it was read" : "", over);
}

/* Takes document, and frees what search holds. */
static int finish(struct evidence_search *search, json_t *document, struct ck_evidence *ret_evidence,
                  struct choke_error *error)
{
    int bad = ck_evidence_set_counts(document, "by_id", search->counts);

    bad |= ck_evidence_set(document, "problems", json_integer((json_int_t)search->problems));
    bad |= ck_evidence_set(document, "incomplete", json_boolean(search->incomplete));
    bad |= ck_evidence_set_list(document, "findings", &search->findings);
    ret_evidence->findings = search->findings.total;
    ret_evidence->noun = "match";
    write_headline(search, ret_evidence);
    ck_evidence_list_done(&search->findings);
    json_decref(search->counts);
    return ck_evidence_take(ret_evidence, document, bad, error);
}

static uint64_t count_bytes(const char *text, size_t length, char byte)
{
    uint64_t count = 0;
    for (size_t i = 0; i < length; i++)
        count += text[i] == byte;
    return count;
}

/* ---- rg ---- */

/* ck_evidence_list_wants avoids making an object for each of many matches that would be dropped. */
static void add_match(struct ck_evidence_list *list, const char *id, const struct ck_rg_record *match)
{
    char severity_text[16] = "";
    size_t end = 0;

    while (end < match->text_length && match->text[end] != ' ')
        end++;
    /*
     * severity_text is zero-filled, so it ends with a NUL. A longer word is unknown, which means
     * info.
     */
    if (end < sizeof(severity_text))
        memcpy(severity_text, match->text, end);
    const char *severity = ck_evidence_severity(severity_text);
    if (!ck_evidence_list_wants(
            list, &(struct ck_evidence_location){id, severity, match->path, match->path_length, match->line}))
        return;
    size_t begin = end < match->text_length ? end + 1 : end;
    json_t *finding = json_object();
    int bad = ck_evidence_set(finding, "id", ck_evidence_text(id, strlen(id)));
    bad |= ck_evidence_set(finding, "severity", json_string(severity));
    bad |= ck_evidence_set(finding, "message", ck_evidence_text(match->text + begin, match->text_length - begin));
    bad |= ck_evidence_set(finding, "path", ck_evidence_path(match->path, match->path_length));
    bad |= ck_evidence_set(finding, "line", json_integer((json_int_t)match->line));
    list->failed |= bad != 0;
    ck_evidence_list_add(list, finding);
}

static void read_matches(struct evidence_search *search, const struct ck_answer *answer)
{
    struct ck_rg_reader reader;
    struct ck_rg_record record;

    ck_rg_begin(&reader, answer);
    while (ck_rg_next(&reader, &record)) {
        add_match(&search->findings, answer->id, &record);
        ck_evidence_count(search->counts, answer->id, 1);
    }
    search->problems += reader.problems;
    search->incomplete = search->incomplete || reader.incomplete;
}

/* The number of NUL-terminated names in the output; -1 if some are lost. */
static json_int_t files_listed(const struct ck_answer *answer)
{
    return answer && !answer->out_truncated ? (json_int_t)count_bytes(answer->out, answer->out_length, '\0') : -1;
}

/* Null for what is not known. */
static int set_files(json_t *document, json_int_t all, json_int_t searched)
{
    int bad = ck_evidence_set(document, "files", all < 0 ? json_null() : json_integer(all));
    return bad | ck_evidence_set(document, "files_searched", searched < 0 ? json_null() : json_integer(searched));
}

/* Each line that rg prints on standard error is a file that it could not read. */
CK_EVIDENCE_READER(patterns)
{
    json_int_t all = files_listed(ck_evidence_find_answer(answers, count, ALL_FILES));
    json_int_t searched = files_listed(ck_evidence_find_answer(answers, count, SEARCHED_FILES));
    struct evidence_search search = {.counts = json_object()};
    json_t *document = json_object();
    int bad = set_files(document, all, searched);

    for (size_t i = 0; i < count; i++) {
        if (strcmp(answers[i].id, ALL_FILES) != 0 && strcmp(answers[i].id, SEARCHED_FILES) != 0)
            /* A call without matches has an empty output: nothing to read. */
            read_matches(&search, &answers[i]);
        search.problems += count_bytes(answers[i].err, answers[i].err_length, '\n');
    }
    search.findings.failed |= bad != 0;
    search.passed_over = all >= 0 && searched >= 0 ? all - searched : -1;
    return finish(&search, document, ret_evidence, error);
}

/* ---- ast-grep ---- */

/* False if it is not a match. */
static bool add_structural(struct ck_evidence_list *list, const json_t *match)
{
    const json_t *start = json_object_get(json_object_get(match, "range"), "start");
    const json_t *file = json_object_get(match, "file"), *id = json_object_get(match, "ruleId");
    const char *severity_text = json_string_value(json_object_get(match, "severity"));
    /* ast-grep counts lines from 0. */
    uint64_t line = ck_evidence_number(json_object_get(start, "line")) + 1;

    if (!json_is_string(file) || !json_is_string(id))
        return false;
    const char *path = json_string_value(file);
    path += strncmp(path, "./", 2) == 0 ? 2 : 0;
    /* Between a warning and a hint. */
    bool info = severity_text && strcmp(severity_text, "info") == 0;
    const char *severity = info ? "low" : ck_evidence_severity(severity_text);
    if (!ck_evidence_list_wants(
            list, &(struct ck_evidence_location){json_string_value(id), severity, path, strlen(path), line}))
        return true;
    json_t *finding = json_object();
    int bad = ck_evidence_set(finding, "id", ck_evidence_string(id));
    bad |= ck_evidence_set(finding, "severity", json_string(severity));
    bad |= ck_evidence_set(finding, "message", ck_evidence_string(json_object_get(match, "message")));
    bad |= ck_evidence_set(finding, "path", ck_evidence_path(path, strlen(path)));
    bad |= ck_evidence_set(finding, "line", json_integer((json_int_t)line));
    list->failed |= bad != 0;
    ck_evidence_list_add(list, finding);
    return true;
}

/* Files in a language that the rules of the calls are for; below 0: not known. */
struct inspected {
    json_int_t all, passed_over;
};

/*
 * What --inspect=summary prints on standard error: the number of files in a language of its rules,
 * and how many of them it skipped. It reads neither large files nor files that are not UTF-8. No
 * language is in two calls.
 */
static void add_inspected(struct inspected *inspected, const struct ck_answer *answer)
{
    json_int_t all = ck_evidence_count_after(answer->err, answer->err_length, "summary|file: scannedFileCount=");
    json_int_t over = ck_evidence_count_after(answer->err, answer->err_length, ",skippedFileCount=");
    bool known = inspected->all >= 0 && all >= 0 && over >= 0 && over <= all;

    inspected->all = known ? inspected->all + all : -1;
    inspected->passed_over = known ? inspected->passed_over + over : -1;
}

/* One line of the stream is one match. */
static void read_structural(struct evidence_search *search, const char *line, size_t length)
{
    json_t *match CK_CLEANUP_JSON = json_loadb(line, length, CK_EVIDENCE_JSON, NULL);

    if (!match || !add_structural(&search->findings, match))
        search->problems++;
    else
        ck_evidence_count(search->counts, json_string_value(json_object_get(match, "ruleId")), 1);
}

static void read_stream(struct evidence_search *search, const struct ck_answer *answer)
{
    const char *at = answer->out;
    size_t left = answer->out_length;

    if (answer->out_truncated) {
        size_t lost = ck_evidence_line(at, left);
        lost += lost < left ? 1 : 0;
        at += lost;
        left -= lost;
        search->incomplete = true;
    }
    while (left > 0) {
        size_t length = ck_evidence_line(at, left);
        if (length > 0)
            read_structural(search, at, length);
        length += length < left ? 1 : 0;
        at += length;
        left -= length;
    }
}

CK_EVIDENCE_READER(ast_grep)
{
    struct evidence_search search = {.counts = json_object()};
    struct inspected inspected = {0};
    json_t *document = json_object();

    if (count == 0)
        inspected.all = inspected.passed_over = -1;
    for (size_t i = 0; i < count; i++) {
        add_inspected(&inspected, &answers[i]);
        read_stream(&search, &answers[i]);
    }
    bool known = inspected.all >= 0;
    search.passed_over = inspected.passed_over;
    search.findings.failed =
        set_files(document, inspected.all, known ? inspected.all - inspected.passed_over : -1) != 0;
    return finish(&search, document, ret_evidence, error);
}
