/*
 * c_resolve.c - the resolver for C: what an expression is. See c.h.
 *
 * &f, *f, casts and parentheses do not change which function f is. A pointer may be any value that
 * the file assigns to it anywhere, because the order of the assignments is not known.
 */
#include "lint/lang/c.h"

#include "lint/lang/text.h"

#include <string.h>

static void find_names(struct ck_scopes *scopes, TSNode node, uint32_t depth, struct ck_lint_names *names);
static void find_word(struct ck_scopes *scopes, uint32_t scope, struct ck_lint_word word, uint32_t depth,
                      struct ck_lint_names *names);

/* ---- names ------------------------------------------------------------------------------- */

/* Adds a copy: names are strings with a NUL. */
static void add_word(struct ck_scopes *scopes, struct ck_lint_word word, struct ck_lint_names *names)
{
    ck_lint_names_add(names, ck_arena_memdup(scopes->source->arena, word.text, word.length));
}

/*
 * A macro that is one word is looked up again. In "#define fork fork" the inner word is the library
 * function.
 */
static void find_alias(struct ck_scopes *scopes, const struct ck_slot *slot, const char *alias, uint32_t depth,
                       struct ck_lint_names *names)
{
    struct ck_lint_word word = {alias, (uint32_t)strlen(alias)};
    if (ck_lint_word_is(slot->word, alias))
        ck_lint_names_add(names, alias);
    else
        find_word(scopes, 0, word, depth + 1, names);
}

/* All that the word may be in this scope. A name that the file does not bind stands for itself. */
static void find_word(struct ck_scopes *scopes, uint32_t scope, struct ck_lint_word word, uint32_t depth,
                      struct ck_lint_names *names)
{
    struct ck_slot *slot = ck_scopes_find(scopes, scope, word);
    struct ck_evaluation evaluation;
    if (!ck_scopes_spend(scopes, depth)) {
        names->open = true;
        return;
    }
    if (!slot) {
        add_word(scopes, word, names);
        return;
    }
    if (!ck_scopes_slot_begin(scopes, slot, &evaluation, names))
        return;
    for (const struct ck_binding *one = slot->first; one; one = one->next) {
        ck_scopes_slot_next(scopes);
        /* A value, the alias of a macro, or unknown. See struct ck_binding. */
        if (!ts_node_is_null(one->value))
            find_names(scopes, one->value, depth + 1, &evaluation.names);
        else if (one->path)
            find_alias(scopes, slot, one->path, depth, &evaluation.names);
        else
            evaluation.names.open = true;
    }
    ck_scopes_slot_end(scopes, &evaluation, names);
}

/*
 * Removes what does not change the function: (f), &f, *f, (type)f, (a, f), x = f. Each step costs
 * fuel, because a file may nest them without limit. Null when the fuel is used up.
 */
static TSNode unwrap(struct ck_scopes *scopes, TSNode node)
{
    while (ck_scopes_spend(scopes, 0)) {
        switch (ck_scopes_kind(scopes, node)) {
        case CK_C_WRAPPER:
            node = ck_lint_node_nth(node, 0);
            break;
        case CK_C_POINTER:
            node = ck_lint_node_field(node, "argument");
            break;
        case CK_C_CAST:
            node = ck_lint_node_field(node, "value");
            break;
        case CK_C_COMMA:
        case CK_C_ASSIGNMENT:
            node = ck_lint_node_field(node, "right");
            break;
        default:
            return node;
        }
    }
    return ck_lint_node_none;
}

/* What an expression may be: a name, or either side of a condition. Anything else is unknown. */
static void find_names(struct ck_scopes *scopes, TSNode node, uint32_t depth, struct ck_lint_names *names)
{
    node = unwrap(scopes, node);
    if (!ck_scopes_spend(scopes, depth)) {
        names->open = true;
        return;
    }
    switch (ck_scopes_kind(scopes, node)) {
    case CK_C_NAME:
        find_word(scopes, ck_scopes_at(scopes, ts_node_start_byte(node)), ck_lint_word_of(scopes, node), depth + 1,
                  names);
        break;
    case CK_C_CONDITION:
        find_names(scopes, ck_lint_node_field(node, "consequence"), depth + 1, names);
        find_names(scopes, ck_lint_node_field(node, "alternative"), depth + 1, names);
        break;
    default:
        names->open = true;
        break;
    }
}

/*
 * In the text of a macro the notes are its words (note_macro_text). Elsewhere a note says that the
 * place is not a use (note_arguments).
 */
static void c_names(struct ck_lint_source *source, TSNode node, struct ck_lint_names *ret_names)
{
    struct ck_scopes *scopes = source->scopes;
    const struct ck_fact *facts;
    uint32_t count = ck_scopes_facts(scopes, ts_node_start_byte(node), &facts);
    bool macro = ck_scopes_kind(scopes, node) == CK_C_MACRO_TEXT;
    *ret_names = (struct ck_lint_names){.open = macro || count > 0};
    ck_scopes_refuel(scopes);
    for (uint32_t i = 0; macro && i < count; i++)
        find_word(scopes, 0, (struct ck_lint_word){facts[i].text, (uint32_t)strlen(facts[i].text)}, 0, ret_names);
    if (!macro && count == 0)
        find_names(scopes, node, 0, ret_names);
}

/* ---- arguments and constants ------------------------------------------------------------- */

