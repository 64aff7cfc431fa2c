/*
 * model.h - the policy in memory: one arena, immutable after load.
 *
 * Only what is enforced is in the model. A key that is not here is an unknown key, and an unknown
 * key is an error. So no one can rely on a rule that does nothing. A new key gets its member in
 * struct ck_tool, its line in the schema and its rule in judge.c or the plan in one commit.
 */
#ifndef CK_POLICY_MODEL_H
#define CK_POLICY_MODEL_H

#include "base/arena.h"
#include "base/workspace.h"

#include <stdbool.h>
#include <stdint.h>

enum ck_route { CK_ROUTE_DIRECT = 1, CK_ROUTE_EXTERNAL, CK_ROUTE_JAIL, CK_ROUTE_CARRIER };

enum ck_platform { CK_PLATFORM_LINUX = 1, CK_PLATFORM_MACOS = 2 };

/* The platform of this build. */
#ifdef __APPLE__
#define CK_PLATFORM_HERE CK_PLATFORM_MACOS
#else
#define CK_PLATFORM_HERE CK_PLATFORM_LINUX
#endif

/* Where a jail shows the root. Zero is the usual place. */
enum ck_root_at { CK_ROOT_AT_WORK = 0, CK_ROOT_AT_OWN };

/* A list of strings as in the YAML; count 0 means absent or empty. */
struct ck_list {
    const char **items;
    uint32_t count;
};

struct ck_install {
    const char *apt;
    const char *brew;
    const char *npm;
    const char *url; /* a page with instructions, if there is no package */
};

/* 0: the policy does not set this limit. */
struct ck_limits {
    uint32_t timeout_s; /* 0: CK_DEFAULT_TIMEOUT_S, and a caller may request more */
    uint32_t memory_mib;
    uint32_t processes; /* and threads */
    uint32_t cpu_s;
    uint32_t file_size_mib;
    uint32_t open_files;
    uint32_t egress_mib; /* per direction, for all connections together */
    uint32_t egress_connections;
};

/* One key of limits: its offset in the struct, and its range. */
struct ck_limit_key {
    const char *key;
    const char *unit; /* of its value, for messages */
    uint32_t min, max;
    uint32_t usual; /* the limit if the policy does not set it; 0: no limit */
    uint32_t offset;
};

#define CK_DEFAULT_TIMEOUT_S 60
#define CK_DEFAULT_EGRESS_CONNECTIONS 10000 /* the limit of the proxy itself */

#define CK_LIMIT_KEYS 8
extern const struct ck_limit_key ck_limit_keys[CK_LIMIT_KEYS];

/* The value of one key. */
uint32_t ck_policy_limit(const struct ck_limits *limits, const struct ck_limit_key *key);

/* Each limit of *least becomes the stricter of the two. */
void ck_policy_limits_least(struct ck_limits *least, const struct ck_limits *other);

struct ck_variable {
    const char *name;
    const char *value;
    bool offline; /* when: offline; it is set only for a run that has no network */
};

/* ---- arguments (R4); chokepoint-policy(5) explains the notation ---------------------------- */

/* What a value or an operand may be. */
enum ck_type {
    CK_TYPE_NONE = 0, /* of operands: none allowed; of a pattern: nothing after its text */
    CK_TYPE_ANY,      /* any text */
    CK_TYPE_INSIDE,   /* a path beneath the root, whether it exists or not */
    CK_TYPE_EXISTING, /* a path beneath the root that exists */
    CK_TYPE_MOUNT,    /* SOURCE:TARGET[:OPTIONS]; SOURCE exists beneath the root, or is the root */
    CK_TYPE_NUMBER,   /* decimal digits */
    /* letters, digits and "_./:@+,%-"; begins with a letter, a digit or "_"; no ".." */
    CK_TYPE_NAME,
};

/* A value that begins with text and continues with a text of the type. */
struct ck_pattern {
    const char *text;
    enum ck_type type;
};

/* Zero is not a form. */
enum ck_form {
    CK_FORM_FLAG = 1,  /* "--x": takes no value */
    CK_FORM_VALUE,     /* "--x=": --x=v, --x v, -xv, -x v; the patterns are alternatives */
    CK_FORM_OPTIONAL,  /* "--x[=]": as a flag, or with its value attached */
    CK_FORM_ARGUMENTS, /* "--x <any> <any>": one separate argument for each pattern */
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

/* Options that several subcommands share: "@name" in a list of options expands to them. */
struct ck_option_set {
    const char *name;
    struct ck_list options;
};

#define CK_INJECT_MAX 128

/* The arguments of a tool, or of one of its subcommands. Zero-filled: no argument is allowed. */
struct ck_rules {
    struct ck_list options;
    struct ck_list inject;  /* inserted right after the tool's or the subcommand's name */
    struct ck_list require; /* options that the caller must give, with these values */
    /* options that no list may have: a separate rule, and a note to reviewers */
    struct ck_list deny;
    enum ck_type operands;
    /* type of the first operand, if it differs (a pattern, a program) */
    enum ck_type first;
    bool has_first;              /* first was given */
    struct ck_list first_unless; /* one of these options makes the first operand like the others */
    struct ck_list schemes;      /* words that may stand before an operand: "oci-dir" in oci-dir:PATH */
    bool options_first;          /* order: options_first; the first operand ends the options */

