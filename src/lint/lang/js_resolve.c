/*
 * js_resolve.c - the resolver for JavaScript and TypeScript: what an expression is. See js.h for
 * the names, and js_bind.c for what they are bound to.
 *
 * Types are ignored: (cp as any).exec is cp.exec. So are await, parentheses and commas. A
 * conditional expression may be either side. A promise of a module is treated as the module,
 * because nobody calls exec on a promise.
 */
#include "lint/lang/js.h"

#include "lint/lang/text.h"

#include <string.h>

static void find_names(struct ck_scopes *scopes, TSNode node, uint32_t depth, struct ck_lint_names *names);

/* ---- names and their members ------------------------------------------------------------- */

static bool is_among(const char *text, const char *const *list)
{
    while (*list && strcmp(*list, text) != 0)
        list++;
    return !!*list;
}

/*
 * The names of the global object in Node, browsers and workers. In a page without frames top,
 * parent and frames are the window itself.
 */
static bool is_global_object(const char *name)
{
    static const char *const names[] = {"globalThis", "window", "self", "global", "top", "parent", "frames", NULL};
    return is_among(name, names);
}

/* Maps different ways to reach a thing to one name. */
static const char *canonical_name(const char *name)
{
    static const char *const same[][2] = {
        {"process.mainModule", "module"}, {"require.main", "module"},     {"module.parent", "module"},
        {"module.constructor", "module"}, {"module.Module", "module"},    {"module.require", "require"},
        {"require.cache.?", "module"},    {"process.process", "process"},
    };
    for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++)
        if (strcmp(name, same[i][0]) == 0)
            return same[i][1];
    return name;
}

/* (function(){}).constructor is Function, which compiles text like eval does. */
static const char *member_of_function(const char *key)
{
    return strcmp(key, "constructor") == 0 ? "Function" : "?";
}

/* f.call, f.apply and f.bind run f, so they resolve to f. */
static bool is_caller(const char *key)
{
    static const char *const callers[] = {"call", "apply", "bind", NULL};
    return is_among(key, callers);
}

/*
 * The order matters: members of the global object are globals, members of a function literal are
 * known, a.constructor.constructor is Function for every value a, and any other member of something
 * unknown is "?.key".
 */
const char *ck_js_member(struct ck_scopes *scopes, const char *name, const char *key)
{
    /* These objects have the same constructor as the function itself. */
    static const char *const same[] = {"__proto__", "prototype", NULL};
    if (strcmp(name, "globalThis") == 0)
        /* window.self.window is the global object again. */
        return is_global_object(key) ? "globalThis" : key;
    if (strcmp(name, CK_JS_FUNCTION) == 0)
        return is_among(key, same) ? name : member_of_function(key);
    if (strcmp(name, "?.constructor") == 0 && strcmp(key, "constructor") == 0)
        return "Function";
    if (name[0] == '?') /* "?.a" and then b is "?.b": only the last member is in rules */
        name = "?";
    else if (strcmp(key, "default") == 0 || is_caller(key))
        return name;
    const char *joined = ck_lint_name_qualify(scopes->source, name, key);
    /* During the walk of js_bind.c this skips the file. Later it only makes the name unknown. */
    if (!joined)
        scopes->failed = true;
    return !joined ? "?" : canonical_name(joined);
}

const char *ck_js_module(struct ck_scopes *scopes, TSNode string)
{
    struct ck_constant constant;
    ck_js_constant(scopes, string, 0, &constant);
    if (constant.kind != CK_CONSTANT_TEXT)
        return "?";
    return strncmp(constant.text, "node:", 5) == 0 ? constant.text + 5 : constant.text;
}

const char *ck_js_key(struct ck_scopes *scopes, TSNode key)
{
    uint8_t kind = ck_scopes_kind(scopes, key);
    struct ck_constant constant;
    if (kind == CK_JS_KEY || kind == CK_JS_NAME) {
        const char *text = ck_lint_word_text(scopes, key);
        return text ? text : "?";
    }
    /* A quoted key is a constant text too: {"exec": f}. */
    ck_js_constant(scopes, kind == CK_JS_COMPUTED_KEY ? ck_lint_node_nth(key, 0) : key, 0, &constant);
    return constant.kind == CK_CONSTANT_TEXT ? constant.text : "?";
}

