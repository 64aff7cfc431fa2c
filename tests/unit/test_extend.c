/* test_extend.c - a policy that extends the default one: what it becomes, and what is refused, where (R84). */
#include "base/arena.h"
#include "policy/describe.h"
#include "policy/extend.h"
#include "policy/judge.h"
#include "policy/load.h"
#include "policy/schema.h"
#include "policy/tables.h"
#include "policy/yaml_write.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "policy_parse.h"

/* The default policy of the build, copied once. */
static const struct ck_policy *embedded(void)
{
    static struct ck_arena arena;
    static const struct ck_policy *policy;
    if (!policy)
        policy = ck_policy_default(&arena);
    assert_non_null(policy);
    return policy;
}

/* Two lines; what follows begins on line 3. */
#define HEAD "version: 1\nextends: default\n"
#define GRANT HEAD "grant:\n  - "
#define RG "  - name: rg\n    why: w\n    adr: \"0001\"\n    route: direct\n"

/* ---- what is refused, and where ---------------------------------------------------------- */

struct refused {
    const char *name;
    const char *text;
    unsigned line;
    unsigned column;
    const char *expected_text;
};

static const struct refused refusals[] = {
    {"another_policy_is_refused", "version: 1\nextends: other\n", 2, 10, "it must be one of: default"},
    {"a_file_is_refused", "version: 1\nextends: ./default\n", 2, 10, "'extends' is './default'"},
    {"a_list_is_refused", "version: 1\nextends: [default]\n", 2, 10, "'extends' must be a word, not a list"},
    {"extends_twice_is_refused", HEAD "extends: default\n", 3, 1, "key 'extends' is given twice"},
    {"extends_twice_by_escape_is_refused", HEAD "\"\\x65xtends\": default\n", 3, 1, "key 'extends' is given twice"},
    {"version_is_mandatory", "extends: default\n", 1, 1, "key 'version' is missing"},
    {"search_path_is_mandatory_without_it", "version: 1\ntools: []\n", 1, 1, "key 'search_path' is missing"},
    {"tools_are_mandatory_without_it", "version: 1\nsearch_path: [/bin]\n", 1, 1, "key 'tools' is missing"},
    {"remove_needs_extends", "version: 1\nsearch_path: [/bin]\ntools: []\nremove: [git]\n", 4, 9,
     "'remove' needs 'extends: default'"},
    {"grant_needs_extends", "version: 1\nsearch_path: [/bin]\ntools: []\ngrant: []\n", 4, 8,
     "'grant' needs 'extends: default'"},
    {"aliases_are_refused", HEAD "remove: &a [git]\ngrant: *a\n", 3, 9, "anchor"},

    {"removing_what_is_not_there_is_refused", HEAD "remove: [git, gitt]\n", 3, 15,
     "the default policy has no tool 'gitt'; its tools are: git, node, "},
    {"removing_twice_is_refused", HEAD "remove: [git, git]\n", 3, 15, "'git' is listed twice in 'remove'"},
    {"removing_twice_by_escape_is_refused", HEAD "remove: [git, \"g\\x69t\"]\n", 3, 15, "'git' is listed twice"},
    {"removing_and_replacing_is_refused", HEAD "remove: [rg]\ntools:\n" RG, 3, 10,
     "'rg' is in 'remove' and in 'tools'"},
    {"two_entries_of_one_name_are_refused", HEAD "tools:\n" RG RG, 8, 11, "tool 'rg' is listed twice"},

    {"granting_to_nobody_is_refused", GRANT "{name: nmp, egress: [a.org]}\n", 4, 12, "has no tool 'nmp'"},
    {"granting_to_another_case_is_refused", GRANT "{name: NPM, egress: [a.org]}\n", 4, 12, "has no tool 'NPM'"},
    {"granting_to_what_is_removed_is_refused", HEAD "remove: [npm]\ngrant: [{name: npm, egress: [a.org]}]\n", 4, 16,
     "'npm' is in 'remove'"},
    {"granting_to_an_entry_of_the_file_is_refused", HEAD "tools:\n" RG "grant: [{name: rg, egress: [a.org]}]\n", 8, 16,
     "'rg' is in 'tools' of this file"},
    {"granting_twice_is_refused", GRANT "{name: npm, egress: [a.org]}\n  - {name: npm, env: [TZ]}\n", 5, 12,
     "'npm' is granted something twice; the first grant is on line 4"},
    {"granting_twice_to_a_subcommand_is_refused",
     GRANT "{name: npm, subcommand: ci, options: [-x]}\n  - {name: npm, subcommand: ci, options: [-y]}\n", 5, 12,
     "'npm' subcommand 'ci' is granted something twice"},
    {"granting_to_no_subcommand_is_refused", GRANT "{name: npm, subcommand: c, options: [-x]}\n", 4, 29,
     "tool 'npm' has no subcommand 'c'"},
    {"granting_to_a_subcommand_of_none_is_refused", GRANT "{name: bwrap, subcommand: c, options: [-x]}\n", 4, 31,
     "tool 'bwrap' has no subcommand 'c'"},
    {"granting_nothing_is_refused", GRANT "{name: npm, why: w}\n", 4, 5, "grants nothing"},
    {"granting_an_empty_list_is_refused", GRANT "{name: npm, egress: []}\n", 4, 25, "must not be an empty list"},
    {"a_grant_without_a_name_is_refused", GRANT "{egress: [a.org]}\n", 4, 5, "key 'name' is missing in grant number 1"},
    {"a_grant_that_is_no_mapping_is_refused", GRANT "npm\n", 4, 5, "grant number 1 must be a mapping"},
    {"granting_a_route_is_refused", GRANT "{name: npm, route: direct}\n", 4, 17, "unknown key 'route' in grant 'npm'"},
    {"granting_limits_is_refused", GRANT "{name: npm, limits: {timeout_s: 1}}\n", 4, 17, "unknown key 'limits'"},
    {"granting_credentials_is_refused", GRANT "{name: npm, credentials: allow}\n", 4, 17, "unknown key 'credentials'"},
    {"granting_inject_is_refused", GRANT "{name: npm, inject: [-x]}\n", 4, 17, "unknown key 'inject'"},
    {"a_grant_with_a_bad_record_is_refused", GRANT "{name: npm, adr: x, egress: [a.org]}\n", 4, 22,
     "it must be the four digits"},
    {"a_grant_with_a_blank_reason_is_refused", GRANT "{name: npm, why: \" \", egress: [a.org]}\n", 4, 22, "is blank"},

    {"a_bad_destination_is_refused", GRANT "{name: npm, egress: [\"*\"]}\n", 4, 26, "is not a valid destination"},
    {"a_destination_in_another_spelling_is_refused", GRANT "{name: npm, egress: [A.org]}\n", 4, 26,
     "must be written 'a.org'"},
    {"a_destination_twice_is_refused", GRANT "{name: npm, egress: [a.org, a.org]}\n", 4, 33, "is listed twice"},
    {"a_destination_of_a_subcommand_twice_is_refused",
     GRANT "{name: npm, subcommand: ci, egress: [a.org, registry.npmjs.org]}\n", 4, 49,
     "'registry.npmjs.org' is already in this list of subcommand 'ci' in tool 'npm'"},
    {"reads_for_a_subcommand_is_refused", GRANT "{name: npm, subcommand: ci, reads: [/opt/a]}\n", 4, 40,
     "'reads' cannot be granted to a subcommand; grant it to 'npm' as a whole"},
    {"a_relative_directory_is_refused", GRANT "{name: npm, reads: [opt]}\n", 4, 25, "not a plain absolute path"},
    {"a_directory_of_the_kernel_is_refused", GRANT "{name: npm, reads: [/opt/a, /proc/1]}\n", 4, 33,
     "'/proc/1' in 'reads' in grant 'npm' may not be shown"},
    {"granting_an_executable_workspace_is_refused", GRANT "{name: npm, workspace_code: true}\n", 4, 17,
     "unknown key 'workspace_code'"},
    {"granting_loopback_is_refused", GRANT "{name: npm, loopback: true}\n", 4, 17, "unknown key 'loopback'"},
    {"granting_a_place_of_the_root_is_refused", GRANT "{name: npm, root_at: own}\n", 4, 17, "unknown key 'root_at'"},
    {"the_loader_cannot_be_granted", GRANT "{name: npm, env: [LD_PRELOAD]}\n", 4, 23, "may not be granted to callers"},
    {"a_name_that_is_none_cannot_be_granted", GRANT "{name: npm, env: [\"A=b\"]}\n", 4, 23,
     "not a valid variable name"},
    {"a_name_that_the_entry_sets_cannot_be_granted", GRANT "{name: tree-sitter, env: [TZ, TREE_SITTER_DIR]}\n", 4, 35,
     "'TREE_SITTER_DIR' is set by 'set_env' in tool 'tree-sitter'"},
    {"a_helper_that_is_there_is_refused", GRANT "{name: scip-typescript, execs: [node]}\n", 4, 37,
     "'node' is already in this list of tool 'scip-typescript'"},
    {"a_first_helper_is_refused", GRANT "{name: node, execs: [sh]}\n", 4, 25, "tool 'node' has no list 'execs'"},
    {"a_first_set_of_helpers_is_refused", GRANT "{name: node, uses: [shell]}\n", 4, 24,
     "tool 'node' has no list 'uses'"},
    {"a_set_of_helpers_that_is_none_is_refused", GRANT "{name: npm, subcommand: ci, uses: [shel]}\n", 4, 40,
     "'shel' in 'uses' in grant 'npm' is not a set of helpers; did you mean 'shell'?"},
    {"a_relative_helper_is_refused", GRANT "{name: rg, execs: [./sh]}\n", 4, 24, "neither a program's name nor"},

    {"an_option_that_is_there_is_refused", GRANT "{name: rg, options: [--new, --json]}\n", 4, 33,
     "option '--json' is already listed in tool 'rg'"},
    {"an_option_of_another_form_is_refused", GRANT "{name: rg, options: [\"--json=\"]}\n", 4, 26, "is already listed"},
    {"an_option_of_a_set_is_refused", GRANT "{name: npm, subcommand: ci, options: [--json]}\n", 4, 43,
     "already listed in subcommand 'ci' in tool 'npm'"},
    {"an_option_twice_is_refused", GRANT "{name: rg, options: [--new, --new]}\n", 4, 33, "is already listed"},
    {"a_denied_option_is_refused", GRANT "{name: npm, subcommand: ci, options: [--registry=]}\n", 4, 43,
     "is in 'deny', so it cannot be listed"},
    {"a_set_is_refused", GRANT "{name: npm, subcommand: test, options: [\"@common\"]}\n", 4, 45, "is a set"},
    {"no_option_is_refused", GRANT "{name: rg, options: [x]}\n", 4, 26, "an option begins with '-'"},
    {"options_where_all_are_allowed_are_refused", GRANT "{name: bwrap, options: [-x]}\n", 4, 28, "has no 'args'"},
    {"a_grant_without_a_version_it_knows_is_refused", "version: 2\nextends: default\n", 1, 10,
     "version 2 is not known"},
};

