/*
 * python_resolve.c - the resolver for Python: what an expression may be. See resolve.h, and
 * python.h for the scopes.
 *
 * Names are looked up as Python does: the current scope, then the scopes of the outer functions,
 * then the module, then the builtins. Only the statements of a class itself see its scope. If a use
 * runs in the same flow as the bindings, those that certainly come before it and are replaced on
 * every path do not count. If it is in a function, which may be called at any time, all bindings
 * count.
 *
 * Besides names and attributes these are followed: __import__, importlib.import_module, getattr,
 * sys.modules, __dict__, vars, globals, functools.partial, operator.attrgetter, conditional
 * expressions. The __builtins__ of a module is the module of builtins. What a module has imported
 * is its attribute: shutil.os is os.
 */
#include "lint/lang/python.h"
#include "lint/lang/python_value.h"

#include <string.h>

#define CANDIDATES_MAX 32 /* bindings of one name at one use; more make it open */
#define BUDGET 20000000u  /* bindings examined for one file: the limit against hostile files */
/* The name of the result of attrgetter("x"), followed by x. No name of Python has a blank. */
#define ATTRGETTER "operator.attrgetter "

static void names_of(struct ck_lint_source *source, TSNode node, unsigned depth, struct ck_lint_names *names);

static struct ck_python_file *file_of(const struct ck_lint_source *source)
{
    return source->scopes;
}

static TSNode field(TSNode node, TSFieldId id)
{
    return ts_node_child_by_field_id(node, id);
}

/* ---- bindings ---------------------------------------------------------------------------- */

/* The bindings that a use of a name may see. */
struct candidates {
    uint32_t items[CANDIDATES_MAX];
    uint32_t count;
    bool certain; /* no other value is possible */
    bool dropped;
};

static bool within(const struct ck_python_range *range, uint32_t byte)
{
    return range->start <= byte && byte < range->end;
}

/* What does not fit is dropped, and the name becomes open. */
static void add_candidate(struct candidates *candidates, uint32_t index)
{
    if (candidates->count < CANDIDATES_MAX)
        candidates->items[candidates->count++] = index;
    else
        candidates->dropped = true;
}

/*
 * inline_flow: the use at byte runs in the same flow as the bindings, not in a function that is
 * called later.
 */
static struct candidates find_candidates(struct ck_lint_source *source, uint32_t first, uint32_t byte, bool inline_flow)
{
    struct ck_python_file *file = file_of(source);
    struct candidates found = {.count = 0};
    for (uint32_t at = first; at != CK_PYTHON_NONE; at = file->bindings[at].next) {
        const struct ck_python_binding *binding = &file->bindings[at];
        const struct ck_python_scope *scope = &file->scopes[binding->scope];
        if (++file->looked_at > BUDGET) {
            source->exhausted = true;
            break;
        }
        /* It is in no branch, so it certainly runs when the scope runs to its end. */
        bool everywhere = binding->branch.start == scope->start && binding->branch.end == scope->end;
        /* A later binding reaches an earlier use only by the next turn of a loop around both. */
        if (inline_flow && binding->at > byte) {
            if (within(&binding->loop, byte))
                add_candidate(&found, at);
            continue;
        }
        /* Every path to the use passes this binding, so the earlier ones are replaced. */
        if (inline_flow && within(&binding->branch, byte))
            found = (struct candidates){.certain = true};
        found.certain = found.certain || (!inline_flow && everywhere);
        add_candidate(&found, at);
    }
    return found;
}

/* Adds all of more to names. */
static void merge(struct ck_lint_names *names, const struct ck_lint_names *more)
{
    for (uint32_t i = 0; i < more->count; i++)
        ck_lint_names_add(names, more->items[i]);
    names->open = names->open || more->open;
}

/*
 * The value of a binding depends on its own place, not on its use, so it is evaluated once. A
 * result that was cut by the depth limit is not kept, because another use may reach it in fewer
 * steps.
 */
