/*
 * trace.c - what the runtime trace needs besides its data: `prepare: trace`.
 *
 * The probe asks for a daemon, builds the image, inspects it, and runs its program under a copy of
 * strace, which the image need not have (stage.h). Arguments of a call can be placeholders for what
 * an earlier call printed:
 *
 *   <image>     the digest that the build printed; not a name, which another gather could take over
 *   <stage>     the directory with strace; also the root of that call: nothing else can be mounted
 *   <place>     its path in the container: a random name, so that no file, symlink or volume of the
 *               image is there
 *   <program>   the entry point and the command of the image, one argument each
 *   --, {files} in `bases`: the images that the Dockerfile nearest to the root names; without one
 *               there is no call
 *               in `build`: the directory of that Dockerfile
 *
 * A build would make the daemon fetch what the Dockerfile names, from a source that the repository
 * chooses. So the stdin of the build is a rewritten Dockerfile with the ids of local images instead
 * of names (build.h).
 *
 * The stdin of the run is a pipe without a writer other than this process. It ends when this
 * process ends, however that happens, and with it the container (src/run/keeper/witness.c).
 */
#include "base/error.h"
#include "base/hex.h"
#include "gather/evidence/common.h"
#include "gather/prepare.h"
#include "gather/trace/build.h"
#include "gather/trace/stage.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#define IMAGE_PREFIX "sha256:"
#define IMAGE_DIGITS 64 /* of a SHA-256 */
#define MOUNT_PREFIX "/.chokepoint-"
#define MOUNT_DIGITS 32 /* 128 random bits */
#define ARGS_MAX 1500   /* of one call; more than PROGRAM_ARGS_MAX and the call's own */
#define PROGRAM_ARGS_MAX 1000

/* Zero-filled is empty; items ends with a NULL. */
struct arg_list {
    char **items;
    size_t count;
    bool failed; /* out of memory, or more than ARGS_MAX */
};

struct trace_preparation {
    struct ck_temporary stage;   /* the directory with strace */
    struct ck_trace_build build; /* the rewritten Dockerfile */
    char mount_path[sizeof(MOUNT_PREFIX) + MOUNT_DIGITS];
    int stdin_pipe[2];                                 /* nothing is written to it */
    struct arg_list call_argv[CK_PROBE_CALLS_MAX];     /* one per call */
    struct arg_list document_argv[CK_PROBE_CALLS_MAX]; /* empty: call_argv is shown */
};

/* The values of the placeholders. */
struct trace_values {
    char image[sizeof(IMAGE_PREFIX) + IMAGE_DIGITS]; /* "": not known */
    const char *stage;
    const char *mount_path;
    json_t *program; /* an array, or NULL */
};

/* ---- arguments ---- */

/* Takes text; NULL means out of memory. */
static void add(struct arg_list *args, char *text)
{
    char **items = args->count < ARGS_MAX ? realloc(args->items, (args->count + 2) * sizeof(*items)) : NULL;
    if (items)
        args->items = items;
    if (!items || !text) {
        args->failed = true;
        free(text);
        return;
    }
    items[args->count++] = text;
    items[args->count] = NULL;
}

static void free_args(struct arg_list *args)
{
    for (size_t i = 0; i < args->count; i++)
        free(args->items[i]);
    free(args->items);
    *args = (struct arg_list){0};
}

/* arg with the first name in it replaced by value. */
static char *replace(const char *arg, const char *name, const char *value)
{
    const char *at = strstr(arg, name);
    char *text = NULL;
    if (!at || !value)
        return strdup(arg);
    return asprintf(&text, "%.*s%s%s", (int)(at - arg), arg, value, at + strlen(name)) < 0 ? NULL : text;
}

/*
 * <program> becomes several arguments, so it must be a whole argument. The others may be a part of
 * one. A value of NULL leaves the placeholder.
 */
