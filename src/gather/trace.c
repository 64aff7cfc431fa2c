/*
 * trace.c - what the runtime trace needs besides its data: `prepare: trace`.
 *
 * The probe asks for a daemon, builds the image, looks at it, and runs its program under a copy of strace that the image
 * need not have (trace_stage.h). Each call has words that an earlier one has told:
 *
 *   <image>     the digest that the build printed; not a name, which another look at another repository could take over
 *   <stage>     the directory with strace, which is the root of that call, too: nothing else can be mounted
 *   <place>     where the container has it: a random name, so that no file, link or volume of the image is there
 *   <program>   the entry point and the command of the image, a word each
 *   --, {files} of the bases: the images that the Dockerfile nearest to the root names; without one there is no call
 *               of the build: the directory of that Dockerfile
 *
 * A build would have the daemon fetch what the Dockerfile names, from wherever the repository says. So the stdin of the build
 * is a Dockerfile of ours, with the ids of images that are here in the place of names (trace_build.h).
 *
 * The stdin of the run is a pipe that nobody writes to. It ends when this process ends, however that happens, and with it
 * the container (witness.c).
 */
#include "gather/prepare.h"
#include "gather/trace_build.h"
#include "gather/trace_stage.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#define IMAGE_PREFIX "sha256:"
#define IMAGE_DIGITS 64
#define PLACE_PREFIX "/.chokepoint-"
#define PLACE_DIGITS 32
#define WORDS_MAX 1500
#define PROGRAM_WORDS_MAX 1000

/* Zero-filled is empty; items ends with a NULL. */
struct words {
    char **items;
    size_t count;
    bool failed;
};

struct trace {
    struct ck_temporary stage;
    struct ck_trace_build build;
    char place[sizeof PLACE_PREFIX + PLACE_DIGITS];
    int held[2];                            /* the pipe */
    struct words asked[CK_PROBE_CALLS_MAX]; /* of each call */
    struct words told[CK_PROBE_CALLS_MAX];
};

/* What stands for a word in brackets. */
struct meanings {
    char image[sizeof IMAGE_PREFIX + IMAGE_DIGITS];
    const char *stage;
    const char *place;
    json_t *program; /* an array, or NULL */
};

__attribute__((format(printf, 2, 3))) static int fail(struct choke_error *error, const char *format, ...)
{
    va_list arguments;
    *error = (struct choke_error){.outcome = CHOKE_SPAWN_FAILED, .errnum = EINVAL};
    va_start(arguments, format);
    (void)vsnprintf(error->message, sizeof error->message, format, arguments);
    va_end(arguments);
    return -EINVAL;
}

/* ---- words ---- */

/* Takes text; NULL is memory that ran out. */
static void add(struct words *words, char *text)
{
    char **items = words->count < WORDS_MAX ? realloc(words->items, (words->count + 2) * sizeof *items) : NULL;
    if (items != NULL)
        words->items = items;
    if (items == NULL || text == NULL) {
        words->failed = true;
        free(text);
        return;
    }
    items[words->count++] = text;
    items[words->count] = NULL;
}

static void drop(struct words *words)
{
    for (size_t i = 0; i < words->count; i++)
        free(words->items[i]);
    free(words->items);
    *words = (struct words){0};
}

/* The word with what it stands for in place of name, where it has it. */
static char *replaced(const char *word, const char *name, const char *meaning)
{
    const char *at = strstr(word, name);
    char *text = NULL;
    if (at == NULL || meaning == NULL)
        return strdup(word);
    return asprintf(&text, "%.*s%s%s", (int)(at - word), word, meaning, at + strlen(name)) < 0 ? NULL : text;
}

static void add_word(struct words *words, const char *word, const struct meanings *meanings)
{
    if (strcmp(word, "<program>") == 0) {
        for (size_t i = 0; i < json_array_size(meanings->program); i++)
            add(words, strdup(json_string_value(json_array_get(meanings->program, i))));
        return;
    }
    const char *const means[][2] = {
        {"<stage>", meanings->stage},
        {"<place>", meanings->place},
        {"<image>", meanings->image[0] != '\0' ? meanings->image : NULL},
    };
    char *text = strdup(word);
    for (size_t i = 0; text != NULL && i < sizeof means / sizeof means[0]; i++) {
        char *next = replaced(text, means[i][0], means[i][1]);
        free(text);
        text = next;
    }
    add(words, text);
}

static void add_words(struct words *words, const char *const *argv, const struct meanings *meanings)
{
    drop(words);
    for (; *argv != NULL; argv++)
        add_word(words, *argv, meanings);
}

