/*
 * chokepoint-review.h - the part of chokepoint.h about a policy under review. Include
 * chokepoint.h, which includes this.
 */
#ifndef CHOKEPOINT_REVIEW_H
#define CHOKEPOINT_REVIEW_H

#include "chokepoint.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A policy to review, not to run: no context is needed, and nothing can be run by it.
 *
 *   1. choke_policy_open()     reads a file, or takes the embedded policy.
 *   2. choke_policy_check()    what is wrong with it; choke_policy_json(), _yaml(), its content;
 *      choke_policy_diff()     what changed from one to the other.
 *   3. choke_policy_free()     frees it, with its findings and its JSON.
 *
 * Use it in one thread at a time.
 */
struct choke_policy;

/*
 * path NULL: the policy that choke_context_new takes without a path: the machine's, else the
 * embedded one. Any regular file of at most 1 MiB is accepted, wherever it is and whoever may write
 * it, and a pipe of the caller's by its name in /dev/fd: what choke_context_new would refuse about
 * that is a finding here. Text that is not a valid policy is a finding too, so this returns 0 for
 * it. A negative errno if the file cannot be read.
 */
CHOKE_API int choke_policy_open(const char *path, struct choke_policy **ret_policy, struct choke_error *error);
/* The policy embedded in the library, also where the machine has one. */
CHOKE_API int choke_policy_open_embedded(struct choke_policy **ret_policy, struct choke_error *error);
/*
 * The catalogue of this library as one policy: every entry that a policy can take by its name with
 * `catalog`, and every profile of guard that a caller can name. It is for reading. An entry that adds a subcommand to a tool has its own name here.
 */
CHOKE_API int choke_policy_open_catalog(struct choke_policy **ret_policy, struct choke_error *error);
CHOKE_API void choke_policy_free(struct choke_policy *policy); /* NULL is fine */

/* The path of the file; NULL for the embedded policy. It lives as long as the policy. */
CHOKE_API const char *choke_policy_file(const struct choke_policy *policy);

struct choke_finding {
    enum choke_severity severity;
    const char *tool;    /* NULL if it is not about a tool */
    unsigned line;       /* from 1; 0 if it is not about a place in the file */
    unsigned column;     /* from 1; 0 if only the line is known */
    const char *rule;    /* "policy", "file", "adr_dir", "tools.git.adr", "grant.npm.adr" */
    const char *message; /* one line; untrusted bytes are escaped */
};

/*
 * What is wrong, in the order of the file. Errors: what the loader refuses (all faults, with line and
 * column, as far as each can be found without the others); a decision record that is not in adr_dir
 * as a regular file NNNN-*.md; no adr_dir at all, if the file cites a record. Warnings: an entry
 * without args, or without execs and uses; a tool that runs what it is given, also as a helper in
 * execs; an option that is known to run programs or to write files; egress that is opaque; a grant
 * without adr or why, or that a subcommand does not get; two records with one number; a file that a
 * run would refuse because others may write it; locked and roots where they have no effect; a carrier
 * of guard whose entry has keys that do not hold in the cage. Entries
 * of the embedded policy cite records of this build, which are known by number; for the embedded
 * policy itself a note says so.
 *
 * Returns 0 and the findings, which live as long as the policy; -ENOMEM when out of memory.
 */
CHOKE_API int choke_policy_check(struct choke_policy *policy, const struct choke_finding **ret_findings,
                                 size_t *ret_count, struct choke_error *error);

/*
 * The whole policy as one line of JSON, which lives as long as the policy. -EINVAL: not valid.
 *
 *   {"format": 1, "file", "version", "adr_dir", "search_path": [...], "locked", "roots", "upstream",
 *    "guard": {..., "shipped": [...], "profiles": [{...}]} or null, "tools": [{...}]}
 *
 * A tool and a profile have every key of chokepoint-policy(5) under its own name, and "line". A key that is absent
 * is null if absence has a meaning (args, path, sha256, execs, limits.timeout_s ...), else its
 * default. In a subcommand null means that the tool's key applies. In args and its subcommands
 * "options" is the list with the sets expanded, and "sets" is as written in the file. format is
 * raised when a member changes its meaning or is removed, not when one is added.
 */
CHOKE_API int choke_policy_json(struct choke_policy *policy, const char **ret_text, struct choke_error *error);

/*
 * The same as YAML, which loads back to the same verdicts. What a policy extends and grants is in
 * its entries; the SHA-256 of this text is the digest of such a policy in audit records.
 */
CHOKE_API int choke_policy_yaml(struct choke_policy *policy, const char **ret_text, struct choke_error *error);

