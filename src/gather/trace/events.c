/* events.c - sorts the calls of a trace into programs, files and sockets; see events.h. */
#include "gather/trace/events.h"

#include "gather/evidence/common.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DISTINCT_MAX 20000     /* per set; later ones are ignored, and the document says so */
#define PATH_BYTES 4096        /* longer paths are cut: the kernel accepts at most this */
#define ARGV_LISTED 16         /* arguments of a program that are listed */
#define WITNESS "/.chokepoint" /* shown instead of the directory with a random name */

/* ---- sets ---- */

/* Takes value. */
static void add(struct ck_trace_events *events, json_t *set, const char *key, json_t *value)
{
    if (json_object_size(set) >= DISTINCT_MAX && !json_object_get(set, key)) {
        events->incomplete = true;
        json_decref(value);
        return;
    }
    if (!value || json_object_set_new_nocheck(set, key, value) < 0)
        events->bad = -1;
}

static json_t *text_of(struct ck_trace_span span)
{
    return ck_evidence_text(span.at, span.length);
}

/* The name of the errno, or null for a call that succeeded. */
static json_t *error_of(struct ck_trace_span result)
{
    struct ck_trace_span error = ck_trace_error(result);
    return error.length > 0 ? text_of(error) : json_null();
}

/* ---- paths ---- */

/* path is not NUL-terminated. "/procfs" is not beneath "/proc". */
static bool is_beneath(const char *path, size_t length, const char *directory)
{
    size_t prefix = strlen(directory);
    return length >= prefix && memcmp(path, directory, prefix) == 0 && (length == prefix || path[prefix] == '/');
}

/*
 * The image declares volumes as the keys of an object. "/" would make every file one, so it is
 * ignored.
 */
static bool is_volume(const json_t *volumes, const char *path, size_t length)
{
    const char *name;
    const json_t *value;
    /* jansson's macro wants an object that is not const, but does not change it. */
    json_object_foreach((json_t *)(uintptr_t)volumes, name, value)
    {
        if (name[0] == '/' && name[1] != '\0' && is_beneath(path, length, name))
            return true;
    }
    return false;
}

/* "" until the first execution was seen. */
static bool is_witness(const struct ck_trace_events *events, const char *path, size_t length)
{
    return events->witness_directory[0] != '\0' && is_beneath(path, length, events->witness_directory);
}

static const char *place_of(const struct ck_trace_events *events, const char *path, size_t length)
{
    /*
     * /proc, /sys and /dev are mounts of the engine; /tmp and /run are its tmpfs mounts
     * (policy/probes.yaml); it writes the files in /etc and /.dockerenv.
     */
    static const struct {
        const char *directory, *place;
    } known[] = {
        {"/proc", "kernel"},         {"/sys", "kernel"},
        {"/dev", "kernel"},          {"/tmp", "scratch"},
        {"/run", "scratch"},         {"/etc/hosts", "engine"},
        {"/etc/hostname", "engine"}, {"/etc/resolv.conf", "engine"},
        {"/.dockerenv", "engine"},
    };
    if (is_witness(events, path, length))
        return "engine";
    if (is_volume(events->volumes, path, length))
        return "volume";
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (is_beneath(path, length, known[i].directory))
            return known[i].place;
    return "image";
}

/* Removes "." and ".." without regard to symlinks. Returns the new length. */
static size_t normalize(const char *path, size_t length, char flat[2 * PATH_BYTES + 1])
{
    size_t count = 0;
    for (size_t i = 0; i < length;) {
        const char *slash = memchr(path + i, '/', length - i);
        size_t step = slash ? (size_t)(slash - (path + i)) : length - i;
        bool up = step == 2 && memcmp(path + i, "..", 2) == 0, here = step == 0 || (step == 1 && path[i] == '.');
        /* ".." removes the last name; at the root it stays there. */
        while (up && count > 0 && flat[--count] != '/') {
        }
        if (!up && !here) {
            flat[count++] = '/';
            memcpy(flat + count, path + i, step);
            count += step;
        }
        i += step + 1;
    }
    return count;
}

/* The witness's directory has a random name in each run, so it is shown as /.chokepoint. */
static json_t *token_text(const struct ck_trace_events *events, const char *token, size_t length)
{
    size_t directory_length = strlen(events->witness_directory);
    char text[PATH_BYTES + sizeof(WITNESS)];
    if (!is_witness(events, token, length) || length - directory_length > PATH_BYTES)
        return ck_evidence_text(token, length);
    memcpy(text, WITNESS, strlen(WITNESS));
    memcpy(text + strlen(WITNESS), token + directory_length, length - directory_length);
    return ck_evidence_text(text, strlen(WITNESS) + (length - directory_length));
}