static void check_refusal(void **state)
{
    const struct refused *row = *state;
    (void)must_refuse(row->text, strlen(row->text), row->line, row->column, row->expected_text);
}

/* ---- what it becomes --------------------------------------------------------------------- */

static char *json_of(const struct ck_policy *policy, struct ck_arena *arena)
{
    return ck_arena_strdup(arena, strstr(ck_policy_json(policy, arena), "\"search_path\""));
}

static void extends_alone_is_the_default_policy(void **state)
{
    (void)state;
    struct ck_arena arena = {0};
    struct ck_policy *policy = must_parse(HEAD);
    assert_string_equal(json_of(policy, &arena), json_of(embedded(), &arena));
    assert_null(policy->adr_dir);
    assert_true(policy->tools[0].embedded);
    ck_policy_free(policy);
    ck_arena_done(&arena);
}

static bool lists(const struct ck_list *list, const char *text)
{
    return list->count > 0 && strcmp(list->items[list->count - 1], text) == 0 && !list->items[list->count];
}

static void grants_lengthen_and_the_default_policy_stays(void **state)
{
    (void)state;
    struct ck_arena arena = {0};
    const char *before = json_of(embedded(), &arena);
    struct ck_policy *policy =
        must_parse(HEAD "grant:\n"
                        "  - {name: scip-typescript, subcommand: index, execs: [sh]}\n"
                        "  - {name: npm, egress: [a.org], env: [TZ]}\n"
                        "  - {name: npm, subcommand: ci, options: [--new=<number>], execs: [sh], egress: [a.org], "
                        "env: [LANGUAGE], uses: [shell]}\n"
                        "  - {name: scip-typescript, execs: [yarn], reads: [/opt/a]}\n");
    const struct ck_tool *npm = ck_policy_find(policy, "npm");
    assert_true(lists(&npm->egress, "a.org") && npm->egress.count == 1);
    assert_true(lists(&npm->env, "TZ"));
    const struct ck_subcommand *ci = &npm->args->subcommands[0];
    assert_true(lists(&ci->own.execs, "sh") && ci->own.execs.count == 3);
    assert_true(lists(&ci->own.uses, "shell") && ci->own.uses.count == 1);
    assert_true(lists(&ci->own.egress, "a.org") && ci->own.egress.count == 2);
    assert_true(lists(&ci->rules.options, "--new=<number>"));
    assert_int_equal(npm->args->subcommands[1].own.execs.count, 2);
    assert_int_equal(npm->args->subcommands[1].own.egress.count, 1);
    /* Without a list of its own it has that of the tool, with what the tool was granted, in any order of the file. */
    assert_true(lists(&ci->own.env, "LANGUAGE") && ci->own.env.count == 2);
    const struct ck_tool *scip = ck_policy_find(policy, "scip-typescript");
    assert_int_equal(scip->execs.count, 3);
    assert_true(lists(&scip->reads, "/opt/a"));
    assert_int_equal(scip->args->subcommands[0].own.execs.count, 4);
    assert_true(lists(&scip->args->subcommands[0].own.execs, "sh"));
    assert_string_equal(json_of(embedded(), &arena), before);
    ck_policy_free(policy);
    ck_arena_done(&arena);
}

