/*
 * fuzz_request.c - any request: judged, and if it is allowed its environment is built.
 *
 * The input is lines; the first byte of a line says which part of the request the rest is:
 *   a argument   e variable   g egress   r root   c cwd   p probe   t timeout_ms   T timeout from the policy
 *   o output cap   j jail   q require a jail   s kind of stdin   d stdin_fd   b stdin_length without bytes
 *   h HOME   l LANG   L LC_ALL   x sandbox
 * Other lines are skipped.
 */
#include "promise.h"

#include "base/quote.h"
#include "policy/env.h"
#include "policy/judge.h"
#include "policy/load.h"
#include "policy/sandbox.h"
#include "policy/secret.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define MAX_STRINGS 64

static const char policy_text[] =
    "version: 1\nsearch_path: [/usr/local/bin, /usr/bin]\ntools:\n"
    "  - {name: git, why: w, adr: '0001', route: external, env: [FOO, BAR, GITHUB_TOKEN], limits: {timeout_s: 100}}\n"
    "  - {name: node, why: w, adr: '0001', route: direct, set_env: [{name: NODE_OPTIONS, value: ''}, {name: X, value: y}]}\n"
    "  - {name: curl, why: w, adr: '0001', route: direct, env: [TOKEN], credentials: allow}\n"
    "  - {name: bwrap, why: w, adr: '0001', route: jail}\n"
    "  - {name: seatbelt, why: w, adr: '0001', route: direct, platforms: [macos]}\n";

struct input {
    struct choke_request request;
    struct ck_host_environment host;
    const char *argv[MAX_STRINGS + 1];
    const char *env[MAX_STRINGS + 1];
    const char *egress[MAX_STRINGS + 1];
    size_t argv_count;
    size_t env_count;
    size_t egress_count;
};

static void add(const char **list, size_t *count, const char *text)
{
    if (*count < MAX_STRINGS)
        list[(*count)++] = text;
}

static void take_number(struct choke_request *request, char kind, const char *text)
{
    unsigned long long number = strtoull(text, NULL, 10);
    if (kind == 't')
        request->timeout_ms = number;
    else if (kind == 'o')
        request->max_output_bytes = number;
    else if (kind == 'k')
        request->keep_head_bytes = number;
    else if (kind == 'j')
        request->jail = (enum choke_jail)(number & 15);
    else if (kind == 's')
        request->stdin_kind = (enum choke_stdin)(number & 7);
    else if (kind == 'b')
        request->stdin_length = number;
    else
        request->stdin_fd = (int)(number & 0xff) - 1;
}

static void take_line(struct input *input, const char *line)
{
    struct choke_request *request = &input->request;
    const char *rest = line + 1;
    switch (line[0]) {
    case 'a':
        add(input->argv, &input->argv_count, rest);
        request->argv = input->argv;
        break;
    case 'e':
        add(input->env, &input->env_count, rest);
        request->env = input->env;
        break;
    case 'g':
        add(input->egress, &input->egress_count, rest);
        request->egress = input->egress;
        break;
    case 'r':
        request->root = rest;
        break;
    case 'c':
        request->cwd = rest;
        break;
    case 'p':
        request->probe = rest;
        break;
    case 'T':
        request->timeout_ms = CHOKE_TIMEOUT_FROM_POLICY;
        break;
    case 'q':
        request->require_jail = true;
        break;
    case 'x':
        request->sandbox = true;
        break;
    case 'h':
        input->host.home = rest;
        break;
    case 'l':
        input->host.lang = rest;
        break;
    case 'L':
        input->host.lc_all = rest;
        break;
    default:
        if (line[0] != '\0' && strchr("tojsbdk", line[0]))
            take_number(request, line[0], rest);
    }
}

static bool printable(const char *text)
{
    for (const char *at = text; *at != '\0'; at++)
        if ((unsigned char)*at < 0x20 || *at == 0x7f)
            return false;
    return ck_quote_utf8_valid(text, strlen(text));
}

