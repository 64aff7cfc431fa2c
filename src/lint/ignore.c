/*
 * ignore.c - matches paths against patterns of .gitignore. See ignore.h.
 *
 * A path is matched segment by segment, and a segment byte by byte. On both levels it is enough to
 * return to the last star: what an earlier star could match, the last one can match as well. So
 * there is no recursion, and no pattern takes exponential time.
 */
#include "lint/ignore.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

/* ---- one character ----------------------------------------------------------------------- */

/* The classes of POSIX. In <ctype.h> each is a function. */
static const struct {
    const char *name;
    int (*has)(int);
} classes[] = {
    {"alnum", isalnum}, {"alpha", isalpha}, {"blank", isblank}, {"cntrl", iscntrl},
    {"digit", isdigit}, {"graph", isgraph}, {"lower", islower}, {"print", isprint},
    {"punct", ispunct}, {"space", isspace}, {"upper", isupper}, {"xdigit", isxdigit},
};

/* Matches ":alpha:]" after a bracket. Returns the bytes it takes, 0 if it is not a class. */
static size_t match_class(const char *text, size_t length, unsigned char byte, bool *matched)
{
    for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++) {
        size_t n = strlen(classes[i].name);
        if (length < n + 3 || memcmp(text + 1, classes[i].name, n) != 0 || memcmp(text + 1 + n, ":]", 2) != 0)
            continue;
        /* ASCII only: the result must not depend on the locale of the caller. */
        *matched = *matched || (byte < 0x80 && classes[i].has(byte) != 0);
        return n + 3;
    }
    return 0;
}

/* Reads one bound of a range, with its backslash; 0 at the end of the pattern. */
static size_t read_bound(const char *at, const char *end, unsigned char *ret_byte)
{
    size_t n = at < end && *at == '\\' ? 2 : 1;
    if ((size_t)(end - at) < n)
        return 0;
    *ret_byte = (unsigned char)at[n - 1];
    return n;
}

/*
 * Matches one member of a set: a class, a range or a byte. Returns the bytes of the pattern it
 * takes, 0 if it is malformed.
 */
static size_t match_member(const char *at, const char *end, unsigned char byte, bool *matched)
{
    unsigned char low, high;
    if (end - at >= 2 && at[0] == '[' && at[1] == ':' && memchr(at + 2, ']', (size_t)(end - at) - 2)) {
        size_t n = match_class(at + 1, (size_t)(end - at) - 1, byte, matched);
        return n == 0 ? 0 : n + 1;
    }
    size_t n = read_bound(at, end, &low);
    if (n == 0)
        return 0;
    /* A dash at the end of the set is a plain byte: [a-]. */
    if (end - at - (ptrdiff_t)n < 2 || at[n] != '-' || at[n + 1] == ']') {
        *matched = *matched || byte == low;
        return n;
    }
    size_t m = read_bound(at + n + 1, end, &high);
    if (m == 0)
        return 0;
    *matched = *matched || (byte >= low && byte <= high);
    return n + 1 + m;
}

/*
 * Matches "[...]". Returns the bytes of the pattern it takes; 0 if the set has no end, and then it
 * matches nothing.
 */
static size_t match_set(const char *pattern, const char *end, unsigned char byte, bool *ret_matched)
{
    const char *at = pattern + 1;
    bool negated = at < end && (*at == '!' || *at == '^');
    bool matched = false;
    at += negated;
    /* "]" right after the opening is a member: []a]. */
    for (bool first = true; first || (at < end && *at != ']'); first = false) {
        size_t n = at < end ? match_member(at, end, byte, &matched) : 0;
        if (n == 0)
            return 0;
        at += n;
    }
    if (at >= end)
        return 0;
    *ret_matched = matched != negated;
    return (size_t)(at + 1 - pattern);
}

/* The bytes of the pattern that match this byte; 0 if it does not match. */
static size_t match_byte(const char *pattern, const char *end, unsigned char byte)
{
    bool matched = false;
    if (pattern == end)
        return 0;
    if (*pattern == '?')
        return 1;
    if (*pattern == '[') {
        size_t n = match_set(pattern, end, byte, &matched);
        return matched ? n : 0;
    }
    /* A backslash at the end of a pattern matches nothing, as in Git. */
    if (*pattern == '\\')
        return end - pattern > 1 && (unsigned char)pattern[1] == byte ? 2 : 0;
    return (unsigned char)*pattern == byte;
}