/*
 * The text of a macro has no argument nodes: the text stands for the first argument of its system
 * call.
 */
static enum ck_argument c_argument(struct ck_lint_source *source, TSNode arguments, const char *keyword,
                                   int32_t position, TSNode *ret_value)
{
    struct ck_scopes *scopes = source->scopes;
    /* C has no keyword arguments. */
    (void)keyword;
    if (position < 0)
        return CK_ARGUMENT_ABSENT;
    if (ck_scopes_kind(scopes, arguments) == CK_C_MACRO_TEXT) {
        *ret_value = arguments;
        return position == 0 ? CK_ARGUMENT_PRESENT : CK_ARGUMENT_ABSENT;
    }
    TSNode value = ck_lint_node_nth(arguments, (uint32_t)position);
    if (ts_node_is_null(value))
        return CK_ARGUMENT_ABSENT;
    *ret_value = value;
    return CK_ARGUMENT_PRESENT;
}

/* Adds the content of one literal. The quotes, with a prefix such as L, are other children. */
static void add_literal(struct ck_scopes *scopes, TSNode node, struct ck_text *text)
{
    TSTreeCursor cursor = ts_tree_cursor_new(node);
    bool more = ts_tree_cursor_goto_first_child(&cursor);
    for (; more; more = ts_tree_cursor_goto_next_sibling(&cursor)) {
        TSNode piece = ts_tree_cursor_current_node(&cursor);
        struct ck_lint_word word = ck_lint_word_of(scopes, piece);
        if (ck_lint_node_is(piece, "string_content"))
            ck_text_add(text, word.text, word.length);
        else if (ck_lint_node_is(piece, "escape_sequence"))
            ck_text_add_escape(text, CK_TEXT_C, word.text, word.length);
    }
    ts_tree_cursor_delete(&cursor);
}

/* "sys" "tem" is one text. With a macro between them it is not known. */
static void constant_of_strings(struct ck_scopes *scopes, TSNode node, struct ck_constant *ret_constant)
{
    struct ck_text text = {.length = 0};
    if (ck_scopes_kind(scopes, node) == CK_C_STRING)
        add_literal(scopes, node, &text);
    /* Limited, because ck_lint_node_nth counts from the first child each time. */
    for (uint32_t i = 0; ck_scopes_kind(scopes, node) == CK_C_STRINGS && i < CK_TEXT_MAX_BYTES; i++) {
        TSNode part = ck_lint_node_nth(node, i);
        if (ck_scopes_kind(scopes, part) == CK_C_STRING)
            add_literal(scopes, part, &text);
        else
            text.unknown |= !ts_node_is_null(part);
        if (ts_node_is_null(part))
            break;
    }
    ck_text_constant(&text, scopes->source->arena, ret_constant);
}

/*
 * A system call is known only by the name of its number (SYS_fork): the number itself depends on
 * the architecture.
 */
static void constant_of_number(const struct ck_lint_names *names, struct ck_constant *ret_constant)
{
    const char *name = names->count == 1 && !names->open ? names->items[0] : "";
    if (strncmp(name, "SYS_", 4) == 0 || strncmp(name, "__NR_", 5) == 0)
        *ret_constant = (struct ck_constant){CK_CONSTANT_TEXT, name, (uint32_t)strlen(name)};
}

/* A name that has one value only, a string; or the number of a system call. */
static void constant_of_name(struct ck_scopes *scopes, TSNode node, uint32_t depth, struct ck_constant *ret_constant)
{
    struct ck_lint_names names = {.count = 0};
    uint32_t scope = ck_scopes_at(scopes, ts_node_start_byte(node));
    struct ck_slot *slot = ck_scopes_find(scopes, scope, ck_lint_word_of(scopes, node));
    TSNode value = slot && slot->first == slot->last ? unwrap(scopes, slot->first->value) : ck_lint_node_none;
    find_names(scopes, node, depth, &names);
    constant_of_number(&names, ret_constant);
    if (ck_scopes_kind(scopes, value) == CK_C_STRING || ck_scopes_kind(scopes, value) == CK_C_STRINGS)
        constant_of_strings(scopes, value, ret_constant);
}

/* Numbers are not worked out: no rule for C compares one. */
static void c_constant(struct ck_lint_source *source, TSNode node, struct ck_constant *ret_constant)
{
    struct ck_scopes *scopes = source->scopes;
    struct ck_lint_names names = {.count = 0};
    *ret_constant = (struct ck_constant){.kind = CK_CONSTANT_NOT};
    ck_scopes_refuel(scopes);
    node = unwrap(scopes, node);
    switch (ck_scopes_kind(scopes, node)) {
    case CK_C_NAME:
        constant_of_name(scopes, node, 0, ret_constant);
        break;
    case CK_C_STRING:
    case CK_C_STRINGS:
        constant_of_strings(scopes, node, ret_constant);
        break;
    case CK_C_MACRO_TEXT:
        find_word(scopes, 0, ck_c_macro_argument(ck_lint_word_of(scopes, node), "syscall"), 0, &names);
        constant_of_number(&names, ret_constant);
        break;
    default:
        break;
    }
}

const struct ck_lint_resolver ck_c_resolver = {
    .begin = ck_c_bind,
    .names = c_names,
    .argument = c_argument,
    .constant = c_constant,
};
