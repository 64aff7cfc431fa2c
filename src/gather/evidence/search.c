/*
 * search.c - reads matches by text (rg) and by structure (ast-grep).
 *
 * Each pattern is one call, and the id of the call is the id of the finding. rg prints what the
 * call's --replace says, "SEVERITY MESSAGE", instead of the line. So severity and message are next
 * to the pattern in the probe, and a secret that matched never leaves rg. A record is
 * "PATH\0LINE:TEXT\n". A path may contain anything but a NUL, also a newline; the printed text
 * contains neither.
 */
#include "gather/evidence/common.h"

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

struct search_match {
    const char *id, *path, *text; /* text: "SEVERITY MESSAGE" */
    size_t path_length, text_length;
    uint64_t line;
};

/* ck_evidence_list_wants avoids making an object for each of many matches that would be dropped. */
static void add_match(struct ck_evidence_list *list, struct search_match match)
{
    char severity_text[16] = "";
    size_t end = 0;

    /* Removed here too, because the key of ck_evidence_list_wants must be that of the finding. */
    if (match.path_length > 2 && memcmp(match.path, "./", 2) == 0) {
        match.path += 2;
        match.path_length -= 2;
    }
    while (end < match.text_length && match.text[end] != ' ')
        end++;
    /*
     * severity_text is zero-filled, so it ends with a NUL. A longer word is unknown, which means
     * info.
     */
    if (end < sizeof(severity_text))
        memcpy(severity_text, match.text, end);
    const char *severity = ck_evidence_severity(severity_text);
    if (!ck_evidence_list_wants(
            list, &(struct ck_evidence_location){match.id, severity, match.path, match.path_length, match.line}))
        return;
    size_t begin = end < match.text_length ? end + 1 : end;
    json_t *finding = json_object();
    int bad = ck_evidence_set(finding, "id", ck_evidence_text(match.id, strlen(match.id)));
    bad |= ck_evidence_set(finding, "severity", json_string(severity));
    bad |= ck_evidence_set(finding, "message", ck_evidence_text(match.text + begin, match.text_length - begin));
    bad |= ck_evidence_set(finding, "path", ck_evidence_path(match.path, match.path_length));
    bad |= ck_evidence_set(finding, "line", json_integer((json_int_t)match.line));
    list->failed |= bad != 0;
    ck_evidence_list_add(list, finding);
}

/*
 * Parses the digits after a path's NUL. Returns the number of bytes used; 0 if it is not a record.
 */
static size_t read_line_number(const char *at, size_t left, uint64_t *ret_line)
{
    size_t used = 0;

    *ret_line = 0;
    /* 18 digits fit into 64 bits. */
    while (used < left && used < 18 && at[used] >= '0' && at[used] <= '9')
        *ret_line = *ret_line * 10 + (uint64_t)(at[used++] - '0');
    return used > 0 && used < left && at[used] == ':' ? used + 1 : 0;
}

/* The NUL after the path is the only safe separator: a path may contain newlines and colons. */
static void read_matches(struct evidence_search *search, const struct ck_answer *answer)
{
    const char *at = answer->out, *end = answer->out + answer->out_length;

    if (answer->out_truncated) { /* in the middle of a record: continue with the next */
        search->incomplete = true;
        at += ck_evidence_line(at, answer->out_length);
        at += at < end ? 1 : 0;
    }
    for (const char *nul; at < end && (nul = memchr(at, '\0', (size_t)(end - at)));) {
        uint64_t line;
        size_t used = read_line_number(nul + 1, (size_t)(end - nul - 1), &line);
        /* If it is not a record, used is 0 and the line is skipped. */
        const char *text = nul + 1 + used;
        size_t length = ck_evidence_line(text, (size_t)(end - text));
        if (used > 0) {
            add_match(&search->findings, (struct search_match){.id = answer->id,
                                                               .path = at,
                                                               .path_length = (size_t)(nul - at),
                                                               .line = line,
                                                               .text = text,
                                                               .text_length = length});
            ck_evidence_count(search->counts, answer->id, 1);
        } else {
            search->problems++;
        }
        at = text + length + (text + length < end ? 1 : 0);
    }
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

/*
 * What --inspect=summary prints on standard error: the number of files in a known language, and how
 * many of them it skipped. It reads neither large files nor files that are not UTF-8.
 */
static int set_inspected(json_t *document, struct evidence_search *search, const struct ck_answer *answer)
{
    json_int_t all = ck_evidence_count_after(answer->err, answer->err_length, "summary|file: scannedFileCount=");
    json_int_t over = ck_evidence_count_after(answer->err, answer->err_length, ",skippedFileCount=");
    bool known = all >= 0 && over >= 0 && over <= all;

    search->passed_over = known ? over : -1;
    return set_files(document, known ? all : -1, known ? all - over : -1);
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

CK_EVIDENCE_READER(ast_grep)
{
    const struct ck_answer *answer = ck_evidence_find_answer(answers, count, "scan");

    if (!answer)
        return ck_evidence_not_understood(error, "ast-grep", "the call 'scan' was not made");
    const char *at = answer->out;
    size_t left = answer->out_length;
    struct evidence_search search = {.counts = json_object()};
    json_t *document = json_object();
    search.findings.failed = set_inspected(document, &search, answer) != 0;
    if (answer->out_truncated) {
        size_t lost = ck_evidence_line(at, left);
        lost += lost < left ? 1 : 0;
        at += lost;
        left -= lost;
        search.incomplete = true;
    }
    while (left > 0) {
        size_t length = ck_evidence_line(at, left);
        if (length > 0)
            read_structural(&search, at, length);
        length += length < left ? 1 : 0;
        at += length;
        left -= length;
    }
    return finish(&search, document, ret_evidence, error);
}
