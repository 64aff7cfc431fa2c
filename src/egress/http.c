/*
 * http.c - parses and rewrites HTTP/1.x heads.
 *
 * A head is split into its first line and its fields, all as spans of the bytes that were read.
 * Splitting is cheap and is done again when the head is forwarded, so that nothing has to be stored
 * in between.
 */
#include "egress/http.h"

#include "egress/host_secret.h"
#include "egress/token.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define FIELDS_MAX 128            /* in one head */
#define CONNECTION_OPTIONS_MAX 16 /* fields that one Connection can name */
#define HTTP_PORT 80
#define TLS_PORT 443

/* A part of the head as it was read: no NUL after it, and not a copy. */
struct span {
    const char *at;
    size_t length;
};

struct http_field {
    struct span name, value;
};

/* A head, split. It is on the stack while a head is read, and never stored. */
struct head {
    struct span first;
    struct http_field fields[FIELDS_MAX];
    size_t count;
    struct span connection_options[CONNECTION_OPTIONS_MAX]; /* by Connection */
    size_t connection_options_count;
};

/* What the fields say about the body and the connection. */
struct frame {
    /* how often the field is there */
    unsigned lengths, codings, hosts;
    uint64_t length;
    struct span host;
    bool close;    /* the sender closes after this message */
    bool trailers; /* TE: trailers */
};

/* Always returns -EPROTO. The message follows "the request" or "the response of ...". */
static int fail(struct ck_fault *ret_fault, enum ck_reason reason, const char *message)
{
    *ret_fault = (struct ck_fault){.reason = reason, .message = message};
    return -EPROTO;
}

/* For a fault with its subject after the message. */
static int fail_with_subject(struct ck_fault *ret_fault, enum ck_reason reason, const char *message,
                             struct span subject)
{
    *ret_fault = (struct ck_fault){.reason = reason,
                                   .message = message,
                                   .subject = subject.at,
                                   .subject_length = subject.length,
                                   .subject_last = true};
    return -EPROTO;
}

static int malformed(struct ck_fault *ret_fault, const char *message)
{
    return fail(ret_fault, CK_REASON_MALFORMED, message);
}

/* Without regard to case, as names of fields are. */
static bool is(struct span span, const char *word)
{
    return span.length == strlen(word) && strncasecmp(span.at, word, span.length) == 0;
}

static bool same(struct span a, struct span b)
{
    return a.length == b.length && strncasecmp(a.at, b.at, a.length) == 0;
}

/* A name of a field or a method, or an option: at least one character. */
static bool is_token(struct span span)
{
    for (size_t i = 0; i < span.length; i++)
        if (!ck_token_has(span.at[i]))
            return false;
    return span.length > 0;
}

/* Blanks around a value do not belong to it (RFC 9110, 5.5). */
static struct span trim(struct span span)
{
    while (span.length > 0 && (span.at[0] == ' ' || span.at[0] == '\t')) {
        span.at++;
        span.length--;
    }
    while (span.length > 0 && (span.at[span.length - 1] == ' ' || span.at[span.length - 1] == '\t'))
        span.length--;
    return span;
}

/* The next item of a comma-separated list, trimmed. False at its end. */
static bool next_item(struct span *list, struct span *ret_item)
{
    if (list->length == 0)
        return false;
    const char *comma = memchr(list->at, ',', list->length);
    size_t length = comma ? (size_t)(comma - list->at) : list->length;
    *ret_item = trim((struct span){list->at, length});
    size_t step = comma ? length + 1 : length;
    list->at += step;
    list->length -= step;
    return true;
}

/* ---- splitting --------------------------------------------------------------------------- */

ssize_t ck_http_find_end(const char *data, size_t length, size_t *checked, struct ck_fault *ret_fault)
{
    /* Each byte is checked once, however the head arrives. */
    size_t at = *checked;
    for (; at < length; at++) {
        unsigned char c = (unsigned char)data[at];
        bool after_cr = at > 0 && data[at - 1] == '\r';
        /* A CR must be followed by LF, and an LF must follow a CR. */
        if (after_cr != (c == '\n'))
            return malformed(ret_fault, "has a line that does not end in CR LF");
        if (c == '\n' && at >= 3 && data[at - 2] == '\n')
            return (ssize_t)at + 1;
        if ((c < 0x20 && c != '\r' && c != '\n' && c != '\t') || c == 0x7f)
            return malformed(ret_fault, "has a control byte in it");
        if (at == 1 && data[0] == '\r')
            return malformed(ret_fault, "begins with an empty line");
    }
    *checked = at;
    if (length >= CK_HEAD_MAX)
        return fail(ret_fault, CK_REASON_TOO_LONG, "has a head of more than 32 KiB");
    return 0;
}

