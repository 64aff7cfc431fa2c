/*
 * lockfile.h - pure: tools.lock as text, and what differs between two of them (R7).
 *
 * {"version": 1, "tools": [{"name", "path", "version", "sha256", "interpreters": [FILE...], "libraries": [FILE...]}]},
 * FILE being {"name", "path", "sha256"}. Tools stand in the order of their names, files in that of name and path, so
 * that two locks of one machine are the same bytes.
 */
#ifndef CK_READY_LOCKFILE_H
#define CK_READY_LOCKFILE_H

#include "base/arena.h"
#include "chokepoint.h"

#define CK_LOCKFILE_MAX_BYTES ((size_t)8 << 20)

struct ck_lockfile_file {
    const char *name;   /* as it is asked for */
    const char *path;   /* NULL: it was not there */
    const char *sha256; /* NULL: not there, or not to be read */
};

struct ck_lockfile_files {
    struct ck_lockfile_file *items;
    size_t count;
};

struct ck_lockfile_tool {
    const char *name;
    const char *path;
    const char *version; /* NULL: it has none to tell */
    const char *sha256;
    struct ck_lockfile_files interpreters; /* of a script, and the loaders of ELF files */
    struct ck_lockfile_files libraries;
};

struct ck_lockfile {
    struct ck_arena arena;
    struct ck_lockfile_tool *tools;
    size_t count;
};

/* Puts tools and files into their order. */
void ck_lockfile_sort(struct ck_lockfile *lock);

/* 0; -EINVAL and words; -ENOMEM. ret is done with ck_lockfile_done in any case. */
int ck_lockfile_parse(const char *text, size_t length, struct ck_lockfile *ret, struct choke_error *error);
void ck_lockfile_done(struct ck_lockfile *lock);

/* The text of a sorted lock, to be freed; NULL where there is no memory, or a string that JSON cannot hold. */
char *ck_lockfile_format(const struct ck_lockfile *lock);

/*
 * What differs between two sorted locks, in the order of the tools, as an array in the arena. Strings are those of the
 * locks. 0 or -ENOMEM.
 */
int ck_lockfile_compare(const struct ck_lockfile *before, const struct ck_lockfile *after, struct ck_arena *arena,
                        struct choke_drift **ret_drifts, size_t *ret_count);

#endif
