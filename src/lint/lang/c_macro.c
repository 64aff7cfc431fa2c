/*
 * c_macro.c - the text of a macro. See c.h.
 *
 * The grammar does not parse the text of a macro, because it may be half a statement. So it is read
 * word by word here, and the tokens before and after a word decide what it is.
 */
#include "lint/lang/c.h"

#include <ctype.h>
#include <string.h>

/*
 * A word, a literal or a mark. end is the first byte after it; name: a word that is not a number.
 */
struct token {
    struct ck_lint_word word;
    uint32_t end;
    bool name;
};

/* The end of a string or character literal; the end of the text if it is not closed. */
static uint32_t skip_quoted(struct ck_lint_word text, uint32_t at)
{
    char quote = text.text[at++];
    while (at < text.length && text.text[at] != quote)
        /* An escaped quote does not close the literal. */
        at += text.text[at] == '\\' && at + 1 < text.length ? 2 : 1;
    return at < text.length ? at + 1 : at;
}

/* The text has no NUL at its end, so the length is compared first. */
static bool at_is(struct ck_lint_word text, uint32_t at, const char *what)
{
    size_t length = strlen(what);
    return text.length - at >= length && memcmp(text.text + at, what, length) == 0;
}

/* A line comment takes the rest: a backslash at the end of the line continues the comment too. */
static uint32_t skip_comment(struct ck_lint_word text, uint32_t at)
{
    if (at_is(text, at, "//"))
        return text.length;
    for (at += 2; at < text.length; at++)
        if (at_is(text, at, "*/"))
            return at + 2;
    return text.length;
}

/* GNU C allows $ in names. */
static bool is_word_byte(char byte)
{
    return isalnum((unsigned char)byte) || byte == '_' || byte == '$';
}

static uint32_t end_of_word(struct ck_lint_word text, uint32_t at)
{
    while (at < text.length && is_word_byte(text.text[at]))
        at++;
    return at;
}

/* A literal is one token of any length; "->" and "##" are one token. Length 0 at the end. */
static struct token next_token(struct ck_lint_word text, uint32_t at)
{
    /* A backslash outside of literals continues the line. */
    while (at < text.length && (isspace((unsigned char)text.text[at]) || text.text[at] == '\\' ||
                                at_is(text, at, "/*") || at_is(text, at, "//")))
        at = text.text[at] == '/' ? skip_comment(text, at) : at + 1;
    uint32_t end = at;
    if (at >= text.length)
        return (struct token){.end = text.length};
    if (text.text[at] == '"' || text.text[at] == '\'')
        end = skip_quoted(text, at);
    else if (is_word_byte(text.text[at]))
        end = end_of_word(text, at);
    else
        end = at + (at_is(text, at, "->") || at_is(text, at, "##") ? 2 : 1);
    bool name = is_word_byte(text.text[at]) && !isdigit((unsigned char)text.text[at]);
    return (struct token){{text.text + at, end - at}, end, name};
}

/* list ends with NULL. */
static bool is_one_of(struct ck_lint_word word, const char *const *list)
{
    while (*list && !ck_lint_word_is(word, *list))
        list++;
    return !!*list;
}

/* After these keywords a word is used. After any other word it is declared ("int fork"). */
static bool may_precede(struct ck_lint_word before)
{
    static const char *const uses[] = {"return", "else", "do", "case", "goto", "__extension__", NULL};
    /* A member (a.fork), a word made into a string, and a word joined with another are not uses. */
    static const char *const apart[] = {".", "->", "#", "##", NULL};
    bool name = before.length > 0 && is_word_byte(before.text[0]);
    return name ? is_one_of(before, uses) : !is_one_of(before, apart);
}

/*
 * Before another word it is a type ("fork x"), before "[" an array. "=" assigns to it, but "=="
 * compares, which is a use.
 */
static bool may_follow(struct ck_lint_word text, struct token after)
{
    static const char *const apart[] = {"##", "[", NULL};
    if (ck_lint_word_is(after.word, "="))
        return ck_lint_word_is(next_token(text, after.end).word, "=");
    return !after.name && !is_one_of(after.word, apart);
}

struct ck_lint_word ck_c_macro_next(struct ck_c_macro *macro)
{
    for (;;) {
        struct token now = next_token(macro->text, macro->position);
        struct ck_lint_word before = macro->before;
        if (now.word.length == 0)
            return now.word;
        macro->before = now.word;
        macro->position = now.end;
        if (now.name && may_precede(before) && may_follow(macro->text, next_token(macro->text, now.end)))
            return now.word;
    }
}

struct ck_lint_word ck_c_macro_alias(struct ck_lint_word text)
{
    struct token now = next_token(text, 0);
    while (ck_lint_word_is(now.word, "("))
        now = next_token(text, now.end);
    struct ck_lint_word word = now.word;
    bool name = now.name;
    /*
     * The closing parentheses are not counted: the compiler refuses a text where they do not match.
     */
    do
        now = next_token(text, now.end);
    while (ck_lint_word_is(now.word, ")"));
    return name && now.word.length == 0 ? word : (struct ck_lint_word){"", 0};
}

struct ck_lint_word ck_c_macro_argument(struct ck_lint_word text, const char *function)
{
    struct token now = next_token(text, 0);
    while (now.word.length > 0 && !ck_lint_word_is(now.word, function))
        now = next_token(text, now.end);
    now = next_token(text, now.end);
    if (!ck_lint_word_is(now.word, "("))
        return (struct ck_lint_word){"", 0};
    while (ck_lint_word_is(now.word, "("))
        now = next_token(text, now.end);
    struct token after = next_token(text, now.end);
    bool alone = ck_lint_word_is(after.word, ",") || ck_lint_word_is(after.word, ")");
    return now.name && alone ? now.word : (struct ck_lint_word){"", 0};
}
