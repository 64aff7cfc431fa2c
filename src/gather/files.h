/*
 * files.h - which files a repository has: one walk for all probes that ask by applies_when.
 *
 * Must not: follow a link, cross into another mount, go into .git, wait for anything but the disk, or take longer than
 * its bounds. What it does not see is counted, and the walk called incomplete.
 */
#ifndef CK_GATHER_FILES_H
#define CK_GATHER_FILES_H

#include "gather/probes.h"

#define CK_FILES_ENTRIES_MAX 200000
#define CK_FILES_TIME_MS 2000

/* What matched one probe. */
struct ck_matches {
    char **paths; /* from the root, any bytes, in the order of their bytes; NULL-terminated */
    size_t count;
    char *blocking_path; /* a file that its tool would open by itself, and wait for (probes.h, opens); NULL: none */
    bool cut;            /* more matched than are kept */
    bool may_apply;      /* nothing matched, but not everything was seen, and no call needs the names: it may apply */
};

struct ck_files {
    struct ck_matches *matches; /* one for each probe, in their order */
    size_t match_count;
    char *special;     /* a FIFO or a device, the first that was seen; NULL: none */
    size_t count;      /* everything that is no directory */
    size_t unreadable; /* directories that could not be read */
    bool incomplete;   /* a bound was reached, or a directory could not be read */
};

/*
 * 0, or a negative errno and *error: out of memory, or the root itself cannot be read. stop is asked now and then; where it
 * says so, what was found until then is all there is, and incomplete.
 */
int ck_files_walk(int root_fd, const struct ck_probes *probes, bool (*stop)(void *data), void *data,
                  struct ck_files *ret_files, struct choke_error *error);
void ck_files_done(struct ck_files *files); /* zero-filled is fine */

/* Pure: does the path match the glob? See probes.h. */
bool ck_glob_match(const char *glob, const char *path);

#endif
