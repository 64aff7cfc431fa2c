/*
 * line.h - lines of strace. Pure.
 *
 *   11    openat(AT_FDCWD</data>, "/etc/hosts", O_RDONLY|O_CLOEXEC) = 3</etc/hosts>
 *   11    connect(3<socket:[1]>, {sa_family=AF_INET, sin_port=htons(443)}, 16) = -1 EPERM (...)
 *   12    openat(AT_FDCWD</data>, "/x" <unfinished ...>
 *   12    <... openat resumed>, O_RDONLY) = -1 ENOENT (...)
 *   12    +++ exited with 3 +++
 *
 * strace escapes what comes from the program, quotes and newlines first of all. So everything else
 * in a line is from strace. A line that does not fit this form is skipped, never guessed, and the
 * trace is then incomplete.
 */
#ifndef CK_GATHER_TRACE_LINE_H
#define CK_GATHER_TRACE_LINE_H

#include <stdbool.h>
#include <stddef.h>

#define CK_TRACE_ARGS_MAX 6

/* A part of a line; not NUL-terminated. */
struct ck_trace_span {
    const char *at;
    size_t length;
};

enum ck_trace_kind {
    CK_TRACE_OTHER,
    CK_TRACE_CALL,       /* body: the whole call */
    CK_TRACE_UNFINISHED, /* body: the part that is known so far */
    CK_TRACE_RESUMED,    /* body: the rest of it */
    CK_TRACE_EXITED,     /* body: the status */
    CK_TRACE_KILLED,     /* body: the signal */
    CK_TRACE_SUPERSEDED  /* body: the number of the thread that is this process from now on */
};

struct ck_trace_line {
    enum ck_trace_kind kind;
    unsigned long pid;
    struct ck_trace_span body;
};

struct ck_trace_call {
    struct ck_trace_span name;
    struct ck_trace_span args[CK_TRACE_ARGS_MAX]; /* later arguments are ignored */
    size_t count;
    struct ck_trace_span result; /* what follows the equals sign */
};

/* line has no newline at its end. */
struct ck_trace_line ck_trace_line_read(struct ck_trace_span line);

/* False if body is not a complete call. */
bool ck_trace_call_read(struct ck_trace_span body, struct ck_trace_call *ret_call);

/* "ENOENT" of "-1 ENOENT (...)"; an empty span if the call succeeded. */
struct ck_trace_span ck_trace_error(struct ck_trace_span result);

/* The number at the beginning, at most 10 digits; 0 without digits. */
unsigned long ck_trace_span_number(struct ck_trace_span span);

bool ck_trace_span_is(struct ck_trace_span span, const char *text);
bool ck_trace_span_begins(struct ck_trace_span span, const char *text);

/* What follows the first text in span, outside of strings; an empty span if text does not occur. */
struct ck_trace_span ck_trace_span_after(struct ck_trace_span span, const char *text);

/*
 * The bytes of the string at the beginning of span, "..." or <...> after a descriptor, at most size
 * bytes. *ret_rest is what follows it. -1 if there is no string.
 */
long ck_trace_span_unquote(struct ck_trace_span span, char *bytes, size_t size, struct ck_trace_span *ret_rest);

#endif