/* The member of each object. If nothing is known about the object it is "?.key". */
static void add_member(struct ck_scopes *scopes, const struct ck_lint_names *objects, const char *key,
                       struct ck_lint_names *names)
{
    for (uint32_t i = 0; i < objects->count; i++)
        ck_lint_names_add(names, ck_js_member(scopes, objects->items[i], key));
    if (objects->count == 0)
        ck_lint_names_add(names, ck_js_member(scopes, "?", key));
    names->open |= objects->open;
}

/* Applies each part of "a.b" in order to each of the names. */
static void add_members(struct ck_scopes *scopes, const struct ck_lint_names *objects, const char *path,
                        struct ck_lint_names *names)
{
    /* No path, or no memory for the key: the names stay those of the object. */
    const char *end = !path ? NULL : strchr(path, '.');
    const char *key = !end ? path : ck_arena_memdup(scopes->source->arena, path, (size_t)(end - path));
    if (!key) {
        ck_lint_names_merge(names, objects);
        return;
    }
    struct ck_lint_names members = {.count = 0};
    add_member(scopes, objects, key, &members);
    if (!end)
        ck_lint_names_merge(names, &members);
    else
        add_members(scopes, &members, end + 1, names);
}

/* ---- expressions ------------------------------------------------------------------------- */

/*
 * All values that the file gives the name anywhere; a binding without value and path makes it open.
 */
static void evaluate_bindings(struct ck_scopes *scopes, const struct ck_slot *slot, uint32_t depth,
                              struct ck_lint_names *names)
{
    for (const struct ck_binding *one = slot->first; one; one = one->next) {
        struct ck_lint_names values = {.count = 0};
        ck_scopes_slot_next(scopes);
        if (!ts_node_is_null(one->value)) {
            find_names(scopes, one->value, depth + 1, &values);
            add_members(scopes, &values, one->path, names);
        } else if (one->path) {
            ck_lint_names_add(names, one->path);
        } else {
            names->open = true;
        }
    }
}

/* A name that the file does not bind is a global and stands for itself. */
static void find_word(struct ck_scopes *scopes, TSNode node, uint32_t depth, struct ck_lint_names *names)
{
    struct ck_lint_word word = ck_lint_word_of(scopes, node);
    struct ck_slot *slot = ck_scopes_find(scopes, ck_scopes_at(scopes, ts_node_start_byte(node)), word);
    struct ck_evaluation evaluation;
    if (!slot) {
        const char *name = ck_lint_word_text(scopes, node);
        ck_lint_names_add(names, name && is_global_object(name) ? "globalThis" : name);
        for (size_t i = 0; name && i < CK_GLOBAL_MODULES; i++)
            if (scopes->global_modules[i])
                ck_lint_names_add(names,
                                  ck_arena_printf(scopes->source->arena, "%s.%s", scopes->global_modules[i], name));
    } else if (ck_scopes_slot_begin(scopes, slot, &evaluation, names)) {
        evaluate_bindings(scopes, slot, depth, &evaluation.names);
        ck_scopes_slot_end(scopes, &evaluation, names);
    }
}

/* f.call.bind(g) calls g, whatever f is: it is Function.prototype.call. */
static bool is_caller_of(struct ck_scopes *scopes, TSNode object)
{
    TSNode property = ck_lint_node_field(object, "property");
    return ck_scopes_kind(scopes, object) == CK_JS_MEMBER && !ts_node_is_null(property) &&
           is_caller(ck_js_key(scopes, property));
}

