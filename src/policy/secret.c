/*
 * secret.c - see secret.h.
 *
 * Most formats are a fixed prefix and a run of one alphabet: a table. A prefix counts only where a word begins, or as
 * the value glued to a short option (-uTOKEN), and the run must be as long as the format's; that is what keeps false
 * alarms away. The few formats with inner structure have a function each. No run is measured further than its format
 * needs, so that a long argument made of prefixes costs no more than any other.
 *
 * This is a net for accidents. Who wants to hide a token from it can: the protection against that is the closed list
 * of tools and arguments.
 */
#include "policy/secret.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

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
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* In the order of the first byte, by which a row is looked up; a special prefix stands before its general one. */
static const struct format {
    const char *prefix;
    unsigned alphabet;
    size_t min; /* bytes after the prefix */
    size_t max;
    const char *kind;
} formats[] = {
    {"AKIA", DIGIT | UPPER, 16, 16, "an AWS access key"},
    {"ASIA", DIGIT | UPPER, 16, 16, "an AWS access key"},
    {"AIza", URL_SAFE, 35, 35, "a Google API key"},
    {"AGE-SECRET-KEY-1", DIGIT | UPPER, 58, 58, "an age secret key"},
    {"AccountKey=", ALNUM | BASE64 | SLASH, 80, NO_MAX, "an Azure storage key"},
    {"ATATT3", URL_SAFE | BASE64, 100, NO_MAX, "an Atlassian token"},
    {"GOCSPX-", URL_SAFE, 28, 28, "a Google client secret"},
    {"NRAK-", DIGIT | UPPER, 27, 27, "a New Relic key"},
    {"PMAK-", ALNUM | DASH, 59, 59, "a Postman key"},
    {"SG.", URL_SAFE | DOT, 66, 66, "a SendGrid key"},
    {"SharedAccessKey=", ALNUM | BASE64 | SLASH, 40, NO_MAX, "an Azure access key"},
    {"bkua_", HEX, 40, 40, "a Buildkite token"},
    {"dckr_pat_", URL_SAFE, 20, NO_MAX, "a Docker token"},
    {"dckr_oat_", URL_SAFE, 20, NO_MAX, "a Docker token"},
    {"dop_v1_", HEX, 64, 64, "a DigitalOcean token"},
    {"doo_v1_", HEX, 64, 64, "a DigitalOcean token"},
    {"dor_v1_", HEX, 64, 64, "a DigitalOcean token"},
    {"discord.com/api/webhooks/", URL_SAFE | SLASH, 60, NO_MAX, "a Discord webhook"},
    {"discordapp.com/api/webhooks/", URL_SAFE | SLASH, 60, NO_MAX, "a Discord webhook"},
    {"dapi", HEX, 32, 32, "a Databricks token"},
    {"dp.pt.", ALNUM, 40, NO_MAX, "a Doppler token"},
    {"figd_", URL_SAFE, 40, NO_MAX, "a Figma token"},
    {"ghp_", WORD, 36, NO_MAX, "a GitHub token"},
    {"gho_", WORD, 36, NO_MAX, "a GitHub token"},
    {"ghu_", WORD, 36, NO_MAX, "a GitHub token"},
    {"ghs_", WORD, 36, NO_MAX, "a GitHub token"},
    {"ghr_", WORD, 36, NO_MAX, "a GitHub token"},
    {"github_pat_", WORD, 36, NO_MAX, "a GitHub token"},
    {"glpat-", URL_SAFE | DOT, 20, NO_MAX, "a GitLab token"},
    {"gldt-", URL_SAFE | DOT, 20, NO_MAX, "a GitLab token"},
    {"glrt-", URL_SAFE | DOT, 20, NO_MAX, "a GitLab token"},
    {"glptt-", URL_SAFE | DOT, 20, NO_MAX, "a GitLab token"},
    {"glcbt-", URL_SAFE | DOT, 20, NO_MAX, "a GitLab token"},
    {"glsoat-", URL_SAFE | DOT, 20, NO_MAX, "a GitLab token"},
    {"gloas-", URL_SAFE | DOT, 20, NO_MAX, "a GitLab token"},
    {"glagent-", URL_SAFE | DOT, 20, NO_MAX, "a GitLab token"},
    {"gsk_", ALNUM, 52, 52, "a Groq key"},
    {"glsa_", WORD, 40, NO_MAX, "a Grafana token"},
    {"hf_", ALNUM, 34, NO_MAX, "a Hugging Face token"},
    {"hooks.slack.com/services/", ALNUM | SLASH, 20, NO_MAX, "a Slack webhook"},
    {"hooks.slack.com/workflows/", ALNUM | SLASH, 20, NO_MAX, "a Slack webhook"},
    {"hooks.slack.com/triggers/", ALNUM | SLASH, 20, NO_MAX, "a Slack webhook"},
    {"hvs.", URL_SAFE, 24, NO_MAX, "a Vault token"},
    {"hvb.", URL_SAFE, 24, NO_MAX, "a Vault token"},
    {"hvr.", URL_SAFE, 24, NO_MAX, "a Vault token"},
    {"lin_api_", ALNUM, 32, NO_MAX, "a Linear key"},
    {"lin_oauth_", ALNUM, 32, NO_MAX, "a Linear key"},
    {"npm_", ALNUM, 36, NO_MAX, "an npm token"},
    {"ops_eyJ", URL_SAFE | BASE64, 200, NO_MAX, "a 1Password token"},
    {"pypi-AgE", URL_SAFE, 50, NO_MAX, "a PyPI token"},
    {"pul-", HEX, 40, 40, "a Pulumi token"},
    {"pscale_tkn_", URL_SAFE | DOT, 32, NO_MAX, "a PlanetScale token"},
    {"rubygems_", HEX, 48, 48, "a RubyGems token"},
    {"rk_live_", ALNUM, 16, NO_MAX, "a Stripe key"},
    {"r8_", ALNUM, 37, 37, "a Replicate token"},
    {"sk_live_", ALNUM, 16, NO_MAX, "a Stripe key"},
    {"sk-ant-", URL_SAFE, 20, NO_MAX, "an Anthropic key"},
    {"sk-proj-", URL_SAFE, 20, NO_MAX, "an OpenAI key"},
    {"sk-svcacct-", URL_SAFE, 20, NO_MAX, "an OpenAI key"},
    {"sk-admin-", URL_SAFE, 20, NO_MAX, "an OpenAI key"},
    {"sk-or-v1-", HEX, 64, 64, "an OpenRouter key"},
    {"sk-", ALNUM, 32, NO_MAX, "an API key"},
    {"shpat_", HEX, 32, 32, "a Shopify token"},
    {"shpca_", HEX, 32, 32, "a Shopify token"},
    {"shppa_", HEX, 32, 32, "a Shopify token"},
    {"shpss_", HEX, 32, 32, "a Shopify secret"},
    {"sbp_", HEX, 40, 40, "a Supabase token"},
    {"sntrys_", ALNUM | BASE64 | UNDER, 60, NO_MAX, "a Sentry token"},
    {"sntryu_", HEX, 64, 64, "a Sentry token"},
    {"tskey-", ALNUM | DASH, 20, NO_MAX, "a Tailscale key"},
    {"whsec_", ALNUM | BASE64 | SLASH, 32, NO_MAX, "a webhook secret"},
    {"xai-", ALNUM, 80, 80, "an xAI key"},
    {"xoxb-", ALNUM | DASH, 12, NO_MAX, "a Slack token"},
    {"xoxp-", ALNUM | DASH, 12, NO_MAX, "a Slack token"},
    {"xoxa-", ALNUM | DASH, 12, NO_MAX, "a Slack token"},
    {"xoxr-", ALNUM | DASH, 12, NO_MAX, "a Slack token"},
    {"xoxs-", ALNUM | DASH, 12, NO_MAX, "a Slack token"},
    {"xoxe-", ALNUM | DASH, 12, NO_MAX, "a Slack token"},
    {"xoxe.xox", ALNUM | DASH, 12, NO_MAX, "a Slack token"},
    {"xapp-", ALNUM | DASH, 20, NO_MAX, "a Slack token"},
    {"ya29.", URL_SAFE, 20, NO_MAX, "a Google access token"},
};

