/* test_sandbox.c - which variables of a host's environment the code of a repository may see. */
#include "policy/sandbox.h"

#include <ctype.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define LIST(...) ((const char *const[]){__VA_ARGS__, NULL})
#define TOKEN \
    "ghp_" \
    "0123456789abcdefghijABCDEFGHIJ012345"
#define BASE "PATH=/usr/bin", "HOME=/tmp/probe", "LANG=C.UTF-8", "LC_ALL=C.UTF-8"

static const char *search_path[] = {"/usr/bin"};
static const struct ck_policy policy = {.search_path = {search_path, 1}};
static struct ck_variable settings[] = {{.name = "NPM_CONFIG_IGNORE_SCRIPTS", .value = "true"},
                                        {.name = "GIT_CONFIG_KEY_0", .value = "safe.directory"}};
static struct ck_variable secrets[] = {{.name = "FIXED", .value = TOKEN}};
static const struct ck_tool plain = {.name = "npm"};
static const struct ck_tool setting = {.name = "npm", .set_env = settings, .set_env_count = COUNT(settings)};
static const struct ck_tool leaking = {.name = "npm", .set_env = secrets, .set_env_count = COUNT(secrets)};

/* ---- names ------------------------------------------------------------------------------- */

static const struct name_row {
    const char *name;
    enum ck_sandbox_ruling ruling;
} name_rows[] = {
    {"PATH", CK_SANDBOX_PASSES},
    {"NODE_ENV", CK_SANDBOX_PASSES},
    {"HTTPS_PROXY", CK_SANDBOX_PASSES},
    {"NPM_CONFIG_REGISTRY", CK_SANDBOX_PASSES},
    {"NPM_CONFIG_registry", CK_SANDBOX_PASSES},
    {"NPM_CONFIG_X", CK_SANDBOX_PASSES},

    {"", CK_SANDBOX_UNLISTED},
    {"NPM_CONFIG_", CK_SANDBOX_UNLISTED},
    {"NPM_CONFIG", CK_SANDBOX_UNLISTED},
    {"NPM_CONFIG_*", CK_SANDBOX_UNLISTED},
    {"NPM_CONFIG_A-B", CK_SANDBOX_UNLISTED},
    {"npm_config_registry", CK_SANDBOX_UNLISTED},
    {"XNPM_CONFIG_A", CK_SANDBOX_UNLISTED},
    {"https_proxy", CK_SANDBOX_UNLISTED},
    {"HTTP_PROXY", CK_SANDBOX_UNLISTED},
    {"HTTPS_PROXY_", CK_SANDBOX_UNLISTED},
    {"HTTPS_PROX", CK_SANDBOX_UNLISTED},
    {"NODE_ENVS", CK_SANDBOX_UNLISTED},
    {"node_env", CK_SANDBOX_UNLISTED},
    {"NODE_OPTIONS", CK_SANDBOX_UNLISTED},
    {"NODE_PATH", CK_SANDBOX_UNLISTED},
    {"LD_PRELOAD", CK_SANDBOX_UNLISTED},
    {"HOME", CK_SANDBOX_UNLISTED},
    {"LANG", CK_SANDBOX_UNLISTED},
    {"SSH_AUTH_SOCK", CK_SANDBOX_SECRET},

    {"GITHUB_TOKEN", CK_SANDBOX_SECRET},
    {"NPM_TOKEN", CK_SANDBOX_SECRET},
    {"AWS_SECRET_ACCESS_KEY", CK_SANDBOX_SECRET},
    {"MY_API_KEY", CK_SANDBOX_SECRET},
    {"NPM_CONFIG_KEY", CK_SANDBOX_SECRET},
    {"NPM_CONFIG_MONKEYS", CK_SANDBOX_SECRET},
    {"NPM_CONFIG__authToken", CK_SANDBOX_SECRET},
    {"NPM_CONFIG__PaSsWoRd", CK_SANDBOX_SECRET},
    {"NPM_CONFIG__PASSWORD", CK_SANDBOX_SECRET},
    {"NPM_CONFIG_secret", CK_SANDBOX_SECRET},
    {"NPM_CONFIG__AUTH", CK_SANDBOX_SECRET},
    {"NPM_CONFIG_OTP", CK_SANDBOX_SECRET},
    {"KEY", CK_SANDBOX_SECRET},
    {"a-tOkEn-b", CK_SANDBOX_SECRET},
};

