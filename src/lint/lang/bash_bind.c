/*
 * bash_bind.c - what a script sets, its functions, and which of its commands get input. See bash.h.
 *
 * A command is fed if its standard input is text from elsewhere: after a pipe, from a here document
 * that expands something, or from a process substitution. All commands inside a fed command read
 * the same input.
 */
#include "lint/lang/bash.h"

#include <errno.h>
#include <string.h>

#define FEEDS_LOOKED_AT 64 /* enclosing feeds of one place that are examined */

/* Types of nodes in the grammar of tree-sitter-bash, and what they are here. */
const struct ck_kind ck_bash_kinds[] = {
    {"command", CK_BASH_COMMAND},
    {"command_name", CK_BASH_COMMAND_NAME},
    {"pipeline", CK_BASH_PIPELINE},
    {"redirected_statement", CK_BASH_REDIRECTED},
    {"heredoc_redirect", CK_BASH_HEREDOC},
    {"file_redirect", CK_BASH_FILE_REDIRECT},
    {"herestring_redirect", CK_BASH_HERESTRING},
    {"function_definition", CK_BASH_FUNCTION},
    {"variable_assignment", CK_BASH_ASSIGNMENT},
    {"for_statement", CK_BASH_LOOP},
    {"variable_name", CK_BASH_VARIABLE},
    {"word", CK_BASH_WORD},
    {"number", CK_BASH_WORD},
    {"raw_string", CK_BASH_RAW},
    {"ansi_c_string", CK_BASH_ANSI},
    {"string", CK_BASH_STRING},
    {"translated_string", CK_BASH_TRANSLATED},
    {"concatenation", CK_BASH_CONCATENATION},
    {"simple_expansion", CK_BASH_EXPANSION},
    {"expansion", CK_BASH_EXPANSION},
    {"command_substitution", CK_BASH_SUBSTITUTION},
    {"process_substitution", CK_BASH_PROCESS},
    {NULL, 0},
};

/*
 * The ranges of text in which commands are fed. Ranges that have ended are removed when a later
 * place is examined.
 */
struct feed {
    struct feed *below; /* a stack, the newest on top */
    uint32_t start, end;
};

struct bash_binder {
    struct ck_scopes *scopes;
    struct feed *feeds;
};

/* ---- what is fed ------------------------------------------------------------------------- */

/* Commands that begin between start and end are fed. */
static void add_feed(struct bash_binder *binder, uint32_t start, uint32_t end)
{
    struct feed *feed = ck_arena_alloc(binder->scopes->source->arena, sizeof(*feed));
    if (!feed) {
        binder->scopes->failed = true;
        return;
    }
    *feed = (struct feed){binder->feeds, start, end};
    binder->feeds = feed;
}

/* Positions must not decrease between calls: feeds on top that have ended are removed. */
static bool is_fed(struct bash_binder *binder, uint32_t position)
{
    while (binder->feeds && binder->feeds->end <= position)
        binder->feeds = binder->feeds->below;
    const struct feed *feed = binder->feeds;
    for (uint32_t i = 0; i < FEEDS_LOOKED_AT && feed; i++, feed = feed->below)
        if (feed->start <= position && position < feed->end)
            return true;
    return false;
}

/* A here document is constant with <<'END', or if nothing in it is expanded. */
static bool expands(const struct ck_scopes *scopes, TSNode heredoc)
{
    TSTreeCursor cursor = ts_tree_cursor_new(heredoc);
    bool found = false;
    bool more = ts_tree_cursor_goto_first_child(&cursor);
    for (; more; more = ts_tree_cursor_goto_next_sibling(&cursor)) {
        TSNode child = ts_tree_cursor_current_node(&cursor);
        /* The body has named children only if something in it is expanded. */
        if (ck_lint_node_is(child, "heredoc_body"))
            found = !ts_node_is_null(ck_lint_node_nth(child, 0));
        /* Any quote around the end word turns expansion off in the whole document. */
        if (ck_lint_node_is(child, "heredoc_start") && strchr("'\"\\", ck_lint_word_of(scopes, child).text[0])) {
            found = false;
            break;
        }
    }
    ts_tree_cursor_delete(&cursor);
    return found;
}

/* Does this redirection give text that is made at run time? A plain file (< x) does not count. */
static bool feeds(const struct ck_scopes *scopes, TSNode redirect)
{
    switch (ck_scopes_kind(scopes, redirect)) {
    case CK_BASH_HEREDOC:
        return expands(scopes, redirect);
    case CK_BASH_FILE_REDIRECT:
        return ck_lint_node_has_token(redirect, "<") &&
               ck_scopes_kind(scopes, ck_lint_node_field(redirect, "destination")) == CK_BASH_PROCESS;
    case CK_BASH_HERESTRING:
        return true;
    default:
        return false;
    }
}

/* { a; b; } < <(c): everything in the body is fed. */
static void visit_redirected(struct bash_binder *binder, TSNode node)
{
    TSNode body = ck_lint_node_field(node, "body");
    TSTreeCursor cursor = ts_tree_cursor_new(node);
    bool more = !ts_node_is_null(body) && ts_tree_cursor_goto_first_child(&cursor);
    for (; more; more = ts_tree_cursor_goto_next_sibling(&cursor))
        if (feeds(binder->scopes, ts_tree_cursor_current_node(&cursor)))
            add_feed(binder, ts_node_start_byte(body), ts_node_end_byte(body));
    ts_tree_cursor_delete(&cursor);
}

