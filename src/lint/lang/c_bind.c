/*
 * c_bind.c - what a C file binds, and where. See c.h.
 *
 * Macros are bound in the scope of the file wherever they are defined. After #undef the name may
 * have its old meaning too. A name that is only used for its type (typeof) is not a use of a
 * function. Any other macro may do anything with its arguments, so the name of a function passed to
 * it is a use: RAW(clone, ...) may create a process.
 */
#include "lint/lang/c.h"

#include "lint/rules.h"

#include <errno.h>
#include <string.h>

#define NAME_MAX_BYTES 64 /* longer than any name in a rule */

/* Types of nodes in the grammar of tree-sitter-c, and what they are here. */
const struct ck_kind ck_c_kinds[] = {
    {"preproc_def", CK_C_MACRO},
    {"preproc_function_def", CK_C_MACRO_FUNCTION},
    {"preproc_arg", CK_C_MACRO_TEXT},
    {"preproc_call", CK_C_DIRECTIVE},
    {"function_definition", CK_C_FUNCTION},
    {"declaration", CK_C_DECLARATION},
    {"parameter_declaration", CK_C_PARAMETER},
    {"enumerator", CK_C_ENUMERATOR},
    {"compound_statement", CK_C_BLOCK},
    {"for_statement", CK_C_BLOCK},
    {"pointer_declarator", CK_C_POINTER_DECLARATOR},
    {"array_declarator", CK_C_POINTER_DECLARATOR},
    {"function_declarator", CK_C_FUNCTION_DECLARATOR},
    {"parenthesized_declarator", CK_C_OTHER_DECLARATOR},
    {"attributed_declarator", CK_C_OTHER_DECLARATOR},
    {"init_declarator", CK_C_INIT_DECLARATOR},
    {"identifier", CK_C_NAME},
    {"assignment_expression", CK_C_ASSIGNMENT},
    {"call_expression", CK_C_CALL},
    {"parenthesized_expression", CK_C_WRAPPER},
    {"extension_expression", CK_C_WRAPPER},
    {"pointer_expression", CK_C_POINTER},
    {"cast_expression", CK_C_CAST},
    {"conditional_expression", CK_C_CONDITION},
    {"comma_expression", CK_C_COMMA},
    {"string_literal", CK_C_STRING},
    {"concatenated_string", CK_C_STRINGS},
    {NULL, 0},
};

/* ---- declarators ------------------------------------------------------------------------- */

/* What a declarator declares. */
struct declared {
    TSNode name;     /* null: it declares no name */
    TSNode function; /* the function declarator next to the name; null: it is a variable */
};

/*
 * int (*a)(void) declares a variable, int *a(void) a function: the declarator nearest to the name
 * decides.
 */
static struct declared follow_declarator(const struct ck_scopes *scopes, TSNode node)
{
    struct declared declared = {.function = ck_lint_node_none};
    for (;;) {
        TSNode inner = ck_lint_node_field(node, "declarator");
        switch (ck_scopes_kind(scopes, node)) {
        case CK_C_NAME:
            declared.name = node;
            return declared;
        case CK_C_FUNCTION_DECLARATOR:
            declared.function = node;
            break;
        case CK_C_POINTER_DECLARATOR:
            declared.function = ck_lint_node_none;
            break;
        case CK_C_OTHER_DECLARATOR:
            inner = ck_lint_node_nth(node, 0);
            break;
        case CK_C_INIT_DECLARATOR:
            break;
        default:
            return (struct declared){.name = ck_lint_node_none};
        }
        node = inner;
    }
}

/* A static function is the file's own, even if only its prototype is seen here. */
static bool is_static(const struct ck_scopes *scopes, TSNode declaration)
{
    TSTreeCursor cursor = ts_tree_cursor_new(declaration);
    bool found = false;
    bool more = ts_tree_cursor_goto_first_child(&cursor);
    for (; more && !found; more = ts_tree_cursor_goto_next_sibling(&cursor)) {
        TSNode child = ts_tree_cursor_current_node(&cursor);
        found = ck_lint_node_is(child, "storage_class_specifier") &&
                ck_lint_word_is(ck_lint_word_of(scopes, child), "static");
    }
    ts_tree_cursor_delete(&cursor);
    return found;
}

/* A null value makes the name unknown, and hides the library function of that name. */
static void bind(struct ck_scopes *scopes, uint32_t scope, TSNode name, TSNode value)
{
    ck_scopes_bind(scopes, scope, ck_lint_word_of(scopes, name), value, NULL);
}

/*
 * Variables, and static functions. The prototype of another function may be that of the library, so
 * it binds nothing.
 */
