/*
 * glob.c - matches a path with a glob, in bytes: fnmatch(3) would read them in the encoding of the
 * locale, and names in a repository may have none.
 *
 * A match that fails goes back to the last "*" only, never to an earlier one. So the cost is at
 * most the product of the two lengths.
 */
#include "gather/files.h"

#include <string.h>

/*
 * Matches one byte with the set after "[" and moves *glob after its "]". Without a "]", "[" is
 * literal.
 */
static bool match_set(const char **glob, unsigned char byte)
{
    const char *at = *glob + 1;
    bool negated = *at == '!' || *at == '^';
    bool matched = false;

    at += negated;
    /* A "]" right at the beginning is an element of the set, as in fnmatch. */
    for (bool first = true; *at != '\0' && (first || *at != ']'); first = false) {
        unsigned char low = (unsigned char)*at++;
        unsigned char high = low;
        if (at[0] == '-' && at[1] != '\0' && at[1] != ']') {
            high = (unsigned char)at[1];
            at += 2;
        }
        matched = matched || (byte >= low && byte <= high);
    }
    /* No "]" was found. */
    if (*at == '\0') {
        (*glob)++;
        return byte == '[';
    }
    *glob = at + 1;
    return matched != negated && byte != '/';
}

/* Matches one byte with the element at *glob; on a match *glob is moved after it. */
static bool match_one(const char **glob, unsigned char byte)
{
    const char *at = *glob;
    bool same;

    if (*at == '[') {
        same = match_set(&at, byte);
    } else {
        same = *at == '?' ? byte != '/' : (unsigned char)*at == byte;
        at++;
    }
    if (same)
        *glob = at;
    return same;
}

/* "*" does not match a slash, so a retry stops there. */
static bool match_rest(const char *glob, const char *path)
{
    const char *star = NULL;  /* after the last "*" */
    const char *again = NULL; /* where to retry */

    while (*path != '\0') {
        if (*glob == '*') {
            star = ++glob;
            again = path;
        } else if (*glob != '\0' && match_one(&glob, (unsigned char)*path)) {
            path++;
        } else if (star && *again != '/') {
            glob = star;
            path = ++again;
        } else {
            return false;
        }
    }
    /* What is left of the glob must match the empty string. */
    while (*glob == '*')
        glob++;
    return *glob == '\0';
}

bool ck_glob_match(const char *glob, const char *path)
{
    if (strncmp(glob, "**/", 3) != 0)
        return match_rest(glob, path);
    /* Tried at the beginning of each directory, and also with none before it. */
    for (const char *slash; !match_rest(glob + 3, path); path = slash + 1) {
        slash = strchr(path, '/');
        if (!slash)
            return false;
    }
    return true;
}
