/*
 * secret_table.h - the formats of credentials that are a fixed prefix and a run of one alphabet. Data of secret.c alone.
 */
#ifndef CK_POLICY_SECRET_TABLE_H
#define CK_POLICY_SECRET_TABLE_H

#include <stddef.h>
#include <stdint.h>

#define DIGIT 1U
#define LOWER 2U
#define UPPER 4U
#define UNDER 8U
#define DASH 16U
#define DOT 32U
#define BASE64 64U /* + / = */
#define SLASH 128U
#define HEX 256U
#define TILDE 512U

#define ALNUM (DIGIT | LOWER | UPPER)
#define WORD (ALNUM | UNDER)
#define URL_SAFE (ALNUM | UNDER | DASH)
#define ANY_TOKEN (URL_SAFE | DOT | BASE64 | SLASH | TILDE)

#define NO_MAX SIZE_MAX

#define MIXED 1U /* the run has letters and digits, or it is a word */
#define ALONE 2U /* not behind '-', '.' or '_': cache-key-0123 is another thing */
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* In the order of the first byte, by which a row is looked up; a special prefix stands before its general one. */
static const struct format {
    const char *prefix;
    unsigned alphabet;
    size_t min; /* bytes after the prefix */
    size_t max;
    const char *kind;
    unsigned flags;
} formats[] = {
    {"1//0", URL_SAFE, 40, NO_MAX, "a Google refresh token", 0},
    {"AKIA", DIGIT | UPPER, 16, 16, "an AWS access key", 0},
    {"ASIA", DIGIT | UPPER, 16, 16, "an AWS access key", 0},
    {"AIza", URL_SAFE, 35, 35, "a Google API key", 0},
    {"AGE-SECRET-KEY-1", DIGIT | UPPER, 58, 58, "an age secret key", 0},
    {"AccountKey=", ALNUM | BASE64 | SLASH, 80, NO_MAX, "an Azure storage key", 0},
    {"ATATT3", URL_SAFE | BASE64, 100, NO_MAX, "an Atlassian token", 0},
    {"ABIA", DIGIT | UPPER, 16, 16, "an AWS access key", 0},
    {"ACCA", DIGIT | UPPER, 16, 16, "an AWS access key", 0},
    {"ABSK", ALNUM | BASE64 | SLASH, 100, NO_MAX, "an AWS key", 0},
    {"AKCp", ALNUM, 69, NO_MAX, "an Artifactory key", 0},
    {"ATBB", ALNUM, 28, NO_MAX, "a Bitbucket token", 0},
    {"ATCTT3", URL_SAFE | BASE64, 100, NO_MAX, "an Atlassian token", 0},
    {"CFPAT-", URL_SAFE, 40, NO_MAX, "a Contentful token", 0},
    {"CLOJARS_", ALNUM, 60, 60, "a Clojars token", 0},
    {"EAACEdEose0cBA", ALNUM, 20, NO_MAX, "a Facebook token", 0},
    {"EZAK", ALNUM, 54, 54, "an EasyPost key", 0},
    {"FLWSECK-", ALNUM | DASH, 20, NO_MAX, "a Flutterwave key", 0},
    {"GOCSPX-", URL_SAFE, 28, 28, "a Google client secret", 0},
    {"HRKU-", URL_SAFE, 36, NO_MAX, "a Heroku key", 0},
    {"LTAI", ALNUM, 12, 26, "an Alibaba access key", MIXED},
    {"NRAK-", DIGIT | UPPER, 27, 27, "a New Relic key", 0},
    {"PMAK-", ALNUM | DASH, 59, 59, "a Postman key", 0},
    {"PuTTY-User-Key-File-", DIGIT, 1, NO_MAX, "a private key", 0},
    {"SG.", URL_SAFE | DOT, 66, 66, "a SendGrid key", 0},
    {"SharedAccessKey=", ALNUM | BASE64 | SLASH, 40, NO_MAX, "an Azure access key", 0},
    {"SK", HEX, 32, 32, "a Twilio key", ALONE},
    {"bkua_", HEX, 40, 40, "a Buildkite token", 0},
    {"cio", ALNUM, 32, 32, "a crates.io token", MIXED | ALONE},
    {"cmVmdGtu", ALNUM, 56, 56, "an Artifactory token", 0},
    {"dckr_pat_", URL_SAFE, 20, NO_MAX, "a Docker token", 0},
    {"dckr_oat_", URL_SAFE, 20, NO_MAX, "a Docker token", 0},
    {"dop_v1_", HEX, 64, 64, "a DigitalOcean token", 0},
    {"doo_v1_", HEX, 64, 64, "a DigitalOcean token", 0},
    {"dor_v1_", HEX, 64, 64, "a DigitalOcean token", 0},
    {"discord.com/api/webhooks/", URL_SAFE | SLASH, 60, NO_MAX, "a Discord webhook", 0},
    {"discordapp.com/api/webhooks/", URL_SAFE | SLASH, 60, NO_MAX, "a Discord webhook", 0},
    {"dapi", HEX, 32, 32, "a Databricks token", 0},
    {"dp.pt.", ALNUM, 40, NO_MAX, "a Doppler token", 0},
    {"dp.st.", URL_SAFE | DOT, 40, NO_MAX, "a Doppler token", 0},
    {"dt0c01.", ALNUM | DOT, 80, NO_MAX, "a Dynatrace token", 0},
    {"duffel_live_", URL_SAFE, 40, NO_MAX, "a Duffel token", 0},
    {"eyJrIjoi", ALNUM | BASE64, 60, NO_MAX, "a Grafana key", 0},
    {"figd_", URL_SAFE, 40, NO_MAX, "a Figma token", 0},
    {"fc-", HEX, 32, 32, "a Firecrawl key", ALONE},
    {"fm2_", URL_SAFE | BASE64 | SLASH, 60, NO_MAX, "a Fly.io token", 0},
    {"fo1_", URL_SAFE, 40, NO_MAX, "a Fly.io token", 0},
    {"ghp_", WORD, 36, NO_MAX, "a GitHub token", 0},
    {"gho_", WORD, 36, NO_MAX, "a GitHub token", 0},
    {"ghu_", WORD, 36, NO_MAX, "a GitHub token", 0},
    {"ghs_", WORD, 36, NO_MAX, "a GitHub token", 0},
    {"ghr_", WORD, 36, NO_MAX, "a GitHub token", 0},
    {"github_pat_", WORD, 36, NO_MAX, "a GitHub token", 0},
    {"glpat-", URL_SAFE | DOT, 20, NO_MAX, "a GitLab token", 0},
    {"gldt-", URL_SAFE | DOT, 20, NO_MAX, "a GitLab token", 0},
    {"glrt-", URL_SAFE | DOT, 20, NO_MAX, "a GitLab token", 0},
    {"glptt-", URL_SAFE | DOT, 20, NO_MAX, "a GitLab token", 0},
    {"glcbt-", URL_SAFE | DOT, 20, NO_MAX, "a GitLab token", 0},
    {"glsoat-", URL_SAFE | DOT, 20, NO_MAX, "a GitLab token", 0},
    {"gloas-", URL_SAFE | DOT, 20, NO_MAX, "a GitLab token", 0},
    {"glagent-", URL_SAFE | DOT, 20, NO_MAX, "a GitLab token", 0},
    {"gsk_", ALNUM, 52, 52, "a Groq key", 0},
    {"glsa_", WORD, 40, NO_MAX, "a Grafana token", 0},
    {"glc_", ALNUM | BASE64, 32, NO_MAX, "a Grafana token", MIXED},
    {"glft-", URL_SAFE | DOT, 20, NO_MAX, "a GitLab token", 0},
    {"glimt-", URL_SAFE | DOT, 20, NO_MAX, "a GitLab token", 0},
    {"glffct-", URL_SAFE | DOT, 20, NO_MAX, "a GitLab token", 0},
    {"hf_", ALNUM, 34, NO_MAX, "a Hugging Face token", 0},
    {"hooks.slack.com/services/", ALNUM | SLASH, 20, NO_MAX, "a Slack webhook", 0},
    {"hooks.slack.com/workflows/", ALNUM | SLASH, 20, NO_MAX, "a Slack webhook", 0},
    {"hooks.slack.com/triggers/", ALNUM | SLASH, 20, NO_MAX, "a Slack webhook", 0},
    {"hvs.", URL_SAFE, 24, NO_MAX, "a Vault token", 0},
    {"hvb.", URL_SAFE, 24, NO_MAX, "a Vault token", 0},
    {"hvr.", URL_SAFE, 24, NO_MAX, "a Vault token", 0},
    {"key-", HEX, 32, 32, "a Mailgun key", ALONE},
    {"lin_api_", ALNUM, 32, NO_MAX, "a Linear key", 0},
    {"lin_oauth_", ALNUM, 32, NO_MAX, "a Linear key", 0},
    {"lsv2_pt_", HEX | UNDER, 40, NO_MAX, "a LangSmith key", 0},
    {"npm_", ALNUM, 36, NO_MAX, "an npm token", 0},
    {"nfp_", ALNUM, 36, NO_MAX, "a Netlify token", 0},
    {"ntn_", ALNUM, 40, NO_MAX, "a Notion token", MIXED},
    {"nvapi-", URL_SAFE, 60, NO_MAX, "an NVIDIA key", 0},
    {"ops_eyJ", URL_SAFE | BASE64, 200, NO_MAX, "a 1Password token", 0},
    {"oy2", DIGIT | LOWER, 43, 43, "a NuGet key", MIXED | ALONE},
    {"pypi-AgE", URL_SAFE, 50, NO_MAX, "a PyPI token", 0},
    {"pul-", HEX, 40, 40, "a Pulumi token", 0},
    {"pscale_tkn_", URL_SAFE | DOT, 32, NO_MAX, "a PlanetScale token", 0},
    {"pat-na1-", HEX | DASH, 36, 36, "a HubSpot token", 0},
    {"pat-eu1-", HEX | DASH, 36, 36, "a HubSpot token", 0},
    {"pplx-", ALNUM, 40, NO_MAX, "a Perplexity key", 0},
    {"pscale_pw_", URL_SAFE | DOT, 32, NO_MAX, "a PlanetScale password", 0},
    {"pscale_oauth_", URL_SAFE | DOT, 32, NO_MAX, "a PlanetScale token", 0},
    {"rubygems_", HEX, 48, 48, "a RubyGems token", 0},
    {"rk_live_", ALNUM, 16, NO_MAX, "a Stripe key", 0},
    {"r8_", ALNUM, 37, 37, "a Replicate token", 0},
    {"rk_test_", ALNUM, 16, NO_MAX, "a Stripe key", 0},
    {"rnd_", ALNUM, 28, NO_MAX, "a Render key", MIXED},
    {"rzp_live_", ALNUM, 14, NO_MAX, "a Razorpay key", 0},
    {"rzp_test_", ALNUM, 14, NO_MAX, "a Razorpay key", 0},
    {"sk_live_", ALNUM, 16, NO_MAX, "a Stripe key", 0},
    {"sk-ant-", URL_SAFE, 20, NO_MAX, "an Anthropic key", 0},
    {"sk-proj-", URL_SAFE, 20, NO_MAX, "an OpenAI key", 0},
    {"sk-svcacct-", URL_SAFE, 20, NO_MAX, "an OpenAI key", 0},
    {"sk-admin-", URL_SAFE, 20, NO_MAX, "an OpenAI key", 0},
    {"sk-or-v1-", HEX, 64, 64, "an OpenRouter key", 0},
    {"sk-", ALNUM, 32, NO_MAX, "an API key", 0},
    {"shpat_", HEX, 32, 32, "a Shopify token", 0},
    {"shpca_", HEX, 32, 32, "a Shopify token", 0},
    {"shppa_", HEX, 32, 32, "a Shopify token", 0},
    {"shpss_", HEX, 32, 32, "a Shopify secret", 0},
    {"sbp_", HEX, 40, 40, "a Supabase token", 0},
    {"sntrys_", ALNUM | BASE64 | UNDER, 60, NO_MAX, "a Sentry token", 0},
    {"sntryu_", HEX, 64, 64, "a Sentry token", 0},
    {"sb_secret_", URL_SAFE, 20, NO_MAX, "a Supabase key", 0},
    {"secret_", ALNUM, 43, 43, "a Notion token", MIXED},
    {"sgp_", HEX | UNDER, 40, NO_MAX, "a Sourcegraph token", 0},
    {"shippo_live_", HEX, 40, 40, "a Shippo token", 0},
    {"shippo_test_", HEX, 40, 40, "a Shippo token", 0},
    {"sk_test_", ALNUM, 16, NO_MAX, "a Stripe key", 0},
    {"sl.", URL_SAFE, 100, NO_MAX, "a Dropbox token", 0},
    {"sq0atp-", URL_SAFE, 22, 22, "a Square token", 0},
    {"sq0csp-", URL_SAFE, 43, 43, "a Square secret", 0},
    {"tskey-", ALNUM | DASH, 20, NO_MAX, "a Tailscale key", 0},
    {"tfp_", WORD, 40, NO_MAX, "a Typeform token", MIXED},
    {"tvly-", ALNUM | DASH, 32, NO_MAX, "a Tavily key", MIXED},
    {"v1.0-", HEX | DASH, 150, NO_MAX, "a Cloudflare key", 0},
    {"whsec_", ALNUM | BASE64 | SLASH, 32, NO_MAX, "a webhook secret", 0},
    {"webhook.office.com/webhookb2/", URL_SAFE | SLASH, 60, NO_MAX, "an Office webhook", 0},
    {"xai-", ALNUM, 80, 80, "an xAI key", 0},
    {"xoxb-", ALNUM | DASH, 12, NO_MAX, "a Slack token", 0},
    {"xoxp-", ALNUM | DASH, 12, NO_MAX, "a Slack token", 0},
    {"xoxa-", ALNUM | DASH, 12, NO_MAX, "a Slack token", 0},
    {"xoxr-", ALNUM | DASH, 12, NO_MAX, "a Slack token", 0},
    {"xoxs-", ALNUM | DASH, 12, NO_MAX, "a Slack token", 0},
    {"xoxe-", ALNUM | DASH, 12, NO_MAX, "a Slack token", 0},
    {"xoxe.xox", ALNUM | DASH, 12, NO_MAX, "a Slack token", 0},
    {"xapp-", ALNUM | DASH, 20, NO_MAX, "a Slack token", 0},
    {"xkeysib-", HEX | DASH, 64, NO_MAX, "a Brevo key", 0},
    {"xsmtpsib-", HEX | DASH, 64, NO_MAX, "a Brevo key", 0},
    {"xoxc-", ALNUM | DASH, 12, NO_MAX, "a Slack token", 0},
    {"xoxd-", ALNUM | DASH, 12, NO_MAX, "a Slack token", 0},
    {"ya29.", URL_SAFE, 20, NO_MAX, "a Google access token", 0},
    {"y0_", URL_SAFE, 50, NO_MAX, "a Yandex token", 0},
};