static void names_of_value(struct ck_lint_source *source, struct ck_python_binding *binding, unsigned depth,
                           struct ck_lint_names *names)
{
    static const struct ck_lint_names unknown = {.open = true};
    struct ck_lint_names found = {.count = 0};
    uint32_t cut_short = file_of(source)->cut_short;
    /* x = x.y would come back to this binding: names_of_binding gives open for it. */
    binding->busy = true;
    names_of(source, binding->value, depth + 1, &found);
    binding->busy = false;
    merge(names, &found);
    if (cut_short != file_of(source)->cut_short)
        return;
    /* A value without names shares one constant, which saves memory in large files. */
    struct ck_lint_names *saved = found.count > 0 ? ck_arena_alloc(source->arena, sizeof(*saved)) : NULL;
    if (saved)
        *saved = found;
    binding->names = saved ? saved : &unknown;
}

/* An import is its path. A binding of unknown value, or one that is being evaluated, is open. */
static void names_of_binding(struct ck_lint_source *source, struct ck_python_binding *binding, unsigned depth,
                             struct ck_lint_names *names)
{
    if (binding->kind == CK_PYTHON_IMPORT)
        ck_lint_names_add(names, ck_python_canonical(binding->path));
    else if (binding->kind != CK_PYTHON_VALUE || binding->busy)
        names->open = true;
    else if (binding->names)
        merge(names, binding->names);
    else
        names_of_value(source, binding, depth, names);
}

/* The names of all candidates together. */
static void names_of_candidates(struct ck_lint_source *source, const struct candidates *candidates, unsigned depth,
                                struct ck_lint_names *names)
{
    for (uint32_t i = 0; i < candidates->count; i++)
        names_of_binding(source, &file_of(source)->bindings[candidates->items[i]], depth, names);
    names->open = names->open || candidates->dropped;
}

/* A star import may bind any name. It counts if there are rules about the name it would bind. */
static void names_of_stars(struct ck_lint_source *source, uint32_t scope, const char *name, struct ck_lint_names *names)
{
    struct ck_python_file *file = file_of(source);
    for (uint32_t at = file->scopes[scope].first_star; at != CK_PYTHON_NONE; at = file->stars[at].next) {
        const char *path = ck_lint_name_qualify(source, file->stars[at].path, name);
        const struct ck_lint_rule *const *rules;
        if (path && ck_lint_rules_about(source->program, path, &rules) > 0)
            ck_lint_names_add(names, path);
        else
            names->open = true;
    }
}

/* ---- names ------------------------------------------------------------------------------- */

/* One search for a name, from the scope of its use outwards. */
struct lookup {
    const char *name;      /* look_up replaces it by the folded name, with a NUL */
    uint32_t length, byte; /* byte: the place of the use */
    uint32_t start_scope;
    bool inline_flow; /* see find_candidates */
    bool bound;       /* somewhere, but perhaps not on every path */
};

/* The next scope to look in after scope, or CK_PYTHON_NONE after the module. */
static uint32_t scope_around(const struct ck_python_file *file, uint32_t scope, struct lookup *lookup)
{
    /* The function may be called at any time, so the order in the outer scopes says nothing. */
    if (file->scopes[scope].kind == CK_PYTHON_FUNCTION)
        lookup->inline_flow = false;
    return file->scopes[scope].parent;
}

/* Returns true when the lookup is finished. */
static bool look_in_scope(struct ck_lint_source *source, uint32_t scope, struct lookup *lookup, unsigned depth,
                          struct ck_lint_names *names)
{
    struct ck_python_file *file = file_of(source);
    uint32_t first = ck_python_find(file, scope, lookup->name, lookup->length);
    if (first == CK_PYTHON_NONE)
        return false;
    struct candidates found = find_candidates(source, first, lookup->byte, lookup->inline_flow);
    names_of_candidates(source, &found, depth, names);
    lookup->bound = lookup->bound || found.count > 0;
    /*
     * A name that a function binds anywhere is local in all of it: Python does not look further
     * out. In a module or class it goes on.
     */
    return found.certain || source->exhausted || file->scopes[scope].kind == CK_PYTHON_FUNCTION;
}