/* ---- one segment, one path --------------------------------------------------------------- */

/* The end of a pattern's segment: a slash outside of brackets. */
static const char *pattern_end(const char *at)
{
    for (; *at != '\0' && *at != '/'; at++) {
        bool ignored;
        size_t n = *at == '[' ? match_set(at, at + strlen(at), 0, &ignored) : 0;
        if (n > 0)
            at += n - 1;
        else if (*at == '\\' && at[1] != '\0' && at[1] != '/')
            at++;
    }
    return at;
}

/* The end of a path's segment. */
static const char *path_end(const char *at)
{
    return at + strcspn(at, "/");
}

/* On a mismatch goes back to the last star, and lets it take one byte more. */
static bool segment_matches(const char *pattern, const char *pattern_last, const char *text, const char *text_last)
{
    const char *after_star = NULL;
    const char *resume = NULL;
    while (text < text_last) {
        size_t n = 0;
        if (pattern < pattern_last && *pattern == '*') {
            after_star = ++pattern;
            resume = text;
            continue;
        }
        n = match_byte(pattern, pattern_last, (unsigned char)*text);
        if (n > 0) {
            pattern += n;
            text++;
        } else if (after_star) {
            pattern = after_star;
            text = ++resume;
        } else {
            return false;
        }
    }
    /* The text is used up: only stars may be left. */
    while (pattern < pattern_last && *pattern == '*')
        pattern++;
    return pattern == pattern_last;
}

/* After a segment of two or more stars; NULL if the segment is another. */
static const char *after_double_star(const char *pattern)
{
    size_t stars = strspn(pattern, "*");
    return stars >= 2 && (pattern[stars] == '/' || pattern[stars] == '\0') ? pattern + stars : NULL;
}

/* After the slash, or NULL at the end. */
static const char *next_segment(const char *end)
{
    return *end == '/' ? end + 1 : NULL;
}

/* Advances both by one segment, if it matches. */
static bool step(const char **pattern, const char **path)
{
    const char *end = pattern_end(*pattern);
    const char *last = path_end(*path);
    if (!segment_matches(*pattern, end, *path, last))
        return false;
    *pattern = next_segment(end);
    *path = next_segment(last);
    return true;
}

/*
 * The same with segments: "**" is the star, and takes one segment more on a mismatch. NULL is the
 * end of the pattern or the path.
 */
static bool path_matches(const char *pattern, const char *path)
{
    const char *after_star = NULL;
    const char *resume = NULL;
    while (pattern || path) {
        const char *after = pattern ? after_double_star(pattern) : NULL;
        if (after) {
            pattern = next_segment(after);
            if (!pattern)
                return !!path; /* what is inside, not the directory itself */
            after_star = pattern;
            resume = path;
        } else if (!pattern || !path || !step(&pattern, &path)) {
            resume = resume ? next_segment(path_end(resume)) : NULL;
            if (!resume)
                return false;
            pattern = after_star;
            path = resume;
        }
    }
    return true;
}

/*
 * Git compares the part before the first special character as plain text, and matches the rest as a
 * separate pattern. Its manual does not say so. As a result a pattern of "a**", a slash and "b"
 * also matches "ab".
 */
static bool anchored_matches(const char *pattern, const char *path)
{
    size_t plain = strcspn(pattern, "*?[\\");
    return strncmp(pattern, path, plain) == 0 && path_matches(pattern + plain, path + plain);
}

/* ---- a file of patterns ------------------------------------------------------------------ */

/*
 * The length without a carriage return and without trailing blanks. A backslash protects a blank.
 */
static size_t trimmed(const char *line, size_t length)
{
    if (length > 0 && line[length - 1] == '\r')
        length--;
    size_t end = 0;
    for (size_t i = 0; i < length; i++) {
        if (line[i] == '\\' && i + 1 < length)
            end = ++i + 1;
        else if (line[i] != ' ')
            end = i + 1;
    }
    return end;
}

