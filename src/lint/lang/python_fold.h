/*
 * python_fold.h - letters that Python reads as other letters.
 *
 * Python normalizes identifiers (NFKC): a name in mathematical or full-width letters is the same
 * name as in ASCII. Only names that become ASCII matter here, because all names in rules are ASCII.
 */
#ifndef CK_LINT_LANG_PYTHON_FOLD_H
#define CK_LINT_LANG_PYTHON_FOLD_H

#include <stddef.h>

#define CK_PYTHON_FOLD_MAX 128 /* bytes of a name; no name in a rule is longer */

/*
 * Writes the name in ASCII and returns its length; 0 if it is ASCII already, does not become ASCII,
 * or is too long.
 */
size_t ck_python_fold(const char *name, size_t length, char folded[static CK_PYTHON_FOLD_MAX]);

#endif
