/*
 * scopes.h - scopes and what they bind, for the languages whose scopes nest (JavaScript, C); Bash uses one scope of it.
 *
 *   1. ck_scopes_new, with the types of nodes that the resolver tells apart.
 *   2. While the tree is walked from the top (ck_scopes_walk_next): ck_scopes_enter where one begins; ck_scopes_bind for what a
 *      scope declares; ck_scopes_assign for what is given to a name whose scope may be declared below.
 *   3. ck_scopes_finish: the assignments find their scopes, and the source has them.
 *   4. ck_scopes_find, then ck_scopes_slot_begin and ck_scopes_slot_end around the evaluation of what a name was given.
 *
 * A hostile file must not make this slow: a scope within CK_SCOPES_NESTED others is none, what a name may be is
 * evaluated once, and each question has so much fuel and no more. Who gives up says so (exhausted, resolve.h).
 */
#ifndef CK_LINT_LANG_SCOPES_H
#define CK_LINT_LANG_SCOPES_H

#include "lint/lang/resolve.h"

#define CK_SCOPES_NESTED 256
#define CK_SCOPES_DEPTH 256 /* of one question: a chain of so many calls or names is no longer followed */

/* A piece of the source. */
struct ck_lint_word {
    const char *text;
    uint32_t length;
};

/* What a name was given: a value, or members of a value (path "a.b"); without a value the name it stands for, and without
 * that something unknown. */
struct ck_binding {
    struct ck_binding *next;
    TSNode value;
    const char *path;
};

/* A name in a scope. */
struct ck_slot {
    struct ck_slot *next; /* in its bucket */
    struct ck_lint_word word;
    uint32_t scope;
    uint32_t level; /* while it is evaluated: how many others were begun before */
    struct ck_binding *first, *last;
    struct ck_lint_names *names; /* once it was evaluated */
};

/* Something about the node that starts there. */
struct ck_fact {
    uint32_t start;
    const char *text;
};

struct ck_scope {
    uint32_t start, end, parent, depth;
    bool function;
};

struct ck_assignment;

struct ck_scopes {
    struct ck_lint_source *source;
    uint8_t *kinds; /* of each symbol of the grammar; 0: none of the resolver's */
    uint32_t kinds_count;
    struct ck_scope *items;
    uint32_t count, capacity, current;
    struct ck_slot **buckets;
    uint32_t buckets_mask;
    struct ck_assignment *assignments, *last_assignment;
    struct ck_fact *facts;
    uint32_t facts_count, facts_capacity;
    uint32_t level, lowest; /* of the slots in evaluation: how many, and the lowest that was met again */
    uint32_t fuel;
    bool cut; /* of this question something was left out */
    uint64_t spent;
    bool failed; /* memory ran out */
};

struct ck_kind {
    const char *type;
    uint8_t kind; /* from 1 */
};

/* kinds ends with a type of NULL. NULL: memory ran out. The first scope is the whole file, and is current. */
struct ck_scopes *ck_scopes_new(struct ck_lint_source *source, const struct ck_kind *kinds);

uint8_t ck_scopes_kind(const struct ck_scopes *scopes, TSNode node);

/* The next node of a walk over everything, those above before those below; false at the end. Leaves the scopes that it has left. */
bool ck_scopes_walk_next(struct ck_scopes *scopes, TSTreeCursor *cursor);

/* Its index, which is current until the walk has left the node. */
uint32_t ck_scopes_enter(struct ck_scopes *scopes, TSNode node, bool function);

/* The nearest function around a scope, or the file. */
uint32_t ck_scopes_function(const struct ck_scopes *scopes, uint32_t scope);

/* The innermost scope around a place in the text. */
uint32_t ck_scopes_at(const struct ck_scopes *scopes, uint32_t position);

/* A name is without its escapes. */
struct ck_lint_word ck_lint_word_of(const struct ck_scopes *scopes, TSNode node);

/* The same as a string of the arena; NULL: memory ran out. */
const char *ck_lint_word_text(const struct ck_scopes *scopes, TSNode node);
bool ck_lint_word_is(struct ck_lint_word word, const char *text);

/* value may be null (ts_node_is_null). */
void ck_scopes_bind(struct ck_scopes *scopes, uint32_t scope, struct ck_lint_word word, TSNode value, const char *path);

void ck_scopes_assign(struct ck_scopes *scopes, struct ck_lint_word word, TSNode value, const char *path);

/* At the end of the walk. -ENOMEM: memory ran out at any time since the beginning. */
int ck_scopes_finish(struct ck_scopes *scopes);

/* In that scope, else in those around it; NULL: nobody binds it. */
struct ck_slot *ck_scopes_find(const struct ck_scopes *scopes, uint32_t scope, struct ck_lint_word word);

/* Once the scopes are settled: how many notes there are about a place, one after the other. */
void ck_scopes_note(struct ck_scopes *scopes, uint32_t start, const char *text);
uint32_t ck_scopes_facts(const struct ck_scopes *scopes, uint32_t start, const struct ck_fact **ret_facts);

/* ---- evaluation -------------------------------------------------------------------------- */

/* A new question: fuel again. ck_scopes_spend is false when it is used up, or the question has gone too deep. */
void ck_scopes_refuel(struct ck_scopes *scopes);
bool ck_scopes_spend(struct ck_scopes *scopes, uint32_t depth);

/*
 * True: evaluate every binding into the evaluation's names, with ck_scopes_slot_next before each, then end. False: it is done, and names has
 * what is known.
 */
struct ck_evaluation {
    struct ck_slot *slot;
    uint32_t lowest; /* of whoever is around it */
    struct ck_lint_names names;
};
bool ck_scopes_slot_begin(struct ck_scopes *scopes, struct ck_slot *slot, struct ck_evaluation *ret_evaluation,
                          struct ck_lint_names *names);
void ck_scopes_slot_next(struct ck_scopes *scopes);
void ck_scopes_slot_end(struct ck_scopes *scopes, struct ck_evaluation *evaluation, struct ck_lint_names *names);

/* Everything of one set into another. */
void ck_lint_names_merge(struct ck_lint_names *names, const struct ck_lint_names *others);

/* The n-th named child (from 0) that is no comment, and the last; null where there is none. */
TSNode ck_lint_node_nth(TSNode node, uint32_t n);
TSNode ck_lint_node_last(TSNode node);
TSNode ck_lint_node_field(TSNode node, const char *field);

/* Has it a token of that text right below it? */
bool ck_lint_node_has_token(TSNode node, const char *token);

extern const TSNode ck_lint_node_none;

#endif
