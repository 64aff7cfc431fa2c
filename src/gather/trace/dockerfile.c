/* dockerfile.c - parses a Dockerfile and writes a safe form of it; see dockerfile.h. */
#include "gather/trace/dockerfile.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define STAGES_MAX 128    /* a limit for the memory only */
#define NO_NAME SIZE_MAX  /* not an index into names */
#define CONTINUATION '\\' /* at the end of a line: it continues */
#define BYTE_ORDER_MARK "\xef\xbb\xbf"

/* A part of the text; not NUL-terminated. */
struct dockerfile_span {
    const char *at;
    size_t length;
};

/* Output lines, split at the ids of images: "FROM ", name 0, " AS stage0-". */
struct part {
    char *before; /* text before the id */
    size_t name;  /* NO_NAME: no id follows */
};

struct ck_dockerfile {
    struct part *parts; /* the new text, in order */
    size_t part_count;
    char *names[CK_DOCKERFILE_NAMES_MAX + 1]; /* of images, each once; NULL-terminated */
    size_t name_count;
    char *stages[STAGES_MAX]; /* NULL: it has no name */
    size_t stage_count;
    char *reason; /* the caller's buffer; only valid while the file is parsed */
};

/* ---- pieces ---- */

/*
 * Only these two. ends_there and take_options handle other bytes that a builder may take for a
 * space.
 */
static bool is_blank(char byte)
{
    return byte == ' ' || byte == '\t';
}

static struct dockerfile_span from(struct dockerfile_span piece, size_t offset)
{
    return (struct dockerfile_span){piece.at + offset, piece.length - offset};
}

static struct dockerfile_span trimmed(struct dockerfile_span piece)
{
    while (piece.length > 0 && is_blank(piece.at[0]))
        piece = from(piece, 1);
    while (piece.length > 0 && is_blank(piece.at[piece.length - 1]))
        piece.length--;
    return piece;
}

/*
 * The first token of the line; *line is then what follows it. An empty token means that nothing is
 * left.
 */
static struct dockerfile_span take_token(struct dockerfile_span *line)
{
    struct dockerfile_span rest = trimmed(*line);
    size_t i = 0;
    while (i < rest.length && !is_blank(rest.at[i]))
        i++;
    *line = trimmed(from(rest, i));
    return (struct dockerfile_span){rest.at, i};
}

/* Without regard to case: instructions and names of stages. */
static bool equals(struct dockerfile_span piece, const char *token)
{
    return piece.length == strlen(token) && strncasecmp(piece.at, token, piece.length) == 0;
}

/* With regard to case: options. */
static bool begins(struct dockerfile_span piece, const char *text)
{
    return piece.length >= strlen(text) && memcmp(piece.at, text, strlen(text)) == 0;
}

static bool has(struct dockerfile_span piece, const char *text)
{
    return !!memmem(piece.at, piece.length, text, strlen(text));
}

/*
 * Letters, digits and others, which have no meaning to a builder: no quote, no escape, no variable,
 * no space of any kind.
 */
static bool is_plain(struct dockerfile_span piece, const char *others)
{
    for (size_t i = 0; i < piece.length; i++) {
        char byte = piece.at[i];
        bool letter = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || (byte >= '0' && byte <= '9');
        if (!letter && (byte == '\0' || !strchr(others, byte)))
            return false;
    }
    return piece.length > 0;
}

/* ---- what is written ---- */

/* The reason is shown to people, so bytes that are not printable ASCII become '?'. */
static bool fail(const struct ck_dockerfile *dockerfile, const char *what, struct dockerfile_span subject)
{
    int count = snprintf(dockerfile->reason, CK_DOCKERFILE_NAME_MAX, "%s '", what);
    /*
     * 100 bytes of the subject always fit after what: the buffer has CK_DOCKERFILE_NAME_MAX bytes.
     */
    for (size_t i = 0; i < subject.length && i < 100 && count > 0; i++) {
        bool plain = subject.at[i] >= ' ' && subject.at[i] < 0x7f;
        dockerfile->reason[count++] = plain ? subject.at[i] : '?';
    }
    (void)snprintf(dockerfile->reason + count, CK_DOCKERFILE_NAME_MAX - (size_t)count, "'");
    return false;
}

/* Returns false, as fail does, so that both can be returned directly. */
static bool fail_memory(const struct ck_dockerfile *dockerfile)
{
    (void)snprintf(dockerfile->reason, CK_DOCKERFILE_NAME_MAX, "out of memory for the Dockerfile");
    return false;
}

