/* test_evidence_trace.c - the output of strace in a container: lines into calls, calls into events. */
#include "evidence_reading.h"
#include "gather/trace/line.h"

#define IMAGE \
    "[{\"Os\": \"linux\", \"Architecture\": \"amd64\", \"Config\": {\"User\": \"\", \"WorkingDir\": \"/\", " \
    "\"Env\": [\"TOKEN=very-secret\", \"A\"], \"Entrypoint\": null, \"Cmd\": [\"x\"], \"Volumes\": {\"/kept\": {}}}, " \
    "\"RootFS\": {\"Layers\": [\"a\", \"b\"]}}]"
#define START "7 execve(\"/.chokepoint-0a/witness\", [\"w\"], 0x0 /* 0 vars */) = 0\n=guard 6\n=filter 1\n"
#define PROGRAM "7     execve(\"/bin/x\", [\"x\", \"-a\"], 0x1 /* 1 vars */) = 0\n"
#define END "7     +++ exited with 0 +++\n=end program\n"

static struct ck_trace_span span(const char *text)
{
    return (struct ck_trace_span){.at = text, .length = strlen(text)};
}

static struct reading read_trace(const char *trace)
{
    const struct ck_answer answers[] = {make_text_answer("image", IMAGE), make_text_answer("run", trace)};
    return read_all_of("trace", answers, COUNT(answers));
}

static void lines_are_distinguished(void **state)
{
    static const struct {
        const char *line;
        enum ck_trace_kind kind;
        unsigned long pid;
        const char *body;
    } cases[] = {
        {"11    open(\"/x\", 0) = 3", CK_TRACE_CALL, 11, "open(\"/x\", 0) = 3"},
        {"11 open(\"/x\", 0 <unfinished ...>", CK_TRACE_UNFINISHED, 11, "open(\"/x\", 0"},
        {"11 <... open resumed>) = 3", CK_TRACE_RESUMED, 11, ") = 3"},
        {"11 +++ exited with 17 +++", CK_TRACE_EXITED, 11, "17"},
        {"11 +++ killed by SIGSEGV (core dumped) +++", CK_TRACE_KILLED, 11, "SIGSEGV"},
        {"11 --- SIGCHLD {si_signo=SIGCHLD, si_code=CLD_EXITED, si_pid=12} ---", CK_TRACE_OTHER, 11, NULL},
        {"11 --- stopped by SIGSTOP ---", CK_TRACE_OTHER, 11, NULL},
        {"11 +++ superseded by execve in pid 12 +++", CK_TRACE_SUPERSEDED, 11, "12"},
        {"11 execve(\"/x\", [] <pid changed to 12 ...>", CK_TRACE_UNFINISHED, 11, "execve(\"/x\", []"},
        {"11 x <pid changed to  ...>", CK_TRACE_UNFINISHED, 11, "x"},
        {"11 <pid changed to 12 ...>", CK_TRACE_CALL, 11, NULL},
        {"11 +++ exited with", CK_TRACE_CALL, 11, "+++ exited with"},
        {"11", CK_TRACE_OTHER, 11, NULL},
        {"11open(\"/x\", 0) = 3", CK_TRACE_OTHER, 11, NULL},
        {"strace: something", CK_TRACE_OTHER, 0, NULL},
        {"", CK_TRACE_OTHER, 0, NULL},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct ck_trace_line line = ck_trace_line_read(span(cases[i].line));
        assert_int_equal(line.kind, cases[i].kind);
        assert_int_equal(line.pid, cases[i].pid);
        assert_true(!cases[i].body || ck_trace_span_is(line.body, cases[i].body));
    }
}

