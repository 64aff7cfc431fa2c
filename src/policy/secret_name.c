/*
 * secret_name.c - finds secrets by the name before the value. See secret_name.h.
 *
 * A name is compared by its end, without case and without '-', '_' and '.': DB_PASSWORD,
 * db-password and dbPassword are the same. The search back and ahead is bounded, so a long text
 * full of separators costs no more than any other.
 */
#include "policy/secret_name.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

#define NAME_MAX_BYTES 48   /* how far back a name is searched */
#define VALUE_MAX_BYTES 256 /* how much of a value is checked */
#define VALUE_MIN_BYTES 8   /* a shorter value is not taken for a secret */
#define SIGNATURE_BYTES 40  /* a run of this length after sig= is a signature */
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* The text and its length, for two members of the table. */
#define NAME(text) text, sizeof(text) - 1

/* A special name comes before its general one; find_name() selects rows by their last bytes. */
static const struct secret_name {
    const char *end; /* the last part of the name, in lower case, without separators */
    size_t length;
    bool whole;  /* the name has nothing before it: "pass", not "bypass" */
    uint8_t any; /* a value of this length counts, whatever it is; 0: it must look like a secret */
    const char *kind;
} names[] = {
    {NAME("password"), false, 0, "a password"},
    {NAME("passwd"), false, 0, "a password"},
    {NAME("pwd"), true, 0, "a password"},
    {NAME("passphrase"), false, 0, "a password"},
    {NAME("secretkeybase"), false, 0, "a secret key"},
    {NAME("xamzsignature"), false, 40, "a signed URL"},
    {NAME("xgoogsignature"), false, 40, "a signed URL"},
    {NAME("awssessiontoken"), false, 40, "an AWS session token"},
    {NAME("privatetoken"), false, 16, "a GitLab token"},
    {NAME("token"), false, 0, "a token"},
    {NAME("bearer"), true, 0, "a token"},
    {NAME("pass"), true, 0, "a password"},
    {NAME("clientsecret"), false, 0, "a client secret"},
    {NAME("secret"), false, 0, "a secret"},
    {NAME("awssecretaccesskey"), false, 40, "an AWS secret key"},
    {NAME("xapikey"), false, 16, "an API key header"},
    {NAME("apikey"), false, 0, "an API key"},
    {NAME("secretkey"), false, 0, "a secret key"},
    {NAME("accesskey"), false, 0, "a secret key"},
    {NAME("privatekey"), false, 0, "a secret key"},
    {NAME("accountkey"), false, 0, "a secret key"},
    {NAME("encryptionkey"), false, 0, "a secret key"},
    {NAME("signingkey"), false, 0, "a secret key"},
    {NAME("masterkey"), false, 0, "a secret key"},
    {NAME("sharedkey"), false, 0, "a secret key"},
    {NAME("authkey"), false, 0, "a secret key"},
};

/* ---- the name ---------------------------------------------------------------------------- */

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Not isalnum: that depends on the locale of the program. */
static bool is_name(char c)
{
    return is_letter(c) || is_digit(c) || c == '_' || c == '-' || c == '.';
}

/*
 * Does the text before end end with the name? *ret_begin is where the name begins. Compared from
 * the back. A separator is skipped, but not after the name: the name must end where the text ends.
 */
static bool ends_in(const char *start, const char *end, const char *name, size_t length, const char **ret_begin)
{
    size_t left = length;
    while (left > 0 && end > start) {
        char c = *--end;
        if ((c == '-' || c == '_' || c == '.') && name[left] != '\0')
            continue;
        /* 0x20 makes a letter lower-case. It changes other bytes too, so is_letter is asked. */
        if ((c | 0x20) != name[left - 1] || !is_letter(c))
            return false;
        left--;
    }
    *ret_begin = end;
    return left == 0;
}

/* Does the name begin at at, with no part before it? dbPass has two parts, bypass has one. */
static bool is_whole(const char *start, const char *at)
{
    if (at == start || !(is_letter(at[-1]) || is_digit(at[-1])))
        return true;
    return *at >= 'A' && *at <= 'Z' && at[-1] >= 'a' && at[-1] <= 'z';
}

