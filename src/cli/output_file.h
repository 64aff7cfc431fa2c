/*
 * output_file.h - a file that a command writes at its end, such as `gather --out FILE`.
 *
 * It is checked before the work begins: a path that cannot be written is a mistake in the command
 * line. It is replaced as a whole: a reader sees the old file or the new one, also after a crash or
 * on a full disk. Only a file is replaced, or a symlink to one, never a device or a pipe.
 */
#ifndef CK_CLI_OUTPUT_FILE_H
#define CK_CLI_OUTPUT_FILE_H

#include "chokepoint.h"

#include <jansson.h>

struct ck_output_file {
    const char *option; /* for messages: "--out" */
    const char *path;   /* NULL: it is not written */
    int directory_fd;   /* -1 until it is opened */
    const char *name;   /* the last name of path, in directory_fd */
};

#define CK_OUTPUT_FILE(given) ((struct ck_output_file){.option = (given), .directory_fd = -1})

/*
 * root is the repository that is looked at: no symlink of it may be on the way to the file, because
 * then its author would choose where the file goes. Nothing to do if path is NULL.
 */
int ck_output_file_open(struct ck_output_file *file, const char *root, struct choke_error *error);

int ck_output_file_write(const struct ck_output_file *file, const json_t *document, struct choke_error *error);
void ck_output_file_done(struct ck_output_file *file);

/* ELOOP, as open(2) with RESOLVE_NO_SYMLINKS: a path goes through a symlink of the repository. */
int ck_output_file_fail_via_symlink(const char *option, const char *path, struct choke_error *error);

/* "--out 'all.json': No space left on device" */
int ck_output_file_fail(const char *option, const char *path, int errnum, struct choke_error *error);

#endif
