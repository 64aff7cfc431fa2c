/*
 * common.h - what all readers of evidence use: bounded lists sorted by content, counts by name,
 * texts that are cut, JSON that is parsed with limits. For src/gather/evidence and src/gather/trace
 * only.
 *
 * A list or a document remembers that memory ran out and reports it once, at the end.
 */
#ifndef CK_GATHER_EVIDENCE_COMMON_H
#define CK_GATHER_EVIDENCE_COMMON_H

#include "gather/evidence/evidence.h"

#include <jansson.h>
#include <stdarg.h>

/*
 * The answer of the call id; NULL if the call was not made. ck_evidence_find_ok_answer also returns
 * NULL if it did not end with status 0.
 */
const struct ck_answer *ck_evidence_find_answer(const struct ck_answer *answers, size_t count, const char *id);
const struct ck_answer *ck_evidence_find_ok_answer(const struct ck_answer *answers, size_t count, const char *id);

/* ---- texts ---- */

/* Untrusted bytes, cut at CK_EVIDENCE_TEXT_MAX: a string, or {"base64"} if they are not UTF-8. */
json_t *ck_evidence_text(const char *bytes, size_t length);

/*
 * A path as a tool printed it, without a leading "./". It is cut only at PATH_MAX: a part of a path
 * is useless.
 */
json_t *ck_evidence_path(const char *bytes, size_t length);

/* A string of a document, cut; null if value is not a string. */
json_t *ck_evidence_string(const json_t *value);

/* printf to a text that is cut. */
json_t *ck_evidence_format(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The bytes and a NUL after them. The caller frees it; NULL when out of memory. */
char *ck_evidence_copy(const char *bytes, size_t length);

/* The length of the first line, without its newline. */
size_t ck_evidence_line(const char *bytes, size_t length);

/* The number after the last occurrence of label; -1 if not found. */
json_int_t ck_evidence_count_after(const char *text, size_t length, const char *label);

/*
 * The severity of a finding for a tool's level, in any case: "ERROR" is high. An unknown level is
 * info.
 */
const char *ck_evidence_severity(const char *level);

/* ---- lists ---- */

struct ck_evidence_item {
    char *key;
    json_t *value;
};

/*
 * Zero-filled is empty. It holds at most twice CK_EVIDENCE_ITEMS_MAX items, however many are added.
 */
struct ck_evidence_list {
    struct ck_evidence_item *items;
    size_t count;
    size_t sorted_count; /* the first items, which are sorted; those after them are new */
    size_t bound;        /* index of the last sorted item that is not in firsts */
    json_t *firsts;      /* for each "id" the index of its first sorted item */
    uint64_t total;
    bool has_tokens;  /* its items are credentials (findings/place.h); set it before the first one */
    unsigned dropped; /* how severe the worst one is that was dropped; larger is worse, 0: none was */
    bool failed;      /* out of memory */
};

/*
 * Takes value; NULL means out of memory. The order is: worst severity first, as the place leaves it
 * (findings/place.h), or tests would drown the sources; then path, line, and the rest of the content. If there are too many items, the first ones in this order are kept,
 * whatever order they were added in. The first item of each "id" is kept before any second one, so
 * that many of one kind do not hide another.
 */
void ck_evidence_list_add(struct ck_evidence_list *list, json_t *value);

/* The position of an item in the order. path is not cut; "" for none. */
struct ck_evidence_location {
    const char *id, *severity, *path;
    size_t path_length;
    uint64_t line;
};

/*
 * May an item at this position still be among those that are kept? If not, it is counted here and
 * need not be made. Making one costs a hundred times as much.
 */
bool ck_evidence_list_wants(struct ck_evidence_list *list, const struct ck_evidence_location *location);

/* Something was dropped before it could be added, and may be that severe. */
void ck_evidence_list_drop(struct ck_evidence_list *list, const char *severity);
void ck_evidence_list_done(struct ck_evidence_list *list);

/* ---- counts by name ---- */

/*
 * Names beyond CK_EVIDENCE_ITEMS_MAX, and names that are too long, are counted together as
 * "(other)".
 */
void ck_evidence_count(json_t *counts, const char *name, uint64_t by);

/* ---- the document ---- */

/* Sets a member; takes value. Returns 0, or -1 when out of memory. */
int ck_evidence_set(json_t *object, const char *name, json_t *value);

/*
 * Sets "findings" or another list; an empty list is an empty array. "NAME_total" counts
 * everything that was added. "NAME_cut" is the severity of the worst one that was dropped, if one was.
 */
int ck_evidence_set_list(json_t *object, const char *name, struct ck_evidence_list *list);

/* The counts, by name. */
int ck_evidence_set_counts(json_t *object, const char *name, json_t *counts);

/* Moves the document to ret_evidence, or frees it if bad is not 0. */
int ck_evidence_take(struct ck_evidence *ret_evidence, json_t *document, int bad, struct choke_error *error);

void ck_evidence_headline(struct ck_evidence *evidence, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ---- JSON of a tool ---- */

/* A line that a tool quotes may contain a NUL; the finding must not be lost for that. */
#define CK_EVIDENCE_JSON JSON_ALLOW_NUL

/* The JSON document that the call "scan" printed. tool is for messages. */
int ck_evidence_parse(const struct ck_answer *answers, size_t count, const char *tool, json_t **ret_document,
                      struct choke_error *error);

int ck_evidence_not_understood(struct choke_error *error, const char *tool, const char *what);

/* 0 if value is not an integer, or is negative. */
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
CK_EVIDENCE_READER(documents);
CK_EVIDENCE_READER(tests);

/* The part of the scip reader that parses the index file. */
int ck_evidence_read_scip_file(const void *bytes, size_t length, struct ck_evidence *ret_evidence,
                               struct choke_error *error);

#endif
