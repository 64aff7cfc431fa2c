/*
 * common.c - what all readers of evidence use; see common.h.
 *
 * A reader gets bytes that a hostile repository may have influenced. So everything here has a
 * limit: the values of a document are counted before it is parsed, because each costs many times
 * its text; a list holds a fixed number of items and drops the rest; a text is cut between two
 * characters.
 */
#include "gather/evidence/common.h"

#include "front/jansson.h"
#include "front/text.h"
#include "gather/findings/place.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define VALUES_MAX 2000000 /* of one document: some hundred MiB at worst */
#define HELD_MAX (2 * (size_t)CK_EVIDENCE_ITEMS_MAX)

const struct ck_answer *ck_evidence_find_answer(const struct ck_answer *answers, size_t count, const char *id)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(answers[i].id, id) == 0)
            return &answers[i];
    return NULL;
}

const struct ck_answer *ck_evidence_find_ok_answer(const struct ck_answer *answers, size_t count, const char *id)
{
    const struct ck_answer *answer = ck_evidence_find_answer(answers, count, id);
    return answer && answer->exit_code == 0 ? answer : NULL;
}

/* ---- texts ---- */

/* Goes back over UTF-8 continuation bytes, at most three, so that no character is split. */
static json_t *cut_text(const char *bytes, size_t length, size_t most)
{
    if (length > most) {
        length = most;
        while (length > most - 4 && ((unsigned char)bytes[length] & 0xc0) == 0x80)
            length--;
    }
    /* NULL if the bytes are not UTF-8; also when out of memory, then the object below fails too. */
    json_t *string = json_stringn(bytes, length);
    if (string)
        return string;

    json_t *object = json_object();
    if (object && ck_jansson_set_data(object, bytes, length) == 0)
        return object;
    json_decref(object);
    return NULL;
}

json_t *ck_evidence_text(const char *bytes, size_t length)
{
    return cut_text(bytes, length, CK_EVIDENCE_TEXT_MAX);
}

json_t *ck_evidence_path(const char *bytes, size_t length)
{
    size_t here = length > 2 && bytes[0] == '.' && bytes[1] == '/' ? 2 : 0;
    return cut_text(bytes + here, length - here, PATH_MAX);
}

json_t *ck_evidence_string(const json_t *value)
{
    if (!json_is_string(value))
        return json_null();
    return ck_evidence_text(json_string_value(value), json_string_length(value));
}

json_t *ck_evidence_format(const char *format, ...)
{
    /* Twice the limit: what is longer is cut by ck_evidence_text anyway. */
    char text[2 * CK_EVIDENCE_TEXT_MAX];
    va_list args;

    va_start(args, format);
    int length = vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    if (length < 0)
        return NULL;
    return ck_evidence_text(text, (size_t)length < sizeof(text) ? (size_t)length : sizeof(text) - 1);
}

char *ck_evidence_copy(const char *bytes, size_t length)
{
    char *copy = malloc(length + 1);

    if (copy) {
        memcpy(copy, bytes, length);
        copy[length] = '\0';
    }
    return copy;
}

size_t ck_evidence_line(const char *bytes, size_t length)
{
    const char *end = length > 0 ? memchr(bytes, '\n', length) : NULL;
    return end ? (size_t)(end - bytes) : length;
}

/* The last occurrence: earlier ones may be in names of files that the tool prints. */
json_int_t ck_evidence_count_after(const char *text, size_t length, const char *label)
{
    const char *found = NULL, *at = text, *end = text + length;
    json_int_t number = 0;
    unsigned digits = 0;

    while (at < end && (at = memmem(at, (size_t)(end - at), label, strlen(label))))
        found = at += strlen(label);
    /* 15 digits fit into json_int_t. */
    for (at = found; found && at < end && *at >= '0' && *at <= '9' && digits < 15; at++, digits++)
        number = number * 10 + (*at - '0');
    return digits > 0 ? number : -1;
}

/* From the worst to the least: rank uses the index. */
static const char *const severities[] = {"critical", "high", "medium", "low", "info"};
#define SEVERITY_COUNT (sizeof(severities) / sizeof(severities[0]))