static void names_are_ruled_as_listed(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(name_rows); i++) {
        const struct name_row *row = &name_rows[i];
        if (ck_sandbox_rule(ck_sandbox_allowlist, row->name, strlen(row->name)) != row->ruling)
            fail_msg("'%s' is not ruled as it must be", row->name);
    }
}

static void allowlist_is_the_one_that_is_documented(void **state)
{
    (void)state;
    static const char *const wanted[] = {"PATH", "NODE_ENV", "NPM_CONFIG_*", "HTTPS_PROXY"};
    for (size_t i = 0; i < COUNT(wanted); i++)
        assert_string_equal(ck_sandbox_allowlist[i], wanted[i]);
    assert_null(ck_sandbox_allowlist[COUNT(wanted)]);
}

/* In upper and lower case as the bits say, between before and after. */
static void assert_secret(const char *before, const char *word, unsigned bits, const char *after)
{
    char name[64];
    size_t at = strlen(before);
    (void)snprintf(name, sizeof(name), "%s%s%s", before, word, after);
    for (size_t i = 0; i < strlen(word); i++)
        if ((bits >> i & 1) != 0)
            name[at + i] = (char)tolower((unsigned char)name[at + i]);
    const char *const list[] = {"*", name, NULL};
    assert_int_equal(ck_sandbox_rule(list, name, strlen(name)), CK_SANDBOX_SECRET);
    assert_int_equal(ck_sandbox_rule(list + 1, name, strlen(name)), CK_SANDBOX_SECRET);
}

static void no_allowlist_lets_a_secret_pass(void **state)
{
    (void)state;
    static const char *const words[] = {"KEY", "TOKEN", "SECRET", "PASSWORD"};
    static const char *const shapes[][2] = {{"", ""}, {"A", ""}, {"", "9"}, {"MY_", "_B"}, {"NPM_CONFIG_", ""}};
    for (size_t i = 0; i < COUNT(words) * COUNT(shapes); i++) {
        const char *word = words[i / COUNT(shapes)];
        const char *const *shape = shapes[i % COUNT(shapes)];
        for (unsigned bits = 0; bits < 1u << strlen(word); bits++)
            assert_secret(shape[0], word, bits, shape[1]);
    }
    assert_int_equal(ck_sandbox_rule(LIST("*"), "HARMLESS", strlen("HARMLESS")), CK_SANDBOX_PASSES);
}

static void only_the_given_length_is_read(void **state)
{
    (void)state;
    assert_int_equal(ck_sandbox_rule(ck_sandbox_allowlist, "NODE_ENV=MY_KEY", 8), CK_SANDBOX_PASSES);
    assert_int_equal(ck_sandbox_rule(ck_sandbox_allowlist, "NPM_CONFIG_AKEY", 13), CK_SANDBOX_PASSES);
}

/* ---- the environment --------------------------------------------------------------------- */

