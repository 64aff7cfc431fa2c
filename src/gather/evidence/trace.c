/*
 * trace.c - reads what the program of an image did while it was traced. The input is the output of
 * the witness (src/run/keeper/witness.c): lines of strace and its own lines. This file joins them
 * to calls; trace/events.c says what a call means.
 */
#include "gather/evidence/common.h"
#include "gather/trace/events.h"

#include <stdlib.h>
#include <string.h>

#define PENDING_MAX 1024 /* processes with an unfinished call at the same time */

/* A call that was interrupted by a line of another process. */
struct trace_pending {
    unsigned long pid;
    char *text; /* the part before the interruption; owned */
    size_t length;
};

struct trace_reader {
    struct ck_trace_events events;
    struct trace_pending pending[PENDING_MAX]; /* in no order */
    size_t pending_count;
    bool guarded;                           /* the program could not change the trace */
    bool followed;                          /* what strace could not have followed was refused */
    const char *ended;                      /* one of the strings below; NULL: not yet */
    struct ck_trace_span exit_code, signal; /* empty if it did not end that way */
};

/* ---- lines ---- */

/* NULL if the process has no unfinished call. */
static struct trace_pending *find_pending(struct trace_reader *trace, unsigned long pid)
{
    for (size_t i = 0; i < trace->pending_count; i++)
        if (trace->pending[i].pid == pid)
            return &trace->pending[i];
    return NULL;
}

/* Moves the last one to its place, so the pointer is then that of another process. */
static void drop_pending(struct trace_reader *trace, struct trace_pending *pending)
{
    free(pending->text);
    *pending = trace->pending[--trace->pending_count];
}

/* A process has at most one unfinished call: an older one is dropped. */
static void store_pending(struct trace_reader *trace, const struct ck_trace_line *line)
{
    struct trace_pending *before = find_pending(trace, line->pid);
    if (before)
        drop_pending(trace, before);
    char *text = trace->pending_count < PENDING_MAX ? ck_evidence_copy(line->body.at, line->body.length) : NULL;
    if (!text) {
        trace->events.incomplete = true;
        return;
    }
    trace->pending[trace->pending_count++] =
        (struct trace_pending){.pid = line->pid, .text = text, .length = line->body.length};
}

/*
 * The two parts are joined and parsed as one call. Without the first part the trace is incomplete.
 */
static void resume(struct trace_reader *trace, const struct ck_trace_line *line)
{
    struct trace_pending *pending = find_pending(trace, line->pid);
    if (!pending) {
        trace->events.incomplete = true;
        return;
    }
    struct ck_trace_span whole = {.length = pending->length + line->body.length};
    char *text = malloc(whole.length + 1);
    if (!text) {
        trace->events.bad = -1;
    } else {
        memcpy(text, pending->text, pending->length);
        memcpy(text + pending->length, line->body.at, line->body.length);
        whole.at = text;
        ck_trace_events_call(&trace->events, line->pid, whole);
    }
    free(text);
    drop_pending(trace, pending);
}

/*
 * Its call is not finished. A process that is killed while it makes another one may have made it.
 */
static void drop_unfinished(struct trace_reader *trace, unsigned long pid)
{
    struct trace_pending *pending = find_pending(trace, pid);
    if (!pending)
        return;
    struct ck_trace_span text = {.at = pending->text, .length = pending->length};
    trace->events.processes.unknown += ck_trace_processes_creates(text) ? 1 : 0;
    drop_pending(trace, pending);
}

/* The last line of a process. */
static void end_process(struct trace_reader *trace, unsigned long pid)
{
    drop_unfinished(trace, pid);
    ck_trace_processes_ended(&trace->events.processes, pid);
}

/*
 * A thread executed a program. It has the number of the process from now on, and its unfinished
 * call continues under that number.
 */
static void supersede(struct trace_reader *trace, unsigned long pid, unsigned long thread)
{
    drop_unfinished(trace, pid);
    struct trace_pending *pending = find_pending(trace, thread);
    if (pending)
        pending->pid = pid;
    ck_trace_processes_ended(&trace->events.processes, thread);
}

/* A line that the witness itself wrote. */
static void take_witness(struct trace_reader *trace, struct ck_trace_span line)
{
    static const char *const reasons[] = {"program", "time", "stdin", "signal", "length", "trace", "lost"};
    struct ck_trace_span guard = ck_trace_span_after(line, "=guard "), end = ck_trace_span_after(line, "=end ");
    struct ck_trace_span filter = ck_trace_span_after(line, "=filter ");
    if (filter.length > 0)
        trace->followed = filter.at[0] != '0';
    if (guard.length > 0)
        trace->guarded = guard.at[0] != '0';
    for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++)
        if (ck_trace_span_is(end, reasons[i]))
            trace->ended = reasons[i];
}

/*
 * Lines that are not understood are skipped here; ck_trace_events_call notes calls that cannot be
 * parsed.
 */