/* The pid after /proc/ differs in each run, so it is shown as [pid]. */
static json_t *path_text(const struct ck_trace_events *events, const char *path, size_t length)
{
    static const char proc[] = "/proc/";
    size_t start = strlen(proc), end = start;
    char text[PATH_BYTES + 8];
    if (length > start && memcmp(path, proc, start) == 0)
        while (end < length && path[end] >= '0' && path[end] <= '9')
            end++;
    /* Not "/proc/" and digits: unchanged. */
    if (end == start || length > PATH_BYTES)
        return token_text(events, path, length);
    int count = snprintf(text, sizeof(text), "/proc/[pid]");
    memcpy(text + count, path + end, length - end); /* at most four bytes longer than the path */
    return ck_evidence_text(text, (size_t)count + (length - end));
}

/*
 * The path of an argument; a relative one starts at the directory argument before it. -1 if it is
 * not a path.
 */
static long full_path(const struct ck_trace_span *directory, struct ck_trace_span name, char path[2 * PATH_BYTES + 1])
{
    struct ck_trace_span rest;
    char base[PATH_BYTES], tail[PATH_BYTES];
    long length = ck_trace_span_unquote(name, tail, sizeof(tail), &rest), base_length = 0;
    if (length < 0)
        return -1;
    /* strace -y prints the path of a directory descriptor in angle brackets: AT_FDCWD</data>. */
    if (directory && (length == 0 || tail[0] != '/')) {
        const char *angle = memchr(directory->at, '<', directory->length);
        struct ck_trace_span quoted = {.at = angle,
                                       .length = angle ? directory->length - (size_t)(angle - directory->at) : 0};
        base_length = angle ? ck_trace_span_unquote(quoted, base, sizeof(base), &rest) : 0;
        base_length = base_length > 0 ? base_length : 0;
    }
    memcpy(path, base, (size_t)base_length);
    if (base_length > 0 && base[base_length - 1] != '/')
        path[base_length++] = '/';
    memcpy(path + base_length, tail, (size_t)length);
    return base_length + length;
}

/*
 * strace could not read an argument that the kernel may have read, for example of a process that is
 * not dumpable. Only EFAULT and EINVAL say that the kernel could not read it either.
 */
static void note_unread(struct ck_trace_events *events, const struct ck_trace_call *call)
{
    struct ck_trace_span error = ck_trace_error(call->result);
    if (!ck_trace_span_is(error, "EFAULT") && !ck_trace_span_is(error, "EINVAL"))
        events->incomplete = true;
}

/* ---- files ---- */

/* strace prints the flags by name. O_CREAT, O_TRUNC and O_APPEND count even with O_RDONLY. */
static bool is_writing(struct ck_trace_span flags)
{
    static const char *const tokens[] = {"O_WRONLY", "O_RDWR", "O_CREAT", "O_TRUNC", "O_APPEND", "O_TMPFILE"};
    for (size_t i = 0; i < sizeof(tokens) / sizeof(tokens[0]); i++)
        if (memmem(flags.at, flags.length, tokens[i], strlen(tokens[i])))
            return true;
    return false;
}

/* ENOTDIR: a part of the path is a file, so the path does not exist either. */
static bool is_absent(struct ck_trace_span error)
{
    return ck_trace_span_is(error, "ENOENT") || ck_trace_span_is(error, "ENOTDIR");
}

/* Where the file is: by the path that the kernel opened, else by its name. */
static const char *place_of_opened(const struct ck_trace_events *events, const char *path, size_t length,
                                   struct ck_trace_span result)
{
    char opened[2 * PATH_BYTES + 1];
    struct ck_trace_span error = ck_trace_error(result), rest;
    const char *angle = memchr(result.at, '<', result.length);
    struct ck_trace_span shown = {.at = angle, .length = angle ? result.length - (size_t)(angle - result.at) : 0};
    /* The result shows the path after symlinks; a failed call has none, so its name is used. */
    long found = angle && error.length == 0 ? ck_trace_span_unquote(shown, opened, PATH_BYTES, &rest) : -1;
    size_t count = found > 0 && opened[0] == '/' ? (size_t)found : normalize(path, length, opened);
    const char *place = place_of(events, opened, count);
    return strcmp(place, "image") == 0 && is_absent(error) ? "absent" : place;
}

/* "libc.so.6": loaders try a dozen directories for each. */
static bool is_library(const char *path, size_t length)
{
    const char *slash = memrchr(path, '/', length);
    const char *name = slash ? slash + 1 : path;
    size_t left = length - (size_t)(name - path);
    const char *so = memmem(name, left, ".so", 3);
    return so && (so + 3 == path + length || so[3] == '.');
}

