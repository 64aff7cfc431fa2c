/*
 * config.c - see config.h.
 *
 * libcyaml words a fault without its place, so the document is libyaml's and each mapping is held against a table of its
 * keys. A fault is always told where it stands: a reader of a linter's configuration is one who wants to get on.
 */
#include "lint/config.h"

#include "base/error.h"
#include "base/quote.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <yaml.h>

#define ADR_DIGITS 4
#define DEPTH_MAX 8
#define TEXT_MAX 1024

struct config_reader {
    struct ck_lint_config *config;
    yaml_document_t *document;
    struct choke_error *error;
};

/* One key of a mapping, and what takes its value. target is what the mapping fills. */
struct key {
    const char *name;
    bool required;
    int (*take)(struct config_reader *reader, yaml_node_t *value, void *target);
};

/* ---- faults ------------------------------------------------------------------------------ */

__attribute__((format(printf, 4, 0))) static int fault(const char *file, yaml_mark_t mark, struct choke_error *error,
                                                       const char *format, va_list list)
{
    char text_buffer[CHOKE_MESSAGE_MAX / 2];
    unsigned line = (unsigned)mark.line + 1, column = (unsigned)mark.column + 1;
    (void)vsnprintf(text_buffer, sizeof text_buffer, format, list);
    int r = ck_error_at(error, line, column, "configuration '%s': line %u, column %u: %s", CK_QUOTE(file), line, column,
                        text_buffer);
    if (error != NULL)
        error->outcome = CHOKE_INVALID;
    return r;
}

int ck_lint_config_error(const struct ck_lint_config *config, unsigned line, unsigned column, struct choke_error *error,
                         const char *format, ...)
{
    va_list list;
    va_start(list, format);
    int r = fault(config->file, (yaml_mark_t){.line = line - 1, .column = column - 1}, error, format, list);
    va_end(list);
    return r;
}

__attribute__((format(printf, 3, 4))) static int refuse(struct config_reader *reader, const yaml_node_t *node,
                                                        const char *format, ...)
{
    va_list list;
    va_start(list, format);
    int r = fault(reader->config->file, node->start_mark, reader->error, format, list);
    va_end(list);
    return r;
}

/* ---- values ------------------------------------------------------------------------------ */

static const char *text_of(const yaml_node_t *node)
{
    return (const char *)node->data.scalar.value;
}

/* Text that is not empty, holds no NUL and is not null. */
static int take_text(struct config_reader *reader, yaml_node_t *value, void *target)
{
    if (value->type != YAML_SCALAR_NODE)
        return refuse(reader, value, "text must stand here");
    size_t length = value->data.scalar.length;
    bool plain = value->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
    if (length == 0 || (plain && (strcmp(text_of(value), "~") == 0 || strcmp(text_of(value), "null") == 0)))
        return refuse(reader, value, "a value is missing here; write one or leave the key out");
    if (length > TEXT_MAX || strlen(text_of(value)) != length)
        return refuse(reader, value, "this value is longer than %d bytes, or holds a NUL byte", TEXT_MAX);
    const char *copy = ck_arena_strdup(&reader->config->arena, text_of(value));
    if (copy == NULL)
        return ck_error_oom(reader->error);
    *(const char **)target = copy;
    return 0;
}

static int take_version(struct config_reader *reader, yaml_node_t *value, void *target)
{
    (void)target;
    if (value->type != YAML_SCALAR_NODE || strcmp(text_of(value), "1") != 0)
        return refuse(reader, value, "'version' must be 1, the only one there is");
    return 0;
}

static int take_number(struct config_reader *reader, yaml_node_t *value, void *target)
{
    const char *text = "";
    int r = take_text(reader, value, &text);
    if (r < 0)
        return r;
    *(const char **)target = text;
    if (strspn(text, "0123456789") != ADR_DIGITS || text[ADR_DIGITS] != '\0')
        return refuse(reader, value, "'adr' is '%s'; it must be the number of a record, as in \"0003\"",
                      CK_QUOTE(text));
    return 0;
}

