/* text.c - joins the pieces of a literal. See text.h. */
#include "lint/lang/text.h"

#include <ctype.h>
#include <string.h>

/* Adds all of the bytes or none: a cut text could equal a shorter name by accident. */
void ck_text_add(struct ck_text *text, const char *bytes, uint32_t length)
{
    if (length > CK_TEXT_MAX_BYTES - text->length) {
        text->unknown = true;
        return;
    }
    memcpy(text->bytes + text->length, bytes, length);
    text->length += length;
}

/* Of a hexadecimal digit. | 0x20 turns an upper case letter of ASCII into lower case. */
static unsigned digit_value(char digit)
{
    return (unsigned)(isdigit((unsigned char)digit) ? digit - '0' : (digit | 0x20) - 'a' + 10);
}

/* Characters beyond ASCII are in no name of a rule, so they make the text unknown. */
static void add_code(struct ck_text *text, const char *digits, uint32_t length, unsigned base)
{
    unsigned code = 0;
    /* Stops at the first code beyond ASCII, so code cannot overflow. Skips the braces of \u{65}. */
    for (uint32_t i = 0; i < length && code < 0x80; i++)
        if (isxdigit((unsigned char)digits[i]))
            code = code * base + digit_value(digits[i]);
    char byte = (char)code;
    if (code > 0 && code < 0x80)
        ck_text_add(text, &byte, 1);
    else
        text->unknown = true;
}

/*
 * One code for each letter, at the same index. JavaScript has neither \a nor \e, and \E is of Bash
 * alone.
 */
static bool add_letter(struct ck_text *text, enum ck_text_syntax syntax, char letter)
{
    static const char letters[] = "bfnrtvaeE", codes[] = "\b\f\n\r\t\v\a\033\033";
    static const size_t known[] = {[CK_TEXT_JS] = 6, [CK_TEXT_C] = 8, [CK_TEXT_BASH] = 9};
    const char *found = memchr(letters, letter, known[syntax]);
    if (found)
        ck_text_add(text, &codes[found - letters], 1);
    return !!found;
}

void ck_text_add_escape(struct ck_text *text, enum ck_text_syntax syntax, const char *escape, uint32_t length)
{
    if (length < 2)
        return;
    char kind = escape[1];
    if (kind >= '0' && kind <= '7')
        add_code(text, escape + 1, length - 1, 8);
    else if (kind == 'x' || kind == 'u' || (kind == 'U' && syntax != CK_TEXT_JS))
        add_code(text, escape + 2, length - 2, 16);
    else if (kind == 'c' && syntax == CK_TEXT_BASH)
        text->unknown = true; /* a control character, in no name of a rule */
    else if (syntax == CK_TEXT_BASH && !strchr("\\'\"?abeEfnrtv", kind))
        ck_text_add(text, escape, length); /* Bash keeps the backslash */
    /*
     * A backslash before a newline continues the line, and both are dropped. Before any other
     * character the backslash is dropped.
     */
    else if (!add_letter(text, syntax, kind) && kind != '\n')
        ck_text_add(text, escape + 1, length - 1);
}

void ck_text_constant(const struct ck_text *text, struct ck_arena *arena, struct ck_constant *ret_constant)
{
    /* When memory runs out the text counts as unknown. */
    const char *copy = text->unknown ? NULL : ck_arena_memdup(arena, text->bytes, text->length);
    if (copy)
        *ret_constant = (struct ck_constant){CK_CONSTANT_TEXT, copy, text->length};
    else
        *ret_constant =
            (struct ck_constant){.kind = text->length > 0 ? CK_CONSTANT_TRUE : CK_CONSTANT_NOT, .text = NULL};
}
