/*
 * tables.h - the policies of the build: the default policy and the catalogue.
 *
 * They were loaded and checked when the library was built, and are in it as images: structs with
 * their pointers counted from the beginning of the image (tools/gen/table-image.py). A copy with
 * real pointers is made where one is needed, so that a program that uses neither pays for neither.
 */
#ifndef CK_POLICY_TABLES_H
#define CK_POLICY_TABLES_H

#include "base/arena.h"
#include "policy/model.h"

struct ck_tables {
    const unsigned char *image;
    const unsigned *places; /* where the pointers are */
    unsigned image_bytes;
    unsigned places_count;
    unsigned policy_at; /* the struct ck_policy */
};

/* The embedded policy (policy/default.yaml), in memory of the arena. NULL: no memory. */
const struct ck_policy *ck_policy_default(struct ck_arena *arena);

/*
 * Every entry of the catalogue (policy/catalog) as one policy, in the order of their families, in
 * the same way. It is not one to run with: an entry with adds_to has the name under which it is taken.
 */
const struct ck_policy *ck_policy_catalog(struct ck_arena *arena);

/* Whether one of them has this entry, for messages. False if tables is NULL. */
bool ck_tables_has(const struct ck_policy *tables, const char *name);

#endif
