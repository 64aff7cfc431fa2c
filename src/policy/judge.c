/*
 * judge.c - the steps that a request must pass. See judge.h.
 *
 * A request passes a list of named steps; the first that refuses writes the verdict and ends the
 * list. Malformed requests are refused before forbidden ones, and sizes are checked before anything
 * that reads the bytes. A refusal names the rule and what would be right. A value that looks like a
 * credential is never repeated: the message has only its position and what it looks like.
 */
#include "policy/judge.h"

#include "base/error.h"
#include "base/quote.h"
#include "policy/env.h"
#include "policy/grant.h"
#include "policy/sandbox.h"
#include "policy/secret.h"
#include "policy/suggest.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define PROBE_MAX_BYTES 64   /* of a probe's name; struct choke_job has room for it */
#define EGRESS_MAX_COUNT 256 /* entries in one request */
#define LIST_BYTES 640       /* in a message, for the list of allowed tools or variables */

/* What every step gets. Steps write only to the verdict. */
struct judge {
    const struct ck_policy *policy;
    const struct choke_request *request;
    struct ck_arena *arena; /* of the plan; the verdict points into it */
    struct ck_verdict *verdict;
};

/* Returns false, which ends the list of steps. */
__attribute__((format(printf, 4, 5))) static bool refuse(const struct judge *judge, enum choke_outcome outcome,
                                                         const char *rule, const char *format, ...)
{
    struct ck_verdict *verdict = judge->verdict;
    char message[CHOKE_MESSAGE_MAX];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(message, sizeof(message), format, args);
    va_end(args);
    verdict->outcome = outcome;
    (void)snprintf(verdict->rule, sizeof(verdict->rule), "%s", rule);
    (void)ck_error_set(&verdict->error, outcome, 0, "%s", message);
    return false;
}

/* The rule of a key; lives to the end of the enclosing block. */
#define TOOL_RULE(judge, key) ck_judge_rule((char[CK_RULE_MAX]){0}, (judge)->verdict->tool, (key))

/* A key of a subcommand is named with it, so that the reader finds the line. */
const char *ck_judge_rule(char rule[CK_RULE_MAX], const struct ck_tool *tool, const char *key)
{
    if (tool->subcommand && ck_policy_subcommand_has(tool->subcommand, key))
        ck_args_rule(rule, tool, tool->subcommand, key);
    else
        (void)snprintf(rule, CK_RULE_MAX, "tools.%s.%s", tool->name, key);
    return rule;
}

/* Appends word to the list in buffer. If it does not fit, appends "..." and returns false. */
static bool append(char *buffer, size_t size, const char *word)
{
    static const char cut[] = ", ...";
    size_t at = strlen(buffer);
    const char *comma = at == 0 ? "" : ", ";
    bool fits = at + strlen(comma) + strlen(word) + sizeof(cut) <= size;
    (void)snprintf(buffer + at, size - at, "%s%s", fits ? comma : cut, fits ? word : "");
    return fits;
}

/* A refusal names what could be called instead. A jail's helper is not among them. */
static const char *list_callable(const struct ck_policy *policy, char *buffer, size_t size)
{
    bool fits = true;
    buffer[0] = '\0';
    for (uint32_t i = 0; fits && i < policy->tools_count; i++)
        if (ck_policy_tool_is_callable(&policy->tools[i]))
            fits = append(buffer, size, policy->tools[i].name);
    return buffer[0] != '\0' ? buffer : "(none)";
}

static const char *list_granted(const struct ck_list *granted, char *buffer, size_t size)
{
    bool fits = true;
    buffer[0] = '\0';
    for (uint32_t i = 0; fits && i < granted->count; i++)
        fits = append(buffer, size, granted->items[i]);
    return buffer[0] != '\0' ? buffer : "none";
}

/* ---- required members ------------------------------------------------------------------- */

/*
 * tool stays NULL for an unknown name; check_tool refuses that, after the members that are
 * required.
 */
static bool check_argv(const struct judge *judge)
{
    const char *const *argv = judge->request->argv;
    if (!argv || !argv[0])
        return refuse(judge, CHOKE_INVALID, "request.argv", "argv is empty; its first element must name a tool");
    if (argv[0][0] == '\0')
        return refuse(judge, CHOKE_INVALID, "request.argv", "the tool's name is empty; argv[0] must name a tool");
    judge->verdict->tool = ck_policy_find(judge->policy, argv[0]);
    return true;
}

