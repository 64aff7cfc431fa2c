/*
 * secret.c - finds credentials by their formats. See secret.h.
 *
 * Most formats are a fixed prefix and a run of one alphabet: a table. A prefix counts only at the
 * beginning of a word, or as a value directly after a short option (-uTOKEN), and the run must have
 * the length of the format. That avoids false alarms. The few formats with inner structure have a
 * function each. A credential without a format is found by the name before it (secret_name.c), and
 * only if no format was found. No run is measured further than its format needs, so a long argument
 * made of prefixes costs no more than any other.
 *
 * This catches accidents. An attacker can hide a token from it; the protection against that is the
 * closed list of tools and arguments.
 */
#include "policy/secret.h"

#include "policy/secret_name.h"
#include "policy/secret_table.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* ---- characters and runs ----------------------------------------------------------------- */

/* The classes of each byte. Bytes that are not here end every run. */
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

/* The length of the run of alphabet at at, counted up to limit. */
static size_t run_of(const char *at, unsigned alphabet, size_t limit)
{
    size_t length = 0;
    while (length < limit && (classes_of(at[length]) & alphabet) != 0)
        length++;
    return length;
}

/* Not strncmp: nearly every call ends at the second byte. */
static bool begins(const char *at, const char *prefix)
{
    while (*prefix != '\0' && *at == *prefix) {
        at++;
        prefix++;
    }
    return *prefix == '\0';
}

/*
 * Does a word begin at at? Not after a letter, digit or '_', unless that is the letter of a short
 * option.
 */
static bool word_begins(const char *value, const char *at)
{
    if (at == value || (classes_of(at[-1]) & WORD) == 0)
        return true;
    return at == value + 2 && value[0] == '-';
}

/* ---- formats with inner structure -------------------------------------------------------- */

/* The first row with a prefix that begins with c or a later byte. */
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

/* Do the flags of the format allow the run of length bytes after its prefix at at? */
static bool fits(const struct format *format, const char *value, const char *at, size_t length)
{
    unsigned found = 0;
    if ((format->flags & ALONE) != 0 && at > value && strchr("-._", at[-1]))
        return false;
    for (size_t i = 0; (format->flags & MIXED) != 0 && i < length; i++)
        found |= classes_of(at[strlen(format->prefix) + i]);
    return (format->flags & MIXED) == 0 || ((found & DIGIT) != 0 && (found & (LOWER | UPPER)) != 0);
}

static const char *find_prefixed(const char *value, const char *at)
{
    /*
     * The filter that makes most calls cheap. at[0] is a letter or a digit, see ck_secret_kind, so
     * the index is below 128.
     */
    if ((seconds[(unsigned char)at[0]] & SECOND(at[1])) == 0)
        return NULL;
    for (size_t i = first_format(at[0]); i < COUNT(formats) && formats[i].prefix[0] == at[0]; i++) {
        const struct format *format = &formats[i];
        if (!begins(at, format->prefix))
            continue;
        const char *run = at + strlen(format->prefix);
        /* One more than max, to see that the run is too long; without a max, min is enough. */
        size_t limit = format->max == NO_MAX ? format->min : format->max + 1;
        size_t length = run_of(run, format->alphabet, limit);
        if (length >= format->min && length <= format->max && fits(format, value, at, length))
            return format->kind;
    }
    return NULL;
}

/*
 * header.payload.signature; the first two are base64 of JSON objects: {" encodes to eyJ. A part may
 * have any length. No part begins after a character of its alphabet, so the work stays linear.
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
    bool is_key = length >= sizeof(key) - 1 && memcmp(label + length - (sizeof(key) - 1), key, sizeof(key) - 1) == 0;
    bool is_block =
        length >= sizeof(block) - 1 && memcmp(label + length - (sizeof(block) - 1), block, sizeof(block) - 1) == 0;
    return (is_key || is_block) && begins(label + length, "-----") ? "a private key" : NULL;
}

/*
 * Three parts with dots between them, each with a fixed length; the first begins with the number of
 * an account.
 */
static const char *find_discord(const char *at)
{
    size_t first = run_of(at, URL_SAFE, 29);
    if (first < 24 || first > 28 || at[first] != '.')
        return NULL;
    const char *second = at + first + 1;
    if (run_of(second, URL_SAFE, 7) != 6 || second[6] != '.')
        return NULL;
    return run_of(second + 7, URL_SAFE, 27) == 27 ? "a Discord token" : NULL;
}

/* pat, fourteen characters, a dot, 64 digits. */
static const char *find_airtable(const char *at)
{
    bool id = begins(at, "pat") && run_of(at + 3, ALNUM, 15) == 14 && at[17] == '.';
    return id && run_of(at + 18, HEX, 65) == 64 ? "an Airtable token" : NULL;
}

/* 32, 8 and 8 digits: not a UUID. */
static const char *find_mailgun(const char *at)
{
    if (run_of(at, HEX, 33) != 32 || at[32] != '-' || run_of(at + 33, HEX, 9) != 8 || at[41] != '-')
        return NULL;
    return run_of(at + 42, HEX, 9) == 8 && (classes_of(at[50]) & URL_SAFE) == 0 ? "a Mailgun key" : NULL;
}