static void take_line(struct trace_reader *trace, struct ck_trace_span text)
{
    if (text.length > 0 && text.at[0] == '=') {
        take_witness(trace, text);
        return;
    }
    struct ck_trace_line line = ck_trace_line_read(text);
    if (line.kind == CK_TRACE_OTHER)
        return;
    /* The first line of strace is from the process that becomes the image's program. */
    if (trace->events.first_pid == 0) {
        trace->events.first_pid = line.pid;
        ck_trace_processes_began(&trace->events.processes, line.pid);
    }
    bool first = line.pid == trace->events.first_pid;
    if (line.kind == CK_TRACE_CALL)
        ck_trace_events_call(&trace->events, line.pid, line.body);
    else if (line.kind == CK_TRACE_UNFINISHED)
        store_pending(trace, &line);
    else if (line.kind == CK_TRACE_RESUMED)
        resume(trace, &line);
    else if (line.kind == CK_TRACE_SUPERSEDED)
        supersede(trace, line.pid, ck_trace_span_number(line.body));
    else
        end_process(trace, line.pid);
    if (first && line.kind == CK_TRACE_EXITED)
        trace->exit_code = line.body;
    else if (first && line.kind == CK_TRACE_KILLED)
        trace->signal = line.body;
}

/* A last line without a newline is taken too. */
static void take_lines(struct trace_reader *trace, const struct ck_answer *run)
{
    const char *at = run->out;
    for (size_t left = run->out_length; left > 0;) {
        size_t length = ck_evidence_line(at, left);
        take_line(trace, (struct ck_trace_span){.at = at, .length = length});
        length += length < left ? 1 : 0;
        at += length;
        left -= length;
    }
}

/* ---- the image ---- */

/* Names only: the values may be secrets. */
static json_t *env_names(const json_t *env)
{
    json_t *names = json_array();
    for (size_t i = 0; i < json_array_size(env) && i < CK_EVIDENCE_ITEMS_MAX; i++) {
        const char *text = json_string_value(json_array_get(env, i));
        if (text)
            (void)json_array_append_new(names, ck_evidence_text(text, strcspn(text, "=")));
    }
    return names;
}

/* An object or null gives an empty array. */
static json_t *texts(const json_t *list)
{
    json_t *copy = json_array();
    for (size_t i = 0; i < json_array_size(list) && i < CK_EVIDENCE_ITEMS_MAX; i++)
        (void)json_array_append_new(copy, ck_evidence_string(json_array_get(list, i)));
    return copy;
}

/* Through a list, which sorts and limits them: the order of a JSON object is not fixed. */
static json_t *keys(const json_t *object)
{
    CK_CLEANUP_LIST struct ck_evidence_list list = {0};
    CK_CLEANUP_JSON json_t *holder = json_object();
    const char *key;
    const json_t *value;
    json_object_foreach((json_t *)(uintptr_t)object, key, value)
    {
        ck_evidence_list_add(&list, ck_evidence_text(key, strlen(key)));
    }
    (void)ck_evidence_set_list(holder, "keys", &list);
    return json_incref(json_object_get(holder, "keys"));
}

/* A NULL among the values makes json_pack fail, and the document then has an error. */
static json_t *read_image(const json_t *image)
{
    const json_t *config = json_object_get(image, "Config");
    return json_pack(
        "{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:I}", "os", ck_evidence_string(json_object_get(image, "Os")),
        "architecture", ck_evidence_string(json_object_get(image, "Architecture")), "user",
        ck_evidence_string(json_object_get(config, "User")), "working_dir",
        ck_evidence_string(json_object_get(config, "WorkingDir")), "entrypoint",
        texts(json_object_get(config, "Entrypoint")), "command", texts(json_object_get(config, "Cmd")), "env",
        env_names(json_object_get(config, "Env")), "volumes", keys(json_object_get(config, "Volumes")), "ports",
        keys(json_object_get(config, "ExposedPorts")), "layers",
        (json_int_t)json_array_size(json_object_get(json_object_get(image, "RootFS"), "Layers")));
}

/* ---- the document ---- */

/* The keys of the set are only for finding duplicates; the document has the values. */
static uint64_t write_set(json_t *document, const char *name, json_t *set, struct trace_reader *trace)
{
    CK_CLEANUP_LIST struct ck_evidence_list list = {0};
    const char *key;
    json_t *value;
    json_object_foreach(set, key, value)
    {
        ck_evidence_list_add(&list, json_incref(value));
    }
    uint64_t total = list.total;
    trace->events.bad |= ck_evidence_set_list(document, name, &list);
    return total;
}

static int set_size(json_t *document, const char *name, const json_t *set)
{
    return ck_evidence_set(document, name, json_integer((json_int_t)json_object_size(set)));
}

