/*
 * js_bind.c - what a JavaScript or TypeScript file binds, and where. See js.h.
 *
 * A name may be assigned several values. It may then be any of them, because their order is not
 * known. A name in a pattern is bound to the value, with the path to its part. The value of a
 * parameter is not known, unless it has a default, or the function handles an imported module:
 * import("x").then(here => ...).
 */
#include "lint/lang/js.h"

#include <errno.h>
#include <string.h>

/*
 * Types of nodes in the grammars of JavaScript and TypeScript. A grammar that lacks one ignores it.
 */
const struct ck_kind ck_js_kinds[] = {
    {"import_statement", CK_JS_IMPORT},
    {"import_alias", CK_JS_IMPORT_ALIAS},
    {"lexical_declaration", CK_JS_LEXICAL},
    {"variable_declaration", CK_JS_VAR},
    {"for_in_statement", CK_JS_FOR_IN},
    {"function_declaration", CK_JS_FUNCTION_DECLARATION},
    {"generator_function_declaration", CK_JS_FUNCTION_DECLARATION},
    {"function_signature", CK_JS_SIGNATURE},
    {"class_declaration", CK_JS_CLASS_DECLARATION},
    {"abstract_class_declaration", CK_JS_CLASS_DECLARATION},
    {"enum_declaration", CK_JS_NAMED_BLOCK},
    {"internal_module", CK_JS_NAMED_BLOCK},
    {"module", CK_JS_NAMED_BLOCK},
    {"method_definition", CK_JS_METHOD},
    {"class_static_block", CK_JS_METHOD},
    {"statement_block", CK_JS_BLOCK},
    {"for_statement", CK_JS_BLOCK},
    {"switch_body", CK_JS_BLOCK},
    {"catch_clause", CK_JS_CATCH},
    {"export_statement", CK_JS_EXPORT},
    {"object_pattern", CK_JS_OBJECT_PATTERN},
    {"array_pattern", CK_JS_ARRAY_PATTERN},
    {"pair_pattern", CK_JS_PAIR_PATTERN},
    {"assignment_pattern", CK_JS_DEFAULT_PATTERN},
    {"object_assignment_pattern", CK_JS_DEFAULT_PATTERN},
    {"rest_pattern", CK_JS_REST_PATTERN},
    {"required_parameter", CK_JS_PARAMETER},
    {"optional_parameter", CK_JS_PARAMETER},
    {"identifier", CK_JS_NAME},
    {"shorthand_property_identifier", CK_JS_NAME},
    {"shorthand_property_identifier_pattern", CK_JS_NAME},
    {"member_expression", CK_JS_MEMBER},
    {"nested_identifier", CK_JS_MEMBER},
    {"subscript_expression", CK_JS_SUBSCRIPT},
    {"call_expression", CK_JS_CALL},
    {"import", CK_JS_IMPORT_WORD},
    {"parenthesized_expression", CK_JS_WRAPPER},
    {"sequence_expression", CK_JS_WRAPPER},
    {"await_expression", CK_JS_WRAPPER},
    {"non_null_expression", CK_JS_WRAPPER},
    {"type_assertion", CK_JS_WRAPPER},
    {"as_expression", CK_JS_WRAPPER},
    {"satisfies_expression", CK_JS_WRAPPER},
    {"instantiation_expression", CK_JS_WRAPPER},
    {"assignment_expression", CK_JS_ASSIGNMENT},
    {"augmented_assignment_expression", CK_JS_AUGMENTED},
    {"ternary_expression", CK_JS_TERNARY},
    {"binary_expression", CK_JS_BINARY},
    {"unary_expression", CK_JS_UNARY},
    {"arrow_function", CK_JS_FUNCTION_EXPRESSION},
    {"function_expression", CK_JS_FUNCTION_EXPRESSION},
    {"generator_function", CK_JS_FUNCTION_EXPRESSION},
    {"string", CK_JS_STRING},
    {"template_string", CK_JS_TEMPLATE},
    {"number", CK_JS_NUMBER},
    {"true", CK_JS_TRUE},
    {"false", CK_JS_FALSE},
    {"null", CK_JS_FALSE},
    {"undefined", CK_JS_FALSE},
    {"object", CK_JS_OBJECT},
    {"spread_element", CK_JS_SPREAD},
    {"export_specifier", CK_JS_EXPORT_SPECIFIER},
    {"property_identifier", CK_JS_KEY},
    {"computed_property_name", CK_JS_COMPUTED_KEY},
    {NULL, 0},
};