/* The key has the access, the error and the shown name, so each combination is listed once. */
static void add_file(struct ck_trace_events *events, const char *path, size_t length, bool writes,
                     const struct ck_trace_call *call)
{
    struct ck_trace_span error = ck_trace_error(call->result);
    const char *place = place_of_opened(events, path, length, call->result);
    char *key = NULL;
    json_t *name = path_text(events, path, length);
    /* As JSON, because a name that is not UTF-8 is an object with base64. */
    char *dumped = json_dumps(name, JSON_ENCODE_ANY | JSON_ENSURE_ASCII);
    if (!dumped || asprintf(&key, "%d%.*s%s", writes, (int)error.length, error.at, dumped) < 0) {
        events->bad = -1;
        key = NULL;
    } else if (strcmp(place, "image") == 0 && !writes && error.length == 0) {
        add(events, events->own_files, key, json_true());
    } else if (strcmp(place, "absent") == 0 && !writes && is_library(path, length)) {
        add(events, events->searched, key, json_true());
    } else {
        add(events, events->files, key,
            json_pack("{s:O, s:s, s:s, s:o}", "path", name, "place", place, "access", writes ? "write" : "read",
                      "error", error_of(call->result)));
    }
    json_decref(name);
    free(key);
    free(dumped);
}

/*
 * openat and openat2 have the directory first; creat always writes. What was opened before the
 * start is not the program's.
 */
static void take_open(struct ck_trace_events *events, const struct ck_trace_call *call)
{
    bool at = ck_trace_span_begins(call->name, "openat"), creates = ck_trace_span_is(call->name, "creat");
    size_t first = at ? 1 : 0;
    char path[2 * PATH_BYTES + 1];
    if (!events->started || call->count < first + 2)
        return;
    long length = full_path(at ? &call->args[0] : NULL, call->args[first], path);
    if (length >= 0)
        add_file(events, path, (size_t)length, creates || is_writing(call->args[first + 1]), call);
    else
        note_unread(events, call);
}

/* ---- programs ---- */

/* ["sh", "-c", "..."]: the first ARGV_LISTED arguments. */
static json_t *read_argv(const struct ck_trace_events *events, struct ck_trace_span list)
{
    json_t *tokens = json_array();
    char token[PATH_BYTES];
    struct ck_trace_span rest =
        list.length > 0 ? (struct ck_trace_span){.at = list.at + 1, .length = list.length - 1} : list;
    /*
     * The list begins with "["; between two items are a comma and a space, or "..." where strace
     * cut.
     */
    for (size_t i = 0; i < ARGV_LISTED; i++) {
        long length = ck_trace_span_unquote(rest, token, sizeof(token), &rest);
        if (length < 0)
            break;
        (void)json_array_append_new(tokens, token_text(events, token, (size_t)length));
        while (rest.length > 0 && (rest.at[0] == ',' || rest.at[0] == ' ' || rest.at[0] == '.'))
            rest = (struct ck_trace_span){.at = rest.at + 1, .length = rest.length - 1};
    }
    return tokens;
}

/* strace executes the witness first. It is not a program of the image. */
static bool set_witness_directory(struct ck_trace_events *events, const char *path, long length)
{
    static const char name[] = "/witness";
    /* The first execution is MOUNT/witness, so the directory is what is before the name. */
    size_t directory_length = length > (long)strlen(name) ? (size_t)length - strlen(name) : 0;
    if (events->witness_directory[0] != '\0' || directory_length == 0 ||
        directory_length >= sizeof(events->witness_directory) || path[0] != '/' ||
        memcmp(path + directory_length, name, strlen(name)) != 0)
        return false;
    memcpy(events->witness_directory, path, directory_length);
    return true;
}

/* execveat has the directory first. "0x": strace could not read the list and shows its address. */
static void take_execution(struct ck_trace_events *events, unsigned long pid, const struct ck_trace_call *call)
{
    bool at = ck_trace_span_is(call->name, "execveat");
    size_t first = at ? 1 : 0;
    char path[2 * PATH_BYTES + 1], *key = NULL;
    if (call->count < first + 2)
        return;
    long length = full_path(at ? &call->args[0] : NULL, call->args[first], path);
    struct ck_trace_span error = ck_trace_error(call->result), argv = call->args[first + 1];
    if (length < 0 || ck_trace_span_begins(argv, "0x"))
        note_unread(events, call);
    if (length < 0 || set_witness_directory(events, path, length))
        return;
    if (!events->started && pid == events->first_pid && is_absent(error))
        return; /* the witness searches for the program in the image's PATH */
    /* From here on the image's program runs; failed executions are listed, but start nothing. */
    events->started = events->started || (pid == events->first_pid && error.length == 0);
    if (asprintf(&key, "%.*s%.*s%.*s", (int)error.length, error.at, (int)call->args[first].length, call->args[first].at,
                 (int)argv.length, argv.at) < 0)
        key = NULL;
    json_t *value = json_pack("{s:o, s:o, s:o}", "path", path_text(events, path, (size_t)length), "argv",
                              read_argv(events, argv), "error", error_of(call->result));
    if (!key) {
        events->bad = -1;
        json_decref(value);
    } else {
        add(events, events->programs, key, value);
    }
    free(key);
}