/*
 * Is the name declared global or nonlocal in this scope? Such a declaration is the first binding.
 */
static bool is_declared(const struct ck_python_file *file, uint32_t scope, const struct lookup *lookup,
                        enum ck_python_binding_kind kind)
{
    uint32_t first = ck_python_find(file, scope, lookup->name, lookup->length);
    return first != CK_PYTHON_NONE && file->bindings[first].kind == kind;
}

/*
 * From the inner scope outwards, as Python does. Ends at the first scope that certainly binds the
 * name.
 */
static void look_up(struct ck_lint_source *source, struct lookup *lookup, unsigned depth, struct ck_lint_names *names)
{
    struct ck_python_file *file = file_of(source);
    const char *name = ck_python_name(source, lookup->name, lookup->length);
    if (!name)
        return;
    lookup->name = name;
    lookup->length = (uint32_t)strlen(name);
    for (uint32_t scope = lookup->start_scope; scope != CK_PYTHON_NONE;) {
        /* Methods do not see the names of their class. */
        bool hidden = file->scopes[scope].kind == CK_PYTHON_CLASS && scope != lookup->start_scope;
        if (!hidden && is_declared(file, scope, lookup, CK_PYTHON_GLOBAL)) {
            lookup->inline_flow = false;
            /*
             * Straight to the module. It cannot be declared global there (see declare), so this
             * ends.
             */
            scope = 0;
            continue;
        }
        /* A nonlocal name is never looked up in the scope that declares it. */
        bool passed = hidden || is_declared(file, scope, lookup, CK_PYTHON_NONLOCAL);
        if (!passed && look_in_scope(source, scope, lookup, depth, names))
            return;
        names_of_stars(source, scope, name, names);
        scope = scope_around(file, scope, lookup);
    }
    /*
     * A name that is bound in both branches of a try looks as if it could be unbound. That matters
     * only for a builtin of the same name.
     */
    const struct ck_lint_rule *const *rules;
    if (!lookup->bound || ck_lint_rules_about(source->program, name, &rules) > 0)
        ck_lint_names_add(names, ck_python_canonical(name));
}

/* A name at the place of its use. */
static void names_of_identifier(struct ck_lint_source *source, TSNode node, unsigned depth, struct ck_lint_names *names)
{
    uint32_t byte = ts_node_start_byte(node);
    struct lookup lookup = {.name = source->text + byte,
                            .length = ts_node_end_byte(node) - byte,
                            .byte = byte,
                            .start_scope = ck_python_scope_at(file_of(source), byte),
                            .inline_flow = true};
    look_up(source, &lookup, depth, names);
}

/* globals()["x"]: the values of x as a function of the module sees them. */
static void names_of_global(struct ck_lint_source *source, const struct ck_constant *key, unsigned depth,
                            struct ck_lint_names *names)
{
    struct lookup lookup = {.name = key->text, .length = key->length, .start_scope = 0, .inline_flow = false};
    look_up(source, &lookup, depth + 1, names);
}

/* ---- attributes and items ---------------------------------------------------------------- */

/* Adds "of.member" in its canonical form. */
static void add_member(struct ck_lint_source *source, const char *of, const char *member, struct ck_lint_names *names)
{
    const char *joined = ck_lint_name_qualify(source, of, member);
    if (joined)
        ck_lint_names_add(names, ck_python_canonical(joined));
}

/*
 * Modules that nearly every other module imports, and so has as an attribute. subprocess is not
 * listed: several packages have a module of that name (asyncio.subprocess).
 */
static bool is_common_module(const char *name)
{
    static const char *const common[] = {"builtins", "os", "posix", "sys"};
    for (size_t i = 0; i < sizeof(common) / sizeof(common[0]); i++)
        if (strcmp(name, common[i]) == 0)
            return true;
    return false;
}

