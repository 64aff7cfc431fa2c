/* dockerfile.c - see dockerfile.h. */
#include "gather/dockerfile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define STAGES_MAX 128

struct piece {
    const char *at;
    size_t length;
};

/* One way to read the file. Builders differed in what ends a line that goes on; each of them had one way for all lines. */
struct reading {
    char mark;         /* at the end of a line: it goes on; '\0': no line does */
    bool doubled_ends; /* two marks: it does not */
    bool comments_end; /* a comment in a line that goes on is a part of it */
    ck_dockerfile_fn is_here;
    void *data;
    char (*stages)[CK_DOCKERFILE_NAME_MAX];
    size_t stage_count;
    char *words; /* of CK_DOCKERFILE_NAME_MAX bytes */
};

/* What is not ASCII may be a space to the builder (U+00A0 is one); in the name of an image or a stage it is an error. */
static bool is_space(char byte)
{
    return byte == ' ' || (byte >= '\t' && byte <= '\r') || (unsigned char)byte >= 0x80;
}

static struct piece trimmed(struct piece piece)
{
    while (piece.length > 0 && is_space(piece.at[0]))
        piece = (struct piece){piece.at + 1, piece.length - 1};
    while (piece.length > 0 && is_space(piece.at[piece.length - 1]))
        piece.length--;
    return piece;
}

static struct piece take_word(struct piece *line)
{
    struct piece rest = trimmed(*line);
    size_t i = 0;
    while (i < rest.length && !is_space(rest.at[i]))
        i++;
    *line = (struct piece){rest.at + i, rest.length - i};
    return (struct piece){rest.at, i};
}

static bool is_word(struct piece piece, const char *word)
{
    return piece.length == strlen(word) && strncasecmp(piece.at, word, piece.length) == 0;
}

static bool begins(struct piece piece, const char *word)
{
    return piece.length >= strlen(word) && strncasecmp(piece.at, word, strlen(word)) == 0;
}

static bool has(struct piece piece, const char *text)
{
    return memmem(piece.at, piece.length, text, strlen(text)) != NULL;
}

/* ---- names of images ---- */

static bool is_name_byte(char byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || (byte >= '0' && byte <= '9') ||
           (byte != '\0' && strchr("._-/:@", byte) != NULL);
}

bool ck_dockerfile_image(const char *name, size_t length, char ret_image[CK_DOCKERFILE_NAME_MAX])
{
    static const char *const granted[] = {"index.docker.io/", "docker.io/", "library/"};
    struct piece piece = {name, length};
    for (size_t i = 0; i < length; i++)
        if (!is_name_byte(name[i]))
            return false;
    for (size_t i = 0; i < sizeof granted / sizeof granted[0]; i++)
        if (begins(piece, granted[i]))
            piece = (struct piece){piece.at + strlen(granted[i]), piece.length - strlen(granted[i])};
    const char *slash = memrchr(piece.at, '/', piece.length);
    const char *last = slash != NULL ? slash + 1 : piece.at;
    bool tagged = memchr(last, ':', piece.length - (size_t)(last - piece.at)) != NULL || has(piece, "@");
    int count =
        snprintf(ret_image, CK_DOCKERFILE_NAME_MAX, "%.*s%s", (int)piece.length, piece.at, tagged ? "" : ":latest");
    return piece.length > 0 && count > 0 && count < CK_DOCKERFILE_NAME_MAX;
}

/* ---- instructions ---- */

static bool fail(const struct reading *reading, const char *what, struct piece subject)
{
    int count = snprintf(reading->words, CK_DOCKERFILE_NAME_MAX, "%s '", what);
    for (size_t i = 0; i < subject.length && i < 100 && count > 0; i++) {
        bool plain = subject.at[i] >= ' ' && subject.at[i] < 0x7f;
        reading->words[count++] = plain ? subject.at[i] : '?';
    }
    (void)snprintf(reading->words + count, CK_DOCKERFILE_NAME_MAX - (size_t)count, "'");
    return false;
}

static bool is_stage(const struct reading *reading, struct piece name)
{
    for (size_t i = 0; i < reading->stage_count; i++)
        if (is_word(name, reading->stages[i]))
            return true;
    return false;
}

static bool take_image(struct reading *reading, struct piece name)
{
    char image[CK_DOCKERFILE_NAME_MAX];
    if (is_word(name, "scratch") || is_stage(reading, name))
        return true;
    if (!ck_dockerfile_image(name.at, name.length, image))
        return fail(reading, "an image that cannot be told beforehand:", name);
    return reading->is_here(reading->data, image) || fail(reading, "an image that is not on this machine:", name);
}

static bool take_from(struct reading *reading, struct piece line)
{
    struct piece name = take_word(&line);
    while (begins(name, "--"))
        name = take_word(&line);
    if (!take_image(reading, name))
        return false;
    struct piece as = take_word(&line), stage = take_word(&line);
    if (!is_word(as, "as") || stage.length == 0)
        return true;
    if (reading->stage_count == STAGES_MAX || stage.length >= CK_DOCKERFILE_NAME_MAX)
        return fail(reading, "there are too many stages, or the name of one is too long:", stage);
    (void)snprintf(reading->stages[reading->stage_count++], CK_DOCKERFILE_NAME_MAX, "%.*s", (int)stage.length,
                   stage.at);
    return true;
}

