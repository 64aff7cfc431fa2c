/*
 * url.c - removes passwords from URLs as git accepts them: scheme://user:password@host:port/path,
 * user@host:path, a path, or one with the name of a helper before it ("ext::"). The repository
 * names them, so any of them may be malformed. A malformed URL is where a password could remain:
 * then everything is removed.
 */
#include "gather/evidence/url.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* Removes the bytes from begin to end; the regions overlap, hence memmove. */
static void cut_out(char *begin, const char *end)
{
    memmove(begin, end, strlen(end) + 1);
}

/* Empty counts as a port: "host:" is harmless. */
static bool is_port(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (text[i] < '0' || text[i] > '9')
            return false;
    return true;
}

/* A host with a port, or an address in brackets: nothing that could be a user and a password. */
static bool is_host(const char *text, size_t length)
{
    const char *bracket = memchr(text, ']', length);
    if (text[0] == '[' && bracket) {
        length -= (size_t)(bracket - text);
        text = bracket;
    }
    const char *colon = memchr(text, ':', length);
    return !colon || is_port(colon + 1, length - (size_t)(colon + 1 - text));
}

/* authority: the part after "//". */
static void strip_authority(char *authority)
{
    /* Some parsers accept a backslash as a slash. */
    size_t length = strcspn(authority, "/\\");
    char *at = memrchr(authority, '@', length);

    if (at) {
        length -= (size_t)(at + 1 - authority);
        cut_out(authority, at + 1);
    }
    if (!is_host(authority, length))
        /* With its NUL: everything after it is removed. */
        memcpy(authority, "?", sizeof("?"));
}

/*
 * For an "@" after a colon that is still there: in a password with a slash, or after a scheme with
 * one slash.
 */
static void strip_rest(char *begin)
{
    char *colon = strchr(begin, ':');

    if (colon && strchr(colon, '@'))
        memcpy(colon + 1, "?", sizeof("?"));
}

void ck_evidence_url_strip(char *url)
{
    bool schemed = false;

    /* A token may be in the query or in the fragment. */
    url[strcspn(url, "?#")] = '\0';
    for (char *slashes = strstr(url, "//"); slashes; slashes = strstr(slashes + 2, "//")) {
        if (slashes > url && slashes[-1] == ':') {
            strip_authority(slashes + 2);
            schemed = true;
        }
    }
    size_t length = strcspn(url, "/\\");
    char *at = schemed ? NULL : memrchr(url, '@', length);
    /* "git@host:path" is the usual form of ssh; "git" is not a secret. */
    if (at && at - url == 3 && memcmp(url, "git", 3) == 0)
        return;
    if (at)
        cut_out(url, at + 1);
    char *scheme = strstr(url, "://");
    strip_rest(scheme ? scheme + 3 : url);
}
