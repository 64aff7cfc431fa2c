/* host_secret.c - see host_secret.h. */
#include "egress/host_secret.h"

#include "egress/authorities.h"
#include "egress/http.h"
#include "egress/token.h"

#include <errno.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define HTTP_PORT 80
#define TLS_PORT 443

/* ---- memory ------------------------------------------------------------------------------ */

/*
 * Guard pages around it, locked as far as RLIMIT_MEMLOCK allows, left out of core dumps, wiped at
 * its end.
 */
void *ck_host_secret_memory(size_t size)
{
    void *memory = sodium_init() < 0 ? NULL : sodium_malloc(size);
    if (memory)
        memset(memory, 0, size);
    return memory;
}

void ck_host_secret_memory_done(void *memory)
{
    sodium_free(memory);
}

struct ck_host_secrets *ck_host_secrets_new(void)
{
    struct ck_host_secrets *secrets = calloc(1, sizeof(*secrets));
    if (secrets)
        secrets->holders = 1;
    return secrets;
}

struct ck_host_secrets *ck_host_secrets_hold(struct ck_host_secrets *secrets)
{
    if (secrets)
        secrets->holders++;
    return secrets;
}

void ck_host_secrets_release(struct ck_host_secrets *secrets)
{
    if (!secrets || --secrets->holders > 0)
        return;
    for (size_t i = 0; i < secrets->count; i++)
        ck_host_secret_memory_done(secrets->items[i].line);
    ck_authorities_free(secrets->authorities);
    free(secrets);
}

/* ---- making ------------------------------------------------------------------------------ */

/* Fields that say where a message ends or goes: the proxy writes them itself, or leaves them out. */
static bool is_framing(const char *name)
{
    static const char *const framing[] = {
        "host", "content-length", "transfer-encoding", "content-encoding", "connection",     "keep-alive",
        "te",   "trailer",        "upgrade",           "expect",           "http2-settings", "max-forwards"};
    for (size_t i = 0; i < sizeof(framing) / sizeof(*framing); i++)
        if (strcasecmp(name, framing[i]) == 0)
            return true;
    return strncasecmp(name, "proxy-", 6) == 0;
}

static int read_name(const char *text, size_t length, struct ck_host_secret *secret, const char **ret_reason)
{
    bool token = length > 0 && length <= CK_HOST_SECRET_NAME_MAX;
    for (size_t i = 0; token && i < length; i++)
        token = ck_token_has(text[i]);
    if (!token) {
        *ret_reason = "has no valid name of a header before its '='";
        return -EINVAL;
    }
    memcpy(secret->name, text, length);
    secret->name[length] = '\0';
    if (!is_framing(secret->name))
        return 0;
    *ret_reason = "names a header that says where a message ends or goes; the proxy writes that itself";
    return -EINVAL;
}

static int read_host(const char *text, size_t length, struct ck_host_secret *secret, const char **ret_reason)
{
    const char *colon = text[0] == '[' ? NULL : memchr(text, ':', length);
    size_t host = colon ? (size_t)(colon - text) : length;
    secret->port = colon ? ck_destination_parse_port(colon + 1, length - host - 1) : TLS_PORT;
    if (secret->port == 0) {
        *ret_reason = "has no port from 1 to 65535 after its ':'";
        return -EINVAL;
    }
    int r = ck_destination_parse_host(text, host, &secret->host, ret_reason);
    if (r == 0 && secret->host.numeric) {
        *ret_reason = "has an address for its host; a certificate is verified for a name";
        r = -EINVAL;
    }
    return r;
}

int ck_host_secret_parse(const char *text, struct ck_host_secret *ret_secret, const char **ret_file,
                         const char **ret_reason)
{
    const char *comma = strchr(text, ',');
    const char *equals = comma ? strchr(comma, '=') : NULL;
    *ret_secret = (struct ck_host_secret){0};
    *ret_reason = "is not HOST[:PORT],HEADER=FILE";
    if (!equals || equals[1] == '\0')
        return -EINVAL;
    *ret_file = equals + 1;
    int r = read_host(text, (size_t)(comma - text), ret_secret, ret_reason);
    return r < 0 ? r : read_name(comma + 1, (size_t)(equals - comma - 1), ret_secret, ret_reason);
}