/* ---- sockets ---- */

/*
 * IPv4, IPv6, an abstract socket (shown with "@"), or a socket in the file system; null for others,
 * such as netlink.
 */
static json_t *read_address(struct ck_trace_span address)
{
    static const char *const tokens[] = {"sin_addr=inet_addr(", "inet_pton(AF_INET6, ", "sun_path=@", "sun_path="};
    char bytes[PATH_BYTES];
    struct ck_trace_span rest;
    for (size_t i = 0; i < sizeof(tokens) / sizeof(tokens[0]); i++) {
        struct ck_trace_span text = ck_trace_span_after(address, tokens[i]);
        long length = ck_trace_span_unquote(text, bytes + 1, sizeof(bytes) - 1, &rest);
        /* Only used for the abstract form: index 2. */
        bytes[0] = '@';
        if (length >= 0)
            return i == 2 ? ck_evidence_text(bytes, (size_t)length + 1) : ck_evidence_text(bytes + 1, (size_t)length);
    }
    return json_null();
}

/* A port has at most five digits. Unix sockets have none: null. */
static json_t *read_port(struct ck_trace_span address)
{
    struct ck_trace_span number = ck_trace_span_after(address, "_port=htons(");
    long port = 0;
    size_t i = 0;
    for (; i < number.length && i < 5 && number.at[i] >= '0' && number.at[i] <= '9'; i++)
        port = port * 10 + (number.at[i] - '0');
    return i > 0 ? json_integer(port) : json_null();
}

/* The identifier at the beginning: AF_INET. */
static struct ck_trace_span token_of(struct ck_trace_span span)
{
    size_t i = 0;
    while (i < span.length &&
           (span.at[i] == '_' || (span.at[i] >= '0' && span.at[i] <= '9') || (span.at[i] >= 'A' && span.at[i] <= 'Z')))
        i++;
    return (struct ck_trace_span){.at = span.at, .length = i};
}

/* The key has everything that is shown, so each combination is listed once. */
static void add_socket(struct ck_trace_events *events, const struct ck_trace_call *call, struct ck_trace_span family,
                       struct ck_trace_span address)
{
    struct ck_trace_span error = ck_trace_error(call->result);
    char *key = NULL;
    if (family.length == 0)
        return;
    if (asprintf(&key, "%.*s%.*s%.*s%.*s", (int)call->name.length, call->name.at, (int)family.length, family.at,
                 (int)error.length, error.at, (int)address.length, address.at) < 0) {
        events->bad = -1;
        return;
    }
    add(events, events->sockets, key,
        json_pack("{s:o, s:o, s:o, s:o, s:o}", "call", text_of(call->name), "family", text_of(family), "address",
                  read_address(address), "port", read_port(address), "error", error_of(call->result)));
    free(key);
}

/* The addresses in an argument: "{sa_family=AF_INET, ...}", also in one or several messages. */
static void add_addresses(struct ck_trace_events *events, const struct ck_trace_call *call, struct ck_trace_span arg)
{
    static const char family[] = "sa_family=";
    for (struct ck_trace_span rest = ck_trace_span_after(arg, family); rest.length > 0;
         rest = ck_trace_span_after(rest, family)) {
        struct ck_trace_span address = rest;
        address.length -= ck_trace_span_after(rest, "}").length;
        add_socket(events, call, token_of(address), address);
    }
    if (ck_trace_span_after(arg, "msg_name=0x").length > 0)
        note_unread(events, call);
    if (ck_trace_span_is(call->name, "sendmmsg") && ck_trace_span_after(arg, ", ...").length > 0)
        events->incomplete = true; /* strace shows 32 items of a list */
}

/*
 * The address is argument 1 of connect and bind, and argument 4 of sendto. A message has it inside
 * argument 1.
 */
