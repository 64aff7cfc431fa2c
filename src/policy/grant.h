/*
 * grant.h - what an allowed request may do, as far as the policy decides it.
 *
 * Pure. The plan applies a grant to this machine. The tests of `policy diff` compute it for every
 * kind of machine, so what is proven there and what is done here is the same code.
 */
#ifndef CK_POLICY_GRANT_H
#define CK_POLICY_GRANT_H

#include "policy/judge.h"

#define CK_GRANT_TOOLS_MAX (1 + CK_COMMAND_DEPTH_MAX)

/* Where a run is executed. */
enum ck_grant_place {
    CK_GRANT_NO_JAIL = 0,
    CK_GRANT_NATIVE_NO_USERNS, /* the native jail without namespaces */
    CK_GRANT_BWRAP,
    CK_GRANT_NATIVE,
};

/* A tool of the run: the one that is called, or one that it runs for the caller. */
struct ck_grant_tool {
    const struct ck_tool *tool;
    bool bound; /* a list of helpers is given, even an empty one (helper_sets.h) */
};

struct ck_grant {
    struct ck_grant_tool tools[CK_GRANT_TOOLS_MAX]; /* the called tool is the first */
    size_t count;
    /* the first with `execs`: only these tools and helpers run; or NULL */
    const struct ck_tool *bound;
    /* the first with `sha256` that another tool would open by path; or NULL */
    const struct ck_tool *pinned;
    enum ck_workspace workspace; /* in a jail: the narrowest of all */
    /* the first with `workspace: overlay`; needs one to write; or NULL */
    const struct ck_tool *overlay;
    /* the called tool, if it and all that it runs have `workspace_code`; or NULL */
    const struct ck_tool *workspace_code;
    const struct ck_tool *loopback; /* the same for `loopback` */
    /* the first with `require_jail`; or NULL */
    const struct ck_tool *require_jail;
    bool root_own; /* in a jail the root is at its own path: one of the tools has `root_at: own` */
    bool sealed;   /* nothing is executed, not even the tool itself */
    bool tracing;  /* one process may trace another, also in a jail */
};

/* verdict has the tool and its parsed arguments, and is not a refusal. */
void ck_grant_of(const struct ck_verdict *verdict, struct ck_grant *ret_grant);

enum ck_grant_refusal {
    CK_GRANT_HELD = 0,
    CK_GRANT_NEEDS_PATH,       /* pinned */
    CK_GRANT_NEEDS_NATIVE,     /* overlay, which no other jail has */
    CK_GRANT_NEEDS_NAMESPACES, /* workspace_code, loopback, require_jail */
    CK_GRANT_NEEDS_LANDLOCK,   /* execs, which nothing else enforces there */
};

/* Why the grant cannot be enforced there. landlock: the kernel has it. */
enum ck_grant_refusal ck_grant_refusal(const struct ck_grant *grant, enum ck_grant_place place, bool landlock);

/* The entry of the program for the jail `bwrap` on this platform; NULL: the policy has none. */
const struct ck_tool *ck_grant_bwrap(const struct ck_policy *policy);

#endif