/* Headers and assignments whose value is the secret; the name is compared without case. */
static const struct assignment {
    const char *name;
    unsigned alphabet;
    size_t min;
    const char *kind;
} assignments[] = {
    {"authorization: bearer ", ANY_TOKEN, 8, "an Authorization header"},
    {"authorization: basic ", ANY_TOKEN, 4, "an Authorization header"},
    {"authorization: token ", ANY_TOKEN, 8, "an Authorization header"},
    {"authorization:bearer ", ANY_TOKEN, 8, "an Authorization header"},
    {"authorization:basic ", ANY_TOKEN, 4, "an Authorization header"},
    {"authorization:token ", ANY_TOKEN, 8, "an Authorization header"},
    {"private-token: ", ANY_TOKEN, 16, "a GitLab token"},
    {"x-api-key: ", ANY_TOKEN, 16, "an API key header"},
    {"aws_secret_access_key=", ALNUM | BASE64 | SLASH, 40, "an AWS secret key"},
    {"aws_session_token=", ALNUM | BASE64 | SLASH, 40, "an AWS session token"},
};

/* ---- characters and runs ----------------------------------------------------------------- */

static const uint16_t classes[256] = {
    ['0' ... '9'] = DIGIT | HEX,
    ['a' ... 'f'] = LOWER | HEX,
    ['g' ... 'z'] = LOWER,
    ['A' ... 'Z'] = UPPER,
    ['_'] = UNDER,
    ['-'] = DASH,
    ['.'] = DOT,
    ['+'] = BASE64,
    ['='] = BASE64,
    ['/'] = SLASH,
    ['~'] = TILDE,
};

