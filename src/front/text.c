/*
 * text.c - makes untrusted text safe for a terminal; see text.h.
 *
 * A terminal interprets control bytes, and other characters make a line look different from what it
 * is. So none of them is printed unchanged if it comes from outside: base/quote.h escapes them.
 */
#include "front/text.h"

#include "base/error.h"
#include "base/quote.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool ck_text_colour(int fd)
{
    const char *none = getenv("NO_COLOR");
    const char *terminal = getenv("TERM");

    /* https://no-color.org: an empty value does not count. */
    if (none && none[0] != '\0')
        return false;
    return isatty(fd) && (!terminal || strcmp(terminal, "dumb") != 0);
}

/*
 * Without TERM nothing is known about the terminal. Colours are printed then, but the cursor is not
 * moved.
 */
bool ck_text_cursor(int fd)
{
    const char *terminal = getenv("TERM");
    return isatty(fd) && terminal && terminal[0] != '\0' && strcmp(terminal, "dumb") != 0;
}

const char *ck_text_safe(char *dst, size_t dst_size, const char *text)
{
    return ck_quote_as(CK_QUOTE_SHOWN, dst, dst_size, text, strlen(text));
}

/* In small pieces, so a text of any length needs no buffer. */
static void print_as(enum ck_quote_style style, FILE *out, const char *text, size_t length)
{
    for (size_t used; length > 0; text += used, length -= used) {
        char piece[CK_QUOTE_PIECE_MAX];
        (void)fwrite(piece, 1, ck_quote_next(style, text, length, piece, &used), out);
    }
}

void ck_text_print(FILE *out, const char *text, size_t length)
{
    print_as(CK_QUOTE_SHOWN, out, text, length);
}

void ck_text_print_quoted(FILE *out, const char *text)
{
    /* Characters that have no meaning to a shell, so they need no quotes. */
    static const char bare[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789%+,-./:=@_";
    if (text[0] != '\0' && text[strspn(text, bare)] == '\0') {
        (void)fputs(text, out);
        return;
    }
    /* The form of bash with escapes, so control characters can be pasted too. */
    (void)fputs("$'", out);
    print_as(CK_QUOTE_BASH, out, text, strlen(text));
    (void)fputc('\'', out);
}

/* The whole message is replaced: a part of a credential is a credential too. */
void ck_text_redact(struct choke_error *error)
{
    const char *kind = choke_credential_kind(error->message);

    if (kind)
        (void)snprintf(error->message, sizeof(error->message),
                       "%s; the value looks like %s and is not shown; use another name",
                       error->errnum != 0 ? strerror(error->errnum) : "refused", kind);
}

int ck_text_error(struct choke_error *error, enum choke_outcome outcome, int errnum, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    int r = ck_error_set_args(error, outcome, errnum, format, args);
    va_end(args);
    /* error may be NULL: then only the return value matters. */
    if (error)
        ck_text_redact(error);
    return r;
}
