/*
 * lines.c - the lines that a tool prints, unchanged: for a probe with a tool that has no reader of
 * its own. The order is the tool's, so the probe should make the tool sort.
 *
 * {"calls": {ID: {"status": 0, "lines": [...], "total": 2, "cut": false}}}
 */
#include "gather/evidence/common.h"

#include <string.h>

/* total counts all lines, also those beyond the limit. */
static json_t *read_lines(const struct ck_answer *answer, uint64_t *total)
{
    json_t *lines = json_array();
    const char *at = answer->out;
    size_t left = answer->out_length;
    uint64_t count = 0;
    int bad = 0;

    for (; left > 0; count++) {
        size_t length = ck_evidence_line(at, left);
        if (count < CK_EVIDENCE_ITEMS_MAX)
            bad |= json_array_append_new(lines, ck_evidence_text(at, length));
        const char *end = memchr(at, '\n', left);
        size_t taken = end ? (size_t)(end - at) + 1 : left;
        at += taken;
        left -= taken;
    }
    json_t *object = json_object();
    bad |= ck_evidence_set(object, "status", json_integer(answer->exit_code));
    bad |= ck_evidence_set(object, "lines", lines);
    bad |= ck_evidence_set(object, "total", json_integer((json_int_t)count));
    bad |= ck_evidence_set(object, "cut", json_boolean(answer->out_truncated));
    /* Of all calls together, for the headline. */
    *total += count;
    if (!bad)
        return object;
    json_decref(object);
    return NULL;
}

CK_EVIDENCE_READER(lines)
{
    json_t *document = json_object(), *calls = json_object();
    uint64_t total = 0;
    int bad = 0;

    for (size_t i = 0; i < count; i++)
        bad |= ck_evidence_set(calls, answers[i].id, read_lines(&answers[i], &total));
    bad |= ck_evidence_set(document, "calls", calls);
    ret_evidence->findings = total;
    ret_evidence->noun = "line";
    ck_evidence_headline(ret_evidence, "%llu line%s", (unsigned long long)total, total == 1 ? "" : "s");
    return ck_evidence_take(ret_evidence, document, bad, error);
}
