/*
 * yaml_tree.c - reads YAML events into a tree with positions. See yaml_tree.h.
 *
 * libcyaml reports a fault at the position of the event before it, stops reading at the first
 * document, cuts a scalar at a NUL and accepts any word as a boolean. So the events of libyaml are
 * read once before. Whatever could be read in two ways is refused here, and the positions are kept
 * for later messages.
 */
#include "policy/yaml_tree.h"

#include "base/error.h"
#include "base/glyph.h"
#include "base/quote.h"
#include "base/yaml_text.h"
#include "policy/load.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

/* for the text of all values; the file itself is limited by CK_POLICY_MAX_BYTES */
#define ARENA_MAX_BYTES ((size_t)8 << 20)
#define FIRST_NODES 512 /* the first allocation; then it doubles */

/* A mapping or sequence that is not closed yet. */
struct level {
    uint32_t node;    /* index in the tree; not a pointer, because the array may move */
    bool key_is_next; /* in a mapping: the next node is a key */
    uint32_t key;     /* in a mapping: the last key */
};

/* State of the one pass over the events. */
struct yaml_walk {
    struct ck_yaml_tree *tree;
    struct choke_error *error;
    yaml_parser_t parser;
    yaml_event_t event;                          /* valid until yaml_event_delete */
    struct level levels[CK_YAML_TREE_MAX_DEPTH]; /* the open ones, outermost first */
    unsigned depth;
    unsigned documents; /* that have begun; a second one is refused */
};

/* ---- messages ---------------------------------------------------------------------------- */

/* The one form of all messages of the loader. line and column are also fields of the error. */
__attribute__((format(printf, 4, 0))) static int error_at(const char *file, struct ck_yaml_place at,
                                                          struct choke_error *error, const char *format, va_list args)
{
    char message[CHOKE_MESSAGE_MAX];
    (void)vsnprintf(message, sizeof(message), format, args);
    return ck_error_at(error, at.line, at.column, "policy '%s': line %u, column %u: %s", CK_QUOTE(file), at.line,
                       at.column, message);
}

int ck_yaml_tree_error(const struct ck_yaml_tree *tree, const struct ck_yaml_node *node, struct choke_error *error,
                       const char *format, ...)
{
    struct ck_yaml_faults *faults = tree->faults;
    va_list args;
    /* The same place twice is one fault: a set of options is compiled wherever it is used. */
    for (uint32_t i = 0; faults && i < faults->count; i++)
        if (faults->items[i].line == node->line && faults->items[i].column == node->column)
            return -EINVAL;
    if (faults && faults->count < CK_YAML_FAULTS_MAX)
        error = &faults->items[faults->count++];
    va_start(args, format);
    int r = error_at(tree->file, (struct ck_yaml_place){node->line, node->column}, error, format, args);
    va_end(args);
    return r;
}

int ck_yaml_tree_both(int r, int next)
{
    return next < 0 ? next : r;
}

/* A failure that is not a fault of the text, such as a lack of memory, ends the check. */
bool ck_yaml_tree_continues(const struct ck_yaml_tree *tree, int r)
{
    return r == 0 || (r == -EINVAL && tree->faults && tree->faults->count < CK_YAML_FAULTS_MAX);
}

__attribute__((format(printf, 4, 5))) static int refuse_text(const struct ck_yaml_tree *tree, struct ck_yaml_place at,
                                                             struct choke_error *error, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int r = error_at(tree->file, at, error, format, args);
    va_end(args);
    return r;
}

/* libyaml counts from 0, editors from 1. */
static struct ck_yaml_place mark_position(yaml_mark_t mark)
{
    return (struct ck_yaml_place){(unsigned)mark.line + 1, (unsigned)mark.column + 1};
}

/* Refuses at the start of the current event. */
__attribute__((format(printf, 2, 3))) static int refuse_event(struct yaml_walk *walk, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int r = error_at(walk->tree->file, mark_position(walk->event.start_mark), walk->error, format, args);
    va_end(args);
    return r;
}

/* ---- the text ---------------------------------------------------------------------------- */

/* A reviewer must see what the parser sees, in the same order. */
static const struct {
    uint32_t first;
    uint32_t last;
    const char *fault;
} bad_characters[] = {
    {0x00, 0x00, "a NUL byte"},
    {0x01, 0x09, "a control character"},
    {0x0b, 0x1f, "a control character"},
    {0x7f, 0x9f, "a control character"},
    {0xad, 0xad, "an invisible character"},
    {0x61c, 0x61c, "a character that changes the direction of text"},
    {0x200b, 0x200d, "an invisible character"},
    {0x200e, 0x200f, "a character that changes the direction of text"},
    {0x2028, 0x2029, "a line break that is not a newline"},
    {0x202a, 0x202e, "a character that changes the direction of text"},
    {0x2060, 0x2064, "an invisible character"},
    {0x2066, 0x2069, "a character that changes the direction of text"},
    {0xfeff, 0xfeff, "an invisible character"},
    {0xfffe, 0xffff, "a code that is not a character"},
    {0xe0000, 0xe0fff, "an invisible character"},
};