/*
 * The member of each of the names. f.__call__ is f. If something is unknown, "?.member" is added.
 */
static void add_members(struct ck_lint_source *source, const struct ck_lint_names *of, const char *member,
                        struct ck_lint_names *names)
{
    if (!member)
        return;
    for (uint32_t i = 0; i < of->count; i++) {
        if (strcmp(member, "__call__") == 0)
            ck_lint_names_add(names, of->items[i]);
        add_member(source, of->items[i], member, names);
        if (is_common_module(member) && of->items[i][0] != '?' && of->items[i][0] != '.')
            ck_lint_names_add(names, member);
    }
    if (of->count == 0 || of->open)
        add_member(source, "?", member, names);
    names->open = names->open || of->open;
}

/* object.attribute */
static void names_of_attribute(struct ck_lint_source *source, TSNode node, unsigned depth, struct ck_lint_names *names)
{
    TSNode object = field(node, ck_python_fields()->object_);
    TSNode attribute = field(node, ck_python_fields()->attribute_);
    struct ck_lint_names of = {.count = 0};
    if (ts_node_is_null(object) || ts_node_is_null(attribute))
        return;
    names_of(source, object, depth + 1, &of);
    add_members(source, &of, ck_python_identifier(source, attribute), names);
}

static bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), end_length = strlen(end);
    return length >= end_length && strcmp(text + length - end_length, end) == 0;
}

/* An item of a namespace that is used as a mapping. */
static void names_of_item(struct ck_lint_source *source, const char *mapping, const struct ck_constant *key,
                          unsigned depth, struct ck_lint_names *names)
{
    const char *text = ck_arena_memdup(source->arena, key->text, key->length);
    if (!text)
        return;
    if (strcmp(mapping, "sys.modules") == 0)
        ck_lint_names_add(names, ck_python_canonical(text));
    else if (strcmp(mapping, "globals()") == 0)
        names_of_global(source, key, depth, names);
    else if (strcmp(mapping, "builtins") == 0 || strcmp(mapping, "__dict__") == 0) /* no prefix */
        ck_lint_names_add(names, text);
    else if (ends_with(mapping, ".__dict__"))
        add_member(source, ck_arena_memdup(source->arena, mapping, strlen(mapping) - strlen(".__dict__")), text, names);
    else
        names->open = true;
}

/*
 * value[index]: known only for a constant text as index. It stays open: the mapping may have been
 * changed.
 */
static void names_of_subscript(struct ck_lint_source *source, TSNode node, unsigned depth, struct ck_lint_names *names)
{
    TSNode value = field(node, ck_python_fields()->value_);
    TSNode index = field(node, ck_python_fields()->subscript_);
    struct ck_lint_names of = {.count = 0};
    struct ck_constant key = {.kind = CK_CONSTANT_NOT};
    names->open = true;
    if (ts_node_is_null(value) || ts_node_is_null(index))
        return;
    names_of(source, value, depth + 1, &of);
    ck_python_constant(source, index, depth + 1, &key);
    for (uint32_t i = 0; key.kind == CK_CONSTANT_TEXT && i < of.count; i++)
        names_of_item(source, of.items[i], &key, depth, names);
}

/* ---- calls ------------------------------------------------------------------------------- */

/* A call while its result is worked out. depth is that of the evaluation. */
struct python_call {
    TSNode arguments;
    unsigned depth;
};

/* The text of an argument. False if it is absent or not a constant text. */
static bool text_argument(struct ck_lint_source *source, const struct python_call *call, const char *keyword,
                          int32_t position, const char **ret_text)
{
    TSNode node;
    struct ck_constant constant = {.kind = CK_CONSTANT_NOT};
    if (ck_python_argument(source, call->arguments, keyword, position, &node) != CK_ARGUMENT_PRESENT)
        return false;
    ck_python_constant(source, node, call->depth + 1, &constant);
    if (constant.kind != CK_CONSTANT_TEXT)
        return false;
    *ret_text = ck_arena_memdup(source->arena, constant.text, constant.length);
    return !!*ret_text;
}

