/*
 * fingerprint.h - names a finding so that a later report has the same name for it.
 */
#ifndef CK_FRONT_FINGERPRINT_H
#define CK_FRONT_FINGERPRINT_H

#include <stddef.h>

#define CK_FINGERPRINT_SIZE 33 /* 32 digits and a NUL */

/*
 * Of the parts, in their order; none is NULL. It is a cryptographic hash: a baseline hides what has
 * one of its fingerprints, so nobody may be able to make a finding with a given one.
 */
void ck_fingerprint_make(char dst[CK_FINGERPRINT_SIZE], const char *const *parts, size_t count);

/*
 * A source line without what changes when code is formatted anew: no blanks at its ends, and one
 * space for each run of blanks. Returns dst; a line that does not fit is cut.
 */
const char *ck_fingerprint_line(char *dst, size_t dst_size, const char *line);

#endif
