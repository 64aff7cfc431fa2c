/*
 * format.h - text for a terminal with few columns. Everything that it returns is safe to print
 * (front/text.h).
 */
#ifndef CK_GATHER_VIEW_FORMAT_H
#define CK_GATHER_VIEW_FORMAT_H

#include "gather/gather.h"

#define CK_VIEW_COLUMNS 80
#define CK_VIEW_DURATION_SIZE 32

/*
 * The number of columns that text takes at most. Only the terminal knows which characters are wide:
 * those that may be count as two, so that a line is rather too short than too long.
 */
size_t ck_view_columns(const char *text);

/* The number of bytes of text, in whole characters, that take at most this many columns. */
size_t ck_view_fitting(const char *text, size_t columns);

/* Makes text safe; a text with more columns is cut and ends in "...". Returns dst. */
const char *ck_view_cut(char *dst, size_t dst_size, const char *text, size_t columns);

/* At most six columns: "0.3s", "42.0s", "2m05s", "3h12m". Returns dst. */
const char *ck_view_duration(char dst[CK_VIEW_DURATION_SIZE], uint64_t us);

/* The escape that begins the colour of a state; "" for none. CK_VIEW_PLAIN ends it. */
const char *ck_view_state_colour(enum ck_probe_state state);
#define CK_VIEW_PLAIN "\033[0m"
#define CK_VIEW_STRONG "\033[1m"
#define CK_VIEW_DIM "\033[2m"

#endif