/* What is wrong with a character, or NULL. */
static const char *character_fault(uint32_t code)
{
    for (size_t i = 0; i < sizeof(bad_characters) / sizeof(bad_characters[0]); i++)
        if (code >= bad_characters[i].first && code <= bad_characters[i].last)
            return bad_characters[i].fault;
    /*
     * Variation selectors choose between two pictures of one character, and are common in comments.
     */
    bool selector = code >= 0xfe00 && code <= 0xfe0f;
    return code >= 0x20 && ck_glyph_hidden(code) && !selector ? "an invisible character" : NULL;
}

/*
 * The first bad byte: its offset and what it is; or NULL. is_source: the whole file, in which tabs
 * and carriage returns are layout. In a value they are faults, also when they come from an escape
 * such as "\t".
 */
static const char *text_fault(const char *text, size_t length, bool is_source, size_t *ret_offset)
{
    for (size_t i = 0, n; i < length; i += n) {
        n = 1;
        /* Printable ASCII, nearly all of a policy. */
        if (text[i] >= 0x20 && text[i] < 0x7f)
            continue;
        *ret_offset = i;
        n = ck_glyph_sequence(text + i, length - i);
        if (n == 0)
            return "a byte that is not UTF-8";
        uint32_t code = ck_glyph_code(text + i, n);
        bool layout = is_source && (code == '\t' || code == '\r');
        const char *fault = layout ? NULL : character_fault(code);
        if (fault)
            return fault;
    }
    return NULL;
}

/* Before libyaml sees it, so that every such fault has its position. */
static int check_text(const struct ck_yaml_tree *tree, const char *text, size_t length, struct choke_error *error)
{
    if (length > CK_POLICY_MAX_BYTES)
        return refuse_text(tree, ck_yaml_text_place(text, length, CK_POLICY_MAX_BYTES), error,
                           "the text is longer than %zu bytes, the maximum of a policy", CK_POLICY_MAX_BYTES);
    size_t offset = 0;
    const char *fault = text_fault(text, length, true, &offset);
    if (fault)
        return refuse_text(tree, ck_yaml_text_place(text, length, offset), error,
                           "%s (0x%02x) is here; a policy is UTF-8 text", fault, (unsigned char)text[offset]);
    /* Refused wherever a line begins with '%', also inside a value. */
    offset = ck_yaml_text_directive(text, length);
    if (offset < length)
        return refuse_text(tree, ck_yaml_text_place(text, length, offset), error,
                           "a line begins with '%%'; a policy has no directives");
    return 0;
}

/* ---- the events -------------------------------------------------------------------------- */

/* A lack of memory inside libyaml is not a fault of the text. */
static int refuse_syntax(struct yaml_walk *walk)
{
    const yaml_parser_t *parser = &walk->parser;
    if (parser->error == YAML_MEMORY_ERROR)
        return ck_error_oom(walk->error);
    return refuse_text(walk->tree, mark_position(parser->problem_mark), walk->error, "not valid YAML: %s%s%s",
                       parser->problem ? parser->problem : "cannot be read", parser->context ? ", " : "",
                       parser->context ? parser->context : "");
}

/* NULL outside of the root. */
static struct level *innermost(struct yaml_walk *walk)
{
    return walk->depth > 0 ? &walk->levels[walk->depth - 1] : NULL;
}

/* Doubles, so that the whole text costs linear time. */
static int grow_nodes(struct ck_yaml_tree *tree)
{
    uint32_t capacity = tree->capacity == 0 ? FIRST_NODES : tree->capacity * 2;
    struct ck_yaml_node *nodes = realloc(tree->nodes, capacity * sizeof(*nodes));
    if (!nodes)
        return -ENOMEM;
    tree->nodes = nodes;
    tree->capacity = capacity;
    return 0;
}

/* Quadratic in the keys of one mapping; CK_YAML_TREE_MAX_KEYS bounds it. */
static int check_duplicate(struct yaml_walk *walk, const struct ck_yaml_node *mapping, const char *key)
{
    const struct ck_yaml_node *other = mapping + 1;
    for (uint32_t i = 0; i < mapping->count; i++) {
        if (strcmp(other->text, key) == 0)
            return refuse_event(walk, "key '%s' is given twice; the first one is on line %u", CK_QUOTE(key),
                                other->line);
        other += other->span;
        other += other->span;
    }
    return 0;
}

