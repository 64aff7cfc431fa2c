/* review.h - a policy that is looked at: what is behind struct choke_policy. */
#ifndef CK_API_REVIEW_H
#define CK_API_REVIEW_H

#include "policy/load.h"
#include "policy/yaml_tree.h"
#include "sys/decision_records.h"

struct choke_policy {
    const char *file;         /* NULL: the embedded one */
    struct ck_policy *policy; /* NULL: the text is no policy, and fault says why */
    struct choke_error fault;
    struct choke_error refusal; /* what a run would refuse about the file; outcome CHOKE_NONE: nothing */
    struct ck_yaml_tree tree;   /* of the same text, for places; without nodes where it could not be had */
    struct ck_arena arena;
    bool records_read;
    struct ck_decision_records records;
    const char *json;
    struct choke_finding *findings; /* NULL: not yet looked for */
    size_t findings_count;
};

/* Reads the decision records once. Of the embedded policy and of one without adr_dir there are none. 0, or -ENOMEM. */
int ck_review_records(struct choke_policy *policy, struct choke_error *error);

#endif
