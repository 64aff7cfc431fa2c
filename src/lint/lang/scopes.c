/*
 * scopes.c - nested scopes, their bindings, and the limits of evaluation. See scopes.h.
 *
 * Scopes are in the order of the walk, so they are sorted by where they begin. The innermost scope
 * around a place is found by binary search for the last that begins before it, then outwards past
 * those that have ended.
 */
#include "lint/lang/scopes.h"

#include "lint/lang/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FUEL 4096                      /* steps for one question */
#define FUEL_LOW 64                    /* for one question, once the file has cost SPENT_HIGH */
#define SPENT_HIGH ((uint64_t)4 << 20) /* steps for one file, more than any normal file takes */
#define NONE UINT32_MAX                /* a level of no slot, and an end that is never reached */

/* An assignment that waits for ck_scopes_finish: what it binds may be declared further down. */
struct ck_assignment {
    struct ck_assignment *next;
    uint32_t scope; /* in which it is */
    struct ck_lint_word word;
    TSNode value;
    const char *path;
};

/*
 * A table from the symbols of the grammar to the kinds of the resolver: comparing type names for
 * each node would be slow. Several symbols may have the same name.
 */
static uint8_t *make_kinds(struct ck_lint_source *source, const struct ck_kind *kinds)
{
    const TSLanguage *language = source->grammar->language();
    uint32_t count = ts_language_symbol_count(language);
    /* Zeroed by the arena, so a symbol that is not listed has kind 0. */
    uint8_t *made = ck_arena_alloc(source->arena, count);
    for (uint32_t symbol = 0; made && symbol < count; symbol++)
        for (const struct ck_kind *one = kinds; one->type; one++)
            if (ts_language_symbol_type(language, (TSSymbol)symbol) == TSSymbolTypeRegular &&
                strcmp(ts_language_symbol_name(language, (TSSymbol)symbol), one->type) == 0)
                made[symbol] = one->kind;
    return made;
}

struct ck_scopes *ck_scopes_new(struct ck_lint_source *source, const struct ck_kind *kinds)
{
    struct ck_scopes *scopes = ck_arena_alloc(source->arena, sizeof(*scopes));
    uint32_t buckets = 64; /* grows with the text: the table is never resized */
    while (buckets < source->length / 64)
        buckets *= 2;
    if (!scopes)
        return NULL;
    scopes->source = source;
    scopes->kinds = make_kinds(source, kinds);
    scopes->kinds_count = ts_language_symbol_count(source->grammar->language());
    scopes->buckets = ck_arena_array(source->arena, buckets, sizeof(*scopes->buckets));
    scopes->buckets_mask = buckets - 1;
    scopes->lowest = NONE;
    if (!scopes->kinds || !scopes->buckets)
        return NULL;
    ck_scopes_enter(scopes, source->root, true);
    /* The root node does not include comments and blanks at both ends, but the scope must. */
    scopes->items[0].start = 0;
    scopes->items[0].end = NONE;
    return scopes->failed ? NULL : scopes;
}

uint8_t ck_scopes_kind(const struct ck_scopes *scopes, TSNode node)
{
    TSSymbol symbol = ts_node_is_null(node) ? 0 : ts_node_symbol(node);
    /* The symbol of an error node is beyond the table. */
    return symbol < scopes->kinds_count ? scopes->kinds[symbol] : 0;
}

bool ck_scopes_walk_next(struct ck_scopes *scopes, TSTreeCursor *cursor)
{
    /* Into the node, else to its right, else up until there is something to the right. */
    if (!ts_tree_cursor_goto_first_child(cursor))
        while (!ts_tree_cursor_goto_next_sibling(cursor))
            if (!ts_tree_cursor_goto_parent(cursor))
                return false;
    uint32_t start = ts_node_start_byte(ts_tree_cursor_current_node(cursor));
    /* Ends at the scope of the file at the latest: its end is NONE, which is above every offset. */
    while (scopes->items[scopes->current].end <= start)
        scopes->current = scopes->items[scopes->current].parent;
    return true;
}

/* Doubles an array in the arena. The old array is freed with the arena. */
static void *grow(struct ck_scopes *scopes, const void *items, uint32_t *capacity, size_t size)
{
    uint32_t larger = *capacity == 0 ? 32 : *capacity * 2;
    void *made = ck_arena_array(scopes->source->arena, larger, size);
    if (!made) {
        scopes->failed = true;
        return NULL;
    }
    if (*capacity > 0)
        memcpy(made, items, *capacity * size);
    *capacity = larger;
    return made;
}

