/*
 * plugins_layout.h - pure: where the plug-ins of an interpreter are on this system, by its own layout.
 */
#ifndef CK_JAIL_PLUGINS_LAYOUT_H
#define CK_JAIL_PLUGINS_LAYOUT_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#define CK_PLUGINS_VERSION_SIZE 16

struct ck_plugins_layout;

/* An interpreter that the table has, and the version in its file name ("11" of python3.11; or ""). */
struct ck_plugins_interpreter {
    const struct ck_plugins_layout *layout;
    char version[CK_PLUGINS_VERSION_SIZE];
    char path[64]; /* its real path */
};

/* False if the file is not an interpreter that is known. real has no symlink in it. */
bool ck_plugins_layout_find(const char *real, struct ck_plugins_interpreter *ret_interpreter);

/*
 * The pattern of a directory with plug-ins: an absolute path, in which a component may have "*".
 * False after the last one.
 */
bool ck_plugins_layout_directory(const struct ck_plugins_interpreter *interpreter, size_t i,
                                 char ret_pattern[PATH_MAX]);

/* Whether the path is beneath one of these directories. It has no ".." and no "//". */
bool ck_plugins_layout_holds(const struct ck_plugins_interpreter *interpreter, const char *path);

/* Whether a file name is one of a shared object: it ends with ".so", or has a version after it. */
bool ck_plugins_layout_is_object(const char *name);

#endif