/* Before a node is added: is it allowed here? */
static int check_position(struct yaml_walk *walk, enum ck_yaml_node_kind kind, const char *text)
{
    const struct level *level = innermost(walk);
    if (!level || !level->key_is_next)
        return 0;
    const struct ck_yaml_node *mapping = &walk->tree->nodes[level->node];
    if (kind != CK_YAML_SCALAR)
        return refuse_event(walk, "a key must be a word, not a list or a mapping");
    if (mapping->count >= CK_YAML_TREE_MAX_KEYS)
        return refuse_event(walk, "more than %u keys in one mapping", CK_YAML_TREE_MAX_KEYS);
    return check_duplicate(walk, mapping, text);
}

/*
 * Adds a child to the enclosing mapping or sequence. In a mapping keys and values alternate, and a
 * pair counts once, with its value.
 */
static void count_child(struct yaml_walk *walk, uint32_t child)
{
    struct level *level = innermost(walk);
    if (!level)
        return;
    struct ck_yaml_node *parent = &walk->tree->nodes[level->node];
    if (parent->kind == CK_YAML_SEQUENCE) {
        parent->count++;
    } else if (level->key_is_next) {
        level->key = child;
        level->key_is_next = false;
    } else {
        parent->count++;
        level->key_is_next = true;
    }
}

/* Appends a node. span is 1 until close_level knows the number of descendants. */
static int add_node(struct yaml_walk *walk, enum ck_yaml_node_kind kind, bool plain, const char *text,
                    uint32_t *ret_index)
{
    struct ck_yaml_tree *tree = walk->tree;
    int r = check_position(walk, kind, text);
    if (r < 0)
        return r;
    if (tree->count >= CK_YAML_TREE_MAX_NODES)
        return refuse_event(walk, "more than %u values in one policy", CK_YAML_TREE_MAX_NODES);
    if (tree->count == tree->capacity && grow_nodes(tree) < 0)
        return ck_error_oom(walk->error);
    struct ck_yaml_place at = mark_position(walk->event.start_mark);
    uint32_t index = tree->count++;
    tree->nodes[index] = (struct ck_yaml_node){
        .kind = kind, .plain = plain, .line = at.line, .column = at.column, .span = 1, .text = text};
    count_child(walk, index);
    *ret_index = index;
    return 0;
}

/* The spellings that YAML 1.1 reads as null. In quotes they are text. */
static bool is_null(const char *text, bool plain)
{
    static const char *const nulls[] = {"", "~", "null", "Null", "NULL"};
    for (size_t i = 0; plain && i < sizeof(nulls) / sizeof(nulls[0]); i++)
        if (strcmp(text, nulls[i]) == 0)
            return true;
    return false;
}

/* A missing value is refused by what it is missing in: the author sees which line to complete. */
static int refuse_null(struct yaml_walk *walk)
{
    const struct level *level = innermost(walk);
    if (!level)
        return refuse_event(walk, "the policy is empty; it begins with 'version: 1'");
    const struct ck_yaml_node *nodes = walk->tree->nodes;
    if (nodes[level->node].kind == CK_YAML_SEQUENCE)
        return refuse_event(walk, "an entry of this list is empty; write a value or remove it");
    if (level->key_is_next)
        return refuse_event(walk, "a key is missing before ':'");
    return refuse_event(walk, "key '%s' has no value; write one or remove the key", CK_QUOTE(nodes[level->key].text));
}

/* The text is checked again: an escape in quotes can make a character that is not in the file. */
static int take_scalar(struct yaml_walk *walk)
{
    const char *value = (const char *)walk->event.data.scalar.value;
    size_t length = walk->event.data.scalar.length;
    bool plain = walk->event.data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
    size_t offset = 0;
    const char *fault = text_fault(value, length, false, &offset);
    if (fault)
        return refuse_event(walk, "this value contains %s (0x%02x)", fault, (unsigned char)value[offset]);
    if (is_null(value, plain))
        return refuse_null(walk);
    /* The event frees its own copy. */
    const char *text = ck_arena_memdup(&walk->tree->arena, value, length);
    if (!text)
        return ck_error_oom(walk->error);
    uint32_t index;
    return add_node(walk, CK_YAML_SCALAR, plain, text, &index);
}

/* The depth is bounded, so levels needs no memory of its own. */
static int open_level(struct yaml_walk *walk, enum ck_yaml_node_kind kind)
{
    if (walk->depth == CK_YAML_TREE_MAX_DEPTH)
        return refuse_event(walk, "nested more than %d deep", CK_YAML_TREE_MAX_DEPTH);
    uint32_t index;
    int r = add_node(walk, kind, false, "", &index);
    if (r < 0)
        return r;
    walk->levels[walk->depth++] = (struct level){.node = index, .key_is_next = kind == CK_YAML_MAPPING};
    return 0;
}

