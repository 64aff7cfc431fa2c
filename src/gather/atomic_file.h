/*
 * atomic_file.h - files that gather writes for its caller: what the calls printed, and the document. Names are ours, never the
 * repository's; a file is written under another name first and then takes its place, so that nothing that stood there, a
 * link either, is written to or through.
 */
#ifndef CK_GATHER_ATOMIC_FILE_H
#define CK_GATHER_ATOMIC_FILE_H

#include "chokepoint.h"

#include <stdio.h>

#define CK_ATOMIC_FILE_NAME_MAX 256

/* A file that is on its way to its name. */
struct ck_atomic_file {
    int directory_fd;
    int fd; /* to be written to */
    char name[CK_ATOMIC_FILE_NAME_MAX];
    char temp_name[64];
};

/* A negative errno, -ENAMETOOLONG too. directory_fd must stay open until the other two. */
int ck_atomic_file_begin(struct ck_atomic_file *file, int directory_fd, const char *name);
int ck_atomic_file_commit(struct ck_atomic_file *file); /* the draft is over in any case */
void ck_atomic_file_drop(struct ck_atomic_file *file);

/* All at once. */
int ck_atomic_file_write(int directory_fd, const char *name, const void *data, size_t length);

#endif
