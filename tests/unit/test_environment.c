/* test_environment.c - the environment is built, never inherited; and no policy can grant a
 * variable that would undo that. */
#include "policy/env.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* ---- names ------------------------------------------------------------------------------- */

static void valid_names_are_letters_digits_and_underscores(void **state)
{
    (void)state;
    static const char *const good[] = {"A", "_", "a1", "A_B", "_1", "PATH", "lower_case"};
    static const char *const bad[] = {"", "1A", "A-B", "A B", "A=B", "A.B", "\xc3\xa9", "A\n", "A%", "*", "A*"};
    for (size_t i = 0; i < COUNT(good); i++)
        assert_true(ck_env_name_valid(good[i], strlen(good[i])));
    for (size_t i = 0; i < COUNT(bad); i++)
        assert_false(ck_env_name_valid(bad[i], strlen(bad[i])));
}

static void names_have_a_maximum(void **state)
{
    (void)state;
    char name[257];
    memset(name, 'A', sizeof(name));
    assert_true(ck_env_name_valid(name, 255));
    assert_false(ck_env_name_valid(name, 256));
    assert_false(ck_env_name_grantable(name, 256));
}

static void only_the_given_length_is_read(void **state)
{
    (void)state;
    assert_true(ck_env_name_valid("AB=C", 2));
    assert_true(ck_env_name_grantable("AB=C", 2));
    assert_false(ck_env_name_grantable("LD_X=1", 4));
}

static const char dangerous_names[] =
    "PATH HOME LANG LC_ALL LD_PRELOAD LD_LIBRARY_PATH LD_AUDIT DYLD_INSERT_LIBRARIES BASH_ENV ENV "
    "SHELLOPTS BASHOPTS PS4 IFS BASH_FUNC_x PROMPT_COMMAND CDPATH ZDOTDIR NODE_OPTIONS NODE_PATH "
    "PYTHONPATH PYTHONSTARTUP PYTHONHOME PERL5OPT PERL5LIB PERLLIB RUBYOPT RUBYLIB JAVA_TOOL_OPTIONS "
    "_JAVA_OPTIONS GCONV_PATH LOCPATH NLSPATH MALLOC_TRACE MALLOC_CHECK_ GLIBC_TUNABLES OPENSSL_CONF "
    "GIT_SSH GIT_SSH_COMMAND GIT_EXTERNAL_DIFF GIT_CONFIG GIT_CONFIG_COUNT GIT_CONFIG_GLOBAL "
    "GIT_EXEC_PATH GIT_ASKPASS SSH_ASKPASS SUDO_ASKPASS GIT_PAGER PAGER MANPAGER EDITOR GIT_EDITOR "
    "GIT_SEQUENCE_EDITOR VISUAL BROWSER SHELL LESSOPEN GIT_DIR GIT_WORK_TREE GIT_TRACE GIT_TRACE2_EVENT "
    "GIT_TEMPLATE_DIR GIT_PROXY_COMMAND GIT_ALLOW_PROTOCOL XDG_CONFIG_HOME NPM_CONFIG_SCRIPT_SHELL "
    "npm_config_ignore_scripts Npm_Config_x RIPGREP_CONFIG_PATH DOCKER_HOST DOCKER_CONTEXT DOCKER_CONFIG "
    "GETCONF_DIR HOSTALIASES LOCALDOMAIN RES_OPTIONS RESOLV_HOST_CONF NODE_REPL_EXTERNAL_MODULE GEM_HOME "
    "GEM_PATH LUA_INIT LUA_INIT_5_4 LUA_PATH LUA_CPATH JDK_JAVA_OPTIONS CLASSPATH PHPRC PHP_INI_SCAN_DIR "
    "TCLLIBPATH GOFLAGS MAKEFLAGS BASH_XTRACEFD FPATH LESSCLOSE GIT_ATTR_SOURCE CURL_HOME WGETRC "
    "DOCKER_CLI_PLUGIN_EXTRA_DIRS GIT_COMMON_DIR GIT_INDEX_FILE GIT_OBJECT_DIRECTORY "
    "GIT_ALTERNATE_OBJECT_DIRECTORIES";

