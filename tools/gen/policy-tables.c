/*
 * policy-tables.c - writes loaded policies as C tables. table-image.py makes images of them.
 *
 *   policy-tables default FILE > tables.c      the default policy
 *   policy-tables catalog FILE... > tables.c   the catalogue, one file for each family, and the profiles
 *
 * It runs when the library is built. So the real loader checks what is embedded then, and loading
 * it costs nothing at run time. A unit test compares the tables of the default policy with what the
 * loader makes of the embedded text.
 */
#include "policy/catalog.h"
#include "policy/load.h"
#include "policy/schema.h"
#include "policy/tables.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What `extends` and `catalog` mean to the loader. This program makes them, so here they are empty. */
static const struct ck_policy empty;

const struct ck_policy *ck_policy_default(struct ck_arena *arena)
{
    (void)arena;
    return &empty;
}

const struct ck_policy *ck_policy_catalog(struct ck_arena *arena)
{
    (void)arena;
    return &empty;
}

bool ck_tables_has(const struct ck_policy *tables, const char *name)
{
    (void)tables;
    (void)name;
    return false;
}

static unsigned numbered; /* arrays written so far; each is named by its number */

/* ---- pieces ------------------------------------------------------------------------------ */

static void put_text(const char *text)
{
    if (!text) {
        (void)printf("NULL");
        return;
    }
    (void)putchar('"');
    for (const unsigned char *at = (const unsigned char *)text; *at != '\0'; at++) {
        bool plain = *at >= 0x20 && *at < 0x7f && *at != '"' && *at != '\\' && *at != '?';
        (void)printf(plain ? "%c" : "\\%03o", *at);
    }
    (void)putchar('"');
}

static unsigned write_list(const struct ck_list *list)
{
    (void)printf("static const char *a%u[] = {", ++numbered);
    for (uint32_t i = 0; i < list->count; i++) {
        put_text(list->items[i]);
        (void)printf(", ");
    }
    (void)printf("NULL};\n");
    return numbered;
}

static void put_list(const char *key, unsigned array, const struct ck_list *list)
{
    (void)printf(".%s = {a%u, %u}, ", key, array, list->count);
}

static void put_member(const char *key, const char *text)
{
    (void)printf(".%s = ", key);
    put_text(text);
    (void)printf(", ");
}

static unsigned write_patterns(const struct ck_arg_option *option)
{
    (void)printf("static struct ck_pattern a%u[] = {", ++numbered);
    for (uint32_t i = 0; i < option->patterns_count; i++) {
        (void)printf("{");
        put_text(option->patterns[i].text);
        (void)printf(", %d}, ", (int)option->patterns[i].type);
    }
    (void)printf("{NULL, 0}};\n");
    return numbered;
}

static unsigned write_table(const struct ck_rules *rules)
{
    unsigned *patterns = calloc(rules->table_count + 1u, sizeof(*patterns));
    if (!patterns)
        exit(1);
    for (uint32_t i = 0; i < rules->table_count; i++)
        patterns[i] = rules->table[i].patterns_count > 0 ? write_patterns(&rules->table[i]) : 0;
    (void)printf("static struct ck_arg_option a%u[] = {\n", ++numbered);
    for (uint32_t i = 0; i < rules->table_count; i++) {
        const struct ck_arg_option *option = &rules->table[i];
        (void)printf("{");
        put_text(option->text);
        (void)printf(", ");
        put_text(option->name);
        (void)printf(", %u, %d, ", option->name_length, (int)option->form);
        (void)printf(patterns[i] != 0 ? "a%u" : "NULL", patterns[i]);
        (void)printf(", %u},\n", option->patterns_count);
    }
    (void)printf("{.text = NULL}};\n");
    free(patterns);
    return numbered;
}

/* ---- the keys that a tool and a subcommand share ----------------------------------------- */

struct keys_arrays {
    unsigned env, execs, uses, egress, set_env;
};