const char *ck_evidence_severity(const char *level)
{
    /* Names that tools use for a level, if they are not those of severities. */
    static const struct {
        const char *level, *severity;
    } known[] = {{"error", "high"}, {"warning", "medium"}, {"moderate", "medium"}};

    for (size_t i = 0; level && i < SEVERITY_COUNT; i++)
        if (strcasecmp(level, severities[i]) == 0)
            return severities[i];
    for (size_t i = 0; level && i < sizeof(known) / sizeof(known[0]); i++)
        if (strcasecmp(level, known[i].level) == 0)
            return known[i].severity;
    return "info";
}

/* ---- lists ---- */

/*
 * The index of the severity that it has in its place; an item without one comes after all others.
 * id and path may be NULL.
 */
static size_t rank(const struct ck_evidence_list *list, const char *level, const char *id, const char *path)
{
    /* The same as in findings.c: a private key in a test was made for it. */
    bool is_token =
        id && (strncmp(id, "secret", strlen("secret")) == 0 || (list->has_tokens && strcmp(id, "private-key") != 0));

    for (size_t i = 0; level && i < SEVERITY_COUNT; i++)
        if (strcmp(level, severities[i]) == 0) {
            size_t here = i + ck_place_levels(path, is_token);
            return here < SEVERITY_COUNT ? here : SEVERITY_COUNT - 1;
        }
    return SEVERITY_COUNT;
}

/* rank: of what was dropped. */
static void note_dropped(struct ck_evidence_list *list, size_t rank_of_it)
{
    unsigned dropped = (unsigned)(SEVERITY_COUNT + 1 - rank_of_it);
    list->dropped = dropped > list->dropped ? dropped : list->dropped;
}

void ck_evidence_list_drop(struct ck_evidence_list *list, const char *severity)
{
    note_dropped(list, rank(list, severity, NULL, NULL));
}

/*
 * Rank, path, line. Numbers have a fixed width, so that they sort as bytes. The byte 1 ends the
 * path: "a" comes before "a.c" and before everything in "a/".
 */
#define KEY_FORMAT "%zu%.*s\1%020llu"

/*
 * The key contains the whole value, so that different items never have the same key. A path in
 * base64 is not a string and counts as "".
 */
static char *make_key(const struct ck_evidence_list *list, const json_t *value)
{
    const char *path = json_string_value(json_object_get(value, "path"));
    const char *severity = json_string_value(json_object_get(value, "severity"));
    const char *id = json_string_value(json_object_get(value, "id"));
    unsigned long long line = ck_evidence_number(json_object_get(value, "line"));
    char *whole = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);
    char *key = NULL;

    if (whole && asprintf(&key, KEY_FORMAT "%s", rank(list, severity, id, path), CK_EVIDENCE_TEXT_MAX, path ? path : "",
                          line, whole) < 0)
        key = NULL;
    free(whole);
    return key;
}

/* False for a path that may become base64 or be cut: its bytes are not those of the item. */
static bool is_plain(const char *path, size_t length)
{
    for (size_t i = 0; i < length; i++)
        /* A NUL, and every byte of 0x80 and above, also where char is unsigned. */
        if ((signed char)path[i] <= 0)
            return false;
    return length <= CK_EVIDENCE_TEXT_MAX;
}

bool ck_evidence_list_wants(struct ck_evidence_list *list, const struct ck_evidence_location *location)
{
    const json_t *first = json_object_get(list->firsts, location->id);
    char path[CK_EVIDENCE_TEXT_MAX + 1], key[CK_EVIDENCE_TEXT_MAX + 64];

    /* Nothing was dropped yet, or it is the first of its id, or its key cannot be computed here. */
    if (list->sorted_count < CK_EVIDENCE_ITEMS_MAX || !first || !is_plain(location->path, location->path_length))
        return true;
    (void)snprintf(path, sizeof(path), "%.*s", (int)location->path_length, location->path);
    size_t here = rank(list, location->severity, location->id, path);
    (void)snprintf(key, sizeof(key), KEY_FORMAT, here, CK_EVIDENCE_TEXT_MAX, path, (unsigned long long)location->line);
    /* It may sort before the last item that is kept, or before the first one of its id. */
    if (strcmp(key, list->items[list->bound].key) <= 0 || strcmp(key, list->items[json_integer_value(first)].key) <= 0)
        return true;
    /* ck_evidence_list_add is not called for it, so it is counted here. */
    list->total++;
    note_dropped(list, here);
    return false;
}

