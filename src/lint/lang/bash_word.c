/*
 * bash_word.c - the values of a word after expansion. See bash.h.
 *
 * Quotes do not change which command a word names: ev"al" and e\val are eval. A variable has every
 * value that the script gives it anywhere. A part that is not known is replaced by a mark, because
 * the end of a path names the command whatever comes before it.
 */
#include "lint/lang/bash.h"

#include "lint/lang/text.h"

#include <string.h>

/* Adds the mark, and says that other values are possible. */
static void add_unknown(struct ck_text *text, bool *open)
{
    static const char mark = CK_BASH_UNKNOWN;
    ck_text_add(text, &mark, 1);
    *open = true;
}

/* Outside of quotes a backslash quotes any character; in double quotes only the special ones. */
static void add_bytes(struct ck_text *text, struct ck_lint_word word, bool quoted)
{
    for (uint32_t i = 0; i < word.length; i++) {
        bool escapes = word.text[i] == '\\' && i + 1 < word.length && (!quoted || strchr("\"\\$`\n", word.text[i + 1]));
        /* A backslash at the end of a line joins the lines. */
        if (escapes && word.text[++i] == '\n')
            continue;
        ck_text_add(text, word.text + i, 1);
    }
}

/* The shell expands patterns, "~" and braces, so such a word is not its text. */
static bool is_expanded(struct ck_lint_word word)
{
    bool expanded = word.length > 0 && word.text[0] == '~';
    for (uint32_t i = 0; i < word.length && !expanded; i++) {
        /* A quoted character is not special. */
        if (word.text[i] == '\\')
            i++;
        else
            expanded = !!memchr("*?[", word.text[i], 3);
    }
    return expanded;
}

/* The length of an escape of $'...' with its backslash; at most `room`. */
static uint32_t ansi_length(const char *escape, uint32_t room)
{
    static const struct {
        const char *kinds, *digits;
        uint32_t before, most; /* bytes before the digits, and the number of digits */
    } numbers[] = {{"01234567", "01234567", 1, 3},
                   {"x", "0123456789abcdefABCDEF", 2, 2},
                   {"u", "0123456789abcdefABCDEF", 2, 4},
                   {"U", "0123456789abcdefABCDEF", 2, 8}};
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]) && room > 1; i++) {
        if (!memchr(numbers[i].kinds, escape[1], strlen(numbers[i].kinds)))
            continue;
        uint32_t length = numbers[i].before, end = length + numbers[i].most;
        while (length < room && length < end && memchr(numbers[i].digits, escape[length], strlen(numbers[i].digits)))
            length++;
        return length;
    }
    return room < 2 ? room : 2;
}

/* $'...': the text is between the third byte and the last. */
static void add_ansi(struct ck_text *text, struct ck_lint_word word)
{
    for (uint32_t i = 2, length; i + 1 < word.length; i += length) {
        const char *here = word.text + i;
        length = here[0] == '\\' ? ansi_length(here, word.length - 1 - i) : 1;
        if (here[0] == '\\')
            ck_text_add_escape(text, CK_TEXT_BASH, here, length);
        else
            ck_text_add(text, here, 1);
    }
}

/* A part with several values is not multiplied out: it becomes the mark. */
static void add_part(struct ck_scopes *scopes, TSNode part, uint32_t depth, struct ck_text *text, bool *open)
{
    struct ck_lint_names values = {.count = 0};
    ck_bash_values(scopes, part, depth + 1, &values);
    if (values.count == 1 && !values.open)
        ck_text_add(text, values.items[0], (uint32_t)strlen(values.items[0]));
    else
        add_unknown(text, open);
}

/*
 * All bytes between the parts of a string belong to it, even those that have no node of their own.
 */
static void add_string(struct ck_scopes *scopes, TSNode node, uint32_t depth, struct ck_text *text, bool *open)
{
    const char *source = scopes->source->text;
    uint32_t at = ts_node_start_byte(node) + 1, end = ts_node_end_byte(node);
    TSTreeCursor cursor = ts_tree_cursor_new(node);
    bool more = ts_tree_cursor_goto_first_child(&cursor);
    for (; more; more = ts_tree_cursor_goto_next_sibling(&cursor)) {
        TSNode part = ts_tree_cursor_current_node(&cursor);
        /* Plain text is copied from the source between the parts, so its node is passed over. */
        if (!ts_node_is_named(part) || ck_lint_node_is(part, "string_content") || ts_node_start_byte(part) < at)
            continue;
        add_bytes(text, (struct ck_lint_word){source + at, ts_node_start_byte(part) - at}, true);
        add_part(scopes, part, depth, text, open);
        at = ts_node_end_byte(part);
    }
    ts_tree_cursor_delete(&cursor);
    /* Without the closing quote. */
    if (at < end)
        add_bytes(text, (struct ck_lint_word){source + at, end - at - 1}, true);
}

/* a"b"$c: parts without blanks between them are one word. */
static void add_concatenation(struct ck_scopes *scopes, TSNode node, uint32_t depth, struct ck_text *text, bool *open)
{
    TSTreeCursor cursor = ts_tree_cursor_new(node);
    bool more = ts_tree_cursor_goto_first_child(&cursor);
    for (; more && !text->unknown; more = ts_tree_cursor_goto_next_sibling(&cursor))
        if (ts_node_is_named(ts_tree_cursor_current_node(&cursor)))
            add_part(scopes, ts_tree_cursor_current_node(&cursor), depth, text, open);
    ts_tree_cursor_delete(&cursor);
}

