/*
 * fields.c - see fields.h.
 *
 * The tree that libyaml makes is kept: texts are its own, so that only lists and structs are allocated here.
 */
#include "gather/fields.h"

#include "cli/text.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#define TEXT_MAX 16384
#define LIST_MAX 1024
#define DEPTH_MAX 16

struct fields_block {
    struct fields_block *next;
    max_align_t bytes[];
};

struct fields_storage {
    yaml_document_t document;
    struct fields_block *pieces;
};

struct fields_reader {
    struct fields_storage *storage;
    const char *file;
    bool *seen; /* for each node: a second way to it is an alias */
    struct choke_error *error;
};

/* ---- errors and memory ---- */

void ck_fields_report(struct choke_error *error, const char *file, struct ck_fields_position position,
                      const char *format, ...)
{
    char choices[CHOKE_MESSAGE_MAX / 2];
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(choices, sizeof(choices), format, arguments);
    va_end(arguments);
    (void)ck_text_error(error, CHOKE_INVALID, EINVAL, "%s:%u:%u: %s", CK_TEXT_SAFE(file), position.line,
                        position.column, choices);
    error->line = position.line;
    error->column = position.column;
}

static struct ck_fields_position position_of(const yaml_mark_t *mark)
{
    return (struct ck_fields_position){(unsigned)mark->line + 1, (unsigned)mark->column + 1};
}

#define FAULT(reader, node, ...) \
    CK_FIELDS_FAULT((reader)->error, (reader)->file, position_of(&(node)->start_mark), __VA_ARGS__)

static int out_of_memory(struct choke_error *error)
{
    (void)ck_text_error(error, CHOKE_NONE, ENOMEM, "out of memory");
    return -ENOMEM;
}

static void *allocate(struct fields_reader *reader, size_t count, size_t size)
{
    size_t bytes;

    if (__builtin_mul_overflow(count, size, &bytes) ||
        __builtin_add_overflow(bytes, sizeof(struct fields_block), &bytes))
        return NULL;
    struct fields_block *piece = calloc(1, bytes);
    if (!piece)
        return NULL;
    piece->next = reader->storage->pieces;
    reader->storage->pieces = piece;
    return piece->bytes;
}

/* ---- nodes ---- */

/* A node by its number, each once. */
static int take_node(struct fields_reader *reader, int number, yaml_node_t **ret_node)
{
    yaml_node_t *node = yaml_document_get_node(&reader->storage->document, number);

    if (reader->seen[number])
        return FAULT(reader, node, "an alias is not allowed: write it out");
    reader->seen[number] = true;
    *ret_node = node;
    return 0;
}

static int read_text(struct fields_reader *reader, const yaml_node_t *node, unsigned max, const char **ret_text)
{
    size_t most = max != 0 ? max : TEXT_MAX;

    if (node->type != YAML_SCALAR_NODE)
        return FAULT(reader, node, "a text must stand here");
    const char *text = (const char *)node->data.scalar.value;
    if (node->data.scalar.length == 0 || node->data.scalar.length > most)
        return FAULT(reader, node, "a text of 1 to %zu bytes must stand here", most);
    if (strlen(text) != node->data.scalar.length)
        return FAULT(reader, node, "a text must not have a NUL in it");
    *ret_text = text;
    return 0;
}

static int read_number(struct fields_reader *reader, const yaml_node_t *node, const struct ck_field *field,
                       unsigned *ret_number)
{
    const char *text = node->type == YAML_SCALAR_NODE ? (const char *)node->data.scalar.value : "";
    size_t digits = strspn(text, "0123456789");
    unsigned long number = digits > 0 && digits < 10 ? strtoul(text, NULL, 10) : 0;

    if (digits == 0 || digits >= 10 || text[digits] != '\0' || node->data.scalar.length != digits ||
        node->data.scalar.style != YAML_PLAIN_SCALAR_STYLE || number < field->min || number > field->max)
        return FAULT(reader, node, "'%s' takes numbers from %u to %u", field->key, field->min, field->max);
    *ret_number = (unsigned)number;
    return 0;
}