uint32_t ck_scopes_enter(struct ck_scopes *scopes, TSNode node, bool function)
{
    uint32_t depth = scopes->count == 0 ? 0 : scopes->items[scopes->current].depth + 1;
    /*
     * What is nested deeper is bound in the scope around it. The file is reported as not scanned in
     * full.
     */
    if (depth > CK_SCOPES_NESTED)
        scopes->source->exhausted = true;
    if (depth > CK_SCOPES_NESTED || scopes->failed)
        return scopes->current;
    if (scopes->count == scopes->capacity) {
        struct ck_scope *larger = grow(scopes, scopes->items, &scopes->capacity, sizeof(*larger));
        if (!larger)
            return scopes->current;
        scopes->items = larger;
    }
    scopes->items[scopes->count] =
        (struct ck_scope){ts_node_start_byte(node), ts_node_end_byte(node), scopes->current, depth, function};
    return scopes->current = scopes->count++;
}

uint32_t ck_scopes_function(const struct ck_scopes *scopes, uint32_t scope)
{
    while (!scopes->items[scope].function)
        scope = scopes->items[scope].parent;
    return scope;
}

uint32_t ck_scopes_at(const struct ck_scopes *scopes, uint32_t position)
{
    uint32_t low = 0, high = scopes->count;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (scopes->items[middle].start <= position)
            low = middle;
        else
            high = middle;
    }
    while (scopes->items[low].end <= position)
        low = scopes->items[low].parent;
    return low;
}

/*
 * ev\u0061l is eval: a name may be written with escapes. A name that is too long, or not ASCII
 * after that, is left as it is.
 */
static struct ck_lint_word without_escapes(const struct ck_scopes *scopes, struct ck_lint_word word)
{
    struct ck_text text = {.length = 0};
    for (uint32_t at = 0, n; at < word.length; at += n) {
        const char *here = word.text + at;
        const char *close = here[0] == '\\' ? memchr(here, '}', word.length - at) : NULL;
        /*
         * \u{61} ends at the brace, \u0061 has six bytes. At the end of the word it may have less.
         */
        n = here[0] != '\\' ? 1 : word.length - at > 2 && here[2] == '{' && close ? (uint32_t)(close - here) + 1 : 6;
        n = n < word.length - at ? n : word.length - at;
        if (here[0] == '\\')
            ck_text_add_escape(&text, CK_TEXT_JS, here, n);
        else
            ck_text_add(&text, here, n);
    }
    const char *copy = text.unknown ? NULL : ck_arena_memdup(scopes->source->arena, text.bytes, text.length);
    return copy ? (struct ck_lint_word){copy, text.length} : word;
}

struct ck_lint_word ck_lint_word_of(const struct ck_scopes *scopes, TSNode node)
{
    uint32_t start = ts_node_start_byte(node);
    struct ck_lint_word word = {scopes->source->text + start, ts_node_end_byte(node) - start};
    /* Only names: in a string the resolver decodes the escapes itself. */
    bool escaped = memchr(word.text, '\\', word.length) && strstr(ts_node_type(node), "identifier");
    return escaped ? without_escapes(scopes, word) : word;
}

const char *ck_lint_word_text(const struct ck_scopes *scopes, TSNode node)
{
    struct ck_lint_word word = ck_lint_word_of(scopes, node);
    return ck_arena_memdup(scopes->source->arena, word.text, word.length);
}

bool ck_lint_word_is(struct ck_lint_word word, const char *text)
{
    return strlen(text) == word.length && memcmp(word.text, text, word.length) == 0;
}

/* FNV-1a over the name, seeded with the scope. */
static struct ck_slot **bucket(const struct ck_scopes *scopes, uint32_t scope, struct ck_lint_word word)
{
    uint32_t hash = 2166136261U ^ scope;
    for (uint32_t i = 0; i < word.length; i++)
        hash = (hash ^ (unsigned char)word.text[i]) * 16777619U;
    return &scopes->buckets[(hash ^ hash >> 15) & scopes->buckets_mask];
}

/* The slot of a name in this scope only; NULL if the scope does not bind it. */
static struct ck_slot *find_in(const struct ck_scopes *scopes, uint32_t scope, struct ck_lint_word word)
{
    for (struct ck_slot *slot = *bucket(scopes, scope, word); slot; slot = slot->next)
        if (slot->scope == scope && slot->word.length == word.length &&
            memcmp(slot->word.text, word.text, word.length) == 0)
            return slot;
    return NULL;
}