/* The names (choke_change_kind_name) are "neutral", "narrows" and "widens". */
enum choke_change_kind {
    CHOKE_CHANGE_NEUTRAL = 1, /* has no effect on what may be run */
    CHOKE_CHANGE_NARROWS,     /* allows less, and nothing new */
    CHOKE_CHANGE_WIDENS       /* allows something new, or cannot be proven not to */
};

CHOKE_API const char *choke_change_kind_name(enum choke_change_kind kind);

struct choke_change {
    enum choke_change_kind kind;
    const char *tool; /* NULL: the policy as a whole */
    /* "args.subcommands.log.options", "egress"; "tools" if the entry was added or removed */
    const char *field;
    const char *before; /* NULL: it did not exist */
    const char *after;  /* NULL: it does not exist any more */
    const char *adr;    /* the record that the (new) entry or the grant cites; NULL */
    bool covered;       /* widens: a new or amended record is cited for it; else true */
    const char *reason; /* why it is not covered; NULL if it is */
    const char *why;    /* what is newly granted, if before and after do not show it; or NULL */
};

struct choke_diff {
    const struct choke_change *changes;
    size_t count;
    size_t widens;
    size_t narrows;
    size_t neutral;
    size_t uncovered; /* of the changes that widen */
};

/*
 * What changed. A widening of a tool is covered when its entry in the new policy cites a decision
 * record that the old policy's adr_dir does not have, or has with other bytes. If the new policy
 * names another directory, the directory of that name beside the old policy must not have the
 * record either. A widening by a grant needs the record of that grant. One of the policy as a whole
 * (search_path), or of an entry of the embedded policy, is covered when any record is new or
 * amended. Records are files NNNN-*.md, not empty, in adr_dir relative to each policy's file. If the
 * old policy names an adr_dir that cannot be read, nothing is covered: compared with nothing, every
 * record would be new. Those of the embedded policy are the ones of this build.
 *
 * -EINVAL if one of the two is not a valid policy: the message has its first fault. The diff is
 * freed by choke_diff_free and must not outlive the policies.
 */
CHOKE_API int choke_policy_diff(struct choke_policy *old_policy, struct choke_policy *new_policy,
                                struct choke_diff **ret_diff, struct choke_error *error);
CHOKE_API void choke_diff_free(struct choke_diff *diff); /* NULL is fine */

/* ---- an entry from a call ----------------------------------------------------------------- */

/*
 * A call to learn from. The tool need not be in the policy: this is the one function that runs one
 * that is not. It runs in the native jail with namespaces, without a network, where it may execute
 * every file of the system; what it executes is noted. The repository is not changed.
 */
struct choke_learn {
    const char *const *argv; /* NULL-terminated; argv[0] is a name in the search path */
    const char *root;
    uint64_t timeout_ms;     /* CHOKE_TIMEOUT_FROM_POLICY: 60 seconds, or the limit of the entry */
    const char *policy_path; /* the policy that the entry is for; NULL: none */
    const char *adr;         /* four digits; NULL: the number after the last one in adr_dir */
    const char *why;         /* NULL: a sentence that says what to write */
    choke_output_fn on_output;
    void *output_data;
    size_t struct_size; /* see "structs that grow" in chokepoint.h */
};

struct choke_learned {
    /* how the learning run ended; error: why nothing ran, or what ended it */
    enum choke_outcome outcome;
    int exit_code;
    struct choke_error error;
    /*
     * The smallest entry under which the call passes, as a member of `tools`. If policy_path has the
     * entry already: what is added to it, as comments. NULL if nothing ran.
     */
    const char *entry;
    const char *policy_text; /* with policy_path: the file with it; NULL: nothing is to be added */
    const char *record_path; /* without adr: the decision record to write, and where; else NULL */
    const char *record;
    bool passes;        /* it was tried: the call succeeds with it, all questions answered with yes */
    const char *reason; /* why it does not; or NULL */
};

/*
 * Each run is in the default audit log, with "learn". A locked policy refuses it to all but root.
 * Returns 0, also if the tool failed or the run was refused; a negative errno and *error if the call
 * is not valid, if the tool gives privileges (set-user-ID), or if a policy cannot be read or added
 * to.
 */
CHOKE_API int choke_policy_learn(const struct choke_learn *learn, struct choke_learned **ret_learned,
                                 struct choke_error *error);
CHOKE_API void choke_learned_free(struct choke_learned *learned); /* NULL is fine */

#ifdef __cplusplus
}
#endif

#endif
