/*
 * secret_table.h - the credential formats that are a fixed prefix and a run of one alphabet.
 * Included by secret.c only.
 */
#ifndef CK_POLICY_SECRET_TABLE_H
#define CK_POLICY_SECRET_TABLE_H

#include <stddef.h>
#include <stdint.h>

/* Classes of characters, one bit each; an alphabet is several of them. secret.c has the table. */
#define DIGIT 1U
#define LOWER 2U
#define UPPER 4U
#define UNDER 8U
#define DASH 16U
#define DOT 32U
#define BASE64 64U /* '+' and '='; standard base64 is BASE64 | SLASH with ALNUM */
#define SLASH 128U
#define HEX 256U /* digits and a-f, in lower case only */
#define TILDE 512U

#define ALNUM (DIGIT | LOWER | UPPER)
#define WORD (ALNUM | UNDER)
#define URL_SAFE (ALNUM | UNDER | DASH)
#define ANY_TOKEN (URL_SAFE | DOT | BASE64 | SLASH | TILDE)

#define NO_MAX SIZE_MAX /* the run may be longer than min */

#define MIXED 1U /* the run must have letters and digits, or it is a word */
#define ALONE 2U /* not after '-', '.' or '_': cache-key-0123 is not a credential */
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/*
 * Sorted by the first byte, by which a row is found; a special prefix comes before its general one.
 */
