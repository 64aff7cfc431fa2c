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

#define CK_LOCKFILE_MAX_BYTES ((size_t)8 << 20) /* of the file */

/* An interpreter, a loader or a library of a tool. */
struct ck_lockfile_file {
    const char *name;   /* as the tool requests it, for example libc.so.6 */
    const char *path;   /* NULL: it did not exist */
    const char *sha256; /* NULL: it did not exist, or could not be read */
};

struct ck_lockfile_files {
    struct ck_lockfile_file *items;
    size_t count;
};

/* A tool, with the files it needs to run. */
struct ck_lockfile_tool {
    const char *name;
    const char *path;
    const char *version; /* NULL: it reports none */
    const char *sha256;
    struct ck_lockfile_files interpreters; /* of a script, and the loaders of ELF files */
    struct ck_lockfile_files libraries;
};

/* Strings are in the arena, or belong to the code that filled the lock. */
struct ck_lockfile {
    struct ck_arena arena;
    struct ck_lockfile_tool *tools;
    size_t count;
};

/* Sorts tools and files. Format and compare need a sorted lock; parse returns one. */
void ck_lockfile_sort(struct ck_lockfile *lock);

/* Returns 0, -EINVAL and a message, or -ENOMEM. Call ck_lockfile_done on ret in any case. */
int ck_lockfile_parse(const char *text, size_t length, struct ck_lockfile *ret, struct choke_error *error);
void ck_lockfile_done(struct ck_lockfile *lock);

/*
 * The text of a sorted lock; the caller frees it. NULL if memory ran out, or for a string that JSON
 * cannot hold (it is not UTF-8).
 */
char *ck_lockfile_format(const struct ck_lockfile *lock);

/*
 * The differences between two sorted locks, in the order of the tools, as an array in the arena.
 * Strings belong to the locks. Returns 0 or -ENOMEM.
 */
int ck_lockfile_compare(const struct ck_lockfile *before, const struct ck_lockfile *after, struct ck_arena *arena,
                        struct choke_drift **ret_drifts, size_t *ret_count);

#endif
