/*
 * python_collect.h - what the walk over a file of Python enters into its tables. For python_collect.c and
 * python_scope.c only.
 */
#ifndef CK_LINT_PYTHON_COLLECT_H
#define CK_LINT_PYTHON_COLLECT_H

#include "lint/python.h"

struct ck_py_branch {
    struct ck_py_range range, loop; /* loop: the outermost in the same scope, empty where there is none */
    uint32_t scope;
};

struct ck_py_stack {
    uint32_t *scopes;
    uint32_t scopes_count, scopes_room;
    struct ck_py_branch *branches;
    uint32_t branches_count, branches_room;
};

struct ck_py_collector {
    struct ck_source *source;
    struct ck_py_file *file;
    const struct ck_py_symbols *is;
    const struct ck_py_fields *has;
    struct ck_py_stack stack;
    int failed; /* a negative errno; the walk ends with it */
};

/* Room for one more in an array that lives in the arena; NULL, and failed is set, when memory ran out. */
void *ck_py_grow(struct ck_py_collector *collector, void *items, uint32_t count, uint32_t *room, size_t size);

/* The innermost scope that has begun at a byte; bytes only go up. */
uint32_t ck_py_current_scope(struct ck_py_collector *collector, uint32_t at);

/* A scope of the bytes of body, in parent; its index. */
uint32_t ck_py_open_scope(struct ck_py_collector *collector, enum ck_py_scope_kind kind, uint32_t parent, TSNode body);

/* A branch of the bytes of part, which belongs to the statement node. */
void ck_py_open_branch(struct ck_py_collector *collector, TSNode node, TSNode part, bool loops);

/*
 * binding has kind, and path or value; the rest is filled in. name is an identifier; bytes before `at` do not see it.
 */
void ck_py_bind(struct ck_py_collector *collector, uint32_t scope, TSNode name, uint32_t at,
                struct ck_py_binding binding);
void ck_py_bind_unknown(struct ck_py_collector *collector, uint32_t scope, TSNode name);

/* Makes the table of names; it grows with the bindings. False when memory ran out. */
bool ck_py_grow_slots(struct ck_py_collector *collector);

/* When all scopes are known. 0 or -ENOMEM. */
int ck_py_sort_scopes(struct ck_source *source, struct ck_py_file *file);

#endif
