/*
 * evidence.h - what a tool's output means. Pure: bytes of a hostile repository, through a tool, into a bounded JSON
 * object of our own; one reader per kind of output, one file per family of tools.
 *
 * Must: every list is cut at CK_EVIDENCE_ITEMS_MAX and says so ("total" counts them all); every text of others is cut at
 * CK_EVIDENCE_TEXT_MAX bytes, a path at PATH_MAX, and is UTF-8 or {"base64"}; the order depends on the content alone, never on how the tool's
 * threads came to an end; a secret is told by its place and kind, never by its value.
 * Where a person may want to look, the document has a list "findings": its items have "id", "severity" (critical, high,
 * medium, low or info; left out: info), "message", and "path" and "line" where there is a place. The summary shows the
 * worst of all probes and reads nothing else of a document but the "commit" of the snapshot.
 * Must not: fail on anything a tool may print. What is not understood is a negative result with words, and costs this probe only.
 */
#ifndef CK_GATHER_EVIDENCE_EVIDENCE_H
#define CK_GATHER_EVIDENCE_EVIDENCE_H

#include "chokepoint.h"

#include <jansson.h>

#define CK_EVIDENCE_ITEMS_MAX 1000
#define CK_EVIDENCE_TEXT_MAX 512

/* One call of a probe, once it has ended with a status that is an answer. */
struct ck_answer {
    const char *id; /* of the call */
    int exit_code;
    const char *out;
    size_t out_length;
    const char *err;
    size_t err_length;
    int changes_fd;     /* the directory in which an overlay's changes were kept, -1 for none */
    bool out_truncated; /* the beginning is lost, see struct choke_capture */
};

struct ck_evidence {
    json_t *document;  /* an object; its members are the reader's */
    uint64_t findings; /* for the table: how many things a person may want to look at */
    const char *noun;  /* what these are, in the singular: "match", "package"; NULL: the count means nothing */
    char headline[96]; /* one line for the summary: "main at 1a2b3c4, 120 commits, clean" */
};

struct ck_evidence_kind {
    const char *name; /* what a probe's output says */
    int (*read)(const struct ck_answer *answers, size_t count, struct ck_evidence *ret_evidence,
                struct choke_error *error);
};

/* NULL where there is none of that name. */
const struct ck_evidence_kind *ck_evidence_find(const char *name);

void ck_evidence_done(struct ck_evidence *evidence); /* zero-filled is fine */

#endif