/* A callback of a promise: its first parameter is the value of the promise. */
struct follower {
    struct follower *below; /* a stack: the innermost call is on top */
    uint32_t start;         /* of the function */
    TSNode promise;         /* the expression before .then */
};

/* The target of one pattern: declared in a scope, or assigned. */
struct js_binder {
    struct ck_scopes *scopes;
    uint32_t scope; /* of a declaration */
    bool assigns;   /* an assignment: ck_scopes_finish finds the scope */
    struct follower *followers;
};

/* Binds to a qualified name, without an expression. NULL makes it unknown. */
static void bind_name(struct js_binder *binder, TSNode node, const char *name)
{
    ck_scopes_bind(binder->scopes, binder->scope, ck_lint_word_of(binder->scopes, node), ck_lint_node_none, name);
}

/* A part of an unknown value is unknown. */
static void bind_word(struct js_binder *binder, TSNode node, TSNode value, const char *path)
{
    struct ck_lint_word word = ck_lint_word_of(binder->scopes, node);
    if (ts_node_is_null(value))
        path = NULL;
    if (binder->assigns)
        ck_scopes_assign(binder->scopes, word, value, path);
    else
        ck_scopes_bind(binder->scopes, binder->scope, word, value, path);
}

/* The path to a member of what path leads to: {a: {b: c}} binds c to "a.b". */
static const char *longer(struct js_binder *binder, const char *path, const char *key)
{
    return !path ? key : ck_lint_name_qualify(binder->scopes->source, path, key);
}

/* ---- patterns ---------------------------------------------------------------------------- */

static void bind_pattern(struct js_binder *binder, TSNode pattern, TSNode value, const char *path, uint32_t depth);

/* A name without a key is its own key: { exec } and { exec = other }. */
static void bind_part(struct js_binder *binder, TSNode part, TSNode value, const char *path, uint32_t depth)
{
    struct ck_scopes *scopes = binder->scopes;
    TSNode left = ck_lint_node_field(part, "left");
    switch (ck_scopes_kind(scopes, part)) {
    case CK_JS_PAIR_PATTERN:
        bind_pattern(binder, ck_lint_node_field(part, "value"), value,
                     longer(binder, path, ck_js_key(scopes, ck_lint_node_field(part, "key"))), depth + 1);
        break;
    case CK_JS_DEFAULT_PATTERN:
        /* First the default, then the value: the name may be either. */
        bind_pattern(binder, left, ck_lint_node_field(part, "right"), NULL, depth + 1);
        bind_part(binder, left, value, path, depth + 1);
        break;
    case CK_JS_NAME:
        bind_word(binder, part, value, longer(binder, path, ck_lint_word_text(scopes, part)));
        break;
    default:
        bind_pattern(binder, part, value, path, depth + 1);
        break;
    }
}

/* The parts of {...} and [...]. */
static void bind_parts(struct js_binder *binder, TSNode pattern, TSNode value, const char *path, uint32_t depth)
{
    bool named = ck_scopes_kind(binder->scopes, pattern) == CK_JS_OBJECT_PATTERN;
    TSTreeCursor cursor = ts_tree_cursor_new(pattern);
    bool more = ts_tree_cursor_goto_first_child(&cursor);
    for (; more; more = ts_tree_cursor_goto_next_sibling(&cursor)) {
        TSNode part = ts_tree_cursor_current_node(&cursor);
        if (!ts_node_is_named(part))
            continue;
        if (named)
            bind_part(binder, part, value, path, depth);
        else /* elements are not followed */
            bind_pattern(binder, part, ck_lint_node_none, NULL, depth + 1);
    }
    ts_tree_cursor_delete(&cursor);
}