static void bind_declaration(struct ck_scopes *scopes, TSNode node)
{
    bool own = is_static(scopes, node);
    TSTreeCursor cursor = ts_tree_cursor_new(node);
    bool more = ts_tree_cursor_goto_first_child(&cursor);
    for (; more; more = ts_tree_cursor_goto_next_sibling(&cursor)) {
        TSNode declarator = ts_tree_cursor_current_node(&cursor);
        const char *field = ts_tree_cursor_current_field_name(&cursor);
        /* "int a, *b = x": one declaration has a declarator for each name. */
        if (!field || strcmp(field, "declarator") != 0)
            continue;
        struct declared declared = follow_declarator(scopes, declarator);
        if (!ts_node_is_null(declared.name) && (own || ts_node_is_null(declared.function)))
            bind(scopes, scopes->current, declared.name, ck_lint_node_field(declarator, "value"));
    }
    ts_tree_cursor_delete(&cursor);
}

/* The value of a parameter is not known. In an old-style definition the list has only names. */
static void bind_parameters(struct ck_scopes *scopes, TSNode list)
{
    TSTreeCursor cursor = ts_tree_cursor_new(list);
    bool more = ts_tree_cursor_goto_first_child(&cursor);
    for (; more; more = ts_tree_cursor_goto_next_sibling(&cursor)) {
        TSNode parameter = ts_tree_cursor_current_node(&cursor);
        TSNode declarator =
            ck_scopes_kind(scopes, parameter) == CK_C_NAME ? parameter : ck_lint_node_field(parameter, "declarator");
        struct declared declared = follow_declarator(scopes, declarator);
        if (!ts_node_is_null(declared.name))
            bind(scopes, scopes->current, declared.name, ck_lint_node_none);
    }
    ts_tree_cursor_delete(&cursor);
}

/*
 * The name belongs to the scope around the function, the parameters to its own. So the order of the
 * calls matters.
 */
static void bind_function(struct ck_scopes *scopes, TSNode node)
{
    struct declared declared = follow_declarator(scopes, ck_lint_node_field(node, "declarator"));
    bool named = !ts_node_is_null(declared.name) && !ts_node_is_null(declared.function);
    if (named)
        bind(scopes, scopes->current, declared.name, ck_lint_node_none);
    ck_scopes_enter(scopes, node, true);
    if (named)
        bind_parameters(scopes, ck_lint_node_field(declared.function, "parameters"));
}

/* ---- macros ------------------------------------------------------------------------------ */

/* A parameter of a macro stands for what the caller passes, not for a function of that name. */
static bool is_parameter(const struct ck_scopes *scopes, TSNode parameters, struct ck_lint_word word)
{
    if (ts_node_is_null(parameters))
        return false;
    TSTreeCursor cursor = ts_tree_cursor_new(parameters);
    bool found = false;
    bool more = ts_tree_cursor_goto_first_child(&cursor);
    for (; more && !found; more = ts_tree_cursor_goto_next_sibling(&cursor)) {
        struct ck_lint_word parameter = ck_lint_word_of(scopes, ts_tree_cursor_current_node(&cursor));
        found = parameter.length == word.length && memcmp(parameter.text, word.text, word.length) == 0;
    }
    ts_tree_cursor_delete(&cursor);
    return found;
}

/* A copy with a NUL, as notes and paths need it. */
static const char *copy_word(struct ck_scopes *scopes, struct ck_lint_word word)
{
    const char *copy = ck_arena_memdup(scopes->source->arena, word.text, word.length);
    if (!copy)
        scopes->failed = true;
    return copy;
}

/* Is there a rule about the word? Other words are not noted, because a macro may have thousands. */
static bool is_ruled(const struct ck_scopes *scopes, struct ck_lint_word word)
{
    char name[NAME_MAX_BYTES];
    const struct ck_lint_rule *const *rules;
    if (word.length >= sizeof(name))
        return false;
    memcpy(name, word.text, word.length);
    name[word.length] = '\0';
    return ck_lint_rules_about(scopes->source->program, name, &rules) > 0;
}

/* Notes the words of a macro that a rule is about, to be found when the text is resolved. */
static void note_macro_text(struct ck_scopes *scopes, TSNode node, TSNode text)
{
    struct ck_c_macro macro = {.text = ck_lint_word_of(scopes, text)};
    TSNode parameters = ck_lint_node_field(node, "parameters");
    /* More would not fit into the names of the text when it is resolved. */
    for (uint32_t noted = 0; noted < CK_LINT_NAMES_MAX;) {
        struct ck_lint_word word = ck_c_macro_next(&macro);
        if (word.length == 0)
            return;
        if (!is_ruled(scopes, word) || is_parameter(scopes, parameters, word))
            continue;
        ck_scopes_note(scopes, ts_node_start_byte(text), copy_word(scopes, word));
        noted++;
    }
}

/*
 * The preprocessor knows no scopes, so a macro is bound in scope 0. A macro with parameters is
 * never an alias. The text of an alias is not noted: each use of the macro is resolved instead.
 */