/* a.b has a property, a["b"] an index. An index that is not a constant text is "?". */
static void find_member(struct ck_scopes *scopes, TSNode node, uint32_t depth, struct ck_lint_names *names)
{
    struct ck_lint_names objects = {.count = 0};
    TSNode property = ck_lint_node_field(node, "property");
    struct ck_constant index = {.kind = CK_CONSTANT_NOT};
    const char *text = "?";
    if (!ts_node_is_null(property))
        text = ck_js_key(scopes, property);
    else
        ck_js_constant(scopes, ck_lint_node_field(node, "index"), depth + 1, &index);
    if (index.kind == CK_CONSTANT_TEXT)
        text = index.text;
    if (is_caller(text) && is_caller_of(scopes, ck_lint_node_field(node, "object"))) {
        names->open = true;
        return;
    }
    find_names(scopes, ck_lint_node_field(node, "object"), depth + 1, &objects);
    add_member(scopes, &objects, text, names);
}

/* The result of a call, for the few functions where it matters. */
static void add_result(struct ck_scopes *scopes, const char *function, TSNode arguments, uint32_t depth,
                       struct ck_lint_names *names)
{
    static const char *const loaders[] = {"require", "import", "module._load", "process.getBuiltinModule", NULL};
    /* The prototype of a function literal leads to Function by its constructor. */
    static const char *const prototypes[] = {"Object.getPrototypeOf", "Reflect.getPrototypeOf", NULL};
    TSNode first = ck_lint_node_nth(arguments, 0);
    if (is_among(function, loaders)) {
        const char *module = ck_js_module(scopes, first);
        /* require(x) with an unknown x adds nothing; find_result makes it open then. */
        if (strcmp(module, "?") != 0)
            ck_lint_names_add(names, module);
    } else if (strcmp(function, "module.createRequire") == 0) {
        ck_lint_names_add(names, "require");
    } else if (is_among(function, prototypes)) {
        struct ck_lint_names objects = {.count = 0};
        find_names(scopes, first, depth + 1, &objects);
        for (uint32_t i = 0; i < objects.count; i++)
            if (strcmp(objects.items[i], CK_JS_FUNCTION) == 0)
                ck_lint_names_add(names, CK_JS_FUNCTION);
    }
}

/* What a call returns: open if no function of the call is one that add_result knows. */
static void find_result(struct ck_scopes *scopes, TSNode node, uint32_t depth, struct ck_lint_names *names)
{
    struct ck_lint_names functions = {.count = 0};
    find_names(scopes, ck_lint_node_field(node, "function"), depth + 1, &functions);
    for (uint32_t i = 0; i < functions.count; i++)
        add_result(scopes, functions.items[i], ck_lint_node_field(node, "arguments"), depth, names);
    names->open |= names->count == 0;
}

/* a || b and a ?? b are either side; a && b is b. Other operators make a new value. */
static void find_choice(struct ck_scopes *scopes, TSNode node, uint32_t depth, struct ck_lint_names *names)
{
    TSNode sign = ck_lint_node_field(node, "operator");
    bool either = ck_lint_node_is(sign, "||") || ck_lint_node_is(sign, "??");
    if (either)
        find_names(scopes, ck_lint_node_field(node, "left"), depth + 1, names);
    if (either || ck_lint_node_is(sign, "&&"))
        find_names(scopes, ck_lint_node_field(node, "right"), depth + 1, names);
    else
        names->open = true;
}

/* The value of a comma expression is its last part. In <T>x the type comes first. */
static TSNode unwrap_once(TSNode node)
{
    bool last = ck_lint_node_is(node, "sequence_expression") || ck_lint_node_is(node, "type_assertion");
    return last ? ck_lint_node_last(node) : ck_lint_node_nth(node, 0);
}

/* Each step costs fuel, because a file may nest parentheses without limit. */
static TSNode unwrap(struct ck_scopes *scopes, TSNode node)
{
    while (ck_scopes_kind(scopes, node) == CK_JS_WRAPPER && ck_scopes_spend(scopes, 0))
        node = unwrap_once(node);
    return node;
}

/* A part of an export that note_exports has noted. export {a} without a module is a use of a. */
static void find_noted(struct ck_scopes *scopes, TSNode node, uint32_t depth, struct ck_lint_names *names)
{
    const struct ck_fact *facts;
    if (ck_scopes_facts(scopes, ts_node_start_byte(node), &facts) > 0)
        ck_lint_names_add(names, facts->text);
    else if (ck_scopes_kind(scopes, node) == CK_JS_EXPORT_SPECIFIER)
        find_names(scopes, ck_lint_node_field(node, "name"), depth + 1, names);
    else
        names->open = true;
}

