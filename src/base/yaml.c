/*
 * yaml.c - see yaml.h.
 *
 * libyaml's events are read once. The current event is always the first one that is not used yet,
 * or the last one of a value that was just stored. The table decides what may come, so the
 * recursion is as deep as the table, however deep the file is.
 */
#include "base/yaml.h"

#include "base/error.h"
#include "base/quote.h"

#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#define FIRST_ROOM 4  /* entries of a list, before it doubles */
#define NAMES_MAX 256 /* bytes of the names that a message lists */
#define DIGITS_MAX 9  /* always fits into an int */

/* The state of one ck_yaml_read. */
struct reader {
    const struct ck_yaml_format *format;
    const struct ck_yaml_source *source;
    struct ck_arena *arena;
    struct choke_error *error;
    yaml_parser_t parser;
    yaml_event_t event; /* the current one; owned, deleted by next() */
};

/*
 * A list that grows. The arrays it has outgrown stay in the arena; together they are no larger than
 * the last one.
 */
struct list {
    char *items;
    size_t size; /* bytes of one item */
    uint32_t count, room;
};

/* ---- faults ------------------------------------------------------------------------------ */

int ck_yaml_error(const struct ck_yaml_format *format, const char *file, struct ck_yaml_place place,
                  struct choke_error *error, const char *message, ...)
{
    char text[CHOKE_MESSAGE_MAX / 2]; /* the file's name and the place fit before it */
    va_list list;
    va_start(list, message);
    (void)vsnprintf(text, sizeof(text), message, list);
    va_end(list);
    int r = ck_error_set(error, CHOKE_INVALID, EINVAL, "%s '%s': line %u, column %u: %s", format->what, CK_QUOTE(file),
                         place.line, place.column, text);
    if (error) {
        error->line = place.line;
        error->column = place.column;
    }
    return r;
}

static struct ck_yaml_place place_of(yaml_mark_t mark)
{
    return (struct ck_yaml_place){(unsigned)mark.line + 1, (unsigned)mark.column + 1};
}

#define FAULT_AT(reader, place, ...) \
    ck_yaml_error((reader)->format, (reader)->source->file, (place), (reader)->error, __VA_ARGS__)
#define FAULT(reader, ...) FAULT_AT(reader, place_of((reader)->event.start_mark), __VA_ARGS__)

static struct ck_yaml_place place_at(const struct reader *reader, size_t offset)
{
    return ck_yaml_text_place(reader->source->text, reader->source->length, offset);
}

static int syntax_fault(struct reader *reader)
{
    const yaml_parser_t *parser = &reader->parser;
    if (parser->error == YAML_MEMORY_ERROR)
        return ck_error_oom(reader->error);
    /* For bytes that are not characters libyaml gives an offset and no mark. */
    struct ck_yaml_place place =
        parser->error == YAML_READER_ERROR ? place_at(reader, parser->problem_offset) : place_of(parser->problem_mark);
    return FAULT_AT(reader, place, "not valid YAML: %s", parser->problem ? parser->problem : "cannot be read");
}

/*
 * Joins the names at first and every stride bytes after it, up to a NULL, as "a, b, c". What does
 * not fit is cut.
 */
static const char *join(char *buffer, size_t size, const char *const *first, size_t stride)
{
    const char *const *word = first;
    for (size_t at = 0; *word && at < size;) {
        at += (size_t)snprintf(buffer + at, size - at, "%s%s", word == first ? "" : ", ", *word);
        word = (const char *const *)(const void *)((const char *)word + stride);
    }
    return buffer;
}

#define NAMES(keys) join((char[NAMES_MAX]){0}, NAMES_MAX, &(keys)[0].name, sizeof(struct ck_yaml_key))

/* What the current event begins, for a message. */
static const char *event_name(const struct reader *reader)
{
    if (reader->event.type == YAML_MAPPING_START_EVENT)
        return "a mapping";
    return reader->event.type == YAML_SEQUENCE_START_EVENT ? "a list" : "a single value";
}