static void add_arg(struct arg_list *args, const char *arg, const struct trace_values *values)
{
    if (strcmp(arg, "<program>") == 0) {
        for (size_t i = 0; i < json_array_size(values->program); i++)
            add(args, strdup(json_string_value(json_array_get(values->program, i))));
        return;
    }
    const char *const known[][2] = {
        {"<stage>", values->stage},
        {"<place>", values->mount_path},
        {"<image>", values->image[0] != '\0' ? values->image : NULL},
    };
    char *text = strdup(arg);
    for (size_t i = 0; text && i < sizeof(known) / sizeof(known[0]); i++) {
        char *next = replace(text, known[i][0], known[i][1]);
        free(text);
        text = next;
    }
    add(args, text);
}

static void add_args(struct arg_list *args, const char *const *argv, const struct trace_values *values)
{
    free_args(args);
    for (; *argv; argv++)
        add_arg(args, *argv, values);
}

/* The lists belong to the preparation and live until trace_end. */
static int set_argv(struct ck_call_setup *setup, struct arg_list *call_argv, struct arg_list *document_argv,
                    struct choke_error *error)
{
    if (call_argv->failed || document_argv->failed)
        return ck_error_set(error, CHOKE_SPAWN_FAILED, EINVAL,
                            "out of memory for the arguments of the call, or too many of them");
    setup->argv = (const char *const *)call_argv->items;
    setup->document_argv = document_argv->items ? (const char *const *)document_argv->items : NULL;
    return 0;
}

/* ---- answers of earlier calls ---- */

/* The build prints the digest of the image and nothing else. */
static int take_image(const struct ck_answer *build, struct trace_values *values, struct choke_error *error)
{
    size_t length = strlen(IMAGE_PREFIX);
    /* One more byte: the newline. */
    if (!build || build->out_length != length + IMAGE_DIGITS + 1 || memcmp(build->out, IMAGE_PREFIX, length) != 0 ||
        strspn(build->out + length, "0123456789abcdef") != IMAGE_DIGITS)
        return ck_error_set(error, CHOKE_SPAWN_FAILED, EINVAL, "the build did not print the digest of an image");
    memcpy(values->image, build->out, length + IMAGE_DIGITS);
    return 0;
}

/* An argument with a NUL inside cannot be passed on a command line. */
static int append(json_t *program, const json_t *args)
{
    for (size_t i = 0; i < json_array_size(args); i++) {
        json_t *arg = json_array_get(args, i);
        bool whole = json_is_string(arg) && strlen(json_string_value(arg)) == json_string_length(arg);
        if (!whole || json_array_append(program, arg) < 0)
            return -1;
    }
    return 0;
}

/* The entry point and its arguments, joined as the daemon joins them. */
static int take_program(const struct ck_answer *image, struct trace_values *values, struct choke_error *error)
{
    json_t *document = image ? json_loadb(image->out, image->out_length, 0, NULL) : NULL;
    /* docker image inspect prints an array, with one object per image. */
    const json_t *config = json_object_get(json_array_get(document, 0), "Config");
    values->program = json_array();
    int bad = !values->program || !json_is_object(config) ||
              append(values->program, json_object_get(config, "Entrypoint")) < 0 ||
              append(values->program, json_object_get(config, "Cmd")) < 0;
    json_decref(document);
    if (bad)
        return ck_error_set(error, CHOKE_SPAWN_FAILED, EINVAL, "cannot parse docker's output about the image");
    if (json_array_size(values->program) == 0)
        return ck_error_set(error, CHOKE_SPAWN_FAILED, EINVAL,
                            "the image names no program to run: the Dockerfile has neither ENTRYPOINT nor CMD");
    if (json_array_size(values->program) > PROGRAM_ARGS_MAX)
        return ck_error_set(error, CHOKE_SPAWN_FAILED, EINVAL, "the image's program has more than %d arguments",
                            PROGRAM_ARGS_MAX);
    return 0;
}

/* ---- set-up of calls ---- */