static int by_key(const void *one, const void *other)
{
    const struct ck_evidence_item *a = one, *b = other;
    return strcmp(a->key, b->key);
}

static void free_item(struct ck_evidence_item *item)
{
    free(item->key);
    json_decref(item->value);
}

/* Is this the first item of its id? Items come in order; index is where this one will be kept. */
static bool is_first(struct ck_evidence_list *list, const json_t *value, size_t index)
{
    const char *id = json_string_value(json_object_get(value, "id"));

    if (!id || json_object_get(list->firsts, id))
        return false;
    /* If this fails, the list is reported as failed at the end. */
    list->failed |= json_object_set_new(list->firsts, id, json_integer((json_int_t)index)) < 0;
    return true;
}

/* The number of different ids among the items, up to the number of items that fit. */
static size_t count_firsts(struct ck_evidence_list *list)
{
    (void)json_object_clear(list->firsts);
    for (size_t i = 0; i < list->count; i++)
        (void)is_first(list, list->items[i].value, 0);
    size_t count = json_object_size(list->firsts);
    (void)json_object_clear(list->firsts);
    return count < CK_EVIDENCE_ITEMS_MAX ? count : CK_EVIDENCE_ITEMS_MAX;
}

/* Sorts, and drops what does not fit. */
static void sort_and_trim(struct ck_evidence_list *list)
{
    size_t retained = 0, firsts = 0, others = 0;

    if (list->count == 0)
        return;
    qsort(list->items, list->count, sizeof(*list->items), by_key);
    /* Counted before the loop: it decides how many places are left for the others. */
    size_t firsts_max = count_firsts(list);
    for (size_t i = 0; i < list->count; i++) {
        bool first = firsts < firsts_max && is_first(list, list->items[i].value, retained);
        if (!first && others == CK_EVIDENCE_ITEMS_MAX - firsts_max) {
            note_dropped(list, (size_t)(list->items[i].key[0] - '0'));
            free_item(&list->items[i]);
            continue;
        }
        firsts += first;
        others += !first;
        /* ck_evidence_list_wants compares with the last item that is not a first one. */
        list->bound = first ? list->bound : retained;
        list->items[retained++] = list->items[i];
    }
    /* At most CK_EVIDENCE_ITEMS_MAX; the other half of the array is free again. */
    list->sorted_count = list->count = retained;
}

/* Sorting only when the list is full costs less than keeping it sorted. */
void ck_evidence_list_add(struct ck_evidence_list *list, json_t *value)
{
    list->total++;
    /* Allocated once, at its largest size: a list never grows. */
    if (!list->items) {
        list->items = calloc(HELD_MAX, sizeof(*list->items));
        list->firsts = json_object();
    }
    char *key = value && list->items && list->firsts ? make_key(list, value) : NULL;
    if (!key) {
        /* value was taken; NULL is fine. */
        json_decref(value);
        list->failed = true;
        return;
    }
    if (list->count == HELD_MAX)
        sort_and_trim(list);
    list->items[list->count++] = (struct ck_evidence_item){.key = key, .value = value};
}

void ck_evidence_list_done(struct ck_evidence_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free_item(&list->items[i]);
    free(list->items);
    json_decref(list->firsts);
    *list = (struct ck_evidence_list){0};
}

/* ---- counts by name ---- */

/* A failed allocation is ignored: a count may then be too low. */
void ck_evidence_count(json_t *counts, const char *name, uint64_t by)
{
    json_t *value = json_object_get(counts, name);

    if (!value && (json_object_size(counts) >= CK_EVIDENCE_ITEMS_MAX || strlen(name) > CK_EVIDENCE_TEXT_MAX))
        value = json_object_get(counts, name = "(other)");
    if (value)
        (void)json_integer_set(value, json_integer_value(value) + (json_int_t)by);
    else
        (void)json_object_set_new(counts, name, json_integer((json_int_t)by));
}

/* ---- the document ---- */

/* Returns -1 also for a NULL object or value, so callers need no checks of their own. */
int ck_evidence_set(json_t *object, const char *name, json_t *value)
{
    return json_object_set_new(object, name, value);
}