static bool check_directory(const struct judge *judge, const char *path, const char *rule, const char *name)
{
    if (!path || path[0] == '\0')
        return refuse(judge, CHOKE_INVALID, rule, "%s is missing; it must name a directory", name);
    /* strnlen: a text without an end is not read beyond the maximum. */
    if (strnlen(path, PATH_MAX) >= PATH_MAX)
        return refuse(judge, CHOKE_INVALID, rule, "%s has more than %d bytes", name, PATH_MAX - 1);
    return true;
}

static bool check_directories(const struct judge *judge)
{
    return check_directory(judge, judge->request->root, "request.root", "root") &&
           check_directory(judge, judge->request->cwd, "request.cwd", "cwd");
}

/* 0 is not "no timeout": every run has one. */
static bool check_timeout(const struct judge *judge)
{
    uint64_t timeout_ms = judge->request->timeout_ms;
    if (timeout_ms == CHOKE_TIMEOUT_FROM_POLICY || (timeout_ms >= 1 && timeout_ms <= CK_TIMEOUT_MAX_MS))
        return true;
    return refuse(judge, CHOKE_INVALID, "request.timeout_ms",
                  "a timeout of %llu ms is not valid; it is mandatory, 1 to %llu ms", (unsigned long long)timeout_ms,
                  (unsigned long long)CK_TIMEOUT_MAX_MS);
}

/* ---- may the tool be called -------------------------------------------------------------- */

/*
 * The caller may mean a tool of the policy, so the last component is looked up for the message
 * only.
 */
static bool refuse_path(const struct judge *judge, const char *name)
{
    const char *base = strrchr(name, '/') + 1;
    const struct ck_tool *meant = ck_policy_find(judge->policy, base);
    if (meant && ck_policy_tool_is_callable(meant))
        return refuse(judge, CHOKE_DISALLOWED, "tools", "'%s' is a path; name the tool '%s', not a path",
                      CK_SECRET_QUOTE(name), meant->name);
    char list[LIST_BYTES];
    return refuse(judge, CHOKE_DISALLOWED, "tools",
                  "'%s' is a path, and a tool is called by its name; allowed tools are: %s", CK_SECRET_QUOTE(name),
                  list_callable(judge->policy, list, sizeof(list)));
}

static bool check_tool(const struct judge *judge)
{
    const struct ck_tool *tool = judge->verdict->tool;
    const char *name = judge->request->argv[0];
    char list[LIST_BYTES];
    /* A path would choose the file that runs; only the policy does. */
    if (strchr(name, '/'))
        return refuse_path(judge, name);
    if (!tool)
        return refuse(judge, CHOKE_DISALLOWED, "tools", "'%s' is not in the policy%s; allowed tools are: %s",
                      CK_SECRET_QUOTE(name), CK_SUGGEST_TOOL(judge->policy, name),
                      list_callable(judge->policy, list, sizeof(list)));
    if (tool->route == CK_ROUTE_JAIL)
        return refuse(judge, CHOKE_DISALLOWED, TOOL_RULE(judge, "route"),
                      "'%s' has route 'jail': only the jail made with it may call it; allowed tools are: %s",
                      tool->name, list_callable(judge->policy, list, sizeof(list)));
    if (tool->route == CK_ROUTE_CARRIER)
        return refuse(judge, CHOKE_DISALLOWED, TOOL_RULE(judge, "route"),
                      "'%s' has route 'carrier': it runs only in the cage of 'chokepoint guard'; allowed tools are: %s",
                      tool->name, list_callable(judge->policy, list, sizeof(list)));
    if (!ck_policy_tool_is_here(tool))
        return refuse(judge, CHOKE_DISALLOWED, TOOL_RULE(judge, "platforms"), "'%s' is allowed on %s only; this is %s",
                      tool->name, ck_policy_platform_name((enum ck_platform)tool->platforms),
                      ck_policy_platform_name(CK_PLATFORM_HERE));
    return true;
}

/* ---- the other members ------------------------------------------------------------------- */

/* It appears in events and records, so it must not be a credential either. */
bool ck_judge_is_probe(const char *name)
{
    size_t length = strnlen(name, PROBE_MAX_BYTES + 1);
    return length >= 1 && length <= PROBE_MAX_BYTES && name[0] >= 'a' && name[0] <= 'z' &&
           strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_") == length && !ck_secret_kind(name);
}

