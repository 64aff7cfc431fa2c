/*
 * python_value.h - what is known of an expression of Python without running it: constants, arguments, spelling.
 */
#ifndef CK_LINT_PYTHON_VALUE_H
#define CK_LINT_PYTHON_VALUE_H

#include "lint/python.h"
#include "lint/rules.h"

/*
 * "builtins.eval" and "__builtins__.eval" are "eval"; the module itself is "builtins". Points into name, or to a
 * constant.
 */
const char *ck_py_canonical(const char *name);

/* A name as Python reads it, from the arena; NULL when memory ran out. */
const char *ck_py_name(struct ck_source *source, const char *text, uint32_t length);
const char *ck_py_identifier(struct ck_source *source, TSNode node);

void ck_py_constant(struct ck_source *source, TSNode node, unsigned depth, struct ck_constant *ret_constant);

/* As in struct ck_resolver. */
enum ck_argument ck_py_argument(struct ck_source *source, TSNode arguments, const char *keyword, int32_t position,
                                TSNode *ret_value);

/* As in struct ck_resolver: a comment may declare an encoding in which our letters are others. */
bool ck_py_readable(const char *text, size_t length);

/* In resolve_python.c. */
void ck_py_names(struct ck_source *source, TSNode node, unsigned depth, struct ck_names *ret_names);
TSNode ck_py_only_value(struct ck_source *source, TSNode identifier);

#endif
