/*
 * schema.c - the table of keys and types, and the check of a tree against it. See schema.h.
 *
 * The table is libcyaml's, which fills the structs by it. libcyaml reports a fault without its
 * position. So the same table is compared with the surveyed tree first: whatever libcyaml would
 * refuse is refused there, with line, column and what would be right. One rule is stricter than
 * libcyaml: a number has plain decimal digits, because 010 is eight to some and ten to others.
 */
#include "policy/schema.h"

#include "base/quote.h"
#include "policy/model.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define LABEL_MAX 128 /* bytes of "tool 'NAME'" and the like in messages */
#define TEXT_MAX 1024 /* bytes of one value */
#define LIST_MAX CK_POLICY_MAX_LIST
#define OPTIONS_MAX CK_POLICY_MAX_OPTIONS
#define SUBCOMMANDS_MAX 256 /* of one tool */

/* ---- the table --------------------------------------------------------------------------- */

/* The words of each choice and what they become in the model. The order is that of messages. */
static const cyaml_strval_t booleans[] = {{"false", 0}, {"true", 1}};
static const cyaml_strval_t routes[] = {
    {"direct", CK_ROUTE_DIRECT},
    {"external", CK_ROUTE_EXTERNAL},
    {"jail", CK_ROUTE_JAIL},
    {"carrier", CK_ROUTE_CARRIER},
};
static const cyaml_strval_t platforms[] = {{"linux", CK_PLATFORM_LINUX}, {"macos", CK_PLATFORM_MACOS}};
static const cyaml_strval_t credentials[] = {{"refuse", 0}, {"allow", 1}};
static const cyaml_strval_t workspaces[] = {
    {"ro", CK_WORKSPACE_RO}, {"rw", CK_WORKSPACE_RW}, {"overlay", CK_WORKSPACE_OVERLAY}};
/* Without the key the member is 0, which is CK_WORKSPACE_RO and no word of guard. */
static const cyaml_strval_t cage_workspaces[] = {{"rw", CK_WORKSPACE_RW}, {"overlay", CK_WORKSPACE_OVERLAY}};
static const cyaml_strval_t root_places[] = {{"work", CK_ROOT_AT_WORK}, {"own", CK_ROOT_AT_OWN}};
static const cyaml_strval_t types[] = {
    {"none", CK_TYPE_NONE},   {"any", CK_TYPE_ANY},       {"inside", CK_TYPE_INSIDE}, {"existing", CK_TYPE_EXISTING},
    {"mount", CK_TYPE_MOUNT}, {"number", CK_TYPE_NUMBER}, {"name", CK_TYPE_NAME},
};
static const cyaml_strval_t orders[] = {{"mixed", 0}, {"options_first", 1}};
static const cyaml_strval_t bundles[] = {{"true", 0}, {"false", 1}}; /* into no_bundles */
/* One word so far; without the key the member stays 0. */
static const cyaml_strval_t occasions[] = {{"offline", 1}};
static const cyaml_strval_t commands[] = {{"after_options", 1}};
/* One word: a file cannot be extended, so no file can bring in another one. */
static const cyaml_strval_t extended[] = {{"default", 1}};

/* STRICT: a word that is not in the table is an error. POINTER: libcyaml allocates the value. */
#define OPTIONAL CYAML_FLAG_OPTIONAL
#define OPTIONAL_LIST (CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL)
#define OPTIONAL_CHOICE (CYAML_FLAG_STRICT | CYAML_FLAG_OPTIONAL)

static const cyaml_schema_value_t text_entry = {CYAML_VALUE_STRING(CYAML_FLAG_POINTER, char *, 1, TEXT_MAX)};

/* Each table describes one struct of model.h. A key that is not here is refused as unknown. */
static const cyaml_schema_field_t install_fields[] = {
    CYAML_FIELD_STRING_PTR("apt", OPTIONAL, struct ck_install, apt, 1, TEXT_MAX),
    CYAML_FIELD_STRING_PTR("brew", OPTIONAL, struct ck_install, brew, 1, TEXT_MAX),
    CYAML_FIELD_STRING_PTR("npm", OPTIONAL, struct ck_install, npm, 1, TEXT_MAX),
    CYAML_FIELD_STRING_PTR("url", OPTIONAL, struct ck_install, url, 1, TEXT_MAX),
    CYAML_FIELD_END,
};

