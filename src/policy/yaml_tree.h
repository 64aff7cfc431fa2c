/*
 * yaml_tree.h - the first pass over a policy's YAML: refuses what no policy may contain, and keeps
 * all positions.
 *
 * Refused here, each with line and column: text that is not UTF-8, control characters and
 * characters that hide or reorder text (also when they are written as escapes), directives,
 * anchors, aliases, tags, a second document, duplicate keys, keys that are not text, keys and
 * entries without a value, nesting over CK_YAML_TREE_MAX_DEPTH, more than CK_YAML_TREE_MAX_NODES
 * values.
 *
 * The result is a tree in one array, in the order of the text: the children of a node follow it,
 * and its next sibling is span nodes further on. The children of a mapping are key, value, key,
 * value.
 */
#ifndef CK_POLICY_YAML_TREE_H
#define CK_POLICY_YAML_TREE_H

#include "base/arena.h"
#include "chokepoint.h"

#include <stdbool.h>
#include <stdint.h>

#define CK_YAML_TREE_MAX_DEPTH 16
#define CK_YAML_TREE_MAX_NODES ((uint32_t)131072)
#define CK_YAML_TREE_MAX_KEYS ((uint32_t)64)

enum ck_yaml_node_kind { CK_YAML_SCALAR = 1, CK_YAML_SEQUENCE, CK_YAML_MAPPING };

struct ck_yaml_node {
    enum ck_yaml_node_kind kind;
    bool plain; /* a scalar without quotes */
    unsigned line;
    unsigned column;
    uint32_t count;   /* entries of a sequence, pairs of a mapping */
    uint32_t span;    /* nodes from here to the next sibling */
    const char *text; /* a scalar's value, "" for the others */
};

#define CK_YAML_FAULTS_MAX 64

/* Every fault of a text, for a review. Zero-filled: none yet. */
struct ck_yaml_faults {
    struct choke_error items[CK_YAML_FAULTS_MAX];
    uint32_t count;
};

struct ck_yaml_tree {
    const char *file;
    struct ck_yaml_faults *faults; /* NULL: the first fault ends the check */
    struct ck_arena arena;
    struct ck_yaml_node *nodes; /* nodes[0] is the root */
    uint32_t count;
    uint32_t capacity;
};

/*
 * Fills *ret_tree, which must be zero-filled; give it to ck_yaml_tree_done on failure too. file
 * must live as long.
 */
int ck_yaml_tree_parse(struct ck_yaml_tree *ret_tree, const char *file, const void *text, size_t length,
                       struct choke_error *error);
void ck_yaml_tree_done(struct ck_yaml_tree *tree);

/* The value of a key, or NULL; and an entry of a sequence, which must exist. */
const struct ck_yaml_node *ck_yaml_node_value(const struct ck_yaml_node *mapping, const char *key);
const struct ck_yaml_node *ck_yaml_node_entry(const struct ck_yaml_node *sequence, uint32_t index);

/*
 * "policy 'FILE': line L, column C: " and the words, in *error, or as one more of the faults of the
 * tree; returns -EINVAL.
 */
int ck_yaml_tree_error(const struct ck_yaml_tree *tree, const struct ck_yaml_node *node, struct choke_error *error,
                       const char *format, ...) __attribute__((format(printf, 4, 5)));

/*
 * For loops over what can be checked separately. Of two checks: the status of both together; and is
 * the next one to be done?
 */
int ck_yaml_tree_both(int r, int next);
bool ck_yaml_tree_continues(const struct ck_yaml_tree *tree, int r);

#endif