static void arguments_end_where_strace_ends_them(void **state)
{
    static const struct {
        const char *body;
        const char *args[4];
        const char *result;
    } cases[] = {
        {"open(\"a\\\"), 1) = 2\", 3)  = 4", {"\"a\\\"), 1) = 2\"", "3"}, "4"},
        {"openat(3</a, b>, \"c\", 0) = -1 EIO (x)", {"3</a, b>", "\"c\"", "0"}, "-1 EIO (x)"},
        {"execve(\"a\", [\"b\", \"c]\"], 0x1 /* 2 vars */) = 0", {"\"a\"", "[\"b\", \"c]\"]", "0x1 /* 2 vars */"}, "0"},
        {"sendto(3, {a={b=1, c=2}, d=3}, 4) = ?", {"3", "{a={b=1, c=2}, d=3}", "4"}, "?"},
    };
    static const char *const none[] = {"open(\"a\", 0", "open(\"a) = 3", "open", "(1) = 2", "open(1)", "open(1) 2", ""};
    struct ck_trace_call call;
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        assert_true(ck_trace_call_read(span(cases[i].body), &call));
        for (size_t j = 0; j < COUNT(cases[i].args) && cases[i].args[j]; j++)
            assert_true(ck_trace_span_is(call.args[j], cases[i].args[j]));
        assert_true(ck_trace_span_is(call.result, cases[i].result));
    }
    for (size_t i = 0; i < COUNT(none); i++)
        assert_false(ck_trace_call_read(span(none[i]), &call));
}

static void strings_are_taken_out_of_their_quotes(void **state)
{
    static const struct {
        const char *text, *bytes;
        long length;
    } cases[] = {
        {"\"a\\n\\t\\\"\\\\b\" rest", "a\n\t\"\\b", 6},
        {"\"\\x00\\xff\\1\\12x\"", "\0\xff\1\nx", 5},
        {"</a\\76b>", "/a>b", 4},
        {"\"\"...", "", 0},
        {"\"abc", NULL, -1},
        {"abc", NULL, -1},
        {"", NULL, -1},
        {"\"a\\", NULL, -1},
    };
    char bytes[16];
    struct ck_trace_span rest;
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        assert_int_equal(ck_trace_span_unquote(span(cases[i].text), bytes, sizeof(bytes), &rest), cases[i].length);
        assert_true(cases[i].length < 0 || memcmp(bytes, cases[i].bytes, (size_t)cases[i].length) == 0);
    }
    assert_int_equal(ck_trace_span_unquote(span("\"0123456789abcdefgh\""), bytes, sizeof(bytes), &rest), sizeof(bytes));
}

