/*
 * common.h - what every reader of evidence is made of: bounded lists in an order of their content, counts by name,
 * texts that are cut, JSON that is taken with care. For the files evidence*.c alone.
 *
 * Memory that ran out is kept in mind by the list or the document, and told once, at the end.
 */
#ifndef CK_GATHER_EVIDENCE_COMMON_H
#define CK_GATHER_EVIDENCE_COMMON_H

#include "gather/evidence/evidence.h"

#include <jansson.h>
#include <stdarg.h>

/* The answer of that call; NULL where it was not made, or ended with another status than was asked for. */
const struct ck_answer *ck_evidence_find_answer(const struct ck_answer *answers, size_t count, const char *id);
const struct ck_answer *ck_evidence_find_ok_answer(const struct ck_answer *answers, size_t count, const char *id);

/* ---- texts ---- */

/* Bytes of others, cut at CK_EVIDENCE_TEXT_MAX: a string, or {"base64"} where they are not UTF-8. */
json_t *ck_evidence_text(const char *bytes, size_t length);

/* A path as a tool printed it: without "./" in front, and whole, for half of one leads nowhere. */
json_t *ck_evidence_path(const char *bytes, size_t length);

/* A string of a document, cut; null where it is none. */
json_t *ck_evidence_string(const json_t *value);

/* printf into a text that is cut. */
json_t *ck_evidence_format(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The bytes with a NUL behind them, to be freed; NULL when out of memory. */
char *ck_evidence_copy(const char *bytes, size_t length);

/* The first line of bytes, without its end. */
size_t ck_evidence_line(const char *bytes, size_t length);

/* The number that follows words, the last time that they stand there; -1 where there is none. */
json_int_t ck_evidence_count_after(const char *text, size_t length, const char *label);

/* One of the words of findings for a word of a tool, in any case: "ERROR" is high. info for one that is not known. */
const char *ck_evidence_severity(const char *level);

/* ---- a list in the making ---- */

struct ck_evidence_item {
    char *key;
    json_t *value;
};

/* Zero-filled is empty. Whatever is added, at most twice CK_EVIDENCE_ITEMS_MAX are held. */
struct ck_evidence_list {
    struct ck_evidence_item *items;
    size_t count;
    size_t sorted_count; /* of them, the first that are in order; those behind came since */
    size_t bound;        /* of those in order, the last that is none of firsts */
    json_t *firsts;      /* where the first of each "id" is among those in order */
    uint64_t total;
    bool failed; /* out of memory */
};

/*
 * Takes value; NULL is memory that ran out. In the order: the worst severity first, then path, line, and the rest of the
 * content. Of more than fit the first in this order are kept, whichever order they come in; and the first of each "id" before
 * any second one, so that many of one kind do not hide another.
 */
void ck_evidence_list_add(struct ck_evidence_list *list, json_t *value);

/* Where an item would stand in the order. path as in the item, but not cut; "" for none. */
struct ck_evidence_location {
    const char *id, *severity, *path;
    size_t path_length;
    uint64_t line;
};

/*
 * Whether an item of this place may still be among those that are kept. Where it cannot it is counted, and
 * need not be made: to make one costs a hundred times as much.
 */
bool ck_evidence_list_wants(struct ck_evidence_list *list, const struct ck_evidence_location *location);
void ck_evidence_list_done(struct ck_evidence_list *list);

/* ---- counts by name ---- */

/* Names beyond CK_EVIDENCE_ITEMS_MAX, and those that are too long, are counted together, as "(other)". */
void ck_evidence_count(json_t *counts, const char *name, uint64_t by);

/* ---- the document ---- */

/* Sets a member; takes value. 0, or -1 when out of memory. */
int ck_evidence_set(json_t *object, const char *name, json_t *value);

/* An empty list is an empty array; name "findings" and the others alike. "NAME_total" is set beside where it was cut. */
int ck_evidence_set_list(json_t *object, const char *name, struct ck_evidence_list *list);

/* The counts, by name. */
int ck_evidence_set_counts(json_t *object, const char *name, json_t *counts);

/* Hands the document over, or frees it where bad is not 0. */
int ck_evidence_take(struct ck_evidence *ret_evidence, json_t *document, int bad, struct choke_error *error);

void ck_evidence_headline(struct ck_evidence *evidence, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ---- JSON of a tool ---- */

/* A line that a tool quotes may hold a NUL: that must not cost the finding. */
#define CK_EVIDENCE_JSON JSON_ALLOW_NUL

/* The one document that the call "scan" printed. tool is for the words. */
int ck_evidence_parse(const struct ck_answer *answers, size_t count, const char *tool, json_t **ret_document,
                      struct choke_error *error);

int ck_evidence_not_understood(struct choke_error *error, const char *tool, const char *what);

/* 0 where it is not a whole number that is not negative. */
uint64_t ck_evidence_number(const json_t *value);

static inline void ck_evidence_drop(json_t **value)
{
    json_decref(*value);
}
#define CK_CLEANUP_JSON __attribute__((cleanup(ck_evidence_drop)))
#define CK_CLEANUP_LIST __attribute__((cleanup(ck_evidence_list_done)))

/* ---- the readers, one for each kind ---- */

#define CK_EVIDENCE_READER(name) \
    int ck_evidence_read_##name(const struct ck_answer *answers, size_t count, struct ck_evidence *ret_evidence, \
                                struct choke_error *error)

CK_EVIDENCE_READER(git);
CK_EVIDENCE_READER(node);
CK_EVIDENCE_READER(patterns);
CK_EVIDENCE_READER(ast_grep);
CK_EVIDENCE_READER(semgrep);
CK_EVIDENCE_READER(gitleaks);
CK_EVIDENCE_READER(cyclonedx);
CK_EVIDENCE_READER(grype);
CK_EVIDENCE_READER(scip);
CK_EVIDENCE_READER(tree_sitter);
CK_EVIDENCE_READER(trace);
CK_EVIDENCE_READER(lines);

/* What the reader of scip does with the file that was kept for it. */
int ck_evidence_read_scip_file(const void *bytes, size_t length, struct ck_evidence *ret_evidence,
                               struct choke_error *error);

#endif
