/*
 * learn_entry.h - an entry for one call, as text (R83). Pure.
 *
 * api/learn_grants.c decides what is granted and what is a question. Here is only how it is written.
 */
#ifndef CK_POLICY_LEARN_ENTRY_H
#define CK_POLICY_LEARN_ENTRY_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>

/* A member of a list, and a comment about it. Neither has a newline or a control character. */
struct ck_learn_item {
    const char *text;
    const char *note;
};

struct ck_learn_items {
    const struct ck_learn_item *items;
    size_t count;
};

struct ck_learn_entry {
    const char *name, *why, *adr;
    const char *const *args; /* of the call, without the name of the tool; NULL-terminated */
    struct ck_learn_items uses, execs;
    /* what code beneath the root executed */
    struct ck_learn_items asked_uses, asked_execs;
    const char *writes;          /* what it wrote beneath the root, for a comment; NULL: it need not write */
    const char *code;            /* the file beneath the root that it executed or mapped; NULL: none */
    bool replaces;               /* the default policy has an entry of that name */
    struct ck_learn_items notes; /* what is never granted, and other comments; without a note */
};

/*
 * The entry as a member of `tools`, each line indented, with a newline at its end. answered: with
 * every question answered with yes, and without comments. NULL: no memory.
 */
const char *ck_learn_entry_write(const struct ck_learn_entry *entry, unsigned indent, bool answered,
                                 struct ck_arena *arena);

/* "[-o, h, h.c]": a member of `exact`. NULL: no memory. */
const char *ck_learn_entry_vector(const char *const *args, struct ck_arena *arena);

#endif
