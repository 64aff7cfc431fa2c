/*
 * ignore.h - patterns of .gitignore: which paths are left out.
 *
 * As Git reads them: the last pattern that matches decides, a file nearer to the path comes before one further up, '!'
 * takes back in, a slash at the end means directories only, a slash elsewhere ties the pattern to its directory, '*' and
 * '?' do not match a slash, "**" between slashes matches any number of directories. Bytes, not characters.
 *
 * The text is hostile: matching takes time in proportion to pattern times path at most, and both the length of a
 * pattern and the number of them are bounded.
 */
#ifndef CK_LINT_IGNORE_H
#define CK_LINT_IGNORE_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>

#define CK_IGNORE_MAX_BYTES ((size_t)256 << 10) /* of one .gitignore */
#define CK_IGNORE_MAX_PATTERNS ((size_t)8192)   /* from the top down to one directory */

struct ck_ignore_pattern {
    const char *text; /* without the marks that the members below stand for */
    bool negated;
    bool directories_only;
    bool anchored; /* to the directory of the file; else it is about a name at any depth */
};

/* The patterns of one directory, and behind outer those of the directories above. */
struct ck_ignore {
    const struct ck_ignore *outer;
    size_t base_length; /* of the directory's path with its slash, 0 at the top */
    size_t total;       /* patterns in this one and all outer ones */
    size_t count;
    struct ck_ignore_pattern *patterns;
};

/*
 * Adds what text says for the directory whose path has base_length bytes. It lives in the arena. NULL text is fine. -ENOMEM;
 * -E2BIG where there would be too many patterns.
 */
int ck_ignore_parse(struct ck_arena *arena, const struct ck_ignore *outer, size_t base_length, const char *text,
                    size_t length, const struct ck_ignore **ret_ignore);

/* One pattern, as a line of a .gitignore; false where there is none in it. */
bool ck_ignore_pattern(struct ck_arena *arena, const char *line, size_t length, struct ck_ignore_pattern *ret_pattern);

/* Is this path, from the top, left out? The directories above it are not looked at. ignore may be NULL. */
bool ck_ignore_matches(const struct ck_ignore *ignore, const char *path, bool is_directory);

/* The same for a path or any directory above it. */
bool ck_ignore_matches_within(const struct ck_ignore *ignore, const char *path, bool is_directory);

#endif