/* 0 to 255, as strace wrote it. */
static json_t *read_status(struct ck_trace_span text)
{
    long status = 0;
    for (size_t i = 0; i < text.length && i < 3; i++)
        status = status * 10 + (text.at[i] >= '0' && text.at[i] <= '9' ? text.at[i] - '0' : 0);
    return text.length > 0 ? json_integer(status) : json_null();
}

/*
 * ended is one of the witness's words, or "trace_lost". complete is false if anything may be
 * missing.
 */
static void write_end(struct trace_reader *trace, json_t *document)
{
    /* strace did not see the end of every process: something killed strace. */
    bool unseen = !ck_trace_processes_all_ended(&trace->events.processes);
    bool lost = strcmp(trace->ended, "lost") == 0 || (strcmp(trace->ended, "program") == 0 && unseen);
    bool cut = trace->events.incomplete || !trace->followed || strcmp(trace->ended, "length") == 0 || lost;
    json_t *signal = trace->signal.length > 0 ? ck_evidence_text(trace->signal.at, trace->signal.length) : json_null();
    json_t *status = trace->events.started ? read_status(trace->exit_code) : json_null();
    trace->events.bad |= ck_evidence_set(document, "started", json_boolean(trace->events.started)) |
                         ck_evidence_set(document, "ended", json_string(lost ? "trace_lost" : trace->ended)) |
                         ck_evidence_set(document, "exit_code", status) | ck_evidence_set(document, "signal", signal) |
                         ck_evidence_set(document, "guarded", json_boolean(trace->guarded)) |
                         ck_evidence_set(document, "complete", json_boolean(!cut));
}

/* Files of the image and searched libraries are counted, not listed: see events.h. */
static void write_lists(struct trace_reader *trace, json_t *document, struct ck_evidence *evidence)
{
    uint64_t programs = write_set(document, "programs", trace->events.programs, trace);
    uint64_t files = write_set(document, "files", trace->events.files, trace);
    uint64_t sockets = write_set(document, "sockets", trace->events.sockets, trace);
    uint64_t attempts = write_set(document, "attempts", trace->events.attempts, trace);
    trace->events.bad |= set_size(document, "image_files", trace->events.own_files) |
                         set_size(document, "libraries_searched", trace->events.searched);
    evidence->findings = programs + files + sockets + attempts;
    evidence->noun = "event";
    ck_evidence_headline(evidence, "%llu program%s, %llu file%s outside the image, %llu socket%s%s",
                         (unsigned long long)programs, programs == 1 ? "" : "s", (unsigned long long)files,
                         files == 1 ? "" : "s", (unsigned long long)sockets, sockets == 1 ? "" : "s",
                         !trace->events.started              ? "; it did not start"
                         : strcmp(trace->ended, "time") == 0 ? "; still running at the end"
                                                             : "");
}

/* From the end, because drop_pending moves the last one. */
static void trace_free(struct trace_reader *trace)
{
    while (trace->pending_count > 0)
        drop_pending(trace, &trace->pending[trace->pending_count - 1]);
    ck_trace_events_done(&trace->events);
    free(trace);
}

/* Parses the lines and fills the document. */
static int read_trace(struct trace_reader *trace, const json_t *image, const struct ck_answer *run,
                      struct ck_evidence *ret_evidence, struct choke_error *error)
{
    trace->events.volumes = json_object_get(json_object_get(image, "Config"), "Volumes");
    /* The beginning of the trace is lost then. */
    trace->events.incomplete = run->out_truncated;
    if (ck_trace_events_init(&trace->events) != 0)
        return ck_evidence_take(ret_evidence, NULL, -1, error);
    take_lines(trace, run);
    /* Without its "=end" line the witness was killed, and nothing says what is missing. */
    if (!trace->ended || trace->events.first_pid == 0)
        return ck_evidence_not_understood(error, "strace", "the trace is missing, or its end is");
    json_t *document = json_object();
    trace->events.bad |= ck_evidence_set(document, "image", read_image(image));
    write_end(trace, document);
    write_lists(trace, document, ret_evidence);
    return ck_evidence_take(ret_evidence, document, trace->events.bad, error);
}

CK_EVIDENCE_READER(trace)
{
    const struct ck_answer *image = ck_evidence_find_ok_answer(answers, count, "image");
    const struct ck_answer *run = ck_evidence_find_ok_answer(answers, count, "run");
    CK_CLEANUP_JSON json_t *described = NULL;
    if (!image || !run)
        return ck_evidence_not_understood(error, "docker", "the image was not run");
    /* ck_evidence_parse looks for the call "scan". */
    struct ck_answer inspect_answer = *image;
    inspect_answer.id = "scan";
    int r = ck_evidence_parse(&inspect_answer, 1, "docker", &described, error);
    if (r < 0)
        return r;
    struct trace_reader *trace = calloc(1, sizeof(*trace));
    if (!trace)
        return ck_evidence_take(ret_evidence, NULL, -1, error);
    r = read_trace(trace, json_array_get(described, 0), run, ret_evidence, error);
    trace_free(trace);
    return r;
}