/* ---- what is set ------------------------------------------------------------------------- */

/* x+=y makes x unknown. An element of an array (x[1]=y) binds nothing. */
static void visit_assignment(struct ck_scopes *scopes, TSNode node)
{
    TSNode name = ck_lint_node_field(node, "name");
    TSNode value = ck_lint_node_field(node, "value");
    if (ck_scopes_kind(scopes, name) == CK_BASH_VARIABLE)
        ck_scopes_bind(scopes, CK_BASH_VARIABLES, ck_lint_word_of(scopes, name),
                       ck_lint_node_has_token(node, "+=") ? ck_lint_node_none : value, NULL);
}

/*
 * The variable has each of the listed values. Without a list it takes the arguments of the script,
 * which are unknown.
 */
static void visit_loop(struct ck_scopes *scopes, TSNode node)
{
    struct ck_lint_word name = ck_lint_word_of(scopes, ck_lint_node_field(node, "variable"));
    TSTreeCursor cursor = ts_tree_cursor_new(node);
    bool any = false;
    bool more = ts_tree_cursor_goto_first_child(&cursor);
    for (; more; more = ts_tree_cursor_goto_next_sibling(&cursor)) {
        const char *field = ts_tree_cursor_current_field_name(&cursor);
        if (field && strcmp(field, "value") == 0) {
            ck_scopes_bind(scopes, CK_BASH_VARIABLES, name, ts_tree_cursor_current_node(&cursor), NULL);
            any = true;
        }
    }
    ts_tree_cursor_delete(&cursor);
    if (!any)
        ck_scopes_bind(scopes, CK_BASH_VARIABLES, name, ck_lint_node_none, NULL);
}

/*
 * read and similar builtins set the variables that their arguments name (printf only with -v).
 * Which argument is a name is not worked out: every plain word becomes unknown.
 */
static void visit_reader(struct ck_scopes *scopes, TSNode node)
{
    static const char *const readers[] = {"read", "mapfile", "readarray", "getopts", "printf", NULL};
    struct ck_lint_word command = ck_lint_word_of(scopes, ck_lint_node_field(node, "name"));
    const char *const *one = readers;
    while (*one && !ck_lint_word_is(command, *one))
        one++;
    if (!*one)
        return;
    TSTreeCursor cursor = ts_tree_cursor_new(node);
    bool more = ts_tree_cursor_goto_first_child(&cursor);
    for (; more; more = ts_tree_cursor_goto_next_sibling(&cursor)) {
        TSNode word = ts_tree_cursor_current_node(&cursor);
        if (ck_scopes_kind(scopes, word) == CK_BASH_WORD)
            ck_scopes_bind(scopes, CK_BASH_VARIABLES, ck_lint_word_of(scopes, word), ck_lint_node_none, NULL);
    }
    ts_tree_cursor_delete(&cursor);
}

/* ---- the walk ---------------------------------------------------------------------------- */

/* a | b | c: all but the first read the output of another. */
static void visit_pipeline(struct bash_binder *binder, TSNode node)
{
    TSNode second = ck_lint_node_nth(node, 1);
    if (!ts_node_is_null(second))
        add_feed(binder, ts_node_start_byte(second), ts_node_end_byte(node));
}

static void visit(struct bash_binder *binder, TSNode node)
{
    struct ck_scopes *scopes = binder->scopes;
    switch (ck_scopes_kind(scopes, node)) {
    case CK_BASH_COMMAND:
        /* The note is for add_shell, which finds it by the place of the command. */
        if (is_fed(binder, ts_node_start_byte(node)))
            ck_scopes_note(scopes, ts_node_start_byte(node), "fed");
        if (!ts_node_is_null(ck_lint_node_field(node, "name")))
            visit_reader(scopes, node);
        break;
    case CK_BASH_PIPELINE:
        visit_pipeline(binder, node);
        break;
    case CK_BASH_REDIRECTED:
        visit_redirected(binder, node);
        break;
    case CK_BASH_FUNCTION:
        ck_scopes_bind(scopes, CK_BASH_FUNCTIONS, ck_lint_word_of(scopes, ck_lint_node_field(node, "name")),
                       ck_lint_node_none, NULL);
        break;
    case CK_BASH_ASSIGNMENT:
        visit_assignment(scopes, node);
        break;
    case CK_BASH_LOOP:
        visit_loop(scopes, node);
        break;
    default:
        break;
    }
}

int ck_bash_bind(struct ck_lint_source *source)
{
    struct ck_scopes *scopes = ck_scopes_new(source, ck_bash_kinds);
    struct bash_binder binder = {.scopes = scopes};
    if (!scopes)
        return -ENOMEM;
    ck_scopes_enter(scopes, source->root, true); /* CK_BASH_FUNCTIONS */
    TSTreeCursor cursor = ts_tree_cursor_new(source->root);
    while (ck_scopes_walk_next(scopes, &cursor))
        visit(&binder, ts_tree_cursor_current_node(&cursor));
    ts_tree_cursor_delete(&cursor);
    return ck_scopes_finish(scopes);
}
