/*
 * test_secret.c - what looks like a credential and what does not.
 *
 * Values are put together at run time from a prefix and a run of characters, so that no text in this file looks like a
 * credential to those who scan it.
 */
#include "policy/secret.h"
#include "policy/secret_table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define SPLIT(left, right) left right

static const char alnum[] = "a1B2c3D4e5F6g7H8i9J0kLmNoPqRsTuVwXyZ";
static const char hex[] = "0123456789abcdef";
static const char upper[] = "ABCDEFGHJKLMNPQRSTUVWXYZ234567";
static const char digits[] = "1234567890";

/* ---- prefix and run ---------------------------------------------------------------------- */

struct shape {
    const char *prefix;
    const char *alphabet;
    size_t length;
    const char *kind;
    bool shortest; /* one character less is not a credential */
};

static const struct shape shapes[] = {
    {SPLIT("AK", "IA"), upper, 16, "an AWS access key", true},
    {SPLIT("AS", "IA"), upper, 16, "an AWS access key", true},
    {SPLIT("gh", "p_"), alnum, 36, "a GitHub token", true},
    {SPLIT("gh", "o_"), alnum, 36, "a GitHub token", true},
    {SPLIT("gh", "u_"), alnum, 36, "a GitHub token", true},
    {SPLIT("gh", "s_"), alnum, 36, "a GitHub token", true},
    {SPLIT("gh", "r_"), alnum, 36, "a GitHub token", true},
    {SPLIT("github", "_pat_"), alnum, 36, "a GitHub token", true},
    {SPLIT("gl", "pat-"), alnum, 20, "a GitLab token", true},
    {SPLIT("gl", "rt-"), alnum, 20, "a GitLab token", true},
    {SPLIT("gl", "ptt-"), alnum, 20, "a GitLab token", true},
    {SPLIT("np", "m_"), alnum, 36, "an npm token", true},
    {SPLIT("py", "pi-AgE"), alnum, 50, "a PyPI token", true},
    {SPLIT("ruby", "gems_"), hex, 48, "a RubyGems token", true},
    {SPLIT("dckr", "_pat_"), alnum, 20, "a Docker token", true},
    {SPLIT("AI", "za"), alnum, 35, "a Google API key", true},
    {SPLIT("ya", "29."), alnum, 20, "a Google access token", true},
    {SPLIT("GOC", "SPX-"), alnum, 28, "a Google client secret", true},
    {SPLIT("sk", "_live_"), alnum, 16, "a Stripe key", true},
    {SPLIT("rk", "_live_"), alnum, 16, "a Stripe key", true},
    {SPLIT("sk", "-ant-api03-"), alnum, 20, "an Anthropic key", false},
    {SPLIT("sk", "-proj-"), alnum, 20, "an OpenAI key", true},
    {SPLIT("sk", "-svcacct-"), alnum, 20, "an OpenAI key", true},
    {SPLIT("sk", "-"), alnum, 32, "an API key", true},
    {SPLIT("hf", "_"), alnum, 34, "a Hugging Face token", true},
    {SPLIT("dop", "_v1_"), hex, 64, "a DigitalOcean token", true},
    {SPLIT("xo", "xb-"), digits, 12, "a Slack token", true},
    {SPLIT("xo", "xp-"), digits, 12, "a Slack token", true},
    {SPLIT("xa", "pp-"), alnum, 20, "a Slack token", true},
    {SPLIT("https://hooks.slack", ".com/services/T000/B000/"), alnum, 24, "a Slack webhook", false},
    {SPLIT("https://discord", ".com/api/webhooks/1234567890/"), alnum, 68, "a Discord webhook", false},
    {SPLIT("sh", "pat_"), hex, 32, "a Shopify token", true},
    {SPLIT("sh", "pss_"), hex, 32, "a Shopify secret", true},
    {SPLIT("da", "pi"), hex, 32, "a Databricks token", true},
    {SPLIT("AGE-SECRET", "-KEY-1"), upper, 58, "an age secret key", true},
    {SPLIT("hv", "s."), alnum, 24, "a Vault token", true},
    {SPLIT("lin", "_api_"), alnum, 40, "a Linear key", false},
    {SPLIT("Account", "Key="), alnum, 86, "an Azure storage key", false},
    {SPLIT("AT", "ATT3"), alnum, 100, "an Atlassian token", true},
    {SPLIT("NR", "AK-"), upper, 27, "a New Relic key", true},
    {SPLIT("PM", "AK-"), alnum, 59, "a Postman key", true},
    {SPLIT("Sh", "aredAccessKey="), alnum, 40, "an Azure access key", false},
    {SPLIT("bk", "ua_"), hex, 40, "a Buildkite token", true},
    {SPLIT("dc", "kr_oat_"), alnum, 20, "a Docker token", true},
    {SPLIT("do", "o_v1_"), hex, 64, "a DigitalOcean token", true},
    {SPLIT("do", "r_v1_"), hex, 64, "a DigitalOcean token", true},
    {SPLIT("di", "scordapp.com/api/webhooks/"), alnum, 60, "a Discord webhook", true},
    {SPLIT("dp", ".pt."), alnum, 40, "a Doppler token", true},
    {SPLIT("fi", "gd_"), alnum, 40, "a Figma token", true},
    {SPLIT("gl", "dt-"), alnum, 20, "a GitLab token", true},
    {SPLIT("gl", "cbt-"), alnum, 20, "a GitLab token", true},
    {SPLIT("gl", "soat-"), alnum, 20, "a GitLab token", true},
    {SPLIT("gl", "oas-"), alnum, 20, "a GitLab token", true},
    {SPLIT("gl", "agent-"), alnum, 20, "a GitLab token", true},
    {SPLIT("gs", "k_"), alnum, 52, "a Groq key", true},
    {SPLIT("gl", "sa_"), alnum, 40, "a Grafana token", true},
    {SPLIT("ho", "oks.slack.com/workflows/"), alnum, 20, "a Slack webhook", true},
    {SPLIT("ho", "oks.slack.com/triggers/"), alnum, 20, "a Slack webhook", true},
    {SPLIT("hv", "b."), alnum, 24, "a Vault token", true},
    {SPLIT("hv", "r."), alnum, 24, "a Vault token", true},
    {SPLIT("li", "n_oauth_"), alnum, 32, "a Linear key", true},
    {SPLIT("op", "s_eyJ"), alnum, 200, "a 1Password token", true},
    {SPLIT("pu", "l-"), hex, 40, "a Pulumi token", true},
    {SPLIT("ps", "cale_tkn_"), alnum, 32, "a PlanetScale token", true},
    {SPLIT("r", "8_"), alnum, 37, "a Replicate token", true},
    {SPLIT("sk", "-admin-"), alnum, 20, "an OpenAI key", true},
    {SPLIT("sk", "-or-v1-"), hex, 64, "an OpenRouter key", true},
    {SPLIT("sh", "pca_"), hex, 32, "a Shopify token", true},
    {SPLIT("sh", "ppa_"), hex, 32, "a Shopify token", true},
    {SPLIT("sb", "p_"), hex, 40, "a Supabase token", true},
    {SPLIT("sn", "trys_"), alnum, 60, "a Sentry token", false},
    {SPLIT("sn", "tryu_"), hex, 64, "a Sentry token", false},
    {SPLIT("wh", "sec_"), alnum, 32, "a webhook secret", true},
    {SPLIT("xa", "i-"), alnum, 80, "an xAI key", true},
    {SPLIT("xo", "xa-"), alnum, 12, "a Slack token", false},
    {SPLIT("xo", "xr-"), alnum, 12, "a Slack token", false},
    {SPLIT("xo", "xs-"), alnum, 12, "a Slack token", false},
    {SPLIT("xo", "xe-"), alnum, 12, "a Slack token", false},
    {SPLIT("xo", "xe.xox"), alnum, 12, "a Slack token", false},
    {SPLIT("ts", "key-auth-"), alnum, 20, "a Tailscale key", false},
    {SPLIT("Authorization", ": Bearer "), alnum, 8, "an Authorization header", false},
    {SPLIT("authorization", ": basic "), alnum, 12, "an Authorization header", false},
    {SPLIT("AUTHORIZATION", ":token "), alnum, 8, "an Authorization header", false},
    {SPLIT("http.extraHeader=Authorization", ": Basic "), alnum, 20, "an Authorization header", false},
    {SPLIT("Authorization", ": token "), alnum, 8, "an Authorization header", false},
    {SPLIT("authorization", ":bearer "), alnum, 8, "an Authorization header", false},
    {SPLIT("authorization", ":Basic "), alnum, 8, "an Authorization header", false},
    {SPLIT("AWS_SESSION", "_TOKEN="), alnum, 40, "an AWS session token", false},
    {SPLIT("PRIVATE", "-TOKEN: "), alnum, 20, "a GitLab token", false},
    {SPLIT("X-Api", "-Key: "), alnum, 20, "an API key header", false},
    {SPLIT("AWS_SECRET", "_ACCESS_KEY="), alnum, 40, "an AWS secret key", false},
    {SPLIT("aws_secret", "_access_key=\""), alnum, 40, "an AWS secret key", false},
    {SPLIT("-----BEGIN RSA PRIVATE", " KEY-----\n"), alnum, 20, "a private key", false},
    {SPLIT("-----BEGIN PRIVATE", " KEY-----"), alnum, 0, "a private key", false},
    {SPLIT("-----BEGIN OPENSSH PRIVATE", " KEY-----"), alnum, 0, "a private key", false},
    {SPLIT("-----BEGIN PGP PRIVATE", " KEY BLOCK-----"), alnum, 0, "a private key", false},
    {SPLIT("123456789:", "AA"), alnum, 33, "a Telegram token", false},
    {SPLIT("https://api.telegram.org/bot123456789:", "AA"), alnum, 33, "a Telegram token", false},
    {SPLIT("https://user:", "secret@host/"), alnum, 1, "a URL with a password", false},
    {SPLIT("postgres://user:", "p%40ss:word@db.example:5432/name"), alnum, 0, "a URL with a password", false},
    {SPLIT("git+https://:", "pass@host"), alnum, 0, "a URL with a password", false},
    {SPLIT("redis://default:", "a@b@host"), alnum, 0, "a URL with a password", false},
};

