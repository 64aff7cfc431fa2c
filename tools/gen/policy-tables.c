/*
 * policy-tables.c - policy-tables FILE > tables.c: writes a loaded policy as C tables.
 *
 * It runs when the library is built. So the real loader checks the embedded policy then, and loading
 * it costs nothing at run time. A unit test compares the tables with what the loader makes of the
 * embedded text.
 */
#include "policy/load.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What `extends` means to the loader. This program makes it, so here it is empty. */
const struct ck_policy ck_policy_default;

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

static unsigned write_variables(const struct ck_tool *tool)
{
    (void)printf("static struct ck_variable a%u[] = {", ++numbered);
    for (uint32_t i = 0; i < tool->set_env_count; i++) {
        (void)printf("{");
        put_text(tool->set_env[i].name);
        (void)printf(", ");
        put_text(tool->set_env[i].value);
        (void)printf("}, ");
    }
    (void)printf("{NULL, NULL}};\n");
    return numbered;
}

static struct keys_arrays write_keys(const struct ck_tool *tool)
{
    return (struct keys_arrays){write_list(&tool->env), write_list(&tool->execs), write_list(&tool->uses),
                                write_list(&tool->egress), write_variables(tool)};
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
    (void)printf(".has_execs = %d, .workspace = %d, .has_workspace = %d, .workspace_code = %d, .loopback = %d, ",
                 tool->has_execs, (int)tool->workspace, tool->has_workspace, tool->workspace_code, tool->loopback);
}

/* ---- rules ------------------------------------------------------------------------------- */

struct rules_arrays {
    unsigned options, inject, require, deny, first_unless, table;
};

static struct rules_arrays write_rules(const struct ck_rules *rules)
{
    struct rules_arrays arrays = {0};
    arrays.options = write_list(&rules->options);
    arrays.inject = write_list(&rules->inject);
    arrays.require = write_list(&rules->require);
    arrays.deny = write_list(&rules->deny);
    arrays.first_unless = write_list(&rules->first_unless);
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

/* ---- tools ------------------------------------------------------------------------------- */

struct tool_arrays {
    unsigned version_args, reads, args;
    struct keys_arrays keys;
};

static void put_member(const char *key, const char *text)
{
    (void)printf(".%s = ", key);
    put_text(text);
    (void)printf(", ");
}

static void put_tool(const struct ck_tool *tool, const struct tool_arrays *arrays)
{
    (void)printf("{");
    put_member("name", tool->name);
    put_member("why", tool->why);
    put_member("adr", tool->adr);
    put_member("path", tool->path);
    put_member("sha256", tool->sha256);
    put_member("install.apt", tool->install.apt);
    put_member("install.brew", tool->install.brew);
    put_member("install.npm", tool->install.npm);
    put_member("install.url", tool->install.url);
    put_list("version_args", arrays->version_args, &tool->version_args);
    put_keys(tool, &arrays->keys);
    put_list("reads", arrays->reads, &tool->reads);
    if (arrays->args != 0)
        (void)printf(".args = a%u, ", arrays->args);
    (void)printf(".route = %d, .required = %d, .platforms = %u, .allow_credentials = %d, .root_at = %d, .line = %u},\n",
                 (int)tool->route, tool->required, tool->platforms, tool->allow_credentials, (int)tool->root_at,
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

static void write_policy(const struct ck_policy *policy)
{
    (void)printf("/* Generated at build time by tools/gen/policy-tables.c. */\n#include \"policy/load.h\"\n");
    unsigned search_path = write_list(&policy->search_path);
    unsigned roots = write_list(&policy->roots);
    write_tools(policy);
    (void)printf("const struct ck_policy ck_policy_default = {");
    put_member("file", policy->file);
    put_member("adr_dir", policy->adr_dir);
    put_list("search_path", search_path, &policy->search_path);
    put_list("roots", roots, &policy->roots);
    (void)printf(".locked = %d, .version = %u, .tools = tools, .tools_count = %u, .by_name = by_name};\n",
                 policy->locked, policy->version, policy->tools_count);
}

int main(int argc, char **argv)
{
    static char text[CK_POLICY_MAX_BYTES];
    struct ck_policy *policy;
    struct choke_error error = {0};
    FILE *in = argc == 2 ? fopen(argv[1], "rb") : NULL;
    if (!in) {
        (void)fprintf(stderr, "usage: policy-tables FILE\n");
        return 1;
    }
    size_t length = fread(text, 1, sizeof(text), in);
    (void)fclose(in);
    if (ck_policy_parse(CK_POLICY_DEFAULT_NAME, text, length, &policy, &error) < 0) {
        (void)fprintf(stderr, "%s: %s\n", argv[1], error.message);
        return 1;
    }
    write_policy(policy);
    ck_policy_free(policy);
    return fflush(stdout) == 0 && !ferror(stdout) ? 0 : 1;
}