static const cyaml_schema_field_t limits_fields[] = {
    CYAML_FIELD_UINT("timeout_s", OPTIONAL, struct ck_limits, timeout_s),
    CYAML_FIELD_UINT("memory_mib", OPTIONAL, struct ck_limits, memory_mib),
    CYAML_FIELD_UINT("processes", OPTIONAL, struct ck_limits, processes),
    CYAML_FIELD_UINT("cpu_s", OPTIONAL, struct ck_limits, cpu_s),
    CYAML_FIELD_UINT("file_size_mib", OPTIONAL, struct ck_limits, file_size_mib),
    CYAML_FIELD_UINT("open_files", OPTIONAL, struct ck_limits, open_files),
    CYAML_FIELD_UINT("egress_mib", OPTIONAL, struct ck_limits, egress_mib),
    CYAML_FIELD_UINT("egress_connections", OPTIONAL, struct ck_limits, egress_connections),
    CYAML_FIELD_END,
};

static const cyaml_schema_field_t variable_fields[] = {
    CYAML_FIELD_STRING_PTR("name", CYAML_FLAG_DEFAULT, struct ck_variable, name, 1, TEXT_MAX),
    /* 0: a variable may be set to the empty text. */
    CYAML_FIELD_STRING_PTR("value", CYAML_FLAG_DEFAULT, struct ck_variable, value, 0, TEXT_MAX),
    CYAML_FIELD_ENUM("when", OPTIONAL_CHOICE, struct ck_variable, offline, occasions, CYAML_ARRAY_LEN(occasions)),
    CYAML_FIELD_END,
};

static const cyaml_schema_value_t variable_entry = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct ck_variable, variable_fields)};

/* The name of a member cannot be in parentheses. */
/* NOLINTBEGIN(bugprone-macro-parentheses) */
#define LIST_FIELD(key, type, member, min, max) \
    CYAML_FIELD_SEQUENCE_COUNT(key, OPTIONAL_LIST, type, member.items, member.count, &text_entry, min, max)
/* NOLINTEND(bugprone-macro-parentheses) */
#define CHOICE_FIELD(key, type, member, choices) \
    CYAML_FIELD_ENUM(key, OPTIONAL_CHOICE, type, member, choices, CYAML_ARRAY_LEN(choices))

/*
 * The keys that a tool's arguments and those of a subcommand share: the member rules of both
 * structs.
 */
/* clang-format off */
#define RULES_FIELDS(type)                                                                                             \
    LIST_FIELD("options", type, rules.options, 0, OPTIONS_MAX),                                                        \
    LIST_FIELD("inject", type, rules.inject, 0, CK_INJECT_MAX),                                                            \
    LIST_FIELD("require", type, rules.require, 0, LIST_MAX),                                                           \
    LIST_FIELD("deny", type, rules.deny, 0, OPTIONS_MAX),                                                              \
    CHOICE_FIELD("operands", type, rules.operands, types),                                                               \
    CHOICE_FIELD("first", type, rules.first, types),                                                                     \
    LIST_FIELD("first_unless", type, rules.first_unless, 1, LIST_MAX),                                                 \
    LIST_FIELD("schemes", type, rules.schemes, 1, LIST_MAX),                                                           \
    CHOICE_FIELD("order", type, rules.options_first, orders)
/* clang-format on */

/*
 * The keys that a tool has and that a subcommand may have in place of the tool's (model.c has the
 * same list). at is empty for a tool, and "own." for a subcommand. An empty list is not the same as
 * no key: load.c notes whether the key is there.
 */
/* clang-format off */
#define KEYS_FIELDS(type, at)                                                                                          \
    LIST_FIELD("execs", type, at execs, 0, LIST_MAX),                                                                  \
    LIST_FIELD("uses", type, at uses, 0, LIST_MAX),                                                                    \
    CHOICE_FIELD("workspace", type, at workspace, workspaces),                                                         \
    CHOICE_FIELD("workspace_code", type, at workspace_code, booleans),                                                 \
    CHOICE_FIELD("loopback", type, at loopback, booleans),                                                             \
    CHOICE_FIELD("require_jail", type, at require_jail, booleans),                                                     \
    LIST_FIELD("egress", type, at egress, 0, LIST_MAX),                                                                \
    LIST_FIELD("env", type, at env, 0, CK_TOOL_MAX_ENV), /* the judge has one bit for each name */                     \
    CYAML_FIELD_SEQUENCE_COUNT("set_env", OPTIONAL_LIST, type, at set_env, at set_env_count, &variable_entry, 0,       \
                               CK_TOOL_MAX_ENV),                                                                       \
    CYAML_FIELD_MAPPING("limits", OPTIONAL, type, at limits, limits_fields)
