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

void ck_text_add_escape(struct ck_text *text, const char *escape, uint32_t length)
{
    /*
     * One code for each letter, at the same index. \e is the escape character in Bash and in GNU C.
     */
    static const char letters[] = "abefnrtv", codes[] = "\a\b\033\f\n\r\t\v";
    if (length < 2)
        return;
    const char *letter = strchr(letters, escape[1]);
    if (escape[1] >= '0' && escape[1] <= '7')
        add_code(text, escape + 1, length - 1, 8);
    else if (escape[1] == 'x' || escape[1] == 'u' || escape[1] == 'U')
        add_code(text, escape + 2, length - 2, 16);
    /* strchr also finds the NUL at the end of letters. */
    else if (letter && *letter != '\0')
        ck_text_add(text, &codes[letter - letters], 1);
    /*
     * A backslash before a newline continues the line, and both are dropped. Before any other
     * character the backslash is dropped.
     */
    else if (escape[1] != '\n')
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