    /* set by ck_rules_compile: options with sets expanded, sorted by name */
    struct ck_arg_option *table;
    uint32_t table_count;
};

struct ck_subcommand;

/* NULL in struct ck_tool: any argument is allowed. */
struct ck_args {
    struct ck_rules rules; /* of the tool itself: what comes before a subcommand */
    struct ck_option_set *sets;
    uint32_t sets_count;
    struct ck_subcommand *subcommands; /* if there are any, one must be given */
    uint32_t subcommands_count;
    struct ck_list *exact; /* whole argument vectors that are allowed exactly */
    uint32_t exact_count;
    bool no_bundles; /* bundles: false; -abc is not -a -b -c */
    /* command: after_options; the operands are a command that must itself be allowed */
    bool command;
    bool only_exact; /* set by the loader: nothing but exact */
    unsigned line;
};

struct ck_tool {
    const char *name;
    const char *why;
    const char *adr; /* four digits */
    enum ck_route route;
    unsigned platforms; /* bits of enum ck_platform; 0: every platform */
    struct ck_install install;
    struct ck_list version_args;
    struct ck_list env; /* names a caller may pass on run */
    struct ck_variable *set_env;
    uint32_t set_env_count;
    bool allow_credentials; /* credentials: allow */
    bool required;
    struct ck_limits limits;
    struct ck_args *args;
    /* the only path of the tool: absolute, or "./REL" beneath the root; NULL: use the search path */
    const char *path;
    const char *sha256;          /* 64 lower-case hexadecimal digits, or NULL */
    struct ck_list execs;        /* names or absolute paths of helpers; enforced if has_execs */
    bool has_execs;              /* execs is given, even empty: the tool may execute nothing else */
    struct ck_list uses;         /* names of sets of helpers (helper_sets.h), in addition to execs */
    enum ck_workspace workspace; /* how the repository is seen in a jail */
    bool has_workspace;          /* workspace is given */
    bool workspace_code;         /* files beneath the root may be executed and mapped as code */
    bool loopback;               /* the run has its own 127.0.0.1 and ::1 */
    bool require_jail;           /* never without a jail that has namespaces */
    /*
     * taken over by `extends` or `catalog`: line is a line of the default policy or of
     * catalog_file, adr a record of this build
     */
    bool embedded;
    /* the most that a caller may request: host, host:port, *.suffix; empty: no egress */
    struct ck_list egress;
    struct ck_list reads;     /* directories that a jail shows too, read-only */
    enum ck_root_at root_at;  /* where a jail shows the root: at /work, or at its own path */
    unsigned line;            /* of the entry in the file, from 1 */
    const char *catalog_file; /* of the catalogue that has the entry; NULL: it is not from there */
    /* in the catalogue: the tool that the subcommands are for; NULL: it is an entry of its own */
    const char *adds_to;
    /* in a verdict: the one whose keys are in place of the entry's; NULL in a policy */
    const struct ck_subcommand *subcommand;
};

struct ck_subcommand {
    const char *name; /* one or more words: "log", "image inspect" */
    struct ck_rules rules;
    struct ck_tool own; /* the keys that it has in place of the tool's; the rest is zero-filled */
    unsigned given;     /* bit i: it has ck_subcommand_keys[i] */
    unsigned line;
};

/* A member of a tool that a subcommand may have in place of the tool's. */
struct ck_subcommand_key {
    const char *key; /* in the policy; one key may fill several members */
    uint32_t offset, size;
};

#define CK_SUBCOMMAND_KEYS 13
extern const struct ck_subcommand_key ck_subcommand_keys[CK_SUBCOMMAND_KEYS];

/*
 * The lists that a grant can lengthen: a key of a tool, which is also a member of struct ck_tool
 * and of struct ck_policy_grant. `options` is not among them: it is a member of the arguments.
 */
#define CK_POLICY_GRANT_KEYS(KEY) \
    KEY(egress) \
    KEY(env) \
    KEY(execs) \
    KEY(uses) \
    KEY(reads)

/* clang-format off */
#define CK_POLICY_GRANT_MEMBER(key) struct ck_list key;
/* clang-format on */

/* What `grant` added to one entry. The loader has done so; this is for reviews, which need the ADR. */
struct ck_policy_grant {
    const char *name;       /* of the tool */
    const char *subcommand; /* NULL: the tool itself */
    const char *why;        /* NULL: not given; the same for adr */
    const char *adr;
    struct ck_list options;
    CK_POLICY_GRANT_KEYS(CK_POLICY_GRANT_MEMBER)
    unsigned line;
    unsigned column;
};

/*
 * What guard gives the cage of a program (R90, R91): the section `guard` itself, or one of its
 * profiles. profile.h has the functions.
 */
struct ck_profile {
    const char *name; /* NULL: the section itself */
    const char *why;  /* of the section: NULL if not given; the same for adr */
    const char *adr;
    struct ck_list programs;   /* carriers that PROGRAM may be; empty: any carrier */
    struct ck_list carriers;   /* external tools, and those of route carrier, that run in the cage */
    struct ck_list catalog;    /* entries of the catalogue that guard has, too */
    struct ck_list inject;     /* inserted right after the name of PROGRAM */
    struct ck_list state;      /* directories beneath HOME that PROGRAM writes and that stay: ".codex" */
    struct ck_list state_data; /* of these: what it only reads as data, ".codex/log*" */
    struct ck_list read_only;  /* names in the root that the cage cannot write: ".git" */
    struct ck_list may_refuse; /* programs that PROGRAM calls and can do without */
    struct ck_list egress;     /* as in struct ck_tool */
    struct ck_list env;        /* names that are passed from the caller's environment */
    struct ck_variable *set_env;
    uint32_t set_env_count;
    enum ck_workspace workspace; /* rw or overlay; CK_WORKSPACE_RO: not given, which means rw */
    bool workspace_code;         /* files beneath the root may be executed in the cage */
    bool jit;                    /* a carrier makes code while it runs; without it that is refused */
    bool shipped;                /* of this build; line is a line of a file in policy/profiles */
    unsigned line;
};

/* The section `guard`. */
struct ck_policy_guard {
    struct ck_profile own;  /* its keys, which hold without --profile */
    struct ck_list shipped; /* profiles of this build that a locked policy lets callers name */
    struct ck_profile *profiles;
    uint32_t profiles_count;
};

#define CK_POLICY_ENVIRONMENT "environment" /* the value of upstream for its first member */

/*
 * The proxy of the site that egress goes through. Zero-filled: none, and the environment is not
 * looked at.
 */
struct ck_policy_upstream {
    bool environment;             /* the one that HTTPS_PROXY of the calling program names */
    const char *url;              /* "http://HOST:PORT"; NULL: not given */
    const char *credentials_file; /* has USER:PASSWORD for the url; NULL: none */
};

#define CK_POLICY_DEFAULT_NAME "default policy" /* in messages, for its file */

struct ck_policy {
    struct ck_arena arena;
    const char *file; /* for messages: the path, or "default policy" */
    uint32_t version;
    const char *adr_dir; /* relative to the file; NULL if it is not set */
    struct ck_list search_path;
    bool locked;          /* in the machine's policy: it binds everyone but root (run/locked.h) */
    struct ck_list roots; /* with locked: the root of a request is in one of these directories */
    struct ck_policy_upstream upstream;
    struct ck_policy_guard *guard; /* NULL: the policy has no such section */
    struct ck_tool *tools;
    uint32_t tools_count;
    const struct ck_tool **by_name; /* the same tools sorted by name, for ck_policy_find */

