/*
 * release.c - finds a version in a tool's output. Tools differ in how they print it. Common to all
 * are digits, a dot and a digit.
 */
#include "ready/release.h"

#include "base/quote.h"

#include <string.h>

/* Not isdigit and isalnum: they depend on the host program's locale. */
static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_alnum(char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Length of the version that begins at text, or 0. */
static size_t measure(const char *text, size_t length)
{
    size_t digits = 0;
    while (digits < length && is_digit(text[digits]))
        digits++;
    if (digits == 0 || digits + 1 >= length || text[digits] != '.' || !is_digit(text[digits + 1]))
        return 0;
    size_t end = digits;
    /* strchr also finds the NUL that ends its string, so a NUL in the text is excluded. */
    while (end < length && (is_alnum(text[end]) || strchr(".+~_-", text[end])) && text[end] != '\0')
        end++;
    /* A final dot or dash is punctuation, not part of the version. */
    while (!is_alnum(text[end - 1]))
        end--;
    return end;
}

/*
 * May a version begin at this byte? Not inside a word or a number, but after a "v" that begins a
 * word.
 */
static bool may_begin(const char *text, size_t at)
{
    if (at == 0 || !(is_alnum(text[at - 1]) || text[at - 1] == '.'))
        return true;
    return (text[at - 1] == 'v' || text[at - 1] == 'V') && (at == 1 || !is_alnum(text[at - 2]));
}

bool ck_release_find(const char *text, size_t length, char ret_release[CK_RELEASE_MAX])
{
    for (size_t at = 0; at < length; at++) {
        size_t found = may_begin(text, at) ? measure(text + at, length - at) : 0;
        if (found == 0)
            continue;
        (void)ck_quote(ret_release, CK_RELEASE_MAX, text + at, found);
        return true;
    }
    /* No version: the first line that is not empty, without blanks around it. */
    while (length > 0 && (text[0] == '\n' || text[0] == ' ' || text[0] == '\t' || text[0] == '\r')) {
        text++;
        length--;
    }
    const char *end = length > 0 ? memchr(text, '\n', length) : NULL;
    size_t line = end ? (size_t)(end - text) : length;
    while (line > 0 && (text[line - 1] == ' ' || text[line - 1] == '\r' || text[line - 1] == '\t'))
        line--;
    (void)ck_quote(ret_release, CK_RELEASE_MAX, text, line);
    return line > 0;
}