/* One line. A blank before the colon is not a token character, so it is refused with the name. */
static int split_field(struct span line, struct http_field *ret_field, struct ck_fault *ret_fault)
{
    if (line.at[0] == ' ' || line.at[0] == '\t')
        return malformed(ret_fault, "has a folded line");
    const char *colon = memchr(line.at, ':', line.length);
    if (!colon)
        return malformed(ret_fault, "has a field without a colon");
    struct span name = {line.at, (size_t)(colon - line.at)};
    if (!is_token(name))
        return malformed(ret_fault, "has a field with an invalid name");
    *ret_field = (struct http_field){name, trim((struct span){colon + 1, line.length - name.length - 1})};
    return 0;
}

/*
 * Connection names fields for one hop, which are removed. Removing one of these would change where
 * the message ends or goes.
 */
static int note_connection(struct head *head, struct span list, struct ck_fault *ret_fault)
{
    static const char *const framing[] = {"host", "content-length", "transfer-encoding", "content-encoding"};
    struct span item;
    while (next_item(&list, &item)) {
        if (item.length == 0)
            continue;
        if (!is_token(item) || head->connection_options_count == CONNECTION_OPTIONS_MAX)
            return malformed(ret_fault, "has an invalid Connection field");
        for (size_t i = 0; i < sizeof(framing) / sizeof(*framing); i++)
            if (is(item, framing[i]))
                return malformed(ret_fault, "has a Connection field that would remove the framing of the message");
        head->connection_options[head->connection_options_count++] = item;
    }
    return 0;
}

/* The head must be complete. */
static int split(const char *data, size_t length, struct head *ret_head, struct ck_fault *ret_fault)
{
    ret_head->count = 0;
    ret_head->connection_options_count = 0;
    const char *end = data + length - 2; /* the empty line */
    const char *at = memchr(data, '\r', length);
    ret_head->first = (struct span){data, (size_t)(at - data)};
    for (at += 2; at < end;) {
        /* never NULL: ck_http_find_end has found that every line ends in CR LF */
        const char *next = memchr(at, '\r', (size_t)(end - at));
        if (ret_head->count == FIELDS_MAX)
            return fail(ret_fault, CK_REASON_TOO_LONG, "has more than 128 fields");
        struct http_field *field = &ret_head->fields[ret_head->count++];
        int r = split_field((struct span){at, (size_t)(next - at)}, field, ret_fault);
        if (r == 0 && is(field->name, "connection"))
            r = note_connection(ret_head, field->value, ret_fault);
        if (r != 0)
            return r;
        at = next + 2;
    }
    return 0;
}

/* ---- framing ----------------------------------------------------------------------------- */

/* Digits only: no sign, and no list such as "5, 5", which some programs accept. */
static bool read_length(struct span value, uint64_t *ret_length)
{
    /* 18 digits always fit into 64 bits. */
    if (value.length < 1 || value.length > 18)
        return false;
    uint64_t length = 0;
    for (size_t i = 0; i < value.length; i++) {
        if (value.at[i] < '0' || value.at[i] > '9')
            return false;
        length = length * 10 + (uint64_t)(value.at[i] - '0');
    }
    *ret_length = length;
    return true;
}

/* Everything that decides where the message ends. */
static int read_frame(const struct head *head, struct frame *ret_frame, struct ck_fault *ret_fault)
{
    struct frame frame = {0};
    for (size_t i = 0; i < head->count; i++) {
        const struct http_field *field = &head->fields[i];
        if (is(field->name, "content-length")) {
            frame.lengths++;
            if (!read_length(field->value, &frame.length))
                return malformed(ret_fault, "has a Content-Length that is not a number");
        } else if (is(field->name, "transfer-encoding")) {
            frame.codings++;
            if (!is(field->value, "chunked"))
                return fail(ret_fault, CK_REASON_UNSUPPORTED, "has a Transfer-Encoding other than chunked");
        } else if (is(field->name, "host")) {
            frame.hosts++;
            frame.host = field->value;
        } else if (is(field->name, "proxy-connection") && is(field->value, "close")) {
            frame.close = true;
        } else if (is(field->name, "te")) {
            frame.trailers = frame.trailers || is(field->value, "trailers");
        }
    }
    for (size_t i = 0; i < head->connection_options_count; i++)
        frame.close = frame.close || is(head->connection_options[i], "close");
    /* Two lengths, even equal ones, are a way to smuggle a request (RFC 9112, 6.3). */
    if (frame.lengths + frame.codings > 1)
        return malformed(ret_fault, "has two lengths");
    *ret_frame = frame;
    return 0;
}

