/*
 * line.h - lines of strace. Pure.
 *
 *   11    openat(AT_FDCWD</data>, "/etc/hosts", O_RDONLY|O_CLOEXEC) = 3</etc/hosts>
 *   11    connect(3<socket:[1]>, {sa_family=AF_INET, sin_port=htons(443), ...}, 16) = -1 ENETUNREACH (...)
 *   12    openat(AT_FDCWD</data>, "/x" <unfinished ...>
 *   12    <... openat resumed>, O_RDONLY) = -1 ENOENT (...)
 *   12    +++ exited with 3 +++
 *
 * strace escapes what comes from the program, quotes and line ends first of all: within a line its words can be trusted
 * to be strace's. A line that does not fit is passed over, never guessed at, and the trace is not complete.
 */
#ifndef CK_GATHER_TRACE_LINE_H
#define CK_GATHER_TRACE_LINE_H

#include <stdbool.h>
#include <stddef.h>

#define CK_TRACE_ARGS_MAX 6

struct ck_trace_span {
    const char *at;
    size_t length;
};

enum ck_trace_kind {
    CK_TRACE_OTHER,
    CK_TRACE_CALL,       /* body: the whole call */
    CK_TRACE_UNFINISHED, /* body: what is known of it so far */
    CK_TRACE_RESUMED,    /* body: the rest of it */
    CK_TRACE_EXITED,     /* body: the status */
    CK_TRACE_KILLED,     /* body: the signal */
    CK_TRACE_SUPERSEDED  /* body: the number of the thread that is this process from now on, and no other any more */
};

struct ck_trace_line {
    enum ck_trace_kind kind;
    unsigned long pid;
    struct ck_trace_span body;
};

struct ck_trace_call {
    struct ck_trace_span name;
    struct ck_trace_span args[CK_TRACE_ARGS_MAX]; /* those beyond are not looked at */
    size_t count;
    struct ck_trace_span result; /* what follows the equals sign */
};

/* line without its end. */
struct ck_trace_line ck_trace_line_read(struct ck_trace_span line);

/* False where it is no whole call. */
bool ck_trace_call_read(struct ck_trace_span body, struct ck_trace_call *ret_call);

/* "ENOENT" of "-1 ENOENT (...)"; an empty span where the call succeeded. */
struct ck_trace_span ck_trace_error(struct ck_trace_span result);

/* The number at the beginning, of 10 digits at most; 0 where there is none. */
unsigned long ck_trace_span_number(struct ck_trace_span span);

bool ck_trace_span_is(struct ck_trace_span span, const char *text);
bool ck_trace_span_begins(struct ck_trace_span span, const char *text);

/* What follows the first text in span, outside of strings; an empty span where there is none. */
struct ck_trace_span ck_trace_span_after(struct ck_trace_span span, const char *text);

/*
 * The bytes of a string at the beginning of span, "..." or what stands in <...> behind a descriptor, at most size of them;
 * *ret_rest is what follows it. -1 where there is none.
 */
long ck_trace_span_unquote(struct ck_trace_span span, char *bytes, size_t size, struct ck_trace_span *ret_rest);

#endif
