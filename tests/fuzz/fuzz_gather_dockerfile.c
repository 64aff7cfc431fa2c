/*
 * fuzz_gather_dockerfile.c - any bytes as a Dockerfile: it is not built, and the reason is said, or what is built has no name
 * in it that a daemon could fetch, as dockerfile.h promises it.
 */
#include "promise.h"

#include "gather/dockerfile.h"

#include <string.h>

#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

/* The next word of a line that is ended by a NUL; NULL where there is none. */
static char *next(char **line)
{
    char *word = *line + strspn(*line, " \t");
    size_t length = strcspn(word, " \t");
    *line = word + length + (word[length] != '\0' ? 1 : 0);
    word[length] = '\0';
    return length > 0 ? word : NULL;
}

static bool is_stage(const char *word)
{
    size_t digits = strncmp(word, "stage", 5) == 0 ? strspn(word + 5, "0123456789") : 0;
    return digits > 0 && strcmp(word + 5 + digits, "-") == 0;
}

static void check_from(char *line)
{
    char *word = next(&line);
    require(word != NULL);
    if (strncmp(word, "--platform=", 11) == 0)
        word = next(&line);
    require(word != NULL && (strcmp(word, ID) == 0 || strcmp(word, "scratch") == 0 || is_stage(word)));
    word = next(&line);
    require(word != NULL && strcmp(word, "AS") == 0);
    word = next(&line);
    require(word != NULL && is_stage(word) && next(&line) == NULL);
}

/* Returns what follows the options. */
static char *check_options(char *line)
{
    while (line += strspn(line, " \t"), strncmp(line, "--", 2) == 0) {
        const char *word = next(&line);
        require(strlen(word) > 2 && strpbrk(word, "\"'\\`$") == NULL);
        for (const char *at = word; *at != '\0'; at++)
            require((unsigned char)*at < 0x80);
        if (strncmp(word, "--from=", 7) == 0)
            require(strcmp(word + 7, ID) == 0 ||
                    (word[7] != '\0' && strspn(word + 7, "0123456789") == strlen(word + 7)));
    }
    require((unsigned char)line[0] < 0x80);
    return line;
}

static void check_line(char *line)
{
    static const char *const others[] = {"ARG",   "CMD",        "ENTRYPOINT", "ENV",  "EXPOSE", "HEALTHCHECK", "LABEL",
                                         "SHELL", "MAINTAINER", "STOPSIGNAL", "USER", "VOLUME", "WORKDIR"};
    bool known = false;
    for (const char *at = line; *at != '\0'; at++)
        require((unsigned char)*at >= ' ' || *at == '\t');
    require(strlen(line) > 0 && line[strlen(line) - 1] != '\\');
    bool embeds = strstr(line, "<<") != NULL;
    const char *word = next(&line);
    require(word != NULL);
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        known = known || strcmp(word, others[i]) == 0;
    if (known)
        return;
    if (strcmp(word, "FROM") == 0) {
        check_from(line);
        return;
    }
    require(!embeds);
    if (strcmp(word, "COPY") == 0)
        (void)check_options(line);
    else if (strcmp(word, "ADD") == 0)
        require(strpbrk(check_options(line), ":$\\") == NULL);
    else
        require(strcmp(word, "RUN") == 0 && strncmp(line, "--", 2) != 0 && (unsigned char)line[0] < 0x80);
}

static void check(char *text)
{
    while (*text != '\0') {
        char *end = strchr(text, '\n');
        require(end != NULL);
        *end = '\0';
        check_line(text);
        text = end + 1;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char reason[CK_DOCKERFILE_NAME_MAX];
    const char *ids[CK_DOCKERFILE_NAMES_MAX];
    struct ck_dockerfile *dockerfile = ck_dockerfile_read((const char *)data, size, reason);

    require(memchr(reason, '\0', sizeof(reason)) != NULL && (dockerfile == NULL) == (reason[0] != '\0'));
    for (const char *at = reason; *at != '\0'; at++)
        require(*at >= ' ' && *at < 0x7f);
    if (dockerfile == NULL)
        return 0;
    const char *const *names = ck_dockerfile_names(dockerfile);
    for (size_t i = 0; i < CK_DOCKERFILE_NAMES_MAX; i++)
        ids[i] = ID;
    for (size_t i = 0; names[i] != NULL; i++)
        require(names[i][0] != '\0' && names[i][0] != '-' && strcspn(names[i], " \t\n$'\"\\") == strlen(names[i]));
    char *text = ck_dockerfile_write(dockerfile, ids);
    require(text != NULL);
    check(text);
    free(text);
    ck_dockerfile_free(dockerfile);
    return 0;
}