static void tools_replace_and_add_and_remove_takes_away(void **state)
{
    (void)state;
    struct ck_policy *policy = must_parse(HEAD "remove: [git, docker]\nsearch_path: [/opt]\ntools:\n"
                                               "  - {name: mine, why: w, adr: \"0001\", route: direct}\n" RG);
    assert_int_equal(policy->tools_count, embedded()->tools_count - 2 + 1);
    assert_null(ck_policy_find(policy, "git"));
    assert_string_equal(policy->tools[policy->tools_count - 1].name, "mine");
    const struct ck_tool *rg = ck_policy_find(policy, "rg");
    assert_true(rg->route == CK_ROUTE_DIRECT && !rg->args && !rg->embedded && rg->line == 7);
    assert_int_equal(policy->search_path.count, 1);
    ck_policy_free(policy);
}

/* A table of options is one bit for each in places; a grant must not get beyond. */
static void long_lists_are_refused_where_one_file_would_be(void **state)
{
    (void)state;
    static char text[65536];
    static const struct {
        const char *tool;
        const char *key;
        const char *start;
        const char *ending;
        unsigned fits;
    } rows[] = {{"npm", "env", "a", "", 64},
                {"npm", "egress", "a", ".org", 64},
                {"scip-typescript", "execs", "a", "", 62},
                {"rg", "options", "--a", "", CK_POLICY_MAX_OPTIONS - 139}};
    for (size_t i = 0; i < COUNT(rows); i++)
        for (unsigned more = 0; more < 2; more++) {
            struct ck_policy *policy = NULL;
            struct choke_error error = {0};
            int at = snprintf(text, sizeof(text), GRANT "{name: %s, %s: [", rows[i].tool, rows[i].key);
            for (unsigned k = 0; k < rows[i].fits + more; k++) {
                at += snprintf(text + at, sizeof(text) - (size_t)at, "%s%u%s, ", rows[i].start, k, rows[i].ending);
            }
            (void)snprintf(text + at, sizeof(text) - (size_t)at, "]}\n");
            int r = ck_policy_parse("p.yaml", text, strlen(text), &policy, &error);
            assert_int_equal(r, more ? -EINVAL : 0);
            assert_true(!more || error.line == 4);
            ck_policy_free(policy);
        }
}

