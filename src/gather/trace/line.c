/* line.c - parses lines of strace; see line.h. */
#include "gather/trace/line.h"

#include <string.h>

#define UNFINISHED " <unfinished ...>"
/* A thread executes a program: the rest comes under the pid of its process. */
#define CHANGED " <pid changed to "
#define RESUMED " resumed>"
#define PID_DIGITS_MAX 10 /* fits into an unsigned long; pids of Linux have at most 7 */

bool ck_trace_span_is(struct ck_trace_span span, const char *text)
{
    return span.length == strlen(text) && memcmp(span.at, text, span.length) == 0;
}

bool ck_trace_span_begins(struct ck_trace_span span, const char *text)
{
    size_t length = strlen(text);
    return span.length >= length && memcmp(span.at, text, length) == 0;
}

/* What is left after offset bytes; offset is at most the length. */
static struct ck_trace_span from(struct ck_trace_span span, size_t offset)
{
    return (struct ck_trace_span){.at = span.at + offset, .length = span.length - offset};
}

static struct ck_trace_span trimmed(struct ck_trace_span span)
{
    while (span.length > 0 && span.at[0] == ' ')
        span = from(span, 1);
    while (span.length > 0 && span.at[span.length - 1] == ' ')
        span.length--;
    return span;
}

static bool is_digit(char byte)
{
    return byte >= '0' && byte <= '9';
}

/* ---- strings ---- */

/*
 * The offset after the closing mark of the string that opens at offset; the length if it is not
 * closed.
 */
static size_t string_end(struct ck_trace_span span, size_t offset, char close)
{
    for (size_t i = offset + 1; i < span.length; i++) {
        /* An escaped closing mark does not end the string. */
        if (span.at[i] == '\\')
            i++;
        else if (span.at[i] == close)
            return i + 1;
    }
    return span.length;
}

/* A path after a descriptor is in angle brackets; elsewhere they are literal. */
static char closing_of(struct ck_trace_span span, size_t offset)
{
    if (span.at[offset] == '"')
        return '"';
    /* After the number of a descriptor, or after AT_FDCWD, which ends in D. */
    bool after = offset > 0 && (is_digit(span.at[offset - 1]) || span.at[offset - 1] == 'D');
    return span.at[offset] == '<' && after ? '>' : '\0';
}

/* strace writes lower-case digits. */
static int hex_of(char byte)
{
    return is_digit(byte) ? byte - '0' : byte >= 'a' && byte <= 'f' ? byte - 'a' + 10 : -1;
}

/*
 * The byte that the escape at the beginning of span means; *ret_length is the length of the escape.
 */
static char unescape(struct ck_trace_span span, size_t *ret_length)
{
    /*
     * The escapes of C. strace -x writes other bytes as \xNN; without -x as up to three octal
     * digits.
     */
    static const char names[] = "nrtvfab", bytes[] = "\n\r\t\v\f\a\b";
    char name = span.length > 1 ? span.at[1] : '\\';
    const char *known = name != '\0' ? strchr(names, name) : NULL;
    *ret_length = span.length > 1 ? 2 : 1;
    if (known)
        return bytes[known - names];
    if (name == 'x' && span.length > 3 && hex_of(span.at[2]) >= 0 && hex_of(span.at[3]) >= 0) {
        *ret_length = 4;
        return (char)(hex_of(span.at[2]) << 4 | hex_of(span.at[3]));
    }
    unsigned value = 0;
    size_t i = 1;
    for (; i < span.length && i < 4 && span.at[i] >= '0' && span.at[i] <= '7'; i++)
        value = value << 3 | (unsigned)(span.at[i] - '0');
    /* An escaped quote, bracket or backslash is the character itself. */
    if (i == 1)
        return name;
    *ret_length = i;
    return (char)value;
}

