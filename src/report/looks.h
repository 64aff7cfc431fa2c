/*
 * looks.h - all looks that a report is made of, read from files and directories.
 *
 * A directory may be that of a fleet (`chokepoint fleet run --out DIR`): its index.json says which
 * repository a document is of, and failed/NAME.json why there is none. In any other directory each
 * file that is a document of gather counts, also in its subdirectories. Symlinks to directories are
 * not followed.
 *
 * Looks at one repository are in the order of their dates. The findings of the latest are compared
 * with those of the look before.
 */
#ifndef CK_REPORT_LOOKS_H
#define CK_REPORT_LOOKS_H

#include "report/look.h"

#define CK_LOOKS_MAX 200000                   /* documents */
#define CK_LOOKS_BYTES_MAX ((size_t)64 << 20) /* of one document; one with 100,000 findings has 30 MB */

/* A document that cannot be read, or a repository of a fleet that was not gathered. */
struct ck_looks_loss {
    uint32_t name, reason;
};

struct ck_looks {
    struct ck_strings strings;
    struct ck_look *items; /* by repository, then by date */
    size_t count;
    size_t repositories; /* how many of items are the latest of theirs */
    struct ck_looks_loss *losses;
    size_t loss_count;
    size_t compared; /* repositories with a look before */
    uint64_t fresh, gone, unchecked;
};

/* paths: NULL-terminated. A file that is named and is no document is an error. */
int ck_looks_read(struct ck_looks *looks, const char *const *paths, struct choke_error *error);

/* The place in items of the latest look at the next repository, from `at` on; count: none. */
size_t ck_looks_next(const struct ck_looks *looks, size_t at);

/* The look before the latest one at `at`; NULL: none. */
const struct ck_look *ck_looks_before(const struct ck_looks *looks, size_t at);

void ck_looks_done(struct ck_looks *looks);

#endif