static void check_environment(const struct ck_policy *policy, const struct input *input,
                              const struct ck_verdict *verdict)
{
    struct ck_arena arena = {0};
    const char **env = ck_env_build(&arena, policy, (const struct ck_tool *const[]){verdict->tool, NULL}, &input->host,
                                    input->request.env);
    require(env);
    size_t count = 0;
    for (; env[count]; count++) {
        const char *equals = strchr(env[count], '=');
        require(equals);
        size_t length = (size_t)(equals - env[count]) + 1;
        require(ck_env_name_valid(env[count], length - 1));
        for (size_t i = 0; i < count; i++)
            require(strncmp(env[i], env[count], length) != 0);
    }
    require(count == 4 + verdict->tool->set_env_count + input->env_count);
    require(env[0] && strcmp(env[0], "PATH=/usr/local/bin:/usr/bin") == 0);
    require(env[1] && strncmp(env[1], "HOME=/", 6) == 0);
    ck_arena_done(&arena);
}

/* The bytes of env again, as variables of the host: none is refused, and no secret passes. */
static void check_sandbox(const struct ck_policy *policy, const struct input *input, const struct ck_verdict *verdict)
{
    struct ck_arena arena = {0};
    const struct ck_sandbox *sandbox;
    const char **env;
    struct choke_error error;
    const struct ck_tool *const tools[] = {verdict->tool, NULL};
    const struct ck_sandbox_frame frame = {.policy = policy, .tools = tools, .home = "/tmp/probe"};
    const char *const *extras = input->request.sandbox ? input->request.env : NULL;
    require(ck_sandbox_make(&arena, input->request.env, extras, &sandbox, &error) == 0);
    require(ck_sandbox_environment(&arena, sandbox, &frame, &env, &error) == 0);
    for (size_t i = 4 + verdict->tool->set_env_count; env[i]; i++)
        require(ck_sandbox_rule(ck_sandbox_allowlist, env[i], strcspn(env[i], "=")) == CK_SANDBOX_PASSES &&
                !ck_secret_kind(env[i]));
    ck_arena_done(&arena);
}

static void check_verdict(const struct ck_policy *policy, const struct input *input, const struct ck_verdict *verdict)
{
    require(verdict->rule[0] != '\0' && printable(verdict->rule));
    require(verdict->error.outcome == verdict->outcome);
    if (verdict->outcome != CHOKE_NONE) {
        require(verdict->outcome == CHOKE_INVALID || verdict->outcome == CHOKE_DISALLOWED ||
                verdict->outcome == CHOKE_ENV_FORBIDDEN);
        require(verdict->error.message[0] != '\0' && printable(verdict->error.message));
        return;
    }
    const struct ck_tool *tool = verdict->tool;
    require(tool && tool->route != CK_ROUTE_JAIL && strcmp(tool->name, input->argv[0]) == 0);
    require(verdict->timeout_ms >= 1 && verdict->timeout_ms <= CK_TIMEOUT_MAX_MS);
    require(verdict->max_output_bytes >= CHOKE_MIN_OUTPUT_BYTES);
    require(verdict->keep_head_bytes <= verdict->max_output_bytes - CHOKE_MIN_OUTPUT_BYTES);
    require(verdict->jail >= CHOKE_JAIL_AUTO && verdict->jail <= CHOKE_JAIL_NONE);
    require(!(input->request.require_jail || input->request.sandbox) || verdict->jail != CHOKE_JAIL_NONE);
    require(!input->request.probe || input->env_count == 0);
    check_sandbox(policy, input, verdict);
    if (!input->request.sandbox)
        check_environment(policy, input, verdict);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct ck_policy *policy;
    if (!policy)
        require(ck_policy_parse("fuzz", policy_text, strlen(policy_text), &policy, NULL) == 0);
    char *text = calloc(size + 1, 1);
    require(text);
    if (size > 0)
        memcpy(text, data, size);
    struct input input = {0};
    for (char *line = text, *next; line; line = next) {
        next = strchr(line, '\n');
        if (next)
            *next++ = '\0';
        take_line(&input, line);
    }
    struct ck_verdict verdict;
    struct ck_arena arena = {0};
    require(ck_judge(policy, &input.request, &arena, &verdict) == 0);
    check_verdict(policy, &input, &verdict);
    ck_arena_done(&arena);
    free(text);
    return 0;
}