/* at is a '.' or a '~' inside a token that has no prefix. */
static const char *find_inner(const char *value, const char *at)
{
    if (*at == '.' && begins(at, ".atlasv1.") && run_of(at + strlen(".atlasv1."), URL_SAFE | BASE64, 60) == 60)
        return "a Terraform token";
    bool azure = *at == '~' && at - value >= 5 && at[-1] == 'Q' && (classes_of(at[-2]) & DIGIT) != 0 &&
                 (classes_of(at[-3]) & ANY_TOKEN) != 0;
    return azure && run_of(at + 1, URL_SAFE | DOT | TILDE, 31) == 31 ? "an Azure client secret" : NULL;
}

/* "password SECRET" in a netrc, where "login USER" comes before it. */
static const char *find_netrc(const char *at)
{
    size_t blanks = begins(at, "password") ? strspn(at + strlen("password"), " \t\n") : 0;
    const char *secret = at + strlen("password") + blanks;
    return blanks > 0 && strcspn(secret, " \t\n") >= 4 && !strchr("$<{", secret[0]) ? "a netrc" : NULL;
}

/* The name of a user is shorter, or has no digits. */
static bool is_token(const char *user, size_t length)
{
    unsigned found = 0;
    for (size_t i = 0; i < length && i < 64; i++)
        found |= classes_of(user[i]);
    return length >= 20 && (found & DIGIT) != 0 && (found & UPPER) != 0 && (found & LOWER) != 0;
}

/*
 * at is the "://" of a URL. user:password@ before the host is a secret. A password of asterisks is
 * already masked. One that begins as a group, a class or a variable is a pattern.
 * docker://image:tag@sha256:... names an image by its digest.
 */
static const char *find_url_password(const char *at)
{
    const char *user = at + strlen("://");
    size_t authority = strcspn(user, "/?#\\\"'<> \t\r\n");
    const char *sign = memrchr(user, '@', authority);
    const char *colon = sign ? memchr(user, ':', (size_t)(sign - user)) : NULL;
    if (sign && !colon && is_token(user, (size_t)(sign - user)))
        return "a URL with a token";
    if (!colon || colon + 1 == sign || begins(sign, "@sha256:"))
        return NULL;
    bool masked = strspn(colon + 1, "*") == (size_t)(sign - colon - 1);
    bool pattern = strchr("[($<{", colon[1]) || strchr("[($<{", user[0]);
    return masked || pattern ? NULL : "a URL with a password";
}

/* at is the ':' between the number of a bot and its key. */
static const char *find_telegram(const char *value, const char *at)
{
    size_t digits = 0;
    while (digits < 11 && at - digits > value && at[-1 - (ptrdiff_t)digits] >= '0' && at[-1 - (ptrdiff_t)digits] <= '9')
        digits++;
    bool key = begins(at, ":AA") && run_of(at + 1, URL_SAFE, 36) == 35;
    return key && digits >= 8 && digits <= 10 ? "a Telegram token" : NULL;
}

struct scan {
    const char *value;
    const char *named; /* found by the name before it; a format is more specific */
    bool login;        /* the word "login" of a netrc was seen */
};

static const char *find_word(struct scan *scan, const char *at)
{
    const char *kind = find_prefixed(scan->value, at);
    if (kind)
        return kind;
    if ((classes_of(at[0]) & HEX) != 0)
        kind = find_mailgun(at);
    if (!kind && at[0] == 'e')
        return find_jwt(scan->value, at);
    if (at[0] >= 'M' && at[0] <= 'O')
        return find_discord(at);
    if (at[0] == 'l')
        scan->login = scan->login || begins(at, "login ") || begins(at, "login\t") || begins(at, "login\n");
    if (at[0] == 'p')
        return scan->login ? find_netrc(at) : find_airtable(at);
    return kind;
}

static const char *find_separated(struct scan *scan, const char *at)
{
    const char *kind = NULL;
    if (*at == ':')
        kind = begins(at, "://") ? find_url_password(at) : find_telegram(scan->value, at);
    if (!kind && !scan->named)
        scan->named = ck_secret_name_assigned(scan->value, at);
    return kind;
}

const char *ck_secret_kind(const char *value)
{
    struct scan scan = {.value = value};
    const char *kind = NULL;
    for (const char *at = value; !kind && *at != '\0'; at++) {
        if ((classes_of(*at) & ALNUM) != 0)
            kind = word_begins(value, at) ? find_word(&scan, at) : NULL;
        else if (*at == ':' || *at == '=')
            kind = find_separated(&scan, at);
        else if (*at == '-')
            kind = find_private_key(at);
        else if (*at == '.' || *at == '~')
            kind = find_inner(value, at);
    }
    return kind ? kind : scan.named;
}

const char *ck_secret_kind_at(const char *const *list, size_t index)
{
    const char *kind = ck_secret_kind(list[index]);
    return kind || index == 0 ? kind : ck_secret_name_option(list[index - 1], list[index]);
}

const char *ck_secret_show(char buffer[CK_SECRET_SHOWN_MAX], const char *text, const char *kind)
{
    if (!kind)
        return text;
    (void)snprintf(buffer, CK_SECRET_SHOWN_MAX, "[redacted: %s]", kind);
    return buffer;
}

const char *ck_secret_quote(char *buffer, const char *text)
{
    const char *kind = ck_secret_kind(text);
    if (!kind)
        return ck_quote(buffer, CK_QUOTE_MAX, text, strlen(text));
    (void)snprintf(buffer, CK_QUOTE_MAX, "(%s)", kind);
    return buffer;
}