/* HTTP/1.0 or HTTP/1.1; the name is case-sensitive. */
static bool read_version(struct span version, unsigned *ret_minor)
{
    bool one = version.length == 8 && memcmp(version.at, "HTTP/1.", 7) == 0;
    *ret_minor = one && version.at[7] == '1';
    return one && (version.at[7] == '0' || version.at[7] == '1');
}

/* ---- requests ---------------------------------------------------------------------------- */

/*
 * The first line of a request. authority is host and port; path begins with '/' or '?', or is
 * empty.
 */
struct target {
    struct span method, text, version;
    struct span authority, path;
};

/* "host", "host:port" or "[v6]:port". *port is the default on entry; 0: there must be one. */
static int read_authority(struct span text, uint16_t *port, struct ck_hostname *ret_host, struct ck_fault *ret_fault)
{
    const char *close = text.length > 0 && text.at[0] == '[' ? memchr(text.at, ']', text.length) : NULL;
    const char *from = close ? close : text.at;
    const char *colon = memchr(from, ':', text.length - (size_t)(from - text.at));
    size_t length = colon ? (size_t)(colon - text.at) : text.length;
    const char *why = NULL;
    /* Before the port is searched: a user name may be followed by a colon and a password. */
    bool user = !!memchr(text.at, '@', text.length);
    int r = ck_destination_parse_host(text.at, user ? text.length : length, ret_host, &why);
    if (r == 0 && colon) {
        *port = ck_destination_parse_port(colon + 1, text.length - length - 1);
        why = "has no port from 1 to 65535 after its ':'";
    }
    if (r == 0 && *port != 0)
        return 0;
    *ret_fault =
        (struct ck_fault){.reason = CK_REASON_NAME, .message = why, .subject = text.at, .subject_length = text.length};
    if (r == 0 && !colon)
        ret_fault->message = "has no port";
    return -EPROTO;
}

/* Three parts, separated by one space each. */
static int split_request_line(struct span line, struct target *ret_target, struct ck_fault *ret_fault)
{
    const char *first = memchr(line.at, ' ', line.length);
    const char *last = memrchr(line.at, ' ', line.length);
    if (!first || first == last)
        return malformed(ret_fault, "does not begin with a method, a target and a version");
    ret_target->method = (struct span){line.at, (size_t)(first - line.at)};
    ret_target->text = (struct span){first + 1, (size_t)(last - first - 1)};
    ret_target->version = (struct span){last + 1, line.length - (size_t)(last + 1 - line.at)};
    if (!is_token(ret_target->method))
        return malformed(ret_fault, "has an invalid method");
    for (size_t i = 0; i < ret_target->text.length; i++) {
        unsigned char c = (unsigned char)ret_target->text.at[i];
        if (c <= 0x20 || c >= 0x7f || c == '#')
            return malformed(ret_fault, "has a target with a space, a '#' or a byte that is not ASCII");
    }
    return ret_target->text.length > 0 ? 0 : malformed(ret_fault, "has an empty target");
}

/* The part of a URL after its scheme, up to its path. */
static struct span authority_of(struct span rest)
{
    size_t end = 0;
    while (end < rest.length && rest.at[end] != '/' && rest.at[end] != '?')
        end++;
    return (struct span){rest.at, end};
}

/* "http://host:port/path" */
static int split_url(struct target *target, struct ck_fault *ret_fault)
{
    static const char scheme[] = "http://";
    size_t length = sizeof(scheme) - 1;
    struct span text = target->text;
    if (text.length > 8 && strncasecmp(text.at, "https://", 8) == 0)
        return fail_with_subject(ret_fault, CK_REASON_UNSUPPORTED, "asks for https:// in the clear; use CONNECT",
                                 authority_of((struct span){text.at + 8, text.length - 8}));
    if (text.length <= length || strncasecmp(text.at, scheme, length) != 0)
        return fail(ret_fault, CK_REASON_UNSUPPORTED, "is not for a proxy: its target is not an http:// URL");
    struct span rest = {text.at + length, text.length - length};
    target->authority = authority_of(rest);
    size_t end = target->authority.length;
    target->path = (struct span){rest.at + end, rest.length - end};
    return 0;
}

