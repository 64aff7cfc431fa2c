/*
 * grant.h - what a request that the judge allows may do, as far as the policy decides it.
 *
 * Pure. The plan carries a grant out on this machine. The tests of `policy diff` compute it for every kind of machine,
 * so what is proven there and what is done here is the same code.
 */
#ifndef CK_POLICY_GRANT_H
#define CK_POLICY_GRANT_H

#include "policy/judge.h"

#define CK_GRANT_TOOLS_MAX (1 + CK_COMMAND_DEPTH_MAX)

/* Where a run takes place. */
enum ck_grant_place {
    CK_GRANT_NO_JAIL = 0,
    CK_GRANT_NATIVE_NO_USERNS, /* the native jail without namespaces */
    CK_GRANT_BWRAP,
    CK_GRANT_NATIVE,
};

/* A tool of the run: the one that is called, or one that it runs for the caller. */
struct ck_grant_tool {
    const struct ck_tool *tool;
    const struct ck_list *execs; /* its helpers: the subcommand's, where that has its own */
    bool bound;                  /* helpers were given, be it as an empty list */
};

struct ck_grant {
    struct ck_grant_tool tools[CK_GRANT_TOOLS_MAX]; /* the one that is called is the first */
    size_t count;
    const struct ck_tool *bound;   /* the first with `execs`: the run executes these tools and helpers only; or NULL */
    const struct ck_tool *pinned;  /* the first with `sha256` that another tool would open by its path; or NULL */
    enum ck_workspace workspace;   /* in a jail: the narrowest of all */
    const struct ck_tool *overlay; /* the first with `workspace: overlay`, which must not write without one; or NULL */
    bool sealed;                   /* nothing is executed, not even the tool itself */
    bool tracing;                  /* in a jail, too, one process may trace another */
};

/* verdict has the tool and the reading of its arguments, and these were not refused. */
void ck_grant_of(const struct ck_verdict *verdict, struct ck_grant *ret_grant);

enum ck_grant_refusal {
    CK_GRANT_HELD = 0,
    CK_GRANT_NEEDS_PATH,     /* pinned */
    CK_GRANT_NEEDS_NATIVE,   /* overlay, which no other jail has */
    CK_GRANT_NEEDS_LANDLOCK, /* execs, which nothing else enforces there */
};

/* Why the grant cannot be held there. landlock: the kernel has it. */
enum ck_grant_refusal ck_grant_refusal(const struct ck_grant *grant, enum ck_grant_place place, bool landlock);

/* The entry that the jail `bwrap` is made with on this platform; NULL: the policy has none. */
const struct ck_tool *ck_grant_bwrap(const struct ck_policy *policy);

#endif