int ck_evidence_set_list(json_t *object, const char *name, struct ck_evidence_list *list)
{
    json_t *array = json_array();
    int bad = list->failed ? -1 : 0;
    char total[64];

    sort_and_trim(list);
    for (size_t i = 0; i < list->count; i++)
        bad |= json_array_append(array, list->items[i].value);
    /* The array has its own references; ck_evidence_list_done frees those of the list. */
    bad |= ck_evidence_set(object, name, array);
    (void)snprintf(total, sizeof(total), "%s_total", name);
    bad |= ck_evidence_set(object, total, json_integer((json_int_t)list->total));
    /* Items without a severity have the lowest number. */
    (void)snprintf(total, sizeof(total), "%s_cut", name);
    if (list->dropped > 1)
        bad |= ck_evidence_set(object, total, json_string(severities[SEVERITY_COUNT + 1 - list->dropped]));
    return bad;
}

static int by_name(const void *one, const void *other)
{
    return strcmp(*(const char *const *)one, *(const char *const *)other);
}

/* Sorted by name: the document must not depend on the order of jansson's hash table. */
int ck_evidence_set_counts(json_t *object, const char *name, json_t *counts)
{
    size_t count = 0, size = json_object_size(counts);
    const char **names = calloc(size + 1, sizeof(*names));
    json_t *sorted = json_object();
    int bad = names && counts ? 0 : -1;
    const char *key;
    json_t *value;

    if (names) {
        json_object_foreach(counts, key, value)
        {
            names[count++] = key;
        }
        qsort(names, count, sizeof(*names), by_name);
    }
    for (size_t i = 0; i < count; i++)
        bad |= json_object_set(sorted, names[i], json_object_get(counts, names[i]));
    free(names);
    return bad | ck_evidence_set(object, name, sorted);
}

int ck_evidence_take(struct ck_evidence *ret_evidence, json_t *document, int bad, struct choke_error *error)
{
    if (bad != 0 || !document) {
        json_decref(document);
        return ck_text_error(error, CHOKE_INVALID, ENOMEM, "out of memory");
    }
    ret_evidence->document = document;
    return 0;
}

/* Headlines may quote the repository, so they are made safe for a terminal here. */
void ck_evidence_headline(struct ck_evidence *evidence, const char *format, ...)
{
    char text[256];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    (void)ck_text_safe(evidence->headline, sizeof(evidence->headline), text);
}

/* ---- JSON of a tool ---- */

int ck_evidence_not_understood(struct choke_error *error, const char *tool, const char *what)
{
    return ck_text_error(error, CHOKE_INVALID, EBADMSG, "cannot parse the output of %s: %s", tool, CK_TEXT_SAFE(what));
}

/*
 * Each value costs a hundred bytes and more of memory, but only two bytes of text. Marks in
 * strings are counted too, so the count may be too high.
 */
static bool too_many_values(const char *text, size_t length)
{
    size_t count = 0;
    for (size_t i = 0; i < length; i++)
        count += text[i] == ',' || text[i] == '[' || text[i] == '{' || text[i] == ':';
    return count > VALUES_MAX;
}

int ck_evidence_parse(const struct ck_answer *answers, size_t count, const char *tool, json_t **ret_document,
                      struct choke_error *error)
{
    const struct ck_answer *answer = ck_evidence_find_answer(answers, count, "scan");
    /* position 0: the text has no value at all. */
    json_error_t where;

    if (!answer)
        return ck_evidence_not_understood(error, tool, "the call 'scan' was not made");
    if (answer->out_truncated)
        return ck_evidence_not_understood(error, tool, "it is too long, and its beginning is lost");
    if (too_many_values(answer->out, answer->out_length))
        return ck_evidence_not_understood(error, tool, "it has too many values");
    json_t *document = json_loadb(answer->out, answer->out_length, CK_EVIDENCE_JSON, &where);
    if (!document) /* jansson's message is not used: it quotes the text, which may be a secret */
        return ck_evidence_not_understood(error, tool, where.position > 0 ? "it is not JSON" : "it is empty");
    *ret_document = document;
    return 0;
}

uint64_t ck_evidence_number(const json_t *value)
{
    json_int_t number = json_is_integer(value) ? json_integer_value(value) : 0;
    return number > 0 ? (uint64_t)number : 0;
}
