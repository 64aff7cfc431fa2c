/*
 * syntax.c - reads tools that print text for people: a version (node), and which files do not parse
 * (tree-sitter).
 *
 * tree-sitter prints one line per file with an error,
 *   "PATH \tParse: ... ms\t ... bytes/ms\t(ERROR [ROW, COLUMN] - [ROW, COLUMN])",
 * with spaces after the path, and at the end
 *   "Total parses: N; successful parses: N; failed parses: N; ...".
 */
#include "gather/evidence/common.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- node ---- */

CK_EVIDENCE_READER(node)
{
    const struct ck_answer *answer = ck_evidence_find_ok_answer(answers, count, "version");
    const char *text = answer ? answer->out : "";
    size_t length = answer ? ck_evidence_line(text, answer->out_length) : 0;
    char version[64];

    /* A text that is too long becomes "", which is not a version. */
    memcpy(version, text, length < sizeof(version) ? length : 0);
    version[length < sizeof(version) ? length : 0] = '\0';
    if (version[0] != 'v' || strspn(version + 1, "0123456789") == 0)
        return ck_evidence_not_understood(error, "node", "it is not a version");
    json_t *document = json_object();
    int bad = ck_evidence_set(document, "version", ck_evidence_text(version + 1, strlen(version + 1)));
    bad |= ck_evidence_set(document, "major", json_integer((json_int_t)strtol(version + 1, NULL, 10) & 0xffff));
    ck_evidence_headline(ret_evidence, "node %s", version + 1);
    return ck_evidence_take(ret_evidence, document, bad, error);
}

/* ---- tree-sitter ---- */

/* "...\t(ERROR [12, 4] - [12, 9])": rows count from 0. */
static json_t *make_error(const char *line, size_t length)
{
    const char *tab = memchr(line, '\t', length), *open = memrchr(line, '(', length);
    unsigned row;
    char tail[64] = "";

    if (!tab || !open || open < tab || !memmem(tab, length - (size_t)(tab - line), "Parse:", 6))
        return NULL;
    const char *bracket = memchr(open, '[', length - (size_t)(open - line));
    size_t left = bracket ? length - (size_t)(bracket - line) : 0;
    memcpy(tail, bracket ? bracket : "", left < sizeof(tail) ? left : sizeof(tail) - 1);
    if (sscanf(tail, "[%9u,", &row) != 1)
        return NULL;
    size_t path_length = (size_t)(tab - line);
    while (path_length > 0 && line[path_length - 1] == ' ')
        path_length--;
    json_t *finding = json_object();
    int bad = ck_evidence_set(finding, "id", json_string("syntax-error"));
    bad |= ck_evidence_set(finding, "severity", json_string("low"));
    bad |= ck_evidence_set(finding, "message", json_string("the grammar of its language cannot parse this"));
    bad |= ck_evidence_set(finding, "path", ck_evidence_path(line, path_length));
    bad |= ck_evidence_set(finding, "line", json_integer((json_int_t)row + 1));
    if (!bad)
        return finding;
    json_decref(finding);
    return NULL;
}

/* Other lines, such as the counts at the end, are not findings and are skipped. */
static void read_errors(struct ck_evidence_list *list, const struct ck_answer *answer)
{
    const char *at = answer->out;
    for (size_t left = answer->out_length; left > 0;) {
        size_t length = ck_evidence_line(at, left);
        json_t *finding = make_error(at, length);
        if (finding)
            ck_evidence_list_add(list, finding);
        length += length < left ? 1 : 0;
        at += length;
        left -= length;
    }
}

/* The counts at the end show that the output is complete. */
CK_EVIDENCE_READER(tree_sitter)
{
    const struct ck_answer *answer = ck_evidence_find_answer(answers, count, "parse");
    struct ck_evidence_list list CK_CLEANUP_LIST = {0};

    json_int_t files = answer ? ck_evidence_count_after(answer->out, answer->out_length, "Total parses: ") : -1;
    /* Without a grammar for any of the files there was nothing to parse, and no call. */
    bool none = answer && answer->left_out > 0 && answer->out_length == 0 && answer->exit_code == 0;
    if (files < 0 && !none)
        return ck_evidence_not_understood(error, "tree-sitter", "it has no count of parsed files");
    files = none ? 0 : files;
    /* -1 if the version of tree-sitter prints no such count. */
    json_int_t good = none ? 0 : ck_evidence_count_after(answer->out, answer->out_length, "successful parses: ");
    json_t *document = json_object();
    read_errors(&list, answer);
    ret_evidence->findings = list.total;
    ret_evidence->noun = "syntax error";
    char rest[48] = "";
    if (answer->left_out > 0)
        (void)snprintf(rest, sizeof(rest), "; %zu without a grammar", answer->left_out);
    ck_evidence_headline(ret_evidence, "%lld of %lld files parsed without an error%s", (long long)(good < 0 ? 0 : good),
                         (long long)files, rest);
    int bad = ck_evidence_set(document, "files", json_integer(files));
    bad |= ck_evidence_set(document, "without_grammar", json_integer((json_int_t)answer->left_out));
    bad |= ck_evidence_set(document, "parsed", good < 0 ? json_null() : json_integer(good));
    bad |= ck_evidence_set_list(document, "findings", &list);
    return ck_evidence_take(ret_evidence, document, bad, error);
}