/* From the top, and staying there. */
static int take_path(struct config_reader *reader, yaml_node_t *value, void *target)
{
    const char *text = "";
    int r = take_text(reader, value, &text);
    if (r < 0)
        return r;
    *(const char **)target = text;
    bool climbs = false;
    for (const char *at = text; at != NULL; at = strchr(at, '/')) {
        at += *at == '/';
        climbs = climbs || ((at[0] == '.' && (at[1] == '/' || at[1] == '\0')) ||
                            (at[0] == '.' && at[1] == '.' && (at[2] == '/' || at[2] == '\0')));
    }
    if (text[0] == '/' || climbs)
        return refuse(reader, value, "'%s' must be a path from the top of the tree, without '.' and '..'",
                      CK_QUOTE(text));
    return 0;
}

/* ---- mappings and lists ------------------------------------------------------------------ */

static int check_twice(struct config_reader *reader, const yaml_node_t *mapping, const yaml_node_pair_t *pair)
{
    const yaml_node_t *key = yaml_document_get_node(reader->document, pair->key);
    for (const yaml_node_pair_t *other = mapping->data.mapping.pairs.start; other < pair; other++) {
        const yaml_node_t *before = yaml_document_get_node(reader->document, other->key);
        if (strcmp(text_of(before), text_of(key)) == 0)
            return refuse(reader, key, "'%s' is given twice; the first one is on line %zu", CK_QUOTE(text_of(key)),
                          before->start_mark.line + 1);
    }
    return 0;
}

/* The key of a pair, once it is known to be text that no pair before has. */
static int take_key(struct config_reader *reader, const yaml_node_t *mapping, const yaml_node_pair_t *pair,
                    const char **ret_text)
{
    const yaml_node_t *key = yaml_document_get_node(reader->document, pair->key);
    if (key->type != YAML_SCALAR_NODE || strlen(text_of(key)) != key->data.scalar.length)
        return refuse(reader, key, "a key must be a word");
    int r = check_twice(reader, mapping, pair);
    *ret_text = text_of(key);
    return r;
}

static const struct key *find_key(const struct key *keys, const char *name)
{
    for (; keys->name != NULL; keys++)
        if (strcmp(keys->name, name) == 0)
            return keys;
    return NULL;
}

/* "a, b and c" would need care; "a, b, c" is clear. */
static const char *list_keys(const struct key *keys, char *buffer, size_t size)
{
    size_t at = 0;
    for (const struct key *key = keys; key->name != NULL && at < size; key++)
        at += (size_t)snprintf(buffer + at, size - at, "%s%s", key == keys ? "" : ", ", key->name);
    return buffer;
}

static int check_required(struct config_reader *reader, const yaml_node_t *mapping, const struct key *keys)
{
    for (const struct key *key = keys; key->name != NULL; key++) {
        bool there = !key->required;
        for (const yaml_node_pair_t *pair = mapping->data.mapping.pairs.start; pair < mapping->data.mapping.pairs.top;
             pair++)
            there = there || strcmp(text_of(yaml_document_get_node(reader->document, pair->key)), key->name) == 0;
        if (!there)
            return refuse(reader, mapping, "'%s' is missing here", key->name);
    }
    return 0;
}

static bool within_bounds(const yaml_node_t *node)
{
    ptrdiff_t count = node->type == YAML_MAPPING_NODE ? node->data.mapping.pairs.top - node->data.mapping.pairs.start
                                                      : node->data.sequence.items.top - node->data.sequence.items.start;
    return count <= CK_LINT_CONFIG_MAX_ENTRIES;
}