/* The row for the name that ends at end, or NULL. */
static const struct secret_name *find_name(const char *start, const char *end)
{
    const char *begin;
    /* The last letters of all rows: nearly every name is rejected here. */
    if (end == start || !strchr("dDeEnNrRsStTyY", end[-1]))
        return NULL;
    if ((size_t)(end - start) > NAME_MAX_BYTES)
        start = end - NAME_MAX_BYTES;
    for (size_t i = 0; i < COUNT(names); i++)
        if ((end[-1] | 0x20) == names[i].end[names[i].length - 1] &&
            ends_in(start, end, names[i].end, names[i].length, &begin) && (!names[i].whole || is_whole(start, begin)))
            return &names[i];
    return NULL;
}

/* ---- the value --------------------------------------------------------------------------- */

/* A possible secret, and how many characters of each kind it has. */
struct value {
    const char *at;
    size_t length;
    size_t digits, lower, upper, symbols, dots, slashes, joints; /* joints: '-' and '_' */
};

/* Characters of patterns, templates and types; a value with one of them is not a secret. */
static bool is_foreign(char c)
{
    return !!strchr("\\[](){}<>|^*?`", c);
}

static void count(struct value *value, char c)
{
    value->digits += is_digit(c);
    value->lower += c >= 'a' && c <= 'z';
    value->upper += c >= 'A' && c <= 'Z';
    value->dots += c == '.';
    value->slashes += c == '/';
    value->joints += c == '-' || c == '_';
    value->symbols += c == '!' || c == '@' || c == '#' || c == '%' || c == '~' || c == '$';
}

/* Reads the word at text, without quotes around it. False if it cannot be a secret. */
static bool read_value(const char *text, struct value *ret_value)
{
    text += strspn(text, " \t\"'");
    if (text[0] == '\\' && text[1] == '"')
        text += 2;
    *ret_value = (struct value){.at = text};
    /* A comparison, a home, a variable, a path or a type: not a value. */
    if (text[0] != '\0' && strchr("=~$%/.:", text[0]))
        return false;
    size_t length = 0;
    for (; length < VALUE_MAX_BYTES && !strchr(" \t\r\n\"',;&", text[length]); length++) {
        /* JSON in a string: \" ends the value. */
        bool closing = text[length] == '\\' && text[length + 1] == '"';
        if (closing)
            break;
        /* '=' is padding of base64 at the end. In the middle it begins another assignment. */
        bool middle = text[length] == '=' && text[length + 1] != '=' && !strchr(" \t\r\n\"',;&", text[length + 1]);
        if (is_foreign(text[length]) || middle || strncmp(text + length, "://", 3) == 0)
            return false;
        count(ret_value, text[length]);
    }
    ret_value->length = length;
    return length >= VALUE_MIN_BYTES;
}

/* my-app-secret-2: words and numbers, joined. */
static bool is_slug(const struct value *value)
{
    bool digits = false; /* in this part */
    if (value->joints == 0 || value->upper > 0)
        return false;
    for (size_t i = 0; i < value->length; i++) {
        char c = value->at[i];
        if (digits && is_letter(c))
            return false;
        digits = is_digit(c);
    }
    return true;
}

/*
 * Letters and digits, or letters of both cases with a symbol. A path, a version and a host have
 * dots.
 */
static bool looks_secret(const struct value *value)
{
    size_t letters = value->lower + value->upper;
    bool mixed = (letters > 0 && value->digits > 0) || (value->lower > 0 && value->upper > 0 && value->symbols > 0);
    if (!mixed || is_slug(value))
        return false;
    /* A path is short, or has a file with a dot. base64 with a slash is longer. */
    if (value->slashes > 0 && (value->dots > 0 || value->length < 32))
        return false;
    /* A short value with dots is a version or a host; a long one may be a token in parts. */
    return value->dots == 0 || value->length >= 24;
}

/* base64 of user:password, which may have no digit. */
static bool looks_base64(const struct value *value)
{
    return value->lower > 0 && value->upper + value->digits > 0 && value->dots + value->joints + value->symbols == 0;
}

/* ---- headers and other names with a special rule ------------------------------------------ */

