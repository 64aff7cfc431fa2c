/*
 * helper_files.h - finds and opens the helpers of a tool: names, files, directories, and the
 * members of the sets that it uses.
 *
 * A name is searched in the search path. Of a directory, the programs directly in it are helpers;
 * the directory itself is listed too, because a jail maps code from it. A helper that is not
 * installed is left out. One that is not trusted is an error.
 */
#ifndef CK_RUN_HELPER_FILES_H
#define CK_RUN_HELPER_FILES_H

#include "policy/model.h"
#include "sys/binary.h"

#define CK_HELPER_FILES_MAX 256

struct ck_helper_file {
    int fd;
    char *path;     /* on the host */
    bool directory; /* its files may be mapped as code */
};

struct ck_helper_files {
    struct ck_helper_file items[CK_HELPER_FILES_MAX];
    size_t count;
};

/*
 * Adds the helpers of the tool to the list, each path once. 0; -ENOMEM; or another negative errno
 * with *error filled: CHOKE_DISALLOWED for a file or directory that is not trusted, and for too
 * many files. files needs ck_helper_files_done in any case.
 */
int ck_helper_files_open(struct ck_binary_search *search, const struct ck_tool *tool, struct ck_identity root,
                         struct ck_helper_files *files, struct choke_error *error);

/* Closes all. Only count need be set in an empty list. */
void ck_helper_files_done(struct ck_helper_files *files);

#endif
