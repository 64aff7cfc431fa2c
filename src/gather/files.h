/*
 * files.h - which files a repository has: one walk for all probes with applies_when.
 *
 * Must not: follow a symlink, cross into another mount, go into .git, wait for anything but the
 * disk, or take longer than its limits. What it does not see is counted, and the walk is reported
 * as incomplete.
 */
#ifndef CK_GATHER_FILES_H
#define CK_GATHER_FILES_H

#include "gather/probes.h"

#define CK_FILES_ENTRIES_MAX 200000
#define CK_FILES_TIME_MS 2000

/* The files that matched one probe. */
struct ck_matches {
    char **paths; /* from the root, any bytes, sorted by bytes; NULL-terminated */
    size_t count;
    /* A file that the tool would open by itself and wait for (probes.h, opens); NULL: none. */
    char *blocking_path;
    bool cut;       /* more files matched than are kept */
    bool may_apply; /* nothing matched, but the walk is incomplete and no call needs the names */
};

struct ck_files {
    struct ck_matches *matches; /* one per probe, in their order */
    size_t match_count;
    char *special;     /* the first FIFO or device that was seen; NULL: none */
    size_t count;      /* everything but directories */
    size_t unreadable; /* directories that could not be read */
    bool incomplete;   /* a limit was reached, or a directory could not be read */
};

/*
 * Returns 0, or a negative errno and *error: out of memory, or the root itself cannot be read. stop
 * is called now and then. If it returns true, the walk ends and is incomplete.
 */
int ck_files_walk(int root_fd, const struct ck_probes *probes, bool (*stop)(void *data), void *data,
                  struct ck_files *ret_files, struct choke_error *error);
void ck_files_done(struct ck_files *files); /* zero-filled is fine */

/* Pure: does the path match the glob? The syntax is in probes.h. */
bool ck_glob_match(const char *glob, const char *path);

#endif