static void dangerous_names_are_not_grantable(void **state)
{
    (void)state;
    unsigned count = 0;
    for (const char *name = dangerous_names; *name != '\0';) {
        size_t length = strcspn(name, " ");
        if (ck_env_name_grantable(name, length))
            fail_msg("'%.*s' may be granted, and must not", (int)length, name);
        assert_non_null(ck_env_name_danger(name, length));
        count++;
        name += length;
        name += strspn(name, " ");
    }
    assert_true(count > 90);
}

static void ordinary_names_are_grantable(void **state)
{
    (void)state;
    static const char *const names[] = {
        "FOO",
        "NODE_ENV",
        "CI",
        "TERM",
        "TZ",
        "GITHUB_TOKEN",
        "SEMGREP_APP_TOKEN",
        "HTTPS_PROXY",
        "GIT_AUTHOR_NAME",
        "GIT_COMMITTER_DATE",
        "GIT_TERMINAL_PROMPT",
        "NO_COLOR",
        "PATHS",
        "MY_PATH",
        "HOMEPAGE",
        "LANGUAGE",
        "LC_TIME",
        "ENVIRONMENT",
        "OLD_",
        "BUILD_LD",
        "SHELLCHECK_OPTS",
        "TMPDIR",
        "PAGER_ON",
        "EDITOR_THEME",
        "IFS_",
        "DOCKER_BUILDKIT",
    };
    for (size_t i = 0; i < COUNT(names); i++)
        if (!ck_env_name_grantable(names[i], strlen(names[i])))
            fail_msg("'%s' may not be granted, and might", names[i]);
}

static void a_policy_may_set_what_it_may_not_grant(void **state)
{
    (void)state;
    static const char *const settable[] = {"GIT_PAGER", "GIT_CONFIG_NOSYSTEM", "NPM_CONFIG_IGNORE_SCRIPTS", "FOO",
                                           "PYTHONSAFEPATH"};
    static const char *const never[] = {"PATH",        "HOME",   "LANG", "LC_ALL", "LD_PRELOAD",
                                        "LD_BIND_NOW", "DYLD_X", "1A",   "",       "A=B"};
    for (size_t i = 0; i < COUNT(settable); i++)
        assert_true(ck_env_name_settable(settable[i], strlen(settable[i])));
    for (size_t i = 0; i < COUNT(never); i++)
        assert_false(ck_env_name_settable(never[i], strlen(never[i])));
}

/* ---- building ---------------------------------------------------------------------------- */

static const char *search_path[] = {"/usr/local/bin", "/usr/bin", "/bin"};
static const struct ck_policy policy = {.search_path = {search_path, 3}};
static struct ck_variable variables[] = {{.name = "GIT_PAGER", .value = "cat"}, {.name = "EMPTY", .value = ""}};
static const struct ck_tool plain_tool = {.name = "git"};
static const struct ck_tool setting_tool = {.name = "git", .set_env = variables, .set_env_count = 2};

static void assert_environment(const struct ck_tool *tool, const struct ck_host_environment *host,
                               const char *const *extras, const char *const *wanted)
{
    struct ck_arena arena = {0};
    const char **env = ck_env_build(&arena, &policy, (const struct ck_tool *const[]){tool, NULL}, host, extras);
    assert_non_null(env);
    size_t i = 0;
    for (; wanted[i]; i++) {
        assert_non_null(env[i]);
        assert_string_equal(env[i], wanted[i]);
    }
    assert_null(env[i]);
    ck_arena_done(&arena);
}

static void bare_environment_has_exactly_four_names(void **state)
{
    (void)state;
    static const char *const wanted[] = {"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=/nonexistent", "LANG=C.UTF-8",
                                         "LC_ALL=C.UTF-8", NULL};
    assert_environment(&plain_tool, &(struct ck_host_environment){0}, NULL, wanted);
}

static void the_parents_values_are_kept(void **state)
{
    (void)state;
    static const char *const wanted[] = {"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=/home/u", "LANG=de_DE.UTF-8",
                                         "LC_ALL=C", NULL};
    assert_environment(&plain_tool,
                       &(struct ck_host_environment){.home = "/home/u", .lang = "de_DE.UTF-8", .lc_all = "C"},
                       (const char *[]){NULL}, wanted);
}