/*
 * Binds all names of a pattern to the value, or to its member at path. A default is one more value
 * that the name may have.
 */
static void bind_pattern(struct js_binder *binder, TSNode pattern, TSNode value, const char *path, uint32_t depth)
{
    TSNode otherwise;
    /* Deeper names stay unbound, so the file is reported as not scanned in full. */
    if (depth > CK_RESOLVE_DEPTH) {
        binder->scopes->source->exhausted = true;
        return;
    }
    switch (ck_scopes_kind(binder->scopes, pattern)) {
    case CK_JS_NAME:
        bind_word(binder, pattern, value, path);
        break;
    case CK_JS_OBJECT_PATTERN:
    case CK_JS_ARRAY_PATTERN:
        bind_parts(binder, pattern, value, path, depth);
        break;
    case CK_JS_DEFAULT_PATTERN:
        bind_pattern(binder, ck_lint_node_field(pattern, "left"), ck_lint_node_field(pattern, "right"), NULL,
                     depth + 1);
        bind_pattern(binder, ck_lint_node_field(pattern, "left"), value, path, depth + 1);
        break;
    /* {a, ...rest}: rest has the other members of the value, so rest.exec is value.exec. */
    case CK_JS_REST_PATTERN:
        bind_pattern(binder, ck_lint_node_nth(pattern, 0), value, path, depth + 1);
        break;
    case CK_JS_PARAMETER:
        otherwise = ck_lint_node_field(pattern, "value");
        bind_pattern(binder, ck_lint_node_field(pattern, "pattern"), value, path, depth + 1);
        if (!ts_node_is_null(otherwise))
            bind_pattern(binder, ck_lint_node_field(pattern, "pattern"), otherwise, NULL, depth + 1);
        break;
    default: /* a member is assigned: queries look at that */
        break;
    }
}

/* ---- declarations ------------------------------------------------------------------------ */

/* The name of a function, class, enum or namespace, in the current scope. */
static void bind_own_name(struct js_binder *binder, TSNode node, const char *what)
{
    TSNode name = ck_lint_node_field(node, "name");
    binder->scope = binder->scopes->current;
    if (!ts_node_is_null(name))
        bind_name(binder, name, what);
}

/* var (hoisted) belongs to the nearest function, let and const to the nearest block. */
static void bind_declaration(struct js_binder *binder, TSNode node, bool hoisted)
{
    uint32_t current = binder->scopes->current;
    TSTreeCursor cursor = ts_tree_cursor_new(node);
    bool more = ts_tree_cursor_goto_first_child(&cursor);
    binder->scope = hoisted ? ck_scopes_function(binder->scopes, current) : current;
    for (; more; more = ts_tree_cursor_goto_next_sibling(&cursor)) {
        TSNode declarator = ts_tree_cursor_current_node(&cursor);
        TSNode name = ck_lint_node_field(declarator, "name");
        if (!ts_node_is_null(name))
            bind_pattern(binder, name, ck_lint_node_field(declarator, "value"), NULL, 0);
    }
    ts_tree_cursor_delete(&cursor);
}

/* ---- functions --------------------------------------------------------------------------- */

/*
 * The promise for which this function is the callback, or a null node. Notes of functions that the
 * walk has passed are removed.
 */
static TSNode followed_promise(struct js_binder *binder, TSNode function)
{
    uint32_t start = ts_node_start_byte(function);
    /* Functions are visited in the order of the text, so a note with a smaller start is passed. */
    while (binder->followers && binder->followers->start < start)
        binder->followers = binder->followers->below;
    if (!binder->followers || binder->followers->start != start)
        return ck_lint_node_none;
    TSNode promise = binder->followers->promise;
    binder->followers = binder->followers->below;
    return promise;
}