/* clang-format on */

static const cyaml_schema_field_t subcommand_fields[] = {
    CYAML_FIELD_STRING_PTR("name", CYAML_FLAG_DEFAULT, struct ck_subcommand, name, 1, TEXT_MAX),
    RULES_FIELDS(struct ck_subcommand),
    KEYS_FIELDS(struct ck_subcommand, own.),
    CYAML_FIELD_END,
};

static const cyaml_schema_value_t subcommand_entry = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct ck_subcommand, subcommand_fields)};

static const cyaml_schema_field_t set_fields[] = {
    CYAML_FIELD_STRING_PTR("name", CYAML_FLAG_DEFAULT, struct ck_option_set, name, 1, TEXT_MAX),
    CYAML_FIELD_SEQUENCE_COUNT("options", CYAML_FLAG_POINTER, struct ck_option_set, options.items, options.count,
                               &text_entry, 1, OPTIONS_MAX),
    CYAML_FIELD_END,
};

static const cyaml_schema_value_t set_entry = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct ck_option_set, set_fields)};

/* libcyaml has no list of lists; exact is checked here and filled by load.c. */
static const cyaml_schema_field_t args_fields[] = {
    CYAML_FIELD_SEQUENCE_COUNT("sets", OPTIONAL_LIST, struct ck_args, sets, sets_count, &set_entry, 1, LIST_MAX),
    RULES_FIELDS(struct ck_args),
    CYAML_FIELD_IGNORE("exact", OPTIONAL),
    CHOICE_FIELD("bundles", struct ck_args, no_bundles, bundles),
    CHOICE_FIELD("command", struct ck_args, command, commands),
    CYAML_FIELD_SEQUENCE_COUNT("subcommands", OPTIONAL_LIST, struct ck_args, subcommands, subcommands_count,
                               &subcommand_entry, 1, SUBCOMMANDS_MAX),
    CYAML_FIELD_END,
};

static const cyaml_schema_field_t tool_fields[] = {
    CYAML_FIELD_STRING_PTR("name", CYAML_FLAG_DEFAULT, struct ck_tool, name, 1, TEXT_MAX),
    CYAML_FIELD_STRING_PTR("why", CYAML_FLAG_DEFAULT, struct ck_tool, why, 1, TEXT_MAX),
    CYAML_FIELD_STRING_PTR("adr", CYAML_FLAG_DEFAULT, struct ck_tool, adr, 1, TEXT_MAX),
    CYAML_FIELD_ENUM("route", CYAML_FLAG_STRICT, struct ck_tool, route, routes, CYAML_ARRAY_LEN(routes)),
    CYAML_FIELD_ENUM("required", OPTIONAL_CHOICE, struct ck_tool, required, booleans, CYAML_ARRAY_LEN(booleans)),
    CYAML_FIELD_FLAGS("platforms", OPTIONAL_CHOICE, struct ck_tool, platforms, platforms, CYAML_ARRAY_LEN(platforms)),
    CYAML_FIELD_MAPPING("install", OPTIONAL, struct ck_tool, install, install_fields),
    LIST_FIELD("version_args", struct ck_tool, version_args, 1, LIST_MAX),
    CYAML_FIELD_ENUM("credentials", OPTIONAL_CHOICE, struct ck_tool, allow_credentials, credentials,
                     CYAML_ARRAY_LEN(credentials)),
    CYAML_FIELD_MAPPING_PTR("args", OPTIONAL, struct ck_tool, args, args_fields),
    CYAML_FIELD_STRING_PTR("path", OPTIONAL, struct ck_tool, path, 1, TEXT_MAX),
    CYAML_FIELD_STRING_PTR("sha256", OPTIONAL, struct ck_tool, sha256, 1, TEXT_MAX),
    LIST_FIELD("reads", struct ck_tool, reads, 0, LIST_MAX),
    CHOICE_FIELD("root_at", struct ck_tool, root_at, root_places),
    KEYS_FIELDS(struct ck_tool, ),
    CYAML_FIELD_END,
};

static const cyaml_schema_value_t tool_entry = {CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct ck_tool, tool_fields)};