/* Takes text; NULL means out of memory. */
static bool add(struct ck_dockerfile *dockerfile, char *text, size_t name)
{
    struct part *parts = reallocarray(dockerfile->parts, dockerfile->part_count + 1, sizeof(*parts));
    if (parts)
        dockerfile->parts = parts;
    if (!parts || !text) {
        free(text);
        return fail_memory(dockerfile);
    }
    parts[dockerfile->part_count++] = (struct part){.before = text, .name = name};
    return true;
}

/* Adds formatted text. name is the image with the id that follows it, or NO_NAME. */
__attribute__((format(printf, 3, 4))) static bool put(struct ck_dockerfile *dockerfile, size_t name, const char *format,
                                                      ...)
{
    char *text = NULL;
    va_list arguments;
    va_start(arguments, format);
    if (vasprintf(&text, format, arguments) < 0)
        text = NULL;
    va_end(arguments);
    return add(dockerfile, text, name);
}

/* ---- names ---- */

/*
 * No variable and no quote, so the name means the same to docker as to this parser. A first dash
 * would be an option of `docker image inspect`.
 */
static bool is_image_name(struct dockerfile_span name)
{
    return is_plain(name, "._/:@-") && name.at[0] != '-' && name.at[0] != '.' && name.at[0] != '/' &&
           name.length < CK_DOCKERFILE_NAME_MAX && !has(name, "..");
}

/* *ret_name is the index in names; a name that occurs again gets the same index. */
static bool take_name(struct ck_dockerfile *dockerfile, struct dockerfile_span name, size_t *ret_name)
{
    if (!is_image_name(name))
        return fail(dockerfile, "the build would fetch an image that is not known in advance:", name);
    for (size_t i = 0; i < dockerfile->name_count; i++)
        if (strlen(dockerfile->names[i]) == name.length && memcmp(dockerfile->names[i], name.at, name.length) == 0) {
            *ret_name = i;
            return true;
        }
    if (dockerfile->name_count == CK_DOCKERFILE_NAMES_MAX)
        return fail(dockerfile, "it names too many images, at", name);
    dockerfile->names[dockerfile->name_count] = strndup(name.at, name.length);
    if (!dockerfile->names[dockerfile->name_count])
        return fail_memory(dockerfile);
    *ret_name = dockerfile->name_count++;
    return true;
}

/* The stage with that name among the first count; count if not found. Builders ignore case. */
static size_t find_stage(const struct ck_dockerfile *dockerfile, struct dockerfile_span name, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (dockerfile->stages[i] && equals(name, dockerfile->stages[i]))
            return i;
    return count;
}

/* At most three digits: number_of cannot overflow. */
static bool is_number(struct dockerfile_span piece)
{
    for (size_t i = 0; i < piece.length; i++)
        if (piece.at[i] < '0' || piece.at[i] > '9')
            return false;
    return piece.length > 0 && piece.length < 4;
}

/* Only for what is_number accepts. */
static size_t number_of(struct dockerfile_span piece)
{
    size_t number = 0;
    for (size_t i = 0; i < piece.length; i++)
        number = number * 10 + (size_t)(piece.at[i] - '0');
    return number;
}

/* ---- instructions ---- */

/* "scratch" is refused as the name of a stage: FROM scratch must keep its meaning. */
static bool begin_stage(struct ck_dockerfile *dockerfile, struct dockerfile_span name)
{
    size_t count = dockerfile->stage_count;
    /* 0x20 makes an ASCII letter lower case. */
    bool letter = name.length > 0 && ((name.at[0] | 0x20) >= 'a') && ((name.at[0] | 0x20) <= 'z');
    if (count == STAGES_MAX)
        return fail(dockerfile, "it has too many stages, at stage", name);
    if (name.length > 0 &&
        (!letter || !is_plain(name, "._-") || equals(name, "scratch") || find_stage(dockerfile, name, count) < count))
        return fail(dockerfile, "this is not a valid name of a stage, or two stages have it:", name);
    dockerfile->stages[count] = name.length > 0 ? strndup(name.at, name.length) : NULL;
    dockerfile->stage_count++;
    return name.length == 0 || dockerfile->stages[count] || fail_memory(dockerfile);
}