/* Opens the scope of a function and binds its parameters. */
static void enter_function(struct js_binder *binder, TSNode node)
{
    TSNode first = followed_promise(binder, node);
    TSNode parameters = ck_lint_node_field(node, "parameters");
    /* x => ... without parentheses. */
    TSNode single = ck_lint_node_field(node, "parameter");
    binder->scope = ck_scopes_enter(binder->scopes, node, true);
    if (!ts_node_is_null(single))
        bind_pattern(binder, single, first, NULL, 0);
    if (ts_node_is_null(parameters))
        return;
    TSTreeCursor cursor = ts_tree_cursor_new(parameters);
    bool more = ts_tree_cursor_goto_first_child(&cursor);
    for (; more; more = ts_tree_cursor_goto_next_sibling(&cursor)) {
        TSNode parameter = ts_tree_cursor_current_node(&cursor);
        if (!ts_node_is_named(parameter) || ts_node_is_extra(parameter))
            continue;
        bind_pattern(binder, parameter, first, NULL, 0);
        /* Only the first parameter of a callback is the value of the promise. */
        first = ck_lint_node_none;
    }
    ts_tree_cursor_delete(&cursor);
}

/*
 * x.then(function): noted until the walk reaches the function, which may be after functions inside
 * x.
 */
static void note_follower(struct js_binder *binder, TSNode call)
{
    struct ck_scopes *scopes = binder->scopes;
    TSNode member = ck_lint_node_field(call, "function");
    TSNode property = ck_lint_node_field(member, "property");
    if (ck_scopes_kind(scopes, member) != CK_JS_MEMBER || !ck_lint_word_is(ck_lint_word_of(scopes, property), "then"))
        return;
    TSNode function = ck_lint_node_nth(ck_lint_node_field(call, "arguments"), 0);
    struct follower *follower = ck_arena_alloc(scopes->source->arena, sizeof(*follower));
    if (!follower) {
        scopes->failed = true;
        return;
    }
    /* x.then(handler): the parameter of a named function stays unknown. */
    if (ck_scopes_kind(scopes, function) != CK_JS_FUNCTION_EXPRESSION)
        return;
    *follower =
        (struct follower){binder->followers, ts_node_start_byte(function), ck_lint_node_field(member, "object")};
    binder->followers = follower;
}

/* ---- modules ----------------------------------------------------------------------------- */

/*
 * The parts of an import clause. module is NULL for an import of types: the names are bound, so
 * that they hide globals, but to nothing known.
 */
static void bind_import(struct js_binder *binder, TSNode node, const char *module)
{
    TSTreeCursor cursor = ts_tree_cursor_new(node);
    struct ck_scopes *scopes = binder->scopes;
    bool more = ts_tree_cursor_goto_first_child(&cursor);
    for (; more; more = ts_tree_cursor_goto_next_sibling(&cursor)) {
        TSNode child = ts_tree_cursor_current_node(&cursor);
        if (ck_lint_node_is(child, "named_imports")) {
            bind_import(binder, child, module);
        } else if (ck_lint_node_is(child, "import_specifier")) {
            TSNode alias = ck_lint_node_field(child, "alias");
            TSNode name = ck_lint_node_field(child, "name");
            const char *member = !module || ck_lint_node_has_token(child, "type")
                                     ? NULL
                                     : ck_js_member(scopes, module, ck_js_key(scopes, name));
            bind_name(binder, ts_node_is_null(alias) ? name : alias, member);
        } else if (ck_scopes_kind(scopes, child) == CK_JS_NAME) {
            bind_name(binder, child, module);
        } else if (ck_lint_node_is(child, "namespace_import")) {
            bind_name(binder, ck_lint_node_nth(child, 0), module);
        }
    }
    ts_tree_cursor_delete(&cursor);
}

