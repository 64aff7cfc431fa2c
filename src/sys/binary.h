/*
 * binary.h - find a tool in the policy's search path, or where its entry says, and nowhere else (R5).
 *
 * The caller's PATH is never consulted. Refused: a directory that others may write, one inside the root, a file that
 * others may write. The first directory that holds the name decides; an untrusted directory is not skipped but
 * refused, since what stands behind it would otherwise depend on who can write there.
 */
#ifndef CK_SYS_BINARY_H
#define CK_SYS_BINARY_H

#include "sys/pin.h"
#include "sys/trust.h"
#include "sys/version.h"

#include <stdint.h>

struct ck_binary_directory;

/*
 * The search path of one policy, with its directories checked once and re-checked by identity, and the digests that were
 * computed.
 */
struct ck_binary_search {
    const char *const *paths;
    uint32_t count;
    struct ck_binary_directory *directories;
    struct ck_pin_cache pins;
};

/* What is looked for. */
struct ck_binary_wanted {
    const char *name;
    const char *path;   /* absolute: it is there or nowhere; NULL: the search path */
    const char *sha256; /* of its content, in lower case; NULL: not checked */
};

/* Which of its rules a search failed by. */
enum ck_binary_rule { CK_BINARY_RULE_SEARCH_PATH, CK_BINARY_RULE_PATH, CK_BINARY_RULE_SHA256 };

struct ck_binary {
    int fd;
    bool readable; /* else fd is O_PATH: the file's mode lets it be executed only */
    bool script;   /* begins with "#!": executed by path, or its interpreter could not open it */
    bool copied;   /* fd is the sealed copy of a script: executed by a descriptor that its interpreter can open */
    struct ck_version version; /* of the file; of a copy, the original's */
    char path[PATH_MAX];       /* directory of the search path and name, or the path that was wanted */
};

/* paths must outlive the search. */
int ck_binary_search_init(struct ck_binary_search *search, const char *const *paths, uint32_t count);
void ck_binary_search_done(struct ck_binary_search *search);

/*
 * A helper that is a directory holds plugins: code to be mapped, not to be executed. 0 and an O_PATH descriptor;
 * -ENOTDIR where the path is something else or nothing; -EPERM where it is not to be trusted, with *error.
 */
int ck_binary_directory(const char *path, struct ck_identity root, int *ret_fd, struct choke_error *error);

/*
 * Failures fill *error with the outcome: CHOKE_TOOL_MISSING (not found), CHOKE_DISALLOWED (not to be trusted, or not the
 * wanted content), CHOKE_SPAWN_FAILED with EACCES (found, not executable); and *ret_rule, which may be NULL.
 */
int ck_binary_find(struct ck_binary_search *search, const struct ck_binary_wanted *wanted, struct ck_identity root,
                   struct ck_binary *ret_binary, enum ck_binary_rule *ret_rule, struct choke_error *error);

#endif
