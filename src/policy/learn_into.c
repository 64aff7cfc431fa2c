/*
 * learn_into.c - adds to the text of a policy. See learn_into.h.
 *
 * The tree of the first pass says where each value begins, but not where it ends. So everything is
 * inserted where something begins: in front of a key, in front of the first "- " of a list, or after
 * the bracket that opens it.
 */
#include "policy/learn_into.h"

#include "base/error.h"
#include "base/quote.h"
#include "base/yaml_text.h"
#include "policy/yaml_tree.h"

#include <errno.h>
#include <string.h>

#define INSERTIONS_MAX 8
#define ANCHOR "route" /* every entry has it */

struct insertion {
    size_t at;
    const char *text;
};

struct editor {
    const struct ck_learn_text *source;
    struct ck_arena *arena;
    struct choke_error *error;
    struct ck_yaml_tree tree;
    struct insertion insertions[INSERTIONS_MAX];
    size_t count;
};

/* ---- places ---- */

/* The byte at which the node begins; source->length if there is none. */
static size_t offset_of(const struct editor *editor, const struct ck_yaml_node *node)
{
    const char *text = editor->source->text;
    size_t at = 0;
    for (unsigned line = 1; line < node->line && at < editor->source->length; at++)
        line += text[at] == '\n';
    for (unsigned column = 1; column < node->column && at < editor->source->length; column++)
        do
            at++;
        while (at < editor->source->length && ((unsigned char)text[at] & 0xc0) == 0x80);
    return at;
}

static char first_of(const struct editor *editor, const struct ck_yaml_node *node)
{
    size_t at = offset_of(editor, node);
    return at < editor->source->length ? editor->source->text[at] : '\0';
}

static int refuse(const struct editor *editor, const struct ck_yaml_node *node, const char *what)
{
    return ck_error_set(
        editor->error, CHOKE_INVALID, EINVAL,
        "cannot add to policy '%s': line %u, column %u: %s; add the entry by hand, it is printed without --into",
        CK_QUOTE(editor->source->file), node->line, node->column, what);
}

static int insert(struct editor *editor, size_t at, const char *text)
{
    if (!text)
        return ck_error_oom(editor->error);
    if (editor->count == INSERTIONS_MAX)
        return -E2BIG;
    editor->insertions[editor->count++] = (struct insertion){.at = at, .text = text};
    return 0;
}

/* ---- keys and lists ---- */

static const struct ck_yaml_node *find_key(const struct ck_yaml_node *mapping, const char *name)
{
    const struct ck_yaml_node *key = mapping + 1;
    for (uint32_t i = 0; i < mapping->count; i++) {
        const struct ck_yaml_node *value = key + key->span;
        if (!name || strcmp(key->text, name) == 0)
            return key;
        key = value + value->span;
    }
    return NULL;
}

/* lines: with a newline at the end of each; of a mapping in braces there is one line. */
static int insert_before(struct editor *editor, const struct ck_yaml_node *mapping, const char *anchor,
                         const char *lines)
{
    const struct ck_yaml_node *key = find_key(mapping, anchor);
    size_t length = strlen(lines);
    if (!key)
        return refuse(editor, mapping, "the mapping is empty");
    if (first_of(editor, mapping) == '{')
        return insert(editor, offset_of(editor, key),
                      ck_arena_printf(editor->arena, "%.*s, ", (int)(length - 1), lines));
    /* Each line but the first is indented as the key is, and so is the key itself afterwards. */
    const char *text = "";
    for (const char *at = lines, *end; text && *at != '\0'; at = end + 1) {
        end = strchr(at, '\n');
        text = ck_arena_printf(editor->arena, "%s%.*s\n%*s", text, (int)(end - at), at, (int)key->column - 1, "");
    }
    return insert(editor, offset_of(editor, key), text);
}

static const char *join(struct editor *editor, const struct ck_learn_items *items, const char *list)
{
    for (size_t i = 0; list && i < items->count; i++)
        list = ck_arena_printf(editor->arena, "%s%s%s", list, list[0] == '\0' ? "" : ", ", items->items[i].text);
    return list;
}