/* Every list of text that an entry is granted something by can be granted, except what only reads its version. */
static void every_list_of_a_tool_can_be_granted(void **state)
{
    (void)state;
    const cyaml_schema_field_t *tool = NULL, *grant = NULL;
    for (const cyaml_schema_field_t *field = ck_policy_schema.mapping.fields; field->key; field++) {
        if (strcmp(field->key, "tools") == 0)
            tool = field->value.sequence.entry->mapping.fields;
        if (strcmp(field->key, "grant") == 0)
            grant = field->value.sequence.entry->mapping.fields;
    }
    assert_true(tool && grant);
    for (; tool->key; tool++) {
        bool list = tool->value.type == CYAML_SEQUENCE && tool->value.sequence.entry->type == CYAML_STRING;
        bool found = false;
        for (const cyaml_schema_field_t *field = grant; field->key; field++)
            found = found || strcmp(field->key, tool->key) == 0;
        if (list && !found && strcmp(tool->key, "version_args") != 0)
            fail_msg("'%s' cannot be granted: add it to CK_POLICY_GRANT_KEYS in model.h", tool->key);
    }
}

/* ---- which grant made a change ------------------------------------------------------------ */

static void a_change_leads_to_the_grant_that_made_it(void **state)
{
    (void)state;
    struct ck_policy *policy =
        must_parse(HEAD "grant:\n"
                        "  - {name: npm, egress: [a.org], adr: \"0001\"}\n"
                        "  - {name: npm, subcommand: ci, options: [--new], egress: [a.org], adr: \"0002\"}\n"
                        "  - {name: scip-typescript, subcommand: index, execs: [sh]}\n");
    static const struct {
        const char *tool, *field, *after;
        int grant; /* -1: none */
    } rows[] = {{"npm", "egress", "a.org", 0},
                {"npm", "egress", "b.org", -1},
                {"npm", "env", "a.org", -1},
                {"git", "egress", "a.org", -1},
                {"npm", "args.options", "--new", -1},
                {"npm", "args.subcommands.ci.options", "--new", 1},
                {"npm", "args.subcommands.ci.options", "--old", -1},
                {"npm", "args.subcommands.c.options", "--new", -1},
                {"npm", "args.subcommands", "ci", -1},
                {"npm", "tools", "npm", -1},
                {NULL, "search_path", "/bin", -1},
                {"npm", "egress", NULL, -1},
                {"npm", "args.subcommands.ci.egress", "a.org", 1},
                {"npm", "args.subcommands.ls.egress", "a.org", 0}, /* what a tool is granted its subcommands have */
                {"scip-typescript", "args.subcommands.index.execs", "sh", 2},
                {"scip-typescript", "args.subcommands.index.execs", "its own", -1},
                {"scip-typescript", "execs", "sh", -1}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct choke_change change = {.tool = rows[i].tool, .field = rows[i].field, .after = rows[i].after};
        const struct ck_policy_grant *grant = ck_extend_grant_of(policy, &change);
        if (grant != (rows[i].grant < 0 ? NULL : &policy->grants[rows[i].grant]))
            fail_msg("row %zu leads to %s", i, grant ? grant->name : "none");
    }
    ck_policy_free(policy);
}

