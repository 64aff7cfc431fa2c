/*
 * judge.h - the decision, and nothing but the decision.
 *
 * Pure: reads the policy and the request, touches no file and makes no system call. What it lets through still has to
 * be found and opened (plan.h); what it refuses never gets so far as a scratch directory or a process.
 */
#ifndef CK_POLICY_JUDGE_H
#define CK_POLICY_JUDGE_H

#include "base/destination.h"
#include "chokepoint.h"
#include "policy/args.h"
#include "policy/model.h"

/* Kernel limits that execve enforces; refused early, with words. */
#define CK_ARG_STRING_MAX ((size_t)131071) /* one string, without its NUL */
#define CK_ARG_TOTAL_MAX ((size_t)6 << 20) /* all strings and pointers, at the kernel's largest */
#define CK_ARG_COUNT_MAX ((size_t)262144)
#define CK_TIMEOUT_MAX_MS (UINT64_C(365) * 24 * 3600 * 1000)

struct ck_verdict {
    enum choke_outcome outcome; /* CHOKE_NONE: allowed */
    const struct ck_tool *tool; /* set as soon as argv[0] named one */
    uint64_t timeout_ms;
    struct ck_limits limits; /* the least of the tool's and of those that it runs for the caller */
    size_t max_output_bytes;
    enum choke_jail jail;                /* never DEFAULT */
    const struct ck_destination *egress; /* what may be reached, in the order of the request; none: nothing */
    size_t egress_count;
    char rule[CK_RULE_MAX]; /* "tools.git", "tools", "request.argv", "tools.git.env", "credentials", ... */
    struct choke_error error;
    struct ck_parsed_args parsed; /* the tool's arguments as they will be, and the paths among them */
    bool no_memory;
};

/* 0, also for a refusal; -ENOMEM. What the verdict points to is in arena, in the policy and in the request. */
int ck_judge(const struct ck_policy *policy, const struct choke_request *request, struct ck_arena *arena,
             struct ck_verdict *ret_verdict);

/* Can a probe be called so? */
bool ck_judge_is_probe(const char *name);

#endif