bool ck_ignore_pattern(struct ck_arena *arena, const char *line, size_t length, struct ck_ignore_pattern *ret_pattern)
{
    struct ck_ignore_pattern pattern = {0};
    /* "\#" is a pattern: the backslash stays and quotes the byte. */
    length = line[0] == '#' || length == 0 ? 0 : trimmed(line, length);
    if (length > 0 && line[0] == '!') {
        pattern.negated = true;
        line++;
        length--;
    }
    if (length > 0 && line[length - 1] == '/') {
        pattern.directories_only = true;
        length--;
    }
    /* After the slash at the end is removed: "build/" is not anchored, "/build" is. */
    pattern.anchored = length > 0 && memchr(line, '/', length);
    if (length > 0 && line[0] == '/') {
        line++;
        length--;
    }
    if (length == 0)
        return false;
    pattern.text = ck_arena_memdup(arena, line, length);
    *ret_pattern = pattern;
    return true;
}

/* The byte order mark of UTF-8, which some editors write. Git skips it too. */
static const char *skip_mark(const char *text, const char *end)
{
    static const char mark[] = "\xef\xbb\xbf";
    return end - text >= 3 && memcmp(text, mark, 3) == 0 ? text + 3 : text;
}

/* An upper bound of the patterns, to allocate them at once. */
static size_t count_lines(const char *text, const char *end)
{
    size_t lines = 1;
    for (; text < end; text++)
        lines += *text == '\n';
    return lines;
}

int ck_ignore_parse(struct ck_arena *arena, const struct ck_ignore *outer, size_t base_length, const char *text,
                    size_t length, const struct ck_ignore **ret_ignore)
{
    const char *end = text + length;
    size_t before = outer ? outer->total : 0;
    size_t lines = count_lines(text, end);
    if (lines + before > CK_IGNORE_MAX_PATTERNS)
        return -E2BIG;
    struct ck_ignore *ignore = ck_arena_alloc(arena, sizeof(*ignore));
    struct ck_ignore_pattern *patterns = ck_arena_array(arena, lines, sizeof(*patterns));
    if (!ignore || !patterns)
        return -ENOMEM;
    *ignore = (struct ck_ignore){.outer = outer, .base_length = base_length, .patterns = patterns};
    for (const char *at = skip_mark(text, end), *next; at < end; at = next + 1) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        next = newline ? newline : end;
        if (!ck_ignore_pattern(arena, at, (size_t)(next - at), &patterns[ignore->count]))
            continue;
        if (!patterns[ignore->count++].text)
            return -ENOMEM;
    }
    ignore->total = before + ignore->count;
    *ret_ignore = ignore;
    return 0;
}

/* path is relative to the directory of the pattern. */
static bool pattern_matches(const struct ck_ignore_pattern *pattern, const char *path, bool is_directory)
{
    if (pattern->directories_only && !is_directory)
        return false;
    if (pattern->anchored)
        return anchored_matches(pattern->text, path);
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    return segment_matches(pattern->text, pattern->text + strlen(pattern->text), name, name + strlen(name));
}

/*
 * From the last pattern to the first, and from the nearest file outwards: the first match decides.
 */
bool ck_ignore_matches(const struct ck_ignore *ignore, const char *path, bool is_directory)
{
    for (; ignore; ignore = ignore->outer)
        for (size_t i = ignore->count; i-- > 0;)
            if (pattern_matches(&ignore->patterns[i], path + ignore->base_length, is_directory))
                return !ignore->patterns[i].negated;
    return false;
}

bool ck_ignore_matches_within(const struct ck_ignore *ignore, const char *path, bool is_directory)
{
    /* PATH_MAX: no longer path could have been opened. */
    char above[4096];
    size_t length = strlen(path);
    if (!ignore || length >= sizeof(above))
        return false;
    memcpy(above, path, length + 1);
    for (char *slash = strchr(above, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        /*
         * Git does not look into a directory that is left out, so '!' cannot include a file in it
         * again.
         */
        if (ck_ignore_matches(ignore, above, true))
            return true;
        *slash = '/';
    }
    return ck_ignore_matches(ignore, path, is_directory);
}