/*
 * import a, {b} from "x"; import a = require("x"). An import of a type does not exist at run time.
 */
static void bind_imports(struct js_binder *binder, TSNode node)
{
    TSNode clause = ck_lint_node_nth(node, 0);
    TSNode source = ck_lint_node_field(node, "source");
    if (ts_node_is_null(source))
        source = ck_lint_node_field(clause, "source");
    if (ts_node_is_null(source))
        return;
    binder->scope = binder->scopes->current;
    bool type = ck_lint_node_has_token(node, "type");
    bind_import(binder, clause, type ? NULL : ck_js_module(binder->scopes, source));
}

/*
 * export {a} from "x", export * from "x": noted, to be found when the specifier or the string is
 * resolved.
 */
static void note_exports(struct js_binder *binder, TSNode node)
{
    struct ck_scopes *scopes = binder->scopes;
    TSNode source = ck_lint_node_field(node, "source");
    if (ts_node_is_null(source) || ck_lint_node_has_token(node, "type"))
        return;
    const char *module = ck_js_module(scopes, source);
    TSNode clause = ck_lint_node_nth(node, 0);
    TSTreeCursor cursor = ts_tree_cursor_new(clause);
    bool more = ck_lint_node_is(clause, "export_clause") && ts_tree_cursor_goto_first_child(&cursor);
    for (; more; more = ts_tree_cursor_goto_next_sibling(&cursor)) {
        TSNode specifier = ts_tree_cursor_current_node(&cursor);
        if (ck_scopes_kind(scopes, specifier) == CK_JS_EXPORT_SPECIFIER && !ck_lint_node_has_token(specifier, "type"))
            ck_scopes_note(scopes, ts_node_start_byte(specifier),
                           ck_js_member(scopes, module, ck_js_key(scopes, ck_lint_node_field(specifier, "name"))));
    }
    ts_tree_cursor_delete(&cursor);
    /* export * from "x": a note at the string itself. */
    if (!ck_lint_node_is(clause, "export_clause"))
        ck_scopes_note(scopes, ts_node_start_byte(source), module);
}

/* ---- the walk ---------------------------------------------------------------------------- */

/* An augmented assignment too: after a ||= b, a may be b. */
static void bind_assignment(struct js_binder *binder, TSNode node)
{
    /* Names in the pattern are assigned, not declared, until this is over. */
    binder->assigns = true;
    bind_pattern(binder, ck_lint_node_field(node, "left"), ck_lint_node_field(node, "right"), NULL, 0);
    binder->assigns = false;
}

/*
 * A block, a loop or a catch clause. Without a kind (let, const, var) for (x of y) declares
 * nothing.
 */
static void enter_block(struct js_binder *binder, TSNode node, uint8_t kind)
{
    binder->scope = ck_scopes_enter(binder->scopes, node, false);
    if (kind == CK_JS_FOR_IN && !ts_node_is_null(ck_lint_node_field(node, "kind")))
        bind_pattern(binder, ck_lint_node_field(node, "left"), ck_lint_node_none, NULL, 0);
    if (kind == CK_JS_CATCH)
        bind_pattern(binder, ck_lint_node_field(node, "parameter"), ck_lint_node_none, NULL, 0);
}

/*
 * The name of a declaration is visible around the function, that of a function expression only
 * inside it. So they are bound before and after the scope is opened.
 */
static void bind_function(struct js_binder *binder, TSNode node, uint8_t kind)
{
    if (kind == CK_JS_FUNCTION_DECLARATION)
        bind_own_name(binder, node, CK_JS_FUNCTION);
    enter_function(binder, node);
    if (kind == CK_JS_FUNCTION_EXPRESSION)
        bind_own_name(binder, node, CK_JS_FUNCTION);
}