static unsigned write_variables(const struct ck_variable *variables, uint32_t count)
{
    (void)printf("static struct ck_variable a%u[] = {", ++numbered);
    for (uint32_t i = 0; i < count; i++) {
        (void)printf("{");
        put_text(variables[i].name);
        (void)printf(", ");
        put_text(variables[i].value);
        (void)printf(", %d}, ", variables[i].offline);
    }
    (void)printf("{NULL, NULL, 0}};\n");
    return numbered;
}

static struct keys_arrays write_keys(const struct ck_tool *tool)
{
    return (struct keys_arrays){write_list(&tool->env), write_list(&tool->execs), write_list(&tool->uses),
                                write_list(&tool->egress), write_variables(tool->set_env, tool->set_env_count)};
}

static void put_keys(const struct ck_tool *tool, const struct keys_arrays *arrays)
{
    put_list("env", arrays->env, &tool->env);
    put_list("execs", arrays->execs, &tool->execs);
    put_list("uses", arrays->uses, &tool->uses);
    put_list("egress", arrays->egress, &tool->egress);
    (void)printf(".set_env = a%u, .set_env_count = %u, ", arrays->set_env, tool->set_env_count);
    for (size_t i = 0; i < CK_LIMIT_KEYS; i++)
        (void)printf(".limits.%s = %u, ", ck_limit_keys[i].key, ck_policy_limit(&tool->limits, &ck_limit_keys[i]));
    (void)printf(".has_execs = %d, .workspace = %d, .has_workspace = %d, .workspace_code = %d, .loopback = %d, "
                 ".require_jail = %d, ",
                 tool->has_execs, (int)tool->workspace, tool->has_workspace, tool->workspace_code, tool->loopback,
                 tool->require_jail);
}

/* ---- rules ------------------------------------------------------------------------------- */

struct rules_arrays {
    unsigned options, inject, require, deny, first_unless, schemes, table;
};

static struct rules_arrays write_rules(const struct ck_rules *rules)
{
    struct rules_arrays arrays = {0};
    arrays.options = write_list(&rules->options);
    arrays.inject = write_list(&rules->inject);
    arrays.require = write_list(&rules->require);
    arrays.deny = write_list(&rules->deny);
    arrays.first_unless = write_list(&rules->first_unless);
    arrays.schemes = write_list(&rules->schemes);
    arrays.table = write_table(rules);
    return arrays;
}

static void put_rules(const struct ck_rules *rules, const struct rules_arrays *arrays)
{
    (void)printf(".rules = {");
    put_list("options", arrays->options, &rules->options);
    put_list("inject", arrays->inject, &rules->inject);
    put_list("require", arrays->require, &rules->require);
    put_list("deny", arrays->deny, &rules->deny);
    put_list("first_unless", arrays->first_unless, &rules->first_unless);
    put_list("schemes", arrays->schemes, &rules->schemes);
    (void)printf(
        ".operands = %d, .first = %d, .has_first = %d, .options_first = %d, .table = a%u, .table_count = %u}, ",
        (int)rules->operands, (int)rules->first, rules->has_first, rules->options_first, arrays->table,
        rules->table_count);
}

static unsigned write_sets(const struct ck_args *args)
{
    unsigned *lists = calloc(args->sets_count + 1u, sizeof(*lists));
    if (!lists)
        exit(1);
    for (uint32_t i = 0; i < args->sets_count; i++)
        lists[i] = write_list(&args->sets[i].options);
    (void)printf("static struct ck_option_set a%u[] = {", ++numbered);
    for (uint32_t i = 0; i < args->sets_count; i++) {
        (void)printf("{.name = ");
        put_text(args->sets[i].name);
        (void)printf(", ");
        put_list("options", lists[i], &args->sets[i].options);
        (void)printf("}, ");
    }
    (void)printf("{.name = NULL}};\n");
    free(lists);
    return numbered;
}