static unsigned classes_of(char c)
{
    return classes[(unsigned char)c];
}

/* Length of the run of alphabet at at, counted no further than limit. */
static size_t run_of(const char *at, unsigned alphabet, size_t limit)
{
    size_t length = 0;
    while (length < limit && (classes_of(at[length]) & alphabet) != 0)
        length++;
    return length;
}

/* By hand, for nearly every call ends at the second byte. */
static bool begins(const char *at, const char *prefix)
{
    while (*prefix != '\0' && *at == *prefix) {
        at++;
        prefix++;
    }
    return *prefix == '\0';
}

/* Does a word begin at at? Behind a letter, digit or '_' it does not, unless that is a short option's letter. */
static bool word_begins(const char *value, const char *at)
{
    if (at == value || (classes_of(at[-1]) & WORD) == 0)
        return true;
    return at == value + 2 && value[0] == '-';
}

/* ---- formats with inner structure -------------------------------------------------------- */

/* The first row whose prefix begins with c or what comes after it. */
static size_t first_format(char c)
{
    size_t low = 0;
    size_t high = COUNT(formats);
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (formats[middle].prefix[0] < c)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static const char *find_prefixed(const char *at)
{
    for (size_t i = first_format(at[0]); i < COUNT(formats) && formats[i].prefix[0] == at[0]; i++) {
        const struct format *format = &formats[i];
        if (!begins(at, format->prefix))
            continue;
        size_t limit = format->max == NO_MAX ? format->min : format->max + 1;
        size_t length = run_of(at + strlen(format->prefix), format->alphabet, limit);
        if (length >= format->min && length <= format->max)
            return format->kind;
    }
    return NULL;
}

static const char *find_assignment(const char *at)
{
    for (size_t i = 0; i < COUNT(assignments); i++) {
        const char *name = assignments[i].name;
        if ((at[0] | 0x20) != name[0] || strncasecmp(at, name, strlen(name)) != 0)
            continue;
        const char *secret = at + strlen(name);
        secret += strspn(secret, " \"'");
        if (run_of(secret, assignments[i].alphabet, assignments[i].min) == assignments[i].min)
            return assignments[i].kind;
    }
    return NULL;
}

/*
 * header.payload.signature, the first two being base64 of JSON objects: {" encodes to eyJ. A part may have any length;
 * that none begins behind its own alphabet keeps the work linear.
 */
static const char *find_jwt(const char *value, const char *at)
{
    if (!begins(at, "eyJ") || (at > value && at[-1] == '-'))
        return NULL;
    for (int part = 0; part < 3; part++) {
        size_t length = run_of(at, URL_SAFE, SIZE_MAX);
        if (length < 10 || (part < 2 && (!begins(at, "eyJ") || at[length] != '.')))
            return NULL;
        at += length + 1;
    }
    return "a JSON web token";
}

/* -----BEGIN [...] PRIVATE KEY[ BLOCK]----- */
static const char *find_private_key(const char *at)
{
    if (!begins(at, "-----BEGIN "))
        return NULL;
    const char *label = at + strlen("-----BEGIN ");
    size_t length = 0;
    while (length < 64 && (label[length] == ' ' || (classes_of(label[length]) & (UPPER | DIGIT)) != 0))
        length++;
    static const char key[] = "PRIVATE KEY";
    static const char block[] = "PRIVATE KEY BLOCK";
    bool is_key = length >= sizeof key - 1 && memcmp(label + length - (sizeof key - 1), key, sizeof key - 1) == 0;
    bool is_block =
        length >= sizeof block - 1 && memcmp(label + length - (sizeof block - 1), block, sizeof block - 1) == 0;
    return (is_key || is_block) && begins(label + length, "-----") ? "a private key" : NULL;
}

/*
 * at is the "://" of a URL. user:password@ before the host is a secret; a password of asterisks was masked already, and
 * docker://image:tag@sha256:... names an image by its digest.
 */
static const char *find_url_password(const char *at)
{
    const char *user = at + strlen("://");
    size_t authority = strcspn(user, "/?#\\\"'<> \t\r\n");
    const char *sign = memrchr(user, '@', authority);
    const char *colon = sign != NULL ? memchr(user, ':', (size_t)(sign - user)) : NULL;
    if (colon == NULL || colon + 1 == sign || begins(sign, "@sha256:"))
        return NULL;
    bool masked = strspn(colon + 1, "*") == (size_t)(sign - colon - 1);
    return masked ? NULL : "a URL with a password";
}

/* at is the ':' between a bot's number and its key. */
static const char *find_telegram(const char *value, const char *at)
{
    size_t digits = 0;
    while (digits < 11 && at - digits > value && at[-1 - (ptrdiff_t)digits] >= '0' && at[-1 - (ptrdiff_t)digits] <= '9')
        digits++;
    bool key = begins(at, ":AA") && run_of(at + 1, URL_SAFE, 36) == 35;
    return key && digits >= 8 && digits <= 10 ? "a Telegram token" : NULL;
}

static const char *find_word(const char *value, const char *at)
{
    const char *kind = find_prefixed(at);
    if (kind == NULL && strchr("aApPxX", at[0]) != NULL)
        kind = find_assignment(at);
    if (kind == NULL && at[0] == 'e')
        kind = find_jwt(value, at);
    return kind;
}

const char *ck_secret_kind(const char *value)
{
    const char *kind = NULL;
    for (const char *at = value; kind == NULL && *at != '\0'; at++) {
        if ((classes_of(*at) & ALNUM) != 0)
            kind = word_begins(value, at) ? find_word(value, at) : NULL;
        else if (*at == ':')
            kind = begins(at, "://") ? find_url_password(at) : find_telegram(value, at);
        else if (*at == '-')
            kind = find_private_key(at);
    }
    return kind;
}

const char *ck_secret_quote(char *buffer, const char *text)
{
    const char *kind = ck_secret_kind(text);
    if (kind == NULL)
        return ck_quote(buffer, CK_QUOTE_MAX, text, strlen(text));
    (void)snprintf(buffer, CK_QUOTE_MAX, "(%s)", kind);
    return buffer;
}