/* At least one entry: a grant of nothing is a mistake. */
#define GRANT_FIELD(key) LIST_FIELD(#key, struct ck_policy_grant, key, 1, LIST_MAX),

static const cyaml_schema_field_t grant_fields[] = {
    CYAML_FIELD_STRING_PTR("name", CYAML_FLAG_DEFAULT, struct ck_policy_grant, name, 1, TEXT_MAX),
    CYAML_FIELD_STRING_PTR("subcommand", OPTIONAL, struct ck_policy_grant, subcommand, 1, TEXT_MAX),
    CYAML_FIELD_STRING_PTR("why", OPTIONAL, struct ck_policy_grant, why, 1, TEXT_MAX),
    CYAML_FIELD_STRING_PTR("adr", OPTIONAL, struct ck_policy_grant, adr, 1, TEXT_MAX),
    LIST_FIELD("options", struct ck_policy_grant, options, 1, OPTIONS_MAX),
    CK_POLICY_GRANT_KEYS(GRANT_FIELD) CYAML_FIELD_END,
};

static const cyaml_schema_value_t grant_entry = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct ck_policy_grant, grant_fields)};

/* What a profile and the section `guard` share; of the section, all is optional. */
/* clang-format off */
#define CAGE_FIELDS(type, at, need)                                                                                    \
    CYAML_FIELD_STRING_PTR("why", need, type, at why, 1, TEXT_MAX),                                                    \
    CYAML_FIELD_STRING_PTR("adr", need, type, at adr, 1, TEXT_MAX),                                                    \
    LIST_FIELD("programs", type, at programs, 1, LIST_MAX),                                                            \
    LIST_FIELD("carriers", type, at carriers, 0, CK_POLICY_MAX_CARRIERS),                                              \
    LIST_FIELD("catalog", type, at catalog, 1, CK_POLICY_MAX_CATALOG),                                                 \
    LIST_FIELD("inject", type, at inject, 1, LIST_MAX),                                                                \
    LIST_FIELD("state", type, at state, 0, LIST_MAX),                                                                  \
    LIST_FIELD("state_data", type, at state_data, 1, LIST_MAX),                                                        \
    LIST_FIELD("read_only", type, at read_only, 1, LIST_MAX),                                                          \
    LIST_FIELD("may_refuse", type, at may_refuse, 1, LIST_MAX),                                                        \
    LIST_FIELD("egress", type, at egress, 0, LIST_MAX),                                                                \
    LIST_FIELD("env", type, at env, 0, CK_TOOL_MAX_ENV),                                                               \
    CYAML_FIELD_SEQUENCE_COUNT("set_env", OPTIONAL_LIST, type, at set_env, at set_env_count, &variable_entry, 0,       \
                               CK_TOOL_MAX_ENV),                                                                       \
    CHOICE_FIELD("workspace", type, at workspace, cage_workspaces),                                                    \
    CHOICE_FIELD("workspace_code", type, at workspace_code, booleans),                                                 \
    CHOICE_FIELD("jit", type, at jit, booleans)
/* clang-format on */

static const cyaml_schema_field_t profile_fields[] = {
    CYAML_FIELD_STRING_PTR("name", CYAML_FLAG_DEFAULT, struct ck_profile, name, 1, TEXT_MAX),
    CAGE_FIELDS(struct ck_profile, , CYAML_FLAG_DEFAULT),
    CYAML_FIELD_END,
};

static const cyaml_schema_value_t profile_entry = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct ck_profile, profile_fields)};

static const cyaml_schema_field_t guard_fields[] = {
    CAGE_FIELDS(struct ck_policy_guard, own., OPTIONAL),
    LIST_FIELD("shipped", struct ck_policy_guard, shipped, 0, CK_POLICY_MAX_PROFILES),
    CYAML_FIELD_SEQUENCE_COUNT("profiles", OPTIONAL_LIST, struct ck_policy_guard, profiles, profiles_count,
                               &profile_entry, 0, CK_POLICY_MAX_PROFILES),
    CYAML_FIELD_END,
};

/* The other form of the key is the word 'environment'. */
const cyaml_schema_field_t ck_schema_upstream_fields[] = {
    CYAML_FIELD_STRING_PTR("url", CYAML_FLAG_DEFAULT, struct ck_policy_upstream, url, 1, TEXT_MAX),
    CYAML_FIELD_STRING_PTR("credentials_file", OPTIONAL, struct ck_policy_upstream, credentials_file, 1, TEXT_MAX),
    CYAML_FIELD_END,
};

