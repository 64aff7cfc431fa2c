/*
 * place.h - what a path is a part of. What is found in a test matters less than the same in what
 * runs.
 */
#ifndef CK_GATHER_FINDINGS_PLACE_H
#define CK_GATHER_FINDINGS_PLACE_H

#include <stdbool.h>

enum ck_place {
    CK_PLACE_SOURCE, /* also the build and the CI */
    CK_PLACE_TEST,   /* with its data, and benchmarks */
    CK_PLACE_EXAMPLE,
    CK_PLACE_DOCUMENT,
    CK_PLACE_VENDORED /* kept here, and written elsewhere or generated */
};

/* Pure: only the names in the path count. path is relative to the root of the repository. */
enum ck_place ck_place_of(const char *path);

/*
 * How many levels less severe a finding is there. is_token: a credential that works wherever it is
 * written. path NULL: it is not known.
 */
unsigned ck_place_levels(const char *path, bool is_token);

/* Is it in a language that programs make smaller? Then long lines say that it was generated. */
bool ck_place_may_be_generated(const char *path);

const char *ck_place_name(enum ck_place place);

#endif