static unsigned write_subcommands(const struct ck_args *args)
{
    struct rules_arrays *arrays = calloc(args->subcommands_count + 1u, sizeof(*arrays));
    struct keys_arrays *keys = calloc(args->subcommands_count + 1u, sizeof(*keys));
    if (!arrays || !keys)
        exit(1);
    for (uint32_t i = 0; i < args->subcommands_count; i++) {
        arrays[i] = write_rules(&args->subcommands[i].rules);
        if (args->subcommands[i].given != 0)
            keys[i] = write_keys(&args->subcommands[i].own);
    }
    (void)printf("static struct ck_subcommand a%u[] = {\n", ++numbered);
    for (uint32_t i = 0; i < args->subcommands_count; i++) {
        (void)printf("{.name = ");
        put_text(args->subcommands[i].name);
        (void)printf(", .line = %u, .given = %u, ", args->subcommands[i].line, args->subcommands[i].given);
        if (args->subcommands[i].given != 0) {
            (void)printf(".own = {");
            put_keys(&args->subcommands[i].own, &keys[i]);
            (void)printf("}, ");
        }
        put_rules(&args->subcommands[i].rules, &arrays[i]);
        (void)printf("},\n");
    }
    (void)printf("{.name = NULL}};\n");
    free(arrays);
    free(keys);
    return numbered;
}

static unsigned write_exact(const struct ck_args *args)
{
    unsigned *lists = calloc(args->exact_count + 1u, sizeof(*lists));
    if (!lists)
        exit(1);
    for (uint32_t i = 0; i < args->exact_count; i++)
        lists[i] = write_list(&args->exact[i]);
    (void)printf("static struct ck_list a%u[] = {", ++numbered);
    for (uint32_t i = 0; i < args->exact_count; i++)
        (void)printf("{a%u, %u}, ", lists[i], args->exact[i].count);
    (void)printf("{NULL, 0}};\n");
    free(lists);
    return numbered;
}

/* The number of the array, 0 if there are none. */
static unsigned write_args(const struct ck_args *args)
{
    if (!args)
        return 0;
    struct rules_arrays arrays = write_rules(&args->rules);
    unsigned sets = write_sets(args);
    unsigned subcommands = write_subcommands(args);
    unsigned exact = write_exact(args);
    (void)printf("static struct ck_args a%u[] = {{", ++numbered);
    put_rules(&args->rules, &arrays);
    (void)printf(".sets = a%u, .sets_count = %u, .subcommands = a%u, .subcommands_count = %u, .exact = a%u, "
                 ".exact_count = %u, .no_bundles = %d, .command = %d, .only_exact = %d, .line = %u}};\n",
                 sets, args->sets_count, subcommands, args->subcommands_count, exact, args->exact_count,
                 args->no_bundles, args->command, args->only_exact, args->line);
    return numbered;
}

/* ---- guard ------------------------------------------------------------------------------- */

#define PROFILE_LISTS 10

static const struct {
    const char *key;
    size_t offset;
} profile_lists[PROFILE_LISTS] = {
    {"programs", offsetof(struct ck_profile, programs)},
    {"carriers", offsetof(struct ck_profile, carriers)},
    {"catalog", offsetof(struct ck_profile, catalog)},
    {"inject", offsetof(struct ck_profile, inject)},
    {"state", offsetof(struct ck_profile, state)},
    {"egress", offsetof(struct ck_profile, egress)},
    {"env", offsetof(struct ck_profile, env)},
    {"state_data", offsetof(struct ck_profile, state_data)},
    {"read_only", offsetof(struct ck_profile, read_only)},
    {"may_refuse", offsetof(struct ck_profile, may_refuse)},
};

struct profile_arrays {
    unsigned lists[PROFILE_LISTS], set_env;
};

static const struct ck_list *profile_list(const struct ck_profile *profile, size_t index)
{
    return (const struct ck_list *)(const void *)((const char *)profile + profile_lists[index].offset);
}