/* Which keys need each other is in check_top. */
static const cyaml_schema_field_t policy_fields[] = {
    CYAML_FIELD_UINT("version", CYAML_FLAG_DEFAULT, struct ck_policy, version),
    CYAML_FIELD_STRING_PTR("adr_dir", OPTIONAL, struct ck_policy, adr_dir, 1, TEXT_MAX),
    LIST_FIELD("search_path", struct ck_policy, search_path, 1, LIST_MAX),
    CHOICE_FIELD("locked", struct ck_policy, locked, booleans),
    LIST_FIELD("roots", struct ck_policy, roots, 1, LIST_MAX),
    CYAML_FIELD_IGNORE("upstream", OPTIONAL), /* has two forms: checked here, and filled by load.c */
    CYAML_FIELD_MAPPING_PTR("guard", OPTIONAL, struct ck_policy, guard, guard_fields),
    CHOICE_FIELD("extends", struct ck_policy, extends, extended),
    LIST_FIELD("catalog", struct ck_policy, catalog, 1, CK_POLICY_MAX_CATALOG),
    LIST_FIELD("remove", struct ck_policy, remove, 0, LIST_MAX),
    CYAML_FIELD_SEQUENCE_COUNT("grant", OPTIONAL_LIST, struct ck_policy, grants, grants_count, &grant_entry, 0,
                               CK_POLICY_MAX_GRANTS),
    CYAML_FIELD_SEQUENCE_COUNT("tools", OPTIONAL_LIST, struct ck_policy, tools, tools_count, &tool_entry, 0,
                               CK_POLICY_MAX_TOOLS),
    CYAML_FIELD_END,
};

/* The root, for libcyaml and for ck_schema_check. */
const cyaml_schema_value_t ck_policy_schema = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_POINTER, struct ck_policy, policy_fields)};

/* ---- the tree against the table ---------------------------------------------------------- */

/* What is being checked: "'route' in tool 'rg'". */
struct subject {
    const struct ck_yaml_tree *tree;
    struct choke_error *error;
    const char *key;   /* NULL at the top */
    const char *where; /* " in tool 'rg'", "" at the top */
};

static int check_value(const struct subject *subject, const cyaml_schema_value_t *schema,
                       const struct ck_yaml_node *node);

static const char *kind_name(enum ck_yaml_node_kind kind)
{
    return kind == CK_YAML_MAPPING ? "a mapping" : kind == CK_YAML_SEQUENCE ? "a list" : "a single value";
}

/* wanted is "a list" and the like. At the top there is no key to name. */
static int refuse_kind(const struct subject *subject, const struct ck_yaml_node *node, const char *wanted)
{
    if (!subject->key)
        return ck_yaml_tree_error(subject->tree, node, subject->error, "a policy must be %s, not %s", wanted,
                                  kind_name(node->kind));
    return ck_yaml_tree_error(subject->tree, node, subject->error, "'%s'%s must be %s, not %s", subject->key,
                              subject->where, wanted, kind_name(node->kind));
}

/* The words of a choice or the keys of a mapping, as "a, b, c". */
static const char *join(char *buffer, size_t size, const char *const *first, size_t stride, size_t count)
{
    size_t at = 0;
    buffer[0] = '\0';
    for (size_t i = 0; i < count && at < size; i++) {
        const char *word = *(const char *const *)((const char *)first + i * stride);
        at += (size_t)snprintf(buffer + at, size - at, "%s%s", i == 0 ? "" : ", ", word);
    }
    return buffer;
}

/* In YAML a quoted "true" is text and not a boolean, so it is refused. */
static int check_choice(const struct subject *subject, const cyaml_schema_value_t *schema,
                        const struct ck_yaml_node *node)
{
    const cyaml_strval_t *choices = schema->enumeration.strings;
    if (node->kind != CK_YAML_SCALAR)
        return refuse_kind(subject, node, "a word");
    /* Only these two tables have words that YAML itself knows as booleans. */
    bool quoted_truth = (choices == booleans || choices == bundles) && !node->plain;
    for (uint32_t i = 0; i < schema->enumeration.count && !quoted_truth; i++)
        if (strcmp(choices[i].str, node->text) == 0)
            return 0;
    char list[LABEL_MAX];
    return ck_yaml_tree_error(subject->tree, node, subject->error, "'%s'%s is '%s'; it must be one of: %s%s",
                              subject->key, subject->where, CK_QUOTE(node->text),
                              join(list, sizeof(list), &choices[0].str, sizeof(choices[0]), schema->enumeration.count),
                              quoted_truth ? " (without quotes)" : "");
}