/* FROM [--platform=P] NAME [AS STAGE] */
static bool take_from(struct ck_dockerfile *dockerfile, struct dockerfile_span line)
{
    struct dockerfile_span whole = line, platform = {"", 0}, name = take_token(&line), stage = {"", 0};
    size_t number = dockerfile->stage_count, named = NO_NAME;
    if (begins(name, "--platform=") && is_plain(name, "=-/.")) {
        platform = name;
        name = take_token(&line);
    }
    /* After the name: nothing, or "AS STAGE" and nothing else. */
    struct dockerfile_span as = take_token(&line);
    if (as.length > 0)
        stage = take_token(&line);
    if (line.length > 0 || (as.length > 0 && (!equals(as, "AS") || stage.length == 0)))
        return fail(dockerfile, "cannot parse what follows FROM:", whole);
    /* An earlier stage with this name hides an image of the same name. */
    size_t before = find_stage(dockerfile, name, number);
    /* Only in lower case: to a builder "Scratch" is the name of an image. */
    bool scratch = name.length == 7 && begins(name, "scratch");
    if (before == number && !scratch && !take_name(dockerfile, name, &named))
        return false;
    if (!begin_stage(dockerfile, stage) ||
        !put(dockerfile, NO_NAME, "FROM %.*s%s", (int)platform.length, platform.at, platform.length > 0 ? " " : ""))
        return false;
    /* The written name of a stage ends in a dash, so it cannot be the name of an image. */
    if (before < number)
        return put(dockerfile, NO_NAME, "stage%zu- AS stage%zu-\n", before, number);
    return put(dockerfile, named, "%s", scratch ? "scratch" : "") &&
           put(dockerfile, NO_NAME, " AS stage%zu-\n", number);
}

/*
 * The value of "--from=". A stage is known only after it is complete: inside the stage itself, its
 * name is that of an image.
 */
static bool take_source(struct ck_dockerfile *dockerfile, struct dockerfile_span name)
{
    size_t whole = dockerfile->stage_count > 0 ? dockerfile->stage_count - 1 : 0, named = NO_NAME;
    size_t stage = is_number(name) ? number_of(name) : find_stage(dockerfile, name, whole);
    if (stage < whole)
        return put(dockerfile, NO_NAME, "--from=%zu ", stage);
    if (is_number(name))
        return fail(dockerfile, "no earlier stage has the number", name);
    return take_name(dockerfile, name, &named) && put(dockerfile, named, "--from=") && put(dockerfile, NO_NAME, " ");
}

/* The options of COPY and ADD, which come first. */
static bool take_options(struct ck_dockerfile *dockerfile, struct dockerfile_span *line)
{
    static const char source[] = "--from=";
    bool has_source = false;
    while (begins(*line, "--")) {
        struct dockerfile_span token = take_token(line);
        /* "--" alone, or an option with a quote, a variable or an escape. */
        if (token.length == 2 || !is_plain(token, "=-._/:,+"))
            return fail(dockerfile, "cannot parse an option:", token);
        if (!begins(token, source)) {
            if (!put(dockerfile, NO_NAME, "%.*s ", (int)token.length, token.at))
                return false;
            continue;
        }
        if (has_source)
            return fail(dockerfile, "an option is given twice:", token);
        if (!take_source(dockerfile, from(token, strlen(source))))
            return false;
        has_source = true;
    }
    /* A byte that is not ASCII may be a space to the builder, with more options after it. */
    if (line->length > 0 && (unsigned char)line->at[0] >= 0x80)
        return fail(dockerfile, "cannot parse a path:", *line);
    return true;
}

/* The paths are written unchanged: COPY only reads from the build context or from an image. */
static bool take_copy(struct ck_dockerfile *dockerfile, struct dockerfile_span line)
{
    return put(dockerfile, NO_NAME, "COPY ") && take_options(dockerfile, &line) &&
           put(dockerfile, NO_NAME, "%.*s\n", (int)line.length, line.at);
}

/* A URL needs a colon. A variable or an escape could hide one. */
static bool take_add(struct ck_dockerfile *dockerfile, struct dockerfile_span line)
{
    if (!put(dockerfile, NO_NAME, "ADD ") || !take_options(dockerfile, &line))
        return false;
    if (has(line, ":") || has(line, "$") || has(line, "\\"))
        return fail(dockerfile, "the build would fetch what ADD names if it is a URL:", line);
    return put(dockerfile, NO_NAME, "%.*s\n", (int)line.length, line.at);
}