/* Authorization: SCHEME CREDENTIAL. */
static const char *find_authorization(const char *text)
{
    static const struct {
        const char *name;
        size_t min; /* bytes of the credential after the scheme */
    } schemes[] = {{"bearer", 8}, {"basic", 4}, {"token", 8}, {"digest", 8}, {"apikey", 8}, {"negotiate", 8}};
    text += strspn(text, " \t\"'");
    for (size_t i = 0; i < COUNT(schemes); i++) {
        size_t length = strlen(schemes[i].name);
        if (strncasecmp(text, schemes[i].name, length) != 0 || (text[length] != ' ' && text[length] != '\t'))
            continue;
        text += length;
        text += strspn(text, " \t\"'");
        size_t run = 0;
        while (run < schemes[i].min && (is_name(text[run]) || (text[run] != '\0' && strchr("+/=~", text[run]))))
            run++;
        return run == schemes[i].min ? "an Authorization header" : NULL;
    }
    return NULL;
}

/* The value of sig= in a query, where base64 is percent-encoded. */
static bool is_signature(const char *text)
{
    size_t run = 0;
    while (run < SIGNATURE_BYTES && (is_name(text[run]) || (text[run] != '\0' && strchr("%+/=", text[run]))))
        run++;
    return run == SIGNATURE_BYTES;
}

/* Does the text before end end with the name, without case? */
static bool is_named(const char *start, const char *end, const char *name)
{
    size_t length = strlen(name);
    return (size_t)(end - start) >= length && strncasecmp(end - length, name, length) == 0;
}

/* Names with a rule that is not in the table: npm's _auth, sig= in a URL, Authorization. */
static const char *find_special(const char *text, const char *end, const char *after)
{
    struct value value;
    bool is_auth = is_named(text, end, "_auth") ||
                   /* "auth" as a key of JSON, in quotes, as in the configuration of docker. */
                   (is_named(text, end, "auth") && end - text > 4 && (end[-5] == '"' || end[-5] == '\''));
    bool is_npm = is_named(text, end, ":_password");
    if ((is_auth || is_npm) && read_value(after, &value) && looks_base64(&value))
        return is_auth ? "a user and a password" : "a password";
    if (is_named(text, end, "sig") && is_whole(text, end - 3) && is_signature(after))
        return "a shared access signature";
    if (is_named(text, end, "authorization"))
        return find_authorization(after);
    return NULL;
}

/* ---- entry ------------------------------------------------------------------------------- */

/* Is the value a secret, given its name? */
static const char *judge_value(const struct secret_name *name, const char *text)
{
    struct value value;
    if (name->any >= SIGNATURE_BYTES && is_signature(text + strspn(text, " \t\"'")))
        return name->kind;
    if (!read_value(text, &value))
        return NULL;
    return looks_secret(&value) || (name->any > 0 && value.length >= name->any) ? name->kind : NULL;
}

/*
 * registry/app-token:TAG: the last part of a path, with nothing between it and what follows the
 * colon.
 */
static bool is_image(const char *text, const char *end, char next)
{
    const char *begin = end;
    while (begin > text && end - begin < NAME_MAX_BYTES && is_name(begin[-1]))
        begin--;
    return begin > text && begin[-1] == '/' && !strchr(" \t\"'", next);
}

const char *ck_secret_name_assigned(const char *text, const char *at)
{
    /* at is the ':' or '='. Blanks, quotes and a backslash may be between the name and it. */
    const char *end = at;
    while (end > text && at - end < 4 && strchr(" \t\"'\\", end[-1]))
        end--;
    if (end == text || !is_letter(end[-1]) || (*at == ':' && end == at && is_image(text, end, at[1])))
        return NULL;
    /* The last letters of auth, sig, authorization and _password. */
    const char *kind = strchr("hHgGnNdD", end[-1]) ? find_special(text, end, at + 1) : NULL;
    const struct secret_name *name = !kind ? find_name(text, end) : NULL;
    return name ? judge_value(name, at + 1) : kind;
}

const char *ck_secret_name_option(const char *option, const char *value)
{
    size_t length = strnlen(option, NAME_MAX_BYTES);
    /* "--token VALUE": the value of an option. Another option after it is not its value. */
    if (option[0] != '-' || length == NAME_MAX_BYTES || value[0] == '-')
        return NULL;
    const struct secret_name *name = find_name(option, option + length);
    return name ? judge_value(name, value) : NULL;
}
