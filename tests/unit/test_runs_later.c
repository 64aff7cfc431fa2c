/*
 * test_runs_later.c - which changes will run by themselves, by their path, first bytes, target, or
 * text.
 */
#include "overlay/runs_later.h"

#include "overlay/runs_later_rules.h"

#include <ctype.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void paths_that_run_are_known(void **state)
{
    static const char *const paths[][2] = {
        {".git/hooks/pre-commit", "git hook"},
        {"sub/.git/hooks/post-checkout", "git hook"},
        {".git/modules/x/hooks/update", "git hook"},
        {".husky/pre-push", "git hook"},
        {".git/config", "git settings"},
        {".GIT/Config", "git settings"},
        {".git/modules/x/config", "git settings"},
        {"bare.git/config", "git settings"},
        {".git", "git settings"},
        {"sub/.gitattributes", "git settings"},
        {".npmrc", "package settings"},
        {"node_modules/a/index.js", "installed package"},
        {"Makefile", "build file"},
        {"a/b/rules.mk", "build file"},
        {"vite.config.ts", "build file"},
        {"setup.py", "build file"},
        {"tests/conftest.py", "test settings"},
        {".github/workflows/ci.yml", "pipeline"},
        {".vscode/tasks.json", "editor task"},
        {".envrc", "shell settings"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        const char *why = ck_runs_later_by_path(paths[i][0]);
        if (!why)
            fail_msg("'%s' is not known to run", paths[i][0]);
        assert_string_equal(why, paths[i][1]);
    }
}

/* A name that the rule is about, as it could appear in a repository. */
static void spell(char *path, enum ck_runs_later_kind kind, const struct ck_runs_later_rule *rule)
{
    (void)snprintf(path, PATH_MAX, "%s%s%s%s", rule->under, kind == CK_RUNS_LATER_ENDS ? "x" : "", rule->text,
                   kind == CK_RUNS_LATER_BEGINS || (kind == CK_RUNS_LATER_UNDER && rule->text[0] == '\0') ? "x" : "");
}

static void raise_case(char *path)
{
    for (; *path != '\0'; path++)
        *path = (char)toupper(*path);
}

static void assert_runs(const char *path)
{
    char changed[PATH_MAX];
    if (!ck_runs_later_by_path(path))
        fail_msg("'%s' is not known to run", path);
    (void)snprintf(changed, sizeof(changed), "some/where/%s", path);
    if (!ck_runs_later_by_path(changed))
        fail_msg("'%s' is not known to run", changed);
    if (!ck_runs_later_by_link(changed, "x"))
        fail_msg("'%s' is not known to run as a link", changed);
    raise_case(changed);
    if (!ck_runs_later_by_path(changed) || !ck_runs_later_by_link(changed, "x"))
        fail_msg("'%s' is not known to run", changed);
}

static void every_rule_holds_deeper_in_any_case_and_for_links(void **state)
{
    (void)state;
    for (enum ck_runs_later_kind kind = 0; kind < CK_RUNS_LATER_KINDS; kind++)
        for (size_t i = ck_runs_later_starts[kind]; i < ck_runs_later_starts[kind + 1]; i++) {
            char path[PATH_MAX];
            spell(path, kind, &ck_runs_later_rules[i]);
            assert_runs(path);
            assert_true(strlen(ck_runs_later_rules[i].reason) > 3 && strlen(ck_runs_later_rules[i].source) > 1);
        }
}

/* Also of the first ones, where a rule names more than one. */
static void link_instead_of_a_directory_runs(void **state)
{
    (void)state;
    for (size_t i = ck_runs_later_starts[CK_RUNS_LATER_UNDER]; i < ck_runs_later_starts[CK_RUNS_LATER_UNDER + 1]; i++) {
        char path[PATH_MAX];
        (void)snprintf(path, sizeof(path), "a/%s", ck_runs_later_rules[i].under);
        for (char *slash; (slash = strrchr(path, '/')) != path + 1;) {
            *slash = '\0';
            if (!ck_runs_later_by_link(path, "x") || !ck_runs_later_by_directory(path))
                fail_msg("a link '%s' is not known to run", path);
        }
    }
    assert_null(ck_runs_later_by_directory("a/github"));
    assert_null(ck_runs_later_by_directory("xnode_modules"));
    assert_null(ck_runs_later_by_directory("node_modulesx"));
    assert_null(ck_runs_later_by_link("a/b", "c"));
}

/* Names that were seen to run, and names of the kinds that were missing. */
static void names_that_were_seen_to_run(void **state)
{
    static const char *const paths[] = {"__pycache__/x.cpython-311.pyc",
                                        "a/x.pyc",
                                        ".gitea/workflows/x.yml",
                                        ".forgejo/workflows/x.yml",
                                        ".woodpecker/x.yml",
                                        ".woodpecker.yml",
                                        "bitbucket-pipelines.yml",
                                        "azure-pipelines.yaml",
                                        ".azure-pipelines/x.yml",
                                        "compose.override.yaml",
                                        "docker-compose.override.yml",
                                        "Dockerfile.dev",
                                        "BUILD",
                                        "WORKSPACE.bazel",
                                        "Taskfile.yaml",
                                        "taskfile.dist.yml",
                                        ".justfile",
                                        "SConstruct",
                                        "build.xml",
                                        "a/b.csproj",
                                        "Directory.Build.props",
                                        "Directory.Build.targets",
                                        "gradle.properties",
                                        ".pylintrc",
                                        "mypy.ini",
                                        ".flake8",
                                        ".mocharc.json",
                                        ".mocharc.yml",
                                        ".eslintrc",
                                        ".eslintrc.json",
                                        ".babelrc",
                                        "babel.config.json",
                                        "vite.config.mts",
                                        "vite.config.cts",
                                        "knexfile.js",
                                        "knexfile.ts",
                                        ".pnp.cjs",
                                        ".pnp.loader.mjs",
                                        "lefthook.toml",
                                        "lefthook-local.yml",
                                        ".lefthook.yml",
                                        ".claude/settings.json",
                                        ".cursor/mcp.json",
                                        ".mcp.json",
                                        ".bash_login",
                                        ".zprofile",
                                        ".zlogin",
                                        ".Rprofile",
                                        ".ghci",
                                        "x.desktop",
                                        "x.service",
                                        "x.timer",
                                        "x.ps1",
                                        "CLAUDE.md",
                                        ".gdbinit",
                                        ".git/config.worktree",
                                        "git~1/hooks/x",
                                        ".ssh/config",
                                        "settings.gradle.kts",
                                        "sub/pom.xml",
                                        ".yarn/releases/yarn.cjs",
                                        "flake.nix",
                                        "Jenkinsfile.release",
                                        ".pre-commit-config.yml"};
    (void)state;
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
        assert_runs(paths[i]);
}

static void links_are_resolved_by_their_text(void **state)
{
    static const char *const links[][3] = {
        {"a", "b", "b"},           {"d/a", "../b", "b"},     {"d/a", "./b//c/.", "d/b/c"},
        {"d/e/a", "../../b", "b"}, {"d/e/a", "../b", "d/b"}, {"a", ".", ""}};
    (void)state;
    for (size_t i = 0; i < sizeof(links) / sizeof(links[0]); i++) {
        char path[PATH_MAX];
        (void)snprintf(path, sizeof(path), "%s", links[i][0]);
        assert_true(ck_runs_later_resolve(path, links[i][1], path));
        assert_string_equal(path, links[i][2]);
    }
}

static void plain_paths_do_not_run(void **state)
{
    static const char *const paths[] = {"README.md", "src/main.c", "githooks.txt",      "a/hooks", "Makefile.txt",
                                        ".mk",       "x.git",      "xnode_modules/a.b", ".",       "github/workflows"};
    (void)state;
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
        if (ck_runs_later_by_path(paths[i]))
            fail_msg("'%s' is said to be a %s", paths[i], ck_runs_later_by_path(paths[i]));
}

static void programs_and_scripts_run(void **state)
{
    (void)state;
    assert_string_equal(ck_runs_later_by_content("#!/b", 4, false), "script");
    assert_string_equal(ck_runs_later_by_content("\177ELF", 4, false), "program");
    assert_string_equal(ck_runs_later_by_content("", 0, true), "executable");
    assert_null(ck_runs_later_by_content("#", 1, false));
    assert_null(ck_runs_later_by_content("text", 4, false));
}

static void links_that_lead_out_are_known(void **state)
{
    static const struct {
        const char *path, *target;
        bool out;
    } links[] = {
        {"a", "/etc/passwd", true}, {"a", "..", true},     {"a", "../x", true},        {"d/a", "../../x", true},
        {"d/a", "x/../y", true},    {"a", "./../x", true}, {"d/a", ".//..//..", true}, {"a", "/work/x", true},
        {"d/a", "../x", false},     {"a", "b", false},     {"a", "./b/c", false},      {"d/e/a", "../../b/...", false},
        {"d/a", "..x/y..", false},  {"a", ".", false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(links) / sizeof(links[0]); i++)
        if ((!!ck_runs_later_by_link(links[i].path, links[i].target)) != links[i].out)
            fail_msg("'%s' -> '%s'", links[i].path, links[i].target);
}

static const char *package(const char *before, const char *after)
{
    return ck_runs_later_by_package(before, before ? strlen(before) : 0, after, strlen(after));
}

static void package_scripts_are_compared(void **state)
{
    (void)state;
    static const char was[] = "{\"version\": \"1\", \"scripts\": {\"test\": \"a\"}, \"dependencies\": {}}";
    assert_null(package(was, "{\"scripts\":{\"test\":\"a\"},\"dependencies\":{},\"version\":\"2\",\"author\":\"x\"}"));
    assert_string_equal(package(was, "{\"scripts\": {\"test\": \"b\"}, \"dependencies\": {}}"), "package script");
    assert_string_equal(package(was, "{\"dependencies\": {}}"), "package script");
    assert_string_equal(package(was, "{\"scripts\": {\"test\": \"a\"}, \"dependencies\": {\"x\": \"1\"}}"),
                        "package settings");
    assert_string_equal(package(was, "{\"scripts\": {\"test\": \"a\"}}"), "package settings");
    assert_string_equal(package(NULL, "{\"scripts\": {\"postinstall\": \"x\"}}"), "package script");
    assert_null(package(NULL, "{\"name\": \"x\"}"));
}

static void package_that_cannot_be_read_runs(void **state)
{
    (void)state;
    assert_string_equal(package("{}", "{"), "package script");
    assert_string_equal(package("no", "{}"), "package script");
    assert_string_equal(package("{}", "[]"), "package script");
    char deep[4096];
    memset(deep, '[', sizeof(deep) - 1);
    deep[sizeof(deep) - 1] = '\0';
    assert_string_equal(package("{}", deep), "package script");
    assert_string_equal(package("{}", "{\"name\": 1, \"name\": 2}"), "package script");
    assert_true(ck_runs_later_is_package("a/package.json"));
    assert_false(ck_runs_later_is_package("a/package.jsonx"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paths_that_run_are_known),
        cmocka_unit_test(every_rule_holds_deeper_in_any_case_and_for_links),
        cmocka_unit_test(link_instead_of_a_directory_runs),
        cmocka_unit_test(names_that_were_seen_to_run),
        cmocka_unit_test(links_are_resolved_by_their_text),
        cmocka_unit_test(plain_paths_do_not_run),
        cmocka_unit_test(programs_and_scripts_run),
        cmocka_unit_test(links_that_lead_out_are_known),
        cmocka_unit_test(package_scripts_are_compared),
        cmocka_unit_test(package_that_cannot_be_read_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
