/*
 * scopes.h - scopes and their bindings, for languages with nested scopes (JavaScript, C). Bash uses
 * one scope for variables and one for functions.
 *
 *   1. ck_scopes_new, with the types of nodes that the resolver distinguishes.
 *   2. During a walk over the tree from the top (ck_scopes_walk_next): ck_scopes_enter where a
 *      scope begins; ck_scopes_bind for what it declares; ck_scopes_assign for an assignment to a
 *      name that may be declared further down.
 *   3. ck_scopes_finish: finds the scopes of the assignments, and stores the result in the source.
 *   4. ck_scopes_find, then ck_scopes_slot_begin and ck_scopes_slot_end around the evaluation of
 *      the bindings of a name.
 *
 * A hostile file must not make this slow. Scopes nested deeper than CK_SCOPES_NESTED are not
 * opened, each name is evaluated once, and each question has a limited number of steps (fuel). A
 * resolver that gives up sets exhausted (resolve.h).
 */
#ifndef CK_LINT_LANG_SCOPES_H
#define CK_LINT_LANG_SCOPES_H

#include "lint/lang/resolve.h"

#define CK_GLOBAL_MODULES 2
#define CK_SCOPES_NESTED 256
#define CK_SCOPES_DEPTH 256 /* of one question: a longer chain of calls or names is not followed */

/* A piece of the source. */
struct ck_lint_word {
    const char *text;
    uint32_t length;
};

/*
 * One value of a name: an expression, or a member of it (path "a.b"). Without an expression, path
 * is the name it stands for. Without both it is unknown.
 */
struct ck_binding {
    struct ck_binding *next; /* of the same name, in the order of the text */
    TSNode value;
    const char *path;
};

/* A name in a scope. */
struct ck_slot {
    struct ck_slot *next; /* in its bucket */
    struct ck_lint_word word;
    uint32_t scope; /* index of its scope */
    uint32_t level; /* during evaluation: how many others began before it */
    struct ck_binding *first, *last;
    struct ck_lint_names *names; /* NULL until it is evaluated */
};

/* A note about the node that starts there. */
struct ck_fact {
    uint32_t start;
    const char *text; /* what the note says; the resolver defines it */
};

/* A range of bytes; end is the first after it. */
struct ck_scope {
    uint32_t start, end, parent, depth; /* parent: index; depth: 0 for the file */
    bool function;                      /* var of JavaScript belongs to the nearest of these */
};

struct ck_assignment;

struct ck_scopes {
    struct ck_lint_source *source;
    uint8_t *kinds; /* of each symbol of the grammar; 0: not one that the resolver knows */
    uint32_t kinds_count;
    struct ck_scope *items;
    uint32_t count, capacity, current; /* current: of the walk */
    struct ck_slot **buckets;          /* a hash table by scope and name, of lists */
    uint32_t buckets_mask;
    struct ck_assignment *assignments, *last_assignment; /* until ck_scopes_finish */
    struct ck_fact *facts;
    uint32_t facts_count, facts_capacity;
    const char *global_modules[CK_GLOBAL_MODULES]; /* their members are globals in this file; NULL: not this one */
    uint32_t level, lowest; /* slots in evaluation: how many, and the lowest that was met again */
    uint32_t fuel;          /* steps left for this question */
    bool cut;               /* a limit was reached in this question */
    uint64_t spent;         /* steps in this file */
    bool failed;            /* memory ran out */
};

struct ck_kind {
    const char *type; /* name of a node type in the grammar */
    uint8_t kind;     /* from 1 */
};

/*
 * kinds ends with a type of NULL. Returns NULL when memory ran out. The first scope is the whole
 * file, and is the current one.
 */
struct ck_scopes *ck_scopes_new(struct ck_lint_source *source, const struct ck_kind *kinds);

uint8_t ck_scopes_kind(const struct ck_scopes *scopes, TSNode node);

/*
 * Moves to the next node of a walk over everything, parents before children; false at the end.
 * Closes the scopes that it leaves.
 */
bool ck_scopes_walk_next(struct ck_scopes *scopes, TSTreeCursor *cursor);

/* Opens a scope and returns its index. It is current until the walk leaves the node. */
uint32_t ck_scopes_enter(struct ck_scopes *scopes, TSNode node, bool function);

/* The nearest function around a scope, or the file. */
uint32_t ck_scopes_function(const struct ck_scopes *scopes, uint32_t scope);

/* The innermost scope around a place in the text. */
uint32_t ck_scopes_at(const struct ck_scopes *scopes, uint32_t position);

/* The text of a node; of a name, without its escapes. */
struct ck_lint_word ck_lint_word_of(const struct ck_scopes *scopes, TSNode node);

/* The same as a string in the arena; NULL when memory ran out. */
const char *ck_lint_word_text(const struct ck_scopes *scopes, TSNode node);
bool ck_lint_word_is(struct ck_lint_word word, const char *text);

/* value may be null (ts_node_is_null). */
void ck_scopes_bind(struct ck_scopes *scopes, uint32_t scope, struct ck_lint_word word, TSNode value, const char *path);

/*
 * As ck_scopes_bind, but ck_scopes_finish decides the scope: that of the declaration, else the
 * file.
 */
void ck_scopes_assign(struct ck_scopes *scopes, struct ck_lint_word word, TSNode value, const char *path);

/* Call at the end of the walk. Returns -ENOMEM if memory ran out at any time before. */
int ck_scopes_finish(struct ck_scopes *scopes);

/* Looks in that scope and then in the outer ones; NULL if the file does not bind the name. */
struct ck_slot *ck_scopes_find(const struct ck_scopes *scopes, uint32_t scope, struct ck_lint_word word);

/*
 * ck_scopes_facts, after ck_scopes_finish: returns how many notes there are for a place, in an
 * array.
 */
void ck_scopes_note(struct ck_scopes *scopes, uint32_t start, const char *text);
uint32_t ck_scopes_facts(const struct ck_scopes *scopes, uint32_t start, const struct ck_fact **ret_facts);

/* ---- evaluation -------------------------------------------------------------------------- */

/*
 * Starts a new question with full fuel. ck_scopes_spend returns false when the fuel is used up or
 * the question is too deep.
 */
void ck_scopes_refuel(struct ck_scopes *scopes);
bool ck_scopes_spend(struct ck_scopes *scopes, uint32_t depth);

/*
 * True: evaluate every binding into the names of the evaluation, with ck_scopes_slot_next before
 * each, then call end. False: it is evaluated already, and names has the result.
 */
struct ck_evaluation {
    struct ck_slot *slot;       /* which is evaluated */
    uint32_t lowest;            /* of the enclosing evaluation */
    struct ck_lint_names names; /* found so far */
};
bool ck_scopes_slot_begin(struct ck_scopes *scopes, struct ck_slot *slot, struct ck_evaluation *ret_evaluation,
                          struct ck_lint_names *names);
void ck_scopes_slot_next(struct ck_scopes *scopes);
void ck_scopes_slot_end(struct ck_scopes *scopes, struct ck_evaluation *evaluation, struct ck_lint_names *names);

/* Adds all names of one set to another. */
void ck_lint_names_merge(struct ck_lint_names *names, const struct ck_lint_names *others);

/* The n-th named child (from 0) that is not a comment, and the last; null if there is none. */
TSNode ck_lint_node_nth(TSNode node, uint32_t n);
TSNode ck_lint_node_last(TSNode node);
TSNode ck_lint_node_field(TSNode node, const char *field);

/* Does it have a direct child with this token? */
bool ck_lint_node_has_token(TSNode node, const char *token);

extern const TSNode ck_lint_node_none;

#endif