/* Only the first line of docker's message, and only printable bytes, at most 300. */
static int take_daemon(const struct ck_answer *daemon, struct choke_error *error)
{
    if (!daemon || daemon->exit_code == 0)
        return 0;
    size_t length = 0;
    while (length < daemon->err_length && (unsigned char)daemon->err[length] >= ' ')
        length++;
    return ck_error_set(error, CHOKE_SPAWN_FAILED, EINVAL, "no docker daemon answers: %.*s",
                        (int)(length < 300 ? length : 300), daemon->err);
}

static size_t depth_of(const char *path)
{
    size_t depth = 0;
    for (; *path != '\0'; path++)
        depth += *path == '/';
    return depth;
}

/* Fewer directories first; then byte order, so that the choice does not depend on the disk. */
static bool is_nearer(const char *path, const char *than)
{
    size_t depth = depth_of(path), other = depth_of(than);
    return depth != other ? depth < other : strcmp(path, than) < 0;
}

/* NULL if the list is empty. */
static const char *nearest_of(const char *const *paths)
{
    const char *nearest = *paths;
    for (; *paths; paths++)
        nearest = is_nearer(*paths, nearest) ? *paths : nearest;
    return nearest;
}

/*
 * Keeps the arguments up to and including "--". After it are all Dockerfiles; returns the nearest
 * to the root.
 */
static const char *take_files(struct arg_list *args, const char *const *argv)
{
    free_args(args);
    for (; *argv && strcmp(*argv, "--") != 0; argv++)
        add(args, strdup(*argv));
    add(args, strdup("--"));
    return *argv ? nearest_of(argv + 1) : NULL;
}

/*
 * Without names in the Dockerfile ("FROM scratch" only) there is nothing to ask, and the call is
 * left out.
 */
static int setup_bases(struct trace_preparation *trace, size_t index, struct ck_call_setup *setup,
                       struct choke_error *error)
{
    struct arg_list *args = &trace->call_argv[index];
    const char *nearest = take_files(args, setup->argv);
    if (!nearest)
        return ck_error_set(error, CHOKE_SPAWN_FAILED, EINVAL, "there is no Dockerfile");
    int r = ck_trace_build_read(&trace->build, setup->root, nearest, error);
    if (r < 0)
        return r;
    const char *const *names = ck_dockerfile_names(trace->build.dockerfile);
    setup->skip = !*names;
    for (; *names; names++)
        add(args, strdup(*names));
    return set_argv(setup, args, &trace->document_argv[index], error);
}

/* The build context is the directory of the Dockerfile. */
static int setup_build(struct trace_preparation *trace, size_t index, const struct ck_answer *bases,
                       struct ck_call_setup *setup, struct choke_error *error)
{
    struct arg_list *args = &trace->call_argv[index];
    const char *nearest = take_files(args, setup->argv);
    if (!nearest)
        return ck_error_set(error, CHOKE_SPAWN_FAILED, EINVAL, "there is no Dockerfile");
    int r = ck_trace_build_write(&trace->build, bases, error);
    if (r < 0)
        return r;
    const char *slash = strrchr(nearest, '/');
    add(args, slash ? strndup(nearest, (size_t)(slash - nearest)) : strdup("."));
    setup->stdin_fd = trace->build.fd;
    return set_argv(setup, args, &trace->document_argv[index], error);
}

/* The document must not differ from run to run, so there only <program> is replaced. */
static int setup_image(struct trace_preparation *trace, size_t index, const struct trace_values *values,
                       struct ck_call_setup *setup, struct choke_error *error)
{
    const char *const *argv = setup->argv;
    add_args(&trace->call_argv[index], argv, values);
    add_args(&trace->document_argv[index], argv, &(struct trace_values){.program = values->program});
    return set_argv(setup, &trace->call_argv[index], &trace->document_argv[index], error);
}

/* The root of the request is the stage: docker may mount nothing else. */
static int setup_run(struct trace_preparation *trace, size_t index, struct trace_values *values,
                     struct ck_call_setup *setup, struct choke_error *error)
{
    values->stage = trace->stage.path;
    values->mount_path = trace->mount_path;
    int r = setup_image(trace, index, values, setup, error);
    setup->root = trace->stage.path;
    setup->stdin_fd = trace->stdin_pipe[0];
    return r;
}