/*
 * A leading zero is refused, except in 0 itself. data_size is the size of the member, so most is
 * what fits into it.
 */
static int check_number(const struct subject *subject, const cyaml_schema_value_t *schema,
                        const struct ck_yaml_node *node)
{
    if (node->kind != CK_YAML_SCALAR)
        return refuse_kind(subject, node, "a number");
    const char *text = node->text;
    size_t digits = strspn(text, "0123456789");
    bool decimal = node->plain && digits > 0 && text[digits] == '\0' && (text[0] != '0' || digits == 1);
    uint64_t most = UINT64_MAX >> (64 - 8 * schema->data_size);
    uint64_t value = 0;
    bool fits = true;
    for (size_t i = 0; decimal && fits && i < digits; i++)
        fits = !__builtin_mul_overflow(value, 10U, &value) &&
               !__builtin_add_overflow(value, (uint64_t)(text[i] - '0'), &value);
    if (decimal && fits && value <= most)
        return 0;
    return ck_yaml_tree_error(subject->tree, node, subject->error,
                              "'%s'%s is '%s'; it must be a whole number in plain decimal digits, at most %llu",
                              subject->key, subject->where, CK_QUOTE(text), (unsigned long long)most);
}

/* In bytes, as libcyaml counts. Quotes do not matter: 'name: 1' is text here. */
static int check_string(const struct subject *subject, const cyaml_schema_value_t *schema,
                        const struct ck_yaml_node *node)
{
    if (node->kind != CK_YAML_SCALAR)
        return refuse_kind(subject, node, "text");
    size_t length = strlen(node->text);
    if (length < schema->string.min)
        return ck_yaml_tree_error(subject->tree, node, subject->error, "'%s'%s must not be empty", subject->key,
                                  subject->where);
    if (length > schema->string.max)
        return ck_yaml_tree_error(subject->tree, node, subject->error, "'%s'%s has %zu bytes; at most %u are allowed",
                                  subject->key, subject->where, length, schema->string.max);
    return 0;
}

/*
 * "tool 'rg'", or "tool number 3". The tree is not checked yet when this is called: the name may be
 * missing, or not be text.
 */
static const char *entry_label(const char *noun, const struct ck_yaml_node *node, uint32_t index, char *buffer,
                               size_t size)
{
    const struct ck_yaml_node *name = node->kind == CK_YAML_MAPPING ? ck_yaml_node_value(node, "name") : NULL;
    if (name && name->kind == CK_YAML_SCALAR)
        (void)snprintf(buffer, size, "%s '%s'", noun, ck_quote((char[80]){0}, 80, name->text, strlen(name->text)));
    else
        (void)snprintf(buffer, size, "%s number %u", noun, index + 1);
    return buffer;
}

const char *ck_schema_tool_label(const struct ck_yaml_node *tool, uint32_t index, char *buffer, size_t size)
{
    return entry_label("tool", tool, index, buffer, size);
}

/* Tools, subcommands, grants and profiles are named in messages; for entries of other lists the list is. */
static int check_entry(const struct subject *subject, const cyaml_schema_value_t *schema,
                       const struct ck_yaml_node *node, uint32_t index)
{
    const char *noun = schema == &tool_entry         ? "tool"
                       : schema == &subcommand_entry ? "subcommand"
                       : schema == &grant_entry      ? "grant"
                       : schema == &profile_entry    ? "profile"
                                                     : NULL;
    if (!noun)
        return check_value(subject, schema, node);
    char label[LABEL_MAX];
    char where[3 * LABEL_MAX];
    (void)entry_label(noun, node, index, label, sizeof(label));
    (void)snprintf(where, sizeof(where), " in %s%s", label, subject->where);
    /* From here on messages name the entry, not the list that it is in. */
    struct subject entry = {subject->tree, subject->error, subject->key, where};
    if (node->kind != CK_YAML_MAPPING)
        return ck_yaml_tree_error(subject->tree, node, subject->error, "%s%s must be a mapping, not %s", label,
                                  subject->where, kind_name(node->kind));
    return check_value(&entry, schema, node);
}

