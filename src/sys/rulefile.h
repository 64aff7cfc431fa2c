/*
 * rulefile.h - reads a file that decides something and that the caller named: a policy (R1), or a
 * similar file.
 *
 * Nothing is discovered: no environment variable, no search in directories, no include. Refused
 * are: a file that others than its owner may write, a file of another user, a path that others can
 * redirect, and a file larger than the maximum.
 */
#ifndef CK_SYS_RULEFILE_H
#define CK_SYS_RULEFILE_H

#include "sys/trust.h"

struct ck_rulefile {
    const char *path;
    const char *noun;           /* before the path in a message, with a space after it: "policy "; "" for none */
    enum choke_outcome outcome; /* of a failure */
    size_t max_bytes;
    bool of_root; /* it and its path must belong to root; else to root or to the caller */
};

/*
 * The text (free it) and the directories that the file is in. The caller compares these with the
 * root of each request.
 */
int ck_rulefile_read(const struct ck_rulefile *file, char **ret_text, size_t *ret_length, struct ck_trusted *ret_place,
                     struct choke_error *error);

/*
 * The same for a file that is only shown, not obeyed: any regular file is accepted, and a pipe that
 * the caller has open. *ret_refusal says why ck_rulefile_read would refuse it; its outcome is
 * CHOKE_NONE if it would not.
 */
int ck_rulefile_review(const struct ck_rulefile *file, char **ret_text, size_t *ret_length,
                       struct choke_error *ret_refusal, struct choke_error *error);

#endif