static void make(char *value, size_t size, const char *before, const struct shape *shape, const char *after)
{
    size_t at = (size_t)snprintf(value, size, "%s%s", before, shape->prefix);
    for (size_t i = 0; i < shape->length; i++)
        value[at++] = shape->alphabet[i % strlen(shape->alphabet)];
    (void)snprintf(value + at, size - at, "%s", after);
}

static void assert_kind(const char *value, const char *kind)
{
    const char *found = ck_secret_kind(value);
    if (!found || strcmp(found, kind) != 0)
        fail_msg("'%.20s...' should look like %s, and looks like %s", value, kind, found ? found : "nothing");
}

static void known_formats_are_seen(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(shapes); i++) {
        char value[256];
        make(value, sizeof(value), "", &shapes[i], "");
        assert_kind(value, shapes[i].kind);
    }
}

static void known_formats_are_seen_inside_a_value(void **state)
{
    (void)state;
    static const struct {
        const char *before;
        const char *after;
    } places[] = {{"--token=", ""},     {"--header=X: ", " "}, {"NAME=", "\n"},
                  {"{\"a\":\"", "\"}"}, {"a b c ", ",d"},      {"-u", ""}};
    for (size_t i = 0; i < COUNT(shapes); i++)
        for (size_t k = 0; k < COUNT(places); k++) {
            char value[320];
            make(value, sizeof(value), places[k].before, &shapes[i], places[k].after);
            assert_kind(value, shapes[i].kind);
        }
}