static const struct env_row {
    const char *name;
    const char *const *host;
    const char *const *extras;
    const struct ck_tool *tool;
    const char *const *wanted;
} env_rows[] = {
    {"nothing_gives_the_four", NULL, NULL, &plain, LIST(BASE)},
    {"listed_variables_pass", LIST("NODE_ENV=test", "HTTPS_PROXY=http://p:1", "NPM_CONFIG_CACHE=/c=d"), NULL, &plain,
     LIST(BASE, "NODE_ENV=test", "HTTPS_PROXY=http://p:1", "NPM_CONFIG_CACHE=/c=d")},
    {"the_rest_is_left_out",
     LIST("PATH=/evil", "HOME=/root", "LANG=de", "LC_ALL=de", "GITHUB_TOKEN=x", "NODE_OPTIONS=x", "LD_PRELOAD=x",
          "NPM_CONFIG_A_KEY=x", "NPM_CONFIG__AUTH=x", "https_proxy=x"),
     NULL, &plain, LIST(BASE)},
    {"credentials_are_left_out", LIST("HTTPS_PROXY=http://u:p@h", "NODE_ENV=" TOKEN), NULL, &plain, LIST(BASE)},
    {"addresses_with_few_slashes_are_addresses",
     LIST("NPM_CONFIG_REGISTRY=https:u:p@h/", "NPM_CONFIG_A=https:u@h", "NPM_CONFIG_B=//u:p@h", "NPM_CONFIG_C=u:p@h"),
     NULL, &plain, LIST(BASE)},
    {"not_every_at_is_an_address", LIST("NPM_CONFIG_SCOPE=@org", "NPM_CONFIG_A=https://h:1/a/@b", "NPM_CONFIG_B=a@1"),
     NULL, &plain, LIST(BASE, "NPM_CONFIG_SCOPE=@org", "NPM_CONFIG_A=https://h:1/a/@b", "NPM_CONFIG_B=a@1")},
    {"malformed_variables_are_left_out", LIST("", "=", "=x", "NODE_ENV", "NPM_CONFIG_A B=x", "NODE_ENV=a\nb"), NULL,
     &plain, LIST(BASE)},
    {"first_of_two_holds", LIST("NODE_ENV=a", "NODE_ENV=b", "NPM_CONFIG_A=1", "NPM_CONFIG_a=2"), NULL, &plain,
     LIST(BASE, "NODE_ENV=a", "NPM_CONFIG_A=1")},
    {"longer_name_is_another", LIST("NPM_CONFIG_AB=1", "NPM_CONFIG_A=2"), NULL, &plain,
     LIST(BASE, "NPM_CONFIG_AB=1", "NPM_CONFIG_A=2")},
    {"extra_holds_against_the_host", LIST("NODE_ENV=a", "NPM_CONFIG_x=1"), LIST("NODE_ENV=b", "NPM_CONFIG_X=2"), &plain,
     LIST(BASE, "NODE_ENV=b", "NPM_CONFIG_X=2")},
    {"empty_values_pass", LIST("NODE_ENV="), LIST("HTTPS_PROXY="), &plain, LIST(BASE, "HTTPS_PROXY=", "NODE_ENV=")},
    {"policy_holds_against_all_in_any_case", LIST("NPM_CONFIG_ignore_scripts=false"),
     LIST("NPM_CONFIG_Ignore_Scripts=false"), &setting,
     LIST(BASE, "NPM_CONFIG_IGNORE_SCRIPTS=true", "GIT_CONFIG_KEY_0=safe.directory")},
};

static void assert_vector(const char *name, const char **env, const char *const *wanted)
{
    size_t i = 0;
    for (; wanted[i]; i++)
        if (!env[i] || strcmp(env[i], wanted[i]) != 0)
            fail_msg("%s: '%s' where '%s' must be", name, env[i] ? env[i] : "nothing", wanted[i]);
    if (env[i])
        fail_msg("%s: '%s' is too much", name, env[i]);
}

static void environments_are_as_listed(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(env_rows); i++) {
        const struct env_row *row = &env_rows[i];
        struct ck_arena arena = {0};
        const struct ck_sandbox *sandbox = NULL;
        const char **env = NULL;
        struct choke_error error = {0};
        const struct ck_tool *const tools[] = {row->tool, NULL};
        const struct ck_sandbox_frame frame = {.policy = &policy, .tools = tools, .home = "/tmp/probe"};
        assert_int_equal(ck_sandbox_make(&arena, row->host, row->extras, &sandbox, &error), 0);
        assert_int_equal(ck_sandbox_environment(&arena, sandbox, &frame, &env, &error), 0);
        assert_vector(row->name, env, row->wanted);
        ck_arena_done(&arena);
    }
}

