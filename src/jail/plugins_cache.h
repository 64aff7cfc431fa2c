/*
 * plugins_cache.h - the file that remembers the plug-ins of an interpreter between processes.
 *
 * "plugins-NAME" in the directory of sys/cachedir.h, for example plugins-usr-bin-python3.11. Lines:
 * a head with the interpreter's path, then "d" for each directory and "f" for each file, with device,
 * inode, size, mtime and ctime, and the path. It is never believed: what it names passes the checks
 * of a fresh search, or the file counts for nothing.
 */
#ifndef CK_JAIL_PLUGINS_CACHE_H
#define CK_JAIL_PLUGINS_CACHE_H

#include "jail/plugins_scan.h"
#include "sys/trust.h"

#define CK_PLUGINS_CACHE_MAX_BYTES ((size_t)1 << 20)

/*
 * Fills the list. Returns 1; 0 if there is no file, something has changed, or a path fails a check; a
 * negative errno for a lack of memory or descriptors. The list has room, and may hold anything after
 * 0. A directory inside root is not used.
 */
int ck_plugins_cache_load(struct ck_plugins_check *check, const struct ck_identity *root, struct ck_plugins_list *list);

/* Failure costs the next process a search, and is not reported. A list that is not settled is not kept. */
void ck_plugins_cache_save(const struct ck_plugins_check *check, const struct ck_identity *root,
                           const struct ck_plugins_list *list);

/* Pure. The list has room; its paths are put into the arena. Returns 0, -EINVAL or -ENOMEM. */
int ck_plugins_cache_parse(const char *text, const char *interpreter, struct ck_arena *arena,
                           struct ck_plugins_list *list);

/* Pure: the text of a list; NULL if there is no memory or it is too long. It must be freed. */
char *ck_plugins_cache_format(const struct ck_plugins_list *list, const char *interpreter);

#endif