/* The program believes that it talks to the host itself, so a URL or CONNECT would be for another one. */
static int read_inner_target(const struct target *target, const struct ck_http_tunnel *tunnel,
                             struct ck_http_request *request, struct ck_fault *ret_fault)
{
    request->inner = true;
    request->host = tunnel->host;
    request->port = tunnel->port;
    if (request->connect)
        return fail(ret_fault, CK_REASON_UNSUPPORTED, "asks for a tunnel inside a tunnel");
    return target->text.at[0] == '/'
               ? 0
               : fail(ret_fault, CK_REASON_UNSUPPORTED, "has a target that is not a path, inside a tunnel");
}

/* The host that the request is for, from its first line or, if there is one, from the tunnel. */
static int read_target(struct span line, const struct ck_http_tunnel *tunnel, struct target *ret_target,
                       struct ck_http_request *request, struct ck_fault *ret_fault)
{
    int r = split_request_line(line, ret_target, ret_fault);
    if (r != 0)
        return r;
    if (!read_version(ret_target->version, &request->minor))
        return fail(ret_fault, CK_REASON_UNSUPPORTED, "is neither HTTP/1.1 nor HTTP/1.0");
    /*
     * Methods are case-sensitive. What only looks like CONNECT must not be taken for it by another
     * program.
     */
    request->connect = ret_target->method.length == 7 && memcmp(ret_target->method.at, "CONNECT", 7) == 0;
    if (!request->connect && is(ret_target->method, "connect"))
        return malformed(ret_fault, "has an invalid method");
    request->head = ret_target->method.length == 4 && memcmp(ret_target->method.at, "HEAD", 4) == 0;
    request->trace = is(ret_target->method, "trace") || is(ret_target->method, "track");
    if (tunnel)
        return read_inner_target(ret_target, tunnel, request, ret_fault);
    if (request->connect)
        ret_target->authority = ret_target->text;
    else
        r = split_url(ret_target, ret_fault);
    request->port = request->connect ? 0 : HTTP_PORT;
    return r != 0 ? r : read_authority(ret_target->authority, &request->port, &request->host, ret_fault);
}

/*
 * The host of the URL is checked against the rules, but a server chooses a site by Host: they must
 * agree.
 */
static int check_host(const struct frame *frame, const struct ck_http_request *request, struct ck_fault *ret_fault)
{
    if (frame->hosts > 1)
        return malformed(ret_fault, "has two Host fields");
    /*
     * The head of a CONNECT is not forwarded, and some clients name the proxy in its Host, as node
     * does.
     */
    if (request->connect)
        return 0;
    if (frame->hosts == 0)
        return request->minor == 0 ? 0 : malformed(ret_fault, "has no Host field");
    struct ck_hostname host;
    uint16_t port = HTTP_PORT;
    int r = read_authority(frame->host, &port, &host, ret_fault);
    if (r == 0 && (port != request->port || strcmp(host.text, request->host.text) != 0))
        r = fail_with_subject(ret_fault, CK_REASON_MALFORMED, "has a Host field that differs from its target",
                              frame->host);
    return r;
}

static int read_request(const char *head, size_t length, const struct ck_http_tunnel *tunnel,
                        struct ck_http_request *ret_request, struct ck_fault *ret_fault)
{
    struct head parts;
    struct target target = {0};
    struct frame frame;
    struct ck_http_request request = {0};
    int r = split(head, length, &parts, ret_fault);
    /*
     * It gets the target as soon as that is known, so that a refusal for what follows can name it.
     */
    *ret_request = (struct ck_http_request){0};
    if (r == 0)
        r = read_target(parts.first, tunnel, &target, &request, ret_fault);
    if (r == 0 || request.inner)
        *ret_request = request;
    if (r == 0)
        r = read_frame(&parts, &frame, ret_fault);
    if (r == 0)
        r = check_host(&frame, &request, ret_fault);
    if (r != 0)
        return r;
    if (frame.codings > 0 && request.minor == 0)
        return malformed(ret_fault, "is HTTP/1.0 and chunked");
    if (request.connect && (frame.codings > 0 || frame.length > 0))
        return malformed(ret_fault, "is a CONNECT with a body");
    if (frame.codings > 0)
        request.body = CK_BODY_CHUNKED;
    else if (frame.length > 0)
        request.body = CK_BODY_LENGTH;
    request.body_bytes = frame.length;
    request.keep_alive = request.minor == 1 && !frame.close;
    *ret_request = request;
    return 0;
}

