/*
 * python_fold.h - letters that Python takes for others.
 *
 * Python normalizes identifiers (NFKC), so that a name in mathematical or full-width letters is the same name as in
 * ASCII. Only what becomes ASCII is of interest here: no rule is about another name.
 */
#ifndef CK_LINT_LANG_PYTHON_FOLD_H
#define CK_LINT_LANG_PYTHON_FOLD_H

#include <stddef.h>

#define CK_PYTHON_FOLD_MAX 128 /* bytes of a name that is looked at; a longer one is nobody's */

/* The name in ASCII, and its length; 0 where it is ASCII already, does not become it, or is too long. */
size_t ck_python_fold(const char *name, size_t length, char folded[static CK_PYTHON_FOLD_MAX]);

#endif
