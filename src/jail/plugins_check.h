/*
 * plugins_check.h - whether a file may be mapped as a plug-in of an interpreter, or as a library that
 * one needs. A file of a fresh search and one from the cache pass the same check.
 */
#ifndef CK_JAIL_PLUGINS_CHECK_H
#define CK_JAIL_PLUGINS_CHECK_H

#include "base/arena.h"
#include "jail/plugins_layout.h"
#include "sys/elf.h"
#include "sys/version.h"

/* A directory or file, and its version when it was read. */
struct ck_plugins_stamp {
    const char *path;
    struct ck_version version; /* all 0: it does not exist */
};

/* Zero-filled but for the first two members. What it notes is in the arena. */
struct ck_plugins_check {
    struct ck_arena *arena;
    const char *home; /* the home with the cache; NULL: by the environment */
    const struct ck_plugins_interpreter *interpreter;
    unsigned bits; /* of the interpreter: ck_plugins_check_interpreter */
    uint16_t machine;
    struct ck_plugins_checked_directory *directories; /* those that were looked at */
};

enum ck_plugins_verdict {
    CK_PLUGINS_OTHER,    /* the loader would not take it: not an ELF file, or for another machine */
    CK_PLUGINS_REFUSED,  /* the loader would, and it is not code in the jail */
    CK_PLUGINS_ACCEPTED, /* a library that only root and the caller can change */
};

/*
 * Reads the interpreter itself. Returns 1; 0 if it is not an ELF file, or others can change it; a
 * negative errno for a lack of memory or descriptors.
 */
int ck_plugins_check_interpreter(struct ck_plugins_check *check);

/* Whether nobody else can change the directory, and its path has no symlink. As above. */
int ck_plugins_check_directory(struct ck_plugins_check *check, const char *path);

/*
 * The verdict, or a negative errno for a lack of memory or descriptors. With CK_PLUGINS_ACCEPTED
 * *ret_elf is valid, and *ret_version is the version of the file that was read.
 */
int ck_plugins_check_file(struct ck_plugins_check *check, const char *path, struct ck_elf *ret_elf,
                          struct ck_version *ret_version);

#endif