    /* How it was written. The loader has applied all of it; only reviews and messages read it. */
    bool extends;                   /* extends: default */
    bool embedded;                  /* it is the default policy: adr_dir is relative to no file */
    struct ck_list catalog;         /* names of entries that were taken from the catalogue */
    struct ck_list remove;          /* names of tools */
    struct ck_policy_grant *grants; /* in the order of the file */
    uint32_t grants_count;
};

const char *ck_policy_route_name(enum ck_route route);
const char *ck_policy_platform_name(enum ck_platform platform);
const char *ck_policy_workspace_name(enum ck_workspace workspace);
const char *ck_policy_root_at_name(enum ck_root_at root_at);

/* Does after allow less than before? ro is the least, then overlay, then rw. */
bool ck_policy_workspace_narrows(enum ck_workspace before, enum ck_workspace after);

/* Is it a file beneath the root of the request ("path: ./REL")? */
bool ck_policy_tool_is_beneath_root(const struct ck_tool *tool);

/* Is the entry meant for the platform of this build? */
bool ck_policy_tool_is_here(const struct ck_tool *tool);

/* May a caller name it? Not a jail's helper, not a carrier of guard, and meant for this platform. */
bool ck_policy_tool_is_callable(const struct ck_tool *tool);

/* Does the subcommand have the key in place of the tool's? "limits.cpu_s" means "limits". */
bool ck_policy_subcommand_has(const struct ck_subcommand *subcommand, const char *key);

/* The tool as the subcommand has it: each of its keys in place of the tool's key, as a whole. */
void ck_policy_subcommand_tool(const struct ck_tool *tool, const struct ck_subcommand *subcommand,
                               struct ck_tool *ret_tool);

/*
 * How to install it on this platform: "apt-get install ripgrep", "npm install -g ...", "see
 * https://...". NULL if the entry does not say, or out of memory.
 */
char *ck_policy_tool_install_command(struct ck_arena *arena, const struct ck_tool *tool);

/* The file that has the entry, for messages: that of the policy or of the build. */
const char *ck_policy_tool_file(const struct ck_policy *policy, const struct ck_tool *tool);

/* Does the policy have entries of this build, so that its text alone does not say what it allows? */
bool ck_policy_is_merged(const struct ck_policy *policy);

/* NULL if the policy has no such tool; names are compared exactly. */
const struct ck_tool *ck_policy_find(const struct ck_policy *policy, const char *name);

#endif
