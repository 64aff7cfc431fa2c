/*
 * resolve.h - finds out what a name in a file stands for, as far as the file itself says.
 *
 * Each language has one struct ck_lint_resolver, and its own model of scopes. The scanner (scan.c,
 * match.c) calls
 *
 *   1. begin, once per file: one walk over the tree that collects scopes and bindings;
 *   2. names, for the @name of each match: what it may be, as qualified names of the language
 *      ("os.system", "child_process.exec", "fork", "eval");
 *   3. argument and constant, for the conditions of the rules about such a name.
 *
 * A resolver must bound its own recursion (CK_RESOLVE_DEPTH) and walk the tree with a cursor,
 * because a hostile file can be nested without limit. It must take memory only from the arena of
 * the file. It must not guess: a name that the file binds to something unknown resolves to nothing.
 * A name that the file does not bind belongs to the language (a builtin, a function of the C
 * library).
 */
#ifndef CK_LINT_LANG_RESOLVE_H
#define CK_LINT_LANG_RESOLVE_H

#include "base/arena.h"
#include "lint/grammar.h"

#include <stdbool.h>
#include <stdint.h>

#define CK_RESOLVE_DEPTH 24 /* nested expressions or patterns, or names that lead to names */
#define CK_LINT_NAMES_MAX 8 /* of one expression */

struct ck_lint_program; /* rules.h */

/* The file that is being scanned. */
struct ck_lint_source {
    const char *text;
    uint32_t length; /* of text, in bytes */
    TSNode root;
    const struct ck_grammar *grammar;
    const struct ck_lint_program *program; /* the rules of the language */
    struct ck_arena *arena;                /* of this file, with a maximum */
    void *scopes;                          /* private to the resolver, set by begin */
    bool exhausted;                        /* it gave up: the file is not scanned in full */
};

/*
 * What an expression may be: several names if branches differ. Names beyond the maximum are
 * dropped.
 */
struct ck_lint_names {
    const char *items[CK_LINT_NAMES_MAX];
    uint32_t count;
    bool open; /* it may also be something unknown, or a name that was dropped */
};

/* Certainly not there, certainly there, or either. */
enum ck_argument { CK_ARGUMENT_ABSENT, CK_ARGUMENT_PRESENT, CK_ARGUMENT_UNKNOWN };

enum ck_constant_kind {
    CK_CONSTANT_NOT, /* not known */
    CK_CONSTANT_TEXT,
    CK_CONSTANT_TRUE,  /* true, a number other than 0, a list that is not empty */
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

    /* What the node may be. The names are in the arena, or constants. */
    void (*names)(struct ck_lint_source *source, TSNode node, struct ck_lint_names *ret_names);

    /*
     * The argument of that keyword (may be NULL), else the one at that position (-1: none), in the
     * node that a query captured as @arguments. CK_ARGUMENT_UNKNOWN: something of unknown content
     * is spread there (*args, ...x).
     */
    enum ck_argument (*argument)(struct ck_lint_source *source, TSNode arguments, const char *keyword, int32_t position,
                                 TSNode *ret_value);

    /* What is known of an expression without running it. */
    void (*constant)(struct ck_lint_source *source, TSNode node, struct ck_constant *ret_constant);

    /* Does the language read these bytes as ASCII or UTF-8? NULL: always. */
    bool (*readable)(const char *text, size_t length);
};

extern const struct ck_lint_resolver ck_python_resolver, ck_js_resolver, ck_c_resolver, ck_bash_resolver;

/* ---- what resolvers share (resolve.c) ---------------------------------------------------- */

/* Adds a name unless it is there already or the set is full. */
void ck_lint_names_add(struct ck_lint_names *names, const char *name);

/* A copy of the text of the node; NULL when memory ran out. */
const char *ck_lint_source_text(struct ck_lint_source *source, TSNode node);
bool ck_lint_source_is(const struct ck_lint_source *source, TSNode node, const char *text);

/* Compares the name of the type. Where speed matters compare symbols, which are looked up once. */
bool ck_lint_node_is(TSNode node, const char *type);

/* "a" and "b" give "a.b"; NULL when memory ran out. */
const char *ck_lint_name_qualify(struct ck_lint_source *source, const char *left, const char *right);

#endif
