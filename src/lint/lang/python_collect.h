/*
 * python_collect.h - the state of the walk that fills the tables of python.h. For python_collect.c
 * and python_scope.c only.
 */
#ifndef CK_LINT_LANG_PYTHON_COLLECT_H
#define CK_LINT_LANG_PYTHON_COLLECT_H

#include "lint/lang/python.h"

/* A part of a statement that may not run, or may run again. */
struct ck_python_branch {
    struct ck_python_range range, loop; /* loop: the outermost in the scope, or empty */
    uint32_t scope;                     /* index; a branch does not reach into inner scopes */
};

/* The open scopes (indexes) and branches, the innermost last. See python_scope.c. */
struct ck_python_stack {
    uint32_t *scopes;
    uint32_t scopes_count, scopes_room;
    struct ck_python_branch *branches;
    uint32_t branches_count, branches_room;
};

struct ck_python_collector {
    struct ck_lint_source *source;
    struct ck_python_file *file;
    const struct ck_python_symbols *is; /* symbol == is->call_ */
    const struct ck_python_fields *has; /* field(node, has->name_) */
    struct ck_python_stack stack;
    int failed; /* a negative errno; the walk ends with it */
};

/*
 * Makes room for one more item in an array of the arena. Returns NULL and sets failed when memory
 * ran out.
 */
void *ck_python_grow(struct ck_python_collector *collector, void *items, uint32_t count, uint32_t *room, size_t size);

/* The innermost scope that has begun at a byte. Bytes must not decrease between calls. */
uint32_t ck_python_current_scope(struct ck_python_collector *collector, uint32_t at);

/* Opens a scope for the bytes of body, inside parent, and returns its index. */
uint32_t ck_python_open_scope(struct ck_python_collector *collector, enum ck_python_scope_kind kind, uint32_t parent,
                              TSNode body);

/* Opens a branch for the bytes of part, which belongs to the statement node. */
void ck_python_open_branch(struct ck_python_collector *collector, TSNode node, TSNode part, bool loops);

/*
 * Adds a binding of name, an identifier. The caller sets kind, and path or value. Uses before the
 * byte `at` do not see it.
 */
void ck_python_bind(struct ck_python_collector *collector, uint32_t scope, TSNode name, uint32_t at,
                    struct ck_python_binding binding);
void ck_python_bind_unknown(struct ck_python_collector *collector, uint32_t scope, TSNode name);

/* Makes or grows the table of names. Returns false when memory ran out. */
bool ck_python_grow_slots(struct ck_python_collector *collector);

/* Call when all scopes are known. Returns 0 or -ENOMEM. */
int ck_python_sort_scopes(struct ck_lint_source *source, struct ck_python_file *file);

#endif