static void shorter_runs_are_not_credentials(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(shapes); i++) {
        struct shape shorter = shapes[i];
        if (!shorter.shortest)
            continue;
        char value[256];
        shorter.length--;
        make(value, sizeof(value), "", &shorter, "");
        const char *kind = ck_secret_kind(value);
        if (kind)
            fail_msg("'%s' is too short, and looks like %s", value, kind);
    }
}

static void fixed_lengths_are_exact(void **state)
{
    (void)state;
    static const char *const prefixes[] = {SPLIT("AK", "IA"), SPLIT("AI", "za"), SPLIT("dop", "_v1_"),
                                           SPLIT("sh", "pat_"), SPLIT("da", "pi")};
    for (size_t i = 0; i < COUNT(shapes); i++)
        for (size_t k = 0; k < COUNT(prefixes); k++) {
            if (strcmp(shapes[i].prefix, prefixes[k]) != 0)
                continue;
            struct shape longer = shapes[i];
            char value[256];
            longer.length++;
            make(value, sizeof(value), "", &longer, "");
            assert_null(ck_secret_kind(value));
        }
}

static void tokens_of_three_parts_are_seen(void **state)
{
    (void)state;
    char value[256];
    (void)snprintf(value, sizeof(value), "%s%s.%s%s.%s", SPLIT("ey", "J"), "hbGciOiJIUzI1NiJ9", SPLIT("ey", "J"),
                   "zdWIiOiIxMjM0In0", alnum);
    assert_kind(value, "a JSON web token");
    (void)snprintf(value, sizeof(value), "id_token=%s%s.%s%s.%s&x=1", SPLIT("ey", "J"), "hbGciOiJIUzI1NiJ9",
                   SPLIT("ey", "J"), "zdWIiOiIxMjM0In0", alnum);
    assert_kind(value, "a JSON web token");
    (void)snprintf(value, sizeof(value), "%s%s.%s%s", SPLIT("ey", "J"), "hbGciOiJIUzI1NiJ9", SPLIT("ey", "J"),
                   "zdWIiOiIxMjM0In0");
    assert_null(ck_secret_kind(value));
    (void)snprintf(value, sizeof(value), "%s%s.%s.%s", SPLIT("ey", "J"), "hbGciOiJIUzI1NiJ9", "zdWIiOiIxMjM0In0",
                   alnum);
    assert_null(ck_secret_kind(value));

    char key[96];
    (void)snprintf(key, sizeof(key), "%s%.22s.%.36s%.7s", SPLIT("S", "G."), alnum, alnum, alnum);
    assert_kind(key, "a SendGrid key");
}