/* What the argument at a position may be. */
static void argument_names(struct ck_lint_source *source, const struct python_call *call, int32_t position,
                           struct ck_lint_names *names)
{
    TSNode node;
    if (ck_python_argument(source, call->arguments, NULL, position, &node) == CK_ARGUMENT_PRESENT)
        names_of(source, node, call->depth + 1, names);
    else
        names->open = true;
}

/* __import__("a.b") returns a, unless fromlist is given: then it returns a.b. */
static void result_of_import(struct ck_lint_source *source, const struct python_call *call, struct ck_lint_names *names)
{
    const char *path;
    TSNode node;
    if (!text_argument(source, call, "name", 0, &path))
        return;
    /* __import__(name, globals, locals, fromlist, level). */
    if (ck_python_argument(source, call->arguments, "fromlist", 3, &node) == CK_ARGUMENT_ABSENT)
        path = ck_arena_memdup(source->arena, path, strcspn(path, "."));
    if (path)
        ck_lint_names_add(names, ck_python_canonical(path));
}

/* import_module("a.b") returns a.b, unlike __import__. */
static void result_of_import_module(struct ck_lint_source *source, const struct python_call *call,
                                    struct ck_lint_names *names)
{
    const char *path;
    if (text_argument(source, call, "name", 0, &path))
        ck_lint_names_add(names, ck_python_canonical(path));
}

/* The default counts too. If both are known, no other value is possible. */
static void result_of_getattr(struct ck_lint_source *source, const struct python_call *call,
                              struct ck_lint_names *names)
{
    const char *member;
    TSNode node;
    struct ck_lint_names of = {.count = 0};
    if (!text_argument(source, call, NULL, 1, &member))
        return;
    names->open = false;
    argument_names(source, call, 0, &of);
    add_members(source, &of, member, names);
    if (ck_python_argument(source, call->arguments, NULL, 2, &node) != CK_ARGUMENT_ABSENT)
        argument_names(source, call, 2, names);
}

/* vars(x) is x.__dict__. names_of_item takes the items from it. */
static void result_of_vars(struct ck_lint_source *source, const struct python_call *call, struct ck_lint_names *names)
{
    struct ck_lint_names of = {.count = 0};
    argument_names(source, call, 0, &of);
    add_members(source, &of, "__dict__", names);
}

/*
 * A name that no source can contain, for names_of_item. locals() is treated the same: in the module
 * it is the same dict.
 */
static void result_of_globals(struct ck_lint_source *source, const struct python_call *call,
                              struct ck_lint_names *names)
{
    (void)source;
    (void)call;
    ck_lint_names_add(names, "globals()");
}

/* The result runs, or is, the first argument. */
static void result_of_wrapper(struct ck_lint_source *source, const struct python_call *call,
                              struct ck_lint_names *names)
{
    argument_names(source, call, 0, names);
}

/*
 * partial(yaml.load, Loader=SafeLoader) is not yaml.load any more: a call of it has no loader to look
 * at. Whether this one is safe is decided where it is made (python-yaml-handed-on).
 */
static void result_of_partial(struct ck_lint_source *source, const struct python_call *call,
                              struct ck_lint_names *names)
{
    TSNode node;
    if (ck_python_argument(source, call->arguments, "Loader", -1, &node) == CK_ARGUMENT_PRESENT)
        names->open = true;
    else
        argument_names(source, call, 0, names);
}

/* attrgetter("system")(os) is os.system: result_of applies the member when the result is called. */
static void result_of_attrgetter(struct ck_lint_source *source, const struct python_call *call,
                                 struct ck_lint_names *names)
{
    const char *member;
    if (text_argument(source, call, NULL, 0, &member))
        ck_lint_names_add(names, ck_arena_printf(source->arena, ATTRGETTER "%s", member));
}

