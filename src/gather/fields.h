/*
 * fields.h - YAML into structs, by a table: a key is one line of it. Every fault is told with its line and column, which is
 * why this stands on libyaml's tree and not on libcyaml, whose structs do not know where they come from.
 *
 * Nothing is guessed: a key that the table does not have, a key that is given twice, an alias, a second document, a text
 * with a NUL in it are errors.
 */
#ifndef CK_GATHER_FIELDS_H
#define CK_GATHER_FIELDS_H

#include "chokepoint.h"

#include <errno.h>

enum ck_field_kind {
    CK_FIELD_TEXT,    /* const char *, 1 to max bytes */
    CK_FIELD_NAME,    /* const char *, ^[a-z][a-z0-9_]{0,63}$ */
    CK_FIELD_FLAG,    /* bool */
    CK_FIELD_NUMBER,  /* unsigned, min to max */
    CK_FIELD_CHOICE,  /* int: the index in words */
    CK_FIELD_TEXTS,   /* const char *const *, NULL-terminated; at most max, and an empty list where the key is absent */
    CK_FIELD_NUMBERS, /* const int *, and its count; each min to max */
    CK_FIELD_OBJECT,  /* a struct that is filled by fields */
    CK_FIELD_OBJECTS /* a pointer to such structs, and their count; 1 to max; each begins with a struct ck_fields_position */
};

/* Where something begins, counted from 1. */
struct ck_fields_position {
    unsigned line;
    unsigned column;
};

struct ck_field {
    const char *key; /* NULL ends a table */
    enum ck_field_kind kind;
    bool required;
    size_t offset;       /* in the struct */
    size_t count_offset; /* CK_FIELD_NUMBERS: of an unsigned; CK_FIELD_OBJECTS: of a size_t */
    unsigned min;
    unsigned max;               /* 0: a bound that is common to all */
    const char *const *choices; /* CK_FIELD_CHOICE, NULL-terminated */
    const char *const *absent;  /* CK_FIELD_TEXTS: what it is where the key is absent; NULL: empty */
    const struct ck_field *fields;
    size_t size; /* CK_FIELD_OBJECTS: of one struct */
};

/* What is read; file is for the messages. */
struct ck_fields_source {
    const char *file;
    const char *text;
    size_t length;
};

/*
 * Fills the zero-filled struct at target from source. *ret_storage holds all that the struct points at, until
 * ck_fields_free.
 */
int ck_fields_read(const struct ck_field *fields, const struct ck_fields_source *source, void *target,
                   void **ret_storage, struct choke_error *error);
void ck_fields_free(void *storage); /* NULL is fine */

/* CHOKE_INVALID, with the place in front of the words and in the error. The value is -EINVAL. */
#define CK_FIELDS_FAULT(error, file, position, ...) (ck_fields_report(error, file, position, __VA_ARGS__), -EINVAL)
void ck_fields_report(struct choke_error *error, const char *file, struct ck_fields_position position,
                      const char *format, ...) __attribute__((format(printf, 4, 5)));

#endif
