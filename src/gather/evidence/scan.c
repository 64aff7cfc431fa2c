/*
 * scan.c - reads findings of insecure code (semgrep) and of credentials (gitleaks). Only the
 * position and the kind are used: the lines that the tools quote may contain secrets.
 */
#include "gather/evidence/common.h"

#include <stdio.h>
#include <string.h>

/* path must be a string. Takes message; NULL means out of memory. */
static json_t *make_finding(const char *id, const char *severity, json_t *message, const json_t *path, uint64_t line)
{
    json_t *finding = json_object();
    int bad = ck_evidence_set(finding, "id", ck_evidence_text(id, strlen(id)));

    bad |= ck_evidence_set(finding, "severity", json_string(severity));
    bad |= ck_evidence_set(finding, "message", message);
    bad |= ck_evidence_set(finding, "path", ck_evidence_path(json_string_value(path), json_string_length(path)));
    bad |= ck_evidence_set(finding, "line", json_integer((json_int_t)line));
    if (!bad)
        return finding;
    json_decref(finding);
    return NULL;
}

/* where is " in 12 files", or "". Problems are files, or parts of files, that were not scanned. */
static void write_headline(struct ck_evidence *evidence, const char *one, const char *many, const char *where,
                           json_int_t problems)
{
    const char *rest = problems > 0 ? ", as far as it was read" : "";

    evidence->noun = one;
    if (evidence->findings == 0)
        ck_evidence_headline(evidence, "nothing found%s%s", where, rest);
    else
        ck_evidence_headline(evidence, "%llu %s%s%s", (unsigned long long)evidence->findings,
                             evidence->findings == 1 ? one : many, where, rest);
}

/* ---- semgrep ---- */

/*
 * The rules are given without a file name, and semgrep puts the path that it gave them before each
 * id.
 */
static const char *own_id(const char *id)
{
    const char *dot = strrchr(id, '.');
    return dot && dot[1] != '\0' ? dot + 1 : id;
}

/* False if it lacks what every result has; the caller counts that as a problem. */
static bool add_result(struct ck_evidence_list *list, json_t *counts, const json_t *result)
{
    const char *id = json_string_value(json_object_get(result, "check_id"));
    const json_t *path = json_object_get(result, "path"), *extra = json_object_get(result, "extra");
    const char *severity = json_string_value(json_object_get(extra, "severity"));
    uint64_t line = ck_evidence_number(json_object_get(json_object_get(result, "start"), "line"));

    if (!id || !json_is_string(path))
        return false;
    bool low = severity && strcmp(severity, "INFO") == 0; /* the lowest of semgrep's three levels */
    ck_evidence_count(counts, own_id(id), 1);
    ck_evidence_list_add(list, make_finding(own_id(id), low ? "low" : ck_evidence_severity(severity),
                                            ck_evidence_string(json_object_get(extra, "message")), path, line));
    return true;
}

static int set_semgrep(json_t *document, const json_t *report, struct ck_evidence *ret_evidence)
{
    struct ck_evidence_list list CK_CLEANUP_LIST = {0};
    json_t *counts CK_CLEANUP_JSON = json_object();
    size_t index;
    json_t *result;
    /* semgrep lists files that it could not parse or that took too long as errors. */
    json_int_t problems = (json_int_t)json_array_size(json_object_get(report, "errors"));

    json_array_foreach(json_object_get(report, "results"), index, result)
    {
        problems += add_result(&list, counts, result) ? 0 : 1;
    }
    size_t scanned = json_array_size(json_object_get(json_object_get(report, "paths"), "scanned"));
    char where[48];
    (void)snprintf(where, sizeof(where), " in %zu file%s", scanned, scanned == 1 ? "" : "s");
    ret_evidence->findings = list.total;
    write_headline(ret_evidence, "match", "matches", where, problems);
    int bad = ck_evidence_set(document, "version", ck_evidence_string(json_object_get(report, "version")));
    bad |= ck_evidence_set(document, "files_scanned", json_integer((json_int_t)scanned));
    bad |= ck_evidence_set(document, "problems", json_integer(problems));
    bad |= ck_evidence_set_counts(document, "by_id", counts);
    return bad | ck_evidence_set_list(document, "findings", &list);
}