/* As a value of a field: visible ASCII with single spaces within, so that every host reads the same. */
static bool is_value(const char *value, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (value[i] < 0x20 || value[i] > 0x7e)
            return false;
    return length > 0 && value[0] != ' ' && value[length - 1] != ' ';
}

int ck_host_secrets_add(struct ck_host_secrets *secrets, const struct ck_host_secret *parsed, const char *value,
                        size_t length, const char **ret_reason)
{
    size_t name = strlen(parsed->name);
    *ret_reason = NULL;
    for (size_t i = 0; i < secrets->count; i++)
        if (ck_host_secret_is_for(&secrets->items[i], &parsed->host, parsed->port) &&
            ck_host_secret_is_named(&secrets->items[i], parsed->name, name))
            *ret_reason = "names a header that this host has already";
    if (secrets->count == CK_HOST_SECRETS_MAX)
        *ret_reason = "is one too many: at most 16 headers can be added";
    else if (length > CK_HOST_SECRET_VALUE_MAX)
        *ret_reason = "is longer than 8192 bytes";
    else if (!is_value(value, length))
        *ret_reason = "is not one line of printable ASCII without blanks around it";
    if (*ret_reason)
        return -EINVAL;
    struct ck_host_secret *secret = &secrets->items[secrets->count];
    *secret = *parsed;
    secret->length = name + 2 + length + 2;
    secret->line = ck_host_secret_memory(secret->length);
    if (!secret->line)
        return -ENOMEM;
    memcpy(secret->line, parsed->name, name);
    memcpy(secret->line + name, ": ", 2);
    memcpy(secret->line + name + 2, value, length);
    memcpy(secret->line + name + 2 + length, "\r\n", 2);
    secrets->count++;
    return 0;
}

/* ---- requests ---------------------------------------------------------------------------- */

bool ck_host_secret_is_for(const struct ck_host_secret *secret, const struct ck_hostname *host, uint16_t port)
{
    return secret->port == port && !host->numeric && strcmp(secret->host.text, host->text) == 0;
}

static bool has_host(const struct ck_host_secrets *secrets, const struct ck_hostname *host, uint16_t port)
{
    for (size_t i = 0; i < secrets->count; i++)
        if (ck_host_secret_is_for(&secrets->items[i], host, port))
            return true;
    return false;
}

uint16_t ck_host_secrets_port(const struct ck_host_secrets *secrets, const struct ck_hostname *host, uint16_t port)
{
    if (!secrets)
        return 0;
    if (has_host(secrets, host, port))
        return port;
    return port == HTTP_PORT && has_host(secrets, host, TLS_PORT) ? TLS_PORT : 0;
}

void ck_host_secrets_apply(const struct ck_host_secrets *secrets, struct ck_http_request *request)
{
    uint16_t port = request->connect ? 0 : ck_host_secrets_port(secrets, &request->host, request->port);
    if (port == 0)
        return;
    request->port = port;
    request->secrets = secrets;
}

/* Programs that make variables of fields (CGI, WSGI) write both as '_'. */
static char folded(char c)
{
    return (char)(c == '_' ? '-' : c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

bool ck_host_secret_is_named(const struct ck_host_secret *secret, const char *name, size_t length)
{
    if (strlen(secret->name) != length)
        return false;
    for (size_t i = 0; i < length; i++)
        if (folded(secret->name[i]) != folded(name[i]))
            return false;
    return true;
}

void ck_host_secrets_names(const struct ck_host_secrets *secrets, const struct ck_hostname *host, uint16_t port,
                           char ret_names[CK_HOST_SECRET_NAMES_SIZE])
{
    size_t at = 0;
    ret_names[0] = '\0';
    for (size_t i = 0; secrets && i < secrets->count; i++) {
        const struct ck_host_secret *secret = &secrets->items[i];
        if (!ck_host_secret_is_for(secret, host, port))
            continue;
        size_t length = strlen(secret->name);
        if (at > 0)
            ret_names[at++] = ',';
        memcpy(ret_names + at, secret->name, length + 1);
        at += length;
    }
}