/* ---- events ------------------------------------------------------------------------------ */

/* Goes to the next event. No reader has to handle an alias: it is refused here. */
static int next(struct reader *reader)
{
    yaml_event_delete(&reader->event);
    if (!yaml_parser_parse(&reader->parser, &reader->event))
        return syntax_fault(reader);
    if (reader->event.type == YAML_ALIAS_EVENT)
        return FAULT(reader, "an alias is not allowed; write the value here");
    return 0;
}

/*
 * The current scalar, or NULL if the event is not one. It may have a NUL byte in it: see has_nul.
 */
static const char *scalar(const struct reader *reader)
{
    return reader->event.type == YAML_SCALAR_EVENT ? (const char *)reader->event.data.scalar.value : NULL;
}

/* Without quotes. Only then are null and numbers meant as such. */
static bool is_plain(const struct reader *reader)
{
    return reader->event.data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
}

/*
 * "\0" in double quotes is a NUL byte in the value; C functions would see only the part before it.
 */
static bool has_nul(const struct reader *reader)
{
    return strlen((const char *)reader->event.data.scalar.value) != reader->event.data.scalar.length;
}

static bool scalar_is(const struct reader *reader, const char *word)
{
    return scalar(reader) && !has_nul(reader) && strcmp(scalar(reader), word) == 0;
}

/* ---- values ------------------------------------------------------------------------------ */

static int read_text(struct reader *reader, const struct ck_yaml_key *key, void *target)
{
    const char *text = scalar(reader);
    size_t max = key->max != 0 ? key->max : reader->format->text_max;
    if (!text)
        return FAULT(reader, "'%s': text is expected here, not %s", key->name, event_name(reader));
    size_t length = reader->event.data.scalar.length;
    /* the three ways to write null in YAML */
    if (is_plain(reader) && (length == 0 || strcmp(text, "~") == 0 || strcmp(text, "null") == 0))
        return FAULT(reader, "'%s' has no value here; write one or leave it out", key->name);
    if (length == 0 || length > max)
        return FAULT(reader, "'%s' has %zu bytes here; 1 to %zu bytes are allowed", key->name, length, max);
    if (has_nul(reader))
        return FAULT(reader, "'%s' has a NUL byte here, which no text may have", key->name);
    if (key->form && !key->form->accepts(text))
        return FAULT(reader, "'%s' is '%s'; it must be %s", key->name, CK_QUOTE(text), key->form->must_be);
    const char *copy = ck_arena_memdup(reader->arena, text, length);
    if (!copy)
        return ck_error_oom(reader->error);
    /* target is a member of any struct; memcpy stores there without a cast to its type */
    memcpy(target, &copy, sizeof(copy));
    return 0;
}

static int read_flag(struct reader *reader, const struct ck_yaml_key *key, void *target)
{
    bool yes = scalar_is(reader, "true");
    if (!yes && !scalar_is(reader, "false"))
        return FAULT(reader, "'%s' must be true or false", key->name);
    memcpy(target, &yes, sizeof(yes));
    return 0;
}

static int read_number(struct reader *reader, const struct ck_yaml_key *key, void *target)
{
    const char *text = scalar(reader);
    size_t digits = text ? strspn(text, "0123456789") : 0;
    /* no leading zero: YAML 1.1 reads 010 as eight */
    bool decimal = digits > 0 && digits <= DIGITS_MAX && text[digits] == '\0' && (text[0] != '0' || digits == 1) &&
                   is_plain(reader) && !has_nul(reader);
    unsigned number = decimal ? (unsigned)strtoul(text, NULL, 10) : 0;
    if (decimal && number >= key->min && number <= key->max) {
        memcpy(target, &number, sizeof(number));
        return 0;
    }
    if (key->min == key->max)
        return FAULT(reader, "'%s' must be %u, in plain digits", key->name, key->min);
    return FAULT(reader, "'%s' must be a number from %u to %u, in plain digits", key->name, key->min, key->max);
}

