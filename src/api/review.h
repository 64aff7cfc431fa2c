/* review.h - a policy under review: struct choke_policy. */
#ifndef CK_API_REVIEW_H
#define CK_API_REVIEW_H

#include "policy/load.h"
#include "policy/yaml_tree.h"
#include "sys/decision_records.h"

struct choke_policy {
    const char *file;              /* NULL: the embedded one */
    struct ck_policy *policy;      /* NULL: not a valid policy, and fault says why */
    struct choke_error fault;      /* the first one */
    struct ck_yaml_faults *faults; /* NULL: at most one, in fault */
    /* what a run would refuse about the file; outcome CHOKE_NONE: nothing */
    struct choke_error refusal;
    /* of the same text, for line and column; without nodes if it could not be parsed */
    struct ck_yaml_tree tree;
    struct ck_arena arena; /* of all text here */
    bool records_read;     /* false: records is empty */
    struct ck_decision_records records;
    const char *json;               /* NULL: not yet made */
    const char *yaml;               /* the same */
    struct choke_finding *findings; /* NULL: not yet checked */
    size_t findings_count;          /* may be 0 after the check */
};

/*
 * Reads the decision records once. The embedded policy, and one without adr_dir, have none. 0 or
 * -ENOMEM.
 */
int ck_review_records(struct choke_policy *policy, struct choke_error *error);

#endif
