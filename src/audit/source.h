/*
 * source.h - the lines of a log, from its files in their order, while others append to it and rotate it.
 */
#ifndef CK_AUDIT_SOURCE_H
#define CK_AUDIT_SOURCE_H

#include "audit/verify.h"

#include <sys/stat.h>

#define CK_AUDIT_SOURCE_STDIN "-" /* as a path */

struct ck_audit_source {
    const char *const *paths; /* those that were given, ends with NULL */
    bool with_rotated;
    bool is_followed; /* the last path is also read on across its rotations */
    size_t index;     /* of the path */
    int fd;           /* -1 before the first */
    dev_t device;
    ino_t inode;
    bool is_regular;
    char file[PATH_MAX]; /* the one that is open, or was last */
    uint64_t line;       /* of the last line that was given */
    size_t files;
    char *buffer;
    size_t start, end; /* what of it is read and not yet given */
    size_t searched;   /* how much of that is known to hold no newline */
    bool is_given_up;  /* a line of the file was too long: nothing more of it is read */
};

/* 0 or -ENOMEM. The paths must live as long. ck_audit_source_done in either case. */
int ck_audit_source_init(struct ck_audit_source *source, const char *const *paths);
void ck_audit_source_done(struct ck_audit_source *source);

/*
 * 1 and a line, valid until the next call; 0 at the end of what is there now; a negative errno and words. What stands
 * behind the last newline of the last file is not given: see ck_audit_source_rest.
 */
int ck_audit_source_next(struct ck_audit_source *source, struct ck_line *ret_line, struct choke_error *error);

/*
 * What stands behind the last newline, once ck_audit_source_next said 0: 1 and it, or 0 for nothing. A writer that is at work is
 * waited for first, so that half of its line is not taken for a torn one: -EAGAIN where ck_audit_source_next has more now.
 */
int ck_audit_source_rest(struct ck_audit_source *source, struct ck_line *ret_line, struct choke_error *error);

/* ---- series.c ---- */

/*
 * The file of a log that is read behind file, which is open and has this device and inode: a rotated one, or the log itself.
 * Both NULL: the first. 0 and its path; -ENOENT where there is none.
 */
int ck_series_next(const char *path, const char *file, const struct stat *after, char ret_path[PATH_MAX]);

#endif