int ck_http_read_request(const char *head, size_t length, struct ck_http_request *ret_request,
                         struct ck_fault *ret_fault)
{
    return read_request(head, length, NULL, ret_request, ret_fault);
}

int ck_http_read_inner_request(const char *head, size_t length, const struct ck_http_tunnel *tunnel,
                               struct ck_http_request *ret_request, struct ck_fault *ret_fault)
{
    return read_request(head, length, tunnel, ret_request, ret_fault);
}

/* ---- responses --------------------------------------------------------------------------- */

/* "HTTP/1.1 200", and a space and a phrase, or neither. */
static int read_status(struct span line, struct ck_http_response *response, unsigned *ret_minor,
                       struct ck_fault *ret_fault)
{
    bool shape = line.length >= 12 && read_version((struct span){line.at, 8}, ret_minor) && line.at[8] == ' ' &&
                 (line.length == 12 || line.at[12] == ' ');
    for (size_t i = 9; shape && i < 12; i++) {
        shape = line.at[i] >= '0' && line.at[i] <= '9';
        response->status = response->status * 10 + (line.at[i] - '0');
    }
    if (!shape || response->status < 100 || response->status > 599)
        return malformed(ret_fault, "does not begin with a version and a status");
    /* Upgrade is not forwarded, so the client cannot have asked for it. */
    if (response->status == 101)
        return malformed(ret_fault, "switches the protocol without a request for it");
    response->interim = response->status < 200;
    return 0;
}

int ck_http_read_response(const char *head, size_t length, bool of_head, struct ck_http_response *ret_response,
                          struct ck_fault *ret_fault)
{
    struct head parts;
    struct frame frame;
    struct ck_http_response response = {0};
    unsigned minor = 0;
    int r = split(head, length, &parts, ret_fault);
    if (r == 0)
        r = read_status(parts.first, &response, &minor, ret_fault);
    if (r == 0)
        r = read_frame(&parts, &frame, ret_fault);
    if (r != 0) {
        ret_fault->reason = CK_REASON_BAD_ANSWER;
        return r;
    }
    response.keep_alive = minor == 1 && !frame.close;
    /* RFC 9112, 6.3: these responses have no body, whatever their fields say. */
    bool empty = of_head || response.interim || response.status == 204 || response.status == 304;
    if (!empty && frame.codings > 0)
        response.body = CK_BODY_CHUNKED;
    else if (!empty && frame.lengths > 0)
        response.body = frame.length > 0 ? CK_BODY_LENGTH : CK_BODY_NONE;
    else if (!empty)
        response.body = CK_BODY_UNTIL_CLOSE;
    response.body_bytes = frame.length;
    *ret_response = response;
    return 0;
}

/* ---- forwarding -------------------------------------------------------------------------- */

/* Writes without checks: a forwarded head is at most CK_HEAD_ADDED bytes longer (http.h). */
struct writer {
    char *buffer;
    size_t length;
};

static void put(struct writer *writer, struct span text)
{
    if (text.length > 0) /* a part that is missing has no address */
        memcpy(writer->buffer + writer->length, text.at, text.length);
    writer->length += text.length;
}

static void put_text(struct writer *writer, const char *text)
{
    put(writer, (struct span){text, strlen(text)});
}

/*
 * Not hop-by-hop fields (RFC 9110, 7.6.1), fields for the proxy, and fields that Connection names.
 */
static bool is_forwarded(const struct head *head, struct span name)
{
    static const char *const ours[] = {"connection",         "keep-alive", "proxy-connection", "proxy-authorization",
                                       "proxy-authenticate", "te",         "upgrade",          "http2-settings"};
    for (size_t i = 0; i < sizeof(ours) / sizeof(*ours); i++)
        if (is(name, ours[i]))
            return false;
    for (size_t i = 0; i < head->connection_options_count; i++)
        if (same(name, head->connection_options[i]))
            return false;
    return true;
}

