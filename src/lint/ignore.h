/*
 * ignore.h - patterns of .gitignore: which paths are left out.
 *
 * The rules are those of Git. The last pattern that matches decides, and a file nearer to the path
 * comes before one further up. '!' includes again. A slash at the end means directories only; a
 * slash elsewhere ties the pattern to its directory. '*' and '?' do not match a slash, and "**"
 * between slashes matches any number of directories. Bytes are compared, not characters.
 *
 * The text is hostile. Matching takes at most time in proportion to pattern times path, and both
 * the length and the number of patterns are bounded.
 */
#ifndef CK_LINT_IGNORE_H
#define CK_LINT_IGNORE_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>

#define CK_IGNORE_MAX_BYTES ((size_t)256 << 10) /* of one .gitignore */
#define CK_IGNORE_MAX_PATTERNS ((size_t)8192)   /* from the top down to one directory */

struct ck_ignore_pattern {
    const char *text; /* without the marks that set the members below */
    bool negated;
    bool directories_only;
    bool anchored; /* to the directory of the file; otherwise it matches a name at any depth */
};

/* The patterns of one directory; outer has those of the directories above. */
struct ck_ignore {
    const struct ck_ignore *outer;
    size_t base_length; /* of the directory's path with its slash, 0 at the top */
    size_t total;       /* patterns in this one and all outer ones */
    size_t count;
    struct ck_ignore_pattern *patterns;
};

/*
 * Adds the patterns in text, for the directory whose path has base_length bytes. The result is in
 * the arena. text may be NULL. Returns -ENOMEM, or -E2BIG if there would be too many patterns.
 */
int ck_ignore_parse(struct ck_arena *arena, const struct ck_ignore *outer, size_t base_length, const char *text,
                    size_t length, const struct ck_ignore **ret_ignore);

/* Parses one line of a .gitignore. Returns false if the line has no pattern. */
bool ck_ignore_pattern(struct ck_arena *arena, const char *line, size_t length, struct ck_ignore_pattern *ret_pattern);

/*
 * Is this path, from the top, left out? Does not check the directories above it. ignore may be
 * NULL.
 */
bool ck_ignore_matches(const struct ck_ignore *ignore, const char *path, bool is_directory);

/* The same, and also true if any directory above the path is left out. */
bool ck_ignore_matches_within(const struct ck_ignore *ignore, const char *path, bool is_directory);

#endif