static int take_mapping(struct config_reader *reader, yaml_node_t *node, const struct key *keys, void *target)
{
    char known[TEXT_MAX];
    if (node->type != YAML_MAPPING_NODE || !within_bounds(node))
        return refuse(reader, node, "a mapping must stand here, with the keys %s",
                      list_keys(keys, known, sizeof known));
    for (yaml_node_pair_t *pair = node->data.mapping.pairs.start; pair < node->data.mapping.pairs.top; pair++) {
        const char *name;
        int r = take_key(reader, node, pair, &name);
        const struct key *key = r == 0 ? find_key(keys, name) : NULL;
        if (r == 0 && key == NULL)
            return refuse(reader, yaml_document_get_node(reader->document, pair->key),
                          "'%s' is no key here; these are: %s", CK_QUOTE(name), list_keys(keys, known, sizeof known));
        if (key != NULL)
            r = key->take(reader, yaml_document_get_node(reader->document, pair->value), target);
        if (r < 0)
            return r;
    }
    return check_required(reader, node, keys);
}

/* ---- chokepoints ------------------------------------------------------------------------- */

struct config_entry {
    const char *path, *adr, *why;
};

#define ENTRY_FIELD(name, field, kind) \
    static int take_entry_##name(struct config_reader *reader, yaml_node_t *value, void *target) \
    { \
        return kind(reader, value, &((struct config_entry *)target)->field); \
    }
ENTRY_FIELD(path, path, take_path)
ENTRY_FIELD(pattern, path, take_text)
ENTRY_FIELD(adr, adr, take_number)
ENTRY_FIELD(why, why, take_text)

static const struct key module_keys[] = {
    {"path", true, take_entry_path}, {"adr", false, take_entry_adr}, {"why", false, take_entry_why}, {.name = NULL}};
static const struct key exclude_keys[] = {
    {"path", true, take_entry_pattern}, {"why", true, take_entry_why}, {.name = NULL}};

static int check_list(struct config_reader *reader, const yaml_node_t *value, const char *what)
{
    if (value->type == YAML_SEQUENCE_NODE && within_bounds(value))
        return 0;
    return refuse(reader, value, "'%s' must be a list of at most %d entries", what, CK_LINT_CONFIG_MAX_ENTRIES);
}

static int take_modules(struct config_reader *reader, yaml_node_t *value, void *target)
{
    struct ck_lint_config *config = target;
    int r = check_list(reader, value, "chokepoints");
    if (r < 0)
        return r;
    const yaml_node_item_t *first = value->data.sequence.items.start, *end = value->data.sequence.items.top;
    config->modules = ck_arena_array(&config->arena, (size_t)(end - first), sizeof *config->modules);
    if (config->modules == NULL)
        return ck_error_oom(reader->error);
    for (const yaml_node_item_t *item = first; item < end; item++) {
        struct config_entry entry = {0};
        yaml_node_t *node = yaml_document_get_node(reader->document, *item);
        r = take_mapping(reader, node, module_keys, &entry);
        if (r == 0 && entry.adr == NULL && entry.why == NULL)
            r = refuse(reader, node, "say 'adr' or 'why' this module may create processes");
        if (r < 0)
            return r;
        config->modules[config->module_count++] = (struct ck_lint_module){
            entry.path, entry.adr, (unsigned)node->start_mark.line + 1, (unsigned)node->start_mark.column + 1};
    }
    return 0;
}

/* ---- exclude ----------------------------------------------------------------------------- */

static int take_exclude(struct config_reader *reader, yaml_node_t *value, void *target)
{
    struct ck_lint_config *config = target;
    int r = check_list(reader, value, "exclude");
    if (r < 0)
        return r;
    const yaml_node_item_t *first = value->data.sequence.items.start, *end = value->data.sequence.items.top;
    struct ck_ignore *exclude = ck_arena_alloc(&config->arena, sizeof *exclude);
    if (exclude != NULL)
        exclude->patterns = ck_arena_array(&config->arena, (size_t)(end - first), sizeof *exclude->patterns);
    if (exclude == NULL || exclude->patterns == NULL)
        return ck_error_oom(reader->error);
    for (const yaml_node_item_t *item = first; item < end; item++) {
        struct config_entry entry = {0};
        yaml_node_t *node = yaml_document_get_node(reader->document, *item);
        r = take_mapping(reader, node, exclude_keys, &entry);
        if (r < 0)
            return r;
        struct ck_ignore_pattern *pattern = &exclude->patterns[exclude->count];
        if (!ck_ignore_pattern(&config->arena, entry.path, strlen(entry.path), pattern))
            return refuse(reader, node, "'%s' is no pattern", CK_QUOTE(entry.path));
        if (pattern->text == NULL)
            return ck_error_oom(reader->error);
        exclude->count++;
    }
    config->exclude = exclude;
    return 0;
}