static int check_sequence(const struct subject *subject, const cyaml_schema_value_t *schema,
                          const struct ck_yaml_node *node)
{
    if (node->kind != CK_YAML_SEQUENCE)
        return refuse_kind(subject, node, "a list");
    /* A list of words from a table, of which each is one bit: platforms. */
    bool flags = schema->type == CYAML_FLAGS;
    /* An empty list of platforms would mean none, but 0 bits mean all. */
    uint32_t min = flags ? 1 : schema->sequence.min;
    uint32_t max = flags ? schema->enumeration.count : schema->sequence.max;
    if (node->count < min)
        return ck_yaml_tree_error(subject->tree, node, subject->error, "'%s'%s must not be an empty list", subject->key,
                                  subject->where);
    if (node->count > max)
        return ck_yaml_tree_error(subject->tree, node, subject->error, "'%s'%s has %u entries; at most %u are allowed",
                                  subject->key, subject->where, node->count, max);
    const struct ck_yaml_node *entry = node + 1;
    int r = 0;
    for (uint32_t i = 0; ck_yaml_tree_continues(subject->tree, r) && i < node->count; i++, entry += entry->span)
        r = ck_yaml_tree_both(r, flags ? check_choice(subject, schema, entry)
                                       : check_entry(subject, schema->sequence.entry, entry, i));
    return r;
}

/* The table ends with an entry without a key. */
static const cyaml_schema_field_t *find_field(const cyaml_schema_field_t *fields, const char *key)
{
    for (; fields->key; fields++)
        if (strcmp(fields->key, key) == 0)
            return fields;
    return NULL;
}

static int refuse_key(const struct subject *subject, const cyaml_schema_field_t *fields, const struct ck_yaml_node *key)
{
    size_t count = 0;
    while (fields[count].key)
        count++;
    char list[LABEL_MAX * 4];
    return ck_yaml_tree_error(subject->tree, key, subject->error, "unknown key '%s'%s; known keys are: %s",
                              CK_QUOTE(key->text), subject->where,
                              join(list, sizeof(list), &fields[0].key, sizeof(fields[0]), count));
}

static int check_keys(const struct subject *subject, const cyaml_schema_field_t *fields,
                      const struct ck_yaml_node *mapping)
{
    const struct ck_yaml_node *key = mapping + 1;
    int r = 0;
    for (uint32_t i = 0; ck_yaml_tree_continues(subject->tree, r) && i < mapping->count; i++) {
        const struct ck_yaml_node *value = key + key->span;
        const cyaml_schema_field_t *field = find_field(fields, key->text);
        struct subject inner = {subject->tree, subject->error, field ? field->key : NULL, subject->where};
        r = ck_yaml_tree_both(r, field ? check_value(&inner, &field->value, value) : refuse_key(subject, fields, key));
        key = value + value->span;
    }
    return r;
}

static int check_mapping(const struct subject *subject, const cyaml_schema_value_t *schema,
                         const struct ck_yaml_node *node)
{
    if (node->kind != CK_YAML_MAPPING)
        return refuse_kind(subject, node, "a mapping");
    const cyaml_schema_field_t *fields = schema->mapping.fields;
    char where[4 * LABEL_MAX];
    struct subject inner = *subject;
    /* These entries are already named in where, and the top has no name. */
    if (fields != policy_fields && fields != tool_fields && fields != subcommand_fields && fields != grant_fields &&
        fields != profile_fields) {
        (void)snprintf(where, sizeof(where), " in '%s'%s", subject->key, subject->where);
        inner.where = where;
    }
    int r = check_keys(&inner, fields, node);
    /* After an unknown key the missing ones are not reported: one is often the other, misspelled. */
    bool faulty = r < 0;
    for (; !faulty && ck_yaml_tree_continues(subject->tree, r) && fields->key; fields++)
        if ((fields->value.flags & CYAML_FLAG_OPTIONAL) == 0 && !ck_yaml_node_value(node, fields->key))
            r = ck_yaml_tree_error(subject->tree, node, subject->error, "key '%s' is missing%s", fields->key,
                                   inner.where);
    return r;
}