/* ---- the default policy, written and loaded again ----------------------------------------- */

#define REQUESTS 20000
#define ARGV_MAX 10

static uint64_t random_state = UINT64_C(88172645463325252);

static unsigned pick(size_t count)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (unsigned)((random_state >> 33) % count);
}

/* An option of the table with or without a value, or any other text. */
static const char *pick_argument(struct ck_arena *arena, const struct ck_rules *rules)
{
    static const char *const others[] = {"a", "src/x.c", "..", "/etc/passwd", "-", "--", "12", "--unknown", "-x", ""};
    static const char *const values[] = {"1", "a", "src", "true", "json", "/etc", ""};
    if (!rules || rules->table_count == 0 || pick(3) == 0)
        return others[pick(COUNT(others))];
    const struct ck_arg_option *option = &rules->table[pick(rules->table_count)];
    if (option->form == CK_FORM_FLAG || pick(3) == 0)
        return option->name;
    const struct ck_pattern *pattern =
        option->patterns_count > 0 ? &option->patterns[pick(option->patterns_count)] : NULL;
    const char *value =
        pattern && pattern->text[0] != '\0' && pick(2) == 0 ? pattern->text : values[pick(COUNT(values))];
    return ck_arena_printf(arena, "%s=%s", option->name, value);
}