static void set_env_holds_against_an_extra_in_another_case(void **state)
{
    (void)state;
    static const char *const extras[] = {"git_pager=less", "Empty=x", "GIT_PAGERS=y", NULL};
    static const char *const wanted[] = {"PATH=/usr/local/bin:/usr/bin:/bin",
                                         "HOME=/h",
                                         "LANG=C.UTF-8",
                                         "LC_ALL=C.UTF-8",
                                         "GIT_PAGER=cat",
                                         "EMPTY=",
                                         "GIT_PAGERS=y",
                                         NULL};
    const struct ck_host_environment host = {.home = "/h"};
    assert_environment(&setting_tool, &host, extras, wanted);
}

static void set_env_and_extras_follow_in_order(void **state)
{
    (void)state;
    static const char *const extras[] = {"A=1", "B=", "C=x=y", NULL};
    static const char *const wanted[] = {"PATH=/usr/local/bin:/usr/bin:/bin",
                                         "HOME=/nonexistent",
                                         "LANG=C.UTF-8",
                                         "LC_ALL=C.UTF-8",
                                         "GIT_PAGER=cat",
                                         "EMPTY=",
                                         "A=1",
                                         "B=",
                                         "C=x=y",
                                         NULL};
    assert_environment(&setting_tool, &(struct ck_host_environment){0}, extras, wanted);
}

/* Of two tools, the outer one must not lose its variable to one that is not set. */
static void variable_for_offline_runs_is_set_only_there(void **state)
{
    (void)state;
    static struct ck_variable outer[] = {{.name = "MODE", .value = "usual"}};
    static struct ck_variable inner[] = {{.name = "MODE", .value = "cached", .offline = true}};
    static const struct ck_tool tools[] = {{.name = "a", .set_env = outer, .set_env_count = 1},
                                           {.name = "b", .set_env = inner, .set_env_count = 1}};
    const struct ck_tool *const both[] = {&tools[0], &tools[1], NULL};
    for (int offline = 0; offline < 2; offline++) {
        struct ck_arena arena = {0};
        const struct ck_host_environment host = {.offline = offline != 0};
        const char **env = ck_env_build(&arena, &policy, both, &host, (const char *[]){"mode=mine", NULL});
        assert_string_equal(env[4], offline ? "MODE=cached" : "MODE=usual");
        assert_null(env[5]);
        env = ck_env_build(&arena, &policy, both + 1, &host, (const char *[]){"mode=mine", NULL});
        assert_string_equal(env[4], offline ? "MODE=cached" : "mode=mine");
        assert_null(env[5]);
        ck_arena_done(&arena);
    }
}

static void unusable_values_of_the_parent_are_replaced(void **state)
{
    (void)state;
    static const char *const wanted[] = {"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=/nonexistent", "LANG=C.UTF-8",
                                         "LC_ALL=C.UTF-8", NULL};
    static const struct ck_host_environment hosts[] = {
        {.home = "", .lang = "", .lc_all = ""},      {.home = "/home/\n", .lang = "a\x1b[2J", .lc_all = "\x7f"},
        {.home = ".", .lang = "\t", .lc_all = "\r"}, {.home = "relative/home", .lang = "", .lc_all = ""},
        {.home = "~", .lang = "", .lc_all = ""},
    };
    for (size_t i = 0; i < COUNT(hosts); i++)
        assert_environment(&plain_tool, &hosts[i], NULL, wanted);
}

static void overlong_values_of_the_parent_are_replaced(void **state)
{
    (void)state;
    static char home[5001];
    static char lang[257];
    memset(home, '/', sizeof(home) - 1);
    memset(lang, 'x', sizeof(lang) - 1);
    static const char *const wanted[] = {"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=/nonexistent", "LANG=C.UTF-8",
                                         "LC_ALL=C.UTF-8", NULL};
    assert_environment(&plain_tool, &(struct ck_host_environment){.home = home, .lang = lang, .lc_all = lang}, NULL,
                       wanted);
}