/* Bytes beyond size are dropped, but the end of the string is still found. */
long ck_trace_span_unquote(struct ck_trace_span span, char *bytes, size_t size, struct ck_trace_span *ret_rest)
{
    /* A string begins with a quote, the path of a descriptor with an angle bracket. */
    char close = span.length > 0 && span.at[0] == '"' ? '"' : span.length > 0 && span.at[0] == '<' ? '>' : '\0';
    size_t count = 0;
    for (size_t i = 1; close != '\0' && i < span.length;) {
        size_t step = 1;
        char byte = span.at[i];
        if (byte == close) {
            *ret_rest = from(span, i + 1);
            return (long)count;
        }
        if (byte == '\\')
            byte = unescape(from(span, i), &step);
        if (count < size)
            bytes[count++] = byte;
        i += step;
    }
    return -1;
}

struct ck_trace_span ck_trace_span_after(struct ck_trace_span span, const char *text)
{
    for (size_t i = 0; i < span.length; i++) {
        if (ck_trace_span_begins(from(span, i), text))
            return from(span, i + strlen(text));
        /* Skips whole strings: text in them comes from the program. */
        if (closing_of(span, i) != '\0')
            i = string_end(span, i, closing_of(span, i)) - 1;
    }
    return (struct ck_trace_span){.at = "", .length = 0};
}

/* ---- lines ---- */

/* Returns the number of digits, which may be 0. */
static size_t take_pid(struct ck_trace_span line, unsigned long *ret_pid)
{
    size_t i = 0;
    for (*ret_pid = 0; i < line.length && i < PID_DIGITS_MAX && is_digit(line.at[i]); i++)
        *ret_pid = *ret_pid * 10 + (unsigned long)(line.at[i] - '0');
    return i;
}

unsigned long ck_trace_span_number(struct ck_trace_span span)
{
    unsigned long number;
    (void)take_pid(span, &number);
    return number;
}

/* Does span end with text? */
static bool ends(struct ck_trace_span span, const char *text)
{
    size_t length = strlen(text);
    return span.length >= length && memcmp(span.at + span.length - length, text, length) == 0;
}

/* The length of the known part of a call, if the rest comes later; otherwise 0. */
static size_t unfinished_length(struct ck_trace_span body)
{
    static const char closing[] = " ...>";
    if (ends(body, UNFINISHED))
        return body.length - strlen(UNFINISHED);
    size_t i = body.length > strlen(closing) && ends(body, closing) ? body.length - strlen(closing) : 0;
    /* " <pid changed to 12 ...>": the number is between the two fixed parts. */
    while (i > 0 && is_digit(body.at[i - 1]))
        i--;
    struct ck_trace_span before = {.at = body.at, .length = i};
    return ends(before, CHANGED) ? i - strlen(CHANGED) : 0;
}

/* "+++ exited with 3 +++" and other ends. */
static bool take_end(struct ck_trace_span body, const char *opening, struct ck_trace_span *ret_value)
{
    static const char closing[] = " +++";
    if (!ck_trace_span_begins(body, opening) || !ends(body, closing) || body.length < strlen(opening) + strlen(closing))
        return false;
    struct ck_trace_span value = from(body, strlen(opening));
    value.length -= strlen(closing);
    const char *space = memchr(value.at, ' ', value.length); /* "SIGSEGV (core dumped)" */
    value.length = space ? (size_t)(space - value.at) : value.length;
    *ret_value = value;
    return true;
}