static void draw_argv(struct ck_arena *arena, const char *argv[ARGV_MAX + 1])
{
    const struct ck_tool *tool = &embedded()->tools[pick(embedded()->tools_count)];
    const struct ck_args *args = tool->args;
    const struct ck_rules *rules = args ? &args->rules : NULL;
    size_t argc = 0, wanted = 1 + pick(ARGV_MAX - 1);
    argv[argc++] = pick(40) == 0 ? "bash" : tool->name;
    if (args && args->subcommands_count > 0 && pick(8) != 0) {
        const struct ck_subcommand *subcommand = &args->subcommands[pick(args->subcommands_count)];
        if (!strchr(subcommand->name, ' ')) {
            argv[argc++] = subcommand->name;
            rules = &subcommand->rules;
        }
    }
    while (argc < wanted)
        argv[argc++] = pick_argument(arena, rules);
    argv[argc] = NULL;
}

static void require_same_list(const struct ck_list *a, const struct ck_list *b)
{
    assert_int_equal(a->count, b->count);
    for (uint32_t i = 0; i < a->count; i++)
        assert_string_equal(a->items[i], b->items[i]);
}

/* What a run is given by the entry, or by the subcommand in place of it. */
static void require_same_keys(const struct ck_tool *a, const struct ck_tool *b)
{
    require_same_list(&a->execs, &b->execs);
    require_same_list(&a->uses, &b->uses);
    require_same_list(&a->egress, &b->egress);
    require_same_list(&a->env, &b->env);
    require_same_list(&a->reads, &b->reads);
    assert_true(a->has_execs == b->has_execs && a->workspace == b->workspace && a->has_workspace == b->has_workspace);
    assert_true(a->workspace_code == b->workspace_code && a->loopback == b->loopback &&
                a->require_jail == b->require_jail && a->root_at == b->root_at);
    assert_int_equal(a->set_env_count, b->set_env_count);
    for (uint32_t i = 0; i < a->set_env_count; i++)
        assert_true(strcmp(a->set_env[i].name, b->set_env[i].name) == 0 &&
                    strcmp(a->set_env[i].value, b->set_env[i].value) == 0);
}

static void require_same_verdict(const struct ck_verdict *a, const struct ck_verdict *b)
{
    assert_int_equal(a->outcome, b->outcome);
    assert_string_equal(a->rule, b->rule);
    assert_int_equal(a->timeout_ms, b->timeout_ms);
    assert_int_equal(a->jail, b->jail);
    assert_memory_equal(&a->limits, &b->limits, sizeof(a->limits));
    assert_int_equal(!!a->tool, !!b->tool);
    if (a->tool)
        require_same_keys(a->tool, b->tool);
    if (a->outcome != CHOKE_NONE)
        return;
    assert_int_equal(a->parsed.argc, b->parsed.argc);
    assert_int_equal(a->parsed.paths_count, b->parsed.paths_count);
    assert_int_equal(a->parsed.nested_count, b->parsed.nested_count);
    for (size_t i = 0; i < a->parsed.argc; i++)
        assert_string_equal(a->parsed.argv[i], b->parsed.argv[i]);
    for (size_t i = 0; i < a->parsed.paths_count; i++)
        assert_true(a->parsed.paths[i].type == b->parsed.paths[i].type &&
                    a->parsed.paths[i].argument == b->parsed.paths[i].argument);
}

static void what_show_yaml_prints_gives_the_same_verdicts(void **state)
{
    (void)state;
    struct ck_arena text_arena = {0};
    struct ck_policy *again = must_parse(ck_policy_yaml(embedded(), &text_arena));
    size_t allowed = 0;
    static const char *const env[] = {"TZ=UTC", NULL};
    static const char *const egress[] = {"example.org", NULL};
    for (size_t i = 0; i < REQUESTS; i++) {
        struct ck_arena arena = {0};
        const char *argv[ARGV_MAX + 2];
        draw_argv(&arena, argv);
        struct choke_request request = {.argv = argv, .root = "/", .cwd = ".", .timeout_ms = 1000 * (1 + pick(700))};
        request.env = pick(20) == 0 ? env : NULL;
        request.egress = pick(20) == 0 ? egress : NULL;
        struct ck_verdict verdicts[2];
        assert_int_equal(ck_judge(embedded(), &request, &arena, &verdicts[0]), 0);
        assert_int_equal(ck_judge(again, &request, &arena, &verdicts[1]), 0);
        require_same_verdict(&verdicts[0], &verdicts[1]);
        allowed += verdicts[0].outcome == CHOKE_NONE;
        ck_arena_done(&arena);
    }
    assert_true(allowed > REQUESTS / 20);
    ck_policy_free(again);
    ck_arena_done(&text_arena);
}