static int put(struct ck_turn *turn, struct words *asked, struct words *told, struct choke_error *error)
{
    if (asked->failed || told->failed)
        return fail(error, "there is no memory for the words of the call, or they are too many");
    turn->argv = (const char *const *)asked->items;
    turn->told = told->items != NULL ? (const char *const *)told->items : NULL;
    return 0;
}

/* ---- what earlier calls have told ---- */

static const struct ck_answer *answer_of(const struct ck_answer *answers, size_t count, const char *id)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(answers[i].id, id) == 0)
            return &answers[i];
    return NULL;
}

/* The build prints the digest of the image and nothing else. */
static int take_image(const struct ck_answer *build, struct meanings *meanings, struct choke_error *error)
{
    size_t length = strlen(IMAGE_PREFIX);
    if (build == NULL || build->out_length != length + IMAGE_DIGITS + 1 ||
        memcmp(build->out, IMAGE_PREFIX, length) != 0 ||
        strspn(build->out + length, "0123456789abcdef") != IMAGE_DIGITS)
        return fail(error, "the build did not print the digest of an image");
    memcpy(meanings->image, build->out, length + IMAGE_DIGITS);
    return 0;
}

static int append(json_t *program, const json_t *words)
{
    for (size_t i = 0; i < json_array_size(words); i++) {
        json_t *word = json_array_get(words, i);
        bool whole = json_is_string(word) && strlen(json_string_value(word)) == json_string_length(word);
        if (!whole || json_array_append(program, word) < 0)
            return -1;
    }
    return 0;
}

/* The entry point and its arguments, as the daemon would put them together. */
static int take_program(const struct ck_answer *image, struct meanings *meanings, struct choke_error *error)
{
    json_t *document = image != NULL ? json_loadb(image->out, image->out_length, 0, NULL) : NULL;
    const json_t *config = json_object_get(json_array_get(document, 0), "Config");
    meanings->program = json_array();
    int bad = meanings->program == NULL || !json_is_object(config) ||
              append(meanings->program, json_object_get(config, "Entrypoint")) < 0 ||
              append(meanings->program, json_object_get(config, "Cmd")) < 0;
    json_decref(document);
    if (bad)
        return fail(error, "what docker tells of the image is not understood");
    if (json_array_size(meanings->program) == 0)
        return fail(error, "the image names no program to run: the Dockerfile has neither ENTRYPOINT nor CMD");
    if (json_array_size(meanings->program) > PROGRAM_WORDS_MAX)
        return fail(error, "the image's program has more than %d arguments", PROGRAM_WORDS_MAX);
    return 0;
}

/* ---- turns ---- */

static int take_daemon(const struct ck_answer *daemon, struct choke_error *error)
{
    if (daemon == NULL || daemon->exit_code == 0)
        return 0;
    size_t length = 0;
    while (length < daemon->err_length && (unsigned char)daemon->err[length] >= ' ')
        length++;
    return fail(error, "no docker daemon answers: %.*s", (int)(length < 300 ? length : 300), daemon->err);
}

static size_t depth_of(const char *path)
{
    size_t depth = 0;
    for (; *path != '\0'; path++)
        depth += *path == '/';
    return depth;
}

static bool is_nearer(const char *path, const char *than)
{
    size_t depth = depth_of(path), other = depth_of(than);
    return depth != other ? depth < other : strcmp(path, than) < 0;
}

static const char *nearest_of(const char *const *paths)
{
    const char *nearest = *paths;
    for (; *paths != NULL; paths++)
        nearest = is_nearer(*paths, nearest) ? *paths : nearest;
    return nearest;
}

/* The words up to "--", with it; behind it are all Dockerfiles, of which the nearest is returned. */
static const char *take_files(struct words *words, const char *const *argv)
{
    drop(words);
    for (; *argv != NULL && strcmp(*argv, "--") != 0; argv++)
        add(words, strdup(*argv));
    add(words, strdup("--"));
    return *argv != NULL ? nearest_of(argv + 1) : NULL;
}

static int turn_bases(struct trace *trace, size_t index, struct ck_turn *turn, struct choke_error *error)
{
    struct words *words = &trace->asked[index];
    const char *nearest = take_files(words, turn->argv);
    if (nearest == NULL)
        return fail(error, "there is no Dockerfile");
    int result = ck_trace_build_read(&trace->build, turn->root, nearest, error);
    if (result < 0)
        return result;
    const char *const *names = ck_dockerfile_names(trace->build.dockerfile);
    turn->needless = *names == NULL;
    for (; *names != NULL; names++)
        add(words, strdup(*names));
    return put(turn, words, &trace->told[index], error);
}

