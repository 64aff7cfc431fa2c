/*
 * rulefile.h - read a file that decides something and that the caller named: a policy (R1), or another like it.
 *
 * Nothing is discovered: no environment variable, no directory is searched, no include. Refused: a file that anyone
 * but its owner may write, a file of another user, a way to it that others can redirect, more than the maximum.
 */
#ifndef CK_SYS_RULEFILE_H
#define CK_SYS_RULEFILE_H

#include "sys/trust.h"

struct ck_rulefile {
    const char *path;
    const char *noun;           /* in front of the path in a message, with a blank behind it: "policy "; "" for none */
    enum choke_outcome outcome; /* of a failure */
    size_t max_bytes;
};

/* The text (free it) and the directories the file lies in, to be held against each request's root. */
int ck_rulefile_read(const struct ck_rulefile *file, char **ret_text, size_t *ret_length, struct ck_trusted *ret_place,
                     struct choke_error *error);

/*
 * The same for a file that is to be looked at and not obeyed: any regular file will do. What ck_rulefile_read
 * would refuse about it is in *ret_refusal, whose outcome is CHOKE_NONE where it would not.
 */
int ck_rulefile_review(const struct ck_rulefile *file, char **ret_text, size_t *ret_length,
                       struct choke_error *ret_refusal, struct choke_error *error);

#endif