static int read_word(struct reader *reader, const struct ck_yaml_key *key, void *target)
{
    char names[NAMES_MAX];
    for (int i = 0; key->choices[i]; i++)
        if (scalar_is(reader, key->choices[i])) {
            memcpy(target, &i, sizeof(i));
            return 0;
        }
    const char *choice = key->choices[1] ? "one of: " : "";
    join(names, sizeof(names), key->choices, sizeof(key->choices[0]));
    if (!scalar(reader))
        return FAULT(reader, "'%s' must be %s%s, not %s", key->name, choice, names, event_name(reader));
    return FAULT(reader, "'%s' is '%s'; it must be %s%s", key->name, CK_QUOTE(scalar(reader)), choice, names);
}

static int fill(struct reader *reader, const struct ck_yaml_key *keys, void *target);

static int read_record(struct reader *reader, const struct ck_yaml_key *key, void *target)
{
    return fill(reader, key->keys, target);
}

/* ---- lists ------------------------------------------------------------------------------- */

/* The item after the last counted one, zero-filled as the arena is. NULL: out of memory. */
static char *reserve(struct reader *reader, struct list *list)
{
    if (list->count == list->room) {
        uint32_t room = list->room != 0 ? list->room * 2 : FIRST_ROOM;
        char *items = ck_arena_array(reader->arena, room, list->size);
        if (!items)
            return NULL;
        if (list->count > 0)
            memcpy(items, list->items, list->count * list->size);
        list->items = items;
        list->room = room;
    }
    return list->items + list->count * list->size;
}

/*
 * Room for the item that begins with the current event. A struct begins with its place, which is
 * stored here.
 */
static int add_item(struct reader *reader, const struct ck_yaml_key *key, struct list *list, char **ret_item)
{
    unsigned max = key->max_entries != 0 ? key->max_entries : CK_YAML_ENTRIES_MAX;
    if (list->count == max)
        return FAULT(reader, "'%s' may have at most %u entries", key->name, max);
    *ret_item = reserve(reader, list);
    if (!*ret_item)
        return ck_error_oom(reader->error);
    if (key->size != 0) {
        struct ck_yaml_place place = place_of(reader->event.start_mark);
        memcpy(*ret_item, &place, sizeof(place));
    }
    return 0;
}

/*
 * Stores the list that began at place. reserve makes sure that a zero-filled item follows the last
 * one, which ends a list of texts with NULL.
 */
static int end_list(struct reader *reader, const struct ck_yaml_key *key, struct ck_yaml_place place, struct list *list,
                    void *target)
{
    if (list->count == 0 && key->not_empty)
        return FAULT_AT(reader, place, "'%s' must not be empty", key->name);
    if (!reserve(reader, list))
        return ck_error_oom(reader->error);
    memcpy((char *)target + key->offset, &list->items, sizeof(list->items));
    if (key->count_offset != 0)
        memcpy((char *)target + key->count_offset, &list->count, sizeof(list->count));
    return 0;
}

/*
 * A YAML list. read stores one item; it sees the first event of the item and leaves the last one.
 */
static int store_list(struct reader *reader, const struct ck_yaml_key *key, void *target, size_t size,
                      int (*read)(struct reader *, const struct ck_yaml_key *, void *))
{
    struct ck_yaml_place place = place_of(reader->event.start_mark);
    struct list list = {.size = size};
    int r = 0;
    if (reader->event.type != YAML_SEQUENCE_START_EVENT)
        return FAULT(reader, "'%s' must be a list, not %s", key->name, event_name(reader));
    while ((r = next(reader)) == 0 && reader->event.type != YAML_SEQUENCE_END_EVENT) {
        char *item;
        r = add_item(reader, key, &list, &item);
        if (r == 0)
            r = read(reader, key, item);
        if (r < 0)
            return r;
        list.count++;
    }
    return r < 0 ? r : end_list(reader, key, place, &list, target);
}

/* The key of a pair, which keys[0] stored as a text. */
static const char *name_of(const struct ck_yaml_key *key, const char *item)
{
    const char *name;
    memcpy(&name, item + key->keys[0].offset, sizeof(name));
    return name;
}

