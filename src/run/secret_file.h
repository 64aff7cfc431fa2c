/*
 * secret_file.h - a file of the caller with a secret: who may have written it, who can read it.
 */
#ifndef CK_RUN_SECRET_FILE_H
#define CK_RUN_SECRET_FILE_H

#include "chokepoint.h"
#include "sys/trust.h"

struct ck_secret_file {
    const char *path;         /* absolute */
    const char *what;         /* for messages: "the credentials for 'upstream'" */
    enum choke_outcome fault; /* of these messages */
    struct ck_identity root;
    /* directories that tools can write, besides the root, and their number */
    const struct ck_identity *places;
    size_t places_count;
    bool single_link; /* a second link could be inside the root */
};

/*
 * A regular file that belongs to the caller, that nobody else can read, on a path that nobody else
 * can change, outside of the root, of the places and of the directories of the system, which every
 * tool can read. Returns 0 and its descriptor, or a negative errno and *error, which never quotes
 * the file.
 */
int ck_secret_file_open(const struct ck_secret_file *file, int *ret_fd, struct choke_error *error);

/* Fills *error: the file, what it is, and why not. Returns -errnum. */
int ck_secret_file_refuse(const struct ck_secret_file *file, int errnum, const char *why, struct choke_error *error);

#endif