/* Returns NULL when memory ran out. */
static struct ck_slot *make_slot(struct ck_scopes *scopes, uint32_t scope, struct ck_lint_word word)
{
    struct ck_slot *slot = ck_arena_alloc(scopes->source->arena, sizeof(*slot));
    struct ck_slot **head = bucket(scopes, scope, word);
    if (slot) {
        *slot = (struct ck_slot){.next = *head, .word = word, .scope = scope, .level = NONE};
        *head = slot;
    }
    return slot;
}

void ck_scopes_bind(struct ck_scopes *scopes, uint32_t scope, struct ck_lint_word word, TSNode value, const char *path)
{
    struct ck_slot *slot = find_in(scopes, scope, word);
    struct ck_binding *binding = ck_arena_alloc(scopes->source->arena, sizeof(*binding));
    if (!slot)
        slot = make_slot(scopes, scope, word);
    if (!slot || !binding) {
        scopes->failed = true;
        return;
    }
    *binding = (struct ck_binding){.value = value, .path = path};
    /* Appended, so that the names are found in the order of the text. */
    if (!slot->last)
        slot->first = binding;
    else
        slot->last->next = binding;
    slot->last = binding;
}

void ck_scopes_assign(struct ck_scopes *scopes, struct ck_lint_word word, TSNode value, const char *path)
{
    struct ck_assignment *one = ck_arena_alloc(scopes->source->arena, sizeof(*one));
    if (!one) {
        scopes->failed = true;
        return;
    }
    *one = (struct ck_assignment){.scope = scopes->current, .word = word, .value = value, .path = path};
    if (!scopes->last_assignment)
        scopes->assignments = one;
    else
        scopes->last_assignment->next = one;
    scopes->last_assignment = one;
}

/*
 * By place, then by text, so that the order does not depend on qsort. A text is NULL when memory
 * ran out.
 */
static int compare_facts(const void *left, const void *right)
{
    const struct ck_fact *a = left;
    const struct ck_fact *b = right;
    int order = (a->start > b->start) - (a->start < b->start);
    return order != 0 || !a->text || !b->text ? order : strcmp(a->text, b->text);
}

int ck_scopes_finish(struct ck_scopes *scopes)
{
    /* Sorted for the binary search in ck_scopes_facts. */
    if (scopes->facts_count > 0)
        qsort(scopes->facts, scopes->facts_count, sizeof(*scopes->facts), compare_facts);
    /* An assignment to a name that nobody declares makes a global: scope 0. */
    for (struct ck_assignment *one = scopes->assignments; one; one = one->next) {
        struct ck_slot *slot = ck_scopes_find(scopes, one->scope, one->word);
        ck_scopes_bind(scopes, slot ? slot->scope : 0, one->word, one->value, one->path);
    }
    scopes->assignments = NULL;
    scopes->source->scopes = scopes;
    return scopes->failed ? -ENOMEM : 0;
}

struct ck_slot *ck_scopes_find(const struct ck_scopes *scopes, uint32_t scope, struct ck_lint_word word)
{
    for (;; scope = scopes->items[scope].parent) {
        struct ck_slot *slot = find_in(scopes, scope, word);
        if (slot || scope == 0)
            return slot;
    }
}

void ck_scopes_note(struct ck_scopes *scopes, uint32_t start, const char *text)
{
    if (scopes->facts_count == scopes->facts_capacity) {
        struct ck_fact *larger = grow(scopes, scopes->facts, &scopes->facts_capacity, sizeof(*larger));
        if (!larger)
            return;
        scopes->facts = larger;
    }
    scopes->facts[scopes->facts_count++] = (struct ck_fact){start, text};
}

uint32_t ck_scopes_facts(const struct ck_scopes *scopes, uint32_t start, const struct ck_fact **ret_facts)
{
    uint32_t low = 0, high = scopes->facts_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (scopes->facts[middle].start < start)
            low = middle + 1;
        else
            high = middle;
    }
    /* low and high are the first note of the place, or where it would be. */
    while (high < scopes->facts_count && scopes->facts[high].start == start)
        high++;
    *ret_facts = scopes->facts + low;
    return high - low;
}

void ck_scopes_refuel(struct ck_scopes *scopes)
{
    /* A file that has cost much already still gets answers, but cheap ones. */
    scopes->fuel = scopes->spent < SPENT_HIGH ? FUEL : FUEL_LOW;
    scopes->cut = false;
}

bool ck_scopes_spend(struct ck_scopes *scopes, uint32_t depth)
{
    scopes->spent++;
    if (scopes->fuel > 0 && depth <= CK_SCOPES_DEPTH) {
        scopes->fuel--;
        return true;
    }
    scopes->cut = true;
    scopes->source->exhausted = true;
    return false;
}

