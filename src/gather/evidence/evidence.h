/*
 * evidence.h - what a tool's output means. Pure: turns the output of a tool on a hostile repository
 * into a bounded JSON object. There is one reader per kind of output and one file per family of
 * tools.
 *
 * Must: cut every list at CK_EVIDENCE_ITEMS_MAX and report the total ("total" counts all); cut
 * every untrusted text at CK_EVIDENCE_TEXT_MAX bytes and a path at PATH_MAX, as UTF-8 or
 * {"base64"}; order by content only, never by how the tool's threads ended; name a secret by its
 * position and kind, never by its value. The document has a list "findings" if there is something
 * for a person to look at. Its items have "id", "severity" (critical, high, medium, low or info;
 * left out: info), "message", and "path" and "line" if there is a position. The summary shows the
 * worst findings of all probes. It reads nothing else of a document but the "commit" of the
 * snapshot. Must not: fail on anything that a tool may print. Output that cannot be parsed is a
 * negative result with a message, and affects this probe only.
 */
#ifndef CK_GATHER_EVIDENCE_EVIDENCE_H
#define CK_GATHER_EVIDENCE_EVIDENCE_H

#include "chokepoint.h"

#include <jansson.h>

#define CK_EVIDENCE_ITEMS_MAX 1000
#define CK_EVIDENCE_TEXT_MAX 512

/* One call of a probe that has ended with a status that is an answer. */
struct ck_answer {
    const char *id; /* of the call */
    int exit_code;
    const char *out;
    size_t out_length;
    const char *err;
    size_t err_length;
    int changes_fd;     /* the directory with the changes of an overlay; -1: none */
    bool out_truncated; /* the beginning is lost, see struct choke_capture */
    size_t left_out;    /* files that were not given to the call (gather/prepare.h) */
};

struct ck_evidence {
    json_t *document;  /* an object; the reader defines its members */
    uint64_t findings; /* for the table: how many things there are to look at */
    const char *noun;  /* what they are, in the singular: "match", "package"; NULL: no count */
    char headline[96]; /* one line for the summary: "main at 1a2b3c4, 120 commits, clean" */
};

struct ck_evidence_kind {
    const char *name; /* the value of a probe's output */
    int (*read)(const struct ck_answer *answers, size_t count, struct ck_evidence *ret_evidence,
                struct choke_error *error);
};

/* NULL if the name is unknown. */
const struct ck_evidence_kind *ck_evidence_find(const char *name);

void ck_evidence_done(struct ck_evidence *evidence); /* zero-filled is fine */

#endif
