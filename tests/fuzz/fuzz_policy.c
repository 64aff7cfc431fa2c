/*
 * fuzz_policy.c - any bytes as a policy: accepted within the promises of the header, or refused
 * with line, column and a clean message.
 */
#include "promise.h"

#include "base/quote.h"
#include "policy/describe.h"
#include "policy/env.h"
#include "policy/load.h"
#include "policy/yaml_write.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static bool printable(const char *text)
{
    for (const char *at = text; *at != '\0'; at++)
        if ((unsigned char)*at < 0x20 || *at == 0x7f)
            return false;
    return true;
}

static void check_refusal(const struct choke_error *error)
{
    require(error->outcome == CHOKE_POLICY && error->errnum == EINVAL);
    require(error->line >= 1 && error->column >= 1);
    /* The message has line and column too: every fault is found before libcyaml, which has no
     * position, would find it. */
    require(strncmp(error->message, "policy 'fuzz': line ", 20) == 0);
    require(printable(error->message));
}

static void check_tool(const struct ck_policy *policy, const struct ck_tool *tool)
{
    require(ck_policy_find(policy, tool->name) == tool);
    require(strlen(tool->name) >= 1 && strlen(tool->name) <= 64 && !strchr(tool->name, '/'));
    require(strlen(tool->adr) == 4 && tool->why[0] != '\0' && tool->line >= 1);
    require(tool->route >= CK_ROUTE_DIRECT && tool->route <= CK_ROUTE_CARRIER);
    for (size_t i = 0; i < CK_LIMIT_KEYS; i++)
        require(ck_policy_limit(&tool->limits, &ck_limit_keys[i]) <= ck_limit_keys[i].max);
    for (uint32_t i = 0; i < tool->env.count; i++)
        require(ck_env_name_grantable(tool->env.items[i], strlen(tool->env.items[i])));
    for (uint32_t i = 0; i < tool->set_env_count; i++)
        require(ck_env_name_settable(tool->set_env[i].name, strlen(tool->set_env[i].name)) &&
                printable(tool->set_env[i].value));
    struct ck_arena arena = {0};
    const char *command = ck_policy_tool_install_command(&arena, tool);
    require(!command || printable(command));
    ck_arena_done(&arena);
}

/* R84: what is written loads, and is written the same again. The whole may be over the bounds of a file. */
static void check_writing(const struct ck_policy *policy)
{
    struct ck_arena arena = {0};
    struct ck_policy *again = NULL;
    struct choke_error error = {0};
    const char *text = ck_policy_yaml(policy, &arena);
    require(text);
    if (strlen(text) <= CK_POLICY_MAX_BYTES) {
        require(ck_policy_parse("again", text, strlen(text), &again, &error) == 0);
        require(again->tools_count == policy->tools_count);
        require(strcmp(ck_policy_yaml(again, &arena), text) == 0);
    }
    ck_policy_free(again);
    ck_arena_done(&arena);
}

/* A review finds what a load finds first, and nothing if a load finds nothing. */
static void check_faults(const uint8_t *data, size_t size, const struct choke_error *first)
{
    static struct ck_yaml_faults faults;
    struct ck_policy *policy = NULL;
    struct choke_error error = {0};
    faults.count = 0;
    const struct ck_policy_source source = {.file = "fuzz", .text = data, .length = size, .faults = &faults};
    int r = ck_policy_parse_source(&source, &policy, &error);
    require((r == 0) == !first);
    bool found = !first || strcmp(error.message, first->message) == 0;
    for (uint32_t i = 0; i < faults.count; i++) {
        check_refusal(&faults.items[i]);
        found = found || strcmp(faults.items[i].message, first->message) == 0;
    }
    require(found && (first || faults.count == 0));
    ck_policy_free(policy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ck_policy *policy = NULL;
    struct choke_error error = {0};
    if (ck_policy_parse("fuzz", data, size, &policy, &error) < 0) {
        require(!policy);
        check_refusal(&error);
        check_faults(data, size, &error);
        return 0;
    }
    check_faults(data, size, NULL);
    require(policy->version == 1 && policy->search_path.count >= 1);
    for (uint32_t i = 0; i < policy->search_path.count; i++)
        require(policy->search_path.items[i][0] == '/' && !strchr(policy->search_path.items[i], ':'));
    for (uint32_t i = 0; i < policy->tools_count; i++)
        check_tool(policy, &policy->tools[i]);
    check_writing(policy);
    ck_policy_free(policy);
    return 0;
}
