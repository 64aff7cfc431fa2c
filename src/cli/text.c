/*
 * text.c - a terminal obeys control bytes, so none that came from outside is printed as it is: not the C0 set, not DEL,
 * not the C1 set in its UTF-8 form, and not the characters that change the direction of text.
 */
#include "cli/text.h"

#include <jansson.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool ck_text_colour(int fd)
{
    const char *none = getenv("NO_COLOR");
    const char *terminal = getenv("TERM");

    if (none && none[0] != '\0')
        return false;
    return isatty(fd) && (!terminal || strcmp(terminal, "dumb") != 0);
}

bool ck_text_cursor(int fd)
{
    const char *terminal = getenv("TERM");
    return isatty(fd) && terminal && terminal[0] != '\0' && strcmp(terminal, "dumb") != 0;
}

/* jansson refuses what is not UTF-8, so the rule is written once and is the same as for the JSON output. */
static bool is_utf8(const char *text)
{
    json_t *string = json_string(text);
    json_decref(string);
    return string != NULL;
}

/* Does the character at u, in valid UTF-8, make the rest of the line read otherwise than it is? */
static bool turns_text(const unsigned char *u)
{
    if (u[0] == 0xd8)
        return u[1] == 0x9c; /* U+061C */
    if (u[0] != 0xe2)
        return false;
    return (u[1] == 0x80 &&
            (u[2] == 0x8e || u[2] == 0x8f || (u[2] >= 0xaa && u[2] <= 0xae))) || /* U+200E..., U+202A... */
           (u[1] == 0x81 && u[2] >= 0xa6 && u[2] <= 0xa9);                       /* U+2066... */
}

/* Is the byte at text[at] to be shown as \xNN? */
static bool is_unsafe(const char *text, size_t at, bool utf8)
{
    unsigned char byte = (unsigned char)text[at];

    if (byte < 0x20 || byte == 0x7f)
        return true;
    if (byte < 0x80)
        return false;
    if (!utf8)
        return true;
    size_t start = at;
    while (((unsigned char)text[start] & 0xc0) == 0x80)
        start--;
    const unsigned char *u = (const unsigned char *)text + start;
    return (u[0] == 0xc2 && u[1] < 0xa0) || turns_text(u);
}

const char *ck_text_safe(char *dst, size_t dst_size, const char *text)
{
    static const char dots[] = "...";
    bool utf8 = is_utf8(text);
    size_t used = 0;

    for (size_t at = 0; text[at] != '\0'; at++) {
        if (used + 4 + sizeof(dots) > dst_size) {
            while (used > 0 && (dst[used - 1] & 0x80)) /* half a character would spoil the whole string */
                used--;
            memcpy(dst + used, dots, sizeof(dots));
            return dst;
        }
        if (is_unsafe(text, at, utf8))
            used += (size_t)snprintf(dst + used, 5, "\\x%02x", (unsigned)(unsigned char)text[at]);
        else
            dst[used++] = text[at];
    }
    dst[used] = '\0';
    return dst;
}

void ck_text_print_word(FILE *out, const char *text)
{
    static const char bare[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789%+,-./:=@_";
    if (text[0] != '\0' && text[strspn(text, bare)] == '\0') {
        (void)fputs(text, out);
        return;
    }

    bool utf8 = is_utf8(text);
    (void)fputs("$'", out);
    for (size_t at = 0; text[at] != '\0'; at++) {
        if (is_unsafe(text, at, utf8))
            (void)fprintf(out, "\\x%02x", (unsigned)(unsigned char)text[at]);
        else if (text[at] == '\'' || text[at] == '\\')
            (void)fprintf(out, "\\%c", text[at]);
        else
            (void)fputc(text[at], out);
    }
    (void)fputc('\'', out);
}

int ck_text_error(struct choke_error *error, enum choke_outcome outcome, int errnum, const char *format, ...)
{
    va_list args;

    *error = (struct choke_error){.outcome = outcome, .errnum = errnum};
    va_start(args, format);
    (void)vsnprintf(error->message, sizeof(error->message), format, args);
    va_end(args);
    return -errnum;
}
