/*
 * text.c - a terminal obeys control bytes, and other characters make a line read otherwise than it is, so none of them
 * that came from outside is printed as it is: base/glyph.h has the rule.
 */
#include "front/text.h"

#include "base/error.h"
#include "base/glyph.h"

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

const char *ck_text_safe(char *dst, size_t dst_size, const char *text)
{
    static const char dots[] = "...";
    size_t left = strlen(text);
    size_t used = 0;

    for (size_t shown; left > 0; text += shown, left -= shown) {
        if (used + 4 + sizeof(dots) > dst_size) {
            memcpy(dst + used, dots, sizeof(dots));
            return dst;
        }
        shown = ck_glyph_shown(text, left);
        memcpy(dst + used, text, shown);
        used += shown;
        if (shown == 0) {
            used += (size_t)snprintf(dst + used, 5, "\\x%02x", (unsigned)(unsigned char)text[0]);
            shown = 1;
        }
    }
    dst[used] = '\0';
    return dst;
}

void ck_text_print(FILE *out, const char *text, size_t length)
{
    for (size_t shown; length > 0; text += shown, length -= shown) {
        shown = ck_glyph_shown(text, length);
        if (shown == 0)
            (void)fprintf(out, "\\x%02x", (unsigned)(unsigned char)text[0]);
        else
            (void)fwrite(text, 1, shown, out);
        shown += shown == 0;
    }
}

void ck_text_print_quoted(FILE *out, const char *text)
{
    static const char bare[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789%+,-./:=@_";
    if (text[0] != '\0' && text[strspn(text, bare)] == '\0') {
        (void)fputs(text, out);
        return;
    }

    size_t left = strlen(text);
    (void)fputs("$'", out);
    for (size_t shown; left > 0; text += shown, left -= shown) {
        shown = ck_glyph_shown(text, left);
        if (shown == 0) {
            (void)fprintf(out, "\\x%02x", (unsigned)(unsigned char)text[0]);
            shown = 1;
        } else {
            (void)fprintf(out, "%s%.*s", text[0] == '\'' || text[0] == '\\' ? "\\" : "", (int)shown, text);
        }
    }
    (void)fputc('\'', out);
}

void ck_text_redact(struct choke_error *error)
{
    const char *kind = choke_credential_kind(error->message);

    if (kind)
        (void)snprintf(error->message, sizeof(error->message),
                       "%s; what was given looks like %s, and is not shown; use another name for it",
                       error->errnum != 0 ? strerror(error->errnum) : "refused", kind);
}

int ck_text_error(struct choke_error *error, enum choke_outcome outcome, int errnum, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    int r = ck_error_set_args(error, outcome, errnum, format, args);
    va_end(args);
    if (error)
        ck_text_redact(error);
    return r;
}
