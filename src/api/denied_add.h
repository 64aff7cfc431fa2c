/* denied_add.h - the line of a policy that would allow what a jail refused. */
#ifndef CK_API_DENIED_ADD_H
#define CK_API_DENIED_ADD_H

#include "base/arena.h"
#include "policy/helper_sets.h"
#include "sys/binary.h"

/*
 * For a file that a tool tried to execute, by its path inside the jail: "uses: [c-compiler]" where a
 * set of helpers has it, else such as "execs: [tput]"; in the arena. NULL unless it is a system file
 * that only root or the caller could have written, and that gives nobody privileges. root: of the
 * request; what is beneath it is never suggested. by: name of the program that tried it.
 */
const char *ck_denied_add_exec(struct ck_binary_search *search, struct ck_identity root, const char *path,
                               const char *by, struct ck_arena *arena);

/*
 * Does the program of this name in the search path give privileges, or change the user? False also
 * if it is not found.
 */
bool ck_denied_add_is_privileged(struct ck_binary_search *search, struct ck_identity root, const char *name);

/* What would allow it. */
struct ck_denied_add_choice {
    const struct ck_helper_set *set; /* a set that has the file; or NULL */
    const char *file;                /* its name if the search path leads to it, else its path; a part of path */
    bool by_name;
};

/* The same for a caller who chooses between the set and the file. False: neither may be suggested. */
bool ck_denied_add_choose(struct ck_binary_search *search, struct ck_identity root, const char *path, const char *by,
                          struct ck_denied_add_choice *ret);

#endif
