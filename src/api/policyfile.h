/* policyfile.h - the limits and names with which a policy file is read. */
#ifndef CK_API_POLICYFILE_H
#define CK_API_POLICYFILE_H

#include "policy/load.h"
#include "run/locked.h"
#include "sys/rulefile.h"

#include <string.h>

/*
 * noun is the beginning of messages: "policy 'FILE': ...". path must live as long as the result. The
 * machine's policy must belong to root, whoever names it.
 */
static inline struct ck_rulefile ck_policyfile(const char *path)
{
    return (struct ck_rulefile){
        .path = path,
        .noun = "policy ",
        .outcome = CHOKE_POLICY,
        .max_bytes = CK_POLICY_MAX_BYTES,
        .of_root = strcmp(path, CK_LOCKED_FILE) == 0,
    };
}

#endif