/* The directory that the Dockerfile is in is what it may copy from. */
static int turn_build(struct trace *trace, size_t index, const struct ck_answer *bases, struct ck_turn *turn,
                      struct choke_error *error)
{
    struct words *words = &trace->asked[index];
    const char *nearest = take_files(words, turn->argv);
    if (nearest == NULL)
        return fail(error, "there is no Dockerfile");
    int result = ck_trace_build_write(&trace->build, bases, error);
    if (result < 0)
        return result;
    const char *slash = strrchr(nearest, '/');
    add(words, slash != NULL ? strndup(nearest, (size_t)(slash - nearest)) : strdup("."));
    turn->stdin_fd = trace->build.fd;
    return put(turn, words, &trace->told[index], error);
}

static int turn_image(struct trace *trace, size_t index, const struct meanings *meanings, struct ck_turn *turn,
                      struct choke_error *error)
{
    const char *const *argv = turn->argv;
    add_words(&trace->asked[index], argv, meanings);
    add_words(&trace->told[index], argv, &(struct meanings){.program = meanings->program});
    return put(turn, &trace->asked[index], &trace->told[index], error);
}

static int turn_run(struct trace *trace, size_t index, struct meanings *meanings, struct ck_turn *turn,
                    struct choke_error *error)
{
    meanings->stage = trace->stage.path;
    meanings->place = trace->place;
    int result = turn_image(trace, index, meanings, turn, error);
    turn->root = trace->stage.path;
    turn->stdin_fd = trace->held[0];
    return result;
}

static int trace_turn(void *state, const struct ck_answer *answers, size_t count, struct ck_turn *turn,
                      struct choke_error *error)
{
    struct trace *trace = state;
    struct meanings meanings = {.program = NULL};
    const char *id = turn->call->id;
    bool looks = strcmp(id, "image") == 0, runs = strcmp(id, "run") == 0;
    int result = count < CK_PROBE_CALLS_MAX ? take_daemon(answer_of(answers, count, "daemon"), error)
                                            : fail(error, "the probe has more calls than it may have");
    if (result == 0 && (looks || runs))
        result = take_image(answer_of(answers, count, "build"), &meanings, error);
    if (result == 0 && runs)
        result = take_program(answer_of(answers, count, "image"), &meanings, error);
    if (result == 0 && strcmp(id, "bases") == 0)
        result = turn_bases(trace, count, turn, error);
    else if (result == 0 && strcmp(id, "build") == 0)
        result = turn_build(trace, count, answer_of(answers, count, "bases"), turn, error);
    else if (result == 0 && looks)
        result = turn_image(trace, count, &meanings, turn, error);
    else if (result == 0 && runs)
        result = turn_run(trace, count, &meanings, turn, error);
    json_decref(meanings.program);
    return result;
}

/* ---- its life ---- */

static void trace_end(void *state)
{
    struct trace *trace = state;
    if (trace == NULL)
        return;
    for (size_t i = 0; i < CK_PROBE_CALLS_MAX; i++) {
        drop(&trace->asked[i]);
        drop(&trace->told[i]);
    }
    for (size_t i = 0; i < 2; i++)
        if (trace->held[i] >= 0)
            (void)close(trace->held[i]);
    ck_trace_build_done(&trace->build);
    ck_temporary_remove(&trace->stage);
    free(trace);
}

/* Random: whoever made the image could not know it. */
static int choose_place(char place[sizeof PLACE_PREFIX + PLACE_DIGITS], struct choke_error *error)
{
    unsigned char bytes[PLACE_DIGITS / 2];
    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes)
        return fail(error, "cannot choose a random name: %s", strerror(errno));
    memcpy(place, PLACE_PREFIX, strlen(PLACE_PREFIX));
    for (size_t i = 0; i < sizeof bytes; i++)
        (void)snprintf(place + strlen(PLACE_PREFIX) + 2 * i, 3, "%02x", bytes[i]);
    return 0;
}

static int trace_begin(struct choke_context *context, void **ret_state, struct choke_error *error)
{
    struct trace *trace = calloc(1, sizeof *trace);
    if (trace == NULL)
        return fail(error, "there is no memory for the trace");
    trace->held[0] = trace->held[1] = -1;
    ck_trace_build_init(&trace->build);
    int result = pipe2(trace->held, O_CLOEXEC) < 0 ? fail(error, "cannot make a pipe: %s", strerror(errno))
                                                   : choose_place(trace->place, error);
    if (result == 0)
        result = ck_stage_make(context, &trace->stage, error);
    if (result == 0)
        *ret_state = trace;
    else
        trace_end(trace);
    return result;
}

static const struct ck_preparation preparations[] = {
    {.name = "trace", .begin = trace_begin, .turn = trace_turn, .end = trace_end},
};

const struct ck_preparation *ck_preparation_find(const char *name)
{
    for (size_t i = 0; i < sizeof preparations / sizeof preparations[0]; i++)
        if (strcmp(preparations[i].name, name) == 0)
            return &preparations[i];
    return NULL;
}