/* `RUN --mount=from=IMAGE` would fetch an image, so no option of RUN is accepted. */
static bool take_run(struct ck_dockerfile *dockerfile, struct dockerfile_span line)
{
    if (begins(line, "--") || (line.length > 0 && (unsigned char)line.at[0] >= 0x80))
        return fail(dockerfile, "cannot parse an option of RUN:", line);
    return put(dockerfile, NO_NAME, "RUN %.*s\n", (int)line.length, line.at);
}

/* The instruction of ONBUILD is not executed in this build, so it cannot be checked here. */
static bool refuse(struct ck_dockerfile *dockerfile, struct dockerfile_span line)
{
    return fail(dockerfile, "ONBUILD would run its instruction in a later build:", line);
}

static const struct instruction {
    const char *name;
    /* NULL: it is written unchanged. */
    bool (*take)(struct ck_dockerfile *dockerfile, struct dockerfile_span line);
    /* "<<X": the next lines, up to X. */
    bool may_hold_file;
} instructions[] = {
    {"FROM", take_from, false},  {"COPY", take_copy, true}, {"ADD", take_add, true},      {"RUN", take_run, true},
    {"ONBUILD", refuse, false},  {"ARG", NULL, false},      {"CMD", NULL, false},         {"ENTRYPOINT", NULL, false},
    {"ENV", NULL, false},        {"EXPOSE", NULL, false},   {"HEALTHCHECK", NULL, false}, {"LABEL", NULL, false},
    {"MAINTAINER", NULL, false}, {"SHELL", NULL, false},    {"STOPSIGNAL", NULL, false},  {"USER", NULL, false},
    {"VOLUME", NULL, false},     {"WORKDIR", NULL, false},
};

/* A written line must end where its newline is, whatever a builder takes for a space or a mark. */
static bool ends_there(struct dockerfile_span line)
{
    for (size_t i = 0; i < line.length; i++)
        if (((unsigned char)line.at[i] < ' ' && line.at[i] != '\t') || line.at[i] == 0x7f)
            return false;
    while (line.length > 0 && (is_blank(line.at[line.length - 1]) || (unsigned char)line.at[line.length - 1] >= 0x80))
        line.length--;
    return line.length == 0 || line.at[line.length - 1] != CONTINUATION;
}

static bool take_line(struct ck_dockerfile *dockerfile, struct dockerfile_span line)
{
    struct dockerfile_span whole = line, token = take_token(&line);
    if (token.length == 0)
        return true;
    if (!ends_there(whole) || whole.length > INT32_MAX)
        return fail(dockerfile, "a line has a control character, or its end is unclear:", whole);
    for (size_t i = 0; i < sizeof(instructions) / sizeof(instructions[0]); i++) {
        if (!equals(token, instructions[i].name))
            continue;
        /* The lines of a here-document are not instructions, so they could hide some. */
        if (instructions[i].may_hold_file && has(line, "<<"))
            return fail(dockerfile, "here-documents are not supported:", whole);
        if (instructions[i].take)
            return instructions[i].take(dockerfile, line);
        /* The name is written as it is in the table, the rest unchanged. */
        return put(dockerfile, NO_NAME, "%s %.*s\n", instructions[i].name, (int)line.length, line.at);
    }
    return fail(dockerfile, "unknown instruction:", token);
}

/* ---- lines ---- */

/* Without its newline, and without the carriage return before it. */
static struct dockerfile_span take_raw_line(struct dockerfile_span *text)
{
    const char *end = memchr(text->at, '\n', text->length);
    size_t length = end ? (size_t)(end - text->at) : text->length;
    struct dockerfile_span line = {text->at, length};
    *text = from(*text, length + (end ? 1 : 0));
    if (line.length > 0 && line.at[line.length - 1] == '\r')
        line.length--;
    return line;
}

/* "# escape=`" in the first lines chooses another continuation mark. */
static bool is_escape(struct dockerfile_span line)
{
    struct dockerfile_span comment = trimmed(from(line, 1));
    struct dockerfile_span value = comment.length > 6 ? trimmed(from(comment, 6)) : (struct dockerfile_span){"", 0};
    if (comment.length < 6 || strncasecmp(comment.at, "escape", 6) != 0 || value.length == 0 || value.at[0] != '=')
        return false;
    value = trimmed(from(value, 1));
    return value.length != 1 || value.at[0] != CONTINUATION;
}

