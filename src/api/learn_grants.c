/*
 * learn_grants.c - decides what of a learning run is a grant. See learn_grants.h and docs/adr/0062.
 *
 * The names come from the tool. Must not grant anything that denied_add.c would not suggest, and
 * must not put a name into a comment as it is.
 */
#include "api/learn_grants.h"

#include "api/denied_add.h"
#include "base/heap.h"
#include "policy/yaml_write.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NOTES_MAX 16 /* comments about what is never granted */
#define SET_FROM 3   /* members of a set: from this number on the set is used */
#define NOTED_MAX 6  /* members that the comment of a set names */
#define FILES_MAX CK_DENIALS_LEARN_MAX

/* A file that may be granted. */
struct learned_file {
    const struct ck_helper_set *set; /* that has it, or NULL */
    const char *text;                /* for `execs` */
    const char *name;                /* the last part of its path */
    const char *real;                /* its path without links; or NULL */
    const char *by;                  /* the program that executed it, escaped */
    bool by_name, asked;
    bool done; /* it is in a list of the entry */
};

struct grants {
    struct choke_context *context;
    struct ck_identity root;
    struct ck_arena *arena;
    struct ck_learn_entry *entry;
    struct learned_file files[FILES_MAX];
    size_t count;
    struct ck_learn_item notes[NOTES_MAX + 1];
    size_t notes_count, notes_more;
};

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* ---- records ---- */

/* The same path once, whichever program tried it. */
static int add_note(struct grants *grants, const char *kind, const char *path, const char *by)
{
    const char *shown = ck_denied_show(grants->arena, path);
    const char *begin = shown ? ck_arena_printf(grants->arena, "%s '%s' by ", kind, shown) : NULL;
    if (!begin)
        return -ENOMEM;
    for (size_t i = 0; i < grants->notes_count; i++)
        if (strncmp(grants->notes[i].text, begin, strlen(begin)) == 0)
            return 0;
    if (grants->notes_count == NOTES_MAX) {
        grants->notes_more++;
        return 0;
    }
    const char *text = ck_arena_printf(grants->arena, "%s%s", begin, by);
    grants->notes[grants->notes_count++].text = text;
    return text ? 0 : -ENOMEM;
}

/* The same file once; what the tool executed itself is no question, whoever else executed it. */
static int add_file(struct grants *grants, const char *path, const char *by, bool asked)
{
    struct ck_denied_add_choice choice;
    if (!ck_denied_add_choose(&grants->context->search, grants->root, path, by, &choice))
        return add_note(grants, "never granted: exec", path, by);
    const char *text = ck_policy_yaml_text(choice.file, grants->arena);
    if (!text)
        return -ENOMEM;
    for (size_t i = 0; i < grants->count; i++) {
        struct learned_file *file = &grants->files[i];
        if (strcmp(file->text, text) != 0)
            continue;
        if (file->asked && !asked) {
            file->asked = false;
            file->by = by;
        }
        return 0;
    }
    CK_HEAP char *real = ck_heap_own(realpath(path, NULL));
    if (grants->count < FILES_MAX)
        grants->files[grants->count++] =
            (struct learned_file){.set = choice.set,
                                  .text = text,
                                  .name = last_part(path),
                                  .real = real ? ck_arena_strdup(grants->arena, real) : NULL,
                                  .by = by,
                                  .by_name = choice.by_name,
                                  .asked = asked};
    return 0;
}

/*
 * The name of the program that a process was executing. The kernel knows only the file; so a link is
 * shown by its name (gcc) if the run executed it by that name.
 */
static const char *name_of(struct grants *grants, const char *program)
{
    const char *tool = grants->context->learn.tool;
    if (tool && strcmp(program, tool) == 0)
        return ck_denied_show(grants->arena, grants->entry->name);
    for (size_t i = 0; i < grants->count; i++)
        if (grants->files[i].real && strcmp(grants->files[i].real, program) == 0)
            return grants->files[i].name;
    return ck_denied_show(grants->arena, last_part(program));
}

static int take_record(struct grants *grants, const struct ck_denial_record *record, const char *text)
{
    const char *path = ck_arena_memdup(grants->arena, text, record->path_length);
    const char *program = ck_arena_memdup(grants->arena, text + record->path_length, record->by_length);
    const char *by = program ? name_of(grants, program) : NULL;
    if (!path || !by)
        return -ENOMEM;
    if (record->kind == CK_DENIAL_LEARNED || record->kind == CK_DENIAL_LEARNED_WORKSPACE)
        return add_file(grants, path, by, record->kind == CK_DENIAL_LEARNED_WORKSPACE);
    if (record->kind == CK_DENIAL_LEARNED_CODE) {
        const char *shown = grants->entry->code ? grants->entry->code : ck_denied_show(grants->arena, path);
        grants->entry->code = shown;
        return shown ? 0 : -ENOMEM;
    }
    if (!ck_denied_is_refusal(record, text))
        return 0;
    const char *kind = ck_arena_printf(grants->arena, "never granted: %s", ck_denied_kind(record->kind));
    return kind ? add_note(grants, kind, path, by) : -ENOMEM;
}

