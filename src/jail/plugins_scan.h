/*
 * plugins_scan.h - searches the directories of an interpreter for its plug-ins, and finds the
 * libraries that these need.
 */
#ifndef CK_JAIL_PLUGINS_SCAN_H
#define CK_JAIL_PLUGINS_SCAN_H

#include "jail/plugins_check.h"
#include "sys/depend.h"

#define CK_PLUGINS_FILES_MAX 2048
#define CK_PLUGINS_DIRECTORIES_MAX 4096

/* All in one arena. */
struct ck_plugins_list {
    struct ck_plugins_stamp *files; /* the plug-ins first; a library comes after a file that needs it */
    size_t files_count;
    struct ck_plugins_stamp *directories; /* what was read to find the files; also those that do not exist */
    size_t directories_count;
    bool settled; /* a later change of one of the directories will be visible */
};

/* Room for the most that a list can have. -ENOMEM. */
int ck_plugins_list_init(struct ck_plugins_list *list, struct ck_arena *arena);

/* The version of a path now; zero-filled if it does not exist. A symlink is not followed. */
struct ck_version ck_plugins_version_now(const char *path);

/*
 * Beyond a bound the search ends with what was found so far. depend: for the loader's cache. Returns
 * 0, or a negative errno for a lack of memory or descriptors.
 */
int ck_plugins_scan(struct ck_plugins_check *check, struct ck_depend *depend, struct ck_plugins_list *list);

#endif