static bool check_probe(const struct judge *judge)
{
    const char *probe = judge->request->probe;
    const char *const *env = judge->request->env;
    if (!probe)
        return true;
    if (!ck_judge_is_probe(probe))
        return refuse(judge, CHOKE_INVALID, "request.probe",
                      "'%s' is not a valid probe name; it has 1 to %d of a-z, 0-9 and '_', and begins with a letter",
                      CK_SECRET_QUOTE(probe), PROBE_MAX_BYTES);
    if (env && env[0])
        return refuse(judge, CHOKE_INVALID, "request.env",
                      "a run of a probe takes no extra environment; remove env or probe");
    return true;
}

/* After the switch: a caller in C may pass any number as the enum. */
static bool check_stdin(const struct judge *judge)
{
    const struct choke_request *request = judge->request;
    static const char rule[] = "request.stdin";
    switch (request->stdin_kind) {
    case CHOKE_STDIN_NULL:
        return true;
    case CHOKE_STDIN_BYTES:
        if (!request->stdin_bytes && request->stdin_length > 0)
            return refuse(judge, CHOKE_INVALID, rule, "stdin_bytes is missing, but stdin_length is %zu",
                          request->stdin_length);
        return true;
    case CHOKE_STDIN_FD:
        if (request->stdin_fd < 0)
            return refuse(judge, CHOKE_INVALID, rule, "stdin_fd is %d, which is not a descriptor", request->stdin_fd);
        return true;
    }
    return refuse(judge, CHOKE_INVALID, rule, "stdin_kind %d is not known", (int)request->stdin_kind);
}

/* 0: the default. */
static bool check_output(const struct judge *judge)
{
    size_t max_bytes = judge->request->max_output_bytes;
    if (max_bytes != 0 && max_bytes < CHOKE_MIN_OUTPUT_BYTES)
        return refuse(judge, CHOKE_INVALID, "request.max_output_bytes",
                      "an output cap of %zu bytes is too small; at least %zu are needed", max_bytes,
                      CHOKE_MIN_OUTPUT_BYTES);
    max_bytes = max_bytes != 0 ? max_bytes : CHOKE_DEFAULT_OUTPUT_BYTES;
    /* The marker and one byte of the end must fit, too. */
    size_t head_bytes = judge->request->keep_head_bytes;
    if (head_bytes > max_bytes - CHOKE_MIN_OUTPUT_BYTES)
        return refuse(judge, CHOKE_INVALID, "request.keep_head_bytes",
                      "a head of %zu bytes is too large for an output cap of %zu; at most %zu are possible", head_bytes,
                      max_bytes, max_bytes - CHOKE_MIN_OUTPUT_BYTES);
    judge->verdict->max_output_bytes = max_bytes;
    judge->verdict->keep_head_bytes = head_bytes;
    return true;
}

/* ---- arguments, and what depends on the tools they name ---------------------------------- */

/* Puts the keys of the subcommand in place of the tool's. */
static bool enter_subcommand(const struct judge *judge, const struct ck_tool **tool,
                             const struct ck_subcommand *subcommand)
{
    if (!subcommand || subcommand->given == 0)
        return true;
    struct ck_tool *entered = ck_arena_alloc(judge->arena, sizeof(*entered));
    if (!entered)
        return false;
    ck_policy_subcommand_tool(*tool, subcommand, entered);
    *tool = entered;
    return true;
}

/*
 * The arguments name the subcommand, and that decides which variables may be given. So they are
 * read before the steps that check these; a refusal of theirs still comes after.
 */
static bool read_args(const struct judge *judge)
{
    struct ck_verdict *verdict = judge->verdict;
    struct ck_parsed_args *parsed = &verdict->parsed;
    bool good = ck_args_parse(judge->policy, verdict->tool, judge->request->argv, judge->arena, parsed) == 0 &&
                enter_subcommand(judge, &verdict->tool, parsed->subcommand);
    for (size_t i = 0; good && i < parsed->nested_count; i++)
        good = enter_subcommand(judge, &parsed->nested[i].tool, parsed->nested[i].subcommand);
    verdict->no_memory = !good;
    return good;
}

static bool check_args(const struct judge *judge)
{
    struct ck_verdict *verdict = judge->verdict;
    const struct ck_parsed_args *parsed = &verdict->parsed;
    if (!parsed->refused)
        return true;
    /* refuse clears the error, so the line is set after it. */
    (void)refuse(judge, CHOKE_DISALLOWED, parsed->rule, "%s", parsed->message);
    verdict->error.line = parsed->line;
    return false;
}