/* Every call first checks that the daemon answered; then each id has its own set-up. */
static int trace_setup(void *state, const struct ck_answer *answers, size_t count, struct ck_call_setup *setup,
                       struct choke_error *error)
{
    struct trace_preparation *trace = state;
    /* Found again for each call: only the answers are kept between calls. */
    struct trace_values values = {.program = NULL};
    const char *id = setup->call->id;
    bool looks = strcmp(id, "image") == 0, runs = strcmp(id, "run") == 0;
    int r = count < CK_PROBE_CALLS_MAX
                ? take_daemon(ck_evidence_find_answer(answers, count, "daemon"), error)
                : ck_error_set(error, CHOKE_SPAWN_FAILED, EINVAL, "the probe has too many calls");
    if (r == 0 && (looks || runs))
        r = take_image(ck_evidence_find_answer(answers, count, "build"), &values, error);
    if (r == 0 && runs)
        r = take_program(ck_evidence_find_answer(answers, count, "image"), &values, error);
    if (r == 0 && strcmp(id, "bases") == 0)
        r = setup_bases(trace, count, setup, error);
    else if (r == 0 && strcmp(id, "build") == 0)
        r = setup_build(trace, count, ck_evidence_find_answer(answers, count, "bases"), setup, error);
    else if (r == 0 && looks)
        r = setup_image(trace, count, &values, setup, error);
    else if (r == 0 && runs)
        r = setup_run(trace, count, &values, setup, error);
    json_decref(values.program);
    return r;
}

/* ---- beginning and end ---- */

static void trace_end(void *state)
{
    struct trace_preparation *trace = state;
    if (!trace)
        return;
    for (size_t i = 0; i < CK_PROBE_CALLS_MAX; i++) {
        free_args(&trace->call_argv[i]);
        free_args(&trace->document_argv[i]);
    }
    for (size_t i = 0; i < 2; i++)
        if (trace->stdin_pipe[i] >= 0)
            (void)close(trace->stdin_pipe[i]);
    ck_trace_build_done(&trace->build);
    ck_temporary_remove(&trace->stage);
    free(trace);
}

/* Random, so that the author of the image cannot know it. */
static int choose_mount_path(char mount_path[sizeof(MOUNT_PREFIX) + MOUNT_DIGITS], struct choke_error *error)
{
    unsigned char bytes[MOUNT_DIGITS / 2];
    if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
        return ck_error_set(error, CHOKE_SPAWN_FAILED, EINVAL, "cannot choose a random name: %s", strerror(errno));
    memcpy(mount_path, MOUNT_PREFIX, strlen(MOUNT_PREFIX));
    ck_hex_encode(mount_path + strlen(MOUNT_PREFIX), bytes, sizeof(bytes));
    return 0;
}

static int trace_begin(struct choke_context *context, void **ret_state, struct choke_error *error)
{
    struct trace_preparation *trace = calloc(1, sizeof(*trace));
    if (!trace)
        return ck_error_set(error, CHOKE_SPAWN_FAILED, EINVAL, "out of memory for the trace");
    /* trace_end closes only what was opened. */
    trace->stdin_pipe[0] = trace->stdin_pipe[1] = -1;
    ck_trace_build_init(&trace->build);
    int r = pipe2(trace->stdin_pipe, O_CLOEXEC) < 0
                ? ck_error_set(error, CHOKE_SPAWN_FAILED, EINVAL, "cannot make a pipe: %s", strerror(errno))
                : choose_mount_path(trace->mount_path, error);
    if (r == 0)
        r = ck_trace_stage_make(context, &trace->stage, error);
    if (r == 0)
        *ret_state = trace;
    else
        trace_end(trace);
    return r;
}

const struct ck_preparation ck_preparation_trace = {
    .name = "trace", .begin = trace_begin, .setup = trace_setup, .end = trace_end};