/* A list of whole argument vectors. An empty vector is allowed: the tool without any argument. */
static int check_vectors(const struct subject *subject, const struct ck_yaml_node *node)
{
    static const cyaml_schema_value_t vector = {
        CYAML_VALUE_SEQUENCE(CYAML_FLAG_POINTER, char *, &text_entry, 0, LIST_MAX)};
    if (node->kind != CK_YAML_SEQUENCE || node->count == 0)
        return refuse_kind(subject, node, "a list of lists, as in [[--version]]");
    if (node->count > LIST_MAX)
        return ck_yaml_tree_error(subject->tree, node, subject->error, "'%s'%s has %u entries; at most %u are allowed",
                                  subject->key, subject->where, node->count, LIST_MAX);
    const struct ck_yaml_node *entry = node + 1;
    int r = 0;
    for (uint32_t i = 0; r == 0 && i < node->count; i++, entry += entry->span)
        r = entry->kind == CK_YAML_SEQUENCE ? check_sequence(subject, &vector, entry)
                                            : refuse_kind(subject, entry, "a list of lists, as in [[--version]]");
    return r;
}

/* A word, or a mapping. */
static int check_upstream(const struct subject *subject, const struct ck_yaml_node *node)
{
    static const cyaml_schema_value_t mapping = {
        CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct ck_policy_upstream, ck_schema_upstream_fields)};
    if (node->kind == CK_YAML_MAPPING)
        return check_mapping(subject, &mapping, node);
    if (node->kind != CK_YAML_SCALAR)
        return refuse_kind(subject, node, "'environment' or a mapping with 'url'");
    if (strcmp(node->text, CK_POLICY_ENVIRONMENT) == 0)
        return 0;
    return ck_yaml_tree_error(subject->tree, node, subject->error,
                              "'%s'%s is not 'environment'; to name a proxy, write {url: http://HOST:PORT}",
                              subject->key, subject->where);
}

static int check_value(const struct subject *subject, const cyaml_schema_value_t *schema,
                       const struct ck_yaml_node *node)
{
    switch (schema->type) {
    /* A type that is not listed is a string: the tables have no others. */
    case CYAML_MAPPING:
        return check_mapping(subject, schema, node);
    case CYAML_SEQUENCE:
    case CYAML_FLAGS:
        return check_sequence(subject, schema, node);
    case CYAML_ENUM:
        return check_choice(subject, schema, node);
    case CYAML_UINT:
        return check_number(subject, schema, node);
    /* libcyaml ignores exact and upstream. */
    case CYAML_IGNORE:
        return strcmp(subject->key, "exact") == 0 ? check_vectors(subject, node) : check_upstream(subject, node);
    default:
        return check_string(subject, schema, node);
    }
}

/* What extends and catalog make optional, and what has no meaning without one of them. */
static int check_top(const struct ck_yaml_tree *tree, struct choke_error *error)
{
    static const char *const dependent[] = {"remove", "grant"};
    const struct ck_yaml_node *root = &tree->nodes[0];
    bool catalog = !!ck_yaml_node_value(root, "catalog");
    if (ck_yaml_node_value(root, "extends"))
        return 0;
    if (!ck_yaml_node_value(root, "search_path"))
        return ck_yaml_tree_error(tree, root, error, "key 'search_path' is missing");
    if (!catalog && !ck_yaml_node_value(root, "tools"))
        return ck_yaml_tree_error(tree, root, error, "key 'tools' is missing");
    for (size_t i = 0; !catalog && i < sizeof(dependent) / sizeof(dependent[0]); i++)
        if (ck_yaml_node_value(root, dependent[i]))
            return ck_yaml_tree_error(tree, ck_yaml_node_value(root, dependent[i]), error,
                                      "'%s' needs 'extends: default' or 'catalog'", dependent[i]);
    return 0;
}

int ck_schema_check(const struct ck_yaml_tree *tree, struct choke_error *error)
{
    struct subject top = {.tree = tree, .error = error, .where = ""};
    int r = check_value(&top, &ck_policy_schema, &tree->nodes[0]);
    return r < 0 ? r : check_top(tree, error);
}

/* ---- keys whose absence is not the same as an empty value --------------------------------- */

/* Whatever a subcommand has is in place of the tool's, so there every key counts, also an empty one. */
bool ck_schema_is_given(const cyaml_schema_field_t *fields, const char *key, const void *data)
{
    const struct ck_tool *tool = data;
    /* A policy that extends nothing must have it. */
    if (fields == policy_fields)
        return strcmp(key, "tools") == 0;
    if (fields == subcommand_fields)
        return ck_policy_subcommand_has(data, key);
    if (fields != tool_fields)
        return false;
    return (tool->has_execs && strcmp(key, "execs") == 0) || (tool->has_workspace && strcmp(key, "workspace") == 0);
}