/*
 * The switch has the kinds of expression that are followed. Anything else is unknown (open), never
 * a guess.
 */
static void find_names(struct ck_scopes *scopes, TSNode node, uint32_t depth, struct ck_lint_names *names)
{
    node = unwrap(scopes, node);
    if (!ck_scopes_spend(scopes, depth)) {
        names->open = true;
        return;
    }
    switch (ck_scopes_kind(scopes, node)) {
    case CK_JS_NAME:
        find_word(scopes, node, depth, names);
        break;
    case CK_JS_MEMBER:
    case CK_JS_SUBSCRIPT:
        find_member(scopes, node, depth, names);
        break;
    case CK_JS_CALL:
        find_result(scopes, node, depth, names);
        break;
    case CK_JS_IMPORT_WORD:
        ck_lint_names_add(names, "import");
        break;
    case CK_JS_ASSIGNMENT:
    case CK_JS_AUGMENTED:
        find_names(scopes, ck_lint_node_field(node, "right"), depth + 1, names);
        break;
    case CK_JS_TERNARY:
        find_names(scopes, ck_lint_node_field(node, "consequence"), depth + 1, names);
        find_names(scopes, ck_lint_node_field(node, "alternative"), depth + 1, names);
        break;
    case CK_JS_BINARY:
        find_choice(scopes, node, depth, names);
        break;
    case CK_JS_FUNCTION_EXPRESSION:
        ck_lint_names_add(names, CK_JS_FUNCTION);
        break;
    case CK_JS_STRING:
    case CK_JS_EXPORT_SPECIFIER:
        find_noted(scopes, node, depth, names);
        break;
    default:
        names->open = true;
        break;
    }
}

/* One question of the scanner, with full fuel. */
static void js_names(struct ck_lint_source *source, TSNode node, struct ck_lint_names *ret_names)
{
    struct ck_scopes *scopes = source->scopes;
    *ret_names = (struct ck_lint_names){.count = 0};
    ck_scopes_refuel(scopes);
    find_names(scopes, node, 0, ret_names);
}

/* ---- arguments --------------------------------------------------------------------------- */

/* The last property of that name counts, as in JavaScript. {shell} is short for {shell: shell}. */
static TSNode property_of(struct ck_scopes *scopes, TSNode object, const char *keyword, bool *ret_spread)
{
    TSTreeCursor cursor = ts_tree_cursor_new(object);
    TSNode found = ck_lint_node_none;
    bool more = ts_tree_cursor_goto_first_child(&cursor);
    for (; more; more = ts_tree_cursor_goto_next_sibling(&cursor)) {
        TSNode child = ts_tree_cursor_current_node(&cursor);
        TSNode key = ck_lint_node_field(child, "key");
        /* {...other} may have the property. */
        *ret_spread |= ck_scopes_kind(scopes, child) == CK_JS_SPREAD;
        if (!ts_node_is_null(key) && strcmp(ck_js_key(scopes, key), keyword) == 0)
            found = ck_lint_node_field(child, "value");
        else if (ck_scopes_kind(scopes, child) == CK_JS_NAME &&
                 ck_lint_word_is(ck_lint_word_of(scopes, child), keyword))
            found = child;
    }
    ts_tree_cursor_delete(&cursor);
    return found;
}

/*
 * A property of an object literal among the arguments. The properties of any other object are not
 * known.
 */