/* ---- lists ---- */

/* "cc1 by gcc, ld by collect2 and 3 more" */
static const char *note_set(struct grants *grants, const struct ck_helper_set *set, bool asked)
{
    const char *note = "";
    size_t members = 0;
    for (size_t i = 0; note && i < grants->count; i++) {
        struct learned_file *file = &grants->files[i];
        if (file->set != set || file->asked != asked || file->done)
            continue;
        file->done = true;
        if (members++ < NOTED_MAX)
            note = ck_arena_printf(grants->arena, "%s%s%s by %s", note, members == 1 ? "" : ", ", file->name, file->by);
    }
    return note && members > NOTED_MAX ? ck_arena_printf(grants->arena, "%s and %zu more", note, members - NOTED_MAX)
                                       : note;
}

/* Is the set needed as a whole? A file that no name leads to has a path with a version in it. */
static bool needs_set(const struct grants *grants, const struct ck_helper_set *set, bool asked)
{
    size_t members = 0;
    for (size_t i = 0; i < grants->count; i++) {
        const struct learned_file *file = &grants->files[i];
        if (file->set != set || file->asked != asked || file->done)
            continue;
        members += file->by_name ? 1 : SET_FROM;
    }
    return members >= SET_FROM;
}

/* A set that is granted needs no member of it, and answers the questions about them. */
static void drop_answered(struct grants *grants, const struct ck_helper_set *set)
{
    for (size_t i = 0; i < grants->count; i++)
        if (grants->files[i].set == set)
            grants->files[i].done = true;
}

static int list_sets(struct grants *grants, bool asked, struct ck_learn_items *ret)
{
    struct ck_learn_item *items = ck_arena_array(grants->arena, ck_helper_sets_count, sizeof(*items));
    if (!items)
        return -ENOMEM;
    ret->items = items;
    for (uint32_t i = 0; i < ck_helper_sets_count; i++) {
        const struct ck_helper_set *set = &ck_helper_sets[i];
        if (!needs_set(grants, set, asked))
            continue;
        const char *note = note_set(grants, set, asked);
        if (!note)
            return -ENOMEM;
        items[ret->count++] = (struct ck_learn_item){.text = set->name, .note = note};
        if (!asked)
            drop_answered(grants, set);
    }
    return 0;
}

static int list_files(struct grants *grants, bool asked, struct ck_learn_items *ret)
{
    struct ck_learn_item *items = ck_arena_array(grants->arena, FILES_MAX, sizeof(*items));
    if (!items)
        return -ENOMEM;
    ret->items = items;
    for (size_t i = 0; i < grants->count; i++) {
        struct learned_file *file = &grants->files[i];
        if (file->done || file->asked != asked)
            continue;
        file->done = true;
        const char *note = ck_arena_printf(grants->arena, "%s by %s", file->name, file->by);
        if (!note)
            return -ENOMEM;
        items[ret->count++] = (struct ck_learn_item){.text = file->text, .note = note};
    }
    return 0;
}

static int list_all(struct grants *grants)
{
    struct ck_learn_entry *entry = grants->entry;
    int r = list_sets(grants, false, &entry->uses);
    if (r == 0)
        r = list_files(grants, false, &entry->execs);
    if (r == 0)
        r = list_sets(grants, true, &entry->asked_uses);
    return r < 0 ? r : list_files(grants, true, &entry->asked_execs);
}

static int list_notes(struct grants *grants)
{
    uint64_t more = grants->notes_more + grants->context->learn.more;
    if (more > 0) {
        const char *text =
            ck_arena_printf(grants->arena, "and %llu more events, which are not listed here", (unsigned long long)more);
        if (!text)
            return -ENOMEM;
        grants->notes[grants->notes_count++].text = text;
    }
    struct ck_learn_item *items = ck_arena_array(grants->arena, NOTES_MAX + 1, sizeof(*items));
    if (!items)
        return -ENOMEM;
    memcpy(items, grants->notes, grants->notes_count * sizeof(*items));
    grants->entry->notes = (struct ck_learn_items){.items = items, .count = grants->notes_count};
    return 0;
}

int ck_learn_grants(struct choke_context *context, struct ck_identity root, const struct ck_list *uses,
                    struct ck_arena *arena, struct ck_learn_entry *entry)
{
    /* On the heap: it is larger than a frame may be. */
    CK_HEAP struct grants *grants = ck_heap_own(calloc(1, sizeof(*grants)));
    const char *at = context->learn.records;
    const char *end = at + context->learn.bytes;
    struct ck_denial_record record;
    const char *text;
    int r = 0;
    if (!grants)
        return -ENOMEM;
    grants->context = context;
    grants->root = root;
    grants->arena = arena;
    grants->entry = entry;
    while (r == 0 && at && ck_denied_next(&at, end, &record, &text))
        r = take_record(grants, &record, text);
    for (uint32_t i = 0; i < uses->count; i++)
        drop_answered(grants, ck_helper_sets_find(uses->items[i]));
    if (r == 0)
        r = list_all(grants);
    return r < 0 ? r : list_notes(grants);
}
