/*
 * python.h - scopes and bindings of a Python file: collected by python_collect.c and
 * python_scope.c, used by python_resolve.c.
 *
 * Python decides by the text alone to which scope a name belongs, so the scopes are exact. The
 * value of a name is not: it may be bound several times, and the control flow decides which binding
 * applies. Each binding knows its branch. Inside that branch and after it, the binding certainly
 * applies unless another follows. Elsewhere it may apply.
 */
#ifndef CK_LINT_LANG_PYTHON_H
#define CK_LINT_LANG_PYTHON_H

#include "lint/lang/resolve.h"

#define CK_PYTHON_NONE UINT32_MAX

enum ck_python_scope_kind { CK_PYTHON_MODULE, CK_PYTHON_FUNCTION, CK_PYTHON_CLASS };

struct ck_python_scope {
    enum ck_python_scope_kind kind;
    uint32_t start, end; /* bytes; of a function the body: defaults belong to the outer scope */
    uint32_t parent;     /* index; CK_PYTHON_NONE for the module */
    uint32_t first_star; /* index of a star import, or CK_PYTHON_NONE */
};

enum ck_python_binding_kind {
    CK_PYTHON_UNKNOWN,  /* a parameter, a loop's variable, a class, ... */
    CK_PYTHON_IMPORT,   /* path */
    CK_PYTHON_VALUE,    /* the expression in value, evaluated at its place */
    CK_PYTHON_GLOBAL,   /* declared to be the module's */
    CK_PYTHON_NONLOCAL, /* declared to be that of an outer function */
};

/* Bytes of the source. end is the first byte after it. */
struct ck_python_range {
    uint32_t start, end;
};

struct ck_python_binding {
    enum ck_python_binding_kind kind;
    uint32_t scope;   /* index in scopes */
    const char *name; /* as Python reads it */
    uint32_t length;
    uint32_t at; /* uses before this byte do not see it */
    struct ck_python_range branch, loop;
    const char *path;                  /* of CK_PYTHON_IMPORT: "os.path" */
    TSNode value;                      /* of CK_PYTHON_VALUE */
    uint32_t next;                     /* the next of this name in this scope */
    const struct ck_lint_names *names; /* what value may be; NULL until it is evaluated */
    bool busy;                         /* it is being evaluated: a second visit is a cycle */
};

/* from path import *, in one scope. */
struct ck_python_star {
    const char *path;
    uint32_t next;
};

/* The bindings of one name in one scope, as a list by their index. */
struct ck_python_slot {
    uint32_t first, last; /* bindings; first is CK_PYTHON_NONE where the slot is empty */
};

/* All of one file. scopes[0] is the module. room is how many items an array can hold. */
struct ck_python_file {
    struct ck_python_scope *scopes;
    uint32_t scopes_count, scopes_room;
    uint32_t *by_start; /* scopes in the order of their first byte */
    struct ck_python_binding *bindings;
    uint32_t bindings_count, bindings_room;
    struct ck_python_star *stars;
    uint32_t stars_count, stars_room;
    struct ck_python_slot *slots; /* by scope and name */
    uint32_t slots_count;         /* a power of two */
    uint32_t looked_at;           /* bindings examined so far; there is a limit */
    uint32_t cut_short;           /* how often the depth limit was reached */
};

/* Everything is in the arena of the source. Returns 0 or -ENOMEM. */
int ck_python_collect(struct ck_lint_source *source, struct ck_python_file **ret_file);

/* The innermost scope around a byte. */
uint32_t ck_python_scope_at(const struct ck_python_file *file, uint32_t byte);

/* The first binding of the name in the scope, or CK_PYTHON_NONE. `next` leads to the others. */
uint32_t ck_python_find(const struct ck_python_file *file, uint32_t scope, const char *name, uint32_t length);

/* ---- symbols and fields of the grammar --------------------------------------------------- */

/* clang-format off */
#define CK_PYTHON_SYMBOLS(X)                                                                                        \
    X(aliased_import) X(argument_list) X(as_pattern) X(as_pattern_target) X(assignment) X(attribute)            \
    X(augmented_assignment) X(await) X(binary_operator) X(boolean_operator) X(call) X(case_clause)              \
    X(case_pattern) X(class_definition) X(comment) X(concatenated_string) X(conditional_expression)             \
    X(default_parameter) X(delete_statement) X(dict_pattern) X(dictionary) X(dictionary_comprehension)          \
    X(dictionary_splat) X(dictionary_splat_pattern) X(dotted_name) X(elif_clause) X(else_clause) X(except_clause)     \
    X(except_group_clause) X(exec_statement) X(expression_list) X(float) X(for_in_clause) X(for_statement)      \
    X(function_definition) X(generator_expression) X(global_statement) X(identifier) X(if_statement)            \
    X(import_from_statement) X(import_statement) X(integer) X(interpolation) X(keyword_argument) X(keyword_pattern)   \
    X(lambda) X(lambda_parameters) X(list) X(list_comprehension) X(list_splat) X(list_splat_pattern)            \
    X(list_pattern) X(named_expression) X(nonlocal_statement) X(none) X(not_operator) X(pair) X(parameters)     \
    X(parenthesized_expression) X(pattern_list) X(relative_import) X(set) X(set_comprehension) X(splat_pattern) \
    X(string) X(string_content) X(string_start) X(string_end) X(subscript) X(true) X(false) X(try_statement)    \
    X(tuple) X(tuple_pattern) X(typed_default_parameter) X(typed_parameter) X(unary_operator) X(while_statement)      \
    X(wildcard_import) X(with_statement)
#define CK_PYTHON_FIELDS(X)                                                                                   \
    X(alias) X(alternative) X(arguments) X(attribute) X(body) X(consequence) X(function) X(key) X(left)   \
    X(module_name) X(name) X(object) X(operator) X(parameters) X(right) X(subscript) X(value)
/* clang-format on */

struct ck_python_symbols {
#define X(name) TSSymbol name##_;
    CK_PYTHON_SYMBOLS(X)
#undef X
};

struct ck_python_fields {
#define X(name) TSFieldId name##_;
    CK_PYTHON_FIELDS(X)
#undef X
};

/* Looked up once per process. The grammar is the same for all threads. */
const struct ck_python_symbols *ck_python_symbols(void);
const struct ck_python_fields *ck_python_fields(void);

#endif
