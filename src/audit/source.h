/*
 * source.h - the lines of a log, from its files in order, while others append to it and rotate it.
 */
#ifndef CK_AUDIT_SOURCE_H
#define CK_AUDIT_SOURCE_H

#include "audit/verify.h"

#include <sys/stat.h>

#define CK_AUDIT_SOURCE_STDIN "-" /* as a path */

struct ck_audit_source {
    const char *const *paths; /* as given, NULL-terminated */
    bool with_rotated;        /* rotated files of each path too */
    bool is_followed;         /* the last path is followed across its rotations */
    size_t index;             /* of the path */
    int fd;                   /* -1 before the first */
    dev_t device;
    ino_t inode;
    bool is_regular;     /* not a pipe */
    char file[PATH_MAX]; /* the open file, or the last one */
    uint64_t line;       /* number of the last line that was returned */
    size_t files;        /* opened so far */
    char *buffer;
    size_t start, end; /* bytes that are read and not yet returned */
    size_t searched;   /* of these, bytes that have no newline */
    bool is_given_up;  /* a line of the file was too long: the rest of the file is not read */
};

/* 0 or -ENOMEM. The paths must live as long. ck_audit_source_done in either case. */
int ck_audit_source_init(struct ck_audit_source *source, const char *const *paths);
void ck_audit_source_done(struct ck_audit_source *source);

/*
 * 1 and a line, valid until the next call; 0 at the end of what exists now; a negative errno and a
 * message. The text after the last newline of the last file is not returned: see
 * ck_audit_source_rest.
 */
int ck_audit_source_next(struct ck_audit_source *source, struct ck_line *ret_line, struct choke_error *error);

/*
 * The text after the last newline, once ck_audit_source_next returned 0: 1 and the text, or 0 for
 * nothing. Waits first for a writer that is at work, so that half of its line is not taken for a
 * torn one: -EAGAIN if ck_audit_source_next has more now.
 */
int ck_audit_source_rest(struct ck_audit_source *source, struct ck_line *ret_line, struct choke_error *error);

/* ---- series.c ---- */

/*
 * The file of a log that is read after file, which is open and has this device and inode: a rotated
 * file, or the log itself. Both NULL: the first file. 0 and its path; -ENOENT if there is none.
 */
int ck_series_next(const char *path, const char *file, const struct stat *after, char ret_path[PATH_MAX]);

#endif
