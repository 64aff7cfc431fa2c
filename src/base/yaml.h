/*
 * yaml.h - a YAML file into a struct, by a table: a key is one line of the table (docs/adr/0047).
 *
 *   static const struct ck_yaml_key entry_keys[] = {
 *       {"path", CK_YAML_TEXT, .required = true, .offset = offsetof(struct entry, path)},
 *       {.name = NULL},
 *   };
 *
 * Every fault is reported with its line and column. Nothing is guessed: a key that the table does
 * not have, a key that is given twice, an alias, a second document, a directive, text with a NUL
 * byte, text that is not UTF-8: each is an error. Tags and anchors are ignored. The struct, its
 * lists and its texts live as long as the arena.
 */
#ifndef CK_BASE_YAML_H
#define CK_BASE_YAML_H

#include "chokepoint.h"

#include "base/arena.h"
#include "base/yaml_text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CK_YAML_KEYS_MAX 32      /* in one table */
#define CK_YAML_ENTRIES_MAX 1024 /* in one list, where the table does not say */

enum ck_yaml_kind {
    CK_YAML_TEXT,    /* const char *: 1 to max bytes, and of that form */
    CK_YAML_FLAG,    /* bool: true or false */
    CK_YAML_NUMBER,  /* int or unsigned: min to max, in decimal digits, without quotes */
    CK_YAML_CHOICE,  /* an enum or int: the index in choices */
    CK_YAML_TEXTS,   /* const char *const *, NULL-terminated also where the key is absent */
    CK_YAML_NUMBERS, /* const int * */
    CK_YAML_RECORD,  /* a struct, filled by keys; zero-filled where the key is absent */
    /* a pointer to structs, filled by keys; each begins with a struct ck_yaml_place */
    CK_YAML_RECORDS,
    /* the same from a mapping with free keys: keys[0] stores the key, keys[1] the value */
    CK_YAML_PAIRS
};

/* What a text must look like. */
struct ck_yaml_form {
    bool (*accepts)(const char *text);
    const char *must_be; /* after "it must be" */
};

/* One line of a table. Members that the kind does not use are 0. */
struct ck_yaml_key {
    const char *name; /* NULL ends a table */
    enum ck_yaml_kind kind;
    bool required;
    bool not_empty; /* lists */
    size_t offset;  /* of the value in the struct */
    /* lists: of a uint32_t; 0: no count, for a count is never the first member */
    size_t count_offset;
    /* NUMBER: the value; TEXT and TEXTS: max bytes, 0: text_max of the format */
    unsigned min, max;
    unsigned max_entries;            /* lists; 0: CK_YAML_ENTRIES_MAX */
    int absent;                      /* NUMBER: the value where the key is absent */
    const struct ck_yaml_form *form; /* TEXT; NULL: any */
    const char *const *choices;      /* CHOICE: NULL-terminated */
    const char *const *absent_texts; /* TEXTS: the same; NULL: an empty list */
    const struct ck_yaml_key *keys;  /* RECORD, RECORDS, PAIRS */
    size_t size;                     /* RECORDS, PAIRS: of one struct */
};

/* A kind of file: its table and its limits. */
struct ck_yaml_format {
    const char *what; /* for messages: "probes" */
    const struct ck_yaml_key *keys;
    size_t max_bytes;  /* of the file */
    unsigned text_max; /* bytes of a TEXT with max 0 */
    bool may_be_empty; /* a file without a document leaves the struct as it was */
};

/* One file of that kind. */
struct ck_yaml_source {
    const char *file; /* for messages */
    const char *text;
    size_t length;
};

/*
 * Fills the struct at target, which the caller has zero-filled. Returns 0, or -EINVAL or -ENOMEM
 * with *error set; then the struct may be filled in part.
 */
int ck_yaml_read(const struct ck_yaml_format *format, const struct ck_yaml_source *source, struct ck_arena *arena,
                 void *target, struct choke_error *error);

/*
 * For faults that a table cannot express: CHOKE_INVALID, with the place in the message and in
 * *error. Returns -EINVAL.
 */
int ck_yaml_error(const struct ck_yaml_format *format, const char *file, struct ck_yaml_place place,
                  struct choke_error *error, const char *message, ...) __attribute__((format(printf, 5, 6)));

#endif
