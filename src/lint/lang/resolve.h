/*
 * resolve.h - what a name in a file stands for, as far as the file itself says it.
 *
 * One struct ck_lint_resolver per language, behind which a language keeps its own idea of scopes. The engine (scan.c) does
 *
 *   1. begin, once per file: one walk over the tree that collects scopes and what they bind;
 *   2. names, for the @name of each match: what it may be, as qualified names of the language ("os.system",
 *      "child_process.exec", "fork", "eval");
 *   3. argument and constant, for the conditions of the rules about such a name.
 *
 * Must: bound its own recursion (CK_RESOLVE_DEPTH) and walk the tree with a cursor, for the nesting of a hostile file
 * has no limit; take memory from the arena of the file only. Must not: guess. A name that the file binds to something
 * unknown resolves to nothing; one that nobody binds is the language's own (a builtin, a function of the C library).
 */
#ifndef CK_LINT_LANG_RESOLVE_H
#define CK_LINT_LANG_RESOLVE_H

#include "base/arena.h"
#include "lint/grammar.h"

#include <stdbool.h>
#include <stdint.h>

#define CK_RESOLVE_DEPTH 24
#define CK_LINT_NAMES_MAX 8

struct ck_lint_program; /* rules.h */

/* The file that is being scanned. */
struct ck_lint_source {
    const char *text;
    uint32_t length;
    TSNode root;
    const struct ck_grammar *grammar;
    const struct ck_lint_program *program;
    struct ck_arena *arena;
    void *scopes;   /* the resolver's own, from begin */
    bool exhausted; /* set by the resolver when it gives up: the file is reported as not looked at in full */
};

/* What an expression may be: several where branches differ. Those beyond the maximum are dropped. */
struct ck_lint_names {
    const char *items[CK_LINT_NAMES_MAX];
    uint32_t count;
    bool open; /* it may also be something that is not known, or that did not fit */
};

enum ck_argument { CK_ARGUMENT_ABSENT, CK_ARGUMENT_PRESENT, CK_ARGUMENT_UNKNOWN };

enum ck_constant_kind {
    CK_CONSTANT_NOT, /* not known */
    CK_CONSTANT_TEXT,
    CK_CONSTANT_TRUE,  /* true, a number that is not 0, a list that is not empty: anything else that is surely true */
    CK_CONSTANT_FALSE, /* false, 0, none */
};

struct ck_constant {
    enum ck_constant_kind kind;
    const char *text; /* of CK_CONSTANT_TEXT; from the arena, or the source */
    uint32_t length;
};

struct ck_lint_resolver {
    /* 0, or a negative errno. */
    int (*begin)(struct ck_lint_source *source);

    void (*names)(struct ck_lint_source *source, TSNode node, struct ck_lint_names *ret_names);

    /*
     * The argument of that keyword (may be NULL), else the one at that position (-1: none), in the node that a query
     * captured as @arguments. CK_ARGUMENT_UNKNOWN: something is spread in there whose contents cannot be seen.
     */
    enum ck_argument (*argument)(struct ck_lint_source *source, TSNode arguments, const char *keyword, int32_t position,
                                 TSNode *ret_value);

    /* What is known of an expression without running it. */
    void (*constant)(struct ck_lint_source *source, TSNode node, struct ck_constant *ret_constant);

    /* Does the language read these bytes as they stand? NULL: always. */
    bool (*readable)(const char *text, size_t length);
};

extern const struct ck_lint_resolver ck_python_resolver, ck_js_resolver, ck_c_resolver, ck_bash_resolver;

/* ---- what resolvers share (resolve.c) ---------------------------------------------------- */

/* Adds a name unless it is there already or the set is full. */
void ck_lint_names_add(struct ck_lint_names *names, const char *name);

/* The node's text as a string of its own; NULL when memory ran out. */
const char *ck_lint_source_text(struct ck_lint_source *source, TSNode node);
bool ck_lint_source_is(const struct ck_lint_source *source, TSNode node, const char *text);

/* By the name of its type; where it matters for speed compare symbols, which are looked up once. */
bool ck_lint_node_is(TSNode node, const char *type);

/* "a" and "b" give "a.b"; NULL when memory ran out. */
const char *ck_lint_name_qualify(struct ck_lint_source *source, const char *left, const char *right);

#endif