/* One call after the start of the program: its entry in the list, as JSON. */
static void calls_mean_something(void **state)
{
    static const struct {
        const char *call, *list, *entry;
    } cases[] = {
        {"7 openat(AT_FDCWD</w>, \"a\", O_RDONLY) = -1 ENOENT (x)", "files",
         "{\"path\":\"/w/a\",\"place\":\"absent\",\"access\":\"read\",\"error\":\"ENOENT\"}"},
        {"7 openat(AT_FDCWD</w>, \"/a\", O_RDWR|O_CREAT, 0600) = -1 EROFS (x)", "files",
         "{\"path\":\"/a\",\"place\":\"image\",\"access\":\"write\",\"error\":\"EROFS\"}"},
        {"7 open(\"/proc/77/maps\", O_RDONLY) = 3</proc/77/maps>", "files",
         "{\"path\":\"/proc/[pid]/maps\",\"place\":\"kernel\",\"access\":\"read\",\"error\":null}"},
        {"7 open(\"/link\", O_RDONLY) = 3</tmp/x>", "files",
         "{\"path\":\"/link\",\"place\":\"scratch\",\"access\":\"read\",\"error\":null}"},
        {"7 open(\"/tmp/../etc/shadow\", O_RDONLY) = -1 EACCES (x)", "files",
         "{\"path\":\"/tmp/../etc/shadow\",\"place\":\"image\",\"access\":\"read\",\"error\":\"EACCES\"}"},
        {"7 open(\"/x.sock\", O_RDONLY) = -1 ENOENT (x)", "files",
         "{\"path\":\"/x.sock\",\"place\":\"absent\",\"access\":\"read\",\"error\":\"ENOENT\"}"},
        {"7 creat(\"/kept/x\", 0600) = 3</kept/x>", "files",
         "{\"path\":\"/kept/x\",\"place\":\"volume\",\"access\":\"write\",\"error\":null}"},
        {"7 openat2(AT_FDCWD</>, \"/dev/x\", {flags=O_WRONLY, resolve=0}, 24) = -1 EPERM (x)", "files",
         "{\"path\":\"/dev/x\",\"place\":\"kernel\",\"access\":\"write\",\"error\":\"EPERM\"}"},
        {"7 connect(3<socket:[1]>, {sa_family=AF_INET6, sin6_port=htons(53), sin6_flowinfo=htonl(0), "
         "inet_pton(AF_INET6, \"::1\", &sin6_addr), sin6_scope_id=0}, 28) = -1 ENETUNREACH (x)",
         "sockets",
         "{\"call\":\"connect\",\"family\":\"AF_INET6\",\"address\":\"::1\",\"port\":53,\"error\":\"ENETUNREACH\"}"},
        {"7 sendmsg(3, {msg_name={sa_family=AF_UNIX, sun_path=@\"a\"}, msg_namelen=9, msg_iov=[{iov_base=\"sa_family=\", "
         "iov_len=3}]}, 0) = 3",
         "sockets", "{\"call\":\"sendmsg\",\"family\":\"AF_UNIX\",\"address\":\"@a\",\"port\":null,\"error\":null}"},
        {"7 sendmmsg(3, [{msg_hdr={msg_name={sa_family=AF_INET, sin_port=htons(53), sin_addr=inet_addr(\"1.2.3.4\")}, "
         "msg_iov=[{iov_base=\"sa_family=}\"..., iov_len=9}]}, msg_len=9}], 1, 0) = 1",
         "sockets",
         "{\"call\":\"sendmmsg\",\"family\":\"AF_INET\",\"address\":\"1.2.3.4\",\"port\":53,\"error\":null}"},
        {"7 open(\"/.chokepoint-0a/lib/x\", O_RDONLY) = 3</.chokepoint-0a/lib/x>", "files",
         "{\"path\":\"/.chokepoint/lib/x\",\"place\":\"engine\",\"access\":\"read\",\"error\":null}"},
        {"7 ptrace(PTRACE_SEIZE, 1, NULL, 0) = -1 EPERM (x)", "attempts", "{\"call\":\"ptrace\",\"error\":\"EPERM\"}"},
        {"7 clone(child_stack=NULL, flags=CLONE_UNTRACED|SIGCHLD) = -1 EPERM (x)", "attempts",
         "{\"call\":\"clone\",\"error\":\"EPERM\"}"},
        {"7 prctl(PR_SET_DUMPABLE, SUID_DUMP_DISABLE) = -1 EPERM (x)", "attempts",
         "{\"call\":\"prctl\",\"error\":\"EPERM\"}"},
    };
    char trace[1024];
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        (void)snprintf(trace, sizeof(trace), START PROGRAM "%s\n%s\n" END, cases[i].call, cases[i].call);
        struct reading reading = read_trace(trace);
        const json_t *list = member(&reading, cases[i].list);
        assert_int_equal(json_array_size(list), 1);
        char *entry = json_dumps(json_array_get(list, 0), JSON_COMPACT);
        assert_string_equal(entry, cases[i].entry);
        free(entry);
        ck_evidence_done(&reading.evidence);
    }
}

static void call_that_was_broken_up_is_put_together(void **state)
{
    (void)state;
    struct reading reading = read_trace(START PROGRAM "7 openat(AT_FDCWD</>, \"/a\" <unfinished ...>\n"
                                                      "8 open(\"/b\", O_RDONLY <unfinished ...>\n"
                                                      "7 <... openat resumed>, O_RDONLY) = -1 EIO (x)\n"
                                                      "8 <... open resumed>) = -1 EIO (x)\n"
                                                      "9 <... open resumed>) = 3\n" END);
    assert_int_equal(json_array_size(member(&reading, "files")), 2);
    ck_evidence_done(&reading.evidence);
}

static void image_is_reported_without_its_values(void **state)
{
    (void)state;
    struct reading reading = read_trace(START PROGRAM "7 open(\"/bin/x\", O_RDONLY) = 3</bin/x>\n"
                                                      "7 open(\"/lib/a.so.6\", O_RDONLY) = -1 ENOENT (x)\n"
                                                      "7 open(\"/lib/b.so\", O_RDONLY) = -1 ENOENT (x)\n" END);
    char *document = json_dumps(reading.evidence.document, 0);
    assert_null(strstr(document, "very-secret"));
    free(document);
    assert_string_equal(json_string_value(member(&reading, "image.env.0")), "TOKEN");
    assert_int_equal(json_integer_value(member(&reading, "image_files")), 1);
    assert_int_equal(json_integer_value(member(&reading, "libraries_searched")), 2);
    assert_int_equal(json_array_size(member(&reading, "files")), 0);
    assert_int_equal(json_array_size(member(&reading, "programs")), 1);
    assert_true(json_is_true(member(&reading, "guarded")) && json_is_true(member(&reading, "complete")));
    ck_evidence_done(&reading.evidence);
}