/* Compares the key of the item being read, which is not counted yet, with all before it. */
static int check_twice(struct reader *reader, const struct ck_yaml_key *key, const struct list *list)
{
    const char *name = name_of(key, list->items + list->count * list->size);
    for (uint32_t i = 0; i < list->count; i++) {
        const char *item = list->items + i * list->size;
        struct ck_yaml_place first;
        memcpy(&first, item, sizeof(first));
        if (strcmp(name_of(key, item), name) == 0)
            return FAULT(reader, "'%s' is given twice; the first one is on line %u", CK_QUOTE(name), first.line);
    }
    return 0;
}

static int store_value(struct reader *reader, const struct ck_yaml_key *key, void *target);

/*
 * A mapping with free keys, as a list of structs: the key, then the value, in the order of the
 * file.
 */
static int store_pairs(struct reader *reader, const struct ck_yaml_key *key, void *target)
{
    struct ck_yaml_place place = place_of(reader->event.start_mark);
    struct list list = {.size = key->size};
    int r = 0;
    if (reader->event.type != YAML_MAPPING_START_EVENT)
        return FAULT(reader, "'%s' must be a mapping, not %s", key->name, event_name(reader));
    while ((r = next(reader)) == 0 && reader->event.type != YAML_MAPPING_END_EVENT) {
        char *item;
        r = add_item(reader, key, &list, &item);
        if (r == 0)
            r = store_value(reader, &key->keys[0], item);
        if (r == 0)
            r = check_twice(reader, key, &list);
        if (r == 0)
            r = next(reader);
        if (r == 0)
            r = store_value(reader, &key->keys[1], item);
        if (r < 0)
            return r;
        list.count++;
    }
    return r < 0 ? r : end_list(reader, key, place, &list, target);
}

/* ---- mappings ---------------------------------------------------------------------------- */

static int store_value(struct reader *reader, const struct ck_yaml_key *key, void *target)
{
    char *value = (char *)target + key->offset;
    switch (key->kind) {
    case CK_YAML_TEXT:
        return read_text(reader, key, value);
    case CK_YAML_FLAG:
        return read_flag(reader, key, value);
    case CK_YAML_NUMBER:
        return read_number(reader, key, value);
    case CK_YAML_CHOICE:
        return read_word(reader, key, value);
    case CK_YAML_RECORD:
        return read_record(reader, key, value);
    case CK_YAML_TEXTS:
        return store_list(reader, key, target, sizeof(const char *), read_text);
    case CK_YAML_NUMBERS:
        return store_list(reader, key, target, sizeof(int), read_number);
    case CK_YAML_RECORDS:
        return store_list(reader, key, target, key->size, read_record);
    case CK_YAML_PAIRS:
        break;
    }
    return store_pairs(reader, key, target);
}

/* The index of the current key in its table, or a negative errno. */
static int find_key(struct reader *reader, const struct ck_yaml_key *keys)
{
    int i = 0;
    if (!scalar(reader) || has_nul(reader))
        return FAULT(reader, "a key must be text; known keys are: %s", NAMES(keys));
    while (keys[i].name && strcmp(keys[i].name, scalar(reader)) != 0)
        i++;
    if (!keys[i].name)
        return FAULT(reader, "unknown key '%s'; known keys are: %s", CK_QUOTE(scalar(reader)), NAMES(keys));
    assert(i < CK_YAML_KEYS_MAX);
    return i;
}

/* The value of a key that is not in the file. The other kinds keep the zeros of the struct. */
static void fill_absent(const struct ck_yaml_key *key, void *target)
{
    static const char *const none[] = {NULL};
    const char *const *texts = key->absent_texts ? key->absent_texts : none;
    if (key->kind == CK_YAML_TEXTS)
        memcpy((char *)target + key->offset, &texts, sizeof(texts));
    if (key->kind == CK_YAML_NUMBER)
        memcpy((char *)target + key->offset, &key->absent, sizeof(key->absent));
}

