/* summary.h - what guard reports when PROGRAM has ended: as text, and as JSON. */
#ifndef CK_GUARD_SUMMARY_H
#define CK_GUARD_SUMMARY_H

#include "guard/connection.h"

struct ck_guard_summary {
    const struct choke_result *result;
    const char *root; /* without symlinks; NULL: not known */
    const struct choke_guard *guard;
    struct choke_guard_counts counts;
    struct ck_guard_calls calls;
    const char *unrecorded_by;               /* why a record could not be written, if one could not */
    int status;                              /* with which guard ends */
    const struct choke_file_change *changes; /* what PROGRAM left */
    size_t changes_count;
    bool changes_incomplete;
    const char *description; /* of its cage */
};

/* Why the counts do not fit together, or what the record of them lacks; or NULL. */
const char *ck_guard_summary_difference(const struct ck_guard_summary *summary);

void ck_guard_summary_print(const struct ck_guard_summary *summary);

/* As JSON to fd; path is for messages. 0, or a negative errno and *error. */
int ck_guard_summary_write(const struct ck_guard_summary *summary, int fd, const char *path, struct choke_error *error);

#endif
