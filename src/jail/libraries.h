/*
 * libraries.h - the library directories of the system as code (R80).
 *
 * Everything in them may be mapped, so an interpreter loads its modules and what these need. Nothing
 * in them may be executed but what is listed: Landlock decides that by file. The loader would run
 * any file that may be mapped, so the loader inside is a copy that refuses to (jail/stub.h).
 */
#ifndef CK_JAIL_LIBRARIES_H
#define CK_JAIL_LIBRARIES_H

#include "jail/native.h"
#include "jail/native_program.h"
#include "sys/depend.h"

/*
 * Adds the directories that exist and that nobody but root and the caller can change. The trees of
 * the system must have been added. 0, or the negative errno of a shortage, which says nothing about a directory.
 */
int ck_libraries_add(struct ck_native_builder *program);

/* Whether the file is in one of the directories that were added. real has no symlink in it. */
bool ck_libraries_hold(const struct ck_native_builder *program, const char *real);

/*
 * Whether a path is in one of the directories, or holds one. A root that may be written and is such
 * a path gets no libraries: what the tool writes there could be mapped. Pure.
 */
bool ck_libraries_overlap(const char *path);

/*
 * Whether a file as large as a copy of a loader may be written: the caller's RLIMIT_FSIZE holds for
 * the keeper too. Without it the jail must have no libraries.
 */
bool ck_libraries_fit(void);

/*
 * Puts a copy of the loader `real` at the path inside, and notes it in *loader. -ENOTSUP: there is no
 * stub for it, or it is not the one that a proof tries, so the jail must have no libraries.
 */
int ck_libraries_add_loader(struct ck_native_builder *program, const char *inside, const char *real,
                            struct ck_native_loader *loader);

/*
 * Whether the open file is a loader: a shared object that has a name and no loader. 1 or 0; a negative
 * errno for a shortage: a loader that is not known as one would have no stub.
 */
int ck_libraries_is_loader(int fd, struct ck_arena *arena);

/*
 * For a proof. Binds as code what the proof tries to execute and must not, and what it must be able
 * to execute, and finds the loader.
 * -ENOTSUP: this machine has no loader that can be tried.
 */
int ck_libraries_add_proof(struct ck_native_builder *program, const char **ret_loader);

#endif