/* ---- severities -------------------------------------------------------------------------- */

static const struct {
    const char *word;
    struct ck_lint_choice choice;
} severities[] = {
    {"error", {.severity = CHOKE_SEVERITY_ERROR}},
    {"warning", {.severity = CHOKE_SEVERITY_WARNING}},
    {"note", {.severity = CHOKE_SEVERITY_NOTE}},
    {"off", {.off = true}},
};

static int take_choice(struct config_reader *reader, const yaml_node_t *key, const yaml_node_t *value)
{
    struct ck_lint_config *config = reader->config;
    struct ck_lint_choice *choice = &config->choices[config->choice_count];
    const char *word = value->type == YAML_SCALAR_NODE ? text_of(value) : "";
    for (size_t i = 0; i < sizeof severities / sizeof severities[0]; i++) {
        if (strcmp(severities[i].word, word) != 0)
            continue;
        *choice = severities[i].choice;
        choice->rule = ck_arena_strdup(&config->arena, text_of(key));
        choice->line = (unsigned)key->start_mark.line + 1;
        choice->column = (unsigned)key->start_mark.column + 1;
        config->choice_count++;
        return choice->rule == NULL ? ck_error_oom(reader->error) : 0;
    }
    return refuse(reader, value, "'%s' is no severity; these are: error, warning, note, off", CK_QUOTE(word));
}

static int take_severities(struct config_reader *reader, yaml_node_t *value, void *target)
{
    struct ck_lint_config *config = target;
    if (value->type != YAML_MAPPING_NODE || !within_bounds(value))
        return refuse(reader, value, "'severities' must be a mapping from rules to severities");
    yaml_node_pair_t *first = value->data.mapping.pairs.start, *end = value->data.mapping.pairs.top;
    config->choices = ck_arena_array(&config->arena, (size_t)(end - first), sizeof *config->choices);
    if (config->choices == NULL)
        return ck_error_oom(reader->error);
    for (yaml_node_pair_t *pair = first; pair < end; pair++) {
        const char *name;
        int r = take_key(reader, value, pair, &name);
        if (r == 0)
            r = take_choice(reader, yaml_document_get_node(reader->document, pair->key),
                            yaml_document_get_node(reader->document, pair->value));
        if (r < 0)
            return r;
    }
    return 0;
}

/* ---- the document ------------------------------------------------------------------------ */

static int take_adr_dir(struct config_reader *reader, yaml_node_t *value, void *target)
{
    return take_text(reader, value, &((struct ck_lint_config *)target)->adr_dir);
}

static const struct key config_keys[] = {
    {"version", true, take_version},  {"adr_dir", false, take_adr_dir},       {"chokepoints", false, take_modules},
    {"exclude", false, take_exclude}, {"severities", false, take_severities}, {.name = NULL},
};

static int refuse_yaml(struct config_reader *reader, const yaml_parser_t *parser)
{
    if (parser->error == YAML_MEMORY_ERROR)
        return ck_error_oom(reader->error);
    return ck_lint_config_error(reader->config, (unsigned)parser->problem_mark.line + 1,
                                (unsigned)parser->problem_mark.column + 1, reader->error, "not valid YAML: %s",
                                parser->problem != NULL ? parser->problem : "cannot be read");
}

static int check_event(struct config_reader *reader, const yaml_event_t *event, int *depth)
{
    unsigned line = (unsigned)event->start_mark.line + 1, column = (unsigned)event->start_mark.column + 1;
    bool opens = event->type == YAML_SEQUENCE_START_EVENT || event->type == YAML_MAPPING_START_EVENT;
    bool closes = event->type == YAML_SEQUENCE_END_EVENT || event->type == YAML_MAPPING_END_EVENT;
    *depth += opens ? 1 : closes ? -1 : 0;
    if (*depth > DEPTH_MAX)
        return ck_lint_config_error(reader->config, line, column, reader->error, "nested more than %d deep", DEPTH_MAX);
    if (event->type == YAML_ALIAS_EVENT)
        return ck_lint_config_error(reader->config, line, column, reader->error,
                                    "a configuration has no aliases; write the value where it is needed");
    return 0;
}