/* Over TLS: what the proxy writes itself, here or later. */
static bool is_ours(const struct ck_http_request *request, struct span name)
{
    const struct ck_host_secrets *secrets = request->secrets;
    if (secrets && is(name, "host"))
        return true;
    for (size_t i = 0; secrets && i < secrets->count; i++)
        if (ck_host_secret_is_for(&secrets->items[i], &request->host, request->port) &&
            ck_host_secret_is_named(&secrets->items[i], name.at, name.length))
            return true;
    return false;
}

/*
 * Written anew, with one blank after the colon, so that the next program reads exactly what was
 * checked.
 */
static void put_fields(struct writer *writer, const struct head *head, const struct ck_http_request *request)
{
    for (size_t i = 0; i < head->count; i++) {
        const struct http_field *field = &head->fields[i];
        if (!is_forwarded(head, field->name) || (request && is_ours(request, field->name)))
            continue;
        put(writer, field->name);
        put_text(writer, ": ");
        put(writer, field->value);
        put_text(writer, "\r\n");
    }
}

/* "host:port" as it was judged, and not as the client spelled it. */
static void put_authority(struct writer *writer, const struct ck_http_request *request)
{
    char port[16];
    bool brackets = request->host.numeric && request->host.address.length == 16;
    (void)snprintf(port, sizeof(port), ":%u", request->port);
    put_text(writer, brackets ? "[" : "");
    put_text(writer, request->host.text);
    put_text(writer, brackets ? "]" : "");
    put_text(writer, request->port != (request->secrets ? TLS_PORT : HTTP_PORT) ? port : "");
}

static void put_authorization(struct writer *writer, const struct ck_upstream *upstream)
{
    if (upstream->authorization[0] == '\0')
        return;
    put_text(writer, "Proxy-Authorization: ");
    put_text(writer, upstream->authorization);
    put_text(writer, "\r\n");
}

size_t ck_http_forward_request(const char *head, size_t length, const struct ck_http_request *request,
                               const struct ck_upstream *upstream, char *buffer)
{
    struct writer writer = {0};
    struct head parts;
    struct target target = {0};
    struct frame frame = {0};
    struct ck_fault fault;
    if (split(head, length, &parts, &fault) != 0 || split_request_line(parts.first, &target, &fault) != 0 ||
        (!request->inner && split_url(&target, &fault) != 0) || read_frame(&parts, &frame, &fault) != 0)
        return 0;
    if (request->inner)
        target.path = target.text;
    bool close = !request->keep_alive || request->secrets;
    writer.buffer = buffer;
    put(&writer, target.method);
    put_text(&writer, " ");
    if (upstream) {
        put_text(&writer, "http://");
        put_authority(&writer, request);
    }
    /* RFC 9112, 3.2.4: OPTIONS without a path asks about the server as a whole. */
    if (target.path.length == 0 && is(target.method, "options"))
        put_text(&writer, upstream ? "" : "*");
    else if (target.path.length == 0 || target.path.at[0] == '?')
        put_text(&writer, "/");
    put(&writer, target.path);
    put_text(&writer, request->minor == 1 ? " HTTP/1.1\r\n" : " HTTP/1.0\r\n");
    /* HTTP/1.0 without Host: added, or the server would choose its default site */
    if (frame.hosts == 0 || request->secrets) {
        put_text(&writer, "Host: ");
        if (request->secrets)
            put_authority(&writer, request);
        else
            put(&writer, target.authority);
        put_text(&writer, "\r\n");
    }
    put_fields(&writer, &parts, request);
    if (upstream)
        put_authorization(&writer, upstream);
    /* TE is for one hop, so it is sent anew and named in Connection (RFC 9110, 10.1.4). */
    if (frame.trailers)
        put_text(&writer, "TE: trailers\r\n");
    if (close || frame.trailers)
        put_text(&writer, close ? "Connection: close\r\n" : "Connection: TE\r\n");
    put_text(&writer, "\r\n");
    return writer.length;
}

size_t ck_http_forward_response(const char *head, size_t length, bool keep_alive, char *buffer)
{
    struct writer writer = {0};
    struct head parts;
    struct ck_fault fault;
    if (split(head, length, &parts, &fault) != 0)
        return 0;
    writer.buffer = buffer;
    put(&writer, parts.first);
    put_text(&writer, "\r\n");
    put_fields(&writer, &parts, NULL);
    if (!keep_alive)
        put_text(&writer, "Connection: close\r\n");
    put_text(&writer, "\r\n");
    return writer.length;
}