static const struct format {
    const char *prefix; /* compared exactly, with case */
    unsigned alphabet;  /* of the run after the prefix */
    unsigned flags;     /* MIXED, ALONE */
    size_t min;         /* bytes after the prefix */
    size_t max;         /* a longer run is another text */
    const char *kind;   /* for messages: "looks like KIND" */
} formats[] = {
    {"1//0", URL_SAFE, 0, 40, NO_MAX, "a Google refresh token"},
    {"AKIA", DIGIT | UPPER, 0, 16, 16, "an AWS access key"},
    {"ASIA", DIGIT | UPPER, 0, 16, 16, "an AWS access key"},
    {"AIza", URL_SAFE, 0, 35, 35, "a Google API key"},
    {"AGE-SECRET-KEY-1", DIGIT | UPPER, 0, 58, 58, "an age secret key"},
    {"AccountKey=", ALNUM | BASE64 | SLASH, 0, 80, NO_MAX, "an Azure storage key"},
    {"ATATT3", URL_SAFE | BASE64, 0, 100, NO_MAX, "an Atlassian token"},
    {"ABIA", DIGIT | UPPER, 0, 16, 16, "an AWS access key"},
    {"ACCA", DIGIT | UPPER, 0, 16, 16, "an AWS access key"},
    {"ABSK", ALNUM | BASE64 | SLASH, 0, 100, NO_MAX, "an AWS key"},
    {"AKCp", ALNUM, 0, 69, NO_MAX, "an Artifactory key"},
    {"ATBB", ALNUM, 0, 28, NO_MAX, "a Bitbucket token"},
    {"ATCTT3", URL_SAFE | BASE64, 0, 100, NO_MAX, "an Atlassian token"},
    {"CFPAT-", URL_SAFE, 0, 40, NO_MAX, "a Contentful token"},
    {"CLOJARS_", ALNUM, 0, 60, 60, "a Clojars token"},
    {"EAACEdEose0cBA", ALNUM, 0, 20, NO_MAX, "a Facebook token"},
    {"EZAK", ALNUM, 0, 54, 54, "an EasyPost key"},
    {"FLWSECK-", ALNUM | DASH, 0, 20, NO_MAX, "a Flutterwave key"},
    {"GOCSPX-", URL_SAFE, 0, 28, 28, "a Google client secret"},
    {"HRKU-", URL_SAFE, 0, 36, NO_MAX, "a Heroku key"},
    {"LTAI", ALNUM, MIXED, 12, 26, "an Alibaba access key"},
    {"NRAK-", DIGIT | UPPER, 0, 27, 27, "a New Relic key"},
    {"PMAK-", ALNUM | DASH, 0, 59, 59, "a Postman key"},
    {"PuTTY-User-Key-File-", DIGIT, 0, 1, NO_MAX, "a private key"},
    {"SG.", URL_SAFE | DOT, 0, 66, 66, "a SendGrid key"},
    {"SharedAccessKey=", ALNUM | BASE64 | SLASH, 0, 40, NO_MAX, "an Azure access key"},
    {"SK", HEX, ALONE, 32, 32, "a Twilio key"},
    {"bkua_", HEX, 0, 40, 40, "a Buildkite token"},
    {"cio", ALNUM, MIXED | ALONE, 32, 32, "a crates.io token"},
    {"cmVmdGtu", ALNUM, 0, 56, 56, "an Artifactory token"},
    {"dckr_pat_", URL_SAFE, 0, 20, NO_MAX, "a Docker token"},
    {"dckr_oat_", URL_SAFE, 0, 20, NO_MAX, "a Docker token"},
    {"dop_v1_", HEX, 0, 64, 64, "a DigitalOcean token"},
    {"doo_v1_", HEX, 0, 64, 64, "a DigitalOcean token"},
    {"dor_v1_", HEX, 0, 64, 64, "a DigitalOcean token"},
    {"discord.com/api/webhooks/", URL_SAFE | SLASH, 0, 60, NO_MAX, "a Discord webhook"},
    {"discordapp.com/api/webhooks/", URL_SAFE | SLASH, 0, 60, NO_MAX, "a Discord webhook"},
    {"dapi", HEX, 0, 32, 32, "a Databricks token"},
    {"dp.pt.", ALNUM, 0, 40, NO_MAX, "a Doppler token"},
    {"dp.st.", URL_SAFE | DOT, 0, 40, NO_MAX, "a Doppler token"},
    {"dt0c01.", ALNUM | DOT, 0, 80, NO_MAX, "a Dynatrace token"},
    {"duffel_live_", URL_SAFE, 0, 40, NO_MAX, "a Duffel token"},
    {"eyJrIjoi", ALNUM | BASE64, 0, 60, NO_MAX, "a Grafana key"},
    {"figd_", URL_SAFE, 0, 40, NO_MAX, "a Figma token"},
    {"fc-", HEX, ALONE, 32, 32, "a Firecrawl key"},
    {"fm2_", URL_SAFE | BASE64 | SLASH, 0, 60, NO_MAX, "a Fly.io token"},
    {"fo1_", URL_SAFE, 0, 40, NO_MAX, "a Fly.io token"},
    {"ghp_", WORD, 0, 36, NO_MAX, "a GitHub token"},
    {"gho_", WORD, 0, 36, NO_MAX, "a GitHub token"},
    {"ghu_", WORD, 0, 36, NO_MAX, "a GitHub token"},
    {"ghs_", WORD, 0, 36, NO_MAX, "a GitHub token"},
    {"ghr_", WORD, 0, 36, NO_MAX, "a GitHub token"},
    {"github_pat_", WORD, 0, 36, NO_MAX, "a GitHub token"},
    {"glpat-", URL_SAFE | DOT, 0, 20, NO_MAX, "a GitLab token"},
    {"gldt-", URL_SAFE | DOT, 0, 20, NO_MAX, "a GitLab token"},
    {"glrt-", URL_SAFE | DOT, 0, 20, NO_MAX, "a GitLab token"},
    {"glptt-", URL_SAFE | DOT, 0, 20, NO_MAX, "a GitLab token"},
    {"glcbt-", URL_SAFE | DOT, 0, 20, NO_MAX, "a GitLab token"},
    {"glsoat-", URL_SAFE | DOT, 0, 20, NO_MAX, "a GitLab token"},
    {"gloas-", URL_SAFE | DOT, 0, 20, NO_MAX, "a GitLab token"},
    {"glagent-", URL_SAFE | DOT, 0, 20, NO_MAX, "a GitLab token"},
    {"gsk_", ALNUM, 0, 52, 52, "a Groq key"},
    {"glsa_", WORD, 0, 40, NO_MAX, "a Grafana token"},
    {"glc_", ALNUM | BASE64, MIXED, 32, NO_MAX, "a Grafana token"},
    {"glft-", URL_SAFE | DOT, 0, 20, NO_MAX, "a GitLab token"},
    {"glimt-", URL_SAFE | DOT, 0, 20, NO_MAX, "a GitLab token"},
    {"glffct-", URL_SAFE | DOT, 0, 20, NO_MAX, "a GitLab token"},
    {"hf_", ALNUM, 0, 34, NO_MAX, "a Hugging Face token"},
    {"hooks.slack.com/services/", ALNUM | SLASH, 0, 20, NO_MAX, "a Slack webhook"},
    {"hooks.slack.com/workflows/", ALNUM | SLASH, 0, 20, NO_MAX, "a Slack webhook"},
    {"hooks.slack.com/triggers/", ALNUM | SLASH, 0, 20, NO_MAX, "a Slack webhook"},
    {"hvs.", URL_SAFE, 0, 24, NO_MAX, "a Vault token"},
    {"hvb.", URL_SAFE, 0, 24, NO_MAX, "a Vault token"},
    {"hvr.", URL_SAFE, 0, 24, NO_MAX, "a Vault token"},
    {"key-", HEX, ALONE, 32, 32, "a Mailgun key"},
    {"lin_api_", ALNUM, 0, 32, NO_MAX, "a Linear key"},
    {"lin_oauth_", ALNUM, 0, 32, NO_MAX, "a Linear key"},
    {"lsv2_pt_", HEX | UNDER, 0, 40, NO_MAX, "a LangSmith key"},
    {"npm_", ALNUM, 0, 36, NO_MAX, "an npm token"},
    {"nfp_", ALNUM, 0, 36, NO_MAX, "a Netlify token"},
    {"ntn_", ALNUM, MIXED, 40, NO_MAX, "a Notion token"},
    {"nvapi-", URL_SAFE, 0, 60, NO_MAX, "an NVIDIA key"},
    {"ops_eyJ", URL_SAFE | BASE64, 0, 200, NO_MAX, "a 1Password token"},
    {"oy2", DIGIT | LOWER, MIXED | ALONE, 43, 43, "a NuGet key"},
    {"pypi-AgE", URL_SAFE, 0, 50, NO_MAX, "a PyPI token"},
    {"pul-", HEX, 0, 40, 40, "a Pulumi token"},
    {"pscale_tkn_", URL_SAFE | DOT, 0, 32, NO_MAX, "a PlanetScale token"},
    {"pat-na1-", HEX | DASH, 0, 36, 36, "a HubSpot token"},
    {"pat-eu1-", HEX | DASH, 0, 36, 36, "a HubSpot token"},
    {"pplx-", ALNUM, 0, 40, NO_MAX, "a Perplexity key"},
    {"pscale_pw_", URL_SAFE | DOT, 0, 32, NO_MAX, "a PlanetScale password"},
    {"pscale_oauth_", URL_SAFE | DOT, 0, 32, NO_MAX, "a PlanetScale token"},
    {"rubygems_", HEX, 0, 48, 48, "a RubyGems token"},
    {"rk_live_", ALNUM, 0, 16, NO_MAX, "a Stripe key"},
    {"r8_", ALNUM, 0, 37, 37, "a Replicate token"},
    {"rk_test_", ALNUM, 0, 16, NO_MAX, "a Stripe key"},
    {"rnd_", ALNUM, MIXED, 28, NO_MAX, "a Render key"},
    {"rzp_live_", ALNUM, 0, 14, NO_MAX, "a Razorpay key"},
    {"rzp_test_", ALNUM, 0, 14, NO_MAX, "a Razorpay key"},
    {"sk_live_", ALNUM, 0, 16, NO_MAX, "a Stripe key"},
    {"sk-ant-", URL_SAFE, 0, 20, NO_MAX, "an Anthropic key"},
    {"sk-proj-", URL_SAFE, 0, 20, NO_MAX, "an OpenAI key"},
    {"sk-svcacct-", URL_SAFE, 0, 20, NO_MAX, "an OpenAI key"},
    {"sk-admin-", URL_SAFE, 0, 20, NO_MAX, "an OpenAI key"},
    {"sk-or-v1-", HEX, 0, 64, 64, "an OpenRouter key"},
    {"sk-", ALNUM, 0, 32, NO_MAX, "an API key"},
    {"shpat_", HEX, 0, 32, 32, "a Shopify token"},
    {"shpca_", HEX, 0, 32, 32, "a Shopify token"},
    {"shppa_", HEX, 0, 32, 32, "a Shopify token"},
    {"shpss_", HEX, 0, 32, 32, "a Shopify secret"},
    {"sbp_", HEX, 0, 40, 40, "a Supabase token"},
    {"sntrys_", ALNUM | BASE64 | UNDER, 0, 60, NO_MAX, "a Sentry token"},
    {"sntryu_", HEX, 0, 64, 64, "a Sentry token"},
    {"sb_secret_", URL_SAFE, 0, 20, NO_MAX, "a Supabase key"},
    {"secret_", ALNUM, MIXED, 43, 43, "a Notion token"},
    {"sgp_", HEX | UNDER, 0, 40, NO_MAX, "a Sourcegraph token"},
    {"shippo_live_", HEX, 0, 40, 40, "a Shippo token"},
    {"shippo_test_", HEX, 0, 40, 40, "a Shippo token"},
    {"sk_test_", ALNUM, 0, 16, NO_MAX, "a Stripe key"},
    {"sl.", URL_SAFE, 0, 100, NO_MAX, "a Dropbox token"},
    {"sq0atp-", URL_SAFE, 0, 22, 22, "a Square token"},
    {"sq0csp-", URL_SAFE, 0, 43, 43, "a Square secret"},
    {"tskey-", ALNUM | DASH, 0, 20, NO_MAX, "a Tailscale key"},
    {"tfp_", WORD, MIXED, 40, NO_MAX, "a Typeform token"},
    {"tvly-", ALNUM | DASH, MIXED, 32, NO_MAX, "a Tavily key"},
    {"v1.0-", HEX | DASH, 0, 150, NO_MAX, "a Cloudflare key"},
    {"whsec_", ALNUM | BASE64 | SLASH, 0, 32, NO_MAX, "a webhook secret"},
    {"webhook.office.com/webhookb2/", URL_SAFE | SLASH, 0, 60, NO_MAX, "an Office webhook"},
    {"xai-", ALNUM, 0, 80, 80, "an xAI key"},
    {"xoxb-", ALNUM | DASH, 0, 12, NO_MAX, "a Slack token"},
    {"xoxp-", ALNUM | DASH, 0, 12, NO_MAX, "a Slack token"},
    {"xoxa-", ALNUM | DASH, 0, 12, NO_MAX, "a Slack token"},
    {"xoxr-", ALNUM | DASH, 0, 12, NO_MAX, "a Slack token"},
    {"xoxs-", ALNUM | DASH, 0, 12, NO_MAX, "a Slack token"},
    {"xoxe-", ALNUM | DASH, 0, 12, NO_MAX, "a Slack token"},
    {"xoxe.xox", ALNUM | DASH, 0, 12, NO_MAX, "a Slack token"},
    {"xapp-", ALNUM | DASH, 0, 20, NO_MAX, "a Slack token"},
    {"xkeysib-", HEX | DASH, 0, 64, NO_MAX, "a Brevo key"},
    {"xsmtpsib-", HEX | DASH, 0, 64, NO_MAX, "a Brevo key"},
    {"xoxc-", ALNUM | DASH, 0, 12, NO_MAX, "a Slack token"},
    {"xoxd-", ALNUM | DASH, 0, 12, NO_MAX, "a Slack token"},
    {"ya29.", URL_SAFE, 0, 20, NO_MAX, "a Google access token"},
    {"y0_", URL_SAFE, 0, 50, NO_MAX, "a Yandex token"},
};

/*
 * The second bytes that a prefix with this first byte may have, folded to 32 bits. Nearly every
 * word is rejected here. Every row of formats needs its bit; the tests know every prefix.
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
