/*
 * submission.h - what one array of Slurm works on: slurm/N.json, which appears whole and is never
 * changed.
 *
 * Task I of the array does the names from I * chunk on. gone has the holders of claims that
 * were gone when the array was submitted: a process that has ended, a task that Slurm did not list. Neither
 * comes back.
 */
#ifndef CK_FLEET_SUBMISSION_H
#define CK_FLEET_SUBMISSION_H

#include "fleet/area.h"

struct ck_submission {
    unsigned number;
    size_t chunk;
    json_t *value; /* "names" and "gone" */
};

#define CK_SUBMISSION_MAX 100000

/*
 * Takes the next free number. names and gone are arrays of texts, of which it takes a reference.
 * Returns 0 or a negative errno.
 */
int ck_submission_make(int slurm_fd, size_t chunk, json_t *names, json_t *gone, struct ck_submission *ret_submission);
int ck_submission_read(int slurm_fd, unsigned number, struct ck_submission *ret_submission);
void ck_submission_done(struct ck_submission *submission);

/* The name at a place of the whole submission; NULL: none, or not valid. */
const char *ck_submission_name(const struct ck_submission *submission, size_t place);
size_t ck_submission_count(const struct ck_submission *submission);

/* Is this holder of a claim in the list of those that are gone? */
bool ck_submission_is_gone(const struct ck_submission *submission, const char *holder);

#endif