static void credential_in_the_policy_is_forbidden(void **state)
{
    (void)state;
    struct ck_arena arena = {0};
    const struct ck_sandbox *sandbox = NULL;
    const char **env = NULL;
    struct choke_error error = {0};
    const struct ck_tool *const tools[] = {&leaking, NULL};
    const struct ck_sandbox_frame frame = {.policy = &policy, .tools = tools, .home = "/tmp/probe"};
    assert_int_equal(ck_sandbox_make(&arena, NULL, NULL, &sandbox, &error), 0);
    assert_int_equal(ck_sandbox_environment(&arena, sandbox, &frame, &env, &error), -EPERM);
    assert_int_equal(error.outcome, CHOKE_ENV_FORBIDDEN);
    assert_null(env);
    assert_null(strstr(error.message, TOKEN));
    ck_arena_done(&arena);
}

/* ---- extras ------------------------------------------------------------------------------ */

static const struct refused_row {
    const char *const *extras;
    enum choke_outcome outcome;
    const char *words;
} refused_rows[] = {
    {LIST("GITHUB_TOKEN=x"), CHOKE_ENV_FORBIDDEN, "'GITHUB_TOKEN' may not enter a sandbox: its name has 'TOKEN'"},
    {LIST("NODE_ENV=a", "npm_config_key=x"), CHOKE_ENV_FORBIDDEN, "'npm_config_key'"},
    {LIST("NPM_CONFIG_Secret="), CHOKE_ENV_FORBIDDEN, "has 'SECRET'"},
    {LIST("FOO=1"), CHOKE_ENV_FORBIDDEN, "'FOO' may not enter a sandbox: it is not on the list"},
    {LIST("PATH=/evil"), CHOKE_ENV_FORBIDDEN, "the search path of the policy"},
    {LIST("HTTPS_PROXY=http://u:p@h"), CHOKE_ENV_FORBIDDEN, "its value looks like a URL with a password"},
    {LIST("NODE_ENV=" TOKEN), CHOKE_ENV_FORBIDDEN, "its value looks like a GitHub token"},
    {LIST(TOKEN "=x"), CHOKE_ENV_FORBIDDEN, "'(a GitHub token)'"},
    {LIST("NODE_ENV"), CHOKE_INVALID, "entry 1 of env"},
    {LIST("NODE_ENV=x", "=x"), CHOKE_INVALID, "entry 2 of env"},
    {LIST("A B=x"), CHOKE_INVALID, "entry 1 of env"},
    {LIST("NODE_ENV=1", "NODE_ENV=1"), CHOKE_INVALID, "'NODE_ENV' is given twice"},
    {LIST("NPM_CONFIG_A=1", "NPM_CONFIG_a=1"), CHOKE_INVALID, "'NPM_CONFIG_a' is given twice"},
};

static void extras_are_refused_as_listed(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(refused_rows); i++) {
        const struct refused_row *row = &refused_rows[i];
        struct ck_arena arena = {0};
        const struct ck_sandbox *sandbox = NULL;
        struct choke_error error = {0};
        int r = ck_sandbox_make(&arena, LIST("NODE_ENV=host"), row->extras, &sandbox, &error);
        assert_int_equal(r, row->outcome == CHOKE_INVALID ? -EINVAL : -EPERM);
        assert_int_equal(error.outcome, row->outcome);
        assert_null(sandbox);
        if (!strstr(error.message, row->words) || strstr(error.message, TOKEN))
            fail_msg("row %zu says: %s", i, error.message);
        ck_arena_done(&arena);
    }
}

static void no_memory_is_reported(void **state)
{
    (void)state;
    struct ck_arena arena = {.max_bytes = 1};
    const struct ck_sandbox *sandbox = NULL;
    struct choke_error error = {0};
    assert_int_equal(ck_sandbox_make(&arena, NULL, LIST("NODE_ENV=a"), &sandbox, &error), -ENOMEM);
    assert_null(sandbox);
    ck_arena_done(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_ruled_as_listed),       cmocka_unit_test(allowlist_is_the_one_that_is_documented),
        cmocka_unit_test(no_allowlist_lets_a_secret_pass), cmocka_unit_test(only_the_given_length_is_read),
        cmocka_unit_test(environments_are_as_listed),      cmocka_unit_test(credential_in_the_policy_is_forbidden),
        cmocka_unit_test(extras_are_refused_as_listed),    cmocka_unit_test(no_memory_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
