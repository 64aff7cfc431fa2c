/*
 * model.h - the policy in memory: one arena, immutable after load.
 *
 * Only what is enforced is in the model: a key that is not here is an unknown key, and an unknown key is an error, so
 * nobody can believe in a rule that does nothing. Argument rules, digests, helpers, egress and workspace get their
 * place in struct ck_tool, their line in the schema of load.c and their rule in judge.c together.
 */
#ifndef CK_POLICY_MODEL_H
#define CK_POLICY_MODEL_H

#include "base/arena.h"

#include <stdbool.h>
#include <stdint.h>

enum ck_route { CK_ROUTE_DIRECT = 1, CK_ROUTE_EXTERNAL, CK_ROUTE_JAIL };

enum ck_platform { CK_PLATFORM_LINUX = 1, CK_PLATFORM_MACOS = 2 };

/* The platform this was built for. */
#ifdef __APPLE__
#define CK_PLATFORM_HERE CK_PLATFORM_MACOS
#else
#define CK_PLATFORM_HERE CK_PLATFORM_LINUX
#endif

/* A list of strings as the YAML gives it; count 0 means absent or empty. */
struct ck_list {
    const char **items;
    uint32_t count;
};

struct ck_install {
    const char *apt;
    const char *brew;
    const char *npm;
    const char *url; /* where neither has it: a page that says how */
};

struct ck_limits {
    uint32_t timeout_s; /* 0: 60 s */
};

struct ck_variable {
    const char *name;
    const char *value;
};

struct ck_tool {
    const char *name;
    const char *why;
    const char *adr; /* four digits */
    enum ck_route route;
    bool required;
    unsigned platforms; /* bits of enum ck_platform; 0: every platform */
    struct ck_install install;
    struct ck_list version_args;
    struct ck_list env; /* names a caller may pass on run */
    struct ck_variable *set_env;
    uint32_t set_env_count;
    bool allow_credentials; /* credentials: allow */
    struct ck_limits limits;
    unsigned line; /* of the entry in the file, from 1 */
};

struct ck_policy {
    struct ck_arena arena;
    const char *file; /* for messages: the path, or "default policy" */
    uint32_t version;
    const char *adr_dir; /* relative to the file; NULL where it names none */
    struct ck_list search_path;
    struct ck_tool *tools;
    uint32_t tools_count;
    const struct ck_tool **by_name; /* the same tools in the order of their names, for ck_policy_find */
};

const char *ck_route_name(enum ck_route route);
const char *ck_platform_name(enum ck_platform platform);

/* Is the entry meant for the platform this was built for? */
bool ck_tool_is_here(const struct ck_tool *tool);

/* May a caller name it: not a jail's helper, and meant for this platform. */
bool ck_tool_is_callable(const struct ck_tool *tool);

/*
 * How to install it on this platform: "apt-get install ripgrep", "npm install -g ...", "see https://...".
 * NULL where the entry does not say, or out of memory.
 */
char *ck_tool_install_command(struct ck_arena *arena, const struct ck_tool *tool);

/* NULL where the policy has no such tool; names are compared exactly. */
const struct ck_tool *ck_policy_find(const struct ck_policy *policy, const char *name);

#endif