static int take_list(struct fields_reader *reader, const yaml_node_t *node, const struct ck_field *field,
                     size_t *ret_count)
{
    size_t most = field->max != 0 && field->kind != CK_FIELD_NUMBERS ? field->max : LIST_MAX;

    if (node->type != YAML_SEQUENCE_NODE)
        return FAULT(reader, node, "'%s' takes a list", field->key);
    *ret_count = (size_t)(node->data.sequence.items.top - node->data.sequence.items.start);
    if (*ret_count > most)
        return FAULT(reader, node, "'%s' takes a list of at most %zu", field->key, most);
    return 0;
}

/* ---- fields ---- */

static int fill(struct fields_reader *reader, const yaml_node_t *node, const struct ck_field *fields, void *target);

static int store_text(struct fields_reader *reader, const yaml_node_t *node, const struct ck_field *field, void *target)
{
    return read_text(reader, node, field->max, (const char **)((char *)target + field->offset));
}

static int store_name(struct fields_reader *reader, const yaml_node_t *node, const struct ck_field *field, void *target)
{
    const char *name;
    int r = read_text(reader, node, 0, &name);

    if (r < 0)
        return r;
    if (name[0] < 'a' || name[0] > 'z' || strlen(name) > 64 ||
        strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_") != strlen(name))
        return FAULT(reader, node, "'%s' is no name: it takes a-z, 0-9 and '_', a letter first, 64 at most",
                     CK_TEXT_SAFE(name));
    *(const char **)((char *)target + field->offset) = name;
    return 0;
}

static int store_flag(struct fields_reader *reader, const yaml_node_t *node, const struct ck_field *field, void *target)
{
    const char *text = node->type == YAML_SCALAR_NODE ? (const char *)node->data.scalar.value : "";
    bool yes = strcmp(text, "true") == 0;

    if (!yes && strcmp(text, "false") != 0)
        return FAULT(reader, node, "'%s' takes true or false", field->key);
    *(bool *)((char *)target + field->offset) = yes;
    return 0;
}

static int store_number(struct fields_reader *reader, const yaml_node_t *node, const struct ck_field *field,
                        void *target)
{
    return read_number(reader, node, field, (unsigned *)(void *)((char *)target + field->offset));
}

static int store_choice(struct fields_reader *reader, const yaml_node_t *node, const struct ck_field *field,
                        void *target)
{
    const char *text;
    int r = read_text(reader, node, 0, &text);

    if (r < 0)
        return r;
    for (int i = 0; field->choices[i]; i++)
        if (strcmp(field->choices[i], text) == 0) {
            *(int *)(void *)((char *)target + field->offset) = i;
            return 0;
        }
    return FAULT(reader, node, "'%s' does not take '%s'", field->key, CK_TEXT_SAFE(text));
}

static int store_texts(struct fields_reader *reader, const yaml_node_t *node, const struct ck_field *field,
                       void *target)
{
    size_t count = 0;
    int r = take_list(reader, node, field, &count);
    if (r < 0)
        return r;
    const char **texts = allocate(reader, count + 1, sizeof(*texts));
    if (!texts)
        return out_of_memory(reader->error);
    for (size_t i = 0; i < count; i++) {
        yaml_node_t *item;
        r = take_node(reader, node->data.sequence.items.start[i], &item);
        if (r == 0)
            r = read_text(reader, item, 0, &texts[i]);
        if (r < 0)
            return r;
    }
    *(const char *const **)(void *)((char *)target + field->offset) = texts;
    return 0;
}

static int store_numbers(struct fields_reader *reader, const yaml_node_t *node, const struct ck_field *field,
                         void *target)
{
    size_t count = 0;
    int r = take_list(reader, node, field, &count);
    if (r < 0)
        return r;
    int *numbers = allocate(reader, count + 1, sizeof(*numbers));
    if (!numbers)
        return out_of_memory(reader->error);
    for (size_t i = 0; i < count; i++) {
        yaml_node_t *item;
        unsigned number = 0;
        r = take_node(reader, node->data.sequence.items.start[i], &item);
        if (r == 0)
            r = read_number(reader, item, field, &number);
        if (r < 0)
            return r;
        numbers[i] = (int)number;
    }
    *(const int **)(void *)((char *)target + field->offset) = numbers;
    *(unsigned *)(void *)((char *)target + field->count_offset) = (unsigned)count;
    return 0;
}

static int store_object(struct fields_reader *reader, const yaml_node_t *node, const struct ck_field *field,
                        void *target)
{
    return fill(reader, node, field->fields, (char *)target + field->offset);
}

static int store_objects(struct fields_reader *reader, const yaml_node_t *node, const struct ck_field *field,
                         void *target)
{
    size_t count = 0;
    int r = take_list(reader, node, field, &count);
    if (r == 0 && count == 0)
        r = FAULT(reader, node, "'%s' must not be empty", field->key);
    if (r < 0)
        return r;
    char *objects = allocate(reader, count, field->size);
    if (!objects)
        return out_of_memory(reader->error);
    for (size_t i = 0; r == 0 && i < count; i++) {
        yaml_node_t *item;
        r = take_node(reader, node->data.sequence.items.start[i], &item);
        if (r < 0)
            return r;
        *(struct ck_fields_position *)(void *)(objects + i * field->size) = position_of(&item->start_mark);
        r = fill(reader, item, field->fields, objects + i * field->size);
    }
    *(void **)(void *)((char *)target + field->offset) = objects;
    *(size_t *)(void *)((char *)target + field->count_offset) = count;
    return r;
}

static int (*const store[])(struct fields_reader *, const yaml_node_t *, const struct ck_field *, void *) = {
    [CK_FIELD_TEXT] = store_text,       [CK_FIELD_NAME] = store_name,     [CK_FIELD_FLAG] = store_flag,
    [CK_FIELD_NUMBER] = store_number,   [CK_FIELD_CHOICE] = store_choice, [CK_FIELD_TEXTS] = store_texts,
    [CK_FIELD_NUMBERS] = store_numbers, [CK_FIELD_OBJECT] = store_object, [CK_FIELD_OBJECTS] = store_objects,
};

/* The number of the field in its table, or a negative errno. */
static int find_field(struct fields_reader *reader, const yaml_node_t *key, const struct ck_field *fields)
{
    const char *text;
    int r = read_text(reader, key, 0, &text);

    if (r < 0)
        return r;
    for (int i = 0; fields[i].key; i++)
        if (strcmp(fields[i].key, text) == 0)
            return i;
    return FAULT(reader, key, "there is no key '%s' here", CK_TEXT_SAFE(text));
}

static int fill_pair(struct fields_reader *reader, const yaml_node_pair_t *pair, const struct ck_field *fields,
                     void *target, uint64_t *given)
{
    yaml_node_t *key, *value;
    int r = take_node(reader, pair->key, &key);

    if (r == 0)
        r = take_node(reader, pair->value, &value);
    int at = r == 0 ? find_field(reader, key, fields) : r;
    if (at < 0)
        return at;
    if (*given >> at & 1)
        return FAULT(reader, key, "'%s' is given twice", fields[at].key);
    *given |= UINT64_C(1) << at; /* no table comes near 64 */
    return store[fields[at].kind](reader, value, &fields[at], target);
}

/* What is absent: an error, or a list that the table has for that, or an empty one. */
static int fill_absent(struct fields_reader *reader, const yaml_node_t *node, const struct ck_field *field,
                       void *target)
{
    static const char *const none[] = {NULL};

    if (field->required)
        return FAULT(reader, node, "'%s' is missing", field->key);
    if (field->kind == CK_FIELD_TEXTS)
        *(const char *const **)(void *)((char *)target + field->offset) = field->absent ? field->absent : none;
    return 0;
}

static int fill(struct fields_reader *reader, const yaml_node_t *node, const struct ck_field *fields, void *target)
{
    uint64_t given = 0;
    int r = 0;

    if (node->type != YAML_MAPPING_NODE)
        return FAULT(reader, node, "keys with values must stand here");
    for (const yaml_node_pair_t *pair = node->data.mapping.pairs.start; pair < node->data.mapping.pairs.top; pair++) {
        r = fill_pair(reader, pair, fields, target, &given);
        if (r < 0)
            return r;
    }
    for (int i = 0; r == 0 && fields[i].key; i++)
        if (!(given >> i & 1))
            r = fill_absent(reader, node, &fields[i], target);
    return r;
}

/* ---- the document ---- */

static int parser_fault(const yaml_parser_t *parser, const char *file, struct choke_error *error)
{
    if (parser->error == YAML_MEMORY_ERROR)
        return out_of_memory(error);
    return CK_FIELDS_FAULT(error, file, position_of(&parser->problem_mark), "%s",
                           parser->problem ? parser->problem : "this is no YAML");
}

static int depth_change(yaml_event_type_t type)
{
    if (type == YAML_SEQUENCE_START_EVENT || type == YAML_MAPPING_START_EVENT)
        return 1;
    return type == YAML_SEQUENCE_END_EVENT || type == YAML_MAPPING_END_EVENT ? -1 : 0;
}

/* The parser takes a time that grows with the square of the depth: what is too deep is found before it has gone there. */
static int check_depth(const struct ck_fields_source *source, struct choke_error *error)
{
    yaml_parser_t parser;
    yaml_event_t event;
    bool over = false;
    int r = 0, depth = 0;

    if (!yaml_parser_initialize(&parser))
        return out_of_memory(error);
    yaml_parser_set_input_string(&parser, (const unsigned char *)source->text, source->length);
    while (r == 0 && !over) {
        if (!yaml_parser_parse(&parser, &event)) {
            r = parser_fault(&parser, source->file, error);
            break;
        }
        depth += depth_change(event.type);
        over = event.type == YAML_STREAM_END_EVENT;
        if (depth > DEPTH_MAX)
            r = CK_FIELDS_FAULT(error, source->file, position_of(&event.start_mark), "nested more than %d deep",
                                DEPTH_MAX);
        yaml_event_delete(&event);
    }
    yaml_parser_delete(&parser);
    return r;
}

/* The one document of a text; it is the caller's to delete where 0 is returned. */
static int load(const struct ck_fields_source *source, yaml_document_t *ret_document, struct choke_error *error)
{
    const char *file = source->file;
    yaml_parser_t parser;
    yaml_document_t second;

    if (!yaml_parser_initialize(&parser))
        return out_of_memory(error);
    yaml_parser_set_input_string(&parser, (const unsigned char *)source->text, source->length);
    int r = yaml_parser_load(&parser, ret_document) ? 0 : parser_fault(&parser, file, error);
    if (r == 0) {
        const yaml_node_t *extra = NULL;
        r = yaml_parser_load(&parser, &second) ? 0 : parser_fault(&parser, file, error);
        if (r == 0) {
            extra = yaml_document_get_root_node(&second);
            if (extra)
                r = CK_FIELDS_FAULT(error, file, position_of(&extra->start_mark), "a second document is not allowed");
            yaml_document_delete(&second);
        }
        if (r < 0)
            yaml_document_delete(ret_document);
    }
    yaml_parser_delete(&parser);
    return r;
}

static int read_document(struct fields_storage *storage, const struct ck_field *fields, const char *file, void *target,
                         struct choke_error *error)
{
    const yaml_document_t *document = &storage->document;
    size_t count = (size_t)(document->nodes.top - document->nodes.start);
    struct fields_reader reader = {.storage = storage, .file = file, .error = error};
    const yaml_node_t *top = yaml_document_get_root_node(&storage->document);

    if (!top)
        return CK_FIELDS_FAULT(error, file, (struct ck_fields_position){1, 1}, "there is nothing in it");
    reader.seen = calloc(count + 1, sizeof(*reader.seen));
    if (!reader.seen)
        return out_of_memory(error);
    int r = fill(&reader, top, fields, target);
    free(reader.seen);
    return r;
}

int ck_fields_read(const struct ck_field *fields, const struct ck_fields_source *source, void *target,
                   void **ret_storage, struct choke_error *error)
{
    struct fields_storage *storage = calloc(1, sizeof(*storage));
    if (!storage)
        return out_of_memory(error);

    int r = check_depth(source, error);
    if (r == 0)
        r = load(source, &storage->document, error);
    if (r < 0) {
        free(storage);
        return r;
    }
    r = read_document(storage, fields, source->file, target, error);
    if (r < 0)
        ck_fields_free(storage);
    else
        *ret_storage = storage;
    return r;
}

void ck_fields_free(void *storage)
{
    struct fields_storage *owned = storage;

    if (!owned)
        return;
    while (owned->pieces) {
        struct fields_block *next = owned->pieces->next;
        free(owned->pieces);
        owned->pieces = next;
    }
    yaml_document_delete(&owned->document);
    free(owned);
}
