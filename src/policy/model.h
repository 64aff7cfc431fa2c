/*
 * model.h - the policy in memory: one arena, immutable after load.
 *
 * Only what is enforced is in the model: a key that is not here is an unknown key, and an unknown key is an error, so
 * nobody can believe in a rule that does nothing. A new one gets its place in struct ck_tool, its line in the schema and
 * its rule in judge.c or the plan together.
 */
#ifndef CK_POLICY_MODEL_H
#define CK_POLICY_MODEL_H

#include "base/arena.h"
#include "base/workspace.h"

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

/* Of each, 0: the policy sets none. */
struct ck_limits {
    uint32_t timeout_s; /* 0: CK_DEFAULT_TIMEOUT_S, and a caller may ask for more */
    uint32_t memory_mib;
    uint32_t processes; /* and threads */
    uint32_t cpu_s;
    uint32_t file_size_mib;
    uint32_t open_files;
    uint32_t egress_mib; /* each way, of all connections together */
    uint32_t egress_connections;
};

/* One key of limits: where it is in the struct, and what it may be. */
struct ck_limit_key {
    const char *key;
    const char *unit; /* of its value, for messages */
    uint32_t min, max;
    uint32_t usual; /* what holds where the policy sets none; 0: nothing does */
    uint32_t offset;
};

#define CK_DEFAULT_TIMEOUT_S 60
#define CK_DEFAULT_EGRESS_CONNECTIONS 10000 /* the proxy's own bound */

#define CK_LIMIT_KEYS 8
extern const struct ck_limit_key ck_limit_keys[CK_LIMIT_KEYS];

/* The value of one of them in an entry. */
uint32_t ck_policy_limit(const struct ck_limits *limits, const struct ck_limit_key *key);

/* Each limit of *least becomes the stricter of the two. */
void ck_policy_limits_least(struct ck_limits *least, const struct ck_limits *other);

struct ck_variable {
    const char *name;
    const char *value;
};

/* ---- arguments (R4); chokepoint-policy(5) explains the notation ---------------------------- */

/* What a value or an operand may be. */
enum ck_type {
    CK_TYPE_NONE = 0, /* of operands: there may be none; of a pattern: nothing behind its text */
    CK_TYPE_ANY,      /* any text */
    CK_TYPE_INSIDE,   /* as a path it stays beneath the root, whether it exists or not */
    CK_TYPE_EXISTING, /* it exists, beneath the root */
    CK_TYPE_MOUNT,    /* SOURCE:TARGET[:OPTIONS] with a source that exists beneath the root, or is it */
    CK_TYPE_NUMBER,   /* decimal digits */
    CK_TYPE_NAME,     /* letters, digits and "_./:@+,%-"; begins with a letter, a digit or "_"; no ".." */
};

/* A value that begins with text and goes on with something of the type. */
struct ck_pattern {
    const char *text;
    enum ck_type type;
};

/* Zero is no form. */
enum ck_form {
    CK_FORM_FLAG = 1,  /* "--x": takes no value */
    CK_FORM_VALUE,     /* "--x=": --x=v, --x v, -xv, -x v; the patterns are alternatives */
    CK_FORM_OPTIONAL,  /* "--x[=]": as a flag, or with its value attached */
    CK_FORM_ARGUMENTS, /* "--x <any> <any>": as many separate words as there are patterns */
    CK_FORM_NUMBER,    /* "-<number>": -1, -25 */
};

struct ck_arg_option {
    const char *text; /* as the policy spells it */
    const char *name; /* "--max-count", "-e"; "-" for CK_FORM_NUMBER */
    uint32_t name_length;
    enum ck_form form;
    struct ck_pattern *patterns;
    uint32_t patterns_count;
};

/* Options that several subcommands have in common: "@name" in a list of options stands for them. */
struct ck_option_set {
    const char *name;
    struct ck_list options;
};

#define CK_INJECT_MAX 128

/* The arguments of a tool, or of one of its subcommands. Zero-filled it allows no argument. */
struct ck_rules {
    struct ck_list options;
    struct ck_list inject;  /* put right behind the tool's or the subcommand's name */
    struct ck_list require; /* options that the caller must give, with these values */
    struct ck_list deny;    /* options that nobody can list: a rule in its own right, and a note to reviewers */
    enum ck_type operands;
    enum ck_type first;          /* type of the first operand, where it differs (a pattern, a program) */
    bool has_first;              /* first was given */
    struct ck_list first_unless; /* one of these options makes the first operand like the others */
    bool options_first;          /* order: options_first; the first operand ends the options */

    /* made by ck_rules_compile: options with their sets put in, in the order of their names */
    struct ck_arg_option *table;
    uint32_t table_count;
};

struct ck_subcommand {
    const char *name; /* one or more words: "log", "image inspect" */
    struct ck_rules rules;
    struct ck_list execs; /* in the place of the tool's own, where has_execs */
    bool has_execs;
    unsigned line;
};

/* NULL in struct ck_tool: anything goes. */
struct ck_args {
    struct ck_rules rules; /* of the tool itself: what stands before a subcommand */
    struct ck_option_set *sets;
    uint32_t sets_count;
    struct ck_subcommand *subcommands; /* where there are any, one must be given */
    uint32_t subcommands_count;
    struct ck_list *exact; /* whole argument vectors that are allowed as they stand */
    uint32_t exact_count;
    bool no_bundles; /* bundles: false; -abc is not -a -b -c */
    bool command;    /* command: after_options; the operands are a command that must be allowed in its own right */
    bool only_exact; /* made: there is nothing but exact */
    unsigned line;
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
    struct ck_args *args;
    const char *path;            /* the only place of the tool; NULL: the search path */
    const char *sha256;          /* 64 lower-case hexadecimal digits, or NULL */
    struct ck_list execs;        /* names or absolute paths of helpers; enforced where has_execs */
    bool has_execs;              /* execs was given, be it as an empty list: the tool may execute nothing else */
    enum ck_workspace workspace; /* how the repository is seen in a jail */
    struct ck_list egress; /* the most that a caller may ask for: host, host:port, *.suffix; no entry, no egress */
    unsigned line;         /* of the entry in the file, from 1 */
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

const char *ck_policy_route_name(enum ck_route route);
const char *ck_policy_platform_name(enum ck_platform platform);
const char *ck_policy_workspace_name(enum ck_workspace workspace);

/* Is the second one less: read-only is least, and what is kept apart is less than what is written? */
bool ck_policy_workspace_narrows(enum ck_workspace before, enum ck_workspace after);

/* Is the entry meant for the platform this was built for? */
bool ck_policy_tool_is_here(const struct ck_tool *tool);

/* May a caller name it: not a jail's helper, and meant for this platform. */
bool ck_policy_tool_is_callable(const struct ck_tool *tool);

/*
 * How to install it on this platform: "apt-get install ripgrep", "npm install -g ...", "see https://...".
 * NULL where the entry does not say, or out of memory.
 */
char *ck_policy_tool_install_command(struct ck_arena *arena, const struct ck_tool *tool);

/* NULL where the policy has no such tool; names are compared exactly. */
const struct ck_tool *ck_policy_find(const struct ck_policy *policy, const char *name);

#endif