/* joined has the size of the text: what is joined there is never longer. */
static bool take_lines(struct ck_dockerfile *dockerfile, struct dockerfile_span text, char *joined)
{
    size_t count = 0;
    bool goes_on = false, at_top = true;
    while (text.length > 0) {
        struct dockerfile_span line = take_raw_line(&text), shown = trimmed(line);
        if (shown.length > 0 && shown.at[0] == '#') {
            if (at_top && is_escape(shown))
                return fail(dockerfile, "this directive is not supported:", shown);
            continue; /* also within a line that continues */
        }
        /* An empty line does not end a line that continues; builders ignore it there. */
        if (shown.length == 0)
            continue;
        /* Directives count only before the first instruction. */
        at_top = false;
        goes_on = shown.at[shown.length - 1] == CONTINUATION;
        /* Blanks at the beginning are kept in a continued line: they may separate two arguments. */
        struct dockerfile_span rest = count == 0 ? shown : line;
        /* Without the continuation mark and the blanks after it. */
        if (goes_on)
            rest.length = (size_t)(shown.at + shown.length - 1 - rest.at);
        memcpy(joined + count, rest.at, rest.length);
        count += rest.length;
        if (!goes_on && !take_line(dockerfile, (struct dockerfile_span){joined, count}))
            return false;
        count = goes_on ? count : 0;
    }
    /* The last line may end with a continuation mark; then what was joined is still taken. */
    return take_line(dockerfile, (struct dockerfile_span){joined, count});
}

struct ck_dockerfile *ck_dockerfile_read(const char *text, size_t length, char ret_reason[CK_DOCKERFILE_NAME_MAX])
{
    struct ck_dockerfile *dockerfile = calloc(1, sizeof(*dockerfile));
    struct dockerfile_span all = {text, length};
    /* Ends with a NUL, so that its parts can be used as text. */
    char *joined = calloc(1, length + 1);
    ret_reason[0] = '\0';
    bool taken = false;
    if (!dockerfile || !joined)
        /* There may be no struct to store the reason in. */
        (void)fail_memory(&(struct ck_dockerfile){.reason = ret_reason});
    else if (dockerfile->reason = ret_reason, length > CK_DOCKERFILE_MAX)
        /* 40 bytes: the beginning of the text is enough to recognize it. */
        (void)fail(dockerfile, "it is too long:", (struct dockerfile_span){text, 40});
    else
        taken = take_lines(dockerfile, begins(all, BYTE_ORDER_MARK) ? from(all, strlen(BYTE_ORDER_MARK)) : all, joined);
    free(joined);
    if (taken)
        return dockerfile;
    ck_dockerfile_free(dockerfile);
    return NULL;
}

/* reason is not owned. */
void ck_dockerfile_free(struct ck_dockerfile *dockerfile)
{
    if (!dockerfile)
        return;
    for (size_t i = 0; i < dockerfile->part_count; i++)
        free(dockerfile->parts[i].before);
    for (size_t i = 0; i < dockerfile->name_count; i++)
        free(dockerfile->names[i]);
    for (size_t i = 0; i < dockerfile->stage_count; i++)
        free(dockerfile->stages[i]);
    free(dockerfile->parts);
    free(dockerfile);
}

/* calloc has set the NULL after the last name. */
const char *const *ck_dockerfile_names(const struct ck_dockerfile *dockerfile)
{
    return (const char *const *)dockerfile->names;
}

/* The last check before the text goes to the builder: a full id cannot be a name. */
static bool is_id(const char *id)
{
    return strlen(id) == CK_DOCKERFILE_ID_DIGITS && strspn(id, "0123456789abcdef") == CK_DOCKERFILE_ID_DIGITS;
}

char *ck_dockerfile_write(const struct ck_dockerfile *dockerfile, const char *const *ids)
{
    char *text = NULL;
    size_t length = 0;
    for (size_t i = 0; i < dockerfile->name_count; i++)
        if (!is_id(ids[i]))
            return NULL;
    FILE *file = open_memstream(&text, &length);
    if (!file)
        return NULL;
    for (size_t i = 0; i < dockerfile->part_count; i++) {
        (void)fputs(dockerfile->parts[i].before, file);
        if (dockerfile->parts[i].name != NO_NAME)
            (void)fputs(ids[dockerfile->parts[i].name], file);
    }
    if (fclose(file) == 0)
        return text;
    free(text);
    return NULL;
}