CK_EVIDENCE_READER(semgrep)
{
    json_t *report CK_CLEANUP_JSON = NULL;

    int r = ck_evidence_parse(answers, count, "semgrep", &report, error);
    if (r < 0)
        return r;
    /* An absent list must not look like "nothing found". */
    if (!json_is_array(json_object_get(report, "results")))
        return ck_evidence_not_understood(error, "semgrep", "it has no list of results");
    json_t *document = json_object();
    return ck_evidence_take(ret_evidence, document, set_semgrep(document, report, ret_evidence), error);
}

/* ---- gitleaks ---- */

/* Of a history: the commit that has the line. Takes finding; NULL means out of memory. */
static json_t *with_commit(json_t *finding, const json_t *commit)
{
    const char *id = json_string_value(commit);

    if (!finding || !id || id[0] == '\0')
        return finding;
    if (ck_evidence_set(finding, "commit", ck_evidence_text(id, strlen(id))) == 0)
        return finding;
    json_decref(finding);
    return NULL;
}

/* gitleaks has no severities. A credential in a repository counts as high. */
static bool add_leak(struct ck_evidence_list *list, json_t *counts, const json_t *leak)
{
    const char *id = json_string_value(json_object_get(leak, "RuleID"));
    const json_t *path = json_object_get(leak, "File");

    if (!id || !json_is_string(path))
        return false;
    ck_evidence_count(counts, id, 1);
    json_t *finding = make_finding(id, "high", ck_evidence_string(json_object_get(leak, "Description")), path,
                                   ck_evidence_number(json_object_get(leak, "StartLine")));
    ck_evidence_list_add(list, with_commit(finding, json_object_get(leak, "Commit")));
    return true;
}

static int set_gitleaks(json_t *document, const json_t *report, struct ck_evidence *ret_evidence)
{
    struct ck_evidence_list list CK_CLEANUP_LIST = {.has_tokens = true};
    json_t *counts CK_CLEANUP_JSON = json_object();
    json_int_t problems = 0;
    size_t index;
    json_t *leak;

    json_array_foreach(report, index, leak)
    {
        problems += add_leak(&list, counts, leak) ? 0 : 1;
    }
    ret_evidence->findings = list.total;
    write_headline(ret_evidence, "credential", "credentials", "", problems);
    int bad = ck_evidence_set(document, "problems", json_integer(problems));
    bad |= ck_evidence_set_counts(document, "by_id", counts);
    return bad | ck_evidence_set_list(document, "findings", &list);
}

/* "null", perhaps with a newline or a carriage return and a newline. */
static bool is_null(const struct ck_answer *answer)
{
    return answer->out_length >= 4 && answer->out_length <= 6 && memcmp(answer->out, "null", 4) == 0;
}

/* If nothing was found, some versions print null and some print nothing at all. */
CK_EVIDENCE_READER(gitleaks)
{
    const struct ck_answer *answer = ck_evidence_find_answer(answers, count, "scan");
    json_t *report CK_CLEANUP_JSON = NULL;

    /* report stays NULL then, and json_array_foreach on NULL does nothing. */
    bool nothing = answer && (answer->out_length == 0 || is_null(answer));
    int r = nothing ? 0 : ck_evidence_parse(answers, count, "gitleaks", &report, error);
    if (r < 0)
        return r;
    if (report && !json_is_array(report))
        return ck_evidence_not_understood(error, "gitleaks", "it is not a list");
    json_t *document = json_object();
    return ck_evidence_take(ret_evidence, document, set_gitleaks(document, report, ret_evidence), error);
}