/* The search uses the first byte, then a bit for the second; a general prefix must not hide a
 * special one. */
static void table_is_in_order(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(formats); i++) {
        const char *prefix = formats[i].prefix;
        if (i > 0 && formats[i - 1].prefix[0] > prefix[0])
            fail_msg("'%s' is not in the order of the first byte", prefix);
        if ((seconds[(unsigned char)prefix[0]] & SECOND(prefix[1])) == 0)
            fail_msg("'%s' has no bit in seconds", prefix);
        for (size_t k = i + 1; k < COUNT(formats); k++)
            if (strncmp(formats[k].prefix, prefix, strlen(prefix)) == 0)
                fail_msg("'%s' hides '%s'", prefix, formats[k].prefix);
    }
}

/* ---- what is not one --------------------------------------------------------------------- */

static const char *const innocents[] = {
    "",
    "-",
    "--",
    "-----",
    "git",
    "--version",
    "HEAD~3",
    "refs/heads/feature/sk-learn-upgrade",
    "origin/release-2024.01.02",
    "da39a3ee5e6b4b0d3255bfef95601890afd80709",
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "sha512-z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNKHfuwvY7kxvUdBeoGlODJ6+SfaPg==",
    "550e8400-e29b-41d4-a716-446655440000",
    "https://example.com/path?x=1&y=2",
    "https://example.com:8443/a@b",
    "https://user@example.com/repo.git",
    "ssh://git@github.com:22/owner/repo.git",
    "git@github.com:owner/repo.git",
    "https://user:@example.com",
    "https://user:***@example.com/",
    "http://[::1]:8080/",
    "http://localhost:3000/@scope/name",
    "docker://alpine:3.18@sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "registry.example:5000/team/image:tag@sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "npm:@scope/name@1.2.3",
    "@sourcegraph/scip-typescript",
    "npm_config_x",
    "npm_config_ignore_scripts_and_a_very_long_rest_of_a_name",
    "sk-learn",
    "sk-learn-contrib-with-a-long-name-of-words",
    "task-0123456789abcdef0123456789abcdef",
    "hf_transfer",
    "hf_hub_download",
    "gho_st",
    "ghp_",
    "glpat-",
    "xoxo-hugs-and-kisses",
    "AKIAIO",
    "AIzawa",
    "dapi",
    "dapper",
    "SG.com",
    "hvs.de",
    "ya29",
    "eyJhbGciOiJub25lIn0",
    "eyJhIjoxfQ==",
    "aGVsbG8gd29ybGQ=",
    "TWFuIGlzIGRpc3Rpbmd1aXNoZWQsIG5vdCBvbmx5IGJ5IGhpcyByZWFzb24=",
    "Authorization: Bearer",
    "Authorization: Bearer $TOKEN",
    "Authorization: Bearer <token>",
    "Authorization:",
    "X-Api-Key: ",
    "aws_secret_access_key",
    "AWS_SECRET_ACCESS_KEY=",
    "AccountKey=",
    "-----BEGIN CERTIFICATE-----",
    "-----BEGIN PUBLIC KEY-----",
    "-----BEGIN RSA PUBLIC KEY-----",
    "PRIVATE KEY",
    "BEGIN RSA PRIVATE KEY",
    "-----BEGIN .* PRIVATE KEY-----",
    "12:34:56",
    "2024-01-02T03:04:05Z",
    "12345678:AAAA",
    "fe80::1",
    "C:\\Users\\name",
    "src/**/*.{ts,tsx}",
    "(?i)password\\s*=\\s*['\"][^'\"]+['\"]",
    "ghp_[0-9a-zA-Z]{36}",
    "AKIA[0-9A-Z]{16}",
    "key=value",
    "KEY=0123456789",
    "\xff\xfe\xfd",
    "\x01\x02://\x03:\x04",
    "://",
    "://@",
    "://:@",
    ":AA",
};