/*
 * The strictest time limit of the tool and of those that it runs for the caller; a request may have
 * less.
 */
static bool grant_time(const struct judge *judge)
{
    const struct ck_tool *tool = judge->verdict->tool;
    const struct ck_parsed_args *parsed = &judge->verdict->parsed;
    for (size_t i = 0; i < parsed->nested_count; i++) {
        uint32_t limit_s = parsed->nested[i].tool->limits.timeout_s;
        if (limit_s != 0 && (tool->limits.timeout_s == 0 || limit_s < tool->limits.timeout_s))
            tool = parsed->nested[i].tool;
    }
    /* tool is now the one with the strictest limit, and a message names it. */
    uint64_t limit_ms = (uint64_t)tool->limits.timeout_s * 1000;
    uint64_t timeout_ms = judge->request->timeout_ms;
    if (timeout_ms == CHOKE_TIMEOUT_FROM_POLICY)
        timeout_ms = limit_ms != 0 ? limit_ms : (uint64_t)CK_DEFAULT_TIMEOUT_S * 1000;
    else if (limit_ms != 0 && timeout_ms > limit_ms)
        return refuse(judge, CHOKE_DISALLOWED, ck_judge_rule((char[CK_RULE_MAX]){0}, tool, "limits.timeout_s"),
                      "a timeout of %llu.%03u s is more than the policy grants '%s'; at most %u s are allowed",
                      (unsigned long long)timeout_ms / 1000, (unsigned)(timeout_ms % 1000), tool->name,
                      tool->limits.timeout_s);
    judge->verdict->timeout_ms = timeout_ms;
    return true;
}

/* A limit of a tool that another one runs applies to both: they are one process tree. */
static bool grant_limits(const struct judge *judge)
{
    const struct ck_parsed_args *parsed = &judge->verdict->parsed;
    struct ck_limits *least = &judge->verdict->limits;
    *least = judge->verdict->tool->limits;
    for (size_t i = 0; i < parsed->nested_count; i++)
        ck_policy_limits_least(least, &parsed->nested[i].tool->limits);
    return true;
}

/*
 * The stricter route decides: a tool that may only run in a jail does not leave it when another
 * tool runs it.
 */
bool ck_judge_is_external(const struct ck_verdict *verdict)
{
    bool external = verdict->tool->route == CK_ROUTE_EXTERNAL;
    for (size_t i = 0; i < verdict->parsed.nested_count; i++)
        external = external || verdict->parsed.nested[i].tool->route == CK_ROUTE_EXTERNAL;
    return external;
}

/*
 * To require a jail is to request one, and so is a request for something that only a jail can
 * enforce. Only the native jail has an overlay.
 */
static bool choose_jail(const struct judge *judge)
{
    const struct choke_request *request = judge->request;
    bool required = request->require_jail || request->sandbox;
    bool egress = request->egress && request->egress[0];
    struct ck_grant grant;
    ck_grant_of(judge->verdict, &grant);
    bool wanted = ck_judge_is_external(judge->verdict) || required || egress || grant.loopback || grant.require_jail;
    switch (request->jail) {
    case CHOKE_JAIL_DEFAULT:
        judge->verdict->jail = grant.overlay ? CHOKE_JAIL_NATIVE : wanted ? CHOKE_JAIL_AUTO : CHOKE_JAIL_NONE;
        return true;
    case CHOKE_JAIL_NONE:
        if (required)
            return refuse(judge, CHOKE_INVALID, "request.jail",
                          "a jail is required, but jail is 'none'; request a jail%s",
                          request->sandbox ? "; a sandbox needs one" : "");
        judge->verdict->jail = CHOKE_JAIL_NONE;
        return true;
    case CHOKE_JAIL_AUTO:
    case CHOKE_JAIL_NATIVE:
    case CHOKE_JAIL_BWRAP:
        judge->verdict->jail = request->jail;
        return true;
    }
    return refuse(judge, CHOKE_INVALID, "request.jail", "jail %d is not known", (int)request->jail);
}

/* The entry was checked by the loader, so it can be parsed. */
bool ck_judge_grants_egress(const struct ck_list *granted, const struct ck_destination *wanted)
{
    for (uint32_t i = 0; i < granted->count; i++) {
        struct ck_destination one;
        const char *reason;
        if (ck_destination_parse(granted->items[i], &one, &reason) == 0 && ck_destination_covers(&one, wanted))
            return true;
    }
    return false;
}