/* Functions with a result that is known. */
static const struct {
    const char *name;
    void (*result)(struct ck_lint_source *source, const struct python_call *call, struct ck_lint_names *names);
} results[] = {
    {"__import__", result_of_import},
    {"importlib.__import__", result_of_import},
    {"importlib.import_module", result_of_import_module},
    {"getattr", result_of_getattr},
    {"inspect.getattr_static", result_of_getattr},
    {"object.__getattribute__", result_of_getattr},
    {"vars", result_of_vars},
    {"globals", result_of_globals},
    {"locals", result_of_globals},
    {"functools.partial", result_of_partial},
    {"functools.partialmethod", result_of_wrapper},
    {"importlib.reload", result_of_wrapper},
    {"staticmethod", result_of_wrapper},
    {"operator.attrgetter", result_of_attrgetter},
};

/* d.get("x") and other methods that return an item of a mapping. callee is d and the method. */
static void result_of_item(struct ck_lint_source *source, const char *callee, const struct python_call *call,
                           struct ck_lint_names *names)
{
    static const char *const methods[] = {".get", ".__getitem__", ".pop", ".setdefault"};
    struct ck_constant key = {.kind = CK_CONSTANT_TEXT};
    for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++) {
        if (!ends_with(callee, methods[i]) || !text_argument(source, call, NULL, 0, &key.text))
            continue;
        const char *mapping = ck_arena_memdup(source->arena, callee, strlen(callee) - strlen(methods[i]));
        key.length = (uint32_t)strlen(key.text);
        if (mapping)
            names_of_item(source, mapping, &key, call->depth, names);
    }
}

/* What a call of this function returns. Adds nothing if that is not known. */
static void result_of(struct ck_lint_source *source, const char *callee, const struct python_call *call,
                      struct ck_lint_names *names)
{
    result_of_item(source, callee, call, names);
    for (size_t i = 0; i < sizeof(results) / sizeof(results[0]); i++)
        if (strcmp(results[i].name, callee) == 0)
            results[i].result(source, call, names);
    if (strncmp(callee, ATTRGETTER, strlen(ATTRGETTER)) == 0) {
        struct ck_lint_names of = {.count = 0};
        argument_names(source, call, 0, &of);
        add_members(source, &of, callee + strlen(ATTRGETTER), names);
    } else if (ends_with(callee, ".__getattribute__")) {
        const char *member;
        if (text_argument(source, call, NULL, 0, &member))
            add_member(source, ck_arena_memdup(source->arena, callee, strlen(callee) - strlen(".__getattribute__")),
                       member, names);
    }
}

/* The result of a call, for each function that the callee may be. */
static void names_of_call(struct ck_lint_source *source, TSNode node, unsigned depth, struct ck_lint_names *names)
{
    TSNode function = field(node, ck_python_fields()->function_);
    struct python_call call = {.arguments = field(node, ck_python_fields()->arguments_), .depth = depth + 1};
    struct ck_lint_names callee = {.count = 0};
    struct ck_lint_names found = {.open = true}; /* more results are possible; getattr clears it */
    if (!ts_node_is_null(function) && !ts_node_is_null(call.arguments))
        names_of(source, function, depth + 1, &callee);
    for (uint32_t i = 0; i < callee.count; i++)
        result_of(source, callee.items[i], &call, &found);
    found.open = found.open || callee.open || callee.count > 1;
    merge(names, &found);
}

/* ---- expressions ------------------------------------------------------------------------- */

/* a if b else c, and a or b: either side. */
static void names_of_either(struct ck_lint_source *source, TSNode node, unsigned depth, struct ck_lint_names *names)
{
    /* The first and the last child: in "a if b else c" the condition is between them. */
    uint32_t last = ts_node_named_child_count(node);
    if (last < 2)
        return;
    names_of(source, ts_node_named_child(node, 0), depth + 1, names);
    names_of(source, ts_node_named_child(node, last - 1), depth + 1, names);
}

