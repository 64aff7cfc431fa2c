/*
 * python_value.h - what is known of an expression of Python without running it: constants, arguments, spelling.
 */
#ifndef CK_LINT_LANG_PYTHON_VALUE_H
#define CK_LINT_LANG_PYTHON_VALUE_H

#include "lint/lang/python.h"
#include "lint/rules.h"

/*
 * "builtins.eval" and "__builtins__.eval" are "eval"; the module itself is "builtins". Points into name, or to a
 * constant.
 */
const char *ck_python_canonical(const char *name);

/* A name as Python reads it, from the arena; NULL when memory ran out. */
const char *ck_python_name(struct ck_lint_source *source, const char *text, uint32_t length);
const char *ck_python_identifier(struct ck_lint_source *source, TSNode node);

void ck_python_constant(struct ck_lint_source *source, TSNode node, unsigned depth, struct ck_constant *ret_constant);

/* As in struct ck_lint_resolver. */
enum ck_argument ck_python_argument(struct ck_lint_source *source, TSNode arguments, const char *keyword,
                                    int32_t position, TSNode *ret_value);

/* As in struct ck_lint_resolver: a comment may declare an encoding in which our letters are others. */
bool ck_python_readable(const char *text, size_t length);

/* In resolve_python.c. */
void ck_python_names(struct ck_lint_source *source, TSNode node, unsigned depth, struct ck_lint_names *ret_names);
TSNode ck_python_only_value(struct ck_lint_source *source, TSNode identifier);

#endif
