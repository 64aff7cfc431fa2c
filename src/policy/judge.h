/*
 * judge.h - decides whether the policy allows a request, and nothing else.
 *
 * Pure: reads the policy and the request, touches no file and makes no system call. An allowed
 * request still has to be resolved and opened (plan.h). For a refused one not even a scratch
 * directory is created.
 */
#ifndef CK_POLICY_JUDGE_H
#define CK_POLICY_JUDGE_H

#include "base/destination.h"
#include "chokepoint.h"
#include "policy/args.h"
#include "policy/model.h"

/* Limits of execve(2). Refused early, with a message. */
#define CK_ARG_STRING_MAX ((size_t)131071) /* one string, without its NUL */
#define CK_ARG_TOTAL_MAX ((size_t)6 << 20) /* all strings and pointers, the maximum of the kernel */
#define CK_ARG_COUNT_MAX ((size_t)262144)
#define CK_TIMEOUT_MAX_MS (UINT64_C(365) * 24 * 3600 * 1000)

struct ck_verdict {
    enum choke_outcome outcome; /* CHOKE_NONE: allowed */
    /* set as soon as argv[0] is found; with the keys of the subcommand in place, in the arena */
    const struct ck_tool *tool;
    uint64_t timeout_ms;
    /* the strictest of the tool and of those that it runs for the caller */
    struct ck_limits limits;
    size_t max_output_bytes;
    size_t keep_head_bytes;              /* at most max_output_bytes - CHOKE_MIN_OUTPUT_BYTES */
    enum choke_jail jail;                /* never DEFAULT */
    const struct ck_destination *egress; /* what may be reached, in the order of the request */
    size_t egress_count;
    /* "tools.git", "tools", "request.argv", "tools.git.env", "credentials", ... */
    char rule[CK_RULE_MAX];
    struct choke_error error;
    struct ck_parsed_args parsed; /* the tool's final arguments, and the paths among them */
    bool no_memory;
};

/* 0, also for a refusal; -ENOMEM. The verdict points into arena, the policy and the request. */
int ck_judge(const struct ck_policy *policy, const struct choke_request *request, struct ck_arena *arena,
             struct ck_verdict *ret_verdict);

/*
 * "tools.npm.egress", or "tools.npm.args.subcommands.ci.egress" where the tool of a verdict has the
 * key of a subcommand. Returns rule.
 */
const char *ck_judge_rule(char rule[CK_RULE_MAX], const struct ck_tool *tool, const char *key);

/* Does one of the destinations of a policy cover the wanted one? */
bool ck_judge_grants_egress(const struct ck_list *granted, const struct ck_destination *wanted);

/* Does the call run an external tool, by itself or through another tool? */
bool ck_judge_is_external(const struct ck_verdict *verdict);

/* Is it a valid name of a probe? */
bool ck_judge_is_probe(const char *name);

#endif