/*
 * The first tool that does not grant it, of the called tool and those that it runs for the caller;
 * or NULL.
 */
static const struct ck_tool *find_without_egress(const struct ck_verdict *verdict, const struct ck_destination *wanted)
{
    if (!ck_judge_grants_egress(&verdict->tool->egress, wanted))
        return verdict->tool;
    for (size_t i = 0; i < verdict->parsed.nested_count; i++)
        if (!ck_judge_grants_egress(&verdict->parsed.nested[i].tool->egress, wanted))
            return verdict->parsed.nested[i].tool;
    return NULL;
}

/* Malformed is INVALID; well-formed but not granted is DISALLOWED. */
static bool check_destination(const struct judge *judge, const char *text, struct ck_destination *ret_destination)
{
    const char *reason;
    if (ck_destination_parse(text, ret_destination, &reason) < 0)
        return refuse(judge, CHOKE_INVALID, "request.egress", "egress entry '%s' %s", CK_SECRET_QUOTE(text), reason);
    const struct ck_tool *tool = find_without_egress(judge->verdict, ret_destination);
    if (!tool)
        return true;
    char rule[CK_RULE_MAX];
    char list[LIST_BYTES];
    return refuse(judge, CHOKE_DISALLOWED, ck_judge_rule(rule, tool, "egress"),
                  "'%s' is not a destination that the policy grants '%s'; the entry grants: %s", CK_SECRET_QUOTE(text),
                  tool->name, list_granted(&tool->egress, list, sizeof(list)));
}

/*
 * Checks that the entries are destinations and are granted. The plan checks that a jail can enforce
 * the list.
 */
static bool check_egress(const struct judge *judge)
{
    const char *const *egress = judge->request->egress;
    size_t count = 0;
    /* Counted before memory is taken for it. */
    while (egress && egress[count])
        if (++count > EGRESS_MAX_COUNT)
            return refuse(judge, CHOKE_INVALID, "request.egress", "more than %d egress entries", EGRESS_MAX_COUNT);
    if (count == 0)
        return true;
    struct ck_destination *wanted = ck_arena_array(judge->arena, count, sizeof(*wanted));
    if (!wanted) {
        judge->verdict->no_memory = true;
        return false;
    }
    for (size_t i = 0; i < count; i++)
        if (!check_destination(judge, egress[i], &wanted[i]))
            return false;
    judge->verdict->egress = wanted;
    judge->verdict->egress_count = count;
    return true;
}

/* ---- sizes ------------------------------------------------------------------------------- */

/* Adds the strings to *total as execve counts them. */
static bool measure(const struct judge *judge, const char *const *strings, const char *rule, size_t *total)
{
    for (size_t i = 0; strings && strings[i]; i++) {
        if (i == CK_ARG_COUNT_MAX)
            return refuse(judge, CHOKE_INVALID, rule, "more than %zu strings", CK_ARG_COUNT_MAX);
        size_t length = strnlen(strings[i], CK_ARG_STRING_MAX + 1);
        if (length > CK_ARG_STRING_MAX)
            return refuse(judge, CHOKE_INVALID, rule, "string %zu has more than %zu bytes, the maximum of the kernel",
                          i, CK_ARG_STRING_MAX);
        /* The string, its NUL, and its pointer in the vector. */
        *total += length + 1 + sizeof(char *);
        if (*total > CK_ARG_TOTAL_MAX)
            return refuse(judge, CHOKE_INVALID, rule, "arguments and environment have more than %zu bytes together",
                          CK_ARG_TOTAL_MAX);
    }
    return true;
}

/* Both vectors share the kernel's limit. */
static bool check_sizes(const struct judge *judge)
{
    size_t total = 0;
    return measure(judge, judge->request->argv, "request.argv", &total) &&
           measure(judge, judge->request->env, "request.env", &total);
}

/* ---- environment and credentials --------------------------------------------------------- */

/* The name only: the value may be a secret. */
static bool refuse_variable(const struct judge *judge, const char *extra, size_t length)
{
    const struct ck_tool *tool = judge->verdict->tool;
    char name[CK_QUOTE_MAX];
    char list[LIST_BYTES];
    (void)snprintf(name, sizeof(name), "%.*s", (int)length, extra);
    return refuse(judge, CHOKE_ENV_FORBIDDEN, TOOL_RULE(judge, "env"),
                  "variable '%s' is not granted to '%s'; the entry grants: %s", CK_SECRET_QUOTE(name), tool->name,
                  list_granted(&tool->env, list, sizeof(list)));
}