static void visit(struct js_binder *binder, TSNode node)
{
    uint8_t kind = ck_scopes_kind(binder->scopes, node);
    /* ck_js_key and ck_js_module evaluate constants during the walk. Each node is one question. */
    ck_scopes_refuel(binder->scopes);
    switch (kind) {
    case CK_JS_IMPORT:
        bind_imports(binder, node);
        break;
    /* TypeScript: import a = b.c */
    case CK_JS_IMPORT_ALIAS:
        binder->scope = binder->scopes->current;
        bind_pattern(binder, ck_lint_node_nth(node, 0), ck_lint_node_nth(node, 1), NULL, 0);
        break;
    case CK_JS_LEXICAL:
    case CK_JS_VAR:
        bind_declaration(binder, node, kind == CK_JS_VAR);
        break;
    case CK_JS_FUNCTION_DECLARATION:
    case CK_JS_FUNCTION_EXPRESSION:
    case CK_JS_METHOD:
        bind_function(binder, node, kind);
        break;
    case CK_JS_SIGNATURE:
    case CK_JS_CLASS_DECLARATION:
    case CK_JS_NAMED_BLOCK:
        /*
         * The constructor of a class is Function, as that of a function is. An enum is an object.
         */
        bind_own_name(binder, node, kind == CK_JS_NAMED_BLOCK ? NULL : CK_JS_FUNCTION);
        break;
    case CK_JS_BLOCK:
    case CK_JS_FOR_IN:
    case CK_JS_CATCH:
        enter_block(binder, node, kind);
        break;
    case CK_JS_ASSIGNMENT:
    case CK_JS_AUGMENTED:
        bind_assignment(binder, node);
        break;
    case CK_JS_CALL:
        note_follower(binder, node);
        break;
    case CK_JS_EXPORT:
        note_exports(binder, node);
        break;
    default:
        break;
    }
}

/* Is the text in the source as a string of any quotes? */
static bool has_quoted(const struct ck_lint_source *source, const char *text)
{
    const char *at = source->text, *end = source->text + source->length;
    size_t length = strlen(text);

    while ((at = memmem(at, (size_t)(end - at), text, length))) {
        bool opened = at > source->text && strchr("'\"`", at[-1]);
        if (opened && at + length < end && at[length] == at[-1])
            return true;
        at += length;
    }
    return false;
}

/* Has the first line the word zx, as in "#!/usr/bin/env -S npx zx --quiet"? */
static bool is_zx_script(const struct ck_lint_source *source)
{
    const char *at = source->text, *end = source->length ? memchr(at, '\n', source->length) : NULL;

    end = end ? end : source->text + source->length;
    if (end - at < 2 || memcmp(at, "#!", 2) != 0)
        return false;
    while ((at = memmem(at + 1, (size_t)(end - at - 1), "zx", 2))) {
        bool begins = strchr("!/ \t", at[-1]);
        if (begins && (at + 2 == end || strchr(" \t\r@", at[2])))
            return true;
    }
    return false;
}

/*
 * Two packages make their functions global when they are imported. The text is searched once for
 * each: a comment that has the quoted name only makes a free `exec` a finding.
 */
static void find_global_modules(const struct ck_lint_source *source, const char *modules[CK_GLOBAL_MODULES])
{
    modules[0] = is_zx_script(source) || has_quoted(source, "zx/globals") ? "zx" : NULL;
    modules[1] = has_quoted(source, "shelljs/global") ? "shelljs" : NULL;
}

int ck_js_bind(struct ck_lint_source *source)
{
    struct ck_scopes *scopes = ck_scopes_new(source, ck_js_kinds);
    struct js_binder binder = {.scopes = scopes};
    if (!scopes)
        return -ENOMEM;
    find_global_modules(source, scopes->global_modules);
    TSTreeCursor cursor = ts_tree_cursor_new(source->root);
    while (ck_scopes_walk_next(scopes, &cursor))
        if (ts_node_is_named(ts_tree_cursor_current_node(&cursor)))
            visit(&binder, ts_tree_cursor_current_node(&cursor));
    ts_tree_cursor_delete(&cursor);
    return ck_scopes_finish(scopes);
}