static struct profile_arrays write_profile(const struct ck_profile *profile)
{
    struct profile_arrays arrays = {.set_env = write_variables(profile->set_env, profile->set_env_count)};
    for (size_t i = 0; i < PROFILE_LISTS; i++)
        arrays.lists[i] = write_list(profile_list(profile, i));
    return arrays;
}

static void put_profile(const struct ck_profile *profile, const struct profile_arrays *arrays)
{
    (void)printf("{");
    put_member("name", profile->name);
    put_member("why", profile->why);
    put_member("adr", profile->adr);
    for (size_t i = 0; i < PROFILE_LISTS; i++)
        put_list(profile_lists[i].key, arrays->lists[i], profile_list(profile, i));
    (void)printf(".set_env = a%u, .set_env_count = %u, .workspace = %d, .workspace_code = %d, .jit = %d, "
                 ".shipped = %d, .line = %u}",
                 arrays->set_env, profile->set_env_count, (int)profile->workspace, profile->workspace_code,
                 profile->jit, profile->shipped, profile->line);
}

/* 0: the policy has no such section; else the number of its array, which has one element. */
static unsigned write_guard(const struct ck_policy_guard *guard)
{
    if (!guard)
        return 0;
    struct profile_arrays *arrays = calloc(guard->profiles_count + 1u, sizeof(*arrays));
    if (!arrays)
        exit(1);
    for (uint32_t i = 0; i < guard->profiles_count; i++)
        arrays[i] = write_profile(&guard->profiles[i]);
    (void)printf("static struct ck_profile a%u[] = {\n", ++numbered);
    unsigned profiles = numbered;
    for (uint32_t i = 0; i < guard->profiles_count; i++) {
        put_profile(&guard->profiles[i], &arrays[i]);
        (void)printf(",\n");
    }
    (void)printf("{.name = NULL}};\n");
    free(arrays);
    const struct profile_arrays own = write_profile(&guard->own);
    unsigned shipped = write_list(&guard->shipped);
    (void)printf("static struct ck_policy_guard a%u[] = {{.own = ", ++numbered);
    put_profile(&guard->own, &own);
    (void)printf(", ");
    put_list("shipped", shipped, &guard->shipped);
    (void)printf(".profiles = a%u, .profiles_count = %u}};\n", profiles, guard->profiles_count);
    return numbered;
}

/* ---- tools ------------------------------------------------------------------------------- */

struct tool_arrays {
    unsigned version_args, reads, args;
    struct keys_arrays keys;
};

static void put_tool(const struct ck_tool *tool, const struct tool_arrays *arrays)
{
    (void)printf("{");
    put_member("name", tool->name);
    put_member("why", tool->why);
    put_member("adr", tool->adr);
    put_member("path", tool->path);
    put_member("sha256", tool->sha256);
    put_member("catalog_file", tool->catalog_file);
    put_member("adds_to", tool->adds_to);
    put_member("install.apt", tool->install.apt);
    put_member("install.brew", tool->install.brew);
    put_member("install.npm", tool->install.npm);
    put_member("install.url", tool->install.url);
    put_list("version_args", arrays->version_args, &tool->version_args);
    put_keys(tool, &arrays->keys);
    put_list("reads", arrays->reads, &tool->reads);
    if (arrays->args != 0)
        (void)printf(".args = a%u, ", arrays->args);
    (void)printf(
        ".route = %d, .required = %d, .platforms = %u, .allow_credentials = %d, .root_at = %d, .embedded = %d, "
        ".line = %u},\n",
        (int)tool->route, tool->required, tool->platforms, tool->allow_credentials, (int)tool->root_at, tool->embedded,
        tool->line);
}