/* words: "a, b". */
static int add_words(struct editor *editor, const struct ck_yaml_node *mapping, const char *key, const char *words)
{
    const struct ck_yaml_node *list = ck_yaml_node_value(mapping, key);
    const char *anchor = find_key(mapping, ANCHOR) ? ANCHOR : NULL;
    if (!list) {
        const char *line = ck_arena_printf(editor->arena, "%s: [%s]\n", key, words);
        return line ? insert_before(editor, mapping, anchor, line) : ck_error_oom(editor->error);
    }
    size_t at = offset_of(editor, list);
    char first = first_of(editor, list);
    if (first == '[')
        return insert(editor, at + 1, ck_arena_printf(editor->arena, "%s%s", words, list->count > 0 ? ", " : ""));
    if (first != '-')
        return refuse(editor, list, "the list does not begin with '[' or '- '");
    /* A list in a list is one item, so that its commas do not matter: "- [a, b]". */
    if (words[0] == '[')
        return insert(editor, at, ck_arena_printf(editor->arena, "- %s\n%*s", words, (int)list->column - 1, ""));
    const char *text = "";
    for (const char *word = words; text && *word != '\0';) {
        size_t length = strcspn(word, ",");
        text = ck_arena_printf(editor->arena, "%s- %.*s\n%*s", text, (int)length, word, (int)list->column - 1, "");
        word += length + (word[length] == ',' ? 2 : 0);
    }
    return insert(editor, at, text);
}

/* ---- the entry ---- */

static int add_list(struct editor *editor, const struct ck_yaml_node *mapping, const char *key,
                    const struct ck_learn_items *granted, const struct ck_learn_items *asked)
{
    const char *words = join(editor, granted, "");
    words = words ? join(editor, asked, words) : NULL;
    if (!words)
        return ck_error_oom(editor->error);
    return words[0] == '\0' ? 0 : add_words(editor, mapping, key, words);
}

/* What was added and why, and the questions, as comments above `route`. */
static const char *comment(struct editor *editor, const char *lines, const char *key,
                           const struct ck_learn_items *items, bool question)
{
    for (size_t i = 0; lines && i < items->count; i++)
        lines = question
                    ? ck_arena_printf(editor->arena, "%s# question: %s: [%s]  # %s\n", lines, key, items->items[i].text,
                                      items->items[i].note)
                    : ck_arena_printf(editor->arena, "%s# %s: %s\n", lines, items->items[i].text, items->items[i].note);
    return lines;
}

static int add_comments(struct editor *editor, const struct ck_yaml_node *mapping, const struct ck_learn_change *change)
{
    const struct ck_learn_entry *entry = change->entry;
    if (change->answered || first_of(editor, mapping) == '{')
        return 0;
    const char *lines = comment(editor, "", "uses", &entry->uses, false);
    lines = comment(editor, lines, "execs", &entry->execs, false);
    lines = comment(editor, lines, "uses", &entry->asked_uses, true);
    lines = comment(editor, lines, "execs", &entry->asked_execs, true);
    if (!lines)
        return ck_error_oom(editor->error);
    return lines[0] == '\0' ? 0 : insert_before(editor, mapping, ANCHOR, lines);
}

static int add_call(struct editor *editor, const struct ck_yaml_node *mapping, const struct ck_learn_entry *entry)
{
    const struct ck_yaml_node *args = ck_yaml_node_value(mapping, "args");
    const char *vector = ck_learn_entry_vector(entry->args, editor->arena);
    if (!vector)
        return ck_error_oom(editor->error);
    return args ? add_words(editor, args, "exact", vector) : refuse(editor, mapping, "the entry has no 'args'");
}

static int add_workspace(struct editor *editor, const struct ck_yaml_node *mapping,
                         const struct ck_learn_change *change)
{
    bool comments = !change->answered && first_of(editor, mapping) != '{';
    int r = 0;
    if (change->missing.workspace && change->entry->writes)
        r = insert_before(editor, mapping, ANCHOR,
                          comments ? "# review: it writes beneath the root\nworkspace: rw\n" : "workspace: rw\n");
    else if (change->missing.workspace)
        r = insert_before(editor, mapping, ANCHOR, "workspace: ro\n");
    if (r == 0 && change->missing.workspace_code)
        r = insert_before(editor, mapping, ANCHOR,
                          comments ? "# review: it runs code of the repository\nworkspace_code: true\n"
                                   : "workspace_code: true\n");
    return r;
}