void ck_lint_names_merge(struct ck_lint_names *names, const struct ck_lint_names *others)
{
    for (uint32_t i = 0; i < others->count; i++)
        ck_lint_names_add(names, others->items[i]);
    names->open |= others->open;
}

/*
 * A name that is met again during its own evaluation gives nothing the second time: its value comes
 * from its other bindings. Names that were evaluated in between lack that part, so they are not
 * kept, and are evaluated again when asked for directly.
 */
bool ck_scopes_slot_begin(struct ck_scopes *scopes, struct ck_slot *slot, struct ck_evaluation *ret_evaluation,
                          struct ck_lint_names *names)
{
    if (slot->names) {
        ck_lint_names_merge(names, slot->names);
        return false;
    }
    /*
     * In evaluation: a cycle. The lowest slot of a cycle has all parts of its value, so it is kept.
     */
    if (slot->level != NONE) {
        if (slot->level < scopes->lowest)
            scopes->lowest = slot->level;
        return false;
    }
    *ret_evaluation = (struct ck_evaluation){.slot = slot, .lowest = scopes->lowest};
    slot->level = scopes->level++;
    scopes->lowest = NONE;
    return true;
}

/* The result is kept for all later questions, so each binding gets the fuel of a whole question. */
void ck_scopes_slot_next(struct ck_scopes *scopes)
{
    /* Only for the outermost slot, or the fuel would bound nothing. */
    if (scopes->level == 1 && scopes->fuel > 0 && scopes->spent < SPENT_HIGH)
        scopes->fuel = FUEL;
}

/* In a file that has cost too much already an incomplete result is kept, too. */
void ck_scopes_slot_end(struct ck_scopes *scopes, struct ck_evaluation *evaluation, struct ck_lint_names *names)
{
    struct ck_slot *slot = evaluation->slot;
    /* A slot further out was met again: this value lacks a part that only the outer one has. */
    bool recursive = scopes->lowest < slot->level;
    if ((!recursive && !scopes->cut) || scopes->spent >= SPENT_HIGH)
        slot->names = ck_arena_alloc(scopes->source->arena, sizeof(*slot->names));
    if (slot->names)
        *slot->names = evaluation->names;
    /* The enclosing evaluation depends on the lowest of both. */
    if (!recursive || evaluation->lowest < scopes->lowest)
        scopes->lowest = evaluation->lowest;
    slot->level = NONE;
    scopes->level--;
    ck_lint_names_merge(names, &evaluation->names);
}

/* A zeroed node is the null node of tree-sitter. */
const TSNode ck_lint_node_none = {0};

/* Uses a cursor: ts_node_child(n) counts from the first child each time. */
static TSNode child_at(TSNode node, uint32_t n, bool last)
{
    TSTreeCursor cursor = ts_tree_cursor_new(node);
    TSNode found = ck_lint_node_none;
    bool more = ts_tree_cursor_goto_first_child(&cursor);
    for (; more; more = ts_tree_cursor_goto_next_sibling(&cursor)) {
        TSNode child = ts_tree_cursor_current_node(&cursor);
        /* Extra nodes are comments. */
        if (!ts_node_is_named(child) || ts_node_is_extra(child))
            continue;
        if (last || n == 0)
            found = child;
        if (!last && n-- == 0)
            break;
    }
    ts_tree_cursor_delete(&cursor);
    return found;
}

TSNode ck_lint_node_nth(TSNode node, uint32_t n)
{
    return ts_node_is_null(node) ? ck_lint_node_none : child_at(node, n, false);
}

TSNode ck_lint_node_last(TSNode node)
{
    return ts_node_is_null(node) ? ck_lint_node_none : child_at(node, 0, true);
}

TSNode ck_lint_node_field(TSNode node, const char *field)
{
    return ts_node_is_null(node) ? ck_lint_node_none
                                 : ts_node_child_by_field_name(node, field, (uint32_t)strlen(field));
}

bool ck_lint_node_has_token(TSNode node, const char *token)
{
    TSTreeCursor cursor = ts_tree_cursor_new(node);
    bool found = false;
    bool more = ts_tree_cursor_goto_first_child(&cursor);
    for (; more && !found; more = ts_tree_cursor_goto_next_sibling(&cursor)) {
        TSNode child = ts_tree_cursor_current_node(&cursor);
        found = !ts_node_is_named(child) && strcmp(ts_node_type(child), token) == 0;
    }
    ts_tree_cursor_delete(&cursor);
    return found;
}
