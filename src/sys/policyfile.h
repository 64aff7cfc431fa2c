/*
 * policyfile.h - read the policy file that the caller named (R1).
 *
 * Nothing is discovered: no environment variable, no directory is searched, no include. Refused: a file that anyone
 * but its owner may write, a file of another user, a way to it that others can redirect, more than the maximum.
 */
#ifndef CK_SYS_POLICYFILE_H
#define CK_SYS_POLICYFILE_H

#include "sys/trust.h"

/*
 * The text (free it) and the directories the file lies in, to be held against each request's root. Failures have
 * outcome CHOKE_POLICY.
 */
int ck_policyfile_read(const char *path, size_t max_bytes, char **ret_text, size_t *ret_length,
                       struct ck_trusted *ret_place, struct choke_error *error);

/*
 * The same for a policy that is to be looked at and not obeyed: any regular file will do. What ck_policyfile_read
 * would refuse about it is in *ret_refusal, whose outcome is CHOKE_NONE where it would not.
 */
int ck_policyfile_review(const char *path, size_t max_bytes, char **ret_text, size_t *ret_length,
                         struct choke_error *ret_refusal, struct choke_error *error);

#endif
