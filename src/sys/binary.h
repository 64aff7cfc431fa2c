/*
 * binary.h - finds a tool in the policy's search path, or where its entry says, and nowhere else
 * (R5).
 *
 * The caller's PATH is never used. Refused are: a directory that others may write, a directory
 * inside the root, and a file that others may write. The first directory that holds the name
 * decides. An untrusted directory is refused, not skipped: otherwise a user who can write there
 * would decide which later directory is used.
 */
#ifndef CK_SYS_BINARY_H
#define CK_SYS_BINARY_H

#include "sys/pin.h"
#include "sys/trust.h"
#include "sys/version.h"

#include <stdint.h>

struct ck_binary_directory;

/*
 * The search path of one policy: its directories, checked once and then compared by identity, and
 * the digests computed so far.
 */
struct ck_binary_search {
    const char *const *paths;
    uint32_t count;
    struct ck_binary_directory *directories;
    struct ck_pin_cache pins;
};

/* What to find. */
struct ck_binary_wanted {
    const char *name;
    const char *path;   /* absolute: only this path counts; NULL: the search path */
    const char *sha256; /* of the content, lower case; NULL: not checked */
};

/* The rule that a failed search broke. */
enum ck_binary_rule { CK_BINARY_RULE_SEARCH_PATH, CK_BINARY_RULE_PATH, CK_BINARY_RULE_SHA256 };

struct ck_binary {
    int fd;
    bool readable; /* else fd is O_PATH: the mode allows execution only */
    bool script;   /* begins with "#!": executed by path, so that its interpreter can open it */
    bool copied;   /* fd is the sealed copy of a script: executed by a descriptor that its interpreter can open */
    struct ck_version version; /* of the file; for a copy, of the original */
    char path[PATH_MAX];       /* a directory of the search path and the name, or the wanted path */
};

/* paths must outlive the search. */
int ck_binary_search_init(struct ck_binary_search *search, const char *const *paths, uint32_t count);
void ck_binary_search_done(struct ck_binary_search *search);

/*
 * A helper that is a directory, with programs and with code to map. Returns 0 and an O_PATH
 * descriptor; -ENOTDIR if the path is not a directory; -EPERM and *error if it cannot be
 * trusted.
 */
int ck_binary_directory(const char *path, struct ck_identity root, int *ret_fd, struct choke_error *error);

/*
 * A failure fills *error and its outcome: CHOKE_TOOL_MISSING (not found), CHOKE_DISALLOWED (not
 * trusted, or not the wanted content), CHOKE_SPAWN_FAILED with EACCES (found, not executable). It
 * also fills *ret_rule, which may be NULL.
 */
int ck_binary_find(struct ck_binary_search *search, const struct ck_binary_wanted *wanted, struct ck_identity root,
                   struct ck_binary *ret_binary, enum ck_binary_rule *ret_rule, struct choke_error *error);

#endif