/* Text that YAML could read as something else, in every place where a policy has text. */
static void difficult_text_is_written_so_that_it_loads_back(void **state)
{
    static const char *const texts[] = {"true", "No",    "~",     "null", "1",     "0x10", "1.5", "a: b", "a #b", "#a",
                                        "- a",  "a,b",   "[a]",   "{a}",  "*a",    "&a",   "!a",  "%a",   "@a",   "`a",
                                        "'a'",  "\\\"a", "a\\\\", "é",    "a\\nb", " a",   "a ",  "---",  "...",  "?",
                                        "=",    "<<",    "a:",    ":a",   "-",     "--",   "|",   ">",    "a|b>"};
    (void)state;
    for (size_t i = 0; i < COUNT(texts); i++) {
        char text[1024];
        struct ck_arena arena = {0};
        (void)snprintf(text, sizeof(text),
                       "version: 1\nadr_dir: \"x%s\"\nsearch_path: [/usr/bin]\ntools:\n  - name: x\n    why: \"%s.\"\n"
                       "    adr: \"0001\"\n    route: direct\n    set_env: [{name: A, value: \"%s\"}]\n"
                       "    version_args: [\"%s\", a]\n    args: {exact: [[\"%s\"], []], inject: [\"%s\"]}\n",
                       strchr(texts[i], 'n') && strchr(texts[i], '\\') ? "" : texts[i], texts[i],
                       strstr(texts[i], "\\n") ? "" : texts[i], strstr(texts[i], "\\n") ? "a" : texts[i], texts[i],
                       strstr(texts[i], "\\n") ? "a" : texts[i]);
        struct ck_policy *policy = must_parse(text);
        struct ck_policy *again = must_parse(ck_policy_yaml(policy, &arena));
        assert_string_equal(again->tools[0].why, policy->tools[0].why);
        assert_string_equal(again->adr_dir, policy->adr_dir);
        assert_string_equal(again->tools[0].set_env[0].value, policy->tools[0].set_env[0].value);
        assert_string_equal(again->tools[0].version_args.items[0], policy->tools[0].version_args.items[0]);
        assert_string_equal(again->tools[0].args->exact[0].items[0], policy->tools[0].args->exact[0].items[0]);
        assert_int_equal(again->tools[0].args->exact[1].count, 0);
        assert_string_equal(again->tools[0].args->rules.inject.items[0], policy->tools[0].args->rules.inject.items[0]);
        ck_policy_free(policy);
        ck_policy_free(again);
        ck_arena_done(&arena);
    }
}

int main(void)
{
    static const struct CMUnitTest others[] = {
        cmocka_unit_test(extends_alone_is_the_default_policy),
        cmocka_unit_test(grants_lengthen_and_the_default_policy_stays),
        cmocka_unit_test(tools_replace_and_add_and_remove_takes_away),
        cmocka_unit_test(long_lists_are_refused_where_one_file_would_be),
        cmocka_unit_test(every_list_of_a_tool_can_be_granted),
        cmocka_unit_test(a_change_leads_to_the_grant_that_made_it),
        cmocka_unit_test(what_show_yaml_prints_gives_the_same_verdicts),
        cmocka_unit_test(difficult_text_is_written_so_that_it_loads_back),
    };
    struct CMUnitTest tests[COUNT(refusals) + COUNT(others)];
    for (size_t i = 0; i < COUNT(refusals); i++) {
        void *row = (void *)(uintptr_t)&refusals[i];
        tests[i] = (struct CMUnitTest){refusals[i].name, check_refusal, NULL, NULL, row};
    }
    memcpy(tests + COUNT(refusals), others, sizeof(others));
    return cmocka_run_group_tests_name("extend", tests, NULL, NULL);
}