static enum ck_argument find_keyword(struct ck_scopes *scopes, TSNode arguments, const char *keyword, TSNode *ret_value)
{
    TSTreeCursor cursor = ts_tree_cursor_new(arguments);
    bool unknown = false;
    TSNode found = ck_lint_node_none;
    bool more = ts_tree_cursor_goto_first_child(&cursor);
    for (; more; more = ts_tree_cursor_goto_next_sibling(&cursor)) {
        TSNode child = unwrap(scopes, ts_tree_cursor_current_node(&cursor));
        uint8_t kind = ck_scopes_kind(scopes, child);
        if (kind == CK_JS_OBJECT)
            found = property_of(scopes, child, keyword, &unknown);
        /* Any of these may be, or contain, an object with the property. */
        else if (kind == CK_JS_SPREAD || kind == CK_JS_NAME || kind == CK_JS_MEMBER || kind == CK_JS_CALL)
            unknown = true;
        /* The first object with the property counts. */
        if (!ts_node_is_null(found))
            break;
    }
    ts_tree_cursor_delete(&cursor);
    if (ts_node_is_null(found))
        return unknown ? CK_ARGUMENT_UNKNOWN : CK_ARGUMENT_ABSENT;
    *ret_value = found;
    return CK_ARGUMENT_PRESENT;
}

/* After ...x the positions are not known. */
static enum ck_argument find_position(struct ck_scopes *scopes, TSNode arguments, uint32_t position, TSNode *ret_value)
{
    for (uint32_t i = 0; i <= position; i++) {
        TSNode child = ck_lint_node_nth(arguments, i);
        if (ts_node_is_null(child))
            return CK_ARGUMENT_ABSENT;
        if (ck_scopes_kind(scopes, child) == CK_JS_SPREAD)
            return CK_ARGUMENT_UNKNOWN;
        *ret_value = child;
    }
    return CK_ARGUMENT_PRESENT;
}

/* The position is tried only if the keyword is certainly absent. */
static enum ck_argument js_argument(struct ck_lint_source *source, TSNode arguments, const char *keyword,
                                    int32_t position, TSNode *ret_value)
{
    struct ck_scopes *scopes = source->scopes;
    TSNode value = ck_lint_node_none;
    enum ck_argument found = CK_ARGUMENT_ABSENT;
    ck_scopes_refuel(scopes);
    if (keyword)
        found = find_keyword(scopes, arguments, keyword, &value);
    if (found == CK_ARGUMENT_ABSENT && position >= 0)
        found = find_position(scopes, arguments, (uint32_t)position, &value);
    if (found == CK_ARGUMENT_PRESENT)
        *ret_value = value;
    return found;
}

/* ---- constants --------------------------------------------------------------------------- */

/* Adds an expression to a text. A number is not converted: the text is unknown then. */
static void append_constant(struct ck_scopes *scopes, TSNode node, uint32_t depth, struct ck_text *text)
{
    struct ck_constant constant;
    ck_js_constant(scopes, node, depth + 1, &constant);
    if (constant.kind == CK_CONSTANT_TEXT)
        ck_text_add(text, constant.text, constant.length);
    else
        text->unknown = true;
}

/* The pieces of "..." or `...${x}...`. */
static void append_pieces(struct ck_scopes *scopes, TSNode node, uint32_t depth, struct ck_text *text)
{
    TSTreeCursor cursor = ts_tree_cursor_new(node);
    bool more = ts_tree_cursor_goto_first_child(&cursor);
    for (; more; more = ts_tree_cursor_goto_next_sibling(&cursor)) {
        TSNode piece = ts_tree_cursor_current_node(&cursor);
        struct ck_lint_word word = ck_lint_word_of(scopes, piece);
        if (ck_lint_node_is(piece, "string_fragment"))
            ck_text_add(text, word.text, word.length);
        else if (ck_lint_node_is(piece, "escape_sequence"))
            ck_text_add_escape(text, CK_TEXT_JS, word.text, word.length);
        else if (ck_lint_node_is(piece, "template_substitution"))
            append_constant(scopes, ck_lint_node_nth(piece, 0), depth, text);
    }
    ts_tree_cursor_delete(&cursor);
}

/* A name with exactly one value, which is a constant. */
static void constant_of_name(struct ck_scopes *scopes, TSNode node, uint32_t depth, struct ck_constant *ret_constant)
{
    struct ck_slot *slot =
        ck_scopes_find(scopes, ck_scopes_at(scopes, ts_node_start_byte(node)), ck_lint_word_of(scopes, node));
    /* With a path it is a member of the value, which is not a constant here. */
    if (slot && slot->first == slot->last && !slot->first->path && !ts_node_is_null(slot->first->value))
        ck_js_constant(scopes, slot->first->value, depth + 1, ret_constant);
}

