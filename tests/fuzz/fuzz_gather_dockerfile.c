/*
 * fuzz_gather_dockerfile.c - any bytes as a Dockerfile: it is not built, with a reason, or the
 * built text has no name that a daemon could fetch, as dockerfile.h promises.
 */
#include "promise.h"

#include "gather/trace/dockerfile.h"

#include <string.h>

#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

/* The next word of a line that is ended by a NUL; NULL at its end. */
static char *next(char **line)
{
    char *token = *line + strspn(*line, " \t");
    size_t length = strcspn(token, " \t");
    *line = token + length + (token[length] != '\0' ? 1 : 0);
    token[length] = '\0';
    return length > 0 ? token : NULL;
}

static bool is_stage(const char *token)
{
    size_t digits = strncmp(token, "stage", 5) == 0 ? strspn(token + 5, "0123456789") : 0;
    return digits > 0 && strcmp(token + 5 + digits, "-") == 0;
}

static void check_from(char *line)
{
    char *token = next(&line);
    require(token);
    if (strncmp(token, "--platform=", 11) == 0)
        token = next(&line);
    require(token && (strcmp(token, ID) == 0 || strcmp(token, "scratch") == 0 || is_stage(token)));
    token = next(&line);
    require(token && strcmp(token, "AS") == 0);
    token = next(&line);
    require(token && is_stage(token) && !next(&line));
}

/* Returns the text after the options. */
static char *check_options(char *line)
{
    while (line += strspn(line, " \t"), strncmp(line, "--", 2) == 0) {
        const char *token = next(&line);
        require(strlen(token) > 2 && !strpbrk(token, "\"'\\`$"));
        for (const char *at = token; *at != '\0'; at++)
            require((unsigned char)*at < 0x80);
        if (strncmp(token, "--from=", 7) == 0)
            require(strcmp(token + 7, ID) == 0 ||
                    (token[7] != '\0' && strspn(token + 7, "0123456789") == strlen(token + 7)));
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
    bool embeds = !!strstr(line, "<<");
    const char *token = next(&line);
    require(token);
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        known = known || strcmp(token, others[i]) == 0;
    if (known)
        return;
    if (strcmp(token, "FROM") == 0) {
        check_from(line);
        return;
    }
    require(!embeds);
    if (strcmp(token, "COPY") == 0)
        (void)check_options(line);
    else if (strcmp(token, "ADD") == 0)
        require(!strpbrk(check_options(line), ":$\\"));
    else
        require(strcmp(token, "RUN") == 0 && strncmp(line, "--", 2) != 0 && (unsigned char)line[0] < 0x80);
}

static void check(char *text)
{
    while (*text != '\0') {
        char *end = strchr(text, '\n');
        require(end);
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

    require(memchr(reason, '\0', sizeof(reason)) && (!dockerfile) == (reason[0] != '\0'));
    for (const char *at = reason; *at != '\0'; at++)
        require(*at >= ' ' && *at < 0x7f);
    if (!dockerfile)
        return 0;
    const char *const *names = ck_dockerfile_names(dockerfile);
    for (size_t i = 0; i < CK_DOCKERFILE_NAMES_MAX; i++)
        ids[i] = ID;
    for (size_t i = 0; names[i]; i++)
        require(names[i][0] != '\0' && names[i][0] != '-' && strcspn(names[i], " \t\n$'\"\\") == strlen(names[i]));
    char *text = ck_dockerfile_write(dockerfile, ids);
    require(text);
    check(text);
    free(text);
    ck_dockerfile_free(dockerfile);
    return 0;
}
