/*
 * binary.h - find a tool in the policy's search path, and nowhere else (R5).
 *
 * The caller's PATH is never consulted. Refused: a directory that others may write, one inside the root, a file that
 * others may write. The first directory that holds the name decides; an untrusted directory is not skipped but
 * refused, since what stands behind it would otherwise depend on who can write there.
 */
#ifndef CK_SYS_BINARY_H
#define CK_SYS_BINARY_H

#include "sys/trust.h"

#include <stdint.h>

struct ck_search_directory;

/* The search path of one policy, with its directories checked once and re-checked by identity. */
struct ck_search {
    const char *const *paths;
    uint32_t count;
    struct ck_search_directory *directories;
};

struct ck_binary {
    int fd;              /* readable where the file's mode allows it, else O_PATH */
    bool script;         /* begins with "#!": must be executed by path, or its interpreter could not open it */
    char path[PATH_MAX]; /* directory of the search path and name */
};

/* paths must outlive the search. */
int ck_search_init(struct ck_search *search, const char *const *paths, uint32_t count);
void ck_search_done(struct ck_search *search);

/*
 * Failures fill *error with the outcome: CHOKE_TOOL_MISSING (not found), CHOKE_DISALLOWED (not to be trusted; rule
 * search_path), CHOKE_SPAWN_FAILED with EACCES (found, not executable).
 */
int ck_search_find(struct ck_search *search, const char *name, struct ck_identity root, struct ck_binary *ret_binary,
                   struct choke_error *error);

#endif