static void ends_are_distinguished(void **state)
{
    static const struct {
        const char *end, *ended;
        int status;
        bool complete;
    } cases[] = {
        {END, "program", 0, true},
        {"7 +++ exited with 12 +++\n=end program\n", "program", 12, true},
        {"7 +++ killed by SIGKILL +++\n=end program\n", "program", -1, true},
        {"8 +++ exited with 1 +++\n=end program\n", "trace_lost", -1, false}, /* not the program: strace was ended */
        {"7 +++ exited with 0 +++\n=end lost\n", "trace_lost", 0, false},     /* somebody was left */
        {"=end time\n", "time", -1, true},
        {"7 open(\"/cut\n=end length\n", "length", -1, false},
    };
    char trace[512];
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        (void)snprintf(trace, sizeof(trace), START PROGRAM "%s", cases[i].end);
        struct reading reading = read_trace(trace);
        assert_string_equal(json_string_value(member(&reading, "ended")), cases[i].ended);
        const json_t *status = member(&reading, "exit_code");
        assert_int_equal(json_is_null(status) ? -1 : json_integer_value(status), cases[i].status);
        assert_int_equal(json_is_true(member(&reading, "complete")), cases[i].complete);
        ck_evidence_done(&reading.evidence);
    }
}

/* After the start of the program: whether the trace is complete, and strace was not killed. */
static void unseen_parts_are_reported(void **state)
{
    static const struct {
        const char *lines;
        bool complete, lost;
    } cases[] = {
        {"", true, false},
        {"7 clone(flags=SIGCHLD) = 8\n8 +++ exited with 0 +++\n", true, false},
        {"8 +++ exited with 0 +++\n7 <... vfork resumed>) = 8\n", false, true}, /* the call has no beginning */
        {"7 vfork( <unfinished ...>\n8 +++ exited with 0 +++\n7 <... vfork resumed>) = 8\n", true, false},
        {"7 clone(flags=SIGCHLD) = ? ERESTARTNOINTR (x)\n", true, false},
        {"7 clone(flags=SIGCHLD) = -1 EAGAIN (x)\n", true, false},
        {"7 clone(flags=SIGCHLD) = 8\n8 execve(\"/y\", [] <pid changed to 8 ...>\n8 +++ killed by SIGKILL +++\n", true,
         false},
        {"7 clone(flags=CLONE_THREAD) = 8\n8 execve(\"/y\", [\"y\"], NULL <pid changed to 7 ...>\n"
         "7 +++ superseded by execve in pid 8 +++\n7 <... execve resumed>) = 0\n",
         true, false},
        {"7 clone(flags=CLONE_THREAD <unfinished ...>\n8 execve(\"/y\", [\"y\"], NULL <unfinished ...>\n"
         "7 <... clone resumed> <unfinished ...>) = ?\n7 +++ superseded by execve in pid 8 +++\n"
         "7 <... execve resumed>) = 0\n",
         true, false},
        /* one was left, or may have been */
        {"8 +++ exited with 0 +++\n", false, true},
        {"7 clone(flags=SIGCHLD) = ?\n7 clone(flags=SIGCHLD) = ?\n8 +++ exited with 0 +++\n", false, true},
        {"7 clone(flags=SIGCHLD) = 8\n", false, true},
        {"7 clone(flags=SIGCHLD) = 8\n7 clone(flags=SIGCHLD) = 9\n8 +++ killed by SIGKILL +++\n", false, true},
        {"7 clone(flags=SIGCHLD) = ?\n", false, true},
        {"7 clone(flags=SIGCHLD <unfinished ...>\n", false, true},
        /* what strace could not read */
        {"7 openat(AT_FDCWD, 0x7ffc00, O_RDONLY) = 3\n", false, false},
        {"7 openat(AT_FDCWD, 0x1, O_RDONLY) = -1 EFAULT (x)\n", true, false},
        {"7 execve(0x7ffc00, 0x7ffc08, 0x7ffc10) = -1 ENOENT (x)\n", false, false},
        {"7 connect(3, 0x7ffc00, 16) = -1 ENETUNREACH (x)\n", false, false},
        {"7 sendmsg(3, {msg_name=0x7ffc00, msg_namelen=16}, 0) = 3\n", false, false},
        {"7 sendmmsg(3, [{msg_hdr={msg_name=NULL}}, ...], 40, 0) = 40\n", false, false},
        {"7 open_by_handle_at(3, {handle_bytes=8}, O_RDONLY) = 4\n", false, false}, /* it has no name */
        {"7 open_by_handle_at(3, {handle_bytes=8}, O_RDONLY) = -1 EPERM (x)\n", true, false},
        {"7 io_uring_setup(4, {}) = 3\n", false, false},
        {"7 openat(AT_FDCWD\n", false, false},
        {"7 <... openat resumed>) = 3\n", false, false},
        {"7 --- stopped by SIGSTOP ---\n", true, false},
        {"=filter 0\n", false, false},
    };
    char trace[1024];
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        (void)snprintf(trace, sizeof(trace), START PROGRAM "%s" END, cases[i].lines);
        struct reading reading = read_trace(trace);
        if (json_is_true(member(&reading, "complete")) != cases[i].complete)
            fail_msg("'%s' is %scomplete", cases[i].lines, cases[i].complete ? "not " : "");
        assert_string_equal(json_string_value(member(&reading, "ended")), cases[i].lost ? "trace_lost" : "program");
        ck_evidence_done(&reading.evidence);
    }
}