/* ---- variables --------------------------------------------------------------------------- */

/* Every value that the script assigns. A variable that it does not set is from the environment. */
static void values_of_variable(struct ck_scopes *scopes, TSNode name, uint32_t depth, struct ck_lint_names *values)
{
    struct ck_lint_word word = ck_lint_word_of(scopes, name);
    struct ck_slot *slot = ck_scopes_find(scopes, CK_BASH_VARIABLES, word);
    struct ck_evaluation evaluation;
    if (!slot) {
        /* The environment and Bash set these to the path of a shell. */
        if (ck_lint_word_is(word, "SHELL") || ck_lint_word_is(word, "BASH"))
            ck_lint_names_add(values, "sh");
        values->open = true;
        return;
    }
    if (!ck_scopes_slot_begin(scopes, slot, &evaluation, values))
        return;
    for (const struct ck_binding *one = slot->first; one; one = one->next) {
        ck_scopes_slot_next(scopes);
        if (!ts_node_is_null(one->value))
            ck_bash_values(scopes, one->value, depth + 1, &evaluation.names);
        else
            evaluation.names.open = true;
    }
    ck_scopes_slot_end(scopes, &evaluation, values);
}

/* $x, ${x}, ${x:-other}. Forms that cut or replace (${x%y}) are not known. */
static void values_of_expansion(struct ck_scopes *scopes, TSNode node, uint32_t depth, struct ck_lint_names *values)
{
    TSNode name = ck_lint_node_nth(node, 0);
    TSNode sign = ck_lint_node_field(node, "operator");
    bool otherwise = ck_lint_node_is(sign, ":-") || ck_lint_node_is(sign, "-") || ck_lint_node_is(sign, ":=") ||
                     ck_lint_node_is(sign, "=");
    if (ck_scopes_kind(scopes, name) != CK_BASH_VARIABLE || (!ts_node_is_null(sign) && !otherwise)) {
        values->open = true;
        return;
    }
    values_of_variable(scopes, name, depth, values);
    if (otherwise)
        ck_bash_values(scopes, ck_lint_node_nth(node, 1), depth + 1, values);
}

/* ---- words ------------------------------------------------------------------------------- */

/* A text that is only the mark says nothing, and is not a value. */
static void add_text(struct ck_scopes *scopes, const struct ck_text *text, bool open, struct ck_lint_names *values)
{
    bool nothing = open && text->length == 1;
    if (!nothing && !text->unknown)
        ck_lint_names_add(values, ck_arena_memdup(scopes->source->arena, text->bytes, text->length));
    values->open |= open || text->unknown;
}

/* The one value of a word that is written out, perhaps with marks in it. */
static void values_of_text(struct ck_scopes *scopes, TSNode node, uint32_t depth, struct ck_lint_names *values)
{
    struct ck_text text = {.length = 0};
    struct ck_lint_word word = ck_lint_word_of(scopes, node);
    bool open = false;
    switch (ck_scopes_kind(scopes, node)) {
    case CK_BASH_WORD:
        add_bytes(&text, word, false);
        open = is_expanded(word);
        break;
    case CK_BASH_RAW:
        /* '...' without its quotes. Nothing in it is special. */
        ck_text_add(&text, word.text + 1, word.length < 2 ? 0 : word.length - 2);
        break;
    case CK_BASH_ANSI:
        add_ansi(&text, word);
        break;
    case CK_BASH_STRING:
        add_string(scopes, node, depth, &text, &open);
        break;
    default:
        add_concatenation(scopes, node, depth, &text, &open);
        break;
    }
    add_text(scopes, &text, open, values);
}

/* "$x" is the same as $x if the quotes contain nothing else. */
static TSNode unwrap(const struct ck_scopes *scopes, TSNode node)
{
    for (;;) {
        TSNode inner = ck_lint_node_nth(node, 0);
        uint8_t kind = ck_scopes_kind(scopes, node);
        bool alone = kind == CK_BASH_STRING && ck_scopes_kind(scopes, inner) == CK_BASH_EXPANSION &&
                     ts_node_start_byte(inner) == ts_node_start_byte(node) + 1 &&
                     ts_node_end_byte(inner) + 1 == ts_node_end_byte(node);
        if (kind != CK_BASH_COMMAND_NAME && kind != CK_BASH_TRANSLATED && !alone)
            return node;
        node = inner;
    }
}

void ck_bash_values(struct ck_scopes *scopes, TSNode node, uint32_t depth, struct ck_lint_names *values)
{
    node = unwrap(scopes, node);
    if (!ck_scopes_spend(scopes, depth)) {
        values->open = true;
        return;
    }
    switch (ck_scopes_kind(scopes, node)) {
    case CK_BASH_WORD:
    case CK_BASH_RAW:
    case CK_BASH_ANSI:
    case CK_BASH_STRING:
    case CK_BASH_CONCATENATION:
        values_of_text(scopes, node, depth, values);
        break;
    case CK_BASH_EXPANSION:
        values_of_expansion(scopes, node, depth, values);
        break;
    default:
        values->open = true;
        break;
    }
}

const char *ck_bash_value(struct ck_scopes *scopes, TSNode node)
{
    struct ck_lint_names values = {.count = 0};
    ck_bash_values(scopes, node, 0, &values);
    return values.count == 1 && !values.open ? values.items[0] : NULL;
}