static void write_tools(const struct ck_policy *policy)
{
    struct tool_arrays *arrays = calloc(policy->tools_count + 1u, sizeof(*arrays));
    if (!arrays)
        exit(1);
    for (uint32_t i = 0; i < policy->tools_count; i++) {
        const struct ck_tool *tool = &policy->tools[i];
        arrays[i] = (struct tool_arrays){.version_args = write_list(&tool->version_args),
                                         .reads = write_list(&tool->reads),
                                         .args = write_args(tool->args),
                                         .keys = write_keys(tool)};
    }
    (void)printf("static struct ck_tool tools[] = {\n");
    for (uint32_t i = 0; i < policy->tools_count; i++)
        put_tool(&policy->tools[i], &arrays[i]);
    (void)printf("};\nstatic const struct ck_tool *by_name[] = {");
    for (uint32_t i = 0; i < policy->tools_count; i++)
        (void)printf("&tools[%td], ", policy->by_name[i] - policy->tools);
    (void)printf("};\n");
    free(arrays);
}

static void write_policy(const struct ck_policy *policy, const char *symbol)
{
    (void)printf("/* Generated at build time by tools/gen/policy-tables.c. */\n#include \"policy/model.h\"\n");
    unsigned search_path = write_list(&policy->search_path);
    unsigned roots = write_list(&policy->roots);
    unsigned guard = write_guard(policy->guard);
    write_tools(policy);
    (void)printf("extern const struct ck_policy %s;\nconst struct ck_policy %s = {", symbol, symbol);
    put_member("file", policy->file);
    put_member("adr_dir", policy->adr_dir);
    put_list("search_path", search_path, &policy->search_path);
    put_list("roots", roots, &policy->roots);
    put_member("upstream.url", policy->upstream.url);
    put_member("upstream.credentials_file", policy->upstream.credentials_file);
    (void)printf(".upstream.environment = %d, ", policy->upstream.environment);
    if (guard != 0)
        (void)printf(".guard = a%u, ", guard);
    (void)printf(".locked = %d, .version = %u, .tools = tools, .tools_count = %u, .by_name = by_name};\n",
                 policy->locked, policy->version, policy->tools_count);
}

/* ---- files ------------------------------------------------------------------------------- */

static char text[CK_POLICY_MAX_BYTES];

static size_t read_file(const char *path)
{
    FILE *in = fopen(path, "rb");
    if (!in) {
        perror(path);
        exit(1);
    }
    size_t length = fread(text, 1, sizeof(text), in);
    (void)fclose(in);
    return length;
}

__attribute__((noreturn)) static void fail(const char *path, const char *message)
{
    (void)fprintf(stderr, "%s: %s\n", path, message);
    exit(1);
}

static struct ck_policy *parse(const char *path, const char *name, size_t length)
{
    const struct ck_policy_source source = {.file = name, .text = text, .length = length, .is_of_build = true};
    struct ck_policy *policy;
    struct choke_error error = {0};
    if (ck_policy_parse_source(&source, &policy, &error) < 0)
        fail(path, error.message);
    return policy;
}

/* ---- the catalogue ----------------------------------------------------------------------- */

/*
 * `adds_to: TOOL` is a key of a family alone, not of a policy. It is the last line of the file; it
 * is cut off, so that the loader reads the rest. The text, or NULL.
 */
static const char *take_adds_to(size_t *length)
{
    static const char key[] = "\nadds_to: ";
    text[*length] = '\0';
    char *at = strstr(text, key);
    if (!at)
        return NULL;
    char *value = at + sizeof(key) - 1;
    value[strcspn(value, "\n")] = '\0';
    *length = (size_t)(at + 1 - text);
    return strdup(value);
}

/* The keys that every policy has follow the text, so its lines keep their numbers. */
static size_t complete(size_t length)
{
    static const char rest[] = "version: 1\nsearch_path: [/usr/local/bin, /usr/bin, /bin]\n";
    text[length] = '\0';
    /* A file of profiles has no entries. */
    const char *tools = strstr(text, "\ntools:") ? "" : "tools: []\n";
    return length + (size_t)snprintf(text + length, sizeof(text) - length, "%s%s", rest, tools);
}

