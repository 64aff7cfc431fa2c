/*
 * lockfile.h - pure: tools.lock as text, and the difference between two of them (R7).
 *
 * {"version": 1, "tools": [{"name", "path", "version", "sha256", "interpreters": [FILE...],
 * "libraries": [FILE...]}]}, where FILE is {"name", "path", "sha256"}. Tools are sorted by name,
 * files by name and path, so that two locks of one machine have the same bytes.
 */
#ifndef CK_READY_LOCKFILE_H
#define CK_READY_LOCKFILE_H

#include "base/arena.h"
#include "chokepoint.h"

#define CK_LOCKFILE_MAX_BYTES ((size_t)8 << 20)

struct ck_lockfile_file {
    const char *name;   /* as it is requested */
    const char *path;   /* NULL: it did not exist */
    const char *sha256; /* NULL: it did not exist, or could not be read */
};

struct ck_lockfile_files {
    struct ck_lockfile_file *items;
    size_t count;
};

struct ck_lockfile_tool {
    const char *name;
    const char *path;
    const char *version; /* NULL: it reports none */
    const char *sha256;
    struct ck_lockfile_files interpreters; /* of a script, and the loaders of ELF files */
    struct ck_lockfile_files libraries;
};

struct ck_lockfile {
    struct ck_arena arena;
    struct ck_lockfile_tool *tools;
    size_t count;
};

/* Sorts tools and files. */
void ck_lockfile_sort(struct ck_lockfile *lock);

/* Returns 0; -EINVAL and a message; -ENOMEM. Call ck_lockfile_done on ret in any case. */
int ck_lockfile_parse(const char *text, size_t length, struct ck_lockfile *ret, struct choke_error *error);
void ck_lockfile_done(struct ck_lockfile *lock);

/*
 * The text of a sorted lock, to be freed. NULL without memory, or for a string that JSON cannot
 * hold.
 */
char *ck_lockfile_format(const struct ck_lockfile *lock);

/*
 * The differences between two sorted locks, in the order of the tools, as an array in the arena.
 * Strings belong to the locks. Returns 0 or -ENOMEM.
 */
int ck_lockfile_compare(const struct ck_lockfile *before, const struct ck_lockfile *after, struct ck_arena *arena,
                        struct choke_drift **ret_drifts, size_t *ret_count);

#endif