/* Before the document is made: libyaml takes minutes for a deep one. Event by event the first that is too deep ends it. */
static int check_depth(struct config_reader *reader, yaml_parser_t *parser)
{
    bool ended = false;
    int depth = 0;
    int r = 0;
    while (r == 0 && !ended) {
        yaml_event_t event;
        if (yaml_parser_parse(parser, &event) == 0)
            return refuse_yaml(reader, parser);
        ended = event.type == YAML_STREAM_END_EVENT;
        r = check_event(reader, &event, &depth);
        yaml_event_delete(&event);
    }
    return r;
}

/* libyaml hands out one document after the other; there must be one, or none. */
static int take_document(struct config_reader *reader, yaml_parser_t *parser)
{
    yaml_document_t more;
    yaml_node_t *root = yaml_document_get_root_node(reader->document);
    int r = root == NULL ? 0 : take_mapping(reader, root, config_keys, reader->config);
    if (r < 0 || root == NULL)
        return r;
    if (yaml_parser_load(parser, &more) == 0)
        return refuse_yaml(reader, parser);
    const yaml_node_t *second = yaml_document_get_root_node(&more);
    if (second != NULL)
        r = refuse(reader, second, "a second document begins here; a configuration is one");
    yaml_document_delete(&more);
    return r;
}

static int load_document(struct config_reader *reader, yaml_parser_t *parser)
{
    yaml_document_t document;
    if (yaml_parser_load(parser, &document) == 0)
        return refuse_yaml(reader, parser);
    reader->document = &document;
    int r = take_document(reader, parser);
    reader->document = NULL;
    yaml_document_delete(&document);
    return r;
}

static int with_parser(struct config_reader *reader, const char *text, size_t length,
                       int (*step)(struct config_reader *reader, yaml_parser_t *parser))
{
    yaml_parser_t parser;
    if (yaml_parser_initialize(&parser) == 0)
        return ck_error_oom(reader->error);
    yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&parser, (const unsigned char *)text, length);
    int r = step(reader, &parser);
    yaml_parser_delete(&parser);
    return r;
}

int ck_lint_config_parse(const char *file, const char *text, size_t length, struct ck_lint_config *ret_config,
                         struct choke_error *error)
{
    struct config_reader reader = {.config = ret_config, .error = error};
    *ret_config = (struct ck_lint_config){0};
    ret_config->file = ck_arena_strdup(&ret_config->arena, file);
    if (ret_config->file == NULL)
        return ck_error_oom(error);
    int r = with_parser(&reader, text, length, check_depth);
    return r < 0 ? r : with_parser(&reader, text, length, load_document);
}

void ck_lint_config_done(struct ck_lint_config *config)
{
    ck_arena_done(&config->arena);
    *config = (struct ck_lint_config){0};
}

/* ---- what it says ------------------------------------------------------------------------ */

bool ck_lint_config_allows(const struct ck_lint_config *config, const char *path)
{
    for (size_t i = 0; i < config->module_count; i++) {
        const char *module = config->modules[i].path;
        size_t length = strlen(module);
        bool beneath = module[length - 1] == '/' && strncmp(module, path, length) == 0;
        if (beneath || strcmp(module, path) == 0)
            return true;
    }
    return false;
}

enum choke_severity ck_lint_config_severity(const struct ck_lint_config *config, const char *rule,
                                            enum choke_severity severity)
{
    for (size_t i = 0; i < config->choice_count; i++)
        if (strcmp(config->choices[i].rule, rule) == 0)
            return config->choices[i].off ? (enum choke_severity)0 : config->choices[i].severity;
    return severity;
}