static void take_socket(struct ck_trace_events *events, const struct ck_trace_call *call)
{
    struct ck_trace_span none = {.at = "", .length = 0};
    if (!events->started || call->count < 2)
        return;
    if (ck_trace_span_is(call->name, "socket")) {
        add_socket(events, call, token_of(call->args[0]), none);
        return;
    }
    size_t at = ck_trace_span_is(call->name, "sendto") ? 4 : 1;
    if (at >= call->count)
        return;
    if (ck_trace_span_begins(call->args[at], "0x"))
        note_unread(events, call);
    add_addresses(events, call, call->args[at]);
}

/* ---- other processes ---- */

/* Only the call and its error are listed: the arguments have pids, which differ in each run. */
static void take_attempt(struct ck_trace_events *events, const struct ck_trace_call *call)
{
    char *key = NULL;
    struct ck_trace_span error = ck_trace_error(call->result);
    if (asprintf(&key, "%.*s%.*s", (int)call->name.length, call->name.at, (int)error.length, error.at) < 0) {
        events->bad = -1;
        return;
    }
    add(events, events->attempts, key,
        json_pack("{s:o, s:o}", "call", text_of(call->name), "error", error_of(call->result)));
    free(key);
}

/* ---- calls ---- */

/*
 * What a program does to other processes, or to escape the trace. *ret_leaves: if it succeeds, the
 * program is not seen any more.
 */
static bool is_attempt(const struct ck_trace_call *call, bool *ret_leaves)
{
    static const struct {
        const char *call, *token; /* NULL: any arguments */
        bool leaves;
    } known[] = {
        {"ptrace", NULL, false},
        {"process_vm_writev", NULL, false},
        {"pidfd_getfd", NULL, false},
        {"prctl", "PR_SET_DUMPABLE", false},
        {"io_uring_setup", NULL, true},
        {"open_by_handle_at", NULL, true},
        {"clone", "CLONE_UNTRACED", true},
        {"clone", "CLONE_NEWUSER", true},
        {"unshare", "CLONE_NEWUSER", true},
    };
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        bool found = !known[i].token;
        for (size_t j = 0; j < call->count && !found; j++)
            found = !!memmem(call->args[j].at, call->args[j].length, known[i].token, strlen(known[i].token));
        *ret_leaves = known[i].leaves;
        if (found && ck_trace_span_is(call->name, known[i].call))
            return true;
    }
    return false;
}

/* Traced for is_attempt only; other uses of them are harmless and have no address. */
static bool is_watched(const struct ck_trace_call *call)
{
    return ck_trace_span_is(call->name, "prctl") || ck_trace_span_is(call->name, "unshare");
}

void ck_trace_events_call(struct ck_trace_events *events, unsigned long pid, struct ck_trace_span body)
{
    struct ck_trace_call call;
    bool leaves = false;
    if (!ck_trace_call_read(body, &call)) {
        /* A signal is not a call. */
        events->incomplete = events->incomplete || !ck_trace_span_begins(body, "--- ");
        return;
    }
    if (ck_trace_processes_creates(call.name))
        ck_trace_processes_call(&events->processes, &call);
    bool attempt = is_attempt(&call, &leaves);
    if (attempt && leaves && ck_trace_error(call.result).length == 0)
        /* It may have left the trace, so what follows is not everything. */
        events->incomplete = true;
    /*
     * The order matters: a clone that leaves is an attempt, and "open_by_handle_at" also begins
     * with "open".
     */
    if (attempt)
        take_attempt(events, &call);
    else if (ck_trace_span_begins(call.name, "execve"))
        take_execution(events, pid, &call);
    else if (ck_trace_span_begins(call.name, "open") || ck_trace_span_is(call.name, "creat"))
        take_open(events, &call);
    else if (!ck_trace_processes_creates(call.name) && !is_watched(&call))
        take_socket(events, &call);
}

/* ---- beginning and end ---- */

/* Continues after a failure, so that done finds NULL or an object in each member. */
int ck_trace_events_init(struct ck_trace_events *events)
{
    json_t **const sets[] = {&events->searched,  &events->programs, &events->files,
                             &events->own_files, &events->sockets,  &events->attempts};
    int bad = ck_trace_processes_init(&events->processes);
    for (size_t i = 0; i < sizeof(sets) / sizeof(sets[0]); i++)
        bad |= !(*sets[i] = json_object());
    return bad;
}

void ck_trace_events_done(struct ck_trace_events *events)
{
    json_decref(events->programs);
    json_decref(events->files);
    json_decref(events->own_files);
    json_decref(events->searched);
    json_decref(events->sockets);
    json_decref(events->attempts);
    ck_trace_processes_done(&events->processes);
    *events = (struct ck_trace_events){0};
}