static void bind_macro(struct ck_scopes *scopes, TSNode node, bool function)
{
    TSNode text = ck_lint_node_field(node, "value");
    struct ck_lint_word name = ck_lint_word_of(scopes, ck_lint_node_field(node, "name"));
    struct ck_lint_word alias = {"", 0};
    if (!function && !ts_node_is_null(text))
        alias = ck_c_macro_alias(ck_lint_word_of(scopes, text));
    ck_scopes_bind(scopes, 0, name, ck_lint_node_none, alias.length > 0 ? copy_word(scopes, alias) : NULL);
    if (alias.length == 0 && !ts_node_is_null(text))
        note_macro_text(scopes, node, text);
}

/*
 * After #undef the name stands for itself again. ck_c_macro_alias reads the one word of the line.
 */
static void bind_directive(struct ck_scopes *scopes, TSNode node)
{
    TSNode argument = ck_lint_node_field(node, "argument");
    if (ts_node_is_null(argument) ||
        !ck_lint_word_is(ck_lint_word_of(scopes, ck_lint_node_field(node, "directive")), "#undef"))
        return;
    struct ck_lint_word word = ck_c_macro_alias(ck_lint_word_of(scopes, argument));
    if (word.length > 0)
        ck_scopes_bind(scopes, 0, word, ck_lint_node_none, copy_word(scopes, word));
}

/* ---- what is no use ---------------------------------------------------------------------- */

/*
 * These use only the type or the name of their argument, not its value. SCMP_SYS of libseccomp
 * makes the number of a system call from its name.
 */
static bool takes_no_value(struct ck_lint_word function)
{
    static const char *const names[] = {"typeof",
                                        "__typeof__",
                                        "__typeof",
                                        "typeof_unqual",
                                        "__alignof__",
                                        "__builtin_constant_p",
                                        "__builtin_types_compatible_p",
                                        "SCMP_SYS",
                                        NULL};
    const char *const *one = names;
    while (*one && !ck_lint_word_is(function, *one))
        one++;
    return !!*one;
}

/* Notes "" at each argument: c_names gives no names for such a place. */
static void note_arguments(struct ck_scopes *scopes, TSNode call)
{
    TSNode function = ck_lint_node_field(call, "function");
    if (ck_scopes_kind(scopes, function) != CK_C_NAME || !takes_no_value(ck_lint_word_of(scopes, function)))
        return;
    TSTreeCursor cursor = ts_tree_cursor_new(ck_lint_node_field(call, "arguments"));
    bool more = ts_tree_cursor_goto_first_child(&cursor);
    for (; more; more = ts_tree_cursor_goto_next_sibling(&cursor))
        ck_scopes_note(scopes, ts_node_start_byte(ts_tree_cursor_current_node(&cursor)), "");
    ts_tree_cursor_delete(&cursor);
}

/* ---- the walk ---------------------------------------------------------------------------- */

static void visit(struct ck_scopes *scopes, TSNode node)
{
    uint8_t kind = ck_scopes_kind(scopes, node);
    TSNode left = ck_lint_node_none;
    switch (kind) {
    case CK_C_MACRO:
    case CK_C_MACRO_FUNCTION:
        bind_macro(scopes, node, kind == CK_C_MACRO_FUNCTION);
        break;
    case CK_C_DIRECTIVE:
        bind_directive(scopes, node);
        break;
    case CK_C_FUNCTION:
        bind_function(scopes, node);
        break;
    case CK_C_DECLARATION:
        bind_declaration(scopes, node);
        break;
    case CK_C_ENUMERATOR:
        bind(scopes, scopes->current, ck_lint_node_field(node, "name"), ck_lint_node_none);
        break;
    case CK_C_BLOCK:
        ck_scopes_enter(scopes, node, false);
        break;
    /*
     * An assignment through a pointer or to a member (a->f = fork) is not followed. A query finds
     * it.
     */
    case CK_C_ASSIGNMENT:
        left = ck_lint_node_field(node, "left");
        if (ck_scopes_kind(scopes, left) == CK_C_NAME)
            ck_scopes_assign(scopes, ck_lint_word_of(scopes, left), ck_lint_node_field(node, "right"), NULL);
        break;
    case CK_C_CALL:
        note_arguments(scopes, node);
        break;
    default:
        break;
    }
}

int ck_c_bind(struct ck_lint_source *source)
{
    struct ck_scopes *scopes = ck_scopes_new(source, ck_c_kinds);
    if (!scopes)
        return -ENOMEM;
    TSTreeCursor cursor = ts_tree_cursor_new(source->root);
    while (ck_scopes_walk_next(scopes, &cursor))
        visit(scopes, ts_tree_cursor_current_node(&cursor));
    ts_tree_cursor_delete(&cursor);
    return ck_scopes_finish(scopes);
}