static void running_out_of_memory_is_reported(void **state)
{
    (void)state;
    static char big[8192];
    memset(big, 'x', sizeof(big) - 1);
    big[1] = '=';
    const char *const extras[] = {big, NULL};
    struct ck_host_environment host = {0};
    unsigned failures = 0;
    for (size_t max_bytes = 1; max_bytes < 64 << 10; max_bytes += 512) {
        struct ck_arena arena = {.max_bytes = max_bytes};
        const char **env =
            ck_env_build(&arena, &policy, (const struct ck_tool *const[]){&setting_tool, NULL}, &host, extras);
        if (!env)
            failures++;
        else
            assert_string_equal(env[6], big);
        ck_arena_done(&arena);
    }
    assert_in_range(failures, 1, 127);
}

/* ---- the way to a proxy ------------------------------------------------------------------ */

static const char *value_in(const char *const *env, const char *name)
{
    const char *found = NULL;
    for (; *env; env++)
        if (strncmp(*env, name, strlen(name)) == 0 && (*env)[strlen(name)] == '=') {
            assert_null(found);
            found = *env + strlen(name) + 1;
        }
    return found;
}

static void proxy_is_in_every_variable_and_nothing_else_is_lost(void **state)
{
    static const char *const names[] = {"HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY",        "https_proxy",
                                        "http_proxy",  "all_proxy",  "npm_config_proxy", "npm_config_https_proxy"};
    const char *const env[] = {"PATH=/bin", "HTTPS_PROXY_X=kept", "A=b", NULL};
    struct ck_arena arena = {0};
    (void)state;
    const char **with = ck_env_with_proxy(&arena, env, "http://127.0.0.1:1", false);
    assert_non_null(with);
    for (size_t i = 0; i < COUNT(names); i++)
        assert_string_equal(value_in(with, names[i]), "http://127.0.0.1:1");
    assert_string_equal(value_in(with, "NO_PROXY"), "");
    assert_string_equal(value_in(with, "no_proxy"), "");
    assert_string_equal(value_in(with, "NODE_USE_ENV_PROXY"), "1");
    assert_string_equal(value_in(with, "PATH"), "/bin");
    assert_string_equal(value_in(with, "HTTPS_PROXY_X"), "kept");
    assert_string_equal(value_in(with, "A"), "b");
    ck_arena_done(&arena);
}

/* From the host, the caller or the policy, in upper or lower case: with two of a name the tool
 * would choose. */
static void another_proxy_does_not_pass(void **state)
{
    const char *const env[] = {"HTTPS_PROXY=http://evil:1", "https_proxy=x", "No_Proxy=*",           "Http_Proxy=x",
                               "NPM_CONFIG_PROXY=x",        "no_proxy=*",    "NPM_CONFIG_NOPROXY=*", NULL};
    struct ck_arena arena = {0};
    (void)state;
    const char **with = ck_env_with_proxy(&arena, env, "u", false);
    assert_non_null(with);
    for (size_t i = 0; with[i]; i++) {
        assert_null(strchr(with[i], '*'));
        assert_null(strstr(with[i], "=x"));
        assert_null(strstr(with[i], "evil"));
    }
    assert_string_equal(value_in(with, "HTTPS_PROXY"), "u");
    ck_arena_done(&arena);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(valid_names_are_letters_digits_and_underscores),
        cmocka_unit_test(names_have_a_maximum),
        cmocka_unit_test(only_the_given_length_is_read),
        cmocka_unit_test(dangerous_names_are_not_grantable),
        cmocka_unit_test(ordinary_names_are_grantable),
        cmocka_unit_test(a_policy_may_set_what_it_may_not_grant),
        cmocka_unit_test(bare_environment_has_exactly_four_names),
        cmocka_unit_test(the_parents_values_are_kept),
        cmocka_unit_test(set_env_and_extras_follow_in_order),
        cmocka_unit_test(set_env_holds_against_an_extra_in_another_case),
        cmocka_unit_test(variable_for_offline_runs_is_set_only_there),
        cmocka_unit_test(unusable_values_of_the_parent_are_replaced),
        cmocka_unit_test(overlong_values_of_the_parent_are_replaced),
        cmocka_unit_test(running_out_of_memory_is_reported),
        cmocka_unit_test(proxy_is_in_every_variable_and_nothing_else_is_lost),
        cmocka_unit_test(another_proxy_does_not_pass),
    };
    return cmocka_run_group_tests_name("environment", tests, NULL, NULL);
}