/*
 * The second bytes that a prefix with this first byte may have, folded to 32 bits: nearly every word ends here. A row of
 * formats needs its bit; the tests know every prefix.
 */
#define SECOND(c) (1U << ((c)&31))
static const uint32_t seconds[128] = {
    ['1'] = SECOND('/'),
    ['A'] =
        SECOND('B') | SECOND('C') | SECOND('G') | SECOND('I') | SECOND('K') | SECOND('S') | SECOND('T') | SECOND('c'),
    ['C'] = SECOND('F') | SECOND('L'),
    ['E'] = SECOND('A') | SECOND('Z'),
    ['F'] = SECOND('L'),
    ['G'] = SECOND('O'),
    ['H'] = SECOND('R'),
    ['L'] = SECOND('T'),
    ['N'] = SECOND('R'),
    ['P'] = SECOND('M') | SECOND('u'),
    ['S'] = SECOND('G') | SECOND('K') | SECOND('h'),
    ['b'] = SECOND('k'),
    ['c'] = SECOND('i') | SECOND('m'),
    ['d'] = SECOND('a') | SECOND('c') | SECOND('i') | SECOND('o') | SECOND('p') | SECOND('t') | SECOND('u'),
    ['e'] = SECOND('y'),
    ['f'] = SECOND('c') | SECOND('i') | SECOND('m') | SECOND('o'),
    ['g'] = SECOND('h') | SECOND('i') | SECOND('l') | SECOND('s'),
    ['h'] = SECOND('f') | SECOND('o') | SECOND('v'),
    ['k'] = SECOND('e'),
    ['l'] = SECOND('i') | SECOND('s'),
    ['n'] = SECOND('f') | SECOND('p') | SECOND('t') | SECOND('v'),
    ['o'] = SECOND('p') | SECOND('y'),
    ['p'] = SECOND('a') | SECOND('p') | SECOND('s') | SECOND('u') | SECOND('y'),
    ['r'] = SECOND('8') | SECOND('k') | SECOND('n') | SECOND('u') | SECOND('z'),
    ['s'] =
        SECOND('b') | SECOND('e') | SECOND('g') | SECOND('h') | SECOND('k') | SECOND('l') | SECOND('n') | SECOND('q'),
    ['t'] = SECOND('f') | SECOND('s') | SECOND('v'),
    ['v'] = SECOND('1'),
    ['w'] = SECOND('e') | SECOND('h'),
    ['x'] = SECOND('a') | SECOND('k') | SECOND('o') | SECOND('s'),
    ['y'] = SECOND('0') | SECOND('a'),
};

#endif