static void innocent_values_are_left_alone(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(innocents); i++) {
        const char *kind = ck_secret_kind(innocents[i]);
        if (kind)
            fail_msg("'%s' looks like %s, and is not", innocents[i], kind);
    }
}

static void prefix_inside_a_word_is_no_prefix(void **state)
{
    (void)state;
    char value[256];
    (void)snprintf(value, sizeof(value), "blob%s%s", SPLIT("gh", "p_"), alnum);
    assert_null(ck_secret_kind(value));
    (void)snprintf(value, sizeof(value), "X%s%s", SPLIT("AK", "IA"), "ABCDEFGHJKLMNPQR");
    assert_null(ck_secret_kind(value));
}

/* Long values made of prefixes: each must be looked at without reading the whole rest again. */
static void long_values_of_prefixes_end(void **state)
{
    (void)state;
    static const char *const pieces[] = {SPLIT("AI", "za-"),
                                         SPLIT("ey", "J-"),
                                         SPLIT("ey", "J."),
                                         SPLIT("sk", "-"),
                                         "://:",
                                         "-----BEGIN ",
                                         "authorization: basic %",
                                         "1:",
                                         SPLIT("gh", "p_.")};
    size_t size = 131072;
    char *value = test_malloc(size);
    for (size_t i = 0; i < COUNT(pieces); i++) {
        size_t at = 0;
        while (at + strlen(pieces[i]) < size)
            at += (size_t)snprintf(value + at, size - at, "%s", pieces[i]);
        assert_null(ck_secret_kind(value));
    }
    test_free(value);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(table_is_in_order),
        cmocka_unit_test(known_formats_are_seen),
        cmocka_unit_test(known_formats_are_seen_inside_a_value),
        cmocka_unit_test(shorter_runs_are_not_credentials),
        cmocka_unit_test(fixed_lengths_are_exact),
        cmocka_unit_test(tokens_of_three_parts_are_seen),
        cmocka_unit_test(innocent_values_are_left_alone),
        cmocka_unit_test(prefix_inside_a_word_is_no_prefix),
        cmocka_unit_test(long_values_of_prefixes_end),
    };
    return cmocka_run_group_tests_name("secret", tests, NULL, NULL);
}
