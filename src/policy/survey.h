/*
 * survey.h - the first look at a policy's YAML: what no policy may contain, and where everything stands.
 *
 * Refused here, each with its place: text that is not UTF-8, control characters and characters that hide or reorder
 * text (also when they are written as escapes), directives, anchors, aliases, tags, a second document, duplicate
 * keys, keys that are not text, keys and entries without a value, nesting over CK_SURVEY_MAX_DEPTH, more than
 * CK_SURVEY_MAX_NODES values.
 *
 * What remains is a tree in one array, in the order of the text: the children of a node follow it, and its next sibling
 * stands span nodes further on. The children of a mapping are key, value, key, value.
 */
#ifndef CK_POLICY_SURVEY_H
#define CK_POLICY_SURVEY_H

#include "base/arena.h"
#include "chokepoint.h"

#include <stdbool.h>
#include <stdint.h>

#define CK_SURVEY_MAX_DEPTH 16
#define CK_SURVEY_MAX_NODES ((uint32_t)131072)
#define CK_SURVEY_MAX_KEYS ((uint32_t)64)

enum ck_node_kind { CK_NODE_SCALAR = 1, CK_NODE_SEQUENCE, CK_NODE_MAPPING };

struct ck_node {
    enum ck_node_kind kind;
    bool plain; /* a scalar without quotes */
    unsigned line;
    unsigned column;
    uint32_t count;   /* entries of a sequence, pairs of a mapping */
    uint32_t span;    /* nodes from here to the next sibling */
    const char *text; /* a scalar's value, "" for the others */
};

struct ck_survey {
    const char *file;
    struct ck_arena arena;
    struct ck_node *nodes; /* nodes[0] is the root */
    uint32_t count;
    uint32_t capacity;
};

/* Fills *ret_survey, which must be zero-filled; give it to ck_survey_done on failure too. file must live as long. */
int ck_survey_take(struct ck_survey *ret_survey, const char *file, const void *text, size_t length,
                   struct choke_error *error);
void ck_survey_done(struct ck_survey *survey);

/* The value of a key, or NULL; and an entry of a sequence, which must exist. */
const struct ck_node *ck_node_value(const struct ck_node *mapping, const char *key);
const struct ck_node *ck_node_entry(const struct ck_node *sequence, uint32_t index);

/* "policy 'FILE': line L, column C: " and the words, in *error; returns -EINVAL. */
int ck_survey_error(const struct ck_survey *survey, const struct ck_node *node, struct choke_error *error,
                    const char *format, ...) __attribute__((format(printf, 4, 5)));

#endif
