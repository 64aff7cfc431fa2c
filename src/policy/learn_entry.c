/* learn_entry.c - writes an entry that was learned. See learn_entry.h. */
#include "policy/learn_entry.h"

#include "policy/yaml_write.h"

#define REVIEW "# review: "
#define QUESTION "# question: "

/* The text so far; NULL once memory ran out. */
struct entry_text {
    struct ck_arena *arena;
    const char *text;
    unsigned indent;
    bool answered;
};

/* One line: beginning, content, and a comment, which may be NULL. */
static void put_line(struct entry_text *out, const char *begin, const char *content, const char *note)
{
    bool commented = note && !out->answered;
    if (out->text)
        out->text = ck_arena_printf(out->arena, "%s%*s%s%s%s%s\n", out->text, (int)out->indent, "", begin, content,
                                    commented ? "  # " : "", commented ? note : "");
}

static void put_comment(struct entry_text *out, const char *begin, const char *content)
{
    if (!out->answered)
        put_line(out, begin, content, NULL);
}

static void put_quoted(struct entry_text *out, const char *key, const char *value)
{
    const char *text = value ? ck_policy_yaml_text(value, out->arena) : NULL;
    if (!text)
        out->text = NULL;
    else
        put_line(out, key, text, NULL);
}

const char *ck_learn_entry_vector(const char *const *args, struct ck_arena *arena)
{
    const char *text = "[";
    for (size_t i = 0; text && args[i]; i++) {
        const char *word = ck_policy_yaml_text(args[i], arena);
        text = word ? ck_arena_printf(arena, "%s%s%s", text, i == 0 ? "" : ", ", word) : NULL;
    }
    return text ? ck_arena_printf(arena, "%s]", text) : NULL;
}

/* "execs: [a, b]", for a list that has no member without a question. */
static void put_asked(struct entry_text *out, const char *key, const struct ck_learn_items *asked)
{
    const char *list = "";
    const char *note = "";
    for (size_t i = 0; list && note && i < asked->count; i++) {
        list = ck_arena_printf(out->arena, "%s%s%s", list, i == 0 ? "" : ", ", asked->items[i].text);
        note = ck_arena_printf(out->arena, "%s%s%s", note, i == 0 ? "" : "; ", asked->items[i].note);
    }
    const char *line = list ? ck_arena_printf(out->arena, "%s: [%s]", key, list) : NULL;
    if (!line || !note)
        out->text = NULL;
    else
        put_line(out, out->answered ? "" : QUESTION, line, note);
}

static void put_list(struct entry_text *out, const char *key, const struct ck_learn_items *granted,
                     const struct ck_learn_items *asked)
{
    if (granted->count == 0) {
        if (asked->count > 0)
            put_asked(out, key, asked);
        return;
    }
    put_line(out, key, ":", NULL);
    out->indent += 2;
    for (size_t i = 0; i < granted->count; i++)
        put_line(out, "- ", granted->items[i].text, granted->items[i].note);
    for (size_t i = 0; i < asked->count; i++)
        put_line(out, out->answered ? "- " : QUESTION "- ", asked->items[i].text, asked->items[i].note);
    out->indent -= 2;
}

/* Without a helper the tool may execute nothing, unless a question is answered with yes. */
static void put_helpers(struct entry_text *out, const struct ck_learn_entry *entry)
{
    put_list(out, "uses", &entry->uses, &entry->asked_uses);
    put_list(out, "execs", &entry->execs, &entry->asked_execs);
    if (entry->uses.count + entry->execs.count + entry->asked_execs.count == 0 &&
        !(out->answered && entry->asked_uses.count > 0))
        put_line(out, "execs: []", "", NULL);
}

/* workspace_code needs the other key beside it. */
static void put_workspace(struct entry_text *out, const struct ck_learn_entry *entry)
{
    if (entry->writes)
        put_comment(out, REVIEW "it writes beneath the root: ", entry->writes);
    if (entry->writes || entry->code)
        put_line(out, "workspace: ", entry->writes ? "rw" : "ro", NULL);
    if (!entry->code)
        return;
    put_comment(out, REVIEW "it runs code of the repository, with all that this entry allows: ", entry->code);
    put_line(out, "workspace_code: true", "", NULL);
}

const char *ck_learn_entry_write(const struct ck_learn_entry *entry, unsigned indent, bool answered,
                                 struct ck_arena *arena)
{
    struct entry_text out = {.arena = arena, .text = "", .indent = indent, .answered = answered};
    const char *vector = ck_learn_entry_vector(entry->args, arena);
    if (!vector)
        return NULL;
    put_quoted(&out, "- name: ", entry->name);
    out.indent += 2;
    put_quoted(&out, "why: ", entry->why);
    out.text =
        out.text ? ck_arena_printf(arena, "%s%*sadr: \"%s\"\n", out.text, (int)out.indent, "", entry->adr) : NULL;
    put_line(&out, "route: external", "", NULL);
    for (size_t i = 0; i < entry->notes.count; i++)
        put_comment(&out, "# ", entry->notes.items[i].text);
    if (entry->replaces)
        put_comment(&out, REVIEW, "it replaces the whole entry of the default policy");
    put_comment(&out, REVIEW, "this call and no other; chokepoint-policy(5) has options and operands");
    put_line(&out, "args:", "", NULL);
    out.indent += 2;
    put_line(&out, "exact:", "", NULL);
    out.indent += 2;
    put_line(&out, "- ", vector, NULL);
    out.indent -= 4;
    put_helpers(&out, entry);
    put_workspace(&out, entry);
    return out.text;
}
