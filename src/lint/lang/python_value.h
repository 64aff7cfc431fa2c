/*
 * python_value.h - what is known of a Python expression without running it: constants, arguments,
 * names.
 */
#ifndef CK_LINT_LANG_PYTHON_VALUE_H
#define CK_LINT_LANG_PYTHON_VALUE_H

#include "lint/lang/python.h"
#include "lint/rules.h"

/*
 * "builtins.eval" and "__builtins__.eval" are "eval"; the module itself is "builtins". The result
 * points into name, or to a constant.
 */
const char *ck_python_canonical(const char *name);

/* A name as Python reads it (folded to ASCII), in the arena; NULL when memory ran out. */
const char *ck_python_name(struct ck_lint_source *source, const char *text, uint32_t length);
const char *ck_python_identifier(struct ck_lint_source *source, TSNode node);

void ck_python_constant(struct ck_lint_source *source, TSNode node, unsigned depth, struct ck_constant *ret_constant);

/* As in struct ck_lint_resolver. */
enum ck_argument ck_python_argument(struct ck_lint_source *source, TSNode arguments, const char *keyword,
                                    int32_t position, TSNode *ret_value);

/*
 * As in struct ck_lint_resolver. A comment may declare an encoding in which ASCII bytes are other
 * letters.
 */
bool ck_python_readable(const char *text, size_t length);

/* In python_resolve.c. */
void ck_python_names(struct ck_lint_source *source, TSNode node, unsigned depth, struct ck_lint_names *ret_names);
TSNode ck_python_only_value(struct ck_lint_source *source, TSNode identifier);

#endif