static int add_to_entry(struct editor *editor, const struct ck_yaml_node *mapping, const struct ck_learn_change *change)
{
    static const struct ck_learn_items none;
    const struct ck_learn_entry *entry = change->entry;
    int r = add_comments(editor, mapping, change);
    if (r == 0 && change->missing.call)
        r = add_call(editor, mapping, entry);
    if (r == 0)
        r = add_list(editor, mapping, "uses", &entry->uses, change->answered ? &entry->asked_uses : &none);
    if (r == 0)
        r = add_list(editor, mapping, "execs", &entry->execs, change->answered ? &entry->asked_execs : &none);
    return r < 0 ? r : add_workspace(editor, mapping, change);
}

/* ---- a new entry ---- */

static int add_entry(struct editor *editor, const struct ck_learn_change *change)
{
    const struct ck_yaml_node *root = &editor->tree.nodes[0];
    const struct ck_yaml_node *tools = ck_yaml_node_value(root, "tools");
    size_t length = editor->source->length;
    if (first_of(editor, root) == '{' || (tools && first_of(editor, tools) != '-'))
        return refuse(editor, tools ? tools : root, "'tools' is not a list with one '- ' for each entry");
    unsigned indent = tools ? tools->column - 1 : 2;
    const char *text = ck_learn_entry_write(change->entry, indent, change->answered, editor->arena);
    if (!text)
        return ck_error_oom(editor->error);
    if (tools)
        return insert(editor, offset_of(editor, tools),
                      ck_arena_printf(editor->arena, "%s%*s", text + indent, (int)indent, ""));
    bool ended = length > 0 && editor->source->text[length - 1] == '\n';
    return insert(editor, length, ck_arena_printf(editor->arena, "%s\ntools:\n%s", ended ? "" : "\n", text));
}

/* ---- the whole ---- */

static const struct ck_yaml_node *find_entry(const struct ck_yaml_tree *tree, const char *name)
{
    const struct ck_yaml_node *tools = ck_yaml_node_value(&tree->nodes[0], "tools");
    for (uint32_t i = 0; tools && i < tools->count; i++) {
        const struct ck_yaml_node *entry = ck_yaml_node_entry(tools, i);
        const struct ck_yaml_node *found = ck_yaml_node_value(entry, "name");
        if (found && strcmp(found->text, name) == 0)
            return entry;
    }
    return NULL;
}

/* What is inserted at the same place stays in the order in which it was added. */
static int apply(const struct editor *editor, const char **ret_text)
{
    const struct ck_learn_text *source = editor->source;
    const char *text = "";
    size_t from = 0;
    bool done[INSERTIONS_MAX] = {false};
    for (size_t i = 0; text && i < editor->count; i++) {
        size_t next = editor->count;
        for (size_t k = 0; k < editor->count; k++)
            if (!done[k] && (next == editor->count || editor->insertions[k].at < editor->insertions[next].at))
                next = k;
        const struct insertion *insertion = &editor->insertions[next];
        text = ck_arena_printf(editor->arena, "%s%.*s%s", text, (int)(insertion->at - from), source->text + from,
                               insertion->text);
        from = insertion->at;
        done[next] = true;
    }
    if (text && editor->count > 0)
        text = ck_arena_printf(editor->arena, "%s%.*s", text, (int)(source->length - from), source->text + from);
    *ret_text = editor->count > 0 ? text : source->text;
    return text ? 0 : ck_error_oom(editor->error);
}

int ck_learn_into(const struct ck_learn_text *text, const struct ck_learn_change *change, struct ck_arena *arena,
                  const char **ret_text, struct choke_error *error)
{
    size_t mark = ck_yaml_text_mark(text->text, text->length);
    const struct ck_learn_text body = {.file = text->file, .text = text->text + mark, .length = text->length - mark};
    struct editor editor = {.source = &body, .arena = arena, .error = error};
    const char *edited = NULL;
    int r = ck_yaml_tree_parse(&editor.tree, body.file, body.text, body.length, error);
    if (r == 0) {
        const struct ck_yaml_node *mapping = change->tool ? find_entry(&editor.tree, change->entry->name) : NULL;
        r = mapping ? add_to_entry(&editor, mapping, change) : add_entry(&editor, change);
    }
    if (r == 0)
        r = apply(&editor, &edited);
    ck_yaml_tree_done(&editor.tree);
    if (r < 0)
        return r;
    *ret_text = edited == body.text ? text->text : ck_arena_printf(arena, "%.*s%s", (int)mark, text->text, edited);
    return *ret_text ? 0 : ck_error_oom(error);
}