/* The tracer's first program is executed once; other files of its directory are executed by the
 * program. */
static void only_the_first_execution_is_not_listed(void **state)
{
    (void)state;
    struct reading reading =
        read_trace(START PROGRAM "7 execve(\"/.chokepoint-0a/loader\", [\"/.chokepoint-0a/loader\"], 0x0) = 0\n"
                                 "7 execve(\"/.chokepoint-0a/witness\", [\"w\"], 0x0) = 0\n"
                                 "7 execve(\"/.chokepoint/witness\", [\"w\"], 0x0) = 0\n" END);
    assert_int_equal(json_array_size(member(&reading, "programs")), 4);
    char *document = json_dumps(reading.evidence.document, 0);
    assert_null(strstr(document, "-0a"));
    free(document);
    ck_evidence_done(&reading.evidence);
}

static void trace_without_an_end_is_invalid(void **state)
{
    static const char *const traces[] = {"", START PROGRAM, "=end program\n", "7 +++ exited with 0 +++\n",
                                         "=end nothing\n"};
    (void)state;
    for (size_t i = 0; i < COUNT(traces); i++)
        assert_true(read_trace(traces[i]).r < 0);
}

static void flood_is_bounded(void **state)
{
    enum { LINES = 30000, LINE_MAX_BYTES = 64 };
    char *trace = calloc(LINES + 16, LINE_MAX_BYTES);
    size_t length = (size_t)snprintf(trace, 16 * LINE_MAX_BYTES, "%s", START PROGRAM);
    (void)state;
    for (size_t i = 0; i < LINES; i++)
        length +=
            (size_t)snprintf(trace + length, LINE_MAX_BYTES, "7 open(\"/tmp/%zu\", O_RDONLY) = 3</tmp/%zu>\n", i, i);
    (void)snprintf(trace + length, LINE_MAX_BYTES, "%s", END);
    struct reading reading = read_trace(trace);
    assert_int_equal(json_array_size(member(&reading, "files")), CK_EVIDENCE_ITEMS_MAX);
    assert_true(json_is_false(member(&reading, "complete")));
    ck_evidence_done(&reading.evidence);
    free(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_are_distinguished),
        cmocka_unit_test(arguments_end_where_strace_ends_them),
        cmocka_unit_test(strings_are_taken_out_of_their_quotes),
        cmocka_unit_test(calls_mean_something),
        cmocka_unit_test(call_that_was_broken_up_is_put_together),
        cmocka_unit_test(image_is_reported_without_its_values),
        cmocka_unit_test(ends_are_distinguished),
        cmocka_unit_test(unseen_parts_are_reported),
        cmocka_unit_test(only_the_first_execution_is_not_listed),
        cmocka_unit_test(trace_without_an_end_is_invalid),
        cmocka_unit_test(flood_is_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
