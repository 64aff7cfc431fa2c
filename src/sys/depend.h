/*
 * depend.h - the files that run when a tool runs: its interpreters, its loader, its shared objects.
 *
 * This only looks and hashes. Shared objects are found as the glibc loader finds them for a process
 * without LD_ variables: DT_RPATH up the chain of requesters, DT_RUNPATH, the loader's cache, its
 * standard directories. Where the choice depends on the processor (glibc-hwcaps), every file that
 * could be chosen is listed. What a program opens itself while it runs (plugins, modules of a
 * script) is not seen.
 */
#ifndef CK_SYS_DEPEND_H
#define CK_SYS_DEPEND_H

#include "base/arena.h"
#include "sys/digest.h"
#include "sys/version.h"

#include <stdbool.h>

#define CK_PARTS_MAX 1024

enum ck_part_role { CK_PART_INTERPRETER = 1, CK_PART_LIBRARY };

struct ck_part {
    enum ck_part_role role;
    bool loader;      /* an ELF file names it as its loader; then role is CK_PART_INTERPRETER */
    const char *name; /* as it was requested: a path, or the name of a shared object */
    const char *path; /* where it is; NULL: not found, and the tool will not start */
    struct ck_version version;
    char sha256[CK_DIGEST_SIZE]; /* "" if it cannot be read */
};

struct ck_depend_memo;
struct ck_object;

/* Starts zero-filled, with search set. It can be used for several tools, one after another. */
struct ck_depend {
    const char *const *search; /* where "#!/usr/bin/env NAME" finds NAME */
    size_t search_count;
    bool (*stop)(void *data); /* asked while a file is hashed; NULL: never */
    void *stop_data;
    bool versions_only; /* parts get no digest: hashing a large interpreter takes time */
    struct ck_arena arena;
    struct ck_depend_memo *memo; /* digests computed so far */
    const char *cache;           /* the loader's cache, once it was read */
    size_t cache_length;
    bool cache_tried;
    struct ck_object *objects; /* memory of a walk, used again by the next: many tools have many walks */
    const char **names;
    /* of the last tool; the next uses the memory again, unless the caller has set it to NULL: */
    struct ck_part *parts;
    size_t count;
};

/*
 * The interpreters of a script, in the order in which they are started; nothing for other files.
 * Returns 0; -ENOMEM; -ELOOP for scripts that interpret each other without end.
 */
int ck_depend_interpreters(struct ck_depend *depend, int fd);

/*
 * All parts: the interpreters, and the loader and shared objects of each ELF file among them and of
 * the tool itself.
 */
int ck_depend_all(struct ck_depend *depend, int fd);

/*
 * The digest of an open file, from the memo if it was computed before. Returns 0 or a negative
 * errno; -ECANCELED if stop asked for it.
 */
int ck_depend_digest(struct ck_depend *depend, int fd, struct ck_version *ret_version, char ret_hex[CK_DIGEST_SIZE]);

void ck_depend_done(struct ck_depend *depend);

/*
 * Pure: the interpreter in the first line of a file, and its one argument ("" for none). False if
 * the file is not a script. Both results point into line, which is changed.
 */
bool ck_depend_shebang_split(char *line, const char **ret_interpreter, const char **ret_argument);

/*
 * Pure: the program that "env ARGUMENT" looks for in PATH. It points into argument, which is
 * changed; NULL for none.
 */
const char *ck_depend_shebang_env_program(char *argument);

#endif