/* All nodes since the index are its descendants. */
static void close_level(struct yaml_walk *walk)
{
    uint32_t index = walk->levels[--walk->depth].node;
    walk->tree->nodes[index].span = walk->tree->count - index;
}

/*
 * An alias could make a small text huge, and hide from a reviewer what a tool may do. A tag could
 * change the type of a value.
 */
static int check_properties(struct yaml_walk *walk, const yaml_char_t *anchor, const yaml_char_t *tag)
{
    if (anchor)
        return refuse_event(walk, "anchor '%s': a policy has no anchors; write the value where it is needed",
                            CK_QUOTE((const char *)anchor));
    if (tag)
        return refuse_event(walk, "tag '%s': a policy has no tags", CK_QUOTE((const char *)tag));
    return 0;
}

static int take_event(struct yaml_walk *walk)
{
    const yaml_event_t *event = &walk->event;
    int r;
    switch (event->type) {
    case YAML_DOCUMENT_START_EVENT:
        return walk->documents++ > 0 ? refuse_event(walk, "a second document begins here; a policy is one document")
                                     : 0;
    case YAML_ALIAS_EVENT:
        return refuse_event(walk, "alias '%s': a policy has no aliases; write the value where it is needed",
                            CK_QUOTE((const char *)event->data.alias.anchor));
    case YAML_SCALAR_EVENT:
        r = check_properties(walk, event->data.scalar.anchor, event->data.scalar.tag);
        return r < 0 ? r : take_scalar(walk);
    case YAML_SEQUENCE_START_EVENT:
        r = check_properties(walk, event->data.sequence_start.anchor, event->data.sequence_start.tag);
        return r < 0 ? r : open_level(walk, CK_YAML_SEQUENCE);
    case YAML_MAPPING_START_EVENT:
        r = check_properties(walk, event->data.mapping_start.anchor, event->data.mapping_start.tag);
        return r < 0 ? r : open_level(walk, CK_YAML_MAPPING);
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        close_level(walk);
        return 0;
    case YAML_STREAM_END_EVENT:
        /* A text with comments only has no document. */
        return walk->documents == 0 ? refuse_null(walk) : 0;
    case YAML_NO_EVENT:
    case YAML_STREAM_START_EVENT:
    case YAML_DOCUMENT_END_EVENT:
        return 0;
    }
    return 0;
}

static int walk_events(struct yaml_walk *walk)
{
    bool ended = false;
    int r = 0;
    while (!ended && r == 0) {
        if (yaml_parser_parse(&walk->parser, &walk->event) == 0)
            return refuse_syntax(walk);
        /* The event is freed also after a refusal; the type is read before. */
        r = take_event(walk);
        ended = walk->event.type == YAML_STREAM_END_EVENT;
        yaml_event_delete(&walk->event);
    }
    return r;
}

int ck_yaml_tree_parse(struct ck_yaml_tree *ret_tree, const char *file, const void *text, size_t length,
                       struct choke_error *error)
{
    ret_tree->file = file;
    ret_tree->arena.max_bytes = ARENA_MAX_BYTES;
    int r = check_text(ret_tree, text, length, error);
    if (r < 0)
        return r;
    struct yaml_walk walk = {.tree = ret_tree, .error = error};
    if (yaml_parser_initialize(&walk.parser) == 0)
        return ck_error_oom(error);
    /* Otherwise libyaml would accept UTF-16 by its first bytes. */
    yaml_parser_set_encoding(&walk.parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&walk.parser, text, length);
    r = walk_events(&walk);
    yaml_parser_delete(&walk.parser);
    return r;
}

void ck_yaml_tree_done(struct ck_yaml_tree *tree)
{
    ck_arena_done(&tree->arena);
    free(tree->nodes);
    *tree = (struct ck_yaml_tree){0};
}

/* ---- looking things up ------------------------------------------------------------------- */

/*
 * Linear, because CK_YAML_TREE_MAX_KEYS bounds it. mapping must be a mapping: its count is then a
 * number of pairs.
 */
const struct ck_yaml_node *ck_yaml_node_value(const struct ck_yaml_node *mapping, const char *key)
{
    const struct ck_yaml_node *at = mapping + 1;
    for (uint32_t i = 0; i < mapping->count; i++) {
        const struct ck_yaml_node *value = at + at->span;
        if (strcmp(at->text, key) == 0)
            return value;
        at = value + value->span;
    }
    return NULL;
}

const struct ck_yaml_node *ck_yaml_node_entry(const struct ck_yaml_node *sequence, uint32_t index)
{
    const struct ck_yaml_node *at = sequence + 1;
    while (index-- > 0)
        at += at->span;
    return at;
}