/* *seen has one bit for each name of the entry's list. */
static bool check_variable(const struct judge *judge, size_t position, uint64_t *seen)
{
    const char *extra = judge->request->env[position];
    const struct ck_tool *tool = judge->verdict->tool;
    size_t length = strcspn(extra, "=");
    if (extra[length] != '=' || !ck_env_name_valid(extra, length))
        return refuse(judge, CHOKE_INVALID, "request.env",
                      "entry %zu of env is not NAME=VALUE with a name of letters, digits and '_'", position + 1);
    uint32_t index = 0;
    /* Compared exactly, up to the '='. */
    while (index < tool->env.count &&
           (strncmp(tool->env.items[index], extra, length) != 0 || tool->env.items[index][length] != '\0'))
        index++;
    if (index == tool->env.count)
        return refuse_variable(judge, extra, length);
    if ((*seen >> index & 1) != 0)
        return refuse(judge, CHOKE_INVALID, "request.env", "variable '%s' is given twice", tool->env.items[index]);
    *seen |= UINT64_C(1) << index;
    const char *kind = tool->allow_credentials ? NULL : ck_secret_kind(extra);
    if (kind)
        return refuse(judge, CHOKE_ENV_FORBIDDEN, "credentials",
                      "variable '%s' looks like %s; '%s' may get one only if its entry has 'credentials: allow'",
                      tool->env.items[index], kind, tool->name);
    return true;
}

/*
 * A sandbox has its own list, and the entry's grants do not matter; the filter of the sandbox
 * reports faults.
 */
static bool check_sandbox(const struct judge *judge)
{
    struct ck_verdict *verdict = judge->verdict;
    const struct ck_sandbox *sandbox;
    /* Only the extras are judged here; the plan filters the host's environment. */
    int r = ck_sandbox_make(judge->arena, NULL, judge->request->env, &sandbox, &verdict->error);
    if (r == 0)
        return true;
    verdict->no_memory = r == -ENOMEM;
    verdict->outcome = verdict->error.outcome;
    /* As in every other refusal: the outcome says what it is. */
    verdict->error.errnum = 0;
    (void)snprintf(verdict->rule, sizeof(verdict->rule), "%s", r == -EPERM ? "sandbox" : "request.env");
    return false;
}

static bool check_env(const struct judge *judge)
{
    const char *const *env = judge->request->env;
    uint64_t seen = 0;
    if (judge->request->sandbox)
        return check_sandbox(judge);
    for (size_t i = 0; env && env[i]; i++)
        if (!check_variable(judge, i, &seen))
            return false;
    return true;
}

/* argv[0] is a name of the policy by now, so it begins at 1. */
static bool check_credentials(const struct judge *judge)
{
    const struct ck_tool *tool = judge->verdict->tool;
    const char *const *argv = judge->request->argv;
    for (size_t i = 1; !tool->allow_credentials && argv[i]; i++) {
        const char *kind = ck_secret_kind_at(argv, i);
        if (kind)
            return refuse(
                judge, CHOKE_DISALLOWED, "credentials",
                "argument %zu looks like %s; arguments are visible to every process: pass it by standard input, "
                "or set 'credentials: allow' in the entry of '%s'",
                i, kind, tool->name);
    }
    return true;
}

int ck_judge(const struct ck_policy *policy, const struct choke_request *request, struct ck_arena *arena,
             struct ck_verdict *ret_verdict)
{
    /*
     * The order matters: check_tool refuses a call without a tool, which later steps use; sizes
     * come before steps that read the bytes; read_args before those that need a key of the tool.
     */
    static bool (*const steps[])(const struct judge *) = {
        check_argv,   check_directories, check_timeout, check_tool,   check_probe,       check_stdin,
        check_output, check_sizes,       read_args,     check_env,    check_credentials, check_args,
        grant_time,   grant_limits,      choose_jail,   check_egress,
    };
    *ret_verdict = (struct ck_verdict){0};
    struct judge judge = {policy, request, arena, ret_verdict};
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
        if (!steps[i](&judge))
            return ret_verdict->no_memory ? -ENOMEM : 0;
    /* Allowed: the rule is the entry of the tool. */
    (void)snprintf(ret_verdict->rule, sizeof(ret_verdict->rule), "tools.%s", ret_verdict->tool->name);
    return 0;
}