/*
 * 0, 0.0, 0x0 and 0n are false: every digit is 0, and the rest are marks of the base or the type.
 */
static void constant_of_number(struct ck_scopes *scopes, TSNode node, struct ck_constant *ret_constant)
{
    struct ck_lint_word word = ck_lint_word_of(scopes, node);
    bool zero = true;
    for (uint32_t i = 0; i < word.length; i++)
        zero &= !!strchr("0.xXbBoOn_", word.text[i]);
    ret_constant->kind = zero ? CK_CONSTANT_FALSE : CK_CONSTANT_TRUE;
}

/* !0 is true, void 0 is undefined: minifiers write them so. */
static void constant_of_unary(struct ck_scopes *scopes, TSNode node, uint32_t depth, struct ck_constant *ret_constant)
{
    TSNode sign = ck_lint_node_field(node, "operator");
    struct ck_constant inner = {.kind = CK_CONSTANT_NOT};
    if (ck_lint_node_is(sign, "void"))
        ret_constant->kind = CK_CONSTANT_FALSE;
    /* -1 and ~x are not worked out. */
    if (!ck_lint_node_is(sign, "!"))
        return;
    ck_js_constant(scopes, ck_lint_node_field(node, "argument"), depth + 1, &inner);
    if (inner.kind == CK_CONSTANT_TEXT)
        inner.kind = inner.length > 0 ? CK_CONSTANT_TRUE : CK_CONSTANT_FALSE;
    if (inner.kind != CK_CONSTANT_NOT)
        ret_constant->kind = inner.kind == CK_CONSTANT_TRUE ? CK_CONSTANT_FALSE : CK_CONSTANT_TRUE;
}

/* A string, a template, or a sum of texts. */
static void constant_of_text(struct ck_scopes *scopes, TSNode node, uint8_t kind, uint32_t depth,
                             struct ck_constant *ret_constant)
{
    struct ck_text text = {.length = 0};
    if (kind != CK_JS_BINARY) {
        append_pieces(scopes, node, depth, &text);
    } else if (ck_lint_node_is(ck_lint_node_field(node, "operator"), "+")) {
        append_constant(scopes, ck_lint_node_field(node, "left"), depth, &text);
        append_constant(scopes, ck_lint_node_field(node, "right"), depth, &text);
    } else {
        text.unknown = true;
    }
    ck_text_constant(&text, scopes->source->arena, ret_constant);
}

/* Fuel and depth bound the recursion: const a = a + a would not end. */
void ck_js_constant(struct ck_scopes *scopes, TSNode node, uint32_t depth, struct ck_constant *ret_constant)
{
    *ret_constant = (struct ck_constant){.kind = CK_CONSTANT_NOT};
    node = unwrap(scopes, node);
    if (!ck_scopes_spend(scopes, depth))
        return;
    uint8_t kind = ck_scopes_kind(scopes, node);
    switch (kind) {
    case CK_JS_STRING:
    case CK_JS_TEMPLATE:
    case CK_JS_BINARY:
        constant_of_text(scopes, node, kind, depth, ret_constant);
        break;
    case CK_JS_NAME:
        constant_of_name(scopes, node, depth, ret_constant);
        break;
    case CK_JS_NUMBER:
        constant_of_number(scopes, node, ret_constant);
        break;
    case CK_JS_TRUE:
    case CK_JS_FALSE:
        ret_constant->kind = kind == CK_JS_TRUE ? CK_CONSTANT_TRUE : CK_CONSTANT_FALSE;
        break;
    case CK_JS_UNARY:
        constant_of_unary(scopes, node, depth, ret_constant);
        break;
    default:
        break;
    }
}

static void js_constant(struct ck_lint_source *source, TSNode node, struct ck_constant *ret_constant)
{
    struct ck_scopes *scopes = source->scopes;
    ck_scopes_refuel(scopes);
    ck_js_constant(scopes, node, 0, ret_constant);
}

const struct ck_lint_resolver ck_js_resolver = {
    .begin = ck_js_bind,
    .names = js_names,
    .argument = js_argument,
    .constant = js_constant,
};