/* All keys are read: required ones must have been there. */
static int end_mapping(struct reader *reader, const struct ck_yaml_key *keys, struct ck_yaml_place place,
                       const unsigned *lines, void *target)
{
    for (int i = 0; keys[i].name; i++) {
        if (lines[i] == 0 && keys[i].required)
            return FAULT_AT(reader, place, "key '%s' is missing", keys[i].name);
        if (lines[i] == 0)
            fill_absent(&keys[i], target);
    }
    return 0;
}

static int fill(struct reader *reader, const struct ck_yaml_key *keys, void *target)
{
    struct ck_yaml_place place = place_of(reader->event.start_mark);
    unsigned lines[CK_YAML_KEYS_MAX] = {0}; /* where each key is given; 0: not yet */
    int r = 0;
    if (reader->event.type != YAML_MAPPING_START_EVENT)
        return FAULT(reader, "a mapping is expected here, not %s; its keys are: %s", event_name(reader), NAMES(keys));
    while ((r = next(reader)) == 0 && reader->event.type != YAML_MAPPING_END_EVENT) {
        int at = find_key(reader, keys);
        if (at < 0)
            return at;
        if (lines[at] != 0)
            return FAULT(reader, "key '%s' is given twice; the first one is on line %u", keys[at].name, lines[at]);
        lines[at] = place_of(reader->event.start_mark).line;
        r = next(reader);
        if (r == 0)
            r = store_value(reader, &keys[at], target);
        if (r < 0)
            return r;
    }
    return r < 0 ? r : end_mapping(reader, keys, place, lines, target);
}

/* ---- the document ------------------------------------------------------------------------ */

/*
 * libyaml's order of events: start of stream, start of document, the value, end of document, end of
 * stream. An empty file has no document.
 */
static int read_stream(struct reader *reader, void *target)
{
    int r = next(reader); /* the start of the stream */
    if (r == 0)
        r = next(reader);
    if (r < 0)
        return r;
    if (reader->event.type == YAML_STREAM_END_EVENT)
        return reader->format->may_be_empty ? 0 : FAULT(reader, "there is nothing in the file");
    r = next(reader);
    if (r == 0)
        r = fill(reader, reader->format->keys, target);
    if (r == 0)
        r = next(reader); /* the end of the document */
    if (r == 0)
        r = next(reader);
    if (r == 0 && reader->event.type != YAML_STREAM_END_EVENT)
        r = FAULT(reader, "a second document begins here; only one is allowed");
    return r;
}

/* Refuses what would cost libyaml too much time or memory. */
static int check_source(struct reader *reader)
{
    size_t length = reader->source->length, max = reader->format->max_bytes;
    if (length > max)
        return FAULT_AT(reader, place_at(reader, max), "the file is larger than %zu bytes", max);
    size_t directive = ck_yaml_text_directive(reader->source->text, length);
    if (directive < length)
        return FAULT_AT(reader, place_at(reader, directive), "a line begins with '%%'; directives are not allowed");
    return 0;
}

int ck_yaml_read(const struct ck_yaml_format *format, const struct ck_yaml_source *source, struct ck_arena *arena,
                 void *target, struct choke_error *error)
{
    /* Places are counted without the mark, as an editor does. */
    size_t mark = ck_yaml_text_mark(source->text, source->length);
    const struct ck_yaml_source rest = {source->file, source->text + mark, source->length - mark};
    struct reader reader = {.format = format, .source = &rest, .arena = arena, .error = error};
    int r = check_source(&reader);
    if (r < 0)
        return r;
    if (!yaml_parser_initialize(&reader.parser))
        return ck_error_oom(error);
    /* otherwise libyaml would also accept UTF-16 */
    yaml_parser_set_encoding(&reader.parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&reader.parser, (const unsigned char *)rest.text, rest.length);
    r = read_stream(&reader, target);
    yaml_event_delete(&reader.event);
    yaml_parser_delete(&reader.parser);
    return r;
}
