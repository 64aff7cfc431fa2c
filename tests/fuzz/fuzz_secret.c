/*
 * fuzz_secret.c - any bytes as a request to a host with a secret, as an option, and as authorities.
 *
 * The first byte says which. A request that is read and is for the host goes to its TLS port; in what
 * is forwarded no field has the name of the secret, however it is spelled, and there is one Host,
 * which is the target. A trailer of that name ends the body. An option that is read has a name of
 * a host and of a header.
 */
#include "promise.h"

#include "egress/authorities.h"
#include "egress/chunked.h"
#include "egress/host_secret.h"
#include "egress/http.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define NAME "X-Api-Key"

static struct ck_host_secrets *make_secrets(void)
{
    static struct ck_host_secrets *secrets;
    struct ck_host_secret parsed;
    const char *value, *reason;
    if (secrets)
        return secrets;
    secrets = ck_host_secrets_new();
    require(secrets);
    require(ck_host_secret_parse("web.example.org," NAME "=value", &parsed, &value, &reason) == 0);
    require(ck_host_secrets_add(secrets, &parsed, value, strlen(value), &reason) == 0);
    require(ck_host_secret_parse("web.example.org:8443,Authorization=value", &parsed, &value, &reason) == 0);
    require(ck_host_secrets_add(secrets, &parsed, value, strlen(value), &reason) == 0);
    return secrets;
}

/* As the most tolerant of readers has it: without case, with '_' as '-', and blanks around it. */
static bool is_named(const char *line, size_t length, const char *name)
{
    size_t at = 0, i = 0;
    while (at < length && (line[at] == ' ' || line[at] == '\t'))
        at++;
    for (; at < length && name[i]; at++, i++) {
        char c = line[at] == '_' ? '-' : line[at];
        char lower = (char)(c >= 'A' && c <= 'Z' ? c + 32 : c), wanted = name[i];
        if (lower != (char)(wanted >= 'A' && wanted <= 'Z' ? wanted + 32 : wanted))
            return false;
    }
    while (at < length && (line[at] == ' ' || line[at] == '\t'))
        at++;
    return name[i] == '\0' && at < length && line[at] == ':';
}

/* Lines end at a CR or at an LF here. */
static unsigned count_fields(const char *head, size_t length, const char *name)
{
    unsigned count = 0;
    for (size_t at = 0, end; at < length; at = end + 1) {
        for (end = at; end < length && head[end] != '\r' && head[end] != '\n'; end++)
            ;
        count += is_named(head + at, end - at, name);
    }
    return count;
}

static void check_forward(const char *head, size_t length, const struct ck_http_request *request)
{
    char host[CK_HOSTNAME_MAX + 32];
    char *forward = malloc(length + CK_HEAD_ADDED);
    require(forward);
    size_t size = ck_http_forward_request(head, length, request, NULL, forward);
    require(size > 0 && size <= length + CK_HEAD_ADDED && memcmp(forward + size - 4, "\r\n\r\n", 4) == 0);
    require(count_fields(forward, size, request->port == 443 ? NAME : "authorization") == 0);
    require(count_fields(forward, size, "host") == 1);
    (void)snprintf(host, sizeof(host), request->port == 443 ? "\r\nHost: %s\r\n" : "\r\nHost: %s:%u\r\n",
                   request->host.text, request->port);
    require(memmem(forward, size, host, strlen(host)));
    require(count_fields(forward, size, "transfer-encoding") + count_fields(forward, size, "content-length") <= 1);
    free(forward);
}

static void check_body(const struct ck_host_secrets *secrets, const char *data, size_t size)
{
    struct ck_chunked with = {.secrets = secrets}, without = {0};
    ssize_t strict = ck_chunked_scan(&with, data, size);
    ssize_t usual = ck_chunked_scan(&without, data, size);
    require(strict == usual || strict == -EPROTO);
    /* What is left of the body has no such trailer; a chunk may contain anything. */
    if (strict > 4 && with.done && memcmp(data, "0\r\n", 3) == 0)
        require(count_fields(data, (size_t)strict, NAME) == 0 &&
                count_fields(data, (size_t)strict, "authorization") == 0);
}

static void check_request(const char *text, size_t length)
{
    const struct ck_host_secrets *secrets = make_secrets();
    struct ck_http_request request;
    struct ck_fault fault;
    struct ck_http_tunnel tunnel = {.host = secrets->items[0].host, .port = 80};
    size_t checked = 0;
    ssize_t end = ck_http_find_end(text, length, &checked, &fault);
    if (end <= 0)
        return;
    /* Inside a tunnel, or not: a head cannot be read both ways. */
    bool inner = ck_http_read_inner_request(text, (size_t)end, &tunnel, &request, &fault) == 0;
    if (!inner && ck_http_read_request(text, (size_t)end, &request, &fault) != 0)
        return;
    require(inner == (memchr(text, ' ', (size_t)end) && ((const char *)memchr(text, ' ', (size_t)end))[1] == '/'));
    uint16_t asked = request.port;
    ck_host_secrets_apply(secrets, &request);
    if (!request.secrets) {
        require(request.port == asked);
        return;
    }
    require(!request.connect && strcmp(request.host.text, "web.example.org") == 0);
    require(request.port == 8443 ? asked == 8443 : request.port == 443 && (asked == 443 || asked == 80));
    check_forward(text, (size_t)end, &request);
    if (request.body == CK_BODY_CHUNKED)
        check_body(secrets, text + end, length - (size_t)end);
}

static void check_option(const char *text, size_t length)
{
    struct ck_host_secret parsed;
    const char *file = NULL, *reason = NULL;
    char *copy = malloc(length + 1);
    require(copy);
    memcpy(copy, text, length);
    copy[length] = '\0';
    if (ck_host_secret_parse(copy, &parsed, &file, &reason) == 0) {
        require(!parsed.host.numeric && parsed.host.text[0] != '\0' && parsed.name[0] != '\0' && parsed.port != 0);
        require(file > copy && file[-1] == '=' && file[0] != '\0');
        require(!strpbrk(parsed.name, " \t\r\n:=,") && strcasecmp(parsed.name, "host") != 0);
    } else {
        require(reason);
    }
    free(copy);
}

static void check_authorities(const char *text, size_t length)
{
    struct ck_authorities *authorities = NULL;
    if (ck_authorities_read(text, length, &authorities) == 0)
        require(authorities->count > 0);
    ck_authorities_free(authorities);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data + 1;
    if (size < 1)
        return 0;
    if (data[0] == 'o')
        check_option(text, size - 1);
    else if (data[0] == 'a')
        check_authorities(text, size - 1);
    else
        check_request(text, size - 1);
    return 0;
}