/* The kinds of expression that are followed. Anything else is unknown. */
static void names_of(struct ck_lint_source *source, TSNode node, unsigned depth, struct ck_lint_names *names)
{
    const struct ck_python_symbols *is = ck_python_symbols();
    TSSymbol symbol = ts_node_is_null(node) ? 0 : ts_node_symbol(node);
    if (depth > CK_RESOLVE_DEPTH || source->exhausted || symbol == 0) {
        names->open = true;
        /* Counted, so that names_of_value sees that the limit was reached below it. */
        file_of(source)->cut_short += depth > CK_RESOLVE_DEPTH;
    } else if (symbol == is->identifier_)
        names_of_identifier(source, node, depth, names);
    else if (symbol == is->attribute_)
        names_of_attribute(source, node, depth, names);
    else if (symbol == is->call_)
        names_of_call(source, node, depth, names);
    else if (symbol == is->subscript_)
        names_of_subscript(source, node, depth, names);
    else if (symbol == is->conditional_expression_ || symbol == is->boolean_operator_)
        names_of_either(source, node, depth, names);
    else if (symbol == is->parenthesized_expression_)
        names_of(source, ts_node_named_child(node, 0), depth + 1, names);
    else if (symbol == is->named_expression_)
        names_of(source, field(node, ck_python_fields()->value_), depth + 1, names);
    else if (!ts_node_is_named(node))
        ck_lint_names_add(names, ck_lint_source_text(source, node)); /* exec of Python 2 */
    else
        names->open = true;
}

void ck_python_names(struct ck_lint_source *source, TSNode node, unsigned depth, struct ck_lint_names *ret_names)
{
    names_of(source, node, depth, ret_names);
}

/* The only value that an identifier can have, or a null node. */
TSNode ck_python_only_value(struct ck_lint_source *source, TSNode identifier)
{
    struct ck_python_file *file = file_of(source);
    uint32_t byte = ts_node_start_byte(identifier);
    const char *name = ck_python_identifier(source, identifier);
    if (!name)
        return (TSNode){0};
    struct lookup lookup = {.name = name,
                            .length = (uint32_t)strlen(name),
                            .byte = byte,
                            .start_scope = ck_python_scope_at(file, byte),
                            .inline_flow = true};
    for (uint32_t scope = lookup.start_scope; scope != CK_PYTHON_NONE; scope = scope_around(file, scope, &lookup)) {
        uint32_t first = ck_python_find(file, scope, lookup.name, lookup.length);
        if (first == CK_PYTHON_NONE || (file->scopes[scope].kind == CK_PYTHON_CLASS && scope != lookup.start_scope))
            continue;
        struct candidates found = find_candidates(source, first, byte, lookup.inline_flow);
        const struct ck_python_binding *binding = &file->bindings[found.count > 0 ? found.items[0] : first];
        /*
         * The innermost scope that binds the name decides. A declaration (global) is not a value,
         * so it gives a null node.
         */
        return found.count == 1 && found.certain && binding->kind == CK_PYTHON_VALUE ? binding->value : (TSNode){0};
    }
    return (TSNode){0};
}

/* ---- the port ---------------------------------------------------------------------------- */

static int begin(struct ck_lint_source *source)
{
    struct ck_python_file *file;
    int r = ck_python_collect(source, &file);
    if (r == 0)
        source->scopes = file;
    return r;
}

static void names(struct ck_lint_source *source, TSNode node, struct ck_lint_names *ret_names)
{
    names_of(source, node, 0, ret_names);
}

static void constant(struct ck_lint_source *source, TSNode node, struct ck_constant *ret_constant)
{
    ck_python_constant(source, node, 0, ret_constant);
}

const struct ck_lint_resolver ck_python_resolver = {.begin = begin,
                                                    .names = names,
                                                    .argument = ck_python_argument,
                                                    .constant = constant,
                                                    .readable = ck_python_readable};