/* "catalog/text.yaml", as the file is installed: its name and that of its directory. */
static const char *installed_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    while (slash && slash > path && slash[-1] != '/')
        slash--;
    char *name = strdup(slash ? slash : path);
    if (!name)
        exit(1);
    return name;
}

/* A file has entries, or profiles. */
static void add_profiles(struct ck_policy *catalog, const struct ck_policy *file, const char *path)
{
    struct ck_policy_guard *guard = catalog->guard;
    if (file->tools_count > 0 || file->guard->profiles_count > CK_POLICY_MAX_PROFILES - guard->profiles_count)
        fail(path, "a file of profiles has entries of its own, or there are too many profiles");
    for (uint32_t i = 0; i < file->guard->profiles_count; i++) {
        const struct ck_profile *profile = &file->guard->profiles[i];
        for (uint32_t j = 0; j < guard->profiles_count; j++)
            if (strcmp(guard->profiles[j].name, profile->name) == 0)
                fail(path, "two files have this profile");
        guard->profiles[guard->profiles_count] = *profile;
        guard->profiles[guard->profiles_count++].shipped = true;
    }
}

static void add_family(struct ck_policy *catalog, const char *path)
{
    size_t length = read_file(path);
    if (length + 256 > sizeof(text))
        fail(path, "too long");
    const char *name = installed_name(path);
    const char *adds_to = take_adds_to(&length);
    const struct ck_policy *family = parse(path, name, complete(length));
    catalog->search_path = family->search_path;
    if (family->guard && adds_to)
        fail(path, "profiles add to no tool");
    if (family->guard) {
        add_profiles(catalog, family, path);
        return;
    }
    if (family->tools_count == 0 || family->tools_count > CK_POLICY_MAX_TOOLS - catalog->tools_count)
        fail(path, "no entries, or too many");
    for (uint32_t i = 0; i < family->tools_count; i++) {
        struct ck_tool *tool = &catalog->tools[catalog->tools_count++];
        *tool = family->tools[i];
        tool->embedded = true;
        tool->catalog_file = name;
        tool->adds_to = adds_to;
        if (adds_to && (!tool->args || tool->args->subcommands_count == 0))
            fail(path, "an entry that adds to a tool must have subcommands");
    }
}

static void write_catalog(char *const *paths)
{
    struct ck_policy catalog = {.file = CK_CATALOG_NAME, .version = 1};
    catalog.tools = ck_arena_array(&catalog.arena, CK_POLICY_MAX_TOOLS, sizeof(*catalog.tools));
    catalog.guard = ck_arena_array(&catalog.arena, 1, sizeof(*catalog.guard));
    struct ck_profile *profiles = ck_arena_array(&catalog.arena, CK_POLICY_MAX_PROFILES, sizeof(*profiles));
    if (!catalog.tools || !catalog.guard || !profiles)
        exit(1);
    catalog.guard->profiles = profiles;
    for (; *paths; paths++)
        add_family(&catalog, *paths);
    if (!ck_policy_index(&catalog, &catalog.arena))
        exit(1);
    for (uint32_t i = 1; i < catalog.tools_count; i++)
        if (strcmp(catalog.by_name[i - 1]->name, catalog.by_name[i]->name) == 0)
            fail(catalog.by_name[i]->name, "two families have this entry");
    write_policy(&catalog, "ck_policy_catalog");
}

int main(int argc, char **argv)
{
    if (argc >= 2 && strcmp(argv[1], "catalog") == 0) {
        write_catalog(argv + 2);
    } else if (argc == 3 && strcmp(argv[1], "default") == 0) {
        struct ck_policy *policy = parse(argv[2], CK_POLICY_DEFAULT_NAME, read_file(argv[2]));
        write_policy(policy, "ck_policy_default");
        ck_policy_free(policy);
    } else {
        (void)fprintf(stderr, "usage: policy-tables default FILE, or policy-tables catalog FILE...\n");
        return 1;
    }
    return fflush(stdout) == 0 && !ferror(stdout) ? 0 : 1;
}