/* A stage can be named by its number, too. */
static bool is_number(struct piece piece)
{
    for (size_t i = 0; i < piece.length; i++)
        if (piece.at[i] < '0' || piece.at[i] > '9')
            return false;
    return piece.length > 0 && piece.length < 4;
}

/* Quotes and escapes, which the builder takes out: "--fr\om" is "--from". */
static bool is_disguised(struct piece piece)
{
    for (size_t i = 0; i < piece.length; i++)
        if (piece.at[i] != '\0' && strchr("\\`\"'", piece.at[i]) != NULL)
            return true;
    return false;
}

static bool take_copy(struct reading *reading, struct piece line)
{
    static const char from[] = "--from=";
    for (struct piece word = take_word(&line); begins(word, "--"); word = take_word(&line)) {
        if (is_disguised(word))
            return fail(reading, "what cannot be told beforehand:", word);
        if (!begins(word, from))
            continue;
        struct piece name = {word.at + strlen(from), word.length - strlen(from)};
        if (!is_number(name) && !take_image(reading, name))
            return false;
    }
    return true;
}

/* Quotes are left out, for the builder does so. No byte of text but the first is like it. */
static bool has_unquoted(struct piece piece, const char *text)
{
    size_t matched = 0;

    for (size_t i = 0; i < piece.length && text[matched] != '\0'; i++) {
        if (piece.at[i] == '"' || piece.at[i] == '\'')
            continue;
        matched = piece.at[i] == text[matched] ? matched + 1 : piece.at[i] == text[0] ? 1 : 0;
    }
    return text[matched] == '\0';
}

static bool take_add(struct reading *reading, struct piece line)
{
    if (has_unquoted(line, "://") || has_unquoted(line, "git@"))
        return fail(reading, "what ADD names:", trimmed(line));
    if (has(line, "\\") || has(line, "`"))
        return fail(reading, "what ADD names by an escape:", trimmed(line));
    return !has(line, "$") || fail(reading, "what ADD names by a variable:", trimmed(line));
}

static bool take_line(struct reading *reading, struct piece line)
{
    struct piece word = take_word(&line);
    while (is_word(word, "ONBUILD"))
        word = take_word(&line);
    if (is_word(word, "FROM"))
        return take_from(reading, line);
    if (is_word(word, "COPY"))
        return take_copy(reading, line);
    return !is_word(word, "ADD") || take_add(reading, line);
}

/* ---- lines ---- */

static struct piece take_physical(struct piece *text)
{
    const char *end = memchr(text->at, '\n', text->length);
    size_t length = end != NULL ? (size_t)(end - text->at) : text->length, step = length + (end != NULL ? 1 : 0);
    struct piece line = {text->at, length};
    *text = (struct piece){text->at + step, text->length - step};
    return trimmed(line);
}

static bool is_unfinished(const struct reading *reading, struct piece line)
{
    bool marked = reading->mark != '\0' && line.at[line.length - 1] == reading->mark;
    bool doubled = line.length > 1 && line.at[line.length - 2] == reading->mark;
    return marked && !(doubled && reading->doubled_ends);
}

/* One pass. joined is as long as the text: what is put together there is never longer. */
static bool read_by(struct reading *reading, struct piece text, char *joined)
{
    size_t count = 0;
    bool goes_on = false;
    reading->stage_count = 0;
    while (text.length > 0) {
        struct piece line = take_physical(&text);
        if (line.length == 0 || (line.at[0] == '#' && !(goes_on && reading->comments_end)))
            continue; /* also within a line that goes on */
        goes_on = is_unfinished(reading, line);
        memcpy(joined + count, line.at, line.length);
        count += line.length - (goes_on ? 1 : 0);
        if (!goes_on) {
            if (!take_line(reading, (struct piece){joined, count}))
                return false;
            count = 0;
        }
    }
    return !goes_on || take_line(reading, (struct piece){joined, count});
}

bool ck_dockerfile_fetches_nothing(const char *text, size_t length, ck_dockerfile_fn is_here, void *data,
                                   char ret_words[CK_DOCKERFILE_NAME_MAX])
{
    static const char marks[] = {'\\', '`', '\0'};
    enum { DOUBLED = 1, COMMENTS = 2, WAYS = 4 };
    struct reading reading = {.is_here = is_here, .data = data, .words = ret_words};
    struct piece all = {text, length};
    char *joined = malloc(length + 1);
    ret_words[0] = '\0';
    reading.stages = calloc(STAGES_MAX, sizeof *reading.stages);
    bool nothing = joined != NULL && reading.stages != NULL && length <= CK_DOCKERFILE_MAX;
    if (!nothing)
        (void)fail(&reading, "nobody knows what: it is too long to be read", (struct piece){"", 0});
    if (length >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
        all = (struct piece){text + 3, length - 3};
    for (size_t i = 0; nothing && i < sizeof marks * WAYS; i++) {
        reading.mark = marks[i / WAYS];
        reading.doubled_ends = (i & DOUBLED) != 0;
        reading.comments_end = (i & COMMENTS) != 0;
        nothing = read_by(&reading, all, joined);
    }
    free(joined);
    free(reading.stages);
    return nothing;
}