struct ck_trace_line ck_trace_line_read(struct ck_trace_span line)
{
    struct ck_trace_line read = {.kind = CK_TRACE_OTHER};
    size_t digits = take_pid(line, &read.pid);
    struct ck_trace_span body = trimmed(from(line, digits));
    /*
     * A line has a pid, at least one space, and a body. No space: trimmed did not move the
     * beginning.
     */
    if (digits == 0 || body.length == 0 || body.at == line.at + digits)
        return read;
    /* A signal or a stop; if it ends the process, another line says so. */
    if (ck_trace_span_begins(body, "--- "))
        return read;
    read.body = body;
    /* take_end changes read.body only on success, so the tests can follow each other. */
    if (take_end(body, "+++ exited with ", &read.body))
        read.kind = CK_TRACE_EXITED;
    else if (take_end(body, "+++ killed by ", &read.body))
        read.kind = CK_TRACE_KILLED;
    else if (take_end(body, "+++ superseded by execve in pid ", &read.body))
        read.kind = CK_TRACE_SUPERSEDED;
    else if (ck_trace_span_begins(body, "<... ")) {
        /* "<... openat resumed>REST": the name is known from the first part. */
        struct ck_trace_span rest = ck_trace_span_after(body, RESUMED);
        read.kind = rest.at && rest.length > 0 ? CK_TRACE_RESUMED : CK_TRACE_OTHER;
        read.body = rest;
    } else if (unfinished_length(body) > 0) {
        read.kind = CK_TRACE_UNFINISHED;
        read.body.length = unfinished_length(body);
    } else {
        read.kind = CK_TRACE_CALL;
    }
    return read;
}

/* ---- calls ---- */

/* An empty argument is not stored: a call without arguments has "()". */
static void add_arg(struct ck_trace_call *call, struct ck_trace_span body, size_t start, size_t end)
{
    struct ck_trace_span arg = trimmed((struct ck_trace_span){.at = body.at + start, .length = end - start});
    if (call->count < CK_TRACE_ARGS_MAX && arg.length > 0)
        call->args[call->count++] = arg;
}

/*
 * Parses the arguments after the opening parenthesis. Returns the offset after the closing one,
 * or 0 without one.
 */
static size_t take_args(struct ck_trace_span body, size_t start, struct ck_trace_call *call)
{
    /* Commas in structures, lists and calls such as htons(443) do not separate arguments. */
    int depth = 0;
    for (size_t i = start; i < body.length; i++) {
        /* A NUL is tested below, because strchr also finds the NUL that ends its list. */
        char byte = body.at[i], close = closing_of(body, i);
        if (close != '\0') {
            i = string_end(body, i, close) - 1;
        } else if (byte == ')' && depth == 0) {
            add_arg(call, body, start, i);
            return i + 1;
        } else if (byte == ',' && depth == 0) {
            add_arg(call, body, start, i);
            start = i + 1;
        } else if (strchr("([{", byte) && byte != '\0') {
            depth++;
        } else if (strchr(")]}", byte) && byte != '\0') {
            depth--;
        }
    }
    return 0;
}

/* Names of system calls have lower-case letters, digits and underscores. */
static size_t name_length(struct ck_trace_span body)
{
    size_t i = 0;
    while (i < body.length && (is_digit(body.at[i]) || body.at[i] == '_' || (body.at[i] >= 'a' && body.at[i] <= 'z')))
        i++;
    return i;
}

/* A complete call has a name, arguments in parentheses, and a result after "= ". */
bool ck_trace_call_read(struct ck_trace_span body, struct ck_trace_call *ret_call)
{
    struct ck_trace_call call = {.name = {.at = body.at, .length = name_length(body)}};
    if (call.name.length == 0 || call.name.length == body.length || body.at[call.name.length] != '(')
        return false;
    size_t after = take_args(body, call.name.length + 1, &call);
    if (after == 0)
        return false;
    struct ck_trace_span rest = trimmed(from(body, after));
    if (!ck_trace_span_begins(rest, "= "))
        return false;
    call.result = trimmed(from(rest, 2));
    *ret_call = call;
    return true;
}

struct ck_trace_span ck_trace_error(struct ck_trace_span result)
{
    struct ck_trace_span none = {.at = "", .length = 0};
    if (ck_trace_span_is(result, "?"))
        return result; /* the process ended before the call did */
    if (!ck_trace_span_begins(result, "-1 E"))
        return none;
    struct ck_trace_span name = from(result, 3);
    size_t i = 0;
    while (i < name.length && (is_digit(name.at[i]) || (name.at[i] >= 'A' && name.at[i] <= 'Z')))
        i++;
    name.length = i;
    return name;
}
